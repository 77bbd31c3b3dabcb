//! Threads: calls of workers continue them, in a run, over the runs of a chat, and after a resume.

use std::sync::LazyLock;
use std::time::Duration;

use llm_do::journal::MemoryJournal;
use llm_do::model::{ErrorKind, Message, ProviderError, ResponsePart, ToolCall};
use llm_do::prelude::*;
use llm_do::runtime::ChatState;
use llm_do::testing::ScriptedModel;
use llm_do::{Value, json};
use tokio::sync::Barrier;

use super::chat::text;

/// Review a text.
#[worker]
async fn critic(input: String) -> String;

/// Improve a text.
#[worker]
async fn author(input: String) -> String;

/// Uses tools that use threads.
#[worker(toolsets = [consult, consult_twice, meet])]
async fn editor(input: String) -> String;

/// Wait for another call of this tool, then ask the critic.
#[tool(effect = read_only)]
async fn meet(ctx: &CallContext, thread: String) -> Result<String> {
    static MEETING: LazyLock<Barrier> = LazyLock::new(|| Barrier::new(2));
    MEETING.wait().await;
    Ok(ctx.thread(thread).call(critic { input: "x".into() }).await?)
}

/// Ask the critic.
#[tool(effect = read_only)]
async fn consult(ctx: &CallContext, thread: String, text: String) -> Result<String> {
    Ok(ctx.thread(thread).call(critic { input: text }).await?)
}

/// Ask the critic two things.
#[tool(effect = read_only)]
async fn consult_twice(ctx: &CallContext, thread: String) -> Result<Vec<String>> {
    let thread = ctx.thread(thread);
    let first = thread.call(critic { input: "one".into() }).await?;
    Ok(vec![first, thread.call(critic { input: "two".into() }).await?])
}

/// Sends each text to its thread, in order; returns the numbers of messages afterwards.
#[entry]
async fn talk(ctx: &CallContext, texts: Vec<(String, String)>) -> Result<Vec<usize>> {
    let mut counts = Vec::new();
    for (thread, text) in texts {
        let thread = ctx.thread(thread);
        thread.call(critic { input: text }).await?;
        counts.push(thread.history().messages().len());
    }
    Ok(counts)
}

/// Sends three texts at the same time: two in one thread.
#[entry]
async fn talk_concurrently(ctx: &CallContext) -> Result<Vec<String>> {
    let (a, b) = (ctx.thread("a"), ctx.thread("b"));
    let says = |text: &str| critic { input: text.into() };
    let (one, two, three) = futures_util::future::join3(a.call(says("1")), a.call(says("2")), b.call(says("3"))).await;
    Ok(vec![one?, two?, three?])
}

/// Lets the editor work in a thread.
#[entry]
async fn edit(ctx: &CallContext, thread: String) -> Result<String> {
    Ok(ctx.thread(thread).call(editor { input: "go".into() }).await?)
}

/// Lets two editors work at the same time, each in a thread that the other wants.
#[entry]
async fn edit_crosswise(ctx: &CallContext) -> Result<Vec<String>> {
    let (a, b) = (ctx.thread("a"), ctx.thread("b"));
    let edit = |text: &str| editor { input: text.into() };
    let (one, two) = futures_util::future::join(a.call(edit("b")), b.call(edit("a"))).await;
    Ok(vec![one?, two?])
}

/// Shares a thread between two workers.
#[entry(toolsets = [author, critic])]
async fn improve(ctx: &CallContext<improve>) -> Result<String> {
    let draft = ctx.thread("draft");
    draft.call(author { input: "write".into() }).await?;
    draft.call(critic { input: "review".into() }).await?;
    Ok(draft.call(author { input: "improve".into() }).await?)
}

/// Calls something by name in a thread.
#[entry]
async fn by_name(ctx: &CallContext, name: String, arguments: Value) -> Result<Value> {
    Ok(ctx.thread("t").call_tool(&name, arguments).await?)
}

fn texts(texts: &[(&str, &str)]) -> talk {
    talk { texts: texts.iter().map(|(thread, text)| ((*thread).to_owned(), (*text).to_owned())).collect() }
}

fn done() -> ScriptedModel {
    ScriptedModel::new().text("done").repeat_last()
}

fn calling(tool: &str, arguments: &Value) -> Vec<ResponsePart> {
    vec![ResponsePart::ToolCall(ToolCall::new("c1", tool, arguments.to_string()))]
}

/// The texts of the user in each request.
fn asked(model: &ScriptedModel) -> Vec<Vec<String>> {
    let text = |message: &Message| match message {
        Message::User { .. } => json!(message)["parts"][0]["text"].as_str().map(ToOwned::to_owned),
        _ => None,
    };
    model.requests().iter().map(|asked| asked.messages.iter().filter_map(text).collect()).collect()
}

