//! A simulation of many processes that share one file, with failures and in simulated time: the engine, the store, the leases
//! and the journal are those of the service.
//!
//! `LLM_DO_TEST_SIMULATION=1000000 cargo test --release -p llm-do --features serve,testing --lib simulation -- --nocapture`

mod faults;
mod outside;
mod plan;
mod process;
mod world;

use std::time::{Duration, Instant};

use llm_do_core::observe::database::simulated::SimulatedFile;

use self::faults::{FaultCounts, Faults};
use self::outside::{add_runs, answer_questions, look_for_ends};
use self::process::SimulatedClock;
use self::world::{Figures, World};

/// The parameters of a simulation.
#[derive(Clone, Copy, Debug)]
struct Setting {
    seed: u64,
    runs: u32,
    processes: usize,
    /// How many runs are added in a second.
    rate: u32,
}

/// The results of a simulation.
#[derive(Debug)]
struct Report {
    figures: Figures,
    faults: FaultCounts,
    simulated: Duration,
    commits: i64,
    /// The bytes of the file for each run that it contains at the end.
    bytes_per_run: u64,
    history: u64,
    violations: Vec<String>,
    /// The runs that have not ended.
    unfinished: Vec<u32>,
}

/// How long runs may take after the last one was added.
const PATIENCE: Duration = Duration::from_mins(20);
/// How often the world looks for runs that have ended.
const LOOK: Duration = Duration::from_secs(20);

/// Simulates on one thread, whose clock advances when no task can run.
fn simulate(setting: Setting) -> Report {
    let tokio = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    tokio.block_on(simulated(setting))
}

async fn simulated(setting: Setting) -> Report {
    let (file, clock) = (SimulatedFile::new(), SimulatedClock::start());
    let world = World::new(file.clone());
    let mut faults = Faults::start(setting.seed, setting.processes, &file, &world, clock).await;
    let adding = tokio::spawn(add_runs(setting, file.clone(), world.clone(), clock));
    let answering = tokio::spawn(answer_questions(setting.seed, file.clone(), clock));
    let added = Duration::from_secs(u64::from(setting.runs / setting.rate));
    let (mut next_look, mut progress) = (LOOK, Progress::new(setting.runs));
    while !(adding.is_finished() && world.is_at_rest()) && clock.elapsed() < added + PATIENCE {
        tokio::time::sleep(Duration::from_secs(1)).await;
        faults.happen().await;
        if clock.elapsed() >= next_look {
            next_look += LOOK;
            look_for_ends(&file, &world, clock);
            progress.print(world.figures().ended, clock.elapsed());
        }
    }
    answering.abort();
    Report {
        figures: world.figures(),
        faults: faults.counts(),
        simulated: clock.elapsed(),
        commits: file.commits(),
        bytes_per_run: bytes_per_run(&file),
        history: world.history(),
        violations: world.violations(),
        unfinished: world.unfinished(),
    }
}

/// Prints the progress of a long simulation, at each tenth.
struct Progress {
    runs: u32,
    tenths: u32,
    begun: Instant,
}

impl Progress {
    fn new(runs: u32) -> Self {
        Self { runs, tenths: 0, begun: Instant::now() }
    }

    #[expect(clippy::print_stdout, reason = "the progress")]
    fn print(&mut self, ended: u32, simulated: Duration) {
        let tenths = u32::try_from(u64::from(ended) * 10 / u64::from(self.runs)).unwrap();
        if tenths > self.tenths {
            self.tenths = tenths;
            println!("{ended} of {} runs ended, {simulated:?} simulated in {:.1?}", self.runs, self.begun.elapsed());
        }
    }
}

fn bytes_per_run(file: &SimulatedFile) -> u64 {
    let sql = "SELECT (page_count - freelist_count) * page_size / (SELECT max(count(*), 1) FROM runs)
               FROM pragma_page_count, pragma_freelist_count, pragma_page_size";
    file.read(|connection| connection.query_row(sql, [], |row| row.get(0)))
}

impl Report {
    #[expect(clippy::print_stdout, reason = "the figures")]
    fn print(&self, setting: Setting, took: Duration) {
        let Self { figures, faults, simulated, commits, bytes_per_run, .. } = self;
        let (runs, processes) = (setting.runs, setting.processes);
        println!("{runs} runs on {processes} processes, {simulated:?} simulated in {took:.1?}");
        println!("{figures:?}\n{faults:?}");
        let per_run = f64::from(i32::try_from(*commits).unwrap()) / f64::from(runs);
        println!("{commits} commits, {per_run:.1} per run; {bytes_per_run} bytes per run");
    }

    #[track_caller]
    fn assert_nothing_lost_or_doubled(&self, setting: Setting) {
        assert!(self.violations.is_empty(), "{:#?}", &self.violations[..self.violations.len().min(20)]);
        assert!(
            self.unfinished.is_empty(),
            "{} runs have not ended: {:?}",
            self.unfinished.len(),
            self.unfinished.first()
        );
        assert_eq!(self.figures.ended, setting.runs);
        let expected: u64 = (0..setting.runs).map(|run| u64::from(plan::effects(run))).sum();
        assert_eq!(self.figures.effects, expected);
    }
}

#[test]
fn no_effect_is_lost_or_doubled_however_processes_fail() {
    let runs = std::env::var("LLM_DO_TEST_SIMULATION").map_or(400, |runs| runs.parse().unwrap());
    let processes = usize::try_from(runs / 20).unwrap().clamp(1, 1_000);
    let setting = Setting { seed: 1, runs, processes, rate: u32::try_from(processes).unwrap() * 2 };
    let begun = Instant::now();
    let report = simulate(setting);
    report.print(setting, begun.elapsed());
    report.assert_nothing_lost_or_doubled(setting);
    assert!(report.figures.takeovers > 0 && report.figures.requested_again > 0, "the faults met no run");
}

#[test]
fn a_simulation_with_the_same_seed_is_the_same() {
    let setting = Setting { seed: 2, runs: 200, processes: 20, rate: 40 };
    let [first, second] = [simulate(setting), simulate(setting)];
    // Writes in one moment may take one commit or two, since `select!` polls its branches in random order.
    assert_eq!((first.figures, first.faults, first.history), (second.figures, second.faults, second.history));
}
