//! The indexes, and what was fitted on dev questions.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result};
use cornu::segment::{
    AutoContext, AutoContextOptions, ExtractiveSummariser, Mode, Relevance, SegmentOptions,
};
use cornu::{Calibration, ContextualChunker, Target};
use cornu_chunk::Chunker;
use cornu_chunk::markdown::Outline;
use cornu_core::Document;
use cornu_eval::questions::Question;

use crate::fitted;
use crate::live::Live;
use crate::models::{PINNED, Prefixes, Shared};
use crate::strategies::{PARENT_CHILD, SENTENCE, strategy};
use crate::table::{Bench, Part};

/// The folder of the long documents beside the corpus.
const FOLDER: &str = "long";
/// One question in ten with an answer may be refused.
const TARGET: Target = Target::FalseRefusals(0.1);

pub(super) const SEGMENTS: &str = "questions-segments.jsonl";
pub(super) const EXT: &str = "questions-ext.jsonl";

/// What is indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Build {
    /// Whole sentences, the default.
    Plain,
    /// The same behind a header of title and summary.
    Header,
    /// Children whose parents are shown.
    Children,
}

impl Build {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Header => "header",
            Self::Children => "parent-child",
        }
    }
}

/// An index with its own threshold.
pub(super) struct Indexed {
    pub(super) live: Live,
    pub(super) fitted: Calibration,
    /// The mean size of what is indexed, in tokens of the text that is shown.
    pub(super) chunk_tokens: f64,
}

impl Indexed {
    /// The options of a choice of runs that has to fit a budget: the preset, but for the lengths,
    /// which are as many chunks of mean size as the budget holds, and the relevance, which is
    /// around the threshold, as in the program.
    pub(super) fn options(&self, mode: Mode, budget: usize) -> SegmentOptions {
        let preset = SegmentOptions::default();
        let chunks = ((budget as f64 / self.chunk_tokens) as usize).max(1);
        SegmentOptions {
            mode,
            relevance: Relevance::around(self.fitted.threshold.value()),
            max_length: preset.max_length.min(chunks),
            overall_max_length: chunks,
            ..preset
        }
    }
}

/// Everything that the systems work with.
pub(super) struct World {
    pub(super) model: Shared,
    documents: Vec<(Document, Outline)>,
    indexes: BTreeMap<Build, Indexed>,
    /// The questions of both files.
    pub(super) segments: Vec<Question>,
    pub(super) ext: Vec<Question>,
}

impl World {
    /// All indexes; in the quick part the plain one alone. The reason where there is no model.
    pub(super) fn open(bench: &Bench<'_>) -> Result<Result<Self, String>> {
        let model = match bench.models.shared_or_reason(PINNED, Prefixes::Own)? {
            Ok(model) => model,
            Err(reason) => return Ok(Err(reason)),
        };
        let further = bench.data.folder(FOLDER)?;
        let segments = bench.data.questions_over(SEGMENTS, &further)?;
        let ext = bench.data.questions(EXT)?;
        let builds: &[Build] = match bench.part {
            Part::Full => &[Build::Plain, Build::Header, Build::Children],
            Part::Quick => &[Build::Plain],
        };
        let all = bench.data.documents().cloned().chain(further).collect();
        Self::build(all, model, builds, segments, ext).map(Ok)
    }

    /// Over these documents and questions; the dev questions of `ext` fit the thresholds.
    pub(super) fn build(
        documents: Vec<Document>,
        model: Shared,
        builds: &[Build],
        segments: Vec<Question>,
        ext: Vec<Question>,
    ) -> Result<Self> {
        let dev: Vec<Question> = ext.iter().filter(|q| q.split == "dev").cloned().collect();
        let given: Vec<&Document> = documents.iter().collect();
        let mut indexes = BTreeMap::new();
        for &build in builds {
            let chunker = chunker(build, &model)?;
            let live = Live::build(&given, chunker, Arc::clone(&model.provider))?;
            let sizes = live.chunks.values();
            let sizes: Vec<usize> = sizes
                .map(|chunk| model.counter.count(&chunk.text))
                .collect();
            let chunk_tokens = sizes.iter().sum::<usize>() as f64 / sizes.len().max(1) as f64;
            let fitted = fitted::threshold(&live, &dev, TARGET)?;
            let indexed = Indexed {
                live,
                fitted,
                chunk_tokens,
            };
            indexes.insert(build, indexed);
        }
        let outlined = |document: Document| {
            let outline = Outline::parse(document.source());
            (document, outline)
        };
        Ok(Self {
            model,
            documents: documents.into_iter().map(outlined).collect(),
            indexes,
            segments,
            ext,
        })
    }

    pub(super) fn index(&self, build: Build) -> Result<&Indexed> {
        self.indexes.get(&build).context("an index that was built")
    }

    pub(super) fn indexes(&self) -> impl Iterator<Item = (Build, &Indexed)> {
        self.indexes
            .iter()
            .map(|(build, indexed)| (*build, indexed))
    }

    /// A document and its structure.
    pub(super) fn document(&self, name: &str) -> Result<(&Document, &Outline)> {
        let mut all = self.documents.iter();
        let found = all.find(|(document, _)| document.id().as_str() == name);
        let (document, outline) = found.context("a document of ours")?;
        Ok((document, outline))
    }
}

fn chunker(build: Build, model: &Shared) -> Result<Arc<dyn Chunker>> {
    let inner = match build {
        Build::Plain | Build::Header => strategy(SENTENCE, &model.counter)?,
        Build::Children => strategy(PARENT_CHILD, &model.counter)?,
    };
    if build != Build::Header {
        return Ok(inner);
    }
    let summariser = Arc::new(ExtractiveSummariser::default());
    let counter = Arc::clone(&model.counter);
    let context = AutoContext::new(summariser, counter, AutoContextOptions::default());
    Ok(Arc::new(ContextualChunker::new(inner, context)))
}
