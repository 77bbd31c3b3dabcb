//! A question, and the check of its answers.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// A question to the user: for a text, or for one or several of the given choices.
///
/// # Examples
///
/// ```
/// use llm_do::context::Question;
///
/// let question = Question::new("Which environment?").choices(["staging", "production"]).with_default("staging");
/// # let _ = question;
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Question {
    /// The question.
    pub prompt: String,
    /// The answers to choose from; empty if every text is an answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// Whether the user may choose several, or none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub several: bool,
    /// Whether a text that is not a choice is an answer too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub accepts_text: bool,
    /// The answer if the user gives an empty one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// The name of the answer's field, where the question is shown as a form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl Question {
    /// Creates a question that every text answers.
    #[must_use]
    pub fn new(prompt: impl Into<String>) -> Self {
        Self { prompt: prompt.into(), ..Self::default() }
    }

    /// Sets the answers to choose from. Default: every text is an answer.
    #[must_use]
    pub fn choices(self, choices: impl IntoIterator<Item: Into<String>>) -> Self {
        Self { choices: choices.into_iter().map(Into::into).collect(), ..self }
    }

    /// Lets the user choose several, or none. Default: one.
    #[must_use]
    pub fn several(self) -> Self {
        Self { several: true, ..self }
    }

    /// Accepts a text that is not a choice. Default: only the choices, if there are any.
    #[must_use]
    pub fn accept_text(self) -> Self {
        Self { accepts_text: true, ..self }
    }

    /// Sets the answer if the user gives an empty one. Default: an empty text, or no choice of several; a single choice
    /// is required.
    #[must_use]
    pub fn with_default(self, answer: impl Into<String>) -> Self {
        Self { default: Some(answer.into()), ..self }
    }

    /// Sets the name of the answer's field, where the question is shown as a form, as by a client of MCP. Default: `answer`.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Returns whether the question is a prompt alone.
    pub(crate) fn is_plain(&self) -> bool {
        *self == Self::new(self.prompt.as_str())
    }

    /// Returns why the question cannot be asked, if so.
    pub(crate) fn fault(&self) -> Option<String> {
        let mut seen = BTreeSet::new();
        if self.choices.iter().any(|choice| choice.trim().is_empty()) {
            return Some("a choice is empty".to_owned());
        }
        if let Some(twice) = self.choices.iter().find(|choice| !seen.insert(choice.trim())) {
            return Some(format!("the choice `{twice}` is given twice"));
        }
        let default = self.default.as_ref()?;
        let is_choice = self.choices.is_empty() || self.choices.contains(default);
        (!is_choice && !self.accepts_text).then(|| format!("the default `{default}` is not one of the choices"))
    }

    /// Returns the answers in the user's text, or the fault of the text.
    pub(crate) fn answers(&self, text: &str) -> Result<Vec<String>, String> {
        let given = text.trim();
        if given.is_empty() {
            return match &self.default {
                Some(default) => Ok(vec![default.clone()]),
                None if self.choices.is_empty() => Ok(vec![text.to_owned()]),
                None if self.several => Ok(Vec::new()),
                None => Err("empty answer: enter one of the choices".to_owned()),
            };
        }
        if self.choices.is_empty() {
            return Ok(vec![text.to_owned()]);
        }
        if let Some(choice) = self.choice(given) {
            return Ok(vec![choice]);
        }
        let parts = if self.several { parts(given) } else { vec![given.to_owned()] };
        let chosen: Result<BTreeSet<_>, _> =
            parts.iter().map(|part| self.choice(part).ok_or_else(|| part.clone())).collect();
        match chosen {
            // The answers are in the order of the choices, each once.
            Ok(chosen) => Ok(self.choices.iter().filter(|choice| chosen.contains(*choice)).cloned().collect()),
            Err(_) if self.accepts_text => Ok(vec![given.to_owned()]),
            Err(unknown) => Err(format!("`{unknown}` is not one of the {} choices", self.choices.len())),
        }
    }

    /// Returns the choice with the given text or number.
    fn choice(&self, text: &str) -> Option<String> {
        let text = text.trim();
        let equal = self.choices.iter().find(|choice| choice.trim() == text);
        let similar = || self.choices.iter().find(|choice| choice.trim().to_lowercase() == text.to_lowercase());
        let numbered = || self.choices.get(text.parse::<usize>().ok()?.checked_sub(1)?);
        equal.or_else(similar).or_else(numbered).cloned()
    }
}

