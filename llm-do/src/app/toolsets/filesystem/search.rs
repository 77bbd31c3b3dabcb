//! `search_files`: lines that match a regular expression.

mod page;

use std::ops::ControlFlow;

use globset::GlobMatcher;
use regex::bytes::{Regex, RegexBuilder};

use self::page::Page;
use super::fault::Fault;
use super::list::glob;
use super::locate::{Links, Located, Missing, Place, locate};
use super::open;
use super::root::Root;
use super::walk::{Found, Omitted, walk};

/// The maximum number of bytes that one search reads: 512 MiB.
const MAX_BYTES: u64 = 512 << 20;

/// The maximum size of a compiled expression in bytes.
const MAX_REGEX: usize = 1 << 20;

/// What is searched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Query<'a> {
    pub(super) regex: &'a str,
    pub(super) path: &'a str,
    pub(super) pattern: Option<&'a str>,
    pub(super) ignore_case: bool,
    pub(super) include_ignored: bool,
    /// The number of lines around a match that are shown.
    pub(super) context: u32,
    /// How many matches are skipped.
    pub(super) offset: u32,
    /// The maximum number of matches.
    pub(super) limit: u32,
}

/// Searches a file, or the files of a folder, line by line.
pub(super) fn search(root: &Root, query: Query<'_>) -> Result<String, Fault> {
    let regex = compile(query.regex, query.ignore_case)?;
    let pattern = query.pattern.map(glob).transpose()?;
    let mut search =
        Search { root, regex, pattern, page: Page::new(&query), left: MAX_BYTES, skipped: Skipped::default() };
    let omitted = match single_file(root, query.path)? {
        Some(place) => {
            let bytes = open::read(&place, root.max_bytes, "")?.bytes;
            search.lines_of(&place, &bytes);
            Omitted::default()
        }
        None => walk(root, query.path, !query.include_ignored, &mut |found| search.visit(found))?,
    };
    Ok(search.page.finish(&omitted, search.skipped))
}

/// Returns the entry at `path`, if it is a file.
fn single_file(root: &Root, path: &str) -> Result<Option<Place>, Fault> {
    match locate(root, path, Links::Follow, Missing::Fail)? {
        Located::Entry(place) if place.folder.symlink_metadata(&place.name).is_ok_and(|found| found.is_file()) => {
            root.rules.check_read(&place.path, false)?;
            Ok(Some(place))
        }
        _ => Ok(None),
    }
}

fn compile(pattern: &str, ignore_case: bool) -> Result<Regex, Fault> {
    let compiled = RegexBuilder::new(pattern).case_insensitive(ignore_case).size_limit(MAX_REGEX).build();
    compiled.map_err(|error| Fault::Invalid(format!("invalid regular expression: {error}")))
}

/// A search in progress.
struct Search<'a> {
    root: &'a Root,
    regex: Regex,
    pattern: Option<GlobMatcher>,
    page: Page,
    /// How many bytes may still be read.
    left: u64,
    skipped: Skipped,
}

/// The files that were not searched.
#[derive(Clone, Copy, Debug, Default)]
struct Skipped {
    large: usize,
    binary: usize,
    unreadable: usize,
    /// Whether the search stopped at its maximum number of bytes.
    is_stopped: bool,
}

impl Search<'_> {
    fn visit(&mut self, found: &Found<'_>) -> Result<ControlFlow<()>, Fault> {
        // The target of a link is searched where it is.
        if found.is_link || self.pattern.as_ref().is_some_and(|pattern| !pattern.is_match(&found.below)) {
            return Ok(ControlFlow::Continue(()));
        }
        let place = found.place()?;
        let bytes = match open::read(&place, self.root.max_bytes, "") {
            Ok(content) => content.bytes,
            Err(fault) => {
                let is_large = matches!(fault, Fault::TooLarge { .. });
                *(if is_large { &mut self.skipped.large } else { &mut self.skipped.unreadable }) += 1;
                return Ok(ControlFlow::Continue(()));
            }
        };
        self.lines_of(&place, &bytes);
        self.left = self.left.saturating_sub(bytes.len() as u64);
        self.skipped.is_stopped = self.left == 0;
        Ok(if self.skipped.is_stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    fn lines_of(&mut self, place: &Place, bytes: &[u8]) {
        if bytes.contains(&0) {
            self.skipped.binary += 1;
            return;
        }
        // Most files have no match: their lines are not stored.
        if !lines(bytes).any(|line| self.regex.is_match(line)) {
            return;
        }
        let lines: Vec<_> = lines(bytes).collect();
        let matches: Vec<_> = (0..lines.len()).filter(|line| self.regex.is_match(lines[*line])).collect();
        self.page.push(&place.path, &lines, &matches);
    }
}

/// Returns the lines without their ends; a line break at the end begins no line.
fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    lines.map(|line| line.strip_suffix(b"\n").unwrap_or(line)).map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}
