//! What the runs of these tests do.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use llm_do::context::Question;
use llm_do::json;
use llm_do::model::{Message, Request, UserPart};
use llm_do::prelude::*;
use llm_do::testing::{Answer, FunctionModel};

/// The effects so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Effects(Arc<Mutex<Vec<String>>>);

impl Effects {
    pub(super) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// Which way the code goes.
#[derive(Clone, Debug)]
pub(super) struct Way(pub(super) &'static str);

/// How often the code of a run began here.
#[derive(Clone, Debug, Default)]
pub(super) struct Begun(Arc<AtomicUsize>);

impl Begun {
    pub(super) fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// Have an effect.
#[tool(effect = idempotent, approval = pre_approved)]
pub(super) fn act(what: String, effects: State<Effects>) -> String {
    effects.0.lock().unwrap().push(what.clone());
    format!("did {what}")
}

/// Have an effect that needs approval.
#[tool(effect = destructive)]
pub(super) fn act_if_approved(what: String, effects: State<Effects>) -> String {
    effects.0.lock().unwrap().push(what.clone());
    format!("did {what}")
}

/// Fail.
#[tool(effect = read_only)]
pub(super) fn fail_on_purpose() -> Result<String> {
    Err("the disk is on fire".into())
}

/// Return a text of this length.
#[tool(effect = read_only)]
pub(super) fn long_text(bytes: usize) -> String {
    "x".repeat(bytes)
}

/// Do two things.
#[worker(toolsets = [act])]
pub(super) async fn clerk(input: String) -> String;

/// Acts once, and then once more.
#[entry(toolsets = [act])]
pub(super) async fn act_twice(ctx: &CallContext<act_twice>) -> Result<Vec<String>> {
    Ok(vec![ctx.call(act { what: "one".into() }).await?, ctx.call(act { what: "two".into() }).await?])
}

/// Acts if a person approves.
#[entry(toolsets = [act, act_if_approved])]
pub(super) async fn ask_first(ctx: &CallContext<ask_first>) -> Result<String> {
    ctx.call(act { what: "before".into() }).await?;
    Ok(ctx.call(act_if_approved { what: "approved".into() }).await?)
}

/// Asks who the user is.
#[entry]
pub(super) async fn get_to_know(ctx: &CallContext) -> Result<String> {
    Ok(format!("You are {}.", ctx.request_user_input("Who are you?").await?))
}

/// Asks for one of two colors.
#[entry]
pub(super) async fn pick_color(ctx: &CallContext) -> Result<String> {
    Ok(ctx.request_user_input(Question::new("Which color?").choices(["red", "blue"])).await?)
}

/// Asks two questions, drops one when the other is answered, and then sleeps for an hour.
#[entry]
pub(super) async fn take_either(ctx: &CallContext) -> Result<String> {
    let answer = tokio::select! {
        biased;
        answer = ctx.request_user_input("Left?") => answer?,
        answer = ctx.request_user_input("Right?") => answer?,
    };
    ctx.sleep(Duration::from_secs(60 * 60)).await?;
    Ok(answer)
}

/// Sleeps.
#[entry(toolsets = [act])]
pub(super) async fn doze(ctx: &CallContext<doze>, millis: u64) -> Result<String> {
    ctx.call(act { what: "lie down".into() }).await?;
    ctx.sleep(Duration::from_millis(millis)).await?;
    Ok(ctx.call(act { what: "get up".into() }).await?)
}

/// Acts step by step, with pauses in which a page looks at the run.
#[entry(toolsets = [act])]
pub(super) async fn step_by_step(ctx: &CallContext<step_by_step>, count: usize, begun: State<Begun>) -> Result<usize> {
    begun.0.fetch_add(1, Ordering::Relaxed);
    for n in 0..count {
        ctx.call(act { what: format!("step {n}") }).await?;
        ctx.sleep(Duration::from_millis(700)).await?;
    }
    Ok(count)
}

/// Recovers from a failure, and then fails.
#[entry(toolsets = [fail_on_purpose])]
pub(super) async fn give_up(ctx: &CallContext<give_up>) -> Result<String> {
    let first = ctx.call(fail_on_purpose {}).await;
    assert!(first.is_err());
    Ok(ctx.call(fail_on_purpose {}).await?)
}

/// There are too few seats.
#[llm_do::data]
pub(super) struct SoldOut {
    left: u32,
}

impl std::fmt::Display for SoldOut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} seats are left", self.left)
    }
}

impl std::error::Error for SoldOut {}

