//! Properties of items that follow from the Rust types of the arguments.

use serde_json::Value;

use super::Registered;
use crate::base::error::{CallError, Fault};
use crate::declare::argument::Sample;
use crate::declare::schema;

impl Registered {
    /// Lists the defaults and examples of its arguments.
    pub(crate) fn samples(&self) -> Vec<Sample> {
        self.linked.map(|def| (def.samples)()).unwrap_or_default()
    }

    /// Returns the form in events of arguments that cannot be decoded: without values that their types hide.
    pub(crate) fn shown(&self, given: Value) -> Value {
        match self.linked {
            Some(def) => (def.shown)(given),
            None => given,
        }
    }

    /// Returns a field of an argument that its type reads but never writes, if any.
    pub(crate) fn unwritten(&self) -> Option<&str> {
        self.linked.as_ref()?;
        self.unwritten.get_or_init(|| schema::unwritten(self.parameters())).as_deref()
    }

    /// Returns whether values of the arguments' types may omit fields when they are serialized.
    ///
    /// # Errors
    ///
    /// Returns an error for a typed call if the arguments' type never serializes one of its fields.
    pub(crate) fn may_skip_fields(&self) -> Result<bool, CallError> {
        self.refuse_unwritten()?;
        let Some(linked) = self.linked else { return Ok(false) };
        let skips = || schema::may_skip_fields(self.parameters(), (linked.is_flattened)());
        Ok(*self.may_skip_fields.get_or_init(skips))
    }

    fn refuse_unwritten(&self) -> Result<(), CallError> {
        let refused = |field| {
            let fault = format!(
                "`{field}` is skipped when it is serialized, so a typed call would lose it; remove \
                 `skip_serializing`, or call the tool by name with JSON"
            );
            Err(CallError::invalid(self.name(), Fault::new(fault)))
        };
        self.unwritten().map_or(Ok(()), refused)
    }
}
