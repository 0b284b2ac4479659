//! What two questions have to share to share a result.

use std::borrow::Cow;
use std::sync::Arc;

use cornu_core::{Fingerprint, View};
use unicode_normalization::{UnicodeNormalization, is_nfc};

/// A question as a key has it, and as it is to be searched for: without white space around it, in
/// NFC. Nothing else is folded: `US` is not `us`, and `A  B` is another pattern than `A B`.
///
/// Whoever caches by this has to search by it, too, cached or not: then equal keys give equal
/// results whatever the model makes of a blank or a combining mark. O(bytes).
///
/// ```
/// use cornu_pool::normalised;
/// assert_eq!(normalised(" cafe\u{301}\n"), "caf\u{e9}");
/// assert_ne!(normalised("US 政策"), normalised("us 政策"));
/// assert_ne!(normalised("grep -E 'A  B'"), normalised("grep -E 'A B'"));
/// ```
#[must_use]
pub fn normalised(question: &str) -> Cow<'_, str> {
    let trimmed = question.trim();
    if is_nfc(trimmed) {
        Cow::Borrowed(trimmed)
    } else {
        Cow::Owned(trimmed.nfc().collect())
    }
}

/// Everything that a result depends on besides the question.
///
/// - The digest of the asker's [`View`]: who may see anything else has another one. It is taken
///   from the view that the search itself runs under, so no caller can name somebody else's.
/// - The epoch: no result outlives a commit, be it of a document that the asker does not see.
/// - The provider's fingerprint, k, and the settings of the search as a structure, not as a joined
///   text: no two of them meet.
///
/// ```
/// use std::sync::Arc;
/// use cornu_core::{Fingerprint, Principal, View};
/// use cornu_pool::Scope;
///
/// let model = Arc::new(Fingerprint::new("model"));
/// let settings = |k1: f64| Arc::new(Fingerprint::new("bm25").with("k1", k1));
/// let view = View::resolve(&Principal::public(), 7, []);
/// let scope = Scope::new(&view, &model, 10, &settings(1.2));
/// assert_eq!(scope, Scope::new(&view, &model, 10, &settings(1.2)));
/// assert_ne!(scope, Scope::new(&view, &model, 10, &settings(0.9)));
/// let later = View::resolve(&Principal::public(), 8, []);
/// assert_ne!(scope, Scope::new(&later, &model, 10, &settings(1.2)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scope {
    epoch: u64,
    view: [u8; 32],
    k: usize,
    provider: Arc<Fingerprint>,
    settings: Arc<Fingerprint>,
}

impl Scope {
    /// Of a search for `k` results under a view.
    #[must_use]
    pub fn new(
        view: &View,
        provider: &Arc<Fingerprint>,
        k: usize,
        settings: &Arc<Fingerprint>,
    ) -> Self {
        Self {
            epoch: view.epoch(),
            view: *view.digest(),
            k,
            provider: Arc::clone(provider),
            settings: Arc::clone(settings),
        }
    }
}

/// A scope and a question in it.
///
/// The question is kept, so that it can be compared in full; of documents a cache knows ids alone.
///
/// ```
/// use std::sync::Arc;
/// use cornu_core::{Fingerprint, Principal, View};
/// use cornu_pool::{CacheKey, Scope};
///
/// let name = Arc::new(Fingerprint::new("any"));
/// let scope = Scope::new(&View::resolve(&Principal::public(), 1, []), &name, 3, &name);
/// assert_eq!(CacheKey::new(scope.clone(), "a "), CacheKey::new(scope.clone(), "a"));
/// assert_ne!(CacheKey::new(scope.clone(), "A"), CacheKey::new(scope, "a"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CacheKey {
    scope: Scope,
    question: Box<str>,
}

impl CacheKey {
    /// Of a question, which is [`normalised`].
    #[must_use]
    pub fn new(scope: Scope, question: &str) -> Self {
        Self {
            scope,
            question: normalised(question).into(),
        }
    }

    /// All but the question.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The question, normalised.
    #[must_use]
    pub fn question(&self) -> &str {
        &self.question
    }

    /// On the heap and off it. The fingerprints are the index's own and are shared.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>() + self.question.len()
    }
}
