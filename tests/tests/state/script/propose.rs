//! Proposals: a model writes a script for a worker from its recorded cases.

mod commands;
mod gate;
mod hostile;
mod paths;
mod rust;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use llm_do::guard::FunctionGuard;
use llm_do::harden::{Cases, Gate, Parts, Proposal, ProposalEnd, ProposeError, Proposer};
use llm_do::journal::MemoryJournal;
use llm_do::model::Request;
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{Answer, FunctionModel, ScriptedModel};
use llm_do::usage::{Money, Price, PriceTable};
use llm_do::{Effect, harden};

pub(crate) use self::rust::{Parcel, size_of};
use super::Log;

const INTERPRETER: &str = env!("CARGO_BIN_EXE_code_mode");

/// Return the votes for a ticket.
#[tool(effect = read_only)]
fn votes_of(ticket: u64) -> u64 {
    votes(ticket)
}

/// Close a ticket.
#[tool(effect = destructive)]
fn close_ticket(ticket: u64, log: State<Log>) -> bool {
    log.add(format!("closed {ticket}"));
    true
}

/// Return how urgent a ticket is.
#[worker(instructions = "A ticket with many votes is urgent.", toolsets = [votes_of, close_ticket])]
async fn urgency(ticket: u64) -> String;

/// Sorts tickets.
#[entry(toolsets = [urgency])]
async fn sort_tickets(ctx: &CallContext<sort_tickets>, tickets: Vec<u64>) -> Result<usize> {
    let mut urgent = 0;
    for ticket in tickets {
        urgent += usize::from(ctx.call(urgency { ticket }).await? == "high");
    }
    Ok(urgent)
}

fn votes(ticket: u64) -> u64 {
    ticket * 7 % 40
}

fn rule(ticket: u64) -> &'static str {
    if votes(ticket) > 20 { "high" } else { "low" }
}

/// Returns the tickets that a text names.
fn tickets_in(text: &str) -> BTreeSet<u64> {
    let words = text.split("{\"ticket\":").skip(1);
    words.filter_map(|rest| rest.split('}').next()?.trim().parse().ok()).collect()
}

fn tickets() -> Vec<u64> {
    (100_000..100_060).collect()
}

/// Records what the worker answers.
async fn recorded(tickets: Vec<u64>, answer: impl Fn(u64) -> &'static str + Send + Sync + 'static) -> Cases {
    let journal = MemoryJournal::new();
    let model = FunctionModel::answering(move |request: Request<'_>| {
        let digits: String = request.prompt().chars().filter(char::is_ascii_digit).collect();
        Answer::text(answer(digits.parse().unwrap()))
    });
    let runtime = crate::own_builder().state(Log::default()).force_model(model).journal(journal.clone());
    runtime.build().unwrap().run(sort_tickets { tickets }).await.unwrap();
    let mut cases = Cases::of("urgency");
    cases.add(journal.records());
    cases
}

async fn cases() -> Cases {
    recorded(tickets(), rule).await
}

/// A builder whose model writes these scripts, the last one again and again; and what it was asked.
fn writing(scripts: &[&str]) -> (RuntimeBuilder, Log, Log) {
    let scripts: Vec<String> = scripts.iter().map(|script| format!("I think:\n```python\n{script}```\n")).collect();
    let (asked, log, number) = (Log::default(), Log::default(), Arc::new(Mutex::new(0)));
    let requests = asked.clone();
    let model = FunctionModel::answering(move |request: Request<'_>| {
        requests.add(request.prompt());
        let mut number = number.lock().unwrap();
        let script = scripts.get(*number).or(scripts.last()).unwrap();
        *number += 1;
        Answer::text(script)
    });
    let price = Price::per_million(Money::ZERO, Money::from_dollars(1_000_000));
    let prices = PriceTable::builtin().with("function:writer", price).unwrap();
    let builder = crate::own_builder().state(log.clone()).prices(prices).force_model(model.named("writer"));
    (builder, asked, log)
}

/// Returns a script with this front matter and body.
fn script(toolsets: &str, body: &str) -> String {
    format!(
        "def urgency_script(ticket: int) -> str:\n    \"\"\"\n    ---\n    {toolsets}\n    ---\n    Return how urgent a ticket \
         is.\n    \"\"\"\n    {body}\n"
    )
}

fn right() -> String {
    script("toolsets: [votes_of]", "return \"high\" if votes_of(ticket=ticket) > 20 else \"low\"")
}

/// Agrees with most answers.
fn nearly_right() -> String {
    right().replace("> 20", "> 29")
}

