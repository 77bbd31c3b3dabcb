//! The fields of a JSON object, read one by one, so that all faults are found.

use std::collections::HashSet;
use std::fmt::{self, Display};

use llm_do_worker_file::did_you_mean;
use serde::de::{DeserializeOwned, DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// Parses a text.
///
/// A duplicate field of an object is a fault, since only the last one would be read.
///
/// # Errors
///
/// Returns why the text is not JSON.
pub(super) fn read(text: &str, faults: &mut Vec<String>) -> Result<Value, String> {
    let value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut reader = serde_json::Deserializer::from_str(text);
    let unique: Result<Unique, _> = serde_path_to_error::deserialize(&mut reader);
    if let Err(error) = unique {
        let path = error.path().to_string();
        let error = error.into_inner();
        faults.push(if path == "." { error.to_string() } else { format!("`{path}`: {error}") });
    }
    Ok(value)
}

/// The fields of an object that were not read.
pub(super) struct Fields<'f> {
    left: Map<String, Value>,
    /// The path of the object; empty for the root.
    place: String,
    /// The fields that it may have.
    known: Vec<&'static str>,
    faults: &'f mut Vec<String>,
    is_valid: bool,
}

impl<'f> Fields<'f> {
    /// Returns the fields of a value; reports one that is not an object.
    pub(super) fn from_value(value: Value, place: String, faults: &'f mut Vec<String>) -> Option<Self> {
        let Value::Object(left) = value else {
            let place = if place.is_empty() { String::new() } else { format!("`{place}`: ") };
            faults.push(format!("{place}expected an object"));
            return None;
        };
        Some(Self { left, place, known: Vec::new(), faults, is_valid: true })
    }

    /// Reads a field; reports an invalid value. `null` is an absent field.
    pub(super) fn optional<T: DeserializeOwned>(&mut self, name: &'static str) -> Option<T> {
        self.known.push(name);
        let value = self.left.shift_remove(name).filter(|value| !value.is_null())?;
        match serde_json::from_value(value) {
            Ok(value) => Some(value),
            Err(error) => self.fault(name, &error),
        }
    }

    /// Reads a field; reports a missing or invalid value.
    pub(super) fn required<T: DeserializeOwned>(&mut self, name: &'static str) -> Option<T> {
        if self.left.get(name).is_none_or(Value::is_null) {
            self.known.push(name);
            self.left.shift_remove(name);
            return self.fault(name, &"missing");
        }
        self.optional(name)
    }

    /// Returns the value that was built from fields; reports why it could not be built.
    pub(super) fn made<T, E: Display>(&mut self, made: Result<T, E>) -> Option<T> {
        match made {
            Ok(made) => Some(made),
            Err(error) => {
                let fault = format!("`{}`: {error}", self.place);
                self.add(fault)
            }
        }
    }

    /// Reports the fault of a field; returns nothing.
    pub(super) fn fault<T>(&mut self, name: &str, fault: &dyn Display) -> Option<T> {
        let dot = if self.place.is_empty() { "" } else { "." };
        let fault = format!("`{}{dot}{name}`: {fault}", self.place);
        self.add(fault)
    }

    fn add<T>(&mut self, fault: String) -> Option<T> {
        self.faults.push(fault);
        self.is_valid = false;
        None
    }

    /// Reports unknown fields; returns whether the object has no faults.
    pub(super) fn finish(mut self) -> bool {
        let names: Vec<_> = self.left.keys().cloned().collect();
        for name in names {
            let hint = did_you_mean(&name, self.known.iter().copied());
            let place = if self.place.is_empty() { String::new() } else { format!("`{}`: ", self.place) };
            let _: Option<()> = self.add(format!("{place}unknown field `{name}`{hint}"));
        }
        self.is_valid
    }
}

/// A value in which no object has a field twice.
struct Unique;

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

/// Reads the name of a field that was not read before.
struct NewName<'n>(&'n mut HashSet<String>);

impl<'de> DeserializeSeed<'de> for NewName<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let name = String::deserialize(deserializer)?;
        if self.0.contains(&name) {
            return Err(D::Error::custom(format!("duplicate field `{name}`")));
        }
        self.0.insert(name);
        Ok(())
    }
}

impl<'de> Visitor<'de> for Unique {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self, A::Error> {
        let mut names = HashSet::new();
        while fields.next_key_seed(NewName(&mut names))?.is_some() {
            fields.next_value::<Self>()?;
        }
        Ok(self)
    }
}
