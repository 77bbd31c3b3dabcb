use serde_json::{Value, json};

use super::Shape;
use crate::declare::schema::CheckedSchema;

/// Returns the shape of the values, and whether it and its schema hold for another value.
fn holds(values: &[Value], other: &Value) -> bool {
    let shape = Shape::of(&values.iter().collect::<Vec<_>>(), false).expect("the values have a shape");
    let schema = CheckedSchema::new(&shape.schema()).untrusted();
    assert!(values.iter().all(|value| shape.holds(value) && schema.holds(value) == Some(true)), "{shape}");
    assert_eq!(schema.holds(other).unwrap_or_default(), shape.holds(other), "{shape}: {other}");
    shape.holds(other)
}

fn texts(texts: &[&str]) -> Vec<Value> {
    texts.iter().map(|text| json!(text)).collect()
}

#[test]
fn a_path_shape_holds_below_the_common_folder_only() {
    let approved = texts(&["/srv/notes/a.md", "/srv/notes/2026/b.md", "/srv/notes/long-name.md"]);
    for (path, expected) in [
        ("/srv/notes/c.md", true),
        ("/srv/notes/x/y.md", true),
        ("/srv/notes/c.txt", false),
        ("/srv/notes", false),
        ("/srv/notes.md", false),
        ("/srv/notesx/c.md", false),
        ("srv/notes/c.md", false),
        ("/srv/notes/../c.md", false),
        ("/srv/notes/./c.md", false),
        ("/srv/notes//c.md", false),
        ("/srv/notes/.md", false),
        ("/srv/notes/%2e%2e/c.md", false),
        ("/srv/notes/a\n.md", false),
        ("/srv/notes/c.md\n", false),
        ("/srv/notes/\u{202e}c.md", false),
        ("/srv/notes/\u{ff0e}\u{ff0e}/c.md", false),
        ("/srv/notes/..\\c.md", false),
        ("/srv/notes/c.md\0", false),
    ] {
        assert_eq!(holds(&approved, &json!(path)), expected, "{path}");
    }
    assert!(!holds(&approved, &json!(format!("/srv/notes/{}.md", "x".repeat(40)))), "longer than any approved one");
    assert!(!holds(&approved, &json!(["/srv/notes/c.md"])));
}

#[test]
fn an_address_shape_holds_for_one_host_only() {
    let approved =
        texts(&["https://api.example.com/v1/users", "https://api.example.com/v1/a", "https://api.example.com/v1/b/c/"]);
    for (url, expected) in [
        ("https://api.example.com/v1/order", true),
        ("https://api.example.com/v1/a/b", true),
        ("https://api.example.com/v2/a", false),
        ("https://api.example.com/v1", false),
        ("http://api.example.com/v1/a", false),
        ("https://api.example.com:8443/v1/a", false),
        ("https://api.example.com.evil.test/v1/a", false),
        ("https://api.example.com@evil.test/v1/a", false),
        ("https://api-example.com/v1/a", false),
        ("https://apixexample.com/v1/a", false),
        ("https://API.example.com/v1/a", false),
        ("https://\u{430}pi.example.com/v1/a", false),
        ("https://api.example.com/v1/../a", false),
        ("https://api.example.com/v1/%2e%2e/a", false),
        ("https://api.example.com/v1/a?b=c", false),
        ("https://api.example.com/v1/a#b", false),
        ("https://api.example.com\\v1/a", false),
        ("https://api.example.com//v1/a", false),
    ] {
        assert_eq!(holds(&approved, &json!(url)), expected, "{url}");
    }
}

#[test]
fn numbers_are_a_range_and_few_values_are_listed() {
    let amounts: Vec<_> = [3, 900, 45, 7].map(Value::from).to_vec();
    for (amount, expected) in [(json!(3), true), (json!(900), true), (json!(901), false), (json!(2), false)] {
        assert_eq!(holds(&amounts, &amount), expected, "{amount}");
    }
    assert!(!holds(&amounts, &json!(3.5)) && !holds(&amounts, &json!("45")));
    let listed = texts(&["eu", "us", "us", "eu"]);
    assert!(holds(&listed, &json!("eu")) && !holds(&listed, &json!("EU")) && !holds(&listed, &json!("eu ")));
}

#[test]
fn texts_without_a_pattern_have_no_shape() {
    for values in [
        texts(&["Dear Ann", "Dear Bob"]),
        texts(&["a.md", "b.md"]),
        texts(&["/etc/passwd", "/srv/a"]),
        texts(&["https://a.test/x", "https://b.test/x"]),
        texts(&["/srv/a", "/srv/../b"]),
        vec![json!("a"), json!(1)],
        vec![json!(1e300), json!(2)],
        vec![json!([1]), json!([2])],
        texts(&["x".repeat(600).as_str()]),
    ] {
        assert!(Shape::of(&values.iter().collect::<Vec<_>>(), false).is_none(), "{values:?}");
    }
}
