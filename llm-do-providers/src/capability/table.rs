//! Capabilities by the names of models.

use std::fmt;
use std::sync::{Arc, LazyLock};

use serde_json::Value;

use super::anthropic::AnthropicCapabilities;
use super::file;
use super::gemini::GeminiCapabilities;
use super::openai::OpenAiCapabilities;
use super::version::{Version, VersionRange};
use super::window::{WindowEntry, WindowRow};
use crate::dated_rows::DatedRows;
use crate::model::ContextWindow;
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
use crate::model::Profile;
use crate::model_pattern::{ModelPattern, Rank};

/// The built-in table.
static BUILTIN: LazyLock<CapabilityTable> = LazyLock::new(|| {
    file::read(file::BUILTIN).unwrap_or_else(|error| unreachable!("the capabilities compiled in: {error}"))
});

/// The providers of rows, and the API of each.
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
/// Providers whose models are also looked up among those of another provider.
const ALIASES: [(&str, &str); 2] = [("moonshot", "openai"), ("openai-responses", "openai")];

/// What models support, by name: a dated table that you can extend.
///
/// Requests differ by model: some models refuse `temperature`, and thinking levels have different words. The built-in
/// table has the models of `anthropic`, `gemini` and `openai`, and the defaults of `deepseek`, `groq`, `llama-cpp`,
/// `mistral`, `ollama`, `openrouter` and `vllm`, as of its [`date`](Self::date). When a provider adds or changes a
/// model, add your own row: [`with`](Self::with) adds one, [`from_json`](Self::from_json) reads a table, and
/// [`over`](Self::over) combines two tables. `RuntimeBuilder::capabilities` of `llm-do`, or `capabilities` of a model's
/// builder, sets the table. The `profile` of a model's builder takes precedence over it.
///
/// A name `provider:model` is looked up like [prices](crate::PriceTable): case-insensitively, exactly, as a dated
/// snapshot of a listed model, or by a listed pattern with `*`. The match with the most characters wins, then the row
/// added last. Only that row applies. Prefixes that servers add to names are ignored: `openai:lab/gpt-5` and
/// `openai:ft:gpt-5:us` match as `gpt-5`, `anthropic:us.anthropic.claude-opus-5` as `claude-opus-5`. `openai-responses`
/// uses the rows of `openai`. A known server behind `openai:` uses its own rows, such as those of `groq` at
/// `https://api.groq.com`.
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
    windows: DatedRows<WindowRow>,
}

/// What a model supports, with the source.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CapabilityEntry {
    /// The model name `provider:model`, or a pattern with `*`.
    pub model: String,
    /// The first version that the entry applies to, such as `4.5`.
    pub from: Option<String>,
    /// The last version that the entry applies to.
    pub to: Option<String>,
    /// What the models support, with the keys of [`CapabilityTable::from_json`]; an absent key has its default.
    pub takes: Value,
    /// The source pages, separated by spaces.
    pub source: Option<String>,
    /// The day when the sources were read, such as `2026-11-22`.
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

/// What a model supports over its API.
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

/// A model's name in the forms that patterns match.
#[derive(Debug)]
struct ModelName {
    full: String,
    /// The name without the prefix that a server adds.
    short: String,
    version: Option<Version>,
}

impl CapabilityTable {
    /// Returns the built-in table; it is shared, so this is cheap.
    #[must_use]
    pub fn builtin() -> Self {
        Self { listed: DatedRows::Builtin(|| &BUILTIN.listed), windows: DatedRows::Builtin(|| &BUILTIN.windows) }
    }

