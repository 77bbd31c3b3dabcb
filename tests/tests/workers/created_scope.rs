//! Workers that models create: which runs and chats have them, and who lists and replaces them.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use llm_do::approval::{ApprovalMode, ApprovalRequest, Decision, Policy, WorkerRule};
use llm_do::error::chain;
use llm_do::journal::{MemoryJournal, StepKind};
use llm_do::prelude::*;
use llm_do::runtime::{ChatState, RuntimeBuilder};
use llm_do::testing::{Answer, FunctionModel};
use llm_do::worker::WorkerSpec;
use llm_do::{Value, json};

/// Creates, replaces, lists and calls a worker named `helper`, in these steps; returns what each step returned.
#[entry]
async fn act(ctx: &CallContext, steps: Vec<String>) -> Vec<String> {
    act_on(ctx, &steps).await
}

/// Do the same as another item.
#[tool(effect = read_only)]
async fn act_too(ctx: &CallContext, steps: Vec<String>) -> Vec<String> {
    act_on(ctx, &steps).await
}

async fn act_on(ctx: &CallContext, steps: &[String]) -> Vec<String> {
    let mut results = Vec::new();
    for step in steps {
        let (what, rest) = step.split_once(' ').unwrap_or((step, ""));
        let spec = json!({ "name": "helper", "instructions": rest, "description": "Helps." });
        let result = match what {
            "create" => ctx.call_tool("worker_create", spec).await,
            "replace" => ctx.call_tool("worker_replace", spec).await,
            "list" => ctx.call_tool("worker_list", json!({})).await,
            "other" => ctx.call_tool("act_too", json!({ "steps": [rest] })).await,
            _ => ctx.call_tool("worker_call", json!({ "worker": "helper", "input": "now" })).await,
        };
        results.push(match result {
            Ok(Value::String(text)) => text,
            Ok(value) => value.to_string(),
            Err(error) => chain(&error),
        });
    }
    results
}

fn steps(steps: &[&str]) -> act {
    act { steps: steps.iter().map(|step| (*step).to_owned()).collect() }
}

/// A runtime whose model answers with its instructions.
fn builder() -> RuntimeBuilder {
    let model = FunctionModel::answering(|request| Answer::text(request.instructions.unwrap_or_default()));
    let builder = Runtime::builder().only(["act", "act_too", "workers"]).force_model(model);
    builder.approval_mode(ApprovalMode::ApproveAll).on_unknown(llm_do::OnUnknown::Rerun)
}

const CREATED: &str = r#"{"worker":"helper","may_call":[]}"#;
const UNKNOWN: &str = "unknown tool `helper`: no worker has been created yet";

#[tokio::test]
async fn a_run_neither_calls_nor_learns_of_the_workers_of_another() {
    let runtime = builder().build().unwrap();
    assert_eq!(runtime.run(steps(&["create One.", "call"])).await.unwrap(), [CREATED, "One."]);
    let results = runtime.run(steps(&["call", "list", "create Two.", "call"])).await.unwrap();
    assert!(results[0].ends_with(UNKNOWN), "{results:?}");
    assert_eq!(results[1..], ["[]", CREATED, "Two."]);
}

#[tokio::test]
async fn a_chat_keeps_its_workers_also_after_it_was_saved() {
    let runtime = builder().build().unwrap();
    let mut chat = runtime.chat();
    chat.send(steps(&["create One."])).await.unwrap();
    let taken = chat.send(steps(&["call", "create Two."])).await.unwrap();
    assert_eq!(taken[0], "One.");
    assert!(taken[1].contains("a worker named `helper` already exists"), "{taken:?}");

    let saved = serde_json::to_string(&chat.state()).unwrap();
    let state: ChatState = serde_json::from_str(&saved).unwrap();
    assert_eq!(state, chat.state());
    let later = builder().build().unwrap();
    let mut loaded = later.chat().with_state(state);
    assert_eq!(loaded.send(steps(&["call", "replace Two.", "call"])).await.unwrap(), ["One.", CREATED, "Two."]);

    // A fork goes on by itself, and another chat has other workers.
    let mut fork = chat.clone();
    fork.send(steps(&["replace Three."])).await.unwrap();
    assert_eq!(fork.send(steps(&["call"])).await.unwrap(), ["Three."]);
    assert_eq!(chat.send(steps(&["call"])).await.unwrap(), ["One."]);
    let mut other = runtime.chat();
    assert!(other.send(steps(&["call"])).await.unwrap()[0].ends_with(UNKNOWN));
}

