//! What the services do that tests kill. Each effect is a line of a file, synced to disk: what was done, and a number that no other
//! effect has.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::time::Duration;

use llm_do::json;
use llm_do::model::{Message, Request, UserPart};
use llm_do::prelude::*;
use llm_do::testing::{Answer, FunctionModel};

/// How long it takes until the answer to an effect that must not be made twice: a process that is killed meanwhile has made it, and has not
/// recorded it.
const ANSWER: Duration = Duration::from_millis(3);

/// The file of effects.
#[derive(Clone, Debug)]
pub(crate) struct Effects(pub(crate) PathBuf);

impl Effects {
    /// Adds a line and returns its number.
    fn add(&self, what: &str) -> Result<String> {
        let number = format!("{:x}", std::time::UNIX_EPOCH.elapsed()?.as_nanos());
        let mut file = OpenOptions::new().append(true).create(true).open(&self.0)?;
        file.write_all(format!("{what} {number}\n").as_bytes())?;
        file.sync_data()?;
        Ok(format!("{what} {number}"))
    }

    /// Adds a line, and returns it after a while.
    fn add_slowly(&self, what: &str) -> Result<String> {
        let line = self.add(what)?;
        std::thread::sleep(ANSWER);
        Ok(line)
    }

    /// Returns the line of an effect, if it has happened.
    fn find(&self, what: &str) -> Result<Option<String>> {
        let text = match fs::read_to_string(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            text => text?,
        };
        let is_its = |line: &&str| line.strip_prefix(what).is_some_and(|rest| rest.starts_with(' '));
        Ok(text.lines().find(is_its).map(str::to_owned))
    }
}

/// Have an effect.
#[tool(effect = idempotent, approval = pre_approved)]
pub(crate) fn act(what: String, effects: State<Effects>) -> Result<String> {
    effects.add(&what)
}

/// Have an effect that needs approval.
#[tool(effect = destructive)]
pub(crate) fn act_if_approved(what: String, effects: State<Effects>) -> Result<String> {
    effects.add_slowly(&what)
}

/// Have an effect that is not declared.
#[tool(approval = pre_approved)]
fn act_undeclared(what: String, effects: State<Effects>) -> Result<String> {
    effects.add_slowly(&what)
}

/// Have an effect; the caller gets an error if its outcome is unknown.
#[tool(effect = destructive, approval = pre_approved, on_unknown = report)]
fn act_or_report(what: String, effects: State<Effects>) -> Result<String> {
    effects.add_slowly(&what)
}

/// Have an effect that can be looked up.
#[tool(effect = destructive, approval = pre_approved, reconcile = look_up)]
fn act_known(what: String, effects: State<Effects>) -> Result<String> {
    effects.add_slowly(&what)
}

/// Return the line of an effect, if it has happened.
#[tool(effect = read_only)]
fn look_up(what: String, effects: State<Effects>) -> Result<Option<String>> {
    effects.find(&what)
}

impl Effects {
    /// Waits until the file `go` is beside the effects, and ends the process after an effect.
    fn crash(&self) -> Result<String> {
        while !self.0.with_file_name("go").exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.add("crash")?;
        std::process::abort()
    }
}

/// End the process.
#[tool(effect = read_only)]
pub(crate) fn crash_reading(effects: State<Effects>) -> Result<String> {
    effects.crash()
}

/// End the process after an effect.
#[tool(effect = destructive, approval = pre_approved)]
pub(crate) fn crash_paying(effects: State<Effects>) -> Result<String> {
    effects.crash()
}

/// Ends the process.
#[entry(toolsets = [crash_reading, crash_paying])]
async fn crash(ctx: &CallContext<crash>, pays: bool) -> Result<String> {
    Ok(if pays { ctx.call(crash_paying {}).await? } else { ctx.call(crash_reading {}).await? })
}

/// Do two things.
#[worker(toolsets = [act, act_undeclared])]
async fn clerk(input: String) -> String;

