use super::{Money, Price, PriceTable, Usage};
use crate::model_pattern::{ModelPattern, is_day};

fn input(cents: u64) -> Price {
    Price::per_million(Money::from_cents(cents), Money::ZERO)
}

#[test]
fn every_built_in_price_has_a_source_and_a_date_and_is_found_by_its_name() {
    let table = PriceTable::builtin();
    assert!(is_day(table.date()));
    for row in table.rows() {
        let entry = &row.entry;
        let pages = entry.source.as_deref().unwrap_or_default().split(' ');
        assert!(pages.into_iter().all(|page| page.starts_with("https://")), "{entry:?}");
        assert!(entry.seen.as_deref().is_some_and(|seen| seen <= table.date()), "{entry:?}");
        assert_eq!(table.find(&entry.model), Some(entry));
    }
    assert!(table.rows().len() > 80);
}

#[test]
fn the_most_used_models_have_a_price() {
    let names = [
        "mistral:mistral-large-latest",
        "mistral:codestral-latest",
        "mistral:mistral-medium-3",
        "mistral:devstral-latest",
        "gemini:gemini-3-pro-preview",
        "gemini:gemini-flash-latest",
        "gemini:gemini-2.0-flash",
        "groq:moonshotai/kimi-k2-instruct-0905",
        "groq:meta-llama/llama-4-scout-17b-16e-instruct",
        "deepseek:deepseek-v4-flash-vision-exp",
        "openai:gpt-5.1-codex",
        "openai:gpt-5-chat-latest",
        "openai:gpt-6.1-terra",
        "openai-responses:gpt-6.2-sol",
        "anthropic:claude-3-5-sonnet-20241022",
    ];
    let table = PriceTable::builtin();
    for name in names {
        assert!(table.price(name).is_some(), "{name}");
    }
}

#[test]
fn audio_has_its_own_price_where_google_states_one() {
    let with_audio = Usage { audio_tokens: 1_000_000, ..Usage::of_request(1_000_000, 0) };
    let table = PriceTable::builtin();
    assert_eq!(table.cost("gemini:gemini-2.5-flash", &with_audio), Some(Money::from_dollars(1)));
    assert_eq!(table.cost("gemini:gemini-2.5-flash", &Usage::of_request(1_000_000, 0)), Some(Money::from_cents(30)));
    assert_eq!(table.cost("gemini:gemini-3.8-flash", &with_audio), Some(Money::from_cents(75)));
}

#[test]
fn built_in_names_are_unique_and_exact() {
    let table = PriceTable::builtin();
    let mut names: Vec<_> = table.rows().iter().map(|row| &row.entry.model).collect();
    names.sort();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    assert!(table.rows().iter().all(|row| matches!(row.pattern, ModelPattern::Exact(_))));
}

#[test]
fn cached_input_is_never_dearer_and_long_requests_never_cheaper() {
    for row in PriceTable::builtin().rows() {
        let price = &row.entry.price;
        assert!(price.cached_input.is_none_or(|cached| cached <= price.input), "{row:?}");
        assert!(price.cache_write.is_none_or(|cache_write| cache_write >= price.input), "{row:?}");
        for (_, long) in &price.tiers {
            assert!(long.input >= price.input && long.output >= price.output, "{row:?}");
        }
    }
}

#[test]
fn gemini_models_have_the_prices_of_google() {
    let table = PriceTable::builtin();
    assert_eq!(table.find("gemini:gemini-2.5-pro").unwrap().model, "google:gemini-2.5-pro");
    let table = table.with("gemini:gemini-2.5-pro", input(1)).unwrap();
    assert_eq!(table.price("Gemini:gemini-2.5-pro").unwrap().input, Money::from_cents(1));
    assert_eq!(table.find("gemini:gpt-4.1"), None);
}

#[test]
fn the_longest_match_wins_then_the_exact_name_then_the_last() {
    let empty = PriceTable::from_json(r#"{"date": "2026-01-01", "prices": []}"#).unwrap();
    let table = empty.with("a:model*", input(1)).unwrap().with("a:*", input(2)).unwrap();
    let table = table.with("a:model-b", input(3)).unwrap().with("a:model-*", input(4)).unwrap();
    let of = |name: &str| table.price(name).map(|price| price.input);
    assert_eq!(of("a:model-b"), Some(Money::from_cents(3)));
    assert_eq!(of("a:model-b-2025-01-31"), Some(Money::from_cents(3)));
    assert_eq!(of("a:model-bc"), Some(Money::from_cents(4)));
    assert_eq!(of("a:models"), Some(Money::from_cents(1)));
    assert_eq!(of("a:other"), Some(Money::from_cents(2)));
    assert_eq!(of("b:model"), None);
    let again = table.with("A:Model-B", input(9)).unwrap();
    assert_eq!(again.price("a:MODEL-b").unwrap().input, Money::from_cents(9));
}
