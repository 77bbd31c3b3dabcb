//! The linked items of a runtime, and the workers and tools that a program adds.

use std::path::Path;
use std::path::PathBuf;

use super::RuntimeBuilder;
use crate::declare::worker_file;
use crate::declare::worker_spec::WorkerSpec;
use crate::plane::definition::Location;
use crate::plane::function_tool::Alias;
use crate::plane::function_tool::FunctionTool;
use crate::plane::registry::LeftOut;
use crate::plane::registry::Origin;
use crate::session::runtime::BuildError;

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
        self.contents.workers.push((spec, caller()));
        self
    }

    /// Adds a tool: a [`FunctionTool`] or a [`SubtaskTool`](crate::plane::function_tool::SubtaskTool). Default: none.
    ///
    /// Models, code and worker files find it by its name like a linked one: `toolsets = ["name"]`,
    /// [`CallContext::call_tool`](crate::plane::context::CallContext::call_tool). If another item has the name, [`build`](Self::build)
    /// fails with both places.
    #[track_caller]
    pub fn tool(mut self, tool: impl Into<FunctionTool>) -> Self {
        self.contents.tools.push((tool.into(), caller()));
        self
    }

    /// Adds a tool that a file of a project defines.
    #[doc(hidden)]
    #[cfg(any(feature = "learn", feature = "script"))]
    pub fn tool_of_file(mut self, tool: FunctionTool, origin: Origin) -> Self {
        self.contents.tools.push((tool, origin));
        self
    }

    /// Adds the worker files of a folder, and returns its workers.
    #[doc(hidden)]
    pub fn read_worker_dir(mut self, folder: &Path) -> Result<(Self, Vec<(WorkerSpec, Origin)>), BuildError> {
        let store = self.worker_store.as_deref();
        let read = worker_file::read_dirs(&[folder.to_owned()], store).map_err(BuildError::WorkerFiles)?;
        let workers: Vec<_> = read.into_iter().map(|(spec, file)| (spec, Origin::File(file))).collect();
        self.contents.workers.extend(workers.clone());
        Ok((self, workers))
    }

    /// Adds the items that the files of a project define.
    #[doc(hidden)]
    pub fn with_files(mut self, workers: Vec<(WorkerSpec, Origin)>, aliases: Vec<(Alias, Origin)>) -> Self {
        self.contents.workers.extend(workers);
        self.contents.aliases.extend(aliases);
        self
    }

    /// Adds the items in files of other programs that cannot be used: they are an error only where an item names them.
    #[doc(hidden)]
    pub fn leaving_out(mut self, left_out: Vec<LeftOut>) -> Self {
        self.contents.left_out.extend(left_out);
        self
    }

    /// Includes only these linked tools, workers, entries and toolsets, with all of their direct and indirect
    /// declarations. Default: everything that is linked.
    ///
    /// For a session over a part of the program, such as a library with its own runtime: the state, models and names of
    /// the other items are not required. The callees of an item without a declaration must be named too. Workers and
    /// tools that are added to this builder are always included, with their declarations. Repeated calls add names.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use llm_do::prelude::*;
    ///
    /// /// Add two numbers.
    /// #[tool(effect = read_only)]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// struct Database;
    ///
    /// /// Count the rows.
    /// #[tool(effect = read_only)]
    /// fn rows(_database: State<Database>) -> u64 {
    ///     7
    /// }
    ///
    /// # fn main() -> Result<()> {
    /// // `rows` would need the state.
    /// let runtime = Runtime::builder().only(["add"]).build()?;
    /// assert_eq!(runtime.registry().iter().map(|item| item.name()).collect::<Vec<_>>(), ["add"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn only(mut self, names: impl IntoIterator<Item: Into<String>>) -> Self {
        self.contents.only.get_or_insert_default().extend(names.into_iter().map(Into::into));
        self
    }

    /// Adds the workers of all files named `*.worker` and `*.agent` directly inside a folder, in addition to earlier
    /// folders. Default: none.
    ///
    /// The files are read when the runtime is built, and their workers are found by name like linked ones. See
    /// [`worker`](macro@llm_do_macros::worker#a-worker-file-at-run-time) for the format. This needs the feature `worker-files`.
    pub fn worker_dir(mut self, path: impl Into<PathBuf>) -> Self {
        self.worker_dirs.push(path.into());
        self
    }

    /// Sets the folder where each worker that a model creates is written, as the worker file `NAME.worker`. Default:
    /// none is written.
    ///
    /// Creating a worker whose file exists fails, in any run. If a model replaces a worker that it created, its file is replaced too,
    /// and the earlier one is kept as `NAME.worker.0`, the next as `NAME.worker.1`; a file that was changed since is not replaced.
    /// Runs with a [tenant](crate::session::runtime::Start::tenant), which those of a service have, write to a hidden folder of their
    /// tenant, whose files no session loads by itself.
    ///
    /// The folder is created with the first file. Pass it to [`worker_dir`](Self::worker_dir) too to load the workers of earlier sessions; a missing folder
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

/// Returns the location where the program adds an item.
#[track_caller]
pub(super) fn caller() -> Origin {
    let caller = std::panic::Location::caller();
    Origin::Source(Location::new(caller.file(), caller.line()))
}
