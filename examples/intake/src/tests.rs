#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::fs;

use llm_do::approval::ApprovalMode;
use llm_do::json;
use llm_do::testing::ScriptedModel;
use tempfile::TempDir;

use super::*;

/// A model that proposes this person for a note.
fn proposing(name: &str, age: u8, city: &str) -> ScriptedModel {
    ScriptedModel::new().call("final_result", json!({ "name": name, "age": age, "city": city }))
}

/// Runs `intake` on a folder with these files, and returns the report.
async fn run(folder: &TempDir, files: &[(&str, &str)], model: &ScriptedModel) -> String {
    for (file, text) in files {
        fs::write(folder.path().join(file), text).unwrap();
    }
    let builder = Runtime::builder().force_model(model.clone()).approval_mode(ApprovalMode::ApproveAll);
    let report = builder.build().unwrap().run(intake { folder: folder.path().to_owned() }).await.unwrap();
    model.assert_finished();
    report
}

/// Runs `intake` on one note, and returns the line of the report about it.
async fn line(note: &str, model: ScriptedModel) -> String {
    let report = run(&TempDir::new().unwrap(), &[("a.txt", note)], &model).await;
    report.lines().next().unwrap().to_owned()
}

#[tokio::test]
async fn a_record_that_the_note_states_is_accepted() {
    let line = line("Dr Ann Hill is thirty-four and lives in Bath.", proposing("Dr. Ann Hill", 34, "Bath, UK")).await;
    assert_eq!(line, "a.txt: Ann Hill, 34, Bath");
}

#[tokio::test]
async fn fields_that_the_note_does_not_state_stay_empty() {
    let line = line("Ann Hill has lost her umbrella.", proposing("Ann Hill", 30, "London")).await;
    assert_eq!(line, "a.txt: Ann Hill, -, -");
}

#[tokio::test]
async fn a_person_without_a_name_is_accepted_without_one() {
    let line =
        line("A woman of 26 lives in Truro and did not leave her name.", proposing("Mary Smith", 26, "Truro")).await;
    assert_eq!(line, "a.txt: -, 26, Truro");
}

#[tokio::test]
async fn a_city_that_the_model_made_up_is_replaced_by_the_stated_one() {
    let line = line("Ann Hill, 34, lives in Kingston.", proposing("Ann Hill", 34, "Jamaica")).await;
    assert_eq!(line, "a.txt: Ann Hill, 34, Kingston");
}

#[tokio::test]
async fn a_clear_statement_outweighs_another_reading() {
    let line = line("Ann Hill, 34, lives in Bath. Her son, 9, lives in York.", proposing("Ann Hill", 34, "York")).await;
    assert_eq!(line, "a.txt: Ann Hill, 34, Bath");
}

#[tokio::test]
async fn the_model_decides_between_a_city_that_is_less_clear_and_a_doubt() {
    let note = "Ann Hill, 34, from Bath, has flown to York.";
    assert_eq!(line(note, proposing("Ann Hill", 34, "Bath")).await, "a.txt: Ann Hill, 34, Bath");
    let review = line(note, proposing("Ann Hill", 34, "York")).await;
    assert_eq!(review, "a.txt: Ann Hill, 34, York (to review: the city may be Bath or York)");
}

#[tokio::test]
async fn a_city_that_the_note_withholds_stays_empty() {
    let note = "Ann Hill, 34, phoned from York. She gave no address.";
    assert_eq!(line(note, proposing("Ann Hill", 34, "York")).await, "a.txt: Ann Hill, 34, -");
}

#[tokio::test]
async fn a_note_with_one_person_and_one_place_needs_no_usual_form_if_the_model_agrees() {
    let note = "Ann Hill, 34. Current residence, as on the form: Bath.";
    assert_eq!(line(note, proposing("Ann Hill", 34, "Bath")).await, "a.txt: Ann Hill, 34, Bath");
    let line = line(&format!("{note} She was in York."), proposing("Ann Hill", 34, "Bath")).await;
    assert!(line.contains("(to review: the city may be"), "{line}");
}

