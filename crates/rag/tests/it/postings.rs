//! The file of postings: the same answers with it as without it, whatever became of it.

use std::fs;
use std::path::Path;

use cornu::core::testing::proptest::prelude::*;
use cornu::sparse::{Bm25Index, DocumentRows, Row, TermCounts};
use cornu::store::{Access, Check};
use cornu::{Acl, Document, LiveRagIndex, Principal, RagOptions, upkeep};

use crate::world::{Home, Write, cases, document, grants, holder, options, provider, scenario};

/// The index as a process finds it that has just started.
fn opened(path: &Path, access: Access) -> LiveRagIndex {
    let mut options: RagOptions = options();
    options.store.access = access;
    LiveRagIndex::open(path, provider(), options).unwrap()
}

/// All that the sparse route says.
fn said(index: &LiveRagIndex, who: &Principal, question: &str) -> String {
    let sparse = index.search_sparse(who, question, 20).unwrap();
    let trace = index.explain(who, question, 20).unwrap();
    sparse.to_json() + &trace.to_string()
}

fn askers() -> [Principal; 3] {
    [
        Principal::public(),
        holder(["hr"]),
        holder(["public", "hr", "ops"]),
    ]
}

fn database(home: &Home) -> std::path::PathBuf {
    home.folder.path().join("index.db")
}

fn postings(home: &Home) -> std::path::PathBuf {
    home.folder.path().join("index.db.postings")
}

fn corpus(from: usize, to: usize) -> Vec<Document> {
    (from..to)
        .map(|at| {
            let text = format!(
                "# Page {at}\n\nCommon words stand here, and word{at} with word{}.\n\n## More\n\n\
                 Also common: number{}.\n",
                at / 3,
                at % 7
            );
            let acl = match at % 3 {
                0 => Acl::public(),
                1 => grants(["hr"]),
                _ => grants(["public", "ops"]),
            };
            document(&format!("{at}.md"), &text, acl)
        })
        .collect()
}

const QUESTION: &str = "Which common words stand with word3 and number5?";

proptest! {
    #![proptest_config(cases(24))]

    /// Written at some steps of a history and left behind at others, the file changes no byte of
    /// any answer; when it is written, it is what a fresh build writes.
    #[test]
    fn with_the_file_as_without_it(scenario in scenario(), prepared in any::<u16>()) {
        let home = Home::new();
        for (at, write) in scenario.writes.iter().enumerate() {
            match write {
                Write::Ingest(document) => drop(home.index.ingest(document).unwrap()),
                Write::Remove(id) => drop(home.index.remove(id).unwrap()),
            }
            if prepared >> at & 1 == 1 {
                home.index.prepare().unwrap();
            }
        }
        let askers = [scenario.principal.clone(), Principal::public(), holder(["hr"])];
        let ask = |index: &LiveRagIndex| {
            askers.iter().map(|who| said(index, who, &scenario.question)).collect::<Vec<_>>()
        };
        let behind = ask(&opened(&database(&home), Access::ReadOnly));
        prop_assert_eq!(&ask(&home.index), &behind);
        let _ = fs::remove_file(postings(&home));
        let without = ask(&opened(&database(&home), Access::ReadOnly));
        prop_assert_eq!(&without, &behind);
        prop_assert!(!postings(&home).exists(), "a reader writes nothing");
        upkeep::rebuild(home.index.store()).unwrap();
        prop_assert_eq!(&ask(&opened(&database(&home), Access::ReadOnly)), &without);
        prop_assert_eq!(upkeep::doctor(home.index.store()).unwrap(), []);
    }
}

proptest! {
    #![proptest_config(cases(24))]

    /// An index that has served all along, asked by some after one commit and by others after the
    /// next, says to the byte what one says that was opened just now.
    #[test]
    fn an_index_that_has_served_says_what_one_just_opened_says(
        scenario in scenario(),
        asking in any::<u64>(),
    ) {
        let home = Home::new();
        let who = [scenario.principal.clone(), Principal::public(), holder(["hr"])];
        for (at, write) in scenario.writes.iter().enumerate() {
            match write {
                Write::Ingest(document) => drop(home.index.ingest(document).unwrap()),
                Write::Remove(id) => drop(home.index.remove(id).unwrap()),
            }
            let fresh = opened(&database(&home), Access::ReadOnly);
            for (place, who) in who.iter().enumerate() {
                if asking >> ((3 * at + place) % 64) & 1 == 1 {
                    let question = &scenario.question;
                    prop_assert_eq!(said(&home.index, who, question), said(&fresh, who, question));
                }
            }
        }
    }
}

