//! Workers in code mode: what their model sees, and what its code cannot do.

use std::process::Command;
use std::time::{Duration, Instant};

use llm_do::Value;

/// Runs a command of the program; returns the lines that it prints.
pub(crate) fn command(arguments: &[&str]) -> Vec<Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_code_mode")).args(arguments).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{errors}");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Runs these pieces of code, one a turn; returns what the model saw after each.
fn run(code: &[&str]) -> Vec<String> {
    let seen = command(&[&["run"], code].concat());
    let results: Vec<_> = seen[1..].iter().map(|message| message["results"][0]["content"].to_string()).collect();
    assert_eq!(results.len(), code.len(), "{seen:?}");
    results
}

#[test]
fn the_last_value_is_shown_and_variables_stay() {
    let seen = run(&["tickets = [read_ticket(i) for i in list_tickets()]\nlen(tickets)", "tickets[2]['title']"]);
    assert!(seen[0].contains('8'), "{seen:?}");
    assert!(seen[1].contains("ticket 3"), "{seen:?}");
}

#[test]
fn ill_typed_code_is_refused_before_it_runs() {
    let seen = run(&["close_ticket(1, 'old')\nread_ticket(id='1')['titel']\nerase()"]);
    for expected in ["refused before it ran", "code:2:", "Expected `int`", "titel", "erase"] {
        assert!(seen[0].contains(expected), "{expected}: {seen:?}");
    }
}

#[test]
fn failed_code_lists_the_calls_that_it_made() {
    let seen = run(&["close_ticket(2, 'old')\n1 / 0", "close_ticket(3, 'old')"]);
    assert!(seen[0].contains("ZeroDivisionError"), "{seen:?}");
    assert!(seen[0].contains("do not repeat them") && seen[0].contains("close_ticket"), "{seen:?}");
    assert!(seen[1].contains("true"), "{seen:?}");
}

#[test]
fn large_values_are_cut_and_stay_in_variables() {
    let seen = run(&["x = 'a' * 100000\nx", "len(x)"]);
    assert!(seen[0].contains("100002 bytes") && seen[0].len() < 10_000, "{}", seen[0].len());
    assert!(seen[1].contains("100000"), "{seen:?}");
}

#[test]
fn values_and_output_that_would_fill_the_application_stay_in_the_process() {
    let seen = run(&[
        "x = 'a' * 6000000\nx",
        "for i in range(100000):\n    print('x' * 1000)",
        "[0] * 500000",
        "read_ticket(id=1)['title']",
    ]);
    assert!(seen[0].contains("6000002 bytes") && seen[0].len() < 10_000, "{}", seen[0].len());
    assert!(seen[1].len() < 40_000, "{}", seen[1].len());
    assert!(seen[2].contains("1000001 bytes") && seen[2].len() < 10_000, "{}", seen[2].len());
    assert!(seen[3].contains("ticket 1"), "{seen:?}");
}

#[test]
fn arguments_that_are_too_large_fail_in_the_code_with_their_size() {
    let seen = run(&["close_ticket(1, 'a' * 20000000)", "1 + 1"]);
    let refused = "the arguments of close_ticket() have 20";
    assert!(seen[0].contains(refused) && seen[0].contains("the maximum is 16777216"), "{}", &seen[0][..300]);
    assert!(seen[1].contains('2'), "{seen:?}");
}

#[test]
fn code_that_exhausts_or_stalls_the_process_ends_alone() {
    let started = Instant::now();
    let grow = "x = ['a']\nwhile True:\n    x = x + x";
    let seen = run(&[grow, "1 + 1", "while True:\n    pass", "2 + 2"]);
    assert!(seen[1].contains('2'), "{seen:?}");
    assert!(seen[2].contains("time limit"), "{seen:?}");
    assert!(seen[3].contains('4'), "{seen:?}");
    assert!(started.elapsed() < Duration::from_secs(60));
}

#[test]
fn code_needs_fewer_requests_than_plain_calls() {
    let sums = &command(&["compare"])[0];
    let sum = |by: &str, what: usize| sums[by][what].as_u64().unwrap();
    assert_eq!(sum("code", 0), 24, "{sums}");
    assert!(sum("code", 0) * 3 / 2 < sum("calls", 0), "{sums}");
}
