//! Workers in code mode: their code's calls are calls on the plane, as those of Rust code are.

use std::fs;

use llm_do::{Value, json};

use crate::script::code_mode::command;

#[test]
fn calls_by_code_and_by_rust_leave_the_same_behind() {
    for trace in command(&["parity"]) {
        assert_eq!(trace[0], trace[1]);
        assert!(trace[0][0].as_array().is_some_and(|events| events.len() >= 8), "{trace}");
    }
}

#[test]
fn an_approver_is_asked_about_calls_in_code_and_a_denial_is_an_exception() {
    let code = "out = []
for i in [1, 2, 3]:
    try:
        out.append(close_ticket(i, 'old'))
    except PermissionError as error:
        out.append(str(error))
out";
    let lines = command(&["asked", code, "close_ticket(4, 'old')"]);
    let asked = |id: u32| json!({ "tool": "close_ticket", "arguments": { "id": id, "reason": "old" } });
    assert_eq!(lines[..4], [1, 2, 3, 4].map(asked));
    let seen = lines[4].as_str().unwrap();
    let (first, second) = seen.split_once('\n').unwrap();
    assert!(first.contains("not this one") && first.matches("true").count() == 2, "{seen}");
    assert!(second.contains("PermissionError") && second.contains("not this one"), "{seen}");
    assert_eq!(lines[5], json!([1, 5]));
}

#[test]
fn a_denial_that_stops_ends_the_run_although_the_code_catches_it() {
    let code = "try:\n    close_ticket(9, 'old')\nexcept PermissionError:\n    pass\n'unreached'";
    let lines = command(&["asked", code, "'also unreached'"]);
    assert!(lines[1]["error"].as_str().unwrap().contains("denied: enough"), "{lines:?}");
    assert_eq!(lines[2], json!([]));
}

#[test]
fn code_that_is_killed_anywhere_and_resumed_has_the_same_result_and_repeats_nothing() {
    let code = [
        "closed = [close_ticket(i, 'old') for i in list_tickets()[:2]]\nx = 40",
        "try:\n    read_ticket(9)\nexcept KeyError as error:\n    y = str(error)\nclose_ticket(5, 'old')\nx + 2",
        "import asyncio\nz = [t['id'] for t in await asyncio.gather(read_ticket(3), read_ticket(4))]\nx += 1",
        "1 / 0",
        "[x, y, z, closed]",
    ];
    let runs = command(&[&["journaled"], &code[..]].concat());
    let (whole, again) = runs.split_first().unwrap();
    assert!(
        whole[2].as_str().is_some_and(|seen| seen.contains("[41,") && seen.contains("[3,4],[true,true]")),
        "{whole}"
    );
    assert_eq!(whole[3], json!([1, 2, 5]));
    assert!(again.len() > 12, "{runs:?}");
    for run in again {
        assert_eq!(run[2], whole[2], "{run}");
        let known = usize::try_from(run[1].as_u64().unwrap()).unwrap();
        assert_eq!(run[3].as_array().unwrap()[..], whole[3].as_array().unwrap()[known..], "{run}");
    }
}

#[test]
fn a_call_of_code_that_may_have_happened_is_asked_about_or_raised_and_not_made_again() {
    let code = "try:\n    out = str(close_ticket(1, 'old'))\nexcept RuntimeError as error:\n    out = str(error)\nout";
    let runs = command(&["unknown", code]);
    let seen = |run: &Value| run[0].as_str().unwrap().to_owned();
    assert!(seen(&runs[0]).contains("True") && runs[0][1] == json!([1]), "{runs:?}");
    assert!(seen(&runs[1]).contains("False"), "the result that the person gave: {runs:?}");
    assert!(seen(&runs[2]).contains("the outcome of `close_ticket` is unknown"), "{runs:?}");
    assert_eq!((&runs[1][1], &runs[2][1]), (&json!([]), &json!([])));
}

/// Runs pieces of code; returns what the model saw of the last one.
fn last(code: &[&str]) -> String {
    let seen = command(&[&["run"], code].concat()).pop().unwrap();
    seen["results"][0]["content"].as_str().unwrap().to_owned()
}

