//! Every fault of every format is reported with its file, line and field.

use std::path::Path;
use std::sync::LazyLock;

use expect_test::expect_file;
use llm_do::project::{Project, WithProject};

use super::{builder, folder};

/// A line that begins a file of a case, and one that begins its faults.
pub(super) const FILE: &str = "=== ";
const FAULTS: &str = "--- faults";

static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| parse(include_str!("faults.txt"), FAULTS));

#[derive(Default)]
pub(super) struct Case {
    pub(super) files: Vec<(String, String)>,
}

/// Reads cases: files, and the faults below them after the line `marker`.
pub(super) fn parse(text: &str, marker: &str) -> Vec<Case> {
    let mut cases = vec![Case::default()];
    let mut is_fault = false;
    for line in text.split_inclusive('\n') {
        if let Some(path) = line.strip_prefix(FILE) {
            if is_fault {
                cases.push(Case::default());
            }
            is_fault = false;
            cases.last_mut().unwrap().files.push((path.trim_end().to_owned(), String::new()));
        } else if line.trim_end() == marker {
            is_fault = true;
        } else if !is_fault {
            cases.last_mut().unwrap().files.last_mut().unwrap().1.push_str(line);
        }
    }
    cases
}

/// Returns the faults of a project, without the path of its folder.
fn faults(case: &Case) -> String {
    let files: Vec<_> = case.files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let folder = folder(&files);
    let error = match Project::open(folder.path()) {
        Err(error) => error.to_string(),
        Ok(project) => builder().project(project).build().unwrap_err().to_string(),
    };
    let lines =
        error.lines().skip(1).map(|line| line.trim_start().replace(&format!("{}/", folder.path().display()), ""));
    lines.map(|line| line.replace(&folder.path().display().to_string(), ".") + "\n").collect()
}

/// `UPDATE_EXPECT=1` rewrites the faults: read the diff.
#[test]
fn every_fault_of_a_faulty_project_is_reported_with_its_file_and_line() {
    assert!(CASES.len() >= 60, "{} cases", CASES.len());
    let mut text = String::new();
    for case in CASES.iter() {
        for (path, content) in &case.files {
            text.extend([FILE, path, "\n", content]);
        }
        let faults = faults(case);
        assert!(!faults.is_empty(), "{:?}", case.files);
        text.extend([FAULTS, "\n", &faults, "\n"]);
    }
    expect_file![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/project/faults.txt")]
        .assert_eq(text.trim_end());
}

#[test]
fn every_fault_begins_with_a_file_of_the_case_and_a_line() {
    for case in CASES.iter() {
        for fault in faults(case).lines().filter(|line| !line.starts_with("keys: ") && !line.starts_with("see ")) {
            let place = case.files.iter().find_map(|(path, _)| fault.split_once(&format!("{path}:")));
            let line = place.and_then(|(_, rest)| rest.split(|letter: char| !letter.is_ascii_digit()).next());
            let has_line = line.is_some_and(|line| line.parse::<u32>().is_ok());
            // Two files with one name: both are named.
            let has_files = case.files.iter().all(|(path, _)| fault.contains(path));
            assert!(has_line || has_files || fault.starts_with("expected "), "{fault}");
        }
    }
}
