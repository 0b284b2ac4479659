//! The sets: passages with what is read from them, questions with their gold passages.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use cornu_chunk::{Chunker, SentencePacked, SentencePackedOptions};
use cornu_core::{Chunk, Document};
use cornu_eval::questions::{Alternative, fold_white_space};
use cornu_extract::{ImportRules, RuleExtractor, read_openie, split_title};
use cornu_hop::Passage;
use cornu_text::WordCounter;
use sha2::{Digest, Sha256};

use crate::corpus::BenchData;
use crate::external::{self, PublicSet};

/// Questions of `2wiki-500` that choices were made on: those with the smallest SHA-256 of their id.
pub(crate) const DEV: usize = 150;

/// A question.
pub(crate) struct Asked {
    pub(crate) text: String,
    /// What answers it together; of each piece the positions of the passages that hold it.
    pub(crate) gold: Vec<BTreeSet<usize>>,
    /// The passages that stand between those that the question names, where the set says so.
    pub(crate) bridges: BTreeSet<usize>,
}

impl Asked {
    /// The share of its pieces that some of the first `k` holds.
    pub(crate) fn recall(&self, found: &[usize], k: usize) -> f64 {
        let best: BTreeSet<usize> = found.iter().take(k).copied().collect();
        let held = self.gold.iter().filter(|piece| !piece.is_disjoint(&best));
        held.count() as f64 / self.gold.len() as f64
    }
}

/// The grade of a passage that stands between others.
const BRIDGE: u8 = 2;

/// What was read from the passages of a set, and how long that took.
pub(crate) struct Facts {
    pub(crate) passages: Vec<Passage<usize>>,
    pub(crate) seconds: f64,
}

/// Passages and questions.
pub(crate) struct Set {
    /// "Title, newline, text", or the text alone.
    pub(crate) texts: Vec<String>,
    pub(crate) asked: Vec<Asked>,
}

impl Set {
    /// The judged questions behind the first `dev`, by the SHA-256 of their ids.
    pub(crate) fn new(public: &PublicSet, dev: usize) -> Result<Self> {
        Self::of(public, dev, |_| true)
    }

    /// As [`new`](Self::new), of the questions whose ids pass.
    pub(super) fn of(
        public: &PublicSet,
        dev: usize,
        passes: impl Fn(&str) -> bool,
    ) -> Result<Self> {
        let passages = public.passages.iter().enumerate();
        let position: BTreeMap<&str, usize> = passages
            .map(|(at, document)| (document.id().as_str(), at))
            .collect();
        let mut order: Vec<_> = public.queries.iter().collect();
        order.sort_by_key(|query| <[u8; 32]>::from(Sha256::digest(query.id.as_bytes())));
        let mut asked = Vec::new();
        for query in order
            .into_iter()
            .skip(dev)
            .filter(|query| passes(&query.id))
        {
            let judged = public.qrels.get(&query.id);
            let judged = judged
                .into_iter()
                .flat_map(cornu_eval::metrics::Judgments::iter);
            let mut gold = Vec::new();
            let mut bridges = BTreeSet::new();
            for (passage, grade) in judged.filter(|(_, grade)| *grade > 0) {
                let at = position.get(passage.as_str()).copied();
                let at = at.with_context(|| format!("{}: no passage {passage}", query.id))?;
                gold.push(BTreeSet::from([at]));
                if grade >= BRIDGE {
                    bridges.insert(at);
                }
            }
            if !gold.is_empty() {
                asked.push(Asked {
                    text: query.text.clone(),
                    gold,
                    bridges,
                });
            }
        }
        let texts = public.passages.iter().map(text).collect();
        Ok(Self { texts, asked })
    }

