//! What models cost, what calls used, and what they may use.

use std::sync::Arc;
use std::time::Duration;

use llm_do::usage::{Cost, Exceeded, Money, Price, PriceTable, RunUsage, Unpriced, Usage, UsageTree};
use llm_do::{CallError, Limits, json};
use proptest::prelude::*;

fn dollars(text: &str) -> Money {
    text.parse().unwrap()
}

/// Returns the usage of a million input tokens and a million output tokens.
fn millions() -> Usage {
    Usage::of_request(1_000_000, 1_000_000)
}

fn input(table: &PriceTable, model: &str) -> Option<Money> {
    table.price(model).map(|price| price.input)
}

#[test]
fn a_dated_snapshot_has_the_price_of_its_model_but_a_sibling_model_does_not() {
    let table = PriceTable::builtin();
    let of = |model: &str| table.find(model).map(|entry| entry.model.as_str());
    for (asked, found) in [
        ("openai:gpt-4.1", "openai:gpt-4.1"),
        ("openai:gpt-4.1-2025-04-14", "openai:gpt-4.1"),
        ("openai:gpt-4.1-mini", "openai:gpt-4.1-mini"),
        ("openai:gpt-4.1-mini-2025-04-14", "openai:gpt-4.1-mini"),
        ("OpenAI:GPT-4.1-Nano", "openai:gpt-4.1-nano"),
        // It has a price of its own.
        ("openai:gpt-4o-2024-05-13", "openai:gpt-4o-2024-05-13"),
        ("openai:gpt-4o-2024-11-20", "openai:gpt-4o"),
        ("anthropic:claude-sonnet-4-5-20250929", "anthropic:claude-sonnet-4-5"),
        ("anthropic:claude-sonnet-4-20250514", "anthropic:claude-sonnet-4"),
        ("anthropic:claude-opus-4-1", "anthropic:claude-opus-4-1"),
        ("google:gemini-2.5-flash-lite", "google:gemini-2.5-flash-lite"),
        ("groq:openai/gpt-oss-20b", "groq:openai/gpt-oss-20b"),
        // With another prefix of its provider.
        ("openai-responses:gpt-4.1", "openai:gpt-4.1"),
        ("gemini:gemini-2.5-flash-lite", "google:gemini-2.5-flash-lite"),
    ] {
        assert_eq!(of(asked), Some(found), "{asked}");
    }
    for asked in [
        "openai:gpt-4.1-micro",
        "openai:gpt-4.1-0414",
        "openai:gpt-4o-audio-preview",
        "openai:gpt",
        "openai:ft:gpt-4.1-2025-04-14:us::x",
        "anthropic:gpt-4.1",
        "gpt-4.1",
        "",
    ] {
        assert_eq!(of(asked), None, "{asked}");
    }
}

#[test]
fn an_unknown_model_has_no_price_and_a_local_model_is_free() {
    let table = PriceTable::builtin();
    assert_eq!(table.cost("openai:ours", &millions()), None);
    for model in ["local:qwen3-0.6b", "test:model", "function:model", "scripted:model", "Test:x"] {
        assert_eq!(table.cost(model, &millions()), Some(Money::ZERO), "{model}");
    }
    assert_eq!(table.find("local:qwen3-0.6b"), None);
    let power = Price::per_million(dollars("0.05"), dollars("0.05"));
    assert_eq!(table.with("local:*", power).unwrap().cost("local:x", &millions()), Some(dollars("0.10")));
}

#[test]
fn cached_tokens_are_part_of_the_input_and_reasoning_is_part_of_the_output() {
    let table = PriceTable::builtin();
    let mut usage = millions();
    assert_eq!(table.cost("openai:gpt-4.1", &usage), Some(dollars("10")));
    usage.reasoning_tokens = 900_000;
    assert_eq!(table.cost("openai:gpt-4.1", &usage), Some(dollars("10")));
    usage.cached_tokens = 600_000;
    assert_eq!(table.cost("openai:gpt-4.1", &usage), Some(dollars("9.1")));
    usage.cache_write_tokens = 400_000;
    assert_eq!(table.cost("anthropic:claude-haiku-4-5", &usage), Some(dollars("5.56")));
}

