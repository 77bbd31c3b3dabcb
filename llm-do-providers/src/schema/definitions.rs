//! Definitions, each under a name that every reader of references takes.

use serde_json::{Map, Value, json};

#[cfg(any(feature = "anthropic", feature = "openai"))]
use super::note;
use super::pointer::decoded;

/// What the references of a schema lead to, as its form grows.
#[derive(Default)]
pub(crate) struct Definitions {
    named: Vec<Named>,
    forms: Map<String, Value>,
}

/// What a reference leads to.
struct Named {
    target: String,
    /// What is said of it beside the reference.
    said: String,
    name: String,
}

/// Returns the reference to the definition called so.
pub(crate) fn reference(name: &str) -> Map<String, Value> {
    Map::from_iter([("$ref".to_owned(), json!(format!("#/$defs/{name}")))])
}

impl Definitions {
    /// Returns what that which `target` leads to is called where `said` is said of it, if it has been named.
    pub(crate) fn known(&self, target: &str, said: &str) -> Option<&str> {
        let known = self.named.iter().find(|named| named.target == target && named.said == said);
        known.map(|named| named.name.as_str())
    }

    /// Names what `target` leads to, as it calls itself where that is no other's: by letters and digits, since some readers
    /// take others for the same, or for none. That is done before it is defined: it may hold itself.
    pub(crate) fn name(&mut self, target: &str, said: &str) -> String {
        let target_name = decoded(target.rsplit(['/', '#']).next().unwrap_or_default());
        let mut base: String = target_name.chars().filter(char::is_ascii_alphanumeric).collect();
        if base.is_empty() {
            base.push_str("Whole");
        }
        let is_free = |name: &String| self.named.iter().all(|named| named.name != *name);
        let numbered = (2_usize..).map(|number| format!("{base}-{number}"));
        let name = std::iter::once(base.clone()).chain(numbered).find(is_free).unwrap_or_default();
        self.named.push(Named { target: target.to_owned(), said: said.to_owned(), name: name.clone() });
        name
    }

    /// Defines what has been named.
    #[cfg(any(feature = "gemini", feature = "openai"))]
    pub(crate) fn define(&mut self, name: String, form: Value) {
        self.forms.insert(name, form);
    }

    /// Defines what has been named, with what is said of it beside the reference before what it says itself.
    #[cfg(any(feature = "anthropic", feature = "openai"))]
    pub(crate) fn define_with(&mut self, name: String, said: &str, mut form: Map<String, Value>) {
        let own = form.shift_remove("description").and_then(|own| own.as_str().map(str::to_owned));
        note::describe(&mut form, Some(&json!(said)), &own.into_iter().collect::<Vec<_>>());
        self.forms.insert(name, Value::Object(form));
    }

    /// How many there are.
    #[cfg(any(feature = "gemini", feature = "openai"))]
    pub(crate) fn count(&self) -> usize {
        self.named.len()
    }

    /// Forgets all but the first `count`: the others refer to one that could not be defined.
    #[cfg(any(feature = "gemini", feature = "openai"))]
    pub(crate) fn forget_from(&mut self, count: usize) {
        for named in self.named.drain(count..) {
            self.forms.shift_remove(&named.name);
        }
    }

    /// Puts all of them into the form whose references lead to them.
    pub(crate) fn put_into(self, form: &mut Value) {
        if let Value::Object(form) = form
            && !self.forms.is_empty()
        {
            form.insert("$defs".to_owned(), Value::Object(self.forms));
        }
    }
}
