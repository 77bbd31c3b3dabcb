//! Workers that models create, stored as files: loaded by later sessions, and resumed after a crash.

use std::fs;
use std::path::Path;

use llm_do::approval::ApprovalMode;
use llm_do::context::SubtaskRequest;
use llm_do::journal::{MemoryJournal, StepKind};
use llm_do::model::{Request, Response, ResponsePart};
use llm_do::prelude::*;
use llm_do::testing::FunctionModel;
use llm_do::toolsets::{worker_call, worker_create, workers};
use llm_do::usage::Usage;
use llm_do::worker::WorkerSpec;

/// Creates a worker in code, calls it, and creates another with the same name.
#[entry(toolsets = [workers])]
async fn make_and_call(ctx: &CallContext<make_and_call>) -> Result<Vec<String>> {
    let made = ctx.call(helper("Help.")).await?;
    let answer = ctx.call(ask("now")).await?.value().to_string();
    let again = match ctx.call(helper("Help.")).await {
        Ok(made) => made.to_string(),
        Err(error) => llm_do::error::chain(&error),
    };
    let other = match ctx.call(helper("Help otherwise.")).await {
        Ok(made) => made.to_string(),
        Err(error) => llm_do::error::chain(&error),
    };
    Ok(vec![made.to_string(), answer, again, other, ctx.call(ask("later")).await?.value().to_string()])
}

/// Makes a worker in a worker.
#[entry(toolsets = [make_and_call, worker_call])]
async fn make_below(ctx: &CallContext<make_below>) -> Result<Vec<String>> {
    let mut answers = ctx.call(make_and_call {}).await?;
    answers.push(ctx.call(ask("at last")).await?.value().to_string());
    Ok(answers)
}

/// Creates workers whose files would be too large to load.
#[entry(toolsets = [workers])]
async fn make_too_large(ctx: &CallContext<make_too_large>) -> Result<Vec<String>> {
    let many = llm_do::json!({ "type": "object", "enum": vec![1; 110_000] });
    let many = worker_create { output_schema: many.as_object().cloned(), ..helper("Help.") };
    let mut faults = Vec::new();
    for helper in [helper(&"Help. ".repeat(200_000)), many] {
        faults.extend(ctx.call(helper).await.err().map(|error| llm_do::error::chain(&error)));
    }
    Ok(faults)
}

/// Delegates a task to the worker that matches it best.
#[entry]
async fn delegate(ctx: &CallContext) -> Result<String> {
    Ok(ctx.subtask(SubtaskRequest::new("Draw a bee")).await?.to_string())
}

fn helper(instructions: &str) -> worker_create {
    worker_create {
        name: "helper".into(),
        instructions: instructions.into(),
        description: "Helps.".into(),
        model: None,
        toolsets: Vec::new(),
        output_schema: None,
        input_schema: None,
    }
}

fn ask(input: &str) -> worker_call {
    worker_call { worker: "helper".into(), input: input.into(), attachments: Vec::new() }
}

/// Returns a model that answers with its instructions and its input.
fn model() -> FunctionModel {
    FunctionModel::new(|request: Request<'_>| {
        let text = format!("{} {:?}", request.instructions.unwrap_or_default(), request.messages);
        Ok(Response::new("m", vec![ResponsePart::Text { text }], Usage::of_request(1, 1)))
    })
}

/// A process that stores created workers in the folder, and loads those that are stored there.
fn process(folder: &Path, journal: Option<&MemoryJournal>) -> Runtime {
    let builder = Runtime::builder().only(["make_below", "make_too_large", "delegate"]);
    let builder =
        builder.approval_mode(ApprovalMode::ApproveAll).on_unknown(llm_do::OnUnknown::Rerun).force_model(model());
    let builder = match journal {
        Some(journal) => builder.journal(journal.clone()),
        None => builder,
    };
    builder.worker_store(folder).worker_dir(folder).build().unwrap()
}

/// The files of a folder, with what is in them.
fn files(folder: &Path) -> Vec<(String, String)> {
    let read = |entry: std::io::Result<fs::DirEntry>| {
        let entry = entry.unwrap();
        (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap())
    };
    fs::read_dir(folder).unwrap().map(read).collect()
}

#[tokio::test]
async fn a_missing_store_folder_counts_as_empty() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("deep/made");
    process(&store, None).run(make_and_call {}).await.unwrap();
    let spec = WorkerSpec::new("helper", "Help.").description("Helps.");
    assert_eq!(files(&store), [("helper.worker".to_owned(), spec.to_worker_file())]);

    let runtime = process(&store, None);
    assert_eq!(runtime.registry().get("helper").unwrap().description(), "Helps.");

    // The same folder, written in two ways.
    let other = folder.path().join("other");
    let builder = || Runtime::builder().worker_store(&other);
    builder().worker_dir(folder.path().join(".").join("other/")).build().unwrap();
    let error = builder().worker_dir(folder.path().join("othr")).build().unwrap_err();
    assert!(error.to_string().contains("othr"), "{error}");
    let error = Runtime::builder().worker_dir(&other).build().unwrap_err();
    assert!(error.to_string().contains("cannot be read"), "no store is made there: {error}");
}

#[tokio::test]
async fn a_worker_whose_file_could_not_be_loaded_is_not_created() {
    let folder = tempfile::tempdir().unwrap();
    let faults = process(folder.path(), None).run(make_too_large {}).await.unwrap();
    assert!(faults[0].contains("the text of the instructions has 1200000 bytes; the maximum is 100000"), "{faults:?}");
    assert!(
        faults[1].contains("the worker was not created: ") && faults[1].contains("more than 100000 values"),
        "{faults:?}"
    );
    assert_eq!(files(folder.path()), []);
    // The next process starts.
    process(folder.path(), None);
}

