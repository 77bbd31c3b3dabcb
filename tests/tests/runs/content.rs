//! What events show of requests to models.

use std::sync::{Arc, Mutex};

use llm_do::Attachment;
use llm_do::event::{ContentMessage, Event, EventKind, EventPart, FileInfo, RequestContent};
use llm_do::guard::FunctionGuard;
use llm_do::model::{Message, Request, Response, ResponsePart, ToolCall, ToolResult, UserPart};
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{FunctionModel, Recorder};
use llm_do::usage::Usage;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Draw a picture.
#[tool(effect = read_only, inline)]
fn draw(size: usize) -> ToolReturn {
    let picture = Attachment::new("image/png", vec![7; size]).named("a.png");
    ToolReturn::text("drawn").attach(picture)
}

/// Draws.
#[worker(toolsets = [draw], instructions = "Draw what is asked.", max_turns = 20)]
async fn artist(input: String) -> String;

/// Has two artists draw.
#[entry(toolsets = [artist])]
async fn studio(ctx: &CallContext<studio>) -> Result<String> {
    let first = ctx.call(artist { input: "a".into() }).await?;
    Ok(first + &ctx.call(artist { input: "b".into() }).await?)
}

/// What a model was asked: instructions, tools and messages.
type Asked = Arc<Mutex<Vec<Value>>>;

/// A model that calls `draw` with each size, and then answers; it notes what it was asked.
fn model(sizes: Vec<usize>, asked: &Asked) -> FunctionModel {
    let asked = Arc::clone(asked);
    FunctionModel::new(move |request: Request<'_>| {
        let tools: Vec<_> = request.tools.iter().map(|tool| json!(tool)).collect();
        let messages: Vec<_> = request.messages.iter().map(plain).collect();
        asked.lock().unwrap().push(json!([request.instructions, tools, messages]));
        let answered = request.messages.iter().rev().take_while(|message| !matches!(message, Message::User { .. }));
        let turn = answered.filter(|message| matches!(message, Message::Assistant { .. })).count();
        let part = match sizes.get(turn) {
            Some(size) => {
                ResponsePart::ToolCall(ToolCall::new(turn.to_string(), "draw", json!({"size": size}).to_string()))
            }
            None => ResponsePart::Text { text: "done".into() },
        };
        Ok(Response::new("m", vec![part], Usage::of_request(10, 5)))
    })
}

/// A message as events write it, without digests.
fn plain(message: &Message) -> Value {
    let file = |file: &Attachment| json!({"type": "attachment", "name": file.name(), "bytes": file.data().len()});
    let result = |result: &ToolResult| {
        json!([result.call_id, result.content, result.attachments.iter().map(file).collect::<Value>()])
    };
    match message {
        Message::User { parts } => parts
            .iter()
            .map(|part| match part {
                UserPart::Text { text } => json!(text),
                UserPart::Attachment(attached) => file(attached),
                other => panic!("{other:?}"),
            })
            .collect(),
        Message::Assistant { parts } => parts.iter().map(|part| json!(part)).collect(),
        Message::Tool { results } => results.iter().map(result).collect(),
        other => panic!("{other:?}"),
    }
}

/// The same of a message in an event.
fn plain_content(message: &ContentMessage) -> Value {
    let file = |file: &FileInfo| json!({"type": "attachment", "name": file.name, "bytes": file.bytes});
    match message {
        ContentMessage::User { parts } => parts
            .iter()
            .map(|part| match part {
                EventPart::Whole(ResponsePart::Text { text }) => json!(text),
                part => file(&part.file().unwrap()),
            })
            .collect(),
        ContentMessage::Assistant { parts } => parts.iter().map(|part| json!(part)).collect(),
        ContentMessage::Tool { results } => results
            .iter()
            .map(|result| {
                json!([result.call_id, result.content, result.attachments.iter().map(file).collect::<Value>()])
            })
            .collect(),
        other => panic!("{other:?}"),
    }
}

fn contents(events: &[Event]) -> Vec<RequestContent> {
    let content = |event: &Event| match &event.kind {
        EventKind::ModelRequest { content, .. } => content.as_deref().cloned(),
        _ => None,
    };
    events.iter().filter_map(content).collect()
}

/// Rebuilds what the model was asked from events that were written as JSON.
fn rebuilt(events: &[Event]) -> Vec<Value> {
    let mut conversations = std::collections::HashMap::<_, Vec<Value>>::new();
    let mut known = std::collections::HashMap::new();
    let mut requests = Vec::new();
    for event in events {
        let event: Event = serde_json::from_str(&serde_json::to_string(event).unwrap()).unwrap();
        let conversation = conversations.entry((event.run.clone(), event.call)).or_default();
        match event.kind {
            EventKind::ModelRequest { content: Some(content), .. } => {
                conversation.truncate(content.kept);
                conversation.extend(content.messages.iter().map(plain_content));
                let instructions = content.instructions.map(|given| {
                    given.value.into_iter().for_each(|text| drop(known.insert(given.digest.clone(), json!(text))));
                    known[&given.digest].clone()
                });
                let tools = content.tools.map(|given| {
                    given.value.into_iter().for_each(|tools| drop(known.insert(given.digest.clone(), json!(tools))));
                    known[&given.digest].clone()
                });
                requests.push(json!([instructions, tools.unwrap_or_else(|| json!([])), conversation]));
            }
            EventKind::ModelResponse { parts, .. } => {
                conversation.push(parts.iter().map(|part| json!(part)).collect());
            }
            _ => {}
        }
    }
    requests
}

