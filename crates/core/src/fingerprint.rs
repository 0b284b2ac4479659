//! Which model, with which settings, made a number.

use std::collections::BTreeMap;
use std::fmt;

/// Everything that a provider's output depends on, by name: model, weights, pooling, prefixes,
/// limits. Two providers with equal fingerprints give equal output for equal input.
///
/// An index stores the fingerprint that it was built with, and refuses another: vectors of
/// different models share no space, even when they share a dimension.
///
/// ```
/// use cornu_core::Fingerprint;
///
/// let built = Fingerprint::new("e5-small").with("query_prefix", "query: ").with("dimension", 384);
/// let opened = Fingerprint::new("e5-small").with("query_prefix", "").with("dimension", 384);
/// assert_ne!(built, opened);
/// assert_eq!(built.differences(&opened), [
///     r#"query_prefix: "query: " there, "" here"#.to_owned(),
/// ]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Fingerprint {
    model: String,
    settings: BTreeMap<String, String>,
}

impl Fingerprint {
    /// The fingerprint of a model without further settings.
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            settings: BTreeMap::new(),
        }
    }

    /// Adds a setting; a later value replaces an earlier one.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl fmt::Display) -> Self {
        self.settings.insert(name.into(), value.to_string());
        self
    }

    /// The model's name.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// A setting's value.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.settings.get(name).map(String::as_str)
    }

    /// blake3 over all names and values, each with its length before it.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("cornu fingerprint v1");
        let mut part = |text: &str| {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        };
        part(&self.model);
        for (name, value) in &self.settings {
            part(name);
            part(value);
        }
        *hasher.finalize().as_bytes()
    }

    /// In words, how this fingerprint (`there`: the one an index was built with) differs from
    /// another (`here`). Empty when they are equal.
    #[must_use]
    pub fn differences(&self, here: &Self) -> Vec<String> {
        let mut out = Vec::new();
        if self.model != here.model {
            out.push(format!(
                "model: {:?} there, {:?} here",
                self.model, here.model
            ));
        }
        let mut names: Vec<&String> = self.settings.keys().chain(here.settings.keys()).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let (there, here) = (self.get(name), here.get(name));
            if there != here {
                let show = |value: Option<&str>| {
                    value.map_or_else(|| "absent".to_owned(), |value| format!("{value:?}"))
                };
                out.push(format!(
                    "{name}: {} there, {} here",
                    show(there),
                    show(here)
                ));
            }
        }
        out
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.model)?;
        for (name, value) in &self.settings {
            write!(f, "; {name}={value:?}")?;
        }
        Ok(())
    }
}
