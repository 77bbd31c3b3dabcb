//! Datasets: cases with inputs, expected outputs and evaluators.

mod import;
mod read;
mod schema;
mod write;
mod yaml;

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::str::FromStr;

use serde_json::{Map, Value};

use llm_do_core::base::error::fault_list;
use llm_do_core::base::open_file::read_only;

/// The maximum size of a file, in bytes.
const MAX_SIZE: u64 = 16 << 20;

/// Cases with inputs and expected outputs, and the evaluators that score the outputs of a tool or worker.
///
/// A dataset is read from a YAML file in the format of pydantic-evals, or from a JSON file of the same structure. A file has
/// at most 16 MiB and 100,000 values.
///
/// # Examples
///
/// ```
/// use llm_do::eval::Dataset;
///
/// let dataset: Dataset = "
/// name: capitals
/// cases:
/// - name: france
///   inputs: {country: France}
///   expected_output: Paris
/// evaluators:
/// - EqualsExpected
/// - MaxDuration: 2.5
/// ".parse()?;
/// assert_eq!(dataset.cases[0].inputs["country"], "France");
/// assert_eq!(dataset.to_yaml().parse::<Dataset>()?, dataset);
/// # Ok::<_, llm_do::eval::DatasetError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Dataset {
    /// The name.
    pub name: Option<String>,
    /// The cases.
    pub cases: Vec<Case>,
    /// The evaluators of every case, before those of the case.
    pub evaluators: Vec<EvaluatorSpec>,
}

/// One input of a tool or worker, with its expected output.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Case {
    /// The name, unique in its dataset.
    pub name: Option<String>,
    /// The arguments as an object, or the value of the only argument.
    pub inputs: Value,
    /// Data about the case, for evaluators and readers.
    pub metadata: Option<Value>,
    /// The result to compare with.
    pub expected_output: Option<Value>,
    /// The evaluators of this case alone.
    pub evaluators: Vec<EvaluatorSpec>,
}

/// An evaluator by name, with its arguments.
#[derive(Clone, Debug)]
pub struct EvaluatorSpec {
    /// The name of a built-in evaluator, or of one that the program adds.
    pub name: String,
    /// Its arguments.
    pub arguments: Arguments,
    /// The place of the evaluator: `line 7`, or `file:7` if it was read from a file.
    place: Option<String>,
}

/// The arguments of an evaluator, in the three forms that a dataset has.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Arguments {
    /// `- EqualsExpected`.
    #[default]
    None,
    /// `- Contains: yes`: the value of the first argument.
    One(Value),
    /// `- Contains: {value: yes, case_sensitive: false}`.
    Named(Map<String, Value>),
}

impl Dataset {
    /// Returns an empty dataset.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..Self::default() }
    }

    /// Adds a case.
    #[must_use]
    pub fn case(mut self, case: Case) -> Self {
        self.cases.push(case);
        self
    }

    /// Adds an evaluator of every case.
    #[must_use]
    pub fn evaluator(mut self, spec: EvaluatorSpec) -> Self {
        self.evaluators.push(spec);
        self
    }

    /// Reads a dataset from a file; without a `name`, its name is that of the file.
    ///
    /// # Errors
    ///
    /// Returns every fault of the file, each with its line.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, DatasetError> {
        let path = path.as_ref();
        let fault = |message: String| DatasetError { faults: vec![format!("{}: {message}", path.display())] };
        let text = read_only(path).and_then(read_all).map_err(|error| fault(error.to_string()))?;
        let mut dataset = read::read(&text).map_err(|faults| DatasetError {
            faults: faults.iter().map(|fault| fault.in_file(path.display())).collect(),
        })?;
        let specs = dataset.cases.iter_mut().flat_map(|case| &mut case.evaluators);
        for spec in specs.chain(&mut dataset.evaluators) {
            spec.place = spec.place.take().map(|place| place.replacen("line ", &format!("{}:", path.display()), 1));
        }
        if dataset.name.is_none() {
            dataset.name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        }
        Ok(dataset)
    }

    /// Returns the dataset as YAML, which pydantic-evals can read too.
    ///
    /// Reading the text returns an equal dataset.
    #[must_use]
    pub fn to_yaml(&self) -> String {
        yaml::write(&write::value(self))
    }

    /// Returns the JSON schema of datasets, for editors.
    ///
    /// `inputs` and `expected_output` may be schemas of arguments and results; `own` are the names of evaluators that the
    /// program adds, whose arguments are not checked.
    #[must_use]
    pub fn json_schema<'a>(
        inputs: Option<&Value>,
        expected_output: Option<&Value>,
        own: impl IntoIterator<Item = &'a str>,
    ) -> Value {
        schema::schema(inputs, expected_output, own)
    }
}

