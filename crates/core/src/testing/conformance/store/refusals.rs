//! What a store has to refuse, and what it may not do under an outdated view.

use ndarray::{Array1, Array2, Axis, concatenate, s};

use super::super::report::{Checks, Violation, given};
use super::super::rule::Rule;
use super::ask::{Questions, ask, bits, knn};
use super::histories::write;
use super::oracle::Oracle;
use super::sample::{at, document};
use crate::acl::Principal;
use crate::chunk::{Chunk, ChunkRole};
use crate::id::{ChunkId, DocId};
use crate::store::{DocumentFacts, FactStore};
use crate::testing::strategies::{History, Operation};

pub(super) fn check<S: FactStore>(
    make: &dyn Fn() -> S,
    checks: &Checks,
    dimension: usize,
) -> Result<(), Violation> {
    for doc in ["new.md", "known.md"] {
        for (rule, what, facts) in bad_facts(dimension, doc)? {
            check_refused(&make(), checks, dimension, rule, what, &facts)?;
        }
    }
    check_queries(&make(), checks, dimension)?;
    check_outdated_view(&make(), checks, dimension)
}

/// The facts are refused, the store is as before, and still works.
fn check_refused<S: FactStore>(
    store: &S,
    checks: &Checks,
    dimension: usize,
    rule: Rule,
    what: &str,
    bad: &DocumentFacts,
) -> Result<(), Violation> {
    let known = document(dimension, "known.md", &["public"], &[0.0, 30.0])?;
    let history = History::new([Operation::Upsert(known.clone())]);
    write(store, checks, &history)?;
    let chunks: Vec<ChunkId> = known
        .chunks
        .iter()
        .chain(&bad.chunks)
        .map(|chunk| chunk.id)
        .collect();
    let questions = Questions {
        asker: &Principal::public(),
        chunks: &chunks,
        queries: &[at(dimension, 0.0), at(dimension, 90.0)],
        ks: &[1, 10],
    };
    let before = ask(store, checks, Rule::Accepts, &questions)?;
    let input = || format!("{} with {what}", bad.doc);
    let refused = store.upsert(bad).is_err();
    checks.check(rule, refused, input, || "it was written".to_owned())?;
    let after = ask(store, checks, Rule::NothingWritten, &questions)?;
    let difference = before.difference(&after);
    checks.check(Rule::NothingWritten, difference.is_none(), input, || {
        difference.clone().unwrap_or_default()
    })?;
    let next = document(dimension, "next.md", &["public"], &[60.0])?;
    checks.ok(Rule::NothingWritten, store.upsert(&next), || {
        format!("a good document after {}", input())
    })?;
    Ok(())
}

