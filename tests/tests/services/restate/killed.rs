//! Workers and the engine are killed at any point: no recorded effect is lost or repeated, none is made twice that must not be, and every
//! run ends right.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::engine::{Engine, installed, json_of, query};
use super::processes::Workers;
use crate::effects::{checked, decision, effects, repeats};

/// How often workers and the engine are killed, unless `LLM_DO_TEST_KILLS` is set.
const KILLS: usize = 30;
/// The same for a cluster, unless `LLM_DO_TEST_CLUSTER_KILLS` is set.
const CLUSTER_KILLS: usize = 12;
/// How long runs may take after the last kill.
const LONGEST_END: Duration = Duration::from_secs(60);

/// A pseudorandom number generator with a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap()
    }
}

/// What runs asked, and what was answered, by run and key.
#[derive(Default)]
struct Asked {
    seen: BTreeSet<String>,
    /// The keys of questions about calls that may have had their effect.
    again: BTreeSet<String>,
    /// Those calls, each with the time at which it began.
    unknown: BTreeSet<String>,
    /// The number of them that had happened.
    happened: usize,
    answered: BTreeSet<String>,
}

/// The engine's clients, for which nothing is certain: it may be killed at any time.
struct Client {
    http: reqwest::Client,
    ingresses: Vec<String>,
    admins: Vec<String>,
    /// The folder of the effects.
    folder: PathBuf,
    next: AtomicUsize,
}

impl Client {
    fn new(engine: &Engine, folder: PathBuf) -> Self {
        let http = reqwest::Client::builder().timeout(Duration::from_secs(5)).build().unwrap();
        let ingresses = engine.nodes.iter().map(|node| node.ingress.clone()).collect();
        let admins = engine.nodes.iter().map(|node| node.admin.clone()).collect();
        Self { http, ingresses, admins, folder, next: AtomicUsize::new(0) }
    }

    /// Returns the node to ask next: another one each time, since one may be dead.
    fn node(&self) -> usize {
        self.next.fetch_add(1, Ordering::Relaxed) % self.admins.len()
    }

    async fn post(&self, path: &str, body: Value, key: Option<&str>) -> Option<(u16, Value)> {
        let address = format!("{}/{path}", self.ingresses[self.node()]);
        let mut request = self.http.post(address).header("content-type", "application/json");
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

    /// Approves and answers all that waits; what may have happened is looked up.
    async fn answer_all(&self, asked: &mut Asked) -> Option<()> {
        let (_, list) = self.post("killed.inbox/all/list", Value::Null, None).await?;
        for question in list["waiting"].as_array()? {
            let key = format!("{} {}", question["run"], question["asked"]["key"]);
            let shown = &question["asked"]["shown"];
            let is_again = shown["began"].is_string();
            if is_again { &mut asked.again } else { &mut asked.seen }.insert(key.clone());
            if is_again {
                asked.unknown.insert(format!("{} {}", question["run"], shown["summary"]));
            }
            let mut body = match question["asked"]["kind"].as_str()? {
                "approval" => decision(&self.folder, shown),
                _ => json!({ "answer": "yes" }),
            };
            body["id"] = question["id"].clone();
            body["digest"] = question["asked"]["digest"].clone();
            let has_happened = body["decision"] == "happened";
            if self.post("killed.inbox/all/answer", body, None).await?.0 == 200 {
                assert!(asked.answered.insert(key.clone()), "{key} is asked again after its answer");
                asked.happened += usize::from(has_happened);
            }
        }
        Some(())
    }

    /// Returns what has not ended, with the reasons.
    async fn unfinished(&self) -> Option<Vec<Value>> {
        let sql = "select id, target, status, retry_count, next_retry_at, last_failure from sys_invocation \
                   where status <> 'completed' and target_service_name = 'killed'";
        query(&self.http, &self.admins[self.node()], sql).await
    }

    /// Returns the outcome of a run that has ended.
    async fn outcome(&self, id: &str) -> Value {
        loop {
            let address = format!("{}/restate/invocation/{id}/attach", self.ingresses[self.node()]);
            if let Ok(response) = self.http.get(address).send().await {
                return json_of(response).await;
            }
        }
    }
}

/// Kills workers and servers until there were so many kills, and checks all runs.
async fn kill(mut engine: Engine, kills: usize) {
    let mut random = Random(0x005e_ed17);
    let mut workers = Workers::start(2, &engine.nodes[0].admin).await;
    let client = Client::new(&engine, workers.folder().to_owned());
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
            engine.restart(random.index(engine.nodes.len()));
            killed[1] += 1;
        } else {
            let n = random.index(2);
            workers.kill(n);
            workers.spawn(n);
            killed[0] += 1;
        }
    }
    let begun = Instant::now();
    while client.unfinished().await.is_none_or(|unfinished| !unfinished.is_empty()) {
        client.answer_all(&mut asked).await;
        assert!(begun.elapsed() < LONGEST_END, "runs do not end: {:?}", client.unfinished().await);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let (seconds, effects, mut repeated) = (begun.elapsed().as_secs_f64(), effects(workers.folder()), 0);
    for (name, id) in &runs {
        checked(name, &client.outcome(id).await, &effects);
        repeated += repeats(name, &effects);
    }
    let [of_workers, of_servers] = killed;
    println!(
        "{of_workers} kills of workers, {of_servers} of servers; {} runs, {} effects, {} questions, {} unknown outcomes asked \
         about, of which {} had happened, 0 destructive or undeclared effects made twice, {repeated} idempotent ones made again; the last \
         run ended {seconds:.1} s after the last kill",
        runs.len(),
        effects.len(),
        asked.seen.len(),
        asked.again.len(),
        asked.happened,
    );
    assert_eq!(
        asked.unknown.len(),
        asked.again.len(),
        "each unknown outcome was asked about once: {:?}",
        asked.unknown
    );
    assert_eq!(asked.seen.len(), 3 * runs.len(), "each approval and question was kept");
    let most = 4 * (of_workers + of_servers);
    assert!(repeated <= most, "an effect is repeated only if a kill interrupted it: {repeated} of at most {most}");
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_any_point_the_engine_loses_and_repeats_no_recorded_effect_and_makes_none_twice_unasked() {
    let Some(installed) = installed() else { return };
    let kills = std::env::var("LLM_DO_TEST_KILLS").map_or(KILLS, |kills| kills.parse().unwrap());
    kill(Engine::start(&installed), kills).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_loses_a_node_without_a_loss_for_runs() {
    let Some(installed) = installed() else { return };
    let kills = std::env::var("LLM_DO_TEST_CLUSTER_KILLS").map_or(CLUSTER_KILLS, |kills| kills.parse().unwrap());
    kill(Engine::start_cluster(&installed), kills).await;
}
