//! Settings of one run that replace or extend those of its runtime.

use std::any::Any;
use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{Plane, Run};
use crate::base::usage::Limits;
use crate::observe::event::{self, EventSink, Label};
use crate::observe::journal::Journal;
use crate::plane::approval::{ApprovalMode, Approvals, Approver};
use crate::plane::call_stream::Pieces;
use crate::plane::config::WorkingFolder;
use crate::plane::instance::TypeKey;
use crate::plane::plan::DryRun;
use crate::plane::user_input::InputHandler;

/// The parent folder of the folders of tenants. It is hidden, so that no project reads the files in it as its own
/// workers.
const TENANTS: &str = ".tenants";

/// The settings of one run; unset settings are taken from the runtime.
#[derive(Debug, Default)]
pub(crate) struct RunSettings {
    /// The sinks in addition to those of the runtime.
    pub(crate) sinks: Vec<Arc<dyn EventSink>>,
    pub(crate) approval_mode: Option<ApprovalMode>,
    pub(crate) approver: Option<Arc<dyn Approver>>,
    pub(crate) input_handler: Option<Arc<dyn InputHandler>>,
    /// The limits in addition to those of the runtime; the lower limit applies.
    pub(crate) limits: Option<Limits>,
    /// The id of the run, unless its journal has a different one.
    pub(crate) id: Option<Arc<str>>,
    /// The journal that records only this run.
    pub(crate) journal: Option<Arc<dyn Journal>>,
    pub(crate) project_root: Option<PathBuf>,
    pub(crate) state: HashMap<TypeKey, Arc<dyn Any + Send + Sync>>,
    /// The cancellation token in addition to that of the runtime.
    pub(crate) cancellation: Option<CancellationToken>,
    /// The tenant of the run, in a service.
    pub(crate) tenant: Option<Arc<str>>,
    /// The time that earlier processes spent on the run.
    pub(crate) time_spent: Duration,
    /// Whether the root call needs approval like any other call.
    pub(crate) gates_root: bool,
    /// Whose text the arguments of the root call may carry, if that was set.
    pub(crate) source: Option<Label>,
    /// Whether the root call, which is a call of a worker, returns its prompt instead of asking its model.
    pub(crate) renders_only: bool,
    /// Who receives the pieces of the result, if anyone does.
    pub(crate) pieces: Option<Arc<Pieces>>,
    /// Whether events have the content of requests.
    pub(crate) content: Option<bool>,
    /// Set if the run is a dry run, or a part of one.
    pub(crate) dry_run: Option<Arc<DryRun>>,
}

impl RunSettings {
    /// Returns the approvals of the run, if they differ from those of the runtime.
    pub(super) fn approvals(&mut self, plane: &Plane) -> Option<Approvals> {
        let (mode, approver) = (self.approval_mode, self.approver.take());
        (mode.is_some() || approver.is_some()).then(|| plane.approvals.for_run(mode, approver))
    }

    /// Returns the approvals of a nested run: the rules of both runtimes, with the other run's mode and approver unless
    /// it has its own approver or a stricter mode.
    pub(super) fn approvals_under(&mut self, plane: &Plane, outer: &Approvals) -> Approvals {
        let (mode, approver) = (self.approval_mode, self.approver.take());
        plane.approvals.under(outer, mode, approver)
    }

    /// Returns the journal of the run, if any. A dry run is not recorded, since it must never be resumed as a real run.
    pub(super) fn journal<'a>(&'a self, plane: &'a Plane) -> Option<&'a Arc<dyn Journal>> {
        self.journal.as_ref().or(plane.config.journal.as_ref()).filter(|_| self.dry_run.is_none())
    }

    /// Returns the limits of the run.
    pub(super) fn limits(&self, plane: &Plane) -> Option<Arc<Limits>> {
        lowest(self.limits.clone().map(Arc::new), plane.config.limits.clone())
    }
}

/// Returns the folder name of a tenant, which is distinct on every file system: characters other than lower-case
/// letters, digits, `-` and `_` are written as `%` and two digits.
fn folder_name(tenant: &str) -> String {
    let mut name = String::with_capacity(tenant.len());
    for byte in tenant.bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => name.push(byte.into()),
            other => _ = write!(name, "%{other:02x}"),
        }
    }
    name
}

