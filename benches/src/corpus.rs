//! `bench-data`: documents with their grants, questions, synonym groups.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use cornu_core::{Acl, DocId, Document};
use cornu_eval::questions::{self, Question};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::external::{self, PublicSet};

/// The folder `bench-data` of a checkout.
#[derive(Debug)]
pub struct BenchData {
    root: PathBuf,
    documents: BTreeMap<String, Document>,
}

/// Two ways to ask for the same passage, and passages that share their words.
#[derive(Debug, Clone, Deserialize)]
pub struct SynonymGroup {
    /// Stable name.
    pub id: String,
    /// `zh` or `en`.
    pub lang: String,
    /// Rephrasings of one question.
    pub queries: Vec<String>,
    /// The passage that answers all of them.
    pub gold: String,
    /// Passages that share words with a query and do not answer.
    pub distractors: Vec<String>,
}

#[derive(Deserialize)]
struct Manifest {
    #[serde(alias = "document", alias = "documents")]
    doc: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    file: String,
    acl: Vec<String>,
}

impl BenchData {
    /// Reads `corpus.toml` and every document it names.
    ///
    /// # Errors
    /// A file that is missing or malformed, named.
    pub fn load(root: &Path) -> Result<Self> {
        let documents = listed(&root.join("corpus.toml"), &root.join("corpus"))?;
        Ok(Self {
            root: root.to_owned(),
            documents,
        })
    }

    /// All documents, in order of name.
    pub fn documents(&self) -> impl ExactSizeIterator<Item = &Document> {
        self.documents.values()
    }

    /// One document.
    ///
    /// # Errors
    /// When the corpus has none of that name.
    pub fn document(&self, name: &str) -> Result<&Document> {
        self.documents
            .get(name)
            .with_context(|| format!("the corpus has no document {name}"))
    }

    /// The documents of another folder, in order of name: `NAME/NAME.toml` lists them.
    ///
    /// # Errors
    /// A file that is missing or malformed, named.
    pub fn folder(&self, name: &str) -> Result<Vec<Document>> {
        let folder = self.root.join(name);
        let documents = listed(&folder.join(format!("{name}.toml")), &folder)?;
        Ok(documents.into_values().collect())
    }

    /// A question file on the corpus, each evidence phrase checked to stand in its document.
    ///
    /// # Errors
    /// A file that is malformed, or evidence that does not exist.
    pub fn questions(&self, file: &str) -> Result<Vec<Question>> {
        self.questions_over(file, &[])
    }

    /// The same for a file on the corpus and on further documents.
    ///
    /// # Errors
    /// As [`questions`](Self::questions).
    pub fn questions_over(&self, file: &str, further: &[Document]) -> Result<Vec<Question>> {
        let questions = questions::read(&self.root.join(file))?;
        for question in &questions {
            for alternative in question.evidence.iter().flatten() {
                let document = match further
                    .iter()
                    .find(|document| document.id().as_str() == alternative.doc)
                {
                    Some(document) => document,
                    None => self
                        .document(&alternative.doc)
                        .context(question.id.clone())?,
                };
                ensure!(
                    document.source().contains(&alternative.phrase),
                    "{file}, {}: {:?} does not stand in {}",
                    question.id,
                    alternative.phrase,
                    alternative.doc
                );
            }
        }
        Ok(questions)
    }

    /// The lines of a file of JSON objects.
    ///
    /// # Errors
    /// A file that is malformed: the line is named.
    pub fn lines<T: DeserializeOwned>(&self, file: &str) -> Result<Vec<T>> {
        let path = self.root.join(file);
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let lines = text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty());
        lines
            .map(|(at, line)| {
                serde_json::from_str(line)
                    .with_context(|| format!("{}, line {}", path.display(), at + 1))
            })
            .collect()
    }

    /// A set in BEIR's layout, in a folder of its own.
    ///
    /// # Errors
    /// A file that is missing or malformed, named.
    pub fn set(&self, folder: &str) -> Result<PublicSet> {
        external::read(&self.root.join(folder))
    }

    /// The synonym groups.
    ///
    /// # Errors
    /// A file that is malformed: the line is named.
    pub fn synonyms(&self) -> Result<Vec<SynonymGroup>> {
        self.lines("synonyms.jsonl")
    }
}

/// The documents that a manifest lists, which lie in a folder.
fn listed(manifest: &Path, folder: &Path) -> Result<BTreeMap<String, Document>> {
    let text = std::fs::read_to_string(manifest)
        .with_context(|| format!("cannot read {}", manifest.display()))?;
    let listed: Manifest =
        toml::from_str(&text).with_context(|| format!("{}", manifest.display()))?;
    let mut documents = BTreeMap::new();
    for entry in listed.doc {
        let path = folder.join(&entry.file);
        let bytes =
            std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let acl = Acl::new(&entry.acl).with_context(|| entry.file.clone())?;
        let document = Document::from_bytes(DocId::new(&entry.file)?, &bytes, acl)?;
        if documents.insert(entry.file.clone(), document).is_some() {
            bail!("{} names {} twice", manifest.display(), entry.file);
        }
    }
    Ok(documents)
}
