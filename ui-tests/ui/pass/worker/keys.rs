//! Every key of a worker, in the attribute and in a file, with all lints of clippy and rustc denied.

#![deny(warnings, missing_docs, clippy::pedantic, unreachable_pub)]
#![forbid(unsafe_code)]

use std::time::Duration;

use llm_do::{Limits, Settings, tool, worker};

const TURNS: u32 = 4;

const SHORT: Duration = Duration::from_millis(1);

fn few() -> Limits {
    Limits::new().requests(u64::from(TURNS))
}

fn cold() -> Settings {
    Settings::new().temperature(0.0)
}

/// Look.
#[tool(effect = read_only)]
fn look() {}

mod more {
    /// Listen.
    #[llm_do::tool(effect = read_only)]
    pub(crate) fn listen() {}
}

/// Answer a question.
#[worker(
    name = "answer-it",
    args = Answer,
    compatible_models = ["test:*"],
    instructions = "Answer.",
    toolsets = [look],
    server_side_tools = [
        web_search(max_uses = TURNS, allowed_domains = ["docs.rs"], blocked_domains = ["example.org"]),
        web_fetch,
        code_execution,
        image_generation,
        programmatic_tool_calling,
    ],
    effect = read_only,
    effect_reason = "the container of the provider has no network",
    settings = cold().max_tokens(TURNS * 100),
    hints = ["facts", "dates"],
    output = tool,
    max_turns = TURNS,
    retries = 0,
    limits = few().tool_calls(3),
    max_result = 1 << 12,
    background,
    attachments = llm_do::prompt::AttachmentPolicy::new().count(TURNS).types(["image/*"]),
    timeout = SHORT.saturating_mul(TURNS),
    description = "Answer any question.",
)]
pub async fn answer(input: String) -> Vec<u8>;

/// Search.
#[worker(server_side_tools = [], output = native, settings = Settings::default(), timeout = "1h 5s")]
async fn search(input: String) -> Vec<u8>;

#[worker(file = "keys.worker")]
pub async fn review(text: String, #[arg(default = 3)] limit: u8, #[arg(default)] depth: u8) -> Vec<u8>;

#[worker(file = "../worker/bare.worker", description = "Review little.")]
pub async fn review_little(text: String) -> String;

fn main() {}