/// Returns limits that satisfy both: the lower one of each limit.
pub(super) fn lowest(left: Option<Arc<Limits>>, right: Option<Arc<Limits>>) -> Option<Arc<Limits>> {
    match (left, right) {
        (Some(left), Some(right)) => Some(Arc::new(left.lowest(&right))),
        (left, right) => left.or(right),
    }
}

impl Run {
    /// Returns the approvals of this run.
    pub(super) fn approvals(&self) -> &Approvals {
        self.approvals.as_ref().unwrap_or(&self.plane.approvals)
    }

    /// Returns the input handler of this run, if any.
    pub(super) fn run_input_handler(&self) -> Option<&Arc<dyn InputHandler>> {
        let outer = || self.outer.as_ref().and_then(|outer| outer.run_input_handler());
        let own = || self.plane.config.input_handler.as_ref();
        self.settings.input_handler.as_ref().or_else(outer).or_else(own)
    }

    /// Returns the journal of this run, if any; a nested run is recorded in the outer run's journal.
    pub(super) fn run_journal(&self) -> Option<&Arc<dyn Journal>> {
        let outermost = self.outermost();
        // A dry run may be a part of a real run.
        outermost.settings.journal(&outermost.plane).filter(|_| self.settings.dry_run.is_none())
    }

    /// Returns whether events have the content of requests.
    pub(super) fn has_content(&self) -> bool {
        let outer = || self.outer.as_ref().map(|outer| outer.has_content());
        self.settings.content.or_else(outer).unwrap_or(self.plane.config.content)
    }

    /// Returns the folder below which this run reads files.
    pub(super) fn run_project_root(&self) -> &Path {
        self.settings.project_root.as_ref().unwrap_or(&self.plane.config.project_root)
    }

    /// Returns the folder that tools of the working directory use.
    pub(super) fn run_working_folder(&self) -> &Path {
        match &self.plane.config.working_folder {
            WorkingFolder::OfProcess => Path::new("."),
            WorkingFolder::OfProject => self.run_project_root(),
            WorkingFolder::Given(folder) => folder,
        }
    }

    /// Returns the folder for the files of created workers, if any; in a service, the folder of the run's tenant.
    pub(super) fn worker_store(&self) -> Option<PathBuf> {
        let store = self.plane.worker_store.as_ref()?;
        let tenant = self.outermost().settings.tenant.as_deref();
        Some(tenant.map_or_else(|| store.clone(), |tenant| store.join(TENANTS).join(folder_name(tenant))))
    }

    /// Returns the state of a type from the run, or else from the runtime.
    pub(super) fn run_state(&self, of: TypeKey) -> Option<Arc<dyn Any + Send + Sync>> {
        self.settings.state.get(&of).or_else(|| self.plane.config.state.get(&of)).cloned()
    }

    /// Waits until all sinks of this run have processed their events, or have timed out.
    pub(super) async fn settle(&self) {
        if self.events.sinks.is_open() {
            event::flush_with_timeout(&[self.runtime_sinks(), &*self.events.sinks.sinks()].concat()).await;
        } else {
            event::flush_with_timeout(self.runtime_sinks()).await;
        }
    }

    /// Reports events to the sinks of this run until the returned guard is dropped.
    pub(super) fn open_sinks(self: &Arc<Self>) -> OpenSinks {
        self.plane.run_sinks.add(&self.events.sinks.sinks());
        OpenSinks(Arc::clone(self))
    }
}

/// A guard that closes the sinks of a run when dropped, even if the run is still referenced.
pub(super) struct OpenSinks(Arc<Run>);

impl Drop for OpenSinks {
    fn drop(&mut self) {
        let Self(run) = self;
        run.plane.run_sinks.release(run.events.sinks.close());
    }
}

#[cfg(test)]
mod tests {
    use super::folder_name;

    #[test]
    fn no_two_tenants_share_a_folder_and_none_leaves_the_store() {
        assert_eq!(folder_name("web-1_a"), "web-1_a");
        assert_eq!(folder_name("Web"), "%57eb");
        assert_eq!(folder_name("../x/y"), "%2e%2e%2fx%2fy");
        assert_eq!(folder_name("%57eb"), "%2557eb");
    }
}
