//! What code can check in a record by itself, and what it can mend.
//!
//! A small model reads a note well but copies it badly: it writes `Zurkle` for
//! `Zurich`, or translates. So code holds every record against its note: what
//! is nearly right is set right, and the rest is a fault to ask again about.
//! Nothing here knows any name or city; a rule may only use the note itself
//! and closed classes of English words, such as numbers and titles.

use std::ops::Range;

use crate::Person;

/// Words before a name that do not belong to it.
const TITLES: [&str; 16] = [
    "dame",
    "doctor",
    "dr",
    "lady",
    "lord",
    "madam",
    "miss",
    "mister",
    "mr",
    "mrs",
    "ms",
    "mx",
    "prof",
    "professor",
    "rev",
    "sir",
];

/// Uncapitalised words that may stand inside a name or a city.
const PARTICLES: [&str; 24] = [
    "al", "bin", "da", "das", "de", "del", "della", "den", "der", "di", "do", "dos", "du", "el", "ibn", "la", "le",
    "of", "sur", "ten", "ter", "the", "van", "von",
];

/// Words that are capitalised only because a sentence begins with them.
const OPENERS: [&str; 42] = [
    "a", "address", "age", "aged", "an", "and", "at", "before", "but", "city", "from", "he", "hello", "her", "hi",
    "his", "home", "i", "i'm", "in", "is", "it", "lives", "message", "my", "name", "on", "our", "please", "she",
    "since", "their", "they", "this", "today", "tomorrow", "we", "what", "when", "who", "you", "your",
];

/// The number words below twenty, each at its value.
const UNITS: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];

/// The number words for tens, from twenty on.
const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

/// The highest age that a record may hold.
const OLDEST: u8 = 120;

/// The highest number that [`digits`] leaves in words.
const SMALL: u8 = 12;

/// How alike a value and a span must be to count as the same, from 0 to 1.
const ALIKE: f64 = 0.5;

/// Returns `note` with its larger number words as digits, which the model reads better.
///
/// Small ones stay, since most of them count other things: from "two sons" in
/// digits the model takes an age.
pub(crate) fn digits(note: &str) -> String {
    let mut text = String::new();
    let mut end = 0;
    for number in spelled(note).into_iter().filter(|number| number.value > SMALL) {
        text.push_str(&note[end..number.start]);
        text.push_str(&number.value.to_string());
        end = number.end;
    }
    text.push_str(&note[end..]);
    text
}

/// Returns every number of `note` that could be an age, in digits or in words.
///
/// Clock times, years, and the long groups of phone numbers are left out.
pub(crate) fn numbers(note: &str) -> Vec<u8> {
    let words = spelled(note).into_iter().map(|number| number.value);
    note.split(|c: char| !c.is_ascii_digit() && c != ':')
        .filter_map(|run| run.trim_matches(':').parse().ok())
        .chain(words)
        .filter(|&number| number <= OLDEST)
        .collect()
}

/// Returns the runs of capitalised words in `note`: what may be a name or a city.
///
/// Titles are left off, and so are words that only open a sentence.
pub(crate) fn spans(note: &str) -> Vec<&str> {
    let words = words(note);
    let mut spans = Vec::new();
    let mut next = 0;
    while let Some(first) = words.get(next) {
        let last = run_end(note, &words, next);
        if is_capitalised(first.text) && !is_one_of(&TITLES, first.text) && !opens(first.text) {
            spans.push(&note[first.start..words[last].end]);
            next = last;
        }
        next += 1;
    }
    spans
}

/// Returns `person` with all that needs no second question set right.
///
/// The name loses its title, name and city become what the note says, if they
/// are nearly so, and the age becomes the note's only number.
pub(crate) fn repair(note: &str, person: &Person) -> Person {
    let age = match numbers(note).as_slice() {
        [only] => *only,
        _ => person.age,
    };
    let name = as_written(note, without_title(tidy(&person.name)));
    let city = as_written(note, tidy(&person.city));
    Person { name, age, city }
}

/// Returns what is still wrong with `person`: for each fault, what the note says instead.
///
/// The wrong value is not repeated: a small model would only copy it again.
pub(crate) fn faults(note: &str, person: &Person) -> Vec<String> {
    let Person { name, age, city } = person;
    let mut faults = Vec::new();
    if !is_copied(note, name) {
        faults.push(hint("name", &names(note)));
    }
    let numbers = numbers(note);
    if !numbers.is_empty() && !numbers.contains(age) {
        faults.push(hint("age", &numbers));
    }
    if !is_copied(note, city) || is_only_name(note, city, name) {
        faults.push(hint("city", &places(note, name)));
    }
    faults
}

