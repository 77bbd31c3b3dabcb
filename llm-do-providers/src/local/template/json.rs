//! JSON in the style of Python, which models were trained on: a space after each comma and colon, and non-ASCII
//! characters unescaped.

use std::io::{self, Write};

use minijinja::value::{Kwargs, Value};
use minijinja::{Error, ErrorKind};
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{Formatter, PrettyFormatter};

/// Serializes `value`, on one line unless `indent` is given; other options of Python's `json.dumps` are ignored.
#[expect(clippy::needless_pass_by_value, reason = "the signature of minijinja filters")]
pub(super) fn tojson(value: &Value, indent: Option<usize>, options: Kwargs) -> Result<Value, Error> {
    let indent = match indent {
        Some(indent) => Some(indent),
        None => options.get("indent")?,
    };
    let written = match indent {
        None => write(value, PythonFormatter),
        Some(width) => write(value, PrettyFormatter::with_indent(" ".repeat(width.min(16)).as_bytes())),
    };
    let text = written.map_err(|error| {
        Error::new(ErrorKind::InvalidOperation, "the value cannot be serialized as JSON").with_source(error)
    })?;
    Ok(Value::from_safe_string(text))
}

fn write(value: &Value, formatter: impl Formatter) -> serde_json::Result<String> {
    let mut bytes = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// One line with spaces.
struct PythonFormatter;

impl Formatter for PythonFormatter {
    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}
