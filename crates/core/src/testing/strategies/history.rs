//! Lists of writes in which hidden documents resemble visible ones as closely as they can.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use super::facts::{Sketch, sketch};
use super::{acl, doc_id};
use crate::acl::{Acl, Grant, Principal};
use crate::id::DocId;
use crate::store::{DocumentFacts, FactStore};

/// One write.
///
/// ```
/// use cornu_core::{DocId, testing::strategies::Operation};
/// let id = DocId::new("a.md")?;
/// assert_eq!(Operation::Remove(id.clone()).doc(), &id);
/// # Ok::<(), cornu_core::IdError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    /// Insert the document, or put these facts in place of those it had.
    Upsert(DocumentFacts),
    /// Remove the document, whether it is there or not.
    Remove(DocId),
}

impl Operation {
    /// The document that is written.
    #[must_use]
    pub fn doc(&self) -> &DocId {
        match self {
            Self::Upsert(facts) => &facts.doc,
            Self::Remove(doc) => doc,
        }
    }
}

/// Writes, in order.
///
/// ```
/// use cornu_core::testing::strategies::{History, Operation};
/// use cornu_core::{Acl, ContentHash, DocId, DocumentFacts, Principal};
///
/// let facts = |acl| DocumentFacts {
///     doc: DocId::new("a.md").unwrap(),
///     content: ContentHash::of(b""),
///     acl,
///     chunks: vec![],
///     vectors: ndarray::Array2::zeros((0, 4)),
/// };
/// // Public, then for nobody: for the public it was inserted and removed.
/// let history = History::new([
///     Operation::Upsert(facts(Acl::public())),
///     Operation::Upsert(facts(Acl::nobody())),
/// ]);
/// let seen = history.without_hidden(&Principal::public());
/// assert_eq!(seen.operations(), [
///     Operation::Upsert(facts(Acl::public())),
///     Operation::Remove(DocId::new("a.md")?),
/// ]);
/// # Ok::<(), cornu_core::IdError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    operations: Vec<Operation>,
}

impl History {
    /// A history of these writes.
    pub fn new(operations: impl IntoIterator<Item = Operation>) -> Self {
        Self {
            operations: operations.into_iter().collect(),
        }
    }

    /// The writes, in order.
    #[must_use]
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// The history as the principal may know it: no facts in it were ever hidden from them.
    ///
    /// Write by write, with a document *known* when the last kept write of it was an upsert:
    /// - an upsert whose ACL admits the principal is kept;
    /// - an upsert whose ACL does not is a removal when the document is known (it was visible and
    ///   is not any more), and nothing when it is not;
    /// - a removal is kept when the document is known, and nothing when it is not.
    ///
    /// So after every write, the documents of the filtered history are those of the whole history
    /// whose present ACL admits the principal, with their present facts. A document that was
    /// hidden and becomes visible enters at that write. O(writes) clones.
    #[must_use]
    pub fn without_hidden(&self, principal: &Principal) -> Self {
        let mut known = BTreeSet::new();
        let operations = self.operations.iter().filter_map(|operation| {
            if let Operation::Upsert(facts) = operation
                && facts.acl.admits(principal)
            {
                known.insert(&facts.doc);
                return Some(operation.clone());
            }
            let doc = operation.doc();
            known.remove(doc).then(|| Operation::Remove(doc.clone()))
        });
        Self::new(operations)
    }

    /// The documents at the end, by name, with their facts.
    #[must_use]
    pub fn finally(&self) -> BTreeMap<&DocId, &DocumentFacts> {
        let mut state = BTreeMap::new();
        for operation in &self.operations {
            match operation {
                Operation::Upsert(facts) => state.insert(&facts.doc, facts),
                Operation::Remove(doc) => state.remove(doc),
            };
        }
        state
    }

    /// Every facts that were ever written, in order of writing.
    pub fn facts(&self) -> impl Iterator<Item = &DocumentFacts> {
        self.operations
            .iter()
            .filter_map(|operation| match operation {
                Operation::Upsert(facts) => Some(facts),
                Operation::Remove(_) => None,
            })
    }