#[tokio::test]
async fn a_note_with_other_people_goes_to_review_if_the_model_misread_age_and_city() {
    let note = "Ann Hill, 34, lives in Bath. Her son, 9, lives in York.";
    let line = line(note, proposing("Ann Hill", 9, "York")).await;
    assert!(line.contains("(to review: the model read another age and another city"), "{line}");
}

#[tokio::test]
async fn a_city_without_a_capital_letter_goes_to_review() {
    let line = line("Ann Hill is 34 and lives in bath.", proposing("Ann Hill", 34, "Bath")).await;
    assert_eq!(line, "a.txt: Ann Hill, 34, Bath (to review: the note is not clear about the city)");
}

#[tokio::test]
async fn the_only_full_name_is_found_without_the_model() {
    let line = line("Lost: a scarf. Ann Hill, 34, lives in Bath.", proposing("Lost Scarf", 34, "Bath")).await;
    assert_eq!(line, "a.txt: Ann Hill, 34, Bath");
}

#[tokio::test]
async fn a_verb_before_the_name_is_removed_if_the_model_read_the_name_without_it() {
    let line = line("Met Ann Hill, who is 34 and lives in Bath.", proposing("Ann Hill", 34, "Bath")).await;
    assert_eq!(line, "a.txt: Ann Hill, 34, Bath");
}

#[tokio::test]
async fn the_age_of_another_person_is_not_taken() {
    let line = line("Ann Hill lives in Bath. Her son Tom is 9.", proposing("Ann Hill", 9, "Bath")).await;
    assert_eq!(line, "a.txt: Ann Hill, 9, Bath (to review: the note is not clear about the age)");
}

#[tokio::test]
async fn an_age_in_a_sentence_after_another_person_goes_to_review() {
    let note = "Ann Hill of Bath brought her son Tom. 9 years old.";
    for age in [9, 34] {
        let line = line(note, proposing("Ann Hill", age, "Bath")).await;
        assert!(line.contains("(to review: the age may be 9"), "{line}");
    }
}

#[tokio::test]
async fn an_age_beside_another_number_that_may_be_one_goes_to_review() {
    let line = line("Ann Hill, 34, lives in Bath. Her card: 43.", proposing("Ann Hill", 34, "Bath")).await;
    assert!(line.contains("(to review: the age may be 34 or 43"), "{line}");
}

#[tokio::test]
async fn an_age_that_the_note_states_without_a_number_goes_to_review() {
    let line = line("Ann Hill, born in 1990, lives in Bath.", proposing("Ann Hill", 34, "Bath")).await;
    assert!(line.contains("(to review: the note is not clear about the age"), "{line}");
}

#[tokio::test]
async fn a_number_of_something_else_is_not_an_age() {
    let note = "Ann Hill, who lives in Bath, has borrowed 3 books.";
    assert_eq!(line(note, proposing("Ann Hill", 30, "Bath")).await, "a.txt: Ann Hill, -, Bath");
    let line = line(note, proposing("Ann Hill", 3, "Bath")).await;
    assert!(line.contains("(to review: the note is not clear about the age"), "{line}");
}

#[tokio::test]
async fn a_note_about_two_people_goes_to_review() {
    let note = "Ann Hill and Tom Reed came. She is 34 and lives in Bath.";
    let line = line(note, proposing("Ann Hill", 34, "Bath")).await;
    assert!(line.contains("(to review: the name may be Ann Hill or Tom Reed"), "{line}");
}

#[tokio::test]
async fn a_home_or_an_age_of_another_time_is_not_taken() {
    let notes = [
        "Ann Hill, 34, no longer lives in Bath.",
        "Ann Hill, 34, has no fixed home. She gave up her flat in Bath.",
        "Ann Hill, 34, works for a bank based in Bath, and her address is in York.",
        "Ann Hill lives in Bath. She is 34 next week.",
        "Ann Hill lives in Bath. When she came she was 34.",
    ];
    for note in notes {
        let line = line(note, proposing("Ann Hill", 34, "Bath")).await;
        assert!(!line.starts_with("a.txt: Ann Hill, 34, Bath") || line.contains("(to review: "), "{line}");
    }
}

