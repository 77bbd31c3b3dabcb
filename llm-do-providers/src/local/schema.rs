//! Schemas, made fit for a small model: short in the prompt, bounded in the grammar.

mod limits;
mod said;
mod sketch;

use std::collections::VecDeque;

use serde_json::{Map, Value, json};

use self::said::Said;
pub(super) use self::sketch::sketch;
use crate::schema::pointer::decoded;

/// How many references may be written out: each may bring others.
const WRITTEN_OUT: usize = 200;

/// The keywords whose schemas hold for the same value as what stands beside them.
const APPLIED: [&str; 4] = ["$ref", "allOf", "anyOf", "oneOf"];

/// The keywords that mean nothing but at the root of a schema.
const OF_THE_WHOLE: [&str; 4] = ["$defs", "$id", "$schema", "definitions"];

/// Returns `schema` with a bound on everything that could go on until the tokens run out.
pub(super) fn bounded(schema: &Value) -> Value {
    let schema = &decoded_in(schema);
    let mut bounds = Bounds { root: schema, within: Vec::new(), left: WRITTEN_OUT, closes: true };
    let mut once = || {
        let mut bounded = schema.clone();
        bounds.whole(&mut bounded);
        (bounded, bounds.closes)
    };
    match once() {
        (bounded, true) => bounded,
        (_, false) => once().0,
    }
}

/// Returns `schema` for use at `place`, a JSON pointer, of a larger one: its references are led there.
pub(super) fn moved_to(place: &str, schema: &Value) -> Value {
    led(schema, &|target| format!("#{place}{target}"))
}

/// Returns `schema` with references by names as they are, since the grammar's library decodes none.
pub(super) fn decoded_in(schema: &Value) -> Value {
    led(schema, &|target| format!("#{}", decoded(target)))
}

/// Returns `schema` with its references led to what is made of them.
fn led(schema: &Value, to: &impl Fn(&str) -> String) -> Value {
    match schema {
        Value::Object(fields) => Value::Object(fields.iter().map(|(key, value)| led_field(key, value, to)).collect()),
        Value::Array(items) => items.iter().map(|item| led(item, to)).collect(),
        other => other.clone(),
    }
}

fn led_field(key: &str, value: &Value, to: &impl Fn(&str) -> String) -> (String, Value) {
    let target = value.as_str().filter(|_| key == "$ref").and_then(|target| target.strip_prefix('#'));
    (key.to_owned(), target.map_or_else(|| led(value, to), |target| to(target).into()))
}

/// What adds bounds to the schemas in a schema.
///
/// A value may be held to several schemas: to that of a reference, those of `allOf`, and one of `anyOf` or `oneOf`, beside
/// what stands there itself. None of them may be closed without the properties that the others name, or bounded as if the
/// others said nothing. So each is bounded with regard to what is said beside it, and a definition that others refer to,
/// beside which other things may be said, is written out first.
struct Bounds<'s> {
    root: &'s Value,
    /// The references that are being written out, one within the other.
    within: Vec<String>,
    /// How many may still be.
    left: usize,
    /// Whether objects are closed: none is once there were too many references, for those left would be closed to what
    /// stands beside them.
    closes: bool,
}

/// Schemas beside others, of which all or one hold.
struct Unit {
    key: &'static str,
    /// Its place among those under the key that hold all.
    place: Option<usize>,
    said: Said,
}

