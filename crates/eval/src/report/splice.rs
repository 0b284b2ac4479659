//! Tables in the middle of a document that people write.

/// Puts `body` between the markers of a table and leaves every other byte as it is.
///
/// The markers are lines of their own, white space around them allowed:
/// `<!-- table:NAME -->` and `<!-- /table:NAME -->`. They are found wherever they stand, in code
/// blocks too. Splicing the same body twice changes nothing. O(document) time.
///
/// ```
/// use cornu_eval::report::splice;
///
/// let document = "# Results\n<!-- table:chunking -->\nold\n<!-- /table:chunking -->\nText.\n";
/// assert_eq!(
///     splice(document, "chunking", "| new |\n")?,
///     "# Results\n<!-- table:chunking -->\n| new |\n<!-- /table:chunking -->\nText.\n"
/// );
/// # Ok::<(), cornu_eval::report::SpliceError>(())
/// ```
///
/// # Errors
/// [`SpliceError`], when the markers are not exactly one pair in order, with no other inside, or
/// when the body holds a marker.
pub fn splice(document: &str, name: &str, body: &str) -> Result<String, SpliceError> {
    let (start, end) = markers_of(document, name)?;
    if let Some(marker) = markers(body).next() {
        return Err(SpliceError::MarkerInBody {
            name: name.to_owned(),
            marker: marker.text(),
        });
    }
    let before = document.get(..start.end).unwrap_or_default();
    let after = document.get(end.start..).unwrap_or_default();
    let newline = if before.ends_with("\r\n") {
        "\r\n"
    } else {
        "\n"
    };
    let mut spliced = String::with_capacity(before.len() + body.len() + after.len() + 2);
    spliced.push_str(before);
    for line in body.lines() {
        spliced.push_str(line);
        spliced.push_str(newline);
    }
    spliced.push_str(after);
    Ok(spliced)
}

/// Why a table could not be put into a document.
///
/// ```
/// use cornu_eval::report::{SpliceError, splice};
///
/// assert!(matches!(splice("", "chunking", ""), Err(SpliceError::Missing { .. })));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpliceError {
    /// A marker is missing.
    #[error("no line `{marker}`; add it where the table goes")]
    Missing {
        /// The marker.
        marker: String,
    },
    /// A marker stands twice.
    #[error("line {line}: `{marker}` for the second time; keep one pair of markers for a table")]
    Duplicate {
        /// The marker.
        marker: String,
        /// The line of the second, from 1.
        line: usize,
    },
    /// The end comes before the start.
    #[error("line {line}: `{marker}` before its start; swap the two markers")]
    Reversed {
        /// The end marker.
        marker: String,
        /// Its line, from 1.
        line: usize,
    },
    /// Another table's marker stands between the two.
    #[error("line {line}: `{marker}` inside table {name:?}; tables may not be nested")]
    Nested {
        /// The table.
        name: String,
        /// The marker inside it.
        marker: String,
        /// Its line, from 1.
        line: usize,
    },
    /// The new text holds a marker itself.
    #[error("the text for table {name:?} holds the line `{marker}`; take it out")]
    MarkerInBody {
        /// The table.
        name: String,
        /// The marker.
        marker: String,
    },
}

/// A marker line: its bytes in the text with its line feed.
#[derive(Debug, Clone)]
struct Marker<'a> {
    name: &'a str,
    closes: bool,
    line: usize,
    start: usize,
    end: usize,
}

impl Marker<'_> {
    fn text(&self) -> String {
        marker_text(self.name, self.closes)
    }
}

fn marker_text(name: &str, closes: bool) -> String {
    format!("<!-- {}table:{name} -->", if closes { "/" } else { "" })
}

fn markers(text: &str) -> impl Iterator<Item = Marker<'_>> {
    let mut offset = 0;
    text.split_inclusive('\n')
        .enumerate()
        .filter_map(move |(index, line)| {
            let start = offset;
            offset += line.len();
            let inner = line
                .trim()
                .strip_prefix("<!--")?
                .strip_suffix("-->")?
                .trim();
            let (closes, inner) = match inner.strip_prefix('/') {
                Some(rest) => (true, rest),
                None => (false, inner),
            };
            let name = inner.strip_prefix("table:")?;
            Some(Marker {
                name,
                closes,
                line: index + 1,
                start,
                end: offset,
            })
        })
}

fn markers_of<'a>(document: &'a str, name: &str) -> Result<(Marker<'a>, Marker<'a>), SpliceError> {
    let only = |closes: bool| {
        let mut own = markers(document).filter(|m| m.name == name && m.closes == closes);
        let marker = || marker_text(name, closes);
        let first = own
            .next()
            .ok_or_else(|| SpliceError::Missing { marker: marker() })?;
        match own.next() {
            Some(second) => Err(SpliceError::Duplicate {
                marker: marker(),
                line: second.line,
            }),
            None => Ok(first),
        }
    };
    let (start, end) = (only(false)?, only(true)?);
    if end.start < start.end {
        return Err(SpliceError::Reversed {
            marker: end.text(),
            line: end.line,
        });
    }
    let inside = |m: &Marker<'_>| (start.end..end.start).contains(&m.start);
    if let Some(m) = markers(document).find(inside) {
        let name = name.to_owned();
        return Err(SpliceError::Nested {
            name,
            marker: m.text(),
            line: m.line,
        });
    }
    // The table may itself stand inside another one.
    let depth = markers(document)
        .take_while(|m| m.start < start.start)
        .fold(
            0_i32,
            |depth, m| if m.closes { depth - 1 } else { depth + 1 },
        );
    if depth > 0 {
        let outer = markers(document)
            .take_while(|m| m.start < start.start)
            .last();
        let name = outer.map_or_else(String::new, |m| m.name.to_owned());
        return Err(SpliceError::Nested {
            name,
            marker: start.text(),
            line: start.line,
        });
    }
    Ok((start, end))
}
