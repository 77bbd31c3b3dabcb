//! The traversal of a schema, for any dialect.

mod alternatives;
mod dialect;

use std::marker::PhantomData;

use serde_json::{Map, Value};

pub(crate) use self::dialect::SchemaDialect;
use super::definitions::Definitions;
use super::merge::merge;
use super::pointer::pointed;
use super::reference::{Opened, mark, target, within};
use super::shape::is_only;
use super::unsupported::Unsupported;
use super::weaker::{outline, weaker_forms, with_rules};

/// The maximum number of schemas after all references are inlined.
const LARGEST: usize = 10_000;
/// The maximum nesting depth of schemas and keywords after references are inlined, limited by the stack.
const DEEPEST: usize = 128;
/// Keywords that describe a schema, and do not affect which values are valid.
pub(crate) const REMARKS: [&str; 9] =
    ["description", "default", "examples", "deprecated", "title", "$defs", "definitions", "$schema", "$id"];

/// The properties of an object.
#[derive(Default)]
pub(crate) struct Properties {
    pub(crate) forms: Map<String, Value>,
    /// The properties that have no valid value, with the reason.
    pub(crate) without: Vec<(String, Unsupported)>,
}

/// The state of a traversal.
pub(crate) struct Walk<'a, D> {
    dialect: PhantomData<D>,
    root: &'a Value,
    /// The definitions of the form.
    definitions: Definitions,
    /// The references that are being inlined.
    opened: Vec<Opened>,
    path: Vec<String>,
    /// The number of schemas left until the limit.
    left: usize,
    /// What the form only describes, since the dialect cannot express it; `None` if that is an error.
    weakened: Option<Vec<String>>,
}

impl<'a, D: SchemaDialect> Walk<'a, D> {
    pub(crate) fn new(root: &'a Value) -> Self {
        Self {
            dialect: PhantomData,
            root,
            definitions: Definitions::default(),
            opened: Vec::new(),
            path: Vec::new(),
            left: LARGEST,
            weakened: None,
        }
    }

    /// Describes what the dialect cannot express, in place of an error.
    pub(crate) fn weakly(self) -> Self {
        Self { weakened: Some(Vec::new()), ..self }
    }

    /// Whether what the dialect cannot express is only described.
    fn is_weak(&self) -> bool {
        self.weakened.is_some()
    }

    /// Returns the whole schema in the dialect, with its definitions, and what it only describes, each with its path.
    ///
    /// # Errors
    ///
    /// Returns what cannot be expressed, with its path.
    pub(crate) fn whole_form(mut self) -> Result<(Value, Vec<String>), Unsupported> {
        let mut root = self.root.clone();
        if let Value::Object(keywords) = &mut root {
            mark(keywords, None);
        }
        let mut form = D::root(self.form(&root)?);
        self.definitions.put_into(&mut form);
        Ok((form, self.weakened.unwrap_or_default()))
    }

    /// Returns the name of the definition that `target` refers to; a new one is what `form` returns.
    pub(crate) fn define(
        &mut self,
        target: &str,
        form: fn(&mut Self, &str) -> Result<Value, Unsupported>,
    ) -> Result<String, Unsupported> {
        if let Some(name) = self.definitions.known(target, "") {
            return Ok(name.to_owned());
        }
        let count = self.definitions.count();
        let name = self.definitions.name(target, "");
        match form(self, target) {
            Ok(form) => self.definitions.define(name.clone(), form),
            Err(unsupported) => {
                self.definitions.forget_from(count);
                return Err(unsupported);
            }
        }
        Ok(name)
    }

    /// Returns a schema with marked references in the dialect. Describes what the dialect cannot express, if that is
    /// allowed.
    fn form(&mut self, schema: &Value) -> Result<Value, Unsupported> {
        if self.path.len() > DEEPEST {
            return self.form_of_outline(schema);
        }
        match (self.exact_form(schema), schema) {
            (Err(unsupported), Value::Object(keywords)) if self.is_weak() && !unsupported.leaves_nothing() => {
                self.weak_form(keywords, unsupported)
            }
            (form, _) => form,
        }
    }

