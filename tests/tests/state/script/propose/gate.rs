//! The gate: scripts without enough evidence are refused, each with the reason.

use std::collections::BTreeSet;
use std::sync::Mutex;

use llm_do::harden::{Cases, Gate, Proposal, Proposer};
use llm_do::model::Request;
use llm_do::testing::{Answer, FunctionModel};
use llm_do::worker::WorkerSpec;
use llm_do::{Value, json};

use super::{INTERPRETER, nearly_right, propose, recorded, right, rule, script, tickets_in};
use crate::script::Log;

fn strict() -> Proposer {
    Proposer::new("urgency").interpreter(INTERPRETER)
}

/// Cases with right answers.
fn labelled(tickets: impl IntoIterator<Item = u64>) -> Cases {
    let mut cases = Cases::of("urgency");
    tickets.into_iter().for_each(|ticket| cases.label(json!({ "ticket": ticket }), json!(rule(ticket))));
    cases
}

fn many() -> Cases {
    labelled(100_000..100_300)
}

fn faults(proposal: &Proposal) -> String {
    assert_eq!(proposal.script, None, "{}", proposal.report);
    let chosen = proposal.report.chosen.as_ref().unwrap_or_else(|| panic!("{}", proposal.report));
    chosen.judgment.faults.join("\n")
}

#[tokio::test]
async fn a_right_script_with_enough_cases_is_accepted() {
    let (proposal, _) = propose(&[&right()], strict(), &many()).await;
    assert_eq!(proposal.script.as_deref(), Some(&*right()), "{}", proposal.report);
    let judgment = &proposal.report.chosen.as_ref().unwrap().judgment;
    assert!(judgment.is_accepted() && judgment.bound > 0.95 && judgment.answered > 59, "{judgment:?}");
    assert!(proposal.report.to_string().contains("\nGate: accepted: it answers "), "{}", proposal.report);
}

#[tokio::test]
async fn a_script_that_is_often_wrong_is_refused_and_shown() {
    let (proposal, _) = propose(&[&nearly_right()], strict().attempts(1), &many()).await;
    let faults = faults(&proposal);
    assert!(faults.starts_with("it disagrees too often: "), "{faults}");
    assert_eq!(proposal.report.refused.as_deref(), Some(&*nearly_right()));
    let report = proposal.report.to_string();
    assert!(report.contains("## The refused script\n\n```python\ndef urgency_script("), "{report}");
    assert_eq!((proposal.rust, proposal.report.next), (None, Vec::new()));
}

#[tokio::test]
async fn a_script_that_is_right_once_and_unsure_otherwise_is_refused() {
    let body =
        "votes = votes_of(ticket=ticket)\n    if votes == 39:\n        return \"high\"\n    raise Unsure(\"perhaps\")";
    let (proposal, _) = propose(&[&script("toolsets: [votes_of]", body)], strict().attempts(1), &many()).await;
    let faults = faults(&proposal);
    assert!(faults.starts_with("it answers ") && faults.contains("less than 30 %"), "{faults}");
}

#[tokio::test]
async fn too_few_cases_state_how_many_are_needed() {
    let (proposal, _) = propose(&[&right()], strict(), &labelled(100_000..100_040)).await;
    let faults = faults(&proposal);
    assert!(faults.starts_with("too few cases: ") && faults.ends_with("needs at least 59 answers"), "{faults}");
    let report = proposal.report.to_string();
    assert!(report.contains("59 answers are those of at least about 197 cases"), "{report}");
}

#[tokio::test]
async fn a_gate_may_ask_for_less() {
    let gate = Gate::new().agreement(0.7).confidence(0.9).coverage(0.1);
    let (proposal, _) = propose(&[&right()], strict().gate(gate), &labelled(100_000..100_040)).await;
    assert!(proposal.script.is_some(), "{}", proposal.report);
}

#[tokio::test]
async fn answers_to_contradicting_cases_count_as_disagreements() {
    let given = Mutex::new(BTreeSet::new());
    let answer = move |ticket| match (given.lock().unwrap().insert(ticket), rule(ticket)) {
        (true, answer) => answer,
        (false, "high") => "low",
        (false, _) => "high",
    };
    let tickets: Vec<u64> = (100_000..100_240).collect();
    let cases = recorded([tickets.clone(), tickets[..80].to_vec()].concat(), answer).await;
    let (proposal, _) = propose(&[&right()], strict(), &cases).await;
    let faults = faults(&proposal);
    assert!(faults.starts_with("it disagrees too often: "), "{faults}");
    let chosen = proposal.report.chosen.unwrap();
    assert!(chosen.held_back.all_agree() && chosen.contradicting.cases() > 5, "{chosen:?}");
}

