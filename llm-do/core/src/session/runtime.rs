//! The session that runs share.

mod builder;
mod chat;
mod error;
mod named_limits;
mod root_calls;
mod start;

use std::future::IntoFuture;
use std::sync::Arc;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub use self::builder::Preset;
pub use self::builder::RuntimeBuilder;
pub use self::chat::{Chat, ChatHandle, ChatState};
pub use self::error::BuildError;
pub use self::start::{RunHandle, Start};
use crate::base::error::{BoxError, CallError};
use crate::declare::tool::{FromReturn, Tool};
use crate::observe::event;
use crate::plane::context::CallContext;
use crate::plane::dispatch::Plane;
#[cfg(feature = "serve")]
use crate::plane::guarantee::SqliteEvidence;
use crate::plane::guarantee::{HybridState, HybridStatus};
use crate::plane::model_choice::Findings;
use crate::plane::registry::Registry;

/// A session: the registry, approvals, models, state and event sinks that its runs share.
#[derive(Clone, Debug)]
pub struct Runtime {
    plane: Arc<Plane>,
    cancellation: CancellationToken,
    warnings: Arc<[String]>,
}

impl Runtime {
    /// Returns a builder of a session.
    pub fn builder() -> RuntimeBuilder {
        RuntimeBuilder::default()
    }

    /// Returns what is known of the hybrids with a [guarantee](RuntimeBuilder::guarantee).
    ///
    /// # Errors
    ///
    /// Returns an error if the evidence cannot be read.
    pub async fn hybrid_status(&self) -> Result<Vec<HybridStatus>, BoxError> {
        let known = self.plane.evidence.store().all().await?;
        Ok(known.iter().map(HybridState::status).collect())
    }

    /// Keeps the evidence of guarantees in a database, unless the program has a place for it.
    #[doc(hidden)]
    #[cfg(feature = "serve")]
    pub fn keep_evidence_in(&self, database: crate::observe::database::Database) -> Result<(), BoxError> {
        self.plane.evidence.set_default(Arc::new(SqliteEvidence::new(database)?));
        Ok(())
    }

    /// Runs an entry, or a single tool or worker, as the root call: `runtime.run(main { .. })`.
    ///
    /// Dropping the future cancels the run.
    ///
    /// # Errors
    ///
    /// Returns a [`CallError`] if the call could not run, or if it failed.
    pub async fn run<T>(&self, call: T) -> Result<T::Output, CallError>
    where
        T: Tool<Output: FromReturn>,
    {
        self.start(call).await
    }

    /// Runs an entry, or a single tool or worker, under a call of another run, as its child.
    ///
    /// For a library with its own runtime, so that there is one tree of calls. The caller does not need to declare the
    /// items that are called here.
    ///
    /// | from the other run | from this runtime |
    /// |---|---|
    /// | the run's id, the numbers and times of events, its sinks | sinks of its own, which get the events of this part |
    /// | limits, deadline, cancellation, usage | limits of its own, in addition |
    /// | the approver and the approval mode, unless this runtime's is `RejectAll` | the rules about which calls need approval |
    /// | its policy, where it is stricter | its policy, where it is stricter |
    /// | guards, which come first | guards of its own |
    /// | the journal, what the user is asked | registry, state, models, prices, settings, project root |
    ///
    /// The nesting of workers is counted from the outermost run, and limited by all outer runtimes. A call does not run
    /// if the policy of any of these runtimes blocks it: see [`Policy`](crate::plane::approval::Policy).
    ///
    /// # Errors
    ///
    /// Returns a [`CallError`] like [`CallContext::call`](crate::plane::context::CallContext::call).
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use llm_do::prelude::*;
    /// # use llm_do::testing::TestModel;
    ///
    /// /// Summarize a text.
    /// #[worker]
    /// async fn summarize(text: String) -> String;
    ///
    /// /// Summarizes with a model of its own, which may differ from the caller's.
    /// #[tool]
    /// async fn summary(ctx: &CallContext, text: String) -> Result<String> {
    ///     let own = Runtime::builder().only(["summarize"]);
    /// #   let own = own.force_model(TestModel::new().text("In short: nothing."));
    ///     Ok(own.build()?.run_under(ctx, summarize { text }).await?)
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// let approve_all = llm_do::approval::ApprovalMode::ApproveAll;
    /// let runtime = Runtime::builder().approval_mode(approve_all).build()?;
    /// let start = runtime.start(summary { text: "..".into() });
    /// let handle = start.handle();
    /// assert_eq!(start.await?, "In short: nothing.");
    /// assert_eq!(handle.usage().model.requests, 1, "it counts for the caller");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn run_under<S, T>(&self, ctx: &CallContext<S>, call: T) -> Result<T::Output, CallError>
    where
        T: Tool<Output: FromReturn>,
    {
        self.start(call).under(ctx).await
    }

