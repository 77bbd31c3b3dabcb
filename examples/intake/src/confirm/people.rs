//! Who is named or mentioned where in a note, so that an age or a city is not taken from another person.

use std::sync::LazyLock;

use regex::Regex;

use super::note::{Run, begins_sentence};
use super::place;

/// Words for other people, and for animals.
const MALE: &str = "father|dad|son|brother|husband|uncle|nephew|boyfriend|landlord";
const FEMALE: &str = "mother|mum|mom|daughter|sister|wife|aunt|niece|girlfriend|landlady|grann?y|nan";
const SEVERAL: &str = r"\w*(?:parents|sons|daughters|brothers|sisters|children)|kids|twins|friends|neighbou?rs|cousins
    |colleagues|flatmates|girls|boys|dogs|cats";
const ONE: &str = r"parent|partner|spouse|cousin|grand(?:pa|ma|dad|father|mother|parent|son|daughter)|\w*child|friend
    |neighbou?r|colleague|flatmate|manager|carer|guardian|kid|twin|fianc[ée]e?|passenger|dog|cat";
static RELATION: LazyLock<Regex> = LazyLock::new(|| words(&[MALE, FEMALE, SEVERAL, ONE]));

fn words(words: &[&str]) -> Regex {
    Regex::new(&format!(r"(?xi)\b(?:{})\b", words.join("|"))).expect("the pattern is valid")
}

/// Words for the person of a note.
pub(super) static PERSON: LazyLock<Regex> = pattern!(
    r"(?xi)\b(?:patient|client|caller|customer|visitor|guest|member|student|pupil|driver|owner|applicant|tenant
    |s?he\ (?:him|her)self)\b"
);

/// The people of a note, apart from its text.
pub(super) struct People<'a> {
    note: &'a str,
    /// Where the person is named, by the whole name or a part of it.
    pub(super) named: Vec<Run<'a>>,
    /// Runs that are other people.
    others: Vec<Run<'a>>,
    /// Runs that may be a place, a person or a thing.
    unclear: Vec<Run<'a>>,
}

impl<'a> People<'a> {
    /// Sorts the runs of `note` for a person of this name.
    pub(super) fn new(note: &'a str, runs: &[Run<'a>], name: Option<&str>) -> Self {
        let mut people = Self { note, named: Vec::new(), others: Vec::new(), unclear: Vec::new() };
        for run in runs {
            if name.is_some_and(|name| is_part(run.text, name)) {
                people.named.push(*run);
            } else if is_person_like(note, *run) || is_relation_name(&note[..run.start]) {
                people.others.push(*run);
            } else if !place::is_place(note, *run) && !is_opener(note, *run) {
                people.unclear.push(*run);
            }
        }
        people
    }

    /// Whether all runs name the person or a place.
    pub(super) fn is_alone(&self) -> bool {
        self.others.is_empty() && self.unclear.is_empty()
    }

    /// Whether the note mentions no other person and nothing of another time.
    pub(super) fn is_simple(&self) -> bool {
        static OTHER: LazyLock<Regex> = pattern!(
            r"(?i)\b(?:was|were|had|used|not?|never|nor|left|will|would|when|until|since|work|office)\b|n['’]t\b|['’]ll\b"
        );
        !self.are_several() && !OTHER.is_match(self.note)
    }

    /// Whether the note names or mentions another person.
    pub(super) fn are_several(&self) -> bool {
        !self.others.is_empty() || RELATION.is_match(self.note)
    }

    /// Whether what begins at byte `at` is about the person: of all people, the note mentions the person last before
    /// it, or first if it mentions people only after it.
    pub(super) fn is_about_person(&self, at: usize) -> bool {
        let relations = RELATION.find_iter(self.note).map(|found| (found.start(), found.end()));
        let others = self.others.iter().map(|run| (run.start, run.end())).chain(relations);
        let others = others.filter(|(start, end)| !self.is_aside(*start, *end, at)).map(|(start, _)| (start, false));
        let roles = PERSON.find_iter(self.note).map(|found| (found.start(), true));
        let mut mentions: Vec<_> = self.named.iter().map(|run| (run.start, true)).chain(others).chain(roles).collect();
        mentions.sort_unstable();
        let before = mentions.iter().rev().find(|(start, _)| *start < at);
        before.or(mentions.first()).is_none_or(|(_, is_person)| *is_person)
    }

    /// Whether the other person from `start` to `end` cannot be meant at byte `at`: "with her mother. She is 9", "her
    /// friends. He is 9", "her brother, but she is 9".
    fn is_aside(&self, start: usize, end: usize, at: usize) -> bool {
        static ARE: [LazyLock<Regex>; 3] =
            [LazyLock::new(|| words(&[MALE])), LazyLock::new(|| words(&[FEMALE])), LazyLock::new(|| words(&[SEVERAL]))];
        static WITH: LazyLock<Regex> = pattern!(r"(?i)\b(?:with|by) (?:\w+ )?$");
        static SENTENCE: LazyLock<Regex> = pattern!(r"[.!?;] ");
        static PRONOUN: LazyLock<Regex> = pattern!(r"(?i)\b(s?he|they|both|of them)(?:['’]s)? (?:\w+ ){0,2}$");
        if end > at {
            return false;
        }
        let [is_male, is_female, is_several] = ARE.each_ref().map(|words| words.is_match(&self.note[start..end]));
        let is_other_sentence = SENTENCE.is_match(&self.note[end..at]);
        let pronoun = PRONOUN.captures(&self.note[..at]).map(|found| found[1].to_lowercase());
        let is_pronoun_for_another = pronoun.is_some_and(|pronoun| match pronoun.as_str() {
            "he" => is_female,
            "she" => is_male,
            _ => !is_several,
        });
        is_pronoun_for_another || is_other_sentence && (is_several || WITH.is_match(&self.note[..start]))
    }
}

