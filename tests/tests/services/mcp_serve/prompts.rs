//! Workers as prompts, and files as resources.

use llm_do::Attachment;
use rmcp::model::{GetPromptRequestParams, ReadResourceRequestParams};

use super::*;

#[tokio::test]
async fn a_worker_is_a_prompt_with_its_instructions() {
    for era in ERAS {
        let client = connect(serving(|builder| builder), era, User::default()).await;
        let prompts = client.list_all_prompts().await.unwrap();
        let prompts: Vec<_> = prompts.into_iter().filter(|prompt| prompt.name == "welcome").collect();
        assert_eq!(
            serde_json::to_value(prompts).unwrap(),
            json!([{
                "name": "welcome",
                "title": "Welcome",
                "description": "Welcome a person.",
                "arguments": [{ "name": "name", "description": "Whom.", "required": true }],
            }])
        );
        let arguments = json!({ "name": "Ann" }).as_object().cloned().unwrap();
        let prompt = client.get_prompt(GetPromptRequestParams::new("welcome").with_arguments(arguments)).await.unwrap();
        let message = |text: &str| json!({ "role": "user", "content": { "type": "text", "text": text } });
        assert_eq!(serde_json::to_value(prompt.messages).unwrap(), json!([message("Greet."), message("Greet Ann.")]));
    }
}

#[tokio::test]
async fn a_resource_is_read_by_its_uri_or_by_one_that_matches_a_template() {
    let text = |text: &str| Attachment::new("text/plain", text.as_bytes().to_vec());
    let service = serving(|builder| builder).resource("notes://today", text("call Ann")).unwrap();
    let service = service.resources("notes://day/{day}", "Notes of a day", move |uri| async move {
        Ok((uri != "notes://day/never").then(|| Attachment::new("text/plain", uri.into_bytes())))
    });
    let client = connect(service, Era::Rounds, User::default()).await;
    let read = async |uri: &str| {
        let read = client.read_resource(ReadResourceRequestParams::new(uri)).await;
        read.map(|read| serde_json::to_value(&read.contents[0]).unwrap()["text"].clone())
            .map_err(|error| error.to_string())
    };
    assert_eq!(read("notes://today").await.unwrap(), "call Ann");
    assert_eq!(read("notes://day/monday").await.unwrap(), "notes://day/monday");
    for unknown in ["notes://day/never", "notes://day/a/b", "file:///etc/passwd"] {
        assert!(read(unknown).await.unwrap_err().contains("unknown resource"), "{unknown}");
    }
}
