//! Rules as the body of a Python function.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::Value;

use super::condition::{Condition, Test};
use super::{Rule, Short};

const INDENT: &str = "    ";

impl Short {
    /// Returns the body of a Python function with the arguments as parameters; it ends by raising `Unsure`.
    #[must_use]
    pub fn python_body(&self) -> String {
        let mut body = String::new();
        let conditions = self.rules.iter().flat_map(|rule| &rule.conditions);
        let texts: BTreeSet<_> =
            conditions.filter(|condition| condition.is_on_text()).map(|condition| &condition.argument).collect();
        for argument in texts {
            // Writing to a string does not fail.
            let _ = writeln!(body, "{INDENT}{argument}_lower = {argument}.lower()");
        }
        self.rules.iter().for_each(|rule| rule.write(&mut body));
        let _ = writeln!(body, "{INDENT}raise Unsure(\"no rule applies\")");
        body
    }
}

impl Rule {
    fn write(&self, body: &mut String) {
        let conditions: Vec<_> = self.conditions.iter().map(Condition::python).collect();
        let condition = if conditions.is_empty() { "True".to_owned() } else { conditions.join(" and ") };
        let _ = writeln!(body, "{INDENT}if {condition}:\n{INDENT}{INDENT}{}", self.outcome());
    }

    fn outcome(&self) -> String {
        match &self.value {
            Some(value) => format!("return {}", literal(value)),
            None => "raise Unsure(\"this rule is not sure enough\")".to_owned(),
        }
    }
}

impl Condition {
    fn python(&self) -> String {
        let Self { argument, is_not, .. } = self;
        match (&self.test, is_not) {
            (Test::Contains(word), false) => format!("{} in {argument}_lower", literal(&Value::from(word.as_str()))),
            (Test::Contains(word), true) => format!("{} not in {argument}_lower", literal(&Value::from(word.as_str()))),
            (Test::Is(Value::Bool(flag)), is_not) if flag != is_not => argument.clone(),
            (Test::Is(Value::Bool(_)), _) => format!("not {argument}"),
            (Test::Is(value), false) => format!("{argument} == {}", literal(value)),
            (Test::Is(value), true) => format!("{argument} != {}", literal(value)),
            (Test::AtLeast(least), false) => format!("{argument} >= {least}"),
            (Test::AtLeast(least), true) => format!("{argument} < {least}"),
        }
    }
}

/// Returns a value as Python writes it.
fn literal(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        other => other.to_string(),
    }
}
