//! Capabilities by the names of models.

use std::fmt;
use std::sync::{Arc, LazyLock};

use serde_json::Value;

use super::anthropic::AnthropicCapabilities;
use super::file;
use super::gemini::GeminiCapabilities;
use super::openai::OpenAiCapabilities;
use super::version::{Version, VersionRange};
use crate::dated_rows::DatedRows;
use crate::model_pattern::{ModelPattern, Rank};

/// The table that is compiled in.
static BUILTIN: LazyLock<CapabilityTable> = LazyLock::new(|| {
    file::read(file::BUILTIN).unwrap_or_else(|error| unreachable!("the capabilities compiled in: {error}"))
});

/// The providers that rows are for, and the API of each.
pub(super) const PROVIDERS: [(&str, Api); 11] = [
    ("anthropic", Api::Anthropic),
    ("deepseek", Api::OpenAi),
    ("gemini", Api::Gemini),
    ("groq", Api::OpenAi),
    ("llama-cpp", Api::OpenAi),
    ("mistral", Api::OpenAi),
    ("moonshot", Api::OpenAi),
    ("ollama", Api::OpenAi),
    ("openai", Api::OpenAi),
    ("openrouter", Api::OpenAi),
    ("vllm", Api::OpenAi),
];
/// Providers whose models are found among those of another too.
const ALIASES: [(&str, &str); 2] = [("moonshot", "openai"), ("openai-responses", "openai")];

/// What models take and can do, by name: a dated table that you extend.
///
/// Requests differ by model: one refuses `temperature`, another needs a level of thinking in words of its own. The built-in
/// table has the models of `anthropic`, `gemini` and `openai`, and what `deepseek`, `groq`, `llama-cpp`, `mistral`,
/// `ollama`, `openrouter` and `vllm` have in common; it describes the state of its [`date`](Self::date). When a provider adds a
/// model or changes one, add a row of your own: [`with`](Self::with) adds one, [`from_json`](Self::from_json) reads a table, and
/// [`over`](Self::over) puts it over another. `RuntimeBuilder::capabilities` of `llm-do`, or `capabilities` of a model's builder,
/// sets the table that is used. The `profile` of a model's builder takes precedence over it.
///
/// A name `provider:model` is found as [prices](crate::PriceTable) are: without regard to case, as it is listed, as a dated
/// snapshot of a listed one, or by a listed pattern with `*`. What matches with the most letters wins, then what was added last;
/// its row holds as a whole. A name is also matched without what a server puts in front of it: `openai:lab/gpt-5` and
/// `openai:ft:gpt-5:us` as `gpt-5`, `anthropic:us.anthropic.claude-opus-5` as `claude-opus-5`. `openai-responses` has the rows of
/// `openai`. A known server behind `openai:` has its own, such as those of `groq` at `https://api.groq.com`.
///
/// # Examples
///
/// ```
/// # use llm_do_providers::CapabilityTable;
/// use serde_json::json;
///
/// let table = CapabilityTable::builtin();
/// let entry = table.find("anthropic:claude-opus-4-1-20250805").unwrap();
/// assert_eq!(entry.takes["max_output_tokens"], 32_000);
///
/// let table = table.with("openai:gpt-7*", json!({"thinking": "always", "stop": false}))?;
/// assert_eq!(table.find("openai:gpt-7-mini").unwrap().takes["stop"], false);
/// # Ok::<_, llm_do_providers::CapabilityTableError>(())
/// ```
#[derive(Clone, Debug)]
pub struct CapabilityTable {
    listed: DatedRows<Row>,
}

/// What a model takes, and where that was found.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CapabilityEntry {
    /// The model or models, `provider:model`, perhaps with `*`.
    pub model: String,
    /// The first version that the entry is for, such as `4.5`.
    pub from: Option<String>,
    /// The last version that the entry is for.
    pub to: Option<String>,
    /// What the models take, with the keys of [`CapabilityTable::from_json`]; a key that is absent has its default.
    pub takes: Value,
    /// The pages where it was found, separated by spaces.
    pub source: Option<String>,
    /// The day on which it was found there, such as `2026-11-22`.
    pub seen: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) pattern: ModelPattern,
    pub(super) versions: VersionRange,
    #[cfg_attr(
        not(any(feature = "anthropic", feature = "gemini", feature = "openai")),
        allow(dead_code, reason = "rows are checked with any set of features")
    )]
    pub(super) capabilities: Capabilities,
    pub(super) entry: CapabilityEntry,
}

/// The API of a provider's models, which decides the keys of a row.
#[derive(Clone, Copy, Debug)]
pub(super) enum Api {
    Anthropic,
    Gemini,
    OpenAi,
}

/// What a model takes, over its API.
#[derive(Clone, Debug)]
#[cfg_attr(
    not(all(feature = "anthropic", feature = "gemini", feature = "openai")),
    allow(dead_code, reason = "rows are checked with any set of features")
)]
pub(super) enum Capabilities {
    Anthropic(Arc<AnthropicCapabilities>),
    Gemini(Arc<GeminiCapabilities>),
    OpenAi(Arc<OpenAiCapabilities>),
}

