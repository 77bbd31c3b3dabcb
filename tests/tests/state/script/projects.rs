//! Scripts in projects.

use std::fs;
use std::path::Path;

use llm_do::project::{Project, WithProject};
use llm_do::{Effect, Value, json};
use tempfile::TempDir;

use crate::script::{builder, effect_of};

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path: &Path = &folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

const TOTAL: &str = "def total(items: list[str]) -> int:\n    \"\"\"\n    ---\n    toolsets: [price]\n    ---\n    Add prices.\n    \"\"\"\n    \
                     return sum([price(item) for item in items])\n";
const CLEAN: &str =
    "def clean(ids: list[int]) -> None:\n    \"\"\"Erase notes.\"\"\"\n    for id in ids:\n        erase(id)\n";

#[tokio::test]
async fn files_below_tools_are_tools() {
    let folder = folder(&[
        ("tools/total.py", TOTAL),
        ("tools/_helper.py", "not python"),
        ("setup.py", "not python"),
        ("main.worker", "---\nname: main\ntoolsets: [total]\n---\nAdd.\n"),
    ]);
    let project = Project::open(folder.path()).unwrap();
    assert_eq!(project.warnings(), [""; 0]);
    let runtime = builder().0.project(project).build().unwrap();
    assert_eq!(runtime.run_named("total", json!({ "items": ["pen", "paper"] })).await.unwrap(), 8);
}

#[tokio::test]
async fn a_tool_file_names_a_script_and_its_tools() {
    let tool = "type: script\nname: tidy\nscript: clean.py\ntoolsets: [erase]\ndescription: Tidy up.\napproval: pre_approved\n";
    let folder = folder(&[("tools/tidy.tool", tool), ("tools/clean.py", CLEAN)]);
    let project = Project::open(folder.path()).unwrap();
    assert_eq!(project.approvals().len(), 1, "{:?}", project.approvals());
    assert!(project.approvals()[0].ends_with("tidy.tool:6: every call of the script `tidy`"));
    let runtime = builder().0.project(project.without_approvals()).build().unwrap();
    let item = runtime.registry().get("tidy").unwrap();
    assert_eq!(item.description(), "Tidy up.");
    assert_eq!(effect_of(&runtime, "tidy"), Effect::Destructive);
    assert!(runtime.registry().get("clean").is_none());
    let error = runtime.run_named("tidy", json!({ "ids": [1] })).await.unwrap_err();
    assert!(error.is_denied(), "{error:?}");
}

#[test]
fn faults_have_the_file_the_line_and_the_column() {
    let folder = folder(&[("tools/total.py", "def total(items) -> int:\n    \"\"\"Add.\"\"\"\n    return 1\n")]);
    let error = Project::open(folder.path()).unwrap_err();
    assert!(error.faults()[0].contains("tools/total.py:1:11: the parameter `items` has no type"), "{error}");
}

#[test]
fn building_checks_all_scripts() {
    let folder = folder(&[("tools/clean.py", CLEAN), ("workers/total.py", &TOTAL.replace("price(item)", "price(1)"))]);
    let error = builder().0.project(Project::open(folder.path()).unwrap()).build().unwrap_err().to_string();
    assert!(error.contains("tools/clean.py:4:9: Name `erase` used when not defined"), "{error}");
    assert!(error.contains("workers/total.py:8:23:"), "{error}");
}

#[tokio::test]
async fn a_script_without_arguments_can_be_the_entry() {
    let folder = folder(&[
        ("tools/hello.py", "def hello() -> str:\n    \"\"\"Greet.\"\"\"\n    return 'hello'\n"),
        ("main.worker", "---\nname: main\n---\nGreet.\n"),
    ]);
    let runtime = builder().0.project(Project::open(folder.path()).unwrap()).build().unwrap();
    assert_eq!(runtime.run_named("hello", Value::Null).await.unwrap(), "hello");
}

const HELLO: &str = "def main(name: str = 'you') -> str:\n    \"\"\"Greet.\"\"\"\n    return f'hello, {name}'\n";
const WORKER: &str = "---\nname: greeter\n---\nGreet.\n";

