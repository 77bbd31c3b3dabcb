//! `list_files`: the files of a tree.

use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use globset::{GlobBuilder, GlobMatcher};

use super::fault::{Fault, shown};
use super::root::Root;
use super::text::{count, plural};
use super::walk::{MAX_TIME, Omitted, walk};

/// The maximum length of a pattern in bytes.
const MAX_PATTERN: usize = 1000;

/// The length of an answer in bytes from which no further file is added.
const MAX_ANSWER: usize = 200_000;

/// The selection of the listed files.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listing<'a> {
    pub(super) path: &'a str,
    pub(super) pattern: Option<&'a str>,
    pub(super) include_ignored: bool,
    /// The number of skipped files.
    pub(super) offset: u32,
    /// The maximum number of files.
    pub(super) limit: u32,
}

/// Lists files, one path on each line.
pub(super) fn list(root: &Root, listing: Listing<'_>) -> Result<String, Fault> {
    let pattern = listing.pattern.map(glob).transpose()?;
    let (first, mut end) = page(listing.offset, listing.limit);
    let (mut text, mut total, mut unnamed) = (String::new(), 0, 0);
    let deadline = Instant::now() + MAX_TIME;
    let omitted = walk(root, listing.path, !listing.include_ignored, deadline, &mut |found| {
        if pattern.as_ref().is_some_and(|pattern| !pattern.is_match(&found.below)) {
            return Ok(ControlFlow::Continue(()));
        }
        if found.path.to_str().is_none() {
            // No tool could open a file without a valid name.
            unnamed += 1;
            return Ok(ControlFlow::Continue(()));
        }
        if (first..end).contains(&total) {
            let _ = writeln!(text, "{}{}", listed(&found.path), if found.is_link { " (symbolic link)" } else { "" });
        }
        total += 1;
        if text.len() >= MAX_ANSWER {
            end = end.min(total);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let mut notes = notes(first, end, total, "file", &omitted);
    if omitted.is_late {
        notes.push(format!("[stopped after {} s: choose a folder as `path`]", MAX_TIME.as_secs()));
    }
    if unnamed > 0 {
        notes.push(format!("[{} not listed: the name is not UTF-8]", count(unnamed, "file")));
    }
    text.push_str(&notes.join("\n"));
    Ok(text.trim_end_matches('\n').to_owned())
}

/// Returns the first and the last number of a page, 0-based and exclusive.
pub(super) fn page(offset: u32, limit: u32) -> (usize, usize) {
    let first = offset as usize;
    (first, first.saturating_add(limit.max(1) as usize))
}

/// Returns a path for a list; as JSON if it has invisible characters, so that a model can write it.
pub(super) fn listed(path: &Path) -> String {
    let plain = path.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/");
    if plain == shown(path) && plain.trim() == plain { plain } else { serde_json::Value::from(plain).to_string() }
}

/// Returns notes on the parts that are not on the page, as lines.
pub(super) fn notes(first: usize, end: usize, total: usize, unit: &str, omitted: &Omitted) -> Vec<String> {
    let mut notes = Vec::new();
    let page = match total {
        0 => Some(format!("[no {unit} found]")),
        _ if first >= total => Some(format!("[offset {first} is past the end: there are {}]", count(total, unit))),
        _ if end < total => {
            Some(format!("[{} {} to {end} of {total}; to go on, set `offset` to {end}]", plural(unit), first + 1))
        }
        _ if first > 0 => Some(format!("[{} {} to {total} of {total}]", plural(unit), first + 1)),
        _ => None,
    };
    notes.extend(page);
    if omitted.is_stopped {
        notes.push("[the tree is too large: not all of it was visited; choose a folder in it as `path`]".to_owned());
    }
    if omitted.has_more_patterns {
        notes.push("[ignore files are too large: not all of their patterns were applied]".to_owned());
    }
    if omitted.folders > 0 {
        notes.push(format!("[{} could not be read]", count(omitted.folders, "folder")));
    }
    notes
}

/// Compiles a glob: `*` and `?` match no `/`, `**` matches any number of folders.
pub(super) fn glob(pattern: &str) -> Result<GlobMatcher, Fault> {
    let invalid = |why: &str| Fault::Invalid(format!("invalid pattern `{}`: {why}", shown(Path::new(pattern))));
    if pattern.len() > MAX_PATTERN {
        return Err(Fault::Invalid(format!("the pattern is longer than {MAX_PATTERN} bytes")));
    }
    if pattern.starts_with('/') || pattern.split(['/', '\\']).any(|part| part == "..") {
        return Err(invalid("patterns are matched against paths below `path`; remove `..` and a leading `/`"));
    }
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    glob.map(|glob| glob.compile_matcher()).map_err(|error| invalid(&error.to_string()))
}
