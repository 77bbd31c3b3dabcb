//! The error with which a tool abstains.

/// The error with which a tool abstains: it does not know the answer, which is not a failure.
///
/// In a [hybrid](crate::session::runtime::RuntimeBuilder::hybrid), the worker then answers. Otherwise, the caller gets a
/// [`CallError::Unsure`](crate::base::error::CallError::Unsure).
///
/// # Examples
///
/// ```standalone_crate
/// use llm_do::error::Unsure;
/// use llm_do::prelude::*;
///
/// /// Return the age of the person in a note.
/// #[tool(effect = read_only)]
/// fn age_by_rule(note: &str) -> Result<u32> {
///     let digits: String = note.chars().filter(char::is_ascii_digit).collect();
///     Ok(digits.parse().map_err(|_| Unsure::new("the note has no digits"))?)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// let runtime = Runtime::builder().build()?;
/// let error = runtime.run(age_by_rule { note: "Bob is forty.".into() }).await.unwrap_err();
/// assert_eq!(error.to_string(), "`age_by_rule` is unsure: the note has no digits");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unsure: {reason}")]
pub struct Unsure {
    pub(crate) reason: String,
}

impl Unsure {
    /// Creates the error with a reason.
    #[must_use]
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}
