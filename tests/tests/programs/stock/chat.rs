//! Conversations: what is remembered, saved, resumed and copied.

use std::fs;
use std::io::{BufRead, BufReader, Write};

use super::{ASSISTANT, Place};

fn place() -> Place {
    Place::new(&[("main.worker", ASSISTANT)])
}

/// Returns the ids of the chats, the latest first.
fn ids(place: &Place) -> Vec<String> {
    let list = place.run(&["chat", "--resume"]).output();
    list.lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect()
}

#[test]
fn a_chat_remembers_its_messages_also_after_the_program_ended() {
    let place = place();
    assert_eq!(place.run_with(&["chat"], "one\ntwo\n").output(), "echo 1: one\necho 3: two\n");
    assert_eq!(place.run_with(&["chat", "--continue"], "three\n").output(), "echo 5: three\n");
    let id = &ids(&place)[0];
    assert_eq!(place.run_with(&["chat", "--resume", &id[..4]], "four\n").output(), "echo 7: four\n");
    assert_eq!(place.run_with(&["chat"], "new\n").output(), "echo 1: new\n", "a chat without options is a new one");
}

#[test]
fn a_fork_leaves_the_chat_as_it_is() {
    let place = place();
    place.run_with(&["chat"], "one\n").output();
    let id = ids(&place).remove(0);
    assert_eq!(place.run_with(&["chat", "--resume", &id, "--fork"], "two\n").output(), "echo 3: two\n");
    assert_eq!(ids(&place).len(), 2);
    assert_eq!(place.run_with(&["chat", "--resume", &id], "other\n").output(), "echo 3: other\n");
}

#[test]
fn chats_belong_to_the_folder_in_which_they_began() {
    let place = place();
    place.run_with(&["chat", "--continue"], "one\n").fails(2, "no chat began in this folder");
    place.run_with(&["chat", "--resume", "zz"], "one\n").fails(2, "no chat `zz`");
    assert_eq!(place.run(&["chat", "--resume"]).output(), "no chat began in this folder\n");
}

