//! Tests that events of all kinds are read back equal from JSON.

mod content;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use llm_do_providers::{
    Attachment, Money, ProviderData, ResponsePart, ServerSideToolUse, Thinking, ToolCall, Unpriced, Usage,
};
use proptest::prelude::*;
use serde_json::{Map, Number, Value};

use super::json_lines::LineWriter;
use super::{
    ApprovalScope, Caller, CodeAnswer, DecidedBy, Delta, Event, EventKind, EventPart, EventValue, FileInfo, FlowReason,
    GuardAction, GuardHook, ItemKind, Label, Labels, Mend, Outcome, PlannedApproval, PlannedKind, RuleSource,
};
use crate::base::json::Json;
use crate::base::usage::{Cost, RunUsage};
use crate::declare::tool::Effect;

const SCOPES: [ApprovalScope; 4] =
    [ApprovalScope::Call, ApprovalScope::Caller, ApprovalScope::Run, ApprovalScope::Session];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[a-z_]{0,8}"]
}

fn maybe() -> impl Strategy<Value = Option<String>> {
    prop::option::of(text())
}

fn name() -> impl Strategy<Value = Arc<str>> {
    text().prop_map(Arc::from)
}

/// JSON values whose keys may be names of event fields.
fn value() -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        any::<u64>().prop_map(Number::from),
        any::<i64>().prop_map(Number::from),
        any::<f64>().prop_filter_map("not a JSON number", Number::from_f64),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number.prop_map(Value::Number),
        text().prop_map(Value::String),
    ];
    let key = prop_oneof![text(), Just("kind".to_owned()), Just("result".to_owned()), Just("type".to_owned())];
    leaf.prop_recursive(3, 16, 4, move |inner| {
        let fields = prop::collection::vec((key.clone(), inner.clone()), 0..4);
        let fields = fields.prop_map(|fields| fields.into_iter().collect::<Map<_, _>>());
        prop_oneof![prop::collection::vec(inner, 0..4).prop_map(Value::Array), fields.prop_map(Value::Object)]
    })
}

/// The same, as values and as text.
fn event_value() -> impl Strategy<Value = EventValue> {
    (value(), any::<bool>()).prop_map(|(value, is_text)| {
        if is_text { EventValue::from_json(Json::from_text(value.to_string())) } else { value.into() }
    })
}

fn of<T: Clone + std::fmt::Debug + 'static>(values: impl Into<Vec<T>>) -> impl Strategy<Value = T> {
    prop::sample::select(values.into())
}

fn caller() -> impl Strategy<Value = Caller> {
    of([Caller::User, Caller::Code, Caller::Model])
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![event_value().prop_map(Outcome::Result), text().prop_map(Outcome::Error)]
}

fn rule() -> impl Strategy<Value = RuleSource> {
    use RuleSource::{
        DeclaredTool, DeclaredToolset, Effect, Flow, Function, Journal, PolicyCall, PolicyCondition, PolicyTool,
        PolicyToolset, PolicyWorker, PolicyWorkers, User,
    };
    prop_oneof![
        of([
            User,
            Journal,
            Function,
            Flow(FlowReason::Steered),
            Flow(FlowReason::PrivateOutside),
            PolicyCall,
            PolicyCondition,
            PolicyTool,
            PolicyWorker,
            PolicyWorkers,
            DeclaredTool,
            Effect
        ]),
        name().prop_map(PolicyToolset),
        name().prop_map(DeclaredToolset),
    ]
}