#[test]
fn later_code_may_change_variables_also_after_code_that_failed() {
    assert_eq!(last(&["x = 40", "x += 2\nx"]), json!({ "value": 42 }).to_string());
    assert_eq!(last(&["x = 40\nraise ValueError('no')", "x = [str(x)]\nx"]), json!({ "value": ["40"] }).to_string());
    let seen = last(&["raise ValueError('no')", "erase()"]);
    assert!(seen.contains("refused before it ran") && seen.contains("code:1:1: Name `erase`"), "{seen}");
}

#[test]
fn code_with_await_uses_the_results_of_code_without() {
    let code = [
        "tickets = [read_ticket(i) for i in [1, 2]]",
        "import asyncio\n[t['id'] for t in tickets + list(await asyncio.gather(read_ticket(3)))]",
    ];
    assert_eq!(last(&code), json!({ "value": [1, 2, 3] }).to_string());
}

#[test]
fn a_cancelled_run_ends_the_process_of_its_code() {
    let stopped = &command(&["stopped", "cancel", "close_ticket(1, 'old')\nwhile True:\n    pass"])[0];
    assert_eq!((&stopped["before"], &stopped["after"]), (&json!(1), &json!(0)), "{stopped}");
    // The interpreter itself would go on for 10 seconds.
    assert!(stopped["gone"].as_u64() < Some(5000), "{stopped}");
    assert!(stopped["error"].as_str().unwrap().contains("cancelled"), "{stopped}");
}

#[test]
fn a_deadline_ends_the_process_of_the_code() {
    let stopped = &command(&["stopped", "deadline", "while True:\n    pass"])[0];
    assert_eq!(stopped["after"], 0, "{stopped}");
    assert!(stopped["gone"].as_u64() < Some(9000), "{stopped}");
    assert!(stopped["error"].as_str().unwrap().contains("timed out"), "{stopped}");
}

/// Runs code of a worker with tools that show how many of their calls are in flight.
fn concurrent(code: &str) -> String {
    command(&["concurrent", code])[0].as_str().unwrap().to_owned()
}

#[test]
fn gathered_calls_that_only_read_run_concurrently() {
    let seen = concurrent("import asyncio\nawait asyncio.gather(*[meet(i) for i in [4, 5, 6]])");
    assert_eq!(seen, json!({ "value": [4, 5, 6] }).to_string());
}

#[test]
fn gathered_calls_with_effects_run_one_after_the_other() {
    let code = "import asyncio
async def write(i: int) -> int:
    return await write_down(i)
a = await asyncio.gather(*[write_down(i) for i in range(4)])
b = await asyncio.gather(*[write(i) for i in range(4)])
[a, b, await write_down(5)]";
    assert_eq!(concurrent(code), json!({ "value": [[1, 1, 1, 1], [1, 1, 1, 1], 1] }).to_string());
}

#[test]
fn calls_that_are_not_awaited_do_not_run() {
    let seen = concurrent("await write_down(1)\nlater = [write_down(2)]");
    assert!(seen.contains("`write_down` were not awaited"), "{seen}");
}

/// Runs code of the worker of this file.
fn by_file(file: &str, code: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("by_file.worker"), file).unwrap();
    command(&["file", folder.path().to_str().unwrap(), code]).remove(0)
}

#[test]
fn a_worker_file_turns_code_mode_on() {
    let file = "---\nname: by_file\ntoolsets: [list_tickets, read_ticket]\ncode: true\n---\nWork by code.\n";
    let seen = by_file(file, "sum([read_ticket(i)['votes'] for i in list_tickets()])");
    assert_eq!(seen, json!({ "value": 42 }).to_string());
}

#[test]
fn code_mode_without_tools_is_a_fault_of_the_worker_file() {
    let seen = by_file("---\nname: by_file\ncode: true\n---\nWork by code.\n", "1");
    let error = seen["error"].as_str().unwrap();
    assert!(error.contains("by_file.worker") && error.contains("its model has nothing to call"), "{error}");
}
