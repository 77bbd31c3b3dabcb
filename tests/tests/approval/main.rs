//! Approval of calls: rules, approvers and memory; guards, and questions to the user.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod asked;
mod conditions;
mod denials;
mod edit;
mod effects;
mod exact;
mod files;
mod flow;
mod guards;
mod hidden;
mod inbox;
mod limits;
mod memory;
mod origins;
mod preview;
mod proposed;
mod queue;
mod replayed;
mod request;
mod reviewer;
mod rules;
mod scope;
mod server_side;
mod user_input;
mod workers;

use std::sync::{Arc, Mutex};

use llm_do::approval::{ApprovalRequest, Approver, DecidedBy, Decision, RuleSource};
use llm_do::event::{Event, EventKind};
use llm_do::model::{Message, Request, Response, ResponsePart, ToolCall};
use llm_do::testing::{FunctionModel, Recorder};
use llm_do::usage::Usage;
use serde_json::Value;

/// An approver that returns these decisions in order, repeats the last one, and records its requests.
#[derive(Clone, Debug)]
struct Scripted {
    answers: Arc<[Decision]>,
    asked: Arc<Mutex<Vec<ApprovalRequest>>>,
}

impl Scripted {
    fn new(answers: impl Into<Arc<[Decision]>>) -> Self {
        Self { answers: answers.into(), asked: Arc::default() }
    }

    fn approving() -> Self {
        Self::new([Decision::approve()])
    }

    fn asked(&self) -> Vec<ApprovalRequest> {
        self.asked.lock().unwrap().clone()
    }

    fn tools(&self) -> Vec<String> {
        self.asked().iter().map(|request| request.tool.to_string()).collect()
    }
}

#[llm_do::async_trait]
impl Approver for Scripted {
    async fn review(&self, request: &ApprovalRequest, _: &llm_do::CallContext) -> Decision {
        let mut asked = self.asked.lock().unwrap();
        asked.push(request.clone());
        self.answers[asked.len().min(self.answers.len()) - 1].clone()
    }
}

/// The decisions about calls of `name`: whether they may run, who decided, and by which rule.
fn decisions(recorder: &Recorder, name: &str) -> Vec<(bool, DecidedBy, RuleSource)> {
    let decision = |event: Event| match event.kind {
        EventKind::ApprovalDecided { approved, by, rule, .. } if &*event.name == name => Some((approved, by, rule)),
        _ => None,
    };
    recorder.events().into_iter().filter_map(decision).collect()
}

/// A model that calls `tool` once, and then returns the result.
fn calling(tool: &'static str, arguments: Value) -> FunctionModel {
    FunctionModel::new(move |request: Request<'_>| {
        let part = if let Some(Message::Tool { results }) = request.messages.last() {
            ResponsePart::Text { text: results[0].content.clone() }
        } else {
            let arguments = arguments.to_string();
            ResponsePart::ToolCall(ToolCall::new("1", tool, arguments))
        };
        Ok(Response::new("test", vec![part], Usage::of_request(1, 1)))
    })
}
