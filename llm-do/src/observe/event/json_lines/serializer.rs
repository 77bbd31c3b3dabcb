//! A serializer of JSON that looks for characters to escape in eight bytes at a time: most of a log is text.

use serde::ser::{
    Error as _, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::{Error, Result};

use crate::declare::nesting::RAW_VALUE;

/// Adds a value as JSON, exactly as `serde_json` writes it, if the names of fields and variants have nothing to escape.
///
/// # Errors
///
/// Returns an error for what `serde_json` rejects, and for a map whose keys are not texts.
pub(super) fn write_json<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> Result<()> {
    value.serialize(Json { out, is_raw: false })
}

/// Adds a text, with quotes and escapes.
pub(super) fn write_text(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut rest = text;
    while let Some(plain) = first_escaped(rest.as_bytes()) {
        out.extend_from_slice(&rest.as_bytes()[..plain]);
        write_escape(out, rest.as_bytes()[plain]);
        rest = &rest[plain + 1..];
    }
    out.extend_from_slice(rest.as_bytes());
    out.push(b'"');
}

/// Adds a name from the source, which has nothing to escape.
fn write_name(out: &mut Vec<u8>, name: &str) {
    out.push(b'"');
    out.extend_from_slice(name.as_bytes());
    out.push(b'"');
}

/// Returns the index of the first byte that JSON escapes: a quote, a backslash or a control character.
fn first_escaped(text: &[u8]) -> Option<usize> {
    let (words, rest) = text.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        if has_escaped(u64::from_ne_bytes(*word))
            && let Some(byte) = word.iter().position(|byte| is_escaped(*byte))
        {
            return Some(index * 8 + byte);
        }
    }
    rest.iter().position(|byte| is_escaped(*byte)).map(|byte| words.len() * 8 + byte)
}

fn is_escaped(byte: u8) -> bool {
    byte < 0x20 || matches!(byte, b'"' | b'\\')
}

/// Returns whether one of eight bytes may have to be escaped: each test sets the highest bit of a byte for which it holds.
fn has_escaped(word: u64) -> bool {
    const ONES: u64 = u64::MAX / 0xff;
    const HIGH: u64 = ONES * 0x80;
    let is_below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    let is_equal = |byte: u8| is_below(word ^ (ONES * u64::from(byte)), 1);
    (is_below(word, 0x20) | is_equal(b'"') | is_equal(b'\\')) & HIGH != 0
}

fn write_escape(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        0x09 => b't',
        0x0a => b'n',
        0x0c => b'f',
        0x0d => b'r',
        _ => {
            let digit = |digit: u8| b"0123456789abcdef"[usize::from(digit)];
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte & 0xf)]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// Serializes to the end of a buffer.
struct Json<'a> {
    out: &'a mut Vec<u8>,
    /// Whether a text is JSON, which is added as it is.
    is_raw: bool,
}

/// An array or object that is being written.
struct Items<'a> {
    out: &'a mut Vec<u8>,
    is_first: bool,
    /// Whether it is a [`RAW_VALUE`] instead: its only field is the whole.
    is_raw: bool,
    /// Closes it.
    end: &'static [u8],
}

impl<'a> Json<'a> {
    fn items(self, start: &[u8], end: &'static [u8]) -> Items<'a> {
        self.out.extend_from_slice(start);
        Items { out: self.out, is_first: true, is_raw: false, end }
    }

    /// Starts an object with a variant's name, and the array or object that the variant has.
    fn variant(self, name: &'static str, start: &[u8], end: &'static [u8]) -> Items<'a> {
        self.out.push(b'{');
        write_name(self.out, name);
        self.out.push(b':');
        self.items(start, end)
    }
}

impl Items<'_> {
    fn separate(&mut self) {
        if !std::mem::take(&mut self.is_first) {
            self.out.push(b',');
        }
    }

    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.separate();
        write_json(self.out, value)
    }

    fn field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<()> {
        if self.is_raw {
            return value.serialize(Json { out: self.out, is_raw: true });
        }
        self.separate();
        write_name(self.out, key);
        self.out.push(b':');
        write_json(self.out, value)
    }

    fn close(self) {
        self.out.extend_from_slice(self.end);
    }
}

/// Values that `serde_json` writes as fast.
macro_rules! as_serde_json {
    ($($method:ident($type:ty))*) => {
        $(fn $method(self, value: $type) -> Result<()> {
            serde_json::to_writer(self.out, &value)
        })*
    };
}

