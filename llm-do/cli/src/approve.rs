//! Approval by the user at the terminal.

use std::io;
use std::path::Path;

use async_trait::async_trait;
use llm_do_core::base::clip::clip;
use llm_do_core::plane::approval::{ApprovalRequest, Approver, Decision};
use llm_do_core::plane::context::CallContext;
use serde_json::Value;

use super::console::Console;
use super::rule_file::{RuleFile, exact_rule};
use super::terminal_user::TerminalUser;

/// The maximum number of lines and of bytes of a preview that are shown with the question.
const PREVIEW_LINES: usize = 60;
const PREVIEW_BYTES: usize = 12_000;
/// The maximum size of arguments that are shown with the question, in bytes.
const ARGUMENTS_BYTES: usize = 4_000;

/// The maximum size of the line about where values came from, and of the reason of a reviewer, in bytes.
const ORIGINS_BYTES: usize = 2_000;

const CHOICES: &str = "Approve? [y]es, [s]ession, [a]lways, [n]o and why, s[t]op, [e]dit, [d]etails: ";

const UNKNOWN_CHOICES: &str = "What became of it? [h]appened and its result, [r]un it, s[t]op, [d]etails: ";

/// The reason of a denial without one.
const NO: &str = "the user answered no";

/// The reason of a missing decision once the terminal is closed.
const CLOSED: &str = "the user closed the terminal";

#[async_trait]
impl Approver for TerminalUser {
    async fn review(&self, request: &ApprovalRequest, _: &CallContext) -> Decision {
        let (request, rules) = (request.clone(), self.rules().clone());
        let decision = self.ask(move |console| Dialogue { request: &request, console, rules: &rules }.decide());
        decision.await.unwrap_or_else(Decision::undecided)
    }
}

/// An approval request and the console that shows it.
struct Dialogue<'a, C> {
    request: &'a ApprovalRequest,
    console: C,
    rules: &'a RuleFile,
}

