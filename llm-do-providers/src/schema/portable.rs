//! Describes keywords that servers refuse or interpret differently.

use serde_json::{Map, Value, json};

use super::modern::NAMED;
use super::note;
use super::pointer::pointed;

/// The maximum number of listed values in a whole schema
/// (<https://platform.openai.com/docs/guides/structured-outputs>).
const MOST_VALUES: usize = 1_000;
/// The maximum length of the values that a description lists, in characters.
const LONGEST_LIST: usize = 8_000;

/// What a conversion only describes, each with its path.
pub(crate) type Notes = Vec<String>;

/// Returns a schema without patterns that not all servers compile, references without a target, and more listed values
/// than servers accept. Descriptions state these instead.
pub(crate) fn portable(schema: &Value, notes: &mut Notes) -> Value {
    let mut portable = schema.clone();
    let largest = most_in_one(schema);
    let mut converter = Converter { root: schema, path: Vec::new(), most_in_one: largest, notes };
    converter.schema(&mut portable);
    portable
}

/// Whether all lists of values together exceed the limit of servers.
#[cfg(feature = "openai")]
pub(crate) fn has_too_many_values(schema: &Value) -> bool {
    most_in_one(schema) != usize::MAX
}

/// Returns the maximum length of one list, so that all lists together have at most [`MOST_VALUES`] values.
fn most_in_one(schema: &Value) -> usize {
    let mut sizes = Vec::new();
    count(schema, &mut sizes);
    sizes.sort_unstable();
    let mut sum = 0;
    let kept = sizes.iter().take_while(|size| {
        sum += **size;
        sum <= MOST_VALUES
    });
    let kept = kept.count();
    if kept == sizes.len() { usize::MAX } else { kept.checked_sub(1).map_or(0, |last| sizes[last]) }
}

fn count(schema: &Value, sizes: &mut Vec<usize>) {
    match schema {
        Value::Array(parts) => parts.iter().for_each(|part| count(part, sizes)),
        Value::Object(keywords) => {
            for (key, value) in keywords {
                match (key.as_str(), value) {
                    ("const" | "default" | "examples", _) => {}
                    ("enum", Value::Array(values)) => sizes.push(values.len()),
                    (key, Value::Object(named)) if NAMED.contains(&key) => {
                        named.values().for_each(|schema| count(schema, sizes));
                    }
                    (_, other) => count(other, sizes),
                }
            }
        }
        _ => {}
    }
}

struct Converter<'a> {
    root: &'a Value,
    path: Vec<String>,
    most_in_one: usize,
    notes: &'a mut Notes,
}

