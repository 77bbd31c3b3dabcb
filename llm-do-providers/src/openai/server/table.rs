//! The table of servers, each with its documentation, as of 2026-11.

use crate::http::ServerDefaults;
use crate::openai::dialect::{Audio, ChoiceRules, Dialect, Field, Files, Pdf, Replay, Schemas, ThinkingFields};

/// OpenAI's tool choice, which most servers support.
const CHOICE: ChoiceRules = ChoiceRules { required: "required", names: true, while_thinking: true };
const NO_PDF: Files = Files { images: true, pdf: None, audio: Some(Audio::Object), in_results: false };

/// <https://platform.openai.com/docs/api-reference/chat/create>
pub(in crate::openai) static OPENAI: Dialect = Dialect {
    server: OPENAI_SERVER,
    takes: &[
        Field::MaxCompletionTokens,
        Field::Seed,
        Field::Penalties,
        Field::ParallelToolCalls,
        Field::ServiceTier,
        Field::StreamOptions,
    ],
    ..ANY
};

/// An unknown server: treated like OpenAI, but with the older name of the token limit.
pub(in crate::openai) static ELSEWHERE: Dialect = ANY;

/// Kimi, which has no prefix and is recognized by its hosts:
/// <https://platform.moonshot.ai/docs/guide/use-kimi-k2-thinking-model>.
///
/// While it thinks, it refuses tool choices other than `auto` and `none`, and an answer with calls and without a
/// thought. It accepts a space as the thought, but not an empty string.
static KIMI: Dialect = Dialect {
    server: ServerDefaults { provider: "moonshot", ..OPENAI_SERVER },
    choice: Some(ChoiceRules { while_thinking: false, ..CHOICE }),
    replay: Replay::Always(" "),
    ..ANY
};

/// The hosts of known servers, for models `openai:..`.
pub(in crate::openai) static HOSTS: [(&str, &Dialect); 7] = [
    ("api.deepseek.com", &DEEPSEEK),
    ("api.groq.com", &GROQ),
    ("api.mistral.ai", &MISTRAL),
    ("api.moonshot.ai", &KIMI),
    ("api.moonshot.cn", &KIMI),
    ("api.openai.com", &OPENAI),
    ("openrouter.ai", &OPENROUTER),
];

const ANY: Dialect = Dialect {
    server: OPENAI_SERVER,
    takes: &[
        Field::MaxTokens,
        Field::Seed,
        Field::Penalties,
        Field::ParallelToolCalls,
        Field::ServiceTier,
        Field::StreamOptions,
    ],
    thinking: ThinkingFields::Effort,
    choice: Some(CHOICE),
    schemas: Schemas::Strict,
    files: Files { images: true, pdf: Some(Pdf::File), audio: Some(Audio::Object), in_results: false },
    replay: Replay::Never,
    mistral: false,
};

pub(crate) const OPENAI_SERVER: ServerDefaults = ServerDefaults {
    provider: "openai",
    base_url: "https://api.openai.com/v1",
    key_required_at: Some("api.openai.com"),
    url_variable: "OPENAI_BASE_URL",
    key_variables: &["OPENAI_API_KEY"],
};

/// <https://api-docs.deepseek.com/api/create-chat-completion>, `/guides/thinking_mode`, `/guides/json_mode`, `/guides/vision`
pub(in crate::openai) static DEEPSEEK: Dialect = Dialect {
    server: ServerDefaults {
        provider: "deepseek",
        base_url: "https://api.deepseek.com",
        key_required_at: Some("api.deepseek.com"),
        url_variable: "DEEPSEEK_BASE_URL",
        key_variables: &["DEEPSEEK_API_KEY"],
    },
    takes: &[Field::MaxTokens, Field::Penalties, Field::StreamOptions],
    thinking: ThinkingFields::Switch,
    choice: Some(ChoiceRules { while_thinking: false, ..CHOICE }),
    schemas: Schemas::Words,
    files: Files { images: true, pdf: None, audio: None, in_results: false },
    replay: Replay::Always(""),
    mistral: false,
};

/// <https://console.groq.com/docs/api-reference>, `/docs/reasoning`, `/docs/structured-outputs`, `/docs/vision`
pub(in crate::openai) static GROQ: Dialect = Dialect {
    server: ServerDefaults {
        provider: "groq",
        base_url: "https://api.groq.com/openai/v1",
        key_required_at: Some("api.groq.com"),
        url_variable: "GROQ_BASE_URL",
        key_variables: &["GROQ_API_KEY"],
    },
    takes: &[
        Field::MaxCompletionTokens,
        Field::Seed,
        Field::ParallelToolCalls,
        Field::ServiceTier,
        Field::StreamOptions,
    ],
    thinking: ThinkingFields::Effort,
    choice: Some(CHOICE),
    schemas: Schemas::Strict,
    files: Files { audio: None, ..NO_PDF },
    replay: Replay::Field,
    mistral: false,
};

