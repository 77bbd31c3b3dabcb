//! `trace`: shows the calls of a log of events, or compares two logs.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, IsTerminal};
use std::path::Path;

use llm_do_trace::{Style, Trace, changes, compare, tree, write_page};
use serde_json::json;

use super::args::{DiffOptions, ShowOptions, TraceCommand, TraceFormat, TraceOptions};
use super::out_folder::write_named;
use super::{CommandError, print_json, print_raw};

/// The number of columns without a terminal.
const WIDTH: usize = 120;

pub(super) fn trace(options: &TraceOptions) -> Result<(), CommandError> {
    match &options.command {
        Some(TraceCommand::Diff(options)) => diff(options),
        None => show(&options.show),
    }
}

/// Prints the calls of a log, even if some of its lines are not events, which is an error.
fn show(options: &ShowOptions) -> Result<(), CommandError> {
    let Some(path) = &options.file else { return Ok(()) };
    let trace = read(path)?;
    match (&options.html, options.output) {
        (Some(page), _) => write(path, page)?,
        (None, TraceFormat::Json) => print_json(&format!("{:#}", trace.to_json()))?,
        (None, TraceFormat::Text) => print_raw(tree(&trace, style()).trim_end())?,
    }
    check(path, &trace)
}

fn diff(options: &DiffOptions) -> Result<(), CommandError> {
    let (before, after) = (read(&options.before)?, read(&options.after)?);
    let differences = compare(&before, &after);
    match options.output {
        TraceFormat::Json => print_json(&format!("{:#}", json!({ "calls": differences })))?,
        TraceFormat::Text => print_raw(changes(&differences, style()).trim_end())?,
    }
    check(&options.before, &before).and_then(|()| check(&options.after, &after))
}

fn open(path: &Path) -> Result<BufReader<File>, CommandError> {
    let fault = |error| CommandError::Usage(format!("cannot read {}: {error}", path.display()));
    File::open(path).map(BufReader::new).map_err(fault)
}

fn read(path: &Path) -> Result<Trace, CommandError> {
    Trace::read(open(path)?).map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &io::Error) -> CommandError {
    CommandError::Error(format!("cannot read {}: {error}", path.display()))
}

fn write(events: &Path, page: &Path) -> Result<(), CommandError> {
    let same = |path: &Path| path.canonicalize().ok();
    if same(page).is_some_and(|page| same(events) == Some(page)) {
        return Err(CommandError::Usage(format!("--html would overwrite {}: name another file", events.display())));
    }
    let fault = |error| CommandError::Error(format!("cannot write {}: {error}", page.display()));
    let events = open(events)?;
    write_named(page, |file| write_page(events, BufWriter::new(file))).map_err(fault)
}

/// Fails if lines of a log are not events.
fn check(path: &Path, trace: &Trace) -> Result<(), CommandError> {
    let faults: Vec<_> = trace.faults().iter().map(|fault| format!("{}: {fault}", path.display())).collect();
    if faults.is_empty() { Ok(()) } else { Err(CommandError::Error(faults.join("\n"))) }
}

/// Returns the style of the text: with colours and the width of the terminal, if any.
fn style() -> Style {
    let is_terminal = io::stdout().is_terminal();
    let allows_colors = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let width =
        if is_terminal { columns.or_else(super::keyboard::width).unwrap_or(WIDTH) } else { columns.unwrap_or(WIDTH) };
    Style { has_colors: is_terminal && allows_colors, width: width.max(40) }
}
