//! Lines as CommonMark counts them: ended by LF, by CRLF, or by CR alone.

use cornu_core::ByteSpan;

/// The lines of `source` from a byte on, each with its line end. O(bytes) in all.
pub(crate) struct Lines<'a> {
    source: &'a str,
    at: usize,
    end: usize,
}

impl<'a> Lines<'a> {
    /// The lines from `start`, which must be the start of a line, to the end of the source.
    pub(crate) fn new(source: &'a str, start: usize) -> Self {
        Self::within(source, ByteSpan::from_range(start..source.len()))
    }

    /// The lines of a part of the source.
    pub(crate) fn within(source: &'a str, span: ByteSpan) -> Self {
        Self {
            source,
            at: span.start(),
            end: span.end().min(source.len()),
        }
    }
}

impl Iterator for Lines<'_> {
    type Item = ByteSpan;

    fn next(&mut self) -> Option<ByteSpan> {
        if self.at >= self.end {
            return None;
        }
        let start = self.at;
        self.at = line_end(self.source, start).min(self.end);
        Some(ByteSpan::from_range(start..self.at))
    }
}

/// One past the line end of the line that holds the byte `at`.
pub(crate) fn line_end(source: &str, at: usize) -> usize {
    let bytes = source.as_bytes();
    let rest = bytes.get(at..).unwrap_or_default();
    match rest.iter().position(|&byte| byte == b'\n' || byte == b'\r') {
        None => source.len(),
        Some(found) => {
            let end = at + found + 1;
            let crlf = bytes.get(end - 1) == Some(&b'\r') && bytes.get(end) == Some(&b'\n');
            end + usize::from(crlf)
        }
    }
}

/// The first byte of the line that holds the byte `at`, but not before `floor`.
pub(crate) fn line_start(source: &str, at: usize, floor: usize) -> usize {
    source
        .as_bytes()
        .get(floor..at)
        .unwrap_or_default()
        .iter()
        .rposition(|&byte| byte == b'\n' || byte == b'\r')
        .map_or(floor.min(at), |found| floor + found + 1)
}

/// The line without its line end.
pub(crate) fn trim_line_end(line: &str) -> &str {
    line.trim_end_matches(['\r', '\n'])
}
