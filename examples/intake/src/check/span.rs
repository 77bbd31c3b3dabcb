//! Runs of capitalised words in a note, which can be names or cities.

use super::number::begins_with_number;
use super::text::{Word, any_of, before, is_one_of, range, words};
use super::vocabulary::{DATE_CUES, DAYS, MONTHS, OPENERS, PARTICLES, TITLES};

/// The minimum similarity of a value and a span that mean the same, from 0 to 1.
const MIN_SIMILARITY: f64 = 0.5;

/// Returns the runs of capitalised words in `note`, which can be names or cities.
///
/// Leaves out titles, dates, and words that are capitalised only because they begin a sentence.
pub(super) fn spans(note: &str) -> Vec<&str> {
    let words = words(note);
    let mut spans = Vec::new();
    let mut next = 0;
    while let Some(first) = words.get(next) {
        if begins_span(note, *first) {
            let last = run_end(note, &words, next);
            spans.push(&note[first.start..words[last].end]);
            next = last;
        }
        next += 1;
    }
    spans
}

/// Returns the byte index in `note` at which `span`, a slice of it, begins, including the titles before it.
pub(super) fn start(note: &str, span: &str) -> usize {
    let start = range(note, span).start;
    let lead = note[..start].trim_end_matches(['.', ' ']);
    let title = words(lead).last().copied().filter(|word| word.end == lead.len() && is_one_of(&TITLES, word.text));
    title.map_or(start, |title| self::start(note, &note[title.start..title.end]))
}

/// Removes the titles at the beginning of `name`.
pub(super) fn without_title(name: &str) -> &str {
    match name.split_once(' ') {
        Some((first, rest)) if is_one_of(&TITLES, first.trim_end_matches('.')) => without_title(rest.trim_start()),
        _ => name,
    }
}

/// Returns `value` as `note` writes it, or unchanged if the note has nothing similar.
///
/// A value longer than a span is cut to the span; the last word of a span is completed to the whole span.
pub(super) fn as_written(note: &str, value: &str) -> String {
    find(note, value)
        .map(|found| enclosing_span(note, found).or_else(|| inner_span(note, found)).unwrap_or(found).to_owned())
        .or_else(|| most_similar(value, &spans(note)).map(str::to_owned))
        .unwrap_or_else(|| value.to_owned())
}

/// Returns the span that ends with `found`, a slice of `note`, or `found` itself if it is another part of a span.
fn enclosing_span<'a>(note: &'a str, found: &'a str) -> Option<&'a str> {
    let inner = range(note, found);
    let span = spans(note).into_iter().find(|span| {
        let outer = range(note, span);
        outer.start <= inner.start && inner.end <= outer.end
    })?;
    let is_end = range(note, span).end == inner.end && !found.contains(' ');
    Some(if is_end { span } else { found })
}

/// Returns the first span in `found`, a slice of `note`.
fn inner_span<'a>(note: &'a str, found: &'a str) -> Option<&'a str> {
    let outer = range(note, found);
    spans(note).into_iter().find(|span| {
        let inner = range(note, span);
        outer.start <= inner.start && inner.end <= outer.end
    })
}

/// Finds `value` in `note` as whole words, ignoring case; if a longer span begins there, returns the whole span.
pub(super) fn find<'a>(note: &'a str, value: &str) -> Option<&'a str> {
    if let Some(span) = spans(note).into_iter().find(|span| span.to_lowercase() == value.to_lowercase()) {
        return Some(span);
    }
    let wanted: Vec<_> = words(value).iter().map(|word| word.text.to_lowercase()).collect();
    let words = words(note);
    let is_wanted = |found: &&[Word<'_>]| found.iter().map(|word| word.text.to_lowercase()).eq(wanted.iter().cloned());
    let found = words.windows(wanted.len().max(1)).find(is_wanted)?;
    let (first, last) = (found.first()?, found.last()?);
    let end = spans(note)
        .into_iter()
        .map(|span| range(note, span))
        .find(|span| span.start == first.start)
        .map_or(last.end, |span| span.end.max(last.end));
    Some(&note[first.start..end])
}

/// Whether `outer` contains all words of `inner`.
pub(super) fn is_part(inner: &str, outer: &str) -> bool {
    find(outer, inner).is_some()
}

/// Returns the span that is most similar to `value`, if it reaches [`MIN_SIMILARITY`].
pub(super) fn most_similar<'a>(value: &str, spans: &[&'a str]) -> Option<&'a str> {
    let best = spans.iter().max_by(|a, b| similarity(a, value).total_cmp(&similarity(b, value)))?;
    (similarity(best, value) >= MIN_SIMILARITY).then_some(*best)
}

