//! The error of a registry.

use std::fmt;

/// The errors of a registry: all of them, not only the first.
///
/// `Debug` shows the same text as `Display`, since a test that fails with `?` prints it.
pub struct RegistryError {
    pub(super) faults: Vec<String>,
}

impl RegistryError {
    /// Returns the errors, one sentence each.
    #[must_use]
    pub fn faults(&self) -> &[String] {
        &self.faults
    }
}

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("invalid registry:")?;
        self.faults.iter().try_for_each(|fault| write!(f, "\n  {fault}"))
    }
}

impl fmt::Debug for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for RegistryError {}