fn usage() -> impl Strategy<Value = Usage> {
    any::<[u64; 17]>().prop_map(|figures| {
        let mut usage = Usage::of_request(figures[1], figures[2]);
        (usage.requests, usage.cached_tokens, usage.cache_write_tokens) = (figures[0], figures[3], figures[4]);
        (usage.reasoning_tokens, usage.server_side_tools) = (figures[5], figures[6]);
        (usage.audio_tokens, usage.cached_audio_tokens) = (figures[7], figures[8]);
        (usage.web_searches, usage.file_searches, usage.containers) = (figures[9], figures[10], figures[11]);
        (usage.other_charged_tools, usage.flex_requests) = (figures[12], figures[13]);
        (usage.priority_requests, usage.other_tier_requests) = (figures[14], figures[15]);
        usage.batch_requests = figures[16];
        usage
    })
}

fn run_usage() -> impl Strategy<Value = RunUsage> {
    let unpriced = of([Unpriced::default(), Unpriced::WEB_SEARCH | Unpriced::SERVICE_TIER]);
    let figures = (any::<u64>(), usage(), any::<u128>(), any::<u64>(), unpriced);
    figures.prop_map(|(tool_calls, model, cost, unpriced_requests, unpriced)| {
        let cost = Cost { known: Money::from_picodollars(cost), unpriced_requests, unpriced };
        RunUsage { tool_calls, model, cost }
    })
}

fn provider_data() -> impl Strategy<Value = Option<ProviderData>> {
    prop::option::of((text(), value()).prop_map(|(provider, data)| ProviderData::new(provider, data)))
}

fn part() -> impl Strategy<Value = EventPart> {
    let thinking = (text(), provider_data()).prop_map(|(text, provider_data)| {
        let mut thinking = Thinking::new(text);
        thinking.provider_data = provider_data;
        ResponsePart::Thinking(thinking)
    });
    let call = (text(), text(), text(), provider_data()).prop_map(|(id, name, arguments, provider_data)| {
        let mut call = ToolCall::new(id, name, arguments);
        call.provider_data = provider_data;
        ResponsePart::ToolCall(call)
    });
    let server_side = (text(), value(), value(), prop::option::of(text()), provider_data());
    let server_side = server_side.prop_map(|(name, input, output, error, provider_data)| {
        let mut used = ServerSideToolUse::new(name, input, output).with_error(error);
        used.provider_data = provider_data;
        ResponsePart::ServerSideTool(used)
    });
    let file = (prop::option::of(text()), text(), any::<u64>());
    prop_oneof![
        text().prop_map(|text| EventPart::Whole(ResponsePart::Text { text })),
        thinking.prop_map(EventPart::Whole),
        call.prop_map(EventPart::Whole),
        server_side.prop_map(EventPart::Whole),
        provider_data().prop_filter_map("none", |data| Some(EventPart::Whole(ResponsePart::Opaque(data?)))),
        file.prop_map(|(name, media_type, bytes)| EventPart::File(FileInfo {
            name,
            ..FileInfo::new(media_type, bytes)
        })),
    ]
}

fn labels() -> impl Strategy<Value = Labels> {
    (of([Label::Trusted, Label::Bounded, Label::Untrusted]), any::<bool>())
        .prop_map(|(integrity, is_private)| Labels { integrity, is_private })
}

