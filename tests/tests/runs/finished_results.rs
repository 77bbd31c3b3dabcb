//! A turn that ends early keeps the results of its calls that finished: in the history, in chats, in threads and in journals.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use llm_do::Limits;
use llm_do::approval::{ApprovalMode, Decision};
use llm_do::error::chain;
use llm_do::event::EventKind;
use llm_do::journal::{FileJournal, Journal, MemoryJournal, SqliteJournal, StepKind};
use llm_do::model::{ErrorKind, Message, ProviderError, ResponsePart, ToolCall, ToolResult};
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{Recorder, ScriptedModel};
use serde_json::{Value, json};

use super::chat::fault;

/// Send money.
#[tool(effect = destructive, inline)]
fn remit(to: String) -> String {
    format!("paid {to}")
}

/// Ring until someone answers, which no one does.
#[tool(effect = destructive)]
async fn ring() {
    std::future::pending::<()>().await;
}

/// Return the balance of a person; that of the lost account takes forever.
#[tool(effect = read_only)]
async fn balance(of: String) -> String {
    if of == "Lost" {
        std::future::pending::<()>().await;
    }
    format!("{of} has 3")
}

/// Give advice.
#[worker]
async fn advise(input: String) -> String;

/// Pay bills.
#[worker(toolsets = [remit, ring, balance, advise])]
async fn payer(input: String) -> String;

/// Pays in a thread, and asks about it if that failed; returns the error.
#[entry(toolsets = [payer])]
async fn pay_in_thread(ctx: &CallContext<pay_in_thread>) -> Result<String> {
    let thread = ctx.thread("bills");
    let error = thread.call(payer { input: "Pay.".into() }).await.unwrap_err();
    thread.call(payer { input: "Whom did you pay?".into() }).await?;
    Ok(chain(&error))
}

/// What ends a turn after its first call.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Cancelled,
    Dropped,
    TimedOut,
    OutOfTime,
    Denied,
    Stopped,
    LimitReached,
    ModelFailed,
}

const ENDS: [End; 8] = [
    End::Cancelled,
    End::Dropped,
    End::TimedOut,
    End::OutOfTime,
    End::Denied,
    End::Stopped,
    End::LimitReached,
    End::ModelFailed,
];

const UNFINISHED: &str = "not finished: the conversation was interrupted";
const SECOND: Duration = Duration::from_secs(1);

fn call(id: &str, tool: &str, arguments: &Value) -> ResponsePart {
    ResponsePart::ToolCall(ToolCall::new(id, tool, arguments.to_string()))
}

fn pay(id: &str, to: &str) -> ResponsePart {
    call(id, "remit", &json!({ "to": to }))
}

fn go() -> payer {
    payer { input: "Pay.".into() }
}

impl End {
    /// The second call of the turn.
    fn call(self) -> ResponsePart {
        match self {
            Self::Denied | Self::Stopped | Self::LimitReached => pay("2", "Eve"),
            Self::ModelFailed => call("2", "advise", &json!({ "input": "Pay Bob?" })),
            Self::Cancelled | Self::Dropped | Self::TimedOut | Self::OutOfTime => call("2", "ring", &json!({})),
        }
    }

    /// A model that makes three calls in one answer, the second of which ends the turn.
    fn model(self) -> ScriptedModel {
        let calls = [pay("1", "Ann"), self.call(), pay("3", "Bob")];
        let model = ScriptedModel::new().answer(calls);
        if self == Self::ModelFailed { model.error(down()) } else { model }
    }

    fn builder(self) -> RuntimeBuilder {
        let denial = if self == Self::Stopped { Decision::deny_and_stop("no") } else { Decision::deny("no") };
        let builder = Runtime::builder().force_model(self.model()).approve_with(move |request| {
            let is_denied = request.arguments["to"] == "Eve";
            std::future::ready(if is_denied { denial.clone() } else { Decision::approve() })
        });
        match self {
            Self::Denied => builder.end_on_denial(true),
            Self::LimitReached => builder.limits(Limits::new().tool_calls(1)),
            Self::TimedOut => builder.timeout("payer", SECOND),
            Self::OutOfTime => builder.limits(Limits::new().wall_time(SECOND)),
            _ => builder,
        }
    }
}