/// Reserve seats.
#[tool(effect = read_only)]
pub(super) fn reserve_seats(seats: u32) -> Result<u32, SoldOut> {
    if seats > 3 { Err(SoldOut { left: 3 }) } else { Ok(seats) }
}

/// Reserve seats for a group.
#[tool(effect = read_only, toolsets = [reserve_seats])]
pub(super) async fn reserve_for_group(ctx: &CallContext<reserve_for_group>, seats: u32) -> Result<u32> {
    Ok(ctx.call(reserve_seats { seats }).await?)
}

/// Matches the type of an error, and then sleeps.
#[entry(toolsets = [reserve_for_group])]
pub(super) async fn match_sold_out(ctx: &CallContext<match_sold_out>) -> Result<Option<u32>> {
    let error = ctx.call(reserve_for_group { seats: 5 }).await.err();
    ctx.sleep(Duration::from_millis(5)).await?;
    Ok(error.and_then(|error| error.downcast_ref::<SoldOut>().map(|sold_out| sold_out.left)))
}

/// Has a worker do something.
#[entry(toolsets = [clerk])]
pub(super) async fn delegate(ctx: &CallContext<delegate>) -> Result<String> {
    Ok(ctx.call(clerk { input: "post".into() }).await?)
}

/// Makes branches of several steps that are in flight together.
#[entry(toolsets = [act, clerk])]
pub(super) async fn branch(ctx: &CallContext<branch>, count: usize) -> Result<Vec<String>> {
    let branches = (0..count).map(|n| async move {
        let first = ctx.call(act { what: format!("{n} first") }).await?;
        let second = ctx.call(act { what: format!("{n} second") }).await?;
        Ok::<_, llm_do::CallError>(format!("{first}, {second}"))
    });
    Ok(futures_util::future::try_join_all(branches).await?)
}

/// Goes the way of the code, and asks.
#[entry(toolsets = [act])]
pub(super) async fn go(ctx: &CallContext<go>, way: State<Way>) -> Result<String> {
    let gone = ctx.call(act { what: format!("{} way", way.0) }).await?;
    let answer = ctx.request_user_input("Go on?").await?;
    Ok(format!("{gone}, {answer}"))
}

/// Has many workers work together.
#[entry(toolsets = [act, clerk])]
pub(super) async fn fan_out(ctx: &CallContext<fan_out>, count: usize) -> Result<Vec<String>> {
    ctx.call(act { what: "prepare".into() }).await?;
    let calls = (0..count).map(|n| ctx.call(clerk { input: format!("clerk {n}") }));
    Ok(futures_util::future::try_join_all(calls).await?)
}

/// Returns more than an engine accepts.
#[entry(toolsets = [long_text])]
pub(super) async fn too_long(ctx: &CallContext<too_long>) -> Result<usize> {
    Ok(ctx.call(long_text { bytes: 33 << 20 }).await?.len())
}

/// A clerk that acts twice, and answers with both results.
pub(super) fn model() -> FunctionModel {
    FunctionModel::answering(|request: Request<'_>| {
        let results: Vec<_> = request.messages.iter().flat_map(tool_results).collect();
        let task = request.messages.iter().find_map(prompt).unwrap_or_default();
        match results.len() {
            done @ (0 | 1) => Answer::call("act", json!({ "what": format!("{task} {done}") })),
            _ => Answer::text(results.join(", ")),
        }
    })
}

fn prompt(message: &Message) -> Option<String> {
    let Message::User { parts } = message else { return None };
    parts.iter().find_map(|part| match part {
        UserPart::Text { text } => Some(text.clone()),
        _ => None,
    })
}

fn tool_results(message: &Message) -> Vec<String> {
    let Message::Tool { results } = message else { return Vec::new() };
    results.iter().map(|result| result.content.clone()).collect()
}

/// A runtime whose effects are counted.
pub(super) fn runtime(effects: &Effects) -> Runtime {
    runtime_of(effects, "old")
}

/// The same, with code that goes this way.
pub(super) fn runtime_of(effects: &Effects, way: &'static str) -> Runtime {
    build(effects, way, Begun::default())
}

/// The same, and counts how often the code of `step_by_step` begins.
pub(super) fn counting_runtime(effects: &Effects, begun: &Begun) -> Runtime {
    build(effects, "old", begun.clone())
}

fn build(effects: &Effects, way: &'static str, begun: Begun) -> Runtime {
    let builder = crate::own_builder().state(effects.clone()).state(Way(way)).state(begun);
    builder.force_model(model()).build().unwrap()
}