/// The user's choice about an approval request.
enum ApprovalChoice<'a> {
    Approve,
    ApproveForSession,
    ApproveAlways,
    Deny(&'a str),
    /// Deny, and end the run.
    Stop(&'a str),
    Edit(&'a str),
    Details,
    Unknown,
}

impl<'a> ApprovalChoice<'a> {
    /// Parses a line. Only a whole line approves: a line that merely starts with `y` may be part of a pasted text.
    fn parse(line: &'a str) -> Self {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match (word.to_lowercase().as_str(), rest.trim()) {
            ("y" | "yes", "") => Self::Approve,
            ("s" | "session", "") => Self::ApproveForSession,
            ("a" | "always", "") => Self::ApproveAlways,
            ("d" | "details" | "?", "") => Self::Details,
            ("n" | "no", reason) => Self::Deny(reason),
            ("t" | "stop", reason) => Self::Stop(reason),
            ("e" | "edit", arguments) if arguments.is_empty() || arguments.starts_with('{') => Self::Edit(arguments),
            _ => Self::Unknown,
        }
    }
}

impl<C: Console> Dialogue<'_, C> {
    /// Asks until the user decides.
    fn decide(mut self) -> io::Result<Decision> {
        self.console.show(&question(self.request))?;
        if let Some(line) = self.request.origin_line() {
            self.console.show_text(&cut(&line, ORIGINS_BYTES))?;
        }
        if let Some(review) = self.request.review_text() {
            self.console.show_text(&cut(&review, ORIGINS_BYTES))?;
        }
        if let Some(given) = &self.request.given {
            let given = cut(&given.to_string(), ARGUMENTS_BYTES);
            self.console.show_text(&format!("Arguments as given: {given}"))?;
        }
        if let Some(preview) = &self.request.preview {
            self.console.show_text(&shortened(preview))?;
        }
        if self.request.has_begun {
            self.console
                .show_text("Steps of this call ran before the run was resumed; its arguments cannot be edited.")?;
        }
        if let Some(problem) = &self.request.problem {
            let what = if self.request.began.is_some() { "Asked again" } else { "The edited call did not run" };
            self.console.show_text(&format!("{what}: {problem}"))?;
        }
        if let Some(edit) = &self.request.refused_edit {
            let edited = cut(&edit.arguments.to_string(), ARGUMENTS_BYTES);
            self.console.show_text(&format!("Its arguments: {edited}"))?;
        }
        if self.request.began.is_some() {
            return self.decide_unknown();
        }
        loop {
            let Some(line) = self.console.ask(CHOICES)? else {
                return Ok(Decision::undecided(CLOSED));
            };
            match ApprovalChoice::parse(&line) {
                ApprovalChoice::Approve => return Ok(Decision::approve()),
                ApprovalChoice::ApproveForSession => return Ok(Decision::approve_for_session()),
                ApprovalChoice::ApproveAlways => {
                    if let Some(decision) = self.write_rule()? {
                        return Ok(decision);
                    }
                }
                ApprovalChoice::Deny("") => return Ok(Decision::deny(NO)),
                ApprovalChoice::Deny(reason) => return Ok(Decision::deny(reason)),
                ApprovalChoice::Stop("") => return Ok(Decision::deny_and_stop(NO)),
                ApprovalChoice::Stop(reason) => return Ok(Decision::deny_and_stop(reason)),
                ApprovalChoice::Edit(arguments) => {
                    if let Some(arguments) = self.read_arguments(arguments)? {
                        return Ok(Decision::approve_with(arguments));
                    }
                }
                ApprovalChoice::Details => self.console.show_text(&self.request.details())?,
                ApprovalChoice::Unknown => {}
            }
        }
    }

    /// Asks until the user has answered what happened to a call that began before.
    fn decide_unknown(&mut self) -> io::Result<Decision> {
        loop {
            let Some(line) = self.console.ask(UNKNOWN_CHOICES)? else { return Ok(Decision::undecided(CLOSED)) };
            let line = line.trim();
            let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            match (word.to_lowercase().as_str(), rest.trim()) {
                ("r" | "run", "") => return Ok(Decision::approve()),
                ("t" | "stop", "") => return Ok(Decision::deny_and_stop(NO)),
                ("t" | "stop", reason) => return Ok(Decision::deny_and_stop(reason)),
                ("d" | "details" | "?", "") => self.console.show_text(&self.request.details())?,
                ("h" | "happened", given) => {
                    if let Some(result) = self.read_json(given, "Its result as JSON on one line (empty: go back): ")? {
                        return Ok(Decision::happened(result));
                    }
                }
                _ => {}
            }
        }
    }

    /// Writes the rule that approves this call in future, to the file that the user chooses; returns the decision, if
    /// the user made one.
    fn write_rule(&mut self) -> io::Result<Option<Decision>> {
        let Some(rule) = exact_rule(self.request) else {
            let text = "a rule cannot describe this call exactly, since the call has more than arguments, such as files; approve it once or for this session";
            self.console.show_text(text)?;
            return Ok(None);
        };
        self.console
            .show_text(&format!("This rule approves each later call with exactly these arguments:\n{rule:#}"))?;
        let default = self.rules.path().display();
        let prompt = format!("Write it to which file? [{default}] (n: go back): ");
        let Some(line) = self.console.ask(&prompt)? else { return Ok(None) };
        let path = match (ApprovalChoice::parse(&line), line.trim()) {
            (ApprovalChoice::Deny(""), _) => return Ok(None),
            // The user changed their mind: a reason is not a file name.
            (ApprovalChoice::Deny(reason), _) => return Ok(Some(Decision::deny(reason))),
            (ApprovalChoice::Approve, _) | (_, "") => self.rules.path().to_owned(),
            (_, path) if Path::new(path) == self.rules.path() || is_json(path) => path.into(),
            (_, other) => {
                let text = format!("the rule is not written: `{other}` is not the name of a file that ends in `.json`");
                self.console.show_text(&text)?;
                return Ok(None);
            }
        };
        let (decision, text) = match self.rules.add(&path, rule) {
            Ok(advice) => (Some(Decision::approve_for_session()), advice),
            Err(error) => (None, format!("the rule is not written: {error}")),
        };
        self.console.show_text(&text)?;
        Ok(decision)
    }

    /// Reads the edited arguments, from the same line or the next; `None` returns to the question.
    fn read_arguments(&mut self, given: &str) -> io::Result<Option<Value>> {
        if given.is_empty() {
            self.console.show_text(&format!("Current arguments: {}", self.request.arguments))?;
        }
        self.read_json(given, "New arguments as JSON on one line (empty: go back): ")
    }

    /// Reads JSON, from the same line or the next; `None` returns to the question.
    fn read_json(&mut self, given: &str, prompt: &str) -> io::Result<Option<Value>> {
        let mut given = given.to_owned();
        if given.is_empty() {
            given = self.console.ask(prompt)?.unwrap_or_default();
        }
        if given.trim().is_empty() {
            return Ok(None);
        }
        match serde_json::from_str(&given) {
            Ok(value) => Ok(Some(value)),
            Err(error) => {
                self.console.show_text(&format!("invalid JSON: {error}"))?;
                Ok(None)
            }
        }
    }
}

