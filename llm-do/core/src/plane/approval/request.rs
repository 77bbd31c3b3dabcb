//! The request that an approver gets: a call, in one line and in full.

mod lazy;

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::Timestamp;
use serde_json::{Value, json};

pub(crate) use self::lazy::LazyRequest;
use super::{EnvironmentDigest, RefusedEdit};
use crate::base::printable::{printable, printable_line};
use crate::declare::argument;
use crate::declare::tool::Effect;
use crate::observe::event::{DecidedBy, RuleSource};
use crate::observe::journal::{CONTEXT, PromiseSpec, StepKind, digest};
use crate::plane::call_summary;
use crate::plane::context::Variant;
use crate::plane::origin::Origins;
use crate::plane::registry::{DisplayedArguments, NormalForm};

/// A call that needs approval.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// The tool's registered name.
    pub tool: Arc<str>,
    /// What the tool does.
    pub description: Arc<str>,
    /// The possible effect of the call.
    pub effect: Effect,
    /// The decoded arguments: valid for the schema, defaults filled in.
    pub arguments: Value,
    /// The arguments as the caller gave them, if a type drops or changes a part of them when `arguments` is written.
    /// Calls are equal only if these are equal, too.
    pub given: Option<Value>,
    /// The name of the calling tool, worker or entry.
    pub caller: Arc<str>,
    /// The names of the nested calls, from the root to the caller.
    pub path: Vec<Arc<str>>,
    /// The ids of the calls in `path`, in the same order, as in their [events](crate::observe::event::Event).
    pub path_ids: Vec<u64>,
    /// The id of the run.
    pub run: Arc<str>,
    /// The key of the approval in the run's journal; `None` without a journal.
    ///
    /// It is the same when the run is resumed, in any process, so a decision can be stored under it and given later.
    /// Equal calls that are made one after the other have different keys. A request that is repeated because of a
    /// [`problem`](Self::problem) with edited arguments has the same key.
    pub key: Option<Arc<str>>,
    /// The id under which the decision may be given in any process, if the journal has
    /// [stored](crate::observe::journal::Journal::promise) the request.
    pub promise: Option<Arc<str>>,
    /// The id of the call, as in its events.
    pub call: u64,
    /// The id of the calling call; `None` for a root call, which needs approval only if it is
    /// [gated](crate::session::runtime::Start::gated).
    pub parent: Option<u64>,
    /// The tool's template for [`summary`](Self::summary): a text with `{argument}` for a value.
    pub template: Option<Arc<str>>,
    /// A text that shows the effect of the call, from the tool's [`preview`](macro@llm_do_macros::tool#approval), such as a
    /// diff; `None` if the tool has no preview. It shows the state right before the approver is asked. It may contain
    /// text of models: escape it before it is displayed.
    pub preview: Option<String>,
    /// The 1-based position in the current batch of requests. A batch ends once no request is open.
    pub position: usize,
    /// Why the approver is asked again, such as the fault of the arguments that it gave.
    pub problem: Option<String>,
    /// The arguments that the approver gave last, if they cannot run: a rule blocks them, or they are invalid. The
    /// [`problem`](Self::problem) has the reason as text.
    pub refused_edit: Option<RefusedEdit>,
    /// Whether steps of the call were recorded before the run was resumed. Edited arguments are then invalid, since
    /// they would make it a different call, and repeat effects.
    pub has_begun: bool,
    /// When the call last began, if it began before and its result is unknown, such as after a crash. It may have had
    /// its effect, and would have it again. The approval that it had is used up. `None` for a call that has not begun.
    pub began: Option<Timestamp>,
    /// Who approved the call before it [began](Self::began); `None` for a call that has not begun.
    pub approved_by: Option<DecidedBy>,
    /// The schema of the result of a call that [began](Self::began) before, if known: an answer that the call
    /// [happened](super::Decision::Happened) contains such a result.
    pub result_schema: Option<Value>,
    /// What the call was made from: the user's request, what the caller has read, and where each value of the arguments came from.
    pub origins: Origins,
    /// Why a [reviewer](super::Policy::reviewer) did not decide about the call; `None` without one. It is text of a model: escape
    /// it before it is displayed.
    pub review: Option<String>,
    pub(super) total: BatchTotal,
    /// Where the rule comes from that requires approval.
    pub(crate) rule: RuleSource,
    /// Distinguishes tools with the same name, if there may be several.
    pub(crate) variant: Option<Variant>,
    /// The environment that the call acts on besides its arguments.
    pub(crate) environment: Option<EnvironmentDigest>,
    /// Whether a recorded answer exists that does not hold for the call.
    pub(crate) is_asked_again: bool,
    /// The variants of the callers in `path`.
    pub(crate) path_variants: Vec<Option<Variant>>,
    /// Whether the arguments contain files.
    pub(super) has_files: bool,
    /// The arguments in a normalized order for comparisons, if their order may differ.
    pub(super) normal: Option<Box<NormalForm>>,
}