/// Returns a strategy for events of the same kind; the match is exhaustive, so a new kind does not compile without
/// one.
fn strategy(kind: &EventKind) -> BoxedStrategy<EventKind> {
    let kinds = of([ItemKind::Tool, ItemKind::Worker, ItemKind::Entry]);
    match kind {
        EventKind::CallStarted { .. } => {
            let effects = [Effect::Idempotent, Effect::Destructive, Effect::Undeclared];
            (kinds, caller(), event_value(), prop::option::of(of(effects)), any::<bool>())
                .prop_map(|(what, by, arguments, effect, background)| EventKind::CallStarted {
                    what,
                    by,
                    arguments,
                    effect,
                    background,
                })
                .boxed()
        }
        EventKind::Progress { .. } => text().prop_map(|text| EventKind::Progress { text }).boxed(),
        EventKind::CallFinished { .. } => {
            (outcome(), labels(), prop::collection::vec(text(), 0..3), maybe(), any::<u64>(), any::<bool>())
                .prop_map(|(outcome, labels, attachments, note, elapsed_ms, replayed)| EventKind::CallFinished {
                    outcome,
                    labels,
                    attachments,
                    note,
                    elapsed_ms,
                    replayed,
                })
                .boxed()
        }
        EventKind::CallRefused { .. } => {
            let arguments = prop::option::of(value().prop_map(EventValue::from));
            (caller(), text(), arguments)
                .prop_map(|(by, error, arguments)| EventKind::CallRefused { by, error, arguments })
                .boxed()
        }
        EventKind::CallPlanned { .. } => call_planned(),
        EventKind::ApprovalAsked { .. } => (text(), value(), prop::option::of(value()), any::<usize>(), any::<usize>())
            .prop_map(|(summary, arguments, given, position, total)| EventKind::ApprovalAsked {
                summary,
                arguments,
                given,
                position,
                total,
                origins: Vec::new(),
            })
            .boxed(),
        EventKind::ApprovalDecided { .. } => approval_decided(),
        EventKind::EditRefused { .. } => (value(), prop::option::of(rule()), text())
            .prop_map(|(arguments, rule, reason)| EventKind::EditRefused { arguments, rule, reason })
            .boxed(),
        EventKind::Guarded { .. } => {
            let hook =
                of([GuardHook::BeforeCall, GuardHook::AfterCall, GuardHook::BeforeRequest, GuardHook::AfterResponse]);
            (name(), hook, of([GuardAction::Changed, GuardAction::Refused]), maybe())
                .prop_map(|(guard, hook, action, reason)| EventKind::Guarded { guard, hook, action, reason })
                .boxed()
        }
        EventKind::Endorsed { .. } => {
            (value(), text()).prop_map(|(value, reason)| EventKind::Endorsed { value, reason }).boxed()
        }
        EventKind::InputAsked { .. } => {
            text().prop_map(|prompt| EventKind::InputAsked { question: prompt.into() }).boxed()
        }
        EventKind::InputAnswered { .. } => text().prop_map(|answer| EventKind::InputAnswered { answer }).boxed(),
        EventKind::UserMessage { .. } => (text(), any::<bool>(), prop::option::of(name()), any::<bool>())
            .prop_map(|(text, interrupts, id, replayed)| EventKind::UserMessage { text, interrupts, id, replayed })
            .boxed(),
        EventKind::Subtask { .. } => {
            let points = prop::collection::vec((text(), any::<u32>()), 0..3);
            (text(), text(), points.prop_map(BTreeMap::from_iter))
                .prop_map(|(description, worker, points)| EventKind::Subtask { description, worker, points })
                .boxed()
        }
        EventKind::Shadowed { .. }
        | EventKind::Drifted { .. }
        | EventKind::Hybrid { .. }
        | EventKind::Guarantee { .. } => of_hardening(kind),
        EventKind::Scored { .. } => scored(),
        EventKind::ModelRequest { .. } => content::model_request(),
        EventKind::ModelWaiting { .. } => text().prop_map(|on| EventKind::ModelWaiting { on }).boxed(),
        EventKind::SettingWarning { .. } => (name(), text(), text())
            .prop_map(|(model, setting, message)| EventKind::SettingWarning { model, setting, message })
            .boxed(),
        EventKind::ModelDelta { .. } => {
            let delta = prop_oneof![
                text().prop_map(Delta::Text),
                text().prop_map(Delta::Thinking),
                text().prop_map(Delta::Arguments),
            ];
            delta.prop_map(|delta| EventKind::ModelDelta { delta }).boxed()
        }
        EventKind::ServerSideToolStarted { .. } => {
            (name(), value()).prop_map(|(tool, input)| EventKind::ServerSideToolStarted { tool, input }).boxed()
        }
        EventKind::ServerSideToolFinished { .. } => (name(), value(), maybe())
            .prop_map(|(tool, input, error)| EventKind::ServerSideToolFinished { tool, input, error })
            .boxed(),
        EventKind::ModelResponse { .. } => content::model_response(),
        EventKind::Mended { .. } => (prop::option::of(name()), prop::sample::subsequence(Mend::ALL.to_vec(), 0..8))
            .prop_map(|(tool, mends)| EventKind::Mended { tool, mends })
            .boxed(),
        EventKind::ModelRetry { .. } => text().prop_map(|reason| EventKind::ModelRetry { reason }).boxed(),
        EventKind::Usage { .. } => run_usage().prop_map(|used| EventKind::Usage { used }).boxed(),
        EventKind::Dropped { .. } => any::<u64>().prop_map(|count| EventKind::Dropped { count }).boxed(),
    }
}

