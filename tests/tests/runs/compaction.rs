//! Compaction: the old part of a long history becomes notes, and what is left is valid for providers.

mod bodies;

use llm_do::history::Compaction;
use llm_do::journal::MemoryJournal;
use llm_do::model::{Message, ProviderData, ResponsePart, Thinking, ToolCall, ToolResult};
use llm_do::prelude::*;
use llm_do::runtime::RunMessage;
use llm_do::testing::ScriptedModel;
use llm_do::worker::WorkerSpec;
use llm_do::{History, json};
use proptest::prelude::*;

use self::bodies::Refusing;
use super::chat::{fault, text};

/// Answer.
#[worker(toolsets = [fetch_page])]
async fn chatter(input: String) -> String;

/// Fetch a page.
#[tool(effect = read_only, inline)]
fn fetch_page(page: u32) -> String {
    format!("page {page} {}", "word ".repeat(200))
}

const HEADING: &str = "Notes about the earlier part of this conversation";

fn user_text(message: &Message) -> Option<String> {
    match message {
        Message::User { .. } => json!(message)["parts"][0]["text"].as_str().map(ToOwned::to_owned),
        _ => None,
    }
}

fn done() -> ScriptedModel {
    ScriptedModel::new().text("done").repeat_last()
}

#[tokio::test]
async fn a_short_history_stays_as_it_is() {
    let model = done();
    let runtime = Runtime::builder().force_model(model.clone()).history_processor(Compaction::over(1_000));
    let mut chat = runtime.build().unwrap().chat();
    for _ in 0..10 {
        chat.send(chatter { input: "hello".into() }).await.unwrap();
    }
    assert_eq!(model.requests().len(), 10);
    assert_eq!(chat.state().workers["chatter"].messages().len(), 20);
}

#[tokio::test]
async fn the_old_part_becomes_notes_and_the_last_part_stays_as_it_is() {
    let model = done();
    let runtime =
        Runtime::builder().force_model(model.clone()).history_processor(Compaction::over(300).keep_tokens(100));
    let mut chat = runtime.build().unwrap().chat();
    for number in 0..9 {
        chat.send(chatter { input: format!("{number} {}", "word ".repeat(40)) }).await.unwrap();
    }
    let requests = model.requests();
    let summarized: Vec<_> = requests.iter().filter(|asked| asked.instructions != "Answer.").collect();
    assert!(!summarized.is_empty());
    let lines = user_text(&summarized[0].messages[0]).unwrap();
    assert!(lines.starts_with("{\"user\":\"0 word "), "{lines}");
    assert!(lines.contains("\n{\"assistant\":\"done\"}\n"), "{lines}");
    let state = chat.state();
    let messages = state.workers["chatter"].messages();
    assert!(user_text(&messages[0]).unwrap().starts_with(HEADING), "{messages:?}");
    assert!(user_text(&messages[messages.len() - 2]).unwrap().starts_with("8 word"), "{messages:?}");
    assert!(messages.len() < 10, "{}", messages.len());
}

#[tokio::test]
async fn a_long_call_of_many_turns_keeps_its_task() {
    let page = |page: u32| {
        vec![ResponsePart::ToolCall(ToolCall::new(
            format!("c{page}"),
            "fetch_page",
            json!({ "page": page }).to_string(),
        ))]
    };
    // The fourth request is the summary.
    let model = [page(1), page(2), page(3), vec![text("notes")], page(4)]
        .into_iter()
        .fold(ScriptedModel::new(), ScriptedModel::answer)
        .text("done")
        .repeat_last();
    let runtime =
        Runtime::builder().force_model(model.clone()).history_processor(Compaction::over(700).keep_tokens(300));
    runtime.build().unwrap().run(chatter { input: "Read all pages.".into() }).await.unwrap();
    let last = model.requests().pop().unwrap().messages;
    assert_eq!(fault(&last), None);
    let said: Vec<_> = last.iter().filter_map(user_text).collect();
    assert!(said[0].starts_with(HEADING) && said[0].ends_with("\n\nnotes"), "{said:?}");
    assert_eq!(said[1], "Read all pages.");
}