#[test]
fn what_is_brought_up_to_date_is_what_a_fresh_build_writes() {
    let home = Home::holding(&corpus(0, 30));
    home.index.prepare().unwrap();
    for round in 1..5 {
        for document in corpus(round * 4, round * 4 + 6) {
            let changed = format!("{}\nAnd in round {round}.\n", document.source());
            let changed = Document::new(document.id().clone(), changed, document.acl().clone());
            home.index.ingest(&changed).unwrap();
        }
        home.index.remove(corpus(round, round + 1)[0].id()).unwrap();
        home.index.prepare().unwrap();
        let updated = fs::read(postings(&home)).unwrap();
        fs::remove_file(postings(&home)).unwrap();
        home.index.prepare().unwrap();
        assert!(
            fs::read(postings(&home)).unwrap() == updated,
            "round {round}"
        );
        assert_eq!(upkeep::doctor(home.index.store()).unwrap(), []);
    }
}

/// The file is read where it is there: an answer of one that was made from other terms shows it.
#[test]
fn the_file_is_what_a_process_reads_and_the_doctor_compares_it_with_the_facts() {
    let home = Home::holding(&corpus(0, 12));
    home.index.prepare().unwrap();
    let store = home.index.store();
    let file = store.artifact(cornu::store::POSTINGS_SUFFIX);
    let tokenizer = store.fingerprint().get("index.tokenizer").unwrap();
    let tokenizer = cornu::Fingerprint::new(tokenizer);
    let open = || {
        Bm25Index::<[u32; 9]>::open(file.map().unwrap(), tokenizer.clone(), &store.owner()).unwrap()
    };
    let (mut index, origin) = open();
    let forged = DocumentRows {
        document: 1,
        rows: vec![Row {
            id: [1; 9],
            counts: TermCounts::from_pairs(1, [("forged", 1)]).unwrap(),
        }],
    };
    index.apply([forged], index.epoch()).unwrap();
    let who = Principal::public();
    let honest = said(
        &opened(&database(&home), Access::ReadOnly),
        &who,
        "common words",
    );
    file.replace(|out| index.write(&origin, out)).unwrap();
    let lied = said(
        &opened(&database(&home), Access::ReadOnly),
        &who,
        "common words",
    );
    assert_ne!(honest, lied, "nobody reads the file");
    let found = upkeep::doctor(store).unwrap();
    assert_eq!(
        found.iter().map(|one| one.check).collect::<Vec<_>>(),
        [Check::Postings]
    );
    upkeep::rebuild(store).unwrap();
    assert_eq!(upkeep::doctor(store).unwrap(), []);
    assert_eq!(
        said(
            &opened(&database(&home), Access::ReadOnly),
            &who,
            "common words"
        ),
        honest
    );
}

/// Cut, changed and foreign files: the answers are those of the facts, and a process that may write
/// deletes what it found out.
#[test]
fn a_damaged_file_is_never_believed() {
    let home = Home::holding(&corpus(0, 150));
    home.index.prepare().unwrap();
    let whole = fs::read(postings(&home)).unwrap();
    let who = askers();
    let ask = |access| {
        let index = opened(&database(&home), access);
        who.iter()
            .map(|who| said(&index, who, QUESTION))
            .collect::<Vec<_>>()
    };
    let expected = ask(Access::ReadOnly);
    let mut found_out = 0;
    for at in (0..whole.len()).step_by(whole.len() / 14) {
        let mut changed = whole.clone();
        changed[at] ^= 0x04;
        fs::write(postings(&home), &changed).unwrap();
        assert_eq!(ask(Access::ReadOnly), expected, "byte {at}");
        assert!(postings(&home).exists(), "a reader deletes nothing");
        assert_eq!(ask(Access::ReadWrite), expected, "byte {at}");
        found_out += usize::from(!postings(&home).exists());
    }
    assert!(found_out > 1, "{found_out}");
    for end in [0, 100, 5000, whole.len() - 1] {
        fs::write(postings(&home), &whole[..end]).unwrap();
        assert_eq!(ask(Access::ReadOnly), expected, "cut at {end}");
        let found = upkeep::doctor(home.index.store()).unwrap();
        assert!(found.iter().any(|one| one.check == Check::Postings));
    }
    home.index.prepare().unwrap();
    assert!(fs::read(postings(&home)).unwrap() == whole);
}

