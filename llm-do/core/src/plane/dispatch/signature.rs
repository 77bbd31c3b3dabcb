//! Whether a tool can answer for a worker: what their schemas decide.

use serde_json::Value;

use crate::declare::schema::type_of;
use crate::plane::registry::Registered;

/// How deep schemas are compared: below that, they count as the same.
const MAX_DEPTH: usize = 16;
/// The types of JSON. Each whole number is a number too.
const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

/// Returns why the tool can take no call of the worker, or returns no result that the worker may return, with both signatures.
pub(super) fn fault(worker: &Registered, tool: &Registered) -> Option<String> {
    let do_arguments_fit = may_meet(Schema::of(worker.parameters()), Schema::of(tool.parameters()), 0);
    let (result, answer) = (worker.output(), tool.output());
    let results = result.as_ref().zip(answer.as_ref());
    let do_results_fit = results.is_none_or(|(result, answer)| may_meet(Schema::of(result), Schema::of(answer), 0));
    let what = match (do_arguments_fit, do_results_fit) {
        (true, true) => return None,
        (false, true) => "arguments",
        (true, false) => "results",
        (false, false) => "arguments and results",
    };
    Some(differ(what, worker, tool))
}

/// Returns why one of two items can take no call of the other, with both signatures.
pub(super) fn argument_fault(one: &Registered, other: &Registered) -> Option<String> {
    let do_fit = may_meet(Schema::of(one.parameters()), Schema::of(other.parameters()), 0);
    (!do_fit).then(|| differ("arguments", one, other))
}

fn differ(what: &str, one: &Registered, other: &Registered) -> String {
    format!("their {what} differ: `{}`, and `{}`", signature(one), signature(other))
}

/// A schema, and the one that contains it.
#[derive(Clone, Copy)]
struct Schema<'s> {
    schema: &'s Value,
    root: &'s Value,
}

impl<'s> Schema<'s> {
    fn of(schema: &'s Value) -> Self {
        Self { schema, root: schema }.resolved()
    }

    fn at(self, schema: &'s Value) -> Self {
        Self { schema, ..self }.resolved()
    }

    /// Follows a reference; one that leads nowhere allows everything.
    fn resolved(mut self) -> Self {
        for _ in 0..MAX_DEPTH {
            let Some(reference) = self.schema["$ref"].as_str() else { return self };
            let target = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
            self.schema = target.unwrap_or(&Value::Bool(true));
        }
        self
    }

    /// Returns the schemas of which a value follows one; empty if they are not alternatives.
    fn alternatives(self) -> &'s [Value] {
        let any = ["anyOf", "oneOf"].into_iter().find_map(|key| self.schema[key].as_array());
        any.map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns whether values of this type of JSON may follow it.
    fn allows(self, name: &str) -> bool {
        let is = |word: &str| word == name || word == "number" && name == "integer";
        if let Some(value) = self.schema.get("const") {
            return is(type_of(value));
        }
        if let Some(values) = self.schema["enum"].as_array() {
            return values.iter().any(|value| is(type_of(value)));
        }
        match &self.schema["type"] {
            Value::String(word) => is(word),
            Value::Array(words) => words.iter().filter_map(Value::as_str).any(is),
            _ => *self.schema != Value::Bool(false),
        }
    }

    fn is_object_only(self) -> bool {
        TYPES.iter().all(|name| self.allows(name) == (*name == "object"))
    }

    /// Returns the schema of a property; `None` if objects may not have it.
    fn property(self, name: &str) -> Option<Self> {
        match self.schema["properties"].get(name) {
            Some(property) => Some(self.at(property)),
            None if self.schema["additionalProperties"] == false => None,
            None => Some(Self { schema: &Value::Bool(true), ..self }),
        }
    }

    fn required(self) -> impl Iterator<Item = &'s str> {
        self.schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str)
    }
}

