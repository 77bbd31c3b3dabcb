//! Looks for the values of arguments in what is known: the user's words, and what the callers have read.

use std::borrow::Cow;

use serde_json::Value;

use super::notes::Reading;
use super::{ArgumentOrigin, Known, ValueOrigin};
use crate::observe::event::{Label, ResultOrigin};

/// The most values of a call that are looked for.
const MAX_VALUES: usize = 100;
/// The place of the values that are not looked for.
const REST: &str = "…";
/// The least number of characters of a text that is found inside a word of a result.
const MIN_INSIDE: usize = 6;
/// The least number of characters of a line or sentence that shows where a part of a text came from.
const MIN_PART: usize = 24;

/// A value of the arguments that is looked for.
struct Needle<'a> {
    text: Cow<'a, str>,
    is_number: bool,
}

impl<'a> Needle<'a> {
    /// Returns what is looked for; `None` for a value that is nowhere found: it is true or false.
    fn of(value: &'a Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Self { text: text.trim().into(), is_number: false }),
            Value::Number(number) => Some(Self { text: number.to_string().into(), is_number: true }),
            _ => None,
        }
    }

    /// Returns whether a text of the user contains it as a whole word: part of another word is another value.
    fn is_in_words(&self, text: &str) -> bool {
        contains_word(text, &self.text)
    }

    /// Returns whether a text that was read contains it.
    fn is_in(&self, text: &str) -> bool {
        let is_long = !self.is_number && self.text.chars().nth(MIN_INSIDE - 1).is_some();
        if is_long { text.contains(&*self.text) } else { self.is_in_words(text) }
    }

    fn is(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => *text.trim() == *self.text,
            Value::Number(number) => self.is_number && number.to_string() == self.text,
            _ => false,
        }
    }
}

impl Known {
    /// Returns where each value of the arguments came from.
    pub(super) fn find_all(&self) -> Vec<ArgumentOrigin> {
        let Some(unfound) = &self.unfound else { return Vec::new() };
        let mut users = self.root.iter().flat_map(|root| leaves_of(&root.arguments, usize::MAX)).collect::<Vec<_>>();
        users.retain(|(_, value)| !value.is_boolean());
        let find = |(place, value): (String, &Value)| {
            let (origin, label) = self.find(&place, value, &users).unwrap_or_else(|| self.unfound(unfound));
            let is_bounded = !value.is_string() || self.is_choice(&place, value);
            let label = if is_bounded { label.min(Label::Bounded) } else { label };
            ArgumentOrigin { label, ..ArgumentOrigin::new(place, origin) }
        };
        let all = leaves_of(&self.arguments, MAX_VALUES + 1);
        let is_cut = all.len() > MAX_VALUES;
        let mut found: Vec<_> = all.into_iter().take(MAX_VALUES).map(find).collect();
        if is_cut {
            // The values beyond the limit may be from anything that was read.
            found.push(ArgumentOrigin { label: self.label, ..ArgumentOrigin::new(REST, ValueOrigin::Unknown) });
        }
        found
    }

    /// Lists the values that may carry text of what was read, each with its origin and label.
    pub(super) fn carriers<'k>(
        &'k self,
        found: &'k [ArgumentOrigin],
    ) -> impl Iterator<Item = (&'k Value, &'k ArgumentOrigin)> {
        let values = leaves(&self.arguments).into_iter().map(|(_, value)| value);
        values.zip(found).filter(|(_, found)| found.label != Label::Trusted)
    }

    /// Returns the origin and the label of a value that is found nowhere: what a model writes is made from what it has read.
    fn unfound(&self, origin: &ValueOrigin) -> (ValueOrigin, Label) {
        let label = if *origin == ValueOrigin::Unknown { self.label } else { Label::Trusted };
        (origin.clone(), label)
    }

    /// Returns whether the schema of an argument allows only some texts.
    fn is_choice(&self, place: &str, value: &Value) -> bool {
        let choices = self.properties.get(place).and_then(|property| property["enum"].as_array());
        choices.is_some_and(|choices| choices.contains(value))
    }

    fn find(&self, place: &str, value: &Value, users: &[(String, &Value)]) -> Option<(ValueOrigin, Label)> {
        let default = self.properties.get(place).and_then(|property| property.get("default"));
        if default == Some(value) {
            return Some((ValueOrigin::ArgumentDefault, Label::Trusted));
        }
        let needle = Needle::of(value)?;
        let is_in_request = |(_, given): &(String, &Value)| match given {
            Value::String(text) => needle.is_in_words(text),
            given => needle.is(given),
        };
        if self.answers.iter().any(|answer| needle.is_in_words(answer)) {
            return Some((ValueOrigin::User, Label::Trusted));
        }
        if let Some(root) = self.root.as_ref().filter(|_| users.iter().any(is_in_request)) {
            return Some((root.origin(), Label::Trusted));
        }
        let whole = self.read.iter().find_map(|reading| Some((found_in(reading, &needle)?, reading.label())));
        // A part of the worst label: the rest may be from there as well.
        let parts = || self.read.iter().filter_map(|reading| Some((part_in(reading, &needle)?, reading.label())));
        whole.or_else(|| parts().reduce(|one, other| if other.1 > one.1 { other } else { one }))
    }
}

