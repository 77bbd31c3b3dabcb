//! The model `demo:assistant`, which follows rules: it notes what follows `Note: `.

use std::sync::Arc;

use llm_do::json;
use llm_do::model::{Request, model_provider};
use llm_do::testing::{Answer, FunctionModel};

model_provider!("demo", |_name| Ok(Arc::new(FunctionModel::answering(answer))));

fn answer(request: Request<'_>) -> Answer {
    let prompt = request.prompt();
    match (prompt.strip_prefix("Note: "), request.results("take_note").next()) {
        (Some(note), None) => Answer::call("take_note", json!({ "line": note.trim_end_matches('.') })),
        (Some(_), Some(_)) => Answer::text("It is noted."),
        (None, _) => Answer::text("I note what follows `Note: `."),
    }
}
