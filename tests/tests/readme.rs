//! The README says what is true.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

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
fn its_first_program_is_the_greeter() {
    let (readme, greeter) = (read("README.md"), read("examples/greeter/src/main.rs"));
    let [program] = blocks(&readme, "What you write", "rust").try_into().unwrap();
    assert_eq!(program, greeter.split_once("\n\n").unwrap().1);
}

#[test]
fn each_of_its_commands_is_one_line_that_names_a_file_of_the_repository() {
    let readme = read("README.md");
    for heading in ["Try it", "Test"] {
        let [command] = blocks(&readme, heading, "sh").try_into().unwrap();
        assert_eq!(command.lines().count(), 1, "{command}");
        assert!(root().join(command.split_whitespace().nth(1).unwrap()).is_file(), "{command}");
    }
}
