//! The corpus of worker files at run time: the same files are accepted as by the macro, with the same meaning, and invalid
//! files are rejected with the same faults. `llm-do-macros` runs the corpus through the macro.

use std::fs;
use std::path::{Path, PathBuf};

use llm_do::json;
use llm_do::model::{Profile, ServerSideTool};
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{RecordedRequest, ScriptedModel};
use llm_do::worker::WorkerSpec;

use crate::look;

/// Review code.
#[tool(effect = read_only, name = "code-reviewer")]
fn code_reviewer() -> u32 {
    9
}

/// Type.
#[tool(effect = read_only, name = "type")]
fn type_text() -> u32 {
    10
}

#[worker(file = "../../../llm-do-macros/worker-file/corpus/accepted/every_key.worker")]
async fn every_key(input: String) -> u8;

/// Wait.
#[worker(file = "../../../llm-do-macros/worker-file/corpus/accepted/durations_and_amounts.worker")]
async fn durations_and_amounts(input: String) -> String;

/// Call nothing.
#[worker(file = "../../../llm-do-macros/worker-file/corpus/accepted/empty_lists.worker")]
async fn empty_lists(input: String) -> String;

/// Call tools.
#[worker(file = "../../../llm-do-macros/worker-file/corpus/accepted/names_of_tools.worker")]
async fn names_of_tools(input: String) -> String;

/// Rest.
#[worker(file = "../../../llm-do-macros/worker-file/corpus/accepted/byte_order_mark.worker")]
async fn byte_order_mark(input: String) -> String;

#[worker(file = "../../../llm-do-macros/worker-file/corpus/accepted/description_only.worker")]
async fn description_only(input: String) -> String;

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../llm-do-macros/worker-file/corpus").join(folder);
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|end| end == "worker")).collect();
    paths.sort();
    paths
}

#[test]
fn rejected_files_have_the_faults_of_the_corpus() {
    let files = files("rejected");
    assert!(files.len() >= 28, "{files:?}");
    for path in files {
        let error = WorkerSpec::from_worker_file(&path).unwrap_err();
        let faults: String = error.faults().iter().map(|fault| fault.clone() + "\n").collect();
        let expected = fs::read_to_string(path.with_extension("faults")).unwrap();
        assert_eq!(faults.replace(&path.display().to_string(), ""), expected, "{}", path.display());
    }
}

#[test]
fn accepted_files_are_equal_after_writing_and_reading() {
    for path in files("accepted") {
        let written = WorkerSpec::from_worker_file(&path).unwrap().to_worker_file();
        let again: WorkerSpec = written.parse().unwrap_or_else(|error| panic!("{error}\n{written}"));
        assert_eq!(again.to_worker_file(), written);
    }
}

const TOOLS: [ServerSideTool; 5] = [
    ServerSideTool::WEB_SEARCH,
    ServerSideTool::WebFetch,
    ServerSideTool::CodeExecution,
    ServerSideTool::ImageGeneration,
    ServerSideTool::ProgrammaticToolCalling,
];

/// Returns the first request of a worker; the scripted answer does not matter.
async fn request(spec: Option<WorkerSpec>, name: &str) -> RecordedRequest {
    let model = ScriptedModel::new().text("x").repeat_last().profile(Profile::BASIC.with_server_side_tools(&TOOLS));
    let builder = Runtime::builder().force_model(model.clone());
    let runtime = spec.into_iter().fold(builder, RuntimeBuilder::worker).build().unwrap();
    let _ = runtime.run_named(name, json!({ "input": "q" })).await;
    model.requests().remove(0)
}

/// Returns the offered tools, sorted: the macro lists those given by path before those given by name.
fn sorted(request: &RecordedRequest) -> Vec<&str> {
    let mut names = request.tool_names();
    names.sort_unstable();
    names
}

#[tokio::test]
async fn a_file_has_the_same_meaning_for_the_macro_and_at_run_time() {
    let files = files("accepted");
    assert_eq!(files.len(), 6, "each has a worker above");
    for path in files {
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let name = stem.replace('_', "-");
        let text = fs::read_to_string(&path).unwrap();
        let name = if text.contains(&format!("name: {name}")) { name } else { stem.to_owned() };
        // A second name, since the first one is that of the linked worker.
        let renamed = text.replacen(&format!("name: {name}"), "name: read_at_run_time", 1);
        let compiled = request(None, &name).await;
        let read = request(Some(renamed.parse().unwrap()), "read_at_run_time").await;
        assert_eq!(compiled.settings, read.settings, "{name}");
        assert_eq!(sorted(&compiled), sorted(&read), "{name}");
        assert_eq!(compiled.server_side_tools, read.server_side_tools, "{name}");
        assert_eq!(compiled.instructions, read.instructions, "{name}");
    }
}

#[tokio::test]
async fn every_setting_of_a_compiled_file_reaches_the_model() {
    let settings = json!(request(None, "every-key").await.settings);
    let unset: Vec<_> = settings.as_object().unwrap().iter().filter(|(_, value)| value.is_null()).collect();
    assert_eq!(unset, []);
    assert_eq!(settings["seed"].as_u64(), Some(u64::MAX));
    assert_eq!(settings["presence_penalty"], json!(-0.5));
    assert_eq!(settings["extra_body"]["large"].as_u64(), Some(u64::MAX));
    assert_eq!(settings["extra_body"]["small"].as_i64(), Some(i64::MIN));
    assert_eq!(settings["extra_body"]["nested"], json!({ "list": [true, null, "a\"b"] }));
}
