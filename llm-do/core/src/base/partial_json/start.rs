//! Finds where JSON begins in a text that arrives in pieces.

use crate::base::mend::THOUGHTS;

/// The length of the longest mark of a thought.
const LONGEST: usize = 12;

/// What was read before the object.
#[derive(Debug, Default)]
pub(super) struct Start {
    /// The end of the text so far.
    tail: String,
    /// The mark that ends the thought.
    thought: Option<&'static str>,
}

impl Start {
    /// Reads a character; returns whether the object begins with it.
    pub(super) fn begins(&mut self, letter: char) -> bool {
        if letter == '<' || self.tail.len() >= LONGEST {
            self.tail.clear();
        }
        self.tail.push(letter);
        match self.thought {
            Some(end) if self.tail == end => self.thought = None,
            Some(_) => {}
            None if letter == '>' => {
                let begun = THOUGHTS.iter().find(|(start, _)| self.tail == *start);
                self.thought = begun.map(|(_, end)| *end);
            }
            None => return letter == '{',
        }
        false
    }
}
