//! Statements of the documents that can be checked are true.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

/// Returns the code blocks of a language in the section of that heading.
fn blocks<'a>(text: &'a str, heading: &str, language: &str) -> Vec<&'a str> {
    let section = text.split("\n## ").find(|section| section.starts_with(heading)).unwrap();
    let fence = format!("```{language}\n");
    section.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

#[test]
fn the_first_program_of_the_readme_is_the_greeter() {
    let (readme, greeter) = (read("README.md"), read("examples/greeter/src/main.rs"));
    let [program] = blocks(&readme, "What you write", "rust").try_into().unwrap();
    assert_eq!(program, greeter.split_once("\n\n").unwrap().1);
}

#[test]
fn each_command_of_the_readme_is_one_line_that_names_a_file() {
    let readme = read("README.md");
    for heading in ["Try it", "Test"] {
        let [command] = blocks(&readme, heading, "sh").try_into().unwrap();
        assert_eq!(command.lines().count(), 1, "{command}");
        assert!(root().join(command.split_whitespace().nth(1).unwrap()).is_file(), "{command}");
    }
}

#[test]
fn the_list_of_examples_has_each_example_with_a_command_of_its_page() {
    let list = read("examples/README.md");
    let (list, _) = list.split_once("\n## ").unwrap();
    let rows: Vec<_> = list.lines().filter(|line| line.starts_with("| [`")).collect();
    let mut listed: Vec<_> = rows.iter().map(|row| row.split('`').nth(1).unwrap()).collect();
    listed.sort_unstable();
    let entries = std::fs::read_dir(root().join("examples")).unwrap().map(Result::unwrap);
    let folders = entries.filter(|entry| entry.path().is_dir());
    let mut folders: Vec<_> = folders.map(|entry| entry.file_name().into_string().unwrap()).collect();
    folders.sort_unstable();
    assert_eq!(listed, folders);
    for row in rows {
        let name = row.split('`').nth(1).unwrap();
        for command in row.split('`').skip(1).step_by(2).filter(|code| code.contains("cargo run")) {
            assert!(
                read(&format!("examples/{name}/README.md")).contains(command),
                "not in the page of `{name}`: {command}"
            );
        }
    }
}

/// Returns whether `proof` is a test that exists: `file::test`, also beside a source file, or a case of the UI tests.
fn names_a_test(proof: &str) -> bool {
    let Some((file, test)) = proof.split_once("::") else {
        return root().join("ui-tests/ui").join(proof).is_file();
    };
    let path = match file.strip_prefix("openai/") {
        Some(file) => format!("llm-do-providers/tests/models/openai/{file}.rs"),
        None if file.contains("/src/") || file.contains("/tests/") => format!("{file}.rs"),
        None => format!("tests/tests/{file}.rs"),
    };
    let source = std::fs::read_to_string(root().join(path)).unwrap_or_default();
    source.contains(&format!("fn {test}("))
}

#[test]
fn each_row_of_the_comparison_with_other_macros_names_a_test() {
    let page = read("llm-do/docs/tool.md");
    let (_, section) = page.split_once("\n# Compared with other tool macros\n").unwrap();
    let lines: Vec<_> = section.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| | ")).collect();
    assert!(lines.len() > 30, "{lines:?}");
    for line in lines {
        let proofs = line.trim_end_matches(" |").rsplit("| ").next().unwrap();
        let named: Vec<_> = proofs.split('`').skip(1).step_by(2).collect();
        assert!(!named.is_empty(), "{line}");
        for proof in named {
            assert!(names_a_test(proof), "no {proof}: {line}");
        }
    }
}

#[test]
fn each_row_of_the_conformance_table_names_a_test() {
    let page = read("tests/README.md");
    let (_, page) = page.split_once("\n## Conformance\n").unwrap();
    let lines: Vec<_> = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| #")).collect();
    let numbers: Vec<u32> = lines.iter().map(|line| line.split(' ').nth(1).unwrap().parse().unwrap()).collect();
    let listed = 1..=97;
    assert_eq!(numbers, listed.collect::<Vec<_>>());
    for line in lines {
        let proofs = line.trim_end_matches(" |").rsplit("| ").next().unwrap();
        assert!(proofs.contains('`'), "{line}");
        for proof in proofs.split('`').skip(1).step_by(2).filter(|proof| !proof.starts_with(".ci/")) {
            assert!(names_a_test(proof), "no {proof}: {line}");
        }
    }
}

/// Returns the sources of all tests, beside a source file too.
fn sources_of_tests() -> String {
    let mut folders: Vec<_> =
        ["llm-do", "llm-do-macros", "llm-do-providers", "tests/tests"].map(|folder| root().join(folder)).into();
    let mut sources = String::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                sources += &std::fs::read_to_string(path).unwrap();
            }
        }
    }
    sources
}

#[test]
fn each_promise_and_each_parser_of_the_security_page_names_tests_that_exist() {
    let (page, sources) = (read("llm-do/docs/security.md"), sources_of_tests());
    let (_, section) = page.split_once("\n# What holds, and how it is shown\n").unwrap();
    let (section, _) = section.split_once("\n# Secrets\n").unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| ") && !line.ends_with("| test |"));
    let mut count = 0;
    for row in rows.filter(|row| !row.ends_with("| trusted | |")) {
        count += 1;
        let proofs = row.trim_end_matches(" |").rsplit("| ").next().unwrap();
        let named: Vec<_> = proofs.split('`').skip(1).step_by(2).collect();
        assert!(!named.is_empty(), "{row}");
        for proof in named {
            // A file or a folder of tests, or one test.
            let exists = if proof.contains('/') {
                root().join(proof).exists()
            } else {
                sources.contains(&format!("fn {proof}("))
            };
            assert!(exists, "no {proof}: {row}");
        }
    }
    assert!(count > 60, "{count} rows");
}

#[test]
fn its_documentation_command_builds_no_tensor_library() {
    let readme = read("README.md");
    let command = blocks(&readme, "What you write", "sh").into_iter().find(|block| block.starts_with("cargo doc"));
    let command = command.unwrap();
    let (_, features) = command.split_once("--features ").unwrap();
    let features: Vec<_> = features.trim().split(',').collect();
    assert!(features.contains(&"cli") && !features.iter().any(|feature| feature.starts_with("local")), "{features:?}");
}
