//! Rules for some calls of a tool: with exactly these arguments, or with arguments that follow a schema.
//!
//! The arguments are the decoded arguments of calls, with defaults filled in.

use std::sync::Arc;

use llm_do_worker_file::did_you_mean;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Policy;
use super::condition::Condition;
use super::faults::{placed, suggestion};
use crate::declare::schema::Property;
use crate::observe::event::RuleSource;
use crate::plane::approval::rule::first_or_block;
use crate::plane::approval::{ApprovalRequest, Rule};
use crate::plane::registry::{Prepared, Registered, Registry};

/// A rule for some calls of a tool.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "WrittenCall", into = "WrittenCall")]
pub(crate) struct CallRule {
    pub(crate) tool: Arc<str>,
    /// The caller whose calls the rule is for; `None` for all callers.
    pub(super) caller: Option<Arc<str>>,
    pub(super) calls: MatchedCalls,
    pub(crate) rule: Rule,
    /// The file and the line, if the rule is from a file.
    pub(super) place: Option<String>,
}

/// The calls of a tool that a rule is for.
#[derive(Clone, Debug)]
pub(super) enum MatchedCalls {
    /// Calls with exactly these arguments.
    Arguments(Value),
    /// Calls whose arguments follow a schema.
    Condition(Condition),
}

/// A rule for some calls in its JSON form.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCall {
    tool: Arc<str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    caller: Option<Arc<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    when: Option<Value>,
    rule: Rule,
}

impl TryFrom<WrittenCall> for CallRule {
    type Error = &'static str;

    fn try_from(written: WrittenCall) -> Result<Self, Self::Error> {
        let WrittenCall { tool, caller, arguments, when, rule } = written;
        let calls = match (arguments, when) {
            (Some(arguments), None) => MatchedCalls::Arguments(arguments),
            (None, Some(schema)) => MatchedCalls::Condition(Condition::new(schema)),
            (Some(_), Some(_)) => return Err("`arguments` and `when` exclude each other; write two rules"),
            (None, None) => {
                return Err("missing `arguments` or `when`; a rule for all calls of a tool stands in `tools`");
            }
        };
        Ok(Self { tool, caller, calls, rule, place: None })
    }
}

impl From<CallRule> for WrittenCall {
    fn from(call: CallRule) -> Self {
        let CallRule { tool, caller, calls, rule, place: _ } = call;
        let (arguments, when) = match calls {
            MatchedCalls::Arguments(arguments) => (Some(arguments), None),
            MatchedCalls::Condition(condition) => (None, Some(condition.into_schema())),
        };
        Self { tool, caller, arguments, when, rule }
    }
}

impl CallRule {
    /// Returns whether the rule is for a tool, under any of its names.
    pub(super) fn is_of(&self, tool: &Registered) -> bool {
        tool.names().any(|name| *name == *self.tool)
    }

    /// Returns whether the rule approves calls.
    pub(super) fn is_approval(&self) -> bool {
        self.rule == Rule::PreApproved
    }

    /// Returns where the rule comes from, in events.
    pub(in super::super) fn source(&self) -> RuleSource {
        match self.calls {
            MatchedCalls::Arguments(_) => RuleSource::PolicyCall,
            MatchedCalls::Condition(_) => RuleSource::PolicyCondition,
        }
    }

    /// Returns the file and line of the rule, if it is from a file.
    pub(in super::super) fn place(&self) -> Option<&str> {
        self.place.as_deref()
    }

    /// Returns whether the rule is for this call.
    ///
    /// An approval of arguments is for equal arguments only: a tool with its own schema may distinguish `null` from an
    /// absent argument. The decoder of a Rust function has made both equal before.
    pub(in super::super) fn matches(&self, tool: &Registered, request: &ApprovalRequest) -> bool {
        let given = &request.arguments;
        self.is_of(tool)
            && self.caller.as_ref().is_none_or(|caller| *caller == request.caller)
            && match &self.calls {
                MatchedCalls::Condition(condition) => condition.holds(tool, request, self.is_approval()),
                MatchedCalls::Arguments(_) if !request.is_shown_in_full() => false,
                MatchedCalls::Arguments(arguments) if self.is_approval() => arguments == given,
                MatchedCalls::Arguments(arguments) => are_equal_but_nulls(arguments, given, tool),
            }
    }

