//! Translates public schemas, `modern_schema` included, to the four dialects: `JSONSchemaBench` and
//! `JSON-Schema-Test-Suite`.
//!
//! `.ci/public-schemas` runs it with the data in the folder `LLM_DO_SCHEMAS`, and prints the figures.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a test may fail by a panic, and prints its figures")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jsonschema::{Draft as JudgedDraft, Validator};
use serde_json::{Value, json};

use super::ToolForm;
use super::tests::DIALECTS;
use crate::schema::samples::opened;
use crate::schema::{Draft, modern_schema};

/// The longest time that a schema may take in one dialect.
const LONGEST: Duration = Duration::from_secs(10);
/// How many findings of one kind are printed.
const SHOWN: usize = 10;

/// Reasons why a different verdict, or no verdict, is correct.
const WHOLE_NUMBERS: &str = "draft 4 does not take 1.0 as an integer, draft 2020-12 does";
const METASCHEMAS: &str = "not compiled as converted: it refers to a metaschema, which is not a part of it";
const WIDTHS: &str = "the grammar has the numbers of the width that the format names, such as `int32`";

/// Counts by name, and the first findings.
#[derive(Default)]
struct Table(BTreeMap<String, (usize, Vec<String>)>);

impl Table {
    fn count(&mut self, name: impl Into<String>) {
        self.0.entry(name.into()).or_default().0 += 1;
    }

    fn find(&mut self, name: impl Into<String>, finding: String) {
        let (count, findings) = self.0.entry(name.into()).or_default();
        *count += 1;
        if findings.len() < SHOWN {
            findings.push(finding);
        }
    }

    fn print(&self) {
        for (name, (count, findings)) in &self.0 {
            println!("{count:7}  {name}");
            for finding in findings {
                println!("           {finding}");
            }
        }
    }

    /// Returns the number of findings that start with `name`.
    fn found(&self, name: &str) -> usize {
        self.0.iter().filter(|(known, _)| known.starts_with(name)).map(|(_, (count, _))| count).sum()
    }
}

fn folder(name: &str) -> PathBuf {
    Path::new(&std::env::var_os("LLM_DO_SCHEMAS").expect("the folder of the data")).join(name)
}

fn json_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(json_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "json") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Returns a validator by the draft that a schema names; `None` if it is invalid or refers to other documents.
fn judge(schema: &Value) -> Option<Validator> {
    let draft = match Draft::of(schema) {
        Draft::Four => JudgedDraft::Draft4,
        Draft::Six => JudgedDraft::Draft6,
        Draft::Seven => JudgedDraft::Draft7,
        Draft::Draft201909 => JudgedDraft::Draft201909,
        Draft::Draft202012 => JudgedDraft::Draft202012,
    };
    jsonschema::options().with_draft(draft).should_validate_formats(false).build(schema).ok()
}

fn modern_judge(schema: &Value) -> Option<Validator> {
    jsonschema::draft202012::options().should_validate_formats(false).build(schema).ok()
}

/// Whether a schema refers to the meta-schema of a draft, which some validators know and servers do not.
fn refers_to_metaschema(schema: &Value) -> bool {
    let text = schema.to_string();
    ["http", "https"].iter().any(|scheme| text.contains(&format!(r#""$ref":"{scheme}://json-schema.org/draft"#)))
}

/// Returns a value with 1 in place of 1.0.
fn with_whole_numbers(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), with_whole_numbers(value))).collect(),
        Value::Array(items) => items.iter().map(with_whole_numbers).collect(),
        #[expect(clippy::cast_possible_truncation, reason = "it is within 53 bits")]
        Value::Number(number) => match number.as_f64() {
            Some(whole) if number.is_f64() && whole.fract() == 0.0 && whole.abs() < 9e15 => json!(whole as i64),
            _ => value.clone(),
        },
        other => other.clone(),
    }
}

/// Returns a schema without formats that are integer widths.
fn without_widths(schema: &Value) -> Value {
    let is_width = |key: &str, value: &Value| {
        key == "format" && value.as_str().is_some_and(|format| format.starts_with("int") || format.starts_with("uint"))
    };
    match schema {
        Value::Object(keywords) => {
            let kept = keywords.iter().filter(|(key, value)| !is_width(key, value));
            kept.map(|(key, value)| (key.clone(), without_widths(value))).collect()
        }
        Value::Array(parts) => parts.iter().map(without_widths).collect(),
        other => other.clone(),
    }
}

