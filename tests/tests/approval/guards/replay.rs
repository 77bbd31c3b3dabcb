//! Guards and the journal.

use llm_do::async_trait;
use llm_do::event::EventKind;
use llm_do::guard::{FunctionGuard, Guard, GuardedCall, GuardedRequest, Refusal};
use llm_do::journal::{MemoryJournal, StepKind};
use llm_do::model::{ErrorKind, Message, ProviderError, Response};
use llm_do::prelude::*;
use llm_do::testing::{FunctionModel, Recorder, TestModel};
use llm_do::usage::Usage;
use serde_json::json;

use super::{Notes, builder, calling, noting, reader, scripted, text, write};

/// Has a worker read, and adds a text.
#[entry]
async fn report(ctx: &CallContext) -> Result<String> {
    let read = ctx.call(reader { input: "x".into() }).await?;
    let again = ctx.llm_ask("More?").await?;
    Ok(format!("{read}, {again}"))
}

/// Draws a recorded number in each hook, and adds it to the value that it gets.
#[derive(Debug)]
struct Drawing(Notes);

impl Drawing {
    async fn draw(&self, ctx: &CallContext) -> Result<String, Refusal> {
        let drawn = self.0.clone();
        let number = ctx.effect("draw", (), async move {
            drawn.add("drawn");
            Ok(drawn.0.lock().unwrap().len())
        });
        Ok(number.await?.to_string())
    }
}

#[async_trait]
impl Guard for Drawing {
    fn name(&self) -> &'static str {
        "drawing"
    }

    async fn before_call(&self, call: &mut GuardedCall<'_>) -> Result<(), Refusal> {
        let drawn = self.draw(call.ctx()).await?;
        if let Some(path) = call.arguments_mut().get_mut("path") {
            *path = drawn.into();
        }
        Ok(())
    }

    async fn after_call(
        &self,
        call: &GuardedCall<'_>,
        result: &mut Result<ToolReturn, CallError>,
    ) -> Result<(), Refusal> {
        let drawn = self.draw(call.ctx()).await?;
        if let Ok(returned) = result {
            let value = returned.value().as_str().unwrap_or_default();
            *returned.value_mut() = format!("{value} <{drawn}>").into();
        }
        Ok(())
    }

    async fn before_request(&self, request: &mut GuardedRequest<'_>) -> Result<(), Refusal> {
        let drawn = self.draw(request.ctx()).await?;
        request.messages_mut().push(Message::user(drawn));
        Ok(())
    }

    async fn after_response(&self, request: &GuardedRequest<'_>, response: &mut Response) -> Result<(), Refusal> {
        let drawn = self.draw(request.ctx()).await?;
        response.parts.insert(0, text(&drawn));
        Ok(())
    }
}

#[tokio::test]
async fn a_replay_shows_guards_the_same_values_and_asks_no_model() {
    let (notes, asked, journal) = (Notes::default(), Notes::default(), MemoryJournal::new());
    let answers = || [calling("read", &json!({ "path": "a" })), text("done")];
    let start = |journal: MemoryJournal| {
        let runtime = builder().force_model(scripted(&asked, answers())).guard(noting("g", &notes));
        runtime.journal(journal).build().unwrap()
    };
    let first = start(journal.clone()).run(reader { input: "x".into() }).await.unwrap();
    let seen = notes.take();
    assert_eq!(asked.take().len(), 2);
    assert_eq!(start(journal.replayed()).run(reader { input: "x".into() }).await.unwrap(), first);
    assert_eq!(asked.take(), [""; 0]);
    assert_eq!(notes.take(), seen);
    assert!(seen.contains(&"g after read".to_owned()) && seen.contains(&"g hears for reader".to_owned()));
}

#[tokio::test]
async fn a_journal_records_the_changed_request_and_the_original_response() {
    let journal = MemoryJournal::new();
    let guard = || {
        let changed = |text: &str| text.replace("secret", "hidden");
        FunctionGuard::new("hide")
            .before_call(move |call| {
                let input = call.arguments()["input"].as_str().map(changed);
                call.arguments_mut()["input"] = input.into();
                Ok(())
            })
            .before_request(|request| {
                request.set_instructions("Be discreet.");
                Ok(())
            })
            .after_response(|_, response| {
                response.parts = vec![text("polite")];
                Ok(())
            })
    };
    let start = |journal: MemoryJournal| {
        let model = TestModel::new().call_tools(false).text("rude");
        builder().force_model(model).guard(guard()).journal(journal).build().unwrap()
    };
    let answer = start(journal.clone()).run(reader { input: "a secret".into() }).await.unwrap();
    let records = serde_json::to_string(&journal.records()).unwrap();
    assert_eq!(answer, "polite");
    assert!(
        records.contains("Be discreet.") && !records.contains("Be brief.") && records.contains("rude"),
        "{records}"
    );
    let of_model: Vec<_> = journal.records().into_iter().filter(|record| &*record.name == "test:model").collect();
    let asked = serde_json::to_string(&of_model).unwrap();
    assert!(asked.contains("a hidden") && !asked.contains("secret"), "{asked}");
    assert_eq!(start(journal.replayed()).run(reader { input: "a secret".into() }).await.unwrap(), "polite");
}

