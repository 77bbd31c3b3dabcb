//! Who is mentioned where in a note, so that an age or a city is not taken from another person.

use std::sync::LazyLock;

use regex::Regex;

use super::city;
use super::note::{Run, begins_sentence, sentence_end};

/// Words for other people, and for animals.
pub(super) static RELATION: LazyLock<Regex> = pattern!(
    r"(?xi)\b(?:(?:grand|god|step)?(?:father|mother|parent|son|daughter|sister|brother|child|children)s?|dad|mum|mom|husband|wife
    |partner|spouse|uncle|aunt(?:ie)?|nephew|niece|cousin|(?:boy|girl)?friend|land(?:lord|lady)|grann?y|gran|grandma|grandpa|grandad|nan
    |kid|twin|neighbou?r|colleague|flatmate|manager|carer|guardian|fianc[ée]e?|passenger|dog|cat|spaniel|tabby|puppy|kitten|horse|pony|parrot)s?\b"
);

/// Words for the person of a note.
pub(super) static PERSON: LazyLock<Regex> = pattern!(
    r"(?i)\b(?:patient|client|caller|(?:gentle|wo)?man|lady|girl|boy|customer|visitor|guest|member|student|pupil|driver|owner|applicant|tenant|s?he (?:him|her)self)\b"
);

/// Whom a statement is about.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Subject {
    /// The person of the note.
    Person,
    /// The person, or another one whom an earlier sentence mentions, as in "Her son Tom called. He is 9."
    Unclear,
    /// Another one.
    Other,
}

/// The people of a note.
pub(super) struct People<'a> {
    /// Where the person is named, by the whole name or a part of it.
    pub(super) named: Vec<Run<'a>>,
    /// Where the note mentions the person (true) or another one, in order.
    mentions: Vec<(usize, bool)>,
    note: &'a str,
}

impl<'a> People<'a> {
    /// Sorts the runs of `note` for a person of this name.
    pub(super) fn new(note: &'a str, runs: &[Run<'a>], name: &str) -> Self {
        let (named, rest): (Vec<_>, Vec<_>) =
            runs.iter().copied().partition(|run| is_part(run.text, name) || is_part(name, run.text));
        let others = rest.into_iter().filter(|run| is_other(note, *run)).map(|run| (run.start, false));
        let relations = RELATION.find_iter(note).filter(|found| !is_title(note, found.start(), found.end()));
        let relations = relations.map(|found| (found.start(), false));
        let roles = PERSON.find_iter(note).map(|found| (found.start(), true));
        let mut mentions: Vec<_> =
            named.iter().map(|run| (run.start, true)).chain(others).chain(relations).chain(roles).collect();
        mentions.sort_unstable();
        Self { named, mentions, note }
    }

    /// Whether the note mentions another person.
    pub(super) fn are_several(&self) -> bool {
        self.mentions.iter().any(|(_, is_person)| !is_person)
    }

    /// Returns whom a statement that begins at byte `at` is about: whom the note mentions last before it.
    pub(super) fn subject(&self, at: usize) -> Subject {
        match self.mentions.iter().rev().find(|(start, _)| *start < at) {
            None | Some((_, true)) => Subject::Person,
            Some((start, false)) if sentence_end(self.note, *start) < at => Subject::Unclear,
            Some(_) => Subject::Other,
        }
    }
}

/// Whether `whole` contains all words of `part`.
fn is_part(part: &str, whole: &str) -> bool {
    part.split(' ').all(|word| whole.split(' ').any(|other| other == word))
}

/// Whether the relation from `start` to `end` is a title, as in "Sister Ann Hill".
fn is_title(note: &str, start: usize, end: usize) -> bool {
    note[start..].starts_with(char::is_uppercase)
        && note[end..].trim_start_matches(' ').starts_with(char::is_uppercase)
        && begins_sentence(note, start)
}

/// Whether `run` may be another person: it is not a place, and does something or has several words.
fn is_other(note: &str, run: Run<'_>) -> bool {
    static VERB: LazyLock<Regex> = pattern!(
        r"(?x)^(?:['’]s|,\ \d+|\ \((?:aged?\ )?\d+|,\ aged?|,?\ (?:and|or|is|was|has|had|who|will|can|could|would|lives?|\w+ed))\b"
    );
    !city::is_place(note, run) && (!run.is_one_word() || VERB.is_match(&note[run.end()..]))
}

/// Whether the text before a name makes it the name of another person ("her sister", "his teacher,") or a nickname.
pub(super) fn is_relation_name(before: &str) -> bool {
    static POSSESSED: LazyLock<Regex> = pattern!(
        r"(?i)\b(?:his|her|their) (?:\p{Ll}+ )?\p{Ll}+[,(]? ?(?:M[rs]s? |Dr )?$|\bcalls? (?:him|her|me) $|\b(?:asked for|see) $"
    );
    static NAME: LazyLock<Regex> = pattern!(r"(?i)\b(?:is|name|was|in|near|at|from|of|to|for)\b");
    let is_relation = |found: regex::Match<'_>| before[found.end()..].trim_matches([' ', ',', '(']).is_empty();
    let is_title =
        |found: regex::Match<'_>| found.as_str().starts_with(char::is_uppercase) && before[found.end()..] == *" ";
    POSSESSED.find(before).is_some_and(|found| !NAME.is_match(found.as_str()))
        || RELATION.find_iter(before).last().is_some_and(|found| is_relation(found) && !is_title(found))
}
