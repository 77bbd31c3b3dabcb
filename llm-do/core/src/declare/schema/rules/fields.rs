//! The fields of objects: `properties`, `patternProperties` and `additionalProperties`.

use std::collections::HashMap;
use std::ops::ControlFlow;

use serde_json::{Map, Value};

use super::describe::never;
use super::{Report, Rules};
use crate::declare::schema::fault::{Place, missing, unknown};

/// The maximum number of declared fields that are searched one by one.
const MAX_SEARCHED: usize = 14;

/// The rules for the fields of an object.
#[derive(Debug)]
pub(super) struct Fields {
    declared: Vec<(String, usize)>,
    /// The places in `declared` by name, if there are many.
    places: HashMap<String, usize>,
    by_pattern: Vec<(KeyPattern, usize)>,
    others: Others,
    /// A required field that is reported last.
    required: Option<String>,
}

/// The rule for fields that are not declared and match no pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Others {
    Any,
    /// All fields are allowed and described, by `additionalProperties: true`.
    Described,
    Each(usize),
    Unknown,
    /// No other field is allowed, and the schema declares no fields.
    Forbidden,
}

/// The patterns that schemars writes for maps with integers as keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyPattern {
    Unsigned,
    Signed,
}

impl KeyPattern {
    pub(super) fn of(pattern: &str) -> Option<Self> {
        match pattern {
            r"^\d+$" => Some(Self::Unsigned),
            r"^-?\d+$" => Some(Self::Signed),
            _ => None,
        }
    }

    fn matches(self, key: &str) -> bool {
        let digits = if self == Self::Signed { key.strip_prefix('-').unwrap_or(key) } else { key };
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    }
}

impl Fields {
    pub(super) fn new(
        declared: Vec<(&str, usize)>,
        by_pattern: Vec<(KeyPattern, usize)>,
        others: Others,
        required: Option<&str>,
    ) -> Self {
        let is_large = declared.len() > MAX_SEARCHED;
        let places =
            declared.iter().enumerate().filter(|_| is_large).map(|(place, (name, _))| ((*name).to_owned(), place));
        let places = places.collect();
        let declared = declared.into_iter().map(|(name, node)| (name.to_owned(), node)).collect();
        Self { declared, places, by_pattern, others, required: required.map(str::to_owned) }
    }

    /// Returns the subschema of a declared field.
    fn declared(&self, name: &str) -> Option<usize> {
        let place = if self.places.is_empty() {
            self.declared.iter().position(|(declared, _)| declared == name)?
        } else {
            *self.places.get(name)?
        };
        Some(self.declared[place].1)
    }

    /// Returns whether fields are matched by patterns.
    pub(super) fn have_patterns(&self) -> bool {
        !self.by_pattern.is_empty()
    }

    /// Returns whether the rules describe a field with this name.
    pub(super) fn describe(&self, name: &str) -> bool {
        self.others != Others::Any || self.declared(name).is_some() || self.matching(name).next().is_some()
    }

    /// Returns the subschemas of the patterns that match a name.
    fn matching<'a>(&'a self, name: &'a str) -> impl Iterator<Item = usize> + 'a {
        self.by_pattern.iter().filter(|(pattern, _)| pattern.matches(name)).map(|(_, node)| *node)
    }

    fn unknown(&self, names: &[&String]) -> String {
        unknown(names, self.declared.iter().map(|(name, _)| name.as_str()))
    }
}

impl Rules {
    pub(super) fn fields(
        &self,
        fields: &Fields,
        value: &Value,
        place: &Place<'_>,
        report: &mut Report<'_>,
    ) -> ControlFlow<()> {
        let Value::Object(values) = value else { return ControlFlow::Continue(()) };
        match fields.others {
            Others::Any | Others::Described => self.open(fields, values, place, report),
            Others::Forbidden => {
                let first = values.values().next();
                first.map_or(ControlFlow::Continue(()), |first| report(first, place, &|shown| never(shown)))
            }
            Others::Unknown | Others::Each(_) => self.closed(fields, value, values, place, report),
        }
    }

    /// Checks the fields of an object with any undeclared fields.
    fn open(
        &self,
        fields: &Fields,
        values: &Map<String, Value>,
        place: &Place<'_>,
        report: &mut Report<'_>,
    ) -> ControlFlow<()> {
        let mut check = |name: &str, value, node| self.node(node, value, &Place::Field(place, name), report);
        if values.len() > fields.declared.len() && fields.places.is_empty() {
            for (name, node) in &fields.declared {
                values.get(name).map_or(ControlFlow::Continue(()), |value| check(name, value, *node))?;
            }
        } else {
            for (name, value) in values {
                fields.declared(name).map_or(ControlFlow::Continue(()), |node| check(name, value, node))?;
            }
        }
        for (pattern, node) in &fields.by_pattern {
            let matching = values.iter().filter(|(name, _)| pattern.matches(name));
            matching.into_iter().try_for_each(|(name, value)| check(name, value, *node))?;
        }
        ControlFlow::Continue(())
    }

    /// Checks the fields of an object without undeclared fields, or with a schema for them.
    fn closed(
        &self,
        fields: &Fields,
        object: &Value,
        values: &Map<String, Value>,
        place: &Place<'_>,
        report: &mut Report<'_>,
    ) -> ControlFlow<()> {
        let mut unknown = Vec::new();
        for (name, value) in values {
            let (declared, mut is_known) = (fields.declared(name), false);
            for node in declared.into_iter().chain(fields.matching(name)) {
                is_known = true;
                self.node(node, value, &Place::Field(place, name), report)?;
            }
            match fields.others {
                Others::Each(node) if !is_known => self.node(node, value, &Place::Field(place, name), report)?,
                Others::Unknown if !is_known => unknown.push(name),
                _ => {}
            }
        }
        if !unknown.is_empty() {
            report(object, place, &|_| fields.unknown(&unknown))?;
        }
        match &fields.required {
            Some(name) if !values.contains_key(name) => report(object, place, &|_| missing(name)),
            _ => ControlFlow::Continue(()),
        }
    }
}
