//! What belongs to one client, asked for by another with every role below that of an administrator, at every route.

use std::collections::BTreeMap;

use llm_do::serve::{Client, Role, Webhook};

use super::*;

const OWNER: &str = "owner-0123456789abcdef";
const ROLES: [Role; 3] = [Role::Start, Role::Watch, Role::Decide];

/// What a route gives to those who have its role.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Gives {
    /// What belongs to the tenant of the id in the path.
    Owned(Id),
    /// A list of what belongs to the tenant of the client.
    Listed,
    /// Something new, for the tenant of the client.
    New,
    /// The same to all: nothing of a tenant.
    Same,
    /// The same to all, without a token.
    Public,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Id {
    Run,
    Approval,
    Question,
    Chat,
}

/// The routes: what they give, to whom, and a valid body. A new route needs a row.
fn rows() -> Vec<(&'static str, Gives, Vec<Role>, Value)> {
    let (start, watch, decide) = (|| vec![Role::Start], || vec![Role::Watch], || vec![Role::Decide]);
    let answer = json!({ "digest": "DIGEST", "answer": "Eve" });
    let decision = json!({ "digest": "DIGEST", "decision": "approve" });
    vec![
        ("get /runs", Gives::Listed, watch(), Value::Null),
        ("post /runs", Gives::New, start(), json!({ "entry": "greet", "arguments": { "name": "a" } })),
        ("get /runs/{id}", Gives::Owned(Id::Run), watch(), Value::Null),
        ("post /runs/{id}/cancel", Gives::Owned(Id::Run), start(), Value::Null),
        ("post /runs/{id}/resume", Gives::Owned(Id::Run), start(), Value::Null),
        ("post /runs/{id}/settle", Gives::Owned(Id::Run), decide(), json!({ "step": "a", "outcome": "not_done" })),
        ("post /runs/{id}/messages", Gives::Owned(Id::Run), start(), json!({ "message": "Quickly." })),
        ("get /runs/{id}/records", Gives::Owned(Id::Run), watch(), Value::Null),
        ("get /runs/{id}/events", Gives::Owned(Id::Run), watch(), Value::Null),
        ("get /approvals", Gives::Listed, watch(), Value::Null),
        ("get /approvals/{id}", Gives::Owned(Id::Approval), watch(), Value::Null),
        ("post /approvals/{id}", Gives::Owned(Id::Approval), decide(), decision),
        ("get /questions", Gives::Listed, watch(), Value::Null),
        ("get /questions/{id}", Gives::Owned(Id::Question), watch(), Value::Null),
        ("post /questions/{id}", Gives::Owned(Id::Question), decide(), answer),
        ("get /chats", Gives::Listed, watch(), Value::Null),
        ("post /chats", Gives::New, start(), json!({ "entry": "meet" })),
        ("get /chats/{id}", Gives::Owned(Id::Chat), watch(), Value::Null),
        ("post /chats/{id}/messages", Gives::Owned(Id::Chat), start(), json!({ "arguments": {} })),
        ("get /entries", Gives::Same, vec![Role::Start, Role::Watch], Value::Null),
        ("get /hybrids", Gives::Same, vec![Role::Administer], Value::Null),
        ("get /metrics", Gives::Same, vec![Role::Administer], Value::Null),
        ("post /webhooks/{name}", Gives::Public, Vec::new(), json!({ "name": "Eve" })),
        ("get /health", Gives::Public, Vec::new(), Value::Null),
        ("get /ready", Gives::Public, Vec::new(), Value::Null),
    ]
}

/// A client with some of the roles, in the tenant of the owner or in one of its own.
struct Other {
    token: String,
    roles: Vec<Role>,
    is_of_tenant: bool,
}

fn other_clients() -> Vec<Other> {
    let subsets =
        (0..8_u8).map(|bits| (0..3).filter(|at| bits & (1 << at) != 0).map(|at| ROLES[at]).collect::<Vec<_>>());
    let clients = subsets.enumerate().flat_map(|(at, roles)| {
        [false, true].map(|is_of_tenant| Other {
            token: format!("other-{at}-{is_of_tenant}-0123456789"),
            roles: roles.clone(),
            is_of_tenant,
        })
    });
    clients.collect()
}

