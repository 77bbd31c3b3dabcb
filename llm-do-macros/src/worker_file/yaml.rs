//! YAML as a tree in which each value knows its line.

use saphyr::{LoadableYamlNode, MarkedYaml, Scalar, YamlData};

use super::Fault;
use super::bounds::{self, Wholes};

/// A value and where it begins.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    /// The line in the file, from 1.
    pub(crate) line: usize,
    pub(crate) content: Content,
}

/// What a node holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Content {
    Null,
    Flag(bool),
    /// What JSON has: from the least of 64 bits with a sign to the greatest without.
    Whole(i128),
    Number(f64),
    Text(String),
    List(Vec<Node>),
    /// In the order of the file; no key comes twice.
    Map(Vec<(Name, Node)>),
}

/// A key of a map.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Name {
    pub(crate) line: usize,
    pub(crate) text: String,
}

/// Reads YAML that begins on `first_line` of its file; nothing at all is `Null`.
pub(super) fn read(yaml: &str, first_line: usize) -> Result<Node, Fault> {
    // Lines count from 1 here as there.
    let line = |line: usize| line.max(1) + first_line - 1;
    let wholes = bounds::check(yaml).map_err(|fault| Fault { line: line(fault.line), ..fault })?;
    let documents = MarkedYaml::load_from_str(yaml)
        .map_err(|error| Fault::new(line(error.marker().line()), format!("not YAML: {}", error.info())))?;
    match documents.as_slice() {
        [] => Ok(Node { line: first_line, content: Content::Null }),
        [document] => Reader { line_of: &line, wholes: &wholes }.node(document),
        [_, second, ..] => Err(Fault::new(line(second.span.start.line()), "a second document; expected one only")),
    }
}

/// Makes nodes of YAML.
struct Reader<'a, L> {
    line_of: &'a L,
    wholes: &'a Wholes,
}

impl<L: Fn(usize) -> usize> Reader<'_, L> {
    fn node(&self, yaml: &MarkedYaml<'_>) -> Result<Node, Fault> {
        let line = (self.line_of)(yaml.span.start.line());
        let content = match &yaml.data {
            YamlData::Value(scalar) => {
                // The parser has no integers of 64 bits without a sign.
                match self.wholes.get(&(yaml.span.start.line(), yaml.span.start.col())) {
                    Some(whole) => Content::Whole((*whole).into()),
                    None => self::scalar(scalar, line)?,
                }
            }
            YamlData::Sequence(items) => {
                Content::List(items.iter().map(|item| self.node(item)).collect::<Result<_, _>>()?)
            }
            YamlData::Mapping(entries) => {
                let entry = |(key, value)| Ok((self.name(key)?, self.node(value)?));
                Content::Map(entries.iter().map(entry).collect::<Result<_, _>>()?)
            }
            _ => return Err(Fault::new(line, "tags such as `!name` have no meaning here; leave them out")),
        };
        Ok(Node { line, content })
    }

    fn name(&self, key: &MarkedYaml<'_>) -> Result<Name, Fault> {
        let line = (self.line_of)(key.span.start.line());
        match self.node(key)?.content {
            Content::Text(text) => Ok(Name { line, text }),
            other => Err(Fault::new(line, format!("a key is a text, not {}; put it in quotes", other.kind()))),
        }
    }
}

fn scalar(scalar: &Scalar<'_>, line: usize) -> Result<Content, Fault> {
    Ok(match scalar {
        Scalar::Null => Content::Null,
        Scalar::Boolean(flag) => Content::Flag(*flag),
        Scalar::Integer(whole) => Content::Whole((*whole).into()),
        Scalar::FloatingPoint(number) if number.is_finite() => Content::Number(number.0),
        Scalar::FloatingPoint(_) => return Err(Fault::new(line, "expected a finite number")),
        Scalar::String(text) => Content::Text(text.clone().into_owned()),
    })
}

impl Content {
    /// Returns what it is, for a fault.
    pub(crate) fn kind(&self) -> String {
        match self {
            Self::Null => "nothing".to_owned(),
            Self::Flag(flag) => format!("`{flag}`"),
            Self::Whole(_) | Self::Number(_) => "a number".to_owned(),
            Self::Text(_) => "a text".to_owned(),
            Self::List(_) => "a list".to_owned(),
            Self::Map(_) => "a map".to_owned(),
        }
    }
}

impl Node {
    /// Returns the value as JSON.
    pub(crate) fn json(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) {
        match &self.content {
            Content::Null => text.push_str("null"),
            Content::Flag(flag) => text.push_str(if *flag { "true" } else { "false" }),
            Content::Whole(whole) => text.push_str(&whole.to_string()),
            Content::Number(number) => text.extend([format!("{number:?}")]),
            Content::Text(content) => quote(content, text),
            Content::List(items) => {
                text.push('[');
                for (place, item) in items.iter().enumerate() {
                    text.push_str(if place == 0 { "" } else { "," });
                    item.write(text);
                }
                text.push(']');
            }
            Content::Map(entries) => {
                text.push('{');
                for (place, (name, value)) in entries.iter().enumerate() {
                    text.push_str(if place == 0 { "" } else { "," });
                    quote(&name.text, text);
                    text.push(':');
                    value.write(text);
                }
                text.push('}');
            }
        }
    }
}

fn quote(content: &str, text: &mut String) {
    text.push('"');
    for letter in content.chars() {
        match letter {
            '"' | '\\' => text.extend(['\\', letter]),
            control if control < ' ' => text.extend([format!("\\u{:04x}", u32::from(control))]),
            other => text.push(other),
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_written_as_json_in_its_order() {
        let yaml = "type: object\nproperties: {b: {type: string}, a: {maximum: 1.5, x: 1e3}}\nrequired:\n- b\nn: ~\n\
                    t: true\ntext: \"a\\\"\\n\\\\\"\n";
        let expected = "{\"type\":\"object\",\"properties\":{\"b\":{\"type\":\"string\"},\
                        \"a\":{\"maximum\":1.5,\"x\":1000.0}},\"required\":[\"b\"],\"n\":null,\"t\":true,\
                        \"text\":\"a\\\"\\u000a\\\\\"}";
        assert_eq!(read(yaml, 1).unwrap().json(), expected);
    }

    #[test]
    fn numbers_are_written_as_they_are_read() {
        let yaml = "a: 18446744073709551615\nb: [9223372036854775808, -9223372036854775808]\nc: -0.0\n";
        let expected = "{\"a\":18446744073709551615,\"b\":[9223372036854775808,-9223372036854775808],\"c\":-0.0}";
        assert_eq!(read(yaml, 1).unwrap().json(), expected);
    }

    #[test]
    fn what_json_does_not_have_is_refused_at_its_line() {
        for yaml in ["a: 1\nb: .inf\n", "a: 1\nb: 1e400\n", "a: 1\n2: b\n", "a: 1\nb: !tag c\n"] {
            let fault = read(yaml, 10).unwrap_err();
            assert_eq!(fault.line, 11, "{yaml} {}", fault.message);
        }
    }
}
