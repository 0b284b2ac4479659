//! What a step makes smaller.

use tch::{Kind, TchError, Tensor};

/// The loss of one group: a query's documents with a target each.
///
/// ```
/// assert_eq!(cornu_embed::bert::Loss::default(), cornu_embed::bert::Loss::Listwise);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Loss {
    /// −Σ tᵢ · log softmax(s / τ)ᵢ, t the targets over their sum (ListNet; Cao et al., 2007).
    #[default]
    Listwise,
    /// Mean over the pairs with tᵢ > tⱼ of log(1 + exp((sⱼ − sᵢ) / τ)) (RankNet; Burges et al.,
    /// 2005).
    Pairwise,
    /// Mean of ((sᵢ − s₀) / τ − (tᵢ − t₀))² over the documents after the first; targets are a
    /// teacher's scores (MarginMSE; Hofstätter et al., 2020).
    Distillation,
}

impl Loss {
    /// The loss of `scores`, (documents), as a scalar.
    pub(super) fn of(
        self,
        scores: &Tensor,
        targets: &[f32],
        temperature: f64,
    ) -> Result<Tensor, TchError> {
        let scores = scores.f_div_scalar(temperature)?;
        match self {
            Self::Listwise => {
                let sum: f32 = targets.iter().sum();
                let targets =
                    Tensor::f_from_slice(targets)?.f_div_scalar(f64::from(sum.max(1e-6)))?;
                let logs = scores.f_log_softmax(0, Kind::Float)?;
                logs.f_mul(&targets)?.f_sum(Kind::Float)?.f_neg()
            }
            Self::Pairwise => {
                let places = || targets.iter().zip(0_i64..);
                let mut better = Vec::new();
                let mut worse = Vec::new();
                for (high, at) in places() {
                    for (low, other) in places() {
                        if high > low {
                            better.push(at);
                            worse.push(other);
                        }
                    }
                }
                let pick = |of: &[i64]| scores.f_index_select(0, &Tensor::f_from_slice(of)?);
                let margins = pick(&worse)?.f_sub(&pick(&better)?)?;
                margins.f_softplus()?.f_mean(Kind::Float)
            }
            Self::Distillation => {
                let count = targets.len() as i64 - 1;
                let first = |of: &Tensor| of.f_narrow(0, 0, 1);
                let rest = |of: &Tensor| of.f_narrow(0, 1, count)?.f_sub(&first(of)?);
                let teacher = rest(&Tensor::f_from_slice(targets)?)?;
                let difference = rest(&scores)?.f_sub(&teacher)?;
                difference.f_mul(&difference)?.f_mean(Kind::Float)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(loss: Loss, scores: &[f32], targets: &[f32]) -> f64 {
        let scores = Tensor::from_slice(scores);
        loss.of(&scores, targets, 2.0).unwrap().double_value(&[])
    }

    #[test]
    fn the_values_are_those_of_the_formulas() {
        // softmax of (1, 0) gives the first 0.7310586.
        let listwise = value(Loss::Listwise, &[2.0, 0.0], &[1.0, 0.0]);
        assert!((listwise - 0.313_261_7).abs() < 1e-6, "{listwise}");
        let pairwise = value(Loss::Pairwise, &[2.0, 0.0], &[1.0, 0.0]);
        assert!((pairwise - 0.313_261_7).abs() < 1e-6, "{pairwise}");
        let distilled = value(Loss::Distillation, &[2.0, 0.0, 4.0], &[0.5, 0.5, 1.0]);
        assert!((distilled - (1.0 + 0.25) / 2.0).abs() < 1e-6, "{distilled}");
    }
}