#[tokio::test]
async fn a_note_that_corrects_itself_or_is_second_hand_goes_to_review() {
    let notes = [
        "Ann Hill is 43, no, sorry, 34. She lives in Bath.",
        "Ann Hill, 34, lives in Bath. The old card is wrong.",
        "Her neighbour claims that Ann Hill is 34. She lives in Bath.",
        "Ann Hill, 34, of Bath rang for her mother, Eve Hill.",
        "I am Ann Hill, I am 34 and live in Bath. My letter is about my mother Eve.",
    ];
    for note in notes {
        let line = line(note, proposing("Ann Hill", 34, "Bath")).await;
        assert!(line.contains("(to review: the note corrects itself or is second-hand"), "{line}");
    }
}

#[tokio::test]
async fn a_name_in_parts_goes_to_review() {
    let note = "Surname Hill, first name Ann. She is 34 and lives in Bath.";
    let line = line(note, proposing("Surname Hill", 34, "Bath")).await;
    assert!(line.contains("(to review: the name may be Hill or Ann"), "{line}");
}

#[tokio::test]
async fn a_name_beside_a_withheld_one_goes_to_review() {
    let note = "A girl, 16, lives in Bath. Her name is Nadia and she would not give a surname.";
    let line = line(note, proposing("Nadia", 16, "Bath")).await;
    assert!(line.contains("(to review: the name may be Nadia"), "{line}");
}

#[tokio::test]
async fn a_word_for_a_person_is_not_a_name() {
    let note = "Gentleman, 34, lives in Bath. Number withheld, and no name.";
    assert_eq!(line(note, proposing("Gentleman", 34, "Bath")).await, "a.txt: -, 34, Bath");
}

#[tokio::test]
async fn a_home_in_a_question_is_not_taken() {
    let note = "\"And you live in York?\" \"In Bath.\" Ann Hill, 34, did not smile.";
    let line = line(note, proposing("Ann Hill", 34, "York")).await;
    assert!(line.contains("(to review: the city may be York or Bath"), "{line}");
}

#[tokio::test]
async fn a_home_is_found_among_other_places() {
    let note = "Ann Hill, 34, has flown to Rome from Leeds. She lives in Bath.";
    assert_eq!(line(note, proposing("Ann Hill", 34, "Bath")).await, "a.txt: Ann Hill, 34, Bath");
}

#[tokio::test]
async fn a_note_that_cannot_be_read_goes_to_review() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("a.txt"), [0xff]).unwrap();
    let report = run(&folder, &[], &ScriptedModel::new()).await;
    assert!(report.starts_with("a.txt: -, -, - (to review: `read_note` failed"), "{report}");
}

#[tokio::test]
async fn records_to_review_are_written_apart_with_the_reason() {
    let folder = TempDir::new().unwrap();
    let model = proposing("Ann Hill", 34, "Bath")
        .call("final_result", json!({ "name": "Tom Reed", "age": 9, "city": "Leeds" }));
    let notes = [("a.txt", "Ann Hill, 34, lives in Bath."), ("b.txt", "Tom Reed, 9, went from Leeds to York.")];
    run(&folder, &notes, &model).await;
    let read = |file| fs::read_to_string(folder.path().join(file)).unwrap();
    assert_eq!(read("records.csv"), "file,name,age,city\na.txt,Ann Hill,34,Bath\n");
    let reason = "the city may be Leeds or York";
    assert_eq!(read("review.csv"), format!("file,name,age,city,reason\nb.txt,Tom Reed,9,Leeds,{reason}\n"));
}

#[tokio::test]
async fn the_score_counts_right_wrong_and_doubtful_records_separately() {
    let model = proposing("Ann Hill", 34, "Bath").repeat_last();
    let answers = "file,name,age,city\na.txt,Ann Hill,34,Bath\nb.txt,Ann Hill,35,Bath\nc.txt,Ann Hill,34,\n";
    let note = "Ann Hill, 34, lives in Bath.";
    let files = [("a.txt", note), ("b.txt", note), ("c.txt", "Ann Hill, 34, has left Bath."), ("answers.csv", answers)];
    let report = run(&TempDir::new().unwrap(), &files, &model).await;
    let score = "compared with answers.csv: 1 accepted and right, 1 accepted and wrong, 1 to review";
    assert_eq!(report.lines().last(), Some(score));
}
