//! Known faults of other systems, each as a test under the id that it has in our list.

use cornu::markers::{Verdict, judge_markers};
use cornu::{Acl, Outcome, Principal, Reason, Threshold};

use crate::world::{Home, document, grants, holder};

/// A threshold for cosines, compared with fused scores, refuses everything.
#[test]
fn cr_01_the_threshold_is_never_compared_with_a_fused_score() {
    let home = Home::holding(&[document(
        "a.md",
        "Gradients are cleared by zero_grad.",
        Acl::public(),
    )]);
    let reader = Principal::public();
    let question = "Gradients are cleared by zero_grad";
    let hits = home.index.search_hybrid(&reader, question, 1).unwrap().hits;
    assert_eq!(hits[0].score, 2.0 / 61.0); // below any sensible threshold
    let response = home
        .index
        .answer(&reader, question, &home.threshold(0.5))
        .unwrap();
    assert!(response.outcome.answer().is_some(), "{}", response.trace);

    // A configuration that mixes the two is refused when it is read.
    let json = serde_json::to_string(&home.threshold(0.5)).unwrap();
    assert!(serde_json::from_str::<Threshold>(&json.replace("cosine", "rrf")).is_err());
}

/// Markers resolve against the one list that was shown.
#[test]
fn cr_02_markers_resolve_against_the_order_of_the_prompt() {
    let retrieved = ["c7", "c2", "c9"];
    let shown = ["c9", "c7"];
    let judged = judge_markers("…[1]", &["1", "2"]);
    let Verdict::Resolved(at) = judged[0].verdict else {
        panic!("{judged:?}");
    };
    assert_eq!(shown[at], "c9");
    assert_ne!(retrieved[at], "c9");

    // Our own answers: the n-th number stands behind the n-th statement and before its citation.
    let home = Home::holding(&[
        document(
            "a.md",
            "Apples are red.\n\nPears are green.\n",
            Acl::public(),
        ),
        document("b.md", "Apples are round.\n", Acl::public()),
    ]);
    let response = home
        .index
        .answer(&Principal::public(), "apples", &home.threshold(-1.0));
    let response = response.unwrap();
    let answer = response.outcome.answer().unwrap();
    let text = answer.to_string();
    for (at, statement) in answer.statements.iter().enumerate() {
        assert!(text.contains(&format!("{} [{}]", statement.citation.quote, at + 1)));
        assert!(text.contains(&format!("[{}] {}", at + 1, statement.citation)));
    }
    assert!(answer.statements.len() > 1, "{text}");
}

/// A document without headings does not borrow those of its neighbour.
#[test]
fn cr_05_nothing_is_borrowed_from_another_document() {
    let home = Home::holding(&[
        document("a.md", "# 第 9 页\n\n甲。\n", Acl::public()),
        document("b.md", "乙。\n", Acl::public()),
    ]);
    let hits = home
        .index
        .search_dense(&Principal::public(), "乙", 2)
        .unwrap()
        .hits;
    let hit = hits
        .iter()
        .find(|hit| hit.chunk.doc.as_str() == "b.md")
        .unwrap();
    assert!(hit.chunk.heading_path.is_empty());
    assert_eq!(hit.citation, "b.md, line 1");
}

/// Every marker is judged by itself; labels that come twice, or are empty, resolve nothing.
#[test]
fn cr_06_a_made_up_citation_cannot_hide() {
    let labels = ["doc-1", "dup", "dup", ""];
    let text = "甲[doc-1] 乙[dup] 丙[doc-99] 丁[doc-99](https://example.org) 戊[]";
    let judged = judge_markers(text, &labels);
    let verdicts: Vec<_> = judged
        .iter()
        .map(|one| (one.label.as_str(), one.verdict))
        .collect();
    assert_eq!(
        verdicts,
        [
            ("doc-1", Verdict::Resolved(0)),
            ("dup", Verdict::Ambiguous),
            ("doc-99", Verdict::Fabricated),
            ("doc-99", Verdict::Link),
        ]
    );
    assert!(!judged.iter().all(cornu::markers::Marker::is_sound));
    for marker in &judged {
        assert_eq!(
            marker.span.slice(text),
            Some(format!("[{}]", marker.label).as_str())
        );
    }
}

