//! Runs that are cut at every record, in each journal, and resumed: no effect is made twice that must not be, and each unknown outcome is
//! asked about or reported once.

mod kept;
mod task;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use futures_util::future::join_all;
use llm_do::approval::{ApprovalMode, ApprovalRequest, Approver, Decision};
use llm_do::async_trait;
use llm_do::journal::{Record, StepKind};
use llm_do::model::{Message, Request, Response, ResponsePart, ToolCall, ToolResult, UserPart};
use llm_do::prelude::*;
use llm_do::testing::FunctionModel;
use llm_do::usage::Usage;
use proptest::prelude::{
    Just, ProptestConfig, Strategy, TestCaseError, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest,
};
use proptest::sample::Index;
use serde_json::{Value, json};

use self::kept::{Kept, Marks, Store};
use self::task::{Task, What, tasks};

/// What happens outside of the processes of a run. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outside {
    /// The effects that were made, by the ids of their tasks.
    made: Arc<Mutex<Vec<u32>>>,
    /// The unknown outcomes that the approver was asked about.
    asked: Arc<Mutex<Vec<u32>>>,
}

impl Outside {
    /// Sets what was made before the process that comes next.
    fn reset(&self, made: &[u32]) {
        *self.made.lock().unwrap() = made.to_vec();
        self.asked.lock().unwrap().clear();
    }

    pub(crate) fn made(&self) -> Vec<u32> {
        self.made.lock().unwrap().clone()
    }

    fn asked(&self) -> Vec<u32> {
        let mut asked = self.asked.lock().unwrap().clone();
        asked.sort_unstable();
        asked
    }

    fn make(&self, id: u32) -> u32 {
        self.made.lock().unwrap().push(id);
        id
    }

    /// Makes an effect whose answer takes a while.
    async fn make_slowly(&self, id: u32) -> u32 {
        tokio::task::yield_now().await;
        self.make(id);
        tokio::task::yield_now().await;
        id
    }

    fn has(&self, id: u32) -> bool {
        self.made.lock().unwrap().contains(&id)
    }
}

/// Read.
#[tool(effect = read_only)]
async fn cut_read(task: Task) -> u32 {
    tokio::task::yield_now().await;
    task.id
}

/// Set a value.
#[tool(effect = idempotent)]
async fn cut_set(task: Task, outside: State<Outside>) -> u32 {
    outside.make_slowly(task.id).await
}

/// Have an effect that is not declared.
#[tool(approval = pre_approved)]
async fn cut_send(task: Task, outside: State<Outside>) -> u32 {
    outside.make_slowly(task.id).await
}

/// Pay.
#[tool(effect = destructive)]
async fn cut_pay(task: Task, outside: State<Outside>) -> u32 {
    outside.make_slowly(task.id).await
}

/// Pay, on a blocking thread.
#[tool(effect = destructive)]
fn cut_block(task: Task, outside: State<Outside>) -> u32 {
    outside.make(task.id)
}

/// Mail; an unknown outcome is reported.
#[tool(effect = destructive, on_unknown = report)]
async fn cut_mail(task: Task, outside: State<Outside>) -> u32 {
    outside.make_slowly(task.id).await
}

/// Wire money; whether it was wired can be found out.
#[tool(effect = destructive, approval = pre_approved, reconcile = cut_was_wired)]
async fn cut_wire(task: Task, outside: State<Outside>) -> u32 {
    outside.make_slowly(task.id).await
}

/// Return the result of a transfer that was made.
#[tool(effect = read_only)]
fn cut_was_wired(task: Task, outside: State<Outside>) -> Option<u32> {
    outside.has(task.id).then_some(task.id)
}

/// Have an effect of its own, which is not made twice.
#[tool(effect = idempotent, approval = pre_approved)]
async fn cut_own(ctx: &CallContext, task: Task, outside: State<Outside>) -> Result<Value> {
    let (id, outside) = (task.id, Outside::clone(&outside));
    let effect = async move { Ok(outside.make_slowly(id).await) };
    noted(id, ctx.destructive_effect("own", id, effect).await.map(Value::from))
}

/// Make calls.
#[tool(effect = idempotent, approval = pre_approved)]
async fn cut_group(ctx: &CallContext, task: Task) -> Result<Vec<Value>> {
    make_all(ctx, &task.inside, task.together).await
}

