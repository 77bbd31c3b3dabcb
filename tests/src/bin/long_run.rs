//! A worker with 40 tools whose model makes so many calls that the window of the model is full many times:
//! `long_run WINDOW TURNS LARGEST [JOURNAL]`. `tests/programs/long_runs.rs` runs, kills and resumes it.
//!
//! The results have up to LARGEST bytes. The output is one line of JSON: the result, the digest of the history that is left, what the
//! provider has counted, and the memory of the process.

#![expect(clippy::print_stdout, reason = "a program prints")]

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use llm_do::journal::FileJournal;
use llm_do::json;
use llm_do::model::{
    ContextWindow, ErrorKind, Message, Profile, ProviderError, Request, Response, ResponsePart, ToolCall, ToolSpec,
    UserPart,
};
use llm_do::prelude::*;
use llm_do::testing::FunctionModel;
use llm_do::usage::Usage;

macro_rules! tools {
    ($($name:ident)*) => {
        $(
            /// Return a long text.
            #[tool(effect = read_only, inline)]
            fn $name(turn: usize, bytes: usize) -> String {
                filled(turn, bytes)
            }
        )*

        /// Call the tools in turn.
        #[worker(toolsets = [$($name),*], max_turns = 10_000)]
        async fn long_runner(input: String) -> String;

        const TOOLS: &[&str] = &[$(stringify!($name)),*];
    };
}

tools! {
    look_00 look_01 look_02 look_03 look_04 look_05 look_06 look_07 look_08 look_09
    look_10 look_11 look_12 look_13 look_14 look_15 look_16 look_17 look_18 look_19
    look_20 look_21 look_22 look_23 look_24 look_25 look_26 look_27 look_28 look_29
    look_30 look_31 look_32 look_33 look_34 look_35 look_36 look_37 look_38 look_39
}

/// Returns a text of about so many bytes, which begins with the turn.
fn filled(turn: usize, bytes: usize) -> String {
    format!("turn {turn}\n").repeat(bytes / 9 + 1)
}

/// A provider that counts in its own way and refuses what is beyond its window. Its model knows no more than the request.
#[derive(Debug)]
struct Provider {
    window: usize,
    turns: usize,
    largest: usize,
    counts: Counts,
}

#[derive(Debug, Default)]
struct Counts {
    requests: AtomicUsize,
    summaries: AtomicUsize,
    pages: AtomicUsize,
    largest: AtomicUsize,
    refused: AtomicUsize,
}

impl Provider {
    fn answer(&self, request: &Request<'_>) -> Result<Response, ProviderError> {
        let tokens = count(request);
        self.counts.requests.fetch_add(1, Relaxed);
        if tokens > self.window {
            self.counts.refused.fetch_add(1, Relaxed);
            return Err(ProviderError::new("function", ErrorKind::ContextTooLong, "the conversation is too long"));
        }
        self.counts.largest.fetch_max(tokens, Relaxed);
        let part = self.next(request);
        Ok(Response::new("model", vec![part], Usage::of_request(u64::try_from(tokens).unwrap_or_default(), 5)))
    }

    /// Returns the next call: of the next tool, or of the rest of a long result now and then.
    fn next(&self, request: &Request<'_>) -> ResponsePart {
        if request.tools.is_empty() {
            self.counts.summaries.fetch_add(1, Relaxed);
            return text("Some turns were made.");
        }
        let last = request.messages.last();
        let Some(Message::Tool { results }) = last else { return self.call(0) };
        let result = &results[0];
        let turn = result.content.lines().next().and_then(|line| line.strip_prefix("turn ")?.parse::<usize>().ok());
        let handle = result.content.split_once("handle `").and_then(|(_, rest)| rest.split_once('`'));
        match (turn, handle) {
            (Some(turn), Some((handle, _))) if turn % 20 == 6 && result.name != "result_read" => {
                self.counts.pages.fetch_add(1, Relaxed);
                let arguments = json!({ "handle": handle }).to_string();
                ResponsePart::ToolCall(ToolCall::new(format!("page{turn}"), "result_read", arguments))
            }
            (Some(turn), _) if turn + 1 < self.turns => self.call(turn + 1),
            (Some(turn), _) => text(&format!("done after turn {turn}")),
            (None, _) => text("a result does not begin with its turn"),
        }
    }

