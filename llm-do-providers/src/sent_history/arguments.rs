//! The arguments of calls. Servers parse them again, and refuse invalid ones that a model once wrote.

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// The arguments of a call, by what can be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arguments<'a> {
    /// The object that the model wrote, without white space around it.
    Object(&'a str),
    /// An empty text.
    Nothing,
    /// JSON, but not an object.
    NotAnObject(&'a str),
    /// Not JSON, or JSON that some server refuses.
    Invalid(&'a str),
}

/// Classifies the arguments `text`; an object may be nested at most `depth` deep.
pub(crate) fn arguments(text: &str, depth: usize) -> Arguments<'_> {
    let trimmed = text.trim_matches([' ', '\n', '\r', '\t']);
    if text.trim().is_empty() {
        Arguments::Nothing
    } else if !is_plain_json(trimmed, depth) {
        Arguments::Invalid(text)
    } else if trimmed.starts_with('{') {
        Arguments::Object(trimmed)
    } else {
        Arguments::NotAnObject(text)
    }
}

/// Returns whether a text is JSON that all parsers accept: without unpaired surrogates, numbers beyond 64-bit floats
/// and duplicate keys, and with at most `depth` nested lists and objects.
pub(crate) fn is_plain_json(text: &str, depth: usize) -> bool {
    let mut json = serde_json::Deserializer::from_str(text);
    Plain { depth }.deserialize(&mut json).is_ok() && json.end().is_ok()
}

/// Reads a value that is nested at most `depth` deep.
#[derive(Clone, Copy)]
struct Plain {
    depth: usize,
}

impl Plain {
    fn inner<E: Error>(self) -> Result<Self, E> {
        let depth = self.depth.checked_sub(1).ok_or_else(|| E::custom("nested too deeply"))?;
        Ok(Self { depth })
    }
}

impl<'de> DeserializeSeed<'de> for Plain {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Plain {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let inner = self.inner()?;
        while items.next_element_seed(inner)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let (inner, mut keys) = (self.inner()?, HashSet::new());
        while let Some(key) = fields.next_key::<String>()? {
            if !keys.insert(key) {
                return Err(A::Error::custom("a key occurs twice"));
            }
            fields.next_value_seed(inner)?;
        }
        Ok(())
    }
}
