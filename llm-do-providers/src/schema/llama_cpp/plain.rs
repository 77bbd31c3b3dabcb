//! A schema without references and alternatives, keyword by keyword.

use serde_json::{Map, Value, json};

use super::limits::{MOST, concerns_all, contradiction, whole_numbers};
use super::{LlamaCpp, pattern};
use crate::schema::reference::unmarked;
use crate::schema::shape::{close, end, is_only};
use crate::schema::{Properties, SchemaDialect as _, UNSUPPORTED_KEYWORDS, Unsupported, Walk, note};

/// Keywords from which the grammar infers the type of a value.
const TYPE_KEYWORDS: [&str; 8] =
    ["type", "const", "enum", "properties", "additionalProperties", "patternProperties", "items", "prefixItems"];
/// Keywords that the grammar ignores, and that stay for the model to read.
const PASSED_OVER: [&str; 11] = [
    "multipleOf",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "propertyNames",
    "contentEncoding",
    "contentMediaType",
    "title",
    "default",
    "examples",
    "deprecated",
];

/// A form that keywords are added to.
#[derive(Default)]
struct FormBuilder {
    form: Map<String, Value>,
    notes: Vec<String>,
    /// Whether the form has to state that only the named properties are allowed.
    is_closed: bool,
}

impl FormBuilder {
    fn set(&mut self, key: &str, value: Value) {
        self.form.insert(key.to_owned(), value);
    }
}

