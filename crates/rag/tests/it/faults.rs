//! Faults that the course chapter injects: with each, a check of ours has to fail.

use cornu::{Acl, Hit, Principal};

use crate::world::{Home, document, grants};

fn home() -> Home {
    Home::holding(&[
        document("ops-a.md", "restart the cluster now", grants(["ops"])),
        document("ops-b.md", "restart the cluster today", grants(["ops"])),
        document("public-guide.md", "how to restart a laptop", Acl::public()),
        document("other.md", "the colour of the sea", Acl::public()),
    ])
}

fn names(hits: &[Hit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.chunk.doc.as_str()).collect()
}

/// The ACL moved behind the nearest neighbours: at k = 2 the forbidden vectors push out those that
/// may be seen.
#[test]
fn an_acl_behind_the_neighbours_starves_the_reader() {
    let home = home();
    let question = "restart the cluster";
    let reader = Principal::public();
    let before = home.index.search_dense(&reader, question, 2).unwrap().hits;
    assert_eq!(before.len(), 2);
    assert!(names(&before).contains(&"public-guide.md"));

    let everybody = Principal::new(["public", "ops"]).unwrap();
    let mut after = home
        .index
        .search_dense(&everybody, question, 2)
        .unwrap()
        .hits;
    after.retain(|hit| !hit.chunk.doc.as_str().starts_with("ops"));
    assert!(
        after.len() < before.len(),
        "the fault shows: {:?}",
        names(&after)
    );
}

/// Scores of different scale added: BM25 drowns the cosine, so the dense route might as well not
/// exist. The fused order is another one.
#[test]
fn adding_raw_scores_silences_the_dense_route() {
    let home = Home::holding(&[
        document("words.md", "rare rare rare rare rare rare", Acl::public()),
        document(
            "both.md",
            "a rare answer to the whole question",
            Acl::public(),
        ),
        document("filler1.md", "trains and rivers", Acl::public()),
        document("filler2.md", "bread and salt", Acl::public()),
    ]);
    let reader = Principal::public();
    let question = "what is the whole answer to the rare question";
    let hits = home.index.search_hybrid(&reader, question, 4).unwrap().hits;
    let raw = |hit: &Hit| {
        hit.dense.map_or(0.0, |place| place.score) + hit.sparse.map_or(0.0, |place| place.score)
    };
    // Raw sums hold no matter what the cosine says: the largest BM25 score exceeds any cosine.
    let largest = hits
        .iter()
        .filter_map(|hit| hit.sparse)
        .map(|place| place.score)
        .fold(0.0, f64::max);
    assert!(largest > 1.0);
    let mut added = hits.clone();
    added.sort_by(|a, b| raw(b).total_cmp(&raw(a)));
    let by_words = home.index.search_sparse(&reader, question, 4).unwrap().hits;
    assert_eq!(
        names(&added)[..by_words.len()],
        names(&by_words)[..],
        "words alone decide"
    );
    // Fused by rank, both lists count alike.
    for hit in &hits {
        let shares = [hit.dense, hit.sparse]
            .into_iter()
            .flatten()
            .filter_map(|place| place.share);
        let sum: f64 = shares.clone().sum();
        assert!((sum - hit.score).abs() < 1e-15);
        assert!(shares.into_iter().all(|share| share <= 1.0 / 61.0));
    }
}
