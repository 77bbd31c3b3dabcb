//! The application's side of an interpreter process.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::super::limits::{MAX_LINE, MAX_PROCESS, MAX_TIME};
use super::protocol::{READY, Reply, Request, VARIABLE};
use crate::base::error::BoxError;

/// The timeout for the first line of the process.
const START: Duration = Duration::from_secs(10);
/// The timeout while the process computes. It is longer than the interpreter's own limit, so it applies only if that
/// fails.
const STALLED: Duration = Duration::from_secs(5 + MAX_TIME.as_secs());

/// The reason why a process has ended.
pub(super) type Ended = String;

/// A process that runs code; it is killed when this is dropped.
#[derive(Debug)]
pub(super) struct Process {
    _child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Process {
    /// Starts a program as an interpreter, or this program again.
    pub(super) async fn start(program: Option<&Path>) -> Result<Self, BoxError> {
        if program.is_none() && std::env::var_os(VARIABLE).is_some() {
            return Err("this program does not call `llm_do::script::interpreter_process` first in `main`".into());
        }
        let program = program.map_or_else(std::env::current_exe, |program| Ok(PathBuf::from(program)))?;
        let mut command = Command::new(program);
        command.env_clear().env(VARIABLE, "1").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.kill_on_drop(true).spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (Some(input), Some(output)) = (input, output) else { return Err("the process has no pipes".into()) };
        let mut process = Self { _child: child, input, output: BufReader::new(output) };
        let first = tokio::time::timeout(START, process.line()).await;
        if !matches!(&first, Ok(Ok(Some(line))) if line.trim_ascii_end() == READY.as_bytes()) {
            let advice = "call `llm_do::script::interpreter_process()` first in `main`";
            return Err(format!("the program did not start as an interpreter; {advice}").into());
        }
        Ok(process)
    }

    pub(super) async fn send(&mut self, request: &Request) -> Result<(), Ended> {
        let ended = |_| "its process ended".to_owned();
        let mut line = serde_json::to_string(request).map_err(|error| error.to_string())?;
        line.push('\n');
        self.input.write_all(line.as_bytes()).await.map_err(ended)?;
        self.input.flush().await.map_err(ended)
    }

    pub(super) async fn next(&mut self) -> Result<Reply, Ended> {
        match tokio::time::timeout(STALLED, self.line()).await {
            Err(_) => Err(format!("it computed for more than {} s", STALLED.as_secs())),
            Ok(Ok(Some(line))) if line.len() > MAX_LINE => {
                Err(format!("its calls or its result have more than {} MiB", MAX_LINE >> 20))
            }
            Ok(Ok(Some(line))) => serde_json::from_slice(&line).map_err(|error| error.to_string()),
            Ok(_) => Err(format!("its process used more than {} MiB of memory, or crashed", MAX_PROCESS >> 20)),
        }
    }

    /// Reads a line, of which at most one byte is beyond the maximum; `None` at the end.
    async fn line(&mut self) -> std::io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let read = (&mut self.output).take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line).await?;
        Ok((read > 0).then_some(line))
    }
}
