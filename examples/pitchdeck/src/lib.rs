//! What the three stages share: an evaluation, its report, and a model for offline runs.

mod demo;
pub mod tools;

use llm_do::prelude::*;

/// What an investor wants to know about a deck.
#[data]
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// The name of the company.
    pub company: String,
    /// From 1, no, to 5, yes.
    pub score: u8,
    /// What speaks for it.
    pub strengths: Vec<String>,
    /// What speaks against it.
    pub risks: Vec<String>,
}

impl Evaluation {
    /// Returns the evaluation as Markdown.
    #[must_use]
    pub fn report(&self) -> String {
        let list = |items: &[String]| items.iter().map(|item| format!("- {item}")).collect::<Vec<_>>().join("\n");
        let (strengths, risks) = (list(&self.strengths), list(&self.risks));
        let Self { company, score, .. } = self;
        format!("# {company}\n\nScore: {score} of 5\n\n## Strengths\n\n{strengths}\n\n## Risks\n\n{risks}\n")
    }
}
