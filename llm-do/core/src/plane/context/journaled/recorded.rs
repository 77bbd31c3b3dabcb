//! The result of a step, as a journal stores it.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use serde_json::{Value, json};

use crate::base::error::{CallError, Failure};
use crate::declare::nesting;

/// The recorded result of a step: a value unchanged, a failure as an object with the single field `failure`.
///
/// A value that is itself such an object is wrapped in an object with the single field `value`.
pub(super) enum Recorded {
    Value(Value),
    Failure(Failure),
}

impl Recorded {
    /// Encodes a value. A value that is nested too deeply is recorded as a failure, so that the effect does not run
    /// again.
    pub(super) fn written<T: Serialize + 'static>(value: T, tool: &str) -> Result<Self, CallError> {
        let fault = match nesting::to_value(&value) {
            Ok(written) => return Ok(Self::Value(written)),
            Err(fault) => fault,
        };
        if fault.is_too_deep() {
            nesting::discard(value);
            return Ok(Self::Failure(Failure::Failed(format!("the result: {fault}"))));
        }
        Err(CallError::Result { tool: tool.to_owned(), message: fault.to_string() })
    }
}

fn has_only(value: &Value, fields: &[&str]) -> bool {
    value.as_object().is_some_and(|object| object.len() == 1 && fields.iter().any(|field| object.contains_key(*field)))
}

impl Serialize for Recorded {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Value(value) if has_only(value, &["failure", "value"]) => {
                json!({ "value": value }).serialize(serializer)
            }
            Self::Value(value) => value.serialize(serializer),
            Self::Failure(failure) => {
                let failure = serde_json::to_value(failure).map_err(ser::Error::custom)?;
                json!({ "failure": failure }).serialize(serializer)
            }
        }
    }
}

impl<'de> Deserialize<'de> for Recorded {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut value = Value::deserialize(deserializer)?;
        if has_only(&value, &["failure"]) {
            return serde_json::from_value(value["failure"].take()).map(Self::Failure).map_err(de::Error::custom);
        }
        if has_only(&value, &["value"]) {
            value = value["value"].take();
        }
        Ok(Self::Value(value))
    }
}
