//! Pays bills, and is killed in the middle: a payment is never made twice.
//!
//! `payments FOLDER`: the journal and the ledger of the bank are files in the folder. With `SLOW_BANK`, the bank takes a minute to
//! answer after a payment is made.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use llm_do::approval::Decision;
use llm_do::journal::FileJournal;
use llm_do::prelude::*;

/// The bank: each line of its ledger is a payment, with the key that it was made under.
#[derive(Clone, Debug)]
struct Bank {
    ledger: PathBuf,
    /// How long the bank takes to answer after a payment is made.
    delay: Duration,
}

impl Bank {
    fn pay(&self, key: &str, bill: u32) -> io::Result<String> {
        let mut ledger = OpenOptions::new().create(true).append(true).open(&self.ledger)?;
        ledger.write_all(format!("{key} bill {bill}\n").as_bytes())?;
        ledger.sync_data()?;
        std::thread::sleep(self.delay);
        Ok(receipt(bill))
    }

    /// Returns whether a payment was made under this key.
    fn has(&self, key: &str) -> io::Result<bool> {
        match fs::read_to_string(&self.ledger) {
            Ok(ledger) => Ok(ledger.lines().any(|line| line.starts_with(&format!("{key} ")))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn receipt(bill: u32) -> String {
    format!("receipt of bill {bill}")
}

/// Pay a bill.
#[tool(effect = destructive, reconcile = was_paid)]
fn pay(ctx: &CallContext, bill: u32, bank: State<Bank>) -> Result<String> {
    Ok(bank.pay(&ctx.idempotency_key(), bill)?)
}

/// Return the receipt of a bill, if it was paid by this call.
#[tool(effect = read_only)]
fn was_paid(ctx: &CallContext, bill: u32, bank: State<Bank>) -> Result<Option<String>> {
    Ok(bank.has(&ctx.idempotency_key())?.then(|| receipt(bill)))
}

/// Pays all bills.
#[entry(toolsets = [pay])]
async fn pay_all(ctx: &CallContext<pay_all>, bills: Vec<u32>) -> Result<Vec<String>> {
    let mut receipts = Vec::new();
    for bill in bills {
        receipts.push(ctx.call(pay { bill }).await?);
    }
    Ok(receipts)
}

fn main() -> Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("usage: payments FOLDER")?);
    let delay = if std::env::var_os("SLOW_BANK").is_some() { Duration::from_secs(60) } else { Duration::ZERO };
    let runtime = Runtime::builder()
        .journal(FileJournal::open(folder.join("run.jsonl"))?)
        .state(Bank { ledger: folder.join("ledger.txt"), delay })
        .approve_with(|request| async move {
            let began = if request.began.is_some() { " that may have happened" } else { "" };
            // Ignored: standard error may be closed.
            let _ = writeln!(io::stderr(), "asked about a call{began}: {}", request.summary());
            if request.began.is_some() { Decision::undecided("no person is here") } else { Decision::approve() }
        })
        .build()?;
    let receipts = runtime.block_on(pay_all { bills: vec![1, 2, 3] })?;
    writeln!(io::stdout(), "{}", receipts.join(", "))?;
    Ok(())
}
