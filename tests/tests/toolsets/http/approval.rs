//! Which URLs are fetched, asked about, and refused.

use std::sync::{Arc, Mutex};

use llm_do::approval::{Decision, Policy, Rule};
use llm_do::error::chain;
use llm_do::prelude::*;
use llm_do::toolsets::http::Http;

use super::server::{Server, redirect};
use super::{builder, load, local};

fn call(url: impl Into<String>) -> load {
    load { url: url.into(), offset: 1, max_chars: 100 }
}

/// Returns what the approver was asked, and the result.
async fn asked(settings: Http, url: impl Into<String>) -> (Vec<String>, Result<ToolReturn, String>) {
    let asked = Arc::<Mutex<Vec<String>>>::default();
    let seen = Arc::clone(&asked);
    let builder = builder(settings).approve_with(move |request| {
        seen.lock().unwrap().push(request.summary());
        async { Decision::approve() }
    });
    let result = builder.build().unwrap().run(call(url)).await.map_err(|error| chain(&error));
    let asked = asked.lock().unwrap().clone();
    (asked, result)
}

#[tokio::test]
async fn an_allowed_host_is_fetched_and_every_other_one_is_asked_about() {
    let server = Server::with("text/plain", "x");
    let (questions, result) = asked(local(&server).allow(server.host()), server.url("/a")).await;
    assert!(questions.is_empty() && result.is_ok(), "{questions:?} {result:?}");
    for settings in [local(&server), local(&server).allow("127.0.0.1"), local(&server).allow("*")] {
        let (questions, result) = asked(settings, server.url("/a")).await;
        assert_eq!(questions, [format!("fetch {}", server.url("/a"))], "a port needs to be named");
        assert!(result.is_ok());
    }
}

#[tokio::test]
async fn the_approver_sees_the_url_as_it_is_requested() {
    let server = Server::with("text/plain", "x");
    let odd = format!("  HTTP://0x7f.1:{}/a/../b\t?q=é#top ", server.port());
    let (questions, result) = asked(local(&server), odd).await;
    assert_eq!(questions, [format!("fetch {}", server.url("/b?q=%C3%A9"))]);
    assert!(result.is_ok());
    assert!(server.requests()[0].starts_with("GET /b?q=%C3%A9 HTTP/1.1\r\n"), "{:?}", server.requests());
}

#[tokio::test]
async fn a_denied_url_is_not_requested() {
    let server = Server::with("text/plain", "x");
    let runtime = builder(local(&server)).approve_with(|_| async { Decision::deny("not today") }).build().unwrap();
    let error = chain(&runtime.run(call(server.url("/"))).await.unwrap_err());
    assert!(error.ends_with("denied: not today"), "{error}");
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_refused_host_is_refused_even_if_it_is_allowed() {
    let server = Server::with("text/plain", "x");
    let settings = local(&server).allow(server.host()).deny(server.host());
    let (questions, result) = asked(settings, server.url("/")).await;
    assert!(questions.is_empty());
    let error = result.unwrap_err();
    assert!(error.contains("the application refuses to fetch from `127.0.0.1`"), "{error}");
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_redirect_to_another_host_is_returned_instead_of_followed() {
    let other = Server::with("text/plain", "other");
    let to = other.url("/new");
    let server = Server::new(move |_| redirect(&to));
    let settings = || local(&server).allow_private(other.host()).allow(server.host());
    let (_, result) = asked(settings(), server.url("/old")).await;
    let text = result.unwrap().value().as_str().unwrap().to_owned();
    let (from, to) = (server.url("/old"), other.url("/new"));
    assert_eq!(text, format!("`{from}` redirects to `{to}`, which is on another host; to follow it, fetch that URL"));
    assert!(other.requests().is_empty());
    let (questions, result) = asked(settings().allow(other.host()), server.url("/old")).await;
    assert!(questions.is_empty());
    assert!(result.unwrap().value().as_str().unwrap().ends_with("\n\nother"), "an allowed host is followed");
}

#[tokio::test]
async fn a_redirect_on_the_same_host_is_followed() {
    let server =
        Server::new(|path| if path == "/new" { super::server::ok("text/plain", b"new") } else { redirect("new") });
    let (questions, result) = asked(local(&server), server.url("/old")).await;
    assert_eq!(questions.len(), 1);
    let text = result.unwrap().value().as_str().unwrap().to_owned();
    assert!(text.contains(&server.url("/new")) && text.ends_with("\n\nnew"), "{text}");
}

#[tokio::test]
async fn a_policy_blocks_all_urls_that_no_setting_allows() {
    let server = Server::with("text/plain", "x");
    let policy = || Policy::new().tool("http_fetch_asked", Rule::Blocked { reason: "offline".into() });
    let runtime = builder(local(&server)).policy(policy()).build().unwrap();
    let error = chain(&runtime.run(call(server.url("/"))).await.unwrap_err());
    assert!(error.ends_with("`http_fetch_asked` is blocked: offline"), "{error}");
    let runtime = builder(local(&server).allow(server.host())).policy(policy()).build().unwrap();
    assert!(runtime.run(call(server.url("/"))).await.is_ok());
}

#[tokio::test]
async fn an_invalid_host_in_the_settings_is_named() {
    let (_, result) = asked(Http::new().allow("https://docs.rs/"), "https://docs.rs/").await;
    let error = result.unwrap_err();
    assert!(error.contains("invalid host `https://docs.rs/` in the application's settings"), "{error}");
}