#[tokio::test]
async fn the_script_main_is_the_entry_before_the_only_worker() {
    let folder = folder(&[("tools/main.py", HELLO), ("workers/greeter.worker", WORKER)]);
    let project = Project::open(folder.path()).unwrap();
    assert_eq!(project.entry(), Some("main"));
    let runtime = builder().0.project(project).build().unwrap();
    assert_eq!(runtime.run_named("main", json!({ "name": "Ann" })).await.unwrap(), "hello, Ann");
}

#[test]
fn a_script_and_a_worker_that_are_both_the_entry_are_a_fault_unless_one_is_named() {
    let files = [("tools/main.py", HELLO), ("main.worker", WORKER)];
    let error = Project::open(folder(&files).path()).unwrap_err();
    assert_eq!(error.faults().len(), 1, "{error}");
    let expected = "tools/main.py:1: this script and the worker `greeter` of the file `main` are both the entry";
    assert!(error.faults()[0].contains(expected), "{error}");
    for (entry, name) in [(r#"{ "agent": "greeter" }"#, "greeter"), (r#"{ "function": "main" }"#, "main")] {
        let manifest = format!(r#"{{ "version": 1, "entry": {entry} }}"#);
        let folder = folder(&[files[0], files[1], ("project.json", &manifest)]);
        assert_eq!(Project::open(folder.path()).unwrap().entry(), Some(name));
    }
}

#[tokio::test]
async fn a_manifest_names_a_script_by_its_name_or_its_file() {
    let total = TOTAL.replace("def total", "def sum_up");
    for function in ["sum_up", "src/sum_up.py:sum_up"] {
        let manifest = format!(
            r#"{{ "version": 1, "entry": {{ "function": "{function}", "args": {{ "items": ["pen"] }} }}, "python_files": ["src/sum_up.py"] }}"#
        );
        let folder = folder(&[("src/sum_up.py", &total), ("project.json", &manifest)]);
        let project = Project::open(folder.path()).unwrap();
        assert_eq!((project.entry(), project.arguments()), (Some("sum_up"), Some(&json!({ "items": ["pen"] }))));
        assert!(project.demands().iter().any(|demand| demand.contains("sum_up.py")), "{:?}", project.demands());
        let runtime = builder().0.project(project).build().unwrap();
        assert_eq!(runtime.run_named("sum_up", json!({ "items": ["pen", "paper"] })).await.unwrap(), 8);
    }
    let manifest =
        r#"{ "version": 1, "entry": { "function": "src/sum_up.py:run" }, "python_files": ["src/sum_up.py"] }"#;
    let error = Project::open(folder(&[("src/sum_up.py", &total), ("project.json", manifest)]).path()).unwrap_err();
    assert!(error.faults()[0].contains("unknown function `src/sum_up.py:run`; of a Python file, list it"), "{error}");
}

#[test]
fn faulty_python_files_are_reported_with_their_lines_and_what_to_write_instead() {
    let manifest = r#"{
  "version": 1, "entry": { "agent": "greeter" },
  "python_files": ["tools.py", "good.py", "tools/main.py", "missing.py"]
}"#;
    let tools = "import os\n\ndef read(path: str) -> str:\n    \"\"\"Read.\"\"\"\n    return open(path).read()\n";
    let good = "def good() -> int:\n    \"\"\"Return 1.\"\"\"\n    return 1\n";
    let files = [("tools.py", tools), ("good.py", good), ("tools/main.py", HELLO), ("main.worker", WORKER)];
    let folder = folder(&[&files[..], &[("project.json", manifest)]].concat());
    let error = Project::open(folder.path()).unwrap_err();
    let faults = error.faults().join("\n");
    assert!(faults.contains("tools.py:1:1: no function `tools`") && faults.contains("write `def tools("), "{error}");
    assert!(faults.contains("project.json:3: `python_files`: no file `missing.py`"), "{error}");
    assert!(!faults.contains("good.py") && !faults.contains("main.py"), "a script is loaded once: {error}");
}
