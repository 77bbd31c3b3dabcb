//! An assistant with mails, a calendar and payments. Anyone may write it a mail, and one of the mails gives it orders.

mod demo;

use std::fs::{self, OpenOptions};
use std::io::{self, Write};

use llm_do::approval::{ApprovalRequest, Decision};
use llm_do::flow::Untrusted;
use llm_do::prelude::*;

/// A mail.
#[data]
struct Mail {
    id: u32,
    from: String,
    text: String,
}

/// What a bill asks for.
// Carries no text, so that a model which reads a mail cannot pass an order on.
#[data]
struct Bill {
    /// Whether the mail is a bill.
    is_bill: bool,
    /// The amount, in cents.
    cents: u32,
    /// The day of the month on which it is due.
    day: u32,
}

/// List the mails in the inbox.
// Anyone may have written them, as the type states: from now on, calls are guarded.
#[tool(effect = read_only)]
fn list_mails() -> Result<Untrusted<Vec<Mail>>> {
    let mut mails = Vec::new();
    for id in 1.. {
        match fs::read_to_string(format!("mails/{id}.txt")) {
            Ok(mail) => {
                let (from, text) = mail.split_once('\n').unwrap_or_default();
                mails.push(Mail { id, from: from.to_owned(), text: text.to_owned() });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => break,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(mails.into())
}

/// Read what a bill asks for.
#[worker(quarantined = true)]
async fn read_bill(text: Untrusted<String>) -> Bill;

/// Return the balance of the account, in cents.
#[tool(effect = read_only, private = true)]
fn balance() -> u32 {
    812_345
}

/// Pay a bill.
// What the user has asked for runs without a question; a value of a mail is asked about in any case.
#[tool(effect = destructive, approval = pre_approved, summary = "pay {cents} cents to {payee}")]
fn pay(payee: &str, cents: u32) -> Result<String> {
    append("payments.txt", &format!("{cents} {payee}"))?;
    Ok(format!("paid {payee}"))
}

/// Add an event to the calendar.
#[tool(effect = idempotent, approval = pre_approved, reach = own)]
fn add_event(day: u32, title: &str) -> Result<String> {
    append("calendar.txt", &format!("{day} {title}"))?;
    Ok("added".to_owned())
}

/// Answer a mail.
// The text does not decide who gets it, and leaves: it may not be made of a mail, or of the balance.
#[tool(effect = destructive, approval = pre_approved)]
fn answer_mail(id: u32, text: Untrusted<String>) -> Result<String> {
    append("answers.txt", &format!("{id} {}", text.as_data()))?;
    Ok("sent".to_owned())
}

fn append(file: &str, line: &str) -> io::Result<()> {
    writeln!(OpenOptions::new().create(true).append(true).open(file)?, "{line}")
}

/// Look after the inbox.
#[worker(
    toolsets = [list_mails, read_bill, balance, pay, add_event, answer_mail],
    instructions = "Do what you are asked for. Let `read_bill` read bills.",
    flow_reason = "a payment that a mail steers needs approval, and so does an answer with the balance"
)]
async fn assistant(input: String) -> String;

/// Pays the bill of Volt AG.
#[entry(toolsets = [assistant])]
async fn main_entry(ctx: &CallContext<main_entry>) -> Result<String> {
    let input = "Pay the bill of Volt AG, and add the day on which it is due to the calendar, as bill.";
    Ok(ctx.call(assistant { input: input.into() }).await?)
}

/// Decides without a person: writes each question down, and approves what its user has asked for.
async fn unattended(request: ApprovalRequest) -> Decision {
    let origins = request.origin_line().unwrap_or_default();
    // A question that cannot be written down is denied.
    let is_written = append("questions.txt", &format!("{}: {origins}", request.summary())).is_ok();
    if is_written && request.arguments["payee"] == "Volt AG" {
        Decision::approve()
    } else {
        Decision::deny("the user has not asked for it")
    }
}

fn main() -> ExitCode {
    let is_unattended = std::env::var_os("UNATTENDED").is_some();
    // Without an approver of its own, the program asks at the terminal.
    let configure = move |builder: llm_do::runtime::RuntimeBuilder| {
        if is_unattended { builder.approve_with(unattended) } else { builder }
    };
    llm_do::cli::Cli::new().configure(configure).main()
}
