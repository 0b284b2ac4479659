//! A process that ingests and is killed, a hundred times: what is found is what was committed.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use std::collections::BTreeMap;

use cornu_core::{Acl, DocId, DocumentFacts};
use cornu_store::{Route, SqliteVecStore, StoreError};
use ndarray::aview1;

use crate::sample::{Numbers, bits, fingerprint, folder, options, reader};

const FOLDER: &str = "CORNU_STORE_TEST_FOLDER";
const SEED: &str = "CORNU_STORE_TEST_SEED";
const DIMENSION: usize = 16;
const COMMITS: usize = 40;

enum Step {
    Upsert(DocumentFacts),
    Remove(DocId),
}

/// The same commits for the same seed, in the child and in the oracle.
fn commits(seed: u64) -> Vec<Vec<Step>> {
    let mut numbers = Numbers(seed);
    let mut commit = || {
        let steps = 1 + numbers.below(6);
        (0..steps)
            .map(|_| {
                let name = format!("{}.md", numbers.below(25));
                match numbers.below(5) {
                    0 => Step::Remove(DocId::new(&name).unwrap()),
                    _ => Step::Upsert(numbers.document(&name, DIMENSION)),
                }
            })
            .collect()
    };
    (0..COMMITS).map(|_| commit()).collect()
}

/// The documents after each number of epochs, from 0.
fn history(seed: u64) -> Vec<BTreeMap<DocId, DocumentFacts>> {
    let mut states = vec![BTreeMap::new()];
    for commit in commits(seed) {
        let mut next = states.last().unwrap().clone();
        let mut changed = false;
        for step in commit {
            changed |= match step {
                Step::Remove(doc) => next.remove(&doc).is_some(),
                Step::Upsert(facts) => next.insert(facts.doc.clone(), facts.clone()) != Some(facts),
            };
        }
        if changed {
            states.push(next);
        }
    }
    states
}

fn open(folder: &Path) -> SqliteVecStore {
    let path = folder.join("index.db");
    SqliteVecStore::open(path, &fingerprint(), DIMENSION, &options(Route::Auto)).unwrap()
}

/// Not a test of its own: what the child process does. Without its variables it does nothing.
#[test]
fn child() {
    let (Ok(folder), Ok(seed)) = (std::env::var(FOLDER), std::env::var(SEED)) else {
        return;
    };
    let seed: u64 = seed.parse().unwrap();
    let store = open(Path::new(&folder));
    for (number, commit) in commits(seed).into_iter().enumerate() {
        store
            .batch(|batch| {
                for step in &commit {
                    match step {
                        Step::Upsert(facts) => batch.upsert(facts).map(drop)?,
                        Step::Remove(doc) => batch.remove(doc).map(drop)?,
                    }
                }
                Ok::<_, StoreError>(())
            })
            .unwrap();
        // Said after the commit: from here on it has to survive.
        eprintln!("epoch {}", store.epoch().unwrap());
        match (number as u64 + seed) % 5 {
            0 => store.prepare().unwrap(),
            2 => store.rebuild_index().unwrap(),
            _ => {}
        }
    }
}

#[test]
fn killed_at_100_random_points_the_committed_state_is_there() {
    let mut numbers = Numbers(2026);
    let (mut epochs, mut unfinished) = (std::collections::BTreeSet::new(), 0);
    for point in 0..100 {
        let folder = folder();
        let seed = numbers.next() >> 1;
        let commits = numbers.below(COMMITS + 1);
        let pause = Duration::from_micros(numbers.below(4000) as u64);
        let said = run_and_kill(folder.path(), seed, commits, pause);
        let states = history(seed);
        let store = open(folder.path());
        let epoch = store.epoch().unwrap();
        assert!(
            epoch >= said,
            "point {point}: epoch {epoch}, but {said} was committed"
        );
        assert!((epoch as usize) < states.len());
        holds(&store, &states[epoch as usize], point);
        unfinished += usize::from((epoch as usize) < states.len() - 1);
        epochs.insert(epoch);
        // And it goes on from there.
        store.rebuild_index().unwrap();
        assert_eq!(store.doctor().unwrap(), []);
    }
    assert!(
        epochs.len() > 15 && unfinished > 50,
        "{unfinished} kills at {epochs:?}"
    );
}

/// The last epoch that the child said it had committed.
fn run_and_kill(folder: &Path, seed: u64, commits: usize, pause: Duration) -> u64 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "killed::child",
            "--exact",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(FOLDER, folder)
        .env(SEED, seed.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut said = 0;
    let mut hear = |line: Option<std::io::Result<String>>| {
        let line = line?.ok()?;
        if let Some(epoch) = line.strip_prefix("epoch ") {
            // The last line may be cut by the kill: then it said nothing, or less.
            said = said.max(epoch.parse().unwrap_or(0));
        } else {
            assert!(!line.contains("panicked"), "the child failed: {line}");
        }
        Some(())
    };
    for _ in 0..commits {
        if hear(lines.next()).is_none() {
            break;
        }
    }
    std::thread::sleep(pause);
    child.kill().unwrap();
    child.wait().unwrap();
    // What was said before the kill and not read yet counts.
    while hear(lines.next()).is_some() {}
    said
}

fn holds(store: &SqliteVecStore, state: &BTreeMap<DocId, DocumentFacts>, point: usize) {
    assert_eq!(store.doctor().unwrap(), [], "point {point}");
    assert_eq!(store.stats().unwrap().documents, state.len() as u64);
    let everyone = reader(&["public", "hr", "ops"]);
    let snapshot = store.snapshot(&everyone).unwrap();
    let seen: Vec<_> = state
        .values()
        .filter(|facts| facts.acl != Acl::nobody())
        .collect();
    let names: Vec<_> = seen.iter().map(|facts| facts.doc.clone()).collect();
    assert_eq!(snapshot.documents().unwrap(), names, "point {point}");
    for facts in seen {
        assert_eq!(
            snapshot.facts(&facts.doc).unwrap().as_ref(),
            Some(facts),
            "point {point}"
        );
    }
    let query = Numbers(1).vector(DIMENSION);
    let by = |route| bits(&snapshot.knn_by(route, aview1(&query), 10).unwrap());
    assert_eq!(by(Route::Resident), by(Route::Facts), "point {point}");
}
