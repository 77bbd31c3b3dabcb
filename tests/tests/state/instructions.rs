//! Instructions of workers that a function computes.
#![allow(
    clippy::needless_pass_by_value,
    clippy::unused_async,
    reason = "the functions have the forms that users write"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use llm_do::context::FromContext;
use llm_do::error::chain;
use llm_do::journal::{MemoryJournal, StepKind};
use llm_do::json;
use llm_do::prelude::*;
use llm_do::testing::{Answer, FunctionModel, ScriptedModel};

/// How to speak. Clones share the number of texts so far.
#[derive(Clone, Debug)]
struct Persona {
    how: &'static str,
    texts: Arc<AtomicU32>,
}

impl Persona {
    fn speaking(how: &'static str) -> Self {
        Self { how, texts: Arc::default() }
    }

    fn text(&self) -> String {
        format!("Speak {} ({}).", self.how, self.texts.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn texts(&self) -> u32 {
        self.texts.load(Ordering::Relaxed)
    }

    async fn unknown() -> Result<String, &'static str> {
        Err("no persona today")
    }
}

fn spoken(persona: State<Persona>) -> String {
    persona.text()
}

/// Return the name of the user.
#[tool(effect = read_only)]
fn name_of_user() -> &'static str {
    "Ann"
}

async fn introduced(persona: State<Persona>, ctx: &CallContext) -> Result<String> {
    let name = ctx.call_tool("name_of_user", json!({})).await?;
    Ok(format!("{} The user is {name}.", persona.text()))
}

/// The name of the call.
struct NameOfCall(String);

impl FromContext for NameOfCall {
    fn from_context(ctx: &CallContext) -> Result<Self, CallError> {
        Ok(Self(ctx.name().to_owned()))
    }
}

fn named(ctx: &dyn ToolContext, NameOfCall(name): NameOfCall) -> String {
    format!("You are {name}, with {} files.", ctx.attachments().len())
}

fn silent() -> String {
    String::new()
}

fn speechless() -> String {
    std::panic::resume_unwind(Box::new("out of words"))
}

fn reluctant(persona: State<Persona>) -> Result<String, String> {
    let text = persona.text();
    if persona.texts() == 1 { Err("not yet".to_owned()) } else { Ok(text) }
}

/// Advise.
#[worker(instructions_with = spoken, toolsets = [name_of_user])]
async fn advise(input: String) -> String;

/// Advise a person.
#[worker(instructions_with = introduced, toolsets = [name_of_user])]
async fn advise_in_person(input: String) -> String;

/// Advise by name.
#[worker(instructions_with = named)]
async fn advise_by_name(input: String) -> String {
    format!("Advise: {input}")
}

/// Advise as described.
#[worker(instructions_with = silent)]
async fn advise_as_described(input: String) -> String;

/// Advise without a persona.
#[worker(instructions_with = Persona::unknown)]
async fn advise_without(input: String) -> String;

/// Advise without words.
#[worker(instructions_with = speechless)]
async fn advise_without_words(input: String) -> String;

/// Advise the second time.
#[worker(instructions_with = reluctant)]
async fn advise_later(input: String) -> String;

/// Asks for advice twice.
#[entry(toolsets = [advise])]
async fn consult(ctx: &CallContext<consult>) -> Result<Vec<String>> {
    let first = ctx.call(advise { input: "One.".into() }).await?;
    Ok(vec![first, ctx.call(advise { input: "Two.".into() }).await?])
}

/// A model that answers with its instructions.
fn echo() -> FunctionModel {
    FunctionModel::answering(|request| Answer::text(request.instructions.unwrap_or_default()))
}

fn runtime(persona: &Persona) -> Runtime {
    crate::own_builder().state(persona.clone()).force_model(echo()).build().unwrap()
}

fn input() -> String {
    "What now?".into()
}