/// Returns the items of a JSON list of texts, or else of a text with commas.
fn parts(text: &str) -> Vec<String> {
    let list = serde_json::from_str::<Vec<String>>(text);
    list.unwrap_or_else(|_| {
        text.split(',').map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
    })
}

impl From<&str> for Question {
    fn from(prompt: &str) -> Self {
        Self::new(prompt)
    }
}

impl From<String> for Question {
    fn from(prompt: String) -> Self {
        Self::new(prompt)
    }
}

impl From<&String> for Question {
    fn from(prompt: &String) -> Self {
        Self::new(prompt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fruit() -> Question {
        Question::new("Which?").choices(["apple", "Pear, ripe", "2"])
    }

    #[test]
    fn a_choice_is_named_by_its_text_or_its_number() {
        for (text, choice) in
            [("apple", "apple"), (" APPLE ", "apple"), ("1", "apple"), ("pear, ripe", "Pear, ripe"), ("3", "2")]
        {
            assert_eq!(fruit().answers(text).unwrap(), [choice], "{text}");
        }
        assert_eq!(fruit().answers("2").unwrap(), ["2"], "the text of a choice comes before its number");
    }

    #[test]
    fn what_is_not_a_choice_is_refused_unless_texts_are_accepted() {
        for text in ["plum", "0", "4", "-1", "apple, plum", "1,2", "99999999999999999999"] {
            assert!(fruit().answers(text).is_err(), "{text}");
        }
        assert_eq!(fruit().answers("plum").unwrap_err(), "`plum` is not one of the 3 choices");
        assert_eq!(fruit().accept_text().answers(" plum ").unwrap(), ["plum"]);
    }

    #[test]
    fn several_choices_come_in_their_own_order_and_once() {
        let several = fruit().several();
        assert_eq!(several.answers("3, apple,1").unwrap(), ["apple", "2"]);
        assert_eq!(several.answers(r#"["Pear, ripe", "apple"]"#).unwrap(), ["apple", "Pear, ripe"]);
        assert_eq!(several.answers("pear, ripe").unwrap(), ["Pear, ripe"]);
        assert!(several.answers("").unwrap().is_empty());
        assert!(several.answers("apple, plum").is_err());
        assert_eq!(several.accept_text().answers("apple, plum").unwrap(), ["apple, plum"]);
    }

    #[test]
    fn an_empty_answer_is_the_default_or_else_refused_for_one_choice() {
        assert_eq!(fruit().with_default("apple").answers(" ").unwrap(), ["apple"]);
        assert_eq!(Question::new("Name?").with_default("Ann").answers("").unwrap(), ["Ann"]);
        assert_eq!(Question::new("Name?").answers("").unwrap(), [""]);
        assert!(fruit().answers("").is_err());
    }

    #[test]
    fn a_question_that_cannot_be_answered_is_a_fault() {
        assert_eq!(fruit().fault(), None);
        assert_eq!(fruit().choices(["a", " "]).fault().unwrap(), "a choice is empty");
        assert_eq!(fruit().choices(["a", "a"]).fault().unwrap(), "the choice `a` is given twice");
        assert_eq!(fruit().with_default("plum").fault().unwrap(), "the default `plum` is not one of the choices");
        assert_eq!(fruit().with_default("plum").accept_text().fault(), None);
    }
}
