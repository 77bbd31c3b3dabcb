//! Messages to unfinished runs: where they join, what they interrupt, and how they are replayed.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex};

use futures_util::{StreamExt, stream};
use llm_do::approval::{ApprovalMode, Decision};
use llm_do::event::EventKind;
use llm_do::guard::{FunctionGuard, Refusal};
use llm_do::harden::Cases;
use llm_do::journal::{FileJournal, Journal, MemoryJournal, SqliteJournal, StepKind};
use llm_do::model::{
    Message, Profile, ProviderError, Request, Response, ResponsePart, ResponseStream, StreamEvent, ToolCall, UserPart,
};
use llm_do::prelude::*;
use llm_do::runtime::{ChatHandle, RunHandle, RunMessage, RuntimeBuilder, SendError};
use llm_do::testing::Recorder;
use llm_do::usage::Usage;
use llm_do::{History, Limits, Model, async_trait};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::chat::fault;

/// Answer.
#[worker(toolsets = [speak, jot_down, spend, spoken_helper])]
async fn spoken_to(input: String) -> String;

/// Answer in one request.
#[worker(max_turns = 1)]
async fn spoken_once(input: String) -> String;

/// Help.
#[worker]
async fn spoken_helper(input: String) -> String;

/// Asks no worker.
#[entry]
async fn speechless(ctx: &CallContext) -> String {
    ctx.progress("nothing to do");
    "done".into()
}

/// Asks a question, and then a worker.
#[entry(toolsets = [spoken_helper])]
async fn question_first(ctx: &CallContext<question_first>) -> Result<String> {
    let first = ctx.llm_ask("A number?").await?;
    Ok(first + &ctx.call(spoken_helper { input: "Help.".into() }).await?)
}

/// The runs that tools of a test speak to, by the name of the test.
static SPEAKERS: Mutex<BTreeMap<String, Speaker>> = Mutex::new(BTreeMap::new());

/// Speak to the run of a test.
#[tool(effect = idempotent)]
#[expect(clippy::similar_names, reason = "the model gives both")]
fn speak(test: String, text: String, interrupt: bool) -> String {
    let message = RunMessage::new(text);
    SPEAKERS.lock().unwrap()[&test].send(if interrupt { message.interrupt() } else { message });
    "spoken".into()
}

/// Take a note.
#[tool(effect = idempotent)]
fn jot_down(text: String) -> String {
    text
}

/// Spend money.
#[tool(effect = destructive)]
fn spend(cents: u32) -> u32 {
    cents
}

/// A run, or the chat that it is in.
#[derive(Clone, Debug)]
enum Spoken {
    Run(RunHandle),
    Chat(ChatHandle),
}

impl Spoken {
    fn send(&self, message: impl Into<RunMessage>) -> Result<(), SendError> {
        match self {
            Self::Run(run) => run.send(message),
            Self::Chat(chat) => chat.send(message),
        }
    }
}

/// Who speaks to a run.
#[derive(Clone, Debug, Default)]
struct Speaker(Arc<Mutex<Option<Spoken>>>);

impl Speaker {
    fn set(&self, run: RunHandle) {
        *self.0.lock().unwrap() = Some(Spoken::Run(run));
    }

    fn send(&self, message: impl Into<RunMessage>) {
        let run = self.0.lock().unwrap().clone();
        run.expect("the run is started").send(message).unwrap();
    }
}

/// A part of a streamed answer.
#[derive(Clone, Debug)]
enum Piece {
    Text(&'static str),
    /// The user speaks to the run.
    Send(RunMessage),
    Done(Vec<ResponsePart>),
    /// The answer goes no further.
    Hang,
}

/// A model whose requests are answered by these pieces, in order.
#[derive(Clone, Debug)]
struct Talker {
    answers: Arc<Mutex<VecDeque<Vec<Piece>>>>,
    speaker: Speaker,
    requests: Arc<Mutex<Vec<Vec<String>>>>,
    hanging: Arc<Notify>,
}

impl Talker {
    fn new(answers: impl IntoIterator<Item = Vec<Piece>>) -> Self {
        let answers = Arc::new(Mutex::new(answers.into_iter().collect()));
        Self { answers, speaker: Speaker::default(), requests: Arc::default(), hanging: Arc::default() }
    }

