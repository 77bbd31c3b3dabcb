//! Decisions that are learned from cases, and answer in a project.

use std::fmt::Write;

use serde_json::Value;

use super::{ASSISTANT, Place};

const TRIAGE: &str = "---\nname: triage\nmodel: echo:model\n---\nName the team of the message.\n";
const HYBRID: &str =
    "---\nname: triage\nmodel: echo:model\nhybrid: triage_learned\n---\nName the team of the message.\n";
const TEAMS: [(&str, [&str; 4]); 3] = [
    ("money", ["refund", "invoice", "payment", "receipt"]),
    ("parcel", ["parcel", "courier", "delivery", "tracking"]),
    ("login", ["password", "account", "code", "email"]),
];
const STARTS: [&str; 4] = ["hello", "hi there", "good morning", "please help"];
const ENDS: [&str; 5] = ["i ask about", "what happened to", "i am waiting for", "there is a problem with", "look at"];
const LEARN: [&str; 7] = ["harden", "triage", "--learn", "--dataset", "truth.yaml", "--out", "tools"];

/// A dataset of 240 messages, each with its team; of ten, some have another team.
fn truth(wrong_of_ten: usize) -> String {
    let mut text = String::from("cases:\n");
    let mut number = 0;
    for (at, (team, words)) in TEAMS.iter().enumerate() {
        for word in words {
            for (start, end) in STARTS.iter().flat_map(|start| ENDS.map(|end| (start, end))) {
                number += 7;
                let (other, _) = TEAMS[(at + 1) % TEAMS.len()];
                let team = if number % 10 < wrong_of_ten { other } else { team };
                writeln!(text, "- inputs: {{input: {start} {end} my {word}}}\n  expected_output: {team}").unwrap();
            }
        }
    }
    text
}

fn place(wrong_of_ten: usize) -> Place {
    let truth = truth(wrong_of_ten);
    Place::new(&[("main.worker", ASSISTANT), ("workers/triage.worker", TRIAGE), ("truth.yaml", &truth)])
}

#[test]
fn what_was_learned_answers_in_a_project_and_the_worker_answers_the_rest() {
    let place = place(0);
    let report = place.run(&LEARN).output();
    assert!(report.contains("`triage.learned.json`, the tool `triage_learned`: accepted: it answers 2"), "{report}");
    assert_eq!(place.read("tools/triage.learn.md").trim_end(), report.trim_end());
    let json: Value = serde_json::from_str(&place.read("tools/triage.learn.json")).unwrap();
    assert_eq!(json["judgment"]["cases"], 240);

    place.write("workers/triage.worker", HYBRID);
    let known = "hello i am waiting for my refund";
    assert_eq!(place.run(&["run", "triage", known]).output(), "money\n");
    let unknown = "quantum fields commute";
    assert_eq!(place.run(&["run", "triage", unknown]).output(), format!("echo 1: {unknown}\n"));

    let input = serde_json::json!({ "input": known }).to_string();
    for name in ["triage", "triage_learned", "tools/triage.learned.json"] {
        let explained = place.run(&["harden", "--explain", name, &input]).output();
        assert!(explained.starts_with("\"money\", with confidence "), "{explained}");
        assert!(explained.contains(" for \"money\": /input has \"refund\""), "{explained}");
    }
    place.run(&LEARN).fails(2, "triage.learned.json exists");
}

#[test]
fn a_tool_file_names_what_was_learned() {
    let place = place(0);
    place.run(&LEARN).output();
    place.write("tools/team.tool", "type: learned\nlearned: triage.learned.json\ndescription: Name the team.\n");
    let answer = place.run(&["call", "team", "--input", "please help look at my password"]).output();
    assert_eq!(answer.trim_end(), "login");
    place.write("tools/team.tool", "type: learned\nlearned: other.learned.json\n");
    let answer = place.run(&["check"]);
    assert_ne!(answer.code, Some(0));
    assert!(answer.err.contains("`learned`: tools/other.learned.json: cannot be read"), "{answer:?}");
}

#[test]
fn a_learned_file_that_was_changed_is_a_fault_of_the_project() {
    let place = place(0);
    place.run(&LEARN).output();
    let text = place.read("tools/triage.learned.json");
    place.write("tools/triage.learned.json", &text.replacen("\"threshold\": 0.", "\"threshold\": 0.0", 1));
    let answer = place.run(&["check"]);
    assert_ne!(answer.code, Some(0));
    assert!(answer.err.contains("tools/triage.learned.json: "), "{answer:?}");
    assert!(answer.err.contains("it was changed after it was learned"), "{answer:?}");
}

#[test]
fn wrong_answers_are_noise_and_nothing_is_written() {
    let place = place(2);
    place.run(&LEARN).fails(1, "at most 5 % wrong is below the noise: of the ");
    assert!(!place.path().join("tools/triage.learned.json").exists());
}

#[test]
fn results_that_are_not_choices_are_refused() {
    let place = place(0);
    let cases =
        (0..80).map(|at| format!("- inputs: {{input: message {at} for you}}\n  expected_output: answer {at}\n"));
    place.write("truth.yaml", &format!("cases:\n{}", cases.collect::<Vec<_>>().concat()));
    place.run(&LEARN).fails(1, "the output has 80 different values in 80 cases");
    place.run(&["harden", "triag", "--learn", "--dataset", "truth.yaml"]).fails(2, "unknown worker `triag`");
}

#[test]
fn what_was_not_learned_has_no_explanation() {
    let place = place(0);
    let text = "`assistant` was not learned, so there is nothing to explain";
    place.run(&["harden", "--explain", "assistant", "{}"]).fails(2, text);
    place.run(&["harden", "--explain", "assistant", "hello"]).fails(2, "the input is not a JSON object");
}
