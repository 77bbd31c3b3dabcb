//! The functions of a script's tools as stubs, which the checker reads and models too.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use serde_json::{Map, Value};

use super::names::{Callees, ScriptCallee, identifier, is_identifier};

/// The maximum depth of types in a stub; deeper ones are `Any`.
const MAX_DEPTH: usize = 16;
const IMPORTS: &str =
    "from typing import Any, Callable, Iterable, Iterator, Literal, NotRequired, TypeVar, TypedDict\n";
/// Names of the interpreter that the checker's library does not know.
const MISSING_BUILTINS: &str = "
_T = TypeVar(\"_T\")
_R = TypeVar(\"_R\")
def map(function: Callable[..., _R], *iterables: Iterable[Any]) -> Iterator[_R]: ...
def filter(function: Callable[[_T], Any] | None, iterable: Iterable[_T]) -> Iterator[_T]: ...
def getattr(object: Any, name: str, default: Any = ...) -> Any: ...
def hasattr(object: Any, name: str) -> bool: ...
def setattr(object: Any, name: str, value: Any) -> None: ...
def Unsure(why: str, /) -> Exception: ...
class AttributeError(Exception): ...
class NameError(Exception): ...
class ImportError(Exception): ...
class ModuleNotFoundError(ImportError): ...
class FileNotFoundError(OSError): ...
class FileExistsError(OSError): ...
class PermissionError(OSError): ...
class UnicodeDecodeError(ValueError): ...
class UnicodeEncodeError(ValueError): ...
";

/// Stubs of the tools of a script.
#[derive(Debug, Default)]
pub(super) struct Stubs {
    /// The text of each class, by name.
    classes: BTreeMap<String, String>,
    /// The name of each class, by the schema from which it was made.
    known: HashMap<String, String>,
    functions: String,
}

impl Stubs {
    /// Writes the stubs of these tools, as coroutines with `is_async`.
    pub(super) fn new(callees: &Callees, is_async: bool) -> Self {
        let mut stubs = Self::default();
        for (name, tool) in callees.sorted() {
            stubs.function(name, tool, is_async);
        }
        stubs
    }

    /// Returns the stubs for a reader: classes, then functions.
    pub(super) fn text(&self) -> String {
        let classes: Vec<_> = self.classes.values().map(|class| format!("{class}\n")).collect();
        classes.concat() + &self.functions
    }

    /// Returns the stubs as a module for the checker.
    pub(super) fn module(&self) -> String {
        format!("{IMPORTS}{MISSING_BUILTINS}\n{}", self.text())
    }

    /// Returns the names of the classes, each of which is a `TypedDict`.
    pub(super) fn class_names(&self) -> impl Iterator<Item = &str> {
        self.classes.keys().map(String::as_str)
    }

    fn function(&mut self, name: &str, tool: &ScriptCallee, is_async: bool) {
        let mut scope = Scope { stubs: self, root: &tool.parameters, depth: 0 };
        let required = required_of(&tool.parameters);
        let (mut first, mut optional) = (Vec::new(), Vec::new());
        for (parameter, schema) in tool.parameters["properties"].as_object().into_iter().flatten() {
            if !is_identifier(parameter) {
                continue;
            }
            let ty = scope.ty(schema, &format!("{name}_{parameter}"));
            if required.contains(&parameter.as_str()) {
                first.push(format!("{parameter}: {ty}"));
            } else {
                optional.push(format!("{parameter}: {ty} = {}", default(schema)));
            }
        }
        let parameters: Vec<_> = first.into_iter().chain(optional).collect();
        let output = match &tool.output {
            Some(schema) => Scope { stubs: self, root: schema, depth: 0 }.ty(schema, &format!("{name}_result")),
            None => "Any".to_owned(),
        };
        let (word, parameters) = (if is_async { "async def" } else { "def" }, parameters.join(", "));
        let doc = tool.description.trim().replace('\\', "\\\\").replace("\"\"\"", "'''").replace('\n', "\n    ");
        _ = write!(self.functions, "{word} {name}({parameters}) -> {output}:\n    \"\"\"{doc}\"\"\"\n    ...\n");
    }
}

/// The positions of the arguments of a tool in its stub: required ones first.
pub(super) fn positions(parameters: &Value) -> Vec<&str> {
    let required = required_of(parameters);
    let names = || parameters["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    let names = names().filter(|name| required.contains(name)).chain(names().filter(|name| !required.contains(name)));
    names.filter(|name| is_identifier(name)).collect()
}

fn required_of(schema: &Value) -> Vec<&str> {
    schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Returns the default of an optional parameter.
fn default(schema: &Value) -> String {
    match &schema["default"] {
        Value::Null | Value::Array(_) | Value::Object(_) => "...".to_owned(),
        simple => literal(simple),
    }
}

fn literal(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        other => other.to_string(),
    }
}

/// Writes the types of one schema.
struct Scope<'a> {
    stubs: &'a mut Stubs,
    /// The schema with the definitions.
    root: &'a Value,
    depth: usize,
}

impl Scope<'_> {
    /// Returns the type of a schema; `hint` names the class of an object without a name.
    fn ty(&mut self, schema: &Value, hint: &str) -> String {
        if self.depth > MAX_DEPTH {
            return "Any".to_owned();
        }
        self.depth += 1;
        let ty = self.nested(schema, hint);
        self.depth -= 1;
        ty
    }

    fn nested(&mut self, schema: &Value, hint: &str) -> String {
        if let Some(reference) = schema["$ref"].as_str() {
            return self.reference(reference, hint);
        }
        if let Some(values) = schema["enum"].as_array() {
            let is_literal = |value: &Value| !(value.is_f64() || value.is_array() || value.is_object());
            if !values.is_empty() && values.iter().all(is_literal) {
                return format!("Literal[{}]", values.iter().map(literal).collect::<Vec<_>>().join(", "));
            }
        }
        if schema.get("const").is_some_and(|value| value.is_string() || value.is_boolean() || value.is_i64()) {
            return format!("Literal[{}]", literal(&schema["const"]));
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(members) = schema[key].as_array() {
                return self.union(members, hint);
            }
        }
        if let Some([one]) = schema["allOf"].as_array().map(Vec::as_slice) {
            return self.ty(one, hint);
        }
        match &schema["type"] {
            Value::Array(types) => {
                let each: Vec<_> = types.iter().map(|ty| with_type(schema, ty)).collect();
                self.union(&each, hint)
            }
            Value::String(name) => self.named(name, schema, hint),
            _ => "Any".to_owned(),
        }
    }

    fn named(&mut self, name: &str, schema: &Value, hint: &str) -> String {
        match name {
            "string" => "str".to_owned(),
            "integer" => "int".to_owned(),
            "number" => "float".to_owned(),
            "boolean" => "bool".to_owned(),
            "null" => "None".to_owned(),
            "array" => match &schema["items"] {
                items @ Value::Object(_) => format!("list[{}]", self.ty(items, &format!("{hint}_item"))),
                _ => "list[Any]".to_owned(),
            },
            "object" => match (schema["properties"].as_object(), &schema["additionalProperties"]) {
                (Some(properties), _) if !properties.is_empty() => self.class(properties, schema, hint),
                (_, values @ Value::Object(_)) => format!("dict[str, {}]", self.ty(values, &format!("{hint}_value"))),
                _ => "dict[str, Any]".to_owned(),
            },
            _ => "Any".to_owned(),
        }
    }

    fn union(&mut self, members: &[Value], hint: &str) -> String {
        let mut types: Vec<String> = Vec::new();
        for (index, member) in members.iter().enumerate() {
            let ty = self.ty(member, &format!("{hint}_{index}"));
            if !types.contains(&ty) {
                types.push(ty);
            }
        }
        if types.is_empty() || types.iter().any(|ty| ty == "Any") { "Any".to_owned() } else { types.join(" | ") }
    }

    fn reference(&mut self, reference: &str, hint: &str) -> String {
        let Some(schema) = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer)) else {
            return "Any".to_owned();
        };
        let name = reference.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(hint);
        let schema = schema.clone();
        self.ty(&schema, name)
    }

    /// Adds the class of an object. Equal objects share a class; a different class with the same name gets a number.
    fn class(&mut self, properties: &Map<String, Value>, schema: &Value, hint: &str) -> String {
        let (base, mut key) = (pascal(hint), format!("{}{schema}", pascal(hint)));
        if key.contains("\"$ref\"") {
            key.push_str(&self.root["$defs"].to_string());
        }
        if let Some(known) = self.stubs.known.get(&key) {
            return known.clone();
        }
        let (mut name, mut number) = (base.clone(), 1);
        while self.stubs.classes.contains_key(&name) {
            number += 1;
            name = format!("{base}{number}");
        }
        // Added before its fields, which may refer to it.
        self.stubs.known.insert(key, name.clone());
        self.stubs.classes.insert(name.clone(), String::new());
        let text = self.class_text(&name, properties, schema, hint);
        self.stubs.classes.insert(name.clone(), text);
        name
    }

    fn class_text(&mut self, name: &str, properties: &Map<String, Value>, schema: &Value, hint: &str) -> String {
        let required = required_of(schema);
        let mut fields = Vec::new();
        for (key, property) in properties {
            let ty = self.ty(property, &format!("{hint}_{key}"));
            let ty = if required.contains(&key.as_str()) { ty } else { format!("NotRequired[{ty}]") };
            fields.push((key, ty));
        }
        if fields.iter().all(|(key, _)| is_identifier(key)) {
            let fields: Vec<_> = fields.iter().map(|(key, ty)| format!("    {key}: {ty}\n")).collect();
            return format!("class {name}(TypedDict):\n{}", fields.concat());
        }
        let fields: Vec<_> = fields.iter().map(|(key, ty)| format!("{key:?}: {ty:?}")).collect();
        format!("{name} = TypedDict({name:?}, {{{}}})\n", fields.join(", "))
    }
}

fn with_type(schema: &Value, ty: &Value) -> Value {
    let mut schema = schema.clone();
    schema["type"] = ty.clone();
    schema
}

fn pascal(name: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>()).unwrap_or_default()
    };
    let name: String = name.split(|letter: char| !letter.is_alphanumeric()).map(word).collect();
    let name = if name.starts_with(|first: char| first.is_ascii_digit()) { format!("_{name}") } else { name };
    identifier(if name.is_empty() { "Object" } else { &name })
}
