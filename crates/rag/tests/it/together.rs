//! Questions while documents are written.

use std::sync::atomic::{AtomicBool, Ordering};

use cornu::{Acl, Principal};

use crate::world::{Home, document, grants, holder};

/// Every commit swaps both halves of a pair of facts, so an answer from two states would show.
#[test]
fn answers_come_from_one_state() {
    let home = Home::new();
    let version = |at: usize| {
        [
            document(
                "a.md",
                &format!("# State\n\nThe left half is at version {at}.\n"),
                Acl::public(),
            ),
            document(
                "b.md",
                &format!("# State\n\nThe right half is at version {at}.\n"),
                Acl::public(),
            ),
            document(
                "c.md",
                &format!("The hidden half is at version {at}."),
                grants(["hr"]),
            ),
        ]
    };
    home.index.ingest_all(&version(100), |_| {}).unwrap();
    let threshold = home.threshold(-1.0);
    let done = AtomicBool::new(false);
    let mut checked = 0;
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..3)
            .map(|at| {
                let (home, threshold, done) = (&home, &threshold, &done);
                scope.spawn(move || {
                    let who = if at == 0 {
                        holder(["public", "hr"])
                    } else {
                        Principal::public()
                    };
                    let mut checked = 0;
                    while !done.load(Ordering::SeqCst) || checked == 0 {
                        let response =
                            home.index
                                .answer(&who, "Which half is at what version?", threshold);
                        let response = response.unwrap();
                        let answer = response.outcome.answer().unwrap();
                        let versions: std::collections::BTreeSet<String> = answer
                            .statements
                            .iter()
                            .map(|one| {
                                one.citation
                                    .quote
                                    .chars()
                                    .filter(char::is_ascii_digit)
                                    .collect()
                            })
                            .collect();
                        assert_eq!(versions.len(), 1, "{answer}");
                        assert_eq!(answer.statements.len(), if at == 0 { 3 } else { 2 });
                        checked += 1;
                    }
                    checked
                })
            })
            .collect();
        for at in 101..125 {
            home.index.ingest_all(&version(at), |_| {}).unwrap();
        }
        done.store(true, Ordering::SeqCst);
        for reader in readers {
            checked += reader.join().unwrap();
        }
    });
    assert!(checked >= 3);
    let last = home
        .index
        .search_sparse(&Principal::public(), "124", 5)
        .unwrap()
        .hits;
    assert_eq!(last.len(), 2);
}