    fn requests(&self) -> Vec<Vec<String>> {
        self.requests.lock().unwrap().clone()
    }

    /// Returns the last messages of a request.
    fn last(&self, request: usize, count: usize) -> Vec<String> {
        let messages = self.requests()[request].clone();
        messages[messages.len() - count..].to_vec()
    }

    fn builder(&self) -> RuntimeBuilder {
        Runtime::builder().force_model(self.clone()).streaming(true).approval_mode(ApprovalMode::ApproveAll)
    }
}

#[async_trait]
impl Model for Talker {
    fn name(&self) -> &'static str {
        "test:talker"
    }

    fn profile(&self) -> Profile {
        Profile::BASIC
    }

    async fn request(&self, _: Request<'_>) -> Result<Response, ProviderError> {
        unreachable!("the model is streamed")
    }

    async fn stream(&self, request: Request<'_>) -> Result<ResponseStream, ProviderError> {
        assert_eq!(fault(request.messages), None);
        self.requests.lock().unwrap().push(request.messages.iter().map(shown).collect());
        let pieces = self.answers.lock().unwrap().pop_front().expect("an answer for each request");
        let model = self.clone();
        let events = stream::iter(pieces).filter_map(move |piece| {
            let model = model.clone();
            async move {
                match piece {
                    Piece::Text(text) => Some(Ok::<_, ProviderError>(StreamEvent::Text(text.to_owned()))),
                    Piece::Send(message) => {
                        model.speaker.send(message);
                        None
                    }
                    Piece::Done(parts) => {
                        Some(Ok(StreamEvent::Done(Response::new("m", parts, Usage::of_request(10, 5)))))
                    }
                    Piece::Hang => {
                        model.hanging.notify_one();
                        std::future::pending().await
                    }
                }
            }
        });
        Ok(Box::pin(events))
    }
}

fn shown(message: &Message) -> String {
    match message {
        Message::User { parts } => format!("user: {}", parts.iter().map(user_text).collect::<String>()),
        Message::Assistant { parts } => {
            format!("model: {}", parts.iter().map(model_text).collect::<Vec<_>>().join(" "))
        }
        Message::Tool { results } => {
            let results = results.iter().map(|result| format!("{}: {}", result.name, result.content));
            format!("results: {}", results.collect::<Vec<_>>().join("; "))
        }
        other => format!("{other:?}"),
    }
}

fn user_text(part: &UserPart) -> &str {
    match part {
        UserPart::Text { text } => text,
        _ => "(a file)",
    }
}

fn model_text(part: &ResponsePart) -> &str {
    match part {
        ResponsePart::Text { text } => text,
        ResponsePart::ToolCall(call) => &call.name,
        _ => "(other)",
    }
}

fn text(text: &str) -> Piece {
    Piece::Done(vec![ResponsePart::Text { text: text.to_owned() }])
}

fn calls(calls: &[(&str, Value)]) -> Piece {
    let call = |(index, (name, arguments)): (usize, &(&str, Value))| {
        ResponsePart::ToolCall(ToolCall::new(format!("c{index}"), *name, arguments.to_string()))
    };
    Piece::Done(calls.iter().enumerate().map(call).collect())
}

fn sent(message: impl Into<RunMessage>) -> Piece {
    Piece::Send(message.into())
}

fn stop(message: &str) -> Piece {
    Piece::Send(RunMessage::new(message).interrupt())
}

fn note() -> (&'static str, Value) {
    ("jot_down", json!({ "text": "noted" }))
}

/// Runs the worker, and returns its result and its handle.
async fn run(model: &Talker) -> (Result<String, CallError>, RunHandle) {
    run_of(model, model.builder()).await
}

async fn run_of(model: &Talker, builder: RuntimeBuilder) -> (Result<String, CallError>, RunHandle) {
    let start = builder.build().unwrap().start(spoken_to { input: "Plan.".into() });
    let handle = start.handle();
    model.speaker.set(handle.clone());
    (start.await, handle)
}

