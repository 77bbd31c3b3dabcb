//! A root call that is about to start, and a handle to observe it.

mod settings;

use std::future::IntoFuture;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::Runtime;
use crate::base::cancellation::cancelled_with;
use crate::base::error::CallError;
use crate::base::usage::{RunUsage, UsageTree};
use crate::declare::argument::Given;
use crate::declare::nesting;
use crate::declare::tool::{FromReturn, TakesHistory, Tool, ToolReturn, check_round_trip, from_result, to_arguments};
use crate::declare::toolset::Anything;
use crate::observe::event::ItemKind;
use crate::plane::call_stream::{CallStream, Pieces};
use crate::plane::context::CallContext;
use crate::plane::conversation::Conversation;
use crate::plane::dispatch::{ChatParts, Root, RunSettings, fresh_id};
use crate::plane::history::History;
use crate::plane::mailbox::{Mailbox, OpenMailbox, RunMessage, SendError};
use crate::plane::plan::Plan;

/// A root call of the item `C` that is about to start; `.await` runs it and returns a `T`.
///
/// Dropping the future cancels the run. Its [`handle`](Self::handle) has the usage and the history, however the run
/// ends. The settings apply to this run alone, so one [`Runtime`] can serve many users: see [in a
/// server](https://docs.rs/llm-do/latest/llm_do/server/index.html).
#[must_use = "a run does not start until it is awaited"]
pub struct Start<T, C = Anything> {
    root: Root,
    handle: RunHandle,
    read: fn(ToolReturn) -> Result<T, CallError>,
    types: PhantomData<fn() -> (T, C)>,
}

impl Runtime {
    /// Prepares a root call, to configure, observe or continue it; [`run`](Self::run) starts one directly.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// # use llm_do::prelude::*;
    /// # use llm_do::testing::TestModel;
    /// /// Greet a person.
    /// #[worker]
    /// async fn greet(input: String) -> String;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// let runtime = Runtime::builder().force_model(TestModel::new().text("Hello!")).build()?;
    /// let start = runtime.start(greet { input: "Ann".into() });
    /// let handle = start.handle();
    /// assert_eq!(start.await?, "Hello!");
    /// assert_eq!(handle.usage().model.requests, 1);
    /// assert_eq!(handle.history().messages().len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn start<T>(&self, call: T) -> Start<T::Output, T>
    where
        T: Tool<Output: FromReturn>,
    {
        let arguments = self.written(call).map(|value| Given { value, is_typed: true });
        self.begin(T::NAME, arguments, from_result::<T>)
    }

    /// Runs a worker, or an entry that passes one on, whose result arrives in parts; [`Start::stream`] does for a run with settings.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// # use llm_do::prelude::*;
    /// # use llm_do::testing::ScriptedModel;
    /// /// What a reviewer found.
    /// #[data]
    /// struct Review {
    ///     summary: String,
    ///     findings: Vec<String>,
    /// }
    ///
    /// /// Review a file.
    /// #[worker]
    /// async fn review(path: String) -> Review;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// # let found = Review { summary: "Two faults.".into(), findings: vec!["no test".into(), "no docs".into()] };
    /// # let model = ScriptedModel::new().output(found);
    /// let runtime = Runtime::builder().force_model(model).build()?;
    /// let mut stream = runtime.stream(review { path: "a.rs".into() });
    /// while let Some(partial) = stream.next().await {
    ///     let review = partial.fields();
    ///     println!("{} ({} findings)", review.summary.text(), review.findings.items().count());
    /// }
    /// let review = stream.result().await?;
    /// assert_eq!(review.findings, ["no test", "no docs"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn stream<T>(&self, call: T) -> CallStream<'static, T::Output>
    where
        T: Tool<Output: FromReturn>,
    {
        self.start(call).stream()
    }