impl ApprovalRequest {
    /// Returns whether the arguments describe the call completely: no files, no other fields, and a tool with a unique
    /// name.
    #[doc(hidden)]
    #[must_use]
    pub fn is_shown_in_full(&self) -> bool {
        self.given.is_none() && !self.has_files && self.variant.is_none()
    }

    /// Creates a request for tests of an approver: no description, no caller, position 1 of 1.
    #[must_use]
    pub fn new(tool: impl Into<Arc<str>>, arguments: Value) -> Self {
        Self {
            tool: tool.into(),
            description: Arc::default(),
            effect: Effect::default(),
            arguments,
            given: None,
            caller: Arc::default(),
            path: Vec::new(),
            path_ids: Vec::new(),
            run: Arc::default(),
            key: None,
            promise: None,
            call: 0,
            parent: None,
            template: None,
            preview: None,
            position: 1,
            problem: None,
            refused_edit: None,
            has_begun: false,
            began: None,
            approved_by: None,
            result_schema: None,
            origins: Origins::default(),
            review: None,
            total: BatchTotal::new(1),
            rule: RuleSource::Effect,
            variant: None,
            environment: None,
            is_asked_again: false,
            path_variants: Vec::new(),
            has_files: false,
            normal: None,
        }
    }

    /// Returns the content of the request that a journal stores; `None` without a journal.
    pub(super) fn promise_spec(&self, is_repeated: bool) -> Option<PromiseSpec> {
        let asked = PromiseSpec::new(Arc::clone(self.key.as_ref()?), StepKind::Approval, self.shown());
        Some(PromiseSpec { is_repeated, ..asked })
    }

    /// Returns the content that a person sees of the call, without values that change from process to process, such as
    /// numbers of calls.
    fn shown(&self) -> Value {
        let mut shown = json!({
            "tool": self.tool,
            "summary": self.summary(),
            "description": self.description,
            "effect": self.effect,
            "arguments": self.arguments,
            "given": self.given,
            "path": self.path,
            "preview": self.preview,
            "problem": self.problem,
            "can_be_edited": !self.has_begun,
        });
        if let Some(began) = self.began {
            shown["began"] = json!(began);
            shown["approved_by"] = json!(self.approved_by);
            shown["result_schema"] = json!(self.result_schema);
        }
        if let Some(edit) = &self.refused_edit {
            shown["refused_edit"] = json!(edit);
        }
        // What it was made from may be known in another order in each process, so an answer does not depend on it.
        if let Some(context) = self.context() {
            shown[CONTEXT] = context;
        }
        shown
    }

    /// Returns whether the call needs the approval of a person because of where its values came from: then each call does.
    pub(super) fn is_held(&self) -> bool {
        matches!(self.rule, RuleSource::Flow(_))
    }

    /// Returns what a reviewer sees of the call.
    pub(super) fn for_review(&self) -> Value {
        let mut shown = self.shown();
        for ignored in ["can_be_edited", "summary"] {
            shown.as_object_mut().and_then(|fields| fields.shift_remove(ignored));
        }
        shown
    }

    /// Returns the digest of what is reviewed: a review holds for nothing else.
    pub(crate) fn review_digest(&self) -> String {
        digest(&json!([self.shown(), self.environment]))
    }

    /// Returns what a person sees of where the call came from, and of its review.
    fn context(&self) -> Option<Value> {
        let mut context = self.origins.shown().unwrap_or_else(|| json!({}));
        if let Some(line) = self.origin_line() {
            context["line"] = line.into();
        }
        if let Some(review) = &self.review {
            context["review"] = review.as_str().into();
        }
        Some(context).filter(|context| context.as_object().is_some_and(|fields| !fields.is_empty()))
    }

    /// Returns one line about where the values of the arguments came from that are not the user's, and why that holds the call, if it does;
    /// `None` if all are the user's, or nothing is known. [`Origins::line`] has the details.
    #[must_use]
    pub fn origin_line(&self) -> Option<String> {
        let line = self.origins.line();
        let RuleSource::Flow(reason) = self.rule else { return line };
        let why = reason.text();
        Some(line.map_or_else(|| why.to_owned(), |line| format!("{why}: {line}")))
    }

    /// Returns a text that the call may have had its effect, if it began before.
    pub(crate) fn may_have_happened(&self) -> Option<String> {
        self.began.map(may_have_happened)
    }

    /// Returns why its reviewer did not decide, if it was reviewed.
    #[doc(hidden)]
    #[must_use]
    pub fn review_text(&self) -> Option<String> {
        self.review.as_ref().map(|review| format!("the reviewer did not decide: {}", printable_line(review)))
    }

    /// Sets the arguments.
    pub(crate) fn set_arguments(&mut self, shown: DisplayedArguments) {
        let DisplayedArguments { arguments, given, normal, has_files } = shown;
        (self.arguments, self.given, self.normal, self.has_files) = (arguments, given, normal, has_files);
    }

    /// Returns `given` for events, without the values that types hide, if it adds anything to `arguments`.
    pub(crate) fn given_in_events(&self) -> Option<Value> {
        let masked = argument::masked(self.given.as_ref()?, &self.arguments);
        Some(masked).filter(|masked| !argument::is_contained(masked, &self.arguments))
    }

