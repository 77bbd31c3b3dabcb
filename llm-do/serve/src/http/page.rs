//! The page of the service: runs, one run as it happens, what waits for a person, chats.

use std::sync::LazyLock;

use axum::Router;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use http::{HeaderValue, header};

use llm_do_core::plane::registry::Application;
use llm_do_trace::{BODY, Page};

/// The scripts of this page, after those that show the calls of a run.
const SCRIPTS: [&str; 8] = [
    include_str!("../page/api.js"),
    include_str!("../page/runs.js"),
    include_str!("../page/inbox.js"),
    include_str!("../page/run.js"),
    include_str!("../page/start.js"),
    include_str!("../page/chats.js"),
    include_str!("../page/hybrids.js"),
    include_str!("../page/boot.js"),
];
const STYLE: &str = include_str!("../page/service.css");

/// The page, with its policy as a header: text of models stays text, and only the service can be reached.
static PAGE: LazyLock<(String, String)> = LazyLock::new(|| {
    let page = Page::new(&SCRIPTS, STYLE, "; connect-src 'self'");
    let body = include_str!("../page/body.html");
    let html = format!(
        "{}{body}<template id=\"trace\">{BODY}</template>\n{}",
        page.begin(&format!("Runs · {}", escaped(&Application::current().name))),
        page.end()
    );
    (html, format!("{}; frame-ancestors 'none'", page.policy))
});

/// Returns a text as HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

pub(super) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new().route("/", get(page))
}

async fn page() -> Response {
    let (html, policy) = &*PAGE;
    let mut response = Html(html.as_str()).into_response();
    // The policy is ASCII.
    if let Ok(policy) = HeaderValue::from_str(policy) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}
