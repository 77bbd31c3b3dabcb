//! The windows of models, by name: rows of their own, since models that support the same may have different ones.

use serde::Deserialize;
use serde_json::Value;

use super::table::PROVIDERS;
use crate::model::ContextWindow;
use crate::model_pattern::{ModelPattern, is_day};

/// How many tokens a model takes and returns, with the source.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WindowEntry {
    /// The model name `provider:model`, or a pattern with `*`.
    pub model: String,
    /// The numbers of tokens.
    pub window: ContextWindow,
    /// The source pages, separated by spaces.
    pub source: Option<String>,
    /// The day when the sources were read, such as `2026-11-29`.
    pub seen: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) struct WindowRow {
    pub(super) pattern: ModelPattern,
    pub(super) entry: WindowEntry,
}

/// One row of a file, for all models that it names.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileWindow {
    provider: String,
    models: Vec<String>,
    context_window: u32,
    max_input_tokens: Option<u32>,
    max_output_tokens: Option<u32>,
    source: Option<String>,
    seen: Option<String>,
}

impl WindowRow {
    /// Reads a row of a file.
    pub(super) fn read(row: Value) -> Result<Vec<Self>, String> {
        let FileWindow { provider, models, context_window, max_input_tokens, max_output_tokens, source, seen } =
            FileWindow::deserialize(row).map_err(|error| error.to_string())?;
        if models.is_empty() || models.iter().any(String::is_empty) {
            return Err("`models` needs at least one name, and no empty one".to_owned());
        }
        if let Some(seen) = seen.as_deref().filter(|seen| !is_day(seen)) {
            return Err(format!("invalid `seen` `{seen}`: expected a day such as `2026-11-22`"));
        }
        let window = ContextWindow { max_input_tokens, max_output_tokens, ..ContextWindow::new(context_window) };
        let row = |model: &String| {
            let row = Self::new(&format!("{provider}:{model}"), window)?;
            Ok(Self { entry: WindowEntry { source: source.clone(), seen: seen.clone(), ..row.entry }, ..row })
        };
        models.iter().map(row).collect()
    }

    /// Returns the row of the models that `pattern`, `provider:model`, matches.
    pub(super) fn new(pattern: &str, window: ContextWindow) -> Result<Self, String> {
        let split = pattern.split_once(':').filter(|(provider, model)| !provider.is_empty() && !model.is_empty());
        let Some((provider, _)) = split else {
            return Err(format!("invalid model name `{pattern}`: expected `provider:model`"));
        };
        if !PROVIDERS.iter().any(|(known, _)| *known == provider) {
            let known = PROVIDERS.map(|(known, _)| format!("`{known}`")).join(", ");
            return Err(format!("unknown provider `{provider}`; expected one of {known}"));
        }
        if window.for_input() == 0 {
            return Err(format!("`{pattern}`: a window has at least 1 token"));
        }
        let entry = WindowEntry { model: pattern.to_owned(), window, source: None, seen: None };
        Ok(Self { pattern: ModelPattern::new(&pattern.to_ascii_lowercase()), entry })
    }
}
