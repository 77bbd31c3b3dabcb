//! JSON as Python writes it, which models were trained on: a space after each comma and colon, and no letter escaped.

use std::io::{self, Write};

use minijinja::value::{Kwargs, Value};
use minijinja::{Error, ErrorKind};
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{Formatter, PrettyFormatter};

/// Returns `value` as JSON, on one line unless there is an indent; what other options Python has are passed over.
#[expect(clippy::needless_pass_by_value, reason = "filters are called so")]
pub(super) fn tojson(value: &Value, indent: Option<usize>, options: Kwargs) -> Result<Value, Error> {
    let indent = match indent {
        Some(indent) => Some(indent),
        None => options.get("indent")?,
    };
    let written = match indent {
        None => write(value, OneLine),
        Some(width) => write(value, PrettyFormatter::with_indent(" ".repeat(width.min(16)).as_bytes())),
    };
    let text = written.map_err(|error| {
        Error::new(ErrorKind::InvalidOperation, "there is a value that JSON has no words for").with_source(error)
    })?;
    Ok(Value::from_safe_string(text))
}

fn write(value: &Value, formatter: impl Formatter) -> serde_json::Result<String> {
    let mut bytes = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// One line, with spaces.
struct OneLine;

impl Formatter for OneLine {
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
