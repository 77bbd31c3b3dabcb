//! Answers of the user at the terminal to questions of tools.

use std::io;

use async_trait::async_trait;

use super::console::Console;
use super::terminal_user::TerminalUser;
use crate::base::error::BoxError;
use crate::plane::user_input::{InputHandler, InputRequest};

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
    console.show(&format!("`{}` asks: {}", request.caller, request.prompt))?;
    console.ask("> ")
}

#[cfg(test)]
mod tests {
    use super::{InputRequest, answer};
    use crate::app::cli::console::testing::ScriptedConsole;

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
    fn the_question_names_the_caller_and_escapes_control_characters() {
        let shown = answered("Which \u{1b}[2Jfile?\n> \u{200b}", "").1;
        assert_eq!(shown, "`rename` asks: Which \\u{1b}[2Jfile?\n  │ > \\u{200b}\n> ");
    }
}
