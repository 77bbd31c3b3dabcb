//! Alternatives: of schemas, of types, of values.

use serde_json::{Map, Value, json};

use super::Gemini;
use crate::schema::shape::{any_of, kinds};
use crate::schema::{REMARKS, Unsupported, Walk, note};

impl Walk<'_, Gemini> {
    /// Returns a schema in the dialect that has neither references nor alternatives.
    pub(super) fn whole(&mut self, mut whole: Map<String, Value>) -> Result<Value, Unsupported> {
        if kinds(&whole).len() < 2 {
            return self.plain(whole);
        }
        if whole.contains_key("const") || whole.contains_key("enum") {
            // The values determine their types.
            whole.shift_remove("type");
            return self.plain(whole);
        }
        self.by_kind(whole)
    }

    /// Returns a schema of several types as alternatives, one for each type, with the keywords that apply to it.
    fn by_kind(&mut self, mut whole: Map<String, Value>) -> Result<Value, Unsupported> {
        let kinds = kinds(&whole).into_iter().map(str::to_owned).collect::<Vec<_>>();
        let is_nullable = allows_null(&whole);
        whole.shift_remove("type");
        let (remarks, shared): (Map<_, _>, Map<_, _>) =
            whole.into_iter().partition(|(key, _)| REMARKS.contains(&key.as_str()));
        let mut forms = Vec::with_capacity(kinds.len() + 1);
        let mut last = None;
        for kind in kinds {
            let mut own = Map::from_iter([("type".to_owned(), json!(kind))]);
            let concerned = shared.iter().filter(|(key, _)| concerns(key, &kind));
            own.extend(concerned.map(|(key, value)| (key.clone(), value.clone())));
            match self.plain(own) {
                Ok(form) => forms.push(form),
                Err(unsupported) if unsupported.leaves_nothing() => last = Some(unsupported),
                Err(unsupported) => return Err(unsupported),
            }
        }
        forms.extend(is_nullable.then(|| json!({"type": "null"})));
        match last {
            Some(unsupported) if forms.is_empty() => Err(unsupported),
            _ => Ok(note::remarked(any_of(forms), &remarks)),
        }
    }
}

/// Whether a keyword applies to values of a type.
fn concerns(key: &str, kind: &str) -> bool {
    let only = match key {
        "properties"
        | "required"
        | "additionalProperties"
        | "patternProperties"
        | "propertyNames"
        | "minProperties"
        | "maxProperties"
        | "unevaluatedProperties" => &["object"][..],
        "items" | "prefixItems" | "minItems" | "maxItems" | "uniqueItems" => &["array"],
        "minLength" | "maxLength" | "pattern" | "format" => &["string"],
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => &["integer", "number"],
        _ => return true,
    };
    only.contains(&kind)
}

/// Whether null is among the types of a schema.
pub(super) fn allows_null(schema: &Map<String, Value>) -> bool {
    match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "null"),
        Some(kind) => kind == "null",
        None => false,
    }
}

/// Returns the schemas of `values`, as `enum`s of strings and numbers; empty if Gemini cannot list them.
pub(super) fn listed(values: &[Value], kind: Option<&str>) -> Option<Vec<Value>> {
    let (texts, others): (Vec<_>, Vec<_>) = values.iter().partition(|value| value.is_string());
    let (numbers, others): (Vec<_>, Vec<_>) = others.into_iter().partition(|value| value.is_number());
    // Gemini refuses an empty string.
    if texts.iter().any(|text| *text == "") || others.iter().any(|value| !value.is_null()) {
        return None;
    }
    let whole = numbers.iter().all(|number| number.is_i64() || number.is_u64());
    let number = kind.filter(|kind| *kind == "number" || *kind == "integer");
    let number = number.unwrap_or(if whole { "integer" } else { "number" });
    let of_texts = (!texts.is_empty()).then(|| json!({"type": "string", "enum": texts}));
    let of_numbers = (!numbers.is_empty()).then(|| json!({"type": number, "enum": numbers}));
    let null = (!others.is_empty()).then(|| json!({"type": "null"}));
    Some([of_texts, of_numbers, null].into_iter().flatten().collect())
}
