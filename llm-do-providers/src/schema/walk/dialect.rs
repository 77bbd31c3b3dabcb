//! The trait of dialects.

use serde_json::{Map, Value};

use super::Walk;
use crate::schema::unsupported::Unsupported;

/// A subset of JSON Schema that a provider supports.
pub(crate) trait SchemaDialect: Sized {
    /// The name of its schemas in errors.
    const NAME: &'static str;

    /// Returns the schema that allows everything.
    fn anything() -> Value;

    /// Returns a schema in the dialect that has neither references nor alternatives.
    ///
    /// # Errors
    ///
    /// Returns what cannot be expressed.
    fn plain(walk: &mut Walk<'_, Self>, whole: Map<String, Value>) -> Result<Value, Unsupported>;

    /// Returns the schema of the values that one of `forms` allows, with the annotations `remarks` on the whole.
    fn any_of(forms: Vec<Value>, remarks: &Map<String, Value>) -> Value;

    /// Returns the form of a whole schema as a root. Default: unchanged.
    fn root(form: Value) -> Value {
        form
    }

    /// Returns a schema that is only a reference; `None` if it is to be inlined. Default: `None`.
    ///
    /// # Errors
    ///
    /// Returns what cannot be expressed of the target.
    fn reference(_walk: &mut Walk<'_, Self>, _keywords: &Map<String, Value>) -> Result<Option<Value>, Unsupported> {
        Ok(None)
    }
}
