//! Decodes arguments straight from their JSON text, where their Rust types alone decide what is valid.
//!
//! It only accepts: a text that it does not accept is parsed as a value, checked against the schema and decoded from there,
//! which reports the faults.

use std::any::TypeId;
use std::path::PathBuf;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Deserializer;

/// The fields of an arguments object in its JSON text, in order.
#[doc(hidden)]
#[derive(Debug)]
pub struct TextFields<'t> {
    /// The text after the last value that was decoded, or after the opening brace.
    rest: &'t str,
    is_first: bool,
}

impl<'t> TextFields<'t> {
    /// Returns the fields of an object; `None` if the text is something else.
    pub(super) fn of(text: &'t str) -> Option<Self> {
        Some(Self { rest: trim(text).strip_prefix('{')?, is_first: true })
    }

    /// Decodes the next field if it has this name; `None` if it has another name, or cannot be decoded.
    pub(super) fn take<T: DeserializeOwned>(&mut self, name: &str) -> Option<T> {
        let text = self.after_name(name)?;
        let mut deserializer = Deserializer::from_str(text);
        let value = T::deserialize(&mut deserializer).ok()?;
        let length = deserializer.into_iter::<IgnoredAny>().byte_offset();
        (self.rest, self.is_first) = (text.get(length..)?, false);
        Some(value)
    }

    /// Returns the text after the next field's name and colon, if it has this name.
    fn after_name(&self, name: &str) -> Option<&'t str> {
        let rest = trim(self.rest);
        let field = if self.is_first { rest } else { trim(rest.strip_prefix(',')?) };
        // A name with escapes is left to the parser.
        let rest = field.strip_prefix('"')?.strip_prefix(name)?.strip_prefix('"')?;
        trim(rest).strip_prefix(':')
    }

    /// Returns whether nothing follows but the closing brace.
    pub(super) fn is_finished(&self) -> bool {
        trim(self.rest).strip_prefix('}').is_some_and(|rest| trim(rest).is_empty())
    }
}

/// Removes the white space of JSON at the start.
fn trim(text: &str) -> &str {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
    // The common case: models write no white space.
    if !text.as_bytes().first().is_some_and(is_space) {
        return text;
    }
    text.trim_start_matches([' ', '\n', '\r', '\t'])
}

/// Returns whether the values of a type in JSON are exactly those that its schema describes, however they are decoded.
///
/// A type is listed here if that was verified: a type's own implementation of `Deserialize` may accept more than its schema.
pub(super) fn is_decided_by_type<T: 'static>() -> bool {
    is_scalar_or_list::<T, bool>()
        || is_scalar_or_list::<T, String>()
        || is_scalar_or_list::<T, PathBuf>()
        || is_integer::<T>()
        || is_scalar_or_list::<T, f64>()
}

fn is_integer<T: 'static>() -> bool {
    is_scalar_or_list::<T, i64>()
        || is_scalar_or_list::<T, u64>()
        || is_scalar_or_list::<T, i32>()
        || is_scalar_or_list::<T, u32>()
        || is_scalar_or_list::<T, usize>()
        || is_scalar_or_list::<T, isize>()
        || is_scalar_or_list::<T, u16>()
        || is_scalar_or_list::<T, u8>()
        || is_scalar_or_list::<T, i16>()
        || is_scalar_or_list::<T, i8>()
}

fn is_scalar_or_list<T: 'static, S: 'static>() -> bool {
    let known = [TypeId::of::<S>(), TypeId::of::<Option<S>>(), TypeId::of::<Vec<S>>(), TypeId::of::<Option<Vec<S>>>()];
    known.contains(&TypeId::of::<T>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_taken_in_order() {
        let mut fields = TextFields::of(" {\"a\" : 1 ,\n\"b\":\"x\"} ").unwrap();
        assert_eq!(fields.take::<i64>("b"), None::<i64>);
        assert_eq!(fields.take::<i64>("a"), Some(1));
        assert!(!fields.is_finished());
        assert_eq!(fields.take::<String>("b").as_deref(), Some("x"));
        assert!(fields.is_finished());
    }

    #[test]
    fn other_texts_are_left_to_the_parser() {
        for text in ["", "[]", "null", "{\"a\" 1}", "{,\"a\":1}", "{\"\\u0061\":1}", "{\"ab\":1}", "{\"a\":"] {
            let taken = TextFields::of(text).and_then(|mut fields| fields.take::<i64>("a"));
            assert_eq!(taken, None, "{text}");
        }
        for text in ["{\"a\":1", "{\"a\":1}}", "{\"a\":1,}", "{\"a\":1 2}", "{\"a\":1,\"a\":2}", "{\"a\":1x}"] {
            let mut fields = TextFields::of(text).unwrap();
            assert_eq!(fields.take::<i64>("a"), Some(1), "{text}");
            assert!(!fields.is_finished(), "{text}");
        }
    }
}
