//! Reads a script: the signature, the docstring and the front matter of its function.

use std::sync::Mutex;

use llm_do_worker_file::{Content, Located, Place, Reader, check_worker_name, did_you_mean, read_yaml, unknown_key};
use monty::MontyRun;
use monty_types::{CompileOptions, MontyException};
use ruff_python_ast::{Stmt, StmtFunctionDef};
use serde_json::Map;

use super::annotation::{Scope, TYPES};
use super::docstring::Misplaced;
use super::fault::Faults;
use super::literal::value_of;
use super::parse::parse;
use super::types::{Classes, Field, Type, object_schema, schema_of};
use super::{Script, classes, docstring, literals, outside, program};
use crate::declare::tool::Effect;

const DOCUMENTATION: &str = "see the documentation of `llm_do::script`";
const KEYS: [&str; 2] = ["toolsets", "effect"];
const EFFECTS: [(&str, Effect); 4] = [
    ("read_only", Effect::ReadOnly),
    ("idempotent", Effect::Idempotent),
    ("destructive", Effect::Destructive),
    ("undeclared", Effect::Undeclared),
];

/// Reads the function `function` of a script; needs a large stack.
///
/// `file` is the name of the script in faults, each of which has its line and column.
pub(super) fn read(file: &str, function: &str, text: &str) -> Result<Script, Vec<String>> {
    let mut faults = Faults::new(text);
    let Some(parsed) = parse(text, "the script", &mut faults) else { return Err(faults.in_file(file)) };
    let body = &parsed.syntax().body;
    let Some(definition) = find(function, body, &mut faults) else { return Err(faults.in_file(file)) };
    let scope = classes::scope(text, body);
    let classes = classes::read(&scope, body, &mut faults);
    let dicts = classes::dict_classes(body);
    outside::find(body, &mut faults);
    let docstring = docstring::of_body(&definition.body);
    check_docstring(definition, &docstring, &mut faults);
    let parameters = parameters(definition, &scope, &docstring, &classes, &mut faults);
    let output = output(definition, &scope, &mut faults);
    check_front_matter(body, definition, &mut faults);
    let first_line = docstring::yaml_line(text, &definition.body);
    let settings = settings(docstring.front_matter.as_deref(), first_line, &mut faults);
    let runnable = program::runnable(text, body, &dicts);
    let runnable = program::with_unsure(runnable, body);
    let runnable = program::with_call(runnable, function, definition.is_async, &parameters, &classes);
    let compiled = compile(file, runnable, &mut faults);
    let Some((compiled, output)) = compiled.zip(output).filter(|_| faults.is_empty()) else {
        return Err(faults.in_file(file));
    };
    let defaults: Map<_, _> =
        parameters.iter().filter_map(|field| Some((field.name.clone(), field.default.clone()?))).collect();
    Ok(Script {
        name: function.to_owned(),
        file: file.to_owned(),
        text: text.to_owned(),
        description: docstring.description,
        parameters: object_schema(&parameters, &classes),
        output: schema_of(&output, &classes),
        defaults,
        is_async: definition.is_async,
        toolsets: settings.toolsets,
        effect: settings.effect,
        dict_classes: dicts.into_iter().map(|class| class.name).collect(),
        literals: literals::of_body(body),
        compiled: Mutex::new(compiled),
    })
}

/// Finds the function of the tool.
fn find<'a>(function: &str, body: &'a [Stmt], faults: &mut Faults<'_>) -> Option<&'a StmtFunctionDef> {
    if let Err(message) = check_worker_name(function).and_then(|()| check_identifier(function)) {
        faults.add(Place::line(1), format!("the name of the tool: {message}"));
        return None;
    }
    let functions: Vec<_> = body
        .iter()
        .filter_map(|statement| match statement {
            Stmt::FunctionDef(definition) => Some(definition),
            _ => None,
        })
        .collect();
    let found = functions.iter().find(|definition| definition.name.as_str() == function).copied();
    if found.is_none() {
        let hint = did_you_mean(function, functions.iter().map(|definition| definition.name.as_str()));
        let message = format!(
            "no function `{function}`{hint}; the tool is the function with the name of the file: write `def {function}(..) -> ..:`"
        );
        faults.add(Place::line(1), message);
    }
    found
}

