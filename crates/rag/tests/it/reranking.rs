//! The second look, from the index's side.

use std::sync::Arc;

use cornu::core::{PairScorer, ProviderError};
use cornu::rerank::{
    Blend, CascadeOptions, CrossEncoder, ElbowCascade, MaxSim, NoRerank, Reranker, Scale, Scorer,
    Staged,
};
use cornu::{
    Acl, Change, Document, Fingerprint, Found, LiveRagIndex, Principal, RagError, RagOptions,
};

use crate::rerankers::{Counts, counting, space};
use crate::world::{Home, document, grants, holder, options, provider};

/// Five documents of one chunk; the first stage puts `gold.md` last of those with the word.
fn documents() -> Vec<Document> {
    let text = |name: &str, text: &str| document(name, text, Acl::public());
    vec![
        text("a.md", "gradient gradient gradient\n"),
        text("b.md", "gradient gradient step\n"),
        text("c.md", "gradient step step\n"),
        text(
            "gold.md",
            "gradient and the answer stands here among many other words of a text\n",
        ),
        text("z.md", "weather of yesterday\n"),
    ]
}

fn reopened(home: &Home, change: impl FnOnce(&mut RagOptions)) -> LiveRagIndex {
    let mut options = options();
    change(&mut options);
    LiveRagIndex::open(home.folder.path().join("index.db"), provider(), options).unwrap()
}

fn with(home: &Home, reranker: Arc<dyn Reranker>) -> LiveRagIndex {
    reopened(home, |options| options.reranker = Some(reranker))
}

fn names(found: &Found) -> Vec<&str> {
    found
        .hits
        .iter()
        .map(|hit| hit.chunk.doc.as_str())
        .collect()
}

fn step(trace: &cornu::Trace, stage: &str) -> String {
    let steps = trace.steps().iter().filter(|step| step.stage() == stage);
    let notes = steps.flat_map(|step| {
        step.notes()
            .map(|(name, value)| format!("{name} = {value}"))
    });
    notes.collect::<Vec<_>>().join("; ")
}

const QUESTION: &str = "gradient";

#[test]
fn rr_06_what_stands_below_the_cut_can_reach_the_top() {
    let home = Home::holding(&documents());
    let public = Principal::public();
    let before = home.index.search_hybrid(&public, QUESTION, 2).unwrap();
    assert!(!names(&before).contains(&"gold.md"), "{:?}", names(&before));
    let index = with(&home, counting("answer"));
    let found = index.search_hybrid(&public, QUESTION, 2).unwrap();
    assert_eq!(names(&found)[0], "gold.md");
    assert_eq!(found.hits.len(), 2, "the cut is after the second look");
    let second = found.hits[0].second.as_ref().unwrap();
    assert!(second.first_rank > 2);
    assert_eq!((second.score, second.scale), (Some(1.0), Some("logit")));
    assert!((second.probability.unwrap() - 0.731).abs() < 1e-3);
}

#[test]
fn the_trace_has_every_candidate_with_its_first_rank_and_its_score_or_why_it_has_none() {
    let home = Home::holding(&documents());
    let scorer = Scorer::new(
        Arc::new(Counts(Fingerprint::new("counts"), "step")),
        Scale::Ordinal,
    );
    let options = CascadeOptions {
        floor: 2,
        ceiling: 2,
        ..CascadeOptions::default()
    };
    let index = with(&home, Arc::new(ElbowCascade::new(scorer, options).unwrap()));
    let found = index
        .search_hybrid(&Principal::public(), QUESTION, 1)
        .unwrap();
    let noted = step(&found.trace, "rerank");
    for part in [
        "retrieved = 5",
        "sent = 2",
        "scored = 2",
        "cut = 2",
        "first 1: ",
        "first 2: ",
    ] {
        assert!(noted.contains(part), "{part:?} is not in {noted}");
    }
    assert!(noted.contains("(ordinal)"));
    assert_eq!(noted.matches("below the cut").count(), 3, "{noted}");
    // Whoever looks at the hits alone is told as well.
    let json = found.to_json();
    assert!(json.contains("\"second\":{\"first_rank\":"), "{json}");
}

