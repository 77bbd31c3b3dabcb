//! Workers and the engine are killed at any point: no recorded effect is lost or repeated, and every run ends right.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};

use super::engine::{Engine, installed, json_of, query, wait_for};

/// How often workers and the engine are killed, unless `LLM_DO_TEST_KILLS` is set.
const KILLS: usize = 30;
/// The effects of each run, in the order of its result.
const PARTS: [&str; 7] = ["first", "approved", "left", "right", "clerk0", "clerk1", "yes"];

/// A pseudorandom number generator with a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// Worker processes behind a balancer, which the engine knows.
struct Workers {
    folder: tempfile::TempDir,
    admin: String,
    processes: Vec<Option<Child>>,
    ports: Vec<u16>,
}

impl Workers {
    async fn start(count: usize, admin: &str) -> Self {
        let (mut ports, mut listeners) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            ports.push(listener.local_addr().unwrap().port());
            listeners.push(listener);
        }
        drop(listeners);
        let folder = tempfile::tempdir().unwrap();
        let processes = ports.iter().map(|_| None).collect();
        Self { folder, admin: admin.to_owned(), processes, ports }
    }

    /// Starts a worker that is registered under the address of the balancer.
    fn spawn(&mut self, n: usize, public: &str) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_restate_worker"));
        let address = format!("127.0.0.1:{}", self.ports[n]);
        command.arg(self.folder.path()).arg(address).arg(&self.admin).arg(public);
        self.processes[n] = Some(command.spawn().unwrap());
    }

    fn kill(&mut self, n: usize) {
        if let Some(mut process) = self.processes[n].take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        (0..self.processes.len()).for_each(|n| self.kill(n));
    }
}

/// Passes each connection on to the next worker that accepts it.
async fn balance(listener: TcpListener, ports: Vec<u16>) {
    let next = Arc::new(AtomicUsize::new(0));
    loop {
        let Ok((mut from, _)) = listener.accept().await else { continue };
        let (next, ports) = (Arc::clone(&next), ports.clone());
        tokio::spawn(async move {
            for _ in 0..ports.len() {
                let port = ports[next.fetch_add(1, Ordering::Relaxed) % ports.len()];
                if let Ok(mut to) = TcpStream::connect(("127.0.0.1", port)).await {
                    let _ = tokio::io::copy_bidirectional(&mut from, &mut to).await;
                    return;
                }
            }
        });
    }
}

/// What runs asked, and what was answered, by run and key.
#[derive(Default)]
struct Asked {
    seen: BTreeSet<String>,
    answered: BTreeSet<String>,
}

/// The engine's clients, for which nothing is certain: it may be killed at any time.
struct Client {
    http: reqwest::Client,
    ingress: String,
    admin: String,
}

impl Client {
    fn new(engine: &Engine) -> Self {
        let http = reqwest::Client::builder().timeout(Duration::from_secs(5)).build().unwrap();
        Self { http, ingress: engine.ingress.clone(), admin: engine.admin.clone() }
    }

    async fn post(&self, path: &str, body: Value, key: Option<&str>) -> Option<(u16, Value)> {
        let mut request = self.http.post(format!("{}/{path}", self.ingress)).header("content-type", "application/json");
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        let response = request.body(body.to_string()).send().await.ok()?;
        Some((response.status().as_u16(), json_of(response).await))
    }