    /// A smaller set: the first `asked` questions, with their gold passages and so many others that
    /// there are `passages`, those with the smallest SHA-256 of their text, in their order.
    pub(crate) fn sample(mut self, asked: usize, passages: usize) -> Self {
        self.asked.truncate(asked);
        let mut kept: BTreeSet<usize> = self
            .asked
            .iter()
            .flat_map(|asked| asked.gold.iter().chain([&asked.bridges]))
            .flatten()
            .copied()
            .collect();
        let hash = |at: &usize| {
            let text = self.texts.get(*at).map(String::as_bytes);
            <[u8; 32]>::from(Sha256::digest(text.unwrap_or_default()))
        };
        let mut others: Vec<usize> = (0..self.texts.len()).collect();
        others.retain(|at| !kept.contains(at));
        others.sort_by_cached_key(hash);
        kept.extend(others.into_iter().take(passages.saturating_sub(kept.len())));
        let places: BTreeMap<usize, usize> = kept.iter().copied().zip(0..).collect();
        let moved = |all: &BTreeSet<usize>| {
            let places = all.iter().filter_map(|at| places.get(at));
            places.copied().collect::<BTreeSet<usize>>()
        };
        for asked in &mut self.asked {
            asked.gold = asked.gold.iter().map(moved).collect();
            asked.bridges = moved(&asked.bridges);
        }
        let texts = self.texts.into_iter().enumerate();
        let texts = texts.filter(|(at, _)| kept.contains(at));
        self.texts = texts.map(|(_, text)| text).collect();
        self
    }

    /// The answerable test questions of a file of `bench-data`, over its documents and those of a
    /// further folder, in the chunks that the product makes of them.
    pub(super) fn of_documents(
        data: &BenchData,
        file: &str,
        further: Option<&str>,
    ) -> Result<Self> {
        let further = further.map(|folder| data.folder(folder)).transpose()?;
        let further = further.unwrap_or_default();
        let counter = Arc::new(WordCounter::new());
        let chunker = SentencePacked::new(counter, SentencePackedOptions::default());
        let mut chunks: Vec<Chunk> = Vec::new();
        for document in data.documents().chain(&further) {
            let own = chunker.chunk(document)?.into_iter();
            chunks.extend(own.filter(|chunk| chunk.role.is_indexed()));
        }
        let folded: Vec<(&str, String)> = chunks
            .iter()
            .map(|chunk| (chunk.doc.as_str(), fold_white_space(&chunk.text)))
            .collect();
        let holding = |piece: &Vec<Alternative>| {
            let is_held = |doc: &str, text: &str| {
                let mut all = piece.iter();
                all.any(|one| one.doc == doc && text.contains(fold_white_space(&one.phrase).trim()))
            };
            let chunks = folded.iter().enumerate();
            let held = chunks.filter(|(_, (doc, text))| is_held(doc, text));
            held.map(|(at, _)| at).collect()
        };
        let questions = data.questions_over(file, &further)?.into_iter();
        let asked = questions
            .filter(|question| question.split == "test" && question.is_answerable())
            .map(|question| Asked {
                gold: question.evidence.iter().map(holding).collect(),
                text: question.question,
                bridges: BTreeSet::new(),
            });
        Ok(Self {
            asked: asked.collect(),
            texts: chunks.iter().map(chunk_text).collect(),
        })
    }

    /// The question at a position.
    pub(crate) fn question(&self, at: usize) -> Result<&Asked> {
        self.asked.get(at).context("a question")
    }

    /// The passages with what the rules read from them.
    pub(crate) fn by_rules(&self) -> Facts {
        let start = Instant::now();
        let rules = RuleExtractor::new();
        let passages = self.texts.iter().enumerate();
        Facts {
            passages: passages
                .map(|(at, text)| Passage::new(at, text, rules.read(text)))
                .collect(),
            seconds: start.elapsed().as_secs_f64(),
        }
    }

    /// The passages with what a published file says of them, in its order.
    pub(super) fn by_openie(&self, set: &str) -> Result<Vec<Passage<usize>>> {
        let path = external::file(set, "openie.jsonl")
            .with_context(|| format!("{set} holds no openie.jsonl"))?;
        let file = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let (read, _) = read_openie(&file, ImportRules::Published)?;
        ensure!(
            read.len() == self.texts.len(),
            "{} speaks of {} passages, the corpus holds {}",
            path.display(),
            read.len(),
            self.texts.len()
        );
        let pairs = self.texts.iter().zip(read).enumerate();
        Ok(pairs
            .map(|(at, (text, own))| Passage::new(at, text, own.extraction))
            .collect())
    }
}

