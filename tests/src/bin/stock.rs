//! The program `llm-do`, with a model for tests: `echo:model`.
//!
//! The model answers with the text that it gets. A text `call TOOL ARGUMENTS` makes it call the tool first.

use llm_do::model::{Message, Request, Response, ResponsePart, ToolCall, UserPart, model_provider};
use llm_do::prelude::*;
use llm_do::testing::FunctionModel;
use llm_do::usage::Usage;

model_provider!("echo", |_name| Ok(std::sync::Arc::new(
    FunctionModel::new(|request| Ok(answer(request))).named("echo:model")
) as _));

fn answer(request: Request<'_>) -> Response {
    let part = match request.messages.last() {
        Some(Message::User { parts }) => of_user(&text(parts), request.messages.len()),
        Some(Message::Tool { results }) => {
            let contents: Vec<_> = results.iter().map(|result| result.content.as_str()).collect();
            text_part(format!("result: {}", contents.join(", ")))
        }
        _ => text_part("nothing".to_owned()),
    };
    Response::new("echo:model", vec![part], Usage::of_request(10, 2))
}

fn of_user(text: &str, count: usize) -> ResponsePart {
    let call = text.strip_prefix("call ").and_then(|call| call.split_once(' '));
    match call {
        Some((tool, arguments)) => ResponsePart::ToolCall(ToolCall::new("1", tool, arguments)),
        None => text_part(format!("echo {count}: {text}")),
    }
}

fn text_part(text: String) -> ResponsePart {
    ResponsePart::Text { text }
}

fn text(parts: &[UserPart]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        UserPart::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

fn main() -> ExitCode {
    llm_do::cli::Cli::new().run_projects().main()
}
