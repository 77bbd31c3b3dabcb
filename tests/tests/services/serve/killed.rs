//! A service that is killed at any point: no recorded effect is lost or repeated, none is made twice that must not be, and every run ends
//! right.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use super::*;
use crate::effects::{PARTS, checked, decision, effects, repeats};

/// How often services are killed, unless `LLM_DO_TEST_KILLS` is set.
const KILLS: usize = 30;

/// A service in a process of its own.
pub(super) struct Served {
    child: Child,
    pub(super) server: Server,
    /// The folder of its effects.
    folder: PathBuf,
}

impl Served {
    pub(super) fn start(folder: &std::path::Path) -> Self {
        Self::start_with(folder, &[])
    }

    /// Starts it with environment variables.
    pub(super) fn start_with(folder: &std::path::Path, variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_served"));
        let mut child = command.arg(folder).envs(variables.iter().copied()).stdout(Stdio::piped()).spawn().unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        let (address, http) = (address.trim().to_owned(), reqwest::Client::new());
        let (shutdown, serving) = (CancellationToken::new(), tokio::spawn(async {}));
        let unused = Arc::new(tempfile::tempdir().unwrap());
        let server = Server { address, http, shutdown, serving, _folder: unused };
        Self { child, server, folder: folder.to_owned() }
    }

