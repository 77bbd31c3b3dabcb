//! Text, complete and streamed, and its usage.

use llm_do_providers::{FinishReason, Message, Request};

use crate::llama_cpp::{ask, greedy, streamed, texts};

const QUESTION: &str = "Write two sentences about the sea.";

with_server! {
    async fn a_chat_is_answered_with_its_usage() {
        let response = ask("Hello! How are you?", &greedy(48)).await.unwrap();
        assert!(!response.text().is_empty());
        assert_eq!((response.finish, response.usage.requests), (FinishReason::Stop, 1));
        assert_eq!(response.model, "smollm2-135m");
        assert!(response.usage.input_tokens > 5 && response.usage.output_tokens > 2, "{:?}", response.usage);
    }

    async fn an_answer_is_cut_at_the_limit_on_tokens() {
        let response = ask(QUESTION, &greedy(3)).await.unwrap();
        assert_eq!((response.finish, response.usage.output_tokens), (FinishReason::Length, 3));
    }

    async fn the_deltas_of_a_stream_add_up_to_its_text() {
        let (messages, settings) = ([Message::user(QUESTION)], greedy(24));
        let (events, response) = streamed(Request::new(&messages, &settings)).await.unwrap();
        assert!(texts(&events).len() > 8, "{events:?}");
        assert_eq!(texts(&events).concat(), response.text());
    }

    async fn a_streamed_answer_has_the_usage_of_a_complete_one() {
        let (messages, settings) = ([Message::user(QUESTION)], greedy(24));
        let whole = ask(QUESTION, &settings).await.unwrap();
        let (_, streamed) = streamed(Request::new(&messages, &settings)).await.unwrap();
        assert_eq!(streamed.usage.input_tokens, whole.usage.input_tokens);
        assert_eq!(streamed.usage.output_tokens, 24);
    }

    async fn tokens_in_the_servers_cache_are_counted_as_cached() {
        let settings = greedy(2);
        ask("What is the capital of France? Answer in one word.", &settings).await.unwrap();
        let again = ask("What is the capital of France? Answer in a sentence.", &settings).await.unwrap();
        let usage = again.usage;
        assert!(usage.cached_tokens > 10 && usage.cached_tokens < usage.input_tokens, "{usage:?}");
    }

    async fn a_stop_sequence_is_not_part_of_the_answer() {
        let mut settings = greedy(48);
        settings.stop = vec![".".to_owned()];
        let response = ask(QUESTION, &settings).await.unwrap();
        assert_eq!(response.finish, FinishReason::Stop);
        assert!(!response.text().contains('.'), "{}", response.text());
    }
}
