//! The route that chooses between the hybrid search and the walk.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cornu::core::{PairScorer, ProviderError};
use cornu::extract::RuleExtractor;
use cornu::hop::HopGate;
use cornu::rerank::{CrossEncoder, Scale, Scorer};
use cornu::{
    Acl, AnswerRoute, AskOptions, Document, Fingerprint, Found, HashEmbeddingProvider, Principal,
    RagError, RagOptions,
};

use crate::world::{Home, document, grants, holder, options};

/// Its middle names nothing that the question names.
const RELATED: &str = "How is Alpha Capital connected with the owner of Gamma Systems?";
/// One document holds its words.
const PLAIN: &str = "which warehouse opened in the north?";

fn documents() -> Vec<Document> {
    let chain = [
        "Alpha Capital owns Star Holdings.",
        "Star Holdings is the sole parent of Horizon Trust.",
        "Horizon Trust bought Gamma Systems.",
        "A warehouse opened in the north.",
    ];
    let others = (0..20).map(|at| format!("Vega{at} Capital met Lyra{at} Systems."));
    let texts = chain.iter().map(|text| (*text).to_owned()).chain(others);
    let named = texts
        .enumerate()
        .map(|(at, text)| (format!("d{at:02}.md"), text));
    named
        .map(|(name, text)| document(&name, &text, Acl::public()))
        .collect()
}

fn home(documents: &[Document], options: RagOptions) -> Home {
    let home = Home::of(Arc::new(HashEmbeddingProvider::default()), options);
    let report = home.index.ingest_all(documents, |_| {}).unwrap();
    assert!(report.failed.is_empty(), "{report:?}");
    home
}

fn reading() -> RagOptions {
    RagOptions {
        extractor: Some(Arc::new(RuleExtractor::new())),
        ..options()
    }
}

fn taken(found: &Found) -> &'static str {
    let trace = found.trace.to_string();
    let line = trace.lines().find(|line| line.contains("asked = \"auto\""));
    match line.unwrap_or_else(|| panic!("{trace}")) {
        line if line.contains("taken = \"hop\"") => "hop",
        line if line.contains("taken = \"hybrid\"") => "hybrid",
        line => panic!("{line}"),
    }
}

#[test]
fn a_question_gets_the_route_that_it_needs_and_hit_for_hit_what_that_route_gives() {
    let home = home(&documents(), reading());
    let (index, reader) = (&home.index, Principal::public());
    let related = index.search_auto(&reader, RELATED, 3).unwrap();
    assert_eq!(taken(&related), "hop", "{}", related.trace);
    assert_eq!(
        related.hits,
        index.search_hop(&reader, RELATED, 3).unwrap().hits
    );
    let trace = related.trace.to_string();
    assert!(
        trace.contains("reasons") && trace.contains("paths"),
        "{trace}"
    );
    let plain = index.search_auto(&reader, PLAIN, 3).unwrap();
    assert_eq!(taken(&plain), "hybrid", "{}", plain.trace);
    assert_eq!(
        plain.hits,
        index.search_hybrid(&reader, PLAIN, 3).unwrap().hits
    );

    // The decision is in the JSON as well, with what it was made of.
    let json = serde_json::to_value(&related).unwrap();
    let steps = json["trace"].as_array().unwrap();
    let step = steps
        .iter()
        .find(|step| step.to_string().contains("\"taken\""));
    let step = step.unwrap().to_string();
    for sign in ["few", "leading", "others", "reasons"] {
        assert!(step.contains(&format!("\"{sign}\"")), "{sign}: {step}");
    }

    // How many hits are asked for decides nothing.
    for k in [1, 7, 200] {
        assert_eq!(
            taken(&index.search_auto(&reader, RELATED, k).unwrap()),
            "hop"
        );
        assert_eq!(
            taken(&index.search_auto(&reader, PLAIN, k).unwrap()),
            "hybrid"
        );
    }

    let explained = index.explain_auto(&reader, PLAIN, 3).unwrap().to_string();
    assert!(
        explained.contains("taken = \"hybrid\"") && explained.contains("words"),
        "{explained}"
    );
    let explained = index.explain_auto(&reader, RELATED, 3).unwrap().to_string();
    assert!(
        explained.contains("taken = \"hop\"") && explained.contains("paths"),
        "{explained}"
    );
    let explained = index.explain_dense(&reader, PLAIN, 3).unwrap().to_string();
    assert!(explained.contains("dense: k = 3"), "{explained}");
}

#[test]
fn an_answer_by_auto_is_that_of_the_route_it_takes() {
    let home = home(&documents(), reading());
    let (reader, low) = (Principal::public(), home.threshold(-1.0));
    let ask = |route, question| {
        let options = AskOptions {
            route,
            ..AskOptions::default()
        };
        home.index.ask(&reader, question, &low, &options).unwrap()
    };
    for (question, route) in [(RELATED, AnswerRoute::Hop), (PLAIN, AnswerRoute::Hybrid)] {
        let (auto, plain) = (ask(AnswerRoute::Auto, question), ask(route, question));
        assert_eq!(auto.response.outcome, plain.response.outcome);
        assert!(auto.response.trace.to_string().contains("asked = \"auto\""));
        assert!(
            !plain
                .response
                .trace
                .to_string()
                .contains("asked = \"auto\"")
        );
    }
    // The dense route takes its evidence from the nearest chunks.
    let dense = ask(AnswerRoute::Dense, PLAIN).response.trace.to_string();
    let nearest = home.index.search_dense(&reader, PLAIN, 6).unwrap();
    for hit in &nearest.hits {
        assert!(dense.contains(&hit.chunk.id.to_string()), "{dense}");
    }
}