    /// Prepares a root call by its registered name, with arguments as JSON; [`run_named`](Self::run_named) starts one
    /// directly.
    pub fn start_named(&self, name: &str, arguments: Value) -> Start<Value> {
        let arguments = nesting::shallow(arguments).map_err(|fault| CallError::invalid(name, fault));
        self.begin(name, arguments.map(Given::from), |returned| Ok(returned.into_value()))
    }

    /// Writes the arguments of a typed call, unless they would be decoded as different values.
    fn written<T: Tool>(&self, call: T) -> Result<Value, CallError> {
        let arguments = to_arguments(call)?;
        if self.plane.registry.get(T::NAME).map_or(Ok(false), |tool| tool.may_skip_fields())? {
            check_round_trip::<T>(&arguments)?;
        }
        Ok(arguments)
    }

    fn begin<T, C>(
        &self,
        name: &str,
        arguments: Result<Given, CallError>,
        read: fn(ToolReturn) -> Result<T, CallError>,
    ) -> Start<T, C> {
        let cancellation = self.cancellation.child_token();
        let chat = ChatParts::default();
        let user: Arc<OnceLock<CallContext>> = Arc::default();
        let id: Arc<OnceLock<Arc<str>>> = Arc::default();
        if self.plane.config.journal.is_none() {
            drop(id.set(fresh_id()));
        }
        let mailbox: Arc<Mailbox> = Arc::default();
        let handle = RunHandle {
            mailbox: Arc::clone(&mailbox),
            user: Arc::clone(&user),
            conversation: Arc::clone(&chat.conversation),
            cancellation: cancellation.clone(),
            id: Arc::clone(&id),
        };
        let (plane, name, settings) = (Arc::clone(&self.plane), name.to_owned(), RunSettings::default());
        let mailbox = OpenMailbox(mailbox);
        let root = Root { plane, name, arguments, chat, cancellation, user, id, settings, mailbox, under: None };
        Start { root, handle, read, types: PhantomData }
    }
}

impl<T, C> Start<T, C> {
    /// Returns the id of the run, which its events have in [`run`](crate::observe::event::Event::run); see [`RunHandle::id`].
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.handle.id()
    }

    /// Returns the result with its files: those that a tool attached or a worker's model created.
    ///
    /// A result of type [`ToolReturn`] always has its files; results of other types do not.
    pub fn with_files(self) -> Start<ToolReturn, C> {
        let Self { root, handle, .. } = self;
        Start { root, handle, read: Ok, types: PhantomData }
    }

    /// Sets the history that the worker continues. Default: empty.
    ///
    /// Tools and entries have no history: a typed call of one does not compile, and a call by name fails with
    /// [`CallError::NoHistory`] before anything runs.
    pub fn history(mut self, history: History) -> Self
    where
        C: TakesHistory,
    {
        let called = self.root.plane.registry.get(&self.root.name);
        if let Some(item) = called.filter(|item| item.kind() != ItemKind::Worker)
            && self.root.arguments.is_ok()
        {
            self.root.arguments =
                Err(CallError::NoHistory { tool: item.name().to_owned(), kind: item.kind().as_str() });
        }
        self.handle.conversation.replace(history);
        self
    }

    /// Continues a chat, and adds the new messages, threads and created workers to it.
    pub(super) fn continuing(mut self, chat: ChatParts) -> Self {
        self.handle.conversation = Arc::clone(&chat.conversation);
        self.root.chat = chat;
        self
    }

    /// Starts the run under a call of another run, as its child: see [`Runtime::run_under`].
    ///
    /// An approver of this [`Start`] decides instead of the other run's, except about calls that a policy of an outer
    /// runtime asks about. The stricter of both modes holds.
    pub fn under<S>(mut self, ctx: &CallContext<S>) -> Self {
        let id: Arc<OnceLock<Arc<str>>> = Arc::new(OnceLock::from(Arc::from(ctx.run_id())));
        self.handle.id = Arc::clone(&id);
        self.handle.mailbox = Arc::clone(ctx.host().mailbox());
        self.root.id = id;
        self.root.under = Some(ctx.declaring());
        self
    }

    /// Returns the result in parts: the run starts once the stream, or its result, is awaited.
    pub fn stream(self) -> CallStream<'static, T>
    where
        T: 'static,
    {
        let (start, pieces) = self.in_pieces();
        CallStream::new(start.into_future(), pieces)
    }

    /// Has the result arrive in pieces, which are returned.
    #[doc(hidden)]
    pub fn in_pieces(mut self) -> (Self, Arc<Pieces>) {
        let pieces = Arc::<Pieces>::default();
        self.root.settings.pieces = Some(Arc::clone(&pieces));
        (self, pieces)
    }

    /// Returns a handle to observe and cancel the run.
    #[must_use]
    pub fn handle(&self) -> RunHandle {
        self.handle.clone()
    }
}

