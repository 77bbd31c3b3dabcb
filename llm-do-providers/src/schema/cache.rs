//! A cache of translated schemas: the same ones are sent in each request.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

/// The maximum number of entries, so that schemas of single requests do not accumulate.
const MOST: usize = 512;

/// Schemas and their forms in one dialect, by the address of the schema, which the entry keeps alive.
#[derive(Debug)]
pub(crate) struct SchemaCache(Mutex<BTreeMap<usize, Pair>>);

#[derive(Debug)]
struct Pair {
    /// Kept alive, so that its address is not reused.
    _schema: Arc<Value>,
    form: Arc<Value>,
}

impl SchemaCache {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// Returns the translation of `schema`, which `translate` makes unless it is cached.
    ///
    /// # Errors
    ///
    /// Returns why the schema has no such form.
    pub(crate) fn get_or_translate<E>(
        &self,
        schema: &Arc<Value>,
        translate: impl FnOnce(&Value) -> Result<Value, E>,
    ) -> Result<Arc<Value>, E> {
        let place = Arc::as_ptr(schema).addr();
        if let Some(pair) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&place) {
            return Ok(Arc::clone(&pair.form));
        }
        let form = Arc::new(translate(schema)?);
        let mut cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.len() >= MOST {
            cache.clear();
        }
        cache.insert(place, Pair { _schema: Arc::clone(schema), form: Arc::clone(&form) });
        Ok(form)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::{MOST, SchemaCache};

    fn titled(schema: &Value) -> Result<Value, &'static str> {
        if schema.is_null() { Err("no schema") } else { Ok(json!({ "title": schema })) }
    }

    #[test]
    fn a_schema_is_translated_once() {
        let cache = SchemaCache::new();
        let schema = Arc::new(json!({"type": "object"}));
        let first = cache.get_or_translate(&schema, titled).unwrap();
        assert_eq!(*first, json!({"title": {"type": "object"}}));
        let again = cache.get_or_translate(&schema, |_| Err("translated again")).unwrap();
        assert!(Arc::ptr_eq(&first, &again));
        let other = cache.get_or_translate(&Arc::new((*schema).clone()), titled).unwrap();
        assert!(!Arc::ptr_eq(&first, &other));
    }

    #[test]
    fn a_schema_without_a_form_returns_the_reason_each_time() {
        let (cache, schema) = (SchemaCache::new(), Arc::new(Value::Null));
        assert_eq!([(); 2].map(|()| cache.get_or_translate(&schema, titled)), [Err("no schema"), Err("no schema")]);
    }

    #[test]
    fn not_all_schemas_are_kept() {
        let cache = SchemaCache::new();
        for number in 0..=MOST {
            cache.get_or_translate(&Arc::new(json!(number)), titled).unwrap();
        }
        assert_eq!(cache.0.lock().unwrap().len(), 1);
    }
}
