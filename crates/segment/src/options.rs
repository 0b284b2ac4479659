//! How segments are extracted.

use std::fmt;
use std::str::FromStr;

use crate::error::SegmentError;
use crate::relevance::Relevance;
use crate::select::{Limits, MAX_SEGMENT};

/// Length, in characters, up to which a chunk's value is not scaled.
pub(crate) const REFERENCE_LENGTH: f64 = 700.0;

/// The settings that dsRAG names (`rse.py:151-182`).
///
/// ```
/// use cornu_segment::{Preset, SegmentOptions};
/// assert_eq!("find-all".parse(), Ok(Preset::FindAll));
/// assert_eq!(SegmentOptions::preset(Preset::FindAll).overall_max_length, 200);
/// assert!("comprehensive".parse::<Preset>().is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Preset {
    /// The standard.
    #[default]
    Balanced,
    /// Less that does not belong.
    Precision,
    /// Everything about the subject.
    FindAll,
}

impl Preset {
    /// The name: `balanced`, `precision`, `find_all`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Balanced => "balanced",
            Self::Precision => "precision",
            Self::FindAll => "find_all",
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Preset {
    type Err = String;
    fn from_str(name: &str) -> Result<Self, String> {
        let known = [Self::Balanced, Self::Precision, Self::FindAll];
        known
            .into_iter()
            .find(|preset| preset.as_str() == name.replace('-', "_"))
            .ok_or_else(|| format!("{name:?} is no preset; one of balanced, precision, find-all"))
    }
}

/// How the segments are chosen.
///
/// ```
/// assert_eq!(cornu_segment::Mode::default(), cornu_segment::Mode::Clean);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Mode {
    /// dsRAG's greedy: [`greedy`](crate::select::greedy).
    Paper,
    /// The best set that there is: [`optimal`](crate::select::optimal).
    #[default]
    Clean,
}

/// Everything about the extraction that has a default.
///
/// The names are dsRAG's.
///
/// ```
/// use cornu_segment::{Mode, Preset, SegmentOptions};
/// let options = SegmentOptions { mode: Mode::Paper, ..SegmentOptions::preset(Preset::Balanced) };
/// assert_eq!((options.max_length, options.overall_max_length), (15, 30));
/// assert_eq!(options.limits(3).total, 40, "five chunks for each further query");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SegmentOptions {
    /// Greedy or exact.
    pub mode: Mode,
    /// From scores to relevance.
    pub relevance: Relevance,
    /// Chunks in a segment, at most.
    pub max_length: usize,
    /// Chunks in all segments together, at most, for one query.
    pub overall_max_length: usize,
    /// By how much that grows with each further query.
    pub overall_max_length_extension: usize,
    /// The value that a segment has at least.
    pub minimum_value: f64,
    /// What each segment costs in [`Mode::Clean`]; see [`Limits::price`]. `None`, the default: as
    /// much as the minimum value, so that parting a run has to bring what a segment of its own has
    /// to bring.
    pub segment_price: Option<f64>,
    /// What each chunk costs: a chunk of less relevance shortens the segment's value.
    pub irrelevant_chunk_penalty: f64,
    /// How slowly relevance falls with rank: it is multiplied by exp(−rank / this), rank from 0.
    pub decay_rate: f64,
    /// The documents of this many first results of each query are looked at.
    pub documents: usize,
    /// Whether the value of a result longer than 700 characters grows with its length.
    pub adjust_for_length: bool,
}

impl Default for SegmentOptions {
    fn default() -> Self {
        Self::preset(Preset::Balanced)
    }
}

impl SegmentOptions {
    /// dsRAG's numbers, with the exact choice and cosines for relevance.
    #[must_use]
    pub fn preset(preset: Preset) -> Self {
        let balanced = Self {
            mode: Mode::Clean,
            relevance: Relevance::Cosine,
            max_length: 15,
            overall_max_length: 30,
            overall_max_length_extension: 5,
            minimum_value: 0.5,
            segment_price: None,
            irrelevant_chunk_penalty: 0.18,
            decay_rate: 30.0,
            documents: 10,
            adjust_for_length: true,
        };
        match preset {
            Preset::Balanced => balanced,
            Preset::Precision => Self {
                minimum_value: 0.7,
                irrelevant_chunk_penalty: 0.2,
                ..balanced
            },
            Preset::FindAll => Self {
                max_length: 40,
                overall_max_length: 200,
                overall_max_length_extension: 0,
                minimum_value: 0.4,
                decay_rate: 200.0,
                documents: 200,
                ..balanced
            },
        }
    }

    /// The limits for so many queries at once.
    #[must_use]
    pub fn limits(&self, queries: usize) -> Limits {
        let further = queries.saturating_sub(1);
        let extension = self.overall_max_length_extension.saturating_mul(further);
        Limits {
            segment: self.max_length,
            total: self.overall_max_length.saturating_add(extension),
            minimum: self.minimum_value,
            price: self.segment_price.unwrap_or(self.minimum_value.max(0.0)),
        }
    }

    /// Whether the options make sense.
    ///
    /// # Errors
    /// [`SegmentError::Option`] names the first that does not.
    pub fn check(&self) -> Result<(), SegmentError> {
        if !(1..=MAX_SEGMENT).contains(&self.max_length) {
            return Err(SegmentError::segment_length("max_length", self.max_length));
        }
        for (name, value) in [
            ("overall_max_length", self.overall_max_length),
            ("documents", self.documents),
        ] {
            if value == 0 {
                return Err(SegmentError::option(name, value, "at least 1"));
            }
        }
        if !self.minimum_value.is_finite() {
            let value = self.minimum_value;
            return Err(SegmentError::option(
                "minimum_value",
                value,
                "a finite number",
            ));
        }
        let penalty = self.irrelevant_chunk_penalty;
        if !(0.0..=1.0).contains(&penalty) {
            let name = "irrelevant_chunk_penalty";
            return Err(SegmentError::option(name, penalty, "a number from 0 to 1"));
        }
        if !(self.decay_rate.is_finite() && self.decay_rate > 0.0) {
            let value = self.decay_rate;
            return Err(SegmentError::option(
                "decay_rate",
                value,
                "a positive number",
            ));
        }
        self.limits(1).check()?;
        self.relevance.check()
    }
}
