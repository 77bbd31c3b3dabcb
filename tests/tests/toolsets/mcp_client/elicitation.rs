//! What servers ask the user.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use llm_do::context::{InputHandler, InputRequest};
use llm_do::error::BoxError;
use llm_do::{Runtime, Value, async_trait, json};

use super::script::{Script, builder, call};

/// A user with prepared answers, who keeps the questions.
#[derive(Clone, Debug, Default)]
struct User {
    answers: Arc<Mutex<VecDeque<String>>>,
    questions: Arc<Mutex<Vec<InputRequest>>>,
    delay: Duration,
}

impl User {
    fn answering(answers: &[&str]) -> Self {
        let answers = answers.iter().map(|answer| (*answer).to_owned()).collect();
        Self { answers: Arc::new(Mutex::new(answers)), ..Self::default() }
    }

    fn prompts(&self) -> Vec<String> {
        self.questions.lock().unwrap().iter().map(|request| request.question.prompt.clone()).collect()
    }
}

#[async_trait]
impl InputHandler for User {
    async fn answer(&self, request: &InputRequest) -> Result<String, BoxError> {
        tokio::time::sleep(self.delay).await;
        self.questions.lock().unwrap().push(request.clone());
        self.answers.lock().unwrap().pop_front().ok_or_else(|| "no more answers".into())
    }
}

const ERAS: [&[&str]; 2] = [&["modern"], &[]];

fn runtime(flags: &[&str], user: &User) -> Runtime {
    builder(Script::new(flags).server()).input_handler(user.clone()).build().unwrap()
}

/// Calls a tool, and returns what the server got as the answer.
async fn asked(runtime: &Runtime, tool: &str) -> Value {
    let text = call(runtime, tool, json!({})).await.unwrap();
    serde_json::from_str(text.as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn a_form_is_asked_value_by_value_after_the_user_has_seen_who_asks() {
    for flags in ERAS {
        let user = User::answering(&["answer", "A", "Ann", "", "yes", ""]);
        let runtime = runtime(flags, &user);
        let answer = asked(&runtime, "ask").await;
        let content = json!({ "name": "Ann", "color": "green", "sure": true });
        assert_eq!(answer, json!({ "action": "accept", "content": content }), "{flags:?}");
        let prompts = user.prompts();
        assert!(prompts[0].starts_with("The MCP server `s` asks during the call of its tool `ask`:\nWho are you?"));
        let asked = ["name: Your name.", "color (may be empty)", "sure", "age (may be empty)"];
        for part in asked {
            assert!(prompts.iter().any(|prompt| prompt.starts_with(part)), "{part}: {prompts:?}");
        }
        assert!(prompts.iter().any(|prompt| prompt.contains("Invalid answer")), "`A` is too short: {prompts:?}");
    }
}

#[tokio::test]
async fn the_user_may_decline_and_is_asked_no_more() {
    for flags in ERAS {
        let user = User::answering(&["decline"]);
        assert_eq!(asked(&runtime(flags, &user), "ask").await, json!({ "action": "decline" }));
        assert_eq!(user.prompts().len(), 1);
    }
}

#[tokio::test]
async fn a_server_is_declined_if_no_user_can_answer() {
    for flags in ERAS {
        assert_eq!(asked(&Script::new(flags).runtime(), "ask").await, json!({ "action": "decline" }));
    }
}

#[tokio::test]
async fn an_address_is_shown_in_full_and_never_opened() {
    for flags in ERAS {
        let user = User::answering(&["done"]);
        assert_eq!(asked(&runtime(flags, &user), "ask_url").await, json!({ "action": "accept" }));
        let prompt = &user.prompts()[0];
        assert!(prompt.ends_with("https://example.org/login?\\u{202e}id=1"), "{prompt}");
    }
}

#[tokio::test]
async fn the_time_of_a_call_stands_still_while_the_user_is_asked() {
    for flags in ERAS {
        let user = User { delay: Duration::from_millis(400), ..User::answering(&["decline"]) };
        let server = Script::new(flags).server().timeout(Duration::from_millis(250));
        let runtime = builder(server).input_handler(user.clone()).build().unwrap();
        assert_eq!(asked(&runtime, "ask").await, json!({ "action": "decline" }));
    }
}

#[tokio::test]
async fn a_question_of_the_older_era_is_declined_if_it_could_belong_to_another_call() {
    let script = Script::new(&[]).with_file("log");
    let user = User::answering(&["decline"]);
    let runtime = builder(script.server()).input_handler(user.clone()).build().unwrap();
    let hanging = runtime.start_named("mcp__s__hang", json!({}));
    let hanging = tokio::spawn(async move { hanging.await });
    script.wait_for("tools/call").await;
    assert_eq!(asked(&runtime, "ask").await, json!({ "action": "decline" }));
    assert!(user.prompts().is_empty(), "another run's user is not asked");
    hanging.abort();
}

#[tokio::test]
async fn a_question_of_the_older_era_is_declined_if_it_could_belong_to_a_call_that_was_cancelled() {
    let script = Script::new(&[]).with_file("log");
    let user = User::answering(&["decline"]);
    let server = script.server().timeout(Duration::from_millis(300));
    let runtime = builder(server).input_handler(user.clone()).build().unwrap();
    call(&runtime, "hang", json!({})).await.unwrap_err();
    assert_eq!(asked(&runtime, "ask").await, json!({ "action": "decline" }));
    assert!(user.prompts().is_empty(), "another run's user is not asked");
}

#[tokio::test]
async fn a_question_of_the_newer_era_is_asked_in_its_own_run() {
    let script = Script::new(&["modern"]).with_file("log");
    let user = User::answering(&["decline"]);
    let runtime = builder(script.server()).input_handler(user.clone()).build().unwrap();
    let hanging = runtime.start_named("mcp__s__hang", json!({}));
    let hanging = tokio::spawn(async move { hanging.await });
    script.wait_for("tools/call").await;
    assert_eq!(asked(&runtime, "ask").await, json!({ "action": "decline" }));
    assert_eq!(user.prompts().len(), 1);
    assert_eq!(&*user.questions.lock().unwrap()[0].caller, "mcp__s__ask");
    hanging.abort();
}

#[tokio::test]
async fn a_server_that_asks_for_a_models_answer_is_refused_unless_a_model_is_configured() {
    let refused = "no model is configured for sampling requests of this server";
    let old = call(&Script::new(&[]).runtime(), "sample", json!({})).await.unwrap();
    assert!(old.as_str().unwrap().contains(refused), "{old}");
    let new = call(&Script::new(&["modern"]).runtime(), "sample", json!({})).await.unwrap_err();
    assert!(new.contains(refused), "{new}");
}

#[tokio::test]
async fn the_folder_of_the_project_is_the_only_root() {
    for flags in ERAS {
        let script = Script::new(flags);
        let folder = script.path("a b");
        std::fs::create_dir(&folder).unwrap();
        let runtime = builder(script.server()).project_root(&folder).build().unwrap();
        let roots = asked(&runtime, "roots").await;
        let parent = script.path("").canonicalize().unwrap();
        let uri = format!("file://{}/a%20b", parent.display());
        assert_eq!(roots, json!({ "roots": [{ "uri": uri }] }));
    }
}