#[test]
fn a_long_request_costs_more_for_each_of_its_tokens() {
    let table = PriceTable::builtin();
    let of = |input| table.cost("google:gemini-2.5-pro", &Usage::of_request(input, 1_000)).unwrap();
    assert_eq!(of(200_000), dollars("0.26"));
    assert_eq!(of(200_001), dollars("0.5150025"));
}

#[test]
fn a_custom_price_table_overrides_the_built_in_one() {
    let ours = json!({
        "date": "2027-01-31",
        "prices": [{"provider": "openai", "models": ["gpt-4.1", "ours-*"], "input": 1.5, "output": "6"}]
    });
    let ours = PriceTable::from_json(&ours.to_string()).unwrap();
    assert_eq!(input(&ours, "openai:gpt-4.1-mini"), None);
    let table = ours.over(&PriceTable::builtin());
    assert_eq!(table.date(), "2027-01-31");
    assert_eq!(input(&table, "openai:gpt-4.1-2025-04-14"), Some(dollars("1.5")));
    assert_eq!(input(&table, "openai:ours-small"), Some(dollars("1.5")));
    assert_eq!(input(&table, "openai:gpt-4.1-mini"), Some(dollars("0.4")));
    assert_eq!(input(&PriceTable::builtin(), "openai:gpt-4.1"), Some(dollars("2")));
    let error = table.with("gpt-4.1", Price::per_million(Money::ZERO, Money::ZERO)).unwrap_err();
    assert_eq!(error.to_string(), "invalid model name `gpt-4.1`: expected `provider:model`");
}

/// Returns the usage of a request of a thousand input and a thousand output tokens, changed by `set`.
fn thousands(set: impl FnOnce(&mut Usage)) -> Usage {
    let mut usage = Usage::of_request(1_000, 1_000);
    set(&mut usage);
    usage
}

#[test]
fn searches_and_containers_cost_what_their_provider_charges() {
    let table = PriceTable::builtin();
    let charged = |model: &str, set: fn(&mut Usage)| {
        let tokens = table.charge(model, &thousands(|_| ())).unwrap().known;
        let charge = table.charge(model, &thousands(set)).unwrap();
        (Money::from_picodollars(charge.known.picodollars() - tokens.picodollars()), charge.unpriced.to_string())
    };
    let searches: fn(&mut Usage) = |usage| usage.web_searches = 4;
    for (model, set, known, unpriced) in [
        ("openai-responses:gpt-5.6-sol", searches, "0.04", ""),
        ("openai:gpt-4o-search-preview", searches, "0.10", ""),
        ("openai-responses:gpt-5.6-sol", |usage| usage.file_searches = 2, "0.005", ""),
        ("openai-responses:gpt-5.6-sol", |usage| usage.containers = 1, "0.03", ""),
        ("openai-responses:gpt-5.6-sol", |usage| usage.other_charged_tools = 1, "0", "other server-side tools"),
        ("anthropic:claude-haiku-4-5", searches, "0.04", ""),
        ("anthropic:claude-haiku-4-5", |usage| usage.containers = 1, "0", "code_execution"),
        // By query, or by request.
        ("gemini:gemini-3.8-flash", searches, "0.056", ""),
        ("gemini:gemini-2.5-pro", searches, "0.035", ""),
        ("mistral:mistral-large-latest", searches, "0", "web_search"),
        ("scripted:model", searches, "0", ""),
    ] as [(_, fn(&mut Usage), _, _); 11]
    {
        assert_eq!(charged(model, set), (dollars(known), unpriced.to_owned()), "{model}");
    }
}