impl Walk<'_, LlamaCpp> {
    /// Returns a schema in the dialect that has neither references nor alternatives.
    pub(super) fn keywords(&mut self, mut whole: Map<String, Value>) -> Result<Value, Unsupported> {
        close(&mut whole);
        end(&mut whole);
        whole_numbers(&mut whole);
        if let Some([least, most]) = contradiction(&whole) {
            let unsupported = self.unsupported(format!("allows no value: its `{least}` is more than its `{most}`"));
            return Err(if concerns_all(least, &whole) { unsupported.with_nothing_left() } else { unsupported });
        }
        if !TYPE_KEYWORDS.iter().any(|key| whole.contains_key(*key)) {
            whole.extend(LlamaCpp::anything().as_object().cloned().unwrap_or_default());
        }
        let mut builder = FormBuilder::default();
        for (key, value) in &whole {
            self.keyword(&mut builder, key, value, &whole)?;
        }
        self.object(&mut builder.form)?;
        if builder.is_closed {
            builder.set("additionalProperties", json!(false));
        }
        note::describe(&mut builder.form, whole.get("description"), &builder.notes);
        Ok(Value::Object(builder.form))
    }

    fn keyword(
        &mut self,
        builder: &mut FormBuilder,
        key: &str,
        value: &Value,
        whole: &Map<String, Value>,
    ) -> Result<(), Unsupported> {
        match key {
            "type" | "required" | "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
                builder.set(key, value.clone());
            }
            "const" => builder.form.extend(self.listed(key, std::slice::from_ref(value), whole)?),
            "enum" => builder.form.extend(self.listed(key, value.as_array().map_or(&[], Vec::as_slice), whole)?),
            "properties" => self.named(builder, whole)?,
            "additionalProperties" => self.additional(builder, value)?,
            "patternProperties" => self.patterns(builder, value, whole)?,
            "items" | "minItems" | "maxItems" if whole.contains_key("prefixItems") => {}
            "items" => builder.set(key, self.below(key, value)?),
            "prefixItems" => self.tuple(builder, value, whole)?,
            "minItems" | "maxItems" => {
                // Without `items`, the grammar ignores the limits of their number.
                if !whole.contains_key("items") {
                    builder.set("items", LlamaCpp::anything());
                }
                limit(builder, key, value);
            }
            "minLength" | "maxLength" => limit(builder, key, value),
            "format" if value.is_string() => builder.set(key, value.clone()),
            "pattern" => match value.as_str().and_then(pattern::whole) {
                Some(pattern) => builder.set(key, Value::String(pattern)),
                None => builder.notes.extend(note::sentence(key, value)),
            },
            "not" if is_of_values(value) => builder.set(key, value.clone()),
            "not" => {
                return Err(self.unsupported(
                    "uses `not`, which llama.cpp's grammars cannot express; describe what is allowed instead",
                ));
            }
            key if UNSUPPORTED_KEYWORDS.contains(&key) => return Err(self.unknown(key)),
            // The grammar ignores it too, but its references need a target.
            "propertyNames" if unmarked(value) != *value => builder.set(key, self.below(key, value)?),
            key if PASSED_OVER.contains(&key) => builder.set(key, value.clone()),
            // Unknown keywords are ignored.
            _ => {}
        }
        Ok(())
    }

    /// Adds `const` and `enum`, for which the grammar ignores the type.
    fn listed(
        &self,
        key: &str,
        values: &[Value],
        whole: &Map<String, Value>,
    ) -> Result<Option<(String, Value)>, Unsupported> {
        let left: Vec<_> = values.iter().filter(|value| is_of_type(value, whole)).cloned().collect();
        match (values, left.as_slice()) {
            ([], _) => Err(self.unsupported("allows no value")),
            (_, []) => Err(self.unsupported("allows no value: no listed value has its type").with_nothing_left()),
            (_, [value]) if key == "const" => Ok(Some((key.to_owned(), value.clone()))),
            _ => Ok(Some((key.to_owned(), Value::Array(left)))),
        }
    }

    /// Adds the properties, except those that accept no value. A grammar that names properties allows only these.
    fn named(&mut self, builder: &mut FormBuilder, whole: &Map<String, Value>) -> Result<(), Unsupported> {
        let Properties { forms, mut without } = self.properties(whole)?;
        builder.set("properties", Value::Object(forms));
        let Some((_, unsupported)) = without.pop() else { return Ok(()) };
        match whole.get("additionalProperties") {
            None => builder.is_closed = true,
            Some(Value::Bool(false)) => {}
            Some(_) => return Err(unsupported),
        }
        Ok(())
    }

    fn additional(&mut self, builder: &mut FormBuilder, value: &Value) -> Result<(), Unsupported> {
        match value {
            Value::Bool(true) => builder.set("additionalProperties", json!(true)),
            // In the grammar, properties by pattern are further properties.
            Value::Bool(false) => _ = builder.form.entry("additionalProperties").or_insert(json!(false)),
            schema => {
                let form = self.below("additionalProperties", schema)?;
                builder.set("additionalProperties", form);
            }
        }
        Ok(())
    }

    /// Adds a map whose keys match one pattern, which the description states.
    fn patterns(
        &mut self,
        builder: &mut FormBuilder,
        value: &Value,
        whole: &Map<String, Value>,
    ) -> Result<(), Unsupported> {
        let is_alone = !whole.contains_key("properties") && whole.get("additionalProperties") == Some(&json!(false));
        let mut patterns = value.as_object().into_iter().flatten();
        let (Some((pattern, schema)), None, true) = (patterns.next(), patterns.next(), is_alone) else {
            return Err(self.unsupported(
                "has both pattern properties and other properties, which llama.cpp's grammars cannot express; use one of the two",
            ));
        };
        let form = self.below(format!("patternProperties/{pattern}"), schema)?;
        builder.set("additionalProperties", form);
        builder.notes.push(format!("Each property's name matches the regular expression `{pattern}`."));
        Ok(())
    }

    /// Adds a tuple: the grammar has exactly the listed number of items.
    fn tuple(
        &mut self,
        builder: &mut FormBuilder,
        value: &Value,
        whole: &Map<String, Value>,
    ) -> Result<(), Unsupported> {
        let Some(schemas) = value.as_array() else {
            return Err(self.unsupported("has a `prefixItems` that is not an array"));
        };
        let bound = |key: &str| whole.get(key).and_then(Value::as_u64);
        let most = bound("maxItems").and_then(|most| usize::try_from(most).ok()).unwrap_or(schemas.len());
        let schemas = &schemas[..most.min(schemas.len())];
        if bound("minItems").is_some_and(|least| least > schemas.len() as u64) {
            let why = "requires more items than `prefixItems` lists, which llama.cpp's grammars cannot express; list \
                       all items, or none";
            return Err(self.unsupported(why));
        }
        let forms =
            schemas.iter().enumerate().map(|(index, schema)| self.below(format!("prefixItems/{index}"), schema));
        let forms = forms.collect::<Result<Vec<_>, _>>()?;
        if forms.is_empty() {
            builder.set("items", LlamaCpp::anything());
            builder.set("maxItems", json!(0));
            return Ok(());
        }
        builder.set("minItems", json!(forms.len()));
        builder.set("maxItems", json!(forms.len()));
        builder.set("prefixItems", Value::Array(forms));
        Ok(())
    }

    /// Declares the required properties of an object: a grammar that names properties allows no undeclared ones.
    fn object(&mut self, form: &mut Map<String, Value>) -> Result<(), Unsupported> {
        let others = form.get("additionalProperties").cloned();
        let mut properties = match form.get("properties") {
            Some(Value::Object(properties)) => properties.clone(),
            _ => Map::new(),
        };
        let named = properties.len();
        for name in form.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
            if properties.contains_key(name) {
                continue;
            }
            let schema = match &others {
                Some(Value::Bool(false)) => {
                    let unsupported = self.unsupported(format!("requires `{name}`, but does not allow it"));
                    return Err(if is_only(form, "object") { unsupported.with_nothing_left() } else { unsupported });
                }
                Some(Value::Object(schema)) => Value::Object(schema.clone()),
                _ => LlamaCpp::anything(),
            };
            properties.insert(name.to_owned(), schema);
        }
        if properties.is_empty() {
            return Ok(());
        }
        let is_open = others.as_ref().is_some_and(|others| *others != json!(false));
        if let Some(name) = properties.keys().find(|name| is_open && !is_plain(name)) {
            let why = format!(
                "has the property `{name}` next to undeclared properties; use only letters and digits in its name"
            );
            return Err(self.unsupported(why));
        }
        if properties.len() > named {
            form.insert("properties".to_owned(), Value::Object(properties));
        }
        Ok(())
    }
}

/// Whether a value is of a type of the schema.
fn is_of_type(value: &Value, whole: &Map<String, Value>) -> bool {
    let is = |kind: &Value| match kind.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("number") => value.is_number(),
        Some("integer") => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        _ => true,
    };
    match whole.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(is),
        Some(kind) => is(kind),
        None => true,
    }
}

/// Adds a limit, or describes it if it exceeds what a grammar can count.
fn limit(builder: &mut FormBuilder, key: &str, value: &Value) {
    match value.as_u64() {
        Some(count) if count <= MOST => builder.set(key, json!(count)),
        _ => builder.notes.extend(note::sentence(key, value)),
    }
}

/// Whether a schema only lists values.
fn is_of_values(schema: &Value) -> bool {
    let keywords = schema.as_object().filter(|keywords| keywords.len() == 1);
    keywords.is_some_and(|keywords| keywords.contains_key("const") || keywords.contains_key("enum"))
}

/// Whether the grammar can distinguish the name from other names.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|character| character.is_ascii_alphanumeric() || "_- .".contains(character))
}
