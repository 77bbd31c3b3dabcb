//! The given arguments of a call, and whether their order has a meaning.

use serde_json::Value;

use crate::declare::schema::CheckedSchema;

/// The arguments of a call before they are decoded.
#[derive(Debug)]
pub(crate) struct Given {
    pub(crate) value: Value,
    /// Whether they were encoded from a Rust type; a `HashSet` is encoded in any order.
    pub(crate) is_typed: bool,
}

impl Given {
    /// Returns the value whose order the encoded arguments follow; `None` if that order has no meaning.
    pub(crate) fn order(&self, schema: &CheckedSchema) -> Option<Value> {
        (!self.is_typed && schema.is_unordered()).then(|| self.value.clone())
    }
}

impl From<Value> for Given {
    fn from(value: Value) -> Self {
        Self { value, is_typed: false }
    }
}
