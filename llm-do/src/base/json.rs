//! A serializer of JSON that looks for characters to escape in eight bytes at a time: most of what a call writes is text.
//!
//! The types that are written are of other crates, so its methods are inlined there.

use serde::ser::{
    Error as _, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::{Error, Result};

/// The name by which `serde_json` recognizes its `RawValue`, which is passed on as it was written.
pub(crate) const RAW_VALUE: &str = "$serde_json::private::RawValue";

/// Adds a value as JSON, exactly as `serde_json` writes it.
///
/// # Errors
///
/// Returns an error for what `serde_json` rejects, and for a map whose keys are not texts.
#[inline]
pub(crate) fn write_json<T: Serialize + ?Sized>(out: &mut String, value: &T) -> Result<()> {
    value.serialize(Json { out, is_raw: false })
}

/// Adds a text, with quotes and escapes.
pub(crate) fn write_text(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    while let Some(plain) = first_escaped(rest.as_bytes()) {
        out.push_str(&rest[..plain]);
        write_escape(out, rest.as_bytes()[plain]);
        rest = &rest[plain + 1..];
    }
    out.push_str(rest);
    out.push('"');
}

/// Adds the digits of an integer.
#[inline]
pub(crate) fn write_integer(out: &mut String, value: impl itoa::Integer) {
    out.push_str(itoa::Buffer::new().format(value));
}

/// Returns whether a text has a byte that JSON escapes: a quote, a backslash or a control character.
pub(crate) fn has_escaped(text: &[u8]) -> bool {
    let Some(end) = text.last_chunk() else { return text.iter().any(|byte| is_escaped(*byte)) };
    text.as_chunks().0.iter().chain([end]).any(|word| is_any_escaped(u64::from_ne_bytes(*word)))
}

/// Returns the index of the first byte that JSON escapes.
fn first_escaped(text: &[u8]) -> Option<usize> {
    let (words, rest) = text.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        if is_any_escaped(u64::from_ne_bytes(*word))
            && let Some(byte) = word.iter().position(|byte| is_escaped(*byte))
        {
            return Some(index * 8 + byte);
        }
    }
    rest.iter().position(|byte| is_escaped(*byte)).map(|byte| words.len() * 8 + byte)
}

fn is_escaped(byte: u8) -> bool {
    /// By byte: the end of a text is too short to look at eight.
    const ESCAPED: [bool; 256] = {
        let mut escaped = [false; 256];
        let mut control = 0;
        while control < 0x20 {
            escaped[control] = true;
            control += 1;
        }
        escaped[b'"' as usize] = true;
        escaped[b'\\' as usize] = true;
        escaped
    };
    ESCAPED[usize::from(byte)]
}

/// Returns whether one of eight bytes is escaped: each test sets the highest bit of the first byte for which it holds, and maybe of
/// later ones.
fn is_any_escaped(word: u64) -> bool {
    const ONES: u64 = u64::MAX / 0xff;
    const HIGH: u64 = ONES * 0x80;
    let is_below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    let is_equal = |byte: u8| is_below(word ^ (ONES * u64::from(byte)), 1);
    (is_below(word, 0x20) | is_equal(b'"') | is_equal(b'\\')) & HIGH != 0
}

fn write_escape(out: &mut String, byte: u8) {
    let short = match byte {
        b'"' | b'\\' => char::from(byte),
        0x08 => 'b',
        0x09 => 't',
        0x0a => 'n',
        0x0c => 'f',
        0x0d => 'r',
        _ => {
            let digit = |digit: u8| char::from(b"0123456789abcdef"[usize::from(digit)]);
            out.extend(['\\', 'u', '0', '0', digit(byte >> 4), digit(byte & 0xf)]);
            return;
        }
    };
    out.extend(['\\', short]);
}

/// Serializes to the end of a buffer.
struct Json<'a> {
    out: &'a mut String,
    /// Whether a text is JSON, which is added as it is.
    is_raw: bool,
}

/// An array or object that is being written.
struct Items<'a> {
    out: &'a mut String,
    is_first: bool,
    /// Whether it is a [`RAW_VALUE`] instead: its only field is the whole.
    is_raw: bool,
    /// Closes it.
    end: &'static str,
}

impl<'a> Json<'a> {
    #[inline]
    fn items(self, start: &str, end: &'static str) -> Items<'a> {
        self.out.push_str(start);
        Items { out: self.out, is_first: true, is_raw: false, end }
    }

    /// Starts an object with a variant's name, and the array or object that the variant has.
    #[inline]
    fn variant(self, name: &'static str, start: &str, end: &'static str) -> Items<'a> {
        self.out.push('{');
        write_text(self.out, name);
        self.out.push(':');
        self.items(start, end)
    }
}

impl Items<'_> {
    #[inline]
    fn separate(&mut self) {
        if !std::mem::take(&mut self.is_first) {
            self.out.push(',');
        }
    }

    #[inline]
    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.separate();
        write_json(self.out, value)
    }

    #[inline]
    fn field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<()> {
        if self.is_raw {
            return value.serialize(Json { out: self.out, is_raw: true });
        }
        self.separate();
        write_text(self.out, key);
        self.out.push(':');
        write_json(self.out, value)
    }

    #[inline]
    fn close(self) {
        self.out.push_str(self.end);
    }
}

