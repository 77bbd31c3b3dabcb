//! Finds JSON in a text: an object or a list of objects in a code block, between words, or beside thoughts.

use std::borrow::Cow;

use serde_json::{Deserializer, Error, Value};

use super::kind::{Mend, Mends};
use super::scan::{Scanned, scan};

/// How many brackets are tried before the rest is ignored: a model may write any number of unclosed ones.
const MAX_TRIED: usize = 1_000;

/// The marks around a thought, in which objects are drafts.
pub(crate) const THOUGHTS: [(&str, &str); 4] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
];

/// What was found in a text that is not JSON as a whole.
#[derive(Default)]
pub(super) struct Found<'t> {
    /// The objects, without nested ones and drafts.
    pub(super) objects: Vec<Object<'t>>,
    /// Why an object is invalid. None is looked for inside of it or after it.
    pub(super) error: Option<String>,
    pub(super) mends: Mends,
}

/// An object, or a list of objects.
pub(super) struct Object<'t> {
    pub(super) json: Cow<'t, str>,
    pub(super) value: Value,
}

struct Finder<'t> {
    text: &'t str,
    rest: &'t str,
    found: Found<'t>,
    in_fence: bool,
    tried: usize,
}

/// Finds the objects in a text.
pub(super) fn find(text: &str) -> Found<'_> {
    let mut finder = Finder { text, rest: text, found: Found::default(), in_fence: false, tried: 0 };
    while finder.found.error.is_none() && finder.tried < MAX_TRIED && finder.advance() {}
    finder.found
}

impl Finder<'_> {
    /// Goes on to the next mark or bracket, and passes it; returns whether there was one.
    fn advance(&mut self) -> bool {
        let Some(at) = self.rest.find(['{', '[', '<', '`']) else {
            self.pass_words(self.rest.len());
            return false;
        };
        self.pass_words(at);
        match self.rest.as_bytes()[0] {
            b'`' => self.pass_fence(),
            b'<' => self.pass_thought(),
            _ => self.pass_bracket(),
        }
        true
    }

    fn pass_words(&mut self, length: usize) {
        let (words, rest) = self.rest.split_at(length);
        if !words.trim_matches(is_blank).is_empty() {
            self.found.mends.add(Mend::Words);
        }
        self.rest = rest;
    }

    /// Passes a mark of a code block, with the language that it begins with.
    fn pass_fence(&mut self) {
        self.found.mends.add(Mend::Fence);
        let rest = self.rest.trim_start_matches('`');
        let is_block = self.rest.len() - rest.len() >= 3;
        self.in_fence ^= is_block;
        let begins = is_block && self.in_fence;
        self.rest = if begins { rest.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric()) } else { rest };
    }

    fn pass_thought(&mut self) {
        if let Some(after) = after_thought(self.rest) {
            self.found.mends.add(Mend::Thought);
            self.rest = after;
        } else if let Some(after) = THOUGHTS.iter().find_map(|(_, end)| self.rest.strip_prefix(*end)) {
            // Some servers leave out the start of a thought.
            self.found = Found::default();
            self.found.mends.add(Mend::Thought);
            self.found.mends.add(Mend::Words);
            (self.rest, self.in_fence) = (after, false);
        } else {
            self.pass_words(1);
        }
    }

    fn pass_bracket(&mut self) {
        if !self.rest.starts_with('{') && !is_list_of_objects(self.rest) {
            return self.pass_words(1);
        }
        self.tried += 1;
        match read(self.rest) {
            Ok(_) if follows_json(&self.text[..self.text.len() - self.rest.len()]) => self.refuse(),
            Ok((object, mends, rest)) => {
                self.found.objects.push(object);
                self.found.mends.add_all(mends);
                self.rest = rest;
                if precedes_json(rest) {
                    self.refuse();
                }
            }
            Err(error) if begins_like_json(self.rest) => self.found.error = Some(error.to_string()),
            Err(_) => self.pass_words(1),
        }
    }

    /// Refuses an object that may be a part of another one.
    fn refuse(&mut self) {
        self.found.error = Some("an object is inside of another one that is not complete".to_owned());
    }
}

/// Reads the object that a text begins with; also returns what was mended, and the text after it.
fn read(text: &str) -> Result<(Object<'_>, Mends, &str), Error> {
    let mut values = Deserializer::from_str(text).into_iter::<Value>();
    let error = match values.next() {
        Some(Ok(value)) => {
            let (json, rest) = text.split_at(values.byte_offset());
            return Ok((Object { json: json.into(), value }, Mends::default(), rest));
        }
        Some(Err(error)) => error,
        None => serde::de::Error::custom("a value is missing"),
    };
    let Some(Scanned { json, mends, rest }) = scan(text) else { return Err(error) };
    let value = serde_json::from_str(&json)?;
    Ok((Object { json: json.into(), value }, mends, rest))
}

/// White space, and the mark that some texts begin with.
fn is_blank(letter: char) -> bool {
    letter.is_whitespace() || letter == '\u{feff}'
}

/// Returns what follows the thought that a text begins with, if it begins with one: nothing if that has no end.
fn after_thought(text: &str) -> Option<&str> {
    let (thought, end) = THOUGHTS.iter().find_map(|(start, end)| Some((text.strip_prefix(*start)?, *end)))?;
    Some(thought.split_once(end).map_or("", |(_, after)| after))
}

fn is_list_of_objects(text: &str) -> bool {
    text.strip_prefix('[').is_some_and(|items| items.trim_ascii_start().starts_with('{'))
}

/// Whether a text that begins with a bracket continues as JSON does, or as models write it: with a comment, or a key in other
/// quotation marks or in none.
fn begins_like_json(text: &str) -> bool {
    let inside = text[1..].trim_ascii_start();
    let is_of_key = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let after_key = inside.trim_start_matches(is_of_key);
    let is_bare_key = after_key.len() < inside.len() && after_key.trim_ascii_start().starts_with(':');
    let is_comment = inside.starts_with("//") || inside.starts_with("/*");
    is_bare_key || is_comment || text.starts_with('[') || inside.starts_with(['"', '\''])
}

/// Whether the text before an object ends as an object or a list does that contains it: with a key, or with an item and a comma.
fn follows_json(before: &str) -> bool {
    let before = before.trim_ascii_end();
    let is_after = |mark: char, ends: &[char]| {
        before.strip_suffix(mark).is_some_and(|before| before.trim_ascii_end().ends_with(ends))
    };
    is_after(':', &['"', '\'']) || is_after(',', &['"', '\'', '}', ']']) || before.ends_with('[')
}

/// Whether the text after an object goes on as an object or a list does that contains it.
fn precedes_json(after: &str) -> bool {
    let after = after.trim_ascii_start();
    let next = after.strip_prefix(',').map(str::trim_ascii_start);
    after.starts_with(['}', ']', ':']) || next.is_some_and(|next| next.starts_with(['"', '\'', '{', '[']))
}