/// Agrees with no answer.
fn wrong() -> String {
    script("toolsets: []", "return f\"{ticket}\"")
}

fn ill_typed() -> String {
    right().replace("votes_of(ticket=", "votes_of(tiket=")
}

async fn propose(scripts: &[&str], proposer: Proposer, cases: &Cases) -> (Proposal, Vec<String>) {
    let (builder, asked, _) = writing(scripts);
    let proposal = proposer.propose(builder, cases).await.unwrap();
    (proposal, asked.lines())
}

/// What models write runs in a program that is an interpreter, which a test program is not. Its gate asks for little evidence.
fn proposer() -> Proposer {
    Proposer::new("urgency").interpreter(INTERPRETER).gate(lenient())
}

fn lenient() -> Gate {
    Gate::new().agreement(0.01).coverage(0.01)
}

#[tokio::test]
async fn a_model_that_mends_a_wrong_and_an_ill_typed_script_ends_with_a_right_one() {
    let (wrong, ill_typed, right) = (wrong(), ill_typed(), right());
    let (proposal, asked) = propose(&[&wrong, &ill_typed, &right], proposer(), &cases().await).await;
    let report = &proposal.report;
    assert_eq!(report.end, ProposalEnd::Agrees, "{report}");
    assert_eq!(proposal.script.as_deref(), Some(&*right));
    let chosen = report.chosen.as_ref().unwrap();
    assert_eq!(chosen.attempt, 3);
    assert!(chosen.held_back.all_agree() && chosen.held_back.cases() == report.parts.held_back, "{report}");
    assert_eq!(report.attempts[0].shown.unwrap().disagree, report.parts.shown);
    assert_eq!(report.attempts[1].shown, None);

    assert_eq!(asked.len(), 3);
    let shown = tickets_in(&asked[0]).into_iter().next().unwrap();
    let disagreement =
        format!("- input: {{\"ticket\":{shown}}}\n  expected: \"{}\"\n  script: \"{shown}\"", rule(shown));
    assert!(asked[1].contains(&disagreement), "{}", asked[1]);
    assert!(asked[2].contains("refused before it ran") && asked[2].contains("tiket"), "{}", asked[2]);
}

#[tokio::test]
async fn the_model_gets_signature_instructions_and_the_stubs_of_what_it_may_call() {
    let (_, asked) = propose(&[&right()], proposer(), &cases().await).await;
    let request = &asked[0];
    assert!(request.contains("def urgency_script(ticket: int) -> str:"), "{request}");
    assert!(request.contains("A ticket with many votes is urgent."), "{request}");
    assert!(request.contains("def votes_of(ticket: int) -> int:"), "{request}");
    assert!(!request.contains("close_ticket"), "{request}");
}

#[tokio::test]
async fn a_model_that_never_gets_it_right_leaves_no_script() {
    let (proposal, asked) = propose(&[&wrong()], proposer().attempts(4), &cases().await).await;
    let report = proposal.report;
    assert_eq!((proposal.script, report.chosen.clone(), report.end.clone()), (None, None, ProposalEnd::Attempts));
    assert_eq!((asked.len(), report.attempts.len()), (4, 4));
    assert!(report.to_string().contains("No script was good enough"), "{report}");
    assert_eq!(report.next, Vec::<String>::new());
}

#[tokio::test]
async fn selecting_and_held_back_cases_are_in_no_request() {
    let (wrong, nearly, ill_typed) = (wrong(), nearly_right(), ill_typed());
    let (proposal, asked) = propose(&[&wrong, &nearly, &ill_typed], proposer().attempts(6), &cases().await).await;
    let parts = proposal.report.parts;
    assert!(parts.shown > 10 && parts.selecting > 10 && parts.held_back > 10, "{parts:?}");
    assert_eq!(parts.shown + parts.selecting + parts.held_back, tickets().len());
    let named: BTreeSet<u64> = asked.iter().flat_map(|request| tickets_in(request)).collect();
    assert_eq!(named.len(), parts.shown, "only these are shown");
    let all = asked.concat();
    let hidden = tickets().into_iter().filter(|ticket| !named.contains(ticket));
    assert_eq!(hidden.filter(|ticket| all.contains(&ticket.to_string())).collect::<Vec<_>>(), Vec::<u64>::new());
}

#[tokio::test]
async fn a_case_stays_in_its_part_when_cases_are_added() {
    let few = recorded(tickets()[..30].to_vec(), rule).await;
    let (_, before) = propose(&[&right()], proposer(), &few).await;
    let (_, after) = propose(&[&right()], proposer(), &cases().await).await;
    let (before, after) = (tickets_in(&before[0]), tickets_in(&after[0]));
    assert!(before.is_subset(&after) && before.len() < after.len());
}

