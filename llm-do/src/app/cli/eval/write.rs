//! Writes the files that the options of `eval` name.

use std::io::Write;
use std::path::Path;

use jiff::Timestamp;

use crate::app::cli::CommandError;
use crate::app::cli::args::EvaluateOptions;
use crate::app::cli::out_folder::OutFolder;
use crate::app::eval::Report;
use crate::base::open_file::create_private;

pub(super) fn files(report: &Report, options: &EvaluateOptions, time: Timestamp) -> Result<(), CommandError> {
    if let Some(path) = &options.html {
        write(path, &report.to_html())?;
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

/// Returns a name by which `inspect_ai` knows a log.
fn log_name(variant: &str, time: Timestamp) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' };
    let variant: String = variant.chars().take(80).map(letter).collect();
    format!("{}_{variant}.json", time.strftime("%Y-%m-%dT%H-%M-%S+00-00"))
}

fn write(path: &Path, text: &str) -> Result<(), CommandError> {
    create_private(path).and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| fault(path, &error))
}

fn fault(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::Error(format!("cannot write {}: {error}", path.display()))
}
