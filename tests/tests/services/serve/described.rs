//! The service describes itself.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn each_path_of_the_description_exists_and_each_reference_in_it_leads_somewhere() {
    let server = Setup::new().serve().await;
    let document = server.get("/openapi.json").await;
    assert_eq!(document["openapi"], "3.1.0");
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            let request = server.request(method.clone(), &path.replace(['{', '}'], "")).json(&json!({}));
            let problem = json_or_text(request.send().await.unwrap()).await;
            let unknown = ["unknown_path", "wrong_method"].map(|code| json!(format!("urn:llm-do:problem:{code}")));
            assert!(!unknown.contains(&problem["type"]), "{method} {path}: {problem}");
            assert!(operation["summary"].is_string(), "{path}");
        }
    }
    for reference in references(&document) {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
    let schemas = document["components"]["schemas"].as_object().unwrap();
    for (name, schema) in schemas {
        let properties = schema["properties"].as_object().into_iter().flatten();
        for (property, schema) in properties {
            assert!(schema.is_object() && !schema["items"].is_boolean(), "{name}.{property}: {schema}");
        }
    }
    assert!(!document.to_string().contains("[`"), "links that only rustdoc resolves: {document}");
    server.stop().await;
}

async fn json_or_text(response: Response) -> Value {
    let text = response.text().await.unwrap();
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}

fn references(value: &Value) -> Vec<&str> {
    match value {
        Value::Object(object) => {
            let own = object.get("$ref").and_then(Value::as_str);
            own.into_iter().chain(object.values().flat_map(references)).collect()
        }
        Value::Array(items) => items.iter().flat_map(references).collect(),
        _ => Vec::new(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn entries_are_listed_with_the_schemas_of_their_arguments() {
    let server = Setup::new().serve().await;
    let list = server.get("/entries").await;
    let entries = list["entries"].as_array().unwrap();
    let greet = entries.iter().find(|entry| entry["name"] == "greet").unwrap();
    assert_eq!(greet["description"], "Greet a person.");
    assert_eq!(greet["parameters"]["required"], json!(["name"]));
    assert!(entries.iter().all(|entry| entry["name"] != "write_line"), "tools are not offered");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_figures_count_runs_and_what_waits() {
    let server = Setup::new().serve().await;
    let id = server.start("greet", json!({ "name": "Ann" })).await;
    server.reaches(&id, "succeeded").await;
    server.start("meet", json!({})).await;
    server.waiting("/questions").await;
    let text = server.request(Method::GET, "/metrics").send().await.unwrap().text().await.unwrap();
    for line in
        ["llm_do_runs{state=\"succeeded\"} 1", "llm_do_waits 1", "llm_do_finished_runs_total{state=\"succeeded\"} 1"]
    {
        assert!(text.lines().any(|known| known == line), "{line}: {text}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_cannot_work_is_an_error_with_the_reason() {
    let setup = Setup::new();
    let error = setup.service().entries(["gret"]).unwrap_err().to_string();
    assert_eq!(error, "unknown entry, tool or worker `gret`; did you mean `greet`?");
    std::fs::write(setup.folder.path().join("runs.db"), "not a database, but a text that is longer than its header")
        .unwrap();
    let error = setup.service().open(setup.folder.path().join("runs.db")).await.unwrap_err();
    assert!(llm_do::error::chain(&error).contains("runs.db"), "{}", llm_do::error::chain(&error));
}

#[test]
fn each_fault_of_a_service_file_is_named_with_its_place() {
    let setup = Setup::new();
    let path = setup.folder.path().join("service.json");
    let client = |fields: &str| format!(r#"{{"clients": [{{"name": "a", "roles": [], {fields}}}]}}"#);
    for (text, fault) in [
        ("{".to_owned(), "EOF while parsing"),
        (r#"{"client": []}"#.to_owned(), "unknown field `client`"),
        (client(r#""token": "secret""#), "`clients[0].token`"),
        (client(r#""token": {"env": "LLM_DO_TEST_NO_SUCH"}"#), "`LLM_DO_TEST_NO_SUCH` is not set"),
        (client(r#""token": {"file": "missing"}"#), "cannot read"),
        (client(r#""token": {"file": "t"}, "roles": ["boss"]"#), "roles"),
        (r#"{"schedules": [{"name": "s", "cron": "x", "entry": "greet"}]}"#.to_owned(), "schedule `s`"),
        (r#"{"webhooks": [{"name": "w", "secret": {"file": "t"}, "entry": "greet"}]}"#.to_owned(), "cannot read"),
    ] {
        std::fs::write(&path, &text).unwrap();
        let error = setup.service().configure(&path).unwrap_err().to_string();
        assert!(error.contains("service.json: ") && error.contains(fault), "{text}: {error}");
    }
}

#[test]
fn all_faults_of_a_service_file_are_reported_together() {
    let setup = Setup::new();
    let path = setup.folder.path().join("service.json");
    let client = r#"{"name": "a", "roles": ["boss"], "token": {"env": "LLM_DO_TEST_NO_SUCH"}, "max_run": 3}"#;
    let schedules =
        r#"{"name": "s", "cron": "x", "entry": "greet"}, {"name": "t", "cron": "0 7 * * *", "entry": "gret"}"#;
    let webhook = r#"{"name": "w", "secret": {"file": "missing"}}"#;
    let text =
        format!(r#"{{"client": [], "clients": [{client}], "schedules": [{schedules}], "webhooks": [{webhook}]}}"#);
    std::fs::write(&path, text).unwrap();
    let error = setup.service().configure(&path).unwrap_err().to_string();
    assert!(error.contains("service.json: 8 faults:\n  "), "{error}");
    for fault in [
        "unknown field `client`; did you mean `clients`?",
        "`clients[0].roles`: unknown variant `boss`",
        "`clients[0].token`: the environment variable `LLM_DO_TEST_NO_SUCH` is not set",
        "`clients[0]`: unknown field `max_run`; did you mean `max_runs`?",
        "`schedules[0]`: schedule `s`: invalid cron expression `x`",
        "`webhooks[0].secret`: cannot read",
        "`webhooks[0].entry`: missing",
        "schedule `t`: unknown entry, tool or worker `gret`; did you mean `greet`?",
    ] {
        assert!(error.contains(fault), "{fault}: {error}");
    }
}

#[test]
fn a_field_that_a_service_file_has_twice_is_a_fault() {
    let setup = Setup::new();
    let path = setup.folder.path().join("service.json");
    std::fs::write(&path, r#"{"hosts": ["a"], "hosts": ["b"]}"#).unwrap();
    let error = setup.service().configure(&path).unwrap_err().to_string();
    assert!(error.contains("duplicate field `hosts`"), "{error}");
}

#[test]
fn a_secret_that_is_written_into_the_file_by_mistake_is_not_printed() {
    let setup = Setup::new();
    let path = setup.folder.path().join("service.json");
    for token in [
        r#""s3cret-0123456789""#,
        r#"{"env": "s3cret-0123456789"}"#,
        r#"{"value": "s3cret-0123456789"}"#,
        r#"{"s3cret-0123456789": "env"}"#,
        r#"["s3cret-0123456789"]"#,
    ] {
        for text in [
            format!(r#"{{"clients": [{{"name": "a", "roles": [], "token": {token}}}]}}"#),
            format!(r#"{{"webhooks": [{{"name": "a", "entry": "greet", "secret": {token}}}]}}"#),
        ] {
            std::fs::write(&path, &text).unwrap();
            let error = setup.service().configure(&path).unwrap_err();
            assert!(!llm_do::error::chain(&error).contains("s3cret"), "{text}: {error}");
        }
    }
}
