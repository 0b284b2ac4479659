//! The second look that `--rerank` asks for.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use cornu::rerank::{
    Blend, CascadeOptions, CrossEncoder, ElbowCascade, MaxSim, Reranker, Scale, Scorer, Staged,
    TokenSpace,
};

use crate::args::{EmbedderArgs, Rerank, RerankArgs};

/// The cross-encoder that the embedding crate carries: a small one, on the packaged e5 model.
const CARRIED: &str = "e5-zh-en-pair";

impl RerankArgs {
    /// Whether none is asked for.
    pub(crate) fn is_none(&self) -> bool {
        self.rerank == Rerank::None
    }

    /// The reranker, if one is asked for.
    pub(crate) fn reranker(&self, embedder: &EmbedderArgs) -> Result<Option<Arc<dyn Reranker>>> {
        let model = self.rerank_model.as_deref();
        let given = self.rerank_weight.map(Blend::new).transpose()?;
        // Equal weights are measured for what is carried; of another model nothing is known.
        let blend = given.or_else(|| model.is_none().then(Blend::default));
        let scorer = || {
            let model = model.unwrap_or(CARRIED);
            // What the heads of BERT cross-encoders give.
            Ok::<_, anyhow::Error>(Scorer::new(models::pair_scorer(model)?, Scale::Logit))
        };
        let cascade = |scorer| {
            let options = CascadeOptions {
                blend,
                ..CascadeOptions::default()
            };
            ElbowCascade::new(scorer, options)
        };
        let max_sim = |model: &str| {
            let space = token_space(model)?;
            Ok::<_, anyhow::Error>(MaxSim::new(space).with_blend(given.unwrap_or_default()))
        };
        if matches!(self.rerank, Rerank::Cross | Rerank::Cascade) {
            ensure!(
                self.rerank_tokens.is_none(),
                "--rerank-tokens is for `--rerank maxsim` and `staged`"
            );
        }
        let tokens = self.rerank_tokens.as_deref();
        Ok(Some(match self.rerank {
            Rerank::None => {
                ensure!(
                    model.is_none() && self.rerank_weight.is_none() && self.rerank_tokens.is_none(),
                    "--rerank-model, --rerank-tokens and --rerank-weight are for `--rerank \
                     cross`, `cascade`, `maxsim` or `staged`"
                );
                return Ok(None);
            }
            Rerank::Cross => {
                let cross = CrossEncoder::new(scorer()?);
                match blend {
                    Some(blend) => Arc::new(cross.with_blend(blend)),
                    None => Arc::new(cross),
                }
            }
            Rerank::Cascade => Arc::new(cascade(scorer()?)?),
            Rerank::Maxsim => {
                ensure!(
                    model.is_none() || tokens.is_none(),
                    "`--rerank maxsim` has one model: name it with --rerank-tokens or with \
                     --rerank-model"
                );
                let model = model.or(tokens).or(embedder.local_model()).context(
                    "`--rerank maxsim` needs an embedding model; name it with --rerank-tokens, or \
                     use a `bert` embedder",
                )?;
                Arc::new(max_sim(model)?)
            }
            Rerank::Staged => {
                let model = tokens.or(embedder.local_model()).context(
                    "`--rerank staged` needs an embedding model for its first part; name it with \
                     --rerank-tokens, or use a `bert` embedder",
                )?;
                let second = cascade(scorer()?)?;
                Arc::new(Staged::new(Arc::new(max_sim(model)?), Arc::new(second)))
            }
        }))
    }
}

/// The token vectors of a model, as `index --tokens` stores and `--rerank maxsim` reads them.
pub(crate) fn token_space(model: &str) -> Result<TokenSpace> {
    Ok(TokenSpace::new(models::token_embedder(model)?))
}

#[cfg(feature = "torch")]
mod models {
    use std::sync::Arc;

    use anyhow::Result;
    use cornu::core::{PairScorer, TokenEmbedder};
    use cornu::embed::bert::{BertOptions, BertPairScorer, BertTokenEmbedder, Truncation};

    pub(super) fn pair_scorer(model: &str) -> Result<Arc<dyn PairScorer>> {
        Ok(Arc::new(BertPairScorer::open(
            model,
            &BertOptions::default(),
        )?))
    }

    pub(super) fn token_embedder(model: &str) -> Result<Arc<dyn TokenEmbedder>> {
        // As for the chunks' own vectors: of a long one the model sees the beginning.
        let options = BertOptions {
            truncation: Truncation::Right,
            ..BertOptions::default()
        };
        Ok(Arc::new(BertTokenEmbedder::open(model, &options)?))
    }
}

#[cfg(not(feature = "torch"))]
mod models {
    use std::sync::Arc;

    use anyhow::{Result, bail};
    use cornu::core::{PairScorer, TokenEmbedder};

    pub(super) fn pair_scorer(model: &str) -> Result<Arc<dyn PairScorer>> {
        missing(model)
    }

    pub(super) fn token_embedder(model: &str) -> Result<Arc<dyn TokenEmbedder>> {
        missing(model)
    }

    fn missing<T>(model: &str) -> Result<T> {
        bail!(
            "the model {model} needs a build with the feature `torch`: `cargo xtask with-torch -- \
             run --release -p cornu-cli --features torch -- ARGUMENTS`"
        )
    }
}
