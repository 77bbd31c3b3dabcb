//! The model `demo:clerk`, which follows rules: it pays each invoice, notes each denial twice, and tries to delete a supplier.

use std::sync::Arc;

use llm_do::json;
use llm_do::model::{Request, model_provider};
use llm_do::testing::{Answer, FunctionModel};

model_provider!("demo", |_name| Ok(Arc::new(FunctionModel::answering(answer))));

fn answer(request: Request<'_>) -> Answer {
    let Some(invoices) = request.results("open_invoices").next() else {
        return Answer::call("open_invoices", json!({}));
    };
    let paid: Vec<_> = request.results("pay").collect();
    if let Some((euros, supplier)) = invoices.content.lines().nth(paid.len()).and_then(|line| line.split_once(' ')) {
        return Answer::call("pay", json!({ "supplier": supplier, "euros": euros.parse::<u64>().unwrap_or(0) }));
    }
    let denied = paid.iter().filter(|result| result.is_error).count();
    if request.results("note").count() < 2 {
        return Answer::call("note", json!({ "text": format!("{denied} payments were not made") }));
    }
    if request.results("delete_supplier").next().is_none() {
        return Answer::call("delete_supplier", json!({ "supplier": "Bakery Blume" }));
    }
    Answer::text(format!("{} of {} invoices are paid.", paid.len() - denied, paid.len()))
}
