//! Opening and closing of connections.

use std::future::pending;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use futures_util::StreamExt;
use llm_do_providers::{Message, Model, OpenAiModel, Request, Settings, StreamEvent};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Notify, oneshot};
use tokio::task::yield_now;
use tokio::time::timeout;

use crate::openai::model;
use crate::question::whole;
use crate::server::{Reply, Server, receive};

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

#[test]
fn a_connection_kept_by_one_runtime_does_not_fail_the_next() {
    let body = json!({"choices": [{"message": {"content": "fine"}, "finish_reason": "stop"}]}).to_string();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
    let kept = Reply::default().raw(&head).raw(&body).stall();
    let serving = runtime();
    let server = serving.block_on(Server::scripted([kept.clone(), kept]));
    thread::spawn(move || serving.block_on(pending::<()>()));
    let model = model(&server).retries(0).build().unwrap();
    for _ in 0..2 {
        assert_eq!(runtime().block_on(whole(&model)).unwrap().text(), "fine");
    }
    assert_eq!(server.requests().len(), 2);
}

/// A model of a server that accepts two connections and no third; its streams end on request.
fn kept_model() -> (Arc<OpenAiModel>, Arc<Notify>) {
    let go_on = Arc::new(Notify::new());
    let told = Arc::clone(&go_on);
    let serving = runtime();
    let listener = serving.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    thread::spawn(move || {
        serving.block_on(async {
            for _ in 0..2 {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(keep(stream, Arc::clone(&told)));
            }
            pending::<()>().await;
        });
    });
    let limit = Duration::from_secs(5);
    let model = OpenAiModel::builder("m").base_url(base_url).idle_timeout(limit).timeout(limit).retries(0);
    (Arc::new(model.build().unwrap()), go_on)
}

/// Answers the requests of a connection until it is closed.
async fn keep(mut stream: TcpStream, go_on: Arc<Notify>) {
    let piece = |content: &str, finish: &str| {
        let json = json!({"choices": [{"delta": {"content": content}, "finish_reason": finish}]});
        let event = format!("data: {json}\n\n");
        format!("{:x}\r\n{event}\r\n", event.len())
    };
    while stream.peek(&mut [0]).await.is_ok_and(|more| more > 0) {
        if receive(&mut stream).await.body["stream"] == true {
            let begin = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{}", piece("a", ""));
            stream.write_all(begin.as_bytes()).await.unwrap();
            go_on.notified().await;
            let end = format!("{}0\r\n\r\n", piece("b", "stop"));
            stream.write_all(end.as_bytes()).await.unwrap();
        } else {
            let body = json!({"choices": [{"message": {"content": "fine"}, "finish_reason": "stop"}]}).to_string();
            let reply = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            stream.write_all(reply.as_bytes()).await.unwrap();
        }
    }
}

/// Sends a request and returns the connection to the pool.
async fn ask_and_keep(model: &OpenAiModel) {
    assert_eq!(whole(model).await.unwrap().text(), "fine");
    for _ in 0..100 {
        yield_now().await;
    }
}

#[test]
fn a_dropped_runtime_does_not_break_answers_of_another() {
    let (model, go_on) = kept_model();
    let (end, ended) = oneshot::channel::<()>();
    let (asked, first_asked) = mpsc::channel();
    let first_model = Arc::clone(&model);
    let first = thread::spawn(move || {
        runtime().block_on(async {
            ask_and_keep(&first_model).await;
            asked.send(()).unwrap();
            _ = ended.await;
        });
    });
    first_asked.recv().unwrap();
    runtime().block_on(async {
        let (messages, settings) = ([Message::user("hi")], Settings::default());
        let mut stream = model.stream(Request::new(&messages, &settings)).await.unwrap();
        assert_eq!(stream.next().await.unwrap().unwrap(), StreamEvent::Text("a".into()));
        end.send(()).unwrap();
        first.join().unwrap();
        go_on.notify_one();
        assert_eq!(stream.next().await.unwrap().unwrap(), StreamEvent::Text("b".into()));
        assert!(matches!(stream.next().await, Some(Ok(StreamEvent::Done(_)))));
    });
}

#[test]
fn an_idle_runtime_does_not_block_requests_of_another() {
    let (model, _) = kept_model();
    let idle = runtime();
    idle.block_on(ask_and_keep(&model));
    assert_eq!(runtime().block_on(whole(&model)).unwrap().text(), "fine");
}

#[test]
fn alternating_runtimes_each_keep_their_connection() {
    let (model, _) = kept_model();
    let runtimes = [runtime(), runtime()];
    for _ in 0..3 {
        for runtime in &runtimes {
            runtime.block_on(ask_and_keep(&model));
        }
    }
}

#[tokio::test]
async fn a_dropped_stream_closes_its_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    let asking = async {
        let (messages, settings) = ([Message::user("hi")], Settings::default());
        let model = OpenAiModel::builder("m").base_url(base_url).build().unwrap();
        let mut stream = model.stream(Request::new(&messages, &settings)).await.unwrap();
        assert_eq!(stream.next().await.unwrap().unwrap(), StreamEvent::Text("a".into()));
    };
    let answering = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.read_buf(&mut Vec::new()).await.unwrap();
        let piece = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
        let reply = format!("HTTP/1.1 200 OK\r\n\r\n{piece}");
        stream.write_all(reply.as_bytes()).await.unwrap();
        // The rest of the request, and then the end caused by closing.
        _ = stream.read_to_end(&mut Vec::new()).await;
    };
    timeout(Duration::from_secs(5), async { tokio::join!(asking, answering) }).await.unwrap();
}
