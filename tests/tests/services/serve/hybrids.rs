//! Hybrids with a guarantee: their evidence is kept with the service, and shown.

use llm_do::Effect;
use llm_do::harden::{Guarantee, hybrid_status};
use llm_do::model::Request;
use llm_do::runtime::FunctionTool;
use llm_do::worker::WorkerSpec;

use super::*;

/// A worker that answers `other` to what is new, and code that always answers `known`.
fn sorting(builder: RuntimeBuilder) -> RuntimeBuilder {
    let schema = json!({ "type": "object", "properties": { "input": { "type": "string" } }, "required": ["input"] });
    let answer = |_, _: Value| async { Ok("known".to_owned()) };
    let code = FunctionTool::new("sort_by_rule", "Sorts.", schema, Effect::ReadOnly, answer).version("1");
    let guarantee = Guarantee::new(0.1, 0.9).unwrap();
    let worker = WorkerSpec::new("sorter", "Sort the input.").hybrid("sort_by_rule").guarantee(guarantee);
    let answer = |request: Request<'_>| Answer::text(if request.prompt().contains("new") { "other" } else { "known" });
    builder.worker(worker).tool(code).force_model(FunctionModel::answering(answer).named("m"))
}

async fn serve(setup: &Setup) -> Server {
    setup.serve_this(setup.service_of(sorting).entries(["sorter"]).unwrap()).await
}

async fn sort(server: &Server, input: &str) -> Value {
    let id = server.start("sorter", json!({ "input": input })).await;
    server.reaches(&id, "succeeded").await["result"].clone()
}

async fn known(server: &Server) -> Value {
    server.get("/hybrids").await["hybrids"][0].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn evidence_is_shared_by_services_survives_them_and_decides_who_answers() {
    let setup = Setup::new();
    let (one, other) = (serve(&setup).await, serve(&setup).await);
    assert_eq!(one.get("/hybrids").await, json!({ "hybrids": [] }));
    for _ in 0..20 {
        sort(&one, "it").await;
        sort(&other, "it").await;
    }
    let status = known(&other).await;
    assert_eq!(
        (&status["worker"], &status["tool"], &status["holds"]),
        (&json!("sorter"), &json!("sort_by_rule"), &json!(true))
    );
    let calls = status["by_code"].as_u64().unwrap() + status["by_worker"].as_u64().unwrap();
    assert_eq!((calls, &status["disagreements"], &status["disagreement"]), (40, &json!(0), &json!(0.1)));
    one.stop().await;
    other.stop().await;

    let again = serve(&setup).await;
    assert_eq!(known(&again).await["comparisons"], status["comparisons"]);
    for _ in 0..60 {
        if known(&again).await["holds"] == false {
            break;
        }
        sort(&again, "a new thing").await;
    }
    assert_eq!(known(&again).await["holds"], false, "the worker takes over");
    assert_eq!(sort(&again, "a new thing").await, "other");
    let stored = hybrid_status(setup.folder.path().join("runs.db")).unwrap();
    assert_eq!((stored.len(), stored[0].holds), (1, false));
    let page = again.request(Method::GET, "/").send().await.unwrap().text().await.unwrap();
    assert!(page.contains("/?view=hybrids"));
    again.stop().await;
}
