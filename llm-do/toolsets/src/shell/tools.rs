//! The tool, and the nested tool for commands that need approval.

#![expect(clippy::missing_errors_doc, reason = "the docs of a tool are what models read")]

use llm_do_core::base::error::Result;
use llm_do_core::plane::context::CallContext;
use llm_do_core::plane::definition::EnvironmentDef;
use llm_do_macros::tool;
use serde_json::json;

use super::rules::Approved;
use super::run::PreparedCommand;
use super::settings::{SandboxKind, Shell};

/// Run one command, without a shell: no pipes, redirects, variables or globs. Returns its exit status and its output.
#[tool(approval = pre_approved, summary = "run {command}", toolsets = [shell_asked])]
pub async fn shell(
    ctx: &CallContext<shell>,
    /// The program and its arguments, quoted as in a POSIX shell.
    command: String,
    /// The seconds after which the command is killed.
    #[schemars(range(min = 1, max = 3600))]
    timeout: Option<u32>,
) -> Result<String> {
    let prepared = PreparedCommand::new(ctx, &command).await?;
    if let Some(approved) = prepared.approved()? {
        // This tool also runs in a dry run, for commands that only read.
        let changes = approved == Approved::Changing;
        if changes && let Some(planned) = ctx.plan_effect("command", &json!({ "command": command })) {
            return Ok(planned?);
        }
        return Ok(prepared.run(ctx, approved, timeout).await?);
    }
    let sandbox = prepared.sandbox();
    Ok(ctx.call(shell_asked { command, timeout, sandbox }).await?)
}

/// Run one command that only reads, without a shell: no pipes, redirects, variables or globs. Returns its exit status and its output. Other
/// commands are refused.
#[tool(approval = pre_approved, summary = "run {command}")]
pub async fn shell_readonly(
    ctx: &CallContext,
    /// The program and its arguments, quoted as in a POSIX shell.
    command: String,
    /// The seconds after which the command is killed.
    #[schemars(range(min = 1, max = 3600))]
    timeout: Option<u32>,
) -> Result<String> {
    let prepared = PreparedCommand::new(ctx, &command).await?;
    match prepared.approved()? {
        Some(approved @ Approved::Reading) => Ok(prepared.run(ctx, approved, timeout).await?),
        _ => Err(format!("`{command}` is refused: only commands that are known to read can run").into()),
    }
}

/// Run one command that no rule of the application approves.
#[tool(approval = ask, summary = "run {command}", preview = preview)]
pub async fn shell_asked(
    ctx: &CallContext,
    /// The program and its arguments, quoted as in a POSIX shell.
    command: String,
    /// The seconds after which the command is killed.
    #[schemars(range(min = 1, max = 3600))]
    timeout: Option<u32>,
    /// The sandbox in which the command runs, or a stronger one: it does not run in a weaker one.
    sandbox: SandboxKind,
) -> Result<String> {
    let prepared = PreparedCommand::new(ctx, &command).await?;
    prepared.check_sandbox(sandbox)?;
    Ok(prepared.run(ctx, Approved::Changing, timeout).await?)
}

inventory::submit! {
    EnvironmentDef { tools: &["shell", "shell_asked"], describe: environment }
}

/// Returns the working directory of commands and their access.
fn environment(ctx: &CallContext) -> String {
    let settings = ctx.state::<Shell>().map(|settings| Shell::clone(&settings)).unwrap_or_default();
    settings.environment(ctx.project_root())
}

fn preview(ctx: &CallContext, call: &shell_asked) -> Result<String> {
    Ok(PreparedCommand::new_blocking(ctx, &call.command)?.preview(call.sandbox))
}
