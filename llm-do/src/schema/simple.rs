//! Schemas so simple that a value is seen to keep to them without the validator.

use serde_json::{Map, Value};

/// What a simple schema asks for: types, bounds of integers, items, and fields.
///
/// It only ever says yes: what it does not see to be right is for the validator, which also says what is wrong.
#[derive(Debug, Default)]
pub(super) struct Simple {
    null: bool,
    boolean: bool,
    string: bool,
    /// The least and the greatest.
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
    /// Returns what `schema` asks for; nothing, if it asks for what is not simple.
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
            "integer" => self.integer = Some((bound(schema.get("minimum"))?, bound(schema.get("maximum"))?)),
            "array" => self.array = Some(Box::new(Self::of(schema.get("items")?)?)),
            "object" => self.object = Some(fields(schema)?),
            _ => return None,
        }
        Some(())
    }

    /// Returns whether a keyword says nothing that was not read.
    fn knows(&self, key: &str) -> bool {
        match key {
            "type" | "description" | "default" | "examples" => true,
            "minimum" | "maximum" => self.integer.is_some(),
            // Of a number it is a name for bounds; of a text it is not.
            "format" => self.integer.is_some() && !self.string,
            "items" => self.array.is_some(),
            "properties" | "required" | "additionalProperties" | "$defs" => self.object.is_some(),
            _ => false,
        }
    }

    /// Returns whether `value` is seen to keep to the schema.
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

/// Returns whether the fields hold, and those are there that must be; most come in the order of the schema.
fn hold(fields: &[Field], values: &Map<String, Value>) -> bool {
    let mut missing = fields.iter().filter(|field| field.is_required).count();
    let mut next = 0;
    for (name, value) in values {
        let (before, after) = fields.split_at(next);
        let Some(place) = after.iter().chain(before).position(|field| field.name == *name) else { return false };
        let place = (next + place) % fields.len();
        if !fields[place].value.holds(value) {
            return false;
        }
        missing -= usize::from(fields[place].is_required);
        next = place + 1;
    }
    missing == 0
}

fn bound(bound: Option<&Value>) -> Option<i128> {
    bound?.as_number()?.as_i128()
}

/// Returns the fields that an object tells of; one with others is for the validator.
fn fields(schema: &Map<String, Value>) -> Option<Vec<Field>> {
    let properties = schema.get("properties")?.as_object()?;
    let required = schema.get("required").map_or(Some(&[][..]), |names| names.as_array().map(Vec::as_slice))?;
    let is_known = |name: &Value| name.as_str().is_some_and(|name| properties.contains_key(name));
    if !required.iter().all(is_known) {
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
    use serde_json::json;

    use super::super::check::options;
    use super::*;

    const NAMES: [&str; 4] = ["a", "b", "c", "type"];

    fn leaf() -> impl Strategy<Value = Value> {
        let types = prop::sample::subsequence(vec!["null", "boolean", "string", "integer", "number"], 1..3);
        let more = prop::sample::select(vec![
            json!({}),
            json!({ "description": "It." }),
            json!({ "format": "date" }),
            json!({ "minLength": 1 }),
            json!({ "enum": [0, "", null] }),
            json!({ "multipleOf": 2 }),
        ]);
        (types, -3..3_i64, -3..3_i64, more).prop_map(|(types, least, greatest, more)| {
            let mut schema = json!({ "type": types, "minimum": least, "maximum": greatest });
            if let [name] = types[..] {
                schema["type"] = name.into();
            }
            for (key, value) in more.as_object().into_iter().flatten() {
                schema[key] = value.clone();
            }
            schema
        })
    }

    fn schema() -> impl Strategy<Value = Value> {
        leaf().prop_recursive(3, 16, 4, |inner| {
            let properties = prop::collection::btree_map(prop::sample::select(&NAMES[..]), inner.clone(), 0..4);
            let required = prop::sample::subsequence(&NAMES[..], 0..3);
            let closed = prop::sample::select(vec![json!(false), json!(false), json!(true), json!({ "type": "null" })]);
            let object = (properties, required, closed).prop_map(|(properties, required, closed)| {
                json!({
                    "type": "object", "properties": properties, "required": required, "additionalProperties": closed
                })
            });
            let array = inner.prop_map(|items| json!({ "type": ["array", "null"], "items": items }));
            prop_oneof![2 => object, 1 => array]
        })
    }

    fn leaf_value() -> BoxedStrategy<Value> {
        prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-4..4_i64).prop_map(Value::from),
            prop::sample::select(vec![json!(0.5), json!(1.0), json!(u64::MAX), json!(i64::MIN)]),
            prop::sample::select(vec![json!(""), json!("text"), json!("2026-01-01")]),
        ]
        .boxed()
    }

    /// Values of about the form that a schema asks for.
    fn value_of(schema: &Value) -> BoxedStrategy<Value> {
        if let Some(items) = schema.get("items") {
            return prop_oneof![8 => prop::collection::vec(value_of(items), 0..3).prop_map(Value::from), 1 => leaf_value()]
                .boxed();
        }
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return leaf_value() };
        let known = properties.iter().map(|(name, schema)| (name.clone(), value_of(schema)));
        let fields: Vec<_> = known
            .chain([("other".to_owned(), leaf_value())])
            .map(|(name, value)| {
                let odds = if name == "other" { 0.1 } else { 0.8 };
                prop::option::weighted(odds, value).prop_map(move |value| Some((name.clone(), value?)))
            })
            .collect();
        fields.prop_shuffle().prop_map(|fields| fields.into_iter().flatten().collect()).boxed()
    }

    fn schema_and_value() -> impl Strategy<Value = (Value, Value)> {
        schema().prop_flat_map(|schema| {
            let value = value_of(&schema);
            (Just(schema), value)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn what_is_seen_to_keep_to_a_schema_keeps_to_it_by_the_validator((schema, value) in schema_and_value()) {
            let by_validator = options().build(&schema).unwrap();
            if Simple::of(&schema).is_some_and(|simple| simple.holds(&value)) {
                prop_assert!(by_validator.is_valid(&value), "{schema} {value}");
            }
        }
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
