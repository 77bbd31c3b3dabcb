//! Answers of the user at the terminal to questions of tools.

use std::io;

use async_trait::async_trait;
use llm_do_core::base::error::BoxError;
use llm_do_core::declare::question::Question;
use llm_do_core::plane::user_input::{InputHandler, InputRequest};

use super::console::Console;
use super::terminal_user::TerminalUser;

#[async_trait]
impl InputHandler for TerminalUser {
    async fn answer(&self, request: &InputRequest) -> Result<String, BoxError> {
        if !Self::is_available() {
            return Err("no terminal to ask the user; run the command in a terminal".into());
        }
        let request = request.clone();
        let answer = self.ask(move |console| answer(&request, console)).await?;
        answer.ok_or_else(|| "the user closed the terminal".into())
    }
}

/// Asks the question and reads a line; `None` if the terminal was closed.
fn answer(request: &InputRequest, mut console: impl Console) -> io::Result<Option<String>> {
    let InputRequest { question, caller, problem, .. } = request;
    if let Some(problem) = problem {
        console.show(problem)?;
    }
    console.show(&format!("`{caller}` asks: {}", question.prompt))?;
    for (number, choice) in (1..).zip(&question.choices) {
        console.show_text(&format!("{number}. {choice}"))?;
    }
    if let Some(default) = &question.default {
        console.show_text(&format!("default: {default}"))?;
    }
    console.ask(&prompt(question))
}

/// Returns the prompt, which lists the possible answers.
fn prompt(question: &Question) -> String {
    let count = question.choices.len();
    let text = if question.accepts_text { ", or your own answer" } else { "" };
    match (count, question.several) {
        (0, _) => "> ".to_owned(),
        (1, _) => format!("1{text}> "),
        (_, false) => format!("1-{count}{text}> "),
        (_, true) => format!("1-{count}, separated by commas{text}> "),
    }
}

#[cfg(test)]
mod tests {
    use super::{InputRequest, Question, answer};
    use crate::console::testing::ScriptedConsole;

    fn answered(prompt: &str, typed: &str) -> (Option<String>, String) {
        let mut console = ScriptedConsole::new(typed);
        let answer = answer(&InputRequest::new(prompt, "rename"), &mut console).expect("the console does not fail");
        (answer, console.shown)
    }

    #[test]
    fn the_answer_is_the_typed_line_unchanged() {
        assert_eq!(answered("Which?", " a.txt \r\nmore\n").0.as_deref(), Some(" a.txt "));
        assert_eq!(answered("Which?", "\n").0.as_deref(), Some(""), "an empty line is an answer");
        assert_eq!(answered("Which?", "").0, None);
    }

    #[test]
    fn choices_are_numbered_with_the_default_and_what_was_wrong_before() {
        let question =
            Question::new("Which?").choices(["apple", "pear\u{1b}"]).several().accept_text().with_default("apple");
        let mut request = InputRequest::new(question, "buy");
        request.problem = Some("`plum` is not one of the 2 choices".to_owned());
        let mut console = ScriptedConsole::new("1\n");
        let answer = answer(&request, &mut console).expect("the console does not fail");
        assert_eq!(answer.as_deref(), Some("1"));
        let shown = "`plum` is not one of the 2 choices\n`buy` asks: Which?\n  │ 1. apple\n  │ 2. pear\\u{1b}\n  │ default: \
                     apple\n1-2, separated by commas, or your own answer> ";
        assert_eq!(console.shown, shown);
    }

    #[test]
    fn the_question_names_the_caller_and_escapes_control_characters() {
        let shown = answered("Which \u{1b}[2Jfile?\n> \u{200b}", "").1;
        assert_eq!(shown, "`rename` asks: Which \\u{1b}[2Jfile?\n  │ > \\u{200b}\n> ");
    }
}