    /// Parses your own table, without the built-in rows.
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
    /// A row requires `provider`, `models` and `takes`. `from` and `to` restrict it to versions, inclusively. The
    /// version of an `anthropic` name is its first number and the following one, if that is below 100; the version of a
    /// `gemini` name is the number after `gemini-`. Names of other providers have no version. `takes` has these
    /// optional keys:
    ///
    /// | `anthropic` | Values | Default |
    /// | --- | --- | --- |
    /// | `max_output_tokens` | the maximum number of tokens of an answer | 8192 |
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
    /// | `penalties` | whether the model accepts `presence_penalty` and `frequency_penalty` | `true` |
    /// | `tools` | whether the model supports functions | `true` |
    /// | `native_output` | as above; with `"with_tools"`, one request may have functions, Google's tools and a schema | `"with_tools"` |
    /// | `server_side_tools` | as above | none |
    /// | `version_3_rules` | whether calls need a thought signature, results may contain files, and uses of Google's tools are parts of the answer | `false` |
    ///
    /// | All other keys | Values | Default |
    /// | --- | --- | --- |
    /// | `thinking` | `"unknown"`, `"never"`, `"off_by_default"`, `"on_by_default"`, `"always"`; while a model thinks, it accepts neither `temperature`, `top_p` nor penalties | `"unknown"` |
    /// | `efforts` | the word sent for each level, `{"off": "none", "low": "low"}`; nothing is sent for a level that is left out | `none`, `minimal`, `low`, `medium`, `high` |
    /// | `reasoning_format` | the value of that field, if the server has it | not sent |
    /// | `tools_in_chat` | whether the model supports tools over chat completions: `"always"`, `"without_thinking"`, `"never"` | `"always"` |
    /// | `native_output` | as above | `"with_tools"` |
    /// | `server_side_tools` | as above, over chat completions; the Responses API has all except `programmatic_tool_calling` | none |
    /// | `sampling` | whether the model accepts `temperature`, `top_p` and penalties while it does not think | `true` |
    /// | `parallel_tool_calls`, `stop` | whether the model accepts the setting | `true` |
    /// | `images` | whether the model reads images, if its server accepts them | `true` |
    /// | `tool_search` | as above, over the Responses API | `false` |
    /// | `programmatic_tool_calling` | whether the Responses API runs the model's code, which may call tools | `false` |
    ///
    /// A table may have `windows` beside `models`: rows with `provider`, `models`, `context_window` (the tokens of a request and its
    /// answer), and optionally `max_input_tokens`, `max_output_tokens`, `source` and `seen`.
    ///
    /// # Errors
    ///
    /// Returns an error that names the row and the key, or the line, if the text is not a valid table.
    pub fn from_json(json: &str) -> Result<Self, CapabilityTableError> {
        file::read(json)
    }

    /// Returns the date of the table, such as `2026-11-22`.
    #[must_use]
    pub fn date(&self) -> &str {
        self.listed.date()
    }

    /// Adds the row of a model, or of several by a pattern with `*`; it takes precedence over a row with the same name.
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

    /// Returns this table, with the rows of `base` for models that are missing here; the date is that of this table.
    #[must_use]
    pub fn over(self, base: &Self) -> Self {
        Self { listed: self.listed.over(&base.listed), windows: self.windows.over(&base.windows) }
    }

    /// Returns the entry for a model, `provider:model`.
    #[must_use]
    pub fn find(&self, model: &str) -> Option<&CapabilityEntry> {
        let (provider, model) = model.trim().split_once(':')?;
        self.row(provider, model).map(|row| &row.entry)
    }

    /// Lists all entries in the order in which they were added.
    pub fn entries(&self) -> impl Iterator<Item = &CapabilityEntry> {
        self.rows().iter().map(|row| &row.entry)
    }

    /// Sets the window of a model, or of several by a pattern with `*`; it takes precedence over one with the same name.
    ///
    /// # Errors
    ///
    /// Returns an error if `model` is not `provider:model` with a known provider, or if the window has no tokens.
    pub fn with_window(mut self, model: &str, window: ContextWindow) -> Result<Self, CapabilityTableError> {
        self.windows.push(WindowRow::new(model.trim(), window).map_err(CapabilityTableError::new)?);
        Ok(self)
    }

    /// Returns how many tokens a model, `provider:model`, takes and returns, if the table knows it.
    ///
    /// Windows have rows of their own, which are found like the entries of models.
    #[must_use]
    pub fn window(&self, model: &str) -> Option<&WindowEntry> {
        let (provider, model) = model.trim().split_once(':')?;
        let provider = provider.to_ascii_lowercase();
        let found = self.best_window(&ModelName::new(&provider, model));
        found.or_else(|| self.best_window(&ModelName::new(alias(&provider)?, model)))
    }