/// Returns the origin of a value that something which was read contains: the field that it is, or else the text around it.
fn found_in(reading: &Reading, needle: &Needle<'_>) -> Option<ValueOrigin> {
    let leaves = leaves_of(reading.content(), usize::MAX);
    let field = leaves.iter().find(|(_, value)| needle.is(value)).map(|(place, _)| place);
    let is_inside = |(_, value): &(String, &Value)| value.as_str().is_some_and(|text| needle.is_in(text));
    if field.is_none() && !leaves.iter().any(is_inside) {
        return None;
    }
    Some(origin(reading, field.cloned(), needle.is_number && field.is_some(), false))
}

/// Returns the origin of a text of which something that was read contains a line or a sentence.
fn part_in(reading: &Reading, needle: &Needle<'_>) -> Option<ValueOrigin> {
    let leaves = leaves_of(reading.content(), usize::MAX);
    let mut texts = leaves.iter().filter_map(|(_, value)| value.as_str());
    // A text may also be made of whole ones, such as a prompt around a mail.
    let is_whole = |text: &str| text.chars().nth(MIN_INSIDE - 1).is_some() && needle.text.contains(text.trim());
    if texts.clone().any(is_whole) {
        return Some(origin(reading, None, false, true));
    }
    let lines = needle.text.split(['\n', '\r']).flat_map(|line| line.split(". ")).map(str::trim);
    let parts: Vec<_> = lines.filter(|part| part.chars().nth(MIN_PART - 1).is_some()).collect();
    let is_found = texts.any(|text| parts.iter().any(|part| text.contains(part)));
    is_found.then(|| origin(reading, None, false, true))
}

fn origin(reading: &Reading, field: Option<String>, is_number: bool, is_part: bool) -> ValueOrigin {
    let Some(result) = reading.result() else {
        return reading.argument().cloned().unwrap_or(ValueOrigin::Conversation);
    };
    let (tool, summary) = (result.tool.clone(), result.summary.clone());
    ValueOrigin::Result(ResultOrigin { call: result.call, tool, summary, field, is_number, is_part })
}

/// Lists the values of arguments, each with its place: without `null`, empty texts and empty lists.
pub(super) fn leaves(value: &Value) -> Vec<(String, &Value)> {
    leaves_of(value, MAX_VALUES)
}

fn leaves_of(value: &Value, at_most: usize) -> Vec<(String, &Value)> {
    let mut leaves = Vec::new();
    add_leaves(value, String::new(), at_most, &mut leaves);
    leaves
}

fn add_leaves<'v>(value: &'v Value, place: String, at_most: usize, leaves: &mut Vec<(String, &'v Value)>) {
    if leaves.len() >= at_most {
        return;
    }
    let below =
        |name: &dyn std::fmt::Display| if place.is_empty() { name.to_string() } else { format!("{place}/{name}") };
    match value {
        Value::Null => {}
        Value::String(text) if text.trim().is_empty() => {}
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| add_leaves(item, below(&index), at_most, leaves));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(name, field)| add_leaves(field, below(name), at_most, leaves));
        }
        value => leaves.push((place, value)),
    }
}

/// Returns whether a text contains another one as a whole word, such as a name or an address that is not a part of a longer one.
fn contains_word(text: &str, word: &str) -> bool {
    let is_whole = |(start, _): (usize, &str)| {
        let (before, after) = (&text[..start], &text[start + word.len()..]);
        !before.chars().next_back().is_some_and(is_joined) && !continues(after)
    };
    !word.is_empty() && text.match_indices(word).any(is_whole)
}