/// Make calls.
#[worker(
    toolsets = [cut_read, cut_set, cut_send, cut_pay, cut_block, cut_mail, cut_wire, cut_own, cut_group, cut_agent],
    max_turns = 40,
)]
pub(crate) async fn cut_agent(task: Task) -> String {
    serde_json::to_string(&task)?
}

/// Makes the calls of a run.
#[entry]
async fn cut_root(ctx: &CallContext, tasks: Vec<Task>, together: bool) -> Result<Vec<Value>> {
    make_all(ctx, &tasks, together).await
}

async fn make_all(ctx: &CallContext, tasks: &[Task], together: bool) -> Result<Vec<Value>> {
    if together {
        return join_all(tasks.iter().map(|task| make(ctx, task))).await.into_iter().collect();
    }
    let mut results = Vec::new();
    for task in tasks {
        results.push(make(ctx, task).await?);
    }
    Ok(results)
}

async fn make(ctx: &CallContext, task: &Task) -> Result<Value> {
    noted(task.id, ctx.call_tool(task.what.name(), json!({ "task": task })).await)
}

/// Notes what is unknown, and what was denied; the caller goes on.
fn noted(id: u32, result: Result<Value, CallError>) -> Result<Value> {
    match result {
        Err(CallError::OutcomeUnknown { .. }) => Ok(json!({ "unknown": id })),
        Err(error) if error.is_denied() => Ok(json!({ "denied": id })),
        result => Ok(result?),
    }
}

/// A model that makes the calls of its task: all in one turn, or one in each.
fn model() -> FunctionModel {
    FunctionModel::new(|request: Request<'_>| {
        let task = task_of(&request.messages[0]);
        let results: Vec<&ToolResult> = request.messages.iter().flat_map(results).collect();
        let calls = task.inside.iter().enumerate().skip(results.len());
        let calls = calls.take(if task.together { usize::MAX } else { 1 }).map(|(n, task)| {
            let arguments = json!({ "task": task }).to_string();
            ResponsePart::ToolCall(ToolCall::new(n.to_string(), task.what.name().to_owned(), arguments))
        });
        let parts: Vec<_> = calls.collect();
        let texts: Vec<_> = results.iter().map(|result| &result.content).collect();
        let parts = if parts.is_empty() { vec![ResponsePart::Text { text: json!(texts).to_string() }] } else { parts };
        Ok(Response::new("planned", parts, Usage::of_request(1, 1)))
    })
}

fn task_of(prompt: &Message) -> Task {
    let Message::User { parts } = prompt else { panic!("{prompt:?}") };
    let UserPart::Text { text } = &parts[0] else { panic!("{parts:?}") };
    serde_json::from_str(text).unwrap()
}

fn results(message: &Message) -> &[ToolResult] {
    match message {
        Message::Tool { results } => results,
        _ => &[],
    }
}

/// An approver who looks outside about what may have happened, and approves all else.
#[derive(Debug)]
struct Person(Outside);

#[async_trait]
impl Approver for Person {
    async fn review(&self, request: &ApprovalRequest, _: &llm_do::CallContext) -> Decision {
        tokio::task::yield_now().await;
        if request.began.is_none() {
            return Decision::approve();
        }
        let id = request.arguments["task"]["id"].as_u64().unwrap().try_into().unwrap();
        self.0.asked.lock().unwrap().push(id);
        if self.0.has(id) { Decision::happened(id) } else { Decision::approve() }
    }
}

/// Who decides in a process.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Setting {
    /// A person.
    Attended,
    /// A mode that approves all calls, and a person who knows what happened.
    AttendedByAll,
    /// A mode that approves all calls.
    Unattended,
    /// A mode that rejects all calls.
    Rejecting,
}

impl Setting {
    fn mode(self) -> ApprovalMode {
        match self {
            Self::Attended => ApprovalMode::Prompt,
            Self::AttendedByAll | Self::Unattended => ApprovalMode::ApproveAll,
            Self::Rejecting => ApprovalMode::RejectAll,
        }
    }

    fn has_approver(self) -> bool {
        self != Self::Unattended
    }

    /// Returns whether a person is asked what happened.
    fn asks(self) -> bool {
        matches!(self, Self::Attended | Self::AttendedByAll)
    }
}

