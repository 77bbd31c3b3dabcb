//! An entry that waits for a person while other code is deployed.

use llm_do::prelude::*;
use llm_do::runtime::{FunctionTool, RuntimeBuilder};
use llm_do::serve::{Service, ServiceError};
use llm_do::{Effect, Value, json};

use crate::work::{Effects, act, act_if_approved};

/// Which code is deployed, by the environment variable `LLM_DO_TEST_CODE`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Code {
    /// The variable is not set: releases are not offered.
    Unset,
    First,
    /// Another tool, another description, more progress; the steps of runs are the same.
    Later,
    /// The first step of a run is another one.
    OtherSteps,
}

impl Code {
    pub(crate) fn deployed() -> Self {
        match std::env::var("LLM_DO_TEST_CODE").as_deref() {
            Ok("later") => Self::Later,
            Ok("other steps") => Self::OtherSteps,
            Ok(_) => Self::First,
            Err(_) => Self::Unset,
        }
    }

    pub(crate) fn build(self, runtime: RuntimeBuilder) -> RuntimeBuilder {
        let describe = if self == Self::Later { "Show what a release changes." } else { "Show notes." };
        let runtime = runtime.state(self).tool(notes("notes", describe));
        if self == Self::Later { runtime.tool(notes("archive", "Show old notes.")) } else { runtime }
    }

    pub(crate) fn offer(self, service: Service) -> Result<Service, ServiceError> {
        service.entries(
            match self {
                Self::Unset => &["work", "crash"][..],
                Self::First | Self::OtherSteps => &["work", "release", "notes"],
                Self::Later => &["work", "release", "notes", "archive"],
            }
            .iter()
            .copied(),
        )
    }
}

fn notes(name: &str, description: &str) -> FunctionTool {
    let show = |_, _: Value| async { Ok("none") };
    FunctionTool::new(name, description, json!({ "type": "object" }), Effect::ReadOnly, show)
}

/// Builds a version, ships it once a person agrees, and announces it.
#[entry(toolsets = [act, act_if_approved])]
async fn release(
    ctx: &CallContext<release>,
    version: String,
    code: State<Code>,
    _effects: State<Effects>,
) -> Result<Vec<String>> {
    let what = |part: &str| format!("{version}-{part}");
    let first = if *code == Code::OtherSteps { "checked" } else { "built" };
    let built = ctx.call(act { what: what(first) }).await?;
    if *code == Code::Later {
        ctx.progress("about to ship");
    }
    let shipped = ctx.call(act_if_approved { what: what("shipped") }).await?;
    Ok(vec![built, shipped, ctx.call(act { what: what("announced") }).await?])
}
