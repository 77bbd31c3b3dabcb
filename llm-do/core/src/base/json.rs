//! JSON: the arguments and results of calls, and the parts of a line that are written by hand.

mod form;
mod text;

use serde::Serialize;
use serde_json::Result;

pub(crate) use self::form::Json;
pub(crate) use self::text::{has_escaped, write_text};

/// The name by which `serde_json` recognizes its `RawValue`, which is written unchanged.
pub(crate) const RAW_VALUE: &str = "$serde_json::private::RawValue";

/// Adds a value as JSON.
///
/// # Errors
///
/// Returns an error for values that `serde_json` rejects.
pub(crate) fn write_json<T: Serialize + ?Sized>(out: &mut String, value: &T) -> Result<()> {
    out.push_str(&serde_json::to_string(value)?);
    Ok(())
}

/// Adds the digits of an integer.
#[inline]
pub(crate) fn write_integer(out: &mut String, value: impl itoa::Integer + Copy + TryInto<u8>) {
    match value.try_into() {
        // Most counts have one digit.
        Ok(digit @ 0..10) => out.push(char::from(b'0' + digit)),
        _ => out.push_str(itoa::Buffer::new().format(value)),
    }
}
