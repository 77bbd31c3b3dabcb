//! Logins at MCP servers of a project. The server of the tests is its own authorization server, on loopback.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::{Answer, Place};

/// A server that demands a login, which ends with this.
struct Site {
    process: Child,
    url: String,
}

impl Site {
    fn start(flags: &[&str]) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/mcp/http_server.py");
        let mut command = Command::new("python3");
        command.arg(script).args(["modern", "log=/dev/null"]).args(flags);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { process, url: format!("http://127.0.0.1:{}/mcp", line.trim()) }
    }

    /// Returns a project that names the server.
    fn project(&self) -> Place {
        let servers = format!(
            r#"{{ "mcpServers": {{ "s": {{ "type": "http", "url": "{}" }}, "p": {{ "command": "false" }} }} }}"#,
            self.url
        );
        Place::new(&[(".mcp.json", &servers), ("main.worker", "---\nname: main\nmodel: echo:model\n---\nDo it.\n")])
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

impl Place {
    /// A command that finds no keyring of the user who runs the tests.
    fn without_keyring(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_stock"));
        command.args(arguments).env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent");
        command
    }

    /// Logs in as a user does, in a browser that agrees to everything.
    fn log_in(&self, options: &[&str]) -> Answer {
        self.log_in_after(options, |_| ())
    }

    /// Logs in after something that happens to the port of the redirect meanwhile.
    fn log_in_after(&self, options: &[&str], meanwhile: impl FnOnce(u16)) -> Answer {
        let mut program = self
            .without_keyring(&[&["mcp", "login", "s", "--no-browser", "--trust-project"], options].concat())
            .spawn()
            .unwrap();
        let mut errors = BufReader::new(program.stderr.take().unwrap());
        let mut err = String::new();
        while !err.contains("\nhttp") {
            assert_ne!(errors.read_line(&mut err).unwrap(), 0, "{err}");
        }
        let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let url = err.lines().last().unwrap().to_owned();
        let parsed: reqwest::Url = url.parse().unwrap();
        let redirect = parsed.query_pairs().find(|(name, _)| name == "redirect_uri").unwrap().1.into_owned();
        meanwhile(redirect.parse::<reqwest::Url>().unwrap().port().unwrap());
        let page = tokio.block_on(async { reqwest::get(url).await.unwrap().text().await.unwrap() });
        assert!(page.contains("The login "), "{page}");
        errors.read_to_string(&mut err).unwrap();
        let output = program.wait_with_output().unwrap();
        Answer { code: output.status.code(), out: String::from_utf8(output.stdout).unwrap(), err }
    }

    /// Calls a tool of the server. The other server is not there.
    fn echo(&self) -> Answer {
        let servers = self.read(".mcp.json").replace(r#", "p": { "command": "false" }"#, "");
        self.write(".mcp.json", &servers);
        let call = ["call", "mcp__s__echo", "--text", "hello", "--trust-project", "--approve-all"];
        Self::answer(&mut self.without_keyring(&call), "")
    }

    /// Returns the files of tokens.
    fn tokens(&self) -> Vec<PathBuf> {
        let folder = std::fs::read_dir(self.state.path().join("llm-do/mcp-tokens"));
        folder.into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
    }
}

#[test]
fn a_login_in_the_browser_serves_later_commands_until_the_logout() {
    let site = Site::start(&["protected"]);
    let place = site.project();
    place.echo().fails(2, "log in first, with `mcp login` of the command line");
    let answer = place.log_in(&["--file"]);
    assert!(!answer.err.contains("access-1"), "secrets are not printed: {}", answer.err);
    assert_eq!(answer.output(), "logged in at the MCP server `s`\n");
    let files = place.tokens();
    assert_eq!(files.len(), 1);
    #[cfg(unix)]
    {
        let permissions = std::fs::metadata(&files[0]).unwrap().permissions();
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&permissions) & 0o777, 0o600);
    }
    assert_eq!(place.echo().output(), "hello\n");
    let out = Place::answer(&mut place.without_keyring(&["mcp", "logout", "s"]), "").output();
    assert_eq!(out, "the tokens of the MCP server `s` are removed\n");
    assert!(place.tokens().is_empty());
    place.echo().fails(2, "log in first");
    let out = Place::answer(&mut place.without_keyring(&["mcp", "logout", "s"]), "").output();
    assert_eq!(out, "the tokens of the MCP server `s` were not kept\n");
}

#[test]
fn tokens_are_refreshed_between_commands() {
    let site = Site::start(&["protected", "short"]);
    let place = site.project();
    place.log_in(&["--file"]).output();
    for _ in 0..2 {
        // The tokens are valid for a second.
        std::thread::sleep(std::time::Duration::from_millis(1100));
        assert_eq!(place.echo().output(), "hello\n");
    }
    let kept = std::fs::read_to_string(&place.tokens()[0]).unwrap();
    assert!(!kept.contains("\"access-1\"") && kept.contains("\"access-"), "the newest token is kept");
}

