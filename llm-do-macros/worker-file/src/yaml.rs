//! YAML as a tree of JSON values, each with its place.

#[cfg(feature = "yaml")]
mod load;
#[cfg(not(feature = "yaml"))]
#[path = "yaml/without_load.rs"]
mod load;
#[cfg(feature = "yaml")]
mod measure;

pub use self::load::read;
use crate::Place;

/// A value and where it begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where it begins in the file; of the value of a top-level key, where the key begins.
    pub place: Place,
    /// The value.
    pub content: Content,
}

/// The value of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// A value whose fault has been reported.
    Invalid,
    /// `null`, or no value.
    Null,
    /// `true` or `false`.
    Flag(bool),
    /// A whole number in the range of `i64` or `u64`.
    Whole(i128),
    /// Another finite number.
    Number(f64),
    /// A string.
    String(String),
    /// A list.
    List(Vec<Node>),
    /// A map in the order of the file, without duplicate keys.
    Map(Vec<(Key, Node)>),
}

/// A key of a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Where it begins.
    pub place: Place,
    /// The key itself.
    pub name: String,
}

impl Content {
    /// Returns the type of the value, for a fault.
    #[must_use]
    pub fn kind(&self) -> String {
        match self {
            Self::Invalid => "an invalid value".to_owned(),
            Self::Null => "no value".to_owned(),
            Self::Flag(flag) => format!("`{flag}`"),
            Self::Whole(_) | Self::Number(_) => "a number".to_owned(),
            Self::String(_) => "a string".to_owned(),
            Self::List(_) => "a list".to_owned(),
            Self::Map(_) => "a map".to_owned(),
        }
    }
}

impl Node {
    /// Returns the value of a key, if this is a map that has the key.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Self> {
        let Content::Map(entries) = &self.content else { return None };
        entries.iter().find(|(key, _)| key.name == name).map(|(_, node)| node)
    }

    /// Returns the items, if this is a list of strings.
    #[must_use]
    pub fn strings(&self) -> Option<Vec<&str>> {
        let Content::List(items) = &self.content else { return None };
        items.iter().map(Self::string).collect()
    }

    fn string(&self) -> Option<&str> {
        if let Content::String(text) = &self.content { Some(text) } else { None }
    }

    /// Returns a string, or a number or flag as the text that JSON writes.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        match &self.content {
            Content::String(text) => Some(text.clone()),
            Content::Flag(_) | Content::Whole(_) | Content::Number(_) => Some(self.to_json()),
            Content::Invalid | Content::Null | Content::List(_) | Content::Map(_) => None,
        }
    }

    /// Returns the value as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) {
        match &self.content {
            Content::Invalid | Content::Null => text.push_str("null"),
            Content::Flag(flag) => text.push_str(if *flag { "true" } else { "false" }),
            Content::Whole(whole) => text.push_str(&whole.to_string()),
            Content::Number(number) => text.extend([format!("{number:?}")]),
            Content::String(content) => quote(content, text),
            Content::List(items) => {
                text.push('[');
                for (index, item) in items.iter().enumerate() {
                    text.push_str(if index == 0 { "" } else { "," });
                    item.write(text);
                }
                text.push(']');
            }
            Content::Map(entries) => {
                text.push('{');
                for (index, (key, value)) in entries.iter().enumerate() {
                    text.push_str(if index == 0 { "" } else { "," });
                    quote(&key.name, text);
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

#[cfg(all(test, feature = "yaml"))]
mod tests {
    use super::*;

    fn json(yaml: &str) -> String {
        let mut faults = Vec::new();
        let node = read(yaml, 1, &mut faults).expect("YAML that can be parsed");
        assert_eq!(faults, []);
        node.to_json()
    }

    #[test]
    fn a_tree_is_written_as_json_in_source_order() {
        let yaml = "type: object\nproperties: {b: {type: string}, a: {maximum: 1.5, x: 1e3}}\nrequired:\n- b\nn: ~\n\
                    t: true\ntext: \"a\\\"\\n\\\\\"\nlist: &it [1]\nalias: *it\n";
        let expected = "{\"type\":\"object\",\"properties\":{\"b\":{\"type\":\"string\"},\
                        \"a\":{\"maximum\":1.5,\"x\":1000.0}},\"required\":[\"b\"],\"n\":null,\"t\":true,\
                        \"text\":\"a\\\"\\u000a\\\\\",\"list\":[1],\"alias\":[1]}";
        assert_eq!(json(yaml), expected);
    }

    #[test]
    fn numbers_keep_their_value() {
        let yaml = "a: 18446744073709551615\nb: [9223372036854775808, -9223372036854775808, +7]\nc: -0.0\nd: 1e300\n";
        let expected =
            "{\"a\":18446744073709551615,\"b\":[9223372036854775808,-9223372036854775808,7],\"c\":-0.0,\"d\":1e300}";
        assert_eq!(json(yaml), expected);
    }

    #[test]
    fn every_value_has_its_place() {
        let node = read("a:\n  b: [x, y]\n", 10, &mut Vec::new()).unwrap();
        let list = node.get("a").unwrap().get("b").unwrap();
        assert_eq!(list.place, Place { line: 11, column: 6 });
        let Content::List(items) = &list.content else { panic!("{list:?}") };
        assert_eq!(items[1].place, Place { line: 11, column: 10 });
    }

    #[test]
    fn values_that_json_does_not_have_are_reported_with_their_places() {
        let mut faults = Vec::new();
        let yaml = "a: .inf\nb: 1e400\n2: b\nc: !tag c\nd: 18446744073709551616\ne: {? [x] : y}\nf: [.nan, g]\n";
        let node = read(yaml, 10, &mut faults).unwrap();
        faults.sort_by_key(|fault| fault.place);
        assert_eq!(faults.iter().map(|fault| fault.place.line).collect::<Vec<_>>(), [10, 11, 12, 13, 14, 15, 16]);
        assert_eq!(node.get("a").unwrap().content, Content::Invalid);
        for (yaml, line) in [("a: 1\na: 2\n", 11), ("a: [b\nc: d\n", 11), ("a: 1\n---\nb: 2\n", 12)] {
            let mut faults = Vec::new();
            assert_eq!(read(yaml, 10, &mut faults), None, "{yaml}");
            assert_eq!((faults.len(), faults[0].place.line), (1, line), "{faults:?}");
        }
    }
}