#[test]
fn a_blend_shows_both_scores_and_what_became_of_them() {
    let home = Home::holding(&documents());
    let scorer = Scorer::new(
        Arc::new(Counts(Fingerprint::new("counts"), "step")),
        Scale::Logit,
    );
    let reranker = CrossEncoder::new(scorer).with_blend(Blend::new(0.5).unwrap());
    let index = with(&home, Arc::new(reranker));
    let public = Principal::public();
    let found = index.search_hybrid(&public, QUESTION, 5).unwrap();
    let noted = step(&found.trace, "rerank");
    assert_eq!(noted.matches("(logit), with 0.0").count(), 5, "{noted}");
    assert_eq!(noted.matches(" blended to 0.").count(), 5, "{noted}");
    let second = |hit: &cornu::Hit| hit.second.clone().unwrap();
    let blended: Vec<f64> = found
        .hits
        .iter()
        .map(|hit| second(hit).blended.unwrap())
        .collect();
    assert!(
        blended.windows(2).all(|two| two[0] >= two[1]),
        "{blended:?}"
    );
    // The fused list's best is held by its first score, the scorer's by its second.
    let by_first = found
        .hits
        .iter()
        .position(|hit| second(hit).first_rank == 1);
    let by_second = names(&found).iter().position(|name| *name == "c.md");
    assert!(by_first.unwrap() < 3 && by_second.unwrap() < 2, "{noted}");
    let explained = index.explain(&public, QUESTION, 1).unwrap();
    let chunk = step(&explained, "chunk");
    for part in ["rerank_score = ", "rerank_blended = "] {
        assert!(chunk.contains(part), "{part:?} is not in {chunk}");
    }
}

#[test]
fn of_two_rerankers_the_trace_tells_both_places() {
    let home = Home::holding(&documents());
    let index = with(
        &home,
        Arc::new(Staged::new(counting("step"), counting("slope"))),
    );
    let public = Principal::public();
    let found = index.search_hybrid(&public, QUESTION, 5).unwrap();
    let noted = step(&found.trace, "rerank");
    assert_eq!(noted.matches(", then ").count(), 5, "{noted}");
    assert!(found.to_json().contains("\"earlier\":{\"rank\":"));
    let explained = step(&index.explain(&public, QUESTION, 1).unwrap(), "chunk");
    for part in ["rerank_score = ", "earlier_rank = ", "earlier_score = "] {
        assert!(explained.contains(part), "{part:?} is not in {explained}");
    }
}

#[test]
fn the_pool_bounds_what_a_reranker_costs_however_many_hits_are_asked_for() {
    let home = Home::holding(&documents());
    let public = Principal::public();
    let plain = home.index.search_hybrid(&public, QUESTION, 5).unwrap();
    let index = reopened(&home, |options| {
        options.reranker = Some(counting("step"));
        options.pool = 2;
    });
    let found = index.search_hybrid(&public, QUESTION, 5).unwrap();
    let noted = step(&found.trace, "rerank");
    for part in ["retrieved = 5", "pool = 2", "sent = 2"] {
        assert!(noted.contains(part), "{part:?} is not in {noted}");
    }
    // Behind the pool everything is as it was.
    assert_eq!(names(&found)[2..], names(&plain)[2..]);
    let last = found.hits[4].second.as_ref().unwrap();
    assert_eq!(
        (last.first_rank, last.unscored),
        (5, Some("behind the pool"))
    );
}

#[test]
fn absent_gold_chunk_is_not_brought_back_and_the_trace_says_so() {
    let mut without = documents();
    let gold = without.remove(3);
    let home = Home::holding(&without);
    let index = with(&home, counting("answer"));
    let public = Principal::public();
    let found = index.search_hybrid(&public, QUESTION, 5).unwrap();
    // Recall at 5 of the gold document is 0, whatever the second look would say of it.
    assert!(!names(&found).contains(&"gold.md"));
    let noted = step(&found.trace, "rerank");
    assert!(noted.contains("retrieved = 4"), "{noted}");
    // With it in the index the same search has it on top.
    home.index.ingest(&gold).unwrap();
    let found = index.search_hybrid(&public, QUESTION, 5).unwrap();
    assert_eq!(names(&found)[0], "gold.md");
    let id = found.hits[0].chunk.id.to_string();
    assert!(!noted.contains(&id[..12]));
    assert!(step(&found.trace, "rerank").contains(&id[..12]));
}

