//! Approval by the person at the terminal.

use std::io::{self, BufRead, Write};

use async_trait::async_trait;
use serde_json::Value;

use super::person::Person;
use crate::approval::{ApprovalRequest, Approver, Decision};
use crate::event::printable;

const CHOICES: &str = "Approve? [y]es, for this [s]ession, [n]o and why, [e]dit, [d]etails: ";

#[async_trait]
impl Approver for Person {
    async fn review(&self, request: &ApprovalRequest) -> Decision {
        let request = request.clone();
        let decided = self.ask(move |input, output| Dialogue { request: &request, input, output }.decide());
        decided.await.unwrap_or_else(Decision::undecided)
    }
}

/// A question, and where it is asked and answered.
struct Dialogue<'a, R, W> {
    request: &'a ApprovalRequest,
    input: R,
    output: W,
}

impl<R: BufRead, W: Write> Dialogue<'_, R, W> {
    /// Asks until the answer is a decision.
    fn decide(mut self) -> io::Result<Decision> {
        let mut question = question(self.request);
        loop {
            self.say(&question)?;
            let Some(line) = self.answer(CHOICES)? else {
                return Ok(Decision::undecided("the user closed the terminal"));
            };
            let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((&line, ""));
            match word.to_lowercase().as_str() {
                "y" | "yes" | "a" => return Ok(Decision::approve()),
                "s" | "session" => return Ok(Decision::approve_for_session()),
                "n" | "no" => return Ok(refusal(rest)),
                "e" | "edit" => match self.edited(rest)? {
                    Ok(arguments) => return Ok(Decision::approve_with(arguments)),
                    Err(fault) => question = fault,
                },
                "d" | "details" | "?" => question = format!("{}\n", self.request.details()),
                _ => question.clear(),
            }
        }
    }

    /// Reads arguments, those behind the word or those of the next line.
    fn edited(&mut self, given: &str) -> io::Result<Result<Value, String>> {
        let mut given = given.trim().to_owned();
        if given.is_empty() {
            self.say(&format!("They are {}\n", self.request.arguments))?;
            given = self.answer("Arguments, as JSON in one line, or nothing to go back: ")?.unwrap_or_default();
        }
        if given.is_empty() {
            return Ok(Err(String::new()));
        }
        Ok(serde_json::from_str(&given).map_err(|error| format!("that is not JSON: {error}\n")))
    }

    /// Reads a line; none if there will be no more.
    fn answer(&mut self, prompt: &str) -> io::Result<Option<String>> {
        self.say(prompt)?;
        let mut line = String::new();
        let is_over = self.input.read_line(&mut line)? == 0;
        Ok((!is_over).then(|| line.trim().to_owned()))
    }

    fn say(&mut self, text: &str) -> io::Result<()> {
        self.output.write_all(printable(text).as_bytes())?;
        self.output.flush()
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
    let problem = request.problem.as_ref().map(|problem| format!("The arguments given will not do: {problem}\n"));
    format!("{place}`{caller}` wants to call {what}\n{}", problem.unwrap_or_default())
}

fn refusal(reason: &str) -> Decision {
    let reason = reason.trim();
    Decision::deny(if reason.is_empty() { "the user said no" } else { reason })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Decision, Dialogue, Value};
    use crate::approval::ApprovalRequest;

    fn request() -> ApprovalRequest {
        let mut request = ApprovalRequest::new("write", json!({ "path": "a.txt", "text": "one\ntwo\u{1b}[2J" }));
        request.caller = "main".into();
        request
    }

    /// Returns the decision, and all that was shown.
    fn decide(request: &ApprovalRequest, typed: &str) -> (Decision, String) {
        let mut output = Vec::new();
        let decision = Dialogue { request, input: typed.as_bytes(), output: &mut output }.decide().expect("a slice");
        (decision, String::from_utf8(output).expect("a text"))
    }

    #[test]
    fn each_answer_is_a_decision_and_what_is_none_is_asked_again() {
        let decided = |typed| decide(&request(), typed).0;
        assert_eq!(decided("y\n"), Decision::approve());
        assert_eq!(decided("what\n\nYES\n"), Decision::approve());
        assert_eq!(decided("s\n"), Decision::approve_for_session());
        assert_eq!(decided("n\n"), Decision::deny("the user said no"));
        assert_eq!(decided("no not in  this folder\n"), Decision::deny("not in  this folder"));
        assert_eq!(decided(""), Decision::undecided("the user closed the terminal"));
        assert_eq!(decided("dy\n"), Decision::undecided("the user closed the terminal"), "nothing is guessed");
    }

    #[test]
    fn the_question_tells_the_call_and_cannot_steer_the_terminal() {
        let shown = decide(&request(), "d\ny\n").1;
        assert!(shown.starts_with(r#"`main` wants to call write(path="a.txt", text="one\ntwo\u{1b}[2J")"#), "{shown}");
        assert!(shown.contains("text:\n    one\n    two\u{fffd}[2J\n"), "{shown}");
        assert!(!shown.contains('\u{1b}'), "{shown:?}");
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
