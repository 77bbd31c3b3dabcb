//! The process of a reaper.

use std::env;
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use llm_do_core::base::inherited_files;
use llm_do_core::base::process_group::descendants;
use rustix::io::Errno;
use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitOptions, WaitStatus, getpid, kill_current_process_group, kill_process,
    set_child_subreaper, setrlimit, wait,
};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
use tokio::signal::unix::{SignalKind, signal};

use super::super::super::process::GRACE;
use super::VARIABLE;

/// How long killed processes are waited for: one may be in a system call that cannot be interrupted.
const KILLING: Duration = Duration::from_secs(2);
/// How long until processes are searched again, for those that were started meanwhile.
const AGAIN: Duration = Duration::from_millis(5);
/// How many processes are killed at a time.
const MAX_KILLED: usize = 4096;
/// What is added to the number of a signal for the exit code, as by a shell.
const BY_SIGNAL: i32 = 128;

/// What a reaper waits for.
enum Happened {
    /// The pipe was closed.
    OwnerEnded,
    ServerEnded(WaitStatus),
    /// Neither the server nor a process that it started is left.
    NoneLeft,
}

/// Starts the program that the arguments name, ends it when the pipe of this number is closed, and returns its exit code.
pub(super) fn reap(number: &Path) -> io::Result<i32> {
    let mut owner = File::open(Path::new("/proc/self/fd").join(number))?;
    catch_signals()?;
    // Those whose parents end become children of this process.
    set_child_subreaper(Some(getpid()))?;
    let server = start()?;
    close_streams()?;
    let (events, happened) = mpsc::channel();
    let ends = events.clone();
    thread::spawn(move || {
        // An error means that it is closed.
        let _ = io::copy(&mut owner, &mut io::sink());
        events.send(Happened::OwnerEnded)
    });
    thread::spawn(move || wait_for_all(server, &ends));
    let mut server = Server { happened, status: None, is_gone: false };
    server.wait_until(None, |_| true);
    server.end();
    Ok(server.status.map_or(BY_SIGNAL, exit_code))
}

/// Keeps signals from ending the reaper: they are for the server, which is in the same group.
fn catch_signals() -> io::Result<()> {
    let tokio = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let _entered = tokio.enter();
    // The handlers stay; a program that is started has the default ones.
    for kind in [SignalKind::hangup(), SignalKind::interrupt(), SignalKind::quit(), SignalKind::terminate()] {
        drop(signal(kind)?);
    }
    Ok(())
}

fn start() -> io::Result<Pid> {
    let mut words = env::args_os().skip(1);
    let program = words.next().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(&program);
    command.arg0(&program).args(words).env_remove(VARIABLE);
    inherited_files::limit(&mut command, None)?;
    Ok(Pid::from_child(&command.spawn()?))
}

/// Leaves the streams to the server, so that its owner sees when it closes them.
fn close_streams() -> io::Result<()> {
    let null = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&null)?;
    dup2_stdout(&null)?;
    dup2_stderr(&null)?;
    Ok(())
}

/// Waits for all processes, those of ended parents too.
fn wait_for_all(server: Pid, ends: &Sender<Happened>) {
    loop {
        let happened = match wait(WaitOptions::empty()) {
            Ok(Some((ended, status))) if ended == server => Happened::ServerEnded(status),
            Ok(_) | Err(Errno::INTR) => continue,
            Err(_) => Happened::NoneLeft,
        };
        let is_last = matches!(happened, Happened::NoneLeft);
        // An error means that the reaper ends.
        if ends.send(happened).is_err() || is_last {
            return;
        }
    }
}

/// The server, as far as it has ended.
struct Server {
    happened: Receiver<Happened>,
    status: Option<WaitStatus>,
    is_gone: bool,
}

impl Server {
    /// Waits until something has happened after which `is_met`, or for some time; returns whether it is met.
    fn wait_until(&mut self, time: Option<Duration>, is_met: impl Fn(&Self) -> bool) -> bool {
        let deadline = time.map(|time| Instant::now() + time);
        loop {
            let next = match deadline {
                Some(deadline) => self.happened.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok(),
                None => self.happened.recv().ok(),
            };
            match next {
                Some(Happened::OwnerEnded) => {}
                Some(Happened::ServerEnded(status)) => self.status = Some(status),
                Some(Happened::NoneLeft) => self.is_gone = true,
                None => return false,
            }
            if is_met(self) {
                return true;
            }
        }
    }

    /// Ends the server, and kills what is left.
    fn end(&mut self) {
        let has_ended = |server: &Self| server.status.is_some();
        // Its input is closed, at which it should end by itself.
        if !has_ended(self) && !self.wait_until(Some(GRACE), has_ended) {
            // An error means that no process is left.
            let _ = kill_current_process_group(Signal::TERM);
            self.wait_until(Some(GRACE), has_ended);
        }
        let deadline = Instant::now() + KILLING;
        while !self.is_gone && Instant::now() < deadline {
            for process in descendants(getpid(), MAX_KILLED).into_iter().skip(1) {
                let _ = kill_process(process, Signal::KILL);
            }
            self.wait_until(Some(AGAIN), |server| server.is_gone);
        }
    }
}

/// Returns the exit code of a process, or ends this one by the same signal.
fn exit_code(status: WaitStatus) -> i32 {
    let Some(signal) = status.terminating_signal() else { return status.exit_status().unwrap_or_default() };
    // What the server left is enough.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    if let Some(signal) = Signal::from_named_raw(signal) {
        let _ = kill_process(getpid(), signal);
    }
    // After a signal that is caught.
    BY_SIGNAL + signal
}