/// Returns whether a value may follow both schemas; true if that is not decided.
fn may_meet(one: Schema<'_>, other: Schema<'_>, depth: usize) -> bool {
    if depth >= MAX_DEPTH {
        return true;
    }
    if !one.alternatives().is_empty() {
        return one.alternatives().iter().any(|schema| may_meet(one.at(schema), other, depth + 1));
    }
    if !other.alternatives().is_empty() {
        return may_meet(other, one, depth + 1);
    }
    if !TYPES.iter().any(|name| one.allows(name) && other.allows(name)) {
        return false;
    }
    let are_objects = one.is_object_only() && other.is_object_only();
    !are_objects || has_properties(one, other, depth) && has_properties(other, one, depth)
}

/// Returns whether objects that follow `other` may have what those of `one` require.
fn has_properties(one: Schema<'_>, other: Schema<'_>, depth: usize) -> bool {
    one.required().all(|name| match (one.property(name), other.property(name)) {
        (Some(own), Some(property)) => may_meet(own, property, depth + 1),
        _ => false,
    })
}

/// Describes a signature: `age(note: string) -> integer`.
fn signature(item: &Registered) -> String {
    let schema = Schema::of(item.parameters());
    let required: Vec<_> = schema.required().collect();
    let properties = schema.schema["properties"].as_object().into_iter().flatten();
    let arguments: Vec<_> = properties
        .map(|(name, property)| {
            let mark = if required.contains(&name.as_str()) { "" } else { "?" };
            format!("{name}{mark}: {}", words(schema.at(property)))
        })
        .collect();
    let output = item.output().map(|output| format!(" -> {}", words(Schema::of(&output)))).unwrap_or_default();
    format!("{}({}){output}", item.name(), arguments.join(", "))
}

/// Describes the types of a schema.
fn words(schema: Schema<'_>) -> String {
    if !schema.alternatives().is_empty() {
        let words: Vec<_> = schema.alternatives().iter().map(|one| words(schema.at(one))).collect();
        return words.join(" | ");
    }
    let allowed: Vec<_> = TYPES.into_iter().filter(|name| schema.allows(name)).collect();
    match allowed.as_slice() {
        all if all.len() == TYPES.len() => "any".to_owned(),
        ["integer", "number"] => "number".to_owned(),
        some => some.join(" | "),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Schema, may_meet};

    fn meet(one: &Value, other: &Value) -> bool {
        let meets = may_meet(Schema::of(one), Schema::of(other), 0);
        assert_eq!(meets, may_meet(Schema::of(other), Schema::of(one), 0), "{one} {other}");
        meets
    }

    fn object(properties: &Value, required: &Value) -> Value {
        json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
    }

    #[test]
    fn types_meet_if_a_value_may_have_both() {
        let (text, whole, number) =
            (json!({ "type": "string" }), json!({ "type": "integer" }), json!({ "type": "number" }));
        assert!(meet(&whole, &number) && meet(&text, &json!({})) && meet(&text, &json!(true)));
        assert!(!meet(&text, &whole) && !meet(&text, &json!(false)));
        assert!(meet(&text, &json!({ "type": ["string", "null"] })) && meet(&text, &json!({ "enum": ["a", 1] })));
        assert!(!meet(&text, &json!({ "const": 1 })));
        assert!(meet(&whole, &json!({ "anyOf": [text, number] })) && !meet(&whole, &json!({ "oneOf": [text] })));
        let referring = json!({ "$ref": "#/$defs/A", "$defs": { "A": { "type": "string" } } });
        assert!(meet(&referring, &text) && !meet(&referring, &whole));
        let recursive = json!({ "$ref": "#" });
        assert!(meet(&recursive, &text), "schemas too deep to compare count as the same");
    }

    #[test]
    fn objects_meet_if_each_may_have_what_the_other_requires() {
        let (text, whole) = (json!({ "type": "string" }), json!({ "type": "integer" }));
        let note = object(&json!({ "note": text }), &json!(["note"]));
        assert!(meet(&note, &object(&json!({ "note": text, "more": whole }), &json!(["note"]))));
        assert!(!meet(&note, &object(&json!({ "note": text, "more": whole }), &json!(["note", "more"]))));
        assert!(!meet(&note, &object(&json!({ "text": text }), &json!([]))));
        assert!(!meet(&note, &object(&json!({ "note": whole }), &json!(["note"]))));
        assert!(meet(&note, &json!({ "type": "object" })));
    }
}
