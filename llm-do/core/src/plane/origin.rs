//! What calls have read, and where the values of arguments came from, for those who decide about calls.
//!
//! Each call keeps the results that it got as `Reading`s, in `OriginNotes`; a run without an approver, a guard and a policy's
//! function keeps none. For a decision, [`Origins`] takes the readings of the caller and of the calls above it, and looks for the values of the arguments in
//! them when it is first asked.

mod bounded;
mod code;
mod ids;
mod notes;
mod search;
mod text;

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

pub(crate) use self::bounded::{is_bounded, is_bounded_schema};
pub(crate) use self::code::WrittenCode;
pub(crate) use self::ids::{IdPlace, KnownIds};
#[cfg(feature = "script")]
pub(crate) use self::notes::HeldReadings;
pub(crate) use self::notes::{OriginNotes, Reading};
use crate::observe::event::{ArgumentOrigin, Caller, FlowReason, Label, Labels, ValueOrigin};

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
    /// Whose text the arguments may carry; without [sources](crate::plane::approval::Policy::source), all are trusted.
    pub label: Label,
}

impl RootCall {
    /// Returns the origin and the labels of its arguments.
    fn origin(&self) -> (ValueOrigin, Labels) {
        let origin = if self.is_of_client { ValueOrigin::Client } else { ValueOrigin::User };
        (origin, Labels::public(self.label))
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
    /// Whether the result may carry what a [private source](crate::plane::approval::Policy::private) returned.
    pub is_private: bool,
}

impl ReadResult {
    /// Creates a trusted and public result.
    pub(crate) fn new(call: Option<u64>, tool: Arc<str>, summary: Arc<str>, through: Arc<[Arc<str>]>) -> Self {
        Self { call, tool, summary, through, label: Label::Trusted, is_private: false }
    }

    /// Returns it with these labels.
    pub(crate) fn labelled(self, labels: Labels) -> Self {
        Self { label: labels.integrity, is_private: labels.is_private, ..self }
    }

    fn labels(&self) -> Labels {
        Labels { integrity: self.label, is_private: self.is_private }
    }
}

/// What is known about a call that is decided about.
#[derive(Default)]
struct Known {
    root: Option<RootCall>,
    /// The user's answers to questions of the run.
    answers: Vec<Arc<str>>,
    /// The texts and numbers that code has endorsed.
    endorsed: Vec<Arc<str>>,
    read: Vec<Arc<Reading>>,
    /// What guards have read, which only finds where values came from.
    read_by_guards: Vec<Arc<Reading>>,
    /// The code that makes the call, if its text is known.
    code: Option<Arc<WrittenCode>>,
    /// The origin and the labels of a value that is found nowhere; `None` if nothing is known of the call.
    unfound: Option<(ValueOrigin, Labels)>,
    /// The join of all that the value may come from that are not looked for.
    unseen: Labels,
    /// The arguments, as they would run.
    arguments: Value,
    /// The schema of the arguments, with the defaults.
    schema: Value,
    /// The toolsets of the tool: ids that a tool of these returned are bounded.
    toolsets: Vec<Arc<str>>,
    found: OnceLock<Vec<ArgumentOrigin>>,
}

/// The call whose origins are asked for.
pub(crate) struct OriginQuery<'a> {
    pub(crate) by: Caller,
    /// The code that makes the call, if its text is known.
    pub(crate) code: Option<&'a Arc<WrittenCode>>,
    /// The join of what the caller has read.
    pub(crate) labels: Labels,
    pub(crate) arguments: &'a Value,
    /// The schema of the arguments.
    pub(crate) schema: &'a Value,
    /// The toolsets of the tool.
    pub(crate) toolsets: Vec<Arc<str>>,
}

/// A call that the code of a model made in another process.
#[cfg(feature = "script")]
pub(crate) struct RepeatedCall<'a> {
    /// The name of the tool, as the code sees it.
    pub(crate) shown: &'a str,
    pub(crate) arguments: &'a Value,
    pub(crate) result: &'a Value,
    /// The code that made it, with that before it.
    pub(crate) code: &'a Arc<WrittenCode>,
    /// The join of all that the code has read.
    pub(crate) worst: Labels,
}