#[tokio::test]
async fn what_a_guard_redacts_is_in_no_request() {
    let (wrong, ill_typed) = (wrong(), ill_typed());
    let redact = |secret: &str| {
        let secret = secret.to_owned();
        FunctionGuard::new("redact").before_request(move |request| {
            let text = serde_json::to_string(request.messages()).unwrap().replace(&secret, "0");
            *request.messages_mut() = serde_json::from_str(&text).unwrap();
            Ok(())
        })
    };
    let (_, asked) = propose(&[&wrong, &ill_typed], proposer().attempts(4), &cases().await).await;
    let secret = tickets_in(&asked[0]).pop_first().unwrap().to_string();
    assert!(asked.iter().all(|request| request.contains(&secret)), "it is shown without a guard");
    let (builder, asked, _) = writing(&[&wrong, &ill_typed]);
    let proposal = proposer().attempts(4).propose(builder.guard(redact(&secret)), &cases().await).await.unwrap();
    assert_eq!((proposal.report.attempts.len(), asked.lines().len()), (4, 4));
    assert!(asked.lines().iter().all(|request| !request.contains(&secret)), "{asked:?}");
}

#[tokio::test]
async fn the_report_has_the_cost_and_time_of_the_recorded_calls() {
    let (proposal, _) = propose(&[&right()], proposer(), &cases().await).await;
    let recorded = proposal.report.recorded;
    assert_eq!((recorded.calls, recorded.usage.requests), (60, 60));
    assert!(recorded.milliseconds.is_some_and(|median| median > 0.0 && median < 1000.0), "{recorded:?}");
    let report = proposal.report.to_string();
    assert!(report.contains("Recorded calls of `urgency` that asked its model: 60, with 60 requests, "), "{report}");
    assert!(report.contains("; the median of their times is "), "{report}");
}

#[tokio::test]
async fn a_budget_of_nothing_asks_nothing() {
    let (proposal, asked) = propose(&[&right()], proposer().budget(Money::ZERO), &cases().await).await;
    assert_eq!((proposal.script, proposal.report.end), (None, ProposalEnd::Budget));
    assert_eq!((asked.len(), proposal.report.attempts.len()), (0, 0));
}

#[tokio::test]
async fn a_budget_that_ends_midway_leaves_the_best_script_so_far() {
    let (nearly, wrong, right) = (nearly_right(), wrong(), right());
    let used = propose(&[&wrong], proposer().attempts(1), &cases().await).await.0.report.usage.cost.known;
    assert!(!used.is_zero());
    let budget = Money::from_picodollars(used.picodollars() * 2);
    let (proposal, asked) = propose(&[&nearly, &wrong, &right], proposer().budget(budget), &cases().await).await;
    let report = proposal.report;
    assert_eq!((report.end.clone(), asked.len()), (ProposalEnd::Budget, 2), "{report}");
    assert_eq!(proposal.script, Some(nearly));
    let chosen = report.chosen.unwrap();
    assert!(chosen.attempt == 1 && chosen.held_back.disagree > 0, "{chosen:?}");
    assert!(report.next[0].starts_with("In shadow"), "{:?}", report.next);
    assert_eq!(report.usage.model.requests, 2);
}

#[tokio::test]
async fn a_model_of_unknown_price_is_refused_under_a_budget() {
    let model = ScriptedModel::new().named("acme:writer").text(right());
    let builder = crate::own_builder().state(Log::default()).force_model(model);
    let proposal = proposer().budget(Money::from_dollars(1)).propose(builder, &cases().await).await.unwrap();
    let ProposalEnd::ModelFailed(error) = &proposal.report.end else { panic!("{}", proposal.report) };
    assert!(error.contains("the price of the model `acme:writer` is unknown"), "{error}");
}

