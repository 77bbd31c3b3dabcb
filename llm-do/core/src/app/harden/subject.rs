//! Which field of the inputs names what they are about.

use std::collections::HashSet;

use serde_json::Value;

use super::Cases;

/// The least number of different values of an identifier.
const LEAST: usize = 10;
/// The maximum length of an identifier, in bytes.
const MAX_LENGTH: usize = 64;

/// Returns the field that names what the inputs are about, such as a customer, if several inputs have the same value; of several fields the
/// one with the fewest values.
///
/// A candidate that learned the answers of known customers must not be measured on more of their cases.
pub(super) fn identifier_of(cases: &Cases) -> Option<String> {
    let first = cases.iter().find_map(|case| case.input.as_object())?;
    let fields = first.keys().filter_map(|field| Some((values_of(field, cases)?, field)));
    // An identifier that each case has for itself is in one part anyway.
    let repeated = fields.filter(|(values, _)| (LEAST..cases.len()).contains(values));
    repeated.min().map(|(_, field)| field.clone())
}

/// Returns the number of different values of a field; `None` if a value is not an identifier.
fn values_of(field: &str, cases: &Cases) -> Option<usize> {
    let values: Option<HashSet<String>> = cases
        .iter()
        .map(|case| {
            let value = case.input.get(field)?;
            is_identifier(field, value).then(|| value.to_string())
        })
        .collect();
    values.map(|values| values.len())
}

fn is_identifier(field: &str, value: &Value) -> bool {
    match value {
        Value::String(text) => {
            let is_short = !text.is_empty() && text.len() <= MAX_LENGTH && !text.contains(char::is_whitespace);
            is_short && (is_named_so(field) || text.contains(|letter: char| letter.is_ascii_digit()))
        }
        Value::Number(number) => !number.is_f64() && is_named_so(field),
        _ => false,
    }
}

/// Returns whether a name is that of an identifier, such as `id`, `customer_id` or `orderId`.
fn is_named_so(field: &str) -> bool {
    let last = field.rsplit(['_', '-', '.']).next().unwrap_or(field).to_ascii_lowercase();
    ["id", "uuid", "guid", "key", "number"].contains(&&*last) || field.ends_with("Id") || field.ends_with("ID")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Cases, identifier_of};

    fn of(inputs: impl IntoIterator<Item = Value>) -> Option<String> {
        let mut cases = Cases::of("worker");
        inputs.into_iter().for_each(|input| cases.label(input, json!("answer")));
        identifier_of(&cases)
    }

    #[test]
    fn a_repeated_identifier_is_found() {
        let input = |at: usize| json!({ "text": format!("text {at}"), "customer": format!("c-{}", at % 12) });
        assert_eq!(of((0..60).map(input)).as_deref(), Some("customer"));
        let input = |at: usize| json!({ "amount": at % 15, "orderId": at % 20, "line_id": at % 30, "text": at });
        assert_eq!(of((0..60).map(input)).as_deref(), Some("orderId"));
    }

    #[test]
    fn other_fields_are_not_identifiers() {
        let input = |at: usize| json!({ "text": format!("text {at}"), "id": at, "kind": format!("k{}", at % 3), "age": at % 20 });
        assert_eq!(of((0..60).map(input)), None);
        assert_eq!(of((0..60).map(|at| json!(at % 20))), None);
        assert_eq!(of([]), None);
    }
}