/// As the product has a chunk read: the outermost heading, the others, the words below them.
fn chunk_text(chunk: &Chunk) -> String {
    let path = chunk.heading_path.as_slice();
    let is_end = |line: &str| {
        (0..path.len()).any(|outer| {
            path.get(outer..)
                .is_some_and(|left| left.join(" > ") == line)
        })
    };
    let body = match chunk.index_text.split_once('\n') {
        Some((first, rest)) if is_end(first) => rest,
        _ => chunk.index_text.as_str(),
    };
    match path {
        [] => body.to_owned(),
        [title] => format!("{title}\n{body}"),
        [title, inner @ ..] => format!("{title}\n{}\n\n{body}", inner.join(" > ")),
    }
}

fn text(document: &Document) -> String {
    match split_title(document.source()) {
        (Some(title), body) => format!("{title}\n{}", body.trim_end()),
        (None, body) => body.trim_end().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use cornu_core::{Acl, DocId};
    use cornu_eval::beir::queries_from;
    use cornu_eval::metrics::Qrels;

    use super::*;

    #[test]
    fn a_sample_keeps_what_its_questions_need() {
        let asked = |gold: &[usize]| Asked {
            text: format!("about {gold:?}"),
            gold: gold.iter().map(|&at| BTreeSet::from([at])).collect(),
            bridges: gold.iter().copied().take(1).collect(),
        };
        let all = || Set {
            texts: (0..20).map(|at| format!("passage {at}")).collect(),
            asked: vec![asked(&[17, 3]), asked(&[3]), asked(&[9])],
        };
        let small = all().sample(2, 6);
        assert_eq!((small.asked.len(), small.texts.len()), (2, 6));
        for asked in &small.asked {
            let at = |set: &BTreeSet<usize>| small.texts[*set.first().unwrap()].clone();
            let held: Vec<String> = asked.gold.iter().map(at).collect();
            let named = held.iter().map(|text| text.trim_start_matches("passage "));
            let named: Vec<&str> = named.collect();
            assert_eq!(asked.text, format!("about [{}]", named.join(", ")));
            assert_eq!(at(&asked.bridges), held[0]);
        }
        // Behind 3 and 17, which the questions need.
        let hash = |text: &String| <[u8; 32]>::from(Sha256::digest(text));
        let all_texts = all().texts.into_iter();
        let mut others: Vec<String> = all_texts
            .filter(|text| !["passage 3", "passage 17"].contains(&text.as_str()))
            .collect();
        others.sort_by_key(hash);
        assert!(others[..4].iter().all(|text| small.texts.contains(text)));
        // A larger one holds the smaller, and the order stays.
        let larger = all().sample(2, 12);
        assert!(small.texts.iter().all(|text| larger.texts.contains(text)));
        let number = |text: &String| text[8..].parse::<usize>().unwrap();
        assert!(larger.texts.iter().map(number).is_sorted());
        assert_eq!(all().sample(3, 0).texts.len(), 3);
        assert_eq!(all().sample(9, 99).texts.len(), 20);
    }

    #[test]
    fn what_choices_were_made_on_is_left_out_and_so_is_what_nobody_judged() {
        let mut qrels = Qrels::new();
        let mut lines = String::new();
        for at in 0..10 {
            lines += &format!("{{\"_id\": \"q{at}\", \"text\": \"question {at}\"}}\n");
            let grade = u8::from(at != 9);
            qrels.insert(format!("q{at}"), "p".to_owned(), grade);
        }
        let queries = queries_from(lines.as_bytes(), "queries.jsonl");
        let passage = Document::new(DocId::new("p").unwrap(), "# T\n\nText.\n", Acl::public());
        let public = PublicSet {
            passages: vec![passage],
            queries: queries.collect::<Result<_, _>>().unwrap(),
            qrels,
        };
        let mut order: Vec<usize> = (0..10).collect();
        order.sort_by_key(|at| <[u8; 32]>::from(Sha256::digest(format!("q{at}"))));
        let rest = order.into_iter().skip(4).filter(|at| *at != 9);
        let expected: Vec<String> = rest.map(|at| format!("question {at}")).collect();
        let set = Set::new(&public, 4).unwrap();
        let asked: Vec<&str> = set.asked.iter().map(|asked| asked.text.as_str()).collect();
        assert_eq!(asked, expected);
        assert_eq!(set.texts, ["T\nText."]);
        assert!(
            set.asked
                .iter()
                .all(|asked| asked.gold == [BTreeSet::from([0])] && asked.bridges.is_empty())
        );
    }
}
