//! What calls have read, and where the values of arguments came from, for those who decide about calls.
//!
//! Each call keeps the results that it got as `Reading`s, in `OriginNotes`; a run without an approver, a guard and a policy's
//! function keeps none. For a decision, [`Origins`] takes the readings of the caller and of the calls above it, and looks for the values of the arguments in
//! them when it is first asked.

mod notes;
mod search;
mod text;

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

pub(crate) use self::notes::{OriginNotes, Reading};
use crate::observe::event::{ArgumentOrigin, Caller, Label, ValueOrigin};

/// What a call was made from: the run's request, what its caller has read, and where each value of its arguments came from.
///
/// The values are looked up when they are first asked for. A value counts as the user's if the arguments of the root call, or an
/// answer of the user, contain it as a whole word; it counts as that of a result if the result contains it. A text that a model
/// changed is [`ValueOrigin::Unknown`]. Of each caller, the last 1,000 results are compared, up to 256 KiB of each and 4 MiB
/// of all; files are not.
///
/// # Examples
///
/// ```
/// use llm_do::prelude::*;
/// use llm_do::approval::{Decision, ValueOrigin};
///
/// /// Read the bill.
/// #[tool(effect = read_only)]
/// fn read_bill() -> String {
///     "Please pay 80 EUR to DE11-BANK-4711.".into()
/// }
///
/// /// Pay.
/// #[tool(effect = destructive)]
/// fn transfer(to: String, cents: u64) {
///     let _ = (to, cents);
/// }
///
/// /// Pays a bill.
/// #[entry(toolsets = [read_bill, transfer])]
/// async fn settle(ctx: &CallContext<settle>, cents: u64) -> Result<()> {
///     let bill = ctx.call(read_bill {}).await?;
///     let to = bill.rsplit(' ').next().unwrap_or_default().trim_end_matches('.').to_owned();
///     Ok(ctx.call(transfer { to, cents }).await?)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// let runtime = Runtime::builder()
///     .approve_with(|request| async move {
///         let origins = &request.origins;
///         let is_read = origins.of("to").any(|origin| matches!(origin, ValueOrigin::Result(_)));
///         let is_asked = origins.of("cents").all(|origin| *origin == ValueOrigin::User);
///         if is_read && is_asked { Decision::deny(origins.line().unwrap_or_default()) } else { Decision::approve() }
///     })
///     .build()?;
/// let error = runtime.run(settle { cents: 8000 }).await.unwrap_err();
/// let reason = "to: from `read_bill()`, not in your request";
/// assert!(llm_do::error::chain(&error).contains(reason), "{}", llm_do::error::chain(&error));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Origins(Arc<Known>);

/// The root call of a run: what the user asked for.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RootCall {
    /// The registered name of the entry, worker or tool.
    pub name: Arc<str>,
    /// The arguments as they were given.
    pub arguments: Arc<Value>,
    /// Whether a client made it that may be a model, and not the user: the call is [gated](crate::session::runtime::Start::gated).
    pub is_of_client: bool,
}

impl RootCall {
    /// Returns the origin of its arguments.
    fn origin(&self) -> ValueOrigin {
        if self.is_of_client { ValueOrigin::Client } else { ValueOrigin::User }
    }
}

/// A result that a call has read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadResult {
    /// The id of the call, as in its events; `None` for a call of an earlier run of the chat.
    pub call: Option<u64>,
    /// The registered name of the tool, worker or entry.
    pub tool: Arc<str>,
    /// The call in one line, such as `read_file(path="bill.txt")`.
    pub summary: Arc<str>,
    /// The calls, each in one line, whose results the callee itself had read, such as a worker that summarizes files: sorted, at most 20.
    pub through: Arc<[Arc<str>]>,
    /// Whose text the result may carry; without [sources](crate::plane::approval::Policy::source), all results are trusted.
    pub label: Label,
}

/// What is known about a call that is decided about.
#[derive(Default)]
struct Known {
    root: Option<RootCall>,
    /// The user's answers to questions of the run.
    answers: Vec<Arc<str>>,
    read: Vec<Arc<Reading>>,
    /// The join of what the caller has read.
    label: Label,
    /// Where a value came from that is found nowhere; `None` if nothing is known of the call.
    unfound: Option<ValueOrigin>,
    /// The arguments, as they would run.
    arguments: Value,
    /// The properties of the tool's schema, with the defaults.
    properties: Value,
    found: OnceLock<Vec<ArgumentOrigin>>,
}

/// The call whose origins are asked for.
pub(crate) struct OriginQuery<'a> {
    pub(crate) by: Caller,
    /// Whether a model wrote the code that makes the call.
    pub(crate) is_model_code: bool,
    /// The join of what the caller has read.
    pub(crate) label: Label,
    pub(crate) arguments: &'a Value,
    /// The schema of the arguments.
    pub(crate) schema: &'a Value,
}

