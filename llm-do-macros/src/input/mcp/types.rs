//! The types of a tool's arguments and result, from its schemas.

use std::collections::HashMap;

use llm_do_worker_file::definition;
use serde_json::{Map, Value};
use syn::{Ident, Type, parse_quote};

use super::names::{Names, camel, snake};
use super::read::description;
use super::schema::{any, has_only, is_struct, optional, simple, single_part, single_type, strings};
use super::{Kind, McpField, McpType, docs};

/// Generates the types of the schemas in one document.
pub(super) struct Types<'a> {
    root: &'a Value,
    /// The prefix of the names of its types.
    prefix: &'a str,
    names: &'a mut Names,
    defined: &'a mut Vec<McpType>,
    /// The types of the resolved references.
    references: HashMap<String, Reference>,
}

/// The type of a reference.
enum Reference {
    /// It is being resolved; `Some` for a struct, whose name is known before its fields.
    Open(Option<Ident>),
    Done(Box<Type>),
}

impl<'a> Types<'a> {
    pub(super) fn new(root: &'a Value, prefix: &'a str, names: &'a mut Names, defined: &'a mut Vec<McpType>) -> Self {
        Self { root, prefix, names, defined, references: HashMap::new() }
    }

    /// Returns the fields of the arguments.
    pub(super) fn arguments(&mut self) -> Vec<McpField> {
        let prefix = self.prefix;
        self.root.as_object().map(|schema| self.fields(schema, prefix)).unwrap_or_default()
    }

    /// Returns the type of the result.
    pub(super) fn result(&mut self, schema: &Value) -> Type {
        self.ty(schema, &format!("{}Result", self.prefix))
    }

    /// Returns the type of a schema; `name` is its name if it gets one.
    fn ty(&mut self, schema: &Value, name: &str) -> Type {
        let Some(keywords) = schema.as_object() else { return any() };
        if let Some(Value::String(reference)) = keywords.get("$ref") {
            return if has_only(keywords, &["$ref"]) { self.referred(reference) } else { any() };
        }
        if let Some((texts, has_null)) = strings(schema) {
            let ident = self.choice(texts, name, description(schema));
            return optional(&parse_quote!(#ident), has_null);
        }
        if let Some((part, has_null)) = single_part(keywords) {
            return optional(&self.ty(part, name), has_null);
        }
        match single_type(keywords) {
            Some((of, has_null)) => optional(&self.of_type(of, keywords, name), has_null),
            None => any(),
        }
    }

    fn of_type(&mut self, of: &str, schema: &Map<String, Value>, name: &str) -> Type {
        match of {
            "array" => self.list(schema, name),
            "object" if is_struct(schema) => {
                let ident = self.names.unique(name);
                self.structure(&ident, schema, name)
            }
            "object" => self.map(schema, name),
            other => simple(other).map_or_else(any, |ty| parse_quote!(#ty)),
        }
    }

    fn list(&mut self, schema: &Map<String, Value>, name: &str) -> Type {
        let items = schema.get("items").filter(|_| !schema.contains_key("prefixItems"));
        let item = items.map_or_else(any, |items| self.ty(items, &format!("{name}Item")));
        parse_quote!(::std::vec::Vec<#item>)
    }

    fn map(&mut self, schema: &Map<String, Value>, name: &str) -> Type {
        let is_plain = !["properties", "patternProperties", "allOf", "anyOf", "oneOf"]
            .iter()
            .any(|keyword| schema.get(*keyword).is_some_and(|value| *value != Value::Object(Map::new())));
        if !is_plain {
            return any();
        }
        let values = schema.get("additionalProperties");
        let value = values.map_or_else(any, |values| self.ty(values, &format!("{name}Value")));
        parse_quote!(::std::collections::BTreeMap<::std::string::String, #value>)
    }

    /// Adds a struct.
    fn structure(&mut self, ident: &Ident, schema: &Map<String, Value>, name: &str) -> Type {
        let place = self.defined.len();
        let text = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        let kind = Kind::Struct(Vec::new());
        self.defined.push(McpType { ident: ident.clone(), docs: docs::attributes(text), kind });
        self.defined[place].kind = Kind::Struct(self.fields(schema, name));
        parse_quote!(#ident)
    }

    fn fields(&mut self, schema: &Map<String, Value>, prefix: &str) -> Vec<McpField> {
        let required = schema.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let required: Vec<_> = required.iter().filter_map(Value::as_str).collect();
        let empty = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let undescribed = required.iter().filter(|name| !properties.contains_key(**name));
        let undescribed = undescribed.map(|name| ((*name).to_owned(), Value::Bool(true)));
        let all: Map<_, _> = properties.clone().into_iter().chain(undescribed).collect();
        let mut idents = Names::new(self.names.span());
        let field = |(name, schema): (String, Value)| {
            let ty = self.ty(&schema, &format!("{prefix}{}", camel(&name, "Field")));
            let is_required = required.contains(&&*name);
            McpField {
                ident: idents.unique(&snake(&name, "field")),
                ty: optional(&ty, !is_required),
                description: description(&schema).to_owned(),
                docs: docs::attributes(description(&schema)),
                is_required,
                name,
            }
        };
        all.into_iter().map(field).collect()
    }

    /// Adds an enum.
    fn choice(&mut self, texts: Vec<String>, name: &str, description: &str) -> Ident {
        let ident = self.names.unique(name);
        let mut idents = Names::new(self.names.span());
        let variants = texts.into_iter().map(|text| (idents.unique(&camel(&text, "Value")), text)).collect();
        self.defined.push(McpType {
            ident: ident.clone(),
            docs: docs::attributes(description),
            kind: Kind::Enum(variants),
        });
        ident
    }

    /// Returns the type of a reference. A recursive reference is boxed.
    fn referred(&mut self, reference: &str) -> Type {
        match self.references.get(reference) {
            Some(Reference::Done(ty)) => return Type::clone(ty),
            Some(Reference::Open(Some(ident))) => return parse_quote!(::std::boxed::Box<#ident>),
            Some(Reference::Open(None)) => return any(),
            None => {}
        }
        let Some(schema) = definition(self.root, reference) else { return any() };
        let last = reference.rsplit(['/', '#']).next().unwrap_or_default();
        let name = format!("{}{}", self.prefix, camel(last, "Root"));
        let keywords = schema.as_object().filter(|schema| is_named(schema));
        let ident = keywords.map(|_| self.names.unique(&name));
        self.references.insert(reference.to_owned(), Reference::Open(ident.clone()));
        let ty = match (ident, keywords) {
            (Some(ident), Some(keywords)) => self.structure(&ident, keywords, &name),
            _ => self.ty(schema, &name),
        };
        self.references.insert(reference.to_owned(), Reference::Done(Box::new(ty.clone())));
        ty
    }
}

/// Returns whether the schema describes only a struct.
fn is_named(schema: &Map<String, Value>) -> bool {
    let is_other = ["$ref", "enum", "const"].iter().any(|keyword| schema.contains_key(*keyword));
    !is_other && single_type(schema) == Some(("object", false)) && is_struct(schema)
}
