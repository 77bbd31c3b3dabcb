//! Definitions with names that every provider supports.

use serde_json::{Map, Value, json};

#[cfg(any(feature = "anthropic", feature = "openai"))]
use super::note;
use super::pointer::decoded;

/// The definitions of a form under construction.
#[derive(Default)]
pub(crate) struct Definitions {
    named: Vec<Label>,
    forms: Map<String, Value>,
}

/// The name of the target of a reference.
struct Label {
    target: String,
    /// The description beside the reference.
    description: String,
    name: String,
}

/// Returns the reference to the definition `name`.
pub(crate) fn reference(name: &str) -> Map<String, Value> {
    Map::from_iter([("$ref".to_owned(), json!(format!("#/$defs/{name}")))])
}

impl Definitions {
    /// Returns the name of the definition for `target` with `description` beside the reference, if it exists.
    pub(crate) fn known(&self, target: &str, description: &str) -> Option<&str> {
        let known = self.named.iter().find(|named| named.target == target && named.description == description);
        known.map(|named| named.name.as_str())
    }

    /// Returns a new name for the target of a reference: its own name if that is free, with letters and digits only,
    /// since some servers confuse or ignore other characters. A definition is named before it is added, since it may be
    /// recursive.
    pub(crate) fn name(&mut self, target: &str, description: &str) -> String {
        let target_name = decoded(target.rsplit(['/', '#']).next().unwrap_or_default());
        let mut base: String = target_name.chars().filter(char::is_ascii_alphanumeric).collect();
        if base.is_empty() {
            base.push_str("Whole");
        }
        let is_free = |name: &String| self.named.iter().all(|named| named.name != *name);
        let numbered = (2_usize..).map(|number| format!("{base}-{number}"));
        let name = std::iter::once(base.clone()).chain(numbered).find(is_free).unwrap_or_default();
        self.named.push(Label { target: target.to_owned(), description: description.to_owned(), name: name.clone() });
        name
    }

    /// Adds the definition of a name.
    #[cfg(any(feature = "gemini", feature = "openai"))]
    pub(crate) fn define(&mut self, name: String, form: Value) {
        self.forms.insert(name, form);
    }

    /// Adds the definition of a name; the description next to the reference precedes its own.
    #[cfg(any(feature = "anthropic", feature = "openai"))]
    pub(crate) fn define_with(&mut self, name: String, description: &str, mut form: Map<String, Value>) {
        let own = form.shift_remove("description").and_then(|own| own.as_str().map(str::to_owned));
        note::describe(&mut form, Some(&json!(description)), &own.into_iter().collect::<Vec<_>>());
        self.forms.insert(name, Value::Object(form));
    }

    /// The number of definitions.
    #[cfg(any(feature = "gemini", feature = "openai"))]
    pub(crate) fn count(&self) -> usize {
        self.named.len()
    }

    /// Drops all but the first `count`: the later ones refer to a definition that failed.
    #[cfg(any(feature = "gemini", feature = "openai"))]
    pub(crate) fn forget_from(&mut self, count: usize) {
        for named in self.named.drain(count..) {
            self.forms.shift_remove(&named.name);
        }
    }

    /// Adds all definitions to `form`.
    pub(crate) fn put_into(self, form: &mut Value) {
        if let Value::Object(form) = form
            && !self.forms.is_empty()
        {
            form.insert("$defs".to_owned(), Value::Object(self.forms));
        }
    }
}
