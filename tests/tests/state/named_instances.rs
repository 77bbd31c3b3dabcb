//! Named instances: one type with methods, offered under several names, each with its own state.

use std::sync::{Arc, Mutex};

use llm_do::approval::{ApprovalMode, ApprovalRequest, Decision, Policy, Rule};
use llm_do::context::OfInstance;
use llm_do::error::chain;
use llm_do::journal::{MemoryJournal, StepKind};
use llm_do::prelude::*;
use llm_do::runtime::{BuildError, FunctionTool, RuntimeBuilder};
use llm_do::testing::{Recorder, ScriptedModel};
use llm_do::worker::WorkerSpec;
use llm_do::{Effect, Value, json};

/// The rows of a table. Clones share them.
#[derive(Clone, Default)]
struct Rows(Arc<Mutex<Vec<String>>>);

impl Rows {
    fn add(&self, row: impl Into<String>) -> usize {
        let mut rows = self.0.lock().unwrap();
        rows.push(row.into());
        rows.len()
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

struct Table(Rows);

/// A table.
#[tool]
impl Table {
    fn open(rows: State<Rows>) -> Self {
        Self(Rows::clone(&rows))
    }

    /// List the rows.
    #[tool(effect = read_only)]
    fn list_rows(&self) -> Vec<String> {
        self.0.all()
    }

    /// Add a row, and return how many there are.
    #[tool(effect = destructive, reconcile = find_row)]
    fn add_row(&self, row: String) -> usize {
        self.0.add(row)
    }

    /// Find a row, and return how many rows there are up to it.
    #[tool(effect = read_only)]
    fn find_row(&self, row: String) -> Option<usize> {
        self.0.all().iter().position(|known| *known == row).map(|place| place + 1)
    }

    /// Count the rows, by state that a method takes.
    #[tool(effect = read_only)]
    async fn count_rows(rows: State<Rows>, ctx: &CallContext) -> Result<(usize, bool)> {
        Ok((rows.all().len(), ctx.state::<Rows>().is_some()))
    }
}

toolset! {
    /// What customers ordered.
    orders = instance(Table);

    customers = instance(Table);
}

type OrderRows = OfInstance<orders, list_rows>;

/// Enters a customer and an order.
#[entry(toolsets = [orders, customers])]
async fn enter(ctx: &CallContext<enter>, customer: String, order: String) -> Result<Vec<usize>> {
    let known = ctx.call(customers::of(add_row { row: customer })).await?;
    let ordered = ctx.call(orders::of(add_row { row: order })).await?;
    Ok(vec![known, ordered])
}

/// Show the orders.
#[tool(effect = read_only, toolsets = [OrderRows])]
async fn show_orders(ctx: &CallContext<show_orders>) -> Result<Vec<String>> {
    Ok(ctx.call(orders::of(list_rows {})).await?)
}

/// Adds a customer by name, without being allowed to.
#[entry(toolsets = [orders, prefixed("of_", customers.except([AddedCustomer]))])]
async fn intrude(ctx: &CallContext<intrude>) -> Result<Value> {
    ctx.call_tool("of_customers__list_rows", json!({})).await?;
    Ok(ctx.call_tool("customers__add_row", json!({ "row": "eve" })).await?)
}

type AddedCustomer = OfInstance<customers, add_row>;

/// Keep the books.
#[worker(toolsets = [orders, customers])]
async fn bookkeeper(input: String) -> String;

/// A builder, with the rows of the orders and of the customers.
fn builder() -> (RuntimeBuilder, Rows, Rows) {
    let (ordered, known) = (Rows::default(), Rows::default());
    let builder = crate::own_builder().state_for::<orders>(ordered.clone()).state_for::<customers>(known.clone());
    (builder.approval_mode(ApprovalMode::ApproveAll), ordered, known)
}

fn entered() -> enter {
    enter { customer: "ann".into(), order: "tea".into() }
}

#[tokio::test]
async fn each_named_instance_has_its_own_state() {
    let (builder, ordered, known) = builder();
    let runtime = builder.build().unwrap();
    known.add("bob");
    assert_eq!(runtime.run(entered()).await.unwrap(), [2, 1]);
    assert_eq!((ordered.all(), known.all()), (vec!["tea".to_owned()], vec!["bob".to_owned(), "ann".to_owned()]));
    assert_eq!(runtime.run(show_orders {}).await.unwrap(), ["tea"]);
    assert_eq!(runtime.run(customers::of(list_rows {})).await.unwrap(), ["bob", "ann"]);
    assert_eq!(runtime.run(customers::of(count_rows {})).await.unwrap(), (2, true), "a parameter and the context");
    assert_eq!(runtime.run_named("orders__list_rows", json!({})).await.unwrap(), json!(["tea"]));
}

#[tokio::test]
async fn a_run_may_have_its_own_state_of_a_named_instance() {
    let (builder, ordered, _) = builder();
    let own = Rows::default();
    let runtime = builder.build().unwrap();
    runtime.start(entered()).state_for::<orders>(own.clone()).await.unwrap();
    assert_eq!((own.all(), ordered.all()), (vec!["tea".to_owned()], vec![]));
}

#[tokio::test]
async fn a_model_calls_the_tools_under_the_names_of_the_instances() {
    let model = ScriptedModel::new()
        .call("customers__add_row", json!({ "row": "ann" }))
        .call("orders__add_row", json!({ "row": "tea" }))
        .text("done");
    let (builder, ordered, known) = builder();
    let events = Recorder::new();
    let runtime = builder.sink(events.clone()).force_model(model.clone()).build().unwrap();
    runtime.run(bookkeeper { input: "Ann wants tea.".into() }).await.unwrap();
    assert_eq!((ordered.all(), known.all()), (vec!["tea".to_owned()], vec!["ann".to_owned()]));
    let requests = model.requests();
    let described = |name: &str| {
        let tool = requests[0].tools.iter().find(|tool| &*tool.name == name).unwrap();
        tool.description.to_string()
    };
    assert_eq!(described("orders__list_rows"), "List the rows.\n\nWhat customers ordered.");
    assert_eq!(described("customers__list_rows"), "List the rows.");
    let names: Vec<_> = events.events().iter().map(|event| event.name.to_string()).collect();
    assert!(names.contains(&"customers__add_row".to_owned()) && !names.contains(&"add_row".to_owned()), "{names:?}");
}

#[tokio::test]
async fn a_worker_file_names_an_instance_and_one_tool_of_another() {
    let file = "---\nname: reader\ntoolsets: [orders, customers__list_rows]\n---\nRead.\n";
    let model = ScriptedModel::new().call("customers__list_rows", json!({})).text("empty");
    let (builder, ..) = builder();
    let runtime = builder.worker(file.parse::<WorkerSpec>().unwrap()).force_model(model.clone()).build().unwrap();
    assert_eq!(runtime.run_named("reader", json!({ "input": "Who?" })).await.unwrap(), "empty");
    let mut offered: Vec<_> = model.requests()[0].tools.iter().map(|tool| tool.name.to_string()).collect();
    offered.sort();
    let expected =
        ["customers__list_rows", "orders__add_row", "orders__count_rows", "orders__find_row", "orders__list_rows"];
    assert_eq!(offered, expected);
}

#[tokio::test]
async fn a_resumed_run_repeats_the_steps_of_no_instance() {
    let journal = MemoryJournal::new();
    builder().0.journal(journal.clone()).build().unwrap().run(entered()).await.unwrap();
    let records = journal.records();
    let added = records.iter().rposition(|record| &*record.name == "customers__add_row").unwrap();
    let (builder, ordered, known) = builder();
    let cut = MemoryJournal::from_records(records[..=added].to_vec());
    assert_eq!(builder.journal(cut).build().unwrap().run(entered()).await.unwrap(), [1, 1]);
    assert_eq!((ordered.all(), known.all()), (vec!["tea".to_owned()], vec![]));
}

#[tokio::test]
async fn an_interrupted_call_is_reconciled_by_the_tool_of_its_instance() {
    let journal = MemoryJournal::new();
    builder().0.journal(journal.clone()).build().unwrap().run(entered()).await.unwrap();
    let records = journal.records();
    let begun = records.iter().position(|record| record.kind == StepKind::Begun).unwrap();
    let (builder, ordered, known) = builder();
    known.add("ann");
    let cut = MemoryJournal::from_records(records[..=begun].to_vec());
    assert_eq!(builder.journal(cut).build().unwrap().run(entered()).await.unwrap(), [1, 1]);
    assert_eq!((ordered.all(), known.all()), (vec!["tea".to_owned()], vec!["ann".to_owned()]), "it had happened");
}

#[tokio::test]
async fn each_instance_is_approved_by_its_own_name() {
    let asked = Rows::default();
    let asked_of = |policy: Policy| {
        let log = asked.clone();
        let approve = move |request: ApprovalRequest| {
            log.add(&*request.tool);
            async { Decision::approve() }
        };
        builder().0.approval_mode(ApprovalMode::Prompt).approve_with(approve).policy(policy).build().unwrap()
    };
    let take = || std::mem::take(&mut *asked.0.lock().unwrap());

    asked_of(Policy::new()).run(entered()).await.unwrap();
    assert_eq!(take(), ["customers__add_row", "orders__add_row"]);
    asked_of(Policy::new().tool("orders__add_row", Rule::PreApproved)).run(entered()).await.unwrap();
    assert_eq!(take(), ["customers__add_row"]);
    asked_of(Policy::new().toolset("customers", Rule::PreApproved)).run(entered()).await.unwrap();
    assert_eq!(take(), ["orders__add_row"]);
    // A rule for the type holds for its instances, after their own.
    let policy = Policy::new().toolset("Table", Rule::PreApproved).toolset("orders", Rule::Ask);
    asked_of(policy).run(entered()).await.unwrap();
    assert_eq!(take(), ["orders__add_row"]);
    // A block of the type holds, although the instance is pre-approved.
    let policy = Policy::new().tool("add_row", Rule::blocked("closed")).tool("customers__add_row", Rule::PreApproved);
    let error = asked_of(policy).run(entered()).await.unwrap_err();
    assert!(error.is_denied() && chain(&error).contains("closed"), "{}", chain(&error));
    assert!(take().is_empty());
}

#[tokio::test]
async fn a_call_of_an_undeclared_instance_is_refused() {
    let (builder, _, known) = builder();
    let error = builder.build().unwrap().run(intrude {}).await.unwrap_err();
    assert!(chain(&error).contains("`intrude` may not call `customers__add_row`"), "{}", chain(&error));
    assert!(known.all().is_empty());
}

#[test]
fn missing_state_of_an_instance_names_the_instance_and_the_type() {
    let builder = crate::own_builder().state(Rows::default()).state_for::<orders>(Rows::default());
    let Err(BuildError::MissingState(missing)) = builder.build() else { panic!("state is missing") };
    let [missing] = &missing[..] else { panic!("{missing:?}") };
    let expected = "`Rows` of the instance `customers`, with `state_for::<customers>(..)`, for `customers__add_row`";
    assert!(missing.starts_with(expected), "{missing}");
}

#[tokio::test]
async fn the_type_itself_needs_no_state_unless_something_declares_it() {
    let (own, ..) = builder();
    let error = own.build().unwrap().run(list_rows {}).await.unwrap_err();
    assert!(chain(&error).contains("missing state of type `Rows`; set it with"), "{}", chain(&error));
    let (declared, ..) = builder();
    let declared = declared.worker(WorkerSpec::new("lister", "List.").toolsets(["list_rows"]));
    let Err(BuildError::MissingState(missing)) = declared.build() else { panic!("state is missing") };
    assert_eq!(missing, ["`Rows` for `list_rows`"]);
}

#[test]
fn a_tool_with_the_name_of_a_tool_of_an_instance_is_refused() {
    let schema = json!({ "type": "object" });
    let tool = FunctionTool::new("orders__list_rows", "List.", schema, Effect::ReadOnly, |_, _| async { Ok("none") });
    let (builder, ..) = builder();
    let error = builder.tool(tool).build().unwrap_err().to_string();
    assert!(error.contains("`orders__list_rows` is registered 2 times: tool"), "{error}");
    assert!(error.contains("tool of the instance `orders` at "), "{error}");
}