#[tokio::test]
async fn a_chosen_worker_writes_the_notes() {
    let model = done();
    let spec = WorkerSpec::new("notes", "Write three words.");
    let processor = Compaction::over(100).worker(spec);
    let runtime = Runtime::builder().force_model(model.clone()).history_processor(processor).build().unwrap();
    let mut chat = runtime.chat();
    for _ in 0..4 {
        chat.send(chatter { input: "word ".repeat(40) }).await.unwrap();
    }
    assert!(model.requests().iter().any(|asked| asked.instructions == "Write three words."));
    assert!(chat.state().usage.children.iter().any(|run| run.children.iter().any(|call| &*call.name == "notes")));
}

#[tokio::test]
async fn a_resumed_run_compacts_from_its_journal() {
    let journal = MemoryJournal::new();
    let page = vec![ResponsePart::ToolCall(ToolCall::new("c", "fetch_page", r#"{"page":1}"#))];
    let script = [page.clone(), page.clone(), page, vec![text("notes")]].into_iter();
    let model = script.fold(ScriptedModel::new(), ScriptedModel::answer).text("done").repeat_last();
    let run = |journal: MemoryJournal| {
        let builder = Runtime::builder().force_model(model.clone()).journal(journal);
        let runtime = builder.history_processor(Compaction::over(700).keep_tokens(300)).build().unwrap();
        async move { runtime.run(chatter { input: "Read.".into() }).await }
    };
    run(journal.clone()).await.unwrap();
    let asked = model.requests().len();
    run(journal.replayed()).await.unwrap();
    assert_eq!(model.requests().len(), asked);
}

#[tokio::test]
async fn a_pinned_message_to_the_run_stays() {
    let page = || vec![ResponsePart::ToolCall(ToolCall::new("c", "fetch_page", r#"{"page":1}"#))];
    // The fifth request is the summary.
    let script = [page(), page(), page(), page(), vec![text("notes")]].into_iter();
    let model = script.fold(ScriptedModel::new(), ScriptedModel::answer).text("done").repeat_last();
    let builder = Runtime::builder().force_model(model.clone());
    let runtime = builder.history_processor(Compaction::over(900).keep_tokens(300)).build().unwrap();
    let run = runtime.start(chatter { input: "Read.".into() });
    run.handle().send(RunMessage::new("Never write.").pinned()).unwrap();
    run.await.unwrap();
    let last = model.requests().pop().unwrap().messages;
    assert_eq!(fault(&last), None);
    assert!(user_text(&last[0]).unwrap().starts_with(HEADING), "{last:?}");
    assert!(last.contains(&Message::user("Never write.").pinned()), "{last:?}");
}

#[tokio::test]
async fn a_pinned_message_of_a_chat_stays_and_is_saved_with_it() {
    let model = done();
    let builder = Runtime::builder().force_model(model.clone());
    let runtime = builder.history_processor(Compaction::over(300).keep_tokens(50)).build().unwrap();
    let mut chat = runtime.chat();
    assert!(!chat.pin_last("chatter"), "there is no message");
    for number in 0..12 {
        chat.send(chatter { input: format!("{number} {}", "word ".repeat(20)) }).await.unwrap();
        if number == 2 {
            assert!(chat.pin_last("chatter"));
            let saved = json!(chat.state()).to_string();
            chat = runtime.chat().with_state(serde_json::from_str(&saved).unwrap());
        }
    }
    let state = chat.state();
    let kept: Vec<_> = state.workers["chatter"].messages().iter().filter_map(user_text).collect();
    let begins = |text: &str| kept.iter().any(|message| message.starts_with(text));
    assert!(begins(HEADING) && begins("0 word") && begins("2 word") && !begins("3 word"), "{kept:?}");
}

/// What one turn of a generated history has.
#[derive(Clone, Debug)]
struct Turn {
    text: String,
    is_pinned: bool,
    /// The sizes of the results of each answer's calls, by answer.
    answers: Vec<Vec<usize>>,
}

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let answers = prop::collection::vec(prop::collection::vec(0..400_usize, 0..3), 0..4);
    let is_pinned = prop::bool::weighted(0.1);
    let turn = ("[a-z][a-z \\\\\"\u{1f600}é]{0,200}", is_pinned, answers).prop_map(|(text, is_pinned, answers)| Turn {
        text,
        is_pinned,
        answers,
    });
    prop::collection::vec(turn, 1..12)
}

fn history(turns: &[Turn]) -> Vec<Message> {
    let mut messages = Vec::new();
    for (number, turn) in turns.iter().enumerate() {
        let message = Message::user(turn.text.clone());
        messages.push(if turn.is_pinned { message.pinned() } else { message });
        for (answer, sizes) in turn.answers.iter().enumerate() {
            let id = |call: usize| format!("c{number}-{answer}-{call}");
            let signature =
                ProviderData::new("anthropic", json!({ "type": "thinking", "thinking": "hm", "signature": id(9) }));
            let calls: Vec<_> = (0..sizes.len()).map(|call| ToolCall::new(id(call), "fetch_page", "{}")).collect();
            let thinking = ResponsePart::Thinking(Thinking::new("hm").with_provider_data(signature));
            let parts = [thinking, text("so")].into_iter().chain(calls.iter().cloned().map(ResponsePart::ToolCall));
            messages.push(Message::Assistant { parts: parts.collect() });
            let results: Vec<_> =
                calls.iter().zip(sizes).map(|(call, size)| ToolResult::new(call, "x".repeat(*size))).collect();
            if results.is_empty() {
                // An answer without calls ends the turn.
                break;
            }
            messages.push(Message::Tool { results });
        }
    }
    messages
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// A history begins with the user; each call has one result, directly after the answer with the call; thinking comes back
    /// unchanged, in the answer it came with. The bodies are checked against the rules of each API.
    #[test]
    fn a_compacted_history_is_valid_for_every_provider(turns in turns(), max in 20..400_usize, keep in 0..200_usize) {
        let before = history(&turns);
        let model = done();
        let compaction = Compaction::over(max).keep_tokens(keep);
        // The second finds nothing to do.
        let builder = Runtime::builder().history_processor(compaction.clone()).history_processor(compaction);
        let runtime = builder.force_model(model.clone()).build().unwrap();
        let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let pinned: Vec<_> = before.iter().filter(|message| message.is_pinned()).collect();
        let call = runtime.start(chatter { input: "And now?".into() }).history(History::from(before.clone()));
        tokio.block_on(call.into_future()).unwrap();
        let asked = model.requests();
        let sent = &asked.last().unwrap().messages;
        prop_assert_eq!(fault(sent), None);
        prop_assert_eq!(tokio.block_on(Refusing::new().fault(sent)), None);
        let first_is_user = matches!(sent[0], Message::User { .. });
        prop_assert!(first_is_user, "{:?}", sent[0]);
        prop_assert_eq!(user_text(sent.last().unwrap()).unwrap(), "And now?");
        let is_compacted = asked.len() > 1;
        prop_assert!(asked.len() <= 2, "compacted twice: {:?}", sent);
        if is_compacted {
            let said: Vec<_> = sent.iter().filter_map(user_text).collect();
            prop_assert!(said[0].starts_with(HEADING));
            prop_assert_eq!(&sent[1], &before[0], "the first message stays");
            prop_assert!(pinned.iter().all(|message| sent.contains(message)), "{:?}", sent);
            // What is kept is a part of what was there, unchanged and in its order: messages of the user, and the last part.
            let all: Vec<_> = before.iter().cloned().chain([Message::user("And now?")]).collect();
            let is_tail = |from: usize| all.ends_with(&sent[from..]);
            let tail = (1..sent.len()).find(|from| is_tail(*from)).unwrap();
            prop_assert!(sent[1..tail].iter().all(|message| matches!(message, Message::User { .. })), "{:?}", sent);
            let mut rest = all.iter();
            prop_assert!(sent[1..].iter().all(|message| rest.any(|one| one == message)), "{:?}", sent);
        } else {
            prop_assert_eq!(&sent[..sent.len() - 1], &before[..]);
        }
    }
}
