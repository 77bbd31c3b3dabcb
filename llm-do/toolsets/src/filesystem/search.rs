//! `search_files`: lines that match a regular expression.

mod page;

use std::ops::ControlFlow;
use std::time::Instant;

use globset::GlobMatcher;
use regex::bytes::{Regex, RegexBuilder};

use self::page::{Match, MatchPage};
use super::fault::Fault;
use super::list::glob;
use super::locate::{Links, Located, Missing, Place, locate};
use super::open;
use super::root::Root;
use super::walk::{MAX_TIME, Omitted, WalkEntry, walk};

/// The maximum number of bytes that one search reads: 512 MiB.
const MAX_BYTES: u64 = 512 << 20;

/// The maximum length of an expression in bytes.
const MAX_REGEX: usize = 4_000;

/// The sizes of compiled expressions in bytes, each with the maximum length of a searched line: for each byte of a
/// line, an expression may take a step for each of its states.
const SIZES: [(usize, usize); 2] = [(32 << 10, 1 << 20), (1 << 20, 64 << 10)];

/// The maximum size of the cache of an expression's automaton, in bytes.
const MAX_CACHE: usize = 2 << 20;

/// The number of searched bytes between two checks of the deadline: in several files; more within one line.
const INTERVAL: usize = 2 << 10;

/// A search request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Query<'a> {
    pub(super) regex: &'a str,
    pub(super) path: &'a str,
    pub(super) pattern: Option<&'a str>,
    pub(super) ignore_case: bool,
    pub(super) include_ignored: bool,
    /// The number of shown lines around a match.
    pub(super) context: u32,
    /// The number of skipped matches.
    pub(super) offset: u32,
    /// The maximum number of matches.
    pub(super) limit: u32,
}

/// Searches a file, or the files of a folder, line by line.
pub(super) fn search(root: &Root, query: Query<'_>) -> Result<String, Fault> {
    let (regex, max_line) = compile(query.regex, query.ignore_case)?;
    let pattern = query.pattern.map(glob).transpose()?;
    let mut search = TextSearch {
        root,
        regex,
        max_line,
        pattern,
        page: MatchPage::new(&query),
        left: MAX_BYTES,
        deadline: Instant::now() + MAX_TIME,
        unchecked: 0,
        is_late: false,
        skipped: Skipped::default(),
    };
    let mut omitted = match single_file(root, query.path)? {
        Some(place) => {
            let bytes = open::read(&place, root.max_bytes, "")?.bytes;
            search.lines_of(&place, &bytes)?;
            Omitted::default()
        }
        None => walk(root, query.path, !query.include_ignored, search.deadline, &mut |found| search.visit(found))?,
    };
    omitted.is_late |= search.is_late;
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

/// Compiles an expression; returns it with the maximum length of a line that it searches.
fn compile(pattern: &str, ignore_case: bool) -> Result<(Regex, usize), Fault> {
    if pattern.len() > MAX_REGEX {
        let bytes = pattern.len();
        return Err(Fault::Invalid(format!(
            "the regular expression has {bytes} bytes; the maximum is {MAX_REGEX}: search for less"
        )));
    }
    let build = |size| {
        let mut builder = RegexBuilder::new(pattern);
        builder.case_insensitive(ignore_case).size_limit(size).dfa_size_limit(MAX_CACHE).build()
    };
    let [(small, long_line), (large, line)] = SIZES;
    match build(small) {
        Ok(regex) => Ok((regex, long_line)),
        Err(_) => match build(large) {
            Ok(regex) => Ok((regex, line)),
            Err(error) => Err(Fault::Invalid(format!("invalid regular expression: {error}"))),
        },
    }
}

/// A search in progress.
struct TextSearch<'a> {
    root: &'a Root,
    regex: Regex,
    /// The maximum length of a searched line.
    max_line: usize,
    pattern: Option<GlobMatcher>,
    page: MatchPage,
    /// The number of bytes that may still be read.
    left: u64,
    deadline: Instant,
    /// The number of bytes searched since the last check of the deadline.
    unchecked: usize,
    /// Whether the search stopped at its maximum time.
    is_late: bool,
    skipped: Skipped,
}

/// The parts that were not searched.
#[derive(Clone, Copy, Debug, Default)]
struct Skipped {
    large: usize,
    binary: usize,
    unreadable: usize,
    long_lines: usize,
    /// Whether the search stopped at its maximum number of bytes.
    is_stopped: bool,
}

impl TextSearch<'_> {
    fn visit(&mut self, found: &WalkEntry<'_>) -> Result<ControlFlow<()>, Fault> {
        // The target of a link is searched at its own path.
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
        self.lines_of(&place, &bytes)?;
        self.left = self.left.saturating_sub(bytes.len() as u64);
        self.skipped.is_stopped = self.left == 0;
        Ok(if self.skipped.is_stopped || self.is_late { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    fn lines_of(&mut self, place: &Place, bytes: &[u8]) -> Result<(), Fault> {
        if bytes.contains(&0) {
            self.skipped.binary += 1;
            return Ok(());
        }
        let (mut found, mut count, mut start) = (Vec::new(), 0, 0);
        for (line, text) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            if self.is_match(text) {
                // Only the matches of the page are kept, and the next one.
                if self.page.needs(count) {
                    found.push(Match { line, start });
                }
                count += 1;
            }
            start += text.len();
            self.check_time(text.len())?;
            if self.is_late {
                break;
            }
        }
        self.page.push(&place.path, bytes, &found, count);
        Ok(())
    }

    /// Checks the deadline and the cancellation after each [`INTERVAL`].
    fn check_time(&mut self, searched: usize) -> Result<(), Fault> {
        self.unchecked += searched;
        if self.unchecked < INTERVAL {
            return Ok(());
        }
        self.unchecked = 0;
        self.is_late = Instant::now() > self.deadline;
        self.root.check_cancelled()
    }

    fn is_match(&mut self, line: &[u8]) -> bool {
        let line = without_end(line);
        if line.len() > self.max_line {
            self.skipped.long_lines += 1;
            return false;
        }
        self.regex.is_match(line)
    }
}

/// Returns a line without its end.
fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}