#[cfg(target_os = "linux")]
#[test]
fn without_a_keyring_the_user_learns_that_the_tokens_are_in_a_file() {
    let site = Site::start(&["protected"]);
    let place = site.project();
    let answer = place.log_in(&[]);
    let note = "note: the keyring of the system cannot be used, so the tokens are in ";
    assert!(answer.err.contains(note), "{}", answer.err);
    answer.output();
    assert_eq!(place.tokens().len(), 1);
    assert_eq!(place.echo().output(), "hello\n");
}

#[test]
fn a_login_that_is_not_possible_is_an_error_with_the_reason() {
    let site = Site::start(&[]);
    let place = site.project();
    let run = |server: &str| {
        Place::answer(&mut place.without_keyring(&["mcp", "login", server, "--no-browser", "--trust-project"]), "")
    };
    assert_eq!(run("s").output(), "the MCP server `s` needs no login\n");
    run("p").fails(2, "`p` is a program: only servers at a URL have a login");
    run("other").fails(2, "unknown MCP server `other`: s, p");
}

/// Sends a request to the port of a redirect; returns the answer.
fn sent(port: u16, request: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(format!("{request} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn requests_that_are_not_the_answer_to_the_login_do_not_end_it() {
    let site = Site::start(&["protected"]);
    let place = site.project();
    let answer = place.log_in_after(&["--file"], |port| {
        for (request, status) in [
            ("GET /callback?code=evil&state=wrong", "400"),
            ("GET /callback?code=evil", "400"),
            ("GET /callback?code=evil&state=", "400"),
            ("GET /callback?error=access_denied&error_description=no", "400"),
            ("GET /callback", "400"),
            ("GET /callback/?code=evil&state=wrong", "404"),
            ("GET /other?code=evil&state=wrong", "404"),
            ("POST /callback?code=evil&state=wrong", "405"),
            ("GET /favicon.ico", "404"),
        ] {
            let answer = sent(port, request);
            assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{request}: {answer}");
            assert!(!answer.contains("complete"), "{answer}");
        }
        // Connections that send nothing.
        let silent: Vec<_> = (0..200).map(|_| TcpStream::connect(("127.0.0.1", port)).unwrap()).collect();
        assert!(sent(port, "GET /other").starts_with("HTTP/1.1 404"));
        std::mem::forget(silent);
    });
    assert_eq!(answer.output(), "logged in at the MCP server `s`\n");
}

#[test]
fn a_login_that_would_go_elsewhere_is_refused_with_the_reason() {
    for (flag, reason) in [
        ("challenge=https://evil.example.com/meta", "metadata of another origin, https://evil.example.com"),
        ("challenge=http://127.0.0.1:1/meta", "metadata of another origin, http://127.0.0.1:1"),
        (r#"metadata={"token_endpoint": "https://10.0.0.1/token"}"#, "`token_endpoint`"),
        (r#"metadata={"registration_endpoint": "https://169.254.169.254/x"}"#, "`registration_endpoint`"),
        (r#"metadata={"authorization_endpoint": "http://login.example.com/a"}"#, "needs `https`"),
        (r#"metadata={"authorization_endpoint": "file:///etc/passwd"}"#, "`authorization_endpoint`"),
        (r#"metadata={"issuer": "https://login.example.com"}"#, "issuer"),
        (r#"metadata={"code_challenge_methods_supported": ["plain"]}"#, "PKCE"),
        (r#"metadata={"code_challenge_methods_supported": null}"#, "PKCE"),
    ] {
        let site = Site::start(&["protected", flag]);
        let place = site.project();
        let answer = Place::answer(
            &mut place.without_keyring(&["mcp", "login", "s", "--no-browser", "--file", "--trust-project"]),
            "",
        );
        answer.fails(1, reason);
        assert!(place.tokens().is_empty(), "{flag}");
    }
}

#[test]
fn a_login_that_the_user_or_another_server_answers_otherwise_fails_with_the_reason() {
    for (metadata, answer, reason) in [
        (
            "{}",
            r#"{"error": "access_denied", "error_description": "not \u001b[31myou"}"#,
            "refused the login: access_denied: not ",
        ),
        ("{}", r#"{"iss": "https://evil.example.com"}"#, "issuer"),
        (r#"{"authorization_response_iss_parameter_supported": true}"#, "{}", "issuer"),
    ] {
        let (metadata, answer) = (format!("metadata={metadata}"), format!("answer={answer}"));
        let site = Site::start(&["protected", &metadata, &answer]);
        let place = site.project();
        let answer = place.log_in(&["--file"]);
        assert!(!answer.err.contains('\u{1b}'), "{}", answer.err);
        answer.fails(1, reason);
        assert!(place.tokens().is_empty(), "{reason}");
    }
}