    /// Runs an entry, tool or worker as the root call, by its registered name and with arguments as JSON.
    ///
    /// # Errors
    ///
    /// Returns a [`CallError`] like [`run`](Self::run), and [`CallError::NotFound`] for an unknown name.
    pub async fn run_named(&self, name: &str, arguments: Value) -> Result<Value, CallError> {
        self.start_named(name, arguments).await
    }

    /// Runs an entry, or a single tool or worker, from code that is not async, such as the `main` of a script.
    ///
    /// Returns once the root call has finished. A tool that blocks its thread past its timeout keeps running on it.
    ///
    /// # Errors
    ///
    /// Returns a [`CallError`] like [`run`](Self::run), and [`CallError::Blocking`] when called from async code,
    /// whose thread must not block; use `run(..).await` there.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use llm_do::prelude::*;
    ///
    /// /// Greet a person.
    /// #[tool(effect = read_only)]
    /// fn greet(name: &str) -> String {
    ///     format!("Hello, {name}!")
    /// }
    ///
    /// fn main() -> Result<()> {
    ///     let runtime = Runtime::builder().build()?;
    ///     assert_eq!(runtime.block_on(greet { name: "Ann".into() })?, "Hello, Ann!");
    ///     Ok(())
    /// }
    /// ```
    pub fn block_on<T>(&self, call: T) -> Result<T::Output, CallError>
    where
        T: Tool<Output: FromReturn>,
    {
        if tokio::runtime::Handle::try_current().is_ok() {
            return Err(CallError::Blocking { tool: T::NAME.to_owned() });
        }
        let fail = |source: std::io::Error| CallError::Failed { tool: T::NAME.to_owned(), source: source.into() };
        let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(fail)?;
        let result = tokio.block_on(self.start(call).into_future());
        // Dropping the runtime would wait for tools that block their threads past their timeouts.
        tokio.shutdown_background();
        result
    }

    /// Waits without a limit until every sink, including those of single runs, has processed all events so far.
    ///
    /// A root call that finishes waits for sinks that are [awaited](crate::observe::event::EventSink::is_awaited) too, but for at
    /// most 50 milliseconds.
    pub async fn flush(&self) {
        event::flush(&[&*self.plane.sinks, &*self.plane.run_sinks.all()].concat()).await;
    }

    /// Replaces the model of workers that declare none, from now on.
    #[doc(hidden)]
    pub fn replace_model(&self, name: &str) -> Result<(), String> {
        self.plane.models.replace(name)
    }

    /// Returns the name of the model of workers that declare none.
    #[doc(hidden)]
    #[must_use]
    pub fn model_name(&self) -> Option<String> {
        self.plane.models.session_model()
    }

    /// Returns the problems of models that `check` reports.
    #[doc(hidden)]
    #[must_use]
    pub fn model_findings(&self) -> Findings {
        self.plane.models.findings(&self.plane.registry)
    }

    /// Returns whether requests go to batches, unless their worker has another setting.
    #[doc(hidden)]
    #[must_use]
    pub fn is_batch(&self) -> bool {
        self.plane.config.settings.is_batch()
    }

    /// Returns whether guards may change or refuse answers of models.
    #[doc(hidden)]
    #[cfg(feature = "serve")]
    #[must_use]
    pub fn has_guards(&self) -> bool {
        self.plane.guards.is_some()
    }

    /// Returns the longest timeout of a tool or a worker.
    #[doc(hidden)]
    #[cfg(feature = "restate")]
    #[must_use]
    pub fn longest_timeout(&self) -> std::time::Duration {
        let declared = self.plane.registry.iter().filter_map(|item| item.timeout);
        declared.chain(self.plane.config.timeouts.values().copied()).max().unwrap_or_default()
    }

    /// Returns the warnings of the build: tools of servers whose schema is unusable, and rules of the policy that
    /// approve calls with arguments that no call can have.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns the registry.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.plane.registry
    }
}
