//! The models `demo:clerk`, which knows queues but is wrong now and then, and `demo:author`, which writes scripts.

use std::sync::Arc;

use llm_do::model::{Request, model_provider};
use llm_do::testing::{Answer, FunctionModel};

use crate::messages::message_in;

model_provider!("demo", |name| {
    let answer = if name == "author" { author } else { clerk };
    Ok(Arc::new(FunctionModel::answering(answer).named(name)))
});

/// Is wrong about each 23rd message, until it is asked for a better result.
fn clerk(request: Request<'_>) -> Answer {
    let Some((at, message)) = message_in(&request.prompt()) else { return Answer::text("account") };
    let is_wrong = at % 23 == 22 && request.messages.len() == 1;
    Answer::text(if is_wrong { "other" } else { message.queue })
}

/// Writes three drafts, each when it reads what became of the one before.
fn author(request: Request<'_>) -> Answer {
    let prompt = request.prompt();
    let draft = match () {
        () if prompt.contains("refused before it ran") => LAST,
        () if prompt.contains("Your last script") => ILL_TYPED,
        () => FIRST,
    };
    Answer::text(format!("```python\n{draft}```"))
}

const FIRST: &str = r#"def queue_of_script(message: str) -> str:
    """Name the queue of a message."""
    return "billing" if "invoice" in message.lower() else "technical"
"#;

const ILL_TYPED: &str = r#"def queue_of_script(message: str) -> str:
    """Name the queue of a message."""
    words = message.lower()
    return "billing" if words.has("invoice") else "technical"
"#;

const LAST: &str = r#"def queue_of_script(message: str) -> str:
    """Name the queue of a message."""
    words = message.lower()
    is_billing = "invoice" in words or "charged" in words or "payment" in words or "discount" in words
    is_technical = "crash" in words or "error" in words or "page" in words or "sync" in words or "search" in words
    if is_billing and is_technical:
        raise Unsure("both billing and technical")
    if is_billing:
        return "billing"
    return "technical" if is_technical else "account"
"#;
