//! Without the feature `attachments`, files are not read.

use std::path::PathBuf;

use llm_do_providers::Attachment;

/// Returns the error that reading a file requires the feature.
pub(crate) async fn read(_: PathBuf, path: PathBuf, _: u64) -> Result<Attachment, String> {
    let shown = path.display();
    Err(format!("cannot read the attachment `{shown}`: turn on the feature `attachments` of `llm-do` to read files"))
}
