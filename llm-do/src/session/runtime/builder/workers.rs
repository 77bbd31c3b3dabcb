//! Workers added to the linked ones.

use std::path::PathBuf;

use super::RuntimeBuilder;
use crate::declare::worker_spec::WorkerSpec;
use crate::plane::definition::Location;
use crate::plane::registry::Origin;

impl RuntimeBuilder {
    /// Adds a worker, which models, code and toolsets find by its name like a linked one. Default: none.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// # use llm_do::prelude::*;
    /// # use llm_do::testing::TestModel;
    /// use llm_do::worker::WorkerSpec;
    /// use llm_do::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// let translator = WorkerSpec::new("translator", "Translate into French.");
    /// let model = TestModel::new().text("Bonjour !");
    /// let runtime = Runtime::builder().worker(translator).force_model(model).build()?;
    /// assert_eq!(runtime.run_named("translator", json!({ "input": "Hello!" })).await?, "Bonjour !");
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn worker(mut self, spec: WorkerSpec) -> Self {
        let caller = std::panic::Location::caller();
        self.workers.push((spec, Origin::Source(Location::new(caller.file(), caller.line()))));
        self
    }

    /// Adds the workers of all files named `*.worker` and `*.agent` directly inside a folder, in addition to earlier
    /// folders. Default: none.
    ///
    /// The files are read when the runtime is built, and their workers are found by name like linked ones. See
    /// [`worker`](macro@crate::worker#a-worker-file-at-run-time) for the format.
    pub fn worker_dir(mut self, path: impl Into<PathBuf>) -> Self {
        self.worker_dirs.push(path.into());
        self
    }

    /// Sets the folder where each worker that a model creates is written, as the worker file `NAME.worker`. Default:
    /// none is written.
    ///
    /// No file is overwritten: creating a worker whose file exists fails. The folder is created with the first file.
    /// Pass it to [`worker_dir`](Self::worker_dir) too to load the workers of earlier sessions; a missing folder
    /// counts as empty.
    ///
    /// A file is completely written to disk before its worker can be called. A run that is resumed from a
    /// [journal](Self::journal) has the workers that it created before, even if their files were loaded since; if a
    /// file was changed, resuming fails with an error.
    #[cfg(feature = "workers")]
    pub fn worker_store(mut self, path: impl Into<PathBuf>) -> Self {
        self.worker_store = Some(path.into());
        self
    }
}
