//! The chapter's contract for providers, and its fault injection that belongs here.

use cornu_core::testing::conformance::{EmbedderOptions, Rule, check_embedder};
use cornu_core::{EmbeddingProvider, Embeddings, Fingerprint, ProviderError};
use cornu_embed::HashEmbeddingProvider;
use cornu_embed::bert::BertEmbeddingProvider;
use ndarray::{Array1, Array2};

use super::opened::{e5, minilm, tiny};

fn all() -> Vec<(&'static BertEmbeddingProvider, usize)> {
    let published = [minilm(), e5()].into_iter().flatten();
    std::iter::once((tiny(), 32))
        .chain(published.map(|provider| (provider, 384)))
        .collect()
}

fn norm(vector: impl IntoIterator<Item = f32>) -> f64 {
    let squares = vector.into_iter().map(|x| f64::from(x) * f64::from(x));
    squares.sum::<f64>().sqrt()
}

#[test]
fn the_conformance_suite_passes() {
    for (provider, _) in all() {
        let options = EmbedderOptions {
            cases: 16,
            ..EmbedderOptions::default()
        };
        let report = check_embedder(provider, &options)
            .unwrap_or_else(|violation| panic!("{}: {violation}", provider.fingerprint()));
        assert!(report.rules().all(|(_, count)| count > 0));
    }
}

#[test]
fn provider_interface_signature_is_identical_across_providers() {
    let embed: fn(&dyn EmbeddingProvider, &[&str]) -> Array2<f32> =
        |provider, texts| provider.embed(texts).unwrap();
    let embed_query: fn(&dyn EmbeddingProvider, &str) -> Array1<f32> =
        |provider, text| provider.embed_query(text).unwrap();
    let hash = HashEmbeddingProvider::default();
    let mut providers: Vec<(&dyn EmbeddingProvider, usize)> = vec![(&hash, 512)];
    providers.extend(
        all()
            .into_iter()
            .map(|(bert, size)| (bert as &dyn EmbeddingProvider, size)),
    );
    for (provider, dimension) in providers {
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
    let texts = [
        "大模型的训练目标是什么",
        "LLM",
        "",
        "  ",
        "🙂",
        "|a|b|\n|-|-|",
        "LLM",
    ];
    for (provider, dimension) in all() {
        for count in 0..=texts.len() {
            let embeddings = provider.embed_counted(&texts[..count]).unwrap();
            assert_eq!(embeddings.vectors.dim(), (count, dimension));
            assert_eq!(embeddings.tokens.len(), count);
            for row in embeddings.vectors.rows() {
                assert!((norm(row.iter().copied()) - 1.0).abs() < 1e-5);
            }
        }
        let rows = provider.embed(&texts).unwrap();
        assert_eq!(rows.row(1), rows.row(6));
        assert!((norm(provider.embed_query("大模型").unwrap()) - 1.0).abs() < 1e-5);
    }
}

/// The fault "no normalisation in `embed`": vectors as long as a model leaves them.
struct NotNormalised(&'static BertEmbeddingProvider);

impl EmbeddingProvider for NotNormalised {
    fn dimension(&self) -> usize {
        self.0.dimension()
    }

    fn fingerprint(&self) -> &Fingerprint {
        self.0.fingerprint()
    }

    fn embed_counted(&self, texts: &[&str]) -> Result<Embeddings, ProviderError> {
        let mut embeddings = self.0.embed_counted(texts)?;
        // A hidden state has a norm of about √width.
        embeddings.vectors *= (self.dimension() as f32).sqrt();
        Ok(embeddings)
    }

    fn embed_query(&self, text: &str) -> Result<Array1<f32>, ProviderError> {
        Ok(self.0.embed_query(text)? * (self.dimension() as f32).sqrt())
    }
}

/// sim = 1 − d²/2 is the cosine only between unit vectors.
#[test]
fn fault_injection_without_normalisation_similarity_leaves_its_range() {
    let in_range = |provider: &dyn EmbeddingProvider| {
        let query = provider.embed_query("大模型").unwrap();
        let documents = provider
            .embed(&["what is the gradient", "", "短句", "z"])
            .unwrap();
        documents.rows().into_iter().all(|document| {
            let difference = &query - &document;
            let similarity = 1.0 - f64::from(difference.dot(&difference)) / 2.0;
            (-1.0..=1.0).contains(&similarity)
        })
    };
    let broken = NotNormalised(tiny());
    assert!(in_range(tiny()) && !in_range(&broken));
    let violation = check_embedder(&broken, &EmbedderOptions::default()).unwrap_err();
    assert_eq!(violation.rule, Rule::UnitNorm);
}
