//! Errors that list the faults of files.

/// Implements the traits of an error whose field `faults` has all faults. Its text is their number, and a line for each
/// of the first 20.
///
/// `Debug` prints the same text as `Display`, since a test that fails with `?` prints it.
#[doc(hidden)]
#[macro_export]
macro_rules! fault_list {
    ($error:ty, $place:literal) => {
        impl ::std::fmt::Display for $error {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                match self.faults.len() {
                    1 => write!(f, "1 fault in {}", $place)?,
                    faults => write!(f, "{faults} faults in {}", $place)?,
                }
                let shown = self.faults.iter().take($crate::base::clip::MAX_DIAGNOSTICS);
                for fault in shown {
                    write!(f, "\n  {}", $crate::base::clip::diagnostic(fault).replace('\n', "\n    "))?;
                }
                match self.faults.len().saturating_sub($crate::base::clip::MAX_DIAGNOSTICS) {
                    0 => Ok(()),
                    more => write!(f, "\n  and {more} more"),
                }
            }
        }

        impl ::std::fmt::Debug for $error {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(self, f)
            }
        }

        impl ::std::error::Error for $error {}
    };
}

#[doc(hidden)]
pub use fault_list;