    /// Returns the form of a schema that is nested too deeply: its type, if weaker forms are allowed.
    fn form_of_outline(&mut self, schema: &Value) -> Result<Value, Unsupported> {
        let unsupported = self.unsupported(format!("is nested deeper than {DEEPEST} levels; make it flatter"));
        match (&mut self.weakened, schema) {
            (Some(weakened), Value::Object(keywords)) => {
                weakened.push(unsupported.to_string());
                D::plain(self, outline(keywords))
            }
            _ => Err(unsupported),
        }
    }

    /// Returns a weaker form: the first of those with fewer and fewer keywords that the dialect can express.
    fn weak_form(&mut self, keywords: &Map<String, Value>, unsupported: Unsupported) -> Result<Value, Unsupported> {
        let noted = self.weakened.as_ref().map_or(0, Vec::len);
        for weaker in weaker_forms(keywords, self.root, &mut self.opened) {
            match self.exact_form(&Value::Object(weaker.schema)) {
                Ok(form) => {
                    self.weakened.get_or_insert_default().push(unsupported.to_string());
                    return Ok(with_rules(form, keywords, &weaker.dropped));
                }
                Err(nothing) if nothing.leaves_nothing() => return Err(nothing),
                Err(_) => self.weakened.get_or_insert_default().truncate(noted),
            }
        }
        Err(unsupported)
    }

    fn exact_form(&mut self, schema: &Value) -> Result<Value, Unsupported> {
        self.count()?;
        match schema {
            Value::Bool(true) => Ok(D::anything()),
            Value::Bool(false) => Err(self.unsupported("allows no value; remove it").with_nothing_left()),
            Value::Object(keywords) if keywords.len() == 1 && keywords.get("not").is_some_and(is_anything) => {
                Err(self.unsupported("allows no value; remove it").with_nothing_left())
            }
            Value::Object(keywords) => {
                if let Some(form) = D::reference(self, keywords)? {
                    return Ok(form);
                }
                let whole = self.resolved(keywords.clone())?;
                self.split(whole)
            }
            _ => Err(self.unsupported("is not a schema: expected an object or a boolean")),
        }
    }

    /// Counts a schema; returns an error at the limit.
    fn count(&mut self) -> Result<(), Unsupported> {
        self.left = self.left.checked_sub(1).ok_or_else(|| {
            self.unsupported(format!(
                "is part of a schema with more than {LARGEST} subschemas after references are inlined; split the schema"
            ))
        })?;
        Ok(())
    }

    /// Returns the schema at `step` below this one in the dialect, as an optional part.
    pub(crate) fn below(&mut self, step: impl Into<String>, schema: &Value) -> Result<Value, Unsupported> {
        self.part(step, schema).map_err(Unsupported::of_a_part)
    }

    fn part(&mut self, step: impl Into<String>, schema: &Value) -> Result<Value, Unsupported> {
        self.path.push(step.into());
        let form = self.form(schema);
        self.path.pop();
        form
    }

    /// Returns the properties of a schema in the dialect.
    pub(crate) fn properties(&mut self, whole: &Map<String, Value>) -> Result<Properties, Unsupported> {
        let Some(schemas) = whole.get("properties").and_then(Value::as_object) else {
            return Err(self.unsupported("has invalid `properties`: expected an object"));
        };
        let required = whole.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let mut properties = Properties::default();
        for (name, schema) in schemas {
            match self.part(format!("properties/{name}"), schema) {
                Ok(form) => _ = properties.forms.insert(name.clone(), form),
                Err(unsupported) if !unsupported.leaves_nothing() => return Err(unsupported),
                Err(unsupported) if !required.iter().any(|required| required == name) => {
                    properties.without.push((name.clone(), unsupported.of_a_part()));
                }
                Err(unsupported) if is_only(whole, "object") => return Err(unsupported),
                Err(unsupported) => return Err(unsupported.of_a_part()),
            }
        }
        Ok(properties)
    }

    /// Returns the schema that `reference` leads to in the dialect, with the path of its own place.
    #[cfg(feature = "openai")]
    pub(crate) fn apart(&mut self, reference: &str) -> Result<Value, Unsupported> {
        let mut schema = self.pointed(reference)?;
        mark(&mut schema, None);
        self.apart_from_here(reference, schema)
    }

    /// Whether a marked reference is cyclic: it leads to a schema that contains it.
    #[cfg(feature = "gemini")]
    pub(crate) fn is_cyclic(&self, reference: &Value) -> bool {
        self.is_open(target(reference), within(reference))
    }

