//! A schema without references and alternatives, of one type, keyword by keyword.

use serde_json::{Map, Value, json};

use super::Gemini;
use super::choice::listed;
use crate::schema::shape::{any_of, bounds, close, end, kinds};
use crate::schema::{Properties, UNSUPPORTED_KEYWORDS, Unsupported, Walk, note};

/// Keywords that are sent unchanged.
const KEPT: [&str; 6] = ["type", "required", "minItems", "maxItems", "minimum", "maximum"];
/// The formats that Gemini supports, by type.
const FORMATS: [&str; 7] = ["date-time", "date", "time", "int32", "int64", "float", "double"];

/// A form that keywords are added to.
#[derive(Default)]
struct FormBuilder {
    form: Map<String, Value>,
    notes: Vec<String>,
}

impl FormBuilder {
    fn set(&mut self, key: &str, value: Value) {
        self.form.insert(key.to_owned(), value);
    }
}

impl Walk<'_, Gemini> {
    /// Returns a schema in the dialect that has neither references nor alternatives, and at most one type beside null.
    pub(super) fn plain(&mut self, mut whole: Map<String, Value>) -> Result<Value, Unsupported> {
        close(&mut whole);
        if whole.contains_key("patternProperties")
            && (whole.contains_key("properties") || whole.get("additionalProperties") != Some(&Value::Bool(false)))
        {
            let why = "has both pattern properties and other properties, which Gemini's schemas cannot express; use one of the two";
            return Err(self.unsupported(why));
        }
        end(&mut whole);
        bounds(&mut whole);
        let mut builder = FormBuilder::default();
        let kind = kinds(&whole).first().copied().map(str::to_owned);
        for (key, value) in &whole {
            if key == "properties" {
                self.named(&mut builder, &whole)?;
            } else {
                self.keyword(&mut builder, key, value, kind.as_deref())?;
            }
        }
        relax(&mut builder);
        if kind.as_deref() == Some("array") && !builder.form.contains_key("prefixItems") {
            builder.form.entry("items").or_insert_with(|| json!({ "description": note::ANYTHING }));
        }
        if builder.form.is_empty() && builder.notes.is_empty() && !whole.contains_key("description") {
            builder.notes.push(note::ANYTHING.to_owned());
        }
        note::describe(&mut builder.form, whole.get("description"), &builder.notes);
        Ok(Value::Object(builder.form))
    }

    fn keyword(
        &mut self,
        builder: &mut FormBuilder,
        key: &str,
        value: &Value,
        kind: Option<&str>,
    ) -> Result<(), Unsupported> {
        match key {
            // The listed values may have set it.
            "type" if builder.form.contains_key("type") => {}
            kept if KEPT.contains(&kept) => builder.set(key, value.clone()),
            "items" | "additionalProperties" => self.rest(builder, key, value)?,
            "prefixItems" => {
                let forms = value.as_array().into_iter().flatten().enumerate();
                let forms = forms.map(|(index, schema)| self.below(format!("{key}/{index}"), schema));
                builder.set(key, forms.collect::<Result<_, _>>()?);
            }
            "const" => only(builder, std::slice::from_ref(value), kind),
            "enum" => only(builder, value.as_array().map_or(&[], Vec::as_slice), kind),
            "format" if value.as_str().is_some_and(|format| FORMATS.contains(&format)) => {
                builder.set(key, value.clone());
            }
            // Formats of numbers are integer widths, which the bounds express.
            "format" if matches!(kind, Some("integer" | "number")) => {}
            "not" => self.not(builder, value)?,
            "patternProperties" => self.patterns(builder, value)?,
            "propertyNames" => self.names(builder, value)?,
            key if UNSUPPORTED_KEYWORDS.contains(&key) => return Err(self.unknown(key)),
            // Unknown keywords are ignored.
            key => builder.notes.extend(note::sentence(key, value)),
        }
        Ok(())
    }

    /// Adds the properties, except those that accept no value.
    fn named(&mut self, builder: &mut FormBuilder, whole: &Map<String, Value>) -> Result<(), Unsupported> {
        let Properties { forms, without } = self.properties(whole)?;
        if whole.get("additionalProperties") != Some(&Value::Bool(false)) {
            builder.notes.extend(without.iter().map(|(name, _)| format!("Has no property `{name}`.")));
        }
        builder.set("properties", Value::Object(forms));
        Ok(())
    }

    /// Adds the schema of further items or properties.
    fn rest(&mut self, builder: &mut FormBuilder, key: &str, value: &Value) -> Result<(), Unsupported> {
        match value {
            Value::Bool(true) => {}
            // For Gemini, properties by pattern are further properties.
            Value::Bool(false) => _ = builder.form.entry(key).or_insert(Value::Bool(false)),
            schema => {
                let form = self.below(key, schema)?;
                builder.set(key, form);
            }
        }
        Ok(())
    }

    fn not(&mut self, builder: &mut FormBuilder, excluded: &Value) -> Result<(), Unsupported> {
        let Some(keywords) = excluded.as_object().filter(|keywords| keywords.len() == 1) else {
            return Err(
                self.unsupported("uses `not`, which Gemini's schemas cannot express; describe what is allowed instead")
            );
        };
        match (keywords.get("const"), keywords.get("enum").and_then(Value::as_array)) {
            (Some(value), _) => builder.notes.push(note::except(std::slice::from_ref(value))),
            (None, Some(values)) => builder.notes.push(note::except(values)),
            _ => {
                return Err(self.unsupported(
                    "uses `not`, which Gemini's schemas cannot express; describe what is allowed instead",
                ));
            }
        }
        Ok(())
    }

    /// Adds a map whose keys match one pattern.
    fn patterns(&mut self, builder: &mut FormBuilder, value: &Value) -> Result<(), Unsupported> {
        let mut patterns = value.as_object().into_iter().flatten();
        let (Some((pattern, schema)), None) = (patterns.next(), patterns.next()) else {
            return Err(self.unsupported(
                "has several pattern properties, which Gemini's schemas cannot express; list the properties by name",
            ));
        };
        let form = self.below(format!("patternProperties/{pattern}"), schema)?;
        builder.set("additionalProperties", form);
        builder.notes.push(format!("Each property's name matches the regular expression `{pattern}`."));
        Ok(())
    }

    fn names(&mut self, builder: &mut FormBuilder, value: &Value) -> Result<(), Unsupported> {
        let form = self.below("propertyNames", value)?;
        if let Some(names) = form["enum"].as_array() {
            builder.notes.push(format!("Each property's name is one of {}.", Value::Array(names.clone())));
        } else if let Some(description) = form["description"].as_str() {
            builder.notes.push(format!("Of each property's name: {description}"));
        }
        Ok(())
    }
}