    /// Decodes the arguments as those of a call, or compiles the condition.
    ///
    /// # Errors
    ///
    /// Returns why no call can match the rule; empty for a tool that is unknown because its server is not needed.
    fn prepare(&mut self, registry: &Registry) -> Result<(), Vec<String>> {
        let (name, is_approval) = (&self.tool, self.is_approval());
        let Some(tool) = registry.get(name) else {
            return Err(if registry.lacks(name) { Vec::new() } else { vec![format!("unknown tool `{name}`")] });
        };
        match &mut self.calls {
            MatchedCalls::Arguments(arguments) => {
                let fault = |fault| vec![format!("no call of `{name}` can have the arguments {arguments}: {fault}")];
                let decoded = decode(tool, arguments).map_err(fault)?;
                *arguments = decoded;
            }
            MatchedCalls::Condition(condition) => {
                let named = |fault| format!("the condition of a rule for `{name}`: {fault}");
                let compiled = condition.compile(tool, is_approval);
                compiled.map_err(|faults| faults.into_iter().map(named).collect::<Vec<_>>())?;
            }
        }
        Ok(())
    }

    /// Returns whether the rule is dropped with a warning if no call can match it: an approval, whose tool may have
    /// changed.
    ///
    /// A condition that cannot apply to the tool with its name is a mistake.
    fn may_be_ignored(&self, registry: &Registry) -> bool {
        let is_condition = matches!(self.calls, MatchedCalls::Condition(_));
        self.is_approval() && !(is_condition && registry.get(&self.tool).is_some())
    }

    /// Returns the file and line of the condition, if any, or else of the rule.
    fn place_of_calls(&self) -> Option<&str> {
        let of_condition = match &self.calls {
            MatchedCalls::Condition(condition) => condition.place.as_deref(),
            MatchedCalls::Arguments(_) => None,
        };
        of_condition.or(self.place.as_deref())
    }

    /// Returns the names of the arguments in the rule.
    fn named_arguments(&self) -> Vec<&str> {
        match &self.calls {
            MatchedCalls::Arguments(arguments) => names(arguments).collect(),
            MatchedCalls::Condition(condition) => condition.named_arguments(),
        }
    }
}

impl Policy {
    /// Sets the rule for calls of a tool with exactly these arguments, before the rule for the tool. Default: none.
    ///
    /// The arguments are decoded like those of a call when a runtime is built: defaults are filled in. The rule does
    /// not match calls with files, or with other fields beside the arguments. For a rule that asks or blocks, an
    /// optional argument that is `null` equals an absent one, unless it has a default; for a rule that approves, only
    /// if it is an `Option` of a Rust function. If no call can have the arguments, a rule that asks or blocks is an
    /// error; a rule that approves has no effect, which is one of the [warnings](crate::session::runtime::Runtime::warnings).
    #[must_use]
    pub fn call(self, tool: impl Into<Arc<str>>, arguments: Value, rule: Rule) -> Self {
        self.with_call(tool.into(), None, MatchedCalls::Arguments(arguments), rule)
    }

    /// Sets the rule for calls of a tool whose arguments follow a JSON Schema, before the rule for the tool. Default: none.
    ///
    /// The arguments are those of a call: decoded, with defaults filled in. If several schemas match, the strictest of
    /// their rules applies. A schema that cannot decide anything about the tool is an error when a runtime is built.
    /// The feature `json-schema` is required. [The conditions](Policy#conditions) have the details.
    ///
    /// # Examples
    ///
    /// ```
    /// use llm_do::approval::{Policy, Rule};
    /// use llm_do::json;
    ///
    /// let policy = Policy::new()
    ///     .when("refund", json!({ "properties": { "cents": { "exclusiveMinimum": 10_000 } } }), Rule::Ask)
    ///     .when("refund", json!({ "properties": { "cents": { "exclusiveMinimum": 1_000_000 } } }), Rule::blocked("too much"))
    ///     .tool("refund", Rule::PreApproved);
    /// # _ = policy;
    /// ```
    #[must_use]
    pub fn when(self, tool: impl Into<Arc<str>>, schema: Value, rule: Rule) -> Self {
        self.with_call(tool.into(), None, MatchedCalls::Condition(Condition::new(schema)), rule)
    }

