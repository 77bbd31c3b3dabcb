//! The differences between servers of chat completions, as the types of the table of servers.

use crate::capability::OpenAiCapabilities;
use crate::http::ServerDefaults;

/// The parts of names by which Mistral's models are recognised, on any server.
const MISTRALS: [&str; 8] =
    ["mistral", "ministral", "magistral", "mixtral", "devstral", "codestral", "pixtral", "voxtral"];

/// The differences of one server.
#[derive(Debug)]
pub(super) struct Dialect {
    pub(super) server: ServerDefaults,
    /// The settings that it supports; it gets no other settings, since some servers refuse unknown fields.
    pub(super) takes: &'static [Field],
    pub(super) thinking: ThinkingFields,
    /// The field by which it chooses a tool; `None` if it supports no choice.
    pub(super) choice: Option<Choice>,
    pub(super) schemas: Schemas,
    pub(super) files: Files,
    pub(super) replay: Replay,
    /// Whether the server needs histories as described at [`is_mistral`](Self::is_mistral), for any model name.
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

/// The fields that set how much a model thinks.
#[derive(Debug)]
pub(super) enum ThinkingFields {
    /// By `reasoning_effort`, in the words of the model.
    Effort,
    /// By `reasoning`, with an effort or a number of tokens.
    Object,
    /// By `thinking`, which is on unless it is turned off, and `reasoning_effort`.
    Switch,
    /// By variables of the model's template, `reasoning_effort`, and `thinking_token_budget`.
    Template,
}

/// How the choice of a tool is sent to a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    /// The word for having to call any.
    pub(super) required: &'static str,
    /// Whether one can be named; if not, it is offered alone.
    pub(super) names: bool,
    /// Whether a call can be forced while the model thinks.
    pub(super) while_thinking: bool,
}

/// How the schema of an answer is sent to a server.
#[derive(Clone, Copy, Debug)]
pub(super) enum Schemas {
    /// As `json_schema`, held to strictly where it has a strict form.
    Strict,
    /// As `json_schema`, unchanged: the server compiles it to a grammar.
    Grammar,
    /// The same, in the form of llama.cpp's grammars. The instructions contain the schema as well: the model does not see the
    /// grammar, and needs to know what the fields are for, and what the grammar leaves out.
    LlamaCpp {
        /// Whether it makes grammars of what tools take.
        of_tools: bool,
    },
    /// In words; the server only sees to it that the answer is JSON.
    Words,
}

/// The files that a server takes, beside text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Files {
    /// Whether it takes images, for models that read them.
    pub(super) images: bool,
    pub(super) pdf: Option<Pdf>,
    pub(super) audio: Option<Audio>,
    /// Whether those of tools' results stand in the message of the result.
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
    /// An object of data and format.
    Object,
    /// The data alone.
    Bare,
}

/// Which thoughts go back to the server that they came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replay {
    /// None.
    Never,
    /// Those that came as a text, in the field that they came in, to the same model: Groq refuses them for one that has none.
    Field,
    /// Those that came as a text, as `reasoning_content`, which an answer without one has to have too, with this text.
    Always(&'static str),
    /// `reasoning_details`, as they came, to the same model.
    Details,
    /// The chunks of the content that are thoughts, as they came.
    Chunks,
}

impl Dialect {
    pub(super) fn takes(&self, field: Field) -> bool {
        self.takes.contains(&field)
    }

    /// Whether a history has to keep to the rules of Mistral's API, which holds servers in between and vLLM to them for
    /// Mistral's models: ids of calls are nine letters or digits, and results are followed by an answer.
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
