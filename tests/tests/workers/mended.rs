//! JSON that a model almost wrote: what is mended as a result and as arguments, and what never is.
//!
//! The corpus has texts with what they mean, and texts that could mean two things.

use std::sync::{Arc, LazyLock, Mutex};

use llm_do::approval::ApprovalMode;
use llm_do::event::{EventKind, Mend};
use llm_do::journal::MemoryJournal;
use llm_do::model::{Profile, ResponsePart, ToolCall};
use llm_do::prelude::*;
use llm_do::runtime::{FunctionTool, RuntimeBuilder};
use llm_do::testing::{Recorder, ScriptedModel};
use llm_do::worker::{OutputMode, WorkerSpec};
use llm_do::{Effect, Value, json};
use serde::Deserialize;

/// The texts of the corpus.
#[derive(Deserialize)]
struct Corpus {
    mended: Vec<MendedText>,
    refused: Vec<String>,
}

#[derive(Deserialize)]
struct MendedText {
    text: String,
    json: Value,
    mends: Vec<Mend>,
}

static CORPUS: LazyLock<Corpus> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../fixtures/almost_json.json")).unwrap());

/// A profile whose arguments are mended.
const MENDED: Profile = Profile::BASIC.with_mended_arguments(true);

/// Returns what was mended, by the events: of the arguments of a tool, or of the result.
fn mended(recorder: &Recorder) -> Vec<(Option<Arc<str>>, Vec<Mend>)> {
    let mended = |kind| if let EventKind::Mended { tool, mends } = kind { Some((tool, mends)) } else { None };
    recorder.kinds().into_iter().filter_map(mended).collect()
}

fn raw_call(tool: &str, arguments: &str) -> [ResponsePart; 1] {
    [ResponsePart::ToolCall(ToolCall::new("call_1", tool, arguments))]
}

/// Returns the result of a worker whose only answer is this.
async fn result(answer: ResponsePart, profile: Profile, mode: OutputMode) -> (Result<Value, CallError>, Recorder) {
    let recorder = Recorder::new();
    let spec =
        WorkerSpec::new("maker", "Make.").output_schema(json!({ "type": "object" })).output_mode(mode).retries(0);
    let model = ScriptedModel::new().answer([answer]).profile(profile);
    let runtime = Runtime::builder().worker(spec).force_model(model).sink(recorder.clone()).build().unwrap();
    (runtime.run_named("maker", json!({ "input": "go" })).await, recorder)
}

fn text(text: &str) -> ResponsePart {
    ResponsePart::Text { text: text.to_owned() }
}

/// The runtime of a worker whose model calls the tool `note_down` once, and the arguments with which the tool ran.
fn noting(arguments: &str, profile: Profile, effect: Effect) -> (RuntimeBuilder, Arc<Mutex<Vec<Value>>>) {
    let ran = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&ran);
    let note = move |_: CallContext, arguments: Value| {
        notes.lock().unwrap().push(arguments);
        async { Ok("noted") }
    };
    let tool = FunctionTool::new("note_down", "Note it.", json!({ "type": "object" }), effect, note);
    let model = ScriptedModel::new().answer(raw_call("note_down", arguments)).text("done").profile(profile);
    let builder = Runtime::builder().tool(tool).worker(WorkerSpec::new("note_clerk", "Note.").toolsets(["note_down"]));
    (builder.approval_mode(ApprovalMode::ApproveAll).force_model(model), ran)
}

/// Returns the arguments with which the tool ran.
async fn noted(arguments: &str, profile: Profile, effect: Effect) -> (Vec<Value>, Recorder) {
    let recorder = Recorder::new();
    let (builder, ran) = noting(arguments, profile, effect);
    let runtime = builder.sink(recorder.clone()).build().unwrap();
    assert_eq!(runtime.run_named("note_clerk", json!({ "input": "go" })).await.unwrap(), "done", "{arguments}");
    let ran = std::mem::take(&mut *ran.lock().unwrap());
    (ran, recorder)
}

#[test]
fn the_corpus_has_texts_of_each_kind() {
    let Corpus { mended, refused } = &*CORPUS;
    assert!(mended.len() >= 60 && refused.len() >= 60, "{} {}", mended.len(), refused.len());
    for kind in Mend::ALL {
        assert!(mended.iter().filter(|text| text.mends.contains(&kind)).count() >= 7, "{kind:?}");
    }
}

#[tokio::test]
async fn results_are_mended_and_the_event_names_what_was() {
    for (profile, mode) in [(Profile::NATIVE_OUTPUT, OutputMode::Native), (Profile::TEXT, OutputMode::Prompted)] {
        for MendedText { text: written, json, mends } in &CORPUS.mended {
            let (result, recorder) = result(text(written), profile, mode).await;
            assert_eq!(result.unwrap(), *json, "{written}");
            assert_eq!(mended(&recorder), [(None, mends.clone())], "{written}");
        }
    }
}

