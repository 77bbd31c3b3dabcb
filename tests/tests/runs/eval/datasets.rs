//! Datasets: their format, their faults, and where they come from.

use llm_do::eval::{Arguments, Dataset, EvaluatorSpec};
use llm_do::harden::Cases;
use llm_do::journal::MemoryJournal;
use llm_do::json;

use super::capital;

#[test]
fn all_forms_of_evaluators_are_read() {
    let dataset: Dataset = "
name: forms
cases:
- inputs: {a: 1}
  metadata: {difficulty: easy}
  expected_output: null
  evaluators: [EqualsExpected, {Contains: x}, {Contains: {value: x, as_strings: true}}]
evaluators:
- name: Equals
  arguments: [{a: 1}]
- name: EqualsExpected
  arguments: null
"
    .parse()
    .unwrap();
    let case = &dataset.cases[0];
    assert_eq!((case.name.clone(), case.expected_output.clone()), (None, None));
    let named = json!({ "value": "x", "as_strings": true }).as_object().unwrap().clone();
    let expected = [
        EvaluatorSpec::new("EqualsExpected"),
        EvaluatorSpec::new("Contains").with("x"),
        EvaluatorSpec::new("Contains").with_named(named),
    ];
    assert_eq!(case.evaluators, expected);
    assert_eq!(dataset.evaluators[0].arguments, Arguments::One(json!({ "a": 1 })));
    assert_eq!(dataset.evaluators[1].arguments, Arguments::None);
    assert_eq!(dataset.to_yaml().parse::<Dataset>().unwrap(), dataset);
}

#[test]
fn every_fault_of_a_file_is_reported_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("faulty.yaml");
    let text = "cases:
- input: 1
- inputs: 1
  name: one
- inputs: 2
  name: one
  evaluators:
  - Contains
  - Contains: {valeu: 1}
  - Matches: '('
  - IsInstance: Widget
  - LLMJudge: {rubric: good, votes: 2}
  - HasMatchingSpan: {}
  - {Equals: 1, EqualsExpected: 2}
report_evaluators: [ConfusionMatrix]
colour: red
";
    std::fs::write(&path, text).unwrap();
    let error = Dataset::read(&path).unwrap_err();
    let lines: Vec<_> = error.faults().iter().map(|fault| fault.lines().next().unwrap()).collect();
    let has = |line: usize, part: &str| {
        let place = format!("faulty.yaml:{line}: ");
        assert!(lines.iter().any(|fault| fault.contains(&place) && fault.contains(part)), "{line} {part}: {lines:#?}");
    };
    has(2, "missing `inputs`");
    has(2, "unknown key `input` in a case; did you mean `inputs`?");
    has(6, "two cases are named `one`");
    has(8, "missing field `value`");
    has(9, "unknown field `valeu`");
    has(10, "`pattern`");
    has(11, "unknown type `Widget`");
    has(12, "expected an odd number from 1 to 25, found 2");
    has(13, "not supported; use `ToolCorrectness`");
    has(14, "one evaluator in each item");
    has(15, "`report_evaluators` are not supported");
    has(16, "unknown key `colour`");
    assert_eq!(lines.len(), 12, "{lines:#?}");
}

#[test]
fn a_file_without_a_name_has_the_name_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.json");
    std::fs::write(&path, "{\"cases\": [{\"inputs\": \"x\"}]}").unwrap();
    assert_eq!(Dataset::read(&path).unwrap().name.as_deref(), Some("small"));
}

#[test]
fn texts_that_look_like_other_values_survive_yaml() {
    let texts = [
        "yes",
        "no",
        "1.0",
        "null",
        "~",
        "",
        " x",
        "a: b",
        "# c",
        "0x1f",
        "12:30:45",
        "é\u{85}\u{2028}\u{1f600}",
        "'",
        "\"\\",
    ];
    let cases = texts.iter().map(|text| llm_do::eval::Case::new(*text).named(*text));
    let dataset = cases.filter(|case| case.name.as_deref() != Some("") && case.name.as_deref() != Some(" x"));
    let dataset = dataset.fold(Dataset::new("texts"), Dataset::case);
    assert_eq!(dataset.to_yaml().parse::<Dataset>().unwrap(), dataset, "{}", dataset.to_yaml());
}

#[tokio::test]
async fn recorded_calls_are_imported_as_cases_without_those_that_failed() {
    let journal = MemoryJournal::new();
    let runtime = super::model_of("fair").journal(journal.clone()).build().unwrap();
    for country in ["France", "Peru", "France"] {
        runtime.run(capital { country: country.into() }).await.unwrap();
    }
    let mut cases = Cases::of("capital");
    cases.add(journal.records());
    let (dataset, left_out) = Dataset::from_recorded(&cases);
    assert_eq!(left_out, 0);
    let found: Vec<_> = dataset.cases.iter().map(|case| (case.inputs.clone(), case.expected_output.clone())).collect();
    let expected = [
        (json!({ "country": "France" }), Some(json!("Paris"))),
        (json!({ "country": "Peru" }), Some(json!("nowhere"))),
    ];
    assert_eq!(found, expected);
    assert_eq!(dataset.evaluators, [EvaluatorSpec::new("EqualsExpected")]);
}

#[test]
fn the_schema_accepts_what_is_read_and_refuses_faults() {
    let parameters =
        json!({ "type": "object", "properties": { "country": { "type": "string" } }, "required": ["country"] });
    let schema = Dataset::json_schema(Some(&parameters), Some(&json!({ "type": "string" })), ["polite"]);
    let validator = jsonschema::validator_for(&schema).unwrap();
    let dataset = |case: llm_do::Value, evaluators: llm_do::Value| json!({ "cases": [case], "evaluators": evaluators });
    let case = json!({ "inputs": { "country": "France" }, "expected_output": "Paris" });
    let good = json!(["EqualsExpected", { "Contains": "x" }, { "Contains": { "value": "x", "as_strings": true } }, "polite",
                      { "LLMJudge": "good" }, { "LLMJudge": { "rubric": "good", "votes": 3, "score": { "include_reason": true } } },
                      { "MaxDuration": 1.5 }, { "polite": { "any": 1 } }]);
    assert!(
        validator.is_valid(&dataset(case.clone(), good.clone())),
        "{:?}",
        validator.iter_errors(&dataset(case.clone(), good)).collect::<Vec<_>>()
    );
    for bad in [
        json!(["Contains"]),
        json!([{ "Contains": { "valeu": 1 } }]),
        json!(["Unknown"]),
        json!([{ "MaxDuration": "x" }]),
    ] {
        assert!(!validator.is_valid(&dataset(case.clone(), bad.clone())), "{bad}");
    }
    assert!(!validator.is_valid(&dataset(json!({ "inputs": { "country": 1 } }), json!([]))));
    assert!(!validator.is_valid(&dataset(json!({ "inputs": { "country": "x" }, "expected_output": 1 }), json!([]))));
}