impl<T: 'static, C> IntoFuture for Start<T, C> {
    type Output = Result<T, CallError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        let Self { mut root, read, .. } = self;
        match root.settings.cancellation.take() {
            Some(trigger) => Box::pin(async move {
                let token = root.cancellation.clone();
                read(cancelled_with(&trigger, &token, root.run()).await?)
            }),
            None => root.run().map(move |result| read(result?)).boxed(),
        }
    }
}

impl<T, C> std::fmt::Debug for Start<T, C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Start").field("name", &self.root.name).finish_non_exhaustive()
    }
}

/// A handle to observe, talk to and cancel a run, during and after it. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct RunHandle {
    mailbox: Arc<Mailbox>,
    user: Arc<OnceLock<CallContext>>,
    conversation: Arc<Conversation>,
    cancellation: CancellationToken,
    id: Arc<OnceLock<Arc<str>>>,
}

impl RunHandle {
    /// Returns the id of the run, which its events have in [`run`](crate::observe::event::Event::run).
    ///
    /// Without a journal, it is known before the run starts. With one, it is `None` until the run starts, since a
    /// resumed run has the id that the journal recorded; it is set before the first event.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.get().map(AsRef::as_ref)
    }

    /// Returns the usage of the run so far, even if it failed or was dropped.
    #[must_use]
    pub fn usage(&self) -> RunUsage {
        self.user.get().map(CallContext::usage).unwrap_or_default()
    }

    /// Returns how long the run has waited for people.
    #[doc(hidden)]
    #[cfg(feature = "serve")]
    pub fn waited(&self) -> std::time::Duration {
        self.user.get().map(CallContext::waited).unwrap_or_default()
    }

    /// Returns the usage by call.
    #[must_use]
    pub fn usage_tree(&self) -> UsageTree {
        self.user.get().map(CallContext::usage_tree).unwrap_or_default()
    }

    /// Returns the history of a worker's root call, including earlier messages, once the run has finished. Every
    /// provider accepts it.
    #[must_use]
    pub fn history(&self) -> History {
        self.conversation.history()
    }

    /// Returns what a [dry run](https://docs.rs/llm-do/latest/llm_do/dry_run/index.html) did not do so far; empty for other runs.
    ///
    /// For a run [under](Start::under) a dry run, this is the plan of the whole dry run.
    #[must_use]
    pub fn plan(&self) -> Plan {
        self.user.get().and_then(CallContext::plan).unwrap_or_default()
    }

    /// Sends a message to the run while it runs.
    ///
    /// It joins the conversation of the worker that it is addressed to, or else of the outermost worker that runs, once the model
    /// has answered and the calls of that answer are made. The model then gets one more request, also if its answer was the last
    /// one. A message that [interrupts](RunMessage::interrupt) ends the request in flight: the text that has arrived stays in the
    /// conversation. A call that runs, or that waits for approval, is waited for; further calls of that answer are not made.
    ///
    /// | | |
    /// |---|---|
    /// | before the run starts, or while no worker runs | the message waits for the next worker |
    /// | a question ([`llm_ask`](crate::plane::context::CallContext::llm_ask)), a shadow, a worker that a guard calls | takes no messages |
    /// | limits | the further requests count; at `max_turns`, the worker ends without the message |
    /// | guards | see the message in the next request |
    /// | events | [`UserMessage`](crate::observe::event::EventKind::UserMessage) once it has joined |
    /// | a journal | records it in its place, so that a resumed run has it there; a message that has not joined is lost with the process, except in a service |
    /// | a run [under](Start::under) another | has the messages of that run |
    /// | a tool that steers a run | has the handle as state, since arguments are JSON, which cannot hold it; see the second example |
    ///
    /// # Errors
    ///
    /// Returns [`SendError::Ended`] if the run has ended, [`SendError::Empty`] for a message without text, and
    /// [`SendError::Full`] if 100 messages wait.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// # use llm_do::prelude::*;
    /// # use llm_do::testing::TestModel;
    /// use llm_do::runtime::{RunMessage, SendError};
    ///
    /// /// Plan a journey.
    /// #[worker]
    /// async fn plan(input: String) -> String;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// # let model = TestModel::new().text("By train, on Friday.");
    /// let runtime = Runtime::builder().force_model(model).build()?;
    /// let start = runtime.start(plan { input: "To Rome.".into() });
    /// let handle = start.handle();
    /// handle.send("Not by plane.")?;
    /// assert_eq!(start.await?, "By train, on Friday.");
    /// assert_eq!(handle.history().messages().len(), 3);
    /// assert_eq!(handle.send(RunMessage::new("On Saturday.")), Err(SendError::Ended));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A tool that steers the run that it was given:
    ///
    /// ```standalone_crate
    /// # use llm_do::prelude::*;
    /// # use llm_do::testing::TestModel;
    /// use std::sync::{Arc, Mutex};
    ///
    /// use llm_do::runtime::RunHandle;
    ///
    /// /// The run that `tell_planner` steers.
    /// #[derive(Clone, Debug, Default)]
    /// struct Planner(Arc<Mutex<Option<RunHandle>>>);
    ///
    /// /// Plan a journey.
    /// #[worker]
    /// async fn plan(input: String) -> String;
    ///
    /// /// Tell the planner what has changed.
    /// #[tool(effect = idempotent)]
    /// fn tell_planner(text: String, planner: State<Planner>) -> Result<()> {
    ///     let planner = planner.0.lock().unwrap();
    ///     Ok(planner.as_ref().ok_or("no run plans")?.send(text)?)
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// # let model = TestModel::new().text("By train.");
    /// let planner = Planner::default();
    /// let runtime = Runtime::builder().force_model(model).state(planner.clone()).build()?;
    /// let start = runtime.start(plan { input: "To Rome.".into() });
    /// let handle = start.handle();
    /// *planner.0.lock().unwrap() = Some(handle.clone());
    /// runtime.run(tell_planner { text: "The airport is closed.".into() }).await?;
    /// start.await?;
    /// assert_eq!(handle.history().messages().len(), 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn send(&self, message: impl Into<RunMessage>) -> Result<(), SendError> {
        self.mailbox.send(message.into())
    }

    /// Sends a message, also if many wait: the service limits them.
    #[doc(hidden)]
    #[cfg(feature = "serve")]
    pub fn deliver(&self, message: RunMessage) -> Result<(), SendError> {
        self.mailbox.deliver(message)
    }

    /// Returns the messages to the run, without the rest of it.
    #[doc(hidden)]
    #[must_use]
    pub fn mailbox(&self) -> Arc<Mailbox> {
        Arc::clone(&self.mailbox)
    }

    /// Returns the messages that no worker has taken: those that wait, or that the run ended without.
    #[must_use]
    pub fn pending_messages(&self) -> Vec<RunMessage> {
        self.mailbox.pending()
    }

    /// Cancels the run.
    pub fn cancel(&self) {
        self.cancellation.cancel();
    }
}
