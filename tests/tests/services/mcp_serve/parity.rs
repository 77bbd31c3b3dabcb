//! A call through MCP is the same call as one by name.

use std::time::Duration;

use llm_do::approval::Decision;
use llm_do::event::{Event, EventKind};
use llm_do::journal::MemoryJournal;
use llm_do::testing::{Recorder, TestModel};
use proptest::prelude::*;

use super::*;

/// A call and what its user decides.
#[derive(Clone, Debug)]
struct Trial {
    name: &'static str,
    arguments: Value,
    approves: bool,
}

fn trials() -> impl Strategy<Value = Trial> {
    let path = "[a-z]{1,3}";
    let calls = prop_oneof![
        (any::<i64>(), any::<i32>()).prop_map(|(a, b)| ("add", json!({ "a": a / 2, "b": b }))),
        Just(("add", json!({ "a": "one" }))),
        path.prop_map(|path| ("delete", json!({ "path": path }))),
        prop::collection::vec(path, 0..4).prop_map(|paths| ("clean", json!({ "paths": paths }))),
        path.prop_map(|name| ("welcome", json!({ "name": name }))),
        Just(("who", json!({}))),
        Just(("delete", json!({ "path": null, "other": [] }))),
    ];
    (calls, any::<bool>()).prop_map(|((name, arguments), approves)| Trial { name, arguments, approves })
}

/// All that a call leaves behind.
#[derive(Debug, PartialEq)]
struct Traces {
    events: Vec<Value>,
    journal: Vec<Value>,
}

fn traced() -> (RuntimeBuilder, Recorder, MemoryJournal) {
    let (recorder, journal) = (Recorder::new(), MemoryJournal::new());
    let builder = builder().force_model(TestModel::new().text("Hello!")).sink(recorder.clone());
    (builder.journal(journal.clone()), recorder, journal)
}

/// Returns the traces without what differs between any two runs: times, and the id of the run.
fn traces(recorder: &Recorder, journal: &MemoryJournal) -> Traces {
    let events = recorder.events().into_iter().map(|event| without_times(&event)).collect();
    let records = journal.records();
    let run = recorder.events().first().map(|event| event.run.to_string()).unwrap_or_default();
    let journal = records.iter().map(|record| {
        let mut record = serde_json::to_value(record).unwrap();
        if let Some(fields) = record.as_object_mut() {
            // When a call began.
            if fields["kind"] == "begun" {
                fields.remove("value");
            }
            fields.retain(|name, _| name != "time");
        }
        serde_json::from_str(&record.to_string().replace(&run, "RUN")).unwrap()
    });
    Traces { events, journal: journal.collect() }
}

fn without_times(event: &Event) -> Value {
    let mut event = event.clone();
    if let EventKind::CallFinished { elapsed_ms, .. } = &mut event.kind {
        *elapsed_ms = 0;
    }
    let mut event = serde_json::to_value(event).unwrap();
    if let Some(fields) = event.as_object_mut() {
        fields.retain(|name, _| !["time", "run"].contains(&name.as_str()));
    }
    event
}

async fn by_name(trial: &Trial) -> Traces {
    let (builder, recorder, journal) = traced();
    let approves = trial.approves;
    let start = builder.build().unwrap().start_named(trial.name, trial.arguments.clone()).gated();
    let denied = "the user of the client denied the call";
    let start =
        start.approve_with(move |_| async move { if approves { Decision::approve() } else { Decision::deny(denied) } });
    let _ = start.input_handler(Ann).await;
    traces(&recorder, &journal)
}

async fn by_client(trial: &Trial, era: Era) -> Traces {
    let (builder, recorder, journal) = traced();
    let decision = if trial.approves { "allow" } else { "deny" };
    let user = User::accepting(json!({ "decision": decision, "answer": "Ann" }));
    let client = connect(McpService::new(builder.build().unwrap()), era, user).await;
    client.call_tool(call(trial.name, trial.arguments.clone())).await.unwrap();
    traces(&recorder, &journal)
}

/// A user whose name is Ann.
#[derive(Debug)]
struct Ann;

#[llm_do::async_trait]
impl llm_do::context::InputHandler for Ann {
    async fn answer(&self, _: &llm_do::context::InputRequest) -> std::result::Result<String, llm_do::error::BoxError> {
        Ok("Ann".to_owned())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_call_of_a_client_has_the_events_approvals_usage_and_journal_of_the_call_by_name(trial in trials()) {
        let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let expected = tokio.block_on(by_name(&trial));
        for era in ERAS {
            let traced = tokio.block_on(async { tokio::time::timeout(Duration::from_secs(30), by_client(&trial, era)).await });
            prop_assert_eq!(&traced.unwrap(), &expected);
        }
    }
}
