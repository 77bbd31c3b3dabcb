//! Requests that the server rejects, and answers that it cannot parse itself.

use std::time::Duration;

use llm_do_providers::{
    Attachment, ErrorKind, Message, Model as _, OpenAiModel, ProviderError, Request, Server, Settings, UserPart,
};
use serde_json::json;

use crate::llama_cpp::tools::{asked, tools};
use crate::llama_cpp::{ask, greedy, model, server, streamed};

/// An invalid setting.
fn invalid() -> Settings {
    let mut settings = greedy(4);
    settings.extra_body.insert("temperature".to_owned(), json!("hot"));
    settings
}

fn kind_and_status(error: &ProviderError) -> (ErrorKind, Option<u16>) {
    (error.kind(), error.status())
}

with_server! {
    async fn a_rejected_request_has_the_servers_error_code() {
        let error = ask("Hello.", &invalid()).await.unwrap_err();
        assert_eq!(kind_and_status(&error), (ErrorKind::InvalidRequest, Some(400)));
        assert!(error.to_string().contains("the request was refused (invalid_request_error)"), "{error}");
    }

    async fn a_rejected_stream_is_the_same_error() {
        let (messages, settings) = ([Message::user("Hello.")], invalid());
        let error = streamed(Request::new(&messages, &settings)).await.unwrap_err();
        assert_eq!(kind_and_status(&error), (ErrorKind::InvalidRequest, Some(400)));
    }

    async fn a_prompt_longer_than_the_context_has_its_own_kind() {
        let error = ask(&"word ".repeat(5000), &greedy(4)).await.unwrap_err();
        assert_eq!(kind_and_status(&error), (ErrorKind::ContextTooLong, Some(400)));
        assert!(error.to_string().contains("shorten or summarise it"), "{error}");
    }

    async fn an_unsupported_file_is_an_invalid_request() {
        let image = UserPart::Attachment(Attachment::new("image/png", "none"));
        let (messages, settings) = ([Message::User { parts: vec![image] }], greedy(4));
        let error = model().request(Request::new(&messages, &settings)).await.unwrap_err();
        assert_eq!(kind_and_status(&error), (ErrorKind::InvalidRequest, Some(500)));
        assert_eq!(error.should_retry(), Some(false));
    }

    // The server reports text that starts like a call but is not one as an internal failure.
    async fn an_answer_that_the_server_cannot_parse_is_a_server_failure() {
        let (messages, tools, settings) = (asked("Read notes.txt"), tools(), greedy(64));
        let request = Request::new(&messages, &settings).tools(&tools);
        let error = model().request(request).await.unwrap_err();
        assert_eq!(kind_and_status(&error), (ErrorKind::Unavailable, Some(500)));
        let error = streamed(request).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
    }

    // With a temperature, another try may be one that it can read.
    async fn an_answer_that_the_server_cannot_parse_is_retried_up_to_the_limit() {
        let model = OpenAiModel::at(Server::LlamaCpp, "smollm2-135m").base_url(server::base_url()).build().unwrap();
        let (messages, tools, settings) = (asked("Read notes.txt"), tools(), greedy(64));
        let asked = model.request(Request::new(&messages, &settings).tools(&tools));
        let error = tokio::time::timeout(Duration::from_secs(60), asked).await.unwrap().unwrap_err();
        assert!(error.to_string().contains("tried 3 times"), "{error}");
    }
}
