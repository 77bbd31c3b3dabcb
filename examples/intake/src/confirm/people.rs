//! Who is named or mentioned where in a note, so that an age or a city is not taken from another person.

use std::sync::LazyLock;

use regex::Regex;

use super::note::{Run, begins_sentence};
use super::place;

/// People beside the person of a note.
static RELATION: LazyLock<Regex> = pattern!(
    r"(?xi)\b(?:mother|father|mum|mom|dad|parents?|sons?|daughters?|brothers?|sisters?|wife|husband|partner|spouse|aunt
    |uncle|cousins?|niece|nephew|grand(?:pa|ma|dad|mother|father|parents|son|daughter|child|children)|friends?
    |neighbou?rs?|boss|colleagues?|manager|carer|guardian|child(?:ren)?|kids?|twins?|fianc[ée]e?|boyfriend|girlfriend
    |flatmates?|landlord|landlady|dog|cat)\b"
);

/// The people of a note, apart from its text.
pub(super) struct People<'a> {
    note: &'a str,
    /// Where the person is named, by the whole name or a part of it.
    pub(super) named: Vec<usize>,
    /// Runs that may be other people, since nothing in the note makes them something else.
    pub(super) others: Vec<Run<'a>>,
    /// Runs before a word such as "class", and words that begin a sentence: people only in rare cases.
    pub(super) unclear: Vec<Run<'a>>,
}

impl<'a> People<'a> {
    /// Sorts the runs of `note` for a person of this name.
    pub(super) fn new(note: &'a str, runs: &[Run<'a>], name: Option<&str>) -> Self {
        let mut people = Self { note, named: Vec::new(), others: Vec::new(), unclear: Vec::new() };
        for run in runs {
            if name.is_some_and(|name| is_part(run.text, name)) {
                people.named.push(run.start);
            } else if is_person_like(note, *run) {
                people.others.push(*run);
            } else if !place::is_place(note, *run) {
                people.unclear.push(*run);
            }
        }
        people
    }

    /// Whether what begins at byte `at` is about the person: of all people, the note mentions the person last before
    /// it, or first if it mentions people only after it.
    pub(super) fn is_about_person(&self, at: usize) -> bool {
        let others = self.others.iter().map(|run| (run.start, false));
        let relations = RELATION.find_iter(self.note).map(|found| (found.start(), false));
        let mut mentions: Vec<_> = self.named.iter().map(|start| (*start, true)).chain(others).collect();
        mentions.extend(relations.filter(|(start, _)| !self.is_company(*start, at)));
        mentions.sort_unstable();
        let before = mentions.iter().rev().find(|(start, _)| *start < at);
        before.or(mentions.first()).is_none_or(|(_, is_person)| *is_person)
    }

    /// Whether the relation at `start` only accompanies the person ("with her mother"), and a new sentence begins before `at`.
    fn is_company(&self, start: usize, at: usize) -> bool {
        static COMPANY: LazyLock<Regex> = pattern!(r"(?i)\b(?:with|by) \w+ $");
        static SENTENCE: LazyLock<Regex> = pattern!(r"[.!?;] ");
        start < at && COMPANY.is_match(&self.note[..start]) && SENTENCE.is_match(&self.note[start..at])
    }
}

/// Whether `whole` contains all words of `part`.
fn is_part(part: &str, whole: &str) -> bool {
    part.split(' ').all(|word| whole.split(' ').any(|other| other == word))
}

/// Whether `run` may name a person: neither the words around it nor its place in the sentence make it something else.
pub(super) fn is_person_like(note: &str, run: Run<'_>) -> bool {
    static THING: LazyLock<Regex> = pattern!(r#"(?i)(?:\b(?:the|an?|our|your|née) |["“])$"#);
    static VERB: LazyLock<Regex> = pattern!(
        r"(?x)^(?:['’]s|\ (?:and|or|is|was|has|had|rang|came|wrote|wants|who|will|can|could|would|says?|said|lives?|works?
        |made|sent|took|got|\w+ed))\b"
    );
    static NOUN: LazyLock<Regex> = pattern!(r"^ \p{Ll}");
    let (before, after) = (&note[..run.start], &note[run.end()..]);
    if THING.is_match(before) || place::is_place(note, run) || is_relation_name(before) {
        return false;
    }
    let is_subject = VERB.is_match(after);
    match run.is_one_word() {
        true if begins_sentence(note, run.start) => is_subject,
        true => is_subject || !NOUN.is_match(after),
        false => true,
    }
}

/// Whether the text before a name ends with a relation ("her sister"), which `RELATION` finds itself.
fn is_relation_name(before: &str) -> bool {
    RELATION.find_iter(before).last().is_some_and(|found| before[found.end()..].trim_matches([' ', ',']).is_empty())
}