impl Bounds<'_> {
    /// Adds bounds to a schema beside which nothing is said.
    fn whole(&mut self, schema: &mut Value) {
        if *schema == Value::Bool(true) {
            *schema = Map::new().into();
        }
        let Value::Object(fields) = schema else { return };
        self.part(fields, &Said::default());
        if Said::by(fields).is_empty() && !APPLIED.iter().any(|key| fields.contains_key(*key)) {
            fields.extend(limits::anything());
        }
    }

    /// Adds bounds to a schema beside which `beside` is said.
    fn part(&mut self, fields: &mut Map<String, Value>, beside: &Said) {
        self.nested(fields);
        let units = self.units(fields);
        let except = |left_out: Option<usize>| {
            let mut said = beside.clone();
            said.is_open |= !self.closes;
            // What stands there itself is not beside itself.
            said.extend(&left_out.map(|_| Said::by(fields)).unwrap_or_default());
            let others = units.iter().enumerate().filter(|(place, _)| Some(*place) != left_out);
            others.for_each(|(_, unit)| said.extend(&unit.said));
            said
        };
        let own = except(None);
        let others: Vec<_> = (0..units.len()).map(|place| except(Some(place))).collect();
        for (unit, beside) in units.iter().zip(&others) {
            self.applied(fields, unit, beside);
        }
        infer_type(fields, &own);
        if !own.lists_values() && !Said::by(fields).lists_values() {
            limits::bound(fields, &own);
        }
    }

    /// Adds bounds to the schemas of the values within; what stands under other keys is data, in which `type` means nothing.
    fn nested(&mut self, fields: &mut Map<String, Value>) {
        for (key, value) in fields.iter_mut() {
            match (key.as_str(), value) {
                ("properties" | "$defs" | "definitions" | "patternProperties", Value::Object(named)) => {
                    named.values_mut().for_each(|schema| self.whole(schema));
                }
                ("prefixItems", Value::Array(schemas)) => schemas.iter_mut().for_each(|schema| self.whole(schema)),
                ("items" | "additionalProperties", value) => self.whole(value),
                _ => {}
            }
        }
    }

    /// Adds bounds to the schemas of `unit`, beside which `beside` is said.
    fn applied(&mut self, fields: &mut Map<String, Value>, unit: &Unit, beside: &Said) {
        match (unit.place, fields.get_mut(unit.key)) {
            (None, Some(Value::String(_))) if !beside.is_empty() => self.write_out(fields, beside),
            (None, Some(Value::Array(schemas))) => schemas.iter_mut().for_each(|schema| self.with(schema, beside)),
            (Some(place), Some(Value::Array(schemas))) => {
                schemas.get_mut(place).into_iter().for_each(|schema| self.with(schema, beside));
            }
            _ => {}
        }
    }

    /// Returns what stands in `fields` beside what they say themselves.
    fn units(&self, fields: &Map<String, Value>) -> Vec<Unit> {
        let mut units = Vec::new();
        for key in APPLIED {
            let mut unit = |place, schemas: &[Value]| units.push(Unit { key, place, said: self.said(schemas) });
            match (key, fields.get(key)) {
                ("$ref", Some(reference)) => unit(None, &[json!({ key: reference })]),
                ("allOf", Some(Value::Array(schemas))) => {
                    for (place, schema) in schemas.iter().enumerate() {
                        unit(Some(place), std::slice::from_ref(schema));
                    }
                }
                (_, Some(Value::Array(schemas))) => unit(None, schemas),
                _ => {}
            }
        }
        units
    }

    /// Returns what `schemas` say of their values, with those that they refer to and list.
    fn said(&self, schemas: &[Value]) -> Said {
        let (mut said, mut seen) = (Said::default(), Vec::new());
        let mut left: VecDeque<_> = schemas.iter().collect();
        while let Some(schema) = left.pop_front() {
            let Value::Object(fields) = schema else { continue };
            said.extend(&Said::by(fields));
            for (key, value) in fields {
                match (key.as_str(), value) {
                    ("$ref", Value::String(reference)) if !seen.contains(&reference) => {
                        seen.push(reference);
                        left.extend(target(self.root, reference));
                    }
                    ("allOf" | "anyOf" | "oneOf", Value::Array(schemas)) => left.extend(schemas),
                    _ => {}
                }
            }
        }
        said
    }

    fn with(&mut self, schema: &mut Value, beside: &Said) {
        match schema {
            schema if beside.is_empty() => self.whole(schema),
            Value::Object(fields) => self.part(fields, beside),
            _ => {}
        }
    }

    /// Puts what `fields` refer to among what they hold for all, after what they say themselves.
    fn write_out(&mut self, fields: &mut Map<String, Value>, beside: &Said) {
        let Some(reference) = fields.get("$ref").and_then(Value::as_str).map(str::to_owned) else { return };
        let Some(target) = target(self.root, &reference) else { return };
        let Some(left) = self.left.checked_sub(1) else {
            self.closes = false;
            return;
        };
        // What holds itself beside other things has no end, and no grammar.
        if self.within.contains(&reference) {
            return;
        }
        let mut target = target.clone();
        if let Value::Object(fields) = &mut target {
            fields.retain(|key, _| !OF_THE_WHOLE.contains(&key.as_str()));
        }
        self.left = left;
        self.within.push(reference);
        self.with(&mut target, beside);
        self.within.pop();
        fields.shift_remove("$ref");
        let all = fields.entry("allOf").or_insert_with(|| Vec::<Value>::new().into());
        if let Value::Array(all) = all {
            all.push(target);
        }
    }
}