    /// Writes the history to a store.
    ///
    /// # Errors
    /// The store's first error; what was written before it stays.
    pub fn apply<S: FactStore>(&self, store: &S) -> Result<(), S::Error> {
        for operation in &self.operations {
            match operation {
                Operation::Upsert(facts) => store.upsert(facts).map(drop)?,
                Operation::Remove(doc) => store.remove(doc).map(drop)?,
            }
        }
        Ok(())
    }
}

/// Histories of one to sixteen writes over about ten names, with vectors of shape (`dimension`,
/// at least 1). About half of the upserts resemble an earlier one:
/// - *twins* under another name and ACL: the same text and vectors; the same vectors with one
///   word changed; one word changed and vectors moved by about 2^-10. Half of the twins are
///   public when the other is not, and the reverse;
/// - *the same document again*, with another ACL (visible becomes hidden, hidden visible) or
///   unchanged.
///
/// Since all words come from one small vocabulary, hidden documents share terms, entities and
/// identifiers with visible ones anyway.
///
/// ```
/// use cornu_core::testing::{proptest::prelude::*, strategies};
/// proptest!(|(history in strategies::history(4))| {
///     prop_assert!(history.finally().len() <= history.operations().len());
/// });
/// ```
pub fn history(dimension: usize) -> impl Strategy<Value = History> {
    let twin = (any::<Index>(), any::<usize>(), 0_u8..3, any::<bool>());
    let write = prop_oneof![
        4 => sketch(dimension).prop_map(Body::Fresh),
        6 => twin.prop_map(|(of, at, how, across)| Body::Twin { of, at, how, across }),
        2 => (any::<Index>(), any::<bool>())
            .prop_map(|(of, same_acl)| Body::Again { of, same_acl }),
        2 => Just(Body::Removal),
    ];
    vec((doc_id(), acl(), write), 1..=16).prop_map(move |writes| build(writes, dimension))
}

#[derive(Clone, Debug)]
enum Body {
    Fresh(Sketch),
    Twin {
        of: Index,
        at: usize,
        how: u8,
        across: bool,
    },
    Again {
        of: Index,
        same_acl: bool,
    },
    Removal,
}

fn build(writes: Vec<(DocId, Acl, Body)>, dimension: usize) -> History {
    let mut made: Vec<(DocId, Acl, Sketch)> = Vec::new();
    let mut operations = Vec::new();
    for (doc, acl, body) in writes {
        let earlier = |of: Index| made.get(of.index(made.len().max(1)));
        let next = match body {
            Body::Fresh(sketch) => Some((doc.clone(), acl, sketch)),
            Body::Twin {
                of,
                at,
                how,
                across,
            } => earlier(of).map(|(_, other, like)| {
                let sketch = match how {
                    0 => like.clone(),
                    1 => like.reworded(at),
                    _ => like.nudged(at),
                };
                let acl = if across { opposite(other, &acl) } else { acl };
                (doc.clone(), acl, sketch)
            }),
            Body::Again { of, same_acl } => earlier(of).map(|(doc, old, like)| {
                let acl = if same_acl { old.clone() } else { acl };
                (doc.clone(), acl, like.clone())
            }),
            Body::Removal => None,
        };
        match next {
            Some((doc, acl, sketch)) => {
                let facts = sketch.facts(doc.clone(), acl.clone(), dimension);
                operations.push(Operation::Upsert(facts));
                made.push((doc, acl, sketch));
            }
            None => operations.push(Operation::Remove(doc)),
        }
    }
    History { operations }
}

/// An ACL that shows the public what `other` hides from it, and the reverse.
fn opposite(other: &Acl, acl: &Acl) -> Acl {
    if !other.admits(&Principal::public()) {
        return Acl::public();
    }
    let private = |grant: &&Grant| grant.as_str() != Grant::PUBLIC;
    acl.grants().filter(private).cloned().collect()
}