#[tokio::test]
async fn contradicting_cases_are_reported_and_left_out() {
    let odd = tickets()[7];
    let given = Mutex::new(false);
    let answer = move |ticket| {
        let mut given = given.lock().unwrap();
        if ticket != odd {
            return rule(ticket);
        }
        *given = !*given;
        if *given { "low" } else { "high" }
    };
    let cases = recorded([tickets(), vec![odd]].concat(), answer).await;
    let (proposal, asked) = propose(&[&wrong(), &right()], proposer(), &cases).await;
    let report = proposal.report;
    let [contradiction] = &*report.contradicting else { panic!("{report}") };
    assert_eq!((&contradiction.input, contradiction.answers.len()), (&llm_do::json!({ "ticket": odd }), 2));
    assert!(asked.iter().all(|request| !request.contains(&odd.to_string())));
    let Parts { shown, selecting, held_back, .. } = report.parts;
    assert_eq!(shown + selecting + held_back, tickets().len() - 1);
    assert_eq!(report.end, ProposalEnd::Agrees);
    assert!(
        report.to_string().contains(&format!("- `{{\"ticket\":{odd}}}`: `\"low\"` (1 times), `\"high\"` (1 times)")),
        "{report}"
    );
}

#[tokio::test]
async fn abstentions_are_counted_apart() {
    let unsure = script(
        "toolsets: [votes_of]",
        "votes = votes_of(ticket=ticket)\n    if 10 < votes < 30:\n        raise Unsure(\"so many\")\n    return \"high\" if \
         votes > 20 else \"low\"",
    );
    let (proposal, asked) = propose(&[&unsure], proposer().attempts(2), &cases().await).await;
    let chosen = proposal.report.chosen.unwrap();
    assert!(chosen.held_back.unsure > 0 && chosen.held_back.agree > 0, "{chosen:?}");
    assert_eq!(chosen.held_back.disagree, 0);
    assert!(asked[1].contains("unsure: error: `urgency_script` is unsure: so many"), "{}", asked[1]);
    assert!(proposal.report.next[0].starts_with("As a hybrid"), "{:?}", proposal.report.next);
}

#[tokio::test]
async fn a_script_that_would_change_something_does_not_run() {
    let closing = script("toolsets: [close_ticket]", "close_ticket(ticket=ticket)\n    return \"low\"");
    let narrowed = closing.replace("toolsets: [close_ticket]", "effect: read_only\n    toolsets: [close_ticket]");
    let (builder, _, log) = writing(&[&closing, &narrowed]);
    let proposal = proposer().attempts(2).propose(builder, &cases().await).await.unwrap();
    let faults: Vec<_> = proposal.report.attempts.iter().map(|attempt| attempt.faults.join("\n")).collect();
    for fault in &faults {
        assert!(fault.contains("`close_ticket` is not allowed here; allowed: `votes_of`"), "{fault}");
    }
    assert!(faults[1].contains("remove `effect`"), "{}", faults[1]);
    assert_eq!(log.lines(), Vec::<String>::new());
}

#[tokio::test]
async fn other_parameters_than_those_of_the_worker_are_a_fault() {
    let other = right().replace("(ticket: int)", "(ticket: int, limit: int = 3)");
    let (proposal, _) = propose(&[&other], proposer().attempts(1), &cases().await).await;
    let faults = &proposal.report.attempts[0].faults;
    assert!(faults[0].contains("must be `ticket`, as given; found `limit`, `ticket`"), "{faults:?}");
}

#[tokio::test]
async fn too_few_cases_are_stated() {
    let (builder, ..) = writing(&[&right()]);
    let error = proposer().propose(builder, &Cases::of("urgency")).await.unwrap_err();
    assert!(matches!(error, ProposeError::TooFewCases { cases: 0, .. }), "{error:?}");
    let (proposal, _) = propose(&[&right()], proposer(), &recorded(tickets()[..12].to_vec(), rule).await).await;
    let report = proposal.report;
    assert!(report.parts.held_back < 10);
    assert!(report.notes.iter().any(|note| note.contains("held back")), "{report}");
}

#[tokio::test]
async fn only_a_worker_is_replaced() {
    for (name, expected) in [("votes_of", "`votes_of` is not a worker"), ("urgensy", "did you mean `urgency`?")] {
        let (builder, ..) = writing(&[&right()]);
        let error = Proposer::new(name).propose(builder, &Cases::of(name)).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[tokio::test]
async fn a_proposed_script_is_a_candidate_like_another() {
    let (proposal, _) = propose(&[&right()], proposer(), &cases().await).await;
    let tool = llm_do::script::ScriptTool::parse("urgency_script", &proposal.script.unwrap()).unwrap();
    let runtime = crate::own_builder().state(Log::default()).tool(tool).build().unwrap();
    assert_eq!(runtime.registry().get("urgency_script").unwrap().effect(), Effect::ReadOnly);
    let report = harden::compare(&runtime, "urgency_script", &cases().await, &harden::Agreement::new()).await;
    assert_eq!(report.summary().to_string(), "60 of 60 agree (100 %)");
}
