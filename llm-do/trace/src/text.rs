//! The tree as text for a terminal.

mod changes;
mod line;

use std::fmt::Write;

use llm_do_core::base::printable::printable_line;
use llm_do_core::observe::event::{ArgumentOrigin, DecidedBy, ItemKind, RuleSource};
use llm_do_core::plane::approval::RefusedEdit;

pub use self::changes::changes;
use self::line::{Columns, fitted};
use super::Trace;
use super::call::{Approval, Call, Ending, millis};

/// How text is printed.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct Style {
    pub has_colors: bool,
    /// The number of columns.
    pub width: usize,
}

/// The colours, as the codes that select them.
const DIM: &str = "2";
const BOLD: &str = "1";
const RED: &str = "31";
const GREEN: &str = "32";
const YELLOW: &str = "33";

impl Style {
    fn paint(self, code: &str, text: &str) -> String {
        if self.has_colors && !text.is_empty() { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// Returns the calls of all runs, each indented below its caller, with its figures in columns.
#[doc(hidden)]
#[must_use]
pub fn tree(trace: &Trace, style: Style) -> String {
    let mut text = Printed { trace, style, columns: Columns::new(trace), text: String::new() };
    for (number, root) in trace.roots.iter().enumerate() {
        if number > 0 {
            text.text.push('\n');
        }
        text.run(*root);
    }
    if trace.is_torn {
        text.text.push_str("the last line is incomplete: the log was not closed\n");
    }
    if trace.skipped > 0 {
        let _ = writeln!(text.text, "skipped {} events of unknown kinds", trace.skipped);
    }
    text.text
}

struct Printed<'a> {
    trace: &'a Trace,
    style: Style,
    columns: Columns,
    text: String,
}

impl Printed<'_> {
    fn run(&mut self, root: usize) {
        let call = &self.trace.calls[root];
        let head = format!("run {}  {:.0}", printable_line(&call.run), call.first);
        self.line("", &head, Some(DIM));
        let titles = self.columns.titles();
        let width = self.style.width.saturating_sub(self.columns.width());
        let line = format!("{:width$}{titles}", "");
        self.line("", line.trim_end(), Some(DIM));
        self.call(root, "", "");
    }

    /// Adds a call and those below it; its first line starts with `first`, and each further line with `other`.
    fn call(&mut self, place: usize, first: &str, other: &str) {
        let call = &self.trace.calls[place];
        self.head(call, first);
        let has_children = !call.children.is_empty();
        let bar = if has_children { format!("{other}│ ") } else { format!("{other}  ") };
        for (mark, text, color) in details(call) {
            self.line(&bar, &format!("{mark} {text}"), color);
        }
        let last = call.children.last().copied();
        for child in call.children.clone() {
            let (branch, below) = if Some(child) == last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            self.call(child, &format!("{other}{branch}"), &format!("{other}{below}"));
        }
    }

    /// Adds the line of a call: its name and arguments on the left, its figures on the right.
    fn head(&mut self, call: &Call, prefix: &str) {
        let width = self.style.width.saturating_sub(self.columns.width() + 1);
        let name = printable_line(&call.name);
        let arguments =
            if call.arguments.is_null() { String::new() } else { printable_line(&call.arguments.to_string()) };
        let (prefix, used) = fitted(prefix, width);
        let (name, name_width) = fitted(&name, width.saturating_sub(used));
        let used = used + name_width;
        let (arguments, arguments_width) = fitted(&arguments, width.saturating_sub(used + 1));
        let color = match (&call.ending, call.what) {
            (Ending::Error(_) | Ending::Refused(_), _) => RED,
            (Ending::Unfinished | Ending::Planned(_), _) => YELLOW,
            (_, Some(ItemKind::Tool)) => "",
            _ => BOLD,
        };
        let painted = if color.is_empty() { name } else { self.style.paint(color, &name) };
        let gap = " ".repeat((width + 1).saturating_sub(used + 1 + arguments_width));
        let line = format!(
            "{}{painted} {}{gap}{}",
            self.style.paint(DIM, &prefix),
            self.style.paint(DIM, &arguments),
            self.columns.figures(call)
        );
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    fn line(&mut self, prefix: &str, text: &str, color: Option<&str>) {
        let (prefix, used) = fitted(prefix, self.style.width);
        let (text, _) = fitted(&printable_line(text), self.style.width.saturating_sub(used));
        let text = color.map_or_else(|| text.clone(), |color| self.style.paint(color, &text));
        self.text.push_str(&self.style.paint(DIM, &prefix));
        self.text.push_str(&text);
        self.text.push('\n');
    }
}

/// Returns the lines below the line of a call: a mark, a text and a colour.
fn details(call: &Call) -> Vec<(&'static str, String, Option<&'static str>)> {
    let mut lines = Vec::new();
    for decision in &call.approvals {
        lines.extend(decision.refused_edits.iter().map(|edit| ("?", refused(edit), Some(YELLOW))));
        let foreign = decision.origins.iter().filter(|found| !found.origin.is_own() || !found.labels().is_default());
        let line = |found: &ArgumentOrigin| format!("{}: {}{}", found.argument, found.origin, found.labels().remark());
        lines.extend(foreign.map(|found| ("?", line(found), Some(YELLOW))));
        lines.extend(approval(decision));
    }
    for question in &call.questions {
        let answer = match (&question.answer, question.answered_at) {
            (Some(answer), Some(at)) => format!("{answer} (after {})", duration(millis(question.asked_at, at))),
            _ => "not answered".to_owned(),
        };
        lines.push(("?", format!("{} → {answer}", question.prompt), Some(YELLOW)));
    }
    lines.extend(call.retries.iter().map(|reason| ("↻", format!("asked the model again: {reason}"), Some(YELLOW))));
    lines.extend(call.remarks.iter().map(|remark| ("·", remark.clone(), Some(DIM))));
    lines.extend(call.note.iter().map(|note| ("·", format!("note: {note}"), Some(DIM))));
    if !call.labels.is_default() {
        lines.push(("·", format!("the result is {}", call.labels.words()), Some(DIM)));
    }
    if call.is_replayed {
        lines.push(("·", "from the journal".to_owned(), Some(DIM)));
    }
    match &call.ending {
        Ending::Unfinished => lines.push(("…", "not finished".to_owned(), Some(YELLOW))),
        Ending::Error(error) => lines.push(("✗", error.clone(), Some(RED))),
        Ending::Refused(error) => lines.push(("✗", format!("refused: {error}"), Some(RED))),
        Ending::Planned(text) => lines.push(("○", format!("planned: {text}"), Some(YELLOW))),
        Ending::Result(_) => {}
    }
    lines
}

/// Describes an edit that could not run.
fn refused(edit: &RefusedEdit) -> String {
    let by = edit.rule.as_ref().map(|rule| format!(" by a rule ({})", rule_name(rule))).unwrap_or_default();
    format!("edit {} refused{by}: {}", edit.arguments, edit.reason)
}

/// Returns where a rule came from, in words.
fn rule_name(rule: &RuleSource) -> String {
    let words = match serde_json::to_value(rule) {
        Ok(serde_json::Value::String(name)) => name,
        Ok(serde_json::Value::Object(named)) => {
            let named: Vec<_> =
                named.iter().map(|(kind, of)| format!("{kind} {}", of.as_str().unwrap_or_default())).collect();
            named.concat()
        }
        _ => String::new(),
    };
    words.replace('_', " ")
}

/// Describes a decision that a person made, or that refused the call; approvals by rules and modes are the normal case.
fn approval(approval: &Approval) -> Option<(&'static str, String, Option<&'static str>)> {
    let Some(decided) = &approval.decided else {
        return Some(("?", "waits for approval".to_owned(), Some(YELLOW)));
    };
    if decided.approved && !matches!(decided.by, DecidedBy::Approver | DecidedBy::Reviewer | DecidedBy::Memory) {
        return None;
    }
    let by = decided.by.in_words();
    let verdict = if decided.approved { "approved" } else { "denied" };
    // A rule decides without a wait.
    let asked = approval.asked.filter(|_| decided.by == DecidedBy::Approver);
    let after = |asked| format!(" after {}, at {:.0}", duration(millis(asked, decided.time)), decided.time);
    let after = asked.map(after).unwrap_or_default();
    let edited = decided.edited.as_ref().map(|edited| format!(", with {edited}")).unwrap_or_default();
    let replayed = if decided.replayed { ", from the journal" } else { "" };
    let reason = decided.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let color = if decided.approved { GREEN } else { RED };
    Some(("?", format!("{verdict} by {by}{after}{edited}{replayed}{reason}"), Some(color)))
}

/// Returns a time in the unit that suits it.
fn duration(millis: u64) -> String {
    match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..60_000 => format!("{}.{} s", millis / 1_000, millis % 1_000 / 100),
        60_000..3_600_000 => format!("{} min {:02} s", millis / 60_000, millis % 60_000 / 1_000),
        _ => format!("{} h {:02} min", millis / 3_600_000, millis % 3_600_000 / 60_000),
    }
}

#[cfg(test)]
mod tests {
    use super::{Style, duration, tree};
    use crate::Trace;

