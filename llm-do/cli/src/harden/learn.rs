//! `harden --learn` and `--explain`: learns a decision from recorded cases, and shows what speaks for its answers.

use std::path::PathBuf;

use llm_do_core::app::harden::{LearnError, LearnedProposal, Learner};
use llm_do_core::plane::function_tool::LearnedTool;
use llm_do_core::session::runtime::RuntimeBuilder;
use serde_json::{Value, json};

use super::{cases, configured, fault, open_for};
use crate::args::HardenOptions;
use crate::out_folder::OutFolder;
use crate::run::block_on;
use crate::{CommandError, print, print_json, project};

/// The end of the name of a file that was learned.
const END: &str = ".learned.json";

/// The files of what was learned: a folder, and their names in it.
struct LearnedFiles {
    folder: PathBuf,
    learned: String,
    markdown: String,
    json: String,
}

pub(super) fn learn(
    builder: RuntimeBuilder,
    worker: &str,
    options: &HardenOptions,
    runs_projects: bool,
) -> Result<(), CommandError> {
    let (mut builder, settings) = configured(builder, options, runs_projects)?;
    let search = Learner::new(worker).gate(options.gate.gate());
    let search = match &options.candidate.name {
        Some(name) => search.name(name),
        None => search,
    };
    let files = LearnedFiles::new(options, search.file_stem());
    let folder = open_for(&files.folder, [&files.learned], [&files.json, &files.markdown])?;
    let token = builder.cancellation_token();
    let registry = project::collect(&mut builder)?;
    let cases = cases(worker, options, &registry)?;
    let builder = settings.add_model(builder);
    let proposal = block_on(&token, search.learn_on(builder, registry, &cases))?.map_err(failure)?;
    files.write(&folder, &proposal)?;
    if options.json {
        print_json(&json!(proposal.report).to_string())
    } else {
        print(proposal.report.to_string().trim_end())
    }
}

fn failure(error: LearnError) -> CommandError {
    match error {
        LearnError::UnknownWorker { .. } | LearnError::NotAWorker { .. } => CommandError::Usage(error.to_string()),
        other => CommandError::from_error(other),
    }
}

impl LearnedFiles {
    fn new(options: &HardenOptions, name: &str) -> Self {
        Self {
            folder: options.candidate.out.clone().unwrap_or_default(),
            learned: format!("{name}{END}"),
            markdown: format!("{name}.learn.md"),
            json: format!("{name}.learn.json"),
        }
    }

    /// Writes the files; a script of few rules only where none has its name, since a person may have changed that.
    fn write(&self, folder: &OutFolder, proposal: &LearnedProposal) -> Result<(), CommandError> {
        let LearnedProposal { file, script, report, .. } = proposal;
        let json = serde_json::to_string_pretty(report).map_err(CommandError::from_error)?;
        let place = |name: &str| self.folder.join(name);
        folder.create(&self.learned, file).map_err(|error| fault(&place(&self.learned), &error))?;
        folder.replace(&self.json, &format!("{json}\n")).map_err(|error| fault(&place(&self.json), &error))?;
        let markdown = report.to_string();
        folder.replace(&self.markdown, &markdown).map_err(|error| fault(&place(&self.markdown), &error))?;
        let Some((few, script)) = report.few.as_ref().zip(script.as_ref()) else { return Ok(()) };
        let name = format!("{}.py", few.script);
        match folder.existing(&name) {
            Ok(None) => folder.create(&name, script).map_err(|error| fault(&place(&name), &error)),
            _ => Ok(()),
        }
    }
}

/// Prints what speaks for which answer of a learned tool.
pub(super) fn explain(
    builder: RuntimeBuilder,
    (name, input): (&str, &str),
    options: &HardenOptions,
    runs_projects: bool,
) -> Result<(), CommandError> {
    let fault = |error| CommandError::Usage(format!("the input is not a JSON object of the arguments: {error}"));
    let input: serde_json::Map<String, Value> = serde_json::from_str(input).map_err(fault)?;
    let input = Value::Object(input);
    let explanation = if name.ends_with(END) {
        let tool = LearnedTool::open(name).map_err(|fault| CommandError::Usage(fault.to_string()))?;
        json!(tool.learned().explain(&input))
    } else {
        let (mut builder, _) = configured(builder, options, runs_projects)?;
        let registry = project::collect(&mut builder)?;
        let unknown = || CommandError::Usage(format!("unknown tool `{name}`: {}", registry.hint(name, None)));
        // The name of the worker is that of the file, too.
        let of_worker = || registry.get(&format!("{name}_learned"));
        let tool = registry.get(name).filter(|tool| tool.learned().is_some()).or_else(of_worker);
        let tool = tool.or_else(|| registry.get(name)).ok_or_else(unknown)?;
        let other = || CommandError::Usage(format!("`{name}` was not learned, so there is nothing to explain"));
        json!(tool.learned().ok_or_else(other)?.explain(&input))
    };
    if options.json { print_json(&explanation.to_string()) } else { print(&described(&explanation)) }
}

/// Describes an explanation: the answer, then a line for each feature.
fn described(explanation: &Value) -> String {
    let number = |value: &Value| format!("{:.3}", value.as_f64().unwrap_or_default());
    let (confidence, threshold) = (number(&explanation["confidence"]), number(&explanation["threshold"]));
    let mut lines = vec![match explanation["unsure"].as_str() {
        Some(reason) => format!("unsure: {reason}"),
        None => format!("{}, with confidence {confidence}; {threshold} is needed", explanation["output"]),
    }];
    for spoke in explanation["spoke"].as_array().into_iter().flatten() {
        let part = spoke["part"].as_str().filter(|part| !part.is_empty()).map(|part| format!("{part} "));
        let (part, value) = (part.unwrap_or_default(), &spoke["value"]);
        let (weight, feature) = (number(&spoke["weight"]), spoke["feature"].as_str().unwrap_or_default());
        lines.push(format!("  {weight} for {part}{value}: {feature}"));
    }
    lines.join("\n")
}