fn is_json(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}

/// Returns the first lines of a preview, with the number of omitted lines.
fn shortened(preview: &str) -> String {
    let preview = preview.trim_end_matches('\n');
    let lines = preview.split('\n').count();
    match lines.checked_sub(PREVIEW_LINES).filter(|more| *more > 0) {
        Some(more) => {
            let first: Vec<_> = preview.split('\n').take(PREVIEW_LINES).collect();
            format!("{}\n… {more} more lines: [d]etails shows all", cut(&first.join("\n"), PREVIEW_BYTES))
        }
        None => cut(preview, PREVIEW_BYTES),
    }
}

/// Returns the beginning of a text, with the number of omitted bytes.
fn cut(text: &str, bytes: usize) -> String {
    let shown = clip(text, bytes);
    match text.len() - shown.len() {
        0 => text.to_owned(),
        more => format!("{shown}\n… {more} more bytes: [d]etails shows all"),
    }
}

fn question(request: &ApprovalRequest) -> String {
    let position = match request.total() {
        0 | 1 => String::new(),
        total => format!("[{}/{total}] ", request.position),
    };
    let caller = &request.caller;
    let what = match request.template {
        // A summary from the tool's own template does not contain the tool's name.
        Some(_) => format!("`{}`: {}", request.tool, request.summary()),
        None => request.summary(),
    };
    format!("{position}`{caller}` wants to call {what}")
}

#[cfg(test)]
mod tests {
    use llm_do_core::observe::event::{ArgumentOrigin, ResultOrigin, ValueOrigin};
    use llm_do_core::plane::approval::ApprovalRequest;
    use llm_do_core::plane::origin::Origins;
    use serde_json::json;

    use super::{Decision, Dialogue, Value};
    use crate::console::testing::ScriptedConsole;
    use crate::rule_file::RuleFile;

    fn request() -> ApprovalRequest {
        let mut request = ApprovalRequest::new("write", json!({ "path": "a.txt", "text": "one\ntwo\u{1b}[2J" }));
        request.caller = "main".into();
        request
    }

    /// Returns the decision and all shown text.
    fn decide(request: &ApprovalRequest, typed: &str) -> (Decision, String) {
        let mut console = ScriptedConsole::new(typed);
        let rules = RuleFile::default();
        let decision =
            Dialogue { request, console: &mut console, rules: &rules }.decide().expect("the console does not fail");
        (decision, console.shown)
    }

