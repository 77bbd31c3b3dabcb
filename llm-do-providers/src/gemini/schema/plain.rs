//! A schema without references and alternatives, of one type, keyword by keyword.

use serde_json::{Map, Value, json};

use super::Gemini;
use super::choice::listed;
use crate::schema::shape::{any_of, bounds, close, end, kinds};
use crate::schema::{Properties, UNSAYABLE, Unsaid, Walk, note};

/// Keywords that go as they are.
const KEPT: [&str; 6] = ["type", "required", "minItems", "maxItems", "minimum", "maximum"];
/// The formats that Gemini knows, by type.
const FORMATS: [&str; 7] = ["date-time", "date", "time", "int32", "int64", "float", "double"];

/// A form as it grows.
#[derive(Default)]
struct Growing {
    form: Map<String, Value>,
    notes: Vec<String>,
}

impl Growing {
    fn set(&mut self, key: &str, value: Value) {
        self.form.insert(key.to_owned(), value);
    }
}

impl Walk<'_, Gemini> {
    /// Returns a schema in the dialect that has neither references nor alternatives, and at most one type beside null.
    pub(super) fn plain(&mut self, mut whole: Map<String, Value>) -> Result<Value, Unsaid> {
        close(&mut whole);
        if whole.contains_key("patternProperties")
            && (whole.contains_key("properties") || whole.get("additionalProperties") != Some(&Value::Bool(false)))
        {
            let why =
                "allows properties by pattern and others as well, which Gemini's schemas cannot say; allow one kind";
            return Err(self.unsaid(why));
        }
        end(&mut whole);
        bounds(&mut whole);
        let mut growing = Growing::default();
        let kind = kinds(&whole).first().copied().map(str::to_owned);
        for (key, value) in &whole {
            if key == "properties" {
                self.named(&mut growing, &whole)?;
            } else {
                self.keyword(&mut growing, key, value, kind.as_deref())?;
            }
        }
        relax(&mut growing);
        if kind.as_deref() == Some("array") && !growing.form.contains_key("prefixItems") {
            growing.form.entry("items").or_insert_with(|| json!({ "description": note::ANYTHING }));
        }
        if growing.form.is_empty() && growing.notes.is_empty() && !whole.contains_key("description") {
            growing.notes.push(note::ANYTHING.to_owned());
        }
        note::describe(&mut growing.form, whole.get("description"), &growing.notes);
        Ok(Value::Object(growing.form))
    }

    fn keyword(&mut self, growing: &mut Growing, key: &str, value: &Value, kind: Option<&str>) -> Result<(), Unsaid> {
        match key {
            // It may be set by what is listed.
            "type" if growing.form.contains_key("type") => {}
            kept if KEPT.contains(&kept) => growing.set(key, value.clone()),
            "items" | "additionalProperties" => self.rest(growing, key, value)?,
            "prefixItems" => {
                let forms = value.as_array().into_iter().flatten().enumerate();
                let forms = forms.map(|(index, schema)| self.below(format!("{key}/{index}"), schema));
                growing.set(key, forms.collect::<Result<_, _>>()?);
            }
            "const" => only(growing, std::slice::from_ref(value), kind),
            "enum" => only(growing, value.as_array().map_or(&[], Vec::as_slice), kind),
            "format" if value.as_str().is_some_and(|format| FORMATS.contains(&format)) => {
                growing.set(key, value.clone());
            }
            // Of numbers it is a width, which the bounds say.
            "format" if matches!(kind, Some("integer" | "number")) => {}
            "not" => self.not(growing, value)?,
            "patternProperties" => self.patterns(growing, value)?,
            "propertyNames" => self.names(growing, value)?,
            key if UNSAYABLE.contains(&key) => return Err(self.unknown(key)),
            // What is no keyword says nothing.
            key => growing.notes.extend(note::sentence(key, value)),
        }
        Ok(())
    }

    /// Takes the properties, without those that have no values.
    fn named(&mut self, growing: &mut Growing, whole: &Map<String, Value>) -> Result<(), Unsaid> {
        let Properties { forms, without } = self.properties(whole)?;
        if whole.get("additionalProperties") != Some(&Value::Bool(false)) {
            growing.notes.extend(without.iter().map(|(name, _)| format!("Has no property `{name}`.")));
        }
        growing.set("properties", Value::Object(forms));
        Ok(())
    }

    /// Takes the schema of further items or properties.
    fn rest(&mut self, growing: &mut Growing, key: &str, value: &Value) -> Result<(), Unsaid> {
        match value {
            Value::Bool(true) => {}
            // Properties by pattern are further ones for Gemini.
            Value::Bool(false) => _ = growing.form.entry(key).or_insert(Value::Bool(false)),
            schema => {
                let form = self.below(key, schema)?;
                growing.set(key, form);
            }
        }
        Ok(())
    }

    fn not(&mut self, growing: &mut Growing, excluded: &Value) -> Result<(), Unsaid> {
        let Some(keywords) = excluded.as_object().filter(|keywords| keywords.len() == 1) else {
            return Err(self.unsaid("says `not`, which Gemini's schemas cannot; say what is allowed"));
        };
        match (keywords.get("const"), keywords.get("enum").and_then(Value::as_array)) {
            (Some(value), _) => growing.notes.push(note::except(std::slice::from_ref(value))),
            (None, Some(values)) => growing.notes.push(note::except(values)),
            _ => return Err(self.unsaid("says `not`, which Gemini's schemas cannot; say what is allowed")),
        }
        Ok(())
    }

    /// Takes a map whose keys match one pattern.
    fn patterns(&mut self, growing: &mut Growing, value: &Value) -> Result<(), Unsaid> {
        let mut patterns = value.as_object().into_iter().flatten();
        let (Some((pattern, schema)), None) = (patterns.next(), patterns.next()) else {
            return Err(self.unsaid("has properties by several patterns, which Gemini's schemas cannot say; name them"));
        };
        let form = self.below(format!("patternProperties/{pattern}"), schema)?;
        growing.set("additionalProperties", form);
        growing.notes.push(format!("Each property's name matches the regular expression `{pattern}`."));
        Ok(())
    }

    fn names(&mut self, growing: &mut Growing, value: &Value) -> Result<(), Unsaid> {
        let form = self.below("propertyNames", value)?;
        if let Some(names) = form["enum"].as_array() {
            growing.notes.push(format!("Each property's name is one of {}.", Value::Array(names.clone())));
        } else if let Some(description) = form["description"].as_str() {
            growing.notes.push(format!("Of each property's name: {description}"));
        }
        Ok(())
    }
}

