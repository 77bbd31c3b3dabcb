//! Generates a Rust function as a starting point.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::Value;

use super::super::signature::parameters;
use crate::plane::registry::Registered;

/// The maximum line width, as in rustfmt; a longer line is broken.
const MAX_WIDTH: usize = 100;

/// Returns a Rust function with the worker's signature, which calls the worker and has the script as a comment.
pub(super) fn function(worker: &Registered, script: &str) -> String {
    let mut types = Types::default();
    let own = rust_name(worker.name());
    let parameters = parameters(worker);
    let properties: Vec<_> = parameters["properties"].as_object().into_iter().flatten().collect();
    let is_prompt = worker.is_linked() && worker.takes_prompt();
    let mut declared = vec!["ctx: &CallContext".to_owned()];
    for (name, schema) in &properties {
        let ty = if is_prompt { "Prompt".to_owned() } else { types.rust_type(schema) };
        declared.push(format!("{}: {ty}", rust_name(name)));
    }
    let names: Vec<_> = properties.iter().map(|(name, _)| rust_name(name)).collect();
    let (output, call) = if worker.is_linked() {
        let output = match worker.output() {
            Some(schema) if is_simple(&schema) => types.rust_type(&schema),
            // The schema does not contain the name of the type.
            _ => format!("<{own} as llm_do::Tool>::Output"),
        };
        types.names.insert(own.clone());
        (output, format!("ctx.call({own} {{ {} }}).await?", names.join(", ")))
    } else {
        let fields: Vec<_> = properties.iter().zip(&names).map(|((key, _), name)| format!("{key:?}: {name}")).collect();
        let call = format!("ctx.call_tool({:?}, llm_do::json!({{ {} }})).await?", worker.name(), fields.join(", "));
        ("llm_do::Value".to_owned(), call)
    };
    let mut text = String::from("//! To start from: translate the script, and remove the call of the worker.\n\n");
    if !types.names.is_empty() {
        let names: Vec<_> = types.names.iter().map(String::as_str).collect();
        let names = if let [one] = *names { one.to_owned() } else { format!("{{{}}}", names.join(", ")) };
        _ = writeln!(text, "use crate::{names};");
    }
    text.push_str("use llm_do::prelude::*;\n\n");
    for line in worker.description().lines() {
        text.push_str(format!("/// {line}").trim_end());
        text.push('\n');
    }
    let line = format!("pub async fn {own}_code({}) -> Result<{output}> {{", declared.join(", "));
    let broken = || format!("pub async fn {own}_code(\n    {},\n) -> Result<{output}> {{", declared.join(",\n    "));
    _ = writeln!(text, "#[tool]\n{}", if line.len() > MAX_WIDTH { broken() } else { line });
    for line in script.lines() {
        text.push_str(format!("    // {line}").trim_end());
        text.push('\n');
    }
    _ = writeln!(text, "    Ok({call})\n}}");
    text
}

/// Returns whether a schema belongs to a type of the standard library.
fn is_simple(schema: &Value) -> bool {
    schema["type"].is_string() && schema["type"] != "object" && schema.get("enum").is_none()
}

/// Generates the names of Rust types for schemas.
#[derive(Default)]
struct Types {
    /// The names of the program's own types.
    names: BTreeSet<String>,
}

impl Types {
    fn rust_type(&mut self, schema: &Value) -> String {
        let name = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next());
        if let Some(name) = name.or(schema["title"].as_str()) {
            let name = rust_name(name);
            self.names.insert(name.clone());
            return name;
        }
        for key in ["anyOf", "oneOf"] {
            if let Some([one, other]) = schema[key].as_array().map(Vec::as_slice) {
                match (one["type"] == "null", other["type"] == "null") {
                    (false, true) => return format!("Option<{}>", self.rust_type(one)),
                    (true, false) => return format!("Option<{}>", self.rust_type(other)),
                    _ => {}
                }
            }
        }
        match &schema["type"] {
            Value::String(ty) => self.named(ty, schema),
            Value::Array(types) => match &types.iter().filter(|ty| *ty != "null").collect::<Vec<_>>()[..] {
                [Value::String(ty)] => format!("Option<{}>", self.named(ty, schema)),
                _ => "llm_do::Value".to_owned(),
            },
            _ => "llm_do::Value".to_owned(),
        }
    }

    fn named(&mut self, ty: &str, schema: &Value) -> String {
        let name = match (ty, schema["format"].as_str().unwrap_or_default()) {
            ("string", _) => "String",
            ("boolean", _) => "bool",
            ("null", _) => "()",
            ("number", "float") => "f32",
            ("number", _) => "f64",
            ("integer", format) => integer(format),
            ("array", _) => return format!("Vec<{}>", self.rust_type(&schema["items"])),
            ("object", _) if schema["additionalProperties"].is_object() => {
                return format!(
                    "std::collections::BTreeMap<String, {}>",
                    self.rust_type(&schema["additionalProperties"])
                );
            }
            _ => "llm_do::Value",
        };
        name.to_owned()
    }
}

fn integer(format: &str) -> &'static str {
    match format {
        "uint8" => "u8",
        "uint16" => "u16",
        "uint32" => "u32",
        "uint64" => "u64",
        "uint" => "usize",
        "int8" => "i8",
        "int16" => "i16",
        "int32" => "i32",
        "int" => "isize",
        _ => "i64",
    }
}

/// Returns a name in Rust's spelling.
fn rust_name(name: &str) -> String {
    const KEYWORDS: [&str; 46] = [
        "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else", "enum",
        "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod",
        "move", "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait", "true", "try", "type",
        "typeof", "unsafe", "use", "virtual", "where", "while",
    ];
    let name: String = name.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '_' }).collect();
    if KEYWORDS.contains(&name.as_str()) { format!("r#{name}") } else { name }
}
