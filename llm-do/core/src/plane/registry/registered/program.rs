//! The version of the program: what is linked into it changes with it.

use std::sync::OnceLock;
use std::time::UNIX_EPOCH;

/// Returns the size and the time of the file of the program; empty if they are unknown.
pub(super) fn version() -> &'static str {
    static VERSION: OnceLock<String> = OnceLock::new();
    VERSION.get_or_init(|| {
        let metadata = std::env::current_exe().and_then(|path| path.metadata());
        let written = metadata.as_ref().ok().and_then(|file| file.modified().ok()?.duration_since(UNIX_EPOCH).ok());
        let written = written.map(|time| time.as_nanos()).unwrap_or_default();
        metadata.map(|file| format!("{}-{written}", file.len())).unwrap_or_default()
    })
}
