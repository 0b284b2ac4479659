//! Everything that one question gets, read from one state of the index.

use cornu_core::Principal;
use cornu_segment::SegmentOptions;

use crate::answer::Response;
use crate::error::RagError;
use crate::index::LiveRagIndex;
use crate::route::AnswerRoute;
use crate::segments::FoundSegments;
use crate::tables::{self, FromTable};
use crate::threshold::Threshold;

/// What [`LiveRagIndex::ask`] looks for besides sentences.
///
/// ```
/// let options = cornu::AskOptions::default();
/// assert!(options.tables && options.segments.is_none());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct AskOptions {
    /// Where the evidence comes from. Default: the hybrid search.
    pub route: AnswerRoute,
    /// Whether tables are asked as well. Yes, unless set.
    pub tables: bool,
    /// How to choose the runs of chunks beside an answer. Default `None`: there are none.
    pub segments: Option<SegmentOptions>,
}

impl Default for AskOptions {
    fn default() -> Self {
        Self {
            route: AnswerRoute::default(),
            tables: true,
            segments: None,
        }
    }
}

/// What a question gets.
///
/// ```
/// use std::sync::Arc;
/// use cornu::chunk::{TableRows, TableRowsOptions};
/// use cornu::text::WordCounter;
/// use cornu::{Acl, AskOptions, DocId, Document, HashEmbeddingProvider, LiveRagIndex, Principal};
/// use cornu::{RagOptions, Threshold};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("index.db");
/// let chunker = TableRows::new(Arc::new(WordCounter::new()), TableRowsOptions::default());
/// let options = RagOptions { chunker: Arc::new(chunker), ..RagOptions::default() };
/// let index = LiveRagIndex::open(path, Arc::new(HashEmbeddingProvider::default()), options)?;
/// let pumps = "# Pumps\n\n| Model | Pressure (MPa) |\n|---|---|\n| P-1 | 3.5 |\n| P-2 | 12 |\n";
/// index.ingest(&Document::new(DocId::new("pumps.md")?, pumps, Acl::public()))?;
///
/// // Too strict for sentences; a table holds the row and the column, or it does not.
/// let threshold = Threshold::by_hand(0.99, index.provider())?;
/// let question = "Which model has the highest pressure?";
/// let asked = index.ask(&Principal::public(), question, &threshold, &AskOptions::default())?;
/// assert!(asked.is_answered() && asked.response.outcome.refusal().is_some());
/// assert_eq!(asked.tables[0].answer.to_string(), "P-2: 12 MPa");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Asked {
    /// The sentences that answer, or the refusal: exactly what [`LiveRagIndex::answer`] gives, but
    /// for the steps of the tables behind those of its trace.
    #[serde(flatten)]
    pub response: Response,
    /// Answers computed from cells, as of [`LiveRagIndex::ask_tables`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<FromTable>,
    /// The runs of chunks, where they were asked for and sentences answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segments: Option<FoundSegments>,
}

impl LiveRagIndex {
    /// An [`answer`](Self::answer), what [tables](Self::ask_tables) say, and the
    /// [runs](Self::segments) around it, all of one committed state of the index, whoever writes
    /// meanwhile.
    ///
    /// Tables have no part in the decision between answer and refusal, and that has none in what
    /// they say. Without sentences that answer there are no runs.
    ///
    /// Costs what `answer` does and the reading of the documents that hold the tables found: both
    /// share one search. Runs cost another one.
    ///
    /// # Errors
    /// As [`answer`](Self::answer) and [`segments`](Self::segments).
    pub fn ask(
        &self,
        principal: &Principal,
        question: &str,
        threshold: &Threshold,
        options: &AskOptions,
    ) -> Result<Asked, RagError> {
        if let Some(segments) = &options.segments {
            segments.check()?;
        }
        let snapshot = self.snapshot(principal)?;
        let (mut response, routes) =
            self.answer_on(options.route, &snapshot, question, threshold)?;
        let tables = match options.tables {
            true => self.tables_on(&snapshot, question, &routes)?,
            false => Vec::new(),
        };
        tables::note(&mut response.trace, &tables);
        let answered = response.outcome.refusal().is_none();
        let segments = match options.segments.as_ref().filter(|_| answered) {
            Some(options) => Some(self.segments_on(&snapshot, &[question], options)?),
            None => None,
        };
        Ok(Asked {
            response,
            tables,
            segments,
        })
    }
}

impl Asked {
    /// Whether sentences or tables answer.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        self.response.outcome.refusal().is_none() || !self.tables.is_empty()
    }

    /// As JSON, the same bytes for the same view.
    #[must_use]
    pub fn to_json(&self) -> String {
        crate::json(self)
    }
}
