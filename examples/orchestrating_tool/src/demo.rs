//! The model `demo:shop`, which follows rules: its first drafts lack a limit, and it is its own critic.

use std::sync::Arc;

use llm_do::model::{Request, model_provider};
use llm_do::testing::{Answer, FunctionModel};
use llm_do::{Value, json};

model_provider!("demo", |_name| Ok(Arc::new(FunctionModel::answering(answer))));

fn answer(request: Request<'_>) -> Answer {
    let prompt = request.prompt();
    // The arguments of a worker without a body are its prompt, as JSON.
    let arguments: Value = prompt.parse().unwrap_or_default();
    match (&arguments["product"], &arguments["draft"]) {
        (_, Value::String(draft)) => critique(draft),
        (Value::String(product), _) => draft(product, arguments["corrections"].is_string()),
        _ => assistant(request, &prompt),
    }
}

fn assistant(request: Request<'_>, prompt: &str) -> Answer {
    let described: Vec<_> = request.results("describe").map(|result| &*result.content).collect();
    match prompt.split(", ").nth(described.len()) {
        Some(product) => Answer::call("describe", json!({ "product": product })),
        None => Answer::text(described.join("\n")),
    }
}

fn draft(product: &str, has_corrections: bool) -> Answer {
    let limit = if has_corrections { " Do not use it in a storm." } else { "" };
    Answer::text(format!("A {product} for every evening.{limit}"))
}

fn critique(draft: &str) -> Answer {
    let is_good = draft.contains("Do not");
    Answer::output(json!({ "is_good": is_good, "corrections": if is_good { "" } else { "Name a limit." } }))
}
