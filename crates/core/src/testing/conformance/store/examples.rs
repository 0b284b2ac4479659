//! Scripts for the known ways to fail.

use super::super::report::{Checks, Violation, given};
use super::StoreOptions;
use super::histories::{Ask, check as check_history};
use super::refusals;
use super::sample::{at, document, worded};
use crate::acl::Principal;
use crate::id::DocId;
use crate::store::{DocumentFacts, FactStore};
use crate::testing::strategies::{History, Operation};

/// All scripts, in an order in which the first violation tells the most.
pub(super) fn check<S: FactStore>(
    make: &dyn Fn() -> S,
    checks: &Checks,
    options: &StoreOptions,
) -> Result<(), Violation> {
    let dimension = options.dimension;
    for script in [
        empty_acl,
        grants,
        nearer_and_forbidden,
        ties,
        replacing,
        changing,
        removing,
        removing_again,
        granting,
        without_chunks,
        any_k,
    ] {
        check_history(make, checks, &script(dimension)?)?;
    }
    check_history(make, checks, &crowd(dimension, options.crowd)?)?;
    refusals::check(make, checks, dimension)
}

/// A document without grants is seen by nobody, whatever they hold.
fn empty_acl(dimension: usize) -> Result<Ask, Violation> {
    script(
        dimension,
        [
            document(dimension, "nobody.md", &[], &[0.0])?,
            document(dimension, "open.md", &["public"], &[30.0])?,
        ],
        &[&[], &["public"], &["public", "hr", "nobody.md"]],
    )
}

/// Names that a careless comparison confuses, each against each.
fn grants(dimension: usize) -> Result<Ask, Violation> {
    let names = [
        "hr",
        "hr2",
        "h",
        "HR",
        "研发",
        "研发部",
        "研发\u{3000}部",
        "a",
        "a,b",
        "cafe",
        "cafe\u{301}",
        "-ops",
        "🔒组",
        "public",
        "Public",
    ];
    let mut documents = Vec::new();
    for (place, name) in names.iter().enumerate() {
        let degrees = 3.0 * place as f64;
        documents.push(document(
            dimension,
            &format!("{place}.md"),
            &[name],
            &[degrees],
        )?);
    }
    let mut askers: Vec<&[&str]> = names.iter().map(std::slice::from_ref).collect();
    askers.push(&["caf\u{e9}"]);
    script(dimension, documents, &askers)
}

/// For k = 2, nearer chunks that the asker may not see push out ones that they may, when the
/// filter comes after the cut.
fn nearer_and_forbidden(dimension: usize) -> Result<Ask, Violation> {
    script(
        dimension,
        [
            document(dimension, "ops.md", &["ops"], &[0.0, 1.0, 2.0])?,
            document(dimension, "public-guide.md", &["public"], &[20.0, 40.0])?,
            document(dimension, "ops-2.md", &["ops"], &[21.0, 39.0])?,
        ],
        &[&["public"], &["ops"], &["ops", "public"]],
    )
}

/// Equal vectors in many documents, seen and hidden ones in turn, written in two orders.
fn ties(dimension: usize) -> Result<Ask, Violation> {
    let mut documents = Vec::new();
    for place in [7, 3, 5, 1, 9, 0, 8, 2, 6, 4] {
        let grant = if place % 3 == 0 { "hr" } else { "public" };
        documents.push(document(
            dimension,
            &format!("{place}.md"),
            &[grant],
            &[10.0, 10.0],
        )?);
    }
    script(
        dimension,
        documents,
        &[&["public"], &["hr"], &["hr", "public"]],
    )
}

/// Facts replaced by fewer, and by others.
fn replacing(dimension: usize) -> Result<Ask, Violation> {
    let writes = [
        document(dimension, "a.md", &["public"], &[0.0, 10.0, 20.0])?,
        document(dimension, "b.md", &["public"], &[0.0])?,
        document(dimension, "a.md", &["public"], &[5.0])?,
        worded(dimension, "b.md", &["public"], &[50.0, 60.0], "other")?,
    ];
    script(dimension, writes, &[&["public"]])
}

/// Each part of the facts changed alone, and nothing changed.
fn changing(dimension: usize) -> Result<Ask, Violation> {
    let first = document(dimension, "a.md", &["public"], &[5.0])?;
    let moved = document(dimension, "a.md", &["public"], &[50.0])?;
    let granted = document(dimension, "a.md", &["public", "hr"], &[50.0])?;
    let reworded = worded(dimension, "a.md", &["public", "hr"], &[50.0], "other")?;
    let beside = document(dimension, "b.md", &["public"], &[0.0])?;
    let writes = [
        first.clone(),
        beside.clone(),
        first,
        moved,
        granted,
        reworded.clone(),
        beside,
        reworded,
    ];
    script(dimension, writes, &[&["public"]])
}