#[test]
fn without_a_reranker_nothing_is_different_and_none_keeps_the_order() {
    let home = Home::holding(&documents());
    let public = Principal::public();
    let plain = home.index.search_hybrid(&public, QUESTION, 3).unwrap();
    assert!(!plain.to_json().contains("second"));
    assert_eq!(step(&plain.trace, "rerank"), "");
    let found = with(&home, Arc::new(NoRerank::new()))
        .search_hybrid(&public, QUESTION, 3)
        .unwrap();
    assert_eq!(names(&found), names(&plain));
    assert_eq!(
        found.hits[0].second.as_ref().unwrap().unscored,
        Some("not asked")
    );
    // A route alone is what it is.
    let dense = with(&home, counting("answer"))
        .search_dense(&public, QUESTION, 5)
        .unwrap();
    assert_eq!(
        dense,
        home.index.search_dense(&public, QUESTION, 5).unwrap()
    );
}

#[test]
fn a_threshold_judges_the_similarity_and_never_the_second_score() {
    struct Constant(Fingerprint, f32);
    impl PairScorer for Constant {
        fn fingerprint(&self) -> &Fingerprint {
            &self.0
        }
        fn score(&self, _: &str, documents: &[&str]) -> Result<Vec<f32>, ProviderError> {
            Ok(vec![self.1; documents.len()])
        }
    }
    let home = Home::holding(&documents());
    let public = Principal::public();
    for value in [-1.0, 0.3, 0.95, 1.0] {
        let threshold = home.threshold(value);
        let plain = home.index.answer(&public, QUESTION, &threshold).unwrap();
        for logit in [-100.0, 100.0] {
            let scorer = Arc::new(Constant(Fingerprint::new("constant"), logit));
            let reranker = CrossEncoder::new(Scorer::new(scorer, Scale::Logit));
            let response = with(&home, Arc::new(reranker)).answer(&public, QUESTION, &threshold);
            assert_eq!(response.unwrap().outcome, plain.outcome, "{value} {logit}");
        }
    }
}

#[test]
fn an_answer_draws_on_what_the_second_look_puts_first() {
    let home = Home::holding(&documents());
    let index = reopened(&home, |options| {
        options.reranker = Some(counting("answer"));
        options.evidence = 1;
        options.entity_check = false;
    });
    let response = index
        .answer(&Principal::public(), QUESTION, &home.threshold(-1.0))
        .unwrap();
    let statements = &response.outcome.answer().unwrap().statements;
    assert!(
        statements
            .iter()
            .all(|one| one.citation.doc.as_str() == "gold.md")
    );
    assert!(step(&response.trace, "rerank").contains("retrieved = 5"));
}

#[test]
fn token_vectors_are_written_at_ingest_and_give_the_scores_of_the_text() {
    let mut with_tokens = options();
    with_tokens.tokens = Some(space());
    let stored = Home::with(with_tokens);
    let report = stored.index.ingest_all(&documents(), |_| {}).unwrap();
    assert!(report.failed.is_empty(), "{report:?}");
    assert_eq!(stored.index.store().token_stats().unwrap().chunks, 5);
    let bare = Home::holding(&documents());
    let public = Principal::public();
    let ask = |home: &Home| {
        let index = with(home, Arc::new(MaxSim::new(space())));
        let found = index.search_hybrid(&public, "gradient step", 5).unwrap();
        let said: Vec<_> = found.hits.iter().map(|hit| hit.second.clone()).collect();
        (
            said,
            step(&found.trace, "rerank"),
            step(
                &index.explain(&public, "gradient step", 1).unwrap(),
                "chunk",
            ),
        )
    };
    let (of_stored, of_bare) = (ask(&stored), ask(&bare));
    assert_eq!(of_stored.0, of_bare.0);
    assert!(
        of_stored.1.contains("with_stored_tokens = 5"),
        "{}",
        of_stored.1
    );
    assert!(
        of_bare.1.contains("with_stored_tokens = 0"),
        "{}",
        of_bare.1
    );
    // The explanation has the words that met.
    assert!(
        of_stored.2.contains("step ~ step: 1.000"),
        "{}",
        of_stored.2
    );
    // Of another precision none are taken.
    let other = space().with_precision(cornu::rerank::Precision::F16);
    let index = with(&stored, Arc::new(MaxSim::new(other)));
    let found = index.search_hybrid(&public, "gradient step", 5).unwrap();
    assert!(step(&found.trace, "rerank").contains("with_stored_tokens = 0"));
}

