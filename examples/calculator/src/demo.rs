//! The model `demo:pupil`, which follows rules: it calculates the factorial of the number in the question.

use std::sync::Arc;

use llm_do::json;
use llm_do::model::{Request, model_provider};
use llm_do::testing::{Answer, FunctionModel};

model_provider!("demo", |_name| Ok(Arc::new(FunctionModel::answering(answer))));

fn answer(request: Request<'_>) -> Answer {
    let prompt = request.prompt();
    let number = prompt.split(|letter: char| !letter.is_ascii_digit()).find_map(|word| word.parse::<u64>().ok());
    match (number, request.results("factorial").next()) {
        (None, _) => Answer::text("There is no number in the question."),
        (Some(number), None) => Answer::call("factorial", json!({ "n": number })),
        (Some(number), Some(result)) => Answer::text(format!("{number}! = {}", result.content)),
    }
}
