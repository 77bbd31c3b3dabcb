//! A fast check of values against simple schemas, without the validator.

use serde_json::{Map, Value};

/// The maximum number of fields of an object, since they are searched linearly.
const MAX_FIELDS: usize = 256;

/// A simple schema: types, bounds of integers, items and fields.
///
/// The check only accepts. A value that it does not accept goes to the validator, which decides and reports the faults.
#[derive(Debug, Default)]
pub(super) struct Simple {
    null: bool,
    boolean: bool,
    string: bool,
    /// The minimum and the maximum.
    integer: Option<(i128, i128)>,
    array: Option<Box<Simple>>,
    object: Option<Vec<Field>>,
}

#[derive(Debug)]
struct Field {
    name: String,
    is_required: bool,
    value: Simple,
}

impl Simple {
    /// Parses `schema`; returns `None` if it is not simple.
    pub(super) fn of(schema: &Value) -> Option<Self> {
        let schema = schema.as_object()?;
        let mut simple = Self::default();
        match schema.get("type")? {
            Value::String(name) => simple.allow(name, schema)?,
            Value::Array(names) => names.iter().try_for_each(|name| simple.allow(name.as_str()?, schema))?,
            _ => return None,
        }
        schema.keys().all(|key| simple.knows(key)).then_some(simple)
    }

    fn allow(&mut self, name: &str, schema: &Map<String, Value>) -> Option<()> {
        match name {
            "null" => self.null = true,
            "boolean" => self.boolean = true,
            "string" => self.string = true,
            "integer" => self.integer = Some((whole(schema.get("minimum")?)?, whole(schema.get("maximum")?)?)),
            "array" => self.array = Some(Box::new(Self::of(schema.get("items")?)?)),
            "object" => self.object = Some(fields(schema)?),
            _ => return None,
        }
        Some(())
    }

    /// Returns whether a keyword has no effect beyond the parsed ones.
    fn knows(&self, key: &str) -> bool {
        match key {
            "type" | "description" | "default" | "examples" => true,
            "minimum" | "maximum" => self.integer.is_some(),
            // A format restricts strings. The bounds of an integer format were added before.
            "format" => self.integer.is_some() && !self.string,
            "items" => self.array.is_some(),
            "properties" | "required" | "additionalProperties" | "$defs" => self.object.is_some(),
            _ => false,
        }
    }

    /// Returns whether `value` is known to match the schema.
    pub(super) fn holds(&self, value: &Value) -> bool {
        match value {
            Value::Null => self.null,
            Value::Bool(_) => self.boolean,
            Value::String(_) => self.string,
            Value::Number(number) => {
                let within = |(least, greatest)| number.as_i128().is_some_and(|n| least <= n && n <= greatest);
                self.integer.is_some_and(within)
            }
            Value::Array(values) => {
                self.array.as_ref().is_some_and(|item| values.iter().all(|value| item.holds(value)))
            }
            Value::Object(values) => self.object.as_ref().is_some_and(|fields| hold(fields, values)),
        }
    }
}

/// Returns whether all fields match and no required field is missing; most fields are in the order of the schema.
fn hold(fields: &[Field], values: &Map<String, Value>) -> bool {
    let mut missing = fields.iter().filter(|field| field.is_required).count();
    let mut next = 0;
    for (name, value) in values {
        let (before, after) = fields.split_at(next);
        let Some(offset) = after.iter().chain(before).position(|field| field.name == *name) else { return false };
        let index = (next + offset) % fields.len();
        if !fields[index].value.holds(value) {
            return false;
        }
        missing -= usize::from(fields[index].is_required);
        next = index + 1;
    }
    missing == 0
}

fn whole(bound: &Value) -> Option<i128> {
    bound.as_number()?.as_i128()
}