#[tokio::test]
async fn a_thread_goes_on_in_one_run_and_others_start_empty() {
    let model = done();
    let runtime = Runtime::builder().force_model(model.clone()).build().unwrap();
    let counts = runtime.run(texts(&[("a", "1"), ("b", "2"), ("a", "3")])).await.unwrap();
    assert_eq!(counts, [2, 2, 4]);
    assert_eq!(asked(&model), [vec!["1"], vec!["2"], vec!["1", "3"]]);
    assert_eq!(runtime.run(texts(&[("a", "4")])).await.unwrap(), [2], "without a chat a thread ends with its run");
}

#[tokio::test]
async fn a_chat_with_an_entry_remembers_its_threads_and_what_they_cost() {
    let runtime = Runtime::builder().force_model(done()).build().unwrap();
    let mut chat = runtime.chat();
    chat.send(texts(&[("a", "1"), ("b", "2")])).await.unwrap();
    let saved = serde_json::to_string(&chat.state()).unwrap();
    let mut chat = runtime.chat().with_state(serde_json::from_str(&saved).unwrap());
    assert_eq!(chat.send(texts(&[("a", "3"), ("b", "4")])).await.unwrap(), [4, 4]);
    let state = chat.state();
    assert_eq!(state.threads.keys().collect::<Vec<_>>(), ["a", "b"]);
    assert!(state.workers.is_empty(), "{state:?}");
    assert_eq!(state.usage.total().model.requests, 4);
    assert_eq!((&*state.usage.children[0].name, state.usage.children[0].calls), ("talk", 2));
}

#[tokio::test]
async fn a_clone_of_a_chat_is_a_fork() {
    let runtime = Runtime::builder().force_model(done()).build().unwrap();
    let mut chat = runtime.chat();
    chat.send(texts(&[("a", "1")])).await.unwrap();
    let mut fork = chat.clone();
    assert_eq!(fork.send(texts(&[("a", "2")])).await.unwrap(), [4]);
    assert_eq!(chat.send(texts(&[("a", "3")])).await.unwrap(), [4]);
    assert_eq!(chat.state().threads["a"].messages().len(), 4);
}

#[tokio::test]
async fn each_root_worker_of_a_chat_has_its_own_history() {
    let model = done();
    let runtime = Runtime::builder().force_model(model.clone()).build().unwrap();
    let mut chat = runtime.chat();
    chat.send(critic { input: "1".into() }).await.unwrap();
    chat.send(author { input: "2".into() }).await.unwrap();
    chat.send(critic { input: "3".into() }).await.unwrap();
    assert_eq!(asked(&model), [vec!["1"], vec!["2"], vec!["1", "3"]]);
    let old: ChatState = serde_json::from_value(json!({ "unknown": 1 })).unwrap();
    assert_eq!(old, ChatState::new(), "fields of other versions are skipped");
}

#[tokio::test]
async fn calls_in_one_thread_wait_for_each_other_in_their_order() {
    for _ in 0..20 {
        let model = done();
        let runtime = Runtime::builder().force_model(model.clone()).build().unwrap();
        runtime.run(talk_concurrently {}).await.unwrap();
        let mut asked = asked(&model);
        asked.sort();
        assert_eq!(asked, [vec!["1"], vec!["1", "2"], vec!["3"]]);
    }
}

#[tokio::test]
async fn workers_that_share_a_thread_see_all_of_its_messages() {
    let model = done();
    let runtime = Runtime::builder().force_model(model.clone()).build().unwrap();
    runtime.run(improve {}).await.unwrap();
    assert_eq!(asked(&model), [vec!["write"], vec!["write", "review"], vec!["write", "review", "improve"]]);
}

#[tokio::test]
async fn a_thread_that_a_call_above_has_open_is_refused_and_another_is_not() {
    for (thread, expected) in [
        (
            "t",
            "`critic` cannot continue the thread `t`, which is in use by a call that waits for this one: use another thread",
        ),
        ("u", "ok"),
    ] {
        let model = ScriptedModel::new()
            .answer(calling("consult", &json!({ "thread": thread, "text": "x" })))
            .text("ok")
            .repeat_last();
        let runtime = Runtime::builder().force_model(model.clone()).build().unwrap();
        assert_eq!(runtime.run(edit { thread: "t".into() }).await.unwrap(), "ok");
        let answers: Vec<_> = model.requests().into_iter().flat_map(|asked| asked.messages).collect();
        assert!(json!(answers).to_string().contains(expected), "{answers:?}");
    }
}

#[tokio::test]
async fn two_calls_that_wait_for_threads_of_each_other_get_an_error() {
    let meeting = |thread: &str| calling("meet", &json!({ "thread": thread }));
    let model = ScriptedModel::new().answer(meeting("b")).answer(meeting("a")).text("ok").repeat_last();
    let runtime = Runtime::builder().force_model(model.clone()).build().unwrap();
    let result = tokio::time::timeout(Duration::from_secs(20), runtime.run(edit_crosswise {})).await.unwrap();
    assert_eq!(result.unwrap(), ["ok", "ok"]);
    let answers: Vec<_> = model.requests().into_iter().flat_map(|asked| asked.messages).collect();
    assert!(json!(answers).to_string().contains("cannot continue the thread"), "{answers:?}");
}