#[test]
fn an_index_without_token_vectors_gets_them_later() {
    let home = Home::holding(&documents());
    let error = home.index.complete_tokens(|_| {}).unwrap_err();
    assert!(matches!(error, RagError::Options { .. }), "{error}");
    let index = reopened(&home, |options| {
        options.tokens = Some(space());
        options.reranker = Some(Arc::new(MaxSim::new(space())));
    });
    let public = Principal::public();
    let before = index.search_hybrid(&public, QUESTION, 5).unwrap();
    let mut told = Vec::new();
    assert_eq!(
        index.complete_tokens(|so_far| told.push(so_far)).unwrap(),
        5
    );
    assert_eq!(told, [5]);
    assert_eq!(
        index.complete_tokens(|_| {}).unwrap(),
        0,
        "nothing is missing any more"
    );
    let after = index.search_hybrid(&public, QUESTION, 5).unwrap();
    assert_eq!(before.hits, after.hits);
    assert!(step(&after.trace, "rerank").contains("with_stored_tokens = 5"));
    assert_eq!(index.store().doctor().unwrap(), []);
}

#[test]
fn new_grants_take_the_token_vectors_along_and_removal_takes_them_away() {
    let mut with_tokens = options();
    with_tokens.tokens = Some(space());
    let home = Home::with(with_tokens);
    home.index.ingest_all(&documents(), |_| {}).unwrap();
    let moved = document("gold.md", documents()[3].source(), grants(["public", "hr"]));
    assert_eq!(home.index.ingest(&moved).unwrap().change, Change::Replaced);
    assert_eq!(home.index.store().token_stats().unwrap().chunks, 5);
    let index = with(&home, Arc::new(MaxSim::new(space())));
    let found = index.search_hybrid(&holder(["hr"]), QUESTION, 5).unwrap();
    assert_eq!(names(&found), ["gold.md"]);
    assert!(step(&found.trace, "rerank").contains("with_stored_tokens = 1"));
    home.index.remove(moved.id()).unwrap();
    assert_eq!(home.index.store().token_stats().unwrap().chunks, 4);
    assert_eq!(home.index.store().doctor().unwrap(), []);
}

#[test]
fn a_scorer_that_fails_is_an_error_and_not_half_a_result() {
    struct Short(Fingerprint);
    impl PairScorer for Short {
        fn fingerprint(&self) -> &Fingerprint {
            &self.0
        }
        fn score(&self, _: &str, _: &[&str]) -> Result<Vec<f32>, ProviderError> {
            Ok(Vec::new())
        }
    }
    let home = Home::holding(&documents());
    let scorer = Scorer::new(Arc::new(Short(Fingerprint::new("short"))), Scale::Logit);
    let index = with(&home, Arc::new(CrossEncoder::new(scorer)));
    let public = Principal::public();
    let error = index.search_hybrid(&public, QUESTION, 3).unwrap_err();
    assert!(matches!(error, RagError::Rerank(_)), "{error}");
    // Who sees nothing asks no model.
    assert!(
        index
            .search_hybrid(&holder(["nobody"]), QUESTION, 3)
            .unwrap()
            .hits
            .is_empty()
    );
    let options = RagOptions {
        pool: 0,
        ..options()
    };
    let path = home.folder.path().join("index.db");
    assert!(matches!(
        LiveRagIndex::open(path, provider(), options),
        Err(RagError::Options { .. })
    ));
}