/// Parses the fields of an object schema; `None` if it requires fields that it does not describe, or has too many.
fn fields(schema: &Map<String, Value>) -> Option<Vec<Field>> {
    let properties = schema.get("properties")?.as_object()?;
    let required = schema.get("required").map_or(Some(&[][..]), |names| names.as_array().map(Vec::as_slice))?;
    let is_known = |name: &Value| name.as_str().is_some_and(|name| properties.contains_key(name));
    if properties.len() > MAX_FIELDS || !required.iter().all(is_known) {
        return None;
    }
    let field = |(name, schema): (&String, &Value)| {
        let is_required = required.iter().any(|required| required == name);
        Some(Field { name: name.clone(), is_required, value: Simple::of(schema)? })
    };
    properties.iter().map(field).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    use serde_json::json;

    use super::super::check::bounded;
    use super::super::foreign::options;
    use super::*;

    const NAMES: [&str; 4] = ["a", "b", "c", "type"];

    fn leaf() -> impl Strategy<Value = Value> {
        let types = prop::sample::subsequence(vec!["null", "boolean", "string", "integer"], 1..3);
        let bounds = prop::sample::select(vec![
            json!({ "minimum": -2, "maximum": 2 }),
            json!({ "minimum": 0, "maximum": 255 }),
            json!({ "format": "uint32" }),
            json!({ "format": "int64" }),
        ]);
        let more = prop_oneof![
            4 => Just(json!({})),
            1 => prop::sample::select(vec![
                json!({ "description": "It." }),
                json!({ "format": "date" }),
                json!({ "minLength": 1 }),
                json!({ "enum": [0, "", null] }),
                json!({ "multipleOf": 2 }),
                json!({ "type": ["number", "string"] }),
            ]),
        ];
        (types, bounds, more).prop_map(|(types, bounds, more)| {
            let mut schema = json!({ "type": types });
            if let [name] = types[..] {
                schema["type"] = name.into();
            }
            let bounds = Some(bounds).filter(|_| types.contains(&"integer")).unwrap_or_default();
            for (key, value) in [bounds, more].iter().filter_map(Value::as_object).flatten() {
                schema[key] = value.clone();
            }
            schema
        })
    }

    fn schema() -> impl Strategy<Value = Value> {
        leaf().prop_recursive(3, 16, 4, |inner| {
            let fields =
                prop::collection::btree_map(prop::sample::select(&NAMES[..]), (inner.clone(), any::<bool>()), 0..4);
            let closed = prop::sample::select(vec![json!(false), json!(false), json!(true), json!({ "type": "null" })]);
            let undeclared = prop::option::weighted(0.1, Just("undeclared"));
            let object = (fields, closed, undeclared).prop_map(|(fields, closed, undeclared)| {
                let required = fields.iter().filter(|(_, (_, is_required))| *is_required).map(|(name, _)| *name);
                let required: Vec<_> = required.chain(undeclared).collect();
                let properties: Map<_, _> =
                    fields.iter().map(|(name, (schema, _))| ((*name).to_owned(), schema.clone())).collect();
                json!({
                    "type": "object", "properties": properties, "required": required, "additionalProperties": closed
                })
            });
            let array = inner.prop_map(|items| json!({ "type": ["array", "null"], "items": items }));
            prop_oneof![3 => object, 1 => array]
        })
    }

    fn leaf_value() -> BoxedStrategy<Value> {
        prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-4..4_i64).prop_map(Value::from),
            prop::sample::select(vec![json!(0.5), json!(1.0), json!(256), json!(u64::MAX), json!(i64::MIN)]),
            prop::sample::select(vec![json!(""), json!("text"), json!("2026-01-01")]),
        ]
        .boxed()
    }

    fn value_of_type(name: &str) -> BoxedStrategy<Value> {
        match name {
            "null" => Just(Value::Null).boxed(),
            "boolean" => any::<bool>().prop_map(Value::from).boxed(),
            "integer" => (-1..3_i64).prop_map(Value::from).boxed(),
            _ => prop::sample::select(vec![json!(""), json!("text")]).boxed(),
        }
    }

    /// Values that mostly match a schema.
    fn value_of(schema: &Value) -> BoxedStrategy<Value> {
        if let Some(items) = schema.get("items") {
            let items = prop::collection::vec(value_of(items), 0..3).prop_map(Value::from);
            return prop_oneof![8 => items, 1 => leaf_value()].boxed();
        }
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            let known = properties.iter().map(|(name, schema)| (name.clone(), 0.9, value_of(schema)));
            let fields = known.chain([("other".to_owned(), 0.1, leaf_value())]).map(|(name, odds, value)| {
                prop::option::weighted(odds, value).prop_map(move |value| Some((name.clone(), value?)))
            });
            let fields: Vec<_> = fields.collect();
            return fields.prop_shuffle().prop_map(|fields| fields.into_iter().flatten().collect()).boxed();
        }
        let types = schema["type"].as_array().cloned().unwrap_or_else(|| vec![schema["type"].clone()]);
        let of_type = prop::sample::select(types).prop_flat_map(|name| value_of_type(name.as_str().unwrap()));
        prop_oneof![9 => of_type, 1 => leaf_value()].boxed()
    }

    fn schema_and_value() -> impl Strategy<Value = (Value, Value)> {
        schema().prop_flat_map(|schema| {
            let value = value_of(&schema);
            (Just(schema), value)
        })
    }

    /// Returns whether the fast check accepts a value, and whether the validator does.
    fn checked(schema: &Value, value: &Value) -> (bool, bool) {
        let schema = bounded(schema);
        let is_accepted = Simple::of(&schema).is_some_and(|simple| simple.holds(value));
        (is_accepted, options().build(&schema).unwrap().is_valid(value))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]

        #[test]
        fn a_value_that_the_fast_check_accepts_is_valid((schema, value) in schema_and_value()) {
            let (is_accepted, is_valid) = checked(&schema, &value);
            prop_assert!(is_valid || !is_accepted, "{schema} {value}");
        }
    }

    #[test]
    fn the_fast_check_accepts_most_valid_values() {
        let mut runner = TestRunner::deterministic();
        let checked = (0..500).map(|_| {
            let (schema, value) = schema_and_value().new_tree(&mut runner).unwrap().current();
            checked(&schema, &value)
        });
        let accepted: Vec<_> = checked.filter(|(_, is_valid)| *is_valid).map(|(is_accepted, _)| is_accepted).collect();
        let share = accepted.iter().filter(|is_accepted| **is_accepted).count() * 100 / accepted.len();
        assert!(accepted.len() > 150 && share > 50, "{} valid, {share} % of them accepted", accepted.len());
    }

    #[test]
    fn an_object_with_many_fields_is_left_to_the_validator() {
        let of = |count: usize| {
            let properties: Map<_, _> = (0..count).map(|n| (n.to_string(), json!({ "type": "null" }))).collect();
            Simple::of(&json!({ "type": "object", "properties": properties, "additionalProperties": false }))
        };
        assert!(of(MAX_FIELDS).is_some());
        assert!(of(MAX_FIELDS + 1).is_none());
    }

    #[test]
    fn fields_are_found_in_any_order() {
        let field = json!({ "type": ["string", "null"] });
        let schema = json!({
            "type": "object", "properties": { "a": field, "b": field, "c": field }, "required": ["a", "c"],
            "additionalProperties": false
        });
        let simple = Simple::of(&schema).unwrap();
        for held in
            [json!({ "a": "", "b": "", "c": "" }), json!({ "c": null, "b": "", "a": "" }), json!({ "c": "", "a": "" })]
        {
            assert!(simple.holds(&held), "{held}");
        }
        for other in
            [json!({ "a": "", "b": "" }), json!({}), json!({ "a": 1, "c": "" }), json!({ "a": "", "c": "", "d": "" })]
        {
            assert!(!simple.holds(&other), "{other}");
        }
    }
}
