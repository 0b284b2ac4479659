//! What postings hold after which commits, and whose they are.

use std::sync::Arc;

use cornu_core::{Acl, DocId, Document, Principal};
use cornu_embed::HashEmbeddingProvider;

use crate::{LiveRagIndex, RagOptions};

#[test]
fn what_no_view_holds_any_more_is_dropped_and_comes_back_when_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let mut index = at(&folder.path().join("index.db"));
    index.postings.slack = 0;
    for at in 0..8 {
        write(&index, &format!("{at}.md"), "hr", "shared words of a page");
    }
    let hr = Principal::new(["hr"]).unwrap();
    let public = Principal::public();
    let found = |index: &LiveRagIndex, who: &Principal| {
        let found = index.search_sparse(who, "shared words", 100).unwrap();
        found.to_json()
    };
    let before = found(&index, &hr);
    assert_eq!(index.postings.state.read().held.len(), 8);
    // Two epochs in which only the public asks.
    for text in ["shared", "shared words"] {
        write(&index, "open.md", "public", text);
        found(&index, &public);
    }
    // Its page, and the version before, which was wanted until just now.
    assert_eq!(index.postings.state.read().held.len(), 2);
    assert_eq!(found(&index, &hr), before);
    assert_eq!(index.postings.state.read().held.len(), 10);
}

/// What the asker does not see leaves them all that was made ready for them.
#[test]
fn hidden_commits_leave_the_statistics_of_a_view() {
    let folder = tempfile::tempdir().unwrap();
    let index = at(&folder.path().join("index.db"));
    let made = || {
        let who = Principal::public();
        let found = index.search_sparse(&who, "shared words", 9).unwrap();
        (index.postings.state.read().index.epoch(), found.hits.len())
    };
    write(&index, "a.md", "public", "shared words of a page");
    assert_eq!(made(), (1, 1));
    write(&index, "b.md", "hr", "shared words of another page");
    write(&index, "b.md", "hr", "shared words of that page");
    index.remove(&DocId::new("b.md").unwrap()).unwrap();
    assert_eq!(made(), (1, 1));
    write(&index, "c.md", "public", "shared words of a third page");
    assert_eq!(made(), (5, 2));
}

/// An index in this folder, of few fsyncs, and its one page that all see.
fn of_one_page(folder: &std::path::Path) -> LiveRagIndex {
    let index = at(&folder.join("index.db"));
    write(&index, "a.md", "public", "shared words of a page");
    index
}

fn at(path: &std::path::Path) -> LiveRagIndex {
    let mut options = RagOptions::default();
    options.store.durability = cornu_store::Durability::ProcessKill;
    LiveRagIndex::open(path, Arc::new(HashEmbeddingProvider::default()), options).unwrap()
}

fn write(index: &LiveRagIndex, name: &str, grant: &str, text: &str) {
    let acl = Acl::new([grant]).unwrap();
    let document = Document::new(DocId::new(name).unwrap(), text, acl);
    index.ingest(&document).unwrap();
}

/// Two copies of a database give the same ordinals to different documents, and one takes the
/// place of the other. What was read from the first has no part in what is said of the second,
/// whether the asker saw all of it since the state that the index stands at or not.
#[test]
fn postings_of_a_copy_that_went_another_way_are_not_taken_for_the_same() {
    for more in [0, 1, 2] {
        let folder = tempfile::tempdir().unwrap();
        drop(of_one_page(folder.path()));
        let copy = folder.path().join("copy.db");
        std::fs::copy(folder.path().join("index.db"), &copy).unwrap();
        let (index, other) = (at(&folder.path().join("index.db")), at(&copy));
        write(
            &index,
            "b.md",
            "hr",
            "shared words, and shared words of the payroll",
        );
        let hr = Principal::new(["hr"]).unwrap();
        let found = index.search_sparse(&hr, "shared words", 9).unwrap();
        assert_eq!(found.hits.len(), 1);
        write(&other, "c.md", "public", "shared words of another page");
        for at in 0..more {
            write(
                &other,
                &format!("{at}.md"),
                "public",
                "shared words of more pages",
            );
        }
        let snapshot = other.snapshot(&Principal::public()).unwrap();
        let found = |postings: &super::Postings| {
            let query = cornu_sparse::Query::new(&index.options.tokenizer, "shared words");
            let bm25 = &index.options.bm25;
            let found = postings.with(&snapshot, |searcher| searcher.search(&query, bm25, 9));
            let found = found.unwrap();
            let found = found
                .iter()
                .map(|hit| (super::chunk_of(&hit.id), hit.score));
            found.collect::<Vec<_>>()
        };
        assert_eq!(
            found(&index.postings),
            found(&other.postings),
            "{more} more commits"
        );
    }
}

/// What the asker does not see leaves them what was made ready for them, also where somebody
/// who sees it asks.
#[test]
fn a_hidden_commit_that_others_ask_about_leaves_the_statistics_of_a_view() {
    let folder = tempfile::tempdir().unwrap();
    let index = of_one_page(folder.path());
    let (hr, public) = (Principal::new(["hr"]).unwrap(), Principal::public());
    let ask = |who: &Principal| drop(index.search_sparse(who, "shared words", 9).unwrap());
    let is_ready = || {
        let snapshot = index.snapshot(&public).unwrap();
        let (view, state) = (snapshot.view(), index.postings.state.read());
        state.is_ready_for(view)
    };
    ask(&public);
    assert!(is_ready());
    write(&index, "b.md", "hr", "shared words of another page");
    assert!(is_ready());
    ask(&hr);
    assert!(is_ready());
}