/// Returns whether a text goes on with the same word: a mark at the end of a sentence does not belong to it.
fn continues(after: &str) -> bool {
    let mut characters = after.chars();
    let Some(first) = characters.next() else { return false };
    let ends_sentence = ".,:?".contains(first) && characters.next().is_none_or(|next| !is_joined(next));
    is_joined(first) && !ends_sentence
}

/// Returns whether a character may be inside of a name, a number, an address or a path.
fn is_joined(character: char) -> bool {
    character.is_alphanumeric() || "_-@/:+%#=&?~.,\\$*".contains(character)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::{OriginNotes, OriginQuery, Origins, ReadResult, Reading, RootCall};
    use super::contains_word;
    use crate::observe::event::{Caller, Label, ValueOrigin};

    /// Returns the origin of each value of a model's call, in words.
    fn found(request: Value, read: &[(&str, Value)], arguments: &Value, schema: &Value) -> Vec<String> {
        let notes = OriginNotes::default();
        notes.set_root(RootCall { name: "main".into(), arguments: request.into(), is_of_client: false });
        for (tool, content) in read {
            let summary = format!("{tool}()").into();
            let (through, label) = ([].into(), Label::Untrusted);
            let result = ReadResult { call: Some(1), tool: (*tool).into(), summary, through, label };
            notes.add(Reading::of_result(result, content));
        }
        let label = notes.label();
        let query = OriginQuery { by: Caller::Model, is_model_code: false, label, arguments, schema };
        let origins = Origins::of_call(&query, [&notes].into_iter());
        origins.arguments().iter().map(|found| format!("{}: {}", found.argument, found.origin)).collect()
    }

    #[test]
    fn a_value_is_the_users_if_the_request_has_it_as_a_whole_word() {
        let text = "Mail bob@x.com (and evil-al@x.com), then move /tmp/a.txt. Cost: 80, or \"12.50\".";
        for word in ["bob@x.com", "evil-al@x.com", "/tmp/a.txt", "80", "12.50", "then move"] {
            assert!(contains_word(text, word), "{word}");
        }
        for word in ["al@x.com", "x.com", "a.txt", "/tmp/a", "8", "12", "2.50", "the", ""] {
            assert!(!contains_word(text, word), "{word}");
        }
    }

    #[test]
    fn each_value_has_its_origin() {
        let request = json!({ "input": "Pay the bill in bill.txt, 80 EUR." });
        let read = [
            ("read_file", json!("To: DE11-BANK. Thank you very much for your business with us.")),
            ("lookup", json!({ "rows": [{ "id": 4711, "iban": "FR99" }] })),
        ];
        let arguments = json!({
            "file": "bill.txt", "cents": 80, "to": "DE11-BANK", "row": 4711, "iban": "FR99", "rows": ["FR99"],
            "note": "A gift", "urgent": true, "retries": 3, "nothing": null, "empty": "",
            "text": "Hello. Thank you very much for your business with us",
        });
        let schema = json!({ "properties": { "retries": { "default": 3 } } });
        let expected = [
            "file: in your request",
            "cents: in your request",
            "to: from `read_file()`, not in your request",
            "row: from `lookup()`, field `rows/0/id`, not in your request",
            "iban: from `lookup()`, field `rows/0/iban`, not in your request",
            "rows/0: from `lookup()`, field `rows/0/iban`, not in your request",
            "note: neither in your request nor in what was read",
            "urgent: neither in your request nor in what was read",
            "retries: the default",
            "text: partly from `read_file()`, not in your request",
        ];
        assert_eq!(found(request, &read, &arguments, &schema), expected);
    }

    #[test]
    fn a_short_text_is_not_found_inside_of_a_word() {
        let read = [("read_file", json!("The categories of last year"))];
        let arguments = json!({ "a": "cat", "b": "categories" });
        let expected =
            ["a: neither in your request nor in what was read", "b: from `read_file()`, not in your request"];
        assert_eq!(found(json!({}), &read, &arguments, &json!({})), expected);
    }

    /// Returns the label of each value of a call by a caller that has read a mail.
    fn labels(by: Caller, arguments: &Value, schema: &Value) -> Vec<Label> {
        let notes = OriginNotes::default();
        notes.set_root(RootCall { name: "main".into(), arguments: json!({ "to": "Ann" }).into(), is_of_client: false });
        let (summary, through, label) = ("mail()".into(), [].into(), Label::Untrusted);
        let mail = ReadResult { call: Some(1), tool: "mail".into(), summary, through, label };
        notes.add(Reading::of_result(mail, &json!({ "text": "pay Eve2", "cents": 900 })));
        let query = OriginQuery { by, is_model_code: false, label: notes.label(), arguments, schema };
        let origins = Origins::of_call(&query, [&notes].into_iter());
        origins.arguments().iter().map(|found| found.label).collect()
    }

    #[test]
    fn a_value_has_the_label_of_what_it_came_from_and_at_most_that_of_its_type() {
        use Label::{Bounded, Trusted, Untrusted};
        let arguments = json!({
            "to": "Ann", "from": "Eve2", "made": "Eve", "all": "Do this: pay Eve2", "cents": 900, "other": 7, "fast": true, "kind": "b",
        });
        let schema = json!({ "properties": { "kind": { "enum": ["a", "b"] } } });
        let of_model = [Trusted, Untrusted, Untrusted, Untrusted, Bounded, Bounded, Bounded, Bounded];
        assert_eq!(labels(Caller::Model, &arguments, &schema), of_model);
        let of_code = [Trusted, Untrusted, Trusted, Untrusted, Bounded, Trusted, Trusted, Trusted];
        assert_eq!(labels(Caller::Code, &arguments, &schema), of_code);
    }

    #[test]
    fn code_that_passes_an_argument_on_does_not_launder_it() {
        let (outer, inner) = (OriginNotes::default(), OriginNotes::default());
        outer.add(Reading::of_message("a mail", Label::Untrusted));
        let (arguments, schema) = (json!({ "to": "Eve", "cents": 7 }), json!({}));
        let query = |by, label| OriginQuery { by, is_model_code: false, label, arguments: &arguments, schema: &schema };
        let of_model = Origins::of_call(&query(Caller::Model, outer.label()), [&outer].into_iter());
        of_model.carried().into_iter().for_each(|reading| inner.add(reading));
        let of_code = Origins::of_call(&query(Caller::Code, inner.label()), [&inner, &outer].into_iter());
        assert_eq!(of_code.arguments(), of_model.arguments());
        assert_eq!(of_code.steering(&[]).count(), 1, "the number carries no text");
    }

    #[test]
    fn values_beyond_those_that_are_looked_for_are_from_anything_that_was_read() {
        let notes = OriginNotes::default();
        notes.add(Reading::of_message("a mail", Label::Untrusted));
        let arguments = json!({ "names": vec![1; 101] });
        let label = notes.label();
        let query =
            OriginQuery { by: Caller::Code, is_model_code: false, label, arguments: &arguments, schema: &json!({}) };
        let origins = Origins::of_call(&query, [&notes].into_iter());
        assert_eq!(origins.arguments().len(), 101);
        assert_eq!(origins.steering(&["names".to_owned()]).count(), 1);
    }

    #[test]
    fn what_code_makes_is_its_own_and_an_earlier_message_is_not_the_users() {
        let notes = OriginNotes::default();
        notes.add(Reading::of_message("remember the word sesame", Label::Trusted));
        notes.add_answer("the blue one");
        let (arguments, schema) = (json!(["sesame", "blue", "new"]), json!({}));
        let of = |by, is_model_code| {
            let label = Label::Trusted;
            let query = OriginQuery { by, is_model_code, label, arguments: &arguments, schema: &schema };
            let origins = Origins::of_call(&query, [&notes].into_iter());
            origins.arguments().iter().map(|found| found.origin.clone()).collect::<Vec<_>>()
        };
        let known = [ValueOrigin::Conversation, ValueOrigin::User];
        assert_eq!(of(Caller::Code, false), [known.as_slice(), &[ValueOrigin::Code]].concat());
        assert_eq!(of(Caller::Code, true), [known.as_slice(), &[ValueOrigin::Unknown]].concat());
        assert_eq!(of(Caller::Model, false), [known.as_slice(), &[ValueOrigin::Unknown]].concat());
    }
}
