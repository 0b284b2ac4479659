//! What each step of a query did, in the order of the steps.

use std::borrow::Cow;
use std::fmt;

/// A value in a trace.
///
/// ```
/// use cornu_core::TraceValue;
/// assert_eq!(TraceValue::from(3_u64).to_string(), "3");
/// assert_eq!(TraceValue::from("a\nb").to_string(), "\"a\\nb\"");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(untagged))]
#[non_exhaustive]
pub enum TraceValue {
    /// Yes or no.
    Flag(bool),
    /// A count.
    Integer(u64),
    /// A score or a share.
    Number(f64),
    /// Words.
    Text(String),
    /// Several values.
    List(Vec<TraceValue>),
}

/// One step: its name and what it noted, in the order in which it noted it.
///
/// ```
/// use cornu_core::Trace;
/// let mut trace = Trace::new();
/// trace.step("dense").note("candidates", 50_u64);
/// assert_eq!(trace.steps()[0].stage(), "dense");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TraceStep {
    stage: Cow<'static, str>,
    notes: Vec<(Cow<'static, str>, TraceValue)>,
}

/// The record of a query: append-only, deterministic, free of clocks, row ids and cache flags, so
/// that a trace under a [`View`](crate::View) is the same bytes whatever that view does not hold.
///
/// ```
/// use cornu_core::Trace;
///
/// let mut trace = Trace::new();
/// trace.step("dense").note("k", 10_u64).note("best", 0.84);
/// trace.step("refuse").note("threshold", 0.9).note("answered", false);
/// assert_eq!(
///     trace.to_string(),
///     "dense: k = 10, best = 0.84\nrefuse: threshold = 0.9, answered = false\n"
/// );
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct Trace {
    steps: Vec<TraceStep>,
}

impl Trace {
    /// A trace without steps.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins a step and hands it out to be filled.
    pub fn step(&mut self, stage: impl Into<Cow<'static, str>>) -> &mut TraceStep {
        let at = self.steps.len();
        self.steps.push(TraceStep {
            stage: stage.into(),
            notes: Vec::new(),
        });
        &mut self.steps[at]
    }

    /// The steps so far.
    #[must_use]
    pub fn steps(&self) -> &[TraceStep] {
        &self.steps
    }

    /// Appends all steps of another trace, as when two routes ran side by side.
    pub fn append(&mut self, mut other: Self) {
        self.steps.append(&mut other.steps);
    }
}

impl TraceStep {
    /// Notes a value under a name.
    pub fn note(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        value: impl Into<TraceValue>,
    ) -> &mut Self {
        self.notes.push((name.into(), value.into()));
        self
    }

    /// The step's name.
    #[must_use]
    pub fn stage(&self) -> &str {
        &self.stage
    }

    /// The notes in the order in which they were made.
    pub fn notes(&self) -> impl ExactSizeIterator<Item = (&str, &TraceValue)> {
        self.notes
            .iter()
            .map(|(name, value)| (name.as_ref(), value))
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.steps {
            write!(f, "{}:", step.stage)?;
            for (at, (name, value)) in step.notes.iter().enumerate() {
                let comma = if at == 0 { "" } else { "," };
                write!(f, "{comma} {name} = {value}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for TraceValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Number(value) => write!(f, "{value}"),
            Self::Text(value) => write!(f, "{value:?}"),
            Self::List(values) => {
                f.write_str("[")?;
                for (at, value) in values.iter().enumerate() {
                    let comma = if at == 0 { "" } else { ", " };
                    write!(f, "{comma}{value}")?;
                }
                f.write_str("]")
            }
        }
    }
}

impl From<bool> for TraceValue {
    fn from(value: bool) -> Self {
        Self::Flag(value)
    }
}

impl From<u64> for TraceValue {
    fn from(value: u64) -> Self {
        Self::Integer(value)
    }
}

impl From<usize> for TraceValue {
    fn from(value: usize) -> Self {
        Self::Integer(value as u64)
    }
}

impl From<f64> for TraceValue {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl From<&str> for TraceValue {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for TraceValue {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl<T: Into<TraceValue>> From<Vec<T>> for TraceValue {
    fn from(values: Vec<T>) -> Self {
        Self::List(values.into_iter().map(Into::into).collect())
    }
}
