//! The origin of items: the source, a file or the program.

use std::fmt;

use crate::declare::worker_file::LoadedFile;
use crate::plane::definition::Location;

/// The origin of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Origin {
    /// The location in the source where it is linked or added to the runtime.
    Source(Location),
    /// A worker file.
    File(LoadedFile),
    /// Created at run time, for one call or one run or chat.
    Session,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source(location) => location.fmt(f),
            Self::File(file) => file.fmt(f),
            Self::Session => f.write_str("created at run time"),
        }
    }
}

impl Origin {
    /// Returns the tools that a file of another program removes from its worker; `None` for any other origin.
    pub(crate) fn taken_away(&self) -> Option<&[String]> {
        match self {
            Self::File(file) => file.taken_away(),
            Self::Source(_) | Self::Session => None,
        }
    }

    /// Returns whether it is a file of another program, whose faults do not end the project.
    pub(crate) fn is_external(&self) -> bool {
        self.taken_away().is_some()
    }
}