/// Any call of a dry run.
fn call_planned() -> BoxedStrategy<EventKind> {
    let what = of([
        PlannedKind::Tool,
        PlannedKind::Worker,
        PlannedKind::Entry,
        PlannedKind::Effect,
        PlannedKind::ServerSideTool,
    ]);
    let effect = of([Effect::ReadOnly, Effect::Idempotent, Effect::Destructive, Effect::Undeclared]);
    let approval = of([PlannedApproval::NotNeeded, PlannedApproval::Asked, PlannedApproval::ByMode]);
    (what, caller(), text(), value(), effect, approval, prop::option::of(rule()), any::<bool>())
        .prop_map(|(what, by, summary, arguments, effect, approval, rule, ran)| EventKind::CallPlanned {
            what,
            by,
            summary,
            arguments,
            effect,
            approval,
            rule,
            ran,
        })
        .boxed()
}

/// Any decision about an approval.
fn approval_decided() -> BoxedStrategy<EventKind> {
    let by = of([
        DecidedBy::Policy,
        DecidedBy::Mode,
        DecidedBy::Approver,
        DecidedBy::Memory,
        DecidedBy::Cancellation,
        DecidedBy::Reviewer,
    ]);
    // Null cannot be distinguished from absent arguments.
    let edited = prop::option::of(value().prop_filter("null", |value| !value.is_null()));
    (any::<bool>(), by, rule(), maybe(), edited, of(SCOPES), any::<bool>())
        .prop_map(|(approved, by, rule, reason, edited, scope, replayed)| EventKind::ApprovalDecided {
            approved,
            by,
            rule,
            reason,
            edited,
            scope,
            replayed,
        })
        .boxed()
}

/// Any score of a result.
fn scored() -> BoxedStrategy<EventKind> {
    let score = prop::option::of(of([0.0, 0.25, 1.0]));
    (text(), any::<u32>(), score, prop::collection::vec(text(), 0..3), any::<bool>())
        .prop_map(|(evaluator, result, score, reasons, again)| EventKind::Scored {
            evaluator,
            result,
            score,
            reasons,
            again,
        })
        .boxed()
}

/// Any event of a shadow or a hybrid, of the same kind.
fn of_hardening(kind: &EventKind) -> BoxedStrategy<EventKind> {
    match kind {
        EventKind::Shadowed { .. } => (text(), any::<bool>(), outcome(), outcome())
            .prop_map(|(worker, agrees, answer, other)| EventKind::Shadowed { worker, agrees, answer, other })
            .boxed(),
        EventKind::Drifted { .. } => (text(), any::<u64>(), any::<u64>())
            .prop_map(|(worker, disagree, of)| EventKind::Drifted { worker, disagree, of })
            .boxed(),
        EventKind::Hybrid { .. } => {
            let answers = [CodeAnswer::Answered, CodeAnswer::Compared, CodeAnswer::Abstained];
            let answer = of([answers.as_slice(), &[CodeAnswer::Failed, CodeAnswer::Stopped]].concat());
            (text(), answer, maybe())
                .prop_map(|(tool, answer, reason)| EventKind::Hybrid { tool, answer, reason })
                .boxed()
        }
        EventKind::Guarantee { .. } => (text(), any::<bool>(), 0..=1_000_u32, any::<u64>(), any::<u64>(), maybe())
            .prop_map(|(tool, holds, bound, comparisons, disagreements, reason)| {
                let bound = f64::from(bound) / 1_000.0;
                EventKind::Guarantee { tool, holds, bound, comparisons, disagreements, reason }
            })
            .boxed(),
        other => Just(other.clone()).boxed(),
    }
}