/// Two copies of a database go different ways, so that one ordinal means two documents; then each
/// gets the other's file.
#[test]
fn the_file_of_another_copy_is_not_believed() {
    let home = Home::holding(&corpus(0, 9));
    let other = tempfile::tempdir().unwrap();
    let copy = other.path().join("index.db");
    // The backup is of a closed database, so that its log is part of it.
    let Home { index, folder } = home;
    drop(index);
    let here = folder.path().join("index.db");
    for suffix in ["", "-wal"] {
        let name = |path: &Path| format!("{}{suffix}", path.display());
        if Path::new(&name(&here)).exists() {
            fs::copy(name(&here), name(&copy)).unwrap();
        }
    }
    let [left, right] = [&here, &copy].map(|path| opened(path, Access::ReadWrite));
    for at in 0..4 {
        let page = |word: &str| {
            let text = format!("# New\n\nOnly {word} holds common page {at}.\n");
            document(&format!("new{at}.md"), &text, Acl::public())
        };
        left.ingest(&page("left")).unwrap();
        right.ingest(&page("right")).unwrap();
    }
    let question = "Which page is common to left and right?";
    let ask = |path: &Path| {
        said(
            &opened(path, Access::ReadOnly),
            &Principal::public(),
            question,
        )
    };
    let expected = [ask(&here), ask(&copy)];
    assert_ne!(expected[0], expected[1]);
    left.prepare().unwrap();
    right.prepare().unwrap();
    assert_eq!([ask(&here), ask(&copy)], expected);
    let file = |path: &Path| format!("{}.postings", path.display());
    let (a, b) = (
        fs::read(file(&here)).unwrap(),
        fs::read(file(&copy)).unwrap(),
    );
    fs::write(file(&here), b).unwrap();
    fs::write(file(&copy), a).unwrap();
    assert_eq!([ask(&here), ask(&copy)], expected);
    // Another index's file, of the same documents.
    let third = Home::holding(&corpus(0, 9));
    third.index.prepare().unwrap();
    fs::copy(postings(&third), file(&here)).unwrap();
    assert_eq!(ask(&here), expected[0]);
}

/// On media that nobody may write to: from the file where there is one, from the facts where not.
#[test]
fn an_immutable_index_is_searched_with_the_file_and_without_it() {
    let home = Home::holding(&corpus(0, 40));
    home.index.prepare().unwrap();
    let (path, file) = (database(&home), postings(&home));
    let Home { index, folder } = home;
    drop(index); // The last connection puts the log into the file.
    let ask = || {
        let index = opened(&path, Access::Immutable);
        askers().map(|who| said(&index, &who, QUESTION))
    };
    let with = ask();
    fs::remove_file(&file).unwrap();
    assert_eq!(ask(), with);
    assert!(!file.exists());
    assert!(
        upkeep::prepare(opened(&path, Access::Immutable).store()).is_err(),
        "an error says that nothing was written"
    );
    drop(folder);
}

/// Several that write documents and files, and several that ask, each with a handle of its own as
/// processes have: no answer is of two states, and what is left is whole.
#[test]
fn writers_of_the_file_do_not_disturb_each_other() {
    let home = Home::holding(&corpus(0, 30));
    let path = database(&home);
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let path = &path;
            scope.spawn(move || {
                let index = opened(path, Access::ReadWrite);
                for round in 0..12 {
                    let from = 30 + 20 * round + 10 * writer;
                    index.ingest_all(&corpus(from, from + 10), |_| {}).unwrap();
                    index.prepare().unwrap();
                }
            });
        }
        for _ in 0..2 {
            let path = &path;
            scope.spawn(move || {
                for _ in 0..20 {
                    let index = opened(path, Access::ReadOnly);
                    let found = index.search_sparse(&Principal::public(), "common", 1000);
                    let pages: std::collections::BTreeSet<_> = found
                        .unwrap()
                        .hits
                        .into_iter()
                        .map(|hit| hit.chunk.doc.clone())
                        .collect();
                    // A commit writes ten documents; two thirds of 0..30 are public, and of each
                    // ten that come six or seven.
                    assert!(pages.len() >= 20, "{}", pages.len());
                }
            });
        }
    });
    assert_eq!(upkeep::doctor(home.index.store()).unwrap(), []);
    let fresh = opened(&path, Access::ReadOnly);
    let expected = said(&fresh, &Principal::public(), QUESTION);
    fs::remove_file(postings(&home)).unwrap();
    let without = opened(&path, Access::ReadOnly);
    assert_eq!(said(&without, &Principal::public(), QUESTION), expected);
}
