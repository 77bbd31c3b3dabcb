//! Where a worker file is, and what is in it.

use std::path::{Path, PathBuf};
use std::{env, fs};

use syn::LitStr;

/// A worker file as found.
pub(crate) struct Found {
    /// Absolute, so that the compiler that tracks it finds it wherever it looks from.
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// Reads the file that `file` names, from the directory of the source that names it.
///
/// Editors do not say where a source is; there, `src` is tried, and a file elsewhere is none rather than an error.
///
/// # Errors
///
/// Returns where it was looked for, and why it was not read.
pub(crate) fn find(file: &LitStr) -> Result<Option<Found>, String> {
    let source = local_file(file);
    let is_known = source.is_some();
    let directory = match source {
        Some(source) => source.parent().map(Path::to_owned).unwrap_or_default(),
        None => Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("src"),
    };
    let path = directory.join(file.value());
    match fs::read_to_string(&path) {
        Ok(text) => Ok(Some(Found { path: std::path::absolute(&path).unwrap_or(path), text })),
        Err(error) if is_known => Err(format!("no worker file read at `{}`: {error}", path.display())),
        Err(_) => Ok(None),
    }
}

/// Returns the source that a token is in; outside the compiler, in tests, there is none.
fn local_file(file: &LitStr) -> Option<PathBuf> {
    proc_macro::is_available().then(|| file.span().unwrap().local_file()).flatten()
}