fn check_identifier(name: &str) -> Result<(), String> {
    if name.contains('-') || name.starts_with(|first: char| first.is_ascii_digit()) {
        return Err(format!(
            "`{name}` cannot be the name of a function in Python; rename the file, with `_` in place of `-`"
        ));
    }
    Ok(())
}

fn check_docstring(definition: &StmtFunctionDef, docstring: &docstring::Docstring, faults: &mut Faults<'_>) {
    if docstring.description.is_empty() {
        let message = format!("`{}` needs a docstring: it is the description that models read", definition.name);
        faults.at(&definition.name, message);
    }
    if let Some(decorator) = definition.decorator_list.first() {
        faults.at(decorator, "the function of a tool has no decorators; remove this one");
    }
    let known: Vec<_> = definition.parameters.iter().map(|parameter| parameter.name().as_str()).collect();
    for name in docstring.parameters.keys().filter(|name| !known.contains(&name.as_str())) {
        let hint = did_you_mean(name, known.iter().copied());
        faults.at(&definition.name, format!("the docstring describes `{name}`, which is not a parameter{hint}"));
    }
}

/// Reports front matter that is not read, since its settings would have no effect.
fn check_front_matter(body: &[Stmt], definition: &StmtFunctionDef, faults: &mut Faults<'_>) {
    let name = &definition.name;
    if let Some(literal) = docstring::literal(&definition.body) {
        let message = match docstring::misplaced(&definition.body, &KEYS) {
            Some(Misplaced::Open) => Some("the front matter has no end: write a line `---` below it"),
            Some(Misplaced::Below) => Some("the front matter stands first in the docstring: move it to its beginning"),
            None => None,
        };
        if let Some(message) = message {
            faults.at(literal, message);
        }
    }
    let nested = body.iter().filter_map(|statement| match statement {
        Stmt::FunctionDef(function) if function.name != *name => Some(&function.body[..]),
        Stmt::ClassDef(class) => Some(&class.body[..]),
        _ => None,
    });
    for other in nested.chain([body]) {
        let is_read_elsewhere = docstring::has_front_matter(other) || docstring::misplaced(other, &KEYS).is_some();
        if let Some(literal) = docstring::literal(other).filter(|_| is_read_elsewhere) {
            faults.at(literal, format!("front matter has no effect here: move it to the docstring of `{name}`"));
        }
    }
}

fn parameters(
    definition: &StmtFunctionDef,
    scope: &Scope<'_>,
    docstring: &docstring::Docstring,
    classes: &Classes,
    faults: &mut Faults<'_>,
) -> Vec<Field> {
    let all = &definition.parameters;
    for parameter in [all.vararg.as_deref(), all.kwarg.as_deref()].into_iter().flatten() {
        let message =
            format!("`{}`: a tool has a fixed list of parameters; write each with its name and type", parameter.name);
        faults.at(parameter, message);
    }
    for parameter in &all.posonlyargs {
        let message = format!("`{}`: arguments of a tool have names; remove the `/`", parameter.parameter.name);
        faults.at(parameter, message);
    }
    let mut fields = Vec::new();
    for parameter in all.args.iter().chain(&all.kwonlyargs) {
        let name = parameter.parameter.name.as_str();
        let what = format!("the parameter `{name}`");
        let Some(annotation) = &parameter.parameter.annotation else {
            faults.at(parameter, format!("{what} has no type; write `{name}: str`, or another of {TYPES}"));
            continue;
        };
        let Some(ty) = scope.read(annotation, &what, faults) else { continue };
        if program::is_ambiguous(&ty, classes) {
            faults.at(
                &**annotation,
                format!("{what}: the members of this union have the same form in JSON; write one class"),
            );
        }
        let default = parameter.default.as_deref().and_then(|default| {
            let value = value_of(default);
            if value.is_none() {
                let message = format!("{what}: a default must be a literal, such as `0`, `\"\"` or `None`");
                faults.at(default, message);
            }
            value
        });
        fields.push(Field {
            name: name.to_owned(),
            ty,
            is_required: parameter.default.is_none(),
            default,
            description: docstring.parameters.get(name).cloned(),
        });
    }
    fields
}

