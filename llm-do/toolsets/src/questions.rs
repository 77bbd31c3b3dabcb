//! A tool with which models ask the user.

#![expect(clippy::missing_errors_doc, reason = "the docs of a tool are what models read")]

use llm_do_core::base::error::Result;
use llm_do_core::declare::question::Question;
use llm_do_core::plane::context::CallContext;
use llm_do_macros::tool;

use super::short_names::short_names;

/// The maximum size of a question, and of a choice, in bytes.
const MAX_QUESTION: usize = 10_000;
const MAX_ANSWER: usize = 1_000;

short_names! {
    /// Ask the user.
    user_input("user_input") = ask_user, "user_input_"
}

/// Ask the user a question, and wait for the answer: a text, or what the user chooses.
#[tool(name = "user_input_ask_user", approval = pre_approved, summary = "ask the user: {question}")]
pub async fn ask_user(
    ctx: &CallContext,
    /// The question, with all that the user needs to know to answer it.
    question: String,
    /// The answers to choose from. Without them, the user answers in a text.
    #[arg(default)]
    #[schemars(length(max = 20))]
    choices: Vec<String>,
    /// Whether the user may choose several.
    #[arg(default)]
    several: bool,
    /// Whether the user may give another answer than the choices.
    #[arg(default)]
    other: bool,
    /// The answer if the user gives none.
    default: Option<String>,
) -> Result<Vec<String>> {
    check_size(&question, MAX_QUESTION, "the question")?;
    for answer in choices.iter().chain(&default) {
        check_size(answer, MAX_ANSWER, "an answer to choose from")?;
    }
    let mut asked = Question::new(question).choices(choices);
    asked.several = several;
    asked.accepts_text = other;
    asked.default = default;
    Ok(ctx.request_user_choices(asked).await?)
}

fn check_size(text: &str, max: usize, what: &str) -> Result<()> {
    match text.len() {
        bytes if bytes > max => {
            Err(format!("{what} has {bytes} bytes; the maximum is {max}: ask in fewer words").into())
        }
        _ => Ok(()),
    }
}
