//! Terms of a chunk with their counts: what a sparse route needs, as bytes.

use cornu_core::ChunkId;

/// The terms of one chunk, each with how often it occurs. Stored as given: the order is kept, and
/// what a term is, is for the tokenizer to say.
pub type TermCounts = Vec<(String, u32)>;

/// The terms of one chunk, as read from a [`Snapshot`](crate::Snapshot).
///
/// ```
/// let terms = cornu_store::ChunkTerms {
///     ordinal: 1,
///     chunk: cornu_core::ChunkId::from_bytes([0; 32]),
///     counts: vec![("zero_grad".to_owned(), 2)],
/// };
/// assert_eq!(terms.counts.len(), 1);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkTerms {
    /// The document's ordinal, as in the [`View`](cornu_core::View).
    pub ordinal: u32,
    /// The chunk.
    pub chunk: ChunkId,
    /// Its terms.
    pub counts: TermCounts,
}

/// For each term: its length in bytes, its bytes, its count; numbers as LEB128. No header: the
/// column's schema version is the file's.
pub(crate) fn encode(counts: &TermCounts) -> Vec<u8> {
    let mut out = Vec::new();
    for (term, count) in counts {
        number(&mut out, term.len() as u64);
        out.extend_from_slice(term.as_bytes());
        number(&mut out, u64::from(*count));
    }
    out
}

/// The terms that [`encode`] wrote; `None` for any other bytes.
pub(crate) fn decode(mut bytes: &[u8]) -> Option<TermCounts> {
    let mut counts = Vec::new();
    while !bytes.is_empty() {
        let length = usize::try_from(read_number(&mut bytes)?).ok()?;
        let (term, rest) = bytes.split_at_checked(length)?;
        bytes = rest;
        let count = u32::try_from(read_number(&mut bytes)?).ok()?;
        counts.push((std::str::from_utf8(term).ok()?.to_owned(), count));
    }
    Some(counts)
}

fn number(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn read_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..63).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_survive_the_bytes() {
        let counts = vec![
            (String::new(), 0),
            ("零梯度".to_owned(), 1),
            ("x".repeat(300), u32::MAX),
            ("a\0b".to_owned(), 128),
        ];
        assert_eq!(decode(&encode(&counts)), Some(counts));
        assert_eq!(decode(&[]), Some(vec![]));
    }

    #[test]
    fn other_bytes_are_no_terms() {
        let good = encode(&vec![("term".to_owned(), 200)]);
        for end in 1..good.len() {
            assert_eq!(decode(&good[..end]), None, "cut at {end}");
        }
        assert_eq!(decode(&[0xff; 20]), None);
        assert_eq!(decode(&[1, 0xff, 1]), None, "not UTF-8");
    }
}
