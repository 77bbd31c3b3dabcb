use std::time::Duration;

use llm_do_bounds::Guarantee;
use llm_do_providers::{Money, ServerSideTool, Settings, ThinkingLevel, WebSearch};
use llm_do_worker_file::{KEYS, KeyDef, LIMITS, RESERVED_NAME, SETTINGS};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use crate::base::usage::Limits;
use crate::declare::prompt::AttachmentPolicy;
use crate::declare::tool::Effect;
use crate::declare::worker_spec::{OutputMode, WorkerSpec};

fn names(table: &[KeyDef]) -> Vec<&str> {
    table.iter().map(|def| def.name).collect()
}

#[test]
fn the_reader_knows_all_keys_of_limits_and_settings() {
    let limits = Limits::new().requests(1).tool_calls(1).input_tokens(1).output_tokens(1).cached_tokens(1);
    let limits = limits.reasoning_tokens(1).total_tokens(1).cost(Money::from_cents(1)).allow_unpriced(true);
    let written = serde_json::to_value(limits.wall_time(Duration::from_secs(1))).unwrap();
    assert_eq!(written.as_object().unwrap().keys().collect::<Vec<_>>(), names(LIMITS));
    let written = serde_json::to_value(Settings::new().batch(true)).unwrap();
    assert_eq!(written.as_object().unwrap().keys().collect::<Vec<_>>(), names(SETTINGS));
}

#[test]
fn the_writer_writes_every_key_of_the_reader_except_those_of_projects() {
    let mut spec = WorkerSpec::new("a", "Do it.").description("It.").toolsets(["b"]).hints(["c"]).code(true);
    spec = spec.model("test:a").compatible_models(["test:*"]).settings(Settings::new().seed(1)).retries(1);
    spec = spec.server_side_tools([ServerSideTool::WebFetch]).output_mode(OutputMode::Tool).max_turns(1);
    spec = spec.limits(Limits::new()).timeout(Duration::MAX).input_schema(json!({})).output_schema(json!({}));
    spec = spec
        .effect(Effect::ReadOnly)
        .effect_reason("e")
        .max_result(2_000)
        .attachments(AttachmentPolicy::new().count(1))
        .background();
    spec.input_of = Some("d".to_owned());
    spec = spec.hybrid("f").guarantee(Guarantee::new(0.02, 0.9).unwrap()).shadow("f", 2).refine("g", 2, 0.5);
    let written: Vec<_> = super::spec::keys(&spec).into_iter().map(|(name, _)| name).collect();
    // `toolsets` stands for `tools` too.
    let others = ["tools", "skills", "context", "mcp_servers"];
    assert_eq!(written, names(KEYS).into_iter().filter(|name| !others.contains(name)).collect::<Vec<_>>());
}

#[test]
fn the_longest_duration_is_read() {
    let file =
        format!("---\nname: a\nsettings: {{ timeout: {0} }}\nlimits: {{ wall_time: {0} }}\n---\nDo it.", u64::MAX);
    let spec: WorkerSpec = file.parse().unwrap();
    let centuries = Duration::from_secs(u64::MAX >> 2);
    assert!(spec.settings.timeout > Some(centuries) && spec.limits.unwrap().wall_time > Some(centuries));
}

#[test]
fn the_reserved_name_is_the_name_of_the_output_tool() {
    assert_eq!(RESERVED_NAME, crate::declare::toolset::OUTPUT_TOOL);
}

/// Returns everything in a spec except the function that checks its output.
fn shown(spec: &WorkerSpec) -> String {
    format!("{:?}", WorkerSpec { check: Ok, is_typed: false, ..spec.clone() })
}

const PARTS: [&str; 13] =
    ["---", "\n", ": ", "#", "- a", "'", "\"", "\\", "\u{85}", "\u{2028}", "\u{feff}", "null", "{"];

/// Texts that YAML, Markdown and JSON may read differently.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~]{1,20}",
        vec(any::<char>(), 1..20).prop_map(String::from_iter),
        vec(select(&PARTS[..]), 1..6).prop_map(|parts| parts.concat()),
    ]
    .prop_filter("a blank text is rejected", |text| !text.trim().is_empty())
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    vec(text(), 0..4).prop_map(|mut texts| {
        texts.sort();
        texts.dedup();
        texts
    })
}

fn number() -> impl Strategy<Value = f64> {
    any::<f64>().prop_filter("JSON has only finite numbers", |number| number.is_finite())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        number().prop_map(Value::from),
        text().prop_map(Value::from),
        Just(Value::from("")),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        let map = vec((text(), inner.clone()), 0..4)
            .prop_map(|pairs| Value::Object(pairs.into_iter().collect::<Map<_, _>>()));
        prop_oneof![vec(inner, 0..4).prop_map(Value::from), map]
    })
}

