//! What goes wrong.

use cornu_core::ProviderError;
use cornu_graph_ppr::PprError;

/// Why a memory did not take passages or gave no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HopError {
    /// Two passages have one id.
    #[error(
        "passage {id} is in document {document} already; ids have to differ in the whole memory"
    )]
    DuplicatePassage {
        /// The id.
        id: String,
        /// The number of the document that has it.
        document: u32,
    },
    /// There are more nodes than 32 bits count.
    #[error("the graph would have more than {limit} nodes; split the corpus")]
    TooLarge {
        /// The most nodes.
        limit: u32,
    },
    /// An option is out of range.
    #[error("the option {name} is {value}, which is not in {range}")]
    Option {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it may be.
        range: &'static str,
    },
    /// A matrix of vectors does not fit what it stands for.
    #[error("{what}: {found} vectors for {expected}; embed the texts in the order they were given")]
    Vectors {
        /// For what the vectors are.
        what: &'static str,
        /// Rows that came.
        found: usize,
        /// Rows that were expected.
        expected: usize,
    },
    /// A model failed.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// The walk failed.
    #[error(transparent)]
    Walk(#[from] PprError),
}

impl HopError {
    pub(crate) fn check_rows(
        what: &'static str,
        found: usize,
        expected: usize,
    ) -> Result<(), Self> {
        match found == expected {
            true => Ok(()),
            false => Err(Self::Vectors {
                what,
                found,
                expected,
            }),
        }
    }
}
