//! Observation of runs: sinks, the clock of events, shadows.

use std::path::PathBuf;
use std::sync::Arc;

use llm_do_bounds::Guarantee;

use super::RuntimeBuilder;
use crate::base::clock::Clock;
use crate::declare::refine::{Refine, refine};
use crate::declare::worker_spec::WorkerSpec;
use crate::observe::event::{Callback, Event, EventSink};
use crate::plane::dispatch::Shadow;
use crate::plane::guarantee::FileEvidence;

impl RuntimeBuilder {
    /// Adds a sink, which receives all events.
    ///
    /// It is called on a separate thread, unless it chooses otherwise, so runs do not wait for it: see [`EventSink`].
    /// Dropping the last clone of the runtime waits until the sink has processed its events, at most 2 seconds.
    pub fn sink(self, sink: impl EventSink + 'static) -> Self {
        self.shared_sink(Arc::new(sink))
    }

    /// Adds a sink that the program also keeps, such as a file to close later.
    pub fn shared_sink(mut self, sink: Arc<dyn EventSink>) -> Self {
        self.sinks.push(sink);
        self
    }

    /// Adds a closure as a sink: calls `f` with each event, on a separate thread.
    ///
    /// ```standalone_crate
    /// use std::sync::{Arc, Mutex};
    ///
    /// use llm_do::event::EventKind;
    /// use llm_do::prelude::*;
    ///
    /// /// Add two numbers.
    /// #[tool(effect = read_only)]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// let called = Arc::new(Mutex::new(Vec::new()));
    /// let names = called.clone();
    /// let builder = Runtime::builder().on_event(move |event| {
    ///     if matches!(event.kind, EventKind::CallStarted { .. }) {
    ///         names.lock().unwrap().push(event.name.clone());
    ///     }
    /// });
    /// let runtime = builder.build()?;
    /// runtime.run(add { a: 1, b: 2 }).await?;
    /// runtime.flush().await;
    /// assert_eq!(*called.lock().unwrap(), ["add".into()]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_event(self, f: impl FnMut(&Arc<Event>) + Send + 'static) -> Self {
        self.sink(Callback::new(f))
    }

    /// Sets whether events have the content of requests to models: messages, instructions, definitions of tools, and files.
    /// Default: false, since content may be personal, secret and long.
    ///
    /// Each [`ModelRequest`](crate::observe::event::EventKind::ModelRequest) has what is new to the model; see
    /// [`RequestContent`](crate::observe::event::RequestContent). Arguments, results and answers are in events in any case.
    ///
    /// # Examples
    ///
    /// ```
    /// use llm_do::event::JsonLines;
    /// use llm_do::prelude::*;
    ///
    /// let log = JsonLines::new(Vec::new());
    /// let runtime = Runtime::builder().sink(log).content(true).build()?;
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn content(mut self, yes: bool) -> Self {
        self.config.content = yes;
        self
    }

    /// Sets the maximum number of events that wait for a sink that is called on a separate thread. Default: 4,096.
    ///
    /// Once the queue is full, new events are dropped until half of it is free; an
    /// [`EventKind::Dropped`](crate::observe::event::EventKind::Dropped) reports how many are missing.
    pub fn sink_capacity(mut self, events: usize) -> Self {
        self.config.sink_capacity = events;
        self
    }

    /// Sets the clock of events and of [`CallContext::now`](crate::plane::context::CallContext::now). Default: the system clock.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.config.clock = Arc::new(clock);
        self
    }

    /// Lets code answer the calls of a worker if it is sure of the answer: `tool` is called first, and `worker` answers
    /// if the tool fails or abstains with [`Unsure`](crate::base::error::Unsure). Default: none.
    ///
    /// A worker that is defined at run time can name the tool itself: `hybrid: TOOL` in its file, or [`WorkerSpec::hybrid`]. The tool that
    /// is named here takes precedence.
    ///
    /// Callers still call the worker, by type or by name. The tool takes the worker's arguments, and its result must be
    /// valid for the worker; an invalid result is a failure. Both names are registered names.
    ///
    /// - The tool's call is a call on the plane below the worker's: by its own rules it may need approval, and it is limited,
    ///   journaled and reported. [`EventKind::Hybrid`](crate::observe::event::EventKind::Hybrid) reports whether it answered.
    /// - Errors that end a run end it here too: a denial, a limit, a cancellation. The worker needs a model in any
    ///   case.
    /// - A call with an [unknown](crate::base::error::CallError::OutcomeUnknown) outcome fails with that error: the
    ///   worker does not answer, since it may repeat an effect.
    /// - If the tool abstains or fails after a call that it made may have changed something, the call of the worker fails: the worker may repeat
    ///   the change. A call changes something if its tool is not `effect = read_only`, unless it was denied. What the tool itself does in its body
    ///   does not count: it fails or abstains only if it has changed nothing.
    /// - With earlier messages, those of a thread too, the worker answers without asking the tool, since the answer depends on more than
    ///   the arguments. An answer of code joins the chat or the thread as one of the worker: the next message continues it. It is
    ///   not in the history of a root call without a chat.
    /// - A tool whose arguments or results cannot be those of the worker is an error when the runtime is built, with both signatures.
    /// - A [shadow](Self::shadow) of the tool runs the worker itself, so that `Shadow::of(tool, worker)` checks the answers of code.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use llm_do::error::Unsure;
    /// use llm_do::prelude::*;
    /// # use llm_do::testing::TestModel;
    ///
    /// /// Return the age of the person in a note.
    /// #[worker]
    /// async fn age(note: String) -> u32;
    ///
    /// /// Return the age of the person in a note.
    /// #[tool(effect = read_only)]
    /// fn age_by_rule(note: &str) -> Result<u32> {
    ///     let digits: String = note.chars().filter(char::is_ascii_digit).collect();
    ///     Ok(digits.parse().map_err(|_| Unsure::new("the note has no digits"))?)
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// let builder = Runtime::builder().hybrid("age", "age_by_rule");
    /// # let builder = builder.force_model(TestModel::new().output(llm_do::json!({ "result": 40 })));
    /// let runtime = builder.build()?;
    /// assert_eq!(runtime.run(age { note: "Ann is 30.".into() }).await?, 30, "by code");
    /// assert_eq!(runtime.run(age { note: "Bob is forty.".into() }).await?, 40, "by the model");
    /// # Ok(())
    /// # }
    /// ```
    pub fn hybrid(mut self, worker: impl Into<String>, tool: impl Into<String>) -> Self {
        self.hybrids.push((worker.into(), tool.into()));
        self
    }

    /// Lets code answer in a [hybrid](Self::hybrid) only while comparisons show that it disagrees with the worker seldom enough. Default: none,
    /// and code answers whenever it is sure.
    ///
    /// At first the worker answers, and each answer of code is compared with its answer. Code answers once an upper confidence bound of its
    /// disagreement is at most that of the guarantee: with [`Guarantee::new(0.02, 0.95)`](crate::app::harden::Guarantee), after
    /// [about 200 comparisons](crate::app::harden::Guarantee::comparisons_needed) that all agree. From then on a part of the calls is compared, all
    /// of them at first and at least one of twenty, drawn at random: in these the worker answers too, and its answer counts. When the bound is
    /// above the guarantee, or the disagreement has risen, the worker answers again, and
    /// [`EventKind::Guarantee`](crate::observe::event::EventKind::Guarantee) reports it; comparisons may then show that code is good enough again.
    ///
    /// The bound holds whenever it is looked at: [the guide to hardening](https://docs.rs/llm-do/latest/llm_do/harden/index.html#guarantees) describes it,
    /// and where the evidence is kept. Evidence is about one definition of the worker, version of the tool and model: it starts again when
    /// a part changes.
    ///
    /// - The tool must be `effect = read_only`, since it also runs in calls that the worker answers.
    /// - Calls in which the tool abstains or fails, or that it does not take part in, show nothing.
    /// - A run that is resumed repeats the decision, which is a step in the journal.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use llm_do::harden::Guarantee;
    /// use llm_do::prelude::*;
    /// # use llm_do::testing::TestModel;
    ///
    /// /// Return the age of the person in a note.
    /// #[worker]
    /// async fn age(note: String) -> u32;
    ///
    /// /// Return the age of the person in a note.
    /// #[tool(effect = read_only)]
    /// fn age_by_rule(note: &str) -> Result<u32> {
    ///     let digits: String = note.chars().filter(char::is_ascii_digit).collect();
    ///     Ok(digits.parse()?)
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// let builder = Runtime::builder().hybrid("age", "age_by_rule").guarantee("age", Guarantee::new(0.02, 0.95)?);
    /// # let builder = builder.force_model(TestModel::new().output(llm_do::json!({ "result": 30 })));
    /// let runtime = builder.build()?;
    /// runtime.run(age { note: "Ann is 30.".into() }).await?;
    /// let known = &runtime.hybrid_status().await?[0];
    /// assert_eq!((known.holds, known.comparisons, known.by_worker), (false, 1, 1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn guarantee(mut self, worker: impl Into<String>, guarantee: Guarantee) -> Self {
        self.guarantees.push((worker.into(), guarantee));
        self
    }

    /// Keeps the evidence of guarantees in a file, which processes may share. Default: with the [service](https://docs.rs/llm-do/latest/llm_do/serve/index.html)
    /// that the runtime belongs to, or else in memory, until the process ends.
    ///
    /// The file is created with the first evidence, and a file `NAME.lock` beside it.
    pub fn evidence_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.evidence = Some(Arc::new(FileEvidence::new(path)));
        self
    }

    /// Sets the file with the evidence of guarantees, unless one is set.
    #[doc(hidden)]
    pub fn default_evidence_file(self, path: impl Into<PathBuf>) -> Self {
        if self.evidence.is_some() { self } else { self.evidence_file(path) }
    }

    /// Has a worker answer alone, although its file or its [`WorkerSpec`] names a tool that answers first.
    pub fn without_hybrid(mut self, worker: impl Into<String>) -> Self {
        self.without_hybrids.push(worker.into());
        self
    }

    /// Sets the tool that answers first, or none, in place of what code and files name.
    #[doc(hidden)]
    pub fn replace_hybrid(mut self, worker: &str, tool: Option<&str>) -> Self {
        self.hybrids.retain(|(other, _)| other != worker);
        match tool {
            Some(tool) => self.hybrid(worker, tool),
            None => self.without_hybrid(worker),
        }
    }

    /// Has an evaluator score each result of a worker: if the score is too low, its reasons go back to the worker as a further message of
    /// its conversation, and the best of at most [`at_most`](Refine::at_most) results stands. Default: none.
    ///
    /// A worker that is defined at run time can name its evaluator itself: `refine: { with: NAME }` in its file, or [`WorkerSpec::refine`].
    /// The evaluator that is named here takes precedence.
    ///
    /// Callers still call the worker, by type or by name. The evaluator is a tool, a script or a worker. It takes the result as the argument
    /// `result`, and the arguments of the worker that have the same names as its own; one that takes a [`Prompt`](crate::declare::prompt::Prompt)
    /// gets the arguments and the result as JSON. It returns an [`Assessment`](crate::declare::refine::Assessment), or an object with the same
    /// fields. One that cannot take the result, or returns something else, is an error when the runtime is built, with both signatures.
    ///
    /// - Its call is a call on the plane below the worker's: by its own rules it may need approval, and it is limited, journaled and
    ///   reported. [`EventKind::Scored`](crate::observe::event::EventKind::Scored) reports each score.
    /// - The first result with the score [`accept`](Refine::accept) is returned immediately, and otherwise the one with the best score, the last
    ///   of several. A worker that gives no valid result when it is asked again returns the best before. All requests count for its `max_turns`.
    /// - An evaluator that abstains with [`Unsure`](crate::base::error::Unsure) lets the result stand. One that fails or is denied fails the
    ///   call, as a limit and a cancellation do; a journaled run resumes there.
    /// - The result is in a chat or thread as the last answer: worse results after it are left out.
    /// - In a [hybrid](Self::hybrid), the answer of code is the first result, and the worker improves it. After a call with an effect, the answer
    ///   of code stands, and is not scored: the worker may repeat the effect.
    /// - A [message to the run](crate::session::runtime::RunHandle) counts more than earlier results: they do not stand any more.
    /// - The parts of a [streamed](crate::plane::context::CallContext::stream) result begin again with each result. What is returned in the
    ///   end may be an earlier one.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use llm_do::prelude::*;
    /// use llm_do::worker::{Assessment, refine};
    /// # use llm_do::testing::{Answer, FunctionModel};
    ///
    /// /// Write a slogan for a product.
    /// #[worker]
    /// async fn slogan(product: String) -> String;
    ///
    /// /// Score a slogan: it has to name the product.
    /// #[tool(effect = read_only)]
    /// fn names_product(product: &str, result: &str) -> Assessment {
    ///     if result.contains(product) {
    ///         return Assessment::new(1.0);
    ///     }
    ///     Assessment::new(0.0).reason(format!("name the product, {product}"))
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// let builder = Runtime::builder().refine(refine("slogan", "names_product").at_most(3));
    /// # let model = FunctionModel::answering(|request| {
    /// #     Answer::text(if request.messages.len() == 1 { "Grow!" } else { "Grow with Fernlight!" })
    /// # });
    /// # let builder = builder.force_model(model);
    /// let runtime = builder.build()?;
    /// assert_eq!(runtime.run(slogan { product: "Fernlight".into() }).await?, "Grow with Fernlight!");
    /// # Ok(())
    /// # }
    /// ```
    pub fn refine(mut self, refine: Refine) -> Self {
        self.refined.push(refine);
        self
    }

    /// Returns the evaluators of a worker, whose calls its model does not make.
    #[cfg(feature = "script")]
    pub(crate) fn evaluators_of(&self, worker: &str) -> Vec<&str> {
        let of_worker = self.refined.iter().filter(|refine| refine.worker == worker);
        of_worker.map(|refine| refine.evaluator.as_str()).collect()
    }

    /// Returns the calls that workers make without declaring them.
    pub(super) fn implied_calls(&self) -> Vec<(String, String)> {
        let evaluators = self.refined.iter().map(|refine| (refine.worker.clone(), refine.evaluator.clone()));
        self.hybrids.iter().cloned().chain(evaluators).collect()
    }

    /// Adds what a worker that is defined at run time names: the tool that answers first, its evaluator, and the tool that it is compared
    /// with. What the builder has of the worker comes before.
    pub(super) fn add_pairs(&mut self, worker: &WorkerSpec) {
        let name = worker.name();
        let is_decided = self.without_hybrids.iter().any(|other| other == name)
            || self.hybrids.iter().any(|(other, _)| other == name);
        if let Some(tool) = worker.hybrid.as_ref().filter(|_| !is_decided) {
            self.hybrids.push((name.to_owned(), tool.clone()));
        }
        let is_guaranteed = self.guarantees.iter().any(|(other, _)| other == name);
        if let Some(guarantee) = worker.guarantee.filter(|_| !is_guaranteed) {
            self.guarantees.push((name.to_owned(), guarantee));
        }
        let is_refined = self.refined.iter().any(|other| other.worker == name);
        if let Some((evaluator, at_most, accept)) = worker.refine.as_ref().filter(|_| !is_refined) {
            self.refined.push(refine(name, evaluator).at_most(*at_most).accept(*accept));
        }
        let Some((with, every)) = &worker.shadow else { return };
        let answers_first = self.hybrids.iter().any(|(other, tool)| other == name && tool == with);
        let shadow = if answers_first { Shadow::of(with, name) } else { Shadow::of(name, with) };
        self.shadows.push(shadow.every(*every));
    }

    /// Adds a shadow, which runs a worker alongside a tool in the background and reports whether they agree. Default:
    /// none.
    pub fn shadow(mut self, shadow: Shadow) -> Self {
        self.shadows.push(shadow);
        self
    }
}