/// A model's name in the forms that patterns are matched with.
#[derive(Debug)]
struct ModelName {
    full: String,
    /// Without what a server puts in front of the name.
    short: String,
    version: Option<Version>,
}

impl CapabilityTable {
    /// Returns the table that is compiled in; it is shared, so this is cheap.
    #[must_use]
    pub fn builtin() -> Self {
        Self { listed: DatedRows::Builtin(|| &BUILTIN.listed) }
    }

    /// Reads a table of yours, with nothing of the built-in one.
    ///
    /// ```
    /// # use llm_do_providers::CapabilityTable;
    /// let ours = CapabilityTable::from_json(r#"{
    ///     "date": "2026-11-22",
    ///     "models": [{
    ///         "provider": "anthropic", "models": ["claude*opus*"], "from": "6", "to": "6.4",
    ///         "takes": {"max_output_tokens": 256000, "thinking": "effort", "native_output": "with_tools"},
    ///         "source": "https://example.com/models", "seen": "2026-11-20"
    ///     }]
    /// }"#)?;
    /// let table = ours.over(&CapabilityTable::builtin());
    /// assert_eq!(table.find("anthropic:claude-opus-6-1").unwrap().takes["max_output_tokens"], 256_000);
    /// # Ok::<_, llm_do_providers::CapabilityTableError>(())
    /// ```
    ///
    /// Of a row, `provider`, `models` and `takes` are required. `from` and `to` restrict it to versions, both included: for
    /// `anthropic` the first number of a name, with the next one, that is below 100; for `gemini` the number after `gemini-`.
    /// Names of other providers have no version. `takes` has these keys, all optional:
    ///
    /// | `anthropic` | Values | Default |
    /// | --- | --- | --- |
    /// | `max_output_tokens` | the most tokens of an answer | 8192 |
    /// | `thinking` | `"never"`, `"budget"` (a number of tokens), `"effort"` | `"budget"` |
    /// | `summary_on_request` | whether thoughts have no text unless a summary is requested; with `"effort"` | `false` |
    /// | `thinking_off` | how thinking is turned off: `"disabled"`, `"between_tools"`, `"never"`; with `"effort"` | `"disabled"` |
    /// | `sampling` | `"both"` of `temperature` and `top_p`, `"either"`, `"neither"` | `"both"` |
    /// | `forced_tools` | whether a request may force the use of a tool | `true` |
    /// | `bound_thoughts` | whether thoughts are refused once anything before them has changed | `false` |
    /// | `native_output` | whether answers follow an output schema: `"never"`, `"without_tools"`, `"with_tools"` | `"never"` |
    /// | `server_side_tools` | names such as `"web_search"` | none |
    /// | `tool_search` | whether the API searches [deferred tools](crate::Request::deferred_tools) | `false` |
    ///
    /// | `gemini` | Values | Default |
    /// | --- | --- | --- |
    /// | `thinking` | `"never"`, `"shown"` (without levels), `{"budget": {"min": 128, "max": 32768, "can_turn_off": false}}`, `{"levels": {"minimal": true, "medium": true}}` (beside low and high) | `"never"` |
    /// | `penalties` | whether it takes `presence_penalty` and `frequency_penalty` | `true` |
    /// | `tools` | whether it calls functions | `true` |
    /// | `native_output` | as above; `"with_tools"`: functions, Google's tools and a schema go together in one request | `"with_tools"` |
    /// | `server_side_tools` | as above | none |
    /// | `version_3_rules` | whether calls need a thought signature, results may hold files, and uses of Google's tools are shown | `false` |
    ///
    /// | All other keys | Values | Default |
    /// | --- | --- | --- |
    /// | `thinking` | `"unknown"`, `"never"`, `"off_by_default"`, `"on_by_default"`, `"always"`: while it thinks, it takes no `temperature`, `top_p` and penalties | `"unknown"` |
    /// | `efforts` | the word sent for each level, `{"off": "none", "low": "low"}`; nothing is sent for a level that is left out | `none`, `minimal`, `low`, `medium`, `high` |
    /// | `reasoning_format` | the value of that field, where the server has it | not sent |
    /// | `tools_in_chat` | whether chat completions take tools: `"always"`, `"without_thinking"`, `"never"` | `"always"` |
    /// | `native_output` | as above | `"with_tools"` |
    /// | `server_side_tools` | as above, over chat completions; over the Responses API all but `programmatic_tool_calling` are there | none |
    /// | `sampling` | whether it takes `temperature`, `top_p` and penalties while it does not think | `true` |
    /// | `parallel_tool_calls`, `stop` | whether it takes the setting | `true` |
    /// | `images` | whether it reads images, where its server takes them | `true` |
    /// | `tool_search` | as above, over the Responses API | `false` |
    /// | `programmatic_tool_calling` | whether the Responses API runs code of the model that calls tools | `false` |
    ///
    /// # Errors
    ///
    /// Returns an error that names the row and the key, or the line, if the text is not a valid table.
    pub fn from_json(json: &str) -> Result<Self, CapabilityTableError> {
        file::read(json)
    }

