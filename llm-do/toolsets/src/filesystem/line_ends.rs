//! The parts of a text file that reading hides: byte order mark, line ends and the final line break. A change preserves
//! them.

use std::borrow::Cow;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::text::{BYTE_ORDER_MARK, without_mark};

/// The maximum number of lines, old and new together, that are matched with each other.
const MAX_COMPARED: usize = 5_000;

/// The end of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineEnd {
    Lf,
    CrLf,
}

impl LineEnd {
    fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }
}

/// A line with its end; the last line may have none.
#[derive(Clone, Copy, Debug)]
struct TextLine<'a> {
    text: &'a str,
    end: Option<LineEnd>,
}

fn lines(text: &str) -> Vec<TextLine<'_>> {
    text.split_inclusive('\n').map(line).collect()
}

fn line(line: &str) -> TextLine<'_> {
    match (line.strip_suffix("\r\n"), line.strip_suffix('\n')) {
        (Some(text), _) => TextLine { text, end: Some(LineEnd::CrLf) },
        (None, Some(text)) => TextLine { text, end: Some(LineEnd::Lf) },
        (None, None) => TextLine { text: line, end: None },
    }
}

/// The line ends of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineEnds {
    /// The text has no line break.
    None,
    Lf,
    CrLf,
    Mixed,
}

impl LineEnds {
    pub(super) fn detect(text: &str) -> Self {
        let (breaks, crlf) = (text.matches('\n').count(), text.matches("\r\n").count());
        match (breaks, crlf) {
            (0, _) => Self::None,
            (_, 0) => Self::Lf,
            (breaks, crlf) if breaks == crlf => Self::CrLf,
            _ => Self::Mixed,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Lf => r"`\n`",
            Self::CrLf => r"`\r\n`",
            Self::Mixed => "mixed",
        }
    }
}

/// Returns the content that replaces `old`, with the hidden parts of `old`: its byte order mark, its line ends and its
/// final line break. A `\r\n` in `new` is preserved.
pub(super) fn kept<'n>(old: &str, new: &'n str) -> Cow<'n, str> {
    let (old_text, new_text) = (without_mark(old), without_mark(new));
    let whole = with_final_break_of(old_text, new_text);
    let ended = with_line_ends_of(old_text, &whole, LineEnd::Lf);
    if has_mark(old) {
        return Cow::Owned(format!("{BYTE_ORDER_MARK}{ended}"));
    }
    let is_given = !has_mark(new) && *ended == *new;
    if is_given { Cow::Borrowed(new) } else { Cow::Owned(format!("{}{ended}", &new[..new.len() - new_text.len()])) }
}

fn has_mark(text: &str) -> bool {
    text.starts_with(BYTE_ORDER_MARK)
}

/// Returns `new` with a final line break if and only if `old` has one. An empty text stays empty.
fn with_final_break_of<'n>(old: &str, new: &'n str) -> Cow<'n, str> {
    if old.is_empty() || new.is_empty() {
        return Cow::Borrowed(new);
    }
    match (old.ends_with('\n'), new.strip_suffix("\r\n").or_else(|| new.strip_suffix('\n'))) {
        (true, None) => Cow::Owned(format!("{new}\n")),
        (false, Some(without)) if !without.is_empty() => Cow::Borrowed(without),
        _ => Cow::Borrowed(new),
    }
}

/// Returns `new` with the line ends of the replaced part `old`: each line keeps its own, and a new line has the end of
/// the line before.
///
/// A line that ends with `\r\n` in `new` keeps it. `around` is the line end of a part without one.
pub(super) fn with_line_ends_of<'n>(old: &str, new: &'n str, around: LineEnd) -> Cow<'n, str> {
    match (LineEnds::detect(old), around) {
        (LineEnds::Lf, _) | (LineEnds::None, LineEnd::Lf) => return Cow::Borrowed(new),
        (LineEnds::CrLf, _) | (LineEnds::None, LineEnd::CrLf) => return with_crlf(new),
        (LineEnds::Mixed, _) => {}
    }
    let (old, new) = (lines(old), lines(new));
    let end_of = |line: usize| old[..=line.min(old.len() - 1)].iter().rev().find_map(|line| line.end).unwrap_or(around);
    let mut ended = String::new();
    for (line, same) in new.iter().zip(matched(&old, &new)) {
        ended.push_str(line.text);
        match line.end {
            Some(LineEnd::Lf) => ended.push_str(end_of(same).as_str()),
            Some(LineEnd::CrLf) => ended.push_str("\r\n"),
            None => {}
        }
    }
    Cow::Owned(ended)
}