/// Requires no property that holds a reference: cyclic ones may not be required. That the property is there is said in words.
fn relax(growing: &mut Growing) {
    let Some(Value::Array(required)) = growing.form.get("required") else { return };
    let properties = growing.form.get("properties");
    let holds = |name: &Value| {
        let form = name.as_str().and_then(|name| properties?.get(name));
        form.is_some_and(holds_reference)
    };
    let (cyclic, others): (Vec<_>, Vec<_>) = required.iter().cloned().partition(holds);
    if cyclic.is_empty() {
        return;
    }
    growing.notes.extend(cyclic.iter().filter_map(Value::as_str).map(|name| format!("Always has `{name}`.")));
    if others.is_empty() {
        growing.form.shift_remove("required");
    } else {
        growing.set("required", Value::Array(others));
    }
}

/// Whether a form holds a reference outside of properties, which are not required where they hold one.
fn holds_reference(form: &Value) -> bool {
    let each = |key: &&str| form.get(*key).and_then(Value::as_array).into_iter().flatten();
    form.get("$ref").is_some()
        || ["items", "additionalProperties"].iter().filter_map(|key| form.get(*key)).any(holds_reference)
        || ["anyOf", "prefixItems"].iter().flat_map(each).any(holds_reference)
}

/// Takes the only values that are allowed.
fn only(growing: &mut Growing, values: &[Value], kind: Option<&str>) {
    match listed(values, kind) {
        Some(forms) if !forms.is_empty() => {
            if let Value::Object(form) = any_of(forms) {
                growing.form.shift_remove("type");
                growing.form.extend(form);
            }
        }
        _ => {
            growing.notes.push(note::only(values));
            if values.iter().all(Value::is_boolean) {
                growing.set("type", json!("boolean"));
            }
        }
    }
}