#[cfg(unix)]
#[test]
fn only_the_user_may_read_a_chat() {
    use std::os::unix::fs::PermissionsExt;
    let place = place();
    place.run_with(&["chat"], "one\n").output();
    let file = place.chats.path().read_dir().unwrap().next().unwrap().unwrap();
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn commands_show_the_chat_and_change_it() {
    let place = place();
    let answer = place.run_with(&["chat"], "one\n/tools\n/history\n/cost\n/clear\ntwo\n/quit\nthree\n");
    let out = answer.output();
    assert!(out.contains("read_file\n"), "{out}");
    assert!(out.contains("you: one\nmodel: echo 1: one\n"), "{out}");
    assert!(out.contains("  assistant      1         1           0         10"), "{out}");
    assert!(out.ends_with("echo 1: two\n"), "a new chat, which ends with /quit: {out}");
    assert_eq!(ids(&place).len(), 2, "the old chat stays saved");
}

#[test]
fn an_unknown_command_is_not_sent_to_the_model() {
    let answer = place().run_with(&["chat"], "/hlep\n/etc/hosts\n");
    assert!(answer.err.contains("unknown command `/hlep`; did you mean `help`?"), "{}", answer.err);
    assert_eq!(answer.output(), "echo 1: /etc/hosts\n");
}

#[test]
fn a_conversation_is_summarized_on_request() {
    let out = place().run_with(&["chat"], "one\ntwo\n/compact\nthree\n/history\n").output();
    let history = out.split_once("three\n").unwrap().1;
    assert!(history.contains("Notes about the earlier part of this conversation"), "{out}");
    assert!(history.contains("you: one\n") && !history.contains("you: two"), "the first message stays: {out}");
}

#[test]
fn a_pinned_message_stays_when_the_conversation_is_summarized() {
    let answer = place().run_with(&["chat"], "/pin\none\ntwo\n/pin\nthree\n/compact\nfour\n/history\n");
    assert!(answer.err.contains("`assistant` has no message to pin"), "{}", answer.err);
    assert!(answer.err.contains("your last message stays when the conversation is summarized"), "{}", answer.err);
    let out = answer.output();
    let history = out.split_once("four\n").unwrap().1;
    assert!(history.contains("you: two\n  (pinned)\n") && !history.contains("you: three"), "{out}");
}

#[test]
fn the_model_of_a_chat_can_be_changed() {
    let worker = ASSISTANT.replace("model: echo:model\n", "");
    let place = Place::new(&[("main.worker", &worker)]);
    let answer = place.run_with(&["chat"], "/model\none\n/model ecko:x\n/model echo:model\n/model\ntwo\n");
    assert_eq!(answer.code, Some(1), "the first message was not answered");
    assert_eq!(answer.out, "no model is set\necho:model\necho 1: two\n");
    assert!(answer.err.contains("no model for the worker `assistant`"), "{}", answer.err);
    assert!(answer.err.contains("ecko") && answer.err.contains("the model is now echo:model"), "{}", answer.err);
    let fixed = self::place().run_with(&["chat"], "/model echo:other\n");
    assert!(fixed.err.contains("`assistant` declares its own model: echo:model"), "{}", fixed.err);
}

#[test]
fn a_message_that_fails_does_not_end_the_chat() {
    let messages = "call write_file {\"path\":\"b\",\"content\":\"b\"}\ntwo\n";
    let answer = place().run_with(&["chat", "--reject-all", "--end-on-denial"], messages);
    assert_eq!((answer.code, answer.out.as_str()), (Some(1), "echo 4: two\n"), "{}", answer.err);
    assert!(answer.err.contains("not all messages were answered"), "{}", answer.err);
}

#[test]
fn an_unreadable_chat_is_left_out_with_a_warning() {
    let place = place();
    place.run_with(&["chat"], "one\n").output();
    fs::write(place.chats.path().join("damaged0.json"), "{").unwrap();
    let answer = place.run_with(&["chat", "--continue"], "two\n");
    assert!(answer.err.contains("damaged0.json: EOF while parsing"), "{}", answer.err);
    assert_eq!(answer.output(), "echo 3: two\n");
    place.run_with(&["chat", "--resume", "dam"], "two\n").fails(1, "damaged0.json: EOF while parsing");
}

#[test]
fn a_chat_of_a_newer_version_is_an_error_with_advice() {
    let place = place();
    fs::write(place.chats.path().join("newer000.json"), r#"{ "version": 2, "other": true }"#).unwrap();
    let text = "newer000.json: a newer version of this program wrote it; update this program";
    place.run_with(&["chat", "--resume", "newer"], "two\n").fails(1, text);
}

#[test]
fn two_programs_that_continue_one_chat_lose_no_message() {
    let place = place();
    place.run_with(&["chat"], "one\n").output();
    let mut first = place.start(&["chat", "--continue"]);
    let mut input = first.stdin.take().unwrap();
    let mut output = BufReader::new(first.stdout.take().unwrap());
    let mut send = |text: &str| {
        writeln!(input, "{text}").unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        line
    };
    assert_eq!(send("two"), "echo 3: two\n");
    assert_eq!(place.run_with(&["chat", "--continue"], "other\n").output(), "echo 5: other\n");
    assert_eq!(send("three"), "echo 5: three\n");
    drop(input);
    let error = String::from_utf8(first.wait_with_output().unwrap().stderr).unwrap();
    assert!(error.contains("was continued elsewhere: from here on, this one is chat "), "{error}");
    let ids = ids(&place);
    assert_eq!(ids.len(), 2);
    let history = |id: &str| place.run_with(&["chat", "--resume", id], "/history\n").output();
    let (latest, earlier) = (history(&ids[0]), history(&ids[1]));
    assert!(latest.contains("you: three") && !latest.contains("you: other"), "{latest}");
    assert!(earlier.contains("you: other") && earlier.contains("you: two"), "{earlier}");
}

#[cfg(unix)]
#[test]
fn the_permissions_of_a_folder_that_the_user_names_stay_as_they_are() {
    use std::os::unix::fs::PermissionsExt;
    let place = place();
    fs::set_permissions(place.chats.path(), fs::Permissions::from_mode(0o755)).unwrap();
    place.run_with(&["chat"], "one\n").output();
    assert_eq!(fs::metadata(place.chats.path()).unwrap().permissions().mode() & 0o777, 0o755);
}

#[test]
fn a_chat_that_goes_on_with_another_worker_is_continued_with_that_one() {
    let editor = ASSISTANT.replace("name: assistant", "name: editor");
    let place = Place::new(&[("main.worker", ASSISTANT), ("workers/editor.worker", &editor)]);
    place.run_with(&["chat"], "one\n").output();
    assert_eq!(place.run_with(&["chat", "editor", "--continue"], "two\n").output(), "echo 1: two\n");
    assert_eq!(place.run_with(&["chat", "--continue"], "three\n").output(), "echo 3: three\n");
}

#[test]
fn a_worker_whose_input_is_not_one_text_cannot_chat() {
    let schema =
        "input_schema: { type: object, properties: { a: { type: string }, b: { type: string } }, required: [a, b] }";
    let worker = ASSISTANT.replace("model: echo:model", &format!("model: echo:model\n{schema}"));
    let place = Place::new(&[("main.worker", &worker)]);
    place
        .run_with(&["chat"], "")
        .fails(2, "`assistant` does not take one text as its input, so it cannot chat: use `run`");
}

#[test]
fn blank_lines_and_the_end_of_the_input_send_nothing() {
    let place = place();
    assert_eq!(place.run_with(&["chat"], "\n  \none").output(), "echo 1: one\n", "the last line may be unfinished");
    assert_eq!(place.run_with(&["chat"], "").output(), "");
    assert_eq!(ids(&place).len(), 1, "a chat without messages is not saved");
}

#[test]
fn a_summary_that_was_asked_for_does_not_move_to_a_new_chat() {
    let out = place().run_with(&["chat"], "one\n/compact\n/clear\ntwo\n/history\n").output();
    assert!(out.ends_with("echo 1: two\nyou: two\nmodel: echo 1: two\n"), "{out}");
}

#[test]
fn attached_files_go_with_the_first_message() {
    let place = Place::new(&[("main.worker", ASSISTANT), ("notes.txt", "Buy tea.")]);
    let out = place.run_with(&["chat", "--attach", "notes.txt"], "one\ntwo\n/history\n").output();
    assert!(out.starts_with("echo 1: one\necho 3: two\nyou: one\n"), "{out}");
    assert_eq!(out.matches("you: (a file)").count(), 1, "{out}");
    place.run_with(&["chat", "--attach", "missing.txt"], "one\n").fails(2, "attachment not found: missing.txt");
}