/// Wait, at most for an hour.
#[tool(effect = read_only)]
async fn rest(ctx: &CallContext) -> Result<()> {
    Ok(ctx.sleep(Duration::from_secs(3600)).await?)
}

/// Rests.
#[worker(toolsets = [rest])]
async fn sleeper(input: String) -> String;

/// Drops a call in a thread while it runs, then makes another.
#[entry]
async fn interrupt(ctx: &CallContext) -> Result<usize> {
    let thread = ctx.thread("t");
    let slow = tokio::time::timeout(Duration::from_secs(1), thread.call(sleeper { input: "go".into() })).await;
    assert!(slow.is_err());
    thread.call(critic { input: "again".into() }).await?;
    Ok(thread.history().messages().len())
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_leaves_the_thread_open_for_the_next_and_valid() {
    let model = ScriptedModel::new().answer(calling("rest", &json!({}))).text("ok").repeat_last();
    let runtime = Runtime::builder().force_model(model.clone()).build().unwrap();
    assert_eq!(runtime.run(interrupt {}).await.unwrap(), 5, "go, the call, its result, again, ok");
    assert_eq!(super::chat::fault(&model.requests()[1].messages), None);
}

#[tokio::test]
async fn a_thread_of_a_tool_or_of_an_unknown_name_is_refused() {
    let runtime = Runtime::builder().force_model(done()).build().unwrap();
    for (name, expected) in [
        ("consult", "only workers accept a message history, and `consult` is of kind `tool`"),
        ("by_name", "`by_name` is of kind `entry`"),
        ("critc", "did you mean `critic`"),
    ] {
        let call = by_name { name: name.into(), arguments: json!({}) };
        let error = llm_do::error::chain(&runtime.run(call).await.unwrap_err());
        assert!(error.contains(expected), "{error}");
    }
    let call = by_name { name: "critic".into(), arguments: json!({ "input": "x" }) };
    assert_eq!(runtime.run(call).await.unwrap(), "done");
}

/// Uses threads itself and by a tool that does, then counts.
#[entry]
async fn mixed(ctx: &CallContext) -> Result<(usize, usize)> {
    let (a, b) = (ctx.thread("a"), ctx.thread("b"));
    a.call(critic { input: "1".into() }).await?;
    ctx.call(consult_twice { thread: "a".into() }).await?;
    b.call(critic { input: "2".into() }).await?;
    a.call(critic { input: "3".into() }).await?;
    a.call(critic { input: "4".into() }).await?;
    Ok((a.history().messages().len(), b.history().messages().len()))
}

#[tokio::test]
async fn a_resumed_run_restores_its_threads_without_asking_again() {
    let journal = MemoryJournal::new();
    let runtime = |model: &ScriptedModel, journal: MemoryJournal| {
        Runtime::builder().force_model(model.clone()).journal(journal).build().unwrap()
    };
    let down = ProviderError::new("scripted", ErrorKind::Overloaded, "down");
    let first = (0..5).fold(ScriptedModel::new(), |model, _| model.text("done")).error(down);
    runtime(&first, journal.clone()).run(mixed {}).await.unwrap_err();
    assert_eq!(first.requests().len(), 6);
    let resumed = done();
    let again = journal.replayed();
    let mut chat = runtime(&resumed, again.clone()).chat();
    assert_eq!(chat.send(mixed {}).await.unwrap(), (10, 2));
    assert_eq!(
        asked(&resumed),
        [["1", "one", "two", "3", "4"]],
        "only the last one is new, and it has the earlier messages"
    );
    let threads = chat.state().threads;
    let finished = done();
    let mut chat = runtime(&finished, again.replayed()).chat();
    assert_eq!(chat.send(mixed {}).await.unwrap(), (10, 2));
    assert_eq!(finished.requests().len(), 0);
    assert_eq!(chat.state().threads, threads, "a run whose result is recorded restores its threads too");
}

#[tokio::test]
async fn a_thread_with_another_past_is_a_divergence() {
    let journal = MemoryJournal::new();
    let runtime = |journal: MemoryJournal| Runtime::builder().force_model(done()).journal(journal).build().unwrap();
    runtime(journal.clone()).run(mixed {}).await.unwrap();
    let records: Vec<_> = journal.records().into_iter().filter(|record| record.kind.as_str() != "result").collect();
    let unfinished = MemoryJournal::from_records(records);
    let mut past = ChatState::new();
    past.threads.insert("a".into(), vec![Message::user("0"), Message::Assistant { parts: vec![text("0")] }].into());
    let mut chat = runtime(unfinished).chat().with_state(past);
    let error = llm_do::error::chain(&chat.send(mixed {}).await.unwrap_err());
    assert!(error.contains("call `critic`") || error.contains("`critic` (input"), "{error}");
}
