//! The program `llm-do`, with a model for tests: `echo:model`.
//!
//! The model answers with the text that it gets. A text `call TOOL ARGUMENTS` makes it call the tool first; one that begins with `wait `,
//! which may be before `call`, is answered after three seconds, and one that begins with `hang ` never.

use std::sync::Arc;
use std::time::Duration;

use llm_do::model::{
    Message, Profile, ProviderError, Request, Response, ResponsePart, ToolCall, UserPart, model_provider,
};
use llm_do::prelude::*;
use llm_do::testing::FunctionModel;
use llm_do::usage::Usage;
use llm_do::{Model, async_trait};

model_provider!("echo", |_name| Ok(
    Arc::new(Echo(FunctionModel::new(|request| Ok(answer(request))).named("echo:model"))) as _
));

#[derive(Clone, Debug)]
struct Echo(FunctionModel);

#[async_trait]
impl Model for Echo {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn profile(&self) -> Profile {
        Model::profile(&self.0)
    }

    async fn request(&self, request: Request<'_>) -> Result<Response, ProviderError> {
        let asked = match request.messages.last() {
            Some(Message::User { parts }) => text(parts),
            _ => String::new(),
        };
        if asked.starts_with("wait ") {
            tokio::time::sleep(Duration::from_secs(3)).await;
        } else if asked.starts_with("hang ") {
            std::future::pending::<()>().await;
        }
        self.0.request(request).await
    }
}

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
    let call = text.strip_prefix("wait ").unwrap_or(text).strip_prefix("call ");
    let call = call.and_then(|call| call.split_once(' '));
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
