//! The values of an input, each by its path.

use serde_json::Value;

/// Values that are nested deeper do not count.
const MAX_DEPTH: usize = 32;

/// A value that contains no other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Leaf<'a> {
    Text(&'a str),
    Number(f64),
    Flag(bool),
}

/// Calls `visit` with each value of an input and its path, in which `*` stands for the items of a list; without those that are null.
pub(crate) fn visit<'a>(input: &'a Value, visit: &mut impl FnMut(&str, Leaf<'a>)) {
    below(input, &mut String::new(), MAX_DEPTH, visit);
}

fn below<'a>(value: &'a Value, path: &mut String, depth: usize, visit: &mut impl FnMut(&str, Leaf<'a>)) {
    let leaf = match value {
        Value::Bool(flag) => Leaf::Flag(*flag),
        Value::Number(number) => Leaf::Number(number.as_f64().unwrap_or_default()),
        Value::String(text) => Leaf::Text(text),
        Value::Array(items) if depth > 0 => {
            return items.iter().for_each(|item| inside("*", item, path, depth, visit));
        }
        Value::Object(fields) if depth > 0 => {
            return fields.iter().for_each(|(name, field)| inside(name, field, path, depth, visit));
        }
        Value::Null | Value::Array(_) | Value::Object(_) => return,
    };
    visit(path, leaf);
}

fn inside<'a>(name: &str, value: &'a Value, path: &mut String, depth: usize, visit: &mut impl FnMut(&str, Leaf<'a>)) {
    let length = path.len();
    path.push('/');
    path.push_str(name);
    below(value, path, depth - 1, visit);
    path.truncate(length);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Leaf, visit};

    #[test]
    fn each_value_has_a_path() {
        let input = json!({ "a": { "b": 1.5 }, "tags": ["x", true], "none": null });
        let mut found = Vec::new();
        visit(&input, &mut |path, leaf| found.push((path.to_owned(), leaf)));
        let expected = [("/a/b", Leaf::Number(1.5)), ("/tags/*", Leaf::Text("x")), ("/tags/*", Leaf::Flag(true))];
        assert_eq!(found, expected.map(|(path, leaf)| (path.to_owned(), leaf)));
    }
}