    /// Starts a run, once.
    async fn start(&self, name: &str) -> String {
        let body = json!({ "entry": "work", "arguments": { "name": name } });
        loop {
            if let Some((202, sent)) = self.post("killed/run/send", body.clone(), Some(name)).await {
                return sent["invocationId"].as_str().unwrap().to_owned();
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Approves and answers all that waits.
    async fn answer_all(&self, asked: &mut Asked) -> Option<()> {
        let (_, list) = self.post("killed.inbox/all/list", Value::Null, None).await?;
        for question in list["waiting"].as_array()? {
            let key = format!("{} {}", question["run"], question["asked"]["key"]);
            asked.seen.insert(key.clone());
            let mut body = match question["asked"]["kind"].as_str()? {
                "approval" => json!({ "decision": "approve" }),
                _ => json!({ "answer": "yes" }),
            };
            body["id"] = question["id"].clone();
            body["digest"] = question["asked"]["digest"].clone();
            if self.post("killed.inbox/all/answer", body, None).await?.0 == 200 {
                assert!(asked.answered.insert(key.clone()), "{key} is asked again after its answer");
            }
        }
        Some(())
    }

    async fn unfinished(&self) -> Option<usize> {
        let sql = "select id from sys_invocation where status <> 'completed' and target_handler_name = 'run'";
        Some(query(&self.http, &self.admin, sql).await?.len())
    }
}

/// Returns the effects, with how often each was performed.
fn effects(folder: &Path) -> BTreeMap<String, usize> {
    let mut effects = BTreeMap::new();
    for line in std::fs::read_to_string(folder.join("effects")).unwrap_or_default().lines() {
        *effects.entry(line.to_owned()).or_default() += 1;
    }
    effects
}

/// Checks the result of a run; returns how many effects were interrupted before they were recorded, and then repeated.
fn check(name: &str, outcome: &Value, effects: &BTreeMap<String, usize>) -> usize {
    let results = outcome["result"].as_array().unwrap_or_else(|| panic!("{name}: {outcome}"));
    let results: Vec<_> = results.iter().map(|result| result.as_str().unwrap()).collect();
    let parts: Vec<_> = results.iter().map(|result| result.split(' ').next().unwrap().to_owned()).collect();
    assert_eq!(parts, PARTS.map(|part| format!("{name}-{part}")));
    for result in &results {
        assert_eq!(
            effects.get(*result),
            Some(&1),
            "{result} is an effect, and none is performed twice under one number"
        );
    }
    effects.keys().filter(|effect| effect.starts_with(&format!("{name}-"))).count() - PARTS.len()
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_any_point_the_engine_loses_and_repeats_no_recorded_effect() {
    let Some(installed) = installed() else { return };
    let kills = std::env::var("LLM_DO_TEST_KILLS").map_or(KILLS, |kills| kills.parse().unwrap());
    let (mut engine, mut random) = (Engine::start(&installed), Random(0x005e_ed17));
    let client = Client::new(&engine);
    let mut workers = Workers::start(2, &engine.admin).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let public = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(balance(listener, workers.ports.clone()));
    (0..2).for_each(|n| workers.spawn(n, &public));
    let (mut runs, mut asked, mut killed) = (Vec::new(), Asked::default(), [0, 0]);
    while killed.iter().sum::<usize>() < kills {
        for _ in 0..random.below(3) {
            let name = format!("run{}", runs.len());
            runs.push((name.clone(), client.start(&name).await));
        }
        let end = Instant::now() + Duration::from_millis(random.below(600));
        while Instant::now() < end {
            client.answer_all(&mut asked).await;
            tokio::time::sleep(Duration::from_millis(random.below(20))).await;
        }
        if random.below(6) == 0 {
            engine.restart(&installed);
            killed[1] += 1;
        } else {
            let n = usize::try_from(random.below(2)).unwrap();
            workers.kill(n);
            workers.spawn(n, &public);
            killed[0] += 1;
        }
    }
    let begun = Instant::now();
    wait_for(async || {
        client.answer_all(&mut asked).await;
        client.unfinished().await == Some(0)
    })
    .await;
    let (effects, mut repeated) = (effects(workers.folder.path()), 0);
    for (name, id) in &runs {
        let response = client.http.get(format!("{}/restate/invocation/{id}/attach", client.ingress)).send().await;
        repeated += check(name, &json_of(response.unwrap()).await, &effects);
    }
    println!(
        "{} kills of workers, {} of the engine; {} runs, {} effects, {} questions, {repeated} effects interrupted before they were \
         recorded; the last run ended {:.1} s after the last kill",
        killed[0],
        killed[1],
        runs.len(),
        effects.len(),
        asked.seen.len(),
        begun.elapsed().as_secs_f64()
    );
    assert_eq!(asked.seen.len(), 3 * runs.len(), "each approval and question was kept");
    let most = 4 * (killed[0] + killed[1]);
    assert!(repeated <= most, "an effect is repeated only if a kill interrupted it: {repeated} of at most {most}");
}
