//! JSON with the place of each value, for faults that name the line.

use std::collections::HashSet;

use jsonc_parser::ast;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use llm_do_worker_file::{Content, Fault, Key, Node, Place};

/// Strict JSON, without comments.
const STRICT: ParseOptions = ParseOptions {
    allow_comments: false,
    allow_loose_object_property_names: false,
    allow_trailing_commas: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Parses a text; invalid values are reported. Returns `None` if it is not JSON.
pub(super) fn read(text: &str, faults: &mut Vec<Fault>) -> Option<Node> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // Checked first, since serde_json limits the nesting and has better messages.
    if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text) {
        faults.push(Fault::new(Place { line: error.line().max(1), column: error.column() }, invalid(&error)));
        return None;
    }
    let lines = Lines::new(text);
    match parse_to_ast(text, &CollectOptions::default(), &STRICT) {
        Ok(parsed) => Some(Converter { lines, faults }.node(parsed.value?)),
        Err(error) => {
            faults.push(Fault::new(lines.place(error.range().start), format!("invalid JSON: {}", error.kind())));
            None
        }
    }
}

/// Returns the message of an error without its place.
fn invalid(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let message = text.split(" at line ").next().unwrap_or_default();
    format!("invalid JSON: {message}")
}

/// The starts of the lines of a text.
struct Lines {
    begins: Vec<usize>,
}

impl Lines {
    fn new(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self { begins: std::iter::once(0).chain(ends.map(|(end, _)| end + 1)).collect() }
    }

    /// Returns the place of a byte.
    fn place(&self, offset: usize) -> Place {
        let line = self.begins.partition_point(|begin| *begin <= offset);
        Place { line, column: offset - self.begins[line - 1] + 1 }
    }
}

struct Converter<'a> {
    lines: Lines,
    faults: &'a mut Vec<Fault>,
}

impl Converter<'_> {
    fn node(&mut self, value: ast::Value<'_>) -> Node {
        let place = self.lines.place(start(&value));
        let content = match value {
            ast::Value::StringLit(text) => Content::String(text.value.into_owned()),
            ast::Value::NumberLit(number) => self.number(number.value, place),
            ast::Value::BooleanLit(flag) => Content::Flag(flag.value),
            ast::Value::NullKeyword(_) => Content::Null,
            ast::Value::Array(list) => Content::List(list.elements.into_iter().map(|item| self.node(item)).collect()),
            ast::Value::Object(map) => self.map(map),
        };
        Node { place, content }
    }

    fn map(&mut self, map: ast::Object<'_>) -> Content {
        let (mut entries, mut names) = (Vec::new(), HashSet::new());
        for property in map.properties {
            let place = self.lines.place(property.range.start);
            let name = property.name.into_string();
            if names.insert(name.clone()) {
                let value = self.node(property.value);
                // A value that begins on a line below its key is reported at the key.
                entries.push((Key { place, name }, Node { place, ..value }));
            } else {
                self.faults.push(Fault::new(place, format!("duplicate key `{name}` in one map; remove one")));
            }
        }
        Content::Map(entries)
    }

    fn number(&mut self, text: &str, place: Place) -> Content {
        let whole = text.parse().ok().filter(|whole| (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(whole));
        let number = || text.parse().ok().filter(|number: &f64| number.is_finite());
        match (whole, number()) {
            (Some(whole), _) => Content::Whole(whole),
            (None, Some(number)) => Content::Number(number),
            (None, None) => {
                self.faults.push(Fault::new(place, format!("the number {text} is out of range")));
                Content::Invalid
            }
        }
    }
}

fn start(value: &ast::Value<'_>) -> usize {
    match value {
        ast::Value::StringLit(value) => value.range.start,
        ast::Value::NumberLit(value) => value.range.start,
        ast::Value::BooleanLit(value) => value.range.start,
        ast::Value::NullKeyword(value) => value.range.start,
        ast::Value::Array(value) => value.range.start,
        ast::Value::Object(value) => value.range.start,
    }
}