    const LOG: &str = concat!(
        r#"{"run":"r","call":0,"seq":0,"depth":0,"name":"a\u001b[31m","time":"2026-07-28T12:00:00Z","kind":"approval_asked","summary":"s","arguments":{"text":"long enough to be cut off"},"position":1,"total":1}"#,
        "\n",
        r#"{"run":"r","call":0,"seq":1,"depth":0,"name":"a","time":"2026-07-28T12:00:02Z","kind":"approval_decided","approved":true,"by":"approver","rule":"effect","scope":"call"}"#,
        "\n",
    );

    #[test]
    fn lines_fit_and_no_text_of_a_log_reaches_the_terminal_unescaped() {
        let trace = Trace::read(LOG.as_bytes()).unwrap();
        for width in [40, 60, 100] {
            let text = tree(&trace, Style { has_colors: false, width });
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
            assert!(!text.contains('\u{1b}'), "{text}");
        }
        let text = tree(&trace, Style { has_colors: false, width: 100 });
        assert!(text.contains("? approved by the approver after 2.0 s, at 2026-07-28T12:00:02Z"), "{text}");
        assert!(tree(&trace, Style { has_colors: true, width: 100 }).contains("\u{1b}[32m? approved"), "in green");
    }

    #[test]
    fn an_edit_that_a_rule_refuses_is_a_line_with_its_arguments_and_the_rule() {
        let refused = r#"{"run":"r","call":0,"seq":1,"depth":0,"name":"a","time":"2026-07-28T12:00:01Z","kind":"edit_refused","arguments":{"to":"all"},"rule":{"policy_toolset":"mail"},"reason":"no"}"#;
        let (asked, decided) = LOG.split_once('\n').unwrap();
        let trace = Trace::read(format!("{asked}\n{refused}\n{decided}").as_bytes()).unwrap();
        let text = tree(&trace, Style { has_colors: false, width: 120 });
        let lines = [
            r#"? edit {"to":"all"} refused by a rule (policy toolset mail): no"#,
            "? approved by the approver after 2.0 s",
        ];
        assert!(lines.iter().all(|line| text.contains(line)), "{text}");
    }

    #[test]
    fn a_time_has_the_unit_that_suits_it() {
        let texts = [999, 1_000, 59_999, 61_000, 3_661_000].map(duration);
        assert_eq!(texts, ["999 ms", "1.0 s", "59.9 s", "1 min 01 s", "1 h 01 min"]);
    }
}
