//! A result that is still arriving.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::base::partial_json::{Step, inside};

/// What has arrived of a value of type `T`: every field is optional, texts and lists grow.
///
/// [`get`](Self::get) returns the value once it is complete. Before, [`fields`](Self::fields) are the parts of a struct with
/// [`#[data]`](macro@llm_do_macros::data), [`items`](Self::items) those of a list, and [`text`](Self::text) is the text so far. It
/// is serialized as the JSON so far. The schema is not checked: the result of the call is.
pub struct Partial<T> {
    root: Arc<Value>,
    /// The steps from the root to the value.
    path: Vec<Step>,
    /// The steps to the innermost value that is not complete; `None` if all are.
    open: Option<Arc<[Step]>>,
    types: PhantomData<fn() -> T>,
}

/// A struct whose fields may arrive one by one. Implemented by [`#[data]`](macro@llm_do_macros::data).
pub trait PartialFields: Sized {
    /// A struct with the same fields, each a [`Partial`].
    type Fields;

    /// Returns the fields so far.
    fn fields(partial: &Partial<Self>) -> Self::Fields;
}

impl<T> Partial<T> {
    /// Creates a part of `root`, of which the value at `open` is not complete.
    pub(crate) fn new(root: Arc<Value>, path: Vec<Step>, open: Option<Arc<[Step]>>) -> Self {
        Self { root, path, open, types: PhantomData }
    }

    /// Returns the value, once it is complete; `None` too if it is not a `T`.
    #[must_use]
    pub fn get(&self) -> Option<T>
    where
        T: DeserializeOwned,
    {
        let value = self.found().filter(|_| self.is_complete())?;
        T::deserialize(value).ok()
    }

    /// Returns whether the value is complete.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.found().is_some() && self.open.as_ref().is_none_or(|open| !open.starts_with(&self.path))
    }

    /// Returns the JSON so far; null if nothing has arrived.
    #[must_use]
    pub fn json(&self) -> &Value {
        self.found().unwrap_or(&Value::Null)
    }

    /// Returns the fields so far.
    #[must_use]
    pub fn fields(&self) -> T::Fields
    where
        T: PartialFields,
    {
        T::fields(self)
    }

    /// Returns the field with this name in JSON, which is of type `F`.
    #[must_use]
    pub fn field<F>(&self, name: &str) -> Partial<F> {
        self.inner(Step::Key(name.into()))
    }

    fn found(&self) -> Option<&Value> {
        self.path.iter().try_fold(&*self.root, inside)
    }

    fn inner<F>(&self, step: Step) -> Partial<F> {
        let path = self.path.iter().cloned().chain([step]).collect();
        Partial::new(Arc::clone(&self.root), path, self.open.clone())
    }

    /// Returns the same value as one of another type.
    fn cast<F>(&self) -> Partial<F> {
        Partial::new(Arc::clone(&self.root), self.path.clone(), self.open.clone())
    }
}

impl Partial<String> {
    /// Returns the text so far.
    #[must_use]
    pub fn text(&self) -> &str {
        self.json().as_str().unwrap_or_default()
    }
}

impl<T> Partial<Vec<T>> {
    /// Returns the items so far; the last may not be complete.
    pub fn items(&self) -> impl Iterator<Item = Partial<T>> {
        let count = self.json().as_array().map_or(0, Vec::len);
        (0..count).map(|index| self.inner(Step::Item(index)))
    }
}

impl<T> Partial<Option<T>> {
    /// Returns the value inside; `None` if it is null or has not begun.
    #[must_use]
    pub fn some(&self) -> Option<Partial<T>> {
        (!self.json().is_null()).then(|| self.cast())
    }
}

impl<T> Partial<Box<T>> {
    /// Returns the value inside.
    #[must_use]
    pub fn unboxed(&self) -> Partial<T> {
        self.cast()
    }
}

impl<T> Clone for Partial<T> {
    fn clone(&self) -> Self {
        self.cast()
    }
}

impl<T> fmt::Debug for Partial<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Partial").field("json", self.json()).field("is_complete", &self.is_complete()).finish()
    }
}

impl<T> Serialize for Partial<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json().serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Partial;
    use crate::base::partial_json::PartialJson;

    const TEXT: &str =
        r#"{"name": "Ann \"A\" B", "n": 12, "list": ["a", {"b": [true, null]}, -1.5], "none": null, "end": {}}"#;

    fn partial<T>(text: &str) -> Option<Partial<T>> {
        let mut json = PartialJson::default();
        json.push(text);
        Some(Partial::new(json.value()?.clone(), Vec::new(), json.open_path().map(Into::into)))
    }

    #[test]
    fn a_complete_value_does_not_change_any_more() {
        let whole: Value = serde_json::from_str(TEXT).unwrap();
        for end in 1..=TEXT.len() {
            let partial = partial::<Value>(&TEXT[..end]).unwrap();
            for name in ["name", "n", "list", "none", "end", "unknown"] {
                let field = partial.field::<Value>(name);
                assert!(!field.is_complete() || *field.json() == whole[name], "{name} {}", &TEXT[..end]);
                assert_eq!(field.get(), field.is_complete().then(|| whole[name].clone()), "{name} {}", &TEXT[..end]);
            }
            let items: Vec<_> = partial.field::<Vec<Value>>("list").items().filter_map(|item| item.get()).collect();
            assert_eq!(items, whole["list"].as_array().unwrap()[..items.len()], "{}", &TEXT[..end]);
            assert_eq!(partial.is_complete(), end == TEXT.len());
        }
        assert_eq!(partial::<Value>(TEXT).unwrap().get(), Some(whole));
    }

    #[test]
    fn a_part_is_read_as_its_type() {
        let whole = partial::<Value>(r#"{"text": "so f"#).unwrap();
        let text = whole.field::<String>("text");
        assert_eq!((text.text(), text.get()), ("so f", None));
        assert_eq!(json!(text), json!("so f"));
        assert_eq!(whole.field::<Option<String>>("text").some().unwrap().text(), "so f");
        assert_eq!(whole.field::<Box<String>>("text").unboxed().text(), "so f");
        assert!(whole.field::<Option<String>>("other").some().is_none());
        let done = partial::<Value>(r#"{"n": 300, "#).unwrap();
        assert_eq!(
            (done.field::<u16>("n").get(), done.field::<u8>("n").get()),
            (Some(300), None),
            "300 is too large for a u8"
        );
    }
}
