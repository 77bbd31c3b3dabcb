//! Schemas that were translated before: the same ones are asked with again and again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use super::schema::{Unsaid, translated};

/// How many are kept, so that schemas made for one request do not pile up.
const MOST: usize = 512;

/// Schemas and their translations, by where the schema is in memory: it stays there as long as it is kept here.
#[derive(Debug, Default)]
pub(super) struct Known(Mutex<HashMap<usize, Pair>>);

#[derive(Debug)]
struct Pair {
    /// Kept, so that its place is given to no other.
    _schema: Arc<Value>,
    form: Arc<Value>,
}

impl Known {
    /// Returns `schema` in Gemini's dialect.
    ///
    /// # Errors
    ///
    /// Returns what cannot be said, and where.
    pub(super) fn translated(&self, schema: &Arc<Value>) -> Result<Arc<Value>, Unsaid> {
        let place = Arc::as_ptr(schema).addr();
        if let Some(pair) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&place) {
            return Ok(Arc::clone(&pair.form));
        }
        let form = Arc::new(translated(schema)?);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(place, Pair { _schema: Arc::clone(schema), form: Arc::clone(&form) });
        Ok(form)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::{Known, MOST};

    #[test]
    fn a_schema_is_translated_once() {
        let known = Known::default();
        let schema = Arc::new(json!({"type": "object", "title": "A"}));
        let first = known.translated(&schema).unwrap();
        assert_eq!(*first, json!({"type": "object"}));
        assert!(Arc::ptr_eq(&first, &known.translated(&schema).unwrap()));
        assert!(!Arc::ptr_eq(&first, &known.translated(&Arc::new((*schema).clone())).unwrap()));
    }

    #[test]
    fn not_all_schemas_are_kept() {
        let known = Known::default();
        for number in 0..=MOST {
            known.translated(&Arc::new(json!({"type": "object", "minimum": number}))).unwrap();
        }
        assert_eq!(known.0.lock().unwrap().len(), 1);
    }
}
