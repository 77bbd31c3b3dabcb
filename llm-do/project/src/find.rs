//! Finds the files of a project by convention.

use std::path::{Path, PathBuf};

use llm_do_core::declare::worker_file::EXTENSIONS;
use walkdir::WalkDir;

use super::report::{Report, shown};
use super::{learned, script, skills};

/// The extension of tool files.
const TOOL: &str = "tool";
/// The folders whose files belong to the project, at any depth, in addition to files directly in the project's folder.
const FOLDERS: [&str; 2] = ["workers", "tools"];
/// The extension of subagent files.
const SUBAGENT: &str = "md";
/// The folder of subagents.
const SUBAGENTS: &str = ".claude/agents";
const MAX_DEPTH: usize = 16;
/// The maximum number of files and folders that are listed below one folder.
const MAX_ENTRIES: usize = 10_000;

/// The files of a project, sorted by path.
#[derive(Debug, Default)]
pub(super) struct Files {
    pub(super) workers: Vec<PathBuf>,
    pub(super) tools: Vec<PathBuf>,
    pub(super) scripts: Vec<PathBuf>,
    pub(super) learned: Vec<PathBuf>,
    pub(super) subagents: Vec<PathBuf>,
    /// The folders of skills.
    pub(super) skills: Vec<PathBuf>,
}

/// Finds the files below `root`; reports folders that cannot be read.
pub(super) fn find(root: &Path, report: &mut Report) -> Files {
    let mut files = Files::default();
    let mut own = below(root, 1, report);
    own.extend(FOLDERS.iter().flat_map(|folder| below(&root.join(folder), MAX_DEPTH, report)));
    for path in own {
        let extension = path.extension().unwrap_or_default();
        report.misspelled(&path, &[EXTENSIONS[0], EXTENSIONS[1], TOOL]);
        if EXTENSIONS.iter().any(|known| extension == *known) {
            files.workers.push(path);
        } else if extension == TOOL {
            files.tools.push(path);
        } else if extension == script::EXTENSION && path.parent() != Some(root) && !script::is_helper(&path) {
            files.scripts.push(path);
        } else if learned::is_learned(&path) && path.parent() != Some(root) {
            files.learned.push(path);
        }
    }
    let mut subagents = Vec::new();
    // An error ends only this folder: the files found so far are used.
    drop(report.foreign(|report| subagents = below(&root.join(SUBAGENTS), MAX_DEPTH, report)));
    for path in &subagents {
        report.misspelled(path, &[SUBAGENT]);
    }
    files.subagents =
        subagents.into_iter().filter(|path| path.extension().is_some_and(|end| end == SUBAGENT)).collect();
    files.skills = skills::folders(root, report);
    files
}

/// Lists the files below a folder, which may be missing; hidden files and folders are omitted.
fn below(folder: &Path, max_depth: usize, report: &mut Report) -> Vec<PathBuf> {
    if !folder.is_dir() || !report.is_inside(folder) {
        return Vec::new();
    }
    let is_shown =
        |entry: &walkdir::DirEntry| entry.depth() == 0 || !entry.file_name().as_encoded_bytes().starts_with(b".");
    let entries = WalkDir::new(folder).max_depth(max_depth).sort_by_file_name().into_iter().filter_entry(is_shown);
    let mut files = Vec::new();
    for (count, entry) in entries.enumerate() {
        if count == MAX_ENTRIES {
            report.fail(shown(folder).display(), format_args!("more than {MAX_ENTRIES} files and folders"));
            break;
        }
        match entry {
            // A link to a file is followed, but not a link to a folder, which may lead to a cycle, or outside.
            Ok(entry) if !entry.path().is_dir() => files.push(entry.into_path()),
            Ok(entry) if entry.path_is_symlink() && entry.depth() > 0 && max_depth > 1 => {
                report.warnings.push(format!("{}: left out: it is a link to a folder", shown(entry.path()).display()));
            }
            Ok(_) => {}
            Err(error) => report.fail(shown(folder).display(), format_args!("cannot be read: {error}")),
        }
    }
    files
}
