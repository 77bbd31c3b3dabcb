//! The same calls by a model and by code have the same labels and decisions.

use llm_do::approval::Policy;
use llm_do::event::{Event, EventKind};
use llm_do::prelude::*;
use llm_do::testing::{Recorder, ScriptedModel};
use llm_do::{Value, json};

use super::super::Scripted;
use super::{fetch_mail, pay, pay_out, policy};

/// Pays to the account of the mail, and then to the user's.
#[entry(toolsets = [fetch_mail, pay_out])]
async fn pays_by_code(ctx: &CallContext<pays_by_code>, input: String) -> Result<()> {
    let mail = ctx.call(fetch_mail {}).await?;
    let of_mail = mail.split_whitespace().find(|word| word.starts_with("DE66")).unwrap_or_default();
    let of_user = input.split_whitespace().last().unwrap_or_default();
    for to in [of_mail.trim_end_matches('.'), of_user] {
        ctx.call(pay_out { to: to.to_owned(), cents: 80, note: String::new() }).await?;
    }
    Ok(())
}

/// Pay to the account of the mail, and then to the user's.
#[worker(toolsets = [fetch_mail, pay_out])]
async fn pays_by_model(input: String) -> String;

/// What an event contains about labels.
fn labels(event: Event) -> Option<Value> {
    let name = &event.name;
    match event.kind {
        EventKind::CallFinished { labels, .. } => Some(json!([name, labels])),
        EventKind::ApprovalAsked { origins, .. } => {
            let labels: Vec<_> =
                origins.iter().map(|found| json!([found.argument, found.label, found.is_private])).collect();
            Some(json!([name, labels]))
        }
        EventKind::ApprovalDecided { approved, rule, .. } => Some(json!([name, approved, rule])),
        _ => None,
    }
}

/// Runs an item; returns what the events of its calls contain about labels.
async fn logged(item: &str, policy: Policy) -> Vec<Value> {
    let model = ScriptedModel::new()
        .call("fetch_mail", json!({}))
        .call("pay_out", pay("DE66-EVIL", "").1)
        .call("pay_out", pay("Ann42", "").1)
        .text("Done.");
    let recorder = Recorder::new();
    let builder = Runtime::builder().force_model(model).policy(policy).approver(Scripted::approving());
    let runtime = builder.sink(recorder.clone()).build().unwrap();
    runtime.run_named(item, json!({ "input": "Pay 80 cents to Ann42" })).await.unwrap();
    let calls = recorder.events().into_iter().filter(|event| ["fetch_mail", "pay_out"].contains(&&*event.name));
    calls.filter_map(labels).collect()
}

#[tokio::test]
async fn a_model_and_code_that_make_the_same_calls_have_the_same_labels_and_decisions() {
    for policy in [policy(), policy().private("fetch_mail"), policy().data_arguments("pay_out", ["note"])] {
        let by_code = logged("pays_by_code", policy.clone()).await;
        assert_eq!(by_code, logged("pays_by_model", policy).await);
        assert!(by_code.contains(&json!(["pay_out", true, { "flow": "steered" }])), "{by_code:?}");
        assert!(by_code.contains(&json!(["pay_out", true, "policy_tool"])), "{by_code:?}");
    }
}
