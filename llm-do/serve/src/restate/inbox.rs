//! The inbox: the questions of runs to people, stored by the engine until they are answered.

use llm_do_core::observe::journal::StepKind;
use llm_do_core::plane::approval::WrittenDecision;
use restate_sdk::endpoint::{ContextInternal, Error};
use restate_sdk::errors::{HandlerError, TerminalError};
use restate_sdk::serde::Json;
use restate_sdk::service::Service;
use restate_sdk::service::macro_support::ServiceBoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::entry::ShownRequest;

/// The handlers of the inbox.
#[derive(Debug)]
pub(super) struct Inbox;

/// A question of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct OpenQuestion {
    pub(crate) id: String,
    pub(crate) run: String,
    pub(crate) asked: ShownRequest,
}

/// An answer of a person: to a question its text, to an approval the verdict.
#[derive(Debug, Deserialize)]
struct GivenAnswer {
    id: String,
    /// The digest of what the person saw.
    digest: String,
    #[serde(rename = "answer")]
    text: Option<String>,
    #[serde(flatten)]
    verdict: serde_json::Map<String, Value>,
}

#[derive(Debug, Deserialize)]
struct Withdrawn {
    id: String,
}

impl Service for Inbox {
    type Future = ServiceBoxFuture;

    fn handle(&self, ctx: ContextInternal) -> Self::Future {
        Box::pin(async move {
            let result = match ctx.handler_name() {
                "ask" => {
                    let (Json(question), _) = ctx.input::<Json<OpenQuestion>>().await;
                    ctx.set(&question.id, Json(&question));
                    Ok(Json(Value::Null))
                }
                "answer" => {
                    let (Json(answer), _) = ctx.input::<Json<GivenAnswer>>().await;
                    resolve(&ctx, answer).await
                }
                "withdraw" => {
                    let (Json(Withdrawn { id }), _) = ctx.input::<Json<Withdrawn>>().await;
                    ctx.clear(&id);
                    Ok(Json(Value::Null))
                }
                "list" => {
                    ctx.input::<()>().await;
                    list(&ctx).await
                }
                unknown => return Err(Error::unknown_handler(ctx.service_name(), unknown)),
            };
            ctx.handle_handler_result(result);
            ctx.end();
            Ok(())
        })
    }
}

/// Passes an answer on to the run that waits for it.
async fn resolve(ctx: &ContextInternal, answer: GivenAnswer) -> Result<Json<Value>, HandlerError> {
    let Some(Json(open)) = ctx.get::<Json<OpenQuestion>>(&answer.id).await? else {
        let text = format!("unknown question `{}`: it was answered before, or its run has ended", answer.id);
        return Err(TerminalError::new_with_code(404, text).into());
    };
    if open.asked.digest != answer.digest {
        let text = "the digest is not that of the question: look at it again";
        return Err(TerminalError::new_with_code(409, text).into());
    }
    let value = value(&open.asked, answer).map_err(|text| TerminalError::new_with_code(400, text))?;
    ctx.resolve_awakeable(&open.id, Json(value));
    ctx.clear(&open.id);
    Ok(Json(json!({ "id": open.id })))
}

/// Checks an answer, and returns the value for the run.
fn value(asked: &ShownRequest, answer: GivenAnswer) -> Result<Value, String> {
    if asked.kind == StepKind::Approval {
        let verdict = serde_json::from_value::<WrittenDecision>(Value::Object(answer.verdict));
        return verdict.map(|verdict| json!(verdict)).map_err(|error| format!("invalid decision: {error}"));
    }
    answer.text.map(Value::String).ok_or_else(|| "the field `answer` is missing".to_owned())
}

/// Returns all open questions.
async fn list(ctx: &ContextInternal) -> Result<Json<Value>, HandlerError> {
    let mut open = Vec::new();
    for id in ctx.get_keys().await? {
        if let Some(Json(question)) = ctx.get::<Json<OpenQuestion>>(&id).await? {
            open.push(question);
        }
    }
    Ok(Json(json!({ "waiting": open })))
}