    pub(super) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits until a run has failed, and returns it; returns `None` if the process has died before.
    pub(super) async fn failed_or_died(&mut self, id: &str, answers: bool) -> Option<Value> {
        loop {
            if self.child.try_wait().unwrap().is_some() {
                return None;
            }
            if answers {
                self.answer_all().await;
            }
            let sent = self.server.request(Method::GET, &format!("/runs/{id}")).send().await;
            if let Ok(response) = sent
                && let Ok(run) = response.json::<Value>().await
                && run["state"] == "failed"
            {
                return Some(run);
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Approves and answers all that waits; what may have happened is looked up. A request that fails because the service was killed is made
    /// again later.
    async fn answer_all(&self) -> Option<usize> {
        let mut answered = 0;
        for path in ["/approvals", "/questions"] {
            let list: Value = self.server.request(Method::GET, path).send().await.ok()?.json().await.ok()?;
            for shown in list["waiting"].as_array()? {
                let mut body = match path {
                    "/approvals" => decision(&self.folder, &shown["request"]),
                    _ => json!({ "answer": "yes" }),
                };
                body["digest"] = shown["digest"].clone();
                let path = format!("{path}/{}", shown["id"].as_str()?);
                let response = self.server.request(Method::POST, &path).json(&body).send().await.ok()?;
                answered += usize::from(response.status() == StatusCode::OK);
            }
        }
        Some(answered)
    }

    /// Returns how often each run was started or continued that runs now.
    async fn running(&self) -> Option<BTreeMap<String, u64>> {
        let list: Value =
            self.server.request(Method::GET, "/runs?state=running&limit=500").send().await.ok()?.json().await.ok()?;
        let attempts = |run: &Value| Some((run["id"].as_str()?.to_owned(), run["attempts"].as_u64()?));
        Some(list["runs"].as_array()?.iter().filter_map(attempts).collect())
    }

    /// Waits until this process has taken over runs of one that was killed, for at most a second; returns their number.
    async fn taken_over(&self, killed: &BTreeMap<String, u64>) -> usize {
        let mut taken = BTreeSet::new();
        let end = Instant::now() + Duration::from_secs(1);
        while taken.len() < killed.len() && Instant::now() < end {
            for (id, attempts) in killed {
                let run = self.server.get(&format!("/runs/{id}")).await;
                if run["attempts"].as_u64().unwrap() > *attempts {
                    taken.insert(id);
                }
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        taken.len()
    }

    async fn unfinished(&self) -> Option<usize> {
        let list: Value = self.server.request(Method::GET, "/runs?limit=500").send().await.ok()?.json().await.ok()?;
        let states = list["runs"].as_array()?.iter().map(|run| run["state"].as_str().unwrap_or_default().to_owned());
        Some(states.filter(|state| ["queued", "running", "waiting"].contains(&&**state)).count())
    }
}

/// Returns what the calls of effects returned that were performed and recorded, by the events of a run.
async fn recorded(server: &Server, id: &str) -> BTreeSet<String> {
    let text = server.request(Method::GET, &format!("/runs/{id}/events")).send().await.unwrap().text().await.unwrap();
    let events = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let events = events.map(|line| serde_json::from_str::<Value>(line).unwrap());
    let finished =
        events.filter(|event| event["kind"] == "call_finished" && event["name"].as_str().unwrap().starts_with("act"));
    finished.filter_map(|event| event["result"].as_str().map(str::to_owned)).collect()
}

/// Starts a service that lets any number of processes die in a run: they are killed faster than runs make progress.
fn started(folder: &std::path::Path) -> Served {
    Served::start_with(folder, &[("LLM_DO_TEST_ANY_DEATHS", "1")])
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_any_point_a_service_loses_and_repeats_no_recorded_effect_and_makes_none_twice_unasked() {
    let kills = std::env::var("LLM_DO_TEST_KILLS").map_or(KILLS, |kills| kills.parse().unwrap());
    let (folder, mut random) = (tempfile::tempdir().unwrap(), fastrand::Rng::with_seed(0x005e_ed17));
    let (mut runs, mut answers, mut killed, mut interrupted, mut taken_over) = (Vec::new(), 0, 0, 0, 0);
    while killed < kills {
        // Sometimes two processes serve the file, and one is killed.
        let survivor = (random.u64(0..3) == 0).then(|| started(folder.path()));
        let served = started(folder.path());
        for _ in 0..random.u64(1..5) {
            let name = format!("run{}", runs.len());
            runs.push((name.clone(), served.server.start("work", json!({ "name": name })).await));
        }
        let end = Instant::now() + Duration::from_millis(random.u64(0..200));
        while Instant::now() < end {
            answers += served.answer_all().await.unwrap();
            tokio::time::sleep(Duration::from_millis(random.u64(0..20))).await;
        }
        let running = served.running().await.unwrap();
        served.kill();
        killed += 1;
        interrupted += running.len();
        if let Some(survivor) = survivor {
            taken_over += survivor.taken_over(&running).await;
            answers += survivor.answer_all().await.unwrap();
            survivor.kill();
            killed += 1;
        }
    }
    let served = started(folder.path());
    while served.unfinished().await.unwrap() > 0 {
        answers += served.answer_all().await.unwrap();
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let (effects, mut repeated, mut asked_again, mut happened) = (effects(folder.path()), 0, 0, 0);
    for (name, id) in &runs {
        let run = served.server.get(&format!("/runs/{id}")).await;
        assert_eq!(run["state"], "succeeded", "{run}");
        let results = checked(name, &run, &effects);
        let recorded = recorded(&served.server, id).await;
        let unknown: Vec<_> = recorded.iter().filter(|recorded| !results.contains(&recorded.as_str())).collect();
        assert!(unknown.is_empty(), "recorded effects that were repeated: {unknown:?}");
        let waits = run["waits"].as_array().unwrap();
        let (again, first): (Vec<_>, Vec<_>) = waits.iter().partition(|wait| wait["request"]["began"].is_string());
        assert_eq!(first.len(), 3, "each approval and question was kept: {waits:?}");
        // By the call and the time at which it began.
        let unknown: BTreeSet<_> = again.iter().map(|wait| wait["request"]["summary"].to_string()).collect();
        assert_eq!(unknown.len(), again.len(), "each unknown outcome was asked about once: {again:?}");
        asked_again += again.len();
        happened += again.iter().filter(|wait| wait["answer"]["decision"] == "happened").count();
        repeated += repeats(name, &effects);
    }
    served.kill();
    let (count, asked) = (runs.len(), runs.len() * 3);
    println!(
        "kills {killed} | runs {count}, each ended right | runs in flight at a kill {interrupted} | taken over by the other process \
         {taken_over} | effects {}, recorded {} | recorded and repeated 0 | destructive or undeclared and made twice 0 | idempotent and \
         made again {repeated} | approvals and questions {asked}, kept {asked} | unknown outcomes asked about {asked_again}, of which \
         {happened} had happened | answers {answers}",
        effects.values().sum::<usize>(),
        count * PARTS.len(),
    );
    assert!(taken_over > 0 || kills < 100, "the other process takes runs over");
    assert!(happened > 0 || kills < 100, "kills fall between effects and their records");
    assert!(repeated <= killed * 4, "an effect is repeated only if a kill interrupted it");
}
