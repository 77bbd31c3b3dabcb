//! The files are moved, each once it is approved.

use llm_do_example::Example;

const PROGRAM: &str = env!("CARGO_BIN_EXE_file_organizer");

#[test]
fn files_are_named_by_their_content_and_none_is_replaced() {
    let example = Example::copy(env!("CARGO_MANIFEST_DIR"));
    let invoice = example.read("inbox/scan0001.txt");
    let report = example.run_readme(PROGRAM, &[]);
    assert!(
        report.contains("inbox/untitled (2).txt -> sorted/recipes/grandma-s-plum-cake-ingredients-1-kg-of.txt"),
        "{report}"
    );
    assert_eq!(example.list("sorted"), ["invoices", "letters", "minutes", "recipes"]);
    assert_eq!(example.list("sorted/minutes"), ["minutes-of-the-garden-club-present-ann-bob.md"]);
    let [name] = &*example.list("sorted/invoices") else { panic!("{report}") };
    assert_eq!(example.read(&format!("sorted/invoices/{name}")), invoice);
    assert!(report.contains("inbox/scan0001.txt stays: "), "{report}");
    assert_eq!(example.list("inbox"), ["scan0001.txt"]);
}

#[test]
fn a_file_stays_if_its_move_is_denied() {
    let example = Example::copy(env!("CARGO_MANIFEST_DIR"));
    let names = example.list("inbox");
    let report = example.run(PROGRAM, &["run", "--model", "demo:clerk", "--reject-all"]);
    assert_eq!(report.lines().filter(|line| line.contains(" stays: ")).count(), 5, "{report}");
    assert_eq!(example.list("inbox"), names);
}
