//! How `index` cuts documents, and how an index says what it was cut with.
//!
//! The chunker is part of an index's fingerprint, so an index keeps it. Only `index` names one;
//! whatever opens an index afterwards reads there which of [`Chunking::all`] it is.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, ensure};
use cornu::ContextualChunker;
use cornu::chunk::{Chunker, SentencePacked, SentencePackedOptions, TableRows, TableRowsOptions};
use cornu::segment::{AutoContext, AutoContextOptions, ExtractiveSummariser};
use cornu::store::{Access, Options, SqliteVecStore};
use cornu::text::WordCounter;

use crate::args::{ChunkerArgs, ContextArg, TablesArg};

/// From so many columns on a table is wide, for `--tables columns`.
const WIDE: usize = 6;

/// How documents are cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Chunking {
    pub(crate) tables: TablesArg,
    pub(crate) context: ContextArg,
}

impl Chunking {
    /// What the index at this path was built with; `None` where there is no index that can be read,
    /// or one that was not built by this program. Opening the index tells what is wrong.
    pub(crate) fn of(path: &Path, access: Access) -> Option<Self> {
        let options = Options {
            access,
            ..Options::default()
        };
        let store = SqliteVecStore::open_existing(path, &options).ok()?;
        let there = store.fingerprint().get("index.chunker")?;
        Self::all().find(|chunking| chunking.chunker().fingerprint() == there)
    }

    /// The chunker.
    pub(crate) fn chunker(self) -> Arc<dyn Chunker> {
        let counter = Arc::new(WordCounter::new());
        let text = SentencePackedOptions::default();
        let inner: Arc<dyn Chunker> = match self.tables {
            TablesArg::Rows | TablesArg::Columns => {
                let options = TableRowsOptions {
                    text,
                    wide: (self.tables == TablesArg::Columns).then_some(WIDE),
                    ..TableRowsOptions::default()
                };
                Arc::new(TableRows::new(counter.clone(), options))
            }
            TablesArg::Text => Arc::new(SentencePacked::new(counter.clone(), text)),
        };
        let document_tokens = match self.context {
            ContextArg::Off => return inner,
            ContextArg::Title => 0,
            ContextArg::Summary => AutoContextOptions::default().document_tokens,
        };
        let options = AutoContextOptions {
            document_tokens,
            ..AutoContextOptions::default()
        };
        let summariser = Arc::new(ExtractiveSummariser::default());
        let context = AutoContext::new(summariser, counter, options);
        Arc::new(ContextualChunker::new(inner, context))
    }

    fn all() -> impl Iterator<Item = Self> {
        let contexts = [ContextArg::Off, ContextArg::Title, ContextArg::Summary];
        [TablesArg::Rows, TablesArg::Columns, TablesArg::Text]
            .into_iter()
            .flat_map(move |tables| contexts.map(|context| Self { tables, context }))
    }

    fn flags(self) -> String {
        let tables = match self.tables {
            TablesArg::Rows => "rows",
            TablesArg::Columns => "columns",
            TablesArg::Text => "text",
        };
        let context = match self.context {
            ContextArg::Off => "off",
            ContextArg::Title => "title",
            ContextArg::Summary => "summary",
        };
        format!("--tables {tables} --context {context}")
    }
}

impl ChunkerArgs {
    /// How to cut for the index at this path: as it was built, where it is there; else as the flags
    /// say.
    pub(crate) fn chunking(&self, path: &Path) -> Result<Chunking> {
        let built = Chunking::of(path, Access::ReadOnly);
        let base = built.unwrap_or_default();
        let asked = Chunking {
            tables: self.tables.unwrap_or(base.tables),
            context: self.context.unwrap_or(base.context),
        };
        ensure!(
            asked == base || built.is_none(),
            "{} was built with `{}`, and an index keeps how it cuts documents; leave the two flags \
             out, or index into a new file",
            path.display(),
            base.flags()
        );
        Ok(asked)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_has_a_fingerprint_of_its_own() {
        let all: Vec<Chunking> = Chunking::all().collect();
        let names: BTreeSet<String> = all
            .iter()
            .map(|chunking| chunking.chunker().fingerprint().to_owned())
            .collect();
        assert_eq!(names.len(), 9);
        assert!(all.contains(&Chunking::default()));
    }

    /// Indexes that older versions built, without these flags, open as `--tables text --context
    /// off`.
    #[test]
    fn the_library_default_is_among_them() {
        let text = Chunking {
            tables: TablesArg::Text,
            context: ContextArg::Off,
        };
        let library = cornu::RagOptions::default().chunker;
        assert_eq!(text.chunker().fingerprint(), library.fingerprint());
    }
}
