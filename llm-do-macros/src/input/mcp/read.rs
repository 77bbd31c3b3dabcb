//! Reads the tools of a snapshot as argument structs.

use llm_do_worker_file::{Snapshot, SnapshotTool, mcp_tool_name};
use quote::quote;
use serde_json::Value;
use syn::{Ident, LitStr, Type, Visibility, parse_quote};

use super::names::{Names, camel, snake};
use super::types::Types;
use super::{McpField, McpTool, McpToolset, docs};
use crate::args::tool::Effect;
use crate::errors::Errors;
use crate::input::{Argument, Callable, EffectSource, Flow, Kind, Parameter};

/// Adds the tools of the snapshot `text`, and the types of their arguments and results.
pub(super) fn tools(toolset: &mut McpToolset, text: &str, errors: &mut Errors) {
    let snapshot = Snapshot::read(text).unwrap_or_else(|(valid, error)| {
        for fault in error.faults() {
            errors.push(&toolset.file, format!("{}: {fault}", toolset.file.value()));
        }
        valid
    });
    snapshot.server().clone_into(&mut toolset.server);
    let mut names = Names::of_types(toolset.ident.span());
    // All structs are named first, so that a new tool does not rename any of them.
    let structs: Vec<_> = snapshot.tools().iter().map(|tool| names.unique(&snake(&tool.name, "tool"))).collect();
    for (tool, ident) in snapshot.tools().iter().zip(structs) {
        let read = read(tool, ident, snapshot.server(), &mut names, &mut toolset.types);
        toolset.tools.push(read);
    }
}

fn read(
    tool: &SnapshotTool,
    ident: Ident,
    server: &str,
    names: &mut Names,
    types: &mut Vec<super::McpType>,
) -> McpTool {
    let prefix = camel(&tool.name, "Tool");
    let fields = Types::new(&tool.input_schema, &prefix, names, types).arguments();
    let output = match &tool.output_schema {
        Some(schema) => Types::new(schema, &prefix, names, types).result(schema),
        None => super::schema::any(),
    };
    McpTool { callable: callable(tool, ident, server, &fields, &output), output, fields }
}

/// Returns the tool in the form of a parsed attribute.
fn callable(tool: &SnapshotTool, ident: Ident, server: &str, fields: &[McpField], output: &Type) -> Callable {
    let description = tool.description.as_deref().unwrap_or_default();
    let title = tool.title.as_deref().filter(|title| !description.contains(title));
    let text = [title.unwrap_or_default(), description].join("\n\n");
    Callable {
        kind: Kind::Tool,
        vis: Visibility::Public(parse_quote!(pub)),
        arguments: ident.clone(),
        ident,
        owner: None,
        name: mcp_tool_name(server, &tool.name),
        description: quote!(#description),
        docs: docs::attributes(&text),
        cfgs: Vec::new(),
        is_async: true,
        has_struct: true,
        parameters: fields.iter().map(|field| Parameter::Argument(Box::new(argument(field)))).collect(),
        output: Some(output.clone()),
        is_opaque: false,
        toolsets: None,
        timeout: None,
        effect: is_destructive(tool).then_some(Effect::Destructive),
        effect_source: EffectSource::Toolsets,
        flow: Flow::default(),
        error: None,
    }
}

/// Returns whether the server declares a call destructive; hints that would weaken an effect are not trusted.
fn is_destructive(tool: &SnapshotTool) -> bool {
    let is_true = |hint: &str| tool.annotations.as_ref().and_then(|hints| hints[hint].as_bool()) == Some(true);
    is_true("destructiveHint") && !is_true("readOnlyHint")
}

fn argument(field: &McpField) -> Argument {
    let McpField { ident, name, ty, description, docs, is_required } = field.clone();
    Argument {
        rename: Some(LitStr::new(&name, ident.span())),
        ident,
        ty,
        is_borrowed: false,
        default: None,
        example: None,
        skips_none: !is_required,
        is_flat: false,
        description: (!description.is_empty()).then(|| quote!(#description)),
        docs,
        schemars: Vec::new(),
    }
}

/// Returns the description of a schema.
pub(super) fn description(schema: &Value) -> &str {
    schema.get("description").and_then(Value::as_str).unwrap_or_default()
}