/// Returns a text in which each line ends with `\r\n`.
fn with_crlf(text: &str) -> Cow<'_, str> {
    match LineEnds::detect(text) {
        LineEnds::None | LineEnds::CrLf => Cow::Borrowed(text),
        LineEnds::Lf => Cow::Owned(text.replace('\n', "\r\n")),
        LineEnds::Mixed => Cow::Owned(text.replace("\r\n", "\n").replace('\n', "\r\n")),
    }
}

/// Returns for each new line the index of the old line that it equals, replaces or follows.
fn matched(old: &[TextLine<'_>], new: &[TextLine<'_>]) -> Vec<usize> {
    let equal = |(one, other): &(&TextLine<'_>, &TextLine<'_>)| one.text == other.text;
    let start = old.iter().zip(new).take_while(equal).count();
    let rest = (&old[start..], &new[start..]);
    let end = rest.0.iter().rev().zip(rest.1.iter().rev()).take_while(equal).count();
    let (old_changed, new_changed) = (&old[start..old.len() - end], &new[start..new.len() - end]);
    let mut matched: Vec<_> = (0..start).collect();
    matched.extend(matched_changes(old_changed, new_changed).into_iter().map(|line| match line {
        Some(line) => start + line,
        None => start.saturating_sub(1),
    }));
    matched.extend(old.len() - end..old.len());
    matched
}

/// Like `matched`, for the lines from the first change to the last one; `None` for a line before all old lines.
fn matched_changes(old: &[TextLine<'_>], new: &[TextLine<'_>]) -> Vec<Option<usize>> {
    let texts = |lines: &[TextLine<'_>]| lines.iter().map(|line| line.text.to_owned()).collect::<Vec<_>>();
    let whole = DiffOp::Replace { old_index: 0, old_len: old.len(), new_index: 0, new_len: new.len() };
    let ops = match old.len() + new.len() {
        ..=MAX_COMPARED if !old.is_empty() => capture_diff_slices(Algorithm::Myers, &texts(old), &texts(new)),
        _ => vec![whole],
    };
    let lines_of = |op: &DiffOp| -> Vec<_> {
        let (old, new) = (op.old_range(), op.new_range());
        new.enumerate().map(move |(at, _)| Some((old.start + at).min(old.end - 1))).collect()
    };
    let of_insertion = |op: &DiffOp| vec![op.old_range().start.checked_sub(1); op.new_range().len()];
    ops.iter().flat_map(|op| if op.old_range().is_empty() { of_insertion(op) } else { lines_of(op) }).collect()
}

/// Lists the changes of hidden parts that a line difference does not show.
pub(super) fn changes(old: &str, new: &str) -> Vec<String> {
    let mark = match (has_mark(old), has_mark(new)) {
        (true, false) => Some("the byte order mark is removed".to_owned()),
        (false, true) => Some("a byte order mark is added".to_owned()),
        _ => None,
    };
    let (before, after) = (LineEnds::detect(old), LineEnds::detect(new));
    let is_changed = before != after && before != LineEnds::None && after != LineEnds::None;
    let ends = is_changed.then(|| format!("the line ends change from {} to {}", before.name(), after.name()));
    mark.into_iter().chain(ends).collect()
}

/// Lists the hidden parts of a replaced file that were preserved, although the given text differs.
pub(super) fn kept_in(given: &str, written: &str) -> Vec<&'static str> {
    let mark = (has_mark(written) && !has_mark(given)).then_some("the byte order mark");
    let has_more = written.matches("\r\n").count() > given.matches("\r\n").count();
    let ends = has_more.then_some(r"`\r\n` line ends");
    let end = match (given.ends_with('\n'), written.ends_with('\n')) {
        (false, true) => Some("the line break at the end"),
        (true, false) => Some("no line break at the end"),
        _ => None,
    };
    mark.into_iter().chain(ends).chain(end).collect()
}

