//! Answers from the person at the terminal to what tools ask the user.

use std::io;

use async_trait::async_trait;

use super::console::Console;
use super::person::Person;
use crate::base::error::BoxError;
use crate::plane::user_input::{InputHandler, InputRequest};

#[async_trait]
impl InputHandler for Person {
    async fn answer(&self, request: &InputRequest) -> Result<String, BoxError> {
        if !Self::is_there() {
            return Err("there is no terminal to ask the user at; run it in one".into());
        }
        let request = request.clone();
        let answer = self.ask(move |console| answer(&request, console)).await?;
        answer.ok_or_else(|| "the user closed the terminal".into())
    }
}

/// Asks, and reads the answer, a line; none if the terminal was closed.
fn answer(request: &InputRequest, mut console: impl Console) -> io::Result<Option<String>> {
    console.show(&format!("`{}` asks: {}", request.caller, request.prompt))?;
    console.ask("> ")
}

#[cfg(test)]
mod tests {
    use super::{InputRequest, answer};
    use crate::app::cli::console::testing::Typed;

    fn answered(prompt: &str, typed: &str) -> (Option<String>, String) {
        let mut console = Typed::new(typed);
        let answer = answer(&InputRequest::new(prompt, "rename"), &mut console).expect("it is typed");
        (answer, console.shown)
    }

    #[test]
    fn the_answer_is_the_line_as_it_was_typed() {
        assert_eq!(answered("Which?", " a.txt \r\nmore\n").0.as_deref(), Some(" a.txt "));
        assert_eq!(answered("Which?", "\n").0.as_deref(), Some(""), "nothing is an answer too");
        assert_eq!(answered("Which?", "").0, None);
    }

    #[test]
    fn the_question_says_who_asks_and_cannot_steer_the_terminal() {
        let shown = answered("Which \u{1b}[2Jfile?\n> \u{200b}", "").1;
        assert_eq!(shown, "`rename` asks: Which \\u{1b}[2Jfile?\n  │ > \\u{200b}\n> ");
    }
}