impl Converter<'_> {
    fn schema(&mut self, schema: &mut Value) {
        match schema {
            Value::Array(parts) => {
                for (index, part) in parts.iter_mut().enumerate() {
                    self.below(index.to_string(), part);
                }
            }
            Value::Object(keywords) => self.keywords(keywords),
            _ => {}
        }
    }

    fn below(&mut self, step: String, part: &mut Value) {
        self.path.push(step);
        self.schema(part);
        self.path.pop();
    }

    fn keywords(&mut self, keywords: &mut Map<String, Value>) {
        for (key, value) in keywords.iter_mut() {
            match (key.as_str(), value) {
                ("const" | "default" | "enum" | "examples" | "required" | "dependentRequired", _) => {}
                (key, Value::Object(named)) if NAMED.contains(&key) => {
                    for (name, schema) in named.iter_mut() {
                        self.below(format!("{key}/{name}"), schema);
                    }
                }
                (key, other) if other.is_object() || other.is_array() => self.below(key.to_owned(), other),
                _ => {}
            }
        }
        self.pattern(keywords);
        self.pattern_properties(keywords);
        self.values(keywords);
        self.reference(keywords);
    }

    fn note(&mut self, keywords: &mut Map<String, Value>, words: String, what: &str) {
        let own = keywords.shift_remove("description");
        note::describe(keywords, own.as_ref(), &[words]);
        self.notes.push(format!("`#/{}`: {what}", self.path.join("/")));
    }

    fn pattern(&mut self, keywords: &mut Map<String, Value>) {
        let Some(pattern) = keywords.get("pattern").and_then(Value::as_str) else { return };
        if !is_portable(pattern) {
            let words = format!("Matches the regular expression `{pattern}`.");
            keywords.shift_remove("pattern");
            self.note(keywords, words, "the pattern is in the description, since not all servers compile it");
        }
    }

    fn pattern_properties(&mut self, keywords: &mut Map<String, Value>) {
        let Some(Value::Object(named)) = keywords.get_mut("patternProperties") else { return };
        let others: Vec<_> = named.keys().filter(|pattern| !is_portable(pattern)).cloned().collect();
        if others.is_empty() {
            return;
        }
        let taken: Map<_, _> =
            others.into_iter().filter_map(|name| named.shift_remove(&name).map(|it| (name, it))).collect();
        if named.is_empty() {
            keywords.shift_remove("patternProperties");
        }
        // These properties are no longer declared, so they are further properties.
        for key in ["additionalProperties", "unevaluatedProperties"] {
            keywords.shift_remove(key);
        }
        let words = format!("Properties by regular expressions of their names: {}.", Value::Object(taken));
        self.note(
            keywords,
            words,
            "pattern properties are in the description, since not all servers compile their patterns",
        );
    }

    fn values(&mut self, keywords: &mut Map<String, Value>) {
        let Some(Value::Array(values)) = keywords.get("enum") else { return };
        if values.len() <= self.most_in_one {
            return;
        }
        let mut kinds: Vec<_> = values.iter().map(kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let words = listed(values);
        keywords.shift_remove("enum");
        if !keywords.contains_key("type") {
            let kinds = if let [kind] = kinds[..] { json!(kind) } else { json!(kinds) };
            keywords.insert("type".to_owned(), kinds);
        }
        let what = format!("its values are in the description: servers accept at most {MOST_VALUES} values");
        self.note(keywords, words, &what);
    }

    fn reference(&mut self, keywords: &mut Map<String, Value>) {
        for key in ["$ref", "$dynamicRef", "$recursiveRef"] {
            let Some(reference) = keywords.get(key).and_then(Value::as_str) else { continue };
            if key != "$ref" || reference != "#" && pointed(self.root, reference).is_none() {
                let words = format!("Follows the schema `{reference}`.");
                keywords.shift_remove(key);
                self.note(keywords, words, "refers to a schema that is not in this one, and is sent as any value");
            }
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Returns the sentence that lists the values, up to the maximum length.
fn listed(values: &[Value]) -> String {
    let (mut text, mut count) = (String::new(), 0);
    for value in values {
        let value = value.to_string();
        if text.len() + value.len() > LONGEST_LIST {
            break;
        }
        if count > 0 {
            text.push_str(", ");
        }
        text.push_str(&value);
        count += 1;
    }
    match values.len() - count {
        0 => format!("One of: {text}."),
        more => format!("One of {} values: {text}, and {more} more.", values.len()),
    }
}

/// Whether the type of a schema is, or lists, `kind`.
pub(super) fn may_be(schema: &Map<String, Value>, kind: &str) -> bool {
    match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(|listed| listed == kind),
        Some(only) => only == kind,
        None => false,
    }
}

/// Whether all engines give a pattern the same meaning: it has no look-around, back-reference, flag or named group.
pub(crate) fn is_portable(pattern: &str) -> bool {
    let mut rest = pattern.chars().peekable();
    let (mut groups, mut in_class) = (0_usize, false);
    while let Some(character) = rest.next() {
        match character {
            '\\' => match rest.next() {
                Some(escaped) if is_known_escape(escaped) => {}
                _ => return false,
            },
            ']' if in_class => in_class = false,
            '[' if in_class => return false,
            '[' => {
                in_class = true;
                rest.next_if_eq(&'^');
                if rest.peek() == Some(&']') {
                    return false;
                }
            }
            _ if in_class => {}
            '(' => {
                groups += 1;
                if rest.next_if_eq(&'?').is_some() && rest.next() != Some(':') {
                    return false;
                }
            }
            ')' => match groups.checked_sub(1) {
                Some(outer) => groups = outer,
                None => return false,
            },
            '*' | '+' | '?' if matches!(rest.peek(), Some('+' | '*')) => return false,
            _ => {}
        }
    }
    groups == 0 && !in_class && !matches!(pattern.chars().next(), Some('*' | '+' | '?'))
}

fn is_known_escape(escaped: char) -> bool {
    escaped.is_ascii_punctuation() || "dDwWsSbBtnrfv".contains(escaped)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{is_portable, portable};

    #[test]
    fn only_expressions_that_all_engines_read_are_portable() {
        for pattern in [r"^[a-z]+$", r"^\d{3}-\w*$", "(?:a|b)?", r"^[^\]\\]$", "a{2,3}?", "", "^(a|b)$"] {
            assert!(is_portable(pattern), "{pattern}");
        }
        for pattern in [
            "(?=a)", "(?!a)", "(?<=a)b", "(?<!a)b", r"(a)\1", "(?i)a", "(?P<n>a)", "(?<n>a)", r"\p{L}", r"a\Z", "(",
            "a)", "[a", "*a", "a++", "(?>a)", r"\k<a>",
        ] {
            assert!(!is_portable(pattern), "{pattern}");
        }
    }

    fn of(schema: &Value) -> (Value, usize) {
        let mut notes = Vec::new();
        let whole = json!({"type": "object", "properties": {"p": schema}});
        let converted = portable(&whole, &mut notes);
        (converted["properties"]["p"].clone(), notes.len())
    }

    #[test]
    fn an_expression_that_is_not_portable_is_in_the_description() {
        let (form, notes) = of(&json!({"type": "string", "pattern": "^(?!x)", "description": "Not x"}));
        let words = "Not x. Matches the regular expression `^(?!x)`.";
        assert_eq!((form, notes), (json!({"type": "string", "description": words}), 1));
        let schema = json!({"type": "object", "patternProperties": {"^(?=a)": {"type": "string"}}, "additionalProperties": false});
        let (form, _) = of(&schema);
        assert!(form.get("patternProperties").is_none() && form.get("additionalProperties").is_none(), "{form}");
    }

    #[test]
    fn the_longest_lists_of_too_many_values_are_in_the_description() {
        let values = |count: usize| (0..count).map(|number| format!("v{number}")).collect::<Vec<_>>();
        let schema = json!({"type": "object", "properties": {
            "few": {"type": "string", "enum": ["a", "b"]}, "many": {"enum": values(1_001)}, "some": {"enum": values(900)},
        }});
        let (form, notes) = of(&schema);
        assert_eq!(notes, 1);
        assert_eq!(form["properties"]["some"]["enum"].as_array().unwrap().len(), 900);
        assert_eq!(form["properties"]["many"]["type"], "string");
        let words = form["properties"]["many"]["description"].as_str().unwrap();
        assert!(words.starts_with("One of") && words.contains("\"v0\", \"v1\""), "{words}");
    }

    #[test]
    fn a_reference_to_nothing_is_any_value() {
        let (form, _) = of(&json!({"$ref": "#/$defs/Nothing"}));
        assert_eq!(form, json!({"description": "Follows the schema `#/$defs/Nothing`."}));
    }
}
