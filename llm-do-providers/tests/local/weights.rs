//! The public API of the embedded model.

use std::path::PathBuf;
use std::time::Duration;

use futures_util::StreamExt as _;
use llm_do_providers::{
    ErrorKind, FinishReason, LocalModel, Message, Model as _, OutputSchema, ProviderError, Request, Response,
    ResponsePart, Settings, StreamEvent, ToolCall, ToolChoice, ToolResult, ToolSpec,
};
use serde_json::{Value, json};

/// Helpers of the tests with the real model.
macro_rules! with_weights {
    ($($(#[$attribute:meta])* async fn $name:ident() $body:block)*) => {$(
        $(#[$attribute])*
        #[tokio::test]
        #[ignore = "needs the weights: sh llm-do-providers/fetch-local-model.sh"]
        async fn $name() $body
    )*};
}

fn local() -> LocalModel {
    LocalModel::new("smollm2-135m-instruct").expect("the weights are there")
}

fn at_most(tokens: u32) -> Settings {
    let mut settings = Settings::default();
    settings.max_tokens = Some(tokens);
    settings
}

async fn ask(text: &str, settings: &Settings) -> Result<Response, ProviderError> {
    local().request(Request::new(&[Message::user(text)], settings)).await
}

/// Requests an answer with `schema` and validates it.
async fn valid(text: &str, schema: Value) -> Value {
    let output = OutputSchema { name: "answer".into(), schema: schema.clone().into() };
    let settings = at_most(1500);
    let messages = [Message::user(text)];
    let request = Request::new(&messages, &settings).output(Some(&output));
    let response = local().request(request).await.expect("the model answers");
    assert_eq!(response.finish, FinishReason::Stop, "{}", response.text());
    let answer = serde_json::from_str(&response.text()).expect("the answer is JSON");
    jsonschema::validate(&schema, &answer).expect("the answer follows its schema");
    answer
}

fn tool(name: &str, parameters: Value) -> ToolSpec {
    ToolSpec { name: name.into(), description: format!("Does {name}.").into(), parameters: parameters.into() }
}

fn add() -> ToolSpec {
    let numbers = json!({"a": {"$ref": "#/$defs/Number"}, "b": {"$ref": "#/$defs/Number"}});
    tool(
        "add",
        json!({
            "type": "object", "properties": numbers, "required": ["a", "b"],
            "$defs": {"Number": {"type": "integer", "format": "int64"}},
        }),
    )
}

/// Writes a file of the name `name` for a test.
fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = std::env::temp_dir().join(format!("llm-do-{}-{name}.gguf", std::process::id()));
    std::fs::write(&path, bytes).expect("the folder for temporary files can be written to");
    path
}

/// Returns the events of a request to the model of an invalid file.
async fn events_of(name: &str, bytes: &[u8]) -> Vec<Result<StreamEvent, ProviderError>> {
    let path = file(name, bytes);
    let model = LocalModel::new(&path.to_string_lossy()).expect("the file is there");
    let settings = Settings::default();
    let messages = [Message::user("Hello.")];
    let events = model.stream(Request::new(&messages, &settings)).await.expect("the request is sound").collect().await;
    std::fs::remove_file(path).expect("the file is still there");
    events
}

#[test]
fn an_unknown_name_error_lists_the_forms() {
    let error = LocalModel::new("gpt-9").expect_err("there is no such model");
    assert_eq!(error.kind(), ErrorKind::Configuration);
    assert!(
        error
            .to_string()
            .contains("write `local:smollm2-135m-instruct`, `local:PATH.gguf`, or `local:OWNER/REPO/FILE.gguf`"),
        "{error}"
    );
}

#[test]
fn a_missing_file_names_the_path() {
    let error = LocalModel::new("/nowhere/a.gguf").expect_err("there is no such file");
    assert_eq!(error.kind(), ErrorKind::Configuration);
    assert!(error.to_string().contains("no model file at `/nowhere/a.gguf`"), "{error}");
}

#[cfg(not(feature = "local-download"))]
#[test]
fn the_error_of_an_uncached_hub_file_explains_how_to_download_it() {
    let builder = LocalModel::builder("owner/repo@v1/a.gguf").cache_dir("/nowhere").offline(false);
    let error = builder.build().expect_err("there is no such file").to_string();
    assert!(error.contains("run `hf download owner/repo a.gguf --revision v1`"), "{error}");
    assert!(error.contains("enable the feature `local-download`"), "{error}");
}

#[tokio::test]
async fn loading_is_reported_and_an_invalid_file_is_rejected() {
    let events = events_of("text", b"This is not a model.").await;
    let [Ok(StreamEvent::Waiting { on }), Err(error)] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!(on, "loading the model (0 MB)");
    assert_eq!(error.kind(), ErrorKind::Configuration);
    assert!(error.to_string().contains("is not a supported model file: "), "{error}");
}

#[tokio::test]
async fn a_hostile_file_is_an_error() {
    // The reader divides by the alignment, which is 0 here.
    let key = b"general.alignment";
    let mut bytes = b"GGUF".to_vec();
    bytes.extend_from_slice(&3_u32.to_le_bytes());
    bytes.extend_from_slice(&0_u64.to_le_bytes());
    bytes.extend_from_slice(&1_u64.to_le_bytes());
    bytes.extend_from_slice(&(key.len() as u64).to_le_bytes());
    bytes.extend_from_slice(key);
    bytes.extend_from_slice(&4_u32.to_le_bytes());
    bytes.extend_from_slice(&0_u32.to_le_bytes());
    let events = events_of("hostile", &bytes).await;
    assert!(matches!(events.last(), Some(Err(_))), "{events:?}");
}

with_weights! {
    async fn text_is_streamed_in_pieces() {
        let settings = at_most(12);
        let messages = [Message::user("Write two sentences about the sea.")];
        let stream = local().stream(Request::new(&messages, &settings)).await.expect("the request is sound");
        let (mut pieces, mut answer) = (Vec::new(), None);
        for event in stream.collect::<Vec<_>>().await {
            match event.expect("the model answers") {
                StreamEvent::Text(text) => pieces.push(text),
                StreamEvent::Done(response) => answer = Some(response.text()),
                _ => {}
            }
        }
        assert!(pieces.len() > 3, "{pieces:?}");
        assert_eq!(Some(pieces.concat()), answer);
    }

    async fn an_answer_is_cut_at_the_limit_of_tokens() {
        let response = ask("Tell a long story.", &at_most(3)).await.expect("the model answers");
        assert_eq!((response.finish, response.usage.output_tokens), (FinishReason::Length, 3));
    }

    async fn a_stop_sequence_ends_the_answer() {
        let mut settings = at_most(60);
        settings.stop = vec![".".to_owned()];
        let response = ask("Write two sentences about the sea.", &settings).await.expect("the model answers");
        assert_eq!(response.finish, FinishReason::Stop);
        assert!(!response.text().contains('.'), "{}", response.text());
    }

    async fn a_seed_repeats_an_answer() {
        let mut settings = at_most(12);
        (settings.temperature, settings.top_p, settings.seed) = (Some(1.5), Some(0.95), Some(7));
        let first = ask("Tell a story.", &settings).await.expect("the model answers");
        let second = ask("Tell a story.", &settings).await.expect("the model answers");
        settings.seed = Some(8);
        let other = ask("Tell a story.", &settings).await.expect("the model answers");
        assert_eq!(first.text(), second.text());
        assert_ne!(first.text(), other.text());
    }

    async fn a_prompt_longer_than_the_context_is_rejected_with_numbers() {
        let error = ask(&"word ".repeat(9000), &Settings::default()).await.expect_err("it does not fit");
        assert_eq!(error.kind(), ErrorKind::ContextTooLong);
        assert!(error.to_string().contains("but the context length of the model is 8192"), "{error}");
    }

    async fn cancelling_stops_between_tokens() {
        let settings = at_most(3500);
        let messages = [Message::user("Count from one to a thousand, in words, one number a line.")];
        let mut stream = local().stream(Request::new(&messages, &settings)).await.expect("the request is sound");
        while !matches!(stream.next().await, Some(Ok(StreamEvent::Text(_)))) {}
        drop(stream);
        // 3500 tokens would take minutes.
        let next = tokio::time::timeout(Duration::from_secs(60), ask("Hello.", &at_most(2))).await;
        next.expect("the first request is given up").expect("the model answers");
    }

    async fn concurrent_requests_are_both_answered() {
        let settings = at_most(4);
        let (one, two) = tokio::join!(ask("Hello.", &settings), ask("Good evening.", &settings));
        assert!(!one.expect("the model answers").text().is_empty());
        assert!(!two.expect("the model answers").text().is_empty());
    }

    async fn an_async_thread_is_never_blocked() {
        let ticks = async {
            for _ in 0..20 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        let settings = at_most(20);
        let answer = ask("Tell a long story.", &settings);
        tokio::select! {
            biased;
            () = ticks => {}
            _ = answer => panic!("twenty tokens do not take twenty milliseconds: the ticks had to wait"),
        }
    }

    async fn a_constrained_answer_is_valid_against_its_schema() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Person", "type": "object",
            "properties": {
                "name": {"type": "string"},
                "age": {"type": "integer", "format": "uint8", "minimum": 0, "maximum": 255},
                "city": {"type": "string"},
            },
            "required": ["name", "age", "city"],
        });
        let answer = valid("Lars from Oslo is 45.", schema).await;
        assert_eq!(answer["age"], 45);
    }

    async fn schemas_of_rust_types_are_followed() {
        let schema = json!({
            "type": "object",
            "properties": {
                "title": {"type": ["string", "null"]},
                "score": {"type": "number", "format": "double"},
                "kind": {"oneOf": [{"const": "a", "description": "An a."}, {"type": "string", "enum": ["b", "c"]}]},
                "items": {"type": "array", "items": {"$ref": "#/$defs/Item"}},
                "more": {"anyOf": [{"$ref": "#/$defs/Item"}, {"type": "null"}]},
                "flags": {"type": "object", "additionalProperties": {"type": "boolean"}},
                "anything": true,
                "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "minItems": 2, "maxItems": 2},
                "when": {"type": "string", "format": "date"},
                "unique": {"type": "array", "uniqueItems": true, "maxItems": 1, "items": {"type": "string", "format": "madeup"}},
            },
            "required": ["title", "score", "kind", "items", "more", "flags", "anything", "pair", "when", "unique"],
            "$defs": {"Item": {"type": "object", "properties": {"count": {"type": "integer", "format": "uint32", "minimum": 0}}, "required": ["count"]}},
        });
        valid("Make something up.", schema).await;
    }

    async fn a_tagged_enum_and_flattened_fields_are_followed() {
        let tagged = json!({"oneOf": [
            {"type": "object", "properties": {"kind": {"type": "string", "const": "circle"}, "radius": {"type": "number"}}, "required": ["kind", "radius"]},
            {"type": "object", "properties": {"kind": {"type": "string", "const": "square"}, "side": {"type": "number"}}, "required": ["kind", "side"]},
        ]});
        valid("A square of side 3.", tagged).await;
        let flattened = json!({
            "type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"],
            "oneOf": [
                {"type": "object", "properties": {"left": {"type": "boolean"}}, "required": ["left"]},
                {"type": "object", "properties": {"right": {"type": "boolean"}}, "required": ["right"]},
            ],
        });
        valid("Ann goes left.", flattened).await;
    }

    async fn forced_tool_call_has_valid_arguments() {
        let tools = [add(), tool("read_file", json!({"type": "object", "properties": {"path": {"type": "string"}}}))];
        let settings = at_most(200);
        let messages = [Message::user("What is 17 plus 25?")];
        for choice in [ToolChoice::Required, ToolChoice::Tool("add")] {
            let request = Request::new(&messages, &settings).tools(&tools).tool_choice(choice);
            let response = local().request(request).await.expect("the model answers");
            assert_eq!(response.finish, FinishReason::ToolCalls);
            let call = response.tool_calls().next().expect("a call is forced");
            let spec = tools.iter().find(|tool| *tool.name == *call.name).expect("the tool was offered");
            let arguments = serde_json::from_str(&call.arguments).expect("the arguments are JSON");
            jsonschema::validate(&spec.parameters, &arguments).expect("the arguments follow the schema");
        }
    }

    async fn a_tool_result_is_answered_with_text() {
        let call = ToolCall::new("call_1", "add", r#"{"a": 3, "b": 4}"#);
        let result = ToolResult::new(&call, "7");
        let messages = [
            Message::user("Add 3 and 4."),
            Message::Assistant { parts: vec![ResponsePart::ToolCall(call)] },
            Message::Tool { results: vec![result] },
        ];
        let settings = at_most(40);
        let response = local().request(Request::new(&messages, &settings).tools(&[add()])).await;
        let response = response.expect("the model answers");
        assert_eq!(response.tool_calls().count(), 0);
        assert!(!response.text().starts_with('{'), "{}", response.text());
    }
}