#[tokio::test]
async fn effects_of_guards_are_recorded_and_not_repeated_after_a_crash_at_any_step() {
    let (drawn, asked, journal) = (Notes::default(), Notes::default(), MemoryJournal::new());
    let start = |journal: MemoryJournal| {
        let answers = [calling("read", &json!({ "path": "a" })), text("done")];
        let runtime = builder().force_model(scripted(&asked, answers)).guard(Drawing(drawn.clone()));
        runtime.journal(journal).build().unwrap()
    };
    let whole = start(journal.clone()).run(report {}).await.unwrap();
    let times = drawn.0.lock().unwrap().len();
    assert_eq!(times, 16, "two for each of four calls, and for each of four requests");
    let records = journal.records();
    for kept in 0..=records.len() {
        drawn.0.lock().unwrap().clear();
        // Numbers drawn before the crash count, so the sequence continues.
        let known = records[..kept].iter().filter(|record| &*record.name == "draw").count();
        (0..known).for_each(|_| drawn.add("before"));
        let broken = MemoryJournal::from_records(records[..kept].iter().cloned());
        let again = start(broken).run(report {}).await.unwrap();
        assert_eq!((again, drawn.0.lock().unwrap().len()), (whole.clone(), times), "after {kept} records");
    }
}

/// Writes a file by code.
#[entry(toolsets = [write])]
async fn write_once(ctx: &CallContext<write_once>) -> Result<String> {
    Ok(ctx.call(write { path: "a".into() }).await?)
}

/// Asks a service, by an effect, whether a result may be seen.
#[derive(Debug)]
struct Judging {
    of: &'static str,
    is_up: bool,
    asked: Notes,
}

#[async_trait]
impl Guard for Judging {
    fn name(&self) -> &'static str {
        "judging"
    }

    async fn after_call(&self, call: &GuardedCall<'_>, _: &mut Result<ToolReturn, CallError>) -> Result<(), Refusal> {
        if call.name() != self.of {
            return Ok(());
        }
        let (is_up, asked) = (self.is_up, self.asked.clone());
        let judged = call.ctx().effect("judge", (), async move {
            asked.add("judged");
            if is_up { Ok(()) } else { Err("the service is down".into()) }
        });
        judged.await.map_err(|error| Refusal::reject(llm_do::error::chain(&error)))
    }
}

#[tokio::test]
async fn a_call_refused_after_it_ran_does_not_run_again_but_a_failed_guard_effect_does() {
    let (asked, journal) = (Notes::default(), MemoryJournal::new());
    let run = async |journal: &MemoryJournal, is_up| {
        let (guard, recorder) = (Judging { of: "write", is_up, asked: asked.clone() }, Recorder::new());
        let runtime = builder().guard(guard).sink(recorder.clone()).journal(journal.clone()).build().unwrap();
        let result = runtime.run(write_once {}).await.map_err(|error| llm_do::error::chain(&error));
        let replayed = recorder.events().into_iter().find_map(|event| match event.kind {
            EventKind::CallFinished { replayed, .. } if &*event.name == "write" => Some(replayed),
            _ => None,
        });
        (result, replayed, asked.take().len())
    };
    let (first, ..) = run(&journal, false).await;
    assert!(first.as_ref().is_err_and(|error| error.contains("the service is down")), "{first:?}");
    let again = journal.replayed();
    assert_eq!(run(&again, false).await, (first, Some(true), 1));
    assert_eq!(run(&again.replayed(), true).await, (Ok("wrote a".to_owned()), Some(true), 1));
}

#[tokio::test]
async fn a_guard_effect_that_failed_after_the_root_call_is_retried() {
    for of in ["write", "reader", "write_once"] {
        let (asked, journal) = (Notes::default(), MemoryJournal::new());
        let run = async |journal: &MemoryJournal, is_up| {
            let guard = Judging { of, is_up, asked: asked.clone() };
            let model = TestModel::new().call_tools(false).text("done");
            let runtime = builder().guard(guard).force_model(model).journal(journal.clone()).build().unwrap();
            let arguments = match of {
                "write" => json!({ "path": "a" }),
                "reader" => json!({ "input": "x" }),
                _ => json!({}),
            };
            let result = runtime.start_named(of, arguments).await.map_err(|error| llm_do::error::chain(&error));
            (result.is_ok(), asked.take().len())
        };
        assert_eq!(run(&journal, false).await, (false, 1), "{of}");
        let again = journal.replayed();
        assert_eq!(run(&again, false).await, (false, 1), "{of}");
        let up = again.replayed();
        assert_eq!(run(&up, true).await, (true, 1), "{of}");
        assert_eq!(run(&up.replayed(), false).await, (true, 0), "{of}: the run has ended well");
    }
}

