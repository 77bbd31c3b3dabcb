//! Configures the application with async or fallible code, for the commands that make calls.

use std::sync::Mutex;

use futures_util::future::LocalBoxFuture;
use llm_do_core::base::error::{Result, chain};
use llm_do_core::base::mutex::IgnorePoison;
use llm_do_core::session::runtime::RuntimeBuilder;
use tokio::runtime::{Builder, Runtime};

use super::CommandError;
use super::args::Command;

/// The function of [`Cli::configure_async`](super::Cli::configure_async).
pub(super) type Configure = Box<dyn FnOnce(RuntimeBuilder) -> LocalBoxFuture<'static, Result<RuntimeBuilder>>>;

/// The async runtime in which the application was configured; its resources, such as connections, end with it.
static STARTED: Mutex<Option<Runtime>> = Mutex::new(None);

/// Configures the application, unless the command makes no calls.
pub(super) fn configured(
    builder: RuntimeBuilder,
    configure: Configure,
    command: &Command,
) -> Result<RuntimeBuilder, CommandError> {
    if !makes_calls(command) {
        return Ok(builder.state_comes_later());
    }
    let runtime = async_runtime()?;
    let configured = runtime.block_on(async { configure(builder).await });
    if configured.is_ok() {
        *STARTED.lock().ignore_poison() = Some(runtime);
    } else {
        runtime.shutdown_background();
    }
    configured.map_err(|error| CommandError::Error(format!("cannot configure the application: {}", chain(&*error))))
}

/// Returns the async runtime of a command: the one in which the application was configured, if any.
pub(super) fn async_runtime() -> Result<Runtime, CommandError> {
    let started = STARTED.lock().ignore_poison().take();
    started.map_or_else(|| Builder::new_multi_thread().enable_all().build().map_err(CommandError::from_error), Ok)
}

/// Returns whether a command may call tools, workers or entries.
fn makes_calls(command: &Command) -> bool {
    #[cfg(feature = "serve")]
    let serves = matches!(command, Command::Serve(_));
    #[cfg(not(feature = "serve"))]
    let serves = false;
    match command {
        Command::Run(_) | Command::Call(_) | Command::Chat(_) => true,
        // The tools that it adds are among those of the decisions.
        Command::Approvals(_) => true,
        Command::Check(options) => options.replay.is_some(),
        Command::Harden(options) => !options.report,
        #[cfg(feature = "eval")]
        Command::Eval(options) => options.command.is_none(),
        #[cfg(feature = "mcp")]
        Command::Mcp(options) => options.command.is_none(),
        _ => serves,
    }
}
