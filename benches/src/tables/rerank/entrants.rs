//! The rerankers of the table.

use std::sync::Arc;

use anyhow::Result;
use cornu_core::PairScorer;
use cornu_rerank::{
    Blend, CascadeOptions, CrossEncoder, ElbowCascade, MaxSim, NoRerank, Reranker, Scale, Scorer,
    Staged, TokenSpace,
};

use crate::second_look::{Roles, Strategy};

pub(super) const FIRST: &str = "first-stage";
pub(super) const FULL: &str = "cross-50";
/// Places in [`pairs`].
pub(super) const ROLES: Roles = Roles { first: 0, full: 1 };
/// So many of [`pairs`], from the first on, have a latency of their own: a blend costs nothing.
pub(super) const TIMED: usize = 3;
/// Depths at which a cross-encoder is cut without looking.
const DEPTHS: [usize; 4] = [5, 10, 20, 30];
/// Other floors and ceilings of the cascade.
const CUTS: [(usize, usize); 3] = [(2, 6), (4, 10), (16, 28)];

fn named(name: impl Into<String>, reranker: impl Reranker + 'static) -> Strategy {
    Strategy {
        name: name.into(),
        reranker: Arc::new(reranker),
    }
}

/// The first stage, and what a scorer of pairs is used in: blended, and by its scores alone.
pub(super) fn pairs(scorer: &Arc<dyn PairScorer>) -> Result<Vec<Strategy>> {
    let cross = || CrossEncoder::new(logits(scorer));
    let blend = Blend::default();
    Ok(vec![
        named(FIRST, NoRerank::new()),
        named(FULL, cross().with_blend(blend)),
        named("cascade", cascade(scorer, Some(blend))?),
        named("cross-50-alone", cross()),
        named("cascade-alone", cascade(scorer, None)?),
    ])
}

/// Late interaction in a space, blended, and by its scores alone.
pub(super) fn tokens(name: &str, space: &TokenSpace) -> Vec<Strategy> {
    let max_sim = || MaxSim::new(space.clone());
    vec![
        named(name, max_sim().with_blend(Blend::default())),
        named(format!("{name}-alone"), max_sim()),
    ]
}

/// Late interaction before the cascade, both blended.
pub(super) fn staged(
    name: &str,
    space: &TokenSpace,
    scorer: &Arc<dyn PairScorer>,
) -> Result<Strategy> {
    let blend = Blend::default();
    let first = MaxSim::new(space.clone()).with_blend(blend);
    let second = cascade(scorer, Some(blend))?;
    Ok(named(
        format!("{name}-cascade"),
        Staged::new(Arc::new(first), Arc::new(second)),
    ))
}

/// The cascade as it is, but for the blend.
fn cascade(scorer: &Arc<dyn PairScorer>, blend: Option<Blend>) -> Result<ElbowCascade> {
    let options = CascadeOptions {
        blend,
        ..CascadeOptions::default()
    };
    Ok(ElbowCascade::new(logits(scorer), options)?)
}

fn logits(scorer: &Arc<dyn PairScorer>) -> Scorer {
    Scorer::new(Arc::clone(scorer), Scale::Logit)
}

/// Other depths and cuts.
pub(super) fn cuts(scorer: &Arc<dyn PairScorer>) -> Result<Vec<Strategy>> {
    let depths = DEPTHS.into_iter().map(|depth| {
        let reranker = CrossEncoder::new(logits(scorer)).with_depth(depth);
        let reranker = reranker.with_blend(Blend::default());
        Ok(named(format!("cross-{depth}"), reranker))
    });
    let cascades = CUTS.into_iter().map(|(floor, ceiling)| {
        let options = CascadeOptions {
            floor,
            ceiling,
            blend: Some(Blend::default()),
            ..CascadeOptions::default()
        };
        let reranker = ElbowCascade::new(logits(scorer), options)?;
        Ok(named(format!("cascade-{floor}-{ceiling}"), reranker))
    });
    depths.chain(cascades).collect()
}

#[cfg(test)]
mod tests {
    use cornu_core::{Fingerprint, ProviderError};

    use super::*;

    struct Never(Fingerprint);

    impl PairScorer for Never {
        fn fingerprint(&self) -> &Fingerprint {
            &self.0
        }
        fn score(&self, _: &str, _: &[&str]) -> Result<Vec<f32>, ProviderError> {
            Ok(vec![])
        }
    }

    #[test]
    fn the_places_of_the_roles_are_those_of_the_names() {
        let scorer: Arc<dyn PairScorer> = Arc::new(Never(Fingerprint::new("never")));
        let pairs = pairs(&scorer).unwrap();
        let name = |at: usize| pairs[at].name.as_str();
        assert_eq!((name(ROLES.first), name(ROLES.full)), (FIRST, FULL));
        // What is not timed is what was blended before.
        assert!(
            pairs[TIMED..]
                .iter()
                .all(|one| one.name.ends_with("-alone"))
        );
        assert_eq!(cuts(&scorer).unwrap().len(), DEPTHS.len() + CUTS.len());
    }
}