fn read_all(file: File) -> std::io::Result<String> {
    let mut text = String::new();
    file.take(MAX_SIZE + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_SIZE {
        return Err(std::io::Error::other(format!("the file is too large: the limit is {MAX_SIZE} bytes")));
    }
    Ok(text)
}

/// Parses the text of a dataset.
impl FromStr for Dataset {
    type Err = DatasetError;

    fn from_str(text: &str) -> Result<Self, DatasetError> {
        read::read(text).map_err(|faults| DatasetError {
            faults: faults.iter().map(|fault| format!("line {}: {}", fault.place.line, fault.message)).collect(),
        })
    }
}

impl Case {
    /// Returns a case without a name, with these arguments or the value of the only argument.
    #[must_use]
    pub fn new(inputs: impl Into<Value>) -> Self {
        Self { inputs: inputs.into(), ..Self::default() }
    }

    /// Sets the name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the result to compare with.
    #[must_use]
    pub fn expects(mut self, output: impl Into<Value>) -> Self {
        self.expected_output = Some(output.into());
        self
    }

    /// Sets the metadata.
    #[must_use]
    pub fn metadata(mut self, metadata: impl Into<Value>) -> Self {
        self.metadata = Some(metadata.into());
        self
    }

    /// Adds an evaluator.
    #[must_use]
    pub fn evaluator(mut self, spec: EvaluatorSpec) -> Self {
        self.evaluators.push(spec);
        self
    }
}

impl EvaluatorSpec {
    /// Returns an evaluator without arguments.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), arguments: Arguments::None, place: None }
    }

    /// Sets the first argument.
    #[must_use]
    pub fn with(mut self, value: impl Into<Value>) -> Self {
        self.arguments = Arguments::One(value.into());
        self
    }

    /// Sets the arguments by name.
    #[must_use]
    pub fn with_named(mut self, arguments: Map<String, Value>) -> Self {
        self.arguments = Arguments::Named(arguments);
        self
    }

    /// Returns the place of the evaluator; empty if it was not read.
    pub(super) fn place(&self) -> &str {
        self.place.as_deref().unwrap_or_default()
    }

    /// Returns a fault with the place of the evaluator, if it was read from a file.
    pub(super) fn fault(&self, message: impl fmt::Display) -> String {
        match &self.place {
            Some(place) => format!("{place}: `{}`: {message}", self.name),
            None => format!("`{}`: {message}", self.name),
        }
    }
}

/// Two evaluators are equal regardless of their places.
impl PartialEq for EvaluatorSpec {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.arguments == other.arguments
    }
}

impl Arguments {
    /// Returns the arguments as JSON: the value of the only one, an object of several, or `null`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        match self {
            Self::None => Value::Null,
            Self::One(value) => value.clone(),
            Self::Named(values) => Value::Object(values.clone()),
        }
    }
}

/// All faults of a dataset.
///
/// `Debug` prints the same text as `Display`, since a test that fails with `?` prints it.
pub struct DatasetError {
    pub(super) faults: Vec<String>,
}

impl DatasetError {
    /// Returns the faults, each with its file and line: `capitals.yaml:3: ..`.
    #[must_use]
    pub fn faults(&self) -> &[String] {
        &self.faults
    }
}

fault_list!(DatasetError, "the dataset");
