//! Guards: hooks that inspect, change and refuse calls and requests to models.

mod calls;
mod edits;
mod held;
mod replay;
mod requests;

use std::sync::{Arc, Mutex};

use llm_do::event::{EventKind, GuardAction, GuardHook};
use llm_do::guard::FunctionGuard;
use llm_do::model::{Request, Response, ResponsePart, ToolCall};
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{FunctionModel, Recorder};
use llm_do::usage::Usage;
use serde_json::{Value, json};

/// Read a file.
#[tool(effect = read_only)]
fn read(path: String, #[arg(default = 10)] lines: u32) -> Result<String> {
    if path == "missing" {
        return Err("no such file".into());
    }
    Ok(format!("{lines} lines of {path}"))
}

/// Write a file.
#[tool(effect = destructive)]
fn write(path: String) -> String {
    format!("wrote {path}")
}

/// Sum up files.
#[worker(instructions = "Be brief.", toolsets = [read, write], retries = 1, hints = ["summaries"])]
async fn reader(input: String) -> String;

/// Reads a file by code.
#[entry(toolsets = [read])]
async fn main_entry(ctx: &CallContext<main_entry>, path: String) -> Result<String> {
    Ok(ctx.call(read { path, lines: 3 }).await?)
}

/// Texts that a test collects.
#[derive(Clone, Debug, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    fn add(&self, note: impl Into<String>) {
        self.0.lock().unwrap().push(note.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

fn builder() -> RuntimeBuilder {
    Runtime::builder().approval_mode(llm_do::approval::ApprovalMode::ApproveAll)
}

/// A guard that notes each hook.
fn noting(name: &'static str, notes: &Notes) -> FunctionGuard {
    let [call, result, request, response] = std::array::from_fn(|_| notes.clone());
    FunctionGuard::new(name)
        .before_call(move |seen| {
            call.add(format!("{name} before {}", seen.name()));
            Ok(())
        })
        .after_call(move |seen, _| {
            result.add(format!("{name} after {}", seen.name()));
            Ok(())
        })
        .before_request(move |seen| {
            request.add(format!("{name} asks for {}", seen.worker()));
            Ok(())
        })
        .after_response(move |seen, _| {
            response.add(format!("{name} hears for {}", seen.worker()));
            Ok(())
        })
}

fn text(text: &str) -> ResponsePart {
    ResponsePart::Text { text: text.into() }
}

fn calling(name: &str, arguments: &Value) -> ResponsePart {
    ResponsePart::ToolCall(ToolCall::new(name, name, arguments.to_string()))
}

/// A model that returns `answers` in order, and notes the messages of each request as JSON.
fn scripted(notes: &Notes, answers: impl IntoIterator<Item = ResponsePart>) -> FunctionModel {
    let (notes, answers) = (notes.clone(), answers.into_iter().collect::<Vec<_>>());
    FunctionModel::new(move |request| {
        let said =
            request.messages.iter().filter(|message| matches!(message, llm_do::model::Message::Assistant { .. }));
        let part = answers.get(said.count()).or(answers.last()).unwrap().clone();
        notes.add(written(&request));
        Ok(Response::new("m", vec![part], Usage::of_request(1, 1)))
    })
}

fn written(request: &Request<'_>) -> String {
    let max_tokens = request.settings.max_tokens;
    json!({ "instructions": request.instructions, "messages": request.messages, "max_tokens": max_tokens }).to_string()
}

/// The guard events: hook, action, reason.
fn done(recorder: &Recorder) -> Vec<(GuardHook, GuardAction, Option<String>)> {
    let guarded = recorder.kinds().into_iter().filter_map(|kind| match kind {
        EventKind::Guarded { hook, action, reason, .. } => Some((hook, action, reason)),
        _ => None,
    });
    guarded.collect()
}
