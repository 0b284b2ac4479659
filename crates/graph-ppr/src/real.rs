//! The two types of number that vectors are kept in.

use std::fmt::Debug;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// `f32` or `f64`: what a [`Walk`](crate::Walk) keeps its vectors in. Sums are in `f64` either way.
///
/// `f32` halves the memory and cannot come closer to the solution than about 1e-7 in L1 (a
/// tolerance of 1e-6 is within its reach, 1e-8 is not).
///
/// ```
/// use cornu_graph_ppr::Real;
/// assert_eq!(<f32 as Real>::of(0.5).wide(), 0.5);
/// ```
pub trait Real:
    sealed::Sealed + Copy + Default + Debug + PartialOrd + Send + Sync + 'static
{
    /// The nearest number of this type.
    fn of(value: f64) -> Self;
    /// The same number in `f64`; exact.
    fn wide(self) -> f64;
}

impl Real for f32 {
    #[inline(always)]
    fn of(value: f64) -> Self {
        value as f32
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }
}

impl Real for f64 {
    #[inline(always)]
    fn of(value: f64) -> Self {
        value
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
}
