use serde_json::json;

use super::CapabilityTable;
use crate::model::ContextWindow;
use crate::model_pattern::is_day;

fn ours(models: &serde_json::Value) -> CapabilityTable {
    CapabilityTable::from_json(&json!({"date": "2026-12-01", "models": models}).to_string()).unwrap()
}

#[test]
fn every_built_in_row_names_its_page_and_the_day_and_is_found_by_its_name() {
    let table = CapabilityTable::builtin();
    assert!(is_day(table.date()));
    for entry in table.entries() {
        let pages = entry.source.as_deref().unwrap_or_default().split(' ');
        assert!(pages.into_iter().all(|page| page.starts_with("https://")), "{entry:?}");
        assert!(entry.seen.as_deref().is_some_and(|seen| seen <= table.date()), "{entry:?}");
        if !entry.model.contains('*') {
            assert_eq!(table.find(&entry.model), Some(entry));
        }
    }
    assert!(table.entries().count() > 80);
}

#[test]
fn no_row_is_hidden_by_another_of_the_same_name_and_versions() {
    let table = CapabilityTable::builtin();
    let mut names: Vec<_> = table.entries().map(|entry| (&entry.model, &entry.from, &entry.to)).collect();
    names.sort();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
}

#[test]
fn a_row_of_the_user_wins_over_the_built_in_one() {
    let table = ours(&json!([{"provider": "openai", "models": ["gpt-5.4*"], "takes": {"stop": true}}]));
    let table = table.over(&CapabilityTable::builtin());
    assert_eq!(table.date(), "2026-12-01");
    assert_eq!(table.find("openai:gpt-5.4-mini").unwrap().takes, json!({"stop": true}));
    assert_eq!(table.find("openai-responses:gpt-5.4").unwrap().takes, json!({"stop": true}));
    assert_eq!(table.find("openai:gpt-5.1"), CapabilityTable::builtin().find("openai:gpt-5.1"));
    let table = table.with("openai:GPT-5.4*", json!({"images": false})).unwrap();
    assert_eq!(table.find("openai:gpt-5.4").unwrap().takes, json!({"images": false}), "the last one wins");
}

#[test]
fn the_most_letters_win_and_what_a_server_puts_in_front_counts_too() {
    let table = CapabilityTable::builtin().with("openai:lab/*", json!({"images": false})).unwrap();
    let model = |name: &str| table.find(name).map(|entry| entry.model.as_str());
    assert_eq!(model("openai:gpt-5.1-2026-01-01"), Some("openai:gpt-5.1*"));
    assert_eq!(model("openai:acme/gpt-5.1"), Some("openai:gpt-5.1*"));
    assert_eq!(model("openai:ft:gpt-4o-mini:acme:our-pro"), Some("openai:gpt-4o*"));
    assert_eq!(model("openai:lab/llama"), Some("openai:lab/*"));
    assert_eq!(model("openai:llama"), Some("openai:*"));
    assert_eq!(model("moonshot:kimi-k3"), Some("openai:*"));
    assert_eq!(model("anthropic:us.anthropic.claude-opus-4-20250514-v1:0"), Some("anthropic:claude*opus*"));
    assert_eq!(model("lab:llama"), None);
    assert_eq!(model("llama"), None);
}

#[test]
fn versions_are_from_the_first_to_the_last_of_a_row() {
    let table = ours(&json!([
        {"provider": "anthropic", "models": ["claude*"], "takes": {}},
        {"provider": "anthropic", "models": ["claude*"], "from": "4", "to": "4.5", "takes": {"sampling": "either"}}
    ]));
    let from = |model: &str| table.find(model).unwrap().from.as_deref();
    assert_eq!(from("anthropic:claude-3-7-sonnet-latest"), None);
    assert_eq!(from("anthropic:claude-sonnet-4-20250514"), Some("4.0"));
    assert_eq!(from("anthropic:claude-opus-4-5"), Some("4.0"));
    assert_eq!(from("anthropic:claude-opus-4-6"), None);
    assert_eq!(from("anthropic:claude-latest"), None, "a name without a version is in no range");
}

#[test]
fn an_error_for_an_added_row_names_what_is_wrong() {
    let fault = |model, takes| CapabilityTable::builtin().with(model, takes).unwrap_err().to_string();
    assert_eq!(fault("gpt-5", json!({})), "invalid model name `gpt-5`: expected `provider:model`");
    assert!(fault("lab:m", json!({})).starts_with("`lab:m`: unknown provider `lab`; expected one of `anthropic`"));
    let text = fault("gemini:m", json!({"stop": true}));
    assert!(text.starts_with("`gemini:m`: `takes`: unknown field `stop`, expected one of `thinking`"), "{text}");
}

#[test]
fn every_window_names_its_page_and_the_day_and_is_found_by_its_name() {
    let table = CapabilityTable::builtin();
    for entry in table.windows() {
        assert!(entry.source.as_deref().is_some_and(|page| page.starts_with("https://")), "{entry:?}");
        assert!(entry.seen.as_deref().is_some_and(|seen| seen <= table.date()), "{entry:?}");
        assert_eq!(table.window(&entry.model.replace('*', "")), Some(entry));
    }
    let mut names: Vec<_> = table.windows().map(|entry| &entry.model).collect();
    names.sort();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
}

#[test]
fn a_window_is_that_of_the_model_with_the_most_letters_or_of_the_user() {
    let table = CapabilityTable::builtin();
    let tokens = |table: &CapabilityTable, model: &str| table.window(model).map(|entry| entry.window.tokens);
    let cases = [
        ("anthropic:claude-opus-4-1-20250805", Some(200_000)),
        ("anthropic:claude-opus-4-8", Some(1_000_000)),
        ("anthropic:us.anthropic.claude-opus-4-20250514-v1:0", Some(200_000)),
        ("openai-responses:gpt-5-mini-2025-08-07", Some(400_000)),
        ("openai:gpt-4", Some(8_192)),
        ("gemini:gemini-2.5-pro", Some(1_048_576)),
        ("openai:llama", None),
        ("lab:gpt-4", None),
        ("gpt-4", None),
    ];
    for (model, expected) in cases {
        assert_eq!(tokens(&table, model), expected, "{model}");
    }
    let own = table.with_window("openai:ours-*", ContextWindow::new(9_000)).unwrap();
    assert_eq!(tokens(&own, "openai:ours-1"), Some(9_000));
    assert!(own.with_window("ours", ContextWindow::new(1)).is_err());
    let json = json!({"date": "2026-12-01", "models": [], "windows": [
        {"provider": "openai", "models": ["gpt-4"], "context_window": 5, "max_input_tokens": 3},
    ]});
    let table = CapabilityTable::from_json(&json.to_string()).unwrap().over(&CapabilityTable::builtin());
    assert_eq!(table.window("openai:gpt-4").unwrap().window.for_input(), 3);
}
