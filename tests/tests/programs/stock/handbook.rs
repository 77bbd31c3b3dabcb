//! The example `handbook`: a project of files only.

use std::fs;
use std::path::Path;

use super::Place;

/// Copies the example into a place of its own, where files may be written.
fn place() -> Place {
    let place = Place::new(&[]);
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/handbook"), place.path());
    place
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn run(place: &Place, prompt: &str) -> super::Answer {
    place.run(&["run", "--model", "echo:model", prompt])
}

#[test]
fn it_has_no_faults_and_no_warnings() {
    let answer = place().run(&["check", "--model", "echo:model"]);
    assert_eq!(answer.err, "");
    assert_eq!(answer.output(), "ok (entries: 0, workers: 3, tools: 26)\n");
}

#[test]
fn the_clerk_searches_the_handbook_and_reads_the_skill() {
    let place = place();
    let found = run(&place, r#"call search_handbook {"regex":"NOTICE"}"#).output();
    assert!(found.contains("handbook/leave.md") && !found.contains("travel.md"), "{found}");
    let skill = run(&place, r#"call read_skill {"name":"leave-request","file":"form.md"}"#).output();
    assert!(skill.contains("# Request for leave"), "{skill}");
    let edited = run(&place, r#"call editor {"input":"teh text"}"#).output();
    assert_eq!(edited, "result: echo 1: teh text\n");
}

#[test]
fn a_request_is_written_once_it_is_approved_and_nothing_is_deleted() {
    let place = place();
    let write = r##"call write_file {"path":"requests/ann.md","content":"# Request for leave\n"}"##;
    run(&place, write).fails(1, "run with --approve-all");
    place.run(&["run", "--model", "echo:model", "--approve-all", write]).output();
    assert_eq!(place.read("requests/ann.md"), "# Request for leave\n");
    let delete = r#"call delete_file {"path":"handbook/leave.md"}"#;
    let told = place.run(&["run", "--model", "echo:model", "--approve-all", delete]).output();
    assert!(told.contains("the handbook keeps its files"), "{told}");
}

#[test]
fn the_command_of_its_page_that_needs_no_model_works() {
    let found = place().run(&["call", "search_handbook", "--regex", "notice"]).output();
    assert!(found.contains("two weeks of notice"), "{found}");
}

#[test]
#[ignore = "needs the weights of the embedded model"]
fn the_embedded_model_summarizes() {
    let text = "Each employee has 28 days of leave a year. A request needs two weeks of notice.";
    let model = "local:smollm2-135m-instruct";
    let summary = place().run(&["run", ".", "--tool", "summary", "--model", model, text]).output();
    assert!(summary.contains("28 days") || summary.contains("leave"), "{summary}");
}
