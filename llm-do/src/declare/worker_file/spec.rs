//! Converts a worker file to a `WorkerSpec`.

use llm_do_providers::{Money, ServerSideTool, Settings, ThinkingLevel, WebSearch};
use llm_do_worker_file::{self as file, Content, InputModel, Keys, Located, Node, WorkerFile, tool_name};
use serde_json::{Map, Value};

use crate::base::usage::Limits;
use crate::declare::worker_spec::{OutputMode, WorkerSpec};

/// Converts a worker file without faults.
pub(super) fn from_file(file: WorkerFile) -> WorkerSpec {
    // No `..`: a new key does not compile until it is passed on.
    let Keys {
        given: _,
        name,
        description,
        model,
        compatible_models,
        tools,
        toolsets,
        code,
        server_side_tools,
        hints,
        settings,
        output,
        max_turns,
        retries,
        limits,
        timeout,
        input_schema,
        input_model_ref,
        output_schema,
        // The project reads them.
        skills: _,
        context: _,
        mcp_servers: _,
    } = file.keys;
    let mut spec = WorkerSpec::new(value(name).unwrap_or_default(), value(file.instructions).unwrap_or_default());
    spec.description = value(description).unwrap_or_default();
    spec.model = value(model);
    spec.compatible_models = list(compatible_models);
    // Tools and toolsets share one namespace.
    let tools = list(tools).into_iter().chain(list(toolsets));
    spec.toolsets = tools.map(|tool| tool_name(&tool).to_owned()).collect();
    spec.server_side_tools = list(server_side_tools).into_iter().map(server_side_tool).collect();
    spec.code = value(code).unwrap_or_default();
    spec.hints = list(hints);
    spec.settings = value(settings).map(self::settings).unwrap_or_default();
    spec.mode = value(output).map(mode).unwrap_or_default();
    spec.max_turns = value(max_turns).unwrap_or(spec.max_turns);
    spec.retries = value(retries).unwrap_or(spec.retries);
    spec.limits = value(limits).as_ref().map(self::limits);
    spec.timeout = value(timeout);
    spec.input_schema = input_schema.map(json);
    spec.input_of = value(input_model_ref).and_then(item);
    spec.output_schema = output_schema.map(json);
    spec
}

fn value<T>(located: Option<Located<T>>) -> Option<T> {
    located.map(|located| located.value)
}

fn list<T>(located: Option<Located<Vec<Located<T>>>>) -> Vec<T> {
    located.map(Located::values).unwrap_or_default()
}

fn item(input: InputModel) -> Option<String> {
    match input {
        InputModel::Item(name) => Some(name),
        InputModel::Python(_) => None,
    }
}

fn mode(mode: file::OutputMode) -> OutputMode {
    match mode {
        file::OutputMode::Auto => OutputMode::Auto,
        file::OutputMode::Native => OutputMode::Native,
        file::OutputMode::Tool => OutputMode::Tool,
        file::OutputMode::Prompted => OutputMode::Prompted,
    }
}

fn server_side_tool(tool: file::ServerSideTool) -> ServerSideTool {
    let file::ServerSideTool { kind, max_uses, allowed_domains, blocked_domains } = tool;
    match kind {
        file::ServerSideKind::WebSearch => {
            let mut search = WebSearch::new();
            search.max_uses = max_uses;
            search.allowed_domains = allowed_domains;
            search.blocked_domains = blocked_domains;
            search.into()
        }
        file::ServerSideKind::WebFetch => ServerSideTool::WebFetch,
        file::ServerSideKind::CodeExecution => ServerSideTool::CodeExecution,
        file::ServerSideKind::ImageGeneration => ServerSideTool::ImageGeneration,
        file::ServerSideKind::ProgrammaticToolCalling => ServerSideTool::ProgrammaticToolCalling,
    }
}

fn settings(given: file::Settings) -> Settings {
    // No `..`: a new setting does not compile until it is passed on.
    let file::Settings {
        temperature,
        top_p,
        max_tokens,
        seed,
        stop,
        presence_penalty,
        frequency_penalty,
        thinking,
        parallel_tool_calls,
        cache_prompt,
        service_tier,
        timeout,
        extra_body,
    } = given;
    let mut settings = Settings::new();
    settings.temperature = temperature;
    settings.top_p = top_p;
    settings.max_tokens = max_tokens;
    settings.seed = seed;
    settings.stop = stop;
    settings.presence_penalty = presence_penalty;
    settings.frequency_penalty = frequency_penalty;
    settings.thinking = thinking.map(level);
    settings.parallel_tool_calls = parallel_tool_calls;
    settings.cache_prompt = cache_prompt;
    settings.service_tier = service_tier;
    settings.timeout = timeout;
    settings.extra_body = extra_body.into_iter().map(|(name, value)| (name, json(value))).collect();
    settings
}

fn level(thinking: file::Thinking) -> ThinkingLevel {
    match thinking {
        file::Thinking::Off => ThinkingLevel::Off,
        file::Thinking::Minimal => ThinkingLevel::Minimal,
        file::Thinking::Low => ThinkingLevel::Low,
        file::Thinking::Medium => ThinkingLevel::Medium,
        file::Thinking::High => ThinkingLevel::High,
        file::Thinking::Tokens(tokens) => ThinkingLevel::Tokens(tokens),
    }
}

fn limits(given: &file::Limits) -> Limits {
    // No `..`: a new limit does not compile until it is passed on.
    let file::Limits {
        requests,
        tool_calls,
        input_tokens,
        output_tokens,
        cached_tokens,
        reasoning_tokens,
        total_tokens,
        cost,
        allow_unpriced,
        wall_time,
    } = *given;
    Limits {
        requests,
        tool_calls,
        input_tokens,
        output_tokens,
        cached_tokens,
        reasoning_tokens,
        total_tokens,
        cost: cost.map(Money::from_picodollars),
        allow_unpriced: allow_unpriced.unwrap_or_default(),
        wall_time,
    }
}

/// Converts a YAML value to JSON.
pub(crate) fn json(node: Node) -> Value {
    match node.content {
        Content::Invalid | Content::Null => Value::Null,
        Content::Flag(flag) => Value::Bool(flag),
        Content::Whole(whole) => {
            u64::try_from(whole).map(Value::from).or_else(|_| i64::try_from(whole).map(Value::from)).unwrap_or_default()
        }
        Content::Number(number) => Value::from(number),
        Content::String(text) => Value::String(text),
        Content::List(items) => items.into_iter().map(json).collect(),
        Content::Map(entries) => {
            Value::Object(entries.into_iter().map(|(key, value)| (key.name, json(value))).collect::<Map<_, _>>())
        }
    }
}
