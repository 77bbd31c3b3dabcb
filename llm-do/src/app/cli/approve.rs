//! Approval by the person at the terminal.

use std::io;

use async_trait::async_trait;
use serde_json::Value;

use super::console::Console;
use super::person::Person;
use crate::plane::approval::{ApprovalRequest, Approver, Decision};

const CHOICES: &str = "Approve? [y]es, for this [s]ession, [n]o and why, [e]dit, [d]etails: ";

#[async_trait]
impl Approver for Person {
    async fn review(&self, request: &ApprovalRequest) -> Decision {
        let request = request.clone();
        let decided = self.ask(move |console| Dialogue { request: &request, console }.decide());
        decided.await.unwrap_or_else(Decision::undecided)
    }
}

/// A question, and where it is asked and answered.
struct Dialogue<'a, C> {
    request: &'a ApprovalRequest,
    console: C,
}

/// What is typed at the question.
enum Answer<'a> {
    Approve,
    ApproveForSession,
    Deny(&'a str),
    Edit(&'a str),
    Details,
    Unknown,
}

impl<'a> Answer<'a> {
    /// Reads a line. What approves is the whole line: one that only begins so is a line of some text.
    fn of(line: &'a str) -> Self {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match (word.to_lowercase().as_str(), rest.trim()) {
            ("y" | "yes", "") => Self::Approve,
            ("s" | "session", "") => Self::ApproveForSession,
            ("d" | "details" | "?", "") => Self::Details,
            ("n" | "no", reason) => Self::Deny(reason),
            ("e" | "edit", arguments) if arguments.is_empty() || arguments.starts_with('{') => Self::Edit(arguments),
            _ => Self::Unknown,
        }
    }
}

impl<C: Console> Dialogue<'_, C> {
    /// Asks until the answer is a decision.
    fn decide(mut self) -> io::Result<Decision> {
        self.console.show(&question(self.request))?;
        if let Some(given) = &self.request.given {
            self.console.show_text(&format!("Given as {given}"))?;
        }
        if let Some(problem) = &self.request.problem {
            self.console.show_text(&format!("The arguments given will not do: {problem}"))?;
        }
        loop {
            let Some(line) = self.console.ask(CHOICES)? else {
                return Ok(Decision::undecided("the user closed the terminal"));
            };
            match Answer::of(&line) {
                Answer::Approve => return Ok(Decision::approve()),
                Answer::ApproveForSession => return Ok(Decision::approve_for_session()),
                Answer::Deny("") => return Ok(Decision::deny("the user said no")),
                Answer::Deny(reason) => return Ok(Decision::deny(reason)),
                Answer::Edit(arguments) => {
                    if let Some(arguments) = self.edited(arguments)? {
                        return Ok(Decision::approve_with(arguments));
                    }
                }
                Answer::Details => self.console.show_text(&self.request.details())?,
                Answer::Unknown => {}
            }
        }
    }

    /// Reads arguments, those behind the word or those of the next line; none to go back to the question.
    fn edited(&mut self, given: &str) -> io::Result<Option<Value>> {
        let mut given = given.to_owned();
        if given.is_empty() {
            self.console.show_text(&format!("They are {}", self.request.arguments))?;
            given = self.console.ask("Arguments, as JSON in one line, or nothing to go back: ")?.unwrap_or_default();
        }
        if given.trim().is_empty() {
            return Ok(None);
        }
        match serde_json::from_str(&given) {
            Ok(arguments) => Ok(Some(arguments)),
            Err(error) => {
                self.console.show_text(&format!("that is not JSON: {error}"))?;
                Ok(None)
            }
        }
    }
}