/// Whether only the beginning of a sentence seems to capitalise `run`.
pub(super) fn is_opener(note: &str, run: Run<'_>) -> bool {
    run.is_one_word()
        && begins_sentence(note, run.start)
        && !note[..run.start].ends_with(": ")
        && !note[run.end()..].starts_with('.')
}

/// Whether `whole` contains all words of `part`.
fn is_part(part: &str, whole: &str) -> bool {
    part.split(' ').all(|word| whole.split(' ').any(|other| other == word))
}

/// Whether `run` names a person: it does something or has an age, and the words before it do not make it a thing.
pub(super) fn is_person_like(note: &str, run: Run<'_>) -> bool {
    static THING: LazyLock<Regex> = pattern!(r#"(?i)(?:\b(?:the|an?|our|your|née) |["“]|\p{Ll}, )$"#);
    static TITLE: LazyLock<Regex> = pattern!(r"\b(?:M[rsx]|Mrs|Miss|Dr)\.? $");
    static VERB: LazyLock<Regex> = pattern!(
        r"(?x)^(?:['’]s|,\ \d+|\ \(\d+|,\ aged?|\ (?:and|or|is|was|has|had|rang|came|wrote|wants|who|will|can|could|would
        |says?|said|lives?|works?|made|sent|took|got|\w+ed))\b"
    );
    let (before, after) = (&note[..run.start], &note[run.end()..]);
    let is_thing = THING.is_match(before) || place::is_place(note, run) || is_relation_name(before);
    !is_thing && (TITLE.is_match(before) || VERB.is_match(after))
}

/// Whether the text before a name makes it the name of another person ("her sister", "his teacher,") or a nickname.
pub(super) fn is_relation_name(before: &str) -> bool {
    static POSSESSED: LazyLock<Regex> =
        pattern!(r"(?i)\b(?:his|her|their) (?:\p{Ll}+ )?\p{Ll}+,? $|\bcalls? (?:him|her|me) $");
    static NAME: LazyLock<Regex> = pattern!(r"(?i)\b(?:is|name|was|in|near|at|from|of|to|for|by)\b");
    let is_relation = |found: regex::Match<'_>| before[found.end()..].trim_matches([' ', ',', '(']).is_empty();
    // As in "Sister Ann Hill".
    let is_title =
        |found: regex::Match<'_>| found.as_str().starts_with(char::is_uppercase) && before[found.end()..] == *" ";
    POSSESSED.find(before).is_some_and(|found| !NAME.is_match(found.as_str()))
        || before.ends_with("asked for ")
        || RELATION.find_iter(before).last().is_some_and(|found| is_relation(found) && !is_title(found))
}
