//! Loads YAML.

use saphyr::{LoadableYamlNode, MarkedYaml, Marker, Scalar, ScanError, YamlData};

use super::measure::{self, LargeIntegers};
use super::{Content, Key, Node};
use crate::{Fault, Place};

/// Reads YAML that begins on `first_line` of its file.
///
/// Invalid values are reported, and `Invalid` in the tree. Returns `None` if the YAML cannot be parsed.
#[must_use]
pub fn read(yaml: &str, first_line: usize, faults: &mut Vec<Fault>) -> Option<Node> {
    let mut fault = |place: Place, message| faults.push(Fault::new(in_file(place, first_line), message));
    let wholes = measure::check(yaml).map_err(|found| fault(found.place, found.message)).ok()?;
    let documents = MarkedYaml::load_from_str(yaml)
        .map_err(|error| fault(place(*error.marker()), format!("invalid YAML: {}", message(yaml, &error))))
        .ok()?;
    match documents.as_slice() {
        [] => Some(Node { place: Place::line(first_line), content: Content::Null }),
        [document] => Some(Reader { first_line, wholes: &wholes, faults }.node(document)),
        [_, second, ..] => {
            fault(place(second.span.start), "expected one YAML document, found a second".to_owned());
            None
        }
    }
}

fn place(marker: Marker) -> Place {
    Place { line: marker.line().max(1), column: marker.col() + 1 }
}

/// Returns the place in the file of one in YAML that begins on `first_line`.
fn in_file(place: Place, first_line: usize) -> Place {
    Place { line: place.line + first_line - 1, ..place }
}

/// Returns the message of an error. That about text behind a quote calls each quote a double one, so it is written here.
fn message(yaml: &str, error: &ScanError) -> String {
    let before: String = yaml.chars().take(error.marker().index()).collect();
    match before.trim_end().chars().last() {
        Some(quote @ ('"' | '\'')) if error.info().starts_with("invalid trailing content") => {
            format!("more text behind the closing `{quote}`; put the whole value in quotes, or write it below `key: |`")
        }
        _ => error.info().to_owned(),
    }
}

/// Converts loaded YAML to nodes.
struct Reader<'a> {
    first_line: usize,
    wholes: &'a LargeIntegers,
    faults: &'a mut Vec<Fault>,
}

impl Reader<'_> {
    fn node(&mut self, yaml: &MarkedYaml<'_>) -> Node {
        let place = in_file(place(yaml.span.start), self.first_line);
        let content = match &yaml.data {
            YamlData::Value(value) => match self.wholes.get(&(yaml.span.start.line(), yaml.span.start.col())) {
                Some(whole) => self.large(*whole, place),
                None => self.scalar(value, place),
            },
            YamlData::Sequence(items) => Content::List(items.iter().map(|item| self.node(item)).collect()),
            YamlData::Mapping(entries) => {
                let entry = |(key, value)| Some((self.key(key)?, self.node(value)));
                Content::Map(entries.iter().filter_map(entry).collect())
            }
            _ => self.invalid(place, "YAML tags such as `!name` are not supported; remove the tag"),
        };
        Node { place, content }
    }

    fn key(&mut self, yaml: &MarkedYaml<'_>) -> Option<Key> {
        let Node { place, content } = self.node(yaml);
        match content {
            Content::String(name) => Some(Key { place, name }),
            Content::Invalid => None,
            other => {
                let message = format!("invalid key: expected a string, found {}; put it in quotes", other.kind());
                self.invalid(place, message);
                None
            }
        }
    }

    /// Returns a whole number that the loader rounds, since it has no unsigned integers.
    fn large(&mut self, whole: Option<u64>, place: Place) -> Content {
        let message = "whole number does not fit in 64 bits; write it as a float, such as `1e30`, or put it in quotes";
        whole.map_or_else(|| self.invalid(place, message), |whole| Content::Whole(whole.into()))
    }

    fn scalar(&mut self, scalar: &Scalar<'_>, place: Place) -> Content {
        match scalar {
            Scalar::Null => Content::Null,
            Scalar::Boolean(flag) => Content::Flag(*flag),
            Scalar::Integer(whole) => Content::Whole((*whole).into()),
            Scalar::FloatingPoint(number) if number.is_finite() => Content::Number(number.0),
            Scalar::FloatingPoint(_) => {
                self.invalid(place, "NaN or infinite number; only finite numbers are supported")
            }
            Scalar::String(text) => Content::String(text.clone().into_owned()),
        }
    }

    fn invalid(&mut self, place: Place, message: impl Into<String>) -> Content {
        self.faults.push(Fault::new(place, message));
        Content::Invalid
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn text_behind_a_quote_is_reported_with_the_quote_that_was_used() {
        for (yaml, quote) in [("a: 'b' c\n", '\''), ("a: \"b\" c\n", '"'), ("é: 'ß'  # no\nb: 'x' y\n", '\'')] {
            let mut faults = Vec::new();
            assert_eq!(read(yaml, 1, &mut faults), None);
            let text = format!("invalid YAML: more text behind the closing `{quote}`;");
            assert!(faults[0].message.starts_with(&text), "{yaml}: {faults:?}");
        }
    }
}
