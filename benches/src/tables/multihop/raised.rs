//! What HopRAG joins passages by: questions made of what was read from them, without a model.

use std::collections::BTreeSet;

use cornu_extract::{entity_key, questions};
use cornu_hop::Passage;
use cornu_hop::hoprag::HopRagPassage;

/// The questions of a set's passages, each passage a document of its own.
pub(crate) struct Raised {
    pub(crate) passages: Vec<HopRagPassage>,
    /// What they answer, one passage after another.
    pub(crate) answerable: Vec<String>,
    /// What they raise, likewise.
    pub(crate) pending: Vec<String>,
}

impl Raised {
    pub(crate) fn of(facts: &[Passage<usize>]) -> Self {
        let mut raised = Self {
            passages: Vec::new(),
            answerable: Vec::new(),
            pending: Vec::new(),
        };
        for (document, passage) in (0..).zip(facts) {
            let made = questions(passage.title.as_deref(), &passage.extraction);
            raised.passages.push(HopRagPassage {
                document,
                keywords: keywords(&passage.extraction.entities),
                answerable: made.answerable.len(),
                pending: made.pending.len(),
            });
            raised.answerable.extend(made.answerable);
            raised.pending.extend(made.pending);
        }
        raised
    }

    /// How many texts are embedded besides passages and questions asked.
    pub(crate) fn embedded(&self) -> usize {
        self.answerable.len() + self.pending.len()
    }
}

/// Names as keywords.
pub(crate) fn keywords(names: &[String]) -> BTreeSet<String> {
    names.iter().map(|name| entity_key(name)).collect()
}
