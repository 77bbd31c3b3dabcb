//! The user's files of this program: private, and written atomically.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use etcetera::base_strategy::{BaseStrategy, choose_base_strategy};
use tempfile::NamedTempFile;

use llm_do_core::base::open_file::folder_or_current;
use llm_do_core::observe::journal::digest;

/// Returns a file or folder of this program in the user's folder for state; `None` if the home folder is unknown.
pub(super) fn path(name: &str) -> Option<PathBuf> {
    let base = choose_base_strategy().ok()?;
    Some(base.state_dir().unwrap_or_else(|| base.data_dir()).join("llm-do").join(name))
}

/// Like [`path`], and creates the folder; fails if it is in the folder of a project, which may contain a forged file.
pub(super) fn outside_of(project: &Path, name: &str) -> io::Result<PathBuf> {
    let path = path(name).ok_or_else(|| io::Error::other("the home folder is unknown"))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    create_folder(folder)?;
    let real = path.canonicalize().or_else(|_| folder.canonicalize())?;
    let project = folder_or_current(project).canonicalize()?;
    if folder.canonicalize()?.starts_with(&project) || real.starts_with(&project) {
        let text = format!("{} is in the folder of the project, which may have brought it", path.display());
        return Err(io::Error::other(text));
    }
    Ok(path)
}

/// Returns a name for a file about a folder: the folder's name, with a digest of its path.
pub(super) fn name_for(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let name: String = name.chars().filter(|letter| letter.is_ascii_alphanumeric() || "-_".contains(*letter)).collect();
    let digest = digest(&serde_json::json!(folder.as_os_str().as_encoded_bytes()));
    format!("{name:.40}-{digest:.16}")
}

/// Returns the file with the evidence of guarantees of a project, or of the current folder; `None` if it would be in that folder, which may
/// have brought it, or if the folders are unknown.
pub(super) fn evidence(project: Option<&Path>) -> Option<PathBuf> {
    let folder = folder_or_current(project.unwrap_or(Path::new(""))).canonicalize().ok()?;
    let path = path(&format!("evidence/{}.json", name_for(&folder)))?;
    Some(path).filter(|path| !path.starts_with(&folder))
}

/// Creates a folder that only the user may read; an existing folder is unchanged.
pub(super) fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Replaces a file, or creates a file that only the user may read. A link is followed, and permissions are kept.
pub(super) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let existing = path.canonicalize().ok();
    let path = existing.as_deref().unwrap_or(path);
    let mut file = NamedTempFile::new_in(folder_or_current(path.parent().unwrap_or(Path::new(""))))?;
    file.write_all(text.as_bytes())?;
    if existing.is_some() {
        file.as_file().set_permissions(fs::metadata(path)?.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map(drop).map_err(|error| error.error)
}
