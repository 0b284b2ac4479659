//! The model that a name on the command line stands for.

use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use cornu::chat::Chat;
use cornu::embed::{OpenAiEmbeddingProvider, OpenAiOptions};
use cornu::extract::RuleExtractor;
use cornu::remote::Endpoint;
use cornu::store::{Access, Options};
use cornu::{Disclosure, EmbeddingProvider, HashEmbeddingProvider, LiveRagIndex, RagOptions};

use crate::args::{Database, EmbedderArgs, ModelArgs, Reading};
use crate::chunker::Chunking;
use crate::output::Terminal;
use crate::searching;

const KEY: &str = "OPENAI_API_KEY";

/// What `--embedder` names.
#[derive(Debug, PartialEq, Eq)]
enum Named<'a> {
    Hash,
    Bert(&'a str),
    OpenAi { url: &'a str, model: &'a str },
}

impl ModelArgs {
    /// Opens an index that is there, to be asked, with the chunker that it was built with.
    pub(crate) fn open(
        &self,
        index: &Reading,
        chat: Option<Chat>,
        terminal: &Terminal,
    ) -> Result<LiveRagIndex> {
        let (database, access) = (&index.database, index.access());
        let options = RagOptions {
            store: searching::options(&database.path, access)?,
            chat,
            reranker: self.rerank.reranker(&self.embedder)?,
            // Names what `--route hop` reads; nothing is extracted at a question.
            extractor: Some(Arc::new(RuleExtractor::new())),
            ..RagOptions::default()
        };
        let chunking = Chunking::of(&database.path, access).unwrap_or_default();
        self.embedder
            .open_cutting(database, access, terminal, chunking, options)
    }
}

impl EmbedderArgs {
    /// Opens the index with the model that it has to be built with, and with options of which the
    /// embedder and the chunker set their own parts.
    pub(crate) fn open_cutting(
        &self,
        database: &Database,
        access: Access,
        terminal: &Terminal,
        chunking: Chunking,
        options: RagOptions,
    ) -> Result<LiveRagIndex> {
        let path = &database.path;
        if access != Access::ReadWrite && !path.exists() {
            bail!(
                "{path} does not exist; make an index first: `cornu index PATHS --db {path} \
                 --acl GRANT`",
                path = path.display()
            );
        }
        let named = self.named()?;
        let remote = matches!(named, Named::OpenAi { .. });
        let disclosure = match (remote, self.send) {
            (false, None) => None,
            (false, Some(_)) => {
                bail!("--send is for an `openai` embedder; the others send nothing")
            }
            (true, None) => bail!(
                "an `openai` embedder sends texts to its server; say which with `--send public` \
                 or `--send everything`"
            ),
            (true, Some(what)) => Some(what.into()),
        };
        let options = RagOptions {
            chunker: chunking.chunker(),
            disclosure,
            store: Options {
                access,
                ..options.store
            },
            ..options
        };
        let index = LiveRagIndex::open(&database.path, provider(&named)?, options)?;
        if named == Named::Hash {
            terminal.note(
                "the hash embedder knows words, not meaning: fine to try, not to rely on; \
                 --embedder names others",
            );
        }
        Ok(index)
    }

    /// The name or folder of a model that runs on this machine, if it is one.
    pub(crate) fn local_model(&self) -> Option<&str> {
        match self.named() {
            Ok(Named::Bert(model)) => Some(model),
            _ => None,
        }
    }

    /// Whether it is the hash embedder.
    pub(crate) fn is_hash(&self) -> bool {
        matches!(self.named(), Ok(Named::Hash))
    }

    fn named(&self) -> Result<Named<'_>> {
        let name = self.model.as_str();
        if name == "hash" {
            return Ok(Named::Hash);
        }
        if let Some(model) = name.strip_prefix("bert:").filter(|model| !model.is_empty()) {
            return Ok(Named::Bert(model));
        }
        if let Some(rest) = name.strip_prefix("openai:") {
            let (url, model) = rest
                .split_once('#')
                .filter(|(url, model)| !url.is_empty() && !model.is_empty())
                .with_context(|| {
                    format!(
                        "{name} does not say where and which; write openai:URL#MODEL, such as \
                         openai:http://localhost:11434#bge-m3"
                    )
                })?;
            return Ok(Named::OpenAi { url, model });
        }
        bail!("{name:?} is no embedder; name hash, bert:FOLDER, bert:PRESET or openai:URL#MODEL")
    }
}

fn provider(named: &Named<'_>) -> Result<Arc<dyn EmbeddingProvider>> {
    Ok(match *named {
        Named::Hash => Arc::new(HashEmbeddingProvider::default()),
        Named::Bert(model) => bert(model)?,
        Named::OpenAi { url, model } => {
            let mut endpoint = Endpoint::new(url)?;
            if std::env::var_os(KEY).is_some() {
                endpoint = endpoint.with_key_from_env(KEY)?;
            }
            let options = OpenAiOptions::default();
            Arc::new(OpenAiEmbeddingProvider::connect(endpoint, model, options)?)
        }
    })
}

/// Chunks are sized by words, so a model may see only the beginning of a long one; `index` reports
/// those.
#[cfg(feature = "torch")]
fn bert(model: &str) -> Result<Arc<dyn EmbeddingProvider>> {
    use cornu::embed::bert::{BertEmbeddingProvider, BertOptions, Truncation};
    let options = BertOptions {
        truncation: Truncation::Right,
        ..BertOptions::default()
    };
    Ok(Arc::new(BertEmbeddingProvider::open(model, &options)?))
}

#[cfg(not(feature = "torch"))]
fn bert(model: &str) -> Result<Arc<dyn EmbeddingProvider>> {
    bail!(
        "bert:{model} needs a build with the feature `torch`: `cargo xtask with-torch -- run \
         --release -p cornu-cli --features torch -- ARGUMENTS`"
    )
}

/// With `--send public` a question may only draw on what everybody may see: `ask` sends sentences
/// of the evidence. The library refuses too; this is said before the server is spoken to.
pub(crate) fn check_asker(embedder: &EmbedderArgs, principal: &cornu::Principal) -> Result<()> {
    let rule = embedder.send.map(Disclosure::from);
    ensure!(
        rule.is_none_or(|rule| rule.permits_asker(principal)),
        "an answer sends sentences of what the asker sees to the server; with `--send public` ask \
         as `--group public` alone, or say `--send everything`"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(model: &str) -> EmbedderArgs {
        EmbedderArgs {
            model: model.to_owned(),
            send: None,
        }
    }

    #[test]
    fn names_are_read() {
        assert_eq!(args("hash").named().unwrap(), Named::Hash);
        assert_eq!(args("bert:a/b").named().unwrap(), Named::Bert("a/b"));
        let url = "http://localhost:11434";
        let model = "bge-m3";
        let name = format!("openai:{url}#{model}");
        assert_eq!(args(&name).named().unwrap(), Named::OpenAi { url, model });
        for wrong in [
            "",
            "bert:",
            "openai:",
            "openai:http://a",
            "openai:#m",
            "Hash",
        ] {
            assert!(args(wrong).named().is_err(), "{wrong}");
        }
    }
}
