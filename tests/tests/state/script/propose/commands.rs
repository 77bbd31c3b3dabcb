//! `harden --propose` on the command line.

use std::path::Path;
use std::process::{Command, Output};

use llm_do::{Value, json};

const RIGHT: &str = r#"def length_script(word: str) -> str:
    """Return the length of a word."""
    return "long" if "longest" in word else "short"
"#;

/// Runs the application in a folder.
fn app(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hardened"));
    command.current_dir(folder).env("PROPOSED", folder.join("proposed.py")).env("LLM_DO_CONFIG", "");
    command.args(arguments).output().unwrap()
}

/// A folder with a journal of 40 answers, and what the model writes.
fn folder(script: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let words: Vec<String> =
        (0..40).map(|number| format!("{}{number}", if number % 3 == 0 { "longest" } else { "word" })).collect();
    let arguments = json!({ "words": words }).to_string();
    let output = app(folder.path(), &["run", "rate", "--input-json", &arguments, "--journal", "run.jsonl"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::write(folder.path().join("proposed.py"), script).unwrap();
    folder
}

const PROPOSE: [&str; 7] = ["harden", "length", "--propose", "--journal", "run.jsonl", "--agreement", "0.5"];

#[test]
fn a_good_script_is_written_with_its_report() {
    let folder = folder(RIGHT);
    let output = app(folder.path(), &[&PROPOSE[..], &["--rust"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(read("length_script.py"), RIGHT);
    assert_eq!(read("length_script.propose.md").trim_end(), String::from_utf8_lossy(&output.stdout).trim_end());
    let report: Value = serde_json::from_str(&read("length_script.propose.json")).unwrap();
    assert_eq!(report["end"], "agrees");
    assert_eq!(report["chosen"]["held_back"]["agree"], report["parts"]["held_back"]);

    assert!(read("length_script.rs").contains("pub async fn length_code(ctx: &CallContext, word: String)"));

    let again = app(folder.path(), &PROPOSE);
    assert_eq!(again.status.code(), Some(2), "the script of the user is kept");
    assert!(String::from_utf8_lossy(&again.stderr).contains("length_script.py exists"));
}

#[test]
fn a_script_that_the_gate_refuses_is_not_written() {
    let folder = folder(RIGHT);
    let output = app(folder.path(), &PROPOSE[..5]);
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("no script for `length` was good enough: too few cases: "), "{error}");
    assert!(error.contains("needs at least 59 answers"), "{error}");
    assert!(!folder.path().join("length_script.py").exists());
    let report: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.path().join("length_script.propose.json")).unwrap())
            .unwrap();
    assert_eq!((&report["refused"], &report["chosen"]["judgment"]["needed"]), (&json!(RIGHT), &json!(59)));
    assert_eq!(report["chosen"]["judgment"]["gate"], json!({ "agreement": 0.95, "confidence": 0.95, "coverage": 0.3 }));
}

#[test]
fn labels_come_from_a_dataset() {
    let folder = folder(RIGHT);
    let cases = (0..240).map(|number| {
        let (word, answer) = if number % 3 == 0 { ("longest", "long") } else { ("word", "short") };
        format!("- inputs: {{word: {word}{number}}}\n  expected_output: {answer}\n")
    });
    let cases = cases.collect::<Vec<_>>().concat();
    std::fs::write(folder.path().join("truth.yaml"), format!("cases:\n{cases}")).unwrap();
    let output = app(folder.path(), &["harden", "length", "--propose", "--dataset", "truth.yaml"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(folder.path().join("length_script.py").exists());
}

#[test]
fn few_rules_that_suffice_become_a_script() {
    let folder = folder(RIGHT);
    let nouns = ["river", "road", "bridge", "train", "river bank", "wall", "pipe", "rope", "cable", "beam"];
    let ends = ["of all", "in town", "we know", "over there", "at home", "by far", "in sight", "with us"];
    let mut cases = Vec::new();
    for (noun, end) in nouns.iter().flat_map(|noun| ends.map(|end| (noun, end))) {
        for (first, answer) in [("longest", "long"), ("plain", "short"), ("small", "short")] {
            cases.push(format!("- inputs: {{word: the {first} {noun} {end}}}\n  expected_output: {answer}\n"));
        }
    }
    std::fs::write(folder.path().join("truth.yaml"), format!("cases:\n{}", cases.concat())).unwrap();
    let output = app(folder.path(), &["harden", "length", "--learn", "--dataset", "truth.yaml"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(report.contains("Few rules are nearly as good"), "{report}");
    let script = std::fs::read_to_string(folder.path().join("length_script.py")).unwrap();
    assert!(script.contains("def length_script(word: str) -> str:"), "{script}");
    assert!(script.contains("    if \"longest\" in word_lower:\n        return \"long\"\n"), "{script}");
}

const SORT: &str = r#"def sort_word_script(word: str) -> str:
    """
    ---
    toolsets: [kind_of, shelve]
    ---
    Put a short word on the shelf, and leave other words.
    """
    kind = kind_of(word=word)
    if kind == "short":
        shelve(word=word, shelf="front")
        return "shelved"
    if kind == "long":
        return "left"
    raise Unsure("unknown kind")
"#;

const PATHS: [&str; 8] =
    ["harden", "sort_word", "--propose", "--paths", "--journal", "sorted.jsonl", "--agreement", "0.5"];

#[test]
fn a_script_for_whole_runs_is_written_with_the_score_of_each_path() {
    let folder = folder(SORT);
    let words: Vec<String> =
        (0..60).map(|number| format!("{}{number}", if number % 3 == 0 { "longest" } else { "item" })).collect();
    let arguments = json!({ "words": words }).to_string();
    let run = ["run", "sort_words", "--input-json", &arguments, "--journal", "sorted.jsonl", "--approve-all"];
    let output = app(folder.path(), &run);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = app(folder.path(), &PATHS);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(read("sort_word_script.py"), SORT);
    let report: Value = serde_json::from_str(&read("sort_word_script.propose.json")).unwrap();
    let paths = report["chosen"]["paths"].as_array().unwrap();
    assert_eq!(
        paths.iter().map(|path| &path["calls"]).collect::<Vec<_>>(),
        [&json!(["kind_of", "shelve"]), &json!(["kind_of"])]
    );
    assert_eq!(paths[0]["runs"], 40);
}

#[test]
fn paths_need_a_worker_with_recorded_runs() {
    let folder = folder(RIGHT);
    let run = |arguments: &[&str]| {
        let output = app(folder.path(), arguments);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, error) = run(&["harden", "length", "--paths", "--tool", "length", "--journal", "run.jsonl"]);
    assert!(code == Some(2) && error.contains("--propose"), "{error}");
    let (code, error) = run(&["harden", "rate", "--propose", "--paths", "--journal", "run.jsonl"]);
    assert!(code == Some(2) && error.contains("`rate` is an entry in Rust"), "{error}");
    let (code, error) = run(&["harden", "sort_word", "--propose", "--paths", "--journal", "run.jsonl"]);
    assert!(code == Some(1) && error.contains("no finished call of `sort_word` that its model answered"), "{error}");
}

#[test]
fn a_failed_proposal_writes_only_its_report_and_exits_with_1() {
    let folder = folder(&RIGHT.replace("\"long\" if", "\"other\" if True or"));
    let output = app(folder.path(), &[&PROPOSE[..], &["--attempts", "2", "--rust", "--out", "proposals"]].concat());
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("no script for `length` was good enough"), "{error}");
    let mut names: Vec<_> =
        std::fs::read_dir(folder.path().join("proposals")).unwrap().map(|file| file.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["length_script.propose.json", "length_script.propose.md"]);
}

#[test]
fn a_proposal_takes_no_tool_and_no_approvals() {
    let folder = folder(RIGHT);
    for more in [["--tool", "length"].as_slice(), &["--approve-all"]] {
        let output = app(folder.path(), &[&PROPOSE[..], more].concat());
        assert_eq!(output.status.code(), Some(2), "{more:?}");
    }
    assert!(!folder.path().join("length_script.py").exists());
}

#[cfg(unix)]
#[test]
fn a_proposal_is_written_through_no_link_and_into_no_pipe() {
    let (folder, outside) = (folder(RIGHT), tempfile::tempdir().unwrap());
    let precious = outside.path().join("precious");
    std::fs::write(&precious, "mine").unwrap();
    let missing = outside.path().join("missing");
    for name in ["length_script.propose.json", "length_script.propose.md", "length_script.py", "length_script.rs"] {
        let path = folder.path().join(name);
        for target in [Some(&precious), Some(&missing), None] {
            match target {
                Some(target) => std::os::unix::fs::symlink(target, &path).unwrap(),
                None => assert!(Command::new("mkfifo").arg(&path).status().unwrap().success()),
            }
            let output = app(folder.path(), &[&PROPOSE[..], &["--rust"]].concat());
            let error = String::from_utf8_lossy(&output.stderr);
            assert!(matches!(output.status.code(), Some(1 | 2)) && error.contains(name), "{name}: {error}");
            std::fs::remove_file(&path).unwrap();
        }
    }
    assert_eq!(std::fs::read_to_string(precious).unwrap(), "mine");
    assert!(!missing.exists());
}
