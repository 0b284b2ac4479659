//! Where an answer becomes a refusal.

use cornu_core::{Fingerprint, View};

use crate::error::RagError;

/// The least similarity of question and evidence with which an index answers, and where the number
/// comes from.
///
/// It is compared with the cosine of the question's vector and a chunk's: an absolute measure. A
/// fused score says which chunk is better than another and nothing about whether any is good (with
/// k = 60 the best reciprocal-rank score of two lists is 2/61, for the best and the worst question
/// alike), so no threshold is ever compared with one. As JSON a threshold names its metric, and one
/// of another metric is refused when it is read.
///
/// ```
/// use cornu::{Fingerprint, Threshold};
///
/// let model = Fingerprint::new("model");
/// let threshold = Threshold::by_hand(0.5, &model)?;
/// let json = serde_json::to_string(&threshold)?;
/// assert_eq!(serde_json::from_str::<Threshold>(&json)?, threshold);
/// assert!(serde_json::from_str::<Threshold>(&json.replace("cosine", "rrf")).is_err());
/// assert!(serde_json::from_str::<Threshold>(&json.replace("0.5", "7.5")).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Threshold {
    value: f64,
    origin: Origin,
}

/// Where a threshold comes from.
///
/// ```
/// use cornu::{Fingerprint, Threshold};
/// let threshold = Threshold::by_hand(0.5, &Fingerprint::new("model"))?;
/// assert_eq!(threshold.origin().set, "by hand");
/// assert_eq!(threshold.origin().view, None);
/// # Ok::<(), cornu::RagError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Origin {
    /// What the value is a value of.
    pub metric: Metric,
    /// The name of the questions it was fitted on.
    pub set: String,
    /// Digest, in hexadecimal, of the view it was fitted in: which documents, with which contents.
    pub view: Option<String>,
    /// The model whose similarities it is about.
    pub provider: Fingerprint,
}

/// What a threshold is compared with.
///
/// ```
/// assert_eq!(cornu::Metric::default(), cornu::Metric::Cosine);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Metric {
    /// The cosine similarity of question and chunk, from −1 to 1.
    #[default]
    Cosine,
}

impl Threshold {
    /// A threshold that nobody fitted: for a first try, or from another index of the same model.
    ///
    /// # Errors
    /// [`RagError::ThresholdRange`] when it is not from −1 to 1.
    pub fn by_hand(value: f64, provider: &Fingerprint) -> Result<Self, RagError> {
        let origin = Origin {
            metric: Metric::Cosine,
            set: "by hand".to_owned(),
            view: None,
            provider: provider.clone(),
        };
        Self::checked(value, origin)
    }

    /// The least cosine similarity with which there is an answer.
    #[must_use]
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Where it comes from.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    pub(crate) fn checked(value: f64, origin: Origin) -> Result<Self, RagError> {
        if !(-1.0..=1.0).contains(&value) {
            return Err(RagError::ThresholdRange { value });
        }
        Ok(Self { value, origin })
    }

    /// Refuses a threshold of another model.
    pub(crate) fn check_provider(&self, provider: &Fingerprint) -> Result<(), RagError> {
        let differences = self.origin.provider.differences(provider);
        if differences.is_empty() {
            return Ok(());
        }
        Err(RagError::ForeignThreshold { differences })
    }

    /// Whether it was fitted in a view that holds something else; `None` when it was not fitted.
    pub(crate) fn is_of_another_view(&self, view: &View) -> Option<bool> {
        let fitted = self.origin.view.as_ref()?;
        Some(*fitted != hexadecimal(view.digest()))
    }
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A threshold as read, before it is checked.
#[derive(serde::Deserialize)]
struct Unchecked {
    value: f64,
    origin: Origin,
}

impl TryFrom<Unchecked> for Threshold {
    type Error = RagError;
    fn try_from(read: Unchecked) -> Result<Self, RagError> {
        Self::checked(read.value, read.origin)
    }
}
