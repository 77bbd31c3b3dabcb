//! Writes the files that the options of `eval` name.

use std::path::Path;

use jiff::Timestamp;
use llm_do_eval::Report;

use crate::CommandError;
use crate::args::EvaluateOptions;
use crate::out_folder::{OutFolder, write_named};

pub(super) fn files(report: &Report, options: &EvaluateOptions, time: Timestamp) -> Result<(), CommandError> {
    if let Some(path) = &options.html {
        let html = report.to_html();
        write_named(path, |file| file.write_all(html.as_bytes())).map_err(|error| fault(path, &error))?;
    }
    let Some(folder) = &options.inspect else { return Ok(()) };
    let logs = OutFolder::open(folder).map_err(|error| fault(folder, &error))?;
    for variant in &report.variants {
        if let Some(log) = report.to_inspect_log(&variant.name, time) {
            let name = log_name(&variant.name, time);
            logs.replace(&name, &log.to_string()).map_err(|error| fault(&folder.join(&name), &error))?;
        }
    }
    Ok(())
}

/// Returns the name of a log for `inspect_ai`.
fn log_name(variant: &str, time: Timestamp) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' };
    let variant: String = variant.chars().take(80).map(letter).collect();
    format!("{}_{variant}.json", time.strftime("%Y-%m-%dT%H-%M-%S+00-00"))
}

fn fault(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::Error(format!("cannot write {}: {error}", path.display()))
}