macro_rules! integers {
    ($($method:ident($type:ty))*) => {
        $(#[inline]
        fn $method(self, value: $type) -> Result<()> {
            write_integer(self.out, value);
            Ok(())
        })*
    };
}

/// Values that are written as `serde_json` writes them, since few are.
macro_rules! as_serde_json {
    ($($method:ident($type:ty))*) => {
        $(#[inline]
        fn $method(self, value: $type) -> Result<()> {
            self.out.push_str(&serde_json::to_string(&value)?);
            Ok(())
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

    integers! {
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64) serialize_i128(i128)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_u128(u128)
    }

    as_serde_json! {
        serialize_f32(f32) serialize_f64(f64) serialize_char(char) serialize_bytes(&[u8])
    }

    #[inline]
    fn serialize_bool(self, value: bool) -> Result<()> {
        self.out.push_str(if value { "true" } else { "false" });
        Ok(())
    }

    #[inline]
    fn serialize_str(self, text: &str) -> Result<()> {
        if self.is_raw {
            self.out.push_str(text);
        } else {
            write_text(self.out, text);
        }
        Ok(())
    }

    #[inline]
    fn serialize_unit(self) -> Result<()> {
        self.out.push_str("null");
        Ok(())
    }

    #[inline]
    fn serialize_none(self) -> Result<()> {
        self.serialize_unit()
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<()> {
        value.serialize(self)
    }

    #[inline]
    fn serialize_unit_struct(self, _: &'static str) -> Result<()> {
        self.serialize_unit()
    }

    #[inline]
    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<()> {
        write_text(self.out, variant);
        Ok(())
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<()> {
        value.serialize(self)
    }

    #[inline]
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<()> {
        let mut object = self.items("{", "}");
        object.field(variant, value)?;
        object.close();
        Ok(())
    }

    #[inline]
    fn serialize_seq(self, _: Option<usize>) -> Result<Items<'a>> {
        Ok(self.items("[", "]"))
    }

    #[inline]
    fn serialize_tuple(self, _: usize) -> Result<Items<'a>> {
        Ok(self.items("[", "]"))
    }

    #[inline]
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Items<'a>> {
        Ok(self.items("[", "]"))
    }

    #[inline]
    fn serialize_tuple_variant(self, _: &'static str, _: u32, variant: &'static str, _: usize) -> Result<Items<'a>> {
        Ok(self.variant(variant, "[", "]}"))
    }

    #[inline]
    fn serialize_map(self, _: Option<usize>) -> Result<Items<'a>> {
        Ok(self.items("{", "}"))
    }

    #[inline]
    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Items<'a>> {
        if name == RAW_VALUE {
            return Ok(Items { is_raw: true, ..self.items("", "") });
        }
        Ok(self.items("{", "}"))
    }

    #[inline]
    fn serialize_struct_variant(self, _: &'static str, _: u32, variant: &'static str, _: usize) -> Result<Items<'a>> {
        Ok(self.variant(variant, "{", "}}"))
    }
}

impl SerializeMap for Items<'_> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        self.separate();
        let start = self.out.len();
        write_json(self.out, key)?;
        if self.out.as_bytes().get(start) == Some(&b'"') {
            Ok(())
        } else {
            Err(Error::custom("the key of a map is not a text"))
        }
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.out.push(':');
        write_json(self.out, value)
    }

    #[inline]
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

            #[inline]
            fn $method<T: Serialize + ?Sized>(&mut self $(, $key: &'static str)?, value: &T) -> Result<()> {
                self.$add($($key,)? value)
            }

            #[inline]
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

    use super::{has_escaped, write_json, write_text};

    #[derive(Serialize)]
    enum Shape {
        Unit,
        New(Option<u8>),
        Tuple(i64, f64),
        Struct { a: char, b: [bool; 2] },
    }

    #[derive(Serialize)]
    struct Wrapped(f32);

    #[derive(Serialize)]
    struct Quoted {
        #[serde(rename = "\"\n")]
        quote: u8,
    }

    fn written(value: &impl Serialize) -> String {
        let mut out = String::new();
        write_json(&mut out, value).unwrap();
        out
    }

    #[test]
    fn each_kind_of_value_is_written_as_serde_json_does() {
        let shapes = [Shape::Unit, Shape::New(None), Shape::New(Some(7)), Shape::Tuple(-1, f64::NAN)];
        let shape = Shape::Struct { a: '"', b: [true, false] };
        let map = BTreeMap::from([("a", 1.5), ("\n", -0.0)]);
        let value = (shapes, shape, map, (), Wrapped(0.1), (u128::MAX, b"ab".as_slice()), [(); 0], Quoted { quote: 1 });
        assert_eq!(written(&value), serde_json::to_string(&value).unwrap());
    }

    #[test]
    fn a_key_that_is_not_a_text_is_an_error() {
        assert!(write_json(&mut String::new(), &BTreeMap::from([(1, 2)])).is_err());
    }

    proptest! {
        #[test]
        fn texts_are_escaped_as_serde_json_does(text in prop_oneof![any::<String>(), "[\\x00-\\x24a\\\\ä\\x7f]{0,40}"]) {
            let mut out = String::new();
            write_text(&mut out, &text);
            prop_assert_eq!(has_escaped(text.as_bytes()), out.len() > text.len() + 2);
            prop_assert_eq!(out, serde_json::to_string(&text).unwrap());
        }
    }
}