fn messages(history: &History) -> Vec<String> {
    history.messages().iter().map(shown).collect()
}

#[tokio::test]
async fn a_message_in_the_middle_of_a_stream_joins_after_the_results_of_the_turn() {
    let model = Talker::new([vec![Piece::Text("I "), sent("By train."), calls(&[note()])], vec![text("Planned.")]]);
    let (result, handle) = run(&model).await;
    assert_eq!(result.unwrap(), "Planned.");
    assert_eq!(model.last(1, 3), ["model: jot_down", "results: jot_down: noted", "user: By train."]);
    assert!(handle.pending_messages().is_empty());
}

#[tokio::test]
async fn a_message_that_is_sent_before_the_run_starts_is_in_its_first_request() {
    let model = Talker::new([vec![text("Planned.")]]);
    let start = model.builder().build().unwrap().start(spoken_to { input: "Plan.".into() });
    start.handle().send("By train.").unwrap();
    assert_eq!(start.await.unwrap(), "Planned.");
    assert_eq!(model.requests(), [["user: Plan.", "user: By train."]]);
}

#[tokio::test]
async fn a_message_during_the_last_answer_is_answered_before_the_run_ends() {
    let model = Talker::new([vec![sent("And back."), text("There.")], vec![text("There and back.")]]);
    let (result, handle) = run(&model).await;
    assert_eq!(result.unwrap(), "There and back.");
    assert_eq!(model.last(1, 2), ["model: There.", "user: And back."]);
    assert_eq!(messages(&handle.history()).len(), 4);
}

#[tokio::test]
async fn a_message_during_a_tool_joins_after_its_result() {
    let call = ("speak", json!({ "test": "tool", "text": "Shorter.", "interrupt": false }));
    let model = Talker::new([vec![calls(&[call, note()])], vec![text("Short.")]]);
    SPEAKERS.lock().unwrap().insert("tool".into(), model.speaker.clone());
    assert_eq!(run(&model).await.0.unwrap(), "Short.");
    assert_eq!(model.last(1, 2), ["results: speak: spoken; jot_down: noted", "user: Shorter."]);
}

#[tokio::test]
async fn a_message_during_an_approval_joins_after_the_call() {
    let model = Talker::new([vec![calls(&[("spend", json!({ "cents": 5 }))])], vec![text("Spent.")]]);
    let (recorder, speaker) = (Recorder::new(), model.speaker.clone());
    let builder = Runtime::builder().force_model(model.clone()).streaming(true).sink(recorder.clone());
    let builder = builder.approve_with(move |_| {
        speaker.send("Keep the receipt.");
        async { Decision::approve() }
    });
    assert_eq!(run_of(&model, builder).await.0.unwrap(), "Spent.");
    assert_eq!(model.last(1, 2), ["results: spend: 5", "user: Keep the receipt."]);
    let joined = |kind| match kind {
        EventKind::UserMessage { text, interrupts, replayed, .. } => Some((text, interrupts, replayed)),
        _ => None,
    };
    let joined: Vec<_> = recorder.kinds().into_iter().filter_map(joined).collect();
    assert_eq!(joined, [("Keep the receipt.".to_owned(), false, false)]);
}

#[tokio::test]
async fn an_interruption_ends_the_request_and_keeps_the_text_that_has_arrived() {
    let model = Talker::new([vec![Piece::Text("Take the "), stop("In French."), Piece::Hang], vec![text("Prenez.")]]);
    let (result, handle) = run(&model).await;
    assert_eq!(result.unwrap(), "Prenez.");
    assert_eq!(model.last(1, 3), ["user: Plan.", "model: Take the ", "user: In French."]);
    assert_eq!(handle.usage().model.requests, 2, "the interrupted request counts");
}

#[tokio::test]
async fn an_interruption_before_any_text_leaves_no_empty_answer() {
    let model = Talker::new([vec![stop("In French."), Piece::Hang], vec![text("Prenez.")]]);
    assert_eq!(run(&model).await.0.unwrap(), "Prenez.");
    assert_eq!(model.last(1, 2), ["user: Plan.", "user: In French."]);
}