type Bad = (Rule, &'static str, DocumentFacts);

fn bad_facts(dimension: usize, doc: &str) -> Result<Vec<Bad>, Violation> {
    let good = document(dimension, doc, &["public"], &[10.0, 20.0])?;
    let mut bad = Vec::new();
    for (what, value) in [
        ("a NaN in its second vector", f32::NAN),
        ("an infinity in its second vector", f32::INFINITY),
        (
            "a negative infinity in its second vector",
            f32::NEG_INFINITY,
        ),
    ] {
        let mut facts = good.clone();
        facts.vectors.slice_mut(s![1.., 1]).fill(value);
        bad.push((Rule::RefusesNotFinite, what, facts));
    }
    for (what, factor) in [
        ("a zero vector", 0.0),
        ("a vector of norm 2", 2.0),
        ("a vector of norm 0.5", 0.5),
        ("a vector of norm 1.001", 1.001),
        ("a vector of norm 0.999", 0.999),
    ] {
        let mut facts = good.clone();
        facts
            .vectors
            .slice_mut(s![1.., ..])
            .mapv_inplace(|x| x * factor);
        bad.push((Rule::RefusesNotUnit, what, facts));
    }
    let with_vectors = |vectors: Array2<f32>| DocumentFacts {
        vectors,
        ..good.clone()
    };
    let with_chunks = |chunks: Vec<Chunk>| DocumentFacts {
        chunks,
        ..good.clone()
    };
    let wider = Array2::from_shape_fn((2, dimension + 1), |(_, column)| unit(column));
    let narrower = Array2::from_shape_fn((2, dimension - 1), |(_, column)| unit(column));
    let twice = given(concatenate(
        Axis(0),
        &[good.vectors.view(), good.vectors.view()],
    ))?;
    let mut parents = good.chunks.clone();
    let mut strangers = good.chunks.clone();
    let mut doubles = good.chunks.clone();
    for chunk in parents.iter_mut().take(1) {
        chunk.role = ChunkRole::Parent;
    }
    for chunk in &mut strangers {
        chunk.doc = given(DocId::new("stranger.md"))?;
    }
    for chunk in &mut doubles {
        chunk.id = ChunkId::from_bytes([7; 32]);
    }
    bad.extend([
        (
            Rule::RefusesDimension,
            "a dimension too many",
            with_vectors(wider),
        ),
        (
            Rule::RefusesDimension,
            "a dimension too few",
            with_vectors(narrower),
        ),
        (Rule::RefusesRowCount, "twice the rows", with_vectors(twice)),
        (
            Rule::RefusesRowCount,
            "a row too few",
            with_vectors(good.vectors.slice(s![..1, ..]).to_owned()),
        ),
        (
            Rule::RefusesRowCount,
            "no rows",
            with_vectors(Array2::zeros((0, dimension))),
        ),
        (
            Rule::RefusesRowCount,
            "a row for a parent",
            with_chunks(parents),
        ),
        (
            Rule::RefusesChunks,
            "chunks of another document",
            with_chunks(strangers),
        ),
        (
            Rule::RefusesChunks,
            "two chunks of one id",
            with_chunks(doubles),
        ),
    ]);
    Ok(bad)
}

fn unit(column: usize) -> f32 {
    if column == 0 { 1.0 } else { 0.0 }
}

/// Queries without a direction are errors; the length of the others does not matter.
fn check_queries<S: FactStore>(
    store: &S,
    checks: &Checks,
    dimension: usize,
) -> Result<(), Violation> {
    let facts = document(dimension, "a.md", &["public"], &[0.0, 50.0, 120.0])?;
    let history = History::new([Operation::Upsert(facts)]);
    write(store, checks, &history)?;
    let asker = Principal::public();
    let view = checks.ok(Rule::Accepts, store.view(&asker), || format!("{asker:?}"))?;
    let mut not_a_number = at(dimension, 10.0);
    not_a_number.slice_mut(s![1..2]).fill(f32::NAN);
    for (what, query) in [
        ("NaN", not_a_number),
        (
            "an infinite query",
            Array1::from_elem(dimension, f32::INFINITY),
        ),
        ("a zero query", Array1::zeros(dimension)),
        ("a dimension too many", at(dimension + 1, 10.0)),
        ("a dimension too few", at(dimension - 1, 10.0)),
        ("no dimension", Array1::zeros(0)),
    ] {
        let answer = knn(store, &view, &query, 2);
        checks.check(
            Rule::BadQuery,
            answer.is_err(),
            || what.to_owned(),
            || format!("{answer:?}"),
        )?;
    }
    let oracle = Oracle::new(&history, &asker);
    for length in [3.0, 0.01, 1e6] {
        let query = at(dimension, 20.0) * length;
        let input = || format!("a query of norm {length}");
        let hits = checks.ok(Rule::Scores, knn(store, &view, &query, 3), input)?;
        oracle.check_hits(checks, &query, 3, &hits, input)?;
    }
    Ok(())
}

/// A view of before, after its document went and a hidden one took the place.
fn check_outdated_view<S: FactStore>(
    store: &S,
    checks: &Checks,
    dimension: usize,
) -> Result<(), Violation> {
    let seen = document(dimension, "seen.md", &["public"], &[0.0, 20.0])?;
    let stays = document(dimension, "stays.md", &["public"], &[40.0])?;
    let secret = document(dimension, "secret.md", &["hr"], &[1.0, 21.0])?;
    let upsert = |facts: &DocumentFacts| Operation::Upsert(facts.clone());
    write(
        store,
        checks,
        &History::new([upsert(&seen), upsert(&stays)]),
    )?;

    let asker = Principal::public();
    let input = || "a view, read after its document was removed and another written".to_owned();
    let view = checks.ok(Rule::Accepts, store.view(&asker), input)?;
    let query = at(dimension, 0.0);
    let documents = checks.ok(Rule::Accepts, store.documents(&view), input)?;
    let hits = checks.ok(Rule::Accepts, knn(store, &view, &query, 5), input)?;

    checks.ok(Rule::Accepts, store.remove(&seen.doc), input)?;
    checks.ok(Rule::Accepts, store.upsert(&secret), input)?;

    let now = store.documents(&view);
    let kept = now.as_ref().map_or(true, |now| *now == documents);
    checks.check(Rule::Snapshot, kept, input, || {
        format!("the documents {now:?}")
    })?;
    let now = knn(store, &view, &query, 5);
    let kept = now.as_ref().map_or(true, |now| bits(now) == bits(&hits));
    checks.check(Rule::Snapshot, kept, input, || format!("the hits {now:?}"))?;
    for chunk in seen
        .chunks
        .iter()
        .chain(&stays.chunks)
        .chain(&secret.chunks)
    {
        let expected = (chunk.doc != secret.doc).then_some(chunk);
        let now = store.chunk(&view, &chunk.id);
        let kept = now.as_ref().map_or(true, |now| now.as_ref() == expected);
        checks.check(Rule::Snapshot, kept, input, || format!("the chunk {now:?}"))?;
    }
    Ok(())
}
