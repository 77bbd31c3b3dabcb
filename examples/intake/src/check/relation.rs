//! Finds other people in a note, such as relatives of its person.

use super::span::start;
use super::text::{before, end_with};

/// Words for people related to the person of a note.
const RELATIONS: [&str; 44] = [
    "aunt",
    "boss",
    "boy",
    "boyfriend",
    "brother",
    "carer",
    "child",
    "coach",
    "colleague",
    "cousin",
    "dad",
    "daughter",
    "father",
    "fiancé",
    "fiancée",
    "flatmate",
    "friend",
    "girl",
    "girlfriend",
    "granddad",
    "granddaughter",
    "grandfather",
    "grandma",
    "grandmother",
    "grandson",
    "guardian",
    "husband",
    "manager",
    "mom",
    "mother",
    "mum",
    "neighbor",
    "neighbour",
    "nephew",
    "niece",
    "nurse",
    "partner",
    "roommate",
    "sister",
    "son",
    "spouse",
    "teacher",
    "uncle",
    "wife",
];

/// Words that relate someone to the person of a note, and not to its writer.
const OWNERS: [&str; 4] = ["her", "his", "their", "whose"];

/// Words directly before the name of another person.
const OTHERS: [&str; 6] = ["accompanied by", "married to", "recommended by", "referred by", "sent by", "than"];

/// Whether `word` names a relation between people.
pub(super) fn is_relation(word: &str) -> bool {
    RELATIONS.contains(&word)
}

/// Whether `word` means several children, whose ages may follow.
pub(super) fn is_children(word: &str) -> bool {
    ["boys", "children", "daughters", "girls", "kids", "sons"].contains(&word)
}

/// Whether `span`, a slice of `note`, is another person than the one of the note ("her son Tim").
pub(super) fn is_other_person(note: &str, span: &str) -> bool {
    let mut lead = before(note, start(note, span));
    if end_with(&OTHERS, &lead) {
        return true;
    }
    while end_with(&["is", "was", "called", "named"], &lead) {
        lead.pop();
    }
    let owner = lead.iter().rev().nth(1).is_some_and(|word| OWNERS.contains(&word.as_str()));
    owner && lead.last().is_some_and(|word| is_relation(word))
}

#[cfg(test)]
mod tests {
    use super::super::span::spans;
    use super::*;

    fn other_people(note: &str) -> Vec<&str> {
        spans(note).into_iter().filter(|span| is_other_person(note, span)).collect()
    }

    #[test]
    fn a_relation_of_the_person_is_another_person() {
        assert_eq!(other_people("Ann Hill came with her son Tim; her coach was Joe"), ["Tim", "Joe"]);
        assert_eq!(other_people("Ann Hill was referred by Dr. Lee"), ["Lee"]);
    }

    #[test]
    fn a_relation_of_the_writer_may_be_the_person() {
        assert!(other_people("My neighbour Ann Hill is 41").is_empty());
    }
}
