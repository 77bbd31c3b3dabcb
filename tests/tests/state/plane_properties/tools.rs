//! Tools, workers, a model and an approver that follow a plan and log what they did.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::future::join_all;
use llm_do::approval::{ApprovalRequest, Approver, Decision};
use llm_do::error::BoxError;
use llm_do::model::{FinishReason, Message, Request, Response, ResponsePart, ToolCall, ToolResult, UserPart};
use llm_do::prelude::*;
use llm_do::testing::FunctionModel;
use llm_do::usage::Usage;
use serde_json::{Value, json};

use super::plan::{Answer, End, Plan};

/// The effects outside of the plane. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    /// The ids of the calls whose effects ran.
    pub(crate) effects: Arc<Mutex<Vec<u32>>>,
    /// The ids of the calls that the approver reviewed.
    pub(crate) asked: Arc<Mutex<Vec<u32>>>,
    /// The ids of the approved calls, after edits.
    pub(crate) approved: Arc<Mutex<BTreeSet<u32>>>,
    pub(crate) requests: Arc<AtomicUsize>,
    /// Descriptions of conversations that a provider would reject.
    pub(crate) faults: Arc<Mutex<Vec<String>>>,
}

impl World {
    fn act(&self, plan: &Plan) {
        self.effects.lock().unwrap().push(plan.id);
    }
}

impl Plan {
    fn end(&self) -> Result<()> {
        match self.end {
            End::Return => Ok(()),
            End::Fail => Err(format!("{} failed", self.id).into()),
            // Without the message that `panic!` would print.
            End::Panic => std::panic::resume_unwind(Box::new(format!("{} panicked", self.id))),
        }
    }

    async fn wait(&self) {
        for _ in 0..self.yields {
            tokio::task::yield_now().await;
        }
    }
}

/// Have an effect.
#[tool(effect = destructive)]
async fn leaf(plan: Plan, world: State<World>) -> Result<u32> {
    plan.wait().await;
    world.act(&plan);
    plan.wait().await;
    plan.end()?;
    Ok(plan.id)
}

/// Have an effect, on a blocking thread.
#[tool(effect = destructive)]
fn blocking(plan: Plan, world: State<World>) -> Result<u32> {
    world.act(&plan);
    plan.end()?;
    Ok(plan.id)
}

/// Have an effect, with unordered arguments.
#[tool(effect = destructive)]
async fn unordered(
    plan: Plan,
    words: HashSet<String>,
    counts: HashMap<String, u32>,
    world: State<World>,
) -> Result<u32> {
    plan.wait().await;
    world.act(&plan);
    plan.end()?;
    Ok(plan.id + u32::from(words.len() != counts.len()))
}

/// Read.
#[tool(effect = read_only)]
async fn lookup(plan: Plan) -> Result<u32> {
    plan.wait().await;
    plan.end()?;
    Ok(plan.id)
}

/// Make calls, then have an effect.
#[tool(effect = idempotent)]
pub(crate) async fn composite(ctx: &CallContext, plan: Plan, world: State<World>) -> Result<Value> {
    plan.wait().await;
    let (made, caught) = make(ctx, &plan).await?;
    let (world, acting) = (world.clone(), plan.clone());
    let effect = async move {
        acting.wait().await;
        world.act(&acting);
        Ok(acting.id)
    };
    let id = ctx.effect("act", plan.id, effect).await?;
    plan.end()?;
    match caught.filter(|_| plan.returns_caught) {
        Some(error) => Err(error.into()),
        None => Ok(json!({ "id": id, "made": made })),
    }
}

/// Makes the calls of a plan; returns their results, and the first caught failure.
async fn make(ctx: &CallContext, plan: &Plan) -> Result<(Vec<Value>, Option<CallError>)> {
    let mut caught = None;
    let mut made = |result: Result<Value, CallError>| match result {
        Err(error) if plan.catches => {
            let text = llm_do::error::chain(&error);
            caught.get_or_insert(error);
            Ok::<_, BoxError>(json!({ "error": text }))
        }
        other => Ok(other?),
    };
    let mut results = Vec::new();
    if plan.together {
        for result in join_all(plan.made().map(|call| one(ctx, call))).await {
            results.push(made(result)?);
        }
    } else {
        for call in plan.made() {
            results.push(made(one(ctx, call).await)?);
        }
    }
    Ok((results, caught))
}

async fn one(ctx: &CallContext, plan: &Plan) -> Result<Value, CallError> {
    ctx.call_tool(plan.what.name(), plan.arguments()).await
}

/// Make calls.
#[worker(toolsets = [leaf, blocking, lookup, composite, agent, hire, unordered, sorter], max_turns = 40)]
pub(crate) async fn agent(plan: Plan) -> String {
    if plan.end == End::Panic {
        plan.end()?;
    }
    serde_json::to_string(&plan)?
}

/// Make calls, with unordered arguments.
#[worker(toolsets = [leaf, blocking, lookup, composite, agent, hire, unordered, sorter], max_turns = 40)]
async fn sorter(plan: Plan, words: HashSet<String>, counts: HashMap<String, u32>) -> String;