#[test]
fn tokens_at_another_tier_have_their_own_price_or_none() {
    let table = PriceTable::builtin();
    let flex = thousands(|usage| usage.flex_requests = 1);
    let priority = thousands(|usage| usage.priority_requests = 1);
    let other = thousands(|usage| usage.other_tier_requests = 1);
    for (model, usage, expected) in [
        ("openai:gpt-5.4", flex, Some("0.00875")),
        ("openai:gpt-5.5", priority, Some("0.0875")),
        ("openai:gpt-5.5", other, None),
        ("gemini:gemini-2.5-flash", flex, Some("0.0014")),
        ("anthropic:claude-haiku-4-5", priority, None),
        ("deepseek:deepseek-v4-pro", flex, None),
    ] {
        assert_eq!(table.cost(model, &usage), expected.map(dollars), "{model}");
        let charge = table.charge(model, &usage).unwrap();
        assert_eq!(charge.unpriced == Unpriced::SERVICE_TIER, expected.is_none(), "{model}");
        assert!(!charge.known.is_zero(), "{model}");
    }
}

#[test]
fn tokens_in_a_batch_cost_half_and_tools_the_same() {
    let table = PriceTable::builtin();
    let single = thousands(|_| {});
    let batch = thousands(|usage| usage.batch_requests = 1);
    for model in
        ["openai:gpt-5.4", "openai-responses:gpt-5-mini", "anthropic:claude-haiku-4-5", "gemini:gemini-2.5-flash"]
    {
        let half = table.cost(model, &single).unwrap().picodollars() / 2;
        assert_eq!(table.cost(model, &batch).unwrap().picodollars(), half, "{model}");
        assert!(table.charge(model, &batch).unwrap().unpriced.is_empty(), "{model}");
    }
    // Tokens of Gemini's cache cost the same in a batch.
    let cached = thousands(|usage| (usage.batch_requests, usage.cached_tokens) = (1, usage.input_tokens));
    let whole = thousands(|usage| usage.cached_tokens = usage.input_tokens);
    let output = thousands(|usage| (usage.batch_requests, usage.input_tokens) = (1, 0));
    let cost = |usage: &Usage| table.cost("gemini:gemini-2.5-flash", usage).unwrap().picodollars();
    assert_eq!(cost(&whole) - cost(&cached), cost(&output));
    let searching = thousands(|usage| (usage.batch_requests, usage.web_searches) = (1, 2));
    let searches = |usage: &Usage| table.cost("anthropic:claude-haiku-4-5", usage).unwrap().picodollars();
    assert_eq!(searches(&searching) - searches(&batch), dollars("0.02").picodollars());
    assert_eq!(table.charge("mistral:mistral-large-latest", &batch).unwrap().unpriced, Unpriced::SERVICE_TIER);
}

#[test]
fn disputed_prices_are_those_of_the_provider() {
    let table = PriceTable::builtin();
    for (model, expected) in [
        // The peak price, on <https://api-docs.deepseek.com/quick_start/pricing>.
        ("deepseek:deepseek-v4-flash", "1.5"),
        ("deepseek:deepseek-v4-pro", "5.28"),
        // It is Mistral Large 3, on <https://docs.mistral.ai/models/mistral-large-3-25-12>.
        ("mistral:mistral-large-latest", "2"),
    ] {
        assert_eq!(table.cost(model, &millions()), Some(dollars(expected)), "{model}");
    }
}

#[test]
fn a_custom_table_has_charges_for_the_models_that_a_pattern_matches() {
    let ours = json!({
        "date": "2027-01-31",
        "prices": [{"provider": "ours", "models": ["big", "big-search", "small"], "input": 1, "output": 1}],
        "fees": [
            {"provider": "ours", "models": ["*"], "web_search": "0.01", "file_search": "0.002"},
            {"provider": "ours", "models": ["big*"], "searching_request": "0.05", "source": "https://ours.example", "seen": "2027-01-30"}
        ],
        "service_tiers": [{"provider": "ours", "models": ["big"], "tier": "priority", "input": 3, "output": 3}]
    });
    let table = PriceTable::from_json(&ours.to_string()).unwrap();
    let searched = thousands(|usage| (usage.web_searches, usage.file_searches) = (3, 1));
    assert_eq!(table.cost("ours:small", &searched), Some(dollars("0.034")));
    assert_eq!(table.cost("ours:big-search", &searched), Some(dollars("0.054")));
    let priority = thousands(|usage| usage.priority_requests = 1);
    assert_eq!(table.cost("ours:big", &priority), Some(dollars("0.006")));
    assert_eq!(table.cost("ours:small", &priority), None);
    let entry = table.find("ours:big").unwrap();
    assert_eq!((entry.source.as_deref(), entry.seen.as_deref()), (Some("https://ours.example"), Some("2027-01-30")));
}

