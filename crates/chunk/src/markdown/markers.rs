//! What the lines of a block begin with that belongs to its containers.

use std::borrow::Cow;

use super::lines::{Lines, line_start};

/// The markers and the indentation of the containers of a block, told from the line that opens it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Markers(Vec<Part>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// So many columns: indentation, or the marker of a list item on the line that opens it.
    Space(usize),
    /// `>`
    Quote,
}

impl Markers {
    /// The markers of the block whose first byte after them is `at`.
    pub(crate) fn before(source: &str, at: usize) -> Self {
        let start = line_start(source, at, 0);
        Self::of(source.get(start..at).unwrap_or_default())
    }

    /// The markers that an opening line begins with.
    pub(crate) fn of(opening: &str) -> Self {
        let mut parts = Vec::new();
        let (mut rest, mut column) = (opening, 0);
        while let Some(c) = rest.chars().next() {
            let note = rest
                .strip_prefix("[^")
                .and_then(|rest| rest.split_once("]:"));
            let (width, after) = match (c, note) {
                // A footnote goes on with four columns, however long its label is.
                (_, Some((_, after))) => (4, after.trim_start_matches([' ', '\t'])),
                (_, None) => (
                    width(c, column),
                    rest.get(c.len_utf8()..).unwrap_or_default(),
                ),
            };
            (rest, column) = (after, column + width);
            match parts.last_mut() {
                _ if c == '>' => parts.push(Part::Quote),
                Some(Part::Space(columns)) => *columns += width,
                _ => parts.push(Part::Space(width)),
            }
        }
        Self(parts)
    }

    /// A further line of the block without the markers; the first line of the text only if `whole`,
    /// that is, if the text begins where a line does.
    pub(crate) fn strip(&self, text: &str, whole: bool) -> String {
        let mut out = String::with_capacity(text.len());
        for (at, line) in Lines::new(text, 0).enumerate() {
            let line = line.slice(text).unwrap_or_default();
            if at == 0 && !whole {
                out.push_str(line);
            } else {
                out.push_str(&self.strip_line(line));
            }
        }
        out
    }

    fn strip_line<'t>(&self, line: &'t str) -> Cow<'t, str> {
        let mut cursor = Cursor {
            rest: line,
            column: 0,
            spare: 0,
        };
        for (at, part) in self.0.iter().enumerate() {
            match *part {
                Part::Space(columns) => cursor.space(columns),
                Part::Quote if !cursor.quote() => break,
                // One blank after `>` belongs to it, also where the opening line has none.
                Part::Quote if !matches!(self.0.get(at + 1), Some(Part::Space(_))) => {
                    cursor.space(1);
                }
                Part::Quote => {}
            }
        }
        match cursor.spare {
            0 => Cow::Borrowed(cursor.rest),
            spare => Cow::Owned(" ".repeat(spare) + cursor.rest),
        }
    }

    /// What a further line of the block begins with.
    pub(crate) fn continuation(&self) -> String {
        let parts = self.0.iter().map(|part| match *part {
            Part::Space(columns) => " ".repeat(columns),
            Part::Quote => ">".to_owned(),
        });
        parts.collect()
    }
}

/// A place in a line.
struct Cursor<'t> {
    rest: &'t str,
    column: usize,
    /// Columns of a tab before the place that are not yet used.
    spare: usize,
}

impl Cursor<'_> {
    /// Steps over white space of at most so many columns.
    fn space(&mut self, columns: usize) {
        let mut left = columns;
        loop {
            let used = self.spare.min(left);
            (self.spare, left) = (self.spare - used, left - used);
            let Some(c @ (' ' | '\t')) = self.rest.chars().next().filter(|_| left > 0) else {
                return;
            };
            self.spare = width(c, self.column);
            self.column += self.spare;
            self.rest = self.rest.get(1..).unwrap_or_default();
        }
    }

    /// Steps over the marker of a quote, if there is one.
    fn quote(&mut self) -> bool {
        let trimmed = self.rest.trim_start_matches([' ', '\t']);
        let Some(after) = trimmed.strip_prefix('>') else {
            return false;
        };
        let white = self.rest.get(..self.rest.len() - trimmed.len());
        for c in white.unwrap_or_default().chars() {
            self.column += width(c, self.column);
        }
        (self.rest, self.column, self.spare) = (after, self.column + 1, 0);
        true
    }
}

fn width(c: char, column: usize) -> usize {
    if c == '\t' { 4 - column % 4 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::Markers;

    #[test]
    fn further_lines_are_told_from_the_first() {
        for (opening, line, inner, next) in [
            ("", "  x", "  x", ""),
            ("> ", ">   x", "  x", "> "),
            (">", "> x", "x", ">"),
            ("  ", "\tx", "  x", "  "),
            ("- ", "  x", "x", "  "),
            ("- > 1. ", "  >    x", "x", "  >    "),
            ("> - ", ">\tx", "x", ">   "),
            ("-\t", "      x", "  x", "    "),
            ("[^long]: ", "     x", " x", "    "),
            ("[^n]: - ", "      x", "x", "      "),
            ("> ", "lazy", "lazy", "> "),
            ("> > ", "> lazy", "lazy", "> > "),
        ] {
            let markers = Markers::of(opening);
            assert_eq!(markers.strip(line, true), inner, "{opening:?}, {line:?}");
            assert_eq!(markers.strip(line, false), line);
            assert_eq!(markers.continuation(), next, "{opening:?}");
        }
    }
}
