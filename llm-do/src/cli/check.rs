//! `check`: could the program run?

use super::{Failure, print};
use crate::event::Kind;
use crate::runtime::RuntimeBuilder;

/// Builds the runtime as `run` would, and says what is there.
pub(super) fn check(builder: RuntimeBuilder) -> Result<(), Failure> {
    let runtime = builder.build().map_err(Failure::error)?;
    let count = |kind| runtime.registry().iter().filter(|item| item.kind() == kind).count();
    let (tools, workers, entries) = (count(Kind::Tool), count(Kind::Worker), count(Kind::Entry));
    if tools + workers + entries == 0 {
        return Err(Failure::Error(runtime.registry().hint("", None)));
    }
    print(&format!("ok: {entries} entries, {workers} workers, {tools} tools"))
}
