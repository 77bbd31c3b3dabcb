//! Workers that the runs of different tenants create.

use llm_do::approval::{Policy, Rule};
use llm_do::serve::{Client, Role};
use llm_do::toolsets::{worker_call, worker_create, workers};

use super::*;

const ANN: &str = "ann-0123456789abcdef";
const BOB: &str = "bob-0123456789abcdef";

/// Creates a worker with these instructions, if there are any, and calls it.
#[entry(toolsets = [workers])]
async fn hire(ctx: &CallContext<hire>, instructions: Option<String>) -> Result<Value> {
    if let Some(instructions) = instructions {
        let (name, description) = ("assistant_of_client".into(), "Helps.".into());
        let (model, toolsets, output_schema, input_schema) = (None, Vec::new(), None, None);
        ctx.call(worker_create { name, instructions, description, model, toolsets, output_schema, input_schema })
            .await?;
    }
    let call = worker_call { worker: "assistant_of_client".into(), input: "now".into(), attachments: Vec::new() };
    Ok(ctx.call(call).await?.value().clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_neither_calls_nor_learns_of_the_workers_of_another_and_has_its_own_of_the_same_name() {
    let setup = Setup::new();
    let store = setup.folder.path().join("made");
    let model = FunctionModel::answering(|request| Answer::text(request.instructions.unwrap_or_default()));
    let service = setup.service_of(|runtime| {
        let policy = Policy::new().tool("worker_create", Rule::PreApproved);
        runtime.force_model(model).policy(policy).worker_store(&store)
    });
    let client =
        |name: &'static str, token: &str| Client::new(name, token).unwrap().role(Role::Start).role(Role::Watch);
    let service = service.entries(["hire"]).unwrap().client(client("ann", ANN)).client(client("bob", BOB));
    let server = setup.serve_this(service).await;
    let ended = async |token: &str, arguments: Value| {
        let body = json!({ "entry": "hire", "arguments": arguments });
        let started = server.request(Method::POST, "/runs").bearer_auth(token).json(&body).send().await.unwrap();
        let id = json_of(started).await["id"].as_str().unwrap().to_owned();
        loop {
            let run = server.request(Method::GET, &format!("/runs/{id}")).bearer_auth(token).send().await.unwrap();
            let run = json_of(run).await;
            if run["state"] == "succeeded" || run["state"] == "failed" {
                return run;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    assert_eq!(ended(ANN, json!({ "instructions": "Help Ann." })).await["result"], "Help Ann.");
    let refused = ended(BOB, json!({})).await;
    assert!(refused["error"].as_str().unwrap().ends_with("no worker has been created yet"), "{refused}");
    assert_eq!(ended(BOB, json!({ "instructions": "Help Bob." })).await["result"], "Help Bob.");
    for tenant in ["ann", "bob"] {
        assert!(store.join(format!(".tenants/{tenant}/assistant_of_client.worker")).exists(), "{tenant}");
    }
    server.stop().await;
}
