//! The check of types in a separate process, within limits of time and memory: the types of a short script can take
//! hours.

use tokio::runtime::{Builder, Runtime};

use super::super::checker::in_process;
use super::super::type_size;
use super::child::is_prepared;
use super::process::Process;
use super::protocol::{Reply, Request};

/// The maximum number of times that a limit ends the process; then no more scripts are checked.
const MAX_ENDS: u32 = 2;

/// Checks the types of scripts: in a process, if this program can be started as an interpreter.
///
/// It must be created and dropped outside of an async runtime.
#[derive(Debug, Default)]
pub(crate) struct TypeProcess {
    /// `None` before the first check, and after the process was killed.
    started: Option<(Process, Runtime)>,
    /// The number of times that a limit ended the process.
    ends: u32,
}

impl TypeProcess {
    /// Returns the output of the checker for a script and its stubs; an error if it takes too much time or memory.
    pub(crate) fn check(&mut self, text: &str, module: &str) -> Result<String, String> {
        if !is_prepared() {
            // In this process, a check cannot be stopped.
            type_size::check(text)?;
            return in_process(text, module);
        }
        if self.ends >= MAX_ENDS {
            return Err(format!("the check was ended {MAX_ENDS} times for other scripts"));
        }
        let (mut process, runtime) = match self.started.take() {
            Some(started) => started,
            None => start()?,
        };
        let request = Request::Types { text: text.to_owned(), module: module.to_owned() };
        let reply = runtime.block_on(async {
            process.send(&request).await?;
            process.next().await
        });
        match reply {
            Ok(Reply::Types(found)) => {
                self.started = Some((process, runtime));
                found
            }
            Ok(_) => Err("its process wrote what nothing asked for".to_owned()),
            Err(why) => {
                self.ends += 1;
                Err(why)
            }
        }
    }
}

fn start() -> Result<(Process, Runtime), String> {
    let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
    let process = runtime.block_on(Process::start(None)).map_err(|error| error.to_string())?;
    Ok((process, runtime))
}
