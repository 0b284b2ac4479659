//! Public question sets in BEIR's layout, below the folder that `CORNU_DATA` names.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use cornu_core::{Acl, DocId, Document};
use cornu_eval::beir::{Query, read_corpus, read_qrels, read_queries};
use cornu_eval::metrics::Qrels;

/// A set of passages, questions and judgments.
pub struct PublicSet {
    /// Each passage as a public Markdown document: its title as the heading, then its text.
    pub passages: Vec<Document>,
    /// The questions, in the order of the file.
    pub queries: Vec<Query>,
    /// Which passages are relevant.
    pub qrels: Qrels,
}

/// The set, or the reason why it is not at hand.
pub enum Found {
    /// It is there.
    Set(Box<PublicSet>),
    /// It is not.
    Absent(String),
}

/// Looks for the set below `CORNU_DATA`.
///
/// # Errors
/// A set that is there and cannot be read.
pub fn find(name: &str) -> Result<Found> {
    let folder = std::env::var_os("CORNU_DATA").map(|root| PathBuf::from(root).join(name));
    match folder {
        None => Ok(Found::Absent(
            "CORNU_DATA is not set; bench-data/external.toml says where the set comes from"
                .to_owned(),
        )),
        Some(folder) if !folder.is_dir() => Ok(Found::Absent(format!(
            "CORNU_DATA holds no {name}; bench-data/external.toml says where it comes from"
        ))),
        Some(folder) => read(&folder)
            .map(|set| Found::Set(Box::new(set)))
            .with_context(|| name.to_owned()),
    }
}

/// Where a file of a set lies, if it is there.
#[must_use]
pub fn file(set: &str, name: &str) -> Option<PathBuf> {
    let root = std::env::var_os("CORNU_DATA").map(PathBuf::from)?;
    Some(root.join(set).join(name)).filter(|path| path.is_file())
}

/// Reads a folder in BEIR's layout.
///
/// # Errors
/// A file that is missing or malformed, named.
pub fn read(folder: &Path) -> Result<PublicSet> {
    let mut passages = Vec::new();
    for passage in read_corpus(&folder.join("corpus.jsonl"))? {
        let passage = passage?;
        let source = match passage.title.is_empty() {
            true => format!("{}\n", passage.text),
            false => format!("# {}\n\n{}\n", passage.title, passage.text),
        };
        let id = DocId::new(&passage.id)?;
        passages.push(Document::new(id, source, Acl::public()));
    }
    Ok(PublicSet {
        passages,
        queries: read_queries(&folder.join("queries.jsonl"))?.collect::<Result<_, _>>()?,
        qrels: read_qrels(&folder.join("qrels.tsv"))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passage_is_a_document_under_its_title() {
        let folder = tempfile::tempdir().unwrap();
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write(
            "corpus.jsonl",
            "{\"_id\": \"7\", \"title\": \"Horn\", \"text\": \"Curved.\"}\n{\"_id\": \"8\", \"text\": \"Bare.\"}\n",
        );
        write("queries.jsonl", "{\"_id\": \"q\", \"text\": \"What?\"}\n");
        write("qrels.tsv", "query-id\tcorpus-id\tscore\nq\t7\t1\n");
        let set = read(folder.path()).unwrap();
        let sources: Vec<&str> = set.passages.iter().map(Document::source).collect();
        assert_eq!(sources, ["# Horn\n\nCurved.\n", "Bare.\n"]);
        assert_eq!((set.queries.len(), set.qrels.len()), (1, 1));

        write("qrels.tsv", "no header\n");
        assert!(read(folder.path()).is_err());
    }
}
