//! Values that clap does not know by itself. What is wrong is told as what to give.

use std::num::{IntErrorKind, NonZeroU64, NonZeroUsize, ParseIntError};

use cornu::Grant;

/// How many of something: at least one.
pub(crate) fn count(text: &str) -> Result<NonZeroUsize, String> {
    text.parse()
        .map_err(|error| number(&error, usize::MAX as u64))
}

/// So many seconds: at least one.
pub(crate) fn seconds(text: &str) -> Result<NonZeroU64, String> {
    text.parse().map_err(|error| number(&error, u64::MAX))
}

fn number(error: &ParseIntError, most: u64) -> String {
    match error.kind() {
        IntErrorKind::PosOverflow => format!("give a whole number, at most {most}"),
        _ => "give a whole number, at least 1".to_owned(),
    }
}

/// A part of a whole that is neither nothing nor all.
pub(crate) fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok();
    let rate = rate.filter(|rate| *rate > 0.0 && *rate < 1.0);
    rate.ok_or_else(|| "give a number between 0 and 1, such as 0.1".to_owned())
}

/// A grant's name, as it is written.
pub(crate) fn grant(text: &str) -> Result<String, String> {
    match Grant::new(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
