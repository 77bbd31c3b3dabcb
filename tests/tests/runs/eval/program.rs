//! The command `eval`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

fn app(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_evaluated"));
    command.args(arguments).env("LLM_DO_CONFIG", "").env_remove("LLM_DO_MODEL").stdin(Stdio::null()).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn dataset(folder: &Path) -> String {
    let text = "
name: capitals
cases:
- {name: france, inputs: {country: France}, expected_output: Paris}
- {name: italy, inputs: {country: Italy}, expected_output: Rome}
- {name: spain, inputs: Spain, expected_output: Madrid, evaluators: [short]}
evaluators: [EqualsExpected]
";
    let path = folder.join("capitals.yaml");
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

fn path(folder: &Path, name: &str) -> (PathBuf, String) {
    let path = folder.join(name);
    let text = path.display().to_string();
    (path, text)
}

#[test]
fn models_and_tools_are_compared_in_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = dataset(folder.path());
    let models = ["--model", "scripted:good", "--model", "scripted:poor"];
    let output = app(&[&["eval", &dataset, "--tool", "capital"][..], &models].concat());
    let text = stdout(&output);
    assert!(output.status.success(), "{output:?}");
    assert!(
        text.contains("capitals: 3 cases") && text.contains("scripted:good") && text.contains("scripted:poor"),
        "{text}"
    );
    assert!(text.contains("scripted:poor · italy: EqualsExpected"), "{text}");
    let both = ["--tool", "capital_by_table", "--output", "json"];
    let output = app(&[&["eval", &dataset, "--tool", "capital"][..], &both, &models].concat());
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let names: Vec<_> = report["variants"].as_array().unwrap().iter().map(|variant| &variant["name"]).collect();
    let expected = [
        "capital on scripted:good",
        "capital_by_table on scripted:good",
        "capital on scripted:poor",
        "capital_by_table on scripted:poor",
    ];
    assert_eq!(names, expected);
    assert_eq!(report["variants"][1]["failed"], 1);
}

#[test]
fn several_models_replace_the_one_that_a_worker_declares() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = dataset(folder.path());
    let run = |models: &[&str]| {
        let options = ["eval", &dataset, "--tool", "capital_by_own_model", "--output", "json"];
        let output = app(&[&options[..], models].concat());
        let report: Value = serde_json::from_str(&stdout(&output)).unwrap_or_else(|_| panic!("{output:?}"));
        let outputs = report["runs"].as_array().unwrap().iter().map(|run| run["output"].as_str().unwrap().to_owned());
        outputs.collect::<Vec<_>>()
    };
    assert_eq!(run(&[]), ["Paris"; 3]);
    let models = ["--model", "scripted:good", "--model", "scripted:poor", "--model", "scripted:none"];
    let expected = ["Paris", "Rome", "Madrid", "Paris", "Paris", "Paris", "nowhere", "nowhere", "nowhere"];
    assert_eq!(run(&models), expected);
}

#[test]
fn a_threshold_that_is_not_reached_is_exit_code_1() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = dataset(folder.path());
    let run = |options: &[&str]| {
        app(&[&["eval", &dataset, "--tool", "capital", "--model", "scripted:poor"][..], options].concat())
    };
    assert_eq!(run(&["--fail-under", "0.3"]).status.code(), Some(0));
    let output = run(&["--fail-under", "0.5", "--fail-under", "short=1", "--fail-under", "EqualsExpected=0.4"]);
    assert_eq!(output.status.code(), Some(1));
    let error = stderr(&output);
    assert!(error.contains("`scripted:poor`: `passes` is 0.333, below 0.5"), "{error}");
    assert!(error.contains("`EqualsExpected` is 0.333, below 0.4") && !error.contains("`short`"), "{error}");
    assert_eq!(run(&["--fail-under", "x"]).status.code(), Some(2));
}

#[test]
fn a_report_that_is_worse_than_the_latest_is_exit_code_1() {
    let folder = tempfile::tempdir().unwrap();
    let (dataset, (_, results)) = (dataset(folder.path()), path(folder.path(), "evals"));
    let run = |tool: &str, model: &str, options: &[&str]| {
        let common = ["eval", &dataset, "--tool", tool, "--results", &results, "--fail-if-worse", "--model", model];
        app(&[&common[..], options].concat())
    };
    let first = run("capital", "scripted:good", &[]);
    assert!(first.status.success() && stderr(&first).contains("there is no earlier report"), "{first:?}");
    assert!(run("capital", "scripted:good", &[]).status.success());
    // The variant has the name of its model, so another model has nothing to be compared with.
    assert!(run("capital", "scripted:poor", &[]).status.success());
    let kept = std::fs::read_dir(folder.path().join("evals")).unwrap().count();
    assert_eq!(kept, 3);
    let changed = std::fs::read_to_string(&dataset).unwrap().replace("expected_output: Paris", "expected_output: Lyon");
    std::fs::write(&dataset, changed).unwrap();
    let worse = run("capital", "scripted:poor", &[]);
    assert_eq!(worse.status.code(), Some(1));
    assert!(stderr(&worse).contains("worse: `scripted:poor`: `passes` -0.333 in 3 cases"), "{worse:?}");
    assert!(run("capital", "scripted:poor", &["--tolerance", "0.4"]).status.success());
}