/// Returns what an effect returned, or its line if its outcome is unknown and it has happened; `None` if it has not.
async fn looked_up(ctx: &CallContext<work>, what: &str, result: Result<String, CallError>) -> Result<Option<String>> {
    match result {
        Err(CallError::OutcomeUnknown { .. }) => Ok(ctx.call(look_up { what: what.to_owned() }).await?),
        result => Ok(Some(result?)),
    }
}

/// Has an effect whose unknown outcome is reported.
async fn reported(ctx: &CallContext<work>, what: &str) -> Result<String> {
    loop {
        let result = ctx.call(act_or_report { what: what.to_owned() }).await;
        if let Some(line) = looked_up(ctx, what, result).await? {
            return Ok(line);
        }
    }
}

/// Has an effect of its own whose unknown outcome is reported.
async fn own(ctx: &CallContext<work>, what: &str, effects: &Effects) -> Result<String> {
    loop {
        let (acting, line) = (effects.clone(), what.to_owned());
        let effect = async move {
            let line = acting.add(&line)?;
            tokio::time::sleep(ANSWER).await;
            Ok(line)
        };
        let result = ctx.destructive_effect("act", what, effect).await;
        if let Some(line) = looked_up(ctx, what, result).await? {
            return Ok(line);
        }
    }
}

/// Does all that a run can do, and returns what each effect returned.
#[entry(toolsets = [act, act_if_approved, act_known, act_or_report, clerk, look_up])]
async fn work(ctx: &CallContext<work>, name: String, effects: State<Effects>) -> Result<Vec<String>> {
    let what = |part: &str| format!("{name}-{part}");
    let mut done = vec![ctx.call(act { what: what("first") }).await?];
    done.push(ctx.call(act_if_approved { what: what("approved") }).await?);
    let (left, right) =
        futures_util::join!(ctx.call(act { what: what("left") }), ctx.call(act_if_approved { what: what("right") }));
    done.extend([left?, right?]);
    done.push(reported(ctx, &what("reported")).await?);
    done.push(own(ctx, &what("own"), &effects).await?);
    done.push(ctx.call(act_known { what: what("known") }).await?);
    ctx.sleep(Duration::from_millis(50)).await?;
    done.extend(ctx.call(clerk { input: name.clone() }).await?.split(", ").map(str::to_owned));
    let answer = ctx.request_user_input("Go on?").await?;
    done.push(ctx.call(act { what: what(&answer) }).await?);
    Ok(done)
}

/// Return the number of this process.
#[tool(effect = read_only)]
fn process() -> u32 {
    std::process::id()
}

/// Report where you run.
#[worker(toolsets = [process])]
async fn reporter(input: String) -> String;

/// Has many workers report together where they run.
#[entry(toolsets = [reporter])]
async fn report_together(ctx: &CallContext<report_together>, count: usize) -> Result<Vec<String>> {
    let reports = (0..count).map(|n| ctx.call(reporter { input: n.to_string() }));
    Ok(futures_util::future::try_join_all(reports).await?)
}

/// A clerk that acts twice and answers with both results, and a reporter.
pub(crate) fn model() -> FunctionModel {
    FunctionModel::answering(|request: Request<'_>| {
        let results: Vec<_> = request.messages.iter().flat_map(tool_results).collect();
        let task = request.messages.iter().find_map(prompt).unwrap_or_default();
        let is_reporter = request.tools.iter().any(|tool| *tool.name == *"process");
        match results.len() {
            0 if is_reporter => Answer::call("process", json!({})),
            done @ (0 | 1) if !is_reporter => {
                let tool = if done == 0 { "act" } else { "act_undeclared" };
                Answer::call(tool, json!({ "what": format!("{task}-clerk{done}") }))
            }
            _ => Answer::text(results.join(", ")),
        }
    })
}

fn prompt(message: &Message) -> Option<String> {
    let Message::User { parts } = message else { return None };
    parts.iter().find_map(|part| match part {
        UserPart::Text { text } => Some(text.clone()),
        _ => None,
    })
}

fn tool_results(message: &Message) -> Vec<String> {
    let Message::Tool { results } = message else { return Vec::new() };
    results.iter().map(|result| result.content.clone()).collect()
}
