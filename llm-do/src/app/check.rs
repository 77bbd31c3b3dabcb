//! `check!()`: what a test can know of everything that is linked.

use serde_json::{Value, json};

use crate::plane::registry::{Registered, Registry};
use crate::session::runtime::{BuildError, RuntimeBuilder};

/// Asserts that all tools, workers and entries that are linked fit together: one line of a test.
///
/// It panics with every fault: names that collide or stand for nothing, state that tools take and the builder was not
/// given, schemas that are none or refer to nothing, defaults and examples that cannot be read or do not follow their
/// schema, fields of arguments that are skipped when they are written (`#[serde(skip_serializing)]`), models that are
/// malformed or of a provider that is not linked, entries that declare a worker without a model. An argument that has no
/// order, such as a `HashSet`, is a fault if its schema does not say `uniqueItems`, as a schema written by hand may not: a
/// journal would not find its calls again. That is seen only if a default or an example of it has several items.
/// Give it the builder that your application uses, so that it knows the state and the model; without one, a tool that takes
/// a `State<T>` is a fault. Where the model is chosen when the program is started, give the builder one here, such as
/// `runtime().default_model("openai:gpt-5-mini")`; with [`force_model`](crate::runtime::RuntimeBuilder::force_model), no model is
/// checked. An unknown model of a known provider, a missing API key and a worker without a model that no entry declares are
/// warnings: they are printed to standard error, and the test passes.
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
/// fn everything_fits_together() {
///     llm_do::check!(runtime());
/// }
/// # everything_fits_together();
/// ```
///
/// `llm_do::check!()` is the same with the plain `Runtime::builder()`. Here it panics, since the default does not follow
/// the schema that it stands in:
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
        $crate::check!($crate::Runtime::builder())
    };
    ($builder:expr $(,)?) => {
        $crate::__private::check($builder)
    };
}

/// Panics with all faults of what is linked.
///
/// # Panics
///
/// Panics if there is a fault.
#[doc(hidden)]
#[track_caller]
pub fn check(mut builder: RuntimeBuilder) {
    let faults = match builder.collect() {
        Ok(registry) => {
            let mut faults: Vec<_> = registry.iter().flat_map(|item| of_item(item)).collect();
            faults.extend(of_models(&builder, &registry));
            // Models are in the list already.
            let error = builder.build_on(registry).err().filter(|error| !matches!(error, BuildError::Models(_)));
            faults.extend(error.map(|error| error.to_string()));
            faults
        }
        Err(BuildError::Registry(error)) => error.faults().to_vec(),
        Err(BuildError::WorkerFiles(error)) => error.faults().to_vec(),
        Err(error) => vec![error.to_string()],
    };
    assert!(faults.is_empty(), "{} fault(s) in what is linked:\n  {}", faults.len(), faults.join("\n  "));
}

/// Says which models cannot be used, and which entries come to call a worker without one; prints what may be wrong.
#[expect(clippy::print_stderr, reason = "a test shows what it prints; a warning is no reason to fail")]
fn of_models(builder: &RuntimeBuilder, registry: &Registry) -> Vec<String> {
    let models = builder.models();
    let findings = models.findings(registry, &builder.price_table());
    for warning in &findings.warnings {
        eprintln!("warning: {warning}");
    }
    models.faults(registry).into_iter().chain(findings.faults).collect()
}

fn of_item(item: &Registered) -> Vec<String> {
    let output = item.output();
    let schemas = [("arguments", Some(item.parameters())), ("output", output.as_ref())];
    let faults = schemas.into_iter().filter_map(|(what, schema)| of_schema(what, schema?));
    let place = |fault| format!("`{}` ({}): {fault}", item.name(), item.location());
    let unwritten =
        item.unwritten().map(|field| format!("`{field}` is skipped when it is written: typed calls lose it"));
    faults.chain(of_samples(item)).chain(of_order(item)).chain(unwritten).map(place).collect()
}

/// Says why the validator does not take a schema: it is none, or refers to nothing.
fn of_schema(what: &str, schema: &Value) -> Option<String> {
    let error = jsonschema::draft202012::new(schema).err()?;
    Some(format!("the schema of its {what} is not valid: {error}"))
}

fn of_samples(item: &Registered) -> Vec<String> {
    let samples = item.samples();
    let lone = alone(item.parameters());
    let fault = |sample: &crate::declare::argument::Sample| match &sample.value {
        Ok(value) => {
            let validator = jsonschema::draft202012::new(&lone).ok()?;
            let call = json!({ sample.argument: value });
            let error = validator.iter_errors(&call).next()?;
            Some(format!("the {} of `{}` does not follow its schema: {error}", sample.what, sample.argument))
        }
        Err(error) => Some(format!("the {} of `{}` cannot be read back: {error}", sample.what, sample.argument)),
    };
    samples.iter().filter_map(fault).collect()
}

/// Says which arguments are written in another order each time, where their schema does not tell that they have none.
fn of_order(item: &Registered) -> Vec<String> {
    let canonical = |argument: &str, value: &Value| item.canonical(json!({ argument: value }));
    let is_ordered = |sample: &crate::declare::argument::Sample| {
        let Some((one, other)) = &sample.differing else { return true };
        canonical(sample.argument, one) == canonical(sample.argument, other)
    };
    let fault = |sample: &crate::declare::argument::Sample| {
        format!(
            "the {} of `{}` is written in another order each time, and its schema does not say `uniqueItems`, so that a \
             journal would not find the call again",
            sample.what, sample.argument
        )
    };
    item.samples().iter().filter(|sample| !is_ordered(sample)).map(fault).collect()
}

/// Returns the schema of calls that give any of the arguments.
fn alone(parameters: &Value) -> Value {
    let mut schema = parameters.clone();
    if let Some(schema) = schema.as_object_mut() {
        schema.remove("required");
    }
    schema
}
