//! Findings as events of `tracing`.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use llm_do::eval::{Case, Dataset, Evaluation, EvaluatorSpec, Variant};
use llm_do::prelude::*;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

type Fields = BTreeMap<String, String>;

/// Keeps the fields of evaluation events.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<Fields>>>);

struct Reading<'a>(&'a mut Fields);

impl Visit for Reading<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }
}

impl Subscriber for Seen {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        if event.metadata().name() == "gen_ai.evaluation.result" {
            let mut fields = Fields::new();
            event.record(&mut Reading(&mut fields));
            self.0.lock().unwrap().push(fields);
        }
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

async fn evaluate() {
    let dataset = Dataset::new("one")
        .case(Case::new("Hello"))
        .evaluator(EvaluatorSpec::new("Contains").with("Bye"))
        .evaluator(EvaluatorSpec::new("length"))
        .evaluator(EvaluatorSpec::new("broken"));
    let runtime = Runtime::builder().build().unwrap();
    Evaluation::new(dataset)
        .variant(Variant::new("same", "same", &runtime))
        .evaluate_with("length", |_, _| Ok(0.5.into()))
        .evaluate_with("broken", |_, _| Err("it is broken".into()))
        .run()
        .await
        .unwrap();
}

/// Set in the process that looks: in this one, other tests may register a place of events while it is looked for.
const ALONE: &str = "LLM_DO_TEST_ALONE";

#[test]
fn each_finding_and_each_failure_is_an_event() {
    let mut alone = std::process::Command::new(std::env::current_exe().unwrap());
    alone.args(["eval::events::events_are_seen_in_a_process_of_their_own", "--exact"]).env(ALONE, "1");
    let output = String::from_utf8(alone.output().unwrap().stdout).unwrap();
    assert!(output.contains("1 passed"), "{output}");
}

#[tokio::test]
async fn events_are_seen_in_a_process_of_their_own() {
    if std::env::var_os(ALONE).is_none() {
        return;
    }
    let seen = Seen::default();
    let _guard = tracing::subscriber::set_default(seen.clone());
    evaluate().await;
    let events = seen.0.lock().unwrap().clone();
    let field = |event: usize, name: &str| events[event].get(&format!("gen_ai.evaluation.{name}")).map(String::as_str);
    assert_eq!(
        (field(0, "name"), field(0, "score.value"), field(0, "score.label")),
        (Some("Contains"), Some("0.0"), Some("fail"))
    );
    assert!(field(0, "explanation").unwrap().contains("does not contain"), "{events:?}");
    assert_eq!(
        (field(1, "name"), field(1, "score.value"), field(1, "score.label")),
        (Some("length"), Some("0.5"), None)
    );
    assert_eq!((field(2, "name"), &*events[2]["error.type"]), (Some("broken"), "evaluator_failed"));
    assert_eq!(events.len(), 3);
}
