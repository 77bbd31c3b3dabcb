//! Translates alternatives, each merged with the keywords next to them.

use serde_json::{Map, Value};

use super::{REMARKS, SchemaDialect, Walk};
use crate::schema::unsupported::Unsupported;
use crate::schema::weaker::is_hard;

impl<D: SchemaDialect> Walk<'_, D> {
    /// Returns a schema with inlined references in the dialect: each alternative is merged with the keywords next to
    /// them.
    pub(super) fn split(&mut self, mut whole: Map<String, Value>) -> Result<Value, Unsupported> {
        let Some((key, alternatives)) = next_alternatives(&mut whole) else { return D::plain(self, whole) };
        if key == "anyOf" && alternatives.iter().filter(|alternative| may_be_object(alternative)).count() > 1 {
            // A value of two alternatives may have the properties of both.
            whole.shift_remove("unevaluatedProperties");
        }
        let (remarks, shared): (Map<_, _>, Map<_, _>) =
            whole.into_iter().partition(|(key, _)| REMARKS.contains(&key.as_str()));
        let forms = self.alternatives(key, &alternatives, &shared)?;
        Ok(D::any_of(forms, &remarks))
    }

    /// Returns alternatives in the dialect, each merged with the `shared` keywords.
    fn alternatives(
        &mut self,
        key: &str,
        alternatives: &[Value],
        shared: &Map<String, Value>,
    ) -> Result<Vec<Value>, Unsupported> {
        let mut forms = Vec::with_capacity(alternatives.len());
        let mut last = None;
        for (index, alternative) in alternatives.iter().enumerate() {
            self.path.push(format!("{key}/{index}"));
            let form = self.alternative(shared, alternative);
            self.path.pop();
            match form {
                Ok(more) => forms.extend(more),
                // The keywords next to the alternatives may exclude an alternative, also those that a weaker form only
                // describes.
                Err(unsupported) if unsupported.leaves_nothing() && (self.is_weak() || !shared.is_empty()) => {
                    last = Some(unsupported);
                }
                Err(unsupported) => return Err(unsupported),
            }
        }
        if forms.is_empty() {
            return Err(last.unwrap_or_else(|| self.unsupported("has no valid alternative")));
        }
        Ok(forms)
    }

    /// Returns an alternative in the dialect: several forms if it has alternatives too, or if further alternatives are
    /// next to it.
    fn alternative(&mut self, shared: &Map<String, Value>, alternative: &Value) -> Result<Vec<Value>, Unsupported> {
        let own = match alternative {
            Value::Object(keywords) if !shared.is_empty() => {
                self.count()?;
                self.resolved(keywords.clone())?
            }
            Value::Bool(true) if !shared.is_empty() => {
                self.count()?;
                Map::new()
            }
            alone => return Ok(vec![self.form(alone)?]),
        };
        let mut whole = self.merge(shared.clone(), own)?;
        match next_alternatives(&mut whole) {
            Some((key, alternatives)) => self.alternatives(key, &alternatives, &whole),
            None => Ok(vec![self.merged(shared, whole)?]),
        }
    }

    /// Returns an alternative, merged with the `shared` keywords, in the dialect: a weaker form if the alternative
    /// itself cannot be expressed.
    fn merged(&mut self, shared: &Map<String, Value>, whole: Map<String, Value>) -> Result<Value, Unsupported> {
        if !self.is_weak() || is_hard(shared) {
            return D::plain(self, whole);
        }
        match D::plain(self, whole.clone()) {
            Err(unsupported) if !unsupported.leaves_nothing() => self.weak_form(&whole, unsupported),
            form => form,
        }
    }
}

fn may_be_object(schema: &Value) -> bool {
    schema.get("type").is_none_or(|kind| kind == "object" || kind.is_array())
}

/// Removes and returns the next alternatives of a schema, if any. Merging may have moved further alternatives into
/// `allOf`.
fn next_alternatives(whole: &mut Map<String, Value>) -> Option<(&'static str, Vec<Value>)> {
    for key in ["oneOf", "anyOf"] {
        if let Some(Value::Array(alternatives)) = whole.shift_remove(key) {
            return Some((key, alternatives));
        }
    }
    let Some(Value::Array(mut aside)) = whole.shift_remove("allOf") else { return None };
    let Some(Value::Object(next)) = (!aside.is_empty()).then(|| aside.remove(0)) else { return None };
    whole.extend(next);
    if !aside.is_empty() {
        whole.insert("allOf".to_owned(), Value::Array(aside));
    }
    next_alternatives(whole)
}