/// Makes properties that contain a reference optional, since recursive ones may not be required. The description states
/// that the property is always present.
fn relax(builder: &mut FormBuilder) {
    let Some(Value::Array(required)) = builder.form.get("required") else { return };
    let properties = builder.form.get("properties");
    let holds = |name: &Value| {
        let form = name.as_str().and_then(|name| properties?.get(name));
        form.is_some_and(holds_reference)
    };
    let (cyclic, others): (Vec<_>, Vec<_>) = required.iter().cloned().partition(holds);
    if cyclic.is_empty() {
        return;
    }
    builder.notes.extend(cyclic.iter().filter_map(Value::as_str).map(|name| format!("Always has `{name}`.")));
    if others.is_empty() {
        builder.form.shift_remove("required");
    } else {
        builder.set("required", Value::Array(others));
    }
}

/// Whether a form contains a reference outside of properties. Properties that contain one are not required.
fn holds_reference(form: &Value) -> bool {
    let each = |key: &&str| form.get(*key).and_then(Value::as_array).into_iter().flatten();
    form.get("$ref").is_some()
        || ["items", "additionalProperties"].iter().filter_map(|key| form.get(*key)).any(holds_reference)
        || ["anyOf", "prefixItems"].iter().flat_map(each).any(holds_reference)
}

/// Adds `const` and `enum`.
fn only(builder: &mut FormBuilder, values: &[Value], kind: Option<&str>) {
    match listed(values, kind) {
        Some(forms) if !forms.is_empty() => {
            if let Value::Object(form) = any_of(forms) {
                builder.form.shift_remove("type");
                builder.form.extend(form);
            }
        }
        _ => {
            builder.notes.push(note::only(values));
            if values.iter().all(Value::is_boolean) {
                builder.set("type", json!("boolean"));
            }
        }
    }
}