    fn call(&self, turn: usize) -> ResponsePart {
        let bytes = match turn % 20 {
            6 => self.largest,
            13 => 20_000,
            turn => 150 * turn,
        };
        let arguments = json!({ "turn": turn, "bytes": bytes }).to_string();
        ResponsePart::ToolCall(ToolCall::new(format!("c{turn}"), TOOLS[turn % TOOLS.len()], arguments))
    }
}

fn text(text: &str) -> ResponsePart {
    ResponsePart::Text { text: text.to_owned() }
}

/// Counts two tokens for seven bytes, and some for each message.
fn count(request: &Request<'_>) -> usize {
    let tool = |tool: &ToolSpec| tool.name.len() + tool.description.len() + tool.parameters.to_string().len();
    let tools: usize = request.tools.iter().map(tool).sum();
    let messages: usize = request.messages.iter().map(|message| bytes(message) + 14).sum();
    (messages + request.instructions.map_or(0, str::len) + tools) * 2 / 7
}

fn bytes(message: &Message) -> usize {
    match message {
        Message::User { parts } => parts.iter().map(of_user).sum(),
        Message::Assistant { parts } => parts.iter().map(of_model).sum(),
        Message::Tool { results } => results.iter().map(|result| result.content.len()).sum(),
        _ => 0,
    }
}

fn of_user(part: &UserPart) -> usize {
    match part {
        UserPart::Text { text } => text.len(),
        _ => 0,
    }
}

fn of_model(part: &ResponsePart) -> usize {
    match part {
        ResponsePart::Text { text } => text.len(),
        ResponsePart::ToolCall(call) => call.name.len() + call.arguments.len(),
        _ => 0,
    }
}

/// Returns the peak of the memory of this process, in MiB; `None` on systems other than Linux.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? >> 10)
}

fn number(arguments: &mut impl Iterator<Item = String>) -> Result<usize> {
    let text = arguments.next().ok_or("usage: long_run WINDOW TURNS LARGEST [JOURNAL]")?;
    Ok(text.parse()?)
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (window, turns, largest) = (number(&mut arguments)?, number(&mut arguments)?, number(&mut arguments)?);
    let provider = Arc::new(Provider { window, turns, largest, counts: Counts::default() });
    let profile = Profile::BASIC.with_window(ContextWindow::new(u32::try_from(window)?));
    let asked = Arc::clone(&provider);
    let model = FunctionModel::new(move |request| asked.answer(&request)).profile(profile);
    let runtime = Runtime::builder().force_model(model).build()?;
    let start = runtime.start(long_runner { input: "Make all turns, please.".into() });
    let start = match arguments.next() {
        Some(file) => start.journal(FileJournal::open(file)?),
        None => start,
    };
    let handle = start.handle();
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let result = tokio.block_on(start.into_future())?;
    let left = json!(handle.history()).to_string();
    let mut digest = DefaultHasher::new();
    left.hash(&mut digest);
    let Counts { requests, summaries, pages, largest, refused } = &provider.counts;
    let [requests, summaries, pages, largest, refused] =
        [requests, summaries, pages, largest, refused].map(|count| count.load(Relaxed));
    println!(
        "{}",
        json!({
            "result": result, "history": digest.finish().to_string(), "task_stays": left.contains("Make all turns, please."),
            "requests": requests, "summaries": summaries, "pages": pages, "largest": largest, "refused": refused,
            "peak_mib": peak_memory(),
        })
    );
    Ok(())
}