/// Returns what `reference` refers to in `root`.
fn target<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    root.pointer(reference.strip_prefix('#')?)
}

/// Adds the types that `fields` and `beside` speak of, where they say none: more of them would be any value.
fn infer_type(fields: &mut Map<String, Value>, beside: &Said) {
    let mut said = Said::by(fields);
    let speaks = said.types().next().is_some();
    said.extend(beside);
    if !speaks || said.has("type") || said.lists_values() {
        return;
    }
    let types: Vec<_> = said.types().collect();
    let types = if let [one] = types.as_slice() { Value::from(*one) } else { types.into() };
    fields.insert("type".to_owned(), types);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{bounded, moved_to};

    #[test]
    fn what_has_no_bound_gets_one() {
        let schema = json!({"type": "object", "properties": {
            "name": {"type": "string"}, "tags": {"type": "array", "items": {"type": ["string", "null"]}},
            "age": {"type": "integer", "format": "uint8", "minimum": 0},
        }});
        let expected = json!({"type": "object", "additionalProperties": false, "properties": {
            "name": {"type": "string", "maxLength": 200, "pattern": r"^(\S[\s\S]*|\s{0,4})$"},
            "tags": {"type": "array", "maxItems": 8, "items": {"type": ["string", "null"], "maxLength": 200, "pattern": r"^(\S[\s\S]*|\s{0,4})$"}},
            "age": {"type": "integer", "minimum": 0, "maximum": 255},
        }});
        assert_eq!(bounded(&schema), expected);
    }

    #[test]
    fn a_bound_that_is_there_stays() {
        let schema = json!({"type": "string", "maxLength": 5, "pattern": "^a"});
        assert_eq!(bounded(&schema), schema);
        let far = json!({"type": "integer", "minimum": 5_000_000_000_i64});
        assert_eq!(bounded(&far), far);
    }

    #[test]
    fn a_property_called_type_is_no_type() {
        let schema =
            json!({"type": "object", "additionalProperties": false, "properties": {"type": {"const": "string"}}});
        assert_eq!(bounded(&schema), schema);
    }

    #[test]
    fn references_are_led_to_where_the_schema_is_put() {
        let schema = json!({"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"items": {"$ref": "#"}}}});
        let expected = json!({"properties": {"a": {"$ref": "#/$defs/t/$defs/A"}}, "$defs": {"A": {"items": {"$ref": "#/$defs/t"}}}});
        assert_eq!(moved_to("/$defs/t", &schema), expected);
    }

    #[test]
    fn names_in_references_are_as_the_grammars_library_looks_them_up() {
        let schema =
            json!({"properties": {"a": {"$ref": "#/$defs/Gr%C3%B6%C3%9Fe"}}, "$defs": {"Größe": {"const": 1}}});
        assert_eq!(bounded(&schema)["properties"]["a"]["$ref"], "#/$defs/Größe");
        assert_eq!(moved_to("/$defs/t", &bounded(&schema))["properties"]["a"]["$ref"], "#/$defs/t/$defs/Größe");
    }
}