fn server_side_tools() -> impl Strategy<Value = Vec<ServerSideTool>> {
    let search = (of(any::<u32>()), of(vec("[a-z.]{1,9}", 1..2)), of(vec("[a-z.]{1,9}", 1..2)));
    let search = search.prop_map(|(max_uses, allowed_domains, blocked_domains)| {
        let mut search = WebSearch::new();
        (search.max_uses, search.allowed_domains, search.blocked_domains) =
            (max_uses, allowed_domains, blocked_domains);
        ServerSideTool::from(search)
    });
    (search, any::<[bool; 5]>()).prop_map(|(search, is_there)| {
        let all = [
            search,
            ServerSideTool::WebFetch,
            ServerSideTool::CodeExecution,
            ServerSideTool::ImageGeneration,
            ServerSideTool::ProgrammaticToolCalling,
        ];
        all.into_iter().zip(is_there).filter(|(_, is_there)| *is_there).map(|(tool, _)| tool).collect()
    })
}

fn settings() -> impl Strategy<Value = Settings> {
    // The range of a seed in YAML.
    let seed = of(0..=u64::MAX >> 1);
    (of(number()), of(number()), of(any::<u32>()), seed, texts(), further_settings()).prop_map(
        |(temperature, top_p, max_tokens, seed, stop, mut settings)| {
            (settings.temperature, settings.top_p, settings.max_tokens) = (temperature, top_p, max_tokens);
            (settings.seed, settings.stop) = (seed, stop);
            settings
        },
    )
}

fn further_settings() -> impl Strategy<Value = Settings> {
    let levels = [ThinkingLevel::Off, ThinkingLevel::High, ThinkingLevel::Tokens(1024)];
    let switches = (of(any::<bool>()), of(any::<bool>()), of(any::<bool>()), of(any::<u32>()));
    (of(number()), of(number()), of(select(levels.to_vec())), switches, of(text()), of(0..9_u64), of(value())).prop_map(
        |(presence, frequency, thinking, (parallel, cache, batch, compact_at), tier, seconds, field)| {
            let mut settings = Settings::new();
            (settings.presence_penalty, settings.frequency_penalty) = (presence, frequency);
            (settings.thinking, settings.parallel_tool_calls, settings.cache_prompt) = (thinking, parallel, cache);
            (settings.service_tier, settings.timeout) = (tier, seconds.map(Duration::from_secs));
            (settings.batch, settings.compact_at) = (batch, compact_at);
            settings.extra_body.extend(field.map(|value| ("field".to_owned(), value)));
            settings
        },
    )
}

fn limits() -> impl Strategy<Value = Limits> {
    (0..1_000_000_u64, 0..1_000_000_u32, any::<bool>(), 0..u64::from(u32::MAX)).prop_map(
        |(requests, cents, allow, millis)| {
            let limits = Limits::new().requests(requests).cost(Money::from_cents(cents.into())).allow_unpriced(allow);
            limits.wall_time(Duration::from_millis(millis))
        },
    )
}

fn schema() -> impl Strategy<Value = Value> {
    (value(), text())
        .prop_map(|(default, name)| json!({ "type": "object", "properties": { name: { "default": default } } }))
}

/// Model names of the form that the reader requires.
fn model() -> impl Strategy<Value = String> {
    text().prop_map(|text| format!("provider:m{text}"))
}

fn spec() -> impl Strategy<Value = WorkerSpec> {
    let heading = ("[A-Za-z0-9_-]{1,64}", prop_oneof![Just(String::new()), text()], text(), of(model()));
    let lists = (texts(), vec("[a-z_]{1,9}", 0..3), texts(), server_side_tools());
    let rest =
        (settings(), of(limits()), 0..4_usize, 1..40_u32, 0..4_u32, of(any::<u32>()), of(schema()), of(schema()));
    (heading, lists, rest).prop_map(|((name, description, instructions, model), lists, rest)| {
        let (globs, mut toolsets, hints, tools) = lists;
        let (settings, limits, mode, turns, retries, millis, input, output) = rest;
        toolsets.sort();
        toolsets.dedup();
        let output_modes = [OutputMode::Auto, OutputMode::Native, OutputMode::Tool, OutputMode::Prompted];
        let instructions = instructions.trim().replace("\r\n", "\n");
        let mut spec = WorkerSpec::new(name, instructions).description(description).toolsets(toolsets).hints(hints);
        spec = spec
            .server_side_tools(tools)
            .settings(settings)
            .output_mode(output_modes[mode])
            .max_turns(turns)
            .retries(retries);
        spec = match model {
            Some(model) => spec.model(model),
            None => spec.compatible_models(globs),
        };
        spec.timeout = millis.map(|millis| Duration::from_millis(u64::from(millis) + 1));
        spec.attachments.count = millis;
        spec.background = millis.is_some();
        spec.max_result = millis.map(|bytes| u64::from(bytes) + 1_024);
        (spec.limits, spec.input_schema, spec.output_schema) = (limits, input, output);
        spec
    })
}

proptest! {
    #[test]
    fn a_written_worker_file_reads_back_as_an_equal_worker(spec in spec()) {
        prop_assume!(spec.name != RESERVED_NAME);
        let file = spec.to_worker_file();
        let again = file.parse::<WorkerSpec>().map_err(|error| TestCaseError::fail(format!("{error}\n{file}")))?;
        prop_assert_eq!(shown(&again), shown(&spec), "{}", file);
    }
}