/// Returns what to ask when a reply had `faults`: the note, and below it what is known of the answer.
pub(crate) fn again(note: &str, faults: &[String]) -> String {
    format!("{}\n\n{}", digits(note), faults.join(" "))
}

/// Returns `person` with a name and a city that the note does hold: the closest.
///
/// This is for a model that has been asked again and still invents.
pub(crate) fn settle(note: &str, person: Person) -> Person {
    let name = if is_copied(note, &person.name) {
        person.name
    } else {
        closest(&person.name, names(note)).unwrap_or(person.name)
    };
    let city = if is_copied(note, &person.city) && !is_only_name(note, &person.city, &name) {
        person.city
    } else {
        closest(&person.city, places(note, &name)).unwrap_or(person.city)
    };
    Person { name, city, ..person }
}

/// Says which values `field` may have, as a sentence.
fn hint(field: &str, values: &[impl ToString]) -> String {
    let values: Vec<_> = values.iter().map(ToString::to_string).collect();
    if values.is_empty() {
        return format!("Copy the {field} from the note.");
    }
    format!("The {field} is {}.", values.join(" or "))
}

/// Whether `city` is of `name` and nothing else, though `note` has other places to offer.
fn is_only_name(note: &str, city: &str, name: &str) -> bool {
    let stands_alone = spans(note).into_iter().any(|span| span == city && span != name);
    is_part(city, name) && !stands_alone && !places(note, name).is_empty()
}

/// Whether `value` is words of `note`, and not a number of it.
fn is_copied(note: &str, value: &str) -> bool {
    !value.contains(|c: char| c.is_ascii_digit()) && find(note, value).is_some()
}

/// Returns the spans that may be a name, those of several words first: a lone one often just opens a sentence.
fn names(note: &str) -> Vec<&str> {
    let mut names = spans(note);
    names.sort_by_key(|span| !span.contains(' '));
    names
}

/// Returns the spans that may be a city: not those of the name, and none that opens a sentence, as few cities do.
fn places<'a>(note: &'a str, name: &str) -> Vec<&'a str> {
    spans(note).into_iter().filter(|span| !is_part(span, name) && !begins_sentence(note, span)).collect()
}

/// A word and where it stands in its note, in bytes.
#[derive(Clone, Copy)]
struct Word<'a> {
    text: &'a str,
    start: usize,
    end: usize,
}

/// A number in words, and where it stands in its note, in bytes.
struct Spelled {
    value: u8,
    start: usize,
    end: usize,
}

/// Splits `note` into words; hyphens and apostrophes are part of them, a possessive `'s` is not.
fn words(note: &str) -> Vec<Word<'_>> {
    pieces(note, |c| c.is_alphanumeric() || matches!(c, '-' | '\'' | '’'))
        .into_iter()
        .filter_map(|word| {
            let text = word.text.trim_matches(['-', '\'', '’']);
            let start = word.start + word.text.find(text)?;
            let text = text.strip_suffix("'s").or_else(|| text.strip_suffix("’s")).unwrap_or(text);
            (!text.is_empty()).then_some(Word { text, start, end: start + text.len() })
        })
        .collect()
}

/// Splits `note` into the longest runs of characters for which `belongs` holds.
fn pieces(note: &str, belongs: impl Fn(char) -> bool) -> Vec<Word<'_>> {
    note.split(|c| !belongs(c))
        .filter(|text| !text.is_empty())
        .map(|text| {
            let Range { start, end } = range(note, text);
            Word { text, start, end }
        })
        .collect()
}

/// Finds the numbers in words, the longest reading first ("thirty-four" is not 30).
fn spelled(note: &str) -> Vec<Spelled> {
    let words = pieces(note, char::is_alphabetic);
    let mut found = Vec::new();
    let mut next = 0;
    while let Some(first) = words.get(next) {
        let Some((value, used)) = number_at(note, &words[next..]) else {
            next += 1;
            continue;
        };
        found.push(Spelled { value, start: first.start, end: words[next + used - 1].end });
        next += used;
    }
    found
}

