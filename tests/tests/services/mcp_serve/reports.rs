//! Progress and log entries, for clients that ask for them.

use rmcp::model::{LoggingLevel, ProgressToken, RequestMetaObject};

use super::*;

/// Report progress.
#[tool(effect = read_only)]
fn steps(ctx: &CallContext) -> &'static str {
    ctx.progress("first");
    ctx.progress("second");
    "done"
}

fn request(token: bool, level: Option<LoggingLevel>) -> CallToolRequestParams {
    let mut meta = RequestMetaObject::new();
    if token {
        meta.set_progress_token(ProgressToken(rmcp::model::NumberOrString::Number(7)));
    }
    if let Some(level) = level {
        meta.set_log_level(level);
    }
    let mut request = call("steps", json!({}));
    request.meta = Some(meta);
    request
}

#[tokio::test]
async fn a_client_with_a_token_gets_progress_before_the_result() {
    for era in ERAS {
        let user = User::default();
        let client = connect(serving(|builder| builder), era, user.clone()).await;
        client.call_tool(request(true, None)).await.unwrap();
        assert_eq!(*user.progress.lock().unwrap(), ["1: first", "2: second"], "{era:?}");
        assert!(user.log.lock().unwrap().is_empty(), "no level, no entries");
    }
}

#[tokio::test]
async fn a_client_gets_log_entries_from_the_level_of_its_request_on() {
    let user = User::default();
    let client = connect(serving(|builder| builder), Era::Rounds, user.clone()).await;
    client.call_tool(request(false, Some(LoggingLevel::Info))).await.unwrap();
    assert_eq!(*user.log.lock().unwrap(), [json!(["info", "steps", "first"]), json!(["info", "steps", "second"])]);
    client.call_tool(request(false, Some(LoggingLevel::Error))).await.unwrap();
    assert_eq!(user.log.lock().unwrap().len(), 2);
}
