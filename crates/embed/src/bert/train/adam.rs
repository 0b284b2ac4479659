//! AdamW (Loshchilov and Hutter, 2019), written out so that its state can be saved.

use tch::{Kind, TchError, Tensor};

use super::super::encoder::Shared;

const BETA_1: f64 = 0.9;
const BETA_2: f64 = 0.999;
const EPSILON: f64 = 1e-8;

/// The moments of one parameter.
pub(super) struct Moments {
    pub(super) first: Shared,
    pub(super) second: Shared,
}

impl Moments {
    pub(super) fn zeros(like: &Tensor) -> Result<Self, TchError> {
        Ok(Self {
            first: Shared::of(like.f_zeros_like()?),
            second: Shared::of(like.f_zeros_like()?),
        })
    }

    /// What the parameter becomes. `step` counts from 1.
    pub(super) fn update(
        &mut self,
        parameter: &Tensor,
        gradient: &Tensor,
        step: u32,
        rate: f64,
        decay: f64,
    ) -> Result<Tensor, TchError> {
        let squares = gradient.f_mul(gradient)?;
        self.first = Shared::of(mean(self.first.get(), gradient, BETA_1)?);
        self.second = Shared::of(mean(self.second.get(), &squares, BETA_2)?);
        let unbiased = |moment: &Shared, beta: f64| {
            moment
                .get()
                .f_div_scalar(1.0 - beta.powi(i32::try_from(step).unwrap_or(i32::MAX)))
        };
        let scale = unbiased(&self.second, BETA_2)?
            .f_sqrt()?
            .f_add_scalar(EPSILON)?;
        let change = unbiased(&self.first, BETA_1)?.f_div(&scale)?;
        parameter
            .f_mul_scalar(1.0 - rate * decay)?
            .f_sub(&change.f_mul_scalar(rate)?)
    }
}

fn mean(old: &Tensor, new: &Tensor, beta: f64) -> Result<Tensor, TchError> {
    old.f_mul_scalar(beta)?
        .f_add(&new.f_mul_scalar(1.0 - beta)?)
}

/// The norm of all gradients together, sums in f64.
pub(super) fn norm(gradients: &[Tensor]) -> Result<f64, TchError> {
    let mut squares = 0.0;
    for gradient in gradients {
        let sum = gradient.f_mul(gradient)?.f_sum(Kind::Double)?;
        squares += f64::try_from(&sum)?;
    }
    Ok(squares.sqrt())
}