    /// Returns a profile with the window of a model, if the table knows it.
    #[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
    pub(crate) fn with_window_of(&self, provider: &str, model: &str, profile: Profile) -> Profile {
        let window = self.window(&format!("{provider}:{model}")).map(|entry| entry.window);
        Profile { window, ..profile }
    }

    /// Lists the windows in the order in which they were added.
    pub fn windows(&self) -> impl Iterator<Item = &WindowEntry> {
        self.windows.rows().iter().map(|row| &row.entry)
    }

    fn best_window(&self, name: &ModelName) -> Option<&WindowEntry> {
        let rank = |row: &WindowRow| row.pattern.rank(&name.full).max(row.pattern.rank(&name.short));
        let ranked = self.windows.rows().iter().filter_map(|row| Some((rank(row)?, &row.entry)));
        // The last of equal matches wins.
        ranked.max_by_key(|(rank, _)| *rank).map(|(_, entry)| entry)
    }

    pub(super) fn new(date: String, rows: Vec<Row>, windows: Vec<WindowRow>) -> Self {
        Self { listed: DatedRows::new(date.clone(), rows), windows: DatedRows::new(date, windows) }
    }

    /// Returns what a model supports over the Messages API.
    #[cfg(feature = "anthropic")]
    pub(crate) fn anthropic(&self, model: &str) -> Arc<AnthropicCapabilities> {
        match self.row("anthropic", model).map(|row| &row.capabilities) {
            Some(Capabilities::Anthropic(capabilities)) => Arc::clone(capabilities),
            _ => Arc::default(),
        }
    }

    /// Returns what a model supports over the Gemini API.
    #[cfg(feature = "gemini")]
    pub(crate) fn gemini(&self, model: &str) -> Arc<GeminiCapabilities> {
        match self.row("gemini", model).map(|row| &row.capabilities) {
            Some(Capabilities::Gemini(capabilities)) => Arc::clone(capabilities),
            _ => Arc::default(),
        }
    }

    /// Returns what a model supports over OpenAI's APIs, at the server of `provider`.
    #[cfg(feature = "openai")]
    pub(crate) fn openai(&self, provider: &str, model: &str) -> Arc<OpenAiCapabilities> {
        match self.row(provider, model).map(|row| &row.capabilities) {
            Some(Capabilities::OpenAi(capabilities)) => Arc::clone(capabilities),
            _ => Arc::default(),
        }
    }

    fn row(&self, provider: &str, model: &str) -> Option<&Row> {
        let provider = provider.to_ascii_lowercase();
        let found = self.best(&ModelName::new(&provider, model));
        found.or_else(|| self.best(&ModelName::new(alias(&provider)?, model)))
    }

    fn rows(&self) -> &[Row] {
        self.listed.rows()
    }

    fn best(&self, name: &ModelName) -> Option<&Row> {
        // The last of equal matches wins.
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
            "anthropic" => {
                (model.rfind("claude").map_or(&*model, |start| &model[start..]), Version::from_claude_name(&model))
            }
            "gemini" => (last, Version::from_gemini_name(last)),
            "openai" => (base_of_tuned(last), None),
            _ => (&*model, None),
        };
        Self { full: format!("{provider}:{model}"), short: format!("{provider}:{short}"), version }
    }
}

/// Returns the provider whose rows apply to models of this one too.
fn alias(provider: &str) -> Option<&'static str> {
    ALIASES.into_iter().find(|(alias, _)| *alias == provider).map(|(_, listed)| listed)
}

/// Returns the base model of a fine-tuned one, such as `ft:gpt-4o:acme:name`.
fn base_of_tuned(model: &str) -> &str {
    let tuned = model.strip_prefix("ft:");
    tuned.map_or(model, |tuned| tuned.split(':').next().unwrap_or(tuned))
}

/// An error that a table of capabilities, or one of its rows, is invalid.
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