#[tokio::test]
async fn a_run_resumes_from_every_record_after_creating_a_worker() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("made");
    let whole = MemoryJournal::new();
    let first = process(&store, Some(&whole)).run(make_below {}).await.unwrap();
    let taken = "a worker named `helper` already exists; choose another name, or replace it with `worker_replace`";
    assert!(first[2].ends_with(taken), "{first:?}");
    assert!(first[3].ends_with(taken), "{first:?}");
    let (written, records) = (files(&store), whole.records());
    // The first record is the run itself.
    for cut in 1..=records.len() {
        let rest = MemoryJournal::from_records(records.iter().take(cut).cloned());
        let resumed = process(&store, Some(&rest)).run(make_below {}).await;
        assert_eq!(resumed.map_err(|error| llm_do::error::chain(&error)), Ok(first.clone()), "after {cut} records");
        assert_eq!(files(&store), written, "after {cut} records");
        // A call that began is decided about again, and begins again.
        let is_asked_again = records[cut - 1].kind == StepKind::Begun;
        let added = usize::from(is_asked_again);
        assert_eq!(rest.records().len(), records.len() + added, "after {cut} records");
    }
}

#[tokio::test]
async fn a_crash_between_the_file_and_its_record_has_the_same_result() {
    let folder = tempfile::tempdir().unwrap();
    let whole = MemoryJournal::new();
    let first = process(folder.path(), Some(&whole)).run(make_and_call {}).await.unwrap();
    let made = whole.records().iter().position(|record| record.kind == StepKind::Effect).unwrap();
    let without_record = || MemoryJournal::from_records(whole.records().into_iter().take(made));
    for reads_store in [false, true] {
        let builder = Runtime::builder().approval_mode(ApprovalMode::ApproveAll).force_model(model());
        let builder = builder.journal(without_record()).worker_store(folder.path());
        let builder = if reads_store { builder.worker_dir(folder.path()) } else { builder };
        assert_eq!(builder.build().unwrap().run(make_and_call {}).await.unwrap(), first, "{reads_store}");
    }

    // Another's file is not taken for it.
    fs::write(folder.path().join("helper.worker"), "---\nname: helper\n---\nMine.\n").unwrap();
    let error = process(folder.path(), Some(&without_record())).run(make_and_call {}).await.unwrap_err();
    assert!(llm_do::error::chain(&error).contains("`helper` is already registered; choose another name"), "{error:?}");
    // It also differs from the worker in the journal.
    let with_record = MemoryJournal::from_records(whole.records().into_iter().take(made + 1));
    let error = process(folder.path(), Some(&with_record)).run(make_and_call {}).await.unwrap_err();
    let text = llm_do::error::chain(&error);
    assert!(!error.is_recoverable() && text.contains("`helper` cannot be restored from the journal"), "{text}");
    assert!(fs::read_to_string(folder.path().join("helper.worker")).unwrap().contains("Mine."));
}

#[tokio::test]
async fn a_new_run_does_not_create_a_worker_whose_name_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    process(folder.path(), None).run(make_and_call {}).await.unwrap();
    for journal in [None, Some(MemoryJournal::new())] {
        let error = process(folder.path(), journal.as_ref()).run(make_and_call {}).await.unwrap_err();
        assert!(llm_do::error::chain(&error).contains("`helper` is already registered"), "{error:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_processes_that_create_the_same_worker_one_gets_an_error() {
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("made");
        let run = |runtime: Runtime| tokio::spawn(async move { runtime.run(make_and_call {}).await });
        let (one, other) = (process(&store, None), process(&store, None));
        let (one, other) = futures_util::try_join!(run(one), run(other)).unwrap();
        let (won, lost) = if one.is_ok() { (one, other) } else { (other, one) };
        won.unwrap();
        let text = llm_do::error::chain(&lost.unwrap_err());
        assert!(text.ends_with("a worker file for `helper` already exists; choose another name"), "{text}");
        assert_eq!(files(&store).len(), 1, "no file of another name is left");
    }
}

#[tokio::test]
async fn a_partly_written_file_is_not_a_worker() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(".helper.tmpAb3xYz"), "---\nname: hel").unwrap();
    assert_eq!(process(folder.path(), None).run(make_and_call {}).await.unwrap().len(), 5);
}

#[tokio::test]
async fn a_resumed_run_keeps_the_worker_of_a_subtask_although_a_better_one_was_loaded_since() {
    let folder = tempfile::tempdir().unwrap();
    let store = |name: &str, description: &str| {
        let spec = WorkerSpec::new(name, format!("You are the {name}.")).description(description);
        fs::write(folder.path().join(format!("{name}.worker")), spec.to_worker_file()).unwrap();
    };
    store("painter", "Draw something.");
    let whole = MemoryJournal::new();
    let first = process(folder.path(), Some(&whole)).run(delegate {}).await.unwrap();
    assert!(first.contains("You are the painter."), "{first}");
    store("bee_painter", "Draw bees.");
    let records = whole.records();
    let chosen = records.iter().position(|record| record.kind == StepKind::Effect).unwrap() + 1;
    for cut in chosen..=records.len() {
        let rest = MemoryJournal::from_records(records.iter().take(cut).cloned());
        let resumed = process(folder.path(), Some(&rest)).run(delegate {}).await;
        assert_eq!(resumed.map_err(|error| llm_do::error::chain(&error)).as_ref(), Ok(&first), "after {cut} records");
    }
    let new = process(folder.path(), None).run(delegate {}).await.unwrap();
    assert!(new.contains("You are the bee_painter."), "{new}");
}