    /// Returns the day for which the table was made, such as `2026-11-22`.
    #[must_use]
    pub fn date(&self) -> &str {
        self.listed.date()
    }

    /// Adds the row of a model, or of several by a pattern with `*`; it has precedence over the table's row of the same name.
    ///
    /// `takes` is an object with the keys of [`from_json`](Self::from_json).
    ///
    /// # Errors
    ///
    /// Returns an error if `model` is not `provider:model` with a known provider, or if `takes` has an unknown key or an invalid
    /// value.
    pub fn with(mut self, model: &str, takes: Value) -> Result<Self, CapabilityTableError> {
        let row = file::row(model.trim(), takes)?;
        self.listed.push(row);
        Ok(self)
    }

    /// Returns this table, and `base` where this one has no row; the date is that of this one.
    #[must_use]
    pub fn over(self, base: &Self) -> Self {
        Self { listed: self.listed.over(&base.listed) }
    }

    /// Returns the entry for a model, `provider:model`.
    #[must_use]
    pub fn find(&self, model: &str) -> Option<&CapabilityEntry> {
        let (provider, model) = model.trim().split_once(':')?;
        self.row(provider, model).map(|row| &row.entry)
    }

    /// Lists all entries, those that were added last at the end.
    pub fn entries(&self) -> impl Iterator<Item = &CapabilityEntry> {
        self.rows().iter().map(|row| &row.entry)
    }

    pub(super) fn new(date: String, rows: Vec<Row>) -> Self {
        Self { listed: DatedRows::new(date, rows) }
    }

    /// Returns what a model takes over the Messages API.
    #[cfg(feature = "anthropic")]
    pub(crate) fn anthropic(&self, model: &str) -> Arc<AnthropicCapabilities> {
        match self.row("anthropic", model).map(|row| &row.capabilities) {
            Some(Capabilities::Anthropic(capabilities)) => Arc::clone(capabilities),
            _ => Arc::default(),
        }
    }

    /// Returns what a model takes over the Gemini API.
    #[cfg(feature = "gemini")]
    pub(crate) fn gemini(&self, model: &str) -> Arc<GeminiCapabilities> {
        match self.row("gemini", model).map(|row| &row.capabilities) {
            Some(Capabilities::Gemini(capabilities)) => Arc::clone(capabilities),
            _ => Arc::default(),
        }
    }

    /// Returns what a model takes over OpenAI's APIs, at the server of `provider`.
    #[cfg(feature = "openai")]
    pub(crate) fn openai(&self, provider: &str, model: &str) -> Arc<OpenAiCapabilities> {
        match self.row(provider, model).map(|row| &row.capabilities) {
            Some(Capabilities::OpenAi(capabilities)) => Arc::clone(capabilities),
            _ => Arc::default(),
        }
    }

    fn row(&self, provider: &str, model: &str) -> Option<&Row> {
        let provider = provider.to_ascii_lowercase();
        let alias = || ALIASES.into_iter().find(|(alias, _)| *alias == provider).map(|(_, listed)| listed);
        self.best(&ModelName::new(&provider, model)).or_else(|| self.best(&ModelName::new(alias()?, model)))
    }

    fn rows(&self) -> &[Row] {
        self.listed.rows()
    }

    fn best(&self, name: &ModelName) -> Option<&Row> {
        // Of equals, the last.
        self.rows()
            .iter()
            .filter_map(|row| Some((row.rank(name)?, row)))
            .max_by_key(|(rank, _)| *rank)
            .map(|(_, row)| row)
    }
}

impl Default for CapabilityTable {
    /// Returns the built-in table.
    fn default() -> Self {
        Self::builtin()
    }
}

impl Row {
    fn rank(&self, name: &ModelName) -> Option<Rank> {
        let rank = self.pattern.rank(&name.full).max(self.pattern.rank(&name.short))?;
        self.versions.contains(name.version).then_some(rank)
    }
}

impl ModelName {
    fn new(provider: &str, model: &str) -> Self {
        let model = model.trim().to_ascii_lowercase();
        let last = model.rsplit('/').next().unwrap_or(&model);
        let (short, version) = match provider {
            "anthropic" => (model.rfind("claude").map_or(&*model, |start| &model[start..]), Version::of_claude(&model)),
            "gemini" => (last, Version::of_gemini(last)),
            "openai" => (base_of_tuned(last), None),
            _ => (&*model, None),
        };
        Self { full: format!("{provider}:{model}"), short: format!("{provider}:{short}"), version }
    }
}

/// Returns the model that a fine-tuned one, `ft:gpt-4o:acme:name`, was made from.
fn base_of_tuned(model: &str) -> &str {
    let tuned = model.strip_prefix("ft:");
    tuned.map_or(model, |tuned| tuned.split(':').next().unwrap_or(tuned))
}

/// Why a table of capabilities, or a row of one, is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapabilityTableError(String);

impl CapabilityTableError {
    pub(super) fn new(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for CapabilityTableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CapabilityTableError {}

#[cfg(test)]
mod tests;