/// Compares the verdicts of the original and of the converted schema.
fn compare(name: &str, [own, converted]: [&Validator; 2], draft: Draft, value: &Value, table: &mut Table) {
    table.count("verdicts by the declared draft");
    let is_valid = own.is_valid(value);
    if is_valid == converted.is_valid(value) {
        return;
    }
    let is_of_numbers = draft == Draft::Four && own.is_valid(&with_whole_numbers(value)) != is_valid;
    let kind =
        if is_of_numbers { format!("right: draft: {WHOLE_NUMBERS}") } else { "bad: draft: another verdict".into() };
    table.find(kind, format!("{name}: valid is {is_valid}"));
}

/// Returns a validator for a form; `None` if the form is not a valid schema.
fn judge_of(dialect: &str, form: &ToolForm) -> Option<Validator> {
    let compared = if dialect == "llama.cpp" { opened(&form.schema) } else { Value::clone(&form.schema) };
    modern_judge(&compared)
}

/// Whether a schema contains `true` or `false` where many programs accept only an object.
fn has_boolean(schema: &Value) -> bool {
    let below = |key: &str, value: &Value| match (key, value) {
        ("properties" | "$defs" | "definitions" | "patternProperties", Value::Object(named)) => {
            named.values().any(|schema| schema.is_boolean() || has_boolean(schema))
        }
        ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(listed)) => {
            listed.iter().any(|schema| schema.is_boolean() || has_boolean(schema))
        }
        ("items" | "additionalProperties", schema) => has_boolean(schema),
        _ => false,
    };
    schema.as_object().is_some_and(|keywords| keywords.iter().any(|(key, value)| below(key, value)))
}

/// Translates the schema of a tool to each dialect.
fn convert(name: &str, schema: &Value, valid: &[&Value], table: &mut Table) {
    let shared = Arc::new(schema.clone());
    for (dialect, translate) in DIALECTS {
        let start = Instant::now();
        let form = translate(&shared);
        if start.elapsed() > LONGEST {
            table.find(format!("bad: {dialect}: too slow"), format!("{name}: {:?}", start.elapsed()));
        }
        let form = match form {
            Ok(form) => form,
            Err(why) => {
                table.find(format!("{dialect}: left out"), format!("{name}: {why}"));
                continue;
            }
        };
        table.count(if form.notes.is_empty() {
            format!("{dialect}: as it is")
        } else {
            format!("{dialect}: weaker, with words")
        });
        if form.schema["type"] != "object" || form.schema.as_object().is_none() {
            table.find(format!("bad: {dialect}: not the type of an object"), name.to_owned());
        }
        let refused = ["anyOf", "oneOf", "allOf", "enum", "not", "$ref"];
        if matches!(dialect, "Anthropic" | "OpenAI") && refused.iter().any(|key| form.schema.get(key).is_some()) {
            table.find(format!("bad: {dialect}: alternatives at the root"), name.to_owned());
        }
        if has_boolean(&form.schema) {
            table.find(format!("bad: {dialect}: a boolean in place of a schema"), name.to_owned());
        }
        let Some(judge) = judge_of(dialect, &form) else {
            table.find(format!("bad: {dialect}: not a schema"), name.to_owned());
            continue;
        };
        // Anthropic renames properties; the tests of names cover that.
        for value in valid.iter().filter(|value| !(form.renames() || judge.is_valid(value))) {
            let open = translate(&Arc::new(without_widths(schema))).ok().and_then(|form| judge_of(dialect, &form));
            table.find(
                match open {
                    Some(open) if open.is_valid(value) => format!("right: {dialect}: {WIDTHS}"),
                    _ => format!("bad: {dialect}: refuses a valid value"),
                },
                name.to_owned(),
            );
        }
    }
}