fn clients(service: Service) -> Service {
    let owner = ROLES.into_iter().fold(Client::new("owner", OWNER).unwrap(), Client::role).tenant("web");
    let service = service.client(owner).webhook(Webhook::new("hook", "0123456789abcdef", "greet").unwrap());
    other_clients().into_iter().fold(service, |service, other| {
        let client = Client::new(other.token.clone(), &other.token).unwrap();
        let client = other.roles.into_iter().fold(client, Client::role);
        service.client(if other.is_of_tenant { client.tenant("web") } else { client })
    })
}

async fn send(server: &Server, row: &str, path: &str, token: &str, body: &Value) -> (StatusCode, Value) {
    let method = Method::from_bytes(row.split(' ').next().unwrap().to_uppercase().as_bytes()).unwrap();
    let request = server.request(method, path).bearer_auth(token);
    let request = if body.is_null() { request } else { request.json(body) };
    let response = request.send().await.unwrap();
    let status = response.status();
    if response.headers().get("content-type").is_some_and(|media| media == "text/event-stream") {
        return (status, Value::Null);
    }
    let text = response.text().await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

/// Returns what waits at a path, for its owner.
async fn waiting(server: &Server, path: &str) -> Value {
    loop {
        let list = send(server, "get", path, OWNER, &Value::Null).await.1;
        if let Some(shown) = list["waiting"].as_array().and_then(|waiting| waiting.first()) {
            return shown.clone();
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// What the owner has: ids, and digests of what waits.
async fn owned(server: &Server) -> BTreeMap<&'static str, (String, String)> {
    let text = |value: &Value, field: &str| value[field].as_str().unwrap_or_default().to_owned();
    let start = async |entry: &str, arguments: Value| {
        let body = json!({ "entry": entry, "arguments": arguments });
        send(server, "post", "/runs", OWNER, &body).await.1
    };
    let run = start("write_lines", json!({ "lines": ["a"] })).await;
    start("meet", json!({})).await;
    let (approval, question) = (waiting(server, "/approvals").await, waiting(server, "/questions").await);
    let chat = send(server, "post", "/chats", OWNER, &json!({ "entry": "meet" })).await.1;
    let pair = |value: &Value| (text(value, "id"), text(value, "digest"));
    BTreeMap::from([
        ("Run", pair(&run)),
        ("Approval", pair(&approval)),
        ("Question", pair(&question)),
        ("Chat", pair(&chat)),
    ])
}

#[tokio::test(flavor = "multi_thread")]
async fn each_route_of_the_service_is_in_the_table_and_in_the_description() {
    let server = Setup::new().serve().await;
    let document = server.get("/openapi.json").await;
    let described = document["paths"].as_object().unwrap().iter();
    let described = described
        .flat_map(|(path, methods)| methods.as_object().unwrap().keys().map(move |method| format!("{method} {path}")));
    let mut described: Vec<_> = described.collect();
    let mut rows: Vec<_> = rows().into_iter().map(|row| row.0.to_owned()).collect();
    described.sort_unstable();
    rows.sort_unstable();
    assert_eq!(described, rows, "a route has no row in `rows`, or a row has no route");
    let router = include_str!("../../../../llm-do/serve/src/http.rs");
    for route in router.split(".route(").skip(1) {
        let path = route.split('"').nth(1).unwrap();
        let is_description = path == "/openapi.json";
        assert!(
            is_description || rows.iter().any(|row| row.ends_with(&format!(" {path}"))),
            "`{path}` is not described"
        );
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn at_each_route_what_belongs_to_another_tenant_does_not_exist_and_roles_hold() {
    let setup = Setup::new();
    let server = setup.serve_with(clients).await;
    let owned = owned(&server).await;
    let none = &("0198".to_owned(), String::new());
    for (row, gives, roles, body) in rows() {
        let path = row.split(' ').nth(1).unwrap();
        let (id, digest) = match gives {
            Gives::Owned(id) => &owned[&*format!("{id:?}")],
            _ => none,
        };
        let body = serde_json::from_str(&body.to_string().replace("DIGEST", digest)).unwrap();
        for Other { token, roles: own, is_of_tenant } in other_clients() {
            let shown = format!("{row} by {own:?}, of the same tenant: {is_of_tenant}");
            let may = roles.is_empty() || own.iter().any(|role| roles.contains(role));
            if may && is_of_tenant && matches!(gives, Gives::Owned(_)) && row.starts_with("post") {
                continue;
            }
            let (status, answer) =
                send(&server, row, &path.replace("{id}", id).replace("{name}", "hook"), &token, &body).await;
            match gives {
                Gives::Public if path.starts_with("/webhooks") => {
                    assert_eq!(status, StatusCode::UNAUTHORIZED, "{shown}");
                }
                _ if !may => assert_eq!(status, StatusCode::FORBIDDEN, "{shown}"),
                Gives::Owned(_) if !is_of_tenant => {
                    assert_eq!(status, StatusCode::NOT_FOUND, "{shown}");
                    let guessed = send(&server, row, &path.replace("{id}", "0198"), &token, &body).await;
                    assert_eq!((status, answer), guessed, "{shown}");
                }
                Gives::Listed if !is_of_tenant => {
                    // A client may have started a run of its own at another row.
                    let text = answer.to_string();
                    assert!(status.is_success() && !owned.values().any(|(id, _)| text.contains(id)), "{shown}: {text}");
                }
                _ => assert!(status.is_success(), "{shown}: {status} {answer}"),
            }
        }
    }
    for kind in ["Run", "Chat"] {
        let path = format!("/{}s/{}", kind.to_lowercase(), owned[kind].0);
        assert_eq!(send(&server, "get", &path, OWNER, &Value::Null).await.0, StatusCode::OK);
    }
    assert_eq!(waiting(&server, "/approvals").await["id"], owned["Approval"].0.as_str());
    assert_eq!(waiting(&server, "/questions").await["id"], owned["Question"].0.as_str());
    assert!(setup.lines.all().is_empty());
    server.stop().await;
}

#[tokio::test]
async fn a_secret_that_two_webhooks_have_is_refused_in_each_form() {
    let raw = "0123456789abcdef";
    let long = "long-secret-".repeat(8);
    // Of SHA-256, in Base64.
    let digest = "/6mmdrA4jeOreZHWL7V1CmfhcN2xvKzR7kDFrJGMWvw=";
    for (one, other) in [
        (raw.to_owned(), raw.to_owned()),
        // The same bytes, in Base64.
        (raw.to_owned(), "whsec_MDEyMzQ1Njc4OWFiY2RlZg==".to_owned()),
        // The same key: shorter ones are filled up with zeros, longer ones are hashed.
        (raw.to_owned(), format!("{raw}\0")),
        (long.clone(), format!("whsec_{digest}")),
    ] {
        let setup = Setup::new();
        let hook = |name: &'static str, secret: &str| Webhook::new(name, secret, "greet").unwrap();
        let service = setup.service().webhook(hook("orders", &one)).webhook(hook("other", "another-secret-of-16"));
        let service = service.webhook(hook("payments", &other));
        let error = service.open(setup.folder.path().join("runs.db")).await.unwrap_err().to_string();
        assert!(error.contains("the webhooks `orders` and `payments` have the same secret"), "{error}");
        assert!(!error.contains(&one) && !error.contains(&other), "{error}");
    }
}

#[tokio::test]
async fn a_secret_that_a_webhook_and_a_client_have_is_refused_in_each_form() {
    for (token, secret) in [
        ("0123456789abcdef", "0123456789abcdef"),
        ("0123456789abcdef", "whsec_MDEyMzQ1Njc4OWFiY2RlZg=="),
        ("MDEyMzQ1Njc4OWFiY2RlZg==", "whsec_MDEyMzQ1Njc4OWFiY2RlZg=="),
        ("whsec_MDEyMzQ1Njc4OWFiY2RlZg==", "whsec_MDEyMzQ1Njc4OWFiY2RlZg=="),
    ] {
        let setup = Setup::new();
        // `_` is not a character of tokens.
        let Ok(client) = Client::new("ann", token) else { continue };
        let service = setup.service().client(client).webhook(Webhook::new("hook", secret, "greet").unwrap());
        let error = service.open(setup.folder.path().join("runs.db")).await.unwrap_err().to_string();
        assert!(error.contains("the token of the client `ann` is the secret of the webhook `hook`"), "{error}");
        assert!(!error.contains(token), "{error}");
    }
}
