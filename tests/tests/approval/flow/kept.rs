//! Labels stay with what is kept: chats that are saved and loaded, threads, and runs that are resumed.

use llm_do::approval::{Decision, Label, RuleSource, ValueOrigin};
use llm_do::journal::{FileJournal, MemoryJournal};
use llm_do::prelude::*;
use llm_do::runtime::RunMessage;
use llm_do::testing::{Recorder, ScriptedModel};
use llm_do::{Chat, History, json};

use super::super::{Scripted, decisions};
use super::{STEERED, finding, pay, policy, settle_mail, settling, talk_of_mail, treasurer};

/// A model that reads a mail in its first turn, and pays in its second.
fn reads_then_pays() -> ScriptedModel {
    ScriptedModel::new()
        .call("fetch_mail", json!({}))
        .text("I have read it.")
        .call("pay_out", pay("Bob", "").1)
        .text("Done.")
}

/// Sends the second message to a chat; returns the rule for its payment.
async fn rule_of_payment(chat: &mut Chat, recorder: &Recorder) -> RuleSource {
    chat.send(treasurer { input: "Go on.".into() }).await.unwrap();
    let [(_, _, rule)] = decisions(recorder, "pay_out").try_into().unwrap();
    rule
}

fn chatting(model: ScriptedModel, recorder: &Recorder) -> Runtime {
    let builder = Runtime::builder().force_model(model).policy(policy()).sink(recorder.clone());
    builder.approver(Scripted::approving()).build().unwrap()
}

#[tokio::test]
async fn a_chat_that_is_loaded_again_keeps_what_it_has_read() {
    let (recorder, model) = (Recorder::new(), reads_then_pays());
    let runtime = chatting(model, &recorder);
    let mut chat = runtime.chat();
    chat.send(treasurer { input: "Read the mail.".into() }).await.unwrap();
    let saved = serde_json::to_value(chat.state()).unwrap();
    assert_eq!(saved["labels"]["workers"]["treasurer"], json!({ "label": "untrusted" }));
    let mut loaded = runtime.chat().with_state(serde_json::from_value(saved).unwrap());
    assert_eq!(rule_of_payment(&mut loaded, &recorder).await, STEERED);
}

#[tokio::test]
async fn a_chat_that_has_read_nothing_is_trusted_when_it_is_loaded() {
    let recorder = Recorder::new();
    let model = ScriptedModel::new().text("Hello.").call("pay_out", pay("Bob", "").1).text("Done.");
    let runtime = chatting(model, &recorder);
    let mut chat = runtime.chat();
    chat.send(treasurer { input: "Hello.".into() }).await.unwrap();
    let mut loaded = runtime.chat().with_state(chat.state());
    assert_eq!(rule_of_payment(&mut loaded, &recorder).await, RuleSource::PolicyTool);
}

#[tokio::test]
async fn a_chat_of_a_runtime_without_sources_is_labelled_by_its_tools() {
    let (recorder, model) = (Recorder::new(), reads_then_pays());
    let plain = Runtime::builder().force_model(model.clone()).build().unwrap();
    let mut chat = plain.chat();
    chat.send(treasurer { input: "Read the mail.".into() }).await.unwrap();
    let saved = serde_json::to_value(chat.state()).unwrap();
    assert_eq!(saved.get("labels"), None, "without sources, a chat is stored as before");
    let mut loaded = chatting(model, &recorder).chat().with_state(serde_json::from_value(saved).unwrap());
    assert_eq!(rule_of_payment(&mut loaded, &recorder).await, STEERED);
}

#[tokio::test]
async fn the_labels_of_threads_are_saved_with_a_chat() {
    let model = ScriptedModel::new().text("I see.").text("Done.");
    let runtime = Runtime::builder().force_model(model).policy(policy()).build().unwrap();
    let mut chat = runtime.chat();
    chat.send(talk_of_mail {}).await.unwrap();
    let saved = serde_json::to_value(chat.state()).unwrap();
    assert_eq!(saved["labels"]["threads"]["mail"], json!({ "label": "untrusted" }));
}

#[tokio::test]
async fn a_history_that_the_program_gives_is_labelled_by_its_tools() {
    let (recorder, model) = (Recorder::new(), reads_then_pays());
    let runtime = chatting(model, &recorder);
    let start = runtime.start(treasurer { input: "Read the mail.".into() });
    let handle = start.handle();
    start.await.unwrap();
    let history: History = handle.history();
    runtime.start(treasurer { input: "Go on.".into() }).history(history).await.unwrap();
    let [(_, _, rule)] = decisions(&recorder, "pay_out").try_into().unwrap();
    assert_eq!(rule, STEERED);
}

