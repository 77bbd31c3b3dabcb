//! The types that a script's signature may have, and their JSON schemas.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// A type that has a JSON schema.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Type {
    Any,
    None,
    Bool,
    Int,
    Float,
    Str,
    List(Box<Type>),
    /// A dictionary with strings as keys.
    Dict(Box<Type>),
    Tuple(Vec<Type>),
    /// A tuple of any length.
    TupleOf(Box<Type>),
    Literal(Vec<Value>),
    Union(Vec<Type>),
    /// A class of the script, by name.
    Class(String),
}

/// A class of a script whose values are objects in JSON.
#[derive(Clone, Debug)]
pub(super) struct Class {
    pub(super) is_dataclass: bool,
    pub(super) description: String,
    pub(super) fields: Vec<Field>,
}

/// A parameter, or a field of a class.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) ty: Type,
    pub(super) is_required: bool,
    pub(super) default: Option<Value>,
    pub(super) description: Option<String>,
}

/// The classes of a script, by name.
pub(super) type Classes = BTreeMap<String, Class>;

impl Type {
    /// Returns the schema, which refers to classes as `#/$defs/NAME`.
    pub(super) fn schema(&self) -> Value {
        match self {
            Self::Any => json!({}),
            Self::None => json!({ "type": "null" }),
            Self::Bool => json!({ "type": "boolean" }),
            Self::Int => json!({ "type": "integer" }),
            Self::Float => json!({ "type": "number" }),
            Self::Str => json!({ "type": "string" }),
            Self::List(item) | Self::TupleOf(item) => json!({ "type": "array", "items": item.schema() }),
            Self::Dict(value) => json!({ "type": "object", "additionalProperties": value.schema() }),
            Self::Tuple(items) => {
                let schemas: Vec<_> = items.iter().map(Self::schema).collect();
                let length = schemas.len();
                json!({ "type": "array", "prefixItems": schemas, "minItems": length, "maxItems": length })
            }
            Self::Literal(values) => literal_schema(values),
            Self::Union(members) => json!({ "anyOf": members.iter().map(Self::schema).collect::<Vec<_>>() }),
            Self::Class(name) => json!({ "$ref": format!("#/$defs/{name}") }),
        }
    }

    /// Calls `f` for each class that the type names.
    pub(super) fn each_class<'a>(&'a self, f: &mut dyn FnMut(&'a str)) {
        match self {
            Self::List(of) | Self::Dict(of) | Self::TupleOf(of) => of.each_class(f),
            Self::Tuple(of) | Self::Union(of) => of.iter().for_each(|ty| ty.each_class(f)),
            Self::Class(name) => f(name),
            _ => {}
        }
    }
}

/// Returns the schema of one of these values; with their type if they have one.
fn literal_schema(values: &[Value]) -> Value {
    if values.iter().all(Value::is_string) {
        return json!({ "type": "string", "enum": values });
    }
    json!({ "enum": values })
}

/// Returns the schema of an object with these fields, and with the classes that they name.
pub(super) fn object_schema(fields: &[Field], classes: &Classes) -> Value {
    let mut schema = fields_schema(fields);
    let types = fields.iter().map(|field| &field.ty);
    add_definitions(&mut schema, types, classes);
    schema
}

/// Returns the schema of a type, with the classes that it names.
pub(super) fn schema_of(ty: &Type, classes: &Classes) -> Value {
    let mut schema = ty.schema();
    add_definitions(&mut schema, [ty], classes);
    schema
}

fn fields_schema(fields: &[Field]) -> Value {
    let property = |field: &Field| {
        let mut schema = field.ty.schema();
        if let Value::Object(keys) = &mut schema {
            keys.extend(field.description.iter().map(|text| ("description".to_owned(), text.as_str().into())));
            keys.extend(field.default.iter().map(|value| ("default".to_owned(), value.clone())));
        }
        (field.name.clone(), schema)
    };
    let required: Vec<_> = fields.iter().filter(|field| field.is_required).map(|field| &field.name).collect();
    let properties: Map<_, _> = fields.iter().map(property).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn add_definitions<'a>(schema: &mut Value, types: impl IntoIterator<Item = &'a Type>, classes: &'a Classes) {
    let mut definitions = Map::new();
    let mut open = Vec::new();
    types.into_iter().for_each(|ty| ty.each_class(&mut |name| open.push(name)));
    while let Some(name) = open.pop() {
        let Some(class) = classes.get(name).filter(|_| !definitions.contains_key(name)) else { continue };
        let mut own = fields_schema(&class.fields);
        if !class.description.is_empty() {
            own["description"] = class.description.as_str().into();
        }
        definitions.insert(name.to_owned(), own);
        class.fields.iter().for_each(|field| field.ty.each_class(&mut |name| open.push(name)));
    }
    if !definitions.is_empty() {
        schema["$defs"] = Value::Object(definitions);
    }
}