impl Origins {
    /// Creates the origins of a call for tests of a decider: of these values, and without anything that was read.
    #[must_use]
    pub fn new(arguments: Vec<ArgumentOrigin>) -> Self {
        Self(Arc::new(Known { found: OnceLock::from(arguments), ..Known::default() }))
    }

    /// Collects what is known about a call; `notes` are those of its callers, the nearest first and the user's last.
    pub(crate) fn of_call<'n>(query: &OriginQuery<'_>, notes: impl Iterator<Item = &'n OriginNotes>) -> Self {
        let (mut root, mut answers, mut read) = (None, Vec::new(), Vec::new());
        for notes in notes {
            root = notes.root_call().or(root);
            answers.extend(notes.answers());
            read.extend(notes.readings());
        }
        let unfound = match query.by {
            Caller::User => root.as_ref().map_or(ValueOrigin::User, RootCall::origin),
            Caller::Code if !query.is_model_code => ValueOrigin::Code,
            Caller::Code | Caller::Model => ValueOrigin::Unknown,
        };
        let (arguments, properties) = (query.arguments.clone(), query.schema["properties"].clone());
        let (label, unfound) = (query.label, Some(unfound));
        Self(Arc::new(Known { root, answers, read, label, unfound, arguments, properties, found: OnceLock::new() }))
    }

    /// Returns the origins of a call whose arguments the approver replaced by these.
    pub(crate) fn of_edit(&self, arguments: &Value) -> Self {
        let leaves = search::leaves(arguments);
        let found: Vec<_> =
            leaves.into_iter().map(|(place, _)| ArgumentOrigin::new(place, ValueOrigin::Approver)).collect();
        let (root, answers, read) = (self.0.root.clone(), self.0.answers.clone(), self.0.read.clone());
        Self(Arc::new(Known { root, answers, read, found: OnceLock::from(found), ..Known::default() }))
    }

    /// Returns the root call of the run, with the user's request; `None` if it is not known.
    #[must_use]
    pub fn root_call(&self) -> Option<&RootCall> {
        self.0.root.as_ref()
    }

    /// Returns the user's answers to questions of the run so far.
    #[must_use]
    pub fn answers(&self) -> &[Arc<str>] {
        &self.0.answers
    }

    /// Lists the results that the caller has read, and then those of the calls above it, each oldest first.
    pub fn read(&self) -> impl Iterator<Item = &ReadResult> {
        self.0.read.iter().filter_map(|reading| reading.result())
    }

    /// Returns where each value of the arguments came from, without `null` and empty texts: of the first 100 values, and then one for all that follow,
    /// at the place `…`.
    #[must_use]
    pub fn arguments(&self) -> &[ArgumentOrigin] {
        self.0.found.get_or_init(|| self.0.find_all())
    }

    /// Lists the untrusted values that decide what the call does: all but those of the `data` arguments.
    pub(crate) fn steering<'o>(&'o self, data: &'o [String]) -> impl Iterator<Item = &'o ArgumentOrigin> {
        let is_data = |found: &ArgumentOrigin| data.iter().any(|name| is_in(found, name));
        self.arguments().iter().filter(move |found| found.label == Label::Untrusted && !is_data(found))
    }

    /// Returns the values that may carry text of what was read, as readings of the call that gets them.
    pub(crate) fn carried(&self) -> Vec<Reading> {
        let carriers = self.0.carriers(self.arguments());
        carriers.map(|(value, found)| Reading::of_argument(value, found.origin.clone(), found.label)).collect()
    }

    /// Returns the join of the labels of all values.
    pub(crate) fn label(&self) -> Label {
        self.arguments().iter().map(|found| found.label).max().unwrap_or_default()
    }

    /// Lists where the values of one argument came from.
    pub fn of<'o>(&'o self, argument: &'o str) -> impl Iterator<Item = &'o ValueOrigin> {
        self.arguments().iter().filter(move |found| is_in(found, argument)).map(|found| &found.origin)
    }
}

/// Returns whether a value is one of an argument.
fn is_in(found: &ArgumentOrigin, argument: &str) -> bool {
    let rest = found.argument.strip_prefix(argument);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl PartialEq for Origins {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (self.arguments() == other.arguments()
                && self.root_call() == other.root_call()
                && self.answers() == other.answers()
                && self.read().eq(other.read()))
    }
}

impl fmt::Debug for Origins {
    /// Without the results, which may be long and secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Origins").field("arguments", &self.arguments()).finish_non_exhaustive()
    }
}
