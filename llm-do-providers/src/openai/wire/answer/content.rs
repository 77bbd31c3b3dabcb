//! The content of an answer, in every form that servers send.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// A text in any form: some servers send a list of parts, which may include thoughts.
#[derive(Debug, Default)]
pub(in crate::openai) struct DeltaContent {
    pub(in crate::openai) text: String,
    pub(in crate::openai) thoughts: Box<[Value]>,
}

impl<'de> Deserialize<'de> for DeltaContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

/// The visitors for numbers, which become strings.
macro_rules! numbers {
    ($($visit:ident($kind:ty))*) => {
        $(fn $visit<E>(self, number: $kind) -> Result<DeltaContent, E> {
            Ok(DeltaContent { text: number.to_string(), thoughts: Box::default() })
        })*
    };
}

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = DeltaContent;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or a list of parts")
    }

    fn visit_str<E>(self, text: &str) -> Result<DeltaContent, E> {
        Ok(DeltaContent { text: text.to_owned(), thoughts: Box::default() })
    }

    fn visit_string<E>(self, text: String) -> Result<DeltaContent, E> {
        Ok(DeltaContent { text, thoughts: Box::default() })
    }

    numbers!(visit_u64(u64) visit_i64(i64) visit_f64(f64));

    fn visit_bool<E>(self, _: bool) -> Result<DeltaContent, E> {
        Ok(DeltaContent::default())
    }

    fn visit_unit<E>(self) -> Result<DeltaContent, E> {
        Ok(DeltaContent::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<DeltaContent, A::Error> {
        let mut content = ContentParts::default();
        while let Some(part) = parts.next_element::<Value>()? {
            content.push(part);
        }
        Ok(content.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<DeltaContent, A::Error> {
        let mut content = ContentParts::default();
        content.push(Value::deserialize(MapAccessDeserializer::new(fields))?);
        Ok(content.into())
    }
}

#[derive(Default)]
struct ContentParts {
    text: String,
    thoughts: Vec<Value>,
}

impl ContentParts {
    fn push(&mut self, part: Value) {
        if part["type"] == "thinking" {
            self.thoughts.push(part);
        } else {
            self.text += part["text"].as_str().or_else(|| part.as_str()).unwrap_or_default();
        }
    }
}

impl From<ContentParts> for DeltaContent {
    fn from(parts: ContentParts) -> Self {
        Self { text: parts.text, thoughts: parts.thoughts.into() }
    }
}