#[tokio::test]
async fn a_script_that_learned_the_inputs_is_refused() {
    let (_, asked) = propose(&[&right()], strict().attempts(1), &many()).await;
    let known: Vec<_> =
        tickets_in(&asked[0]).into_iter().map(|ticket| format!("{ticket}: \"{}\"", rule(ticket))).collect();
    let learned = |otherwise: &str| {
        let body = format!(
            "known = {{{}}}\n    if ticket in known:\n        return known[ticket]\n    {otherwise}",
            known.join(", ")
        );
        script("toolsets: []", &body)
    };
    for otherwise in ["raise Unsure(\"not known\")", "return \"low\""] {
        let (proposal, _) = propose(&[&learned(otherwise)], strict().attempts(1), &many()).await;
        assert_eq!(proposal.script, None, "{otherwise}: {}", proposal.report);
    }
}

/// Half of the customers have the queue `a`, which only their number decides.
fn customers() -> Cases {
    let mut cases = Cases::of("queue");
    for at in 0..600 {
        let customer = at % 40;
        let queue = if customer * 7 % 40 < 20 { "a" } else { "b" };
        let input = json!({ "customer": format!("c-{customer}"), "text": format!("message {at} of a customer") });
        cases.label(input, json!(queue));
    }
    cases
}

#[tokio::test]
async fn a_script_that_learned_the_customers_is_measured_on_other_customers() {
    let schema = json!({
        "type": "object", "required": ["customer", "text"],
        "properties": { "customer": { "type": "string" }, "text": { "type": "string" } },
    });
    let spec =
        || WorkerSpec::new("queue", "Name the queue.").description("Name the queue.").input_schema(schema.clone());
    let shown = std::sync::Arc::new(Mutex::new(String::new()));
    let asked = shown.clone();
    let model = FunctionModel::answering(move |request: Request<'_>| {
        let prompt = request.prompt();
        asked.lock().unwrap().clone_from(&prompt);
        let customers: BTreeSet<_> = prompt.split("\"c-").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        let known = customers.iter().filter_map(|customer| customer.parse::<u32>().ok());
        let known: Vec<_> = known
            .map(|customer| format!("\"c-{customer}\": \"{}\"", if customer * 7 % 40 < 20 { "a" } else { "b" }))
            .collect();
        Answer::text(format!(
            "def queue_script(customer: str, text: str) -> str:\n    \"\"\"Name the queue.\"\"\"\n    known = {{{}}}\n    if customer in \
             known:\n        return known[customer]\n    return \"a\"\n",
            known.join(", ")
        ))
    });
    let builder = crate::own_builder().state(Log::default()).worker(spec()).force_model(model);
    let proposer = Proposer::new("queue").interpreter(INTERPRETER).attempts(1);
    let proposal = proposer.propose(builder, &customers()).await.unwrap();
    assert!(shown.lock().unwrap().contains("\"c-"), "the model has seen some");
    assert_eq!(proposal.script, None, "{}", proposal.report);
    let noted = |note: &String| note.contains("cases with the same `customer` are in one part");
    assert!(proposal.report.notes.iter().any(noted), "{}", proposal.report);
}

#[tokio::test]
async fn labels_count_in_place_of_what_the_worker_answered() {
    let tickets: Vec<u64> = (100_000..100_300).collect();
    let mut cases = recorded(tickets.clone(), |_| "low").await;
    let (proposal, _) = propose(&[&right()], strict().attempts(1), &cases).await;
    assert_eq!(proposal.script, None, "{}", proposal.report);
    for ticket in tickets {
        cases.label(json!({ "ticket": ticket }), Value::from(rule(ticket)));
    }
    assert_eq!(cases.len(), 300);
    let (proposal, _) = propose(&[&right()], strict().attempts(1), &cases).await;
    assert!(proposal.script.is_some(), "{}", proposal.report);
}