/// One event of each kind, as small as possible.
fn kinds() -> Vec<EventKind> {
    let none = String::new;
    let (tool, points): (Arc<str>, _) = (Arc::default(), BTreeMap::new());
    let outcome = || Outcome::Error(none());
    vec![
        EventKind::CallStarted {
            what: ItemKind::Tool,
            by: Caller::User,
            arguments: EventValue::default(),
            effect: None,
            background: false,
        },
        EventKind::Progress { text: none() },
        EventKind::CallFinished {
            outcome: Outcome::Result(EventValue::default()),
            labels: Labels::default(),
            attachments: Vec::new(),
            note: None,
            elapsed_ms: 0,
            replayed: false,
        },
        EventKind::CallRefused { by: Caller::Model, error: none(), arguments: None },
        EventKind::CallPlanned {
            what: PlannedKind::Tool,
            by: Caller::Model,
            summary: none(),
            arguments: Value::Null,
            effect: Effect::Destructive,
            approval: PlannedApproval::Asked,
            rule: None,
            ran: false,
        },
        EventKind::ApprovalAsked {
            summary: none(),
            arguments: Value::Null,
            given: None,
            position: 0,
            total: 0,
            origins: Vec::new(),
        },
        EventKind::ApprovalDecided {
            approved: true,
            by: DecidedBy::Policy,
            rule: RuleSource::User,
            reason: None,
            edited: None,
            scope: ApprovalScope::Call,
            replayed: false,
        },
        EventKind::EditRefused { arguments: Value::Null, rule: None, reason: none() },
        EventKind::Guarded {
            guard: Arc::clone(&tool),
            hook: GuardHook::BeforeCall,
            action: GuardAction::Changed,
            reason: None,
        },
        EventKind::Endorsed { value: Value::Null, reason: none() },
        EventKind::InputAsked { question: none().into() },
        EventKind::InputAnswered { answer: none() },
        EventKind::UserMessage { text: none(), interrupts: false, id: None, replayed: false },
        EventKind::Subtask { description: none(), worker: none(), points },
        EventKind::Shadowed { worker: none(), agrees: true, answer: outcome(), other: outcome() },
        EventKind::Drifted { worker: none(), disagree: 0, of: 0 },
        EventKind::Hybrid { tool: none(), answer: CodeAnswer::Answered, reason: None },
        EventKind::Guarantee { tool: none(), holds: true, bound: 0.5, comparisons: 1, disagreements: 0, reason: None },
        EventKind::Scored { evaluator: none(), result: 1, score: None, reasons: Vec::new(), again: false },
        EventKind::ModelRequest { model: Arc::clone(&tool), turn: 1, messages: 1, tools: Vec::new(), content: None },
        EventKind::ModelWaiting { on: none() },
        EventKind::SettingWarning { model: Arc::clone(&tool), setting: none(), message: none() },
        EventKind::ModelDelta { delta: Delta::Text(none()) },
        EventKind::ServerSideToolStarted { tool: Arc::clone(&tool), input: Value::Null },
        EventKind::ServerSideToolFinished { tool, input: Value::Null, error: None },
        EventKind::ModelResponse {
            model: none(),
            parts: Vec::new(),
            usage: Usage::default(),
            files: Vec::new(),
            replayed: false,
        },
        EventKind::Mended { tool: None, mends: Vec::new() },
        EventKind::ModelRetry { reason: none() },
        EventKind::Usage { used: RunUsage::default() },
        EventKind::Dropped { count: 0 },
    ]
}

