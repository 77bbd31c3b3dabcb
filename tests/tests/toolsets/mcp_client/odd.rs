//! A clumsy and a hostile server: each row of `oddities.json` breaks one rule, on pipes, by JSON and by streams of events. What works of
//! such a server works, the rest is named, and no error that has arrived is waited for.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use llm_do::mcp::McpServer;
use llm_do::testing::Recorder;
use llm_do::{Runtime, Value, json};

use super::script::{builder, call, echo};

const SERVER: &str = env!("CARGO_BIN_EXE_odd_server");
/// How long an error that has arrived may be waited for.
const SOON: Duration = Duration::from_secs(2);
/// How many servers run concurrently: more would measure the machine.
const CONCURRENT: usize = 2;
/// The longest text about an oddity, in bytes: a server must not fill a log or a request.
const MAX_TEXT: usize = 9_000;

fn rows(kind: &str, over: &str) -> Vec<Value> {
    let rows: Vec<Value> = serde_json::from_str(include_str!("../../../fixtures/mcp/oddities.json")).unwrap();
    let is_over = |row: &Value| row["over"].as_str().is_none_or(|all| all.split(' ').any(|one| one == over));
    rows.into_iter().filter(|row| row["kind"] == kind && is_over(row)).collect()
}

/// A server of one row, which ends with this.
struct Odd {
    process: Option<Child>,
    server: McpServer,
}

impl Odd {
    fn start(name: &str, over: &str) -> Self {
        if over == "lines" {
            return Self { process: None, server: McpServer::command("s", SERVER, [name, over]) };
        }
        let mut command = Command::new(SERVER);
        let mut process = command.args([name, over]).stdout(Stdio::piped()).spawn().unwrap();
        let mut port = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut port).unwrap();
        let server = McpServer::http("s", format!("http://127.0.0.1:{}/mcp", port.trim()));
        Self { process: Some(process), server }
    }
}

impl Drop for Odd {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            drop(process.kill());
            drop(process.wait());
        }
    }
}

/// Returns how a server of a row differs from its row.
async fn fault(row: &Value, over: &str) -> Option<String> {
    let odd = Odd::start(row["name"].as_str().unwrap(), over);
    let begun = Instant::now();
    let connected = odd.server.clone().restart_delay(Duration::from_millis(1)).connect().await;
    let late = late(begun);
    let fault = match (connected, row["refused"].as_str()) {
        (Err(error), Some(expected)) => unlike(&error.to_string(), expected),
        (Err(error), None) => Some(format!("it was refused: {error}")),
        (Ok(_), Some(expected)) => Some(format!("it was not refused: {expected}")),
        (Ok(connection), None) => {
            let log = Recorder::new();
            let runtime = builder(connection).sink(log.clone()).build().unwrap();
            used(row, &runtime, &log).await
        }
    };
    fault.or(late).map(|fault| format!("{over}: {}: {fault}", row["name"]))
}

/// Returns that something took too long.
fn late(begun: Instant) -> Option<String> {
    (begun.elapsed() > SOON).then(|| format!("it took {:?}", begun.elapsed()))
}

/// Returns how a server that was connected differs from its row.
async fn used(row: &Value, runtime: &Runtime, log: &Recorder) -> Option<String> {
    let warnings = runtime.warnings().join("\n");
    let warned = match row["warns"].as_str() {
        Some(expected) => unlike(&warnings, expected),
        None => (!warnings.is_empty()).then(|| format!("warnings: {warnings}")),
    };
    let missing = row["has"].as_str().map(|tool| format!("mcp__s__{tool}"));
    let missing = missing.filter(|name| runtime.registry().get(name).is_none());
    let begun = Instant::now();
    let answered = match runtime.start_named("mcp__s__odd", json!({})).with_files().await {
        Ok(result) => {
            let files: Vec<_> = result.attachments().iter().map(|file| file.media_type().to_owned()).collect();
            given(row, result.value(), &json!(files))
        }
        Err(error) => match row["fails"].as_str() {
            Some(expected) => unlike(&error.model_message(), expected),
            None => Some(format!("the call failed: {}", error.model_message())),
        },
    };
    let late = late(begun);
    runtime.flush().await;
    let noted = row["notes"].as_str().and_then(|expected| unlike(&format!("{:?}", log.events()), expected));
    let alone = match echo(runtime, "hello").await {
        Ok(value) if value == "hello" => None,
        _ if row["alone"] == false => None,
        other => Some(format!("`echo` returned {other:?}")),
    };
    warned.or(missing.map(|name| format!("no tool `{name}`"))).or(answered).or(late).or(noted).or(alone)
}

