//! Runs a program in a pseudo-terminal, types input and reads the screen.

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// Maximum time that a test waits for expected output.
const TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) const COLUMNS: u16 = 80;
/// Enough rows that nothing scrolls away.
const ROWS: u16 = 400;

/// A terminal before its program is started.
pub(crate) struct Terminal {
    keyboard: File,
    output: Arc<Output>,
    program_side: OwnedFd,
}

/// The application, running in a terminal.
pub(crate) struct Session {
    keyboard: File,
    output: Arc<Output>,
    program: Program,
    /// Number of output bytes that [`Session::wait_for`] has consumed.
    seen: usize,
}

/// A process that is killed when dropped, also by a failed test.
struct Program(Child);

#[derive(Default)]
struct Output {
    state: Mutex<State>,
    arrived: Condvar,
}

#[derive(Default)]
struct State {
    bytes: Vec<u8>,
    /// Whether the test is closing the terminal.
    is_hanging_up: bool,
    is_closed: bool,
}

impl Terminal {
    pub(crate) fn open() -> Self {
        let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&keyboard).unwrap();
        unlockpt(&keyboard).unwrap();
        let name = ptsname(&keyboard, Vec::new()).unwrap();
        let program_side = open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap();
        tcsetwinsize(&program_side, Winsize { ws_row: ROWS, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let keyboard = File::from(keyboard);
        let output = Arc::new(Output::default());
        let (screen, reading) = (keyboard.try_clone().unwrap(), Arc::clone(&output));
        std::thread::spawn(move || reading.fill(screen));
        Self { keyboard, output, program_side }
    }

    pub(crate) fn type_in(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
    }

    /// Starts the application with these arguments.
    pub(crate) fn start(self, arguments: &[&str]) -> Session {
        let mut program = Command::new(env!("CARGO_BIN_EXE_terminal_app"));
        program.args(arguments);
        self.run(program)
    }

    /// Starts a program.
    pub(crate) fn run(self, mut program: Command) -> Session {
        let side = || self.program_side.try_clone().unwrap();
        let child = program.env("LLM_DO_CONFIG", "").stdin(side()).stdout(side()).stderr(side()).spawn().unwrap();
        Session { keyboard: self.keyboard, output: self.output, program: Program(child), seen: 0 }
    }
}

impl Output {
    fn fill(&self, mut screen: File) {
        let mut buffer = [0; 4096];
        while !self.lock().is_hanging_up {
            let mut readable = [PollFd::new(&screen, PollFlags::IN)];
            let wait = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
            if poll(&mut readable, Some(&wait)).unwrap() == 0 {
                continue;
            }
            // Reading fails after the program has exited.
            let Ok(count @ 1..) = screen.read(&mut buffer) else { break };
            self.lock().bytes.extend_from_slice(&buffer[..count]);
            self.arrived.notify_all();
        }
        drop(screen);
        self.lock().is_closed = true;
        self.arrived.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The panic that poisoned the lock is reported by its own test.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `found` returns a value, or panics with the output so far.
    fn wait<T>(&self, what: &str, mut found: impl FnMut(&State) -> Option<T>) -> T {
        let deadline = Instant::now() + TIMEOUT;
        let mut state = self.lock();
        loop {
            if let Some(found) = found(&state) {
                return found;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let text = String::from_utf8_lossy(&state.bytes).into_owned();
            assert!(!state.is_closed && !left.is_zero(), "{what} did not appear; the output is:\n{text}");
            state = self.arrived.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Session {
    /// Starts the application in a new terminal.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Terminal::open().start(arguments)
    }

    pub(crate) fn type_in(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
    }

    /// Waits until the text appears after the text of the previous wait.
    pub(crate) fn wait_for(&mut self, text: &str) {
        let seen = self.seen;
        self.seen = self.output.wait(&format!("`{text}`"), |state| {
            let rest = &state.bytes[seen..];
            let place = rest.windows(text.len()).position(|part| part == text.as_bytes())?;
            Some(seen + place + text.len())
        });
    }

    /// Returns all output so far.
    pub(crate) fn raw(&self) -> String {
        String::from_utf8_lossy(&self.output.lock().bytes).into_owned()
    }

    /// Returns the rows of the screen up to the last row that is not empty.
    pub(crate) fn rows(&self) -> Vec<String> {
        let size = |number| NonZero::new(number).unwrap();
        let mut terminal = vt100::Parser::new(size(ROWS), size(COLUMNS), 0);
        terminal.process(&self.output.lock().bytes);
        let mut rows: Vec<_> = terminal.screen().rows(0, COLUMNS).collect();
        let end = rows.iter().rposition(|row| !row.is_empty()).map_or(0, |last| last + 1);
        rows.truncate(end);
        rows
    }

    pub(crate) fn interrupt(&self) {
        let id = self.program.0.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    }

    /// Closes the terminal, as closing its window does; returns the application's exit status.
    pub(crate) fn hang_up(self) -> ExitStatus {
        let Self { keyboard, output, mut program, .. } = self;
        output.lock().is_hanging_up = true;
        drop(keyboard);
        output.wait("the hang-up", |state| state.is_closed.then_some(()));
        program.wait()
    }

    /// Waits until the application exits; returns its exit code and the rows of the screen.
    pub(crate) fn end(mut self) -> (Option<i32>, Vec<String>) {
        let status = self.program.wait();
        self.output.wait("the end of the output", |state| state.is_closed.then_some(()));
        (status.code(), self.rows())
    }
}

impl Program {
    fn wait(&mut self) -> ExitStatus {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "the application does not exit");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
