//! TLS and HTTP/2, against a server with its own certificate.
//!
//! Trusted certificates are read from the environment once per process, so each client is this test program again, as
//! a child process: the test for which [`URL`] is set.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;

use bytes::Bytes;
use h2::server::SendResponse;
use llm_do_providers::{ErrorKind, Message, Model, OpenAiModel, ProviderError, Request, Response, Settings};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;
use tokio::sync::Barrier;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

/// The URL of the server, for a client process.
const URL: &str = "LLM_DO_TEST_URL";
/// The number of concurrent requests.
const CONCURRENT: usize = 3;

#[tokio::test]
async fn concurrent_requests_share_an_http_2_connection() {
    if let Ok(url) = env::var(URL) {
        let model = model(&url);
        let answers = tokio::join!(ask(&model), ask(&model), ask(&model));
        for answer in [answers.0, answers.1, answers.2] {
            assert_eq!(answer.unwrap().text(), "fine");
        }
        return;
    }
    let (authority, acceptor) = server();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://localhost:{}/v1", listener.local_addr().unwrap().port());
    let trusted = Trusted::new(&authority);
    let serving = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        serve(&acceptor, stream).await;
        listener
    });
    let name = "concurrent_requests_share_an_http_2_connection";
    let output = client(name, &url, Some(&trusted.0)).await;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    serving.await.unwrap();
}

#[tokio::test]
async fn an_untrusted_server_is_rejected() {
    if let Ok(url) = env::var(URL) {
        let error = ask(&model(&url)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Transport, "{error}");
        return;
    }
    let (_, acceptor) = server();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://localhost:{}/v1", listener.local_addr().unwrap().port());
    let serving = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        acceptor.accept(stream).await.map(drop)
    });
    let output = client("an_untrusted_server_is_rejected", &url, None).await;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let rejected = serving.await.unwrap().unwrap_err().to_string();
    assert!(rejected.contains("UnknownCA"), "{rejected}");
}

/// A file with the trusted certificate, deleted on drop.
struct Trusted(PathBuf);

impl Trusted {
    fn new(authority: &str) -> Self {
        let file = env::temp_dir().join(format!("llm-do-tls-{}.pem", std::process::id()));
        std::fs::write(&file, authority).unwrap();
        Self(file)
    }
}

impl Drop for Trusted {
    fn drop(&mut self) {
        _ = std::fs::remove_file(&self.0);
    }
}

/// Runs the test `name` as a client of the server at `url`.
async fn client(name: &str, url: &str, trusted: Option<&Path>) -> Output {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", &format!("tls::{name}"), "--nocapture"]).env(URL, url).kill_on_drop(true);
    if let Some(file) = trusted {
        command.env("SSL_CERT_FILE", file);
    }
    command.output().await.unwrap()
}

fn model(url: &str) -> OpenAiModel {
    OpenAiModel::builder("m").base_url(url).retries(0).build().unwrap()
}

async fn ask(model: &OpenAiModel) -> Result<Response, ProviderError> {
    let (messages, settings) = ([Message::user("hello")], Settings::default());
    model.request(Request::new(&messages, &settings)).await
}

/// Returns the certificate of an authority, and a server with a certificate signed by it, which supports only HTTP/2.
fn server() -> (String, TlsAcceptor) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let leaf = CertificateParams::new(["localhost".to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = ServerConfig::builder().with_no_client_auth();
    let mut config = config.with_single_cert(vec![leaf.der().clone()], key).unwrap();
    config.alpn_protocols = vec![b"h2".to_vec()];
    (authority.pem(), TlsAcceptor::from(Arc::new(config)))
}

/// Answers requests once all of them have arrived.
async fn serve(acceptor: &TlsAcceptor, stream: TcpStream) {
    let stream = acceptor.accept(stream).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let mut connection = h2::server::handshake(stream).await.unwrap();
    let all = Arc::new(Barrier::new(CONCURRENT));
    while let Some(Ok((request, respond))) = connection.accept().await {
        assert_eq!(request.uri().path(), "/v1/chat/completions");
        let all = Arc::clone(&all);
        tokio::spawn(async move {
            all.wait().await;
            answer(respond);
        });
    }
}

fn answer(mut respond: SendResponse<Bytes>) {
    let body = r#"{"choices":[{"message":{"content":"fine"},"finish_reason":"stop"}]}"#;
    let mut stream = respond.send_response(http::Response::new(()), false).unwrap();
    stream.send_data(Bytes::from_static(body.as_bytes()), true).unwrap();
}