/// No evidence, no answer, no citations.
#[test]
fn cr_07_cooking_does_not_answer_mathematics() {
    let home = Home::holding(&[
        document(
            "红烧肉.md",
            "# 红烧肉\n\n五花肉切块，焯水后小火慢炖一小时。\n",
            Acl::public(),
        ),
        document(
            "米饭.md",
            "# 米饭\n\n淘米两遍，加水煮二十分钟。\n",
            Acl::public(),
        ),
    ]);
    let response = home
        .index
        .answer(&Principal::public(), "什么是质数", &home.threshold(0.5))
        .unwrap();
    assert!(matches!(
        response.outcome.refusal().map(|refusal| &refusal.reason),
        Some(Reason::BelowThreshold { .. })
    ));
    let json = response.to_json();
    assert!(
        !json.contains("\"statements\"") && !json.contains("\"quote\""),
        "{json}"
    );
}

/// The best of bad hits is bad: what is judged is the absolute similarity.
#[test]
fn cr_08_the_best_hit_may_still_be_refused() {
    let home = Home::holding(&[
        document(
            "a.md",
            "Bread needs flour, water, salt and time.",
            Acl::public(),
        ),
        document("b.md", "Rivers carry sand to the sea.", Acl::public()),
    ]);
    let reader = Principal::public();
    let question = "Which telescope saw the comet first?";
    let best = home.index.search_dense(&reader, question, 1).unwrap().hits[0].score;
    assert!(best < 0.5);
    let response = home
        .index
        .answer(&reader, question, &home.threshold(0.5))
        .unwrap();
    assert_eq!(
        response.outcome.refusal().unwrap().reason,
        Reason::BelowThreshold {
            best,
            threshold: 0.5
        }
    );
}

/// The floor holds for what both routes bring, not for one of them.
#[test]
fn cr_09_a_hit_by_words_alone_is_judged_by_the_same_similarity() {
    let mut documents: Vec<_> = (0..12)
        .map(|at| {
            document(
                &format!("near{at}.md"),
                &format!("When does the pump start {at}?"),
                Acl::public(),
            )
        })
        .collect();
    let filler =
        "Completely different matters fill this long page about weather and trains. ".repeat(4);
    documents.push(document(
        "far.md",
        &format!("{filler}PX-77 is here."),
        Acl::public(),
    ));
    let home = Home::with(cornu::RagOptions {
        depth: 6,
        ..crate::world::options()
    });
    home.index.ingest_all(&documents, |_| {}).unwrap();
    let reader = Principal::public();
    let question = "When does the pump PX-77 start?";
    let hits = home.index.search_hybrid(&reader, question, 6).unwrap().hits;
    let far = hits
        .iter()
        .find(|hit| hit.chunk.doc.as_str() == "far.md")
        .unwrap();
    assert!(far.dense.is_none() && far.sparse.is_some(), "{far:?}");
    // The only chunk with the identifier is below the floor: nothing that is above it names PX-77.
    let response = home
        .index
        .answer(&reader, question, &home.threshold(0.5))
        .unwrap();
    assert_eq!(
        response.outcome.refusal().unwrap().reason,
        Reason::AnotherEntity {
            missing: vec!["PX-77".to_owned()]
        }
    );
    assert!(response.trace.to_string().contains("below the threshold"));
}

/// Each passage is judged by itself.
#[test]
fn cr_10_a_good_passage_does_not_carry_a_bad_one() {
    let home = Home::holding(&[
        document(
            "good.md",
            "The gradient is cleared before each step.",
            Acl::public(),
        ),
        document(
            "bad1.md",
            "Penguins swim; the sea is cold before winter.",
            Acl::public(),
        ),
        document(
            "bad2.md",
            "Trains stop at each station in the valley.",
            Acl::public(),
        ),
    ]);
    let question = "When is the gradient cleared before each step?";
    let response = home
        .index
        .answer(&Principal::public(), question, &home.threshold(0.6))
        .unwrap();
    let answer = response.outcome.answer().unwrap();
    assert!(
        answer
            .statements
            .iter()
            .all(|one| one.citation.doc.as_str() == "good.md")
    );
    assert_eq!(
        response
            .trace
            .to_string()
            .matches("out: below the threshold")
            .count(),
        2
    );
}

/// A refusal reads the same whether or not hidden documents matched.
#[test]
fn cr_11_a_refusal_does_not_tell_what_is_hidden() {
    let open = document("open.md", "Rivers carry sand to the sea.", Acl::public());
    let hidden = document(
        "hidden.md",
        "The takeover of Delta is planned for May.",
        grants(["board"]),
    );
    let question = "When is the takeover planned?";
    let ask = |documents: &[cornu::Document]| {
        let home = Home::holding(documents);
        let response = home
            .index
            .answer(&Principal::public(), question, &home.threshold(0.4));
        let response = response.unwrap();
        (response.outcome.to_string(), response.to_json())
    };
    let with = ask(&[open.clone(), hidden.clone()]);
    assert_eq!(with, ask(&[open]));
    assert_eq!(with.0, "No answer: nothing relevant enough was found.");
    // Seeing nothing at all is worded alike.
    assert_eq!(ask(&[hidden]).0, with.0);
}