#[test]
#[ignore = "needs JSONSchemaBench in `LLM_DO_SCHEMAS`"]
fn public_schemas_of_json_schema_bench() {
    let mut table = Table::default();
    for path in json_files(&folder("JSONSchemaBench")) {
        let file = read(&path);
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let Some(schema) = file.get("schema") else { continue };
        table.count("schemas");
        if Draft::of(schema) < Draft::Draft201909 {
            table.count("schemas of draft 4, 6 or 7");
        }
        let start = Instant::now();
        let modern = modern_schema(schema);
        if start.elapsed() > LONGEST {
            table.find("bad: draft: too slow", name.clone());
        }
        let instances: Vec<_> = file["tests"].as_array().into_iter().flatten().map(|test| &test["data"]).collect();
        let verdicts = judge(schema);
        match (&verdicts, modern_judge(&modern)) {
            (None, None) => table.count("not compiled by any judge"),
            (None, Some(_)) => table.count("compiled only as converted"),
            (Some(_), None) if refers_to_metaschema(&modern) => {
                table.find(format!("right: draft: {METASCHEMAS}"), name.clone());
            }
            (Some(_), None) => table.find("bad: draft: not compiled as converted", name.clone()),
            (Some(own), Some(converted)) => {
                for instance in &instances {
                    compare(&name, [own, &converted], Draft::of(schema), instance, &mut table);
                }
            }
        }
        if schema["type"] == "object" {
            let valid =
                instances.iter().copied().filter(|value| verdicts.as_ref().is_some_and(|own| own.is_valid(value)));
            convert(&name, schema, &valid.collect::<Vec<_>>(), &mut table);
        }
    }
    table.print();
    assert_eq!(table.found("bad:"), 0);
}

#[test]
#[ignore = "needs JSON-Schema-Test-Suite in `LLM_DO_SCHEMAS`"]
fn public_schemas_of_the_test_suite() {
    let drafts = [
        ("draft4", "http://json-schema.org/draft-04/schema#"),
        ("draft6", "http://json-schema.org/draft-06/schema#"),
        ("draft7", "http://json-schema.org/draft-07/schema#"),
        ("draft2019-09", "https://json-schema.org/draft/2019-09/schema"),
        ("draft2020-12", "https://json-schema.org/draft/2020-12/schema"),
    ];
    let mut table = Table::default();
    for (draft, uri) in drafts {
        for path in json_files(&folder("JSON-Schema-Test-Suite").join("tests").join(draft)) {
            if path.iter().any(|part| ["optional", "proposals", "vocabulary.json"].iter().any(|other| part == *other)) {
                continue;
            }
            for case in read(&path).as_array().into_iter().flatten() {
                let mut schema = case["schema"].clone();
                if let Value::Object(keywords) = &mut schema {
                    keywords.entry("$schema").or_insert_with(|| json!(uri));
                }
                let name =
                    format!("{draft}/{}: {}", path.file_name().unwrap_or_default().display(), case["description"]);
                judge_case(&name, draft, &schema, case, &mut table);
            }
        }
    }
    table.print();
    assert_eq!(table.found("bad:"), 0);
}

fn judge_case(name: &str, draft: &str, schema: &Value, case: &Value, table: &mut Table) {
    let tests = || case["tests"].as_array().into_iter().flatten();
    let Some(converted) = modern_judge(&modern_schema(schema)) else {
        let is_judged = judge(schema).is_some();
        tests().for_each(|_| table.count(format!("{draft}: not compiled as converted")));
        if is_judged {
            table.find(format!("{draft}: schemas that are not compiled as converted"), name.to_owned());
        }
        return;
    };
    let is_dynamic =
        ["\"$dynamicRef\":", "\"$recursiveRef\":"].iter().any(|key| modern_schema(schema).to_string().contains(key));
    for test in tests() {
        if is_dynamic {
            table.count(format!("{draft}: with dynamic references, whose check is dropped"));
        } else if converted.is_valid(&test["data"]) == test["valid"] {
            table.count(format!("{draft}: right verdicts"));
        } else {
            table.find(format!("wrong: {draft}: verdicts"), format!("{name}: {}", test["description"]));
        }
    }
    let valid = tests()
        .filter(|test| test["valid"] == true && test["data"].is_object())
        .map(|test| json!({ "value": test["data"] }));
    let valid: Vec<_> = valid.collect();
    if !schema.to_string().contains("ef\":") {
        let tool = json!({ "$schema": schema.get("$schema"), "type": "object", "properties": { "value": schema } });
        convert(name, &tool, &valid.iter().collect::<Vec<_>>(), table);
    }
}
