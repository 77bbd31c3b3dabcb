//! Scripts of a hostile model: each costs itself only, within limits of time and memory.

use std::time::{Duration, Instant};

use llm_do::harden::{ProposalEnd, ProposeError, Proposer};

use super::{Proposal, cases, propose, proposer, recorded, right, rule, script, tickets, writing};

/// Proposes this script, and then the right one.
async fn proposed(body: &str) -> Proposal {
    let (hostile, right) = (script("toolsets: []", body), right());
    let cases = recorded(tickets()[..20].to_vec(), rule).await;
    propose(&[&hostile, &right], proposer().attempts(2), &cases).await.0
}

/// Checks that a script fails in all cases, or is refused, in time; and that the next one is chosen.
async fn costs_itself_only(body: &str) {
    let started = Instant::now();
    let report = proposed(body).await.report;
    assert!(started.elapsed() < Duration::from_secs(80), "{body:.60}: {:?}", started.elapsed());
    let first = &report.attempts[0];
    match first.shown {
        Some(shown) => assert_eq!((shown.agree, shown.disagree), (0, report.parts.shown), "{body:.60}"),
        None => assert!(!first.faults.is_empty(), "{body:.60}"),
    }
    assert_eq!(
        (report.end.clone(), report.chosen.as_ref().map(|chosen| chosen.attempt)),
        (ProposalEnd::Agrees, Some(2)),
        "{report}"
    );
}

#[tokio::test]
async fn a_script_that_never_ends_costs_itself_only() {
    costs_itself_only("while True:\n        pass\n    return \"low\"").await;
}

#[tokio::test]
async fn an_integer_that_grows_without_end_costs_itself_only() {
    costs_itself_only("number = 3\n    while number > 0:\n        number = number * number\n    return \"low\"").await;
}

#[tokio::test]
async fn memory_bombs_cost_themselves_only() {
    for body in [
        "items = [0]\n    while len(items) > 0:\n        items = items + items\n    return \"low\"",
        "return \"a\" * 10 ** 10",
        "return str(2 ** 10 ** 10)",
        "text = \"a\"\n    while len(text) > 0:\n        text = f\"{text}{text}\"\n    return text",
        "return str([[0] * 10 ** 5 for _ in range(10 ** 5)])",
    ] {
        costs_itself_only(body).await;
    }
}

#[tokio::test]
async fn a_flood_of_output_costs_itself_only() {
    costs_itself_only("while True:\n        print(\"x\" * 10000)\n    return \"low\"").await;
}

#[tokio::test]
async fn source_that_is_nested_deeply_or_has_huge_literals_costs_itself_only() {
    for body in [
        format!("return {}\"low\"{}", "(".repeat(20_000), ")".repeat(20_000)),
        format!("return str({}{})", "[".repeat(20_000), "]".repeat(20_000)),
        format!("return str({}1)", "-".repeat(40_000)),
        format!("return str({})", "9".repeat(50_000)),
        format!("return str(1{})", " + 1".repeat(12_000)),
        format!("return str({}0{})", "(lambda: ".repeat(3_000), ")()".repeat(3_000)),
        format!("return str({}1)", "not ".repeat(12_000)),
        format!("return \"{}\"", "x".repeat(100_000)),
    ] {
        costs_itself_only(&body).await;
    }
}

#[tokio::test]
async fn a_result_that_is_too_large_is_refused_with_its_size() {
    let hostile = script("toolsets: []", "return \"a\" * 20000000");
    let (builder, asked, _) = writing(&[&hostile]);
    let proposal = proposer().attempts(2).propose(builder, &cases().await).await.unwrap();
    assert_eq!(proposal.script, None);
    let told = &asked.lines()[1];
    assert!(told.contains("the result has 20000002 bytes; the maximum is 16777216"), "{told}");
}

#[tokio::test]
async fn without_an_interpreter_process_nothing_is_asked_and_nothing_runs() {
    let (builder, asked, _) = writing(&[&right()]);
    let error = Proposer::new("urgency").interpreter("/bin/false").propose(builder, &cases().await).await.unwrap_err();
    assert!(matches!(error, ProposeError::Interpreter(_)), "{error}");
    assert!(error.to_string().contains("call `llm_do::script::interpreter_process()` first in `main`"), "{error}");
    assert_eq!(asked.lines(), Vec::<String>::new());
}
