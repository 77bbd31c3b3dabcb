//! Limits, timeouts and cancellation.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::RuntimeBuilder;
use crate::base::usage::Limits;

impl RuntimeBuilder {
    /// Sets the maximum number of nested workers. Default: 5.
    ///
    /// Only calls of workers count, including those of [`llm_ask`](crate::plane::context::CallContext::llm_ask) and
    /// [`llm_agent`](crate::plane::context::CallContext::llm_agent); tools and entries between them do not. Calls of any kind may be
    /// nested 300 deep, at any depth of workers: enough for 100 workers with two other calls between each. A nested run
    /// counts as one more call.
    ///
    /// Calls that are nested deeper than 16 are polled on a thread with a larger stack. The thread-local and task-local values of
    /// the thread of their callers are not set there.
    pub fn max_depth(mut self, depth: u32) -> Self {
        self.config.max_depth = depth;
        self
    }

    /// Sets the maximum number of tools in a worker's requests. Default: 40.
    ///
    /// A worker with more declared tools has the tools `search_tools` and `load_tool` instead. Its model finds a tool
    /// by words of its name and description, and loads it. The tool is appended to each later request of the
    /// conversation, so that providers can cache the requests. Each declared tool can still be called.
    ///
    /// If the model's provider [searches tools](llm_do_providers::Profile::tool_search) itself, it receives all declared
    /// tools, and the model searches there; a [row of capabilities](llm_do_providers::CapabilityTable) with
    /// `tool_search: false` turns that off.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use llm_do::prelude::*;
    /// use llm_do::json;
    /// use llm_do::testing::ScriptedModel;
    ///
    /// /// Count the words of a text.
    /// #[tool(effect = read_only)]
    /// fn count_words(text: &str) -> usize {
    ///     text.split_whitespace().count()
    /// }
    ///
    /// /// Answer questions.
    /// #[worker(toolsets = [count_words])]
    /// async fn answer(input: String) -> String;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// let script = ScriptedModel::new()
    ///     .call("search_tools", json!({ "query": "number of words" }))
    ///     .call("load_tool", json!({ "name": "count_words" }))
    ///     .call("count_words", json!({ "text": "one two" }))
    ///     .text("Two words.");
    /// let runtime = Runtime::builder().max_tools(0).force_model(script.clone()).build()?;
    /// assert_eq!(runtime.run(answer { input: "How many words has \"one two\"?".into() }).await?, "Two words.");
    /// # Ok(())
    /// # }
    /// ```
    pub fn max_tools(mut self, tools: usize) -> Self {
        self.config.max_tools = tools;
        self
    }

    /// Sets the maximum number of concurrent calls in one turn. Default: 16.
    ///
    /// The calls that a model makes in one answer run together if all of them are `read_only`: calls of tools, and of workers whose
    /// [effect](crate::declare::tool::Effect) follows from their tools. So do neighboring calls that a script or the code of a model awaits together.
    /// Other calls run one after another. With 1, all calls do.
    ///
    /// It applies to each caller: concurrent workers may each have as many calls. Usage limits are checked before each
    /// request, so concurrent requests may exceed them together by their own usage.
    pub fn max_concurrent_calls(mut self, calls: NonZeroUsize) -> Self {
        self.config.max_concurrent_calls = calls;
        self
    }

