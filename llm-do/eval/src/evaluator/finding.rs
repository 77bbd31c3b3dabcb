//! The findings of an evaluator.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A value that an evaluator assigns to an output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Scalar {
    /// Whether an assertion holds; a run passes if all of its assertions hold.
    Assertion(bool),
    /// A score; higher is better. It must be finite.
    Score(f64),
    /// The class of the output.
    Label(String),
}

/// A value with its name and its reason.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// The name in reports; `None` for the name of the evaluator.
    pub name: Option<String>,
    /// The value.
    pub value: Scalar,
    /// The reason for the value.
    pub reason: Option<String>,
}

/// The findings of an evaluator in one output.
///
/// A `bool`, an `f64` or a text is a single finding with the name of the evaluator.
///
/// # Examples
///
/// ```
/// use llm_do::eval::{Finding, Findings};
///
/// let one: Findings = true.into();
/// let two = Findings::from(vec![Finding::new(0.5).named("tone"), Finding::new("formal").because("it greets")]);
/// assert_eq!((one.iter().count(), two.iter().count()), (1, 2));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings(Vec<Finding>);

impl Finding {
    /// Returns a finding with the name of the evaluator and without a reason.
    #[must_use]
    pub fn new(value: impl Into<Scalar>) -> Self {
        Self { name: None, value: value.into(), reason: None }
    }

    /// Sets the name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the reason.
    #[must_use]
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// Returns an assertion that holds without a `fault`; otherwise the fault is its reason.
    pub(super) fn asserted(fault: Option<String>) -> Self {
        Self { name: None, value: Scalar::Assertion(fault.is_none()), reason: fault }
    }
}

impl Findings {
    /// Returns no findings: the evaluator does not apply to the case.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Returns the findings in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Finding> {
        self.0.iter()
    }

    pub(crate) fn into_vec(self) -> Vec<Finding> {
        self.0
    }
}

impl<'a> IntoIterator for &'a Findings {
    type Item = &'a Finding;
    type IntoIter = std::slice::Iter<'a, Finding>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl From<Vec<Finding>> for Findings {
    fn from(findings: Vec<Finding>) -> Self {
        Self(findings)
    }
}

impl From<Finding> for Findings {
    fn from(finding: Finding) -> Self {
        Self(vec![finding])
    }
}

impl From<bool> for Findings {
    fn from(holds: bool) -> Self {
        Finding::new(holds).into()
    }
}

impl From<f64> for Findings {
    fn from(score: f64) -> Self {
        Finding::new(score).into()
    }
}

impl From<&str> for Findings {
    fn from(label: &str) -> Self {
        Finding::new(label).into()
    }
}

impl From<bool> for Scalar {
    fn from(holds: bool) -> Self {
        Self::Assertion(holds)
    }
}

impl From<f64> for Scalar {
    fn from(score: f64) -> Self {
        Self::Score(score)
    }
}

impl From<&str> for Scalar {
    fn from(label: &str) -> Self {
        Self::Label(label.to_owned())
    }
}

impl Scalar {
    /// Returns the value as a number: an assertion is 1 or 0; `None` for a label.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Assertion(holds) => Some(f64::from(u8::from(*holds))),
            Self::Score(score) => Some(*score),
            Self::Label(_) => None,
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Assertion(true) => f.write_str("pass"),
            Self::Assertion(false) => f.write_str("fail"),
            Self::Score(score) => score.fmt(f),
            Self::Label(label) => f.write_str(label),
        }
    }
}
