//! Models for tests: no network, no weights, deterministic answers.

mod answer;
mod function;
mod replay;
mod sample;
mod scripted;
mod test;

pub use self::answer::Answer;
pub use self::function::FunctionModel;
pub use self::replay::ReplayModel;
pub use self::scripted::{RecordedRequest, ScriptedModel};
pub use self::test::TestModel;

/// Returns the name of a test model with its provider: `default`, unless `name` has one already.
fn model_name(default: &str, name: &str) -> String {
    if name.contains(':') { name.to_owned() } else { format!("{default}:{name}") }
}

/// Forbids all requests to models over the network for the rest of the process, so that a test without a test model
/// fails immediately.
///
/// Such a request is an error of kind [`Configuration`](crate::ErrorKind::Configuration). Requests to servers on this
/// machine (`localhost` and loopback addresses) and to models in this process stay allowed.
///
/// # Examples
///
/// ```
/// # #[cfg(feature = "openai")]
/// # {
/// # mod llm_do { pub use llm_do_providers::{Model, Settings}; pub use llm_do_providers as model; pub use llm_do_providers as testing; }
/// use llm_do::testing::forbid_requests;
/// use llm_do::{Model, Settings};
/// use llm_do::model::{ApiKey, Message, OpenAiModel, Request};
///
/// forbid_requests();
/// let model = OpenAiModel::builder("gpt-5-mini").api_key(ApiKey::new("sk-1").unwrap()).build().unwrap();
/// let (messages, settings) = ([Message::user("Hello!")], Settings::new());
/// # let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
/// # let error = tokio.block_on(async {
/// let error = model.request(Request::new(&messages, &settings)).await.unwrap_err();
/// # error });
/// assert!(error.to_string().contains("blocked a request"));
/// # }
/// ```
pub fn forbid_requests() {
    #[cfg(feature = "http")]
    crate::http::forbid();
}
