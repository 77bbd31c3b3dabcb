use super::{Arguments, IdRule, arguments, call_id, is_plain_json, tool_name};

#[test]
fn only_objects_that_every_parser_takes_go_back_as_they_are() {
    let kinds = [
        (" {\"a\":1} ", Arguments::Object("{\"a\":1}")),
        ("", Arguments::Nothing),
        (" \n", Arguments::Nothing),
        ("[1]", Arguments::NotAnObject("[1]")),
        ("null", Arguments::NotAnObject("null")),
        ("{\"a\"", Arguments::Invalid("{\"a\"")),
        (r#"{"a":"\ud83d"}"#, Arguments::Invalid(r#"{"a":"\ud83d"}"#)),
        (r#"{"a":1e999}"#, Arguments::Invalid(r#"{"a":1e999}"#)),
        (r#"{"a":1,"a":2}"#, Arguments::Invalid(r#"{"a":1,"a":2}"#)),
        ("{} {}", Arguments::Invalid("{} {}")),
    ];
    for (text, expected) in kinds {
        assert_eq!(arguments(text, 8), expected, "{text}");
    }
    assert!(is_plain_json(r#"{"a":"\ud83d\ude00","b":[{"a":1},{"a":2}]}"#, 3));
    assert!(is_plain_json("[[[1]]]", 3) && !is_plain_json("[[[[1]]]]", 3));
}

#[test]
fn a_made_up_name_becomes_one_that_providers_accept() {
    let long = "x".repeat(70);
    let names = [
        ("add", "add"),
        ("multi_tool_use.parallel", "multi_tool_use_parallel"),
        ("get weather é", "get_weather__"),
        ("", "unnamed_tool"),
        (long.as_str(), &long[..64]),
    ];
    for (name, expected) in names {
        assert_eq!(tool_name(name), expected);
    }
}

#[test]
fn an_id_changes_only_if_it_is_refused_or_repeats() {
    let (word, printable, short) = (IdRule::Word(64), IdRule::Printable(40), IdRule::Exact(9));
    assert_eq!(call_id("call_1", 0, word), "call_1");
    assert_eq!(call_id("call|1", 0, word), "call_1");
    assert_eq!(call_id("call|1", 0, printable), "call|1");
    assert_eq!(call_id("abcdefghi", 0, short), "abcdefghi");
    let long = "chatcmpl-tool-0123456789abcdef0123456789abcdef";
    assert_eq!(call_id(long, 0, word), long);
    for (id, repeat, rule) in [
        (long, 0, printable),
        ("call_1", 1, word),
        ("call_1", 1, printable),
        ("", 0, word),
        ("", 1, word),
        ("x", 0, short),
    ] {
        let new = call_id(id, repeat, rule);
        assert!(new != id && (9..=17).contains(&new.len()), "{new}");
        assert_eq!(new, call_id(id, repeat, rule));
        assert_ne!(new, call_id(id, repeat + 1, rule));
    }
}
