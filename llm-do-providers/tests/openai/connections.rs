//! When connections are made and given up.

use std::future::pending;
use std::thread;
use std::time::Duration;

use futures_util::StreamExt;
use llm_do_providers::{Message, Model, OpenAiModel, Request, Settings, StreamEvent};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use crate::server::{Reply, Server};
use crate::{model, whole};

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

#[tokio::test]
async fn a_dropped_stream_hangs_up() {
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
        // What is left of the request, and then the end that the hang-up brings.
        _ = stream.read_to_end(&mut Vec::new()).await;
    };
    timeout(Duration::from_secs(5), async { tokio::join!(asking, answering) }).await.unwrap();
}