#[tokio::test]
async fn an_interruption_waits_for_the_tool_and_skips_the_calls_after_it() {
    let call = ("speak", json!({ "test": "skip", "text": "Stop.", "interrupt": true }));
    let model = Talker::new([vec![calls(&[call, note(), note()])], vec![text("Stopped.")]]);
    SPEAKERS.lock().unwrap().insert("skip".into(), model.speaker.clone());
    assert_eq!(run(&model).await.0.unwrap(), "Stopped.");
    let skipped = "not run: the user interrupted; read the user's message";
    let results = format!("results: speak: spoken; jot_down: {skipped}; jot_down: {skipped}");
    assert_eq!(model.last(1, 2), [results.as_str(), "user: Stop."]);
}

#[tokio::test]
async fn a_run_that_has_ended_refuses_messages() {
    let model = Talker::new([vec![text("Planned.")]]);
    let (result, handle) = run(&model).await;
    result.unwrap();
    let error = handle.send("One more thing.").unwrap_err();
    assert_eq!(error, SendError::Ended);
    assert_eq!(error.to_string(), "the run has ended and takes no more messages; start another run");
    let dropped = model.builder().build().unwrap().start(spoken_to { input: "Plan.".into() });
    let handle = dropped.handle();
    drop(dropped);
    assert_eq!(handle.send("Hello?"), Err(SendError::Ended));
    assert_eq!(handle.send(" "), Err(SendError::Empty));
}

#[tokio::test]
async fn a_run_without_a_worker_leaves_its_messages() {
    let start = Runtime::builder().build().unwrap().start(speechless {});
    let handle = start.handle();
    handle.send("Hello?").unwrap();
    assert_eq!(start.await.unwrap(), "done");
    assert_eq!(handle.pending_messages(), [RunMessage::new("Hello?")]);
}

#[tokio::test]
async fn limits_hold_for_messages() {
    let model = Talker::new([vec![sent("And back."), text("There.")]]);
    let start = model.builder().build().unwrap().start(spoken_once { input: "Plan.".into() });
    let handle = start.handle();
    model.speaker.set(handle.clone());
    assert_eq!(start.await.unwrap(), "There.", "the answer counts, and the message has no further request");
    assert_eq!(handle.pending_messages(), [RunMessage::new("And back.")]);

    let model = Talker::new([vec![sent("And back."), text("There.")]]);
    let (result, _) = run_of(&model, model.builder().limits(Limits::new().requests(1))).await;
    assert!(matches!(result, Err(CallError::Limit { .. })), "{result:?}");
}

#[tokio::test]
async fn a_message_to_a_nested_worker_joins_its_conversation_alone() {
    let helper = ("spoken_helper", json!({ "input": "Help." }));
    let to_helper = RunMessage::new("Quickly.").to("spoken_helper");
    let model = Talker::new([
        vec![calls(&[helper])],
        vec![sent(to_helper), sent("Politely."), text("Here.")],
        vec![text("Here, quickly.")],
        vec![text("Thank you.")],
    ]);
    assert_eq!(run(&model).await.0.unwrap(), "Thank you.");
    assert_eq!(model.last(2, 3), ["user: Help.", "model: Here.", "user: Quickly."]);
    assert_eq!(model.last(3, 2), ["results: spoken_helper: Here, quickly.", "user: Politely."]);
}

#[tokio::test]
async fn a_question_takes_no_messages() {
    let model = Talker::new([vec![sent("Be brief."), text("7")], vec![text("!")]]);
    let start = model.builder().build().unwrap().start(question_first {});
    model.speaker.set(start.handle());
    assert_eq!(start.await.unwrap(), "7!");
    assert_eq!(model.requests()[1], ["user: Help.", "user: Be brief."]);
}

#[tokio::test]
async fn a_chat_passes_messages_on_while_it_answers() {
    let model = Talker::new([vec![text("Hello.")]]);
    let runtime = model.builder().build().unwrap();
    let mut chat = runtime.chat();
    let handle = chat.handle();
    assert_eq!(handle.send("Too early."), Err(SendError::Ended));
    let answering = chat.send(spoken_to { input: "Hi.".into() });
    handle.send("In one word.").unwrap();
    assert_eq!(answering.await.unwrap(), "Hello.");
    assert_eq!(handle.send("Too late."), Err(SendError::Ended));
    assert_eq!(messages(&chat.state().workers["spoken_to"]), ["user: Hi.", "user: In one word.", "model: Hello."]);
}

