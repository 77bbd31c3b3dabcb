//! Checks that the arguments of a command stay in the working directory.

use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path};

use super::read_only;

/// The maximum length of a cluster of options in which a path is searched, in bytes.
const MAX_CLUSTER: usize = 1 << 10;

/// Returns whether no argument of a reading command names a path outside the working directory, also through symbolic
/// links.
pub(super) fn stay_inside(words: &[String], root: &Path) -> bool {
    let pattern = read_only::pattern(words);
    let mut paths = words.iter().enumerate().skip(1).filter(|(at, _)| pattern != Some(*at));
    paths.all(|(_, word)| stays_inside(word, root))
}

/// Returns whether a word stays inside, whether a program parses it as a path or as an option with a path.
fn stays_inside(word: &str, root: &Path) -> bool {
    if !is_inside(word, root) {
        return false;
    }
    if let Some(long) = word.strip_prefix("--") {
        return long.split_once('=').is_none_or(|(_, value)| is_inside(value, root));
    }
    let Some(cluster) = word.strip_prefix('-') else { return true };
    let mut values = cluster.char_indices().map(|(at, _)| &cluster[at..]);
    cluster.len() <= MAX_CLUSTER && values.all(|value| is_inside(value, root))
}

/// Returns whether a path is in the working directory with all its links, as far as it exists.
fn is_inside(path: &str, root: &Path) -> bool {
    if Path::new(path).components().any(|part| part == Component::ParentDir) {
        return false;
    }
    let path = root.join(path);
    for existing in path.ancestors() {
        match fs::symlink_metadata(existing) {
            // The target of a dangling link may be anywhere.
            Ok(_) => return existing.canonicalize().is_ok_and(|path| path.starts_with(root)),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => return false,
            Err(_) => {}
        }
    }
    false
}
