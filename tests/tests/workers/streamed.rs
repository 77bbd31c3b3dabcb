//! Results that arrive in parts: from a runtime, from code, and passed on by an entry.

use futures_util::StreamExt;
use llm_do::context::{CallStream, Partial};
use llm_do::event::EventKind;
use llm_do::journal::MemoryJournal;
use llm_do::model::{Profile, ProviderError, Request, Response, ResponseStream};
use llm_do::prelude::*;
use llm_do::testing::{Recorder, ScriptedModel};
use llm_do::{Model, async_trait, json};

/// A model whose stream lets the program look after each piece.
#[derive(Clone, Debug)]
struct InPieces(ScriptedModel);

#[async_trait]
impl Model for InPieces {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn profile(&self) -> Profile {
        Model::profile(&self.0)
    }

    async fn request(&self, _: Request<'_>) -> Result<Response, ProviderError> {
        unreachable!("the model is streamed")
    }

    async fn stream(&self, request: Request<'_>) -> Result<ResponseStream, ProviderError> {
        let pieces = self.0.stream(request).await?;
        Ok(Box::pin(pieces.then(|piece| async {
            tokio::task::yield_now().await;
            piece
        })))
    }
}

/// What was seen.
#[data]
#[derive(PartialEq)]
#[serde(rename_all = "camelCase")]
struct Sighting {
    long_name: String,
    count: u8,
    #[serde(rename = "seenBy")]
    people: Vec<String>,
    parts: Vec<SightedPart>,
    #[serde(default)]
    next: Option<Box<Self>>,
    kind: SightingKind,
}

/// A part of it.
#[data]
#[derive(PartialEq)]
struct SightedPart {
    name: String,
}

/// What it is.
#[data]
#[derive(PartialEq)]
enum SightingKind {
    Bird,
    Birdhouse,
}

/// Describe what is there.
#[worker(retries = 1)]
async fn sight(input: String) -> Sighting;

/// List what is there.
#[worker]
async fn list_sights(input: String) -> Vec<String>;

/// Narrate what is there.
#[worker]
async fn narrate_sights(input: String) -> String;

/// Narrate it in parts, and return how many parts there were.
#[entry(toolsets = [narrate_sights])]
async fn count_parts(ctx: &CallContext<count_parts>) -> Result<usize> {
    let mut stream = ctx.stream(narrate_sights { input: "q".into() });
    let mut parts = 0;
    while stream.next().await.is_some() {
        parts += 1;
    }
    assert_eq!(stream.result().await?, TOLD);
    Ok(parts)
}

/// Pass it on.
#[entry(toolsets = [sight])]
async fn pass_sight_on(ctx: &CallContext<pass_sight_on>) -> Result<Sighting> {
    Ok(ctx.pass_on(sight { input: "q".into() }).await?)
}

/// Ask twice, and return how many messages there were.
#[entry(toolsets = [narrate_sights])]
async fn narrate_in_a_thread(ctx: &CallContext<narrate_in_a_thread>) -> Result<usize> {
    let thread = ctx.thread("sights");
    for _ in 0..2 {
        let (partials, result) = all(thread.stream(narrate_sights { input: "q".into() })).await;
        assert!(partials.len() > 3);
        assert_eq!(result?, TOLD);
    }
    Ok(thread.history().messages().len())
}

const TOLD: &str = "A bird in a tree near the house.";

fn sighting() -> Sighting {
    let names = ["the red beak of a bird", "a wing"];
    Sighting {
        long_name: "A bird in a tree.".into(),
        count: 2,
        people: vec!["Ann who lives here".into(), "Bob".into()],
        parts: names.map(|name| SightedPart { name: name.into() }).into(),
        next: None,
        kind: SightingKind::Birdhouse,
    }
}

fn runtime(model: ScriptedModel) -> Runtime {
    Runtime::builder().force_model(InPieces(model)).build().unwrap()
}

/// Returns all partials, and the result.
async fn all<T>(mut stream: CallStream<'_, T>) -> (Vec<Partial<T>>, Result<T, CallError>) {
    let mut partials = Vec::new();
    while let Some(partial) = stream.next().await {
        partials.push(partial);
    }
    (partials, stream.result().await)
}

/// Checks that each partial has all that the one before it had, and that the last has the whole result.
fn check_growth(partials: &[Partial<Sighting>]) {
    assert!(partials.len() > 4, "{partials:?}");
    for pair in partials.windows(2) {
        let [before, after] = [&pair[0], &pair[1]].map(Partial::fields);
        assert!(after.long_name.text().starts_with(before.long_name.text()));
        assert!(after.people.items().count() >= before.people.items().count());
    }
    let last = partials.last().unwrap();
    assert_eq!(*last.json(), json!(sighting()));
    assert_eq!(last.get(), Some(sighting()));
}

#[tokio::test]
async fn a_result_grows_to_what_is_returned_in_each_output_mode() {
    for profile in [Profile::NATIVE_OUTPUT, Profile::BASIC, Profile::TEXT] {
        let runtime = runtime(ScriptedModel::new().profile(profile).output(sighting()));
        let (partials, result) = all(runtime.stream(sight { input: "q".into() })).await;
        check_growth(&partials);
        assert_eq!(result.unwrap(), sighting());
    }
}

