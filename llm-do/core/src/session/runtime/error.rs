//! Errors of building a session.

use std::fmt;

use crate::declare::worker_file::WorkerFileError;
use crate::plane::registry::RegistryError;

/// An error of [`RuntimeBuilder::build`](crate::session::runtime::RuntimeBuilder::build).
///
/// `Debug` shows the same text as `Display`, since a test that fails with `?` prints it.
#[non_exhaustive]
pub enum BuildError {
    /// Invalid worker files, or a folder of them that cannot be read.
    WorkerFiles(WorkerFileError),
    /// Sources of tools that could not be used, such as a server: each with the reason.
    Sources(Vec<String>),
    /// Invalid items in the registry.
    Registry(RegistryError),
    /// Missing state: each type, with the tools that take it.
    MissingState(Vec<String>),
    /// Unusable models: each name with the reason and with its worker.
    Models(Vec<String>),
    /// Rules of the approval policy for unknown names, each with a suggestion if there is one, rules for calls that no call can match,
    /// and effects that the policy may not declare.
    Policy(Vec<String>),
    /// Limits or timeouts for names that they cannot apply to, each with a suggestion if there is one.
    Bounds(Vec<String>),
    /// Shadows of unknown names, each with a suggestion if there is one.
    Shadow(Vec<String>),
    /// Hybrids of unknown names, or of items that are not workers.
    Hybrid(Vec<String>),
    /// Evaluators of unknown names, of items that are not workers, or that cannot score the results, with both signatures.
    Refine(Vec<String>),
}

impl From<RegistryError> for BuildError {
    fn from(error: RegistryError) -> Self {
        Self::Registry(error)
    }
}

impl BuildError {
    /// Returns the text for the command line, where the application itself does not call `Runtime::builder()`.
    #[doc(hidden)]
    #[must_use]
    pub fn of_command_line(&self) -> String {
        let Self::MissingState(missing) = self else { return self.to_string() };
        let heading = "missing state; set it with `Cli::new().configure(|builder| builder.state(..))`:";
        missing.iter().fold(heading.to_owned(), |text, missing| format!("{text}\n  {missing}"))
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WorkerFiles(error) => error.fmt(f),
            Self::Sources(faults) => {
                write!(f, "unusable sources of tools:")?;
                faults.iter().try_for_each(|fault| write!(f, "\n  {fault}"))
            }
            Self::Registry(error) => error.fmt(f),
            Self::MissingState(missing) => {
                write!(f, "missing state; set it with `Runtime::builder().state(..)`:")?;
                missing.iter().try_for_each(|missing| write!(f, "\n  {missing}"))
            }
            Self::Models(faults) => {
                write!(f, "unusable models:")?;
                faults.iter().try_for_each(|fault| write!(f, "\n  {fault}"))
            }
            Self::Policy(faults) => {
                write!(f, "the approval policy has invalid rules:")?;
                faults.iter().try_for_each(|fault| write!(f, "\n  {fault}"))
            }
            Self::Bounds(faults) => {
                write!(f, "invalid limits or timeouts:")?;
                faults.iter().try_for_each(|fault| write!(f, "\n  {fault}"))
            }
            Self::Shadow(faults) => {
                write!(f, "invalid shadows:")?;
                faults.iter().try_for_each(|fault| write!(f, "\n  {fault}"))
            }
            Self::Hybrid(faults) => {
                write!(f, "invalid hybrids:")?;
                faults.iter().try_for_each(|fault| write!(f, "\n  {fault}"))
            }
            Self::Refine(faults) => {
                write!(f, "invalid evaluators:")?;
                faults.iter().try_for_each(|fault| write!(f, "\n  {fault}"))
            }
        }
    }
}

impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for BuildError {}