fn settings() -> impl Strategy<Value = Setting> {
    prop_oneof![
        3 => Just(Setting::Attended),
        1 => Just(Setting::AttendedByAll),
        2 => Just(Setting::Unattended),
        1 => Just(Setting::Rejecting),
    ]
}

/// The call of a run.
#[derive(Clone, Debug)]
struct Run {
    tasks: Vec<Task>,
    together: bool,
}

impl Run {
    fn arguments(&self) -> Value {
        json!({ "tasks": self.tasks, "together": self.together })
    }

    /// Returns what each task is, by its id.
    fn kinds(&self) -> BTreeMap<u32, What> {
        self.tasks.iter().flat_map(Task::all).map(|task| (task.id, task.what)).collect()
    }
}

/// What a process has left.
struct Ended {
    result: Value,
    records: Vec<Record>,
    marks: Marks,
    /// The effects so far, and the questions of this process.
    made: Vec<u32>,
    asked: Vec<u32>,
}

/// Runs processes of one setting.
struct Machine {
    setting: Setting,
    outside: Outside,
    runtime: Runtime,
    tokio: tokio::runtime::Runtime,
}

impl Machine {
    fn new(setting: Setting) -> Self {
        let outside = Outside::default();
        let builder = crate::own_builder().state(outside.clone()).force_model(model()).approval_mode(setting.mode());
        let builder = if setting.has_approver() { builder.approver(Person(outside.clone())) } else { builder };
        let runtime = builder.build().unwrap();
        let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { setting, outside, runtime, tokio }
    }

    /// Runs a process to the end of the run, after these effects.
    fn process(&self, run: &Run, kept: &Kept, made: &[u32]) -> Ended {
        self.outside.reset(made);
        let (result, marks) = self.tokio.block_on(async {
            let (journal, marks) = kept.open(&self.outside).await;
            let run = self.runtime.start_named("cut_root", run.arguments()).shared_journal(journal);
            (run.into_future().await.unwrap(), marks)
        });
        let (made, asked) = (self.outside.made(), self.outside.asked());
        Ended { result, records: kept.records(), marks, made, asked }
    }
}

/// Returns the id of the task of a record.
fn id_of(record: &Record) -> Option<u32> {
    record.input["task"]["id"].as_u64().or_else(|| record.input.as_u64())?.try_into().ok()
}

/// Returns the tasks whose outcome is unknown by the records: they began, and have no result, and no answer since.
fn unknown(records: &[Record]) -> BTreeSet<u32> {
    let keys: BTreeSet<&str> = records.iter().map(|record| &*record.key).collect();
    let mut open = BTreeMap::new();
    for record in records {
        let Some((call, _)) = record.key.rsplit_once('/') else { continue };
        match record.kind {
            StepKind::Begun if !keys.contains(call) => {
                open.insert(call, id_of(record).unwrap());
            }
            StepKind::Approval => {
                open.remove(call);
            }
            _ => {}
        }
    }
    open.into_values().collect()
}

/// Returns the tasks that these records report as unknown.
fn reported(records: &[Record]) -> Vec<u32> {
    // Of a call, and of an effect.
    let failures =
        |value: &Value| [&value["outcome_unknown"], &value["failure"]["outcome_unknown"]].map(Value::is_object);
    let reports = records.iter().filter(|record| failures(&record.value).contains(&true));
    let mut ids: Vec<_> = reports.filter_map(id_of).collect();
    ids.sort_unstable();
    ids
}

/// Checks a process that resumed a run.
fn check(run: &Run, setting: Setting, before: &[Record], ended: &Ended) -> Result<(), TestCaseError> {
    let (kinds, unknown) = (run.kinds(), unknown(before));
    let is_asked = |id: &u32| setting.asks() && matches!(kinds[id], What::Send | What::Pay | What::Block);
    let asked: Vec<u32> = unknown.iter().copied().filter(is_asked).collect();
    let is_reported = |id: &u32| !is_asked(id) && kinds[id] != What::Wire;
    let expected: Vec<u32> = unknown.iter().copied().filter(is_reported).collect();
    prop_assert_eq!(&ended.asked, &asked, "asked about each unknown outcome once: {:?} of {:?}", setting, unknown);
    let earlier: BTreeSet<&str> = before.iter().map(|record| &*record.key).collect();
    let new: Vec<_> = ended.records.iter().filter(|record| !earlier.contains(&*record.key)).cloned().collect();
    prop_assert_eq!(reported(&new), expected, "reported each unknown outcome once: {:?} of {:?}", setting, unknown);
    let (made, reported) = (&ended.made, reported(&ended.records));
    for (id, what) in kinds.iter().filter(|(_, what)| what.is_made_once()) {
        let times = made.iter().filter(|made| *made == id).count();
        prop_assert!(times <= 1, "{what:?} {id} was made {times} times: {made:?}");
        // A mode that rejects leaves calls undone that had not begun.
        prop_assert!(times == 1 || reported.contains(id) || setting == Setting::Rejecting, "{what:?} {id} is lost");
    }
    Ok(())
}