/// Puts an effect after each failed call, and perhaps a result in the place of the failure.
#[derive(Debug)]
struct Reporting {
    recovers: bool,
    notes: Notes,
}

#[async_trait]
impl Guard for Reporting {
    fn name(&self) -> &'static str {
        "reporting"
    }

    async fn after_call(
        &self,
        call: &GuardedCall<'_>,
        result: &mut Result<ToolReturn, CallError>,
    ) -> Result<(), Refusal> {
        if result.is_err() {
            let notes = self.notes.clone();
            let reported = call.ctx().effect("report", (), async move {
                notes.add("reported");
                Ok(())
            });
            reported.await?;
        }
        if self.recovers && result.is_err() {
            *result = Ok(ToolReturn::text("recovered"));
        }
        Ok(())
    }
}

/// A model whose provider is up, or down.
fn served(is_up: bool) -> FunctionModel {
    FunctionModel::new(move |_| {
        if is_up {
            return Ok(Response::new("m", vec![text("done")], Usage::of_request(1, 1)));
        }
        Err(ProviderError::new("function", ErrorKind::Unavailable, "the server is down"))
    })
}

#[tokio::test]
async fn a_failed_root_worker_is_retried_even_if_a_guard_made_calls_after_it() {
    let (notes, journal) = (Notes::default(), MemoryJournal::new());
    let run = async |journal: &MemoryJournal, is_up| {
        let guard = Reporting { recovers: false, notes: notes.clone() };
        let runtime = builder().guard(guard).force_model(served(is_up)).journal(journal.clone()).build().unwrap();
        runtime.run(reader { input: "x".into() }).await.map_err(|error| llm_do::error::chain(&error))
    };
    assert!(run(&journal, false).await.is_err());
    assert_eq!(run(&journal.replayed(), true).await.as_deref(), Ok("done"));
    assert_eq!(notes.take(), ["reported"]);
}

#[tokio::test]
async fn a_run_whose_failure_a_guard_replaced_is_not_repeated() {
    let (notes, journal) = (Notes::default(), MemoryJournal::new());
    let run = async |journal: &MemoryJournal| {
        let (guard, recorder) = (Reporting { recovers: true, notes: notes.clone() }, Recorder::new());
        let runtime = builder().guard(guard).sink(recorder.clone()).journal(journal.clone()).build().unwrap();
        let came = runtime.start_named("read", json!({ "path": "missing", "lines": 1 })).await.unwrap();
        let replayed = recorder.kinds().into_iter().find_map(|kind| match kind {
            EventKind::CallFinished { replayed, .. } => Some(replayed),
            _ => None,
        });
        (came, replayed, notes.take().len())
    };
    assert_eq!(run(&journal).await, (json!("recovered"), Some(false), 1));
    assert_eq!(run(&journal.replayed()).await, (json!("recovered"), Some(true), 0));
}

/// Writes two files concurrently.
#[entry(toolsets = [write])]
async fn write_both(ctx: &CallContext<write_both>) -> Result<(String, String)> {
    let of = |path: &str| ctx.call(write { path: path.into() });
    Ok(futures_util::future::try_join(of("a"), of("b")).await?)
}

/// Asks a service about one file, which may not answer.
#[derive(Debug)]
struct Slow {
    is_stuck: bool,
}

#[async_trait]
impl Guard for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    async fn before_call(&self, call: &mut GuardedCall<'_>) -> Result<(), Refusal> {
        if self.is_stuck && call.arguments()["path"] == "a" {
            std::future::pending::<()>().await;
        }
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn concurrent_calls_resume_regardless_of_how_long_their_guards_take() {
    let journal = MemoryJournal::new();
    let runtime = |journal: &MemoryJournal, is_stuck| {
        builder().guard(Slow { is_stuck }).journal(journal.clone()).build().unwrap()
    };
    let run =
        tokio::time::timeout(std::time::Duration::from_secs(60), runtime(&journal, true).run(write_both {})).await;
    assert!(run.is_err(), "{run:?}");
    let records = journal.records();
    assert_eq!(records.iter().filter(|record| record.kind == StepKind::Tool).count(), 1, "{records:?}");
    let both = ("wrote a".to_owned(), "wrote b".to_owned());
    assert_eq!(runtime(&journal.replayed(), false).run(write_both {}).await.unwrap(), both);
}
