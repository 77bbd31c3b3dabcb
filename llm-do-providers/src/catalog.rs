//! From `provider:model` to a model.

use std::sync::Arc;

use crate::error::{ErrorKind, ProviderError};
use crate::model::Model;

/// The prefixes of this crate's providers, and the features that have them.
const FEATURES: [(&str, &str); 12] = [
    ("anthropic", "anthropic"),
    ("deepseek", "openai"),
    ("gemini", "gemini"),
    ("groq", "openai"),
    ("llama-cpp", "openai"),
    ("local", "local"),
    ("mistral", "openai"),
    ("ollama", "openai"),
    ("openai", "openai"),
    ("openai-responses", "openai"),
    ("openrouter", "openai"),
    ("vllm", "openai"),
];
/// How alike a prefix has to be to the one that is meant, from 0 to 1.
const ALIKE: f64 = 0.85;

/// A provider of models, found by the prefix of `prefix:model`; submitted through `inventory`.
#[derive(Clone, Copy, Debug)]
pub struct ModelProvider {
    prefix: &'static str,
    build: fn(&str) -> Result<Arc<dyn Model>, ProviderError>,
}

impl ModelProvider {
    /// Returns a provider for names that begin with `prefix:`; `build` gets what follows the colon.
    #[must_use]
    pub const fn new(prefix: &'static str, build: fn(&str) -> Result<Arc<dyn Model>, ProviderError>) -> Self {
        Self { prefix, build }
    }
}

inventory::collect!(ModelProvider);

/// Registers a provider of one's own: what `prefix:MODEL` is made into, from then on wherever a model is named.
///
/// The function gets what follows the colon. It stands at the top of a module, and is there as soon as its crate is linked.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use llm_do_providers::{Model, OpenAiModel, model_provider};
///
/// model_provider!("lab", |model| {
///     Ok(Arc::new(OpenAiModel::builder(model).base_url("http://lab.example:8080/v1").build()?))
/// });
///
/// # fn main() -> Result<(), llm_do_providers::ProviderError> {
/// assert_eq!(llm_do_providers::model("lab:qwen3-4b")?.name(), "openai:qwen3-4b");
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! model_provider {
    ($prefix:expr, $build:expr $(,)?) => {
        $crate::inventory::submit! { $crate::ModelProvider::new($prefix, $build) }
    };
}

/// Builds the model that `name`, `provider:model`, stands for. Nothing is requested or loaded yet.
///
/// # Errors
///
/// Returns an error of kind [`ErrorKind::Configuration`] if no provider of that prefix is linked, if two are, or if
/// the provider lacks something, such as a key.
pub fn model(name: &str) -> Result<Arc<dyn Model>, ProviderError> {
    let Some((prefix, rest)) = name.split_once(':').filter(|(_, rest)| !rest.is_empty()) else {
        let text = format!("`{name}` is not a model's name; write `provider:model`, with a provider of {}", known());
        return Err(ProviderError::new("llm-do", ErrorKind::Configuration, text));
    };
    let mut found = inventory::iter::<ModelProvider>.into_iter().filter(|provider| provider.prefix == prefix);
    match (found.next(), found.next()) {
        (Some(provider), None) => (provider.build)(rest),
        (None, _) => {
            let text = format!("no provider for the model `{name}`{}; this program has {}", missing(prefix), known());
            Err(ProviderError::new(prefix, ErrorKind::Configuration, text))
        }
        (Some(_), Some(_)) => {
            let text = format!("two providers with the prefix `{prefix}` are linked; remove one");
            Err(ProviderError::new(prefix, ErrorKind::Configuration, text))
        }
    }
}

/// Says how to have a provider of this crate that is not linked, or which one may be meant.
fn missing(prefix: &str) -> String {
    if let Some((_, feature)) = FEATURES.into_iter().find(|(known, _)| *known == prefix) {
        return format!(": turn on the feature `{feature}`");
    }
    meant(prefix).map_or_else(String::new, |meant| format!(": did you mean `{meant}`?"))
}

/// Returns the prefix that is most like a misspelt one, linked or not.
fn meant(prefix: &str) -> Option<&'static str> {
    let linked = inventory::iter::<ModelProvider>.into_iter().map(|provider| provider.prefix);
    let known = linked.chain(FEATURES.into_iter().map(|(known, _)| known));
    let written = prefix.to_ascii_lowercase();
    let alike = known.map(|known| (strsim::jaro_winkler(&written, known), known)).filter(|(alike, _)| *alike >= ALIKE);
    alike.max_by(|left, right| left.0.total_cmp(&right.0)).map(|(_, known)| known)
}

/// The linked prefixes, for an error's text.
fn known() -> String {
    let mut prefixes: Vec<_> =
        inventory::iter::<ModelProvider>.into_iter().map(|provider| format!("`{}`", provider.prefix)).collect();
    prefixes.sort_unstable();
    if prefixes.is_empty() {
        return "none (turn on a feature such as `anthropic`, `openai` or `local`)".to_owned();
    }
    prefixes.join(", ")
}

#[cfg(test)]
mod tests {
    use super::missing;

    #[test]
    fn a_provider_that_is_left_out_is_told_by_its_feature_and_no_other_is() {
        assert_eq!(missing("openai"), ": turn on the feature `openai`");
        assert_eq!(missing("openai-responses"), ": turn on the feature `openai`");
        assert_eq!(missing("ollama"), ": turn on the feature `openai`");
        assert_eq!(missing("lab"), "");
    }

    #[test]
    fn a_misspelt_provider_is_told_by_its_prefix() {
        for (written, meant) in [
            ("grok", "groq"),
            ("olama", "ollama"),
            ("llamacpp", "llama-cpp"),
            ("llama.cpp", "llama-cpp"),
            ("open-router", "openrouter"),
            ("Mistral", "mistral"),
            ("openai_responses", "openai-responses"),
            ("deepsek", "deepseek"),
            ("vlm", "vllm"),
        ] {
            assert_eq!(missing(written), format!(": did you mean `{meant}`?"));
        }
        for written in ["azure", "bedrock", "google", "together", "x", ""] {
            assert_eq!(missing(written), "", "{written}");
        }
    }
}