/// Cuts a run at every record, and resumes each; a resumed run may be cut once more.
fn check_cuts(
    run: &Run,
    (first, second): (Setting, Setting),
    store: Store,
    again: Option<Index>,
) -> Result<(), TestCaseError> {
    let (first, second, kept) = (Machine::new(first), Machine::new(second), Kept::new(store));
    let whole = first.process(run, &kept, &[]);
    prop_assert!(whole.asked.is_empty());
    for cut in 0..=whole.records.len() {
        for made in whole.marks.made_at(&whole.records, cut, &whole.made) {
            let rest = kept.cut(cut);
            let before = rest.records();
            prop_assert_eq!(before.len(), cut);
            let resumed = second.process(run, &rest, &made);
            check(run, second.setting, &before, &resumed)?;
            // What is rejected once stays undone.
            if let Some(again) = again.filter(|_| second.setting != Setting::Rejecting) {
                check_second_cut(run, &first, (&rest, &resumed), again.index(resumed.records.len() + 1 - cut) + cut)?;
            }
            // Nothing is left to do, to ask or to report.
            let replayed = first.process(run, &rest.replayed(), &resumed.made);
            prop_assert_eq!(replayed.result, resumed.result);
            prop_assert_eq!((replayed.made, replayed.asked), (resumed.made, Vec::new()));
        }
    }
    Ok(())
}

/// Cuts a resumed run once more, where it resumed or later.
fn check_second_cut(
    run: &Run,
    machine: &Machine,
    (kept, resumed): (&Kept, &Ended),
    cut: usize,
) -> Result<(), TestCaseError> {
    for made in resumed.marks.made_at(&resumed.records, cut, &resumed.made) {
        let rest = kept.cut(cut);
        let before = rest.records();
        let third = machine.process(run, &rest, &made);
        check(run, machine.setting, &before, &third)?;
    }
    Ok(())
}

/// Generates runs; `size` is the number of tasks in each task of the run.
fn runs(size: u32) -> impl Strategy<Value = Run> {
    (tasks(size), any::<bool>()).prop_map(|(tasks, together)| Run { tasks, together })
}

/// Configures the number of cases; the environment variable `PROPTEST_CASES` overrides it.
fn cases(cases: u32) -> ProptestConfig {
    let config = ProptestConfig::default();
    if std::env::var_os("PROPTEST_CASES").is_some() { config } else { ProptestConfig { cases, ..config } }
}

/// Generates who decides in the process that is not interrupted.
fn first_settings() -> impl Strategy<Value = Setting> {
    prop_oneof![Just(Setting::Attended), Just(Setting::Unattended)]
}

proptest! {
    #![proptest_config(cases(16))]

    #[test]
    fn a_run_that_is_cut_at_any_record_makes_nothing_twice_and_asks_or_reports_each_unknown_outcome_once(
        run in runs(5),
        first in first_settings(),
        second in settings(),
        again in prop::option::of(any::<Index>()),
    ) {
        check_cuts(&run, (first, second), Store::Memory, again)?;
    }
}

proptest! {
    #![proptest_config(cases(4))]

    #[test]
    fn the_same_holds_for_a_journal_in_a_file(run in runs(2), first in first_settings(), second in settings()) {
        check_cuts(&run, (first, second), Store::File, None)?;
    }

    #[test]
    fn the_same_holds_for_a_journal_in_sqlite(run in runs(2), first in first_settings(), second in settings()) {
        check_cuts(&run, (first, second), Store::Sqlite, None)?;
    }
}