#[tokio::test]
async fn a_worker_of_a_chat_is_not_called_if_another_item_has_its_name_since() {
    let mut chat = builder().build().unwrap().chat();
    chat.send(steps(&["create One."])).await.unwrap();
    let later = builder().worker(WorkerSpec::new("helper", "Mine.")).build().unwrap();
    let mut loaded = later.chat().with_state(chat.state());
    let results = loaded.send(steps(&["call", "replace Two.", "list"])).await.unwrap();
    let fault = "the worker `helper` cannot be restored from the chat: ";
    assert!(results[0].contains(fault) && results[0].contains("differs from it"), "{results:?}");
    assert!(results[1].contains("`helper` is already registered"), "{results:?}");
    assert!(results[2].contains(fault) && results[2].contains(r#""is_yours":true"#), "{results:?}");
}

#[tokio::test]
async fn a_worker_is_listed_for_all_and_replaced_by_its_maker_only() {
    let runtime = builder().build().unwrap();
    let results = runtime
        .run(steps(&[
            "replace None.",
            "create One.",
            "other call",
            "other replace Two.",
            "other create Two.",
            "list",
            "other list",
            "replace ",
            "call",
            "replace Two.",
            "call",
            "create Three.",
        ]))
        .await
        .unwrap();
    let none =
        "the worker was not replaced: there is no created worker `helper` to replace: no worker has been created yet";
    assert!(results[0].ends_with(none), "{results:#?}");
    assert_eq!((&*results[1], &*results[2]), (CREATED, r#"["One."]"#));
    assert!(
        results[3].contains("`helper` was created by `act`, so `act_too` cannot replace it; choose another name"),
        "{results:#?}"
    );
    assert!(results[4].contains("a worker named `helper` already exists; choose another name\""), "{results:#?}");
    assert_eq!(results[5], r#"[{"worker":"helper","description":"Helps.","may_call":[],"is_yours":true}]"#);
    assert!(results[6].contains(r#"\"is_yours\":false"#), "{results:#?}");
    assert!(results[7].ends_with("the worker was not replaced: its instructions are blank"), "{results:#?}");
    assert_eq!((&*results[8], &*results[9], &*results[10]), ("One.", CREATED, "Two."));
    assert!(
        results[11].ends_with("already exists; choose another name, or replace it with `worker_replace`"),
        "{results:#?}"
    );
}

#[tokio::test]
async fn replacing_a_worker_needs_an_approval_of_its_own() {
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = Arc::clone(&asked);
    let runtime = builder().approval_mode(ApprovalMode::Prompt).approve_with(move |request: ApprovalRequest| {
        seen.lock().unwrap().push(request.summary());
        async { Decision::approve() }
    });
    let results = runtime.build().unwrap().run(steps(&["create One.", "replace Two.", "call"])).await.unwrap();
    assert_eq!(results[2], "Two.");
    let asked = asked.lock().unwrap();
    assert!(asked[0].starts_with("create the worker helper") && asked[1].starts_with("replace the worker helper"));
    assert_eq!(asked.len(), 2, "{asked:?}");
}

#[tokio::test]
async fn an_approval_for_the_session_is_for_the_worker_and_not_for_its_name() {
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = Arc::clone(&asked);
    let builder =
        builder().approval_mode(ApprovalMode::Prompt).policy(Policy::new().workers(WorkerRule::new().calls(true)));
    let runtime = builder.approve_with(move |request: ApprovalRequest| {
        seen.lock().unwrap().push(request.tool.to_string());
        async { Decision::approve_for_session() }
    });
    let runtime = runtime.build().unwrap();
    for (made, expected) in
        [("create One.", 2), ("create One.", 0), ("create Two.", 2), ("create One.", 0), ("create Two.", 0)]
    {
        assert_eq!(runtime.run(steps(&[made, "call"])).await.unwrap()[0], CREATED);
        assert_eq!(asked.lock().unwrap().drain(..).count(), expected, "{made}");
    }
}

/// A process whose runs are recorded, with a store that it reads at start.
fn process(store: &Path, journal: &MemoryJournal) -> Runtime {
    builder().journal(journal.clone()).worker_store(store).worker_dir(store).build().unwrap()
}

#[tokio::test]
async fn a_run_resumes_from_every_record_with_the_worker_that_it_had_there() {
    let planned = || steps(&["create One.", "call", "replace Two.", "call", "other call", "replace Three.", "call"]);
    let whole = MemoryJournal::new();
    let first = builder().journal(whole.clone()).build().unwrap().run(planned()).await.unwrap();
    assert_eq!(first, [CREATED, "One.", CREATED, "Two.", r#"["Two."]"#, CREATED, "Three."]);
    let records = whole.records();
    // The first record is the run itself.
    for cut in 1..=records.len() {
        let rest = MemoryJournal::from_records(records.iter().take(cut).cloned());
        let resumed = builder().journal(rest).build().unwrap().run(planned()).await;
        assert_eq!(resumed.map_err(|error| chain(&error)), Ok(first.clone()), "after {cut} records");
    }
}

#[tokio::test]
async fn a_resumed_run_knows_the_file_of_the_worker_that_replaced_its_own() {
    let planned = || steps(&["create One.", "call", "replace Two.", "call"]);
    let folder = tempfile::tempdir().unwrap();
    let whole = MemoryJournal::new();
    let first = process(folder.path(), &whole).run(planned()).await.unwrap();
    assert_eq!(first, [CREATED, "One.", CREATED, "Two."]);
    let file = fs::read_to_string(folder.path().join("helper.worker")).unwrap();
    assert!(file.contains("Two."), "{file}");
    assert!(fs::read_to_string(folder.path().join("helper.worker.0")).unwrap().contains("One."));

    let records = whole.records();
    // From where the process may have died after it wrote the file.
    let replaced = records.iter().position(|record| record.kind == StepKind::Effect && &*record.name == "replaced");
    for cut in replaced.unwrap()..=records.len() {
        let rest = MemoryJournal::from_records(records.iter().take(cut).cloned());
        let resumed = process(folder.path(), &rest).run(planned()).await;
        assert_eq!(resumed.map_err(|error| chain(&error)), Ok(first.clone()), "after {cut} records");
        assert_eq!(fs::read_to_string(folder.path().join("helper.worker")).unwrap(), file, "after {cut} records");
    }

    // A file that a person changed is not taken for it.
    fs::write(folder.path().join("helper.worker"), "---\nname: helper\n---\nMine.\n").unwrap();
    let error = process(folder.path(), &whole.replayed()).run(planned()).await.map_err(|error| chain(&error));
    // The result of the run is recorded, and its last worker is another one now.
    assert!(error.unwrap_err().contains("`helper` cannot be restored from the journal"));
}

#[tokio::test]
async fn tenants_have_folders_of_their_own_for_created_workers() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = builder().worker_store(folder.path()).build().unwrap();
    for (tenant, made) in [("ann", "create Of Ann."), ("Bob", "create Of Bob.")] {
        let results = runtime.start(steps(&[made, "call"])).tenant(tenant).await.unwrap();
        assert_eq!(results[0], CREATED, "{results:?}");
    }
    let read = |path: &str| fs::read_to_string(folder.path().join(".tenants").join(path)).unwrap();
    assert!(read("ann/helper.worker").contains("Of Ann."));
    assert!(read("%42ob/helper.worker").contains("Of Bob."));
    let again = runtime.start(steps(&["create Again."])).tenant("ann").await.unwrap();
    assert!(again[0].ends_with("a worker file for `helper` already exists; choose another name"), "{again:?}");
    // The next process does not load the workers of tenants.
    assert!(builder().worker_dir(folder.path()).build().unwrap().registry().get("helper").is_none());
}
