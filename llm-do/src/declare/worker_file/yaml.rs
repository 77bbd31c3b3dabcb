//! YAML as the keys of a map, each with its line and its value as JSON.

use saphyr::{LoadableYamlNode, MarkedYaml, Scalar, YamlData};
use serde_json::{Map, Number, Value};

use super::Fault;
use super::bounds::{self, Wholes};
use super::value::kind;

/// A key of the front matter.
#[derive(Debug, PartialEq)]
pub(super) struct Entry {
    /// The line in the file, from 1.
    pub(super) line: usize,
    pub(super) name: String,
    pub(super) value: Value,
}

/// Reads YAML that begins on `first_line` of its file; nothing at all is no keys.
pub(super) fn entries(yaml: &str, first_line: usize) -> Result<Vec<Entry>, Fault> {
    // Lines count from 1 here as there.
    let line_of = |line: usize| line.max(1) + first_line - 1;
    let wholes = bounds::check(yaml).map_err(|fault| Fault { line: line_of(fault.line), ..fault })?;
    let reader = Reader { line_of: &line_of, wholes: &wholes };
    let documents = MarkedYaml::load_from_str(yaml)
        .map_err(|error| Fault::new(line_of(error.marker().line()), format!("not YAML: {}", error.info())))?;
    let document = match documents.as_slice() {
        [] => return Ok(Vec::new()),
        [document] => document,
        [_, second, ..] => {
            return Err(Fault::new(line_of(second.span.start.line()), "a second document; expected one only"));
        }
    };
    match &document.data {
        YamlData::Value(Scalar::Null) => Ok(Vec::new()),
        YamlData::Mapping(pairs) => {
            let entry = |(key, value): (&MarkedYaml<'_>, _)| {
                let line = line_of(key.span.start.line());
                Ok(Entry { line, name: reader.name(key)?, value: reader.json(value)? })
            };
            pairs.iter().map(entry).collect()
        }
        _ => {
            let found = kind(&reader.json(document)?);
            Err(Fault::new(first_line, format!("the front matter is {found}; expected `key: value` lines")))
        }
    }
}

/// Makes values of YAML.
struct Reader<'a, L> {
    line_of: &'a L,
    wholes: &'a Wholes,
}

impl<L: Fn(usize) -> usize> Reader<'_, L> {
    fn json(&self, yaml: &MarkedYaml<'_>) -> Result<Value, Fault> {
        let start = yaml.span.start;
        let fault = |message: &str| Err(Fault::new((self.line_of)(start.line()), message));
        Ok(match &yaml.data {
            YamlData::Value(Scalar::Null) => Value::Null,
            YamlData::Value(Scalar::Boolean(flag)) => Value::Bool(*flag),
            YamlData::Value(Scalar::Integer(whole)) => Value::from(*whole),
            YamlData::Value(Scalar::FloatingPoint(number)) => match self.wholes.get(&(start.line(), start.col())) {
                // The parser has no integers of 64 bits without a sign.
                Some(whole) => Value::from(*whole),
                None => match Number::from_f64(number.0) {
                    Some(number) => Value::Number(number),
                    None => return fault("expected a finite number"),
                },
            },
            YamlData::Value(Scalar::String(text)) => Value::from(&**text),
            YamlData::Sequence(items) => items.iter().map(|item| self.json(item)).collect::<Result<_, _>>()?,
            YamlData::Mapping(pairs) => {
                let pair = |(key, value)| Ok((self.name(key)?, self.json(value)?));
                Value::Object(pairs.iter().map(pair).collect::<Result<Map<_, _>, _>>()?)
            }
            _ => return fault("tags such as `!name` have no meaning here; leave them out"),
        })
    }

    fn name(&self, key: &MarkedYaml<'_>) -> Result<String, Fault> {
        match self.json(key)? {
            Value::String(text) => Ok(text),
            other => {
                let message = format!("a key is a text, not {}; put it in quotes", kind(&other));
                Err(Fault::new((self.line_of)(key.span.start.line()), message))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_those_of_json_in_their_order() {
        let yaml = "b: {y: 1.5, x: 1e3}\na: &it\n- true\n- ~\nn: '1'\nm: *it\n";
        let entries = entries(yaml, 3).unwrap();
        let read: Vec<_> = entries.iter().map(|entry| (entry.line, entry.name.as_str(), &entry.value)).collect();
        let list = json!([true, null]);
        assert_eq!(
            read,
            [(3, "b", &json!({ "y": 1.5, "x": 1000.0 })), (4, "a", &list), (7, "n", &json!("1")), (8, "m", &list)]
        );
    }

    #[test]
    fn numbers_are_read_as_they_are_written() {
        let yaml =
            "a: 18446744073709551615\nb: [9223372036854775808, -9223372036854775808, +9223372036854775808]\nc: -0.0\n";
        let entries = entries(yaml, 1).unwrap();
        let read: Vec<_> = entries.iter().map(|entry| entry.value.to_string()).collect();
        assert_eq!(
            read,
            ["18446744073709551615", "[9223372036854775808,-9223372036854775808,9223372036854775808]", "-0.0"]
        );
    }

    #[test]
    fn what_json_does_not_have_is_refused_at_its_line() {
        for yaml in [
            "a: 1\nb: .inf\n",
            "a: 1\nb: 1e400\n",
            "a: 1\n2: b\n",
            "a: 1\nb: !tag c\n",
            "a: 1\nb: {? [x] : y}\n",
            "a: 1\na: 2\n",
        ] {
            let fault = entries(yaml, 10).unwrap_err();
            assert_eq!(fault.line, 11, "{yaml} {}", fault.message);
        }
        assert_eq!(entries("- a\n", 2).unwrap_err().message, "the front matter is a list; expected `key: value` lines");
        assert_eq!(entries("# nothing\n", 2).unwrap(), []);
    }
}
