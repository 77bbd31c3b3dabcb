//! Parts of a long text: its beginning and end, a page of it, and the places of another text in it.

use crate::base::clip::{clip, clip_start};

/// How every notice about a shortened result begins.
pub(super) const MARK: &str = "[the middle of this result is left out: ";
/// The maximum size in bytes of a text that is searched for.
pub(super) const MAX_WANTED: usize = 200;
/// What the longest notice has, in bytes.
const NOTICE: usize = 320;
/// How many bytes are shown around a text that was found.
const AROUND: usize = 100;
/// How many places one search returns.
const MAX_FOUND: usize = 50;

/// Returns the beginning and the end of a text, with what is left out, in at most `max` bytes.
pub(super) fn shortened(text: &str, max: usize, handle: Option<&str>) -> String {
    let shown = max.saturating_sub(NOTICE);
    let beginning = clip(text, shown / 4 * 3);
    let end = clip_start(text, shown / 4);
    let (from, total) = (beginning.len(), text.len());
    let left = total - from - end.len();
    let how = match handle {
        Some(handle) => format!("read it with `result_read` or `result_search`, handle `{handle}`"),
        None => "call the tool for a smaller part".to_owned(),
    };
    format!("{beginning}\n\n{MARK}{left} of {total} bytes, from byte {from} on; {how}]\n\n{end}")
}

/// Returns the handle in a shortened text.
pub(super) fn handle_in(text: &str) -> Option<&str> {
    let (_, notice) = text.split_once(MARK)?;
    let (_, handle) = notice.split_once("handle `")?;
    handle.split_once('`').map(|(handle, _)| handle)
}

/// Returns the part that begins at a byte, in at most `max` bytes, with where to go on.
pub(super) fn page(text: &str, from: usize, max: usize) -> Result<String, String> {
    let from = start(text, from)?;
    let page = clip(&text[from..], max.saturating_sub(NOTICE));
    let (end, total) = (from + page.len(), text.len());
    let next = if end == total { "the end".to_owned() } else { format!("go on with `from`: {end}") };
    Ok(format!("{page}\n\n[bytes {from} to {end} of {total}; {next}]"))
}

/// Returns the places of `wanted` at a byte or after it, in at most `max` bytes, with where to go on.
pub(super) fn search(text: &str, wanted: &str, from: usize, max: usize) -> Result<String, String> {
    if wanted.is_empty() || wanted.len() > MAX_WANTED {
        let bytes = wanted.len();
        return Err(format!("`text` has {bytes} bytes; write 1 to {MAX_WANTED}"));
    }
    let mut next = start(text, from)?;
    // Bytes stay where they are.
    let (searched, wanted) = (text.to_ascii_lowercase(), wanted.to_ascii_lowercase());
    let (mut places, mut found) = (0, String::new());
    while let Some(at) = searched[next..].find(&wanted).map(|at| at + next) {
        let end = at + wanted.len();
        let (before, after) = (clip_start(&text[..at], AROUND), clip(&text[end..], AROUND));
        let line = format!("byte {at}: {before}{}{after}", &text[at..end]).replace(['\r', '\n'], " ");
        if places == MAX_FOUND || found.len() + line.len() + NOTICE > max {
            return Ok(format!("{found}\n[there are more; go on with `from`: {at}]"));
        }
        (places, next) = (places + 1, end);
        found = found + &line + "\n";
    }
    let total = text.len();
    Ok(match places {
        0 => format!("not found from byte {from} on, of {total}"),
        _ => format!("{found}\n[no more until the end, byte {total}]"),
    })
}

/// Returns the beginning of the character that a byte belongs to.
fn start(text: &str, from: usize) -> Result<usize, String> {
    if from > text.len() {
        return Err(format!("`from` is {from}, but the result has {} bytes", text.len()));
    }
    Ok(clip(text, from).len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{MARK, page, search, shortened};

    fn next_of(text: &str) -> Option<usize> {
        let (_, next) = text.rsplit_once("go on with `from`: ")?;
        next.trim_end_matches(']').parse().ok()
    }

    proptest! {
        #[test]
        fn a_shortened_text_is_within_its_bound_and_has_the_beginning_and_the_end(
            text in "[a-zé\u{1f600}\n]{1100,3000}",
            max in 1_024..1_100_usize,
        ) {
            let short = shortened(&text, max, Some("0123456789abcdef"));
            prop_assert!(short.len() <= max, "{} of {max}", short.len());
            let (beginning, rest) = short.split_once(&format!("\n\n{MARK}")).unwrap();
            let (_, end) = rest.split_once("]\n\n").unwrap();
            prop_assert!(text.starts_with(beginning) && text.ends_with(end) && !beginning.is_empty() && !end.is_empty());
        }

        #[test]
        fn the_pages_of_a_text_are_the_text(text in "[a-zé\u{1f600}\n]{0,4000}", max in 1_024..2_000_usize) {
            let (mut whole, mut from) = (String::new(), Some(0));
            while let Some(start) = from {
                let read = page(&text, start, max).unwrap();
                prop_assert!(read.len() <= max);
                whole += read.rsplit_once("\n\n[bytes ").unwrap().0;
                from = next_of(&read);
            }
            prop_assert_eq!(whole, text);
        }

        #[test]
        fn every_place_is_found(parts in prop::collection::vec("[a-cé\n ]{0,40}", 1..200), max in 1_024..4_000_usize) {
            let text = parts.join("NEEDLE");
            let (mut places, mut from) = (0, Some(0));
            while let Some(start) = from {
                let found = search(&text, "needle", start, max).unwrap();
                prop_assert!(found.len() <= max);
                places += found.lines().filter(|line| line.starts_with("byte ")).count();
                from = next_of(&found);
            }
            prop_assert_eq!(places, text.matches("NEEDLE").count());
        }
    }

    #[test]
    fn a_byte_beyond_the_text_and_a_text_that_is_too_long_are_refused() {
        assert_eq!(page("ab", 3, 2_000).unwrap_err(), "`from` is 3, but the result has 2 bytes");
        assert_eq!(search("ab", "", 0, 2_000).unwrap_err(), "`text` has 0 bytes; write 1 to 200");
        assert_eq!(search("ab", &"x".repeat(201), 0, 2_000).unwrap_err(), "`text` has 201 bytes; write 1 to 200");
        assert_eq!(search("ab", "c", 1, 2_000).unwrap(), "not found from byte 1 on, of 2");
    }
}
