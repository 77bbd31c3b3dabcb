//! The table of servers, each with the pages that it follows, as of 2026-11.

use crate::http::Home;
use crate::model::Profile;
use crate::openai::dialect::{Audio, Choice, Dialect, Field, Files, Pdf, Replay, Schemas, Thinking, Words};
use crate::openai::profile;

/// The choice in OpenAI's words, which most servers know.
const CHOICE: Choice = Choice { required: "required", names: true, while_thinking: true };
/// The words of servers that have none for `minimal`.
const WORDS: Words = Words::new(["none", "low", "low", "medium", "high"]);
/// What models can do that take a schema or tools, but not both: the grammar of the one leaves no room for the other.
const EITHER: Profile = Profile { native_output_with_tools: false, ..Profile::NATIVE_OUTPUT };
const NO_PDF: Files = Files { images: Some(""), pdf: None, audio: Some(Audio::Object), in_results: false };

/// <https://platform.openai.com/docs/api-reference/chat/create>
pub(in crate::openai) static OPENAI: Dialect = Dialect {
    home: HOME,
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

/// A server that is not known here, spoken to as if it were OpenAI's but for the older name of the limit on tokens.
pub(in crate::openai) static ELSEWHERE: Dialect = ANY;

/// Kimi, which has no name here and is known by its hosts: <https://platform.moonshot.ai/docs/guide/use-kimi-k2-thinking-model>.
///
/// While it thinks, it refuses an answer with calls and without a thought, for which it takes a space but no empty text, and any
/// choice but `auto` and `none`.
static KIMI: Dialect = Dialect {
    home: Home { provider: "moonshot", ..HOME },
    choice: Some(Choice { while_thinking: false, ..CHOICE }),
    replay: Replay::Always(" "),
    ..ANY
};

/// The servers by their hosts, where a model is asked as `openai:..`.
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
    home: HOME,
    takes: &[
        Field::MaxTokens,
        Field::Seed,
        Field::Penalties,
        Field::ParallelToolCalls,
        Field::ServiceTier,
        Field::StreamOptions,
    ],
    thinking: Thinking::Family,
    choice: Some(CHOICE),
    schemas: Schemas::Strict,
    files: Files { images: Some(""), pdf: Some(Pdf::File), audio: Some(Audio::Object), in_results: false },
    replay: Replay::Never,
    mistral: false,
    profile: profile::direct,
};

pub(crate) const HOME: Home = Home {
    provider: "openai",
    base_url: "https://api.openai.com/v1",
    locked: Some("api.openai.com"),
    url_variable: "OPENAI_BASE_URL",
    key_variables: &["OPENAI_API_KEY"],
};

/// <https://api-docs.deepseek.com/api/create-chat-completion>, `/guides/thinking_mode`, `/guides/json_mode`, `/guides/vision`
pub(in crate::openai) static DEEPSEEK: Dialect = Dialect {
    home: Home {
        provider: "deepseek",
        base_url: "https://api.deepseek.com",
        locked: Some("api.deepseek.com"),
        url_variable: "DEEPSEEK_BASE_URL",
        key_variables: &["DEEPSEEK_API_KEY"],
    },
    takes: &[Field::MaxTokens, Field::Penalties, Field::StreamOptions],
    thinking: Thinking::Switch(Words::new(["low", "low", "low", "high", "high"])),
    choice: Some(Choice { while_thinking: false, ..CHOICE }),
    schemas: Schemas::Words,
    // `deepseek-flash` reads images, and so do its older names, which it answers (read 2026-11-22).
    files: Files { images: Some("flash"), pdf: None, audio: None, in_results: false },
    replay: Replay::Always(""),
    mistral: false,
    profile: |_| Profile::NONE,
};

