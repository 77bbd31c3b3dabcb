//! Workers that are called together run as invocations of their own, in any process of the application.

use std::collections::BTreeSet;

use serde_json::json;

use super::cases::{Effects, runtime};
use super::engine::{Worker, json_of, shared, wait_for};
use super::processes::Workers;

#[tokio::test]
async fn workers_that_are_called_together_are_invocations_of_their_own() {
    let effects = Effects::default();
    let Some(worker) = Worker::serve("spread", runtime(&effects)).await else { return };
    let run = worker.start("fan_out", json!({ "count": 40 })).await;
    let outcome = worker.end(&run).await.1;
    let results = outcome["result"].as_array().unwrap_or_else(|| panic!("{outcome}"));
    for (n, result) in results.iter().enumerate() {
        assert_eq!(*result, format!("did clerk {n} 0, did clerk {n} 1"));
    }
    assert_eq!(outcome["usage"]["requests"], 120, "three requests of each");
    assert_eq!(outcome["usage"]["tool_calls"], 121);
    let mut all = effects.all();
    all.sort();
    let twice: Vec<_> = all.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0].clone()).collect();
    assert!(twice.is_empty(), "{twice:?}");
    assert_eq!(all.len(), 81);
    let sql = format!("select id from sys_invocation where invoked_by_id = '{run}' and target_handler_name = 'call'");
    assert_eq!(worker.query(&sql).await.len(), 39, "the first one has begun before it is known that more follow");
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_that_are_called_together_run_in_several_processes() {
    let Some((ingress, admin)) = shared() else { return };
    let _workers = Workers::start(2, admin).await;
    let http = reqwest::Client::new();
    let service = format!("{admin}/services/killed");
    wait_for(async || http.get(&service).send().await.is_ok_and(|found| found.status().is_success())).await;
    let request = http.post(format!("{ingress}/killed/run")).header("content-type", "application/json");
    let body = json!({ "entry": "report_together", "arguments": { "count": 40 } }).to_string();
    let outcome = json_of(request.body(body).send().await.unwrap()).await;
    let processes: Vec<_> = outcome["result"].as_array().unwrap_or_else(|| panic!("{outcome}")).iter().collect();
    let distinct: BTreeSet<_> = processes.iter().map(|process| process.as_str()).collect();
    assert_eq!((processes.len(), distinct.len()), (40, 2), "{outcome}");
}