/// Somebody who asks all along, and sees nothing of what others write and ask about, is one who wants
/// what they see: it is not dropped for having been ready.
#[test]
fn what_is_ready_for_somebody_who_asks_is_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let mut index = of_one_page(folder.path());
    index.postings.slack = 0;
    for page in 0..8 {
        write(&index, &format!("{page}.md"), "public", "shared words");
    }
    let (hr, public) = (Principal::new(["hr"]).unwrap(), Principal::public());
    let ask = |who: &Principal| drop(index.search_sparse(who, "shared words", 9).unwrap());
    ask(&public);
    let before = index.postings.state.read().held.clone();
    assert_eq!(before.len(), 9);
    for round in 0..4 {
        write(&index, "b.md", "hr", &format!("shared words of {round}"));
        ask(&hr);
        let held = index.postings.state.read().held.clone();
        assert!(before.is_subset(&held), "round {round}");
        ask(&public);
    }
}

/// More hidden commits than states are on record, between which the asker looks: their view is
/// carried from each to the next, and the index is not thrown away.
#[test]
fn hidden_commits_without_end_leave_the_index() {
    let folder = tempfile::tempdir().unwrap();
    let index = of_one_page(folder.path());
    write(&index, "b.md", "hr", "shared words of another page");
    let (hr, public) = (Principal::new(["hr"]).unwrap(), Principal::public());
    let ask = |who: &Principal| drop(index.search_sparse(who, "shared words", 9).unwrap());
    ask(&hr);
    ask(&public);
    let held = || index.postings.state.read().held.clone();
    let before = held();
    assert_eq!(before.len(), 2);
    for at in 0..1100 {
        write(&index, "c.md", "ops", &format!("page {at}"));
        ask(&public);
        assert_eq!(held(), before, "{at} commits");
    }
}

/// The dense route of a search reads from the connection while the sparse route of the same
/// search ranks words: who finds all ready waits for nobody, since whoever wants to write to the
/// index, and all who come after, wait for them.
#[test]
fn a_ready_index_is_read_while_the_connection_is_busy() {
    let folder = tempfile::tempdir().unwrap();
    let index = of_one_page(folder.path());
    let snapshot = index.snapshot(&Principal::public()).unwrap();
    let words = |snapshot| index.postings.with(snapshot, |_| Ok(())).unwrap();
    words(&snapshot);
    let (busy, is_busy) = std::sync::mpsc::channel();
    let (done, is_done) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let snapshot = &snapshot;
        let reading = scope.spawn(move || {
            let mut in_time = false;
            let take = |_| {
                busy.send(()).unwrap();
                let limit = std::time::Duration::from_secs(5);
                in_time = is_done.recv_timeout(limit).is_ok();
            };
            snapshot.read_terms([1], take).unwrap();
            in_time
        });
        is_busy.recv().unwrap();
        words(snapshot);
        let _ = done.send(());
        assert!(reading.join().unwrap(), "waited for the connection");
    });
}

/// Snapshots of several states are asked in any order, while two indexes write in turns.
#[test]
fn states_of_any_age_are_asked_side_by_side() {
    for seed in 0..12_u64 {
        let mut bits = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut below = move |end: u64| {
            bits ^= bits << 13;
            bits ^= bits >> 7;
            bits ^= bits << 17;
            bits % end
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.db");
        let open = || {
            let mut options = RagOptions::default();
            options.store.durability = cornu_store::Durability::ProcessKill;
            options.store.readers = 12;
            let provider = Arc::new(HashEmbeddingProvider::new(16).unwrap());
            LiveRagIndex::open(&path, provider, options).unwrap()
        };
        let (mut index, other) = (open(), open());
        index.postings.slack = below(3);
        let index = &index;
        let askers = [&["public"][..], &["hr"], &["hr", "ops"], &["public", "ops"]];
        let askers = askers.map(|grants| Principal::new(grants).unwrap());
        let ask = |index: &LiveRagIndex, snapshot: &cornu_store::Snapshot<'_>| {
            let (rows, ranking) = index.sparse_anew(snapshot, "shared words of 3", 9).unwrap();
            let ordinals: Vec<u32> = rows.iter().map(super::ordinal_of).collect();
            let hits = ranking.iter().map(|hit| (hit.id, hit.score.to_bits()));
            (ordinals, hits.collect::<Vec<_>>())
        };
        let mut held = Vec::new();
        for _ in 0..60 {
            for _ in 0..below(3) {
                let by = if below(2) == 0 { index } else { &other };
                let name = format!("{}.md", below(6));
                if below(4) == 0 {
                    by.remove(&DocId::new(&name).unwrap()).unwrap();
                    continue;
                }
                let grant = ["public", "hr", "ops"][below(3) as usize];
                write(by, &name, grant, &format!("shared words of {}", below(4)));
            }
            if below(12) == 0 {
                index.prepare().unwrap();
            }
            let who = &askers[below(4) as usize];
            let fresh = open();
            let expected = ask(&fresh, &fresh.snapshot(who).unwrap());
            let snapshot = index.snapshot(who).unwrap();
            if below(3) > 0 {
                assert_eq!(ask(index, &snapshot), expected);
            }
            held.push((snapshot, expected));
            if held.len() > 5 {
                held.swap_remove(below(5) as usize);
            }
            for _ in 0..3 {
                let (snapshot, expected) = &held[below(held.len() as u64) as usize];
                assert_eq!(&ask(index, snapshot), expected);
            }
        }
    }
}