/// A route that fails fails the search: half a result is never shown as a whole one.
#[test]
fn vs_02_a_failing_route_is_not_swallowed() {
    let home = Home::holding(&[document("a.md", "words", Acl::public())]);
    let path = home.folder.path().join("index.db");
    let broken = cornu::LiveRagIndex::open(
        path,
        std::sync::Arc::new(NoQueries),
        crate::world::options(),
    );
    let error = broken
        .unwrap()
        .search_hybrid(&Principal::public(), "words", 3)
        .unwrap_err();
    assert!(error.to_string().contains("down"), "{error}");
}

/// What the sparse route hands to the fusion is larger for the better text, on three texts as on a
/// million: its best has the largest share.
#[test]
fn tk_14_the_fusion_gets_bm25_scores_of_which_larger_is_better() {
    let texts = ["alpha beta", "alpha alpha gamma", "delta"];
    let documents: Vec<_> = texts
        .iter()
        .zip(["1.md", "2.md", "3.md"])
        .map(|(text, name)| document(name, text, Acl::public()))
        .collect();
    let home = Home::holding(&documents);
    let reader = Principal::public();
    let found = home.index.search_sparse(&reader, "alpha", 10).unwrap();
    let names: Vec<_> = found
        .hits
        .iter()
        .map(|hit| hit.chunk.doc.as_str())
        .collect();
    assert_eq!(names, ["2.md", "1.md"]);
    assert!(found.hits[0].score > 1.1 * found.hits[1].score && found.hits[1].score > 0.05);

    let convex = cornu::LiveRagIndex::open(
        home.folder.path().join("index.db"),
        crate::world::provider(),
        cornu::RagOptions {
            fusion: cornu::Fusion::Convex {
                alpha: 0.5,
                normalisation: cornu::fuse::Normalisation::default(),
            },
            ..crate::world::options()
        },
    );
    for index in [&home.index, &convex.unwrap()] {
        let hits = index.search_hybrid(&reader, "alpha", 10).unwrap().hits;
        let share = |name: &str| {
            let hit = hits.iter().find(|hit| hit.chunk.doc.as_str() == name);
            hit.and_then(|hit| hit.sparse?.share)
        };
        assert!(share("2.md") > share("1.md"), "{hits:?}");
        assert_eq!(share("3.md"), None);
    }
}

/// No row below the threshold is evidence, whichever way the neighbours were found: no statement
/// carries the bound, the exact similarity is compared here.
#[test]
fn vs_22_nothing_below_the_threshold_is_evidence_by_any_route() {
    use cornu::store::Route;
    let documents: Vec<_> = (0..20_usize)
        .map(|at| {
            let near = "the pump starts at noon ".repeat(20 - at);
            let far = "rivers carry sand to the sea ".repeat(at);
            document(
                &format!("{at:02}.md"),
                &format!("{near}{far}."),
                Acl::public(),
            )
        })
        .collect();
    let question = "the pump starts at noon";
    let mut seen = Vec::new();
    for route in [Route::Sql, Route::Resident, Route::Facts] {
        let mut options = cornu::RagOptions {
            evidence: 20,
            sentences: 20,
            entity_check: false,
            ..crate::world::options()
        };
        options.store.route = route;
        let home = Home::with(options);
        home.index.ingest_all(&documents, |_| {}).unwrap();
        let reader = Principal::public();
        let hits = home.index.search_dense(&reader, question, 20).unwrap().hits;
        assert_eq!(hits.len(), 20);
        let median = f64::midpoint(hits[9].score, hits[10].score);
        assert!(hits[9].score > median && median > hits[10].score);

        let response = home
            .index
            .answer(&reader, question, &home.threshold(median))
            .unwrap();
        let trace = response.trace.to_string();
        assert_eq!(
            trace.matches("out: below the threshold").count(),
            10,
            "{trace}"
        );
        let above: Vec<_> = hits[..10].iter().map(|hit| hit.chunk.id).collect();
        let answer = response.outcome.answer().unwrap();
        let cited: Vec<_> = answer
            .statements
            .iter()
            .map(|one| one.citation.chunk)
            .collect();
        assert!(cited.iter().all(|chunk| above.contains(chunk)), "{trace}");
        // At the tenth's own similarity it is in; one bit above it is out.
        for (value, out) in [(hits[9].score, 10), (hits[9].score.next_up(), 11)] {
            let response = home.index.answer(&reader, question, &home.threshold(value));
            let trace = response.unwrap().trace.to_string();
            assert_eq!(
                trace.matches("out: below the threshold").count(),
                out,
                "{trace}"
            );
        }
        seen.push(response.to_json());
    }
    assert!(seen.iter().all(|json| *json == seen[0]));
}