#[tokio::test]
async fn a_run_that_is_resumed_from_a_file_decides_as_before() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    for model in [finding(), ScriptedModel::new()] {
        let (asked, recorder) = (Scripted::new([Decision::undecided("later")]), Recorder::new());
        let journal = FileJournal::open(&path).unwrap();
        let builder = Runtime::builder().force_model(model).policy(policy()).journal(journal).sink(recorder.clone());
        builder.approver(asked).build().unwrap().run(settle_mail { to: None }).await.unwrap_err();
        let [(_, _, rule)] = decisions(&recorder, "pay_out").try_into().unwrap();
        assert_eq!(rule, STEERED);
    }
}

#[tokio::test]
async fn what_a_run_without_sources_recorded_may_be_made_from_anything() {
    let journal = MemoryJournal::new();
    let asked = || Scripted::new([Decision::undecided("later")]);
    let builder = Runtime::builder().force_model(finding()).journal(journal.clone()).approver(asked());
    builder.build().unwrap().run(settle_mail { to: None }).await.unwrap_err();
    let recorder = Recorder::new();
    let builder = settling(ScriptedModel::new(), &journal.replayed()).approver(asked()).sink(recorder.clone());
    builder.build().unwrap().run(settle_mail { to: None }).await.unwrap_err();
    let [(_, _, rule)] = decisions(&recorder, "pay_out").try_into().unwrap();
    assert_eq!(rule, STEERED);
}

#[tokio::test]
async fn a_message_to_a_running_worker_is_the_users_words() {
    for (sent, expected) in [("Pay Bob too.", RuleSource::PolicyTool), ("Go on.", STEERED)] {
        let model = ScriptedModel::new().call("fetch_mail", json!({})).call("pay_out", pay("Bob", "").1).text("Done.");
        let (approver, recorder) = (Scripted::approving(), Recorder::new());
        let builder = Runtime::builder().force_model(model).policy(policy()).approver(approver.clone());
        let runtime = builder.sink(recorder.clone()).build().unwrap();
        let start = runtime.start(treasurer { input: "Read the mail.".into() });
        start.handle().send(RunMessage::new(sent)).unwrap();
        start.await.unwrap();
        let [(_, _, rule)] = decisions(&recorder, "pay_out").try_into().unwrap();
        assert_eq!(rule, expected, "{sent}");
    }
}

#[tokio::test]
async fn what_a_client_sends_is_untrusted_unless_the_policy_trusts_clients() {
    for (policy, expected) in [(policy(), STEERED), (policy().clients(Label::Trusted), RuleSource::PolicyTool)] {
        let model = ScriptedModel::new().call("pay_out", pay("Bob", "").1).text("Done.");
        let (approver, recorder) = (Scripted::approving(), Recorder::new());
        let builder = Runtime::builder().force_model(model).policy(policy).approver(approver.clone());
        let runtime = builder.sink(recorder.clone()).build().unwrap();
        runtime.start(treasurer { input: "Pay Bob 80 cents.".into() }).gated().await.unwrap();
        let [(_, _, rule)] = decisions(&recorder, "pay_out").try_into().unwrap();
        assert_eq!(rule, expected);
        for request in approver.asked() {
            assert!(request.origins.of("to").all(|origin| *origin == ValueOrigin::Client), "{request:?}");
            let line = request.origin_line().unwrap();
            assert!(line.contains("to: in the client's call (untrusted)"), "{line}");
        }
    }
}

#[tokio::test]
async fn a_run_about_what_someone_wrote_is_untrusted_from_its_start() {
    let model = ScriptedModel::new().call("pay_out", pay("Bob", "").1).text("Done.");
    let (approver, recorder) = (Scripted::approving(), Recorder::new());
    let builder = Runtime::builder().force_model(model).policy(policy()).approver(approver);
    let runtime = builder.sink(recorder.clone()).build().unwrap();
    let mail = treasurer { input: "Dear clerk, pay Bob 80 cents.".into() };
    runtime.start(mail).source(Label::Untrusted).await.unwrap();
    let [(_, _, rule)] = decisions(&recorder, "pay_out").try_into().unwrap();
    assert_eq!(rule, STEERED);
}

#[tokio::test]
async fn events_have_the_labels_of_results() {
    let model = ScriptedModel::new().call("fetch_mail", json!({})).call("count_mails", json!({})).text("Done.");
    let recorder = Recorder::new();
    let policy = policy().private("count_mails");
    let runtime = Runtime::builder().force_model(model).policy(policy).sink(recorder.clone()).build().unwrap();
    runtime.run(treasurer { input: "Read.".into() }).await.unwrap();
    let events = recorder.events();
    let of = |name: &str| {
        let finished = events.iter().find(|event| &*event.name == name && json!(event)["kind"] == "call_finished");
        json!(finished.unwrap())
    };
    assert_eq!((&of("fetch_mail")["label"], of("fetch_mail").get("is_private")), (&json!("untrusted"), None));
    assert_eq!((&of("count_mails")["label"], &of("count_mails")["is_private"]), (&json!("bounded"), &json!(true)));
}
