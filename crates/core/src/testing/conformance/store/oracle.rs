//! What a store has to answer, computed from the facts by the shortest way.

use std::collections::{BTreeMap, BTreeSet};

use ndarray::Array1;

use super::super::report::{Checks, Violation};
use super::super::rule::Rule;
use super::ask::{Answers, Hits, Questions};
use crate::acl::Principal;
use crate::chunk::Chunk;
use crate::id::{ChunkId, DocId};
use crate::store::DocumentFacts;
use crate::testing::strategies::History;
use crate::view::{View, ViewEntry};

/// How far a score may be from the cosine in f64.
const TOLERANCE: f64 = 1e-5;

/// The facts after a history, split by what one asker sees.
pub(super) struct Oracle<'a> {
    seen: BTreeMap<&'a DocId, &'a DocumentFacts>,
    hidden: BTreeMap<&'a DocId, &'a DocumentFacts>,
    removed: BTreeSet<&'a DocId>,
    seen_chunks: BTreeMap<ChunkId, &'a Chunk>,
    hidden_chunks: BTreeSet<ChunkId>,
    removed_chunks: BTreeSet<ChunkId>,
    digest: [u8; 32],
}

impl<'a> Oracle<'a> {
    pub(super) fn new(history: &'a History, asker: &Principal) -> Self {
        let present = history.finally();
        let gone = |facts: &&DocumentFacts| !present.contains_key(&facts.doc);
        let removed: Vec<&DocumentFacts> = history.facts().filter(gone).collect();
        let (mut seen, mut hidden) = (present.clone(), present.clone());
        seen.retain(|_, facts| facts.acl.admits(asker));
        hidden.retain(|_, facts| !facts.acl.admits(asker));
        let entries = seen.values().map(|facts| ViewEntry {
            ordinal: 0,
            id: &facts.doc,
            content: &facts.content,
            acl: &facts.acl,
        });
        let id = |chunk: &Chunk| chunk.id;
        Self {
            digest: *View::resolve(asker, 0, entries).digest(),
            seen_chunks: seen
                .values()
                .flat_map(|facts| &facts.chunks)
                .map(|chunk| (chunk.id, chunk))
                .collect(),
            hidden_chunks: hidden
                .values()
                .flat_map(|facts| &facts.chunks)
                .map(id)
                .collect(),
            removed_chunks: removed
                .iter()
                .flat_map(|facts| &facts.chunks)
                .map(id)
                .collect(),
            removed: removed.iter().map(|facts| &facts.doc).collect(),
            seen,
            hidden,
        }
    }

    /// What an error of a reading call breaks.
    pub(super) fn reading_rule(&self) -> Rule {
        match self.seen.is_empty() {
            true => Rule::EmptyView,
            false => Rule::Accepts,
        }
    }

    pub(super) fn check(
        &self,
        checks: &Checks,
        questions: &Questions<'_>,
        answers: &Answers,
    ) -> Result<(), Violation> {
        self.check_documents(checks, questions, answers)?;
        for (id, found) in questions.chunks.iter().zip(&answers.chunks) {
            let expected = self.seen_chunks.get(id).copied();
            let rule = match expected {
                Some(_) => Rule::Accepts,
                None => self.absent(id),
            };
            checks.check(
                rule,
                found.as_ref() == expected,
                || format!("chunk {id} asked by {:?}", questions.asker),
                || format!("{found:?}"),
            )?;
        }
        for (query, by_k) in questions.queries.iter().zip(&answers.rankings) {
            let longest = by_k.iter().max_by_key(|hits| hits.len());
            for (&k, hits) in questions.ks.iter().zip(by_k) {
                let input = || format!("{k} nearest to {query} asked by {:?}", questions.asker);
                self.check_hits(checks, query, k, hits, input)?;
                let prefix = longest.and_then(|longest| longest.get(..hits.len()));
                checks.check(
                    Rule::Prefix,
                    prefix.is_some_and(|prefix| *hits == prefix),
                    input,
                    || format!("{hits:?} is no prefix of {longest:?}"),
                )?;
            }
        }
        if self.seen.is_empty() {
            let none = answers.rankings.iter().flatten().all(Vec::is_empty);
            let input = || format!("asked by {:?}", questions.asker);
            checks.check(Rule::EmptyView, none, input, || "a hit".to_owned())?;
        }
        Ok(())
    }

    fn check_documents(
        &self,
        checks: &Checks,
        questions: &Questions<'_>,
        answers: &Answers,
    ) -> Result<(), Violation> {
        let input = || format!("the documents asked by {:?}", questions.asker);
        for (doc, facts) in &self.hidden {
            let rule = match facts.acl.is_empty() {
                true => Rule::EmptyAcl,
                false => Rule::GrantsWhole,
            };
            checks.check(rule, !answers.documents.contains(doc), input, || {
                format!("{doc} is listed, with {:?}", facts.acl)
            })?;
        }
        for doc in &self.removed {
            checks.check(
                Rule::Removes,
                !answers.documents.contains(doc),
                input,
                || format!("{doc} is listed"),
            )?;
        }
        let ordered = answers.documents.iter().eq(self.seen.keys().copied());
        checks.check(Rule::Documents, ordered, input, || {
            format!("{:?}", answers.documents)
        })?;
        checks.check(
            Rule::ViewDigest,
            answers.digest == self.digest,
            input,
            || "another digest than that of `View::resolve` over what is seen".to_owned(),
        )
    }