#[tokio::test]
async fn a_result_that_could_mean_two_things_is_refused() {
    for (profile, mode) in [(Profile::NATIVE_OUTPUT, OutputMode::Native), (Profile::TEXT, OutputMode::Prompted)] {
        for written in &CORPUS.refused {
            let (result, recorder) = result(text(written), profile, mode).await;
            assert!(matches!(result, Err(CallError::GaveUp { .. })), "{written}: {result:?}");
            assert_eq!(mended(&recorder), [], "{written}");
        }
    }
}

#[tokio::test]
async fn the_result_of_the_output_tool_is_mended_if_the_profile_allows_it() {
    let MendedText { text, json, mends } = &CORPUS.mended[0];
    let [call] = raw_call("final_result", text);
    let (allowed, recorder) = result(call.clone(), MENDED, OutputMode::Tool).await;
    assert_eq!(allowed.unwrap(), *json);
    assert_eq!(mended(&recorder), [(None, mends.clone())]);
    let (refused, recorder) = result(call, Profile::BASIC, OutputMode::Tool).await;
    assert!(refused.unwrap_err().to_string().contains("invalid JSON"));
    assert_eq!(mended(&recorder), []);
}

#[tokio::test]
async fn the_schema_decides_after_the_mending() {
    let spec = WorkerSpec::new("maker", "Make.").retries(1).output_schema(
        json!({ "type": "object", "properties": { "score": { "type": "integer" } }, "required": ["score"] }),
    );
    let recorder = Recorder::new();
    let model = ScriptedModel::new().text("{score: 'high',}").text("{score: 7,}").profile(Profile::NATIVE_OUTPUT);
    let runtime = Runtime::builder().worker(spec).force_model(model).sink(recorder.clone()).build().unwrap();
    assert_eq!(runtime.run_named("maker", json!({ "input": "go" })).await.unwrap(), json!({ "score": 7 }));
    let kinds = recorder.kinds();
    let retried =
        kinds.iter().filter_map(|kind| if let EventKind::ModelRetry { reason } = kind { Some(reason) } else { None });
    assert!(retried.collect::<Vec<_>>()[0].starts_with("the result does not follow its schema"));
    assert_eq!(mended(&recorder).len(), 2);
}

#[tokio::test]
async fn arguments_of_a_call_that_reads_are_mended() {
    for MendedText { text, json, mends } in &CORPUS.mended {
        let (ran, recorder) = noted(text, MENDED, Effect::ReadOnly).await;
        assert_eq!(ran, *std::slice::from_ref(json), "{text}");
        assert_eq!(mended(&recorder), [(Some("note_down".into()), mends.clone())], "{text}");
    }
}

#[tokio::test]
async fn a_call_that_may_change_something_runs_with_what_was_written_or_not_at_all() {
    for effect in [Effect::Idempotent, Effect::Destructive, Effect::Undeclared] {
        for MendedText { text, json, mends } in &CORPUS.mended {
            let (ran, recorder) = noted(text, MENDED, effect).await;
            let may_lack = mends.contains(&Mend::Words) || mends.contains(&Mend::MissingBracket);
            assert_eq!(ran, if may_lack { vec![] } else { vec![json.clone()] }, "{text}");
            assert_eq!(mended(&recorder).len(), ran.len(), "{text}");
        }
    }
}

#[tokio::test]
async fn arguments_that_could_mean_two_things_are_returned_to_the_model() {
    for effect in [Effect::ReadOnly, Effect::Destructive] {
        // An empty text means no arguments.
        for text in CORPUS.refused.iter().filter(|text| !text.is_empty()) {
            let (ran, recorder) = noted(text, MENDED, effect).await;
            assert_eq!((ran, mended(&recorder)), (vec![], vec![]), "{text}");
            let is_refused = |kind: &EventKind| matches!(kind, EventKind::CallRefused { .. });
            assert!(recorder.kinds().iter().any(is_refused), "{text}");
        }
    }
}

#[tokio::test]
async fn arguments_are_not_mended_unless_the_profile_allows_it() {
    for MendedText { text, .. } in &CORPUS.mended {
        let (ran, recorder) = noted(text, Profile::BASIC, Effect::ReadOnly).await;
        assert_eq!((ran, mended(&recorder)), (vec![], vec![]), "{text}");
    }
}

#[tokio::test]
async fn a_resumed_run_mends_what_the_first_one_mended() {
    let journal = MemoryJournal::new();
    let run = async |journal: MemoryJournal| {
        let recorder = Recorder::new();
        let (builder, ran) = noting("{path: 'a.txt',}", MENDED, Effect::Destructive);
        let runtime = builder.journal(journal).sink(recorder.clone()).build().unwrap();
        assert_eq!(runtime.run_named("note_clerk", json!({ "input": "go" })).await.unwrap(), "done");
        (std::mem::take(&mut *ran.lock().unwrap()), mended(&recorder))
    };
    let (ran, first) = run(journal.clone()).await;
    assert_eq!((ran, first.len()), (vec![json!({ "path": "a.txt" })], 1));
    assert_eq!(run(journal.replayed()).await, (vec![], first));
}
