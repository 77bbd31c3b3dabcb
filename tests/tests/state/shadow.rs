//! Shadows: a worker that runs alongside a tool, in the background.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use llm_do::approval::{ApprovalMode, Decision, Policy, WorkerRule};
use llm_do::context::{InputHandler, InputRequest};
use llm_do::event::{Event, EventKind, Outcome, Terminal, Verbosity};
use llm_do::harden::Shadow;
use llm_do::journal::MemoryJournal;
use llm_do::model::{Request, Response, ResponsePart};
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{FunctionModel, Recorder, TestModel};
use llm_do::usage::Usage;
use llm_do::{Limits, Value, async_trait, json};
use tokio::sync::{Barrier, Notify};

/// State that the tools share with the tests; each runtime gets all of it.
#[derive(Default)]
struct Shared {
    /// How often something was written down.
    written: Arc<AtomicUsize>,
    /// Lets a model answer.
    free: Option<Mutex<Sender<()>>>,
    meeting: Meeting,
}

/// Counts concurrent calls and their maximum.
#[derive(Default)]
struct Meeting {
    here: AtomicUsize,
    most: Arc<AtomicUsize>,
    barrier: Option<Barrier>,
}

/// Count the words of a text.
#[tool(effect = read_only, inline)]
fn count(text: &str) -> Result<usize> {
    match text {
        "" => Err("there is no text".into()),
        text => Ok(text.split_whitespace().count()),
    }
}

/// Count the words of a text, by feel.
#[worker]
async fn feel(text: String) -> usize;

/// Say how many words there are.
#[worker]
async fn rate(text: String) -> String;

/// Counts the words of texts, without those that fail.
#[entry(toolsets = [count])]
async fn count_all(ctx: &CallContext<count_all>, texts: Vec<String>) -> Result<Vec<usize>> {
    let mut counts = Vec::new();
    for text in texts {
        counts.extend(ctx.call(count { text }).await);
    }
    Ok(counts)
}

fn texts(texts: &[&str]) -> count_all {
    count_all { texts: texts.iter().map(|text| (*text).to_owned()).collect() }
}

/// Returns a session whose worker always answers 2.
fn builder(shadow: Shadow) -> (RuntimeBuilder, Recorder) {
    let recorder = Recorder::new();
    let model = TestModel::new().output(json!({ "result": 2 }));
    let builder = crate::own_builder().state(Shared::default()).force_model(model);
    (builder.shadow(shadow).sink(recorder.clone()), recorder)
}

fn feeling() -> Shadow {
    Shadow::of("count", "feel")
}

/// Returns the outcomes of shadows: the worker's name, whether it agrees, and the outcomes of the tool and the worker.
fn shadowed(recorder: &Recorder) -> Vec<(String, bool, Outcome, Outcome)> {
    let of = |kind| match kind {
        EventKind::Shadowed { worker, agrees, answer, other } => Some((worker, agrees, answer, other)),
        _ => None,
    };
    recorder.kinds().into_iter().filter_map(of).collect()
}

/// Returns the indices of the events that match `is`.
fn at(events: &[Event], is: impl Fn(&Event) -> bool) -> Vec<usize> {
    events.iter().enumerate().filter(|(_, event)| is(event)).map(|(place, _)| place).collect()
}

fn result(value: impl Into<Value>) -> Outcome {
    let value: Value = value.into();
    Outcome::Result(value.into())
}

fn error_of(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Error(error) => error,
        other => panic!("{other:?}"),
    }
}

fn requests(recorder: &Recorder) -> usize {
    recorder.kinds().iter().filter(|kind| matches!(kind, EventKind::ModelRequest { .. })).count()
}

#[tokio::test]
async fn agreement_and_disagreement_are_reported_with_both_results() {
    let (builder, recorder) = builder(feeling());
    let counts = builder.build().unwrap().run(texts(&["two words", "one"])).await.unwrap();
    assert_eq!(counts, [2, 1], "the tool answers");
    let mut shadowed = shadowed(&recorder);
    // They ran concurrently.
    shadowed.sort_by_key(|(_, agrees, ..)| !*agrees);
    let feel = || "feel".to_owned();
    let expected = [(feel(), true, result(2), result(2)), (feel(), false, result(1), result(2))];
    assert_eq!(shadowed, expected);
}