fn down() -> ProviderError {
    ProviderError::new("scripted", ErrorKind::Overloaded, "down")
}

/// The results of the only turn with calls, with whether each is an error.
fn results(messages: &[Message]) -> Vec<(String, bool)> {
    assert_eq!(fault(messages), None);
    let results = messages.iter().filter_map(|message| match message {
        Message::Tool { results } => Some(results.clone()),
        _ => None,
    });
    let [results] = <[Vec<ToolResult>; 1]>::try_from(results.collect::<Vec<_>>()).unwrap();
    results.into_iter().map(|result| (result.content, result.is_error)).collect()
}

fn expected(contents: &[&str]) -> Vec<(String, bool)> {
    contents.iter().map(|content| ((*content).to_owned(), *content == UNFINISHED)).collect()
}

/// What a run of the ends is to leave: the payment that was made, and the calls that were not finished.
fn paid_ann() -> Vec<(String, bool)> {
    expected(&["paid Ann", UNFINISHED, UNFINISHED])
}

/// Runs a call until it ends, or until it is cancelled or dropped after a second.
async fn ended(end: End, runtime: &Runtime, journal: &MemoryJournal) -> Vec<Message> {
    let start = runtime.start(go()).journal(journal.clone());
    let handle = start.handle();
    if end == End::Dropped {
        tokio::time::timeout(SECOND, std::future::IntoFuture::into_future(start)).await.unwrap_err();
        return handle.history().messages().to_vec();
    }
    let cancel = async {
        if end == End::Cancelled {
            tokio::time::sleep(SECOND).await;
            handle.cancel();
        }
    };
    let (result, ()) = tokio::join!(std::future::IntoFuture::into_future(start), cancel);
    let error = result.unwrap_err();
    let (is_cancelled, is_late) = (end == End::Cancelled, matches!(end, End::TimedOut | End::OutOfTime));
    assert_eq!((error.is_cancelled(), error.is_timeout()), (is_cancelled, is_late), "{end:?}: {error:?}");
    handle.history().messages().to_vec()
}

