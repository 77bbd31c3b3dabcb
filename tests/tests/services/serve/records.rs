//! The records of runs over HTTP, for those who learn from them.

use llm_do::journal::{Record, SqliteJournal};
use llm_do::serve::{Client, Role};

use super::*;

const ANN: &str = "ann-0123456789abcdef";
const BOB: &str = "bob-0123456789abcdef";
const ADMIN: &str = "admin-0123456789abcd";

async fn read(server: &Server, id: &str) -> Vec<Record> {
    let response = server.request(Method::GET, &format!("/runs/{id}/records")).send().await.unwrap();
    assert_eq!(
        (response.status(), &response.headers()["content-type"]),
        (StatusCode::OK, &"application/jsonl".parse().unwrap())
    );
    response.text().await.unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_records_of_a_run_are_those_of_its_journal() {
    let setup = Setup::new();
    let server = setup.serve().await;
    let id = server.start("try_it", json!({})).await;
    server.reaches(&id, "succeeded").await;
    let records = read(&server, &id).await;
    server.stop().await;
    let journal = SqliteJournal::open(setup.folder.path().join("runs.db")).unwrap();
    let stored = journal.records(&id).await.unwrap();
    assert!(records.len() >= 3, "{records:?}");
    assert_eq!(records, stored);
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_are_listed_by_tenant_version_and_time() {
    let client = |name: &str, token| Client::new(name.to_owned(), token).unwrap();
    let clients = |service: Service| {
        let own = |client: Client| client.role(Role::Start).role(Role::Watch);
        let admin = client("admin", ADMIN).role(Role::Administer);
        [own(client("ann", ANN)), own(client("bob", BOB)), admin].into_iter().fold(service, Service::client)
    };
    let server = Setup::new().serve_with(clients).await;
    let body = json!({ "entry": "greet", "arguments": { "name": "Ann" } });
    let started = server.request(Method::POST, "/runs").bearer_auth(ANN).json(&body).send().await.unwrap();
    let run = json_of(started).await;
    let version = run["version"].as_str().unwrap();
    let count = async |token: &str, query: &str| {
        let request = server.request(Method::GET, &format!("/runs?{query}")).bearer_auth(token);
        json_of(request.send().await.unwrap()).await["runs"].as_array().unwrap().len()
    };
    assert_eq!(count(ADMIN, "tenant=ann").await, 1);
    assert_eq!(count(ADMIN, "tenant=bob").await, 0);
    assert_eq!(count(BOB, "tenant=ann").await, 0, "it is not Bob's");
    assert_eq!(count(ANN, &format!("version={version}")).await, 1);
    assert_eq!(count(ANN, "version=0.0.0-other").await, 0);
    assert_eq!(count(ANN, "until=2026-11-25T08:00:00Z").await, 0);
    assert_eq!(count(ANN, "until=2026-11-25T08:00:01Z").await, 1);
    server.stop().await;
}
