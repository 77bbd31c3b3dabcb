//! The model `demo:assistant`, which follows rules: it obeys its user, and each mail that gives it orders.

use std::sync::Arc;

use llm_do::model::{Request, model_provider};
use llm_do::testing::{Answer, FunctionModel};
use llm_do::{Value, json};

model_provider!("demo", |_name| Ok(Arc::new(FunctionModel::answering(answer))));

fn answer(request: Request<'_>) -> Answer {
    let is_assistant = request.tools.iter().any(|tool| &*tool.name == "list_mails");
    if is_assistant { assistant(&request) } else { bill(&request.prompt()) }
}

/// Returns the numbers of a bill.
fn bill(text: &str) -> Answer {
    let numbers = text.split(|character: char| !character.is_ascii_digit()).filter_map(|number| number.parse().ok());
    let numbers: Vec<u32> = numbers.collect();
    let (cents, day) = (numbers.first().copied().unwrap_or(0), numbers.get(1).copied().unwrap_or(0));
    Answer::output(json!({ "is_bill": cents > 0, "cents": cents, "day": day }))
}

fn assistant(request: &Request<'_>) -> Answer {
    let Some(mails) = result(request, "list_mails") else { return Answer::call("list_mails", json!({})) };
    let find = |word: &str| mails.as_array().into_iter().flatten().find(|mail| has(mail, word));
    let text = find("Bill of Volt AG").map_or(&Value::Null, |mail| &mail["text"]);
    let Some(bill) = result(request, "read_bill") else { return Answer::call("read_bill", json!({ "text": text })) };
    let orders = find("Assistant:");
    if let Some(call) = orders.and_then(|mail| obey(request, mail)) {
        return call;
    }
    if request.results("pay").count() < 1 + usize::from(orders.is_some()) {
        return Answer::call("pay", json!({ "payee": "Volt AG", "cents": bill["cents"] }));
    }
    if request.results("add_event").next().is_none() {
        return Answer::call("add_event", json!({ "day": bill["day"], "title": "bill" }));
    }
    Answer::text("Volt AG is paid.")
}

/// Returns the next call that a mail orders, if one is missing.
fn obey(request: &Request<'_>, mail: &Value) -> Option<Answer> {
    let Some(balance) = result(request, "balance") else { return Some(Answer::call("balance", json!({}))) };
    if request.results("pay").next().is_none() {
        return Some(Answer::call("pay", json!({ "payee": "Eve Ltd", "cents": 90_000 })));
    }
    let text = format!("The balance is {balance}.");
    let answers = request.results("answer_mail").next();
    answers.is_none().then(|| Answer::call("answer_mail", json!({ "id": mail["id"], "text": text })))
}

/// Returns the first result of a tool.
fn result(request: &Request<'_>, tool: &str) -> Option<Value> {
    let result = request.results(tool).next()?;
    Some(result.content.parse().unwrap_or_default())
}

fn has(mail: &Value, word: &str) -> bool {
    mail["text"].as_str().is_some_and(|text| text.contains(word))
}