fn question(request: &ApprovalRequest) -> String {
    let place = match request.total() {
        0 | 1 => String::new(),
        total => format!("[{}/{total}] ", request.position),
    };
    let caller = &request.caller;
    let what = match request.template {
        // What it says of itself is not its name.
        Some(_) => format!("`{}`: {}", request.tool, request.summary()),
        None => request.summary(),
    };
    format!("{place}`{caller}` wants to call {what}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Decision, Dialogue, Value};
    use crate::app::cli::console::testing::Typed;
    use crate::plane::approval::ApprovalRequest;

    fn request() -> ApprovalRequest {
        let mut request = ApprovalRequest::new("write", json!({ "path": "a.txt", "text": "one\ntwo\u{1b}[2J" }));
        request.caller = "main".into();
        request
    }

    /// Returns the decision, and all that was shown.
    fn decide(request: &ApprovalRequest, typed: &str) -> (Decision, String) {
        let mut console = Typed::new(typed);
        let decision = Dialogue { request, console: &mut console }.decide().expect("it is typed");
        (decision, console.shown)
    }

    #[test]
    fn each_answer_is_a_decision_and_what_is_none_is_asked_again() {
        let decided = |typed: &str| decide(&request(), typed).0;
        assert_eq!(decided("y\n"), Decision::approve());
        assert_eq!(decided("what\n\nYES\n"), Decision::approve());
        assert_eq!(decided("s\n"), Decision::approve_for_session());
        assert_eq!(decided("n\n"), Decision::deny("the user said no"));
        assert_eq!(decided("no not in  this folder\n"), Decision::deny("not in  this folder"));
        for line in ["a", "a second line of the text", "yes please", "y, then", "s s", "session of today", "d y", "e y"]
        {
            let closed = Decision::undecided("the user closed the terminal");
            assert_eq!(decided(&format!("{line}\n")), closed, "{line}");
        }
        assert_eq!(decided(""), Decision::undecided("the user closed the terminal"));
        assert_eq!(decided("dy\n"), Decision::undecided("the user closed the terminal"), "nothing is guessed");
    }

    #[test]
    fn the_question_tells_the_call_and_cannot_steer_the_terminal() {
        let shown = decide(&request(), "d\ny\n").1;
        assert!(shown.starts_with(r#"`main` wants to call write(path="a.txt", text="one\ntwo\u{1b}[2J")"#), "{shown}");
        assert!(shown.contains("  │ text:\n  │     one\n  │     two\\u{1b}[2J\n"), "{shown}");
        assert!(!shown.contains('\u{1b}'), "{shown:?}");
    }

    #[test]
    fn what_the_arguments_do_not_tell_is_told_before_anything_is_typed() {
        let mut request = request();
        request.given = Some(json!({ "path": "/etc/passwd" }));
        let shown = decide(&request, "").1;
        assert!(shown.contains("  │ Given as {\"path\":\"/etc/passwd\"}\nApprove?"), "{shown}");
    }

    #[test]
    fn a_summary_of_the_tools_own_does_not_hide_which_tool_it_is() {
        let mut request = request();
        request.template = Some("read {path}".into());
        let shown = decide(&request, "y\n").1;
        assert!(shown.starts_with("`main` wants to call `write`: read a.txt\n"), "{shown}");
    }

    #[test]
    fn an_edit_is_one_line_of_json_behind_the_word_or_below_it() {
        let edited = |typed| decide(&request(), typed).0;
        let arguments: Value = json!({ "path": "b.txt" });
        assert_eq!(edited("e {\"path\": \"b.txt\"}\n"), Decision::approve_with(arguments.clone()));
        assert_eq!(edited("e\n{\"path\": \"b.txt\"}\n"), Decision::approve_with(arguments));
        assert_eq!(edited("e\n\ny\n"), Decision::approve(), "back to the question");
        let (decision, shown) = decide(&request(), "e {path}\nn\n");
        assert_eq!(decision, Decision::deny("the user said no"));
        assert!(shown.contains("that is not JSON: "), "{shown}");
    }

    #[test]
    fn what_was_wrong_with_an_edit_is_told() {
        let mut request = request();
        request.problem = Some("`path` is missing".to_owned());
        let shown = decide(&request, "y\n").1;
        assert!(shown.contains("The arguments given will not do: `path` is missing\n"), "{shown}");
    }
}