#[test]
fn a_cost_shows_requests_of_unknown_price() {
    let known = Cost::of_request(Some(dollars("0.0123")));
    let unknown = Cost::of_request(None);
    assert_eq!(known.to_string(), "$0.0123");
    assert_eq!(unknown.to_string(), "unknown");
    assert_eq!((known + unknown).to_string(), "$0.0123 and 1 request of unknown price");
    assert_eq!(
        [known, unknown, unknown].into_iter().sum::<Cost>().to_string(),
        "$0.0123 and 2 requests of unknown price"
    );
    assert!(Cost::of_request(Some(Money::ZERO)).is_zero() && !unknown.is_zero());
}

#[test]
fn usage_is_shown_with_its_cost_if_there_is_one() {
    let mut used = RunUsage::default();
    used.model = Usage::of_request(10, 5);
    assert_eq!(used.to_string(), "0 tool calls, 1 requests, 10 tokens in, 5 out");
    used.cost = Cost::of_request(None);
    assert_eq!(used.to_string(), "0 tool calls, 1 requests, 10 tokens in, 5 out, unknown cost");
    used.cost += Cost::of_request(Some(dollars("0.01")));
    let text = "0 tool calls, 1 requests, 10 tokens in, 5 out, $0.01 and 1 request of unknown price";
    assert_eq!(used.to_string(), text);
}

#[test]
fn usage_without_a_cost_is_deserialized() {
    let old = json!({
        "tool_calls": 1, "requests": 2, "input_tokens": 3, "output_tokens": 4, "cached_tokens": 0, "reasoning_tokens": 0
    });
    let used: RunUsage = serde_json::from_value(old).unwrap();
    assert_eq!((used.model.requests, used.cost), (2, Cost::default()));
    let used = RunUsage::default() + used;
    assert_eq!(serde_json::from_value::<RunUsage>(serde_json::to_value(used).unwrap()).unwrap(), used);
}

#[test]
fn limits_are_deserialized_from_the_format_of_worker_files() {
    let limits: Limits = serde_json::from_value(json!({
        "requests": 10, "tool_calls": 20, "total_tokens": 50_000, "cost": 0.25, "wall_time": "2m", "allow_unpriced": true
    }))
    .unwrap();
    let expected = Limits::new().requests(10).tool_calls(20).total_tokens(50_000).cost(Money::from_cents(25));
    assert_eq!(limits, expected.wall_time(Duration::from_secs(120)).allow_unpriced(true));
    assert!(serde_json::from_value::<Limits>(json!({"costs": 1})).is_err());
}

#[test]
fn a_reached_limit_is_not_returned_to_a_model_and_names_the_limit_to_raise() {
    let used: RunUsage = std::iter::repeat_n(RunUsage::default(), 3).sum();
    let exceeded = Limits::new().requests(0).request_exceeds(&used, 0).unwrap();
    assert!(matches!(&exceeded, Exceeded::Reached { what: "requests", .. }));
    let limit = CallError::Limit { tool: "summarise".to_owned(), exceeded };
    let text = "`summarise` reached a limit: `requests` is limited to 0: 0 used; raise `requests` in the limits";
    assert_eq!(limit.to_string(), text);
    assert!(!limit.is_recoverable());
    let outer = CallError::Failed { tool: "main".to_owned(), source: Box::new(limit) };
    assert!(!outer.is_recoverable(), "nor where it is why another call failed");
}

