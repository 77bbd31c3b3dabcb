//! What is known of hybrids with a guarantee, read where it is kept.

use std::path::Path;

use crate::base::error::BoxError;
use crate::plane::guarantee::{FileEvidence, HybridState, HybridStatus};

/// The beginning of a database.
#[cfg(feature = "serve")]
const SQLITE: &[u8] = b"SQLite format 3\0";

/// Returns what is known of hybrids with a guarantee from a file of
/// [`evidence_file`](crate::session::runtime::RuntimeBuilder::evidence_file), or from the database of a service, which may be running.
///
/// An absent file has nothing.
///
/// # Errors
///
/// Returns an error if the file cannot be read.
pub fn hybrid_status(path: impl AsRef<Path>) -> Result<Vec<HybridStatus>, BoxError> {
    let path = path.as_ref();
    #[cfg(feature = "serve")]
    if is_database(path) {
        let known = crate::plane::guarantee::read_file(path)?;
        return Ok(known.iter().map(HybridState::status).collect());
    }
    Ok(FileEvidence::new(path).read()?.values().map(HybridState::status).collect())
}

#[cfg(feature = "serve")]
fn is_database(path: &Path) -> bool {
    use std::io::Read;

    let mut beginning = [0; SQLITE.len()];
    let read = crate::base::open_file::read_only(path).and_then(|mut file| file.read_exact(&mut beginning));
    read.is_ok() && beginning == SQLITE
}