    #[test]
    fn a_call_that_began_has_three_answers() {
        let mut request = request();
        request.began = Some("2026-01-31T12:00:00Z".parse().unwrap());
        let decided = |typed: &str| decide(&request, typed).0;
        assert_eq!(decided("h {\"id\": 7}\n"), Decision::happened(json!({ "id": 7 })));
        assert_eq!(decided("happened\n7\n"), Decision::happened(7));
        assert_eq!(decided("h\n\nh not json\nr\n"), Decision::approve(), "it asks again");
        assert_eq!(
            decided("y\nn\ns\nt\n"),
            Decision::deny_and_stop("the user answered no"),
            "these answer another question"
        );
        assert_eq!(decided("stop look it up\n"), Decision::deny_and_stop("look it up"));
        assert_eq!(decided(""), Decision::undecided("the user closed the terminal"));
        let shown = decide(&request, "d\nr\n").1;
        assert!(shown.contains("began at 2026-01-31T12:00:00Z, and may have had its effect"), "{shown}");
        assert!(shown.contains("What became of it? [h]appened") && !shown.contains("Approve?"), "{shown}");
    }

    #[test]
    fn answers_are_decisions_and_an_unknown_answer_asks_again() {
        let decided = |typed: &str| decide(&request(), typed).0;
        assert_eq!(decided("y\n"), Decision::approve());
        assert_eq!(decided("what\n\nYES\n"), Decision::approve());
        assert_eq!(decided("s\n"), Decision::approve_for_session());
        assert_eq!(decided("n\n"), Decision::deny("the user answered no"));
        assert_eq!(decided("no not in  this folder\n"), Decision::deny("not in  this folder"));
        assert_eq!(decided("t\n"), Decision::deny_and_stop("the user answered no"));
        assert_eq!(decided("stop  not today\n"), Decision::deny_and_stop("not today"));
        for line in
            ["ab", "a second line of the text", "yes please", "y, then", "s s", "session of today", "d y", "e y"]
        {
            let closed = Decision::undecided("the user closed the terminal");
            assert_eq!(decided(&format!("{line}\n")), closed, "{line}");
        }
        assert_eq!(decided(""), Decision::undecided("the user closed the terminal"));
        assert_eq!(
            decided("dy\n"),
            Decision::undecided("the user closed the terminal"),
            "abbreviations are not guessed"
        );
    }

