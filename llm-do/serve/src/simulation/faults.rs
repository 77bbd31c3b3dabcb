//! The processes, and what happens to them.

use std::time::Duration;

use fastrand::Rng;
use llm_do_core::observe::database::simulated::SimulatedFile;

use super::process::{LEASE, Process, SimulatedClock};
use super::world::World;

/// How many of 10,000 processes crash in a second.
const CRASHES: u32 = 200;
/// How many stall, for up to 3 leases.
const STALLS: u32 = 110;
/// How many are ended in order, and started again.
const RESTARTS: u32 = 80;

/// The processes of a simulation.
pub(super) struct Faults {
    random: Rng,
    places: Vec<Place>,
    counts: FaultCounts,
    file: SimulatedFile,
    world: World,
    clock: SimulatedClock,
    /// How many processes were started, for their names.
    started: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FaultCounts {
    crashes: u32,
    stalls: u32,
    restarts: u32,
}

/// Where a process runs, which another replaces after a crash.
enum Place {
    Running(Process),
    StalledUntil(Duration, Process),
    DownUntil(Duration),
}

impl Faults {
    /// Starts the processes, at different times of a second.
    pub(super) async fn start(
        seed: u64,
        processes: usize,
        file: &SimulatedFile,
        world: &World,
        clock: SimulatedClock,
    ) -> Self {
        let (file, world) = (file.clone(), world.clone());
        let (random, counts) = (Rng::with_seed(seed), FaultCounts::default());
        let mut faults = Self { random, places: Vec::new(), counts, file, world, clock, started: 0 };
        let pause = Duration::from_secs(1) / u32::try_from(processes).unwrap();
        for _ in 0..processes {
            let process = faults.process();
            faults.places.push(Place::Running(process));
            tokio::time::sleep(pause).await;
        }
        faults
    }

    pub(super) fn counts(&self) -> FaultCounts {
        self.counts
    }

    fn process(&mut self) -> Process {
        self.started += 1;
        Process::start(&self.file, &self.world, self.clock, format!("process {}", self.started))
    }

    fn in_seconds(&mut self, seconds: std::ops::Range<u64>) -> Duration {
        self.clock.elapsed() + Duration::from_millis(self.random.u64(seconds.start * 1_000..seconds.end * 1_000))
    }

    /// Lets happen what happens in a second.
    pub(super) async fn happen(&mut self) {
        for index in 0..self.places.len() {
            let place = std::mem::replace(&mut self.places[index], Place::DownUntil(Duration::ZERO));
            self.places[index] = match place {
                Place::Running(process) => self.befall(process),
                Place::StalledUntil(time, process) if self.clock.elapsed() >= time => {
                    process.go_on();
                    Place::Running(process)
                }
                Place::DownUntil(time) if self.clock.elapsed() >= time => Place::Running(self.process()),
                place => place,
            };
            // In the midst of what other processes do.
            if index % 16 == 0 {
                tokio::task::yield_now().await;
            }
        }
    }

    fn befall(&mut self, process: Process) -> Place {
        match self.random.u32(0..10_000) {
            0..CRASHES => {
                self.counts.crashes += 1;
                process.crash();
                Place::DownUntil(self.in_seconds(1..20))
            }
            fate if fate < CRASHES + STALLS => {
                self.counts.stalls += 1;
                process.stall();
                Place::StalledUntil(self.in_seconds(1..LEASE.as_secs() * 3), process)
            }
            fate if fate < CRASHES + STALLS + RESTARTS => {
                self.counts.restarts += 1;
                tokio::spawn(process.close());
                Place::DownUntil(self.in_seconds(1..5))
            }
            _ => Place::Running(process),
        }
    }
}