/// Of three documents with equal vectors, one goes.
fn removing(dimension: usize) -> Result<Ask, Violation> {
    then(
        twins(dimension)?,
        [Operation::Remove(given(DocId::new("a.md"))?)],
    )
}

/// What is gone or was never there is removed, and what is gone comes back.
fn removing_again(dimension: usize) -> Result<Ask, Violation> {
    let ask = twins(dimension)?;
    let mut operations = Vec::new();
    for doc in ["a.md", "a.md", "never.md", "c.md"] {
        operations.push(Operation::Remove(given(DocId::new(doc))?));
    }
    operations.extend(ask.history.operations().last().cloned());
    then(ask, operations)
}

fn twins(dimension: usize) -> Result<Ask, Violation> {
    let twin = |doc| document(dimension, doc, &["public"], &[0.0, 45.0]);
    let documents = [twin("a.md")?, twin("b.md")?, twin("c.md")?];
    script(dimension, documents, &[&["public"]])
}

fn then(ask: Ask, more: impl IntoIterator<Item = Operation>) -> Result<Ask, Violation> {
    let operations = ask.history.operations().iter().cloned().chain(more);
    let history = History::new(operations);
    Ok(Ask { history, ..ask })
}

/// Grants that change while all else stays: hidden becomes seen, and seen hidden.
fn granting(dimension: usize) -> Result<Ask, Violation> {
    script(
        dimension,
        [
            document(dimension, "a.md", &["public"], &[0.0])?,
            document(dimension, "b.md", &["hr"], &[0.0])?,
            document(dimension, "a.md", &["hr"], &[0.0])?,
            document(dimension, "b.md", &["hr", "public"], &[0.0])?,
            document(dimension, "c.md", &["public"], &[0.0])?,
            document(dimension, "c.md", &[], &[0.0])?,
        ],
        &[&["public"], &["hr"], &["public", "hr"]],
    )
}

/// Documents that hold nothing to search are documents all the same.
fn without_chunks(dimension: usize) -> Result<Ask, Violation> {
    script(
        dimension,
        [
            document(dimension, "empty.md", &["public"], &[])?,
            document(dimension, "hidden.md", &["hr"], &[0.0])?,
        ],
        &[&["public"], &["hr"]],
    )
}

/// Every k, from none to more than there is and more than an engine takes.
fn any_k(dimension: usize) -> Result<Ask, Violation> {
    let rows = [0.0, 25.0, 50.0, 75.0, 100.0, 180.0];
    let documents = [
        document(dimension, "a.md", &["public"], &rows)?,
        document(dimension, "b.md", &["hr"], &rows)?,
    ];
    let mut ask = script(dimension, documents, &[&["public"], &[]])?;
    ask.ks.extend([4096, 4097, usize::MAX]);
    Ok(ask)
}

/// Many hidden chunks, all nearer than the single one that is seen.
fn crowd(dimension: usize, size: usize) -> Result<Ask, Violation> {
    let near: Vec<f64> = (0..size)
        .map(|place| 10.0 * place as f64 / size as f64)
        .collect();
    let documents = [
        document(dimension, "crowd.md", &["hr"], &near)?,
        document(dimension, "single.md", &["public"], &[80.0])?,
    ];
    Ok(Ask {
        ks: vec![1, 2, 4097],
        queries: vec![at(dimension, 0.0)],
        ..script(dimension, documents, &[&["public"]])?
    })
}

/// Upserts in order, small k, and queries along both axes and between.
fn script(
    dimension: usize,
    upserts: impl IntoIterator<Item = DocumentFacts>,
    askers: &[&[&str]],
) -> Result<Ask, Violation> {
    let askers = askers.iter().map(|grants| given(Principal::new(*grants)));
    Ok(Ask {
        history: History::new(upserts.into_iter().map(Operation::Upsert)),
        askers: askers.collect::<Result<_, _>>()?,
        queries: [0.0, 10.0, 47.0, 180.0]
            .map(|degrees| at(dimension, degrees))
            .to_vec(),
        ks: vec![0, 1, 2, 3, 4, 7, 11, 20],
    })
}
