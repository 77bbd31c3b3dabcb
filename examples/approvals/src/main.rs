//! A clerk pays invoices. Three things decide about each call: the effect of the tool, the policy, and an approver.

mod demo;

use std::fs::{self, OpenOptions};
use std::io::Write;

use llm_do::approval::{ApprovalRequest, ApprovalScope, Decision, Policy, Rule};
use llm_do::json;
use llm_do::prelude::*;

/// List the open invoices: euros and supplier.
// Reads only, so it runs without a question.
#[tool(effect = read_only)]
fn open_invoices() -> Result<String> {
    Ok(fs::read_to_string("invoices.txt")?)
}

/// Pay an invoice.
// Cannot be undone, so it is asked about: the summary is the question.
#[tool(effect = destructive, summary = "pay {euros} euros to {supplier}")]
fn pay(supplier: &str, euros: u64) -> Result<String> {
    append("payments.txt", &format!("{euros} {supplier}"))?;
    Ok(format!("paid {euros} to {supplier}"))
}

/// Add a note for the accountant.
// No effect is declared, so it is asked about too.
#[tool(summary = "note: {text}")]
fn note(text: &str) -> Result<String> {
    append("notes.txt", text)?;
    Ok("noted".to_owned())
}

/// Delete a supplier and its invoices.
#[tool(effect = destructive)]
fn delete_supplier(supplier: &str) -> Result<String> {
    fs::remove_file("invoices.txt")?;
    Ok(format!("deleted {supplier}"))
}

fn append(file: &str, line: &str) -> std::io::Result<()> {
    writeln!(OpenOptions::new().create(true).append(true).open(file)?, "{line}")
}

/// Pay the open invoices.
#[worker(
    toolsets = [open_invoices, pay, note, delete_supplier],
    instructions = "List the open invoices. Pay each, and note each payment that was not made. Delete suppliers without invoices."
)]
async fn clerk(input: String) -> String;

/// Pays all open invoices.
#[entry(toolsets = [clerk])]
async fn main_entry(ctx: &CallContext<main_entry>) -> Result<String> {
    Ok(ctx.call(clerk { input: "Pay the open invoices.".into() }).await?)
}

/// What no approver changes: small payments need no approval, and no mode or approver allows a deletion.
fn policy() -> Policy {
    Policy::new().tool("delete_supplier", Rule::blocked("suppliers are kept for ten years")).decide_with(|call| {
        let is_small = call.tool == "pay" && call.arguments["euros"].as_u64().is_some_and(|euros| euros <= 50);
        is_small.then_some(Rule::PreApproved)
    })
}

/// Decides without a person: pays at most 500 euros at a time, and does not ask again about an equal note.
async fn unattended(request: ApprovalRequest) -> Decision {
    let arguments = &request.arguments;
    match (&*request.tool, arguments["euros"].as_u64()) {
        ("pay", Some(euros)) if euros > 500 => {
            Decision::approve_with(json!({ "supplier": arguments["supplier"], "euros": 500 }))
        }
        ("pay", Some(_)) => Decision::approve(),
        ("note", _) => Decision::approve_for(ApprovalScope::Run),
        _ => Decision::deny("only payments and notes are made without a person"),
    }
}

fn main() -> ExitCode {
    let is_unattended = std::env::var_os("UNATTENDED").is_some();
    // Without an approver of its own, the program asks at the terminal.
    let configure = move |builder: llm_do::runtime::RuntimeBuilder| {
        let builder = builder.policy(policy());
        if is_unattended { builder.approve_with(unattended) } else { builder }
    };
    llm_do::cli::Cli::new().configure(configure).main()
}