fn output(definition: &StmtFunctionDef, scope: &Scope<'_>, faults: &mut Faults<'_>) -> Option<Type> {
    if let Some(annotation) = &definition.returns {
        return scope.read(annotation, "the result", faults);
    }
    let message = format!("`{}` has no type for its result; write `-> str:`, or another of {TYPES}", definition.name);
    faults.at(&definition.name, message);
    None
}

/// The settings in the front matter.
#[derive(Default)]
struct FrontMatter {
    toolsets: Vec<(String, usize)>,
    effect: Option<Effect>,
}

fn settings(yaml: Option<&str>, first_line: usize, faults: &mut Faults<'_>) -> FrontMatter {
    let (mut settings, mut found) = (FrontMatter::default(), Vec::new());
    let Some(yaml) = yaml else { return settings };
    let root = read_yaml(yaml, 1, &mut found);
    match root.map(|root| (root.place, root.content)) {
        Some((_, Content::Map(entries))) => {
            for (key, node) in entries {
                let mut reader = Reader { key: &key.name, faults: &mut found };
                match key.name.as_str() {
                    "toolsets" => {
                        let names = reader.strings(node).map(|names| names.value).unwrap_or_default();
                        settings
                            .toolsets
                            .extend(names.into_iter().map(|name| (name.value, first_line + name.place.line - 1)));
                    }
                    "effect" => settings.effect = reader.string(node).and_then(|word| effect(&word, &mut reader)),
                    _ => found.push(unknown_key(&key, "", &KEYS, DOCUMENTATION)),
                }
            }
        }
        None | Some((_, Content::Null | Content::Invalid)) => {}
        Some((place, other)) => {
            let message = format!("expected lines `key: value`, found {}", other.kind());
            found.push(llm_do_worker_file::Fault::new(place, message));
        }
    }
    for fault in found {
        faults.of_front_matter(first_line, fault);
    }
    settings
}

/// Returns the effect that a word of front matter or of a tool file names.
#[doc(hidden)]
pub fn effect(word: &Located<String>, reader: &mut Reader<'_>) -> Option<Effect> {
    if let Some((_, effect)) = EFFECTS.iter().find(|(name, _)| *name == word.value) {
        return Some(*effect);
    }
    let names: Vec<_> = EFFECTS.iter().map(|(name, _)| format!("`{name}`")).collect();
    reader.invalid(word.place, format!("expected one of {}, found `{}`", names.join(", "), word.value))
}

/// Compiles the program; the interpreter supports a part of Python only.
fn compile(file: &str, program: String, faults: &mut Faults<'_>) -> Option<MontyRun> {
    let inputs = vec![program::ARGUMENTS.to_owned()];
    match MontyRun::new(program, file, inputs, CompileOptions::default()) {
        Ok(compiled) => Some(compiled),
        Err(exception) => {
            let (place, message) = unsupported(&exception);
            faults.add(place, message);
            None
        }
    }
}

/// Replacements for unsupported features: a part of the interpreter's message, and the advice.
const INSTEAD: [(&str, &str); 12] = [
    ("'del'", "write `x = None`, or `d.pop(key)`"),
    ("pattern matching", "write `if` and `elif`"),
    ("yield", "collect the values in a list, and return it"),
    (
        "class inheritance",
        "write functions, or a dataclass without a base; raise a built-in exception such as `ValueError`",
    ),
    ("base class", "write functions, or a dataclass without a base; raise a built-in exception such as `ValueError`"),
    ("async for", "write `for`, with `await` inside"),
    ("async context", "write the calls before and after the block yourself"),
    ("type aliases", "write `Name = ..` without `type`"),
    ("exception groups", "write `except` without `*`"),
    ("Wildcard", "name what is imported"),
    ("decorator", "call the function that the decorator would call"),
    ("slice assignment", "build a new list: `xs[:a] + new + xs[b:]`"),
];

/// Returns the place and the message for a feature that the interpreter does not support.
pub(super) fn unsupported(exception: &MontyException) -> (Place, String) {
    let frame = exception.traceback().last();
    let place = frame
        .map_or(Place::line(1), |frame| Place { line: frame.start.line as usize, column: frame.start.column as usize });
    let message = exception.message().unwrap_or_default();
    let what = message.replace("The monty syntax parser does not yet support ", "scripts do not support ");
    let advice = INSTEAD.iter().find(|(part, _)| message.contains(part)).map(|(_, advice)| format!("; {advice}"));
    (place, what + &advice.unwrap_or_default())
}
