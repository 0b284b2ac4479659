//! A history, written to a store and read back by several askers.

use std::collections::BTreeMap;

use ndarray::Array1;

use super::super::report::{Checks, Violation};
use super::super::rule::Rule;
use super::ask::{Questions, ask};
use super::oracle::Oracle;
use crate::acl::Principal;
use crate::id::{ChunkId, DocId};
use crate::store::{Change, DocumentFacts, FactStore};
use crate::testing::strategies::{History, Operation};

/// A history, and what is asked after it.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    pub(super) history: History,
    pub(super) askers: Vec<Principal>,
    pub(super) queries: Vec<Array1<f32>>,
    pub(super) ks: Vec<usize>,
}

/// Against the oracle, against a store that never held what is hidden, and against a fresh one.
pub(super) fn check<S: FactStore>(
    make: &dyn Fn() -> S,
    checks: &Checks,
    case: &Ask,
) -> Result<(), Violation> {
    let store = make();
    write(&store, checks, &case.history)?;
    let written = case.history.facts().flat_map(|facts| &facts.chunks);
    let mut chunks: Vec<ChunkId> = written.map(|chunk| chunk.id).collect();
    chunks.sort_unstable();
    chunks.dedup();
    for asker in &case.askers {
        let questions = Questions {
            asker,
            chunks: &chunks,
            queries: &case.queries,
            ks: &case.ks,
        };
        let context = |violation: Violation| Violation {
            input: format!("{} after {}", violation.input, outline(&case.history)),
            ..violation
        };
        let oracle = Oracle::new(&case.history, asker);
        let rule = oracle.reading_rule();
        let answers = ask(&store, checks, rule, &questions).map_err(context)?;
        oracle
            .check(checks, &questions, &answers)
            .map_err(context)?;

        let seen = case.history.without_hidden(asker);
        let reversed = seen.finally().into_values().rev();
        let fresh = History::new(reversed.cloned().map(Operation::Upsert));
        for (rule, other) in [(Rule::NonInterference, &seen), (Rule::FreshBuild, &fresh)] {
            let twin = make();
            write(&twin, checks, other)?;
            let expected = ask(&twin, checks, oracle.reading_rule(), &questions)?;
            let difference = answers.difference(&expected);
            checks.check(
                rule,
                difference.is_none(),
                || format!("asked by {asker:?} after {}", outline(&case.history)),
                || difference.clone().unwrap_or_default(),
            )?;
        }
    }
    Ok(())
}

/// Writes a history, and checks what each write says it did.
pub(super) fn write<S: FactStore>(
    store: &S,
    checks: &Checks,
    history: &History,
) -> Result<(), Violation> {
    let mut present: BTreeMap<&DocId, &DocumentFacts> = BTreeMap::new();
    for operation in history.operations() {
        let input = || format!("{} at the end of {}", line(operation), outline(history));
        let (found, expected) = match operation {
            Operation::Upsert(facts) => {
                let expected = match present.insert(&facts.doc, facts) {
                    None => Change::Inserted,
                    Some(before) if before == facts => Change::Unchanged,
                    Some(_) => Change::Replaced,
                };
                let found = checks.ok(Rule::Accepts, store.upsert(facts), input)?;
                (format!("{found:?}"), format!("{expected:?}"))
            }
            Operation::Remove(doc) => {
                let expected = present.remove(doc).is_some();
                let found = checks.ok(Rule::Accepts, store.remove(doc), input)?;
                (format!("{found}"), format!("{expected}"))
            }
        };
        checks.check(Rule::Changes, found == expected, input, || {
            format!("{found}, not {expected}")
        })?;
    }
    Ok(())
}

/// A history in few words: names, grants and vectors.
fn outline(history: &History) -> String {
    let lines: Vec<String> = history.operations().iter().map(line).collect();
    lines.join("; ")
}

fn line(operation: &Operation) -> String {
    match operation {
        Operation::Remove(doc) => format!("remove {doc}"),
        Operation::Upsert(facts) => {
            let grants: Vec<&str> = facts.acl.grants().map(crate::Grant::as_str).collect();
            let rows = facts.vectors.rows().into_iter().take(8);
            let vectors: Vec<String> = rows.map(|row| row.to_string()).collect();
            format!("upsert {} for {grants:?} {}", facts.doc, vectors.join(" "))
        }
    }
}
