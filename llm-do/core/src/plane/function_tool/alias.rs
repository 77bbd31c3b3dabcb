//! An alias of a linked tool, with its own description and defaults.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Acts, FunctionTool};
use crate::declare::schema::CheckedSchema;
use crate::observe::event::ItemKind;
use crate::plane::definition::{DeclaredRule, Decode, Implementation, ToolDef};

/// An alias of a linked tool.
#[derive(Debug)]
#[doc(hidden)]
#[cfg_attr(not(feature = "project"), expect(unreachable_pub, reason = "projects show it"))]
pub struct Alias {
    pub(crate) name: String,
    /// The registered name of the tool.
    pub(crate) target: String,
    /// Replaces the description of the tool.
    pub(crate) description: Option<String>,
    /// The arguments that a call may omit.
    pub(crate) defaults: Map<String, Value>,
    /// Replaces the declared rule of the tool, but not the rules of a policy for it.
    pub(crate) approval: Option<DeclaredRule>,
}

impl Alias {
    /// Returns whether an item can have an alias: only tools that are implemented by code.
    pub(crate) fn can_name(def: &ToolDef) -> bool {
        def.kind == ItemKind::Tool
    }

    /// Returns the faults of the alias for this item, each with its key.
    pub(crate) fn faults(&self, def: &ToolDef) -> Vec<(&'static str, String)> {
        if !Self::can_name(def) {
            let kind = def.kind.as_str();
            let fault = format!("`{}` is not a tool, but a {kind}; list it in `toolsets`", self.target);
            return vec![("function", fault)];
        }
        let schema = (def.parameters)();
        let fault =
            |(name, value): (&String, &Value)| Some(("arguments", default_fault(&schema, &self.target, name, value)?));
        self.defaults.iter().filter_map(fault).collect()
    }

    /// Returns the tool under this name. The alias must have no [`faults`](Self::faults).
    pub(crate) fn into_tool(self, def: &ToolDef) -> FunctionTool {
        let parameters = with_defaults((def.parameters)(), &self.defaults);
        let defaults = self.defaults;
        let decode = decode_of(def);
        let decode = move |given: Value| {
            let mut arguments = defaults.clone();
            arguments.extend(given.as_object().cloned().unwrap_or_default());
            (decode.value)(Value::Object(arguments))
        };
        let description = self.description.unwrap_or_else(|| def.description.to_owned());
        let tool = FunctionTool::defined(self.name, description, def.effect, Arc::new(decode));
        let approval = self.approval.or(def.approval);
        let output = def.output.map(|schema| schema());
        let acts = Acts::of_linked(def);
        let (timeout, on_unknown, max_result) = (def.timeout, def.on_unknown, def.max_result);
        let reconcile = def.reconcile.map(Arc::from);
        let tool = FunctionTool { on_unknown, reconcile, max_result, background: def.background, timeout, ..tool };
        FunctionTool { parameters, output, approval, is_typed: true, acts, ..tool }
    }
}

/// Returns how a tool decodes its arguments.
fn decode_of(def: &ToolDef) -> Decode {
    match def.implementation {
        Implementation::Function(decode) => decode,
        Implementation::Worker { .. } => unreachable!("only tools have other names"),
    }
}

/// Returns the schema of the arguments with these defaults, which makes them optional.
fn with_defaults(mut schema: Value, defaults: &Map<String, Value>) -> Value {
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|name| !name.as_str().is_some_and(|name| defaults.contains_key(name)));
    }
    for (name, value) in defaults {
        if let Some(Value::Object(property)) = schema.pointer_mut("/properties").and_then(|all| all.get_mut(name)) {
            property.insert("default".to_owned(), value.clone());
        }
    }
    schema
}

/// Returns the fault of a default, if any.
fn default_fault(schema: &Value, tool: &str, name: &str, value: &Value) -> Option<String> {
    let properties = schema["properties"].as_object();
    if properties.is_none_or(|all| !all.contains_key(name)) {
        let known = properties.into_iter().flatten().map(|(name, _)| name.as_str());
        let hint = llm_do_worker_file::did_you_mean(name, known);
        return Some(format!("`{tool}` has no argument `{name}`{hint}"));
    }
    let fault = CheckedSchema::check_property(schema, name, value).err()?;
    Some(format!("invalid default for `{tool}`: {fault}"))
}