    /// Sets the rule for the calls of a tool by one caller, if their arguments follow a JSON Schema, like [`when`](Self::when). Default:
    /// none.
    ///
    /// `caller` is the registered name of the tool, worker or entry that makes the call; the caller of a root call is the item itself.
    /// In a file, a rule for calls has it as `caller`.
    ///
    /// # Examples
    ///
    /// ```
    /// use llm_do::approval::{Policy, Rule};
    /// use llm_do::json;
    ///
    /// let small = json!({ "properties": { "cents": { "maximum": 500 } } });
    /// let policy = Policy::new().when_called_by("support", "refund", small, Rule::PreApproved);
    /// # _ = policy;
    /// ```
    #[must_use]
    pub fn when_called_by(
        self,
        caller: impl Into<Arc<str>>,
        tool: impl Into<Arc<str>>,
        schema: Value,
        rule: Rule,
    ) -> Self {
        self.with_call(tool.into(), Some(caller.into()), MatchedCalls::Condition(Condition::new(schema)), rule)
    }

    fn with_call(mut self, tool: Arc<str>, caller: Option<Arc<str>>, calls: MatchedCalls, rule: Rule) -> Self {
        self.calls.push(CallRule { tool, caller, calls, rule, place: None });
        self
    }

    /// Sets the place of the rule for calls with this index, and of its condition, for errors.
    #[doc(hidden)]
    pub fn place_call(&mut self, index: usize, place: String, of_condition: Option<String>) {
        if let Some(call) = self.calls.get_mut(index) {
            call.place = Some(place);
            if let MatchedCalls::Condition(condition) = &mut call.calls {
                condition.place = of_condition;
            }
        }
    }

    /// Returns the rule for a call with these arguments. The order is: a rule that blocks, the first rule for exactly
    /// these arguments, the strictest rule whose condition holds.
    pub(in super::super) fn for_arguments(&self, tool: &Registered, request: &ApprovalRequest) -> Option<&CallRule> {
        let matching = self.calls.iter().filter(|call| call.matches(tool, request));
        let (exact, conditional): (Vec<_>, Vec<_>) =
            matching.partition(|call| matches!(call.calls, MatchedCalls::Arguments(_)));
        let exact = first_or_block(exact, |call| call.rule.is_blocked());
        // Of equally strict rules, the first applies.
        let conditional = conditional.into_iter().rev().max_by_key(|call| call.rule.strictness());
        first_or_block(exact.into_iter().chain(conditional), |call| call.rule.is_blocked())
    }

    /// Lists the rules that match a call, in the order of their precedence, except for blocks.
    pub(in super::super) fn all_for_arguments(&self, tool: &Registered, request: &ApprovalRequest) -> Vec<&CallRule> {
        let mut matching: Vec<_> = self.calls.iter().filter(|call| call.matches(tool, request)).collect();
        matching.sort_by_key(|call| match call.calls {
            MatchedCalls::Arguments(_) => (0, 0),
            MatchedCalls::Condition(_) => (1, u8::MAX - call.rule.strictness()),
        });
        matching
    }

    /// Decodes the arguments and compiles the conditions of the rules for calls, of this policy and of its fallbacks;
    /// returns the rules that no call can match.
    ///
    /// Approvals that no call can match are dropped: see [`ignored`](Self::ignored).
    pub(in super::super) fn decode_calls(&mut self, registry: &Registry) -> Vec<String> {
        let mut faults = Vec::new();
        self.calls.retain_mut(|call| match call.prepare(registry) {
            Ok(()) => true,
            Err(found) => {
                if !call.may_be_ignored(registry) {
                    faults.extend(found.into_iter().map(|fault| placed(call.place_of_calls(), fault)));
                }
                false
            }
        });
        let behind = self.fallback.as_mut().map(|fallback| fallback.decode_calls(registry));
        faults.extend(behind.into_iter().flatten());
        faults
    }