#[tokio::test(start_paused = true)]
async fn the_history_and_the_journal_keep_what_finished_however_the_turn_ends() {
    for end in ENDS {
        for streaming in [false, true] {
            let journal = MemoryJournal::new();
            let runtime = end.builder().streaming(streaming).build().unwrap();
            assert_eq!(results(&ended(end, &runtime, &journal).await), paid_ann(), "{end:?}, streaming: {streaming}");
            let payments = journal
                .records()
                .into_iter()
                .filter(|record| record.kind == StepKind::Tool && &*record.name == "remit");
            assert_eq!(payments.count(), 1, "{end:?}, streaming: {streaming}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_chat_goes_on_with_what_finished_also_after_it_was_saved() {
    for end in ENDS.into_iter().filter(|end| *end != End::Cancelled) {
        let runtime = end.builder().build().unwrap();
        let mut chat = runtime.chat();
        let ended = tokio::time::timeout(10 * SECOND, chat.send(go())).await;
        assert!(!matches!(ended, Ok(Ok(_))), "{end:?}");
        let saved = serde_json::to_string(&chat.state()).unwrap();

        let model = ScriptedModel::new().text("Ann.");
        let later = Runtime::builder().force_model(model.clone()).build().unwrap();
        let mut chat = later.chat().with_state(serde_json::from_str(&saved).unwrap());
        assert_eq!(chat.send(payer { input: "Whom did you pay?".into() }).await.unwrap(), "Ann.");
        assert_eq!(results(&model.requests()[0].messages), paid_ann(), "{end:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn of_concurrent_calls_those_that_finished_are_kept_at_their_places() {
    let ask = |id: &str, of: &str| call(id, "balance", &json!({ "of": of }));
    // Some servers give all calls one id.
    for ids in [["1", "2", "3"], ["one", "one", "one"]] {
        let calls = [ask(ids[0], "Lost"), ask(ids[1], "Ann"), ask(ids[2], "Bob")];
        let runtime = Runtime::builder().force_model(ScriptedModel::new().answer(calls)).build().unwrap();
        let start = runtime.start(go());
        let handle = start.handle();
        tokio::time::timeout(SECOND, std::future::IntoFuture::into_future(start)).await.unwrap_err();
        let kept = results(handle.history().messages());
        assert_eq!(kept, expected(&[UNFINISHED, "Ann has 3", "Bob has 3"]), "{ids:?}");
    }
}

#[tokio::test]
async fn a_concurrent_call_that_a_limit_refuses_leaves_the_results_of_other_calls() {
    let ask = |id: &str, of: &str| call(id, "balance", &json!({ "of": of }));
    let model = ScriptedModel::new().answer([ask("1", "Ann"), ask("2", "Bob"), ask("3", "Cid")]);
    let runtime = Runtime::builder().force_model(model).limits(Limits::new().tool_calls(2)).build().unwrap();
    let start = runtime.start(go());
    let handle = start.handle();
    start.await.unwrap_err();
    assert_eq!(results(handle.history().messages()), expected(&["Ann has 3", "Bob has 3", UNFINISHED]));
}

#[tokio::test]
async fn a_thread_keeps_what_finished_and_a_replay_restores_it() {
    let journal = MemoryJournal::new();
    let model = End::ModelFailed.model().text("Ann.");
    let builder = || Runtime::builder().approval_mode(ApprovalMode::ApproveAll);
    let mut chat = builder().force_model(model.clone()).journal(journal.clone()).build().unwrap().chat();
    let error = chat.send(pay_in_thread {}).await.unwrap();
    assert!(error.contains("down"), "{error}");
    assert_eq!(results(&model.requests()[2].messages), paid_ann());

    let replay = builder().force_model(ScriptedModel::new()).journal(journal.replayed()).build().unwrap();
    let mut replayed = replay.chat();
    assert_eq!(replayed.send(pay_in_thread {}).await.unwrap(), error);
    assert_eq!(replayed.state().threads, chat.state().threads);
}

/// Opens the journal of one process; of the journals in memory, this one.
async fn opened(kind: &str, folder: &Path, memory: MemoryJournal) -> Arc<dyn Journal> {
    match kind {
        "file" => Arc::new(FileJournal::open(folder.join("run.jsonl")).unwrap()),
        "sqlite" => Arc::new(SqliteJournal::open(folder.join("runs.db")).unwrap().run("1").await.unwrap()),
        _ => Arc::new(memory),
    }
}

/// Runs a process with an approver; returns the result, whom it was asked about, and the payments that ran.
async fn process(model: &ScriptedModel, journal: Arc<dyn Journal>) -> (Result<String, CallError>, Vec<String>, usize) {
    let (asked, recorder) = (Arc::new(Mutex::new(Vec::new())), Recorder::new());
    let seen = Arc::clone(&asked);
    let builder = Runtime::builder().force_model(model.clone()).sink(recorder.clone()).approve_with(move |request| {
        seen.lock().unwrap().push(request.arguments["to"].as_str().unwrap_or_default().to_owned());
        std::future::ready(Decision::approve())
    });
    let result = builder.build().unwrap().start(go()).shared_journal(journal).await;
    let ran = recorder.events().into_iter().filter(|event| {
        &*event.name == "remit" && matches!(event.kind, EventKind::CallFinished { replayed: false, .. })
    });
    let asked = asked.lock().unwrap().clone();
    (result, asked, ran.count())
}

#[tokio::test]
async fn a_resumed_run_makes_only_the_calls_that_did_not_finish() {
    for kind in ["memory", "file", "sqlite"] {
        let (folder, memory) = (tempfile::tempdir().unwrap(), MemoryJournal::new());
        let journal = opened(kind, folder.path(), memory.clone()).await;
        let (result, asked, ran) = process(&End::ModelFailed.model(), journal).await;
        assert!(chain(&result.unwrap_err()).contains("down"), "{kind}");
        assert_eq!((asked, ran), (vec!["Ann".to_owned()], 1), "{kind}");

        let model = ScriptedModel::new().text("Yes.").text("Paid.");
        let journal = opened(kind, folder.path(), memory.replayed()).await;
        let (result, asked, ran) = process(&model, journal).await;
        assert_eq!(result.unwrap(), "Paid.", "{kind}");
        assert_eq!((asked, ran), (vec!["Bob".to_owned()], 1), "{kind}");
        let all = expected(&["paid Ann", "Yes.", "paid Bob"]);
        assert_eq!(results(&model.requests()[1].messages), all, "{kind}");
    }
}
