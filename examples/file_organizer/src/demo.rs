//! The model `demo:clerk`, which follows rules: it sorts by a word in the content, and takes the first two lines as the title.

use std::sync::Arc;

use llm_do::model::{Request, model_provider};
use llm_do::testing::{Answer, FunctionModel};
use llm_do::{Value, json};

const SIGNS: [(&str, &str); 4] =
    [("INVOICE", "invoices"), ("Dear", "letters"), ("Minutes", "minutes"), ("Ingredients", "recipes")];

model_provider!("demo", |_name| Ok(Arc::new(FunctionModel::answering(answer))));

fn answer(request: Request<'_>) -> Answer {
    // The arguments of a worker without a body are its prompt, as JSON.
    let file: Value = request.prompt().parse().unwrap_or_default();
    let content = file["content"].as_str().unwrap_or_default();
    let category = SIGNS.into_iter().find(|(sign, _)| content.contains(sign)).map_or("other", |(_, category)| category);
    let title: Vec<_> = content.lines().filter(|line| !line.is_empty()).take(2).collect();
    Answer::output(json!({ "category": category, "title": title.join(" ") }))
}