#[tokio::test]
async fn fields_are_absent_then_grow_then_are_complete() {
    let runtime = runtime(ScriptedModel::new().profile(Profile::TEXT).output(sighting()));
    let (partials, _) = all(runtime.stream(sight { input: "q".into() })).await;
    let names: Vec<_> = partials.iter().map(|partial| partial.fields().long_name).collect();
    assert!(names.iter().any(|name| !name.text().is_empty() && name.get().is_none()), "it grows");
    assert!(names.iter().all(|name| name.get().is_none_or(|name| name == sighting().long_name)));
    let parts: Vec<_> =
        partials.iter().flat_map(|partial| partial.fields().parts.items().collect::<Vec<_>>()).collect();
    assert!(parts.iter().any(|part| !part.is_complete() && !part.fields().name.text().is_empty()), "inside a list too");
    let kinds = partials.iter().filter_map(|partial| partial.fields().kind.get());
    assert!(
        kinds.into_iter().all(|kind| kind == SightingKind::Birdhouse),
        "no start of a word is taken for another word"
    );
    let last = partials.last().unwrap().fields();
    assert_eq!((last.count.get(), last.next.some().is_none(), last.people.items().count()), (Some(2), true, 2));
}

#[tokio::test]
async fn texts_and_wrapped_lists_arrive_in_parts() {
    let (partials, result) =
        all(runtime(ScriptedModel::new().output(TOLD)).stream(narrate_sights { input: "q".into() })).await;
    assert!(partials.len() > 3 && partials.windows(2).all(|pair| pair[1].text().starts_with(pair[0].text())));
    assert_eq!((partials.last().unwrap().text(), result.unwrap()), (TOLD, TOLD.to_owned()));

    let list = vec!["a bird".to_owned(), "a tree".to_owned()];
    let runtime = runtime(ScriptedModel::new().output(list.clone()));
    let (partials, result) = all(runtime.stream(list_sights { input: "q".into() })).await;
    let texts: Vec<_> = partials.last().unwrap().items().map(|item| item.text().to_owned()).collect();
    assert_eq!((texts, result.unwrap()), (list.clone(), list));
}

#[tokio::test]
async fn code_streams_a_call_and_an_entry_passes_one_on() {
    let model = ScriptedModel::new().output(TOLD).output(TOLD).output(TOLD).output(sighting());
    let runtime = runtime(model);
    assert!(runtime.run(count_parts {}).await.unwrap() > 3);
    assert_eq!(runtime.run(narrate_in_a_thread {}).await.unwrap(), 4);
    let (partials, result) = all(runtime.stream(pass_sight_on {})).await;
    check_growth(&partials);
    assert_eq!(result.unwrap(), sighting());
}

#[tokio::test]
async fn an_answer_after_a_rejected_one_starts_again() {
    let model = ScriptedModel::new()
        .profile(Profile::TEXT)
        .text("{\"longName\": \"A cat.\", \"count\": 300}")
        .output(sighting());
    let (partials, result) = all(runtime(model).stream(sight { input: "q".into() })).await;
    let names: Vec<_> = partials.iter().map(|partial| partial.fields().long_name.text().to_owned()).collect();
    assert!(names.iter().any(|name| name == "A cat.") && names.last().unwrap() == "A bird in a tree.", "{names:?}");
    assert_eq!(result.unwrap(), sighting());
}

#[tokio::test]
async fn a_message_of_a_chat_is_answered_in_parts() {
    let model = ScriptedModel::new().output(TOLD).output(TOLD);
    let runtime = runtime(model.clone());
    let mut chat = runtime.chat();
    for messages in [1, 3] {
        let (partials, result) = all(chat.stream(narrate_sights { input: "q".into() })).await;
        assert!(partials.len() > 3);
        assert_eq!(result.unwrap(), TOLD);
        assert_eq!(model.requests().last().unwrap().messages.len(), messages);
    }
}

#[tokio::test]
async fn a_recorded_result_arrives_as_one_part() {
    let journal = MemoryJournal::new();
    let run = async |journal: MemoryJournal, model: ScriptedModel| {
        let runtime = Runtime::builder().force_model(InPieces(model)).journal(journal).build().unwrap();
        all(runtime.stream(pass_sight_on {})).await
    };
    let (_, first) = run(journal.clone(), ScriptedModel::new().output(sighting())).await;
    let (_, again) = run(journal.replayed(), ScriptedModel::new()).await;
    assert_eq!(first.unwrap(), again.unwrap());
}

#[tokio::test]
async fn a_stream_without_a_reader_still_gives_the_result_and_dropping_it_cancels_the_call() {
    let stream = runtime(ScriptedModel::new().output(sighting())).stream(sight { input: "q".into() });
    assert_eq!(stream.result().await.unwrap(), sighting());

    let recorder = Recorder::new();
    let builder = Runtime::builder().force_model(InPieces(ScriptedModel::new().output(sighting())));
    let runtime = builder.sink(recorder.clone()).build().unwrap();
    let mut stream = runtime.stream(sight { input: "q".into() });
    assert!(stream.next().await.is_some());
    drop(stream);
    runtime.flush().await;
    assert!(recorder.kinds().iter().any(|kind| matches!(kind, EventKind::CallStarted { .. })));
    assert!(!recorder.kinds().iter().any(|kind| matches!(kind, EventKind::ModelResponse { .. })));
}