/// Which calls of a tool need the approval of a person because of where their values came from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SinkRule<'a> {
    /// The arguments that are only passed on.
    pub(crate) data: &'a [String],
    /// Whether what it gets leaves to other people.
    pub(crate) is_outside: bool,
    /// Whether untrusted data may not leave.
    pub(crate) is_strict: bool,
}

impl Origins {
    /// Creates the origins of a call for tests of a decider: of these values, and without anything that was read.
    #[must_use]
    pub fn new(arguments: Vec<ArgumentOrigin>) -> Self {
        Self(Arc::new(Known { found: OnceLock::from(arguments), ..Known::default() }))
    }

    /// Collects what is known about a call; `notes` are those of its callers, the nearest first and the user's last, and `own` those of the
    /// call, with what its guards have read.
    pub(crate) fn of_call<'n>(
        query: OriginQuery<'_>,
        notes: impl Iterator<Item = &'n OriginNotes>,
        own: Option<&OriginNotes>,
    ) -> Self {
        let mut known = Known::default();
        let mut lost = Labels::default();
        for notes in notes {
            known.root = notes.root_call().or(known.root);
            known.answers.extend(notes.answers());
            known.endorsed.extend(notes.endorsed());
            known.read.extend(notes.readings());
            known.read_by_guards.extend(notes.readings_of_guards());
            lost = lost.join(notes.lost()).join(notes.lost_of_guards());
        }
        if let Some(own) = own {
            known.read_by_guards.extend(own.readings_of_guards());
            lost = lost.join(own.lost_of_guards());
        }
        let is_by_model = query.code.is_some_and(|code| code.is_by_model());
        known.unfound = Some(match query.by {
            Caller::User => known.root.as_ref().map_or((ValueOrigin::User, Labels::default()), RootCall::origin),
            // What is not kept may be what the code passes on.
            Caller::Code if query.code.is_none() => (ValueOrigin::Code, lost),
            // A script computes from what it has read.
            Caller::Code if !is_by_model => (ValueOrigin::Code, query.labels),
            Caller::Code | Caller::Model => (ValueOrigin::Unknown, query.labels),
        });
        known.unseen = known.unfound.as_ref().map_or(lost, |(_, labels)| lost.join(*labels).join(query.labels));
        known.code = query.code.cloned();
        (known.arguments, known.schema) = (query.arguments.clone(), query.schema.clone());
        known.toolsets = query.toolsets;
        Self(Arc::new(known))
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

    /// Returns why the call needs the approval of a person, if it does.
    pub(crate) fn held(&self, rule: SinkRule<'_>) -> Option<FlowReason> {
        let is_untrusted = |found: &&ArgumentOrigin| found.label == Label::Untrusted;
        let is_data = |found: &ArgumentOrigin| rule.data.iter().any(|name| is_in(found, name));
        let mut untrusted = self.arguments().iter().filter(is_untrusted).peekable();
        let has_untrusted = untrusted.peek().is_some();
        if untrusted.any(|found| !is_data(found)) {
            return Some(FlowReason::Steered);
        }
        if has_untrusted && rule.is_outside && rule.is_strict {
            return Some(FlowReason::UntrustedOutside);
        }
        let has_private = rule.is_outside && self.arguments().iter().any(|found| found.is_private);
        has_private.then_some(FlowReason::PrivateOutside)
    }

    /// Returns the values that may carry what was read, as readings of the call that gets them.
    pub(crate) fn carried(&self) -> Vec<Reading> {
        self.0.carried(self.arguments())
    }

    /// Returns the values that are trusted and public, as readings of the call that gets them.
    pub(crate) fn trusted(&self) -> Vec<Reading> {
        self.0.trusted(self.arguments())
    }

    /// Returns the join of the labels of all values.
    pub(crate) fn labels(&self) -> Labels {
        self.arguments().iter().map(ArgumentOrigin::labels).fold(Labels::default(), Labels::join)
    }

    /// Returns the labels of a text that the call made.
    #[cfg(feature = "script")]
    pub(crate) fn labels_of(&self, text: &str) -> Labels {
        self.0.labels_of(text)
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