/// Returns the similarity of two texts, ignoring case: 1 if they are equal, 0 if they have nothing in common.
fn similarity(a: &str, b: &str) -> f64 {
    strsim::normalized_levenshtein(&a.to_lowercase(), &b.to_lowercase())
}

/// Whether a span may begin with `word`.
fn begins_span(note: &str, word: Word<'_>) -> bool {
    is_capitalised(word.text)
        && !is_one_of(&TITLES, word.text)
        && !is_one_of(&OPENERS, word.text)
        && !is_date(note, word)
}

/// Returns the index of the last word of the capitalised run that begins at `first`.
fn run_end(note: &str, words: &[Word<'_>], first: usize) -> usize {
    let mut last = first;
    for next in first + 1..words.len() {
        let word = words[next];
        if !joins(note, words[next - 1], word) || is_one_of(&TITLES, word.text) || is_date(note, word) {
            break;
        }
        if is_capitalised(word.text) || continues_span(word.text) {
            last = next;
        } else if !is_one_of(&PARTICLES, word.text) {
            break;
        }
    }
    last
}

/// Whether two words are separated only by a space, or by the full stop of an abbreviation ("J. Smith", "St. Louis").
fn joins(note: &str, left: Word<'_>, right: Word<'_>) -> bool {
    let abbreviates = left.text.chars().count() <= 2 && is_capitalised(left.text);
    match &note[left.end..right.start] {
        " " => true,
        ". " => abbreviates && !is_one_of(&OPENERS, right.text),
        _ => false,
    }
}

/// Whether `text` begins with a capital letter and is not a number ("Fifteen-year-old").
fn is_capitalised(text: &str) -> bool {
    text.starts_with(char::is_uppercase) && !begins_with_number(text)
}

/// Whether `text` is a lower-case prefix with a capitalised word ("al-Masri", "d'Arc"), which continues a span.
fn continues_span(text: &str) -> bool {
    let parts = text.split_once(['-', '\'', '’']);
    parts.is_some_and(|(prefix, rest)| prefix.len() < 4 && is_capitalised(rest))
}

/// Whether `word` is a day, or a month beside a number or after a word such as "in".
fn is_date(note: &str, word: Word<'_>) -> bool {
    if !is_one_of(&MONTHS, word.text) {
        return is_one_of(&DAYS, word.text);
    }
    let lead = before(note, word.start);
    let last = &lead[lead.len().saturating_sub(1)..];
    let begins_with_digit = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    any_of(&DATE_CUES, last)
        || last.iter().any(|word| begins_with_digit(word))
        || begins_with_digit(note[word.end..].trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_keep_particles_and_drop_titles() {
        assert_eq!(spans("Dr. Jan van den Berg lives in Rio de Janeiro."), ["Jan van den Berg", "Rio de Janeiro"]);
        assert_eq!(spans("Sgt. Ann Hill met Captain Lee"), ["Ann Hill", "Lee"]);
    }

    #[test]
    fn a_span_ends_before_of() {
        assert_eq!(spans("Ann Hill of New York"), ["Ann Hill", "New York"]);
    }

    #[test]
    fn spans_leave_out_words_that_begin_a_sentence() {
        assert_eq!(spans("Ann is 7. She lives in St. Louis."), ["Ann", "St. Louis"]);
    }

    #[test]
    fn a_span_continues_with_a_lower_case_prefix() {
        assert_eq!(spans("Tariq al-Masri and Ann d'Arc"), ["Tariq al-Masri", "Ann d'Arc"]);
    }

    #[test]
    fn a_short_surname_is_not_an_abbreviation() {
        assert_eq!(spans("Here is Ann Ng. She came with J. Hill"), ["Here", "Ann Ng", "J. Hill"]);
    }

    #[test]
    fn the_start_of_a_span_includes_its_titles() {
        let note = "by Prof. Dr. Ann Hill";
        assert_eq!(start(note, spans(note)[0]), 3);
    }

    #[test]
    fn dates_are_not_spans_but_names_of_months_can_be() {
        assert_eq!(spans("On 14 March Ann Hill came, on Monday or in May"), ["Ann Hill"]);
        assert_eq!(spans("June Hill came"), ["June Hill"]);
    }

    #[test]
    fn a_value_is_cut_to_the_span_in_it() {
        assert_eq!(as_written("He moved to Porto ten years ago", "Porto ten"), "Porto");
    }

    #[test]
    fn the_last_word_of_a_span_is_completed() {
        assert_eq!(as_written("Ann Hill, 9, lives in New York", "Hill"), "Ann Hill");
        assert_eq!(as_written("Ann Hill, 9, lives in New York", "York"), "New York");
    }
}