fn runtime(configure: impl FnOnce(RuntimeBuilder) -> RuntimeBuilder, sizes: Vec<usize>) -> (Runtime, Recorder, Asked) {
    let (recorder, asked) = (Recorder::new(), Asked::default());
    let builder = Runtime::builder().force_model(model(sizes, &asked)).sink(recorder.clone());
    (configure(builder).build().unwrap(), recorder, asked)
}

#[tokio::test]
async fn events_have_no_content_by_default() {
    let (runtime, recorder, _) = runtime(|builder| builder, vec![3]);
    runtime.run(studio {}).await.unwrap();
    runtime.flush().await;
    for event in recorder.events() {
        let json = serde_json::to_string(&event).unwrap();
        let is_silent =
            ["content\":{", "kept", "digest", "files", "Draw what is asked"].iter().all(|word| !json.contains(word));
        assert!(is_silent, "{json}");
    }
}

#[tokio::test]
async fn definitions_and_files_are_written_once_per_run() {
    let (runtime, recorder, _) = runtime(|builder| builder.content(true), vec![3, 3, 300 << 10]);
    for expected in ["first run", "second run"] {
        let earlier = recorder.events().len();
        runtime.run(studio {}).await.unwrap();
        runtime.flush().await;
        let contents = contents(&recorder.events()[earlier..]);
        assert_eq!(contents.len(), 8, "{expected}");
        let instructions = contents.iter().map(|content| content.instructions.as_ref().unwrap());
        assert_eq!(instructions.clone().filter(|given| given.value.is_some()).count(), 1);
        assert!(instructions.clone().all(|given| given.digest == instructions.clone().next().unwrap().digest));
        let tools = contents.iter().filter_map(|content| content.tools.as_ref()?.value.as_ref());
        assert_eq!(tools.map(|tools| tools.len()).collect::<Vec<_>>(), [1]);
        let files: Vec<_> = contents.iter().flat_map(|content| &content.files).collect();
        assert_eq!(files.len(), 1, "the image of 300 KiB is too large: {files:?}");
        assert_eq!(files[0].data.as_deref(), Some(&[7; 3][..]));
    }
}

#[tokio::test]
async fn what_a_guard_redacts_is_shown_redacted() {
    let guard = FunctionGuard::new("redact").before_request(|request| {
        request.set_instructions("Draw.");
        for message in request.messages_mut() {
            if let Message::User { parts } = message {
                *parts = vec![UserPart::Text { text: "[redacted]".into() }];
            }
        }
        Ok(())
    });
    let (runtime, recorder, asked) = runtime(|builder| builder.content(true).guard(guard), vec![3]);
    runtime.run(artist { input: "a secret".into() }).await.unwrap();
    runtime.flush().await;
    assert_eq!(rebuilt(&recorder.events()), *asked.lock().unwrap());
    let shown = serde_json::to_string(&contents(&recorder.events())).unwrap();
    assert!(shown.contains("[redacted]") && !shown.contains("secret") && !shown.contains("what is asked"), "{shown}");
}

#[tokio::test]
async fn a_run_may_turn_content_on_and_off() {
    for (of_runtime, of_run) in [(false, true), (true, false)] {
        let (runtime, recorder, _) = runtime(|builder| builder.content(of_runtime), vec![]);
        runtime.start(artist { input: "a".into() }).content(of_run).await.unwrap();
        runtime.flush().await;
        assert_eq!(!contents(&recorder.events()).is_empty(), of_run);
    }
}

#[tokio::test]
async fn a_request_of_a_chat_has_the_earlier_messages() {
    let (runtime, recorder, asked) = runtime(|builder| builder.content(true), vec![3]);
    let mut chat = runtime.chat();
    chat.send(artist { input: "one".into() }).await.unwrap();
    chat.send(artist { input: "two".into() }).await.unwrap();
    runtime.flush().await;
    assert_eq!(rebuilt(&recorder.events()), *asked.lock().unwrap());
}

/// What a guard does to the messages of a request.
#[derive(Clone, Copy, Debug)]
enum Change {
    Nothing,
    ReplacePrompt,
    AddLast,
    DropFirstExchange,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn events_rebuild_what_the_model_was_asked(
        sizes in prop::collection::vec(0_usize..5, 0..5),
        changes in prop::collection::vec(
            prop::sample::select(vec![Change::Nothing, Change::ReplacePrompt, Change::AddLast, Change::DropFirstExchange]),
            6,
        ),
        is_guarded in any::<bool>(),
    ) {
        let guard = FunctionGuard::new("change").before_request(move |request| {
            let turn = request.turn() as usize;
            match changes[turn % changes.len()] {
                Change::ReplacePrompt => request.messages_mut()[0] = Message::user(format!("prompt {turn}")),
                Change::AddLast => request.messages_mut().push(Message::user("note")),
                Change::DropFirstExchange if request.messages().len() > 3 => drop(request.messages_mut().drain(1..3)),
                Change::Nothing | Change::DropFirstExchange => {}
            }
            Ok(())
        });
        let (runtime, recorder, asked) =
            runtime(|builder| if is_guarded { builder.content(true).guard(guard) } else { builder.content(true) }, sizes);
        let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        tokio.block_on(async {
            runtime.run(artist { input: "a".into() }).await.ok();
            runtime.flush().await;
        });
        prop_assert_eq!(rebuilt(&recorder.events()), asked.lock().unwrap().clone());
    }
}