/// However many forbidden vectors are nearer, the one that may be seen is found.
#[test]
fn vs_04_and_17_hidden_crowds_and_empty_views() {
    let mut documents: Vec<_> = (0..200)
        .map(|at| {
            document(
                &format!("{at:03}.md"),
                &format!("the exact question {at}"),
                grants(["ops"]),
            )
        })
        .collect();
    documents.push(document(
        "mine.md",
        "something else altogether",
        grants(["me"]),
    ));
    let home = Home::holding(&documents);
    let hits = home
        .index
        .search_hybrid(&holder(["me"]), "the exact question", 1)
        .unwrap()
        .hits;
    assert_eq!(hits[0].chunk.doc.as_str(), "mine.md");
    let nobody = Principal::default();
    assert!(
        home.index
            .search_hybrid(&nobody, "the exact question", 10)
            .unwrap()
            .hits
            .is_empty()
    );
    let response = home
        .index
        .answer(&nobody, "the exact question", &home.threshold(-1.0))
        .unwrap();
    assert!(
        matches!(&response.outcome, Outcome::Refused(refusal) if refusal.reason == Reason::NothingVisible)
    );
}

/// A number of hits that no engine below could take at once is no error.
#[test]
fn vs_01_and_07_any_k() {
    let home = Home::holding(&[document("a.md", "one. two.", Acl::public())]);
    for k in [0, 1, 4096, 4097, 1_000_000] {
        let hits = home
            .index
            .search_hybrid(&Principal::public(), "two", k)
            .unwrap()
            .hits;
        assert_eq!(hits.len(), k.min(1));
    }
}

/// Grants are compared whole, in one normal form.
#[test]
fn vs_18_names_of_groups() {
    let names = [
        "研发部",
        "cafe\u{301}",
        "研发\u{3000}部",
        "a,b",
        "-ops",
        "🔒组",
    ];
    let documents: Vec<_> = names
        .iter()
        .enumerate()
        .map(|(at, name)| document(&format!("{at}.md"), "shared words", grants([name])))
        .collect();
    let home = Home::holding(&documents);
    let seen = |name: &str| {
        let hits = home
            .index
            .search_sparse(&holder([name]), "shared", 10)
            .unwrap()
            .hits;
        hits.iter()
            .map(|hit| hit.chunk.doc.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(seen("caf\u{e9}"), ["1.md"]);
    assert_eq!(seen("a,b"), ["3.md"]);
    assert!(seen("a").is_empty() && seen("研发").is_empty());
}

/// A document that takes the place of a removed one does not match its words.
#[test]
fn vs_19_words_of_removed_documents_are_gone() {
    let home = Home::holding(&[document("one.md", "quokka 手册", Acl::public())]);
    let reader = Principal::public();
    assert_eq!(
        home.index
            .search_sparse(&reader, "quokka", 5)
            .unwrap()
            .hits
            .len(),
        1
    );
    home.index
        .remove(&cornu::DocId::new("one.md").unwrap())
        .unwrap();
    home.index
        .ingest(&document("one.md", "普通说明 text", Acl::public()))
        .unwrap();
    assert!(
        home.index
            .search_sparse(&reader, "quokka", 5)
            .unwrap()
            .hits
            .is_empty()
    );
    assert_eq!(
        home.index
            .search_sparse(&reader, "text", 5)
            .unwrap()
            .hits
            .len(),
        1
    );
}

/// The test provider, whose service for questions is down.
struct NoQueries;

impl cornu::EmbeddingProvider for NoQueries {
    fn dimension(&self) -> usize {
        64
    }
    fn fingerprint(&self) -> &cornu::Fingerprint {
        use std::sync::OnceLock;
        static FINGERPRINT: OnceLock<cornu::Fingerprint> = OnceLock::new();
        FINGERPRINT.get_or_init(|| crate::world::provider().fingerprint().clone())
    }
    fn embed_counted(
        &self,
        texts: &[&str],
    ) -> Result<cornu::core::Embeddings, cornu::core::ProviderError> {
        crate::world::provider().embed_counted(texts)
    }
    fn embed_query(&self, _: &str) -> Result<ndarray::Array1<f32>, cornu::core::ProviderError> {
        Err(cornu::core::ProviderError::Protocol {
            provider: "the test".to_owned(),
            reason: "the service is down".to_owned(),
            remedy: "wait".to_owned(),
        })
    }
}
