//! `check`: could the program run?

use std::io::{self, Write};

use super::args::CheckOptions;
use super::{Failure, print};
use crate::base::printable::printable;
use crate::observe::event::ItemKind;
use crate::session::runtime::RuntimeBuilder;

/// Builds the runtime as `run` would, and says what is there.
///
/// An entry that may call a worker without a model is a failure; what a run may never meet is a warning.
pub(super) fn check(mut builder: RuntimeBuilder, options: &CheckOptions) -> Result<(), Failure> {
    if let Some(model) = &options.model {
        builder = builder.model(model);
    }
    let runtime = options.workers.added(builder).build().map_err(Failure::error)?;
    let findings = runtime.model_findings();
    for warning in &findings.warnings {
        // There is nobody left to warn if standard error is gone.
        let _ = writeln!(io::stderr(), "warning: {}", printable(warning));
    }
    if !findings.faults.is_empty() {
        return Err(Failure::Error(findings.faults.join("\n")));
    }
    let count = |kind| runtime.registry().iter().filter(|item| item.kind() == kind).count();
    let (tools, workers, entries) = (count(ItemKind::Tool), count(ItemKind::Worker), count(ItemKind::Entry));
    if tools + workers + entries == 0 {
        return Err(Failure::Error(runtime.registry().hint("", None)));
    }
    print(&format!("ok: {entries} entries, {workers} workers, {tools} tools"))
}