/// What a walk or the dense search gives is not reranked, so no model is asked for it.
#[test]
fn a_reranker_looks_at_what_the_hybrid_search_gives_and_at_nothing_else() {
    struct Counting(Fingerprint, AtomicUsize);
    impl PairScorer for Counting {
        fn fingerprint(&self) -> &Fingerprint {
            &self.0
        }
        fn score(&self, _: &str, documents: &[&str]) -> Result<Vec<f32>, ProviderError> {
            self.1.fetch_add(1, Ordering::Relaxed);
            Ok(documents.iter().map(|text| text.len() as f32).collect())
        }
    }
    let scorer = Arc::new(Counting(Fingerprint::new("counting"), AtomicUsize::new(0)));
    let reranker = CrossEncoder::new(Scorer::new(Arc::clone(&scorer) as _, Scale::Logit));
    let options = RagOptions {
        reranker: Some(Arc::new(reranker)),
        ..reading()
    };
    let home = home(&documents(), options);
    let (reader, low) = (Principal::public(), home.threshold(-1.0));
    let ask = |question, route| {
        let options = AskOptions {
            route,
            ..AskOptions::default()
        };
        home.index.ask(&reader, question, &low, &options).unwrap();
        scorer.1.swap(0, Ordering::Relaxed)
    };
    assert_eq!(ask(RELATED, AnswerRoute::Auto), 0);
    assert_eq!(ask(RELATED, AnswerRoute::Hop), 0);
    assert_eq!(ask(PLAIN, AnswerRoute::Dense), 0);
    assert_eq!(ask(PLAIN, AnswerRoute::Auto), 1);
    assert_eq!(ask(PLAIN, AnswerRoute::Hybrid), 1);
    for (question, times) in [(RELATED, 0), (PLAIN, 1)] {
        let found = home.index.search_auto(&reader, question, 3).unwrap();
        assert_eq!(found.hits.len(), 3);
        assert_eq!(scorer.1.swap(0, Ordering::Relaxed), times);
        home.index.explain_auto(&reader, question, 3).unwrap();
        assert_eq!(scorer.1.swap(0, Ordering::Relaxed), times);
    }
}

#[test]
fn where_any_number_is_few_a_name_is_walked_from_and_where_none_is_none() {
    let reader = Principal::public();
    let named = "Gamma Systems?";
    for (few, route) in [(usize::MAX, "hop"), (0, "hybrid")] {
        let options = RagOptions {
            gate: HopGate { few },
            ..reading()
        };
        let home = home(&documents(), options);
        let found = home.index.search_auto(&reader, named, 3).unwrap();
        assert_eq!(taken(&found), route, "{}", found.trace);
    }
    let home = home(&documents(), reading());
    let nameless = home.index.search_auto(&reader, PLAIN, 3).unwrap();
    assert_eq!(taken(&nameless), "hybrid");
    assert!(
        nameless.trace.to_string().contains("taken for a name"),
        "{}",
        nameless.trace
    );
}

/// For those who see them, the names of the question are what everything is about.
#[test]
fn hidden_documents_decide_nothing() {
    let mut all = documents();
    let open = all.len();
    for at in 0..6 {
        let told = format!("Report {at}: Alpha Capital paid the owner of Gamma Systems.");
        all.push(document(&format!("z{at}.md"), &told, grants(["audit"])));
    }
    let whole = home(&all, reading());
    all.truncate(open);
    let without = home(&all, reading());
    let ask =
        |home: &Home, principal: &Principal| home.index.search_auto(principal, RELATED, 5).unwrap();
    let reader = Principal::public();
    let auditor = holder(["audit", "public"]);
    assert_eq!(taken(&ask(&whole, &auditor)), "hybrid");
    assert_eq!(taken(&ask(&whole, &reader)), "hop");
    assert_eq!(
        ask(&whole, &reader).to_json(),
        ask(&without, &reader).to_json()
    );
    assert_eq!(ask(&without, &auditor).hits, ask(&without, &reader).hits);
}

#[test]
fn without_an_extractor_auto_is_refused_whatever_the_question_needs() {
    let home = home(&documents(), options());
    let (reader, low) = (Principal::public(), home.threshold(-1.0));
    let options = AskOptions {
        route: AnswerRoute::Auto,
        ..AskOptions::default()
    };
    for question in [RELATED, PLAIN] {
        let errors = [
            home.index.search_auto(&reader, question, 3).unwrap_err(),
            home.index.explain_auto(&reader, question, 3).unwrap_err(),
            home.index
                .ask(&reader, question, &low, &options)
                .unwrap_err(),
        ];
        for error in errors {
            assert!(matches!(error, RagError::Options { .. }), "{error}");
        }
    }
}