/// Reads a number at the beginning of `words`; returns it and how many words it took.
fn number_at(note: &str, words: &[Word<'_>]) -> Option<(u8, usize)> {
    let word = words.first()?.text.to_lowercase();
    if let Some(value) = UNITS.iter().position(|unit| *unit == word) {
        return Some((u8::try_from(value).ok()?, 1));
    }
    let tens = u8::try_from(TENS.iter().position(|tens| *tens == word)?).ok()? * 10 + 20;
    let unit = words.get(1).filter(|next| matches!(&note[words[0].end..next.start], " " | "-"));
    match unit.and_then(|_| number_at(note, &words[1..2])) {
        Some((unit @ 1..=9, _)) => Some((tens + unit, 2)),
        _ => Some((tens, 1)),
    }
}

/// Returns the index of the last word of the capitalised run that begins at `first`.
fn run_end(note: &str, words: &[Word<'_>], first: usize) -> usize {
    let mut last = first;
    if opens(words[first].text) {
        return last;
    }
    for next in first + 1..words.len() {
        if !joins(note, words[next - 1], words[next]) || is_one_of(&TITLES, words[next].text) {
            break;
        }
        if is_capitalised(words[next].text) {
            last = next;
        } else if !is_one_of(&PARTICLES, words[next].text) {
            break;
        }
    }
    last
}

/// Whether nothing but a space parts two words, or the full stop of an abbreviation ("J. Smith", "St. Louis").
fn joins(note: &str, left: Word<'_>, right: Word<'_>) -> bool {
    let abbreviates = left.text.chars().count() <= 2 && is_capitalised(left.text);
    match &note[left.end..right.start] {
        " " => true,
        ". " => abbreviates,
        _ => false,
    }
}

/// Whether `text` begins with a capital letter, and is no number ("Fifteen-year-old").
fn is_capitalised(text: &str) -> bool {
    text.starts_with(char::is_uppercase) && number_at(text, &pieces(text, char::is_alphabetic)).is_none()
}

/// Whether `text` is a word that sentences and forms begin with.
fn opens(text: &str) -> bool {
    is_one_of(&OPENERS, text)
}

/// Whether `text`, in whatever case, is in `list`.
fn is_one_of(list: &[&str], text: &str) -> bool {
    list.contains(&text.to_lowercase().as_str())
}

/// Takes away what the model put around a value, and what follows it after a comma or in brackets.
fn tidy(value: &str) -> &str {
    let value = value.split([',', '(']).next().unwrap_or_default();
    value.trim_matches(|c: char| !c.is_alphanumeric())
}

/// Takes away the titles that `name` begins with.
fn without_title(name: &str) -> &str {
    match name.split_once(' ') {
        Some((first, rest)) if is_one_of(&TITLES, first.trim_end_matches('.')) => without_title(rest.trim_start()),
        _ => name,
    }
}

/// Returns `value` as `note` writes it, or unchanged if nothing there is like it.
fn as_written(note: &str, value: &str) -> String {
    find(note, value)
        .map(str::to_owned)
        .or_else(|| closest(value, spans(note)).filter(|span| likeness(span, value) >= ALIKE))
        .unwrap_or_else(|| value.to_owned())
}

/// Finds `value` in `note` as whole words in whatever case; a name that goes on there is taken whole.
fn find<'a>(note: &'a str, value: &str) -> Option<&'a str> {
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

/// Returns where `part`, a slice of `note`, stands in it, in bytes.
fn range(note: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr() as usize - note.as_ptr() as usize;
    start..start + part.len()
}

/// Whether all words of `inner` stand in `outer`.
fn is_part(inner: &str, outer: &str) -> bool {
    find(outer, inner).is_some()
}

/// Whether `span`, a slice of `note`, stands where a sentence begins.
fn begins_sentence(note: &str, span: &str) -> bool {
    let before = note[..range(note, span).start].trim_end();
    before.is_empty() || before.ends_with(['.', '!', '?'])
}

/// Returns the span that is most like `value`.
fn closest(value: &str, spans: Vec<&str>) -> Option<String> {
    spans.into_iter().max_by(|a, b| likeness(a, value).total_cmp(&likeness(b, value))).map(str::to_owned)
}

/// Returns how alike two texts are, case aside: 1 for the same, 0 for nothing in common.
fn likeness(a: &str, b: &str) -> f64 {
    strsim::normalized_levenshtein(&a.to_lowercase(), &b.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(name: &str, age: u8, city: &str) -> Person {
        Person { name: name.to_owned(), age, city: city.to_owned() }
    }

    #[test]
    fn larger_number_words_become_digits() {
        assert_eq!(digits("Ann, thirty-four, of Ghent"), "Ann, 34, of Ghent");
        assert_eq!(digits("Fifteen-year-old Ann"), "15-year-old Ann");
        assert_eq!(digits("she is Sixty two"), "she is 62");
        assert_eq!(digits("São José, fifty"), "São José, 50");
    }

    #[test]
    fn small_counts_stay_in_words() {
        assert_eq!(digits("one day her two sons came"), "one day her two sons came");
    }

    #[test]
    fn an_age_may_be_a_digit_or_a_word() {
        assert_eq!(numbers("He is 41"), [41]);
        assert_eq!(numbers("the 65th birthday"), [65]);
        assert_eq!(numbers("aged seven"), [7]);
        assert_eq!(numbers("forty-two."), [42]);
    }

    #[test]
    fn times_and_years_are_no_ages() {
        assert!(numbers("at 10:15 in 1998").is_empty());
    }

    #[test]
    fn spans_keep_particles_and_drop_titles() {
        assert_eq!(spans("Dr. Jan van den Berg of Rio de Janeiro"), ["Jan van den Berg of Rio de Janeiro"]);
        assert_eq!(spans("Mr. Jan van den Berg lives in New York."), ["Jan van den Berg", "New York"]);
    }

    #[test]
    fn spans_leave_out_words_that_open_a_sentence() {
        assert_eq!(spans("Ann is 7. She lives in St. Louis."), ["Ann", "St. Louis"]);
    }

    #[test]
    fn titles_and_decoration_go() {
        let repaired = repair("Mrs. Ann Hill (38) of Bath", &person("Mrs. Ann Hill (38", 38, " Bath, UK"));
        assert_eq!(repaired, person("Ann Hill", 38, "Bath"));
    }

    #[test]
    fn a_misspelt_copy_becomes_what_the_note_says() {
        let repaired = repair("Mei Ito, 21, lives in Zurich", &person("Mei Ita", 21, "Zurkle"));
        assert_eq!(repaired, person("Mei Ito", 21, "Zurich"));
    }

    #[test]
    fn a_name_that_goes_on_is_taken_whole() {
        let repaired = repair("Mei Ito, 21, from Salt Lake City", &person("Mei", 21, "Salt Lake"));
        assert_eq!(repaired, person("Mei Ito", 21, "Salt Lake City"));
    }

    #[test]
    fn the_only_number_is_the_age() {
        assert_eq!(repair("Ann of Bath is ninety", &person("Ann", 19, "Bath")).age, 90);
    }

    #[test]
    fn an_age_among_several_numbers_is_left_to_the_model() {
        assert_eq!(repair("Ann of Bath is 9, her son 2", &person("Ann", 9, "Bath")).age, 9);
    }

    #[test]
    fn a_sound_record_has_no_faults() {
        assert!(faults("Ann Hill, 9, of Bath", &person("Ann Hill", 9, "Bath")).is_empty());
    }

    #[test]
    fn a_fault_says_what_the_note_offers() {
        let note = "Ann Hill is 9 or 10. She left Bath for Ghent.";
        let faults = faults(note, &person("Anton", 11, "Belgium"));
        assert_eq!(
            faults,
            ["The name is Ann Hill or Bath or Ghent.", "The age is 9 or 10.", "The city is Bath or Ghent."]
        );
    }

    #[test]
    fn a_name_is_no_city_unless_the_note_repeats_it() {
        assert_eq!(faults("Ann Hill, 9, of Bath", &person("Ann Hill", 9, "Ann Hill")), ["The city is Bath."]);
        assert!(faults("Paris Hill, 9, left Bath for Paris", &person("Paris Hill", 9, "Paris")).is_empty());
    }

    #[test]
    fn a_number_is_no_name() {
        assert_eq!(faults("Ann, 25, of Bath", &person("25", 25, "Bath")), ["The name is Ann or Bath."]);
    }

    #[test]
    fn asking_again_adds_the_faults_to_the_note() {
        assert_eq!(again("Ann is forty.", &["The city is Bath.".to_owned()]), "Ann is 40.\n\nThe city is Bath.");
    }

    #[test]
    fn what_is_still_invented_becomes_the_closest_span() {
        let settled = settle("Ann Hill, 9, is from Ghent", person("Ann Hill", 9, "Belgium"));
        assert_eq!(settled, person("Ann Hill", 9, "Ghent"));
    }

    #[test]
    fn an_empty_note_changes_nothing() {
        let nobody = person("", 0, "");
        assert_eq!(settle("", repair("", &nobody)), nobody);
    }
}
