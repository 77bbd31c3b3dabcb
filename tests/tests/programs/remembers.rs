//! A chat with an entry that has two threads, kept in a file by two processes.

use std::path::Path;
use std::process::Command;

fn answers(file: &Path, text: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_remembers")).arg(file).arg(text).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_second_process_goes_on_with_both_threads_of_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chat.json");
    assert_eq!(answers(&file, "one"), "\"language: one\"\n\"facts: one\"\n2 requests\n");
    let again = "\"language: one\"\n\"language: two\"\n\"facts: one\"\n\"facts: two\"\n4 requests\n";
    assert_eq!(answers(&file, "two"), again);
}