#[tokio::test]
async fn instructions_are_computed_once_for_each_call_with_state_and_context() {
    let persona = Persona::speaking("softly");
    let runtime = runtime(&persona);
    assert_eq!(runtime.run(advise { input: input() }).await.unwrap(), "Speak softly (1).");
    assert_eq!(runtime.run(consult {}).await.unwrap(), ["Speak softly (2).", "Speak softly (3)."]);
    let personal = runtime.run(advise_in_person { input: input() }).await.unwrap();
    assert_eq!(personal, r#"Speak softly (4). The user is "Ann"."#);
    let named = runtime.run(advise_by_name { input: input() }).await.unwrap();
    assert_eq!(named, "You are advise_by_name, with 0 files.");
    assert_eq!(persona.texts(), 4);
}

#[tokio::test]
async fn all_requests_of_a_call_have_the_same_computed_instructions() {
    let persona = Persona::speaking("softly");
    let model = ScriptedModel::new().call("name_of_user", json!({})).text("Done.");
    let builder = crate::own_builder().state(persona.clone()).force_model(model.clone());
    builder.build().unwrap().run(advise { input: input() }).await.unwrap();
    let requests = model.requests();
    let instructions: Vec<_> = requests.iter().map(|request| &*request.instructions).collect();
    assert_eq!(instructions, ["Speak softly (1)."; 2]);
}

#[tokio::test]
async fn each_message_of_a_chat_computes_its_instructions() {
    let persona = Persona::speaking("softly");
    let mut chat = runtime(&persona).chat();
    for expected in ["Speak softly (1).", "Speak softly (2)."] {
        assert_eq!(chat.send(advise { input: input() }).await.unwrap(), expected);
    }
    assert_eq!(chat.state().workers["advise"].messages().len(), 4, "they are not in the history");
}

#[tokio::test]
async fn an_empty_text_leaves_the_description() {
    let runtime = runtime(&Persona::speaking("softly"));
    assert_eq!(runtime.run(advise_as_described { input: input() }).await.unwrap(), "Advise as described.");
}

#[tokio::test]
async fn a_function_that_fails_or_panics_ends_the_worker_by_an_error_with_its_name() {
    let model = ScriptedModel::new();
    let builder = crate::own_builder().state(Persona::speaking("softly")).force_model(model.clone());
    let runtime = builder.build().unwrap();
    let failed = runtime.run(advise_without { input: input() }).await.unwrap_err();
    assert_eq!(
        chain(&failed),
        "`advise_without` failed: `Persona::unknown` could not compute the instructions: no persona today"
    );
    let panicked = runtime.run(advise_without_words { input: input() }).await.unwrap_err();
    assert_eq!(
        chain(&panicked),
        "`advise_without_words` failed: `speechless` could not compute the instructions: panicked: out of words"
    );
    assert!(model.requests().is_empty());
}

#[test]
fn state_that_a_function_takes_and_the_runtime_lacks_is_named_with_the_worker() {
    let builder = Runtime::builder().only(["advise", "name_of_user"]).force_model(echo());
    let error = builder.build().unwrap_err().to_string();
    assert!(error.ends_with("\n  `Persona` for `advise`"), "{error}");
}

/// Keeps the records of a run that ended before its model answered.
fn before_the_answer(journal: &MemoryJournal) -> MemoryJournal {
    let is_early = |kind| !matches!(kind, StepKind::Model | StepKind::Result);
    MemoryJournal::from_records(journal.records().into_iter().filter(|record| is_early(record.kind)))
}

#[tokio::test]
async fn a_resumed_run_has_the_instructions_that_were_recorded() {
    let journal = MemoryJournal::new();
    let softly = runtime(&Persona::speaking("softly"));
    let first = softly.start(advise { input: input() }).journal(journal.clone()).await.unwrap();
    let recorded: Vec<_> = journal.records().into_iter().filter(|record| record.kind == StepKind::Effect).collect();
    assert_eq!(
        recorded.iter().map(|record| (&*record.name, &record.value)).collect::<Vec<_>>(),
        [("instructions", &json!("Speak softly (1)."))]
    );

    let loud = Persona::speaking("loudly");
    let resumed = runtime(&loud).start(advise { input: input() }).journal(before_the_answer(&journal));
    assert_eq!((resumed.await.unwrap(), loud.texts()), (first, 0), "the function does not run again");
}

#[tokio::test]
async fn a_function_with_a_context_repeats_its_recorded_calls_and_the_text_stays() {
    let journal = MemoryJournal::new();
    let softly = runtime(&Persona::speaking("softly"));
    let first = softly.start(advise_in_person { input: input() }).journal(journal.clone()).await.unwrap();
    let loud = Persona::speaking("loudly");
    let resumed = runtime(&loud).start(advise_in_person { input: input() }).journal(before_the_answer(&journal));
    assert_eq!(resumed.await.unwrap(), first);
}

#[tokio::test]
async fn a_called_worker_that_is_replayed_computes_nothing() {
    let journal = MemoryJournal::new();
    let first = runtime(&Persona::speaking("softly")).start(consult {}).journal(journal.clone()).await.unwrap();
    let unfinished = journal.records().into_iter().filter(|record| record.kind != StepKind::Result);
    let loud = Persona::speaking("loudly");
    let resumed = runtime(&loud).start(consult {}).journal(MemoryJournal::from_records(unfinished));
    assert_eq!((resumed.await.unwrap(), loud.texts()), (first, 0));
}

#[tokio::test]
async fn a_failed_function_runs_again_when_the_run_is_resumed() {
    let (journal, persona) = (MemoryJournal::new(), Persona::speaking("softly"));
    let runtime = runtime(&persona);
    let failed = runtime.start(advise_later { input: input() }).journal(journal.clone()).await.unwrap_err();
    assert_eq!(
        chain(&failed),
        "`advise_later` failed: `reluctant` could not compute the instructions: not yet",
        "also with a journal"
    );
    let resumed = runtime.start(advise_later { input: input() }).journal(journal.replayed()).await;
    assert_eq!(resumed.unwrap(), "Speak softly (2).");
}
