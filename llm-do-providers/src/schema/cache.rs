//! A cache of translated schemas, since each request sends the same ones.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

/// The maximum number of entries, so that schemas of single requests do not accumulate.
const MOST: usize = 512;

/// Translations to one dialect, by the address of the schema. An entry keeps its schema alive.
///
/// Errors are cached too.
#[derive(Debug)]
pub(crate) struct SchemaCache<T, E>(Mutex<BTreeMap<usize, CacheEntry<T, E>>>);

#[derive(Debug)]
struct CacheEntry<T, E> {
    /// Kept alive, so that its address is not reused.
    _schema: Arc<Value>,
    outcome: Result<Arc<T>, E>,
}

impl<T, E: Clone> SchemaCache<T, E> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// Returns the cached translation of `schema`, or else that of `translate`.
    ///
    /// # Errors
    ///
    /// Returns the error of `translate`.
    pub(crate) fn get_or_translate(
        &self,
        schema: &Arc<Value>,
        translate: impl FnOnce(&Value) -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        let place = Arc::as_ptr(schema).addr();
        if let Some(entry) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&place) {
            return entry.outcome.clone();
        }
        let outcome = translate(schema).map(Arc::new);
        let mut cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.len() >= MOST {
            cache.clear();
        }
        cache.insert(place, CacheEntry { _schema: Arc::clone(schema), outcome: outcome.clone() });
        outcome
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
    fn a_schema_without_a_form_is_refused_once_with_the_same_reason() {
        let (cache, schema) = (SchemaCache::new(), Arc::new(Value::Null));
        assert_eq!(cache.get_or_translate(&schema, titled), Err("no schema"));
        assert_eq!(cache.get_or_translate(&schema, |_| Ok(Value::Null)), Err("no schema"));
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