/// Counts, and then lets the model answer.
#[entry(toolsets = [count])]
async fn count_and_go_on(ctx: &CallContext<count_and_go_on>, shared: &State<Shared>) -> Result<usize> {
    let count = ctx.call(count { text: "one".into() }).await?;
    if let Some(free) = &shared.free {
        free.lock().unwrap().send(())?;
    }
    Ok(count)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_caller_does_not_wait_for_the_worker() {
    let (go_on, waiting) = channel::<()>();
    let (waiting, in_time) = (Mutex::new(waiting), Arc::<AtomicUsize>::default());
    let seen = Arc::clone(&in_time);
    let model = FunctionModel::new(move |_: Request<'_>| {
        let is_free = waiting.lock().unwrap().recv_timeout(Duration::from_secs(20)).is_ok();
        seen.fetch_add(usize::from(is_free), Ordering::SeqCst);
        Ok(Response::new("m", vec![ResponsePart::Text { text: "none".to_owned() }], Usage::default()))
    });

    let shadow = Shadow::of("count", "rate");
    let shared = Shared { free: Some(Mutex::new(go_on)), ..Shared::default() };
    let runtime = crate::own_builder().force_model(model).shadow(shadow).state(shared).build().unwrap();
    assert_eq!(tokio::spawn(async move { runtime.run(count_and_go_on {}).await }).await.unwrap().unwrap(), 1);
    assert_eq!(in_time.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn the_worker_is_below_the_tools_call_and_the_root_call_waits_for_it() {
    let (builder, recorder) = builder(feeling());
    builder.build().unwrap().run(texts(&["two words"])).await.unwrap();
    let events = recorder.events();
    let started = |name: &str| {
        let is_start = |event: &Event| &*event.name == name && matches!(event.kind, EventKind::CallStarted { .. });
        events.iter().find(|event| is_start(event)).unwrap().clone()
    };
    let (tool, worker) = (started("count"), started("feel"));
    assert_eq!((worker.parent, worker.depth), (Some(tool.call), 1));
    let [shadowed] = at(&events, |event| matches!(event.kind, EventKind::Shadowed { .. })).try_into().unwrap();
    assert_eq!(
        (events[shadowed].call, &*events[shadowed].name, events[shadowed].parent),
        (tool.call, "count", Some(0))
    );
    let [.., used] = at(&events, |event| matches!(event.kind, EventKind::Usage { .. }))[..] else { panic!() };
    assert_eq!((used, shadowed), (events.len() - 1, events.len() - 2), "{events:?}");
    let EventKind::Usage { used } = &events[used].kind else { unreachable!() };
    assert_eq!(used.model.requests, 1, "the run's last word has what the shadow used");
}

#[tokio::test]
async fn every_nth_call_of_the_session_is_shadowed() {
    let (builder, recorder) = builder(feeling().every(3));
    let runtime = builder.build().unwrap();
    runtime.run(texts(&["a", "b b", "c c c", "d d d d"])).await.unwrap();
    runtime.run(texts(&["e e e e e", "f f f f f f", "g"])).await.unwrap();
    let answers: Vec<_> = shadowed(&recorder).into_iter().map(|(_, _, answer, _)| answer).collect();
    assert_eq!(answers, [result(3), result(6)]);
}

#[tokio::test]
async fn a_tool_may_have_several_shadows_with_their_own_count_and_ignored_fields() {
    /// A count, and a note.
    #[data]
    struct Noted {
        count: usize,
        note: String,
    }

    /// Count the words of a text, and describe it.
    #[tool(effect = read_only, inline)]
    fn noted(text: &str) -> Noted {
        Noted { count: text.split_whitespace().count(), note: text.to_owned() }
    }

    /// Count the words of a text, and describe it.
    #[worker]
    async fn note_one(text: String) -> Noted;

    /// Count the words of a text, and describe it.
    #[worker]
    async fn note_other(text: String) -> Noted;

    let recorder = Recorder::new();
    let model = TestModel::new().output(json!({ "count": 1, "note": "a word" }));
    let builder = crate::own_builder().state(Shared::default()).force_model(model).sink(recorder.clone());
    let builder = builder.shadow(Shadow::of("noted", "note_one").ignore("/note").every(2));
    let runtime = builder.shadow(Shadow::of("noted", "note_other")).build().unwrap();
    for _ in 0..2 {
        runtime.run(noted { text: "hello".into() }).await.unwrap();
    }
    let mut seen: Vec<_> = shadowed(&recorder).into_iter().map(|(worker, agrees, ..)| (worker, agrees)).collect();
    seen.sort();
    assert_eq!(seen, [("note_one".into(), true), ("note_other".into(), false), ("note_other".into(), false)]);
}

#[tokio::test]
async fn a_tool_that_fails_disagrees_and_one_that_is_refused_is_not_shadowed() {
    let (builder, recorder) = builder(feeling());
    let runtime = builder.build().unwrap();
    runtime.run(texts(&[""])).await.unwrap();
    let [(_, agrees, answer, other)] = shadowed(&recorder).try_into().unwrap();
    assert_eq!((agrees, other), (false, result(2)));
    assert_eq!(error_of(&answer), "`count` failed: there is no text");
    runtime.run_named("count", json!({ "text": 3 })).await.unwrap_err();
    assert_eq!(shadowed(&recorder).len(), 1, "arguments that do not fit never came to the tool");
}

/// Sees that texts are counted.
#[worker(toolsets = [count])]
async fn overseer(task: String) -> String;

#[tokio::test]
async fn its_usage_counts_for_the_run_and_not_for_the_tools_callers() {
    let (builder, _) = builder(feeling());
    // One to call the tool, and one to answer.
    let builder = builder.worker_limits("overseer", Limits::new().requests(2).tool_calls(1));
    let start = builder.build().unwrap().start(overseer { task: "all".into() });
    let handle = start.handle();
    start.await.unwrap();
    assert_eq!(handle.usage().model.requests, 3);
    assert_eq!(handle.usage_tree().total().model.requests, 3);
    assert!(handle.usage_tree().to_string().contains("feel"), "{}", handle.usage_tree());
}

#[tokio::test]
async fn a_limit_of_the_run_stops_the_shadow_and_not_the_run() {
    let (builder, recorder) = builder(feeling());
    let runtime = builder.limits(Limits::new().requests(0)).build().unwrap();
    assert_eq!(runtime.run(texts(&["two words"])).await.unwrap(), [2]);
    let [(_, agrees, _, other)] = shadowed(&recorder).try_into().unwrap();
    assert!(!agrees && error_of(&other).contains("`requests` is limited to 0"), "{other:?}");
}

/// Note a number down.
#[tool(effect = destructive, inline)]
fn note_down(shared: &State<Shared>) {
    shared.written.fetch_add(1, Ordering::Relaxed);
}

/// Ask how many words there are.
#[tool(effect = read_only)]
async fn ask_who(ctx: &CallContext) -> Result<String> {
    Ok(ctx.request_user_input("How many words?").await?)
}

/// Count the words of a text, and write the number down.
#[worker(toolsets = [note_down])]
async fn writer(text: String) -> usize;

/// Count the words of a text with the user's help.
#[worker(toolsets = [ask_who])]
async fn asker(text: String) -> usize;

fn writing(written: &Arc<AtomicUsize>) -> Shared {
    Shared { written: Arc::clone(written), ..Shared::default() }
}

/// Answers questions, and counts them.
#[derive(Debug)]
struct Counting(Arc<AtomicUsize>);

#[async_trait]
impl InputHandler for Counting {
    async fn answer(&self, _: &InputRequest) -> llm_do::Result<String> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok("2".to_owned())
    }
}

#[tokio::test]
async fn no_user_or_approver_is_asked_for_it_and_no_mode_approves_its_calls() {
    let (written, asked) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
    for mode in [ApprovalMode::ApproveAll, ApprovalMode::Prompt] {
        let (builder, recorder) = builder(Shadow::of("count", "writer"));
        let approved = Arc::clone(&asked);
        let builder = builder.state(writing(&written)).approval_mode(mode).approve_with(move |_| {
            approved.fetch_add(1, Ordering::Relaxed);
            async { Decision::approve() }
        });
        builder.build().unwrap().run(texts(&["two words"])).await.unwrap();
        let [(.., other)] = shadowed(&recorder).try_into().unwrap();
        assert!(error_of(&other).contains("a shadow cannot ask for approval"), "{other:?}");
    }
    let (builder, recorder) = builder(Shadow::of("count", "asker"));
    let builder = builder.state(writing(&written)).input_handler(Counting(Arc::clone(&asked)));
    builder.build().unwrap().run(texts(&["two words"])).await.unwrap();
    assert_eq!(shadowed(&recorder).len(), 1);
    assert_eq!((written.load(Ordering::Relaxed), asked.load(Ordering::Relaxed)), (0, 0));
}

#[tokio::test]
async fn it_may_make_pre_approved_calls_and_a_worker_that_needs_approval_is_not_run() {
    let written = Arc::<AtomicUsize>::default();
    let (one, recorder) = builder(Shadow::of("count", "writer"));
    let free = Policy::new().tool("note_down", llm_do::approval::Rule::PreApproved);
    let runtime = one.state(writing(&written)).policy(free).build().unwrap();
    runtime.run(texts(&["two words"])).await.unwrap();
    assert_eq!((shadowed(&recorder)[0].1, written.load(Ordering::Relaxed)), (true, 1));

    let (other, recorder) = builder(feeling());
    let asks = Policy::new().worker("feel", WorkerRule::new().calls(true));
    let runtime = other.policy(asks).approval_mode(ApprovalMode::ApproveAll).build().unwrap();
    runtime.run(texts(&["two words"])).await.unwrap();
    assert!(error_of(&shadowed(&recorder)[0].3).contains("call to `feel` denied"), "{:?}", shadowed(&recorder));
}

#[tokio::test]
async fn it_is_not_in_the_journal_and_a_replayed_call_has_none() {
    let journal = MemoryJournal::new();
    let (one, recorder) = builder(feeling());
    one.journal(journal.clone()).build().unwrap().run(texts(&["two words", "one"])).await.unwrap();
    assert_eq!(shadowed(&recorder).len(), 2);
    let names: Vec<_> = journal.records().iter().map(|record| record.name.to_string()).collect();
    assert_eq!(names, ["count_all", "count", "count", "count_all"], "the run, its calls, its result");

    let (again, recorder) = builder(feeling());
    let counts = again.journal(journal.replayed()).build().unwrap().run(texts(&["two words", "one"])).await.unwrap();
    assert_eq!((counts, shadowed(&recorder).len(), requests(&recorder)), (vec![2, 1], 0, 0));
}

#[tokio::test]
async fn a_replayed_root_worker_has_no_shadow() {
    let journal = MemoryJournal::new();
    for shadows in [1, 0] {
        let journal = if shadows == 0 { journal.replayed() } else { journal.clone() };
        let (builder, recorder) = builder(Shadow::of("feel", "rate"));
        builder.journal(journal).build().unwrap().run(feel { text: "two words".into() }).await.unwrap();
        assert_eq!(shadowed(&recorder).len(), shadows);
    }
}

#[tokio::test]
async fn a_shadow_has_no_shadow() {
    /// Count the words of a text by asking who knows.
    #[worker(toolsets = [count])]
    async fn deputy(text: String) -> usize;

    let (builder, recorder) = builder(Shadow::of("count", "deputy"));
    builder.build().unwrap().run(texts(&["two words"])).await.unwrap();
    let calls =
        at(&recorder.events(), |event| &*event.name == "count" && matches!(event.kind, EventKind::CallFinished { .. }));
    assert_eq!((calls.len(), shadowed(&recorder).len()), (2, 1), "the deputy called the tool too");
}

/// Wait.
#[tool(effect = read_only)]
async fn never_finish() {
    std::future::pending::<()>().await;
}

/// Count the words of a text when there is time.
#[worker(toolsets = [never_finish])]
async fn slow(text: String) -> usize;

#[tokio::test]
async fn cancelling_the_run_cancels_it_and_its_call_is_reported_as_finished() {
    let (builder, recorder) = builder(Shadow::of("count", "slow"));
    let begun = Arc::new(Notify::new());
    let builder = builder.on_event({
        let begun = Arc::clone(&begun);
        move |event| {
            if &*event.name == "never_finish" {
                begun.notify_one();
            }
        }
    });
    let start = builder.build().unwrap().start(texts(&["two words"]));
    let handle = start.handle();
    let run = tokio::spawn(start.into_future());
    begun.notified().await;
    handle.cancel();
    assert_eq!(run.await.unwrap().unwrap(), [2], "the answer was there before");
    assert!(shadowed(&recorder).is_empty(), "no event reports whether they agree");
    let finished = at(
        &recorder.events(),
        |event| matches!(&event.kind, EventKind::CallFinished { outcome: Outcome::Error(error), .. } if error.contains("cancelled")),
    );
    assert_eq!(finished.len(), 2, "the worker, and what it called");
}

#[tokio::test]
async fn the_root_call_waits_no_longer_than_its_deadline() {
    let (builder, recorder) = builder(Shadow::of("count", "slow"));
    let limits = Limits::new().wall_time(Duration::from_millis(100));
    let runtime = builder.limits(limits).build().unwrap();
    let run = tokio::time::timeout(Duration::from_secs(20), runtime.run(texts(&["two words"])));
    assert_eq!(run.await.unwrap().unwrap(), [2]);
    assert!(error_of(&shadowed(&recorder)[0].3).contains("100ms"), "{:?}", shadowed(&recorder));
}

/// Meet here.
#[tool(effect = read_only)]
async fn meet(shared: &State<Shared>) {
    let at = &shared.meeting;
    let here = at.here.fetch_add(1, Ordering::SeqCst) + 1;
    at.most.fetch_max(here, Ordering::SeqCst);
    if let Some(barrier) = &at.barrier {
        barrier.wait().await;
    }
    tokio::task::yield_now().await;
    at.here.fetch_sub(1, Ordering::SeqCst);
}

/// Count the words of a text at the barrier.
#[worker(toolsets = [meet])]
async fn sociable(text: String) -> usize;

/// Returns the maximum number of concurrent shadows of six calls.
async fn most_concurrent(shadow: Shadow, barrier: Option<Barrier>) -> usize {
    let (builder, recorder) = builder(shadow);
    let most = Arc::<AtomicUsize>::default();
    let meeting = Meeting { barrier, most: Arc::clone(&most), ..Meeting::default() };
    let shared = Shared { meeting, ..Shared::default() };
    let runtime = builder.state(shared).build().unwrap();
    let run = runtime.run(texts(&["a", "b", "c", "d", "e", "f"]));
    tokio::time::timeout(Duration::from_secs(20), run).await.unwrap().unwrap();
    assert_eq!(shadowed(&recorder).len(), 6);
    most.load(Ordering::SeqCst)
}

#[tokio::test]
async fn concurrent_shadows_are_limited_and_the_rest_wait() {
    let sociable = || Shadow::of("count", "sociable");
    assert_eq!(most_concurrent(sociable().max_concurrent(1), None).await, 1);
    assert_eq!(most_concurrent(sociable().max_concurrent(3), Some(Barrier::new(3))).await, 3);
    assert_eq!(most_concurrent(sociable().max_concurrent(0), None).await, 1, "0 is treated as 1");
}

#[tokio::test]
async fn a_root_call_of_the_tool_is_shadowed_too() {
    let (builder, recorder) = builder(feeling());
    let start = builder.build().unwrap().start(count { text: "two words".into() });
    let handle = start.handle();
    assert_eq!(start.await.unwrap(), 2);
    assert!(shadowed(&recorder)[0].1);
    assert_eq!(handle.usage_tree().children.len(), 1, "{}", handle.usage_tree());
}

#[tokio::test]
async fn an_unknown_name_is_an_error_when_the_runtime_is_built() {
    let builder = crate::own_builder()
        .state(Shared::default())
        .shadow(Shadow::of("cuont", "feel"))
        .shadow(Shadow::of("count", "feels"));
    let error = builder.shadow(Shadow::of("count", "count")).build().unwrap_err().to_string();
    for fault in ["`cuont`; did you mean `count`?", "`feels`; did you mean `feel`?", "`count` cannot be its own shadow"]
    {
        assert!(error.contains(fault), "{error}");
    }
}

#[tokio::test]
async fn the_terminal_shows_agreement_and_differences() {
    /// Keeps what is written.
    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl std::io::Write for Written {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    let written = Written::default();
    let (builder, _) = builder(feeling().max_concurrent(1));
    let runtime = builder.sink(Terminal::new(written.clone(), Verbosity::Calls)).build().unwrap();
    runtime.run(texts(&["two words", "one"])).await.unwrap();
    runtime.flush().await;
    let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
    assert!(text.contains("= count agrees with feel\n"), "{text}");
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    let differs = lines.iter().position(|line| *line == "≠ count differs from feel").unwrap();
    assert_eq!(lines[differs + 1..differs + 3], ["count: 1", "feel: 2"], "{text}");
}