    fn is_open(&self, to: &str, within: Option<usize>) -> bool {
        let mut around = std::iter::successors(self.open_at(within), |opened| self.open_at(opened.within));
        to == "#" || around.any(|opened| opened.to == to)
    }

    /// Returns the schema that `reference` leads to in the dialect, with the path of its own place: references to it are
    /// cyclic.
    #[cfg(feature = "gemini")]
    pub(crate) fn apart_within_itself(&mut self, reference: &str) -> Result<Value, Unsupported> {
        let mut schema = self.pointed(reference)?;
        mark(&mut schema, Some(self.opened.len()));
        self.opened.push(Opened { to: reference.to_owned(), within: None });
        self.apart_from_here(reference, schema)
    }

    #[cfg(any(feature = "gemini", feature = "openai"))]
    fn apart_from_here(&mut self, reference: &str, schema: Map<String, Value>) -> Result<Value, Unsupported> {
        let steps = reference.trim_start_matches(['#', '/']).split('/').filter(|step| !step.is_empty());
        let path = std::mem::replace(&mut self.path, steps.map(str::to_owned).collect());
        let form = self.form(&Value::Object(schema));
        self.path = path;
        form
    }

    /// Returns a schema with its own references inlined and its own `allOf` merged; those of its subschemas stay.
    fn resolved(&mut self, mut whole: Map<String, Value>) -> Result<Map<String, Value>, Unsupported> {
        while let Some(reference) = whole.shift_remove("$ref") {
            let target = self.inlined(&reference)?;
            if target.contains_key("$ref") {
                self.count()?;
            }
            whole = self.merge(whole, target)?;
        }
        if let Some(Value::Array(all)) = whole.shift_remove("allOf") {
            for member in all {
                // Nested `allOf` members multiply, and are not counted as children.
                self.count()?;
                let member = match member {
                    Value::Object(member) => self.resolved(member)?,
                    Value::Bool(true) => continue,
                    _ => return Err(self.unsupported("allows no value; remove it").with_nothing_left()),
                };
                whole = self.merge(whole, member)?;
            }
        }
        Ok(whole)
    }

    /// Returns the target of `reference`, with its references marked as contained in it.
    fn inlined(&mut self, reference: &Value) -> Result<Map<String, Value>, Unsupported> {
        let to = target(reference);
        let within = within(reference);
        if self.is_open(to, within) {
            return Err(self.unsupported(format!(
                "is recursive through `{to}`, which {} cannot express; limit its depth, or use a string that contains \
                 JSON for that part",
                D::NAME
            )));
        }
        let mut schema = self.pointed(to)?;
        mark(&mut schema, Some(self.opened.len()));
        self.opened.push(Opened { to: to.to_owned(), within });
        Ok(schema)
    }

    fn open_at(&self, number: Option<usize>) -> Option<&Opened> {
        self.opened.get(number?)
    }

    fn pointed(&self, reference: &str) -> Result<Map<String, Value>, Unsupported> {
        match pointed(self.root, reference) {
            Some(Value::Object(schema)) => Ok(schema.clone()),
            Some(Value::Bool(true)) => Ok(Map::new()),
            Some(Value::Bool(false)) => {
                let why = format!("refers to `{reference}`, which allows no value; remove it");
                Err(self.unsupported(why).with_nothing_left())
            }
            _ => Err(self.unsupported(format!("refers to `{reference}`, which is not a schema in this document"))),
        }
    }

    /// Returns the schema of the values that both allow.
    fn merge(&self, left: Map<String, Value>, right: Map<String, Value>) -> Result<Map<String, Value>, Unsupported> {
        merge(left, right, D::NAME).map_err(|conflict| {
            let unsupported = self.unsupported(conflict.why);
            if conflict.leaves_nothing { unsupported.with_nothing_left() } else { unsupported }
        })
    }

    /// Returns the error that this schema cannot be expressed.
    pub(crate) fn unsupported(&self, why: impl Into<String>) -> Unsupported {
        Unsupported::new(&self.path, why)
    }

    /// Returns the error that this schema has a keyword that the dialect does not know.
    pub(crate) fn unknown(&self, key: &str) -> Unsupported {
        Unsupported::keyword(&self.path, key, D::NAME)
    }
}

/// Whether a schema is `true` or empty.
fn is_anything(schema: &Value) -> bool {
    *schema == Value::Bool(true) || schema.as_object().is_some_and(Map::is_empty)
}