    /// The rule that forbids a chunk which is not seen.
    fn absent(&self, id: &ChunkId) -> Rule {
        if self.hidden_chunks.contains(id) {
            Rule::HiddenChunk
        } else if self.removed_chunks.contains(id) {
            Rule::Removes
        } else {
            Rule::ReplacesAll
        }
    }

    /// One ranking, against all cosines.
    pub(super) fn check_hits(
        &self,
        checks: &Checks,
        query: &Array1<f32>,
        k: usize,
        hits: &Hits,
        input: impl Fn() -> String,
    ) -> Result<(), Violation> {
        let cosines = self.cosines(query);
        for (id, _) in hits {
            let rule = match self.absent(id) {
                Rule::HiddenChunk => Rule::HiddenHit,
                _ if self.seen_chunks.contains_key(id) => Rule::HiddenHit,
                stale => stale,
            };
            checks.check(rule, cosines.contains_key(id), &input, || {
                format!("the hit {id}")
            })?;
        }
        let expected = k.min(cosines.len());
        checks.check(Rule::Complete, hits.len() == expected, &input, || {
            format!("{} hits, not {expected}", hits.len())
        })?;
        for (id, score) in hits {
            let cosine = cosines.get(id).map_or(f64::NAN, |entry| entry.cosine);
            checks.check(
                Rule::Scores,
                (score - cosine).abs() <= TOLERANCE,
                &input,
                || format!("the score {score} of {id}, not {cosine}"),
            )?;
        }
        check_nearest(checks, &cosines, hits, &input)?;
        check_ties(checks, &cosines, hits, &input)
    }

    fn cosines(&self, query: &Array1<f32>) -> BTreeMap<ChunkId, Entry> {
        let query: Vec<f64> = query.iter().copied().map(f64::from).collect();
        let mut cosines = BTreeMap::new();
        for facts in self.seen.values() {
            for (chunk, row) in facts.indexed().zip(facts.vectors.rows()) {
                let values: Vec<f64> = row.iter().copied().map(f64::from).collect();
                let cosine = dot(&query, &values) / (norm(&query) * norm(&values));
                // Adding zero makes the two zeros one.
                let vector = row.iter().map(|x| (x + 0.0).to_bits()).collect();
                cosines.insert(chunk.id, Entry { cosine, vector });
            }
        }
        cosines
    }
}

struct Entry {
    cosine: f64,
    /// The bits of the vector; equal vectors are exact ties.
    vector: Vec<u32>,
}

/// From the last hit to the first, none may lie below what comes after it or is left out.
fn check_nearest(
    checks: &Checks,
    cosines: &BTreeMap<ChunkId, Entry>,
    hits: &Hits,
    input: impl Fn() -> String,
) -> Result<(), Violation> {
    let inside: BTreeSet<_> = hits.iter().map(|(id, _)| id).collect();
    let outside = cosines.iter().filter(|(id, _)| !inside.contains(id));
    let mut best_below = outside
        .map(|(_, entry)| entry.cosine)
        .fold(f64::MIN, f64::max);
    for (id, _) in hits.iter().rev() {
        let cosine = cosines.get(id).map_or(f64::NAN, |entry| entry.cosine);
        let holds = cosine >= best_below - 2.0 * TOLERANCE;
        checks.check(Rule::Nearest, holds, &input, || {
            format!("{id} with cosine {cosine} stands above one of {best_below}")
        })?;
        best_below = best_below.max(cosine);
    }
    Ok(())
}

/// Of each group of equal vectors, the hits are the smallest ids, in order, with one score.
fn check_ties(
    checks: &Checks,
    cosines: &BTreeMap<ChunkId, Entry>,
    hits: &Hits,
    input: impl Fn() -> String,
) -> Result<(), Violation> {
    let mut groups: BTreeMap<&[u32], Vec<ChunkId>> = BTreeMap::new();
    for (id, entry) in cosines {
        groups.entry(&entry.vector).or_default().push(*id);
    }
    let mut found: BTreeMap<&[u32], Hits> = BTreeMap::new();
    for hit in hits {
        if let Some(entry) = cosines.get(&hit.0) {
            found.entry(&entry.vector).or_default().push(*hit);
        }
    }
    for (vector, hits) in found {
        let group = groups.get(vector).map_or(&[][..], Vec::as_slice);
        if group.len() < 2 {
            continue;
        }
        let in_order = hits
            .iter()
            .map(|(id, _)| id)
            .eq(group.iter().take(hits.len()));
        let (front, back) = (&hits, hits.get(1..).unwrap_or_default());
        let level = front
            .iter()
            .zip(back)
            .all(|(a, b)| a.1.to_bits() == b.1.to_bits());
        checks.check(Rule::Ties, in_order && level, &input, || {
            format!("of the equal vectors {group:?}, the hits {hits:?}")
        })?;
    }
    Ok(())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}
