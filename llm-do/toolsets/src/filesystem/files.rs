//! The files of one root, which the tools of a call share.

use std::path::PathBuf;
use std::sync::OnceLock;

use llm_do_core::plane::context::CallContext;
use tokio_util::sync::CancellationToken;

use super::fault::Fault;
use super::root::Root;
use super::settings::Filesystem;

/// A root folder, which is opened on first use and stays open until the call ends.
#[derive(Debug)]
pub(super) struct Files {
    path: PathBuf,
    settings: Filesystem,
    cancelled: CancellationToken,
    root: OnceLock<Root>,
}

impl Files {
    /// Returns the files of the project, or of the folder in the settings.
    pub(super) fn of_project(ctx: &CallContext) -> Self {
        Self::new(ctx, |settings| settings.root_in(ctx.project_root()))
    }

    /// Returns the files of the working directory. In a project, this is the project's root, unless the user names
    /// another folder.
    pub(super) fn of_working_directory(ctx: &CallContext) -> Self {
        Self::new(ctx, |_| ctx.working_folder().to_owned())
    }

    fn new(ctx: &CallContext, path: impl FnOnce(&Filesystem) -> PathBuf) -> Self {
        let settings = ctx.state::<Filesystem>().map(|settings| Filesystem::clone(&settings)).unwrap_or_default();
        Self { path: path(&settings), settings, cancelled: ctx.token().clone(), root: OnceLock::new() }
    }

    pub(super) fn root(&self) -> Result<&Root, Fault> {
        if let Some(root) = self.root.get() {
            return Ok(root);
        }
        let root = Root::open(&self.path, &self.settings, self.cancelled.clone())?;
        Ok(self.root.get_or_init(|| root))
    }
}