#[test]
fn files_for_people_and_for_inspect_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = dataset(folder.path());
    let ((page, html), (logs, inspect)) = (path(folder.path(), "report.html"), path(folder.path(), "logs"));
    let options = ["--model", "scripted:good", "--model", "scripted:poor", "--html", &html, "--inspect", &inspect];
    assert!(app(&[&["eval", &dataset, "--tool", "capital"][..], &options].concat()).status.success());
    assert!(std::fs::read_to_string(page).unwrap().starts_with("<!doctype html>"));
    assert_eq!(std::fs::read_dir(logs).unwrap().count(), 2);
}

#[cfg(unix)]
#[test]
fn reports_and_journals_are_written_through_no_link_and_into_no_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = dataset(folder.path());
    let ((precious, target), (link, shown)) = (path(folder.path(), "precious"), path(folder.path(), "link"));
    std::fs::write(&precious, "mine").unwrap();
    for is_pipe in [false, true] {
        if is_pipe {
            assert!(Command::new("mkfifo").arg(&link).status().unwrap().success());
        } else {
            std::os::unix::fs::symlink(&target, &link).unwrap();
        }
        for option in ["--html", "--journal"] {
            let output = app(&["eval", &dataset, "--tool", "capital_by_table", option, &shown]);
            let reason = if is_pipe { "not a file: a pipe" } else { "it is a link to " };
            assert!(!output.status.success() && stderr(&output).contains(reason), "{option}: {output:?}");
        }
        std::fs::remove_file(&link).unwrap();
    }
    assert_eq!(std::fs::read_to_string(precious).unwrap(), "mine");
}

#[test]
fn a_journal_keeps_finished_runs() {
    let folder = tempfile::tempdir().unwrap();
    let (dataset, (file, journal)) = (dataset(folder.path()), path(folder.path(), "runs.jsonl"));
    let run = || app(&["eval", &dataset, "--tool", "capital_by_table", "--journal", &journal, "--output", "json"]);
    let first = stdout(&run());
    assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), 4);
    assert_eq!(stdout(&run()), first, "times too, since they are recorded");
}

#[test]
fn a_judge_has_a_model_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(dataset(folder.path()))
        .unwrap()
        .replace("[EqualsExpected]", "[{LLMJudge: it is elsewhere}]");
    let (file, dataset) = path(folder.path(), "judged.yaml");
    std::fs::write(file, text).unwrap();
    let models = ["--model", "scripted:good", "--judge-model", "scripted:judge", "--output", "json"];
    let output = app(&[&["eval", &dataset, "--tool", "capital"][..], &models].concat());
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let passes: Vec<_> =
        report["runs"].as_array().unwrap().iter().map(|run| run["findings"][0]["value"].clone()).collect();
    assert_eq!(passes[..2], [json!(false), json!(true)]);
}

#[test]
fn a_tool_that_may_change_something_needs_approval() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = dataset(folder.path());
    let output = app(&["eval", &dataset, "--tool", "capital_with_note"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("give --approve-all to allow that"), "{output:?}");
    assert!(app(&["eval", &dataset, "--tool", "capital_with_note", "--approve-all"]).status.success());
}

#[test]
fn faults_of_a_dataset_are_reported_with_their_lines() {
    let folder = tempfile::tempdir().unwrap();
    let (file, dataset) = path(folder.path(), "faulty.yaml");
    std::fs::write(file, "cases:\n- inputs: {}\n  evaluators: [Unknown]\n").unwrap();
    let output = app(&["eval", &dataset, "--tool", "capital_by_table"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("faulty.yaml:3: `Unknown`: unknown evaluator"), "{output:?}");
}

#[test]
fn a_journal_is_imported_as_a_dataset_that_can_be_evaluated() {
    let folder = tempfile::tempdir().unwrap();
    let ((_, journal), (file, dataset)) = (path(folder.path(), "run.jsonl"), path(folder.path(), "imported.yaml"));
    let recorded = ["--input-json", "{\"country\":\"Italy\"}", "--model", "scripted:good", "--journal", &journal];
    assert!(app(&[&["call", "capital"][..], &recorded].concat()).status.success());
    let output = app(&["eval", "import", "capital", "--journal", &journal]);
    std::fs::write(&file, &output.stdout).unwrap();
    let text = stdout(&output);
    assert!(text.contains("expected_output: Rome") && text.contains("- EqualsExpected"), "{text}");
    assert!(app(&["eval", &dataset, "--tool", "capital_by_table", "--fail-under", "1"]).status.success());
    let unknown = app(&["eval", "import", "capitals", "--journal", &journal]);
    assert!(stderr(&unknown).contains("did you mean `capital`?"), "{unknown:?}");
}

#[test]
fn the_schema_has_the_arguments_of_a_tool_and_the_evaluators_of_the_program() {
    let schema: Value = serde_json::from_str(&stdout(&app(&["eval", "schema", "--tool", "capital_by_table"]))).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    assert!(validator.is_valid(&json!({ "cases": [{ "inputs": { "country": "Peru" } }], "evaluators": ["short"] })));
    assert!(!validator.is_valid(&json!({ "cases": [{ "inputs": { "land": "Peru" } }] })));
}