    #[test]
    fn the_question_shows_the_call_and_escapes_control_characters() {
        let shown = decide(&request(), "d\ny\n").1;
        assert!(shown.starts_with(r#"`main` wants to call write(path="a.txt", text="one\ntwo\u{1b}[2J")"#), "{shown}");
        assert!(shown.contains("  │ text:\n  │     one\n  │     two\\u{1b}[2J\n"), "{shown}");
        assert!(!shown.contains('\u{1b}'), "{shown:?}");
    }

    #[test]
    fn where_a_value_came_from_and_the_review_are_shown_before_the_prompt() {
        let mut request = request();
        let bill = ResultOrigin::new("read_file", "read_file(path=\"bill.txt\")");
        let path = ArgumentOrigin::new("path", ValueOrigin::Result(bill));
        let text = ArgumentOrigin::new("text", ValueOrigin::User);
        request.origins = Origins::new(vec![path, text]);
        request.review = Some("the path is\nnot asked for".to_owned());
        let shown = decide(&request, "").1;
        let line = "  │ path: from `read_file(path=\"bill.txt\")`, not in your request\n";
        let review = "  │ the reviewer did not decide: the path is\\nnot asked for\nApprove?";
        assert!(shown.contains(&format!("{line}{review}")), "{shown}");
        let details = decide(&request, "d\n").1;
        assert!(details.contains("text: in your request"), "{details}");
    }

    #[test]
    fn arguments_as_given_are_shown_before_the_prompt() {
        let mut request = request();
        request.given = Some(json!({ "path": "/etc/passwd" }));
        let shown = decide(&request, "").1;
        assert!(shown.contains("  │ Arguments as given: {\"path\":\"/etc/passwd\"}\nApprove?"), "{shown}");
    }

    #[test]
    fn a_preview_is_shown_before_the_prompt_and_a_long_one_in_full_with_the_details() {
        let mut request = request();
        request.preview = Some("--- a.txt\n+++ a.txt\n+\u{1b}[2Jnew\n".into());
        let shown = decide(&request, "").1;
        assert!(shown.contains("  │ --- a.txt\n  │ +++ a.txt\n  │ +\\u{1b}[2Jnew\nApprove?"), "{shown}");

        request.preview = Some((1..=63).map(|line| format!("+{line}")).collect::<Vec<_>>().join("\n"));
        let shown = decide(&request, "").1;
        assert!(shown.contains("  │ +60\n  │ … 3 more lines: [d]etails shows all\nApprove?"), "{shown}");
        assert!(!shown.contains("+61"), "{shown}");
        let shown = decide(&request, "d\n").1;
        assert!(shown.contains("  │ preview:\n  │     +1\n") && shown.contains("  │     +63\n"), "{shown}");
    }

    #[test]
    fn a_preview_or_arguments_of_one_huge_line_are_cut_before_the_prompt() {
        let mut request = request();
        request.preview = Some("x".repeat(100_000));
        request.given = Some(json!({ "path": "y".repeat(100_000) }));
        let shown = decide(&request, "").1;
        assert!(shown.contains("… 88000 more bytes: [d]etails shows all"), "{}", shown.len());
        assert!(shown.contains("… 96011 more bytes: [d]etails shows all"), "{}", shown.len());
        assert!(shown.len() < 20_000, "{}", shown.len());
        let shown = decide(&request, "d\n").1;
        assert!(shown.contains(&"x".repeat(100_000)) && shown.contains(&"y".repeat(100_000)));
    }

    #[test]
    fn a_custom_summary_is_shown_with_the_tools_name() {
        let mut request = request();
        request.template = Some("read {path}".into());
        let shown = decide(&request, "y\n").1;
        assert!(shown.starts_with("`main` wants to call `write`: read a.txt\n"), "{shown}");
    }

    #[test]
    fn edited_arguments_are_json_on_the_same_line_or_the_next() {
        let edited = |typed| decide(&request(), typed).0;
        let arguments: Value = json!({ "path": "b.txt" });
        assert_eq!(edited("e {\"path\": \"b.txt\"}\n"), Decision::approve_with(arguments.clone()));
        assert_eq!(edited("e\n{\"path\": \"b.txt\"}\n"), Decision::approve_with(arguments));
        assert_eq!(edited("e\n\ny\n"), Decision::approve(), "back to the question");
        let (decision, shown) = decide(&request(), "e {path}\nn\n");
        assert_eq!(decision, Decision::deny("the user answered no"));
        assert!(shown.contains("invalid JSON: "), "{shown}");
    }

    #[test]
    fn a_refusal_is_not_the_name_of_a_file() {
        let (decision, shown) = decide(&request(), "a\nn stop\n");
        assert!(shown.contains("Write it to which file?"), "{shown}");
        assert_eq!(decision, Decision::deny("stop"));
        let (decision, shown) = decide(&request(), "a\nstop it\na\ns\na\nn\nn\n");
        assert_eq!(decision, Decision::deny("the user answered no"));
        for other in ["stop it", "s"] {
            let text = format!("the rule is not written: `{other}` is not the name of a file that ends in `.json`");
            assert!(shown.contains(&text), "{shown}");
        }
    }

    #[test]
    fn invalid_edited_arguments_are_reported() {
        let mut request = request();
        request.problem = Some("`path` is missing".to_owned());
        let shown = decide(&request, "y\n").1;
        assert!(shown.contains("The edited call did not run: `path` is missing\n"), "{shown}");
    }
}
