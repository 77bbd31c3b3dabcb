//! Every file of the corpus: the macro and the run time hold themselves to the same faults in tests of their own.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use llm_do_worker_file::{
    ATTACHMENTS, Entry, KEYS, KeyDef, Keys, LIMITS, MAX_SIZE, Place, SETTINGS, Value, WEB_SEARCH, read,
};

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(folder);
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|end| end == "worker")).collect();
    paths.sort();
    paths
}

fn faults(text: &str) -> String {
    read(text).faults.iter().map(|fault| fault.in_file("") + "\n").collect()
}

#[test]
fn accepted_files_have_no_faults() {
    let files = files("accepted");
    assert!(files.len() >= 6, "{files:?}");
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(faults(&text), "", "{}", path.display());
        assert_eq!(read(&text).file.missing(), [], "{}", path.display());
    }
}

/// `UPDATE_EXPECT=1` rewrites the `.faults` beside each file.
#[test]
fn every_fault_of_rejected_files_is_reported_at_its_line() {
    let files = files("rejected");
    assert!(files.len() >= 28, "{files:?}");
    for path in files {
        let faults = faults(&fs::read_to_string(&path).unwrap());
        assert!(!faults.is_empty(), "{}", path.display());
        expect_file![path.with_extension("faults")].assert_eq(&faults);
    }
}

fn every_key() -> Keys {
    let path = files("accepted").into_iter().find(|path| path.ends_with("every_key.worker")).unwrap();
    read(&fs::read_to_string(path).unwrap()).file.keys
}

fn value<'a>(entries: &'a [Entry], name: &str) -> &'a Value {
    &entries.iter().find(|entry| entry.name == name).unwrap().value
}

#[test]
fn values_are_exact() {
    let keys = every_key();
    let Value::Settings(settings) = value(&keys.entries, "settings") else { panic!("{keys:?}") };
    assert_eq!(value(settings, "seed"), &Value::Count(u64::MAX));
    let Value::Json(body) = value(settings, "extra_body") else { panic!("{settings:?}") };
    let expected = "{\"top_k\":40,\"large\":18446744073709551615,\"small\":-9223372036854775808,\"tiny\":1.5e-300,\
                    \"nested\":{\"list\":[true,null,\"a\\\"b\"]}}";
    assert_eq!(body.to_json(), expected);
    let Value::Limits(limits) = value(&keys.entries, "limits") else { panic!("{keys:?}") };
    assert_eq!(value(limits, "cost"), &Value::Amount(500_000_000_000));
    assert_eq!(keys.place_of("max_turns"), Some(Place { line: 37, column: 1 }));
}

/// So the tests of the macro and of the run time with this file leave out no key.
#[test]
fn a_file_of_the_corpus_has_every_key_of_the_tables() {
    let names = |entries: &[Entry]| entries.iter().map(|entry| entry.name).collect::<Vec<_>>();
    let known = |table: &[KeyDef]| table.iter().map(|def| def.name).collect::<Vec<_>>();
    let keys = every_key();
    // Not with `model`, only at run time, and only in a project.
    let others = ["compatible_models", "hybrid", "guarantee", "shadow", "refine", "skills", "context", "mcp_servers"];
    let expected: Vec<_> = known(KEYS).into_iter().filter(|name| !others.contains(name)).collect();
    assert_eq!(names(&keys.entries), expected);
    let Value::Settings(settings) = value(&keys.entries, "settings") else { panic!("{keys:?}") };
    assert_eq!(names(settings), known(SETTINGS));
    let Value::Limits(limits) = value(&keys.entries, "limits") else { panic!("{keys:?}") };
    assert_eq!(names(limits), known(LIMITS));
    let Value::Attachments(attachments) = value(&keys.entries, "attachments") else { panic!("{keys:?}") };
    assert_eq!(names(attachments), known(ATTACHMENTS));
    let Value::ServerSideTools(tools) = value(&keys.entries, "server_side_tools") else { panic!("{keys:?}") };
    let search = tools.iter().find(|tool| !tool.value.settings.is_empty()).unwrap();
    assert_eq!(names(&search.value.settings), known(WEB_SEARCH)[1..], "`tool_type` is the kind");
}

#[test]
fn a_file_without_a_name_or_instructions_is_complete_for_an_attribute_only() {
    let reading = read("\n---\nmodel: test:a\n---\n \n");
    assert_eq!(reading.faults, []);
    let missing: Vec<_> = reading.file.missing().iter().map(|fault| fault.in_file("a")).collect();
    let expected = [
        "a:2: missing `name`: add one, such as `name: reviewer`",
        "a:2: missing instructions: write them below the front matter, or add a `description`",
    ];
    assert_eq!(missing, expected);
    // Without front matter, that is the only fault.
    assert_eq!(read("Do it.").file.missing(), []);
}

#[test]
fn files_that_exceed_a_limit_are_refused() {
    let large = format!("---\nname: a\n---\n{}", "x".repeat(MAX_SIZE));
    let deep = format!("---\nhints: {}\n---\n", "[".repeat(200));
    // The parser has a limit of its own.
    let very_deep = format!("---\nhints: {}\n---\n", "[".repeat(10_000));
    for (text, expected) in [
        (large, ":1: the file is too large: the limit is 1048576 bytes"),
        (deep, ":2: lists and maps are nested deeper than 100 levels"),
        (very_deep, ":2: invalid YAML: "),
    ] {
        assert!(faults(&text).starts_with(expected), "{}", faults(&text));
    }
}
