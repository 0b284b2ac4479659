//! Traditional characters to simplified ones.

use std::fmt;
use std::sync::OnceLock;

use ferrous_opencc::OpenCC;
use ferrous_opencc::config::BuiltinConfig;

/// The table could not be read.
///
/// ```
/// # fn show(error: cornu_text::TraditionalError) -> String {
/// error.to_string()
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error(
    "the table of traditional characters cannot be read: {reason}; build ferrous-opencc with the feature t2s-conversion"
)]
pub struct TraditionalError {
    /// What the library said.
    pub reason: String,
}

/// Simplifies single characters; one table for the process.
#[derive(Clone, Copy)]
pub(super) struct Simplifier(&'static OpenCC);

impl fmt::Debug for Simplifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Simplifier")
    }
}

impl Simplifier {
    pub(super) fn load() -> Result<Self, TraditionalError> {
        static TABLE: OnceLock<Result<OpenCC, String>> = OnceLock::new();
        TABLE
            .get_or_init(|| {
                OpenCC::from_config(BuiltinConfig::T2s).map_err(|error| error.to_string())
            })
            .as_ref()
            .map(Self)
            .map_err(|reason| TraditionalError {
                reason: reason.clone(),
            })
    }

    /// The simplified form; the character itself where there is none, or more than one character.
    pub(super) fn character(self, c: char) -> char {
        let converted = self.0.convert(c.encode_utf8(&mut [0; 4]));
        let mut chars = converted.chars();
        match (chars.next(), chars.next()) {
            (Some(simple), None) => simple,
            _ => c,
        }
    }
}