impl<'a> Serializer for Json<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Items<'a>;
    type SerializeTuple = Items<'a>;
    type SerializeTupleStruct = Items<'a>;
    type SerializeTupleVariant = Items<'a>;
    type SerializeMap = Items<'a>;
    type SerializeStruct = Items<'a>;
    type SerializeStructVariant = Items<'a>;

    as_serde_json! {
        serialize_bool(bool) serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64)
        serialize_i128(i128) serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64)
        serialize_u128(u128) serialize_f32(f32) serialize_f64(f64) serialize_char(char) serialize_bytes(&[u8])
    }

    fn serialize_str(self, text: &str) -> Result<()> {
        if self.is_raw {
            self.out.extend_from_slice(text.as_bytes());
        } else {
            write_text(self.out, text);
        }
        Ok(())
    }

    fn serialize_unit(self) -> Result<()> {
        self.out.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_none(self) -> Result<()> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<()> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<()> {
        write_name(self.out, variant);
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<()> {
        let mut object = self.items(b"{", b"}");
        object.field(variant, value)?;
        object.close();
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Items<'a>> {
        Ok(self.items(b"[", b"]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Items<'a>> {
        Ok(self.items(b"[", b"]"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Items<'a>> {
        Ok(self.items(b"[", b"]"))
    }

    fn serialize_tuple_variant(self, _: &'static str, _: u32, variant: &'static str, _: usize) -> Result<Items<'a>> {
        Ok(self.variant(variant, b"[", b"]}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Items<'a>> {
        Ok(self.items(b"{", b"}"))
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Items<'a>> {
        if name == RAW_VALUE {
            return Ok(Items { is_raw: true, ..self.items(b"", b"") });
        }
        Ok(self.items(b"{", b"}"))
    }

    fn serialize_struct_variant(self, _: &'static str, _: u32, variant: &'static str, _: usize) -> Result<Items<'a>> {
        Ok(self.variant(variant, b"{", b"}}"))
    }
}

impl SerializeMap for Items<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        self.separate();
        let start = self.out.len();
        write_json(self.out, key)?;
        if self.out.get(start) == Some(&b'"') { Ok(()) } else { Err(Error::custom("the key of a map is not a text")) }
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.out.push(b':');
        write_json(self.out, value)
    }

    fn end(self) -> Result<()> {
        self.close();
        Ok(())
    }
}

macro_rules! compound {
    ($($trait:ident::$method:ident($($key:ident)?) => $add:ident;)*) => {
        $(impl $trait for Items<'_> {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self $(, $key: &'static str)?, value: &T) -> Result<()> {
                self.$add($($key,)? value)
            }

            fn end(self) -> Result<()> {
                self.close();
                Ok(())
            }
        })*
    };
}

compound! {
    SerializeSeq::serialize_element() => item;
    SerializeTuple::serialize_element() => item;
    SerializeTupleStruct::serialize_field() => item;
    SerializeTupleVariant::serialize_field() => item;
    SerializeStruct::serialize_field(key) => field;
    SerializeStructVariant::serialize_field(key) => field;
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde::Serialize;

    use super::{write_json, write_text};

    #[derive(Serialize)]
    enum Shape {
        Unit,
        New(Option<u8>),
        Tuple(i64, f64),
        Struct { a: char, b: [bool; 2] },
    }

    #[derive(Serialize)]
    struct Wrapped(f32);

    fn written(value: &impl Serialize) -> String {
        let mut out = Vec::new();
        write_json(&mut out, value).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn each_kind_of_value_is_written_as_serde_json_does() {
        let shapes = [Shape::Unit, Shape::New(None), Shape::New(Some(7)), Shape::Tuple(-1, f64::NAN)];
        let shape = Shape::Struct { a: '"', b: [true, false] };
        let map = BTreeMap::from([("a", 1.5), ("\n", -0.0)]);
        let value = (shapes, shape, map, (), Wrapped(0.1), (u128::MAX, b"ab".as_slice()), [(); 0]);
        assert_eq!(written(&value), serde_json::to_string(&value).unwrap());
    }

    #[test]
    fn a_key_that_is_not_a_text_is_an_error() {
        assert!(write_json(&mut Vec::new(), &BTreeMap::from([(1, 2)])).is_err());
    }

    proptest! {
        #[test]
        fn texts_are_escaped_as_serde_json_does(text in prop_oneof![any::<String>(), "[\\x00-\\x24a\\\\ä\\x7f]{0,40}"]) {
            let mut out = Vec::new();
            write_text(&mut out, &text);
            prop_assert_eq!(String::from_utf8(out).unwrap(), serde_json::to_string(&text).unwrap());
        }
    }
}