fn event() -> impl Strategy<Value = Event> {
    let times = Timestamp::MIN.as_second()..Timestamp::MAX.as_second();
    let time = (times, 0..1_000_000_000_i32).prop_map(|(second, nanos)| Timestamp::new(second, nanos).unwrap());
    let kind = of(kinds()).prop_flat_map(|kind| prop_oneof![1 => Just(kind.clone()), 9 => strategy(&kind)]);
    (name(), any::<u64>(), any::<Option<u64>>(), any::<u64>(), any::<u32>(), name(), time, kind).prop_map(
        |(run, call, parent, seq, depth, name, time, kind)| Event { run, call, parent, seq, depth, name, time, kind },
    )
}

fn named(kind: &EventKind) -> String {
    serde_json::to_value(kind).unwrap()["kind"].as_str().unwrap().to_owned()
}

#[test]
fn every_kind_is_tested() {
    let names: std::collections::BTreeSet<_> = kinds().iter().map(named).collect();
    let error = serde_json::from_str::<EventKind>(r#"{"kind":""}"#).unwrap_err().to_string();
    let known = error.matches('`').count() / 2 - 1;
    assert_eq!((names.len(), kinds().len()), (known, known), "{error}");
}

/// Returns the line of an event in a log.
fn line(event: &Event) -> String {
    let mut line = String::new();
    LineWriter::default().write(&mut line, event).unwrap();
    line
}

#[test]
fn a_line_is_the_json_of_its_event() {
    for kind in kinds() {
        let (run, name) = ("run".into(), "name".into());
        let event = Event { run, call: 10, parent: None, seq: 9, depth: 0, name, time: Timestamp::UNIX_EPOCH, kind };
        assert_eq!(line(&event), serde_json::to_string(&event).unwrap() + "\n");
    }
}

#[test]
fn an_unknown_kind_is_an_error_that_names_it() {
    let error = serde_json::from_str::<EventKind>(r#"{"kind":"teleported"}"#).unwrap_err().to_string();
    assert!(error.starts_with("unknown variant `teleported`"), "{error}");
}

#[test]
fn an_unknown_field_is_ignored() {
    let kind: EventKind = serde_json::from_str(r#"{"kind":"progress","text":"a","colour":1}"#).unwrap();
    assert_eq!(kind, EventKind::Progress { text: "a".into() });
}

#[test]
fn a_file_is_read_back_without_its_bytes() {
    let file = |data: &[u8]| {
        EventPart::Whole(ResponsePart::Attachment(Attachment::new("image/gif", data.to_vec()).named("a.gif")))
    };
    let json = serde_json::to_value(file(b"GIF89a")).unwrap();
    assert_eq!(json.to_string(), r#"{"type":"attachment","name":"a.gif","media_type":"image/gif","bytes":6}"#);
    let read: EventPart = serde_json::from_value(json.clone()).unwrap();
    let info = FileInfo { name: Some("a.gif".into()), ..FileInfo::new("image/gif", 6) };
    assert_eq!((&read, read.file(), read.whole()), (&EventPart::File(info.clone()), Some(info), None));
    assert_eq!(serde_json::to_value(&read).unwrap(), json, "writing it again gives the same JSON");
}

proptest! {
    #[test]
    fn an_event_is_read_back_equal_from_json(event in event()) {
        let json = serde_json::to_string(&event).unwrap();
        prop_assert_eq!(line(&event), format!("{json}\n"));
        let read: Event = serde_json::from_str(&json).map_err(|error| TestCaseError::fail(format!("{error}: {json}")))?;
        prop_assert_eq!(&read, &event, "{}", json);
        let value: Event = serde_json::from_value(serde_json::to_value(&event).unwrap()).unwrap();
        prop_assert_eq!(&value, &event, "{}", json);
    }
}