#[test]
fn a_tree_is_summed_by_name_and_by_model_and_shown_as_a_table() {
    let own = |requests: u64, known: &str, unpriced: u64| {
        json!({
            "tool_calls": 1, "requests": requests, "input_tokens": requests * 100, "output_tokens": 5,
            "cached_tokens": 0, "reasoning_tokens": 0, "cost": {"known": known, "unpriced_requests": unpriced}
        })
    };
    let tree: UsageTree = serde_json::from_value(json!({
        "name": "main", "calls": 1, "own": own(0, "0", 0), "children": [
            {"name": "reviewer", "calls": 12, "own": own(12, "0.5", 0), "models": {"openai:a": own(12, "0.5", 0)},
             "children": [{"name": "summariser", "calls": 2, "own": own(2, "0", 2), "models": {"openai:b": own(2, "0", 2)}}]},
            {"name": "summariser", "calls": 1, "own": own(1, "0.0123", 0), "models": {"openai:a": own(1, "0.0123", 0)}},
        ]
    }))
    .unwrap();
    assert_eq!(
        tree.to_string(),
        "\
call            calls  requests  tool calls  tokens in  tokens out  cost
main                1         0           1          0           5  $0.00
  reviewer         12        12           1       1200           5  $0.50
    summariser      2         2           1        200           5  unknown
  summariser        1         1           1        100           5  $0.0123
total              16        15           4       1500          20  $0.5123 and 2 requests of unknown price
"
    );
    let requests: Vec<_> =
        tree.by_worker().into_iter().map(|(name, used)| (name, used.model.requests, used.cost.to_string())).collect();
    let expected = [("reviewer", 12, "$0.50"), ("summariser", 3, "$0.0123 and 2 requests of unknown price")];
    assert_eq!(requests, expected.map(|(name, requests, cost)| (Arc::from(name), requests, cost.to_owned())));
    let models: Vec<_> =
        tree.by_model().into_iter().map(|(model, used)| (model, used.usage.requests, used.cost.to_string())).collect();
    let expected = [("openai:a", 13, "$0.5123"), ("openai:b", 2, "unknown")];
    assert_eq!(models, expected.map(|(model, requests, cost)| (Arc::from(model), requests, cost.to_owned())));
}

/// Models with and without a price of their own for long requests.
const MODELS: [&str; 6] = [
    "openai:gpt-6.1-sol",
    "openai:gpt-4.1-mini",
    "anthropic:claude-haiku-5-5",
    "google:gemini-2.5-pro",
    "deepseek:deepseek-v4-pro",
    "groq:openai/gpt-oss-20b",
];

proptest! {
    #[test]
    fn more_tokens_never_cost_less(
        model in prop::sample::select(&MODELS[..]), input in 0..400_000_u64, output in 0..100_000_u64, cached: u32,
        more_input in 0..400_000_u64, more_output in 0..100_000_u64,
    ) {
        let table = PriceTable::builtin();
        let mut usage = Usage::of_request(input, output);
        usage.cached_tokens = u64::from(cached) % (input + 1);
        let less = table.cost(model, &usage).unwrap();
        usage.input_tokens += more_input;
        usage.output_tokens += more_output;
        prop_assert!(less <= table.cost(model, &usage).unwrap());
    }

    #[test]
    fn a_sum_of_costs_is_exact(costs in prop::collection::vec(prop::option::of(0..u128::from(u64::MAX)), 0..32)) {
        let sum: Cost = costs.iter().map(|cost| Cost::of_request(cost.map(Money::from_picodollars))).sum();
        prop_assert_eq!(sum.known.picodollars(), costs.iter().flatten().sum::<u128>());
        prop_assert_eq!(sum.unpriced_requests, costs.iter().filter(|cost| cost.is_none()).count() as u64);
        let json = serde_json::to_string(&sum).unwrap();
        prop_assert_eq!(serde_json::from_str::<Cost>(&json).unwrap(), sum);
    }
}
