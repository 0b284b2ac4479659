//! Who may see a document, and who asks.
//!
//! A [`Grant`] is a name such as `public`, `hr` or `team:search`. It is compared whole, byte for
//! byte, after Unicode normalisation to NFC: there are no prefixes, wildcards, cases or
//! hierarchies. A document is visible when its [`Acl`] and the asker's [`Principal`] share at
//! least one grant. `public` is a grant like any other: a document is public when it *names*
//! `public`, and an asker sees public documents when they *hold* `public`.

use std::collections::BTreeSet;
use std::fmt;

use unicode_normalization::UnicodeNormalization;

/// The longest grant, in bytes of UTF-8 after normalisation.
pub const MAX_GRANT_BYTES: usize = 256;

/// One name that a document may be granted to and a principal may hold.
///
/// Never empty, at most [`MAX_GRANT_BYTES`] long, in NFC, without control characters and without
/// white space at either end. Anything else is refused rather than repaired, since a repaired
/// grant would be another grant.
///
/// ```
/// use cornu_core::Grant;
///
/// // "é" written as one or as two code points is the same grant.
/// assert_eq!(Grant::new("caf\u{e9}")?, Grant::new("cafe\u{301}")?);
/// assert_ne!(Grant::new("HR")?, Grant::new("hr")?);
/// assert!(Grant::new(" hr").is_err());
/// # Ok::<(), cornu_core::AclError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
pub struct Grant(String);

impl Grant {
    /// The grant that public documents name and ordinary askers hold.
    pub const PUBLIC: &'static str = "public";

    /// Checks and normalises a name.
    ///
    /// # Errors
    /// [`AclError`] when the name is empty, too long, padded with white space or holds a control
    /// character.
    pub fn new(name: &str) -> Result<Self, AclError> {
        let name: String = name.nfc().collect();
        if name.is_empty() {
            return Err(AclError::EmptyGrant);
        }
        if name.len() > MAX_GRANT_BYTES {
            return Err(AclError::LongGrant { bytes: name.len() });
        }
        if name.trim() != name {
            return Err(AclError::PaddedGrant { grant: name });
        }
        if name.chars().any(char::is_control) {
            return Err(AclError::ControlCharacter {
                grant: name.escape_debug().to_string(),
            });
        }
        Ok(Self(name))
    }

    /// The normalised name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Grant {
    type Error = AclError;
    fn try_from(name: String) -> Result<Self, AclError> {
        Self::new(&name)
    }
}

impl From<Grant> for String {
    fn from(grant: Grant) -> Self {
        grant.0
    }
}

/// The set of grants of a document. The empty set admits nobody.
///
/// ```
/// use cornu_core::{Acl, Principal};
///
/// let acl = Acl::new(["hr", "audit"])?;
/// assert!(acl.admits(&Principal::new(["audit", "public"])?));
/// assert!(!acl.admits(&Principal::new(["public"])?));
///
/// // No grants: nobody, not even an asker who holds `public`.
/// assert!(!Acl::nobody().admits(&Principal::new(["public"])?));
/// # Ok::<(), cornu_core::AclError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct Acl(BTreeSet<Grant>);

impl Acl {
    /// An ACL with these grants.
    ///
    /// # Errors
    /// [`AclError`] for the first name that is no [`Grant`].
    pub fn new<S: AsRef<str>>(grants: impl IntoIterator<Item = S>) -> Result<Self, AclError> {
        collect(grants).map(Self)
    }

    /// The ACL that admits nobody.
    #[must_use]
    pub fn nobody() -> Self {
        Self::default()
    }

    /// The ACL that names `public` and nothing else.
    #[must_use]
    pub fn public() -> Self {
        Self(BTreeSet::from([Grant(Grant::PUBLIC.to_owned())]))
    }

    /// Whether the principal holds at least one of the grants. O(m log n).
    #[must_use]
    pub fn admits(&self, principal: &Principal) -> bool {
        !self.0.is_disjoint(&principal.0)
    }

    /// The grants in byte order.
    pub fn grants(&self) -> impl ExactSizeIterator<Item = &Grant> {
        self.0.iter()
    }

    /// Whether the ACL admits nobody.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<Grant> for Acl {
    fn from_iter<T: IntoIterator<Item = Grant>>(grants: T) -> Self {
        Self(grants.into_iter().collect())
    }
}

/// Who asks: the set of grants they hold. Nothing is implied, not even `public`.
///
/// ```
/// use cornu_core::Principal;
///
/// let alice = Principal::new(["public", "hr"])?;
/// assert_eq!(alice.grants().count(), 2);
/// assert_eq!(Principal::public(), Principal::new(["public"])?);
/// # Ok::<(), cornu_core::AclError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct Principal(BTreeSet<Grant>);

impl Principal {
    /// A principal that holds these grants.
    ///
    /// # Errors
    /// [`AclError`] for the first name that is no [`Grant`].
    pub fn new<S: AsRef<str>>(grants: impl IntoIterator<Item = S>) -> Result<Self, AclError> {
        collect(grants).map(Self)
    }

    /// A principal that holds `public` and nothing else.
    #[must_use]
    pub fn public() -> Self {
        Self(Acl::public().0)
    }

    /// The grants in byte order.
    pub fn grants(&self) -> impl ExactSizeIterator<Item = &Grant> {
        self.0.iter()
    }
}

impl FromIterator<Grant> for Principal {
    fn from_iter<T: IntoIterator<Item = Grant>>(grants: T) -> Self {
        Self(grants.into_iter().collect())
    }
}

/// Why a name is no grant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AclError {
    /// The name has no characters.
    #[error("a grant is empty; name it, or leave it out (an ACL without grants admits nobody)")]
    EmptyGrant,
    /// The name is longer than [`MAX_GRANT_BYTES`].
    #[error("a grant has {bytes} bytes, more than {MAX_GRANT_BYTES}; use a shorter name")]
    LongGrant {
        /// Length after normalisation.
        bytes: usize,
    },
    /// The name begins or ends with white space.
    #[error("the grant {grant:?} begins or ends with white space; remove it at its source")]
    PaddedGrant {
        /// The name as given, in NFC.
        grant: String,
    },
    /// The name holds a control character.
    #[error("the grant \"{grant}\" holds a control character; remove it at its source")]
    ControlCharacter {
        /// The name, escaped.
        grant: String,
    },
}

fn collect<S: AsRef<str>>(
    grants: impl IntoIterator<Item = S>,
) -> Result<BTreeSet<Grant>, AclError> {
    grants
        .into_iter()
        .map(|name| Grant::new(name.as_ref()))
        .collect()
}
