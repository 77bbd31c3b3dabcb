//! The tool `ask_user`, and questions with choices.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use llm_do::context::{InputHandler, InputRequest, Question};
use llm_do::error::{BoxError, chain};
use llm_do::event::EventKind;
use llm_do::journal::MemoryJournal;
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{Recorder, ScriptedModel};
use llm_do::toolsets::user_input;
use llm_do::{async_trait, json};

/// Plan a trip with the user.
#[worker(toolsets = [user_input])]
async fn planner(input: String) -> String;

/// Asks which services to deploy.
#[entry]
async fn deploy(ctx: &CallContext) -> Result<Vec<String>> {
    let question = Question::new("Which?").choices(["web", "jobs", "mail"]).several();
    Ok(ctx.request_user_choices(question).await?)
}

/// Asks a question that no answer fits.
#[entry]
async fn confuse(ctx: &CallContext) -> Result<String> {
    Ok(ctx.request_user_input(Question::new("Which?").choices(["web", "web"])).await?)
}

/// A user who gives these answers, and keeps the questions.
#[derive(Clone, Debug, Default)]
struct User {
    answers: Arc<Mutex<VecDeque<&'static str>>>,
    asked: Arc<Mutex<Vec<InputRequest>>>,
}

impl User {
    fn new(answers: &[&'static str]) -> Self {
        Self { answers: Arc::new(Mutex::new(answers.iter().copied().collect())), asked: Arc::default() }
    }

    fn asked(&self) -> Vec<InputRequest> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl InputHandler for User {
    async fn answer(&self, request: &InputRequest) -> Result<String, BoxError> {
        self.asked.lock().unwrap().push(request.clone());
        Ok(self.answers.lock().unwrap().pop_front().ok_or("the user is gone")?.to_owned())
    }
}

fn builder(user: &User) -> RuntimeBuilder {
    Runtime::builder().input_handler(user.clone())
}

#[tokio::test]
async fn a_model_asks_with_choices_and_gets_the_choice() {
    let arguments = json!({
        "question": "Where to?", "choices": ["Rome", "Oslo"], "several": true, "other": true, "default": "Rome"
    });
    let model = ScriptedModel::new().call("ask_user", arguments).text("Booked.");
    let user = User::new(&["2, rome"]);
    let runtime = builder(&user).force_model(model.clone()).build().unwrap();
    assert_eq!(runtime.run(planner { input: "go".into() }).await.unwrap(), "Booked.");
    let question = Question::new("Where to?").choices(["Rome", "Oslo"]).several().accept_text().with_default("Rome");
    let asked = user.asked().remove(0);
    assert_eq!((asked.question, &*asked.caller, asked.problem), (question, "user_input_ask_user", None));
    let result = json!(model.requests()[1].messages[2]);
    assert_eq!(result["results"][0]["content"], r#"["Rome","Oslo"]"#);
}

#[tokio::test]
async fn a_question_that_is_too_large_is_not_asked() {
    for (arguments, refused) in [
        (json!({ "question": "x".repeat(10_001) }), "the question has 10001 bytes; the maximum is 10000"),
        (
            json!({ "question": "?", "choices": ["a", "é".repeat(501)] }),
            "an answer to choose from has 1002 bytes; the maximum is 1000",
        ),
        (
            json!({ "question": "?", "default": "x".repeat(1_001) }),
            "an answer to choose from has 1001 bytes; the maximum is 1000",
        ),
    ] {
        let model = ScriptedModel::new().call("ask_user", arguments).text("Booked.");
        let user = User::new(&[]);
        let runtime = builder(&user).force_model(model.clone()).build().unwrap();
        runtime.run(planner { input: "go".into() }).await.unwrap();
        let result = json!(model.requests()[1].messages[2]).to_string();
        assert!(result.contains(refused), "{result}");
        assert_eq!(user.asked().len(), 0);
    }
}

#[tokio::test]
async fn an_answer_that_is_not_a_choice_is_asked_again_with_the_problem() {
    let user = User::new(&["db", "web, 9", "jobs"]);
    assert_eq!(builder(&user).build().unwrap().run(deploy {}).await.unwrap(), ["jobs"]);
    let problems: Vec<_> = user.asked().into_iter().map(|asked| asked.problem.unwrap_or_default()).collect();
    assert_eq!(problems, ["", "`db` is not one of the 3 choices", "`9` is not one of the 3 choices"]);
}

#[tokio::test]
async fn a_handler_that_never_gives_a_choice_ends_in_an_error() {
    let user = User::new(&["db"; 20]);
    let error = chain(&builder(&user).build().unwrap().run(deploy {}).await.unwrap_err());
    assert!(error.ends_with("the user gave 10 answers that do not fit the question"), "{error}");
    assert_eq!(user.asked().len(), 10);
}

#[tokio::test]
async fn a_question_that_no_answer_fits_is_not_asked() {
    let user = User::new(&["web"]);
    let error = chain(&builder(&user).build().unwrap().run(confuse {}).await.unwrap_err());
    assert!(error.ends_with("the question cannot be asked: the choice `web` is given twice"), "{error}");
    assert!(user.asked().is_empty());
}

#[tokio::test]
async fn events_have_the_choices_and_the_answer() {
    let (user, recorder) = (User::new(&["mail,web"]), Recorder::new());
    builder(&user).sink(recorder.clone()).build().unwrap().run(deploy {}).await.unwrap();
    let events: Vec<_> = recorder.events().into_iter().map(|event| event.kind).collect();
    let asked = events.iter().find(|kind| matches!(kind, EventKind::InputAsked { .. })).unwrap();
    let expected = json!({
        "kind": "input_asked", "prompt": "Which?", "choices": ["web", "jobs", "mail"], "several": true
    });
    assert_eq!(json!(asked), expected);
    assert!(events.contains(&EventKind::InputAnswered { answer: "web, mail".into() }));
}

#[tokio::test]
async fn a_resumed_run_does_not_ask_again() {
    let (user, journal) = (User::new(&["db", "web"]), MemoryJournal::new());
    for is_resumed in [false, true] {
        let journal = if is_resumed { journal.replayed() } else { journal.clone() };
        assert_eq!(builder(&user).journal(journal).build().unwrap().run(deploy {}).await.unwrap(), ["web"]);
    }
    assert_eq!(user.asked().len(), 2);
}