#[tokio::test]
async fn a_message_to_a_chat_joins_in_the_middle_of_a_stream_a_tool_and_an_approval() {
    let tool = ("speak", json!({ "test": "chat", "text": "To the tool.", "interrupt": false }));
    let paid = ("spend", json!({ "cents": 5 }));
    let model = Talker::new([
        vec![Piece::Text("I "), sent("To the stream."), calls(&[note()])],
        vec![calls(&[tool])],
        vec![calls(&[paid])],
        vec![text("Done.")],
    ]);
    SPEAKERS.lock().unwrap().insert("chat".into(), model.speaker.clone());
    let speaker = model.speaker.clone();
    let builder = Runtime::builder().force_model(model.clone()).streaming(true);
    let runtime = builder
        .approve_with(move |_| {
            speaker.send("To the approver.");
            async { Decision::approve() }
        })
        .build()
        .unwrap();
    let mut chat = runtime.chat();
    *model.speaker.0.lock().unwrap() = Some(Spoken::Chat(chat.handle()));
    assert_eq!(chat.send(spoken_to { input: "Plan.".into() }).await.unwrap(), "Done.");
    let last = |request| model.last(request, 2);
    assert_eq!(last(1), ["results: jot_down: noted", "user: To the stream."]);
    assert_eq!(last(2), ["results: speak: spoken", "user: To the tool."]);
    assert_eq!(last(3), ["results: spend: 5", "user: To the approver."]);
}

#[tokio::test]
async fn a_message_during_the_approval_of_a_resumed_run_joins_after_the_call() {
    let journal = MemoryJournal::new();
    let model = Talker::new([vec![calls(&[("spend", json!({ "cents": 5 }))])]]);
    let asked = Arc::new(Notify::new());
    let asks = Arc::clone(&asked);
    let builder = Runtime::builder().force_model(model.clone()).streaming(true);
    let runtime = builder.approve_with(move |_| {
        asks.notify_one();
        std::future::pending::<Decision>()
    });
    let start = runtime.build().unwrap().start(spoken_to { input: "Plan.".into() }).journal(journal.clone());
    tokio::select! {
        biased;
        () = asked.notified() => {}
        ended = start.into_future() => panic!("the run ended: {ended:?}"),
    }
    let model = Talker::new([vec![text("Spent.")]]);
    let speaker = model.speaker.clone();
    let builder = Runtime::builder().force_model(model.clone()).streaming(true).journal(journal.replayed());
    let builder = builder.approve_with(move |_| {
        speaker.send("Keep the receipt.");
        async { Decision::approve() }
    });
    assert_eq!(run_of(&model, builder).await.0.unwrap(), "Spent.");
    assert_eq!(model.last(0, 2), ["results: spend: 5", "user: Keep the receipt."]);
}

/// The journals, each in its place below a folder.
async fn journals(folder: &Path) -> [Arc<dyn Journal>; 2] {
    let file = FileJournal::open(folder.join("run.jsonl")).unwrap();
    let sqlite = SqliteJournal::open(folder.join("runs.db")).unwrap();
    [Arc::new(file), Arc::new(sqlite.run("1").await.unwrap())]
}

/// Runs the worker with a journal.
async fn recorded(model: &Talker, journal: Arc<dyn Journal>) -> (String, Vec<String>) {
    let start = model.builder().build().unwrap().start(spoken_to { input: "Plan.".into() }).shared_journal(journal);
    let handle = start.handle();
    model.speaker.set(handle.clone());
    let result = start.await.unwrap();
    // The handle of a run holds its journal.
    *model.speaker.0.lock().unwrap() = None;
    (result, messages(&handle.history()))
}

