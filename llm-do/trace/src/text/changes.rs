//! The differences between two logs, as text.

use llm_do_core::base::printable::printable_line;

use super::line::fitted;
use super::{DIM, GREEN, RED, Style, YELLOW, duration};
use crate::diff::{Difference, Kind, Measured};

/// Returns the calls that differ, with their callers.
#[doc(hidden)]
#[must_use]
pub fn changes(differences: &[Difference], style: Style) -> String {
    let mut text = String::new();
    for difference in differences {
        add(&mut text, difference, 0, style);
    }
    if text.is_empty() { "no call differs\n".to_owned() } else { text }
}

fn add(text: &mut String, difference: &Difference, level: usize, style: Style) {
    if difference.kind == Kind::Same {
        return;
    }
    let (mark, color) = match difference.kind {
        Kind::Added => ("+", GREEN),
        Kind::Removed => ("-", RED),
        _ if difference.changes.is_empty() => (" ", DIM),
        _ => ("~", YELLOW),
    };
    let number = if difference.number > 1 { format!(" #{}", difference.number) } else { String::new() };
    let name = printable_line(&difference.name);
    let figures = measured(difference.before.as_ref(), difference.after.as_ref());
    row(text, &format!("{mark} {}{name}{number}  {figures}", "  ".repeat(level)), color, style);
    let indent = "  ".repeat(level + 2);
    for change in &difference.changes {
        row(text, &format!("{indent}{}", change.part), DIM, style);
        row(text, &format!("{indent}- {}", printable_line(&change.before.to_string())), RED, style);
        row(text, &format!("{indent}+ {}", printable_line(&change.after.to_string())), GREEN, style);
    }
    for call in &difference.calls {
        add(text, call, level + 1, style);
    }
}

fn row(text: &mut String, line: &str, color: &str, style: Style) {
    let (line, _) = fitted(line.trim_end(), style.width);
    text.push_str(&style.paint(color, &line));
    text.push('\n');
}

/// Describes the usage of a call in each log.
fn measured(before: Option<&Measured>, after: Option<&Measured>) -> String {
    let one = |measured: &Measured| match measured.total.requests {
        0 => duration(measured.elapsed_ms),
        _ => format!("{}, {}", duration(measured.elapsed_ms), measured.total.cost),
    };
    match (before.map(one), after.map(one)) {
        (Some(before), Some(after)) if before == after => before,
        (Some(before), Some(after)) => format!("{before} → {after}"),
        (before, after) => before.or(after).unwrap_or_default(),
    }
}
