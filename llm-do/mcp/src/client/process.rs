//! A server that is a program: its process, and what it writes.

use std::env;
use std::io;
use std::pin::Pin;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use llm_do_core::base::mutex::IgnorePoison;
use llm_do_core::base::process_group::ProcessGroup;
use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::reaper::{self, Lease};
use super::request_limit::EndReason;
use super::text;
use super::transport::Launch;

/// What is passed on of this process's environment: what programs need to run, and no secrets.
const PASSED: &[&str] = &[
    "APPDATA",
    "HOME",
    "HOMEDRIVE",
    "HOMEPATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LOCALAPPDATA",
    "LOGNAME",
    "PATH",
    "PATHEXT",
    "SHELL",
    "SystemDrive",
    "SystemRoot",
    "TEMP",
    "TERM",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    "USERNAME",
    "USERPROFILE",
];
/// How long a server may take to end after its input was closed, and again after it was asked to end.
pub(super) const GRACE: Duration = Duration::from_millis(700);
/// How long a reaper may take to end a server: two periods of grace, and the time to kill what is left.
const REAPING: Duration = Duration::from_secs(4);
/// How long the end of a server whose output was closed is waited for.
const ENDING: Duration = Duration::from_millis(500);
/// How many bytes of what a server wrote last are kept.
const TAIL: usize = 2000;

/// The process of a server, which ends with this.
#[derive(Debug)]
pub(super) struct Process {
    ended: watch::Receiver<Option<String>>,
    end: CancellationToken,
    tail: Arc<Mutex<Vec<u8>>>,
}

/// The pipes of a server.
pub(super) type Pipes = (Bounded<ChildStdout>, ChildStdin);

impl Process {
    /// Starts the program as the leader of a process group.
    pub(super) fn start(launch: &Launch, max_message: usize, fault: EndReason) -> io::Result<(Self, Pipes)> {
        let mut command = command(launch);
        let lease = reaper::lease(&mut command)?;
        // A killed reaper would leave what it has not ended yet.
        let mut child = command.kill_on_drop(lease.is_none()).spawn()?;
        let group = ProcessGroup::led_by(child.id());
        let missing = || io::Error::other("a pipe of the program is missing");
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let tail = Arc::default();
        if let Some(stderr) = child.stderr.take() {
            tokio::spawn(keep_tail(stderr, Arc::clone(&tail)));
        }
        let end = CancellationToken::new();
        let (report, ended) = watch::channel(None);
        tokio::spawn(watched(child, group, lease, end.clone(), report));
        let stdout = Bounded { inner: stdout, line: 0, max: max_message, fault };
        Ok((Self { ended, end, tail }, (stdout, stdin)))
    }

    /// Ends the process and all that it started; its input was closed before.
    pub(super) async fn end(&self) {
        self.end.cancel();
        let mut ended = self.ended.clone();
        // An error means that it has ended.
        let _ = ended.wait_for(Option::is_some).await;
    }

    /// Returns why the output of the program ended.
    pub(super) async fn cause(&self) -> String {
        let mut ended = self.ended.clone();
        match timeout(ENDING, ended.wait_for(Option::is_some)).await {
            Ok(Ok(status)) => format!("the program ended with {}", status.as_deref().unwrap_or_default()),
            _ => "the program closed its standard output".to_owned(),
        }
    }

    /// Returns what the program wrote last to its standard error, for the operator.
    pub(super) fn last_words(&self) -> Option<String> {
        let tail = String::from_utf8_lossy(&self.tail.lock().ignore_poison()).into_owned();
        let last = tail.trim_end().lines().last().map(text::line)?;
        (!last.is_empty()).then_some(last)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end.cancel();
    }
}

fn command(launch: &Launch) -> Command {
    let mut command = reaper::command(&launch.program);
    command.args(&launch.arguments).env_clear();
    let passed = PASSED.iter().copied().chain(launch.inherits.iter().map(String::as_str));
    command.envs(passed.filter_map(|name| Some((name, env::var_os(name)?))));
    command.envs(launch.variables.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(folder) = &launch.folder {
        command.current_dir(folder);
    }
    #[cfg(unix)]
    command.process_group(0);
    command
}

/// Waits for the end of a process, or ends it; then kills what is left of its group.
async fn watched(
    mut child: Child,
    group: ProcessGroup,
    lease: Option<Lease>,
    end: CancellationToken,
    report: watch::Sender<Option<String>>,
) {
    let status = tokio::select! {
        status = child.wait() => Some(status),
        () = end.cancelled() => ended(&mut child, &group, lease).await,
    };
    drop(group);
    let status = match status {
        Some(status) => status,
        // Killed with its group; where there are no groups, by itself.
        None => child.kill().await.and(child.wait().await),
    };
    report.send_replace(Some(described(status)));
}

/// Waits until a process ends by itself, or because it is asked to.
async fn ended(child: &mut Child, group: &ProcessGroup, lease: Option<Lease>) -> Option<io::Result<ExitStatus>> {
    if let Some(lease) = lease {
        drop(lease);
        return timeout(REAPING, child.wait()).await.ok();
    }
    if let Ok(status) = timeout(GRACE, child.wait()).await {
        return Some(status);
    }
    #[cfg(unix)]
    group.terminate();
    #[cfg(not(unix))]
    let _ = group;
    timeout(GRACE, child.wait()).await.ok()
}

fn described(status: io::Result<ExitStatus>) -> String {
    status.map_or_else(|error| error.to_string(), |status| status.to_string())
}

async fn keep_tail(mut stderr: ChildStderr, tail: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = [0; 1024];
    while let Ok(read @ 1..) = stderr.read(&mut buffer).await {
        let mut tail = tail.lock().ignore_poison();
        tail.extend_from_slice(&buffer[..read]);
        let excess = tail.len().saturating_sub(TAIL);
        tail.drain(..excess);
    }
}

/// The output of a server, which ends if a line is too long: no message may take all memory.
#[derive(Debug)]
pub(super) struct Bounded<R> {
    inner: R,
    /// How many bytes the current line has.
    line: usize,
    max: usize,
    fault: EndReason,
}

impl<R: AsyncRead + Unpin> AsyncRead for Bounded<R> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        if self.fault.get().is_some() {
            return Poll::Ready(Ok(()));
        }
        std::task::ready!(Pin::new(&mut self.inner).poll_read(cx, buffer))?;
        let read = &buffer.filled()[before..];
        let longest = read.split(|byte| *byte == b'\n').map(<[u8]>::len).enumerate();
        let longest = longest.map(|(index, length)| if index == 0 { self.line + length } else { length }).max();
        self.line = match read.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => read.len() - end - 1,
            None => self.line + read.len(),
        };
        if longest.is_some_and(|longest| longest > self.max) {
            let _ = self
                .fault
                .set(format!("the server sent a message of more than {} bytes; raise its `max_message`", self.max));
            buffer.set_filled(before);
        }
        Poll::Ready(Ok(()))
    }
}
