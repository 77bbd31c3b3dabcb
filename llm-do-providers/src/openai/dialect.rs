//! The types of the table of servers: how servers of chat completions differ.

use crate::capability::OpenAiCapabilities;
use crate::http::ServerDefaults;

/// Parts of the names of Mistral's models, on any server.
const MISTRALS: [&str; 8] =
    ["mistral", "ministral", "magistral", "mixtral", "devstral", "codestral", "pixtral", "voxtral"];

/// The differences of one server.
#[derive(Debug)]
pub(super) struct Dialect {
    pub(super) server: ServerDefaults,
    /// The fields that the server supports; no other fields are sent, since some servers refuse unknown ones.
    pub(super) takes: &'static [Field],
    pub(super) thinking: ThinkingFields,
    /// How a tool choice is sent; `None` if the server supports no choice.
    pub(super) choice: Option<ChoiceRules>,
    pub(super) schemas: Schemas,
    pub(super) files: Files,
    pub(super) replay: Replay,
    /// Whether [`is_mistral`](Self::is_mistral) holds for all models of the server.
    pub(super) mistral: bool,
}

/// The model that a request is for, and its server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target<'a> {
    pub(super) model: &'a str,
    pub(super) dialect: &'static Dialect,
    pub(super) capabilities: &'a OpenAiCapabilities,
    /// Whether [`is_mistral`](Dialect::is_mistral) holds for the model.
    pub(super) is_mistral: bool,
}

/// A field of a request that not all servers have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    MaxTokens,
    MaxCompletionTokens,
    Seed,
    RandomSeed,
    Penalties,
    ParallelToolCalls,
    ServiceTier,
    StreamOptions,
    CacheControl,
}

/// The fields that request thinking.
#[derive(Debug)]
pub(super) enum ThinkingFields {
    /// `reasoning_effort`, with the words of the model.
    Effort,
    /// `reasoning`, with an effort or a number of tokens.
    Object,
    /// `thinking`, which is on by default, and `reasoning_effort`.
    Switch,
    /// Variables of the model's template, `reasoning_effort`, and `thinking_token_budget`.
    Template,
}

/// How a tool choice is sent to a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChoiceRules {
    /// The word that requires a call of any tool.
    pub(super) required: &'static str,
    /// Whether a tool can be named; otherwise, it is the only one that is offered.
    pub(super) names: bool,
    /// Whether a call can be forced while the model thinks.
    pub(super) while_thinking: bool,
}

/// How an output schema is sent to a server.
#[derive(Clone, Copy, Debug)]
pub(super) enum Schemas {
    /// As `json_schema`, with `strict: true` if the schema has a strict form.
    Strict,
    /// As `json_schema`, unchanged: the server compiles it to a grammar.
    Grammar,
    /// As `json_schema`, in the form of llama.cpp's grammars. The instructions contain the schema too, since the model
    /// does not see the grammar, which lacks descriptions and some keywords.
    LlamaCpp {
        /// Whether the server also compiles tool schemas to grammars.
        of_tools: bool,
    },
    /// In the instructions; the server only enforces JSON.
    Words,
}

/// The files that a server accepts, besides text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Files {
    /// Whether it accepts images, for models that read them.
    pub(super) images: bool,
    pub(super) pdf: Option<Pdf>,
    pub(super) audio: Option<Audio>,
    /// Whether files of tool results are part of the tool message.
    pub(super) in_results: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Pdf {
    /// A `file`.
    File,
    /// A `document_url`.
    DocumentUrl,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Audio {
    /// An object with `data` and `format`.
    Object,
    /// Only the data.
    Bare,
}

/// Which thoughts are sent back to their server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replay {
    /// No thoughts.
    Never,
    /// Thoughts with text, in the field that they arrived in, to the same model: Groq refuses them for a model that
    /// does not think.
    Field,
    /// Thoughts with text, as `reasoning_content`. An answer without a thought has this text instead.
    Always(&'static str),
    /// `reasoning_details`, unchanged, to the same model.
    Details,
    /// The chunks of the content that are thoughts, unchanged.
    Chunks,
}

impl Dialect {
    pub(super) fn takes(&self, field: Field) -> bool {
        self.takes.contains(&field)
    }

    /// Whether a history must follow the rules of Mistral's API: ids of calls are nine letters or digits, and results
    /// are followed by an answer. Proxies and vLLM have the same rules for Mistral's models.
    ///
    /// By <https://github.com/mistralai/mistral-common/blob/main/src/mistral_common/protocol/instruct/validator.py>.
    pub(super) fn is_mistral(&self, model: &str) -> bool {
        let model = model.to_ascii_lowercase();
        self.mistral || MISTRALS.iter().any(|part| model.contains(part))
    }
}

impl Target<'_> {
    pub(super) fn provider(&self) -> &'static str {
        self.dialect.server.provider
    }

    pub(super) fn takes_images(&self) -> bool {
        self.dialect.files.images && self.capabilities.images
    }
}
