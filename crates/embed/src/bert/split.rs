//! Scoring with a split cross-encoder: an adapter of the kind `pair` on an embedding model.

use cornu_core::{ProviderError, Side};
use tch::Tensor;

use super::adapter::{Adapter, AdapterKind};
use super::config::BertConfig;
use super::encoder::joint::HeadParts;
use super::encoder::{ForwardError, JointParts, Shared, rows_of, torch};
use super::error::ModelError;
use super::lower::{LowerStates, Rows};
use super::runtime::Runtime;
use super::sentence::SentenceConfig;
use super::tokenizer::{Tokens, Truncation};

/// Width of the head's inner layer.
pub(crate) const INNER: usize = 64;

/// What an adapter adds to the lower layers of its base, whose upper layers hold its changes.
pub(crate) struct SplitHead {
    split: usize,
    document_tokens: usize,
    query_prefix: String,
    document_prefix: String,
    sides: Shared,
    gates: Vec<Shared>,
    mix: Shared,
    inner: Shared,
    inner_bias: Shared,
    outer: Shared,
    lower: LowerStates,
}

impl SplitHead {
    pub(crate) fn load(
        adapter: &Adapter,
        config: &BertConfig,
        said: &SentenceConfig,
    ) -> Result<Self, ModelError> {
        adapter.check_kind(AdapterKind::Pair)?;
        let manifest = adapter.manifest();
        if manifest.split >= config.layers {
            return Err(ModelError::malformed(
                "adapter.json",
                format!("split is {} of {} layers", manifest.split, config.layers),
            ));
        }
        let shared = |name: &str, shape: &[usize]| {
            let values = adapter.tensor(name, shape)?;
            let shape: Vec<i64> = shape.iter().map(|&size| size as i64).collect();
            Shared::new(values, &shape).map_err(|error| torch(&error))
        };
        let hidden = config.hidden;
        let gates = (manifest.split..config.layers)
            .map(|layer| shared(&format!("gates.{layer}"), &[config.heads, 2]))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            split: manifest.split,
            document_tokens: manifest.document_tokens.min(config.max_tokens()),
            query_prefix: said.query_prefix.clone().unwrap_or_default(),
            document_prefix: said.document_prefix.clone().unwrap_or_default(),
            sides: shared("sides", &[2, hidden])?,
            gates,
            mix: shared("head.mix", &[2])?,
            inner: shared("head.inner", &[3 * hidden, INNER])?,
            inner_bias: shared("head.inner_bias", &[INNER])?,
            outer: shared("head.outer", &[INNER, 1])?,
            lower: LowerStates::default(),
        })
    }

    /// Keeps the lower states of passages, up to so many bytes.
    pub(crate) fn keep(&mut self, bytes: usize) {
        self.lower = LowerStates::up_to(bytes);
    }

    /// One score for each document. The query's lower states are computed once.
    pub(crate) fn score(
        &self,
        runtime: &Runtime,
        query: &str,
        documents: &[&str],
    ) -> Result<Vec<f32>, ProviderError> {
        if documents.is_empty() {
            return Ok(Vec::new());
        }
        let longest = runtime.encoder.config().max_tokens();
        let query = read(runtime, &[query], &self.query_prefix, longest, Side::Query)?;
        let query_rows = self.lower(runtime, &query)?.concat();
        let document_rows = self.document_rows(runtime, documents)?;
        let width = runtime.encoder.config().hidden;
        let queried = query_rows.len() / width;
        let lengths: Vec<usize> = document_rows
            .iter()
            .map(|rows| rows.len() / width + queried)
            .collect();
        runtime.over_packs(&lengths, |pack| {
            let _guard = tch::no_grad_guard();
            let mut rows = Vec::new();
            let mut pairs = Vec::with_capacity(pack.len());
            for &at in pack {
                let own = document_rows.get(at).ok_or(ForwardError::Tokens)?;
                rows.extend_from_slice(&query_rows);
                rows.extend_from_slice(own);
                pairs.push((queried, own.len() / width));
            }
            let states = Tensor::f_from_slice(&rows)?.f_view([-1, width as i64])?;
            let scores = runtime
                .encoder
                .scores(self.split, &states, &pairs, &self.parts())?;
            scores
                .iter()
                .map(|score| {
                    let values = rows_of(score)?;
                    values.first().copied().ok_or(ForwardError::Tokens)
                })
                .collect()
        })
    }

    /// The lower states of documents: those that are kept, and the others computed.
    fn document_rows(
        &self,
        runtime: &Runtime,
        documents: &[&str],
    ) -> Result<Vec<Rows>, ProviderError> {
        let mut found = self.lower.find(documents);
        let missing: Vec<usize> = (0..found.len())
            .filter(|&at| matches!(found.get(at), Some(None)))
            .collect();
        let texts: Vec<&str> = missing
            .iter()
            .filter_map(|&at| documents.get(at).copied())
            .collect();
        let tokens = read(
            runtime,
            &texts,
            &self.document_prefix,
            self.document_tokens,
            Side::Document,
        )?;
        let computed = self.lower(runtime, &tokens)?;
        for ((at, text), rows) in missing.into_iter().zip(texts).zip(computed) {
            self.lower.keep(text, &rows);
            if let Some(place) = found.get_mut(at) {
                *place = Some(rows);
            }
        }
        let lost = || runtime.failed(ForwardError::Tokens);
        found.into_iter().collect::<Option<_>>().ok_or_else(lost)
    }

    fn lower(&self, runtime: &Runtime, texts: &[Tokens]) -> Result<Vec<Rows>, ProviderError> {
        runtime.encode_through(texts, self.split, |_, rows: &[f32]| rows.into())
    }

    fn parts(&self) -> JointParts<'_> {
        JointParts {
            sides: self.sides.get(),
            gates: self.gates.iter().map(Shared::get).collect(),
            // Merged into the encoder's weights.
            changes: self.gates.iter().map(|_| None).collect(),
            head: HeadParts {
                mix: self.mix.get(),
                inner: self.inner.get(),
                inner_bias: self.inner_bias.get(),
                outer: self.outer.get(),
            },
        }
    }

    pub(crate) fn document_tokens(&self) -> usize {
        self.document_tokens
    }
}

/// Tokens of one side: a query that is too long is an error, a document loses its end.
pub(crate) fn read<T: AsRef<str> + Sync>(
    runtime: &Runtime,
    texts: &[T],
    prefix: &str,
    limit: usize,
    side: Side,
) -> Result<Vec<Tokens>, ProviderError> {
    let truncation = match side {
        Side::Query => Truncation::Error,
        Side::Document => Truncation::Right,
    };
    runtime.tokenize(texts, |at, text| {
        runtime
            .tokenizer
            .encode(text.as_ref(), prefix, limit, truncation)
            .map_err(|error| error.at(at, &runtime.name))
    })
}