    /// Sets how many bytes of a tool's result a worker's model gets, at least 1,024; a worker with a `max_result` has its own, and of a
    /// tool with one the lower of both applies. Default: 65,536, or an eighth of the [window](llm_do_providers::Profile::window) of a smaller
    /// model, at 4 bytes for a token.
    ///
    /// Of a longer result, or error, the model gets the beginning and the end, with how much is left out and a handle. The whole
    /// stays in the run: from then on, requests have the tools `result_read`, which returns a part that begins at a byte, and
    /// `result_search`, which finds a text. They need no approval, and do not count as calls. Functions, scripts and code of models get each
    /// result as a whole; events and journals have it as a whole too. With [`u64::MAX`], nothing is shortened.
    ///
    /// A run keeps such results until it ends, and a chat until it is dropped, each once: 8 MiB in memory, and up to 1 GiB in a
    /// temporary file without a name. A resumed run has them again. A chat that is loaded has none of its earlier ones: their
    /// handles return an error to call the tool again.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use llm_do::prelude::*;
    /// use llm_do::json;
    /// use llm_do::testing::ScriptedModel;
    ///
    /// /// Read the log.
    /// #[tool(effect = read_only)]
    /// fn read_log() -> String {
    ///     "all is well\n".repeat(1_000) + "disk full\n" + &"all is well\n".repeat(1_000)
    /// }
    ///
    /// /// Find out what went wrong.
    /// #[worker(toolsets = [read_log])]
    /// async fn diagnose(input: String) -> String;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// let script = ScriptedModel::new().call("read_log", json!({})).text("Nothing, as far as I see.");
    /// let runtime = Runtime::builder().max_result(2_000).force_model(script.clone()).build()?;
    /// runtime.run(diagnose { input: "Why does it stop?".into() }).await?;
    /// let asked = script.requests();
    /// assert!(asked[1].last_text().contains("22330 of 24010 bytes, from byte 1260 on; read it with `result_read`"));
    /// assert_eq!(&*asked[1].tools[1].name, "result_read");
    /// # Ok(())
    /// # }
    /// ```
    pub fn max_result(mut self, bytes: u64) -> Self {
        self.config.max_result = Some(bytes);
        self
    }

    /// Limits what a run may use in total. Default: unlimited, except for [`max_depth`](Self::max_depth).
    pub fn limits(mut self, limits: Limits) -> Self {
        self.config.limits = Some(Arc::new(limits));
        self
    }

    /// Limits what each call of the worker `name`, and all calls below it, may use, replacing the limits that the
    /// worker declares.
    ///
    /// The name may also be that of a worker that is created at run time, or `llm_ask`. If the name is not registered
    /// but resembles one that is, [`build`](Self::build) returns an error.
    pub fn worker_limits(mut self, name: impl Into<String>, limits: Limits) -> Self {
        self.config.worker_limits.insert(name.into(), Arc::new(limits));
        self
    }

    /// Sets the timeout of calls of the tool, worker or entry `name`, replacing the one that it declares.
    ///
    /// [`build`](Self::build) returns an error for a timeout of 0, and for a name that is not registered but
    /// resembles one that is. A timeout cannot stop a tool that runs `inline`.
    pub fn timeout(mut self, name: impl Into<String>, timeout: Duration) -> Self {
        self.config.timeouts.insert(name.into(), timeout);
        self
    }

    /// Sets the timeout of `close` for one instance of a toolset. Default: 10 seconds.
    ///
    /// This time does not count towards the call that opened the instance: `close` also runs after a timeout and if
    /// the run is dropped. A root call waits for it before it returns. If `close` times out, the call that waits for
    /// it fails.
    pub fn close_timeout(mut self, timeout: Duration) -> Self {
        self.config.close_timeout = timeout;
        self
    }

    /// Cancels all runs once `token` is cancelled.
    pub fn cancellation(mut self, token: CancellationToken) -> Self {
        self.cancellation = token;
        self
    }

    /// Changes the limits of runs.
    #[doc(hidden)]
    pub fn map_limits(mut self, change: impl FnOnce(Limits) -> Limits) -> Self {
        let limits = change(self.config.limits.take().map(Arc::unwrap_or_clone).unwrap_or_default());
        self.config.limits = Some(limits).filter(|limits| *limits != Limits::default()).map(Arc::new);
        self
    }

    /// Returns the token that cancels all runs.
    #[doc(hidden)]
    #[must_use]
    pub fn cancellation_token(&self) -> CancellationToken {
        self.cancellation.clone()
    }
}
