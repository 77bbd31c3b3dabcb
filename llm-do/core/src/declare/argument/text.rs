//! Decodes arguments directly from their JSON text, if their Rust types alone decide which values are valid.
//!
//! This path only accepts. A text that it does not accept is parsed as a value, checked against the schema and decoded
//! from there, which reports the faults.

use std::any::TypeId;
use std::path::PathBuf;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Deserializer;

use crate::base::json::has_escaped;

/// The fields of an arguments object in its JSON text, in order.
#[doc(hidden)]
#[derive(Debug)]
pub struct TextFields<'t> {
    /// The text after the last value that was decoded, or after the opening brace.
    rest: &'t str,
    is_first: bool,
    /// Whether the text so far is known to equal the encoding of the decoded arguments.
    is_as_written: bool,
}

impl<'t> TextFields<'t> {
    /// Returns the fields of an object; `None` if the text is not an object.
    ///
    /// `is_observed` is whether an event has the arguments, which then asks how they are written.
    pub(crate) fn of(text: &'t str, is_observed: bool) -> Option<Self> {
        let is_as_written = is_observed && text.starts_with('{');
        Some(Self { rest: after(text, "{")?, is_first: true, is_as_written })
    }

    /// Decodes the next field if it has this name; `None` if it has another name, or cannot be decoded.
    pub(super) fn take<T: DeserializeOwned + 'static>(&mut self, name: &str) -> Option<T> {
        let text = self.after_name(name)?;
        let mut deserializer = Deserializer::from_str(text);
        let value = T::deserialize(&mut deserializer).ok()?;
        let length = deserializer.into_iter::<IgnoredAny>().byte_offset();
        let (written, rest) = text.split_at_checked(length)?;
        if self.is_as_written {
            let compact = usize::from(!self.is_first) + name.len() + r#""":"#.len();
            self.is_as_written = self.rest.len() - text.len() == compact && is_as_written::<T>(written);
        }
        (self.rest, self.is_first) = (rest, false);
        Some(value)
    }

    /// Records that a field is absent whose value is encoded.
    pub(super) fn skip(&mut self) {
        self.is_as_written = false;
    }

    /// Returns the text after the next field's name and colon, if it has this name.
    fn after_name(&self, name: &str) -> Option<&'t str> {
        let field = if self.is_first { after(self.rest, "\"")? } else { after(self.rest, ",\"")? };
        // The parser handles names with escapes.
        let rest = field.strip_prefix(name)?;
        // White space before the closing quote belongs to the name.
        rest.strip_prefix("\":").or_else(|| after(rest.strip_prefix('"')?, ":"))
    }

    /// Returns whether only the closing brace follows.
    pub(super) fn is_finished(&self) -> bool {
        after(self.rest, "}").is_some_and(|rest| trim(rest).is_empty())
    }

    /// Returns whether the decoded arguments are known to be encoded as the text from which they were decoded.
    pub(crate) fn is_as_written(&self) -> bool {
        self.is_as_written && self.rest == "}"
    }
}

/// Returns whether a value of a type that [decides](is_decided_by_type) is known to be encoded as the text from which
/// it was decoded.
///
#[inline(never)]
fn is_as_written<T: 'static>(text: &str) -> bool {
    match text.as_bytes() {
        // Escapes may be encoded differently.
        [b'"', text @ .., b'"'] => !has_escaped(text),
        [b'-' | b'0'..=b'9', ..] => !is_scalar_or_list::<T, f64>(),
        [b't' | b'f' | b'n', ..] => true,
        // The text is a list, or has white space.
        _ => false,
    }
}

/// Returns the text after tokens of one character, each with white space before it.
#[inline]
fn after<'t>(text: &'t str, tokens: &str) -> Option<&'t str> {
    // Most models write no white space here.
    text.strip_prefix(tokens).or_else(|| after_spaced(text, tokens))
}

#[cold]
fn after_spaced<'t>(text: &'t str, tokens: &str) -> Option<&'t str> {
    tokens.chars().try_fold(text, |text, token| trim(text).strip_prefix(token))
}

/// Removes the white space of JSON at the start.
fn trim(text: &str) -> &str {
    text.trim_start_matches([' ', '\n', '\r', '\t'])
}

/// Returns whether the values of a type in JSON are exactly those that its schema describes, however they are decoded.
///
/// A type is listed here only after verification, since its implementation of `Deserialize` may accept more than its
/// schema.
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
        let mut fields = TextFields::of(" {\"a\" : 1 ,\n\"b\":\"x\"} ", true).unwrap();
        assert_eq!(fields.take::<i64>("b"), None::<i64>);
        assert_eq!(fields.take::<i64>("a"), Some(1));
        assert!(!fields.is_finished());
        assert_eq!(fields.take::<String>("b").as_deref(), Some("x"));
        assert!(fields.is_finished());
    }

    #[test]
    fn only_a_compact_text_with_every_field_is_known_to_be_as_written() {
        let is_as_written = |text: &str| {
            let mut fields = TextFields::of(text, true).unwrap();
            fields.take::<i64>("a").unwrap();
            if fields.take::<Option<String>>("b").is_none() {
                fields.skip();
            }
            assert!(fields.is_finished(), "{text}");
            fields.is_as_written()
        };
        for text in [r#"{"a":-1,"b":"ä x"}"#, r#"{"a":0,"b":null}"#] {
            assert!(is_as_written(text), "{text}");
        }
        let others = [r#" {"a":1,"b":""}"#, r#"{"a": 1,"b":""}"#, r#"{"a":1, "b":""}"#, r#"{"a":1,"b" :""}"#];
        for text in others.into_iter().chain([r#"{"a":1,"b":""} "#, r#"{"a":1,"b":"\n"}"#, r#"{"a":1}"#]) {
            assert!(!is_as_written(text), "{text}");
        }
        let mut fields = TextFields::of(r#"{"a":1}"#, true).unwrap();
        assert_eq!((fields.take::<f64>("a"), fields.is_as_written()), (Some(1.0), false));
    }

    #[test]
    fn other_texts_are_left_to_the_parser() {
        for text in ["", "[]", "null", "{\"a\" 1}", "{,\"a\":1}", "{\"\\u0061\":1}", "{\"ab\":1}", "{\"a\":"] {
            let taken = TextFields::of(text, true).and_then(|mut fields| fields.take::<i64>("a"));
            assert_eq!(taken, None, "{text}");
        }
        for text in ["{\"a\":1", "{\"a\":1}}", "{\"a\":1,}", "{\"a\":1 2}", "{\"a\":1,\"a\":2}", "{\"a\":1x}"] {
            let mut fields = TextFields::of(text, true).unwrap();
            assert_eq!(fields.take::<i64>("a"), Some(1), "{text}");
            assert!(!fields.is_finished(), "{text}");
        }
    }
}