fn given(row: &Value, value: &Value, files: &Value) -> Option<String> {
    if let Some(expected) = row["fails"].as_str() {
        return Some(format!("the call did not fail ({expected}): {value}"));
    }
    if let Some(expected) = row["contains"].as_str() {
        return value.as_str().is_none_or(|text| !text.contains(expected)).then(|| format!("no `{expected}`"));
    }
    let is_value = row.get("value").is_none_or(|expected| expected == value);
    let is_files = row.get("files").is_none_or(|expected| expected == files);
    (!is_value || !is_files).then(|| format!("the result is {value} with the files {files}"))
}

/// Returns how a text about an oddity differs from what is expected of it.
fn unlike(text: &str, expected: &str) -> Option<String> {
    let is_clean = text.len() <= 3 * MAX_TEXT && !text.chars().any(|char| char.is_control() && char != '\n');
    (!text.contains(expected) || !is_clean)
        .then(|| format!("expected `{expected}`, found {} bytes: {text:.2000}", text.len()))
}

/// Tries all servers of a kind, and lists those that differ.
async fn try_all(kind: &str, over: &str) {
    let rows = rows(kind, over);
    assert!(rows.len() >= 50, "{} rows", rows.len());
    let tried = futures_util::stream::iter(&rows).map(|row| fault(row, over)).buffer_unordered(CONCURRENT);
    let faults: Vec<_> = tried.filter_map(async |fault| fault).collect().await;
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), rows.len(), faults.join("\n"));
}

#[tokio::test]
async fn what_works_of_a_clumsy_program_works_and_the_rest_is_named() {
    try_all("clumsy", "lines").await;
}

#[tokio::test]
async fn what_works_of_a_clumsy_server_at_a_url_works_and_the_rest_is_named() {
    try_all("clumsy", "json").await;
}

#[tokio::test]
async fn what_works_of_a_clumsy_server_that_streams_works_and_the_rest_is_named() {
    try_all("clumsy", "events").await;
}

#[tokio::test]
async fn what_works_of_a_hostile_program_works_and_the_rest_is_named() {
    try_all("hostile", "lines").await;
}

#[tokio::test]
async fn what_works_of_a_hostile_server_at_a_url_works_and_the_rest_is_named() {
    try_all("hostile", "json").await;
}

#[tokio::test]
async fn what_works_of_a_hostile_server_that_streams_works_and_the_rest_is_named() {
    try_all("hostile", "events").await;
}

#[test]
fn there_are_sixty_rows_of_each_kind() {
    let rows: Vec<Value> = serde_json::from_str(include_str!("../../../fixtures/mcp/oddities.json")).unwrap();
    let count = |kind: &str| rows.iter().filter(|row| row["kind"] == kind).count();
    assert!(count("clumsy") >= 60 && count("hostile") >= 60);
}

#[tokio::test]
async fn an_error_without_an_id_ends_the_only_call_that_is_left() {
    let odd = Odd::start("an error whose id is null", "lines");
    let runtime = builder(odd.server.clone()).build().unwrap();
    let begun = Instant::now();
    let (odd, echo) = tokio::join!(call(&runtime, "odd", json!({})), echo(&runtime, "hello"));
    assert!(odd.unwrap_err().contains("busy"));
    assert_eq!(echo.unwrap(), "hello", "the other call is answered");
    assert!(begun.elapsed() < SOON);
}
