//! The models `demo:clerk`, which knows queues but is wrong now and then, and `demo:author`, which writes scripts.

use std::sync::Arc;

use llm_do::model::{Request, model_provider};
use llm_do::testing::{Answer, FunctionModel};

use crate::messages::messages;

model_provider!("demo", |name| {
    let answer = if name == "author" { author } else { clerk };
    Ok(Arc::new(FunctionModel::answering(answer).named(name)))
});

/// Is wrong about each 23rd message.
fn clerk(request: Request<'_>) -> Answer {
    let prompt = request.prompt();
    let digits: String = prompt.chars().filter(char::is_ascii_digit).collect();
    let number: usize = digits.parse().unwrap_or_default();
    let known = messages(number).pop().map_or("account", |message| message.queue);
    Answer::text(if number.is_multiple_of(23) { "other" } else { known })
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
    is_billing = "invoice" in words or "charged" in words or "payment" in words
    is_technical = "crash" in words or "error" in words
    if is_billing and is_technical:
        raise Unsure("both billing and technical")
    if is_billing:
        return "billing"
    return "technical" if is_technical else "account"
"#;
