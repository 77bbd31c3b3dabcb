//! The file that an attribute names: where it is, and its text.

use std::path::{Path, PathBuf};
use std::{env, fs};

use syn::LitStr;

/// A file and its path.
pub(crate) struct Found {
    /// Absolute, since the compiler that tracks it may have another working directory.
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// Reads the file that `file` names, such as a `worker file`, relative to the directory of the source file.
///
/// Editors do not know the source file. There the path is relative to `src`, and a missing file is `None`, not an error.
///
/// # Errors
///
/// Returns the path and why it cannot be read.
pub(crate) fn find(file: &LitStr, what: &str) -> Result<Option<Found>, String> {
    let source = local_file(file);
    let is_known = source.is_some();
    let directory = match source {
        Some(source) => source.parent().map(Path::to_owned).unwrap_or_default(),
        None => Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("src"),
    };
    let path = directory.join(file.value());
    match fs::read_to_string(&path) {
        Ok(text) => Ok(Some(Found { path: std::path::absolute(&path).unwrap_or(path), text })),
        Err(error) if is_known => Err(format!("cannot read the {what} `{}`: {error}", path.display())),
        Err(_) => Ok(None),
    }
}

/// Returns the source file of a token; outside of the compiler, as in tests, `None`.
fn local_file(file: &LitStr) -> Option<PathBuf> {
    proc_macro::is_available().then(|| file.span().unwrap().local_file()).flatten()
}
