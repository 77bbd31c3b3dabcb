//! Requests to a model whose file is not cached yet.

use std::fs;

use futures_util::StreamExt;
use llm_do_providers::{ErrorKind, Message, Model, Request, Settings, StreamEvent};

use crate::hub::server::Reply;
use crate::hub::{NAME, World, content, sha256};

#[tokio::test]
async fn the_first_request_downloads_the_file_and_reports_it() {
    let world = World::new().await;
    let model = world.builder(NAME).build().unwrap();
    assert_eq!(world.hub.asked(), [""; 0], "nothing is fetched before the first request");
    let (messages, settings) = ([Message::user("Hello.")], Settings::default());
    let events: Vec<_> = model.stream(Request::new(&messages, &settings)).await.unwrap().collect().await;
    let waits = events.iter().filter_map(|event| match event {
        Ok(StreamEvent::Waiting { on }) => Some(on.as_str()),
        _ => None,
    });
    let waits: Vec<_> = waits.collect();
    assert_eq!(waits[0], format!("requesting the metadata of `model.gguf` from {}", world.hub.url()));
    assert_eq!(waits[1], "downloading `model.gguf`: 0 B of 1 MB (0 %)");
    assert!(waits.contains(&"downloading `model.gguf`: 1 MB of 1 MB (100 %)"), "{waits:?}");
    assert!(waits.len() <= 23, "{waits:?}");
    assert_eq!(waits.last(), Some(&"loading the model (1 MB)"));
    // The content is not a model.
    let Some(Err(error)) = events.last() else { panic!("{events:?}") };
    assert!(error.to_string().contains("is not a supported model file"), "{error}");
    assert_eq!(fs::read(world.blob()).unwrap(), world.bytes);
}

#[tokio::test]
async fn a_failed_download_is_the_error_of_the_request() {
    let world = World::answering(Reply::refusal(403, "GatedRepo")).await;
    let model = world.builder(NAME).build().unwrap();
    let (messages, settings) = ([Message::user("Hello.")], Settings::default());
    let error = model.request(Request::new(&messages, &settings)).await.unwrap_err();
    assert_eq!((error.kind(), error.status()), (ErrorKind::Auth, Some(403)));
}

#[tokio::test]
async fn checking_a_pinned_file_is_reported() {
    let world = World::new().await;
    let path = world.cache.path().join("here.gguf");
    fs::write(&path, content()).unwrap();
    let model = world.builder(&format!("{}#sha256={}", path.display(), sha256(&content()))).build().unwrap();
    let (messages, settings) = ([Message::user("Hello.")], Settings::default());
    let mut events = model.stream(Request::new(&messages, &settings)).await.unwrap();
    let first = events.next().await.unwrap().unwrap();
    assert_eq!(first, StreamEvent::Waiting { on: "checking the model's file (1 MB)".into() });
}

#[tokio::test]
#[ignore = "needs the weights: sh llm-do-providers/fetch-local-model.sh"]
async fn a_downloaded_model_answers() {
    let folders = std::env::var_os("XDG_CACHE_HOME").map(std::path::PathBuf::from);
    let folder = folders.unwrap_or_else(|| std::env::home_dir().unwrap().join(".cache"));
    let bytes = fs::read(folder.join("llm-do/SmolLM2-135M-Instruct.Q4_1.gguf")).unwrap();
    let sent = bytes.clone();
    let world = World::sending(bytes, move |request| Reply::file(&sent, request)).await;
    let model = world.builder("owner/repo/smollm2.gguf").build().unwrap();
    let mut settings = Settings::default();
    settings.max_tokens = Some(8);
    let messages = [Message::user("Say hello.")];
    let response = model.request(Request::new(&messages, &settings)).await.unwrap();
    assert!(!response.text().is_empty());
}
