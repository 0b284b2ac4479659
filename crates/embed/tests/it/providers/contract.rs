//! What holds for every provider, behind the trait.

use cornu_core::testing::conformance::{EmbedderOptions, check_embedder};
use cornu_core::{EmbeddingProvider, normalise_rows};
use cornu_embed::{
    GeminiEmbeddingProvider, GeminiOptions, HashEmbeddingProvider, OpenAiEmbeddingProvider,
};
use cornu_remote::testing::Server;
use ndarray::{Array1, Array2, arr1, arr2};

use super::{embedding_server, gemini, openai, options};

/// Each provider with its dimension.
fn all(server: &Server) -> Vec<(Box<dyn EmbeddingProvider>, usize)> {
    vec![
        (Box::new(HashEmbeddingProvider::default()), 512),
        (Box::new(openai(server, options())), 64),
        (Box::new(gemini(server, 3072)), 3072),
        (Box::new(gemini(server, 256)), 256),
    ]
}

fn norm(vector: impl IntoIterator<Item = f32>) -> f64 {
    let squares = vector.into_iter().map(|x| f64::from(x) * f64::from(x));
    squares.sum::<f64>().sqrt()
}

#[test]
fn every_provider_passes_the_conformance_suite() {
    let server = embedding_server();
    for (provider, _) in all(&server) {
        let report = check_embedder(provider.as_ref(), &EmbedderOptions::default())
            .unwrap_or_else(|violation| panic!("{}: {violation}", provider.fingerprint()));
        assert!(report.rules().all(|(_, count)| count > 0));
    }
}

#[test]
fn provider_interface_signature_is_identical_across_providers() {
    let server = embedding_server();
    // The one signature, written out: what does not have it does not compile.
    let embed: fn(&dyn EmbeddingProvider, &[&str]) -> Array2<f32> =
        |provider, texts| provider.embed(texts).unwrap();
    let embed_query: fn(&dyn EmbeddingProvider, &str) -> Array1<f32> =
        |provider, text| provider.embed_query(text).unwrap();
    for (provider, dimension) in all(&server) {
        let provider = provider.as_ref();
        assert_eq!(provider.dimension(), dimension);
        assert_eq!(
            embed(provider, &["清空梯度", "zero_grad"]).dim(),
            (2, dimension)
        );
        assert_eq!(embed_query(provider, "清空梯度").dim(), dimension);
    }
}

#[test]
fn shape_contract_provider_embed_is_n_by_d_and_normalised() {
    let server = embedding_server();
    let texts = [
        "大模型的训练目标是什么",
        "LLM",
        "",
        "  ",
        "🙂",
        "|a|b|\n|-|-|",
        "大模型的训练目标是什么",
    ];
    for (provider, dimension) in all(&server) {
        for count in 0..=texts.len() {
            let embeddings = provider.embed_counted(&texts[..count]).unwrap();
            assert_eq!(embeddings.vectors.dim(), (count, dimension));
            assert_eq!(embeddings.tokens.len(), count);
            for row in embeddings.vectors.rows() {
                assert!((norm(row.iter().copied()) - 1.0).abs() < 1e-5);
            }
        }
        let rows = provider.embed(&texts).unwrap();
        assert_eq!(rows.row(0), rows.row(6), "{}", provider.fingerprint());
        for (text, row) in texts.iter().zip(rows.rows()) {
            assert_eq!(
                provider.embed(&[text]).unwrap().row(0),
                row,
                "{text:?} alone"
            );
        }
        assert!((norm(provider.embed_query("大模型").unwrap()) - 1.0).abs() < 1e-5);
    }
}

/// EM-03: an asymmetric model gets its query prefix from `embed_query` and its document prefix from
/// `embed`; the provider does not merely pass texts on.
#[test]
fn em_03_query_and_document_vectors_differ_where_the_model_has_prefixes() {
    let server = embedding_server();
    let providers: [Box<dyn EmbeddingProvider>; 2] = [
        Box::new(openai(&server, options())),
        Box::new(gemini(&server, 128)),
    ];
    for provider in providers {
        let query = provider.embed_query("如何清空梯度").unwrap();
        let document = provider.embed(&["如何清空梯度"]).unwrap();
        assert_ne!(query, document.row(0), "{}", provider.fingerprint());
    }
    let prefixes = openai(&server, options());
    assert_eq!(prefixes.fingerprint().get("query_prefix"), Some("query: "));
    assert_eq!(
        prefixes.fingerprint().get("document_prefix"),
        Some("passage: ")
    );
}

/// EM-04: whatever holds a provider behind the trait gets the right prefix on every path.
#[test]
fn em_04_each_path_sends_its_own_prefix() {
    let server = embedding_server();
    let provider: Box<dyn EmbeddingProvider> = Box::new(openai(&server, options()));
    provider.embed(&["a"]).unwrap();
    provider.embed_counted(&["a"]).unwrap();
    provider.embed_query("a").unwrap();
    assert_eq!(
        super::sent_texts(&server),
        [["passage: a"], ["passage: a"], ["query: a"]]
    );
}

