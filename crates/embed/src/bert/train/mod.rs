//! Training of adapters with libtorch's autograd, on the processor.
//!
//! What is frozen is computed once: a text's states after the lower layers ([`States`]), which no
//! gradient reaches. A step costs the upper layers alone, forward and back.
//!
//! The same seed and the same groups give the same adapter bit for bit on one type of processor,
//! whatever the number of threads: the gradient of a group is computed by one thread, and gradients
//! are added in the order of the groups.

mod adam;
mod loss;
mod network;
mod projection;
mod trainer;

pub use loss::Loss;
pub use projection::{ProjectionOptions, ProjectionTrainer};
pub use trainer::{Group, PairTrainer, States, TrainOptions};