/// Create a worker with a unique name, and call it.
#[tool(effect = idempotent)]
async fn hire(ctx: &CallContext, plan: Plan) -> Result<Value> {
    plan.wait().await;
    // Without the id of the run: the name is unique to this call, and the same in each process.
    let key = ctx.idempotency_key();
    let mut hasher = DefaultHasher::new();
    key.split_once('/').unwrap_or_default().1.hash(&mut hasher);
    let name = format!("w{:016x}", hasher.finish());
    let toolsets = ["leaf", "blocking", "lookup", "composite", "agent", "hire", "unordered", "sorter"];
    let made = json!({
        "name": name, "instructions": "Make the calls.", "description": "Makes calls.", "toolsets": toolsets,
    });
    ctx.call_tool("worker_create", made).await?;
    plan.end()?;
    let call = json!({ "worker": name, "input": serde_json::to_string(&plan)? });
    Ok(ctx.call_tool("worker_call", call).await?)
}

/// A model that makes the calls of the plan in its prompt: all in one turn, or one in each turn.
pub(crate) fn model(world: World) -> FunctionModel {
    FunctionModel::new(move |request: Request<'_>| {
        world.requests.fetch_add(1, Ordering::Relaxed);
        if let Some(fault) = fault(request.messages) {
            world.faults.lock().unwrap().push(fault);
        }
        let plan = planned(&request.messages[0]);
        let results: Vec<&ToolResult> = request.messages.iter().flat_map(results).collect();
        let usage = Usage::of_request(10 + u64::from(plan.id), 1 + results.len() as u64);
        let calls = plan.made().enumerate().skip(results.len());
        let calls = calls.take(if plan.together { usize::MAX } else { 1 }).map(|(n, call)| {
            let arguments = call.arguments().to_string();
            ResponsePart::ToolCall(ToolCall::new(n.to_string(), call.what.name().to_owned(), arguments))
        });
        let parts: Vec<_> = calls.collect();
        if !parts.is_empty() {
            return Ok(Response::new("planned", parts, usage));
        }
        let text = json!({ "id": plan.id, "made": results.iter().map(|result| &result.content).collect::<Vec<_>>() });
        let response = Response::new("planned", vec![ResponsePart::Text { text: text.to_string() }], usage);
        match plan.end {
            End::Fail => Ok(response.with_finish(FinishReason::ContentFilter)),
            _ => Ok(response),
        }
    })
}

fn planned(prompt: &Message) -> Plan {
    match prompt {
        Message::User { parts } => match &parts[0] {
            UserPart::Text { text } => {
                let asked: Value = serde_json::from_str(text).unwrap();
                // The arguments of a worker, or only a plan.
                serde_json::from_value(asked.get("plan").unwrap_or(&asked).clone()).unwrap()
            }
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

fn results(message: &Message) -> &[ToolResult] {
    match message {
        Message::Tool { results } => results,
        _ => &[],
    }
}

/// Returns why a provider would reject a conversation: results must follow their calls directly, one each, in order.
pub(crate) fn fault(messages: &[Message]) -> Option<String> {
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        let given: Vec<_> = results(message).iter().map(|result| result.call_id.as_str()).collect();
        if given != open {
            return Some(format!("the calls {open:?} have the results {given:?}"));
        }
        open = match message {
            Message::Assistant { parts } => parts.iter().filter_map(called).collect(),
            _ => Vec::new(),
        };
    }
    (!open.is_empty()).then(|| format!("the calls {open:?} have no results"))
}

fn called(part: &ResponsePart) -> Option<&str> {
    match part {
        ResponsePart::ToolCall(call) => Some(&call.id),
        _ => None,
    }
}

/// An approver that decides as the plan describes.
#[derive(Clone, Debug)]
pub(crate) struct Reviewer(pub(crate) World);

#[llm_do::async_trait]
impl Approver for Reviewer {
    async fn review(&self, request: &ApprovalRequest, _: &llm_do::CallContext) -> Decision {
        // Calls that create or call a run-time worker have no plan: the calls of that worker are reviewed themselves.
        let Some(plan) = request.arguments.get("plan") else { return Decision::approve() };
        let plan: Plan = serde_json::from_value(plan.clone()).unwrap();
        self.0.asked.lock().unwrap().push(plan.id);
        plan.wait().await;
        let may_run = |id| self.0.approved.lock().unwrap().extend([id]);
        if request.began.is_some() {
            // It began as it is now, so it was approved, or is the user's own.
            may_run(plan.id);
            return Decision::approve();
        }
        match plan.answer {
            Answer::Approve => {
                may_run(plan.id);
                Decision::approve()
            }
            Answer::Remember => {
                may_run(plan.id);
                Decision::approve_for_session()
            }
            Answer::Edit => {
                may_run(plan.edited().id);
                Decision::approve_with(plan.edited().arguments())
            }
            Answer::Deny => Decision::deny(format!("{} is not to run", plan.id)),
            Answer::Panic => std::panic::resume_unwind(Box::new("the approver panicked")),
        }
    }

    fn max_concurrent(&self) -> usize {
        3
    }
}