/// EM-11: another model, prefix, dimension or server is another fingerprint; a key is none.
#[test]
fn em_11_fingerprints_differ_with_whatever_changes_vectors() {
    use cornu_embed::OpenAiOptions;
    use cornu_remote::Endpoint;
    let make = |url: &str, model: &str, key: &str, options: OpenAiOptions| {
        let endpoint = Endpoint::new(url).unwrap().with_key(key).unwrap();
        let provider = OpenAiEmbeddingProvider::new(endpoint, model, options).unwrap();
        provider.fingerprint().clone()
    };
    let base = make("http://localhost:1", "a", "key-one", options());
    assert_eq!(base, make("http://localhost:1", "a", "key-two", options()));
    assert_eq!(
        base,
        make(
            "http://localhost:1/",
            "a",
            "key-one",
            OpenAiOptions {
                batch_size: 1,
                ..options()
            }
        )
    );
    let identity = |url| {
        make(
            url,
            "a",
            "key-one",
            OpenAiOptions {
                identity: Some("r1".into()),
                ..options()
            },
        )
    };
    assert_eq!(
        identity("http://localhost:1"),
        identity("http://localhost:2")
    );
    let mut seen = vec![
        base,
        identity("http://localhost:1"),
        make("http://localhost:1", "b", "key-one", options()),
        make("http://localhost:2", "a", "key-one", options()),
        make(
            "http://localhost:1",
            "a",
            "key-one",
            OpenAiOptions {
                query_prefix: "q".into(),
                ..options()
            },
        ),
        make(
            "http://localhost:1",
            "a",
            "key-one",
            OpenAiOptions {
                document_prefix: "d".into(),
                ..options()
            },
        ),
        make(
            "http://localhost:1",
            "a",
            "key-one",
            OpenAiOptions {
                dimension: Some(65),
                ..options()
            },
        ),
        make(
            "http://localhost:1",
            "a",
            "key-one",
            OpenAiOptions {
                shorten: true,
                ..options()
            },
        ),
        HashEmbeddingProvider::default().fingerprint().clone(),
        HashEmbeddingProvider::new(64)
            .unwrap()
            .fingerprint()
            .clone(),
    ];
    for (model, dimension) in [
        ("gemini-embedding-001", 3072),
        ("gemini-embedding-001", 768),
        ("other", 768),
    ] {
        let options = GeminiOptions {
            model: model.into(),
            dimension,
            ..GeminiOptions::default()
        };
        seen.push(
            GeminiEmbeddingProvider::new("some-key", options)
                .unwrap()
                .fingerprint()
                .clone(),
        );
    }
    let count = seen.len();
    assert!(
        seen.iter()
            .all(|one| !format!("{one:?}").contains("key-one"))
    );
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), count);
}

/// EM-12: the average of unit vectors is shorter than 1, and has to be normalised again before it
/// is compared.
#[test]
fn em_12_the_average_of_windows_wins_only_when_normalised() {
    let windows = arr2(&[[1.0_f32, 0.0], [0.0, 1.0]]);
    let half = 0.5_f32.sqrt(); // 0.7071
    let (query, other) = (arr1(&[half, half]), arr1(&[0.8_f32, 0.6]));
    let mut stored = windows
        .mean_axis(ndarray::Axis(0))
        .unwrap()
        .insert_axis(ndarray::Axis(0));
    assert!(
        stored.row(0).dot(&query) < other.dot(&query),
        "the fault: {stored}"
    );
    normalise_rows(&mut stored).unwrap();
    assert!((stored[[0, 0]] - half).abs() < 1e-6 && (stored[[0, 1]] - half).abs() < 1e-6);
    assert!((stored.row(0).dot(&query) - 1.0).abs() < 1e-4);
    assert!(stored.row(0).dot(&query) > other.dot(&query));
}

/// The chapter's fault: vectors that are written as they come. Here the server's are three times
/// too long, which would break sim = 1 − d²/2; ours are not.
#[test]
fn fault_vectors_that_are_not_normalised_leave_the_range_of_similarity() {
    let server = embedding_server();
    let provider = openai(&server, options());
    let (a, b) = (
        provider.embed_query("梯度").unwrap(),
        provider.embed_query("梯度 下降").unwrap(),
    );
    let similarity = |a: &Array1<f32>, b: &Array1<f32>| 1.0 - (a - b).mapv(|x| x * x).sum() / 2.0;
    assert!((similarity(&a, &b) - a.dot(&b)).abs() < 1e-5);
    let (raw_a, raw_b) = (&a * 3.0, &b * 3.0);
    assert!(
        (similarity(&raw_a, &raw_b) - a.dot(&b)).abs() > 0.5,
        "the fault does not show"
    );
    assert!(
        (provider.server_norm_error() - 2.0).abs() < 1e-5,
        "{}",
        provider.server_norm_error()
    );
}