/// <https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md>
pub(in crate::openai) static LLAMA_CPP: Dialect = Dialect {
    server: ServerDefaults {
        provider: "llama-cpp",
        base_url: "http://127.0.0.1:8080/v1",
        key_required_at: None,
        url_variable: "LLAMA_CPP_BASE_URL",
        key_variables: &["LLAMA_API_KEY"],
    },
    takes: &[Field::MaxTokens, Field::Seed, Field::Penalties, Field::ParallelToolCalls, Field::StreamOptions],
    thinking: ThinkingFields::Effort,
    choice: Some(ChoiceRules { names: false, ..CHOICE }),
    schemas: Schemas::LlamaCpp { of_tools: true },
    files: NO_PDF,
    replay: Replay::Field,
    mistral: false,
};

/// <https://docs.mistral.ai/api/>, <https://docs.mistral.ai/capabilities/reasoning/>
pub(in crate::openai) static MISTRAL: Dialect = Dialect {
    server: ServerDefaults {
        provider: "mistral",
        base_url: "https://api.mistral.ai/v1",
        key_required_at: Some("api.mistral.ai"),
        url_variable: "MISTRAL_BASE_URL",
        key_variables: &["MISTRAL_API_KEY"],
    },
    // It refuses unknown fields, including `stream_options`; the last chunk always has the usage.
    takes: &[Field::MaxTokens, Field::RandomSeed, Field::Penalties, Field::ParallelToolCalls],
    thinking: ThinkingFields::Effort,
    choice: Some(ChoiceRules { required: "any", ..CHOICE }),
    schemas: Schemas::Strict,
    files: Files { images: true, pdf: Some(Pdf::DocumentUrl), audio: Some(Audio::Bare), in_results: true },
    replay: Replay::Chunks,
    mistral: true,
};

/// <https://docs.ollama.com/api/openai-compatibility>
pub(in crate::openai) static OLLAMA: Dialect = Dialect {
    server: ServerDefaults {
        provider: "ollama",
        base_url: "http://127.0.0.1:11434/v1",
        key_required_at: None,
        url_variable: "OLLAMA_BASE_URL",
        key_variables: &["OLLAMA_API_KEY"],
    },
    takes: &[Field::MaxTokens, Field::Seed, Field::Penalties, Field::StreamOptions],
    thinking: ThinkingFields::Effort,
    choice: None,
    schemas: Schemas::LlamaCpp { of_tools: false },
    files: NO_PDF,
    replay: Replay::Field,
    mistral: false,
};

/// <https://openrouter.ai/docs/api/reference/parameters>, <https://openrouter.ai/docs/use-cases/reasoning-tokens>
pub(in crate::openai) static OPENROUTER: Dialect = Dialect {
    server: ServerDefaults {
        provider: "openrouter",
        base_url: "https://openrouter.ai/api/v1",
        key_required_at: Some("openrouter.ai"),
        url_variable: "OPENROUTER_BASE_URL",
        key_variables: &["OPENROUTER_API_KEY"],
    },
    takes: &[
        Field::MaxTokens,
        Field::Seed,
        Field::Penalties,
        Field::ParallelToolCalls,
        Field::ServiceTier,
        Field::StreamOptions,
        Field::CacheControl,
    ],
    thinking: ThinkingFields::Object,
    replay: Replay::Details,
    ..ANY
};

/// <https://docs.vllm.ai/en/latest/serving/openai_compatible_server/>, `/features/reasoning_outputs/`,
/// `/features/interleaved_thinking/`, `/features/tool_calling/`
pub(in crate::openai) static VLLM: Dialect = Dialect {
    server: ServerDefaults {
        provider: "vllm",
        base_url: "http://127.0.0.1:8000/v1",
        key_required_at: None,
        url_variable: "VLLM_BASE_URL",
        key_variables: &["VLLM_API_KEY"],
    },
    takes: &[Field::MaxTokens, Field::Seed, Field::Penalties, Field::ParallelToolCalls, Field::StreamOptions],
    thinking: ThinkingFields::Template,
    schemas: Schemas::Grammar,
    files: NO_PDF,
    replay: Replay::Field,
    ..ANY
};
