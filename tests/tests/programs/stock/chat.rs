//! Conversations: what is remembered, saved, resumed and copied.

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
    assert!(
        history.contains("Notes about the earlier part of this conversation") && !history.contains("you: one"),
        "{out}"
    );
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
    let answer =
        place().run_with(&["chat", "--reject-all"], "call write_file {\"path\":\"b\",\"content\":\"b\"}\ntwo\n");
    assert_eq!((answer.code, answer.out.as_str()), (Some(1), "echo 4: two\n"), "{}", answer.err);
    assert!(answer.err.contains("not all messages were answered"), "{}", answer.err);
}
