"""Sources of many tools: with `#[tool]`, and what a careful user of serde and schemars writes by hand."""

import pathlib
import re

WORKSPACE = pathlib.Path(__file__).resolve().parent.parent
# Occurs once in the body of every function; a touch changes it.
LITERAL = "700000"

# Parameters: name, type, default or None, and the argument in a call.
PARAMETERS = [
    ("text", "String", None, "String::new()"),
    ("limit", "Option<u32>", None, "None"),
    ("tags", "Vec<String>", None, "Vec::new()"),
    ("width", "u32", "80", "80"),
    ("ratio", "f64", None, "0.5"),
    ("is_exact", "bool", "false", "true"),
]
# Return types, with the expression that converts the text `made` to each.
RETURNS = [("String", "made"), ("Vec<String>", "vec![made]"), ("Result<String, std::fmt::Error>", "Ok(made)")]

DESCRIPTION = "Does the work of number {number}, as far as possible."
PARAMETER_DOC = "/// The `{name}` of number {number}.\n"


def parameters_of(number):
    return [PARAMETERS[(number + offset) % len(PARAMETERS)] for offset in range(3)]


def body(number):
    shown = " ".join(f"{{{name}:?}}" for name, *_ in parameters_of(number))
    return f'{{\n    let made = format!("{shown} {LITERAL}");\n    {RETURNS[number % len(RETURNS)][1]}\n}}\n'


def tool(number):
    parameters = ""
    for name, ty, default, _ in parameters_of(number):
        doc = PARAMETER_DOC.format(number=number, name=name)
        parameters += f"    {doc}" + (f"    #[arg(default = {default})]\n" if default else "") + f"    {name}: {ty},\n"
    return (
        f"/// {DESCRIPTION.format(number=number)}\n#[tool(effect = read_only)]\n"
        f"fn work_{number}(\n{parameters}) -> {RETURNS[number % len(RETURNS)][0]} {body(number)}\n"
    )


def by_hand(number):
    parameters = parameters_of(number)
    fields = defaults = ""
    for name, ty, default, _ in parameters:
        doc = PARAMETER_DOC.format(number=number, name=name)
        fields += f"    {doc}"
        if default:
            fields += f'    #[serde(default = "{name}_of_work_{number}")]\n'
            defaults += f"fn {name}_of_work_{number}() -> {ty} {{\n    {default}\n}}\n\n"
        fields += f"    {name}: {ty},\n"
    signature = ", ".join(f"{name}: {ty}" for name, ty, *_ in parameters)
    arguments = ", ".join(f"arguments.{name}" for name, *_ in parameters)
    output, _ = RETURNS[number % len(RETURNS)]
    mark = "?" if output.startswith("Result") else ""
    return (
        "#[derive(Serialize, Deserialize, JsonSchema)]\n#[serde(deny_unknown_fields)]\n"
        f"struct Work{number} {{\n{fields}}}\n\n{defaults}"
        f"/// {DESCRIPTION.format(number=number)}\n"
        f"fn work_{number}({signature}) -> {output} {body(number)}\n"
        f"fn call_work_{number}(arguments: Value) -> Result<Value, Error> {{\n"
        f"    let arguments = Work{number}::deserialize(arguments)?;\n"
        f"    Ok(serde_json::to_value(work_{number}({arguments}){mark})?)\n}}\n\n"
    )


def source_of_tools(count):
    return "use llm_do::prelude::*;\n\n" + "".join(tool(number) for number in range(count))


def source_by_hand(count):
    """The table is public, so that the compiler does not report its contents as unused."""
    head = (
        "use schemars::{JsonSchema, Schema, schema_for};\nuse serde::{Deserialize, Serialize};\nuse serde_json::Value;\n\n"
        "pub type Error = Box<dyn std::error::Error + Send + Sync>;\n\n"
        "pub struct Tool {\n    pub name: &'static str,\n    pub description: &'static str,\n"
        "    pub schema: fn() -> Schema,\n    pub call: fn(Value) -> Result<Value, Error>,\n}\n\n"
    )
    rows = "".join(
        f'    Tool {{ name: "work_{number}", description: "{DESCRIPTION.format(number=number)}", '
        f"schema: || schema_for!(Work{number}), call: call_work_{number} }},\n"
        for number in range(count)
    )
    items = "".join(by_hand(number) for number in range(count))
    return f"{head}{items}pub static TOOLS: &[Tool] = &[\n{rows}];\n"


def dependencies(name):
    """Returns the dependencies of a crate: the versions and features of this workspace, from one build."""
    if name.endswith("by_hand"):
        inherited = re.findall(r"^(?:serde|serde_json|schemars) = .*$", (WORKSPACE / "Cargo.toml").read_text(), re.M)
        return "\n".join(inherited)
    return f'llm-do = {{ path = "{WORKSPACE / "llm-do"}" }}'
