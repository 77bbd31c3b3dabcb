//! Why a session cannot begin.

use std::fmt;

use crate::declare::worker_file::WorkerFileError;
use crate::plane::registry::RegistryError;

/// Why a session cannot begin.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// Worker files have faults, or a folder of them cannot be read.
    WorkerFiles(WorkerFileError),
    /// The registry has faults.
    Registry(RegistryError),
    /// Tools take state that was not given: the types, each with the tools that take it.
    MissingState(Vec<String>),
    /// Models are named that cannot be used: each name with what is wrong, and with the worker whose model it is.
    Models(Vec<String>),
    /// The approval policy has rules for what is not registered: each of these, with the name that may be meant.
    Policy(Vec<String>),
    /// Limits or timeouts are of what they cannot bound: each of these, with the name that may be meant.
    Bounds(Vec<String>),
    /// Shadows are of what is not registered: each name, with the one that may be meant.
    Shadow(Vec<String>),
}

impl From<RegistryError> for BuildError {
    fn from(error: RegistryError) -> Self {
        Self::Registry(error)
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WorkerFiles(error) => error.fmt(f),
            Self::Registry(error) => error.fmt(f),
            Self::MissingState(missing) => {
                write!(f, "missing state, to be given with `Runtime::builder().state(..)`:")?;
                missing.iter().try_for_each(|missing| write!(f, "\n  {missing}"))
            }
            Self::Models(faults) => {
                write!(f, "models that cannot be used:")?;
                faults.iter().try_for_each(|fault| write!(f, "\n  {fault}"))
            }
            Self::Policy(faults) => {
                write!(f, "the approval policy has rules for what is not registered:")?;
                faults.iter().try_for_each(|fault| write!(f, "\n  {fault}"))
            }
            Self::Bounds(faults) => {
                write!(f, "there are limits or timeouts that would not hold:")?;
                faults.iter().try_for_each(|fault| write!(f, "\n  {fault}"))
            }
            Self::Shadow(faults) => {
                write!(f, "there are shadows of what is not registered:")?;
                faults.iter().try_for_each(|fault| write!(f, "\n  {fault}"))
            }
        }
    }
}

impl std::error::Error for BuildError {}
