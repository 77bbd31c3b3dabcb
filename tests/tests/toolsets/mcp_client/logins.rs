//! How a login finds the authorization server of a server, and the errors of a login that is not possible.

use llm_do::mcp::McpError;
use tempfile::TempDir;

use super::http::{Login, Site, oauth};
use super::script::{builder, echo};

/// Logs in, and calls a tool; returns how often the user was asked.
async fn logged_in(flags: &[&str]) -> usize {
    let (site, login) = (Site::start(flags), Login::default());
    let runtime = builder(site.server().oauth(oauth(&login, None))).build().unwrap();
    assert_eq!(echo(&runtime, "hello").await.unwrap(), "hello", "{flags:?}");
    let asked = login.0.lock().unwrap();
    asked.len()
}

#[tokio::test]
async fn metadata_are_found_without_a_challenge() {
    for flags in [
        &["modern", "protected", "bare"][..],
        &["protected", "bare"],
        &["protected", "bare", "stream"],
        &["modern", "protected", "bare", "failing"],
        &["protected", "failing"],
        &["modern", "protected", "challenge=/.well-known/oauth-protected-resource"],
    ] {
        assert_eq!(logged_in(flags).await, 1, "{flags:?}");
    }
}

#[tokio::test]
async fn a_call_that_is_refused_without_a_challenge_logs_the_user_in() {
    for flags in [&["modern", "guarded=echo", "bare"][..], &["guarded=echo", "bare"]] {
        assert_eq!(logged_in(flags).await, 1, "{flags:?}");
    }
}

#[tokio::test]
async fn a_server_is_called_as_its_metadata_call_it() {
    for resource in ["resource=/mcp", "resource=/mcp/", "resource=/", "resource="] {
        for more in [&[][..], &["bare"]] {
            let flags = [&["modern", "protected", resource], more].concat();
            assert_eq!(logged_in(&flags).await, 1, "{flags:?}");
        }
    }
}

#[tokio::test]
async fn tokens_are_refreshed_for_the_name_of_the_metadata() {
    let site = Site::start(&["modern", "protected", "short", "resource=/mcp/"]);
    let (login, folder) = (Login::default(), TempDir::new().unwrap());
    for _ in 0..2 {
        let server = site.server().oauth(oauth(&login, Some(folder.path().to_owned())));
        let runtime = builder(server).build().unwrap();
        // The tokens are valid for a second.
        tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
        assert_eq!(echo(&runtime, "hello").await.unwrap(), "hello");
    }
    assert_eq!(login.0.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn metadata_of_another_resource_are_refused() {
    for resource in ["resource=/mcp2", "resource=/other/", "resource=/mcp/deeper"] {
        let (site, login) = (Site::start(&["modern", "protected", resource]), Login::default());
        let error = site.server().oauth(oauth(&login, None)).connect().await.unwrap_err();
        assert!(matches!(error, McpError::Authorization { .. }), "{resource}: {error}");
        assert!(login.0.lock().unwrap().is_empty(), "{resource}");
    }
}

#[tokio::test]
async fn an_authorization_server_that_registers_no_programs_is_an_error_with_what_to_set() {
    for (flag, reason) in [
        (r#"metadata={"registration_endpoint":null}"#, "Dynamic client registration not supported"),
        ("refuses", "HTTP 403"),
    ] {
        let (site, login) = (Site::start(&["modern", "protected", flag]), Login::default());
        let error = site.server().oauth(oauth(&login, None)).connect().await.unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
        let advice = "register it there with the redirect URI `http://localhost:1/callback`, and set its client id, with \
                      `\"oauth\": { \"clientId\": \"..\", \"callbackPort\": .. }` in `.mcp.json`, or with `OAuth::client` in code";
        assert!(error.contains(advice), "{error}");
        let with_client = site.server().oauth(oauth(&login, None).client("mine", None));
        assert_eq!(echo(&builder(with_client).build().unwrap(), "hello").await.unwrap(), "hello");
    }
}