/// A text with `\n` at the end of each line, which maps its places to those of the original.
pub(super) struct Unified<'a> {
    pub(super) text: Cow<'a, str>,
    /// The places in `text` of line breaks that are `\r\n` in the original.
    crlf: Vec<usize>,
}

impl<'a> Unified<'a> {
    /// Returns whether all line breaks equal those of the original.
    pub(super) fn is_original(&self) -> bool {
        self.crlf.is_empty()
    }

    pub(super) fn new(text: &'a str) -> Self {
        let crlf = text.match_indices("\r\n").enumerate().map(|(before, (place, _))| place - before).collect();
        let text = if text.contains("\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) };
        Self { text, crlf }
    }

    /// Returns a text with its original line breaks.
    pub(super) fn literal(text: &'a str) -> Self {
        Self { text: Cow::Borrowed(text), crlf: Vec::new() }
    }

    /// Returns the place in the original of a place of the text.
    pub(super) fn original(&self, place: usize) -> usize {
        place + self.crlf.partition_point(|crlf| *crlf < place)
    }
}

/// Returns the line end at a place of a text: the end of its line, or of the line before.
pub(super) fn around(text: &str, place: usize) -> LineEnd {
    let end_at = |at: usize| if text[..at].ends_with('\r') { LineEnd::CrLf } else { LineEnd::Lf };
    let after = text[place..].find('\n').map(|at| place + at);
    after.or_else(|| text[..place].rfind('\n')).map_or(LineEnd::Lf, end_at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{LineEnd, Unified, kept, with_line_ends_of};

    #[test]
    fn each_line_of_a_mixed_text_keeps_its_own_end() {
        let old = "a\r\nb\nc\r\nd\n";
        for (new, ended) in [
            ("a\nb\nc\nd\n", "a\r\nb\nc\r\nd\n"),
            ("a\nx\nb\nc\nd\n", "a\r\nx\r\nb\nc\r\nd\n"),
            ("b\nc\nd\n", "b\nc\r\nd\n"),
            ("new\na\nb\nc\nd\n", "new\r\na\r\nb\nc\r\nd\n"),
            ("a\nB\nC\nd\n", "a\r\nB\nC\r\nd\n"),
            ("a\nb\nc\nd\ne\n", "a\r\nb\nc\r\nd\ne\n"),
            ("a\nb\r\n", "a\r\nb\r\n"),
            ("", ""),
        ] {
            assert_eq!(with_line_ends_of(old, new, LineEnd::Lf), ended, "{new:?}");
        }
    }

    proptest! {
        #[test]
        fn a_text_that_is_read_and_written_again_is_the_same(old in "(\u{feff})?([ab]{0,2}(\r\n|\n)){0,6}[ab]{0,2}") {
            let shown = Unified::new(super::without_mark(&old)).text.into_owned();
            prop_assert_eq!(&*kept(&old, &shown), old.as_str());
            let without = shown.strip_suffix('\n').unwrap_or(&shown);
            if !without.is_empty() && !without.ends_with('\n') {
                prop_assert_eq!(&*kept(&old, without), old.as_str());
            }
        }

        #[test]
        fn a_place_of_the_unified_text_is_known_in_the_original(text in "([aä]{0,2}(\r\n|\n|\r)){0,6}[ab]{0,2}") {
            let unified = Unified::new(&text);
            for (place, character) in unified.text.char_indices() {
                let original = &text[unified.original(place)..];
                let expected = original.strip_prefix('\r').filter(|_| character == '\n').unwrap_or(original);
                prop_assert!(expected.starts_with(character));
            }
            prop_assert_eq!(unified.original(unified.text.len()), text.len());
        }
    }
}