/// A run with messages of all kinds.
fn all_kinds(test: &str) -> Talker {
    let interrupting = ("speak", json!({ "test": test, "text": "Stop.", "interrupt": true }));
    let model = Talker::new([
        vec![sent("By train."), calls(&[note()])],
        vec![Piece::Text("Take "), stop("In French."), Piece::Hang],
        vec![calls(&[interrupting, note()])],
        vec![sent("And back."), text("Prenez.")],
        vec![text("Prenez, et retour.")],
    ]);
    SPEAKERS.lock().unwrap().insert(test.into(), model.speaker.clone());
    model
}

#[tokio::test]
async fn messages_are_replayed_in_their_place_with_each_journal() {
    let (folder, memory) = (tempfile::tempdir().unwrap(), MemoryJournal::new());
    let live = recorded(&all_kinds("replayed memory"), Arc::new(memory.clone())).await;
    assert_eq!(live.0, "Prenez, et retour.");
    let steps = memory.records().iter().filter(|record| record.kind == StepKind::Message).count();
    assert_eq!(steps, 4);
    assert_eq!(recorded(&Talker::new([]), Arc::new(memory.replayed())).await, live);
    for journal in journals(folder.path()).await {
        assert_eq!(recorded(&all_kinds("replayed memory"), journal).await, live);
    }
    for journal in journals(folder.path()).await {
        assert_eq!(recorded(&Talker::new([]), journal).await, live);
    }
}

#[tokio::test]
async fn a_finished_run_that_is_replayed_takes_no_messages() {
    let journal = MemoryJournal::new();
    recorded(&Talker::new([vec![text("Planned.")]]), Arc::new(journal.clone())).await;
    let model = Talker::new([]);
    let start = model.builder().build().unwrap().start(spoken_to { input: "Plan.".into() });
    let start = start.journal(journal.replayed());
    let handle = start.handle();
    handle.send("Again.").unwrap();
    assert_eq!(start.await.unwrap(), "Planned.");
    assert_eq!(handle.pending_messages(), [RunMessage::new("Again.")]);
}

#[tokio::test]
async fn a_run_that_died_after_a_message_goes_on_with_it_and_takes_new_ones_later() {
    let journal = MemoryJournal::new();
    let model = Talker::new([vec![sent("By train."), calls(&[note()])], vec![Piece::Hang]]);
    tokio::select! {
        biased;
        () = model.hanging.notified() => {}
        ended = recorded(&model, Arc::new(journal.clone())) => panic!("the run ended: {ended:?}"),
    }
    let resumed = Talker::new([vec![text("Planned.")], vec![text("Booked.")]]);
    let start = resumed.builder().build().unwrap().start(spoken_to { input: "Plan.".into() });
    let start = start.journal(journal.replayed());
    let handle = start.handle();
    handle.send("Book it.").unwrap();
    assert_eq!(start.await.unwrap(), "Booked.");
    assert_eq!(resumed.requests()[0], model.requests()[1], "the recorded message, and not the new one");
    assert_eq!(resumed.last(1, 2), ["model: Planned.", "user: Book it."]);
}

#[tokio::test]
async fn a_guard_sees_a_message_in_the_request_that_has_it() {
    let model = Talker::new([vec![sent("The password is 1234."), text("There.")]]);
    let guard = FunctionGuard::new("passwords").before_request(|request| {
        let has_password = request.messages().iter().any(|message| shown(message).contains("password"));
        if has_password { Err(Refusal::stop("no passwords")) } else { Ok(()) }
    });
    let (result, _) = run_of(&model, model.builder().guard(guard)).await;
    assert!(matches!(result, Err(CallError::Refused { .. })), "{result:?}");
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn an_answer_after_a_message_is_left_out_of_the_cases_of_its_worker() {
    let cases = async |model: Talker| {
        let journal = MemoryJournal::new();
        recorded(&model, Arc::new(journal.clone())).await;
        let mut cases = Cases::of("spoken_to");
        cases.add(journal.records());
        cases.len()
    };
    assert_eq!(cases(Talker::new([vec![text("There.")]])).await, 1);
    assert_eq!(cases(Talker::new([vec![sent("And back."), text("There.")], vec![text("Both.")]])).await, 0);
}
