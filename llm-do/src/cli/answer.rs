//! Answers from the person at the terminal to what tools ask the user.

use std::io::{self, BufRead, Write};

use async_trait::async_trait;

use super::person::Person;
use crate::error::BoxError;
use crate::event::printable;
use crate::user_input::{InputHandler, InputRequest};

#[async_trait]
impl InputHandler for Person {
    async fn answer(&self, request: &InputRequest) -> Result<String, BoxError> {
        if !Self::is_there() {
            return Err("there is no terminal to ask the user at; run it in one".into());
        }
        let request = request.clone();
        let answer = self.ask(move |input, output| answer(&request, input, output)).await?;
        answer.ok_or_else(|| "the user closed the terminal".into())
    }
}

/// Asks, and reads the answer, a line; none if the terminal was closed.
fn answer(request: &InputRequest, mut input: impl BufRead, mut output: impl Write) -> io::Result<Option<String>> {
    let question = printable(&format!("`{}` asks: {}\n> ", request.caller, request.prompt));
    output.write_all(question.as_bytes())?;
    output.flush()?;
    let mut line = String::new();
    let is_over = input.read_line(&mut line)? == 0;
    Ok((!is_over).then(|| line.trim_end_matches(['\n', '\r']).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::{InputRequest, answer};

    fn answered(typed: &str) -> (Option<String>, String) {
        let mut output = Vec::new();
        let request = InputRequest::new("Which \u{1b}[2Jfile?", "rename");
        let answer = answer(&request, typed.as_bytes(), &mut output).expect("a slice");
        (answer, String::from_utf8(output).expect("a text"))
    }

    #[test]
    fn the_answer_is_the_line_as_it_was_typed() {
        assert_eq!(answered(" a.txt \r\nmore\n").0.as_deref(), Some(" a.txt "));
        assert_eq!(answered("\n").0.as_deref(), Some(""), "nothing is an answer too");
        assert_eq!(answered("").0, None);
    }

    #[test]
    fn the_question_says_who_asks_and_cannot_steer_the_terminal() {
        assert_eq!(answered("").1, "`rename` asks: Which \u{fffd}[2Jfile?\n> ");
    }
}
