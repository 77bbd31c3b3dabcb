//! Servers at a URL. They are scripts of the tests, on loopback.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use llm_do::error::BoxError;
use llm_do::mcp::{Authorizer, McpError, McpServer, OAuth};
use llm_do::{async_trait, json};
use tempfile::TempDir;
use tokio::sync::Notify;

use super::script::{builder, call, echo};

/// A server on loopback, which ends with this.
pub(super) struct Site {
    process: Child,
    port: u16,
    folder: TempDir,
}

impl Site {
    pub(super) fn start(flags: &[&str]) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/mcp/http_server.py");
        let folder = TempDir::new().unwrap();
        let mut command = Command::new("python3");
        command.arg(script).arg(format!("log={}", folder.path().join("log").display())).args(flags);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { process, port: line.trim().parse().unwrap(), folder }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    pub(super) fn server(&self) -> McpServer {
        McpServer::http("s", self.url())
    }

    /// Returns the lines that the server wrote.
    fn log(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

#[tokio::test]
async fn servers_of_both_eras_are_called() {
    for flags in [&["modern"][..], &[], &["modern", "stream"], &["stream"]] {
        let site = Site::start(flags);
        let runtime = builder(site.server()).build().unwrap();
        assert_eq!(echo(&runtime, "hello").await.unwrap(), "hello", "{flags:?}");
    }
}

#[tokio::test]
async fn a_server_at_a_url_that_asks_and_takes_no_answers_is_disconnected() {
    let site = Site::start(&["asks"]);
    let runtime = builder(site.server()).build().unwrap();
    let error = echo(&runtime, "x").await.unwrap_err();
    assert!(error.contains("the server sent more than 1000 requests without taking the answers"), "{error}");
}

#[tokio::test]
async fn an_invalid_tool_or_block_of_a_server_at_a_url_is_left_out_alone() {
    for flags in [&["odd", "modern"][..], &["odd"], &["odd", "stream"]] {
        let site = Site::start(flags);
        let runtime = builder(site.server()).build().unwrap();
        let warnings = runtime.warnings().join("\n");
        assert!(
            warnings.contains("the tool `bad` of the MCP server `s` is left out: invalid definition: "),
            "{warnings}"
        );
        let result = echo(&runtime, "hello").await.unwrap();
        assert_eq!(result, "hello\n[invalid content of the type `zzz` is left out]", "{flags:?}");
    }
}

#[tokio::test]
async fn headers_and_the_token_are_sent_with_each_request() {
    let site = Site::start(&["modern"]);
    let server = site.server().header("X-Tenant", "blue").bearer_token("t0ken");
    let runtime = builder(server).build().unwrap();
    echo(&runtime, "hello").await.unwrap();
    let log = site.log();
    assert!(log.len() >= 3, "discovery, list, call: {log:?}");
    assert!(log.iter().all(|line| line.contains("blue") && line.contains("Bearer t0ken")), "{log:?}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_an_error_with_its_cause() {
    let site = Site::start(&["modern"]);
    let server = site.server();
    drop(site);
    let error = server.connect().await.unwrap_err().to_string();
    assert!(error.starts_with("cannot connect to the MCP server `s`: ") && error.contains("refused"), "{error}");
}

#[tokio::test]
async fn a_server_that_returns_after_a_restart_is_called_again() {
    let site = Site::start(&["modern"]);
    let runtime = builder(site.server()).build().unwrap();
    echo(&runtime, "a").await.unwrap();
    let port = format!("port={}", site.port);
    drop(site);
    let error = echo(&runtime, "b").await.unwrap_err();
    assert!(error.contains("the connection to the MCP server `s` was lost during the call"), "{error}");
    let _again = Site::start(&["modern", &port]);
    assert_eq!(echo(&runtime, "c").await.unwrap(), "c");
}

#[tokio::test]
async fn a_redirect_to_another_host_is_not_followed() {
    let other = Site::start(&["modern"]);
    let site = Site::start(&[&format!("redirect={}", other.url().replace("127.0.0.1", "localhost"))]);
    let error = site.server().bearer_token("t0ken").connect().await.unwrap_err();
    assert!(matches!(error, McpError::Connect { .. }), "{error}");
    assert!(other.log().is_empty(), "it got the token: {:?}", other.log());
}

#[tokio::test]
async fn an_answer_that_is_too_large_fails_the_call_alone() {
    for flags in [&["modern"][..], &["modern", "stream"]] {
        let site = Site::start(flags);
        let runtime = builder(site.server().max_message(100_000).timeout(Duration::from_secs(5))).build().unwrap();
        let error = call(&runtime, "big", json!({ "size": 1_000_000 })).await.unwrap_err();
        assert!(error.contains("MCP server `s`"), "{flags:?}: {error}");
        assert_eq!(echo(&runtime, "still there").await.unwrap(), "still there", "{flags:?}: {error}");
    }
}

#[tokio::test]
async fn a_call_that_takes_too_long_ends_and_the_server_is_called_again() {
    let site = Site::start(&["modern"]);
    let runtime = builder(site.server().timeout(Duration::from_millis(300))).build().unwrap();
    let error = call(&runtime, "hang", json!({})).await.unwrap_err();
    assert!(error.contains("did not answer within 300ms"), "{error}");
    assert_eq!(echo(&runtime, "still there").await.unwrap(), "still there");
}

#[tokio::test]
async fn a_server_that_demands_authorization_is_an_error_that_names_the_settings() {
    let site = Site::start(&["modern", "protected"]);
    let error = site.server().connect().await.unwrap_err();
    assert!(matches!(error, McpError::Unauthorized { .. }));
    let text = "the MCP server `s` requires authorization: run `mcp login`, set `headers` in `.mcp.json`, or `bearer_token`, \
                `header` or `oauth` in code";
    assert_eq!(error.to_string(), text);
}

/// A user who logs in without a question, and keeps the addresses.
#[derive(Clone, Debug, Default)]
pub(super) struct Login(pub(super) Arc<Mutex<Vec<String>>>);

#[async_trait]
impl Authorizer for Login {
    async fn authorize(&self, url: &str) -> Result<String, BoxError> {
        self.0.lock().unwrap().push(url.to_owned());
        let browser = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build()?;
        let page = browser.get(url).send().await?;
        Ok(page.headers().get("location").ok_or("no redirect")?.to_str()?.to_owned())
    }
}

pub(super) fn oauth(login: &Login, folder: Option<PathBuf>) -> OAuth {
    let oauth = OAuth::new("http://localhost:1/callback", login.clone());
    match folder {
        Some(folder) => oauth.token_folder(folder),
        None => oauth,
    }
}

#[tokio::test]
async fn the_user_logs_in_once_at_the_authorization_server_of_the_server() {
    let site = Site::start(&["modern", "protected"]);
    let (login, folder) = (Login::default(), TempDir::new().unwrap());
    for _ in 0..2 {
        let server = site.server().oauth(oauth(&login, Some(folder.path().join("tokens"))));
        let runtime = builder(server).build().unwrap();
        assert_eq!(echo(&runtime, "hello").await.unwrap(), "hello");
    }
    let asked = login.0.lock().unwrap().clone();
    assert_eq!(asked.len(), 1, "the second runtime has the token of the first: {asked:?}");
    assert!(
        asked[0].starts_with(&format!("http://127.0.0.1:{}/authorize?", site.port))
            && asked[0].contains("code_challenge=")
    );
    let log = site.log().join("\n");
    assert!(log.contains("Bearer access-1"), "{log}");
}

/// A user who takes a while to log in.
#[derive(Debug)]
struct SlowLogin(Login);

#[async_trait]
impl Authorizer for SlowLogin {
    async fn authorize(&self, url: &str) -> Result<String, BoxError> {
        tokio::time::sleep(Duration::from_millis(500)).await;
        self.0.authorize(url).await
    }
}

#[tokio::test]
async fn calls_that_are_refused_concurrently_share_a_login_which_ends_no_other_call() {
    let site = Site::start(&["modern", "guarded=echo"]);
    let login = Login::default();
    let oauth = OAuth::new("http://localhost:1/callback", SlowLogin(login.clone()));
    let runtime = builder(site.server().oauth(oauth)).build().unwrap();
    let hang = call(&runtime, "hang", json!({ "text": "late" }));
    let (late, a, b) = tokio::join!(hang, echo(&runtime, "a"), echo(&runtime, "b"));
    assert_eq!([late, a, b], ["late", "a", "b"].map(|text| Ok(json!(text))));
    assert_eq!(login.0.lock().unwrap().len(), 1, "the user logs in once");
    let calls = site.log().iter().filter(|line| line.starts_with("tools/call")).count();
    assert_eq!(calls, 5, "two calls are refused, and nothing else is repeated: {:?}", site.log());
}

/// Returns how many threads of this process have a name.
#[cfg(target_os = "linux")]
fn threads(name: &str) -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    tasks.filter(|task| std::fs::read_to_string(task.path().join("comm")).is_ok_and(|comm| comm.trim() == name)).count()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_connection_that_is_dropped_during_a_login_ends() {
    /// A user who never comes back.
    #[derive(Debug)]
    struct Never(Arc<Notify>);

    #[async_trait]
    impl Authorizer for Never {
        async fn authorize(&self, _: &str) -> Result<String, BoxError> {
            self.0.notify_one();
            std::future::pending().await
        }
    }

    let site = Site::start(&["modern", "guarded=echo"]);
    let asked = Arc::new(Notify::new());
    let server = McpServer::http("forever", site.url());
    let server = server.oauth(OAuth::new("http://localhost:1/callback", Never(Arc::clone(&asked))));
    let runtime = builder(server).build().unwrap();
    let start = runtime.start_named("mcp__forever__echo", json!({ "text": "a" }));
    let run = tokio::spawn(async move { start.await });
    drop(runtime);
    asked.notified().await;
    assert_eq!(threads("mcp forever"), 1);
    let begun = Instant::now();
    run.abort();
    assert!(run.await.unwrap_err().is_cancelled());
    while threads("mcp forever") > 0 && begun.elapsed() < Duration::from_secs(10) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(begun.elapsed() < Duration::from_secs(2), "it took {:?}", begun.elapsed());
}

#[tokio::test]
async fn a_login_that_fails_is_an_error_of_the_connection() {
    #[derive(Debug)]
    struct Refusal;

    #[async_trait]
    impl Authorizer for Refusal {
        async fn authorize(&self, _: &str) -> Result<String, BoxError> {
            Err("not today".into())
        }
    }

    let site = Site::start(&["modern", "protected"]);
    let error = site.server().oauth(OAuth::new("http://localhost:1/callback", Refusal)).connect().await.unwrap_err();
    assert_eq!(error.to_string(), "cannot log in to the MCP server `s`: not today");
}

#[cfg(unix)]
#[tokio::test]
async fn a_server_on_a_unix_socket_is_called() {
    let folder = TempDir::new().unwrap();
    let socket = folder.path().join("s.sock");
    let flag = format!("socket={}", socket.display());
    let _site = Site::start(&["modern", &flag]);
    let server = McpServer::unix_socket("s", &socket, "http://localhost/mcp");
    let runtime = builder(server).build().unwrap();
    assert_eq!(echo(&runtime, "hello").await.unwrap(), "hello");
}