    /// Lists the rules for calls that match less than they seem to, of this policy and of its fallbacks, each with the
    /// reason.
    ///
    /// Approvals that no call can match have no effect, for example after an update of a server changed the arguments
    /// of its tool. A rule with an argument that the schema of its tool does not declare may never match.
    pub(crate) fn ignored(&self, registry: &Registry) -> Vec<String> {
        let calls = || self.layers().flat_map(|layer| &layer.calls);
        let approvals = calls().filter(|call| call.may_be_ignored(registry));
        let ignored = approvals.enumerate().filter_map(|(count, call)| {
            let faults = call.clone().prepare(registry).err()?;
            let fault = faults.first()?;
            let is_unknown = registry.get(&call.tool).is_none();
            let known = registry.iter().map(|item| item.name());
            let hint = if is_unknown { suggestion(count, &call.tool, known) } else { String::new() };
            let text = format!("a rule approves nothing, and is ignored: {fault}{hint}");
            Some(placed(call.place.as_deref(), text))
        });
        let others =
            calls().flat_map(|call| undeclared(call, registry).into_iter().chain(unknown_caller(call, registry)));
        ignored.chain(others).collect()
    }
}

/// Returns a warning if the program has no item with the name of the caller. Workers that are made at run time have other names.
fn unknown_caller(call: &CallRule, registry: &Registry) -> Option<String> {
    let caller = call.caller.as_ref().filter(|caller| registry.get(caller).is_none() && !registry.lacks(caller))?;
    let hint = did_you_mean(caller, registry.iter().map(|item| item.name()));
    Some(placed(call.place.as_deref(), format!("a rule may match no call: unknown caller `{caller}`{hint}")))
}

/// Returns a warning for each argument of a rule that the schema of its tool neither declares nor refuses.
fn undeclared(call: &CallRule, registry: &Registry) -> Vec<String> {
    let Some(tool) = registry.get(&call.tool) else { return Vec::new() };
    let schema = tool.parameters();
    let unmentioned = |name: &&str| matches!(Property::of(schema, name), Property::Unmentioned);
    let names = call.named_arguments().into_iter().filter(unmentioned);
    let warning = |name: &str| {
        let hint = did_you_mean(name, names_of_properties(schema));
        let text = format!("a rule may match no call: the schema of `{}` does not declare `{name}`{hint}", call.tool);
        placed(call.place_of_calls(), text)
    };
    names.map(warning).collect()
}

/// Returns the names of the properties that the schema of an object declares.
fn names_of_properties(schema: &Value) -> impl Iterator<Item = &str> {
    names(&schema["properties"])
}

/// Returns the names of the fields of an object.
pub(super) fn names(object: &Value) -> impl Iterator<Item = &str> {
    object.as_object().into_iter().flatten().map(|(name, _)| name.as_str())
}

/// Decodes arguments as those of a call; fails if no call can have them.
fn decode(tool: &Registered, arguments: &Value) -> Result<Value, String> {
    let decoded = Prepared::decode(tool, arguments.clone()).and_then(|call| call.shown());
    let decoded = decoded.map_err(|fault| fault.to_string())?;
    if let Some(given) = decoded.given {
        return Err(format!("the tool does not read all of {given}"));
    }
    if decoded.has_files {
        return Err("calls with files have no rule for exactly their arguments".to_owned());
    }
    Ok(decoded.arguments)
}

/// Returns whether arguments are equal. An optional argument that is `null` equals an absent one, unless it has a
/// default.
fn are_equal_but_nulls(one: &Value, other: &Value, tool: &Registered) -> bool {
    let (Some(one), Some(other)) = (one.as_object(), other.as_object()) else { return one == other };
    let given = |fields, name| given(fields, name, tool);
    one.keys().chain(other.keys()).all(|name| given(one, name) == given(other, name))
}

/// Returns an argument; `None` also for an optional argument that is `null` and has no default.
fn given<'a>(fields: &'a Map<String, Value>, name: &str, tool: &Registered) -> Option<&'a Value> {
    let schema = tool.parameters();
    let is_required = || schema["required"].as_array().is_some_and(|names| names.iter().any(|own| own == name));
    let has_default = || schema["properties"][name].get("default").is_some_and(|default| !default.is_null());
    fields.get(name).filter(|value| !value.is_null() || is_required() || has_default())
}