    /// Returns the number of requests in the current batch; it may grow while the request is open.
    #[must_use]
    pub fn total(&self) -> usize {
        self.total.get()
    }

    /// Returns one line that describes the call.
    ///
    /// It is the tool's `summary`, or else `tool(argument="..", ..)`. A value of more than 80 characters is cut, with the
    /// number of missing characters; at most 12 arguments are listed. Line breaks, invisible characters and terminal
    /// control characters are escaped as in Rust, such as `\n`. For a call that [began](Self::began) before, it ends with
    /// "(began at .., and may have had its effect)".
    ///
    /// # Examples
    ///
    /// ```
    /// use llm_do::approval::ApprovalRequest;
    /// use llm_do::json;
    ///
    /// let mut request = ApprovalRequest::new("write", json!({ "path": "notes.txt", "text": "x".repeat(1080) }));
    /// let summary = request.summary();
    /// assert!(summary.starts_with(r#"write(path="notes.txt", text="xxx"#), "{summary}");
    /// assert!(summary.ends_with(r#"xxx"… 1,000 more characters)"#), "{summary}");
    ///
    /// request.template = Some("write to {path}".into());
    /// assert_eq!(request.summary(), "write to notes.txt");
    /// ```
    #[must_use]
    pub fn summary(&self) -> String {
        let call = match &self.template {
            Some(template) => call_summary::filled(template, &self.arguments),
            None => call_summary::listed(&self.tool, &self.arguments),
        };
        match self.may_have_happened() {
            Some(text) => format!("{call} ({text})"),
            None => call,
        }
    }

    /// Returns the full description of the call in several lines: nothing is cut, and texts keep their line breaks.
    ///
    /// Invisible characters and terminal control characters are escaped as in Rust, such as `\u{200b}`.
    #[must_use]
    pub fn details(&self) -> String {
        let mut text = format!("tool: {} ({})\n", self.tool, effect_text(self.effect));
        for line in self.description.lines() {
            let _ = writeln!(text, "    {line}");
        }
        if let Some(began) = self.may_have_happened() {
            let _ = writeln!(text, "this call {began}");
            if let Some(by) = self.approved_by {
                let _ = writeln!(text, "approved by: {}", approved_by(by));
            }
        }
        if !self.path.is_empty() {
            let _ = writeln!(text, "called by: {}", self.path.join(" > "));
        }
        match &self.arguments {
            Value::Object(arguments) if arguments.is_empty() => text.push_str("no arguments\n"),
            Value::Object(arguments) => {
                arguments.iter().for_each(|(name, value)| text.push_str(&argument(name, value)));
            }
            other => text.push_str(&argument("arguments", other)),
        }
        if let Some(given) = &self.given {
            text.push_str(&argument("given as", given));
        }
        if let Some(edit) = &self.refused_edit {
            text.push_str(&argument("refused edit", &edit.arguments));
        }
        for part in [self.origins.details(), self.review_text().unwrap_or_default()] {
            if !part.is_empty() {
                let _ = writeln!(text, "{part}");
            }
        }
        if let Some(preview) = &self.preview {
            let _ = write!(text, "preview:\n    {}\n", preview.replace('\n', "\n    "));
        }
        printable(text.trim_end())
    }
}

/// The number of requests in a batch, shared by these requests.
#[derive(Clone, Debug)]
pub(super) struct BatchTotal(Arc<AtomicUsize>);

impl BatchTotal {
    pub(super) fn new(requests: usize) -> Self {
        Self(Arc::new(AtomicUsize::new(requests)))
    }

    /// Adds one request, and returns the new number.
    pub(super) fn increment(&self) -> usize {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl PartialEq for BatchTotal {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

/// Returns the text about a call that began at this time, and whose result is unknown.
pub(crate) fn may_have_happened(began: Timestamp) -> String {
    format!("began at {began}, and may have had its effect")
}

/// Describes who approved a call.
fn approved_by(by: DecidedBy) -> &'static str {
    match by {
        DecidedBy::Approver | DecidedBy::Memory => "the approver",
        DecidedBy::Reviewer => "the reviewer",
        DecidedBy::Policy | DecidedBy::Mode | DecidedBy::Cancellation => "a rule or the approval mode",
    }
}

/// Describes the possible effect of a call.
fn effect_text(effect: Effect) -> &'static str {
    match effect {
        Effect::ReadOnly => "changes nothing",
        Effect::Idempotent => "changes something; a repeated call changes nothing more",
        Effect::Destructive => "makes changes that cannot be undone",
        Effect::Undeclared => "may change anything",
    }
}

/// Formats an argument: a one-line value after its name, a value of several lines indented below it.
fn argument(name: &str, value: &Value) -> String {
    let name = call_summary::named(name);
    let text = match value {
        Value::String(text) => text.clone(),
        other => format!("{other:#}"),
    };
    if text.contains('\n') {
        return format!("{name}:\n    {}\n", text.replace('\n', "\n    "));
    }
    match value {
        Value::String(text) => format!("{name}: {}\n", Value::from(text.as_str())),
        _ => format!("{name}: {text}\n"),
    }
}