/// <https://console.groq.com/docs/api-reference>, `/docs/reasoning`, `/docs/structured-outputs`, `/docs/vision`
pub(in crate::openai) static GROQ: Dialect = Dialect {
    home: Home {
        provider: "groq",
        base_url: "https://api.groq.com/openai/v1",
        locked: Some("api.groq.com"),
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
    thinking: Thinking::Effort(&[
        ("gpt-oss", Words::new(["low", "low", "low", "medium", "high"])),
        ("qwen3", Words { levels: ["none", "default", "default", "default", "default"], parsed: true }),
    ]),
    choice: Some(CHOICE),
    schemas: Schemas::Strict,
    files: Files { audio: None, ..NO_PDF },
    replay: Replay::Field,
    mistral: false,
    // It takes a schema only without tools, from some models, and not in a stream.
    profile: |_| Profile::NONE,
};

/// <https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md>
pub(in crate::openai) static LLAMA_CPP: Dialect = Dialect {
    home: Home {
        provider: "llama-cpp",
        base_url: "http://127.0.0.1:8080/v1",
        locked: None,
        url_variable: "LLAMA_CPP_BASE_URL",
        key_variables: &["LLAMA_API_KEY"],
    },
    takes: &[Field::MaxTokens, Field::Seed, Field::Penalties, Field::ParallelToolCalls, Field::StreamOptions],
    thinking: Thinking::Effort(&[("", WORDS)]),
    choice: Some(Choice { names: false, ..CHOICE }),
    schemas: Schemas::LlamaCpp { of_tools: true },
    files: NO_PDF,
    replay: Replay::Field,
    mistral: false,
    profile: |_| EITHER,
};

/// <https://docs.mistral.ai/api/>, <https://docs.mistral.ai/capabilities/reasoning/>
pub(in crate::openai) static MISTRAL: Dialect = Dialect {
    home: Home {
        provider: "mistral",
        base_url: "https://api.mistral.ai/v1",
        locked: Some("api.mistral.ai"),
        url_variable: "MISTRAL_BASE_URL",
        key_variables: &["MISTRAL_API_KEY"],
    },
    // It refuses fields that it does not know, `stream_options` among them; the last piece has the figures anyway.
    takes: &[Field::MaxTokens, Field::RandomSeed, Field::Penalties, Field::ParallelToolCalls],
    thinking: Thinking::Effort(&[
        ("mistral-large-4", WORDS),
        ("mistral-medium-3-5", MISTRAL_WORDS),
        ("mistral-medium-3.5", MISTRAL_WORDS),
        ("mistral-medium-latest", MISTRAL_WORDS),
        ("mistral-small-2603", MISTRAL_WORDS),
        ("mistral-small-latest", MISTRAL_WORDS),
    ]),
    choice: Some(Choice { required: "any", ..CHOICE }),
    schemas: Schemas::Strict,
    files: Files { images: Some(""), pdf: Some(Pdf::DocumentUrl), audio: Some(Audio::Bare), in_results: true },
    replay: Replay::Chunks,
    mistral: true,
    profile: |_| EITHER,
};

/// They think, or they do not.
const MISTRAL_WORDS: Words = Words::new(["none", "none", "high", "high", "high"]);

/// <https://docs.ollama.com/api/openai-compatibility>
pub(in crate::openai) static OLLAMA: Dialect = Dialect {
    home: Home {
        provider: "ollama",
        base_url: "http://127.0.0.1:11434/v1",
        locked: None,
        url_variable: "OLLAMA_BASE_URL",
        key_variables: &["OLLAMA_API_KEY"],
    },
    takes: &[Field::MaxTokens, Field::Seed, Field::Penalties, Field::StreamOptions],
    thinking: Thinking::Effort(&[("", WORDS)]),
    choice: None,
    schemas: Schemas::LlamaCpp { of_tools: false },
    files: NO_PDF,
    replay: Replay::Field,
    mistral: false,
    profile: |_| EITHER,
};

/// <https://openrouter.ai/docs/api/reference/parameters>, <https://openrouter.ai/docs/use-cases/reasoning-tokens>
pub(in crate::openai) static OPENROUTER: Dialect = Dialect {
    home: Home {
        provider: "openrouter",
        base_url: "https://openrouter.ai/api/v1",
        locked: Some("openrouter.ai"),
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
    thinking: Thinking::Object,
    replay: Replay::Details,
    // Whether there are schemas is up to the model.
    profile: profile::routed,
    ..ANY
};

/// <https://docs.vllm.ai/en/latest/serving/openai_compatible_server/>, `/features/reasoning_outputs/`,
/// `/features/interleaved_thinking/`, `/features/tool_calling/`
pub(in crate::openai) static VLLM: Dialect = Dialect {
    home: Home {
        provider: "vllm",
        base_url: "http://127.0.0.1:8000/v1",
        locked: None,
        url_variable: "VLLM_BASE_URL",
        key_variables: &["VLLM_API_KEY"],
    },
    takes: &[Field::MaxTokens, Field::Seed, Field::Penalties, Field::ParallelToolCalls, Field::StreamOptions],
    thinking: Thinking::Template(WORDS),
    schemas: Schemas::Grammar,
    files: NO_PDF,
    replay: Replay::Field,
    profile: |_| EITHER,
    ..ANY
};
