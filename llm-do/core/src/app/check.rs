//! `check!()`: checks all linked items, in a test.

use serde_json::{Value, json};

use crate::declare::schema::{CheckedSchema, schema_fault};
use crate::plane::registry::{Registered, Registry};
use crate::session::runtime::{BuildError, RuntimeBuilder};

/// Asserts that all linked tools, workers and entries are valid and consistent with each other.
///
/// It panics with a list of all faults: duplicate or unknown names, missing state, invalid schemas, defaults and
/// examples that cannot be decoded or do not follow their schema, fields of arguments that are not serialized
/// (`#[serde(skip_serializing)]`), malformed model names and providers that are not linked, and entries that declare
/// a worker without a model. An argument without an order, such as a `HashSet`, is a fault if its schema lacks
/// `uniqueItems`, as a schema written by hand may: a journal would not find its calls again. This is detected only if a
/// default or an example of it has several items.
///
/// It is an expression, so it belongs in a function with `#[test]`; outside a function it does not compile.
///
/// Pass the builder of your application, so that its state and model are known; without state, a tool with a `State<T>`
/// parameter is a fault. If the model is chosen when the program starts, set one here, such as
/// `runtime().default_model("openai:gpt-5-mini")`. With
/// [`force_model`](crate::session::runtime::RuntimeBuilder::force_model), models are not checked. An unknown model of a
/// known provider, a missing API key, and a worker without a model that no entry declares are warnings: they are
/// printed to standard error, and the test passes.
///
/// # Examples
///
/// ```standalone_crate
/// use llm_do::prelude::*;
///
/// struct Database;
///
/// /// Count the rows.
/// #[tool(effect = read_only)]
/// fn count(table: String, #[arg(default = 10)] limit: usize, db: State<Database>) -> usize {
///     let _ = (table, db);
///     limit
/// }
///
/// fn runtime() -> llm_do::runtime::RuntimeBuilder {
///     Runtime::builder().state(Database)
/// }
///
/// // #[test]
/// fn everything_is_valid() {
///     llm_do::check!(runtime());
/// }
/// # everything_is_valid();
/// ```
///
/// `llm_do::check!()` uses the plain `Runtime::builder()`. This example panics, since the default does not follow its
/// schema:
///
/// ```should_panic,standalone_crate
/// use llm_do::prelude::*;
///
/// /// Roll dice.
/// #[tool(effect = read_only)]
/// fn roll(#[arg(default = 0)] #[schemars(range(min = 1))] dice: u8) -> u8 {
///     4 * dice
/// }
///
/// llm_do::check!();
/// ```
#[macro_export]
macro_rules! check {
    () => {
        $crate::check!($crate::session::runtime::Runtime::builder())
    };
    ($builder:expr $(,)?) => {
        // Where an item is expected, the compiler reports the first token that begins none: this text.
        "`check!` is an expression: write it in a test, `#[test] fn everything_is_valid() { llm_do::check!(); }`"
            .lines()
            .fold($crate::__private::check($builder), |(), _| ())
    };
}

/// Panics with all faults of the linked items.
///
/// # Panics
///
/// Panics if an item has a fault.
#[doc(hidden)]
#[track_caller]
pub fn check(mut builder: RuntimeBuilder) {
    let faults = match builder.collect() {
        Ok(registry) => {
            let mut faults: Vec<_> = registry.iter().flat_map(|item| item_faults(item)).collect();
            faults.extend(model_faults(&builder, &registry));
            // The list already has the faults of models.
            let error = builder.build_on(registry).err().filter(|error| !matches!(error, BuildError::Models(_)));
            faults.extend(error.map(|error| error.to_string()));
            faults
        }
        Err(BuildError::Registry(error)) => error.faults().to_vec(),
        Err(BuildError::WorkerFiles(error)) => error.faults().to_vec(),
        Err(error) => vec![error.to_string()],
    };
    assert!(faults.is_empty(), "invalid linked items ({}):\n  {}", faults.len(), faults.join("\n  "));
}

/// Returns the unusable models, and the entries that declare a worker without a model; prints warnings.
#[expect(clippy::print_stderr, reason = "a warning should be visible, but not fail the test")]
fn model_faults(builder: &RuntimeBuilder, registry: &Registry) -> Vec<String> {
    let models = builder.models();
    let findings = models.findings(registry);
    for warning in &findings.warnings {
        eprintln!("warning: {warning}");
    }
    models.faults(registry).into_iter().chain(findings.faults).collect()
}

fn item_faults(item: &Registered) -> Vec<String> {
    let output = item.output();
    let schemas = [("arguments", Some(item.parameters())), ("output", output.as_ref())];
    let invalid = |what, schema| Some(format!("the schema of its {what} is invalid: {}", schema_fault(schema)?));
    let faults = schemas.into_iter().filter_map(|(what, schema)| invalid(what, schema?));
    let with_item = |fault| format!("`{}` ({}): {fault}", item.name(), item.location());
    let unwritten =
        item.unwritten().map(|field| format!("`{field}` is skipped when it is serialized, so typed calls lose it"));
    faults.chain(sample_faults(item)).chain(order_faults(item)).chain(unwritten).map(with_item).collect()
}

fn sample_faults(item: &Registered) -> Vec<String> {
    let samples = item.samples();
    let lone = without_required(item.parameters());
    let fault = |sample: &crate::declare::argument::Sample| match &sample.value {
        Ok(value) => {
            let error = CheckedSchema::first_fault(&lone, &json!({ sample.argument: value }))?;
            Some(format!("the {} of `{}` does not follow its schema: {error}", sample.what, sample.argument))
        }
        Err(error) => Some(format!("the {} of `{}` cannot be decoded: {error}", sample.what, sample.argument)),
    };
    samples.iter().filter_map(fault).collect()
}

/// Returns the faults of arguments whose serialized order varies although their schema does not declare them unordered.
fn order_faults(item: &Registered) -> Vec<String> {
    let canonical = |argument: &str, value: &Value| item.canonical(json!({ argument: value }));
    let is_ordered = |sample: &crate::declare::argument::Sample| {
        let Some((one, other)) = &sample.differing else { return true };
        canonical(sample.argument, one) == canonical(sample.argument, other)
    };
    let fault = |sample: &crate::declare::argument::Sample| {
        format!(
            "the {} of `{}` is serialized in a different order each time, and its schema lacks `uniqueItems`, so a journal \
             would not find the call again; use an ordered type such as `BTreeSet`",
            sample.what, sample.argument
        )
    };
    item.samples().iter().filter(|sample| !is_ordered(sample)).map(fault).collect()
}

/// Returns the schema of the arguments, all of them optional.
fn without_required(parameters: &Value) -> Value {
    let mut schema = parameters.clone();
    if let Some(schema) = schema.as_object_mut() {
        schema.remove("required");
    }
    schema
}
