//! Resolves `provider:model` names to models.

use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::Arc;

use crate::capability::CapabilityTable;
use crate::error::{ErrorKind, ProviderError};
use crate::model::Model;
use crate::price::PriceTable;

/// The provider prefixes of this crate, and the feature that enables each.
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
/// The minimum similarity of a suggested prefix, from 0 to 1.
const MIN_SIMILARITY: f64 = 0.85;
/// The minimum similarity of a suggested model name: names of one family share most of their characters.
const MIN_MODEL_SIMILARITY: f64 = 0.9;

/// A model provider, found by the prefix of `prefix:model` and registered through `inventory`.
#[derive(Clone, Copy, Debug)]
pub struct ModelProvider {
    prefix: &'static str,
    /// The location of its registration.
    location: &'static Location<'static>,
    build: Build,
}

/// How a provider builds a model.
#[derive(Clone, Copy, Debug)]
enum Build {
    ByName(fn(&str) -> BuiltModel),
    WithCapabilities(fn(&str, &CapabilityTable) -> BuiltModel),
}

type BuiltModel = Result<Arc<dyn Model>, ProviderError>;

impl ModelProvider {
    /// Creates a provider for names that start with `prefix:`; `build` receives the part after the colon.
    ///
    /// It records the caller's location, so that an error about two providers with one prefix names both.
    #[must_use]
    #[track_caller]
    pub const fn new(prefix: &'static str, build: fn(&str) -> Result<Arc<dyn Model>, ProviderError>) -> Self {
        Self { prefix, location: Location::caller(), build: Build::ByName(build) }
    }

    /// Creates a provider whose models depend on a table of capabilities, such as one that builds an `OpenAiModel` for
    /// its own server; `build` receives the table in [use](model_with).
    #[must_use]
    #[track_caller]
    pub const fn with_capabilities(prefix: &'static str, build: fn(&str, &CapabilityTable) -> BuiltModel) -> Self {
        Self { prefix, location: Location::caller(), build: Build::WithCapabilities(build) }
    }
}

inventory::collect!(ModelProvider);

/// Registers a custom model provider for `prefix:MODEL` names.
///
/// The function receives the part after the colon. Invoke the macro at the top level of a module; the provider is
/// available as soon as its crate is linked. If two linked providers have the same prefix, building a runtime of
/// `llm-do` is an error with both locations.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// # mod llm_do { pub use llm_do_providers::Model; pub use llm_do_providers as model; }
/// use llm_do::Model;
/// use llm_do::model::{OpenAiModel, model_provider};
///
/// model_provider!("lab", |model| {
///     Ok(Arc::new(OpenAiModel::builder(model).base_url("http://lab.example:8080/v1").build()?))
/// });
///
/// // A second parameter receives the table of capabilities in use.
/// model_provider!("lab2", |model, capabilities| {
///     let builder = OpenAiModel::builder(model).base_url("http://lab2.example:8080/v1");
///     Ok(Arc::new(builder.capabilities(capabilities.clone()).build()?))
/// });
///
/// # fn main() -> Result<(), llm_do_providers::ProviderError> {
/// # assert_eq!(llm_do_providers::model("lab:qwen3-4b")?.name(), "openai:qwen3-4b");
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! model_provider {
    ($prefix:expr, |$model:ident, $capabilities:ident| $build:expr $(,)?) => {
        $crate::inventory::submit! {
            $crate::ModelProvider::with_capabilities($prefix, |$model, $capabilities| $build)
        }
    };
    ($prefix:expr, $build:expr $(,)?) => {
        $crate::inventory::submit! { $crate::ModelProvider::new($prefix, $build) }
    };
}

/// Builds the model `name`, which is `provider:model`. It sends no request and loads no weights yet.
///
/// # Errors
///
/// Returns an error of kind [`ErrorKind::Configuration`] as [`check_model_name`] does, and if a setting of the provider
/// is missing, such as a key.
pub fn model(name: &str) -> Result<Arc<dyn Model>, ProviderError> {
    model_with(name, &CapabilityTable::builtin())
}

/// Builds the model `name` as [`model`] does, with the capabilities of `capabilities`.
///
/// # Errors
///
/// Returns the errors of [`model`].
pub fn model_with(name: &str, capabilities: &CapabilityTable) -> Result<Arc<dyn Model>, ProviderError> {
    let (provider, rest) = find(name)?;
    match provider.build {
        Build::ByName(build) => build(rest),
        Build::WithCapabilities(build) => build(rest, capabilities),
    }
}

/// Checks that `name` is `provider:model` and that exactly one linked provider has that prefix, without building the
/// model.
///
/// # Errors
///
/// Returns an error of kind [`ErrorKind::Configuration`] that states what is wrong and what to do: write
/// `provider:model`, correct the prefix, enable a feature, or remove one of two providers.
///
/// # Examples
///
/// ```
/// let error = llm_do_providers::check_model_name("opnai:gpt-5").unwrap_err();
/// assert!(error.to_string().contains("did you mean `openai`?"), "{error}");
/// ```
pub fn check_model_name(name: &str) -> Result<(), ProviderError> {
    find(name).map(drop)
}

/// Returns an error text for each prefix of more than one linked provider, with the location of each provider.
#[must_use]
pub fn provider_collisions() -> Vec<String> {
    let mut locations: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for provider in linked() {
        locations.entry(provider.prefix).or_default().push(location_of(provider));
    }
    locations.into_iter().filter_map(|(prefix, locations)| collision(prefix, locations)).collect()
}

/// Returns a warning if the built-in price table lists models of the provider, but not `name`.
///
/// It is only a warning, since providers add models. A model in `prices` counts as known. There is no warning if the
/// environment sets the provider's base URL, since another server has other models.
#[must_use]
pub fn unknown_model(name: &str, prices: &PriceTable) -> Option<String> {
    let (prefix, model) = split(name)?;
    let builtin = PriceTable::builtin();
    let known = builtin.models(prefix);
    if known.is_empty() || prices.find(name).is_some() || builtin.find(name).is_some() || has_own_server(prefix) {
        return None;
    }
    let suggestion = nearest(model, known.iter().copied(), MIN_MODEL_SIMILARITY);
    let suggestion =
        suggestion.map_or_else(String::new, |suggestion| format!("; did you mean `{prefix}:{suggestion}`?"));
    Some(format!("`{prefix}` has no known model `{model}`, as of {}{suggestion}", builtin.date()))
}

/// Returns whether the program itself registers the provider of a model, so that a project may use it without a
/// question. Not public API. Used by `llm-do`.
#[doc(hidden)]
#[must_use]
pub fn is_registered_by_program(name: &str) -> bool {
    let is_own = |prefix: &str| FEATURES.into_iter().any(|(own, _)| own == prefix);
    split(name).is_some_and(|(prefix, _)| !is_own(prefix) && linked().any(|provider| provider.prefix == prefix))
}

/// Returns whether the environment sets another base URL for the provider.
fn has_own_server(prefix: &str) -> bool {
    let name = if prefix == "openai-responses" { "openai" } else { prefix };
    let variable = format!("{}_BASE_URL", name.to_ascii_uppercase().replace('-', "_"));
    std::env::var_os(variable).is_some_and(|url| !url.is_empty())
}

/// Splits a name at its first colon, if both parts are non-empty.
fn split(name: &str) -> Option<(&str, &str)> {
    name.split_once(':').filter(|(prefix, rest)| !prefix.trim().is_empty() && !rest.trim().is_empty())
}

/// Finds the provider of a name; returns it with the part after the colon.
fn find(name: &str) -> Result<(&'static ModelProvider, &str), ProviderError> {
    let fail = |provider: &str, text| Err(ProviderError::new(provider, ErrorKind::Configuration, text));
    let Some((prefix, rest)) = split(name) else {
        let text = format!("invalid model name `{name}`: expected `provider:model`, with a provider of {}", known());
        return fail("llm-do", text);
    };
    let found: Vec<_> = linked().filter(|provider| provider.prefix == prefix).collect();
    match found[..] {
        [provider] => Ok((provider, rest)),
        [] => fail(prefix, missing(name, prefix)),
        _ => fail(prefix, collision(prefix, found.into_iter().map(location_of).collect()).unwrap_or_default()),
    }
}

/// Returns the linked providers in unspecified order.
fn linked() -> impl Iterator<Item = &'static ModelProvider> {
    inventory::iter::<ModelProvider>.into_iter()
}

/// Returns `file:line` of a provider's registration.
fn location_of(provider: &ModelProvider) -> String {
    format!("{}:{}", provider.location.file(), provider.location.line())
}

fn collision(prefix: &str, mut locations: Vec<String>) -> Option<String> {
    locations.sort();
    let (count, locations) = (locations.len(), locations.join(", "));
    (count > 1)
        .then(|| format!("{count} model providers have the prefix `{prefix}`: {locations}; rename or remove one"))
}

/// The error for a prefix without a linked provider: names the feature to enable, or a similar prefix.
fn missing(name: &str, prefix: &str) -> String {
    if let Some((_, feature)) = FEATURES.into_iter().find(|(known, _)| *known == prefix) {
        return format!("the model `{name}` needs the feature `{feature}` of llm-do; this program has {}", known());
    }
    let similar_prefix =
        similar_prefix(prefix).map_or_else(String::new, |similar_prefix| format!("; did you mean `{similar_prefix}`?"));
    format!("unknown provider `{prefix}` of the model `{name}`{similar_prefix}; this program has {}", known())
}

/// Returns the known prefix most similar to a misspelled one, linked or not.
fn similar_prefix(prefix: &str) -> Option<&'static str> {
    let known = linked().map(|provider| provider.prefix).chain(FEATURES.into_iter().map(|(known, _)| known));
    nearest(prefix, known, MIN_SIMILARITY)
}

/// Returns the known name most similar to a misspelled one, with at least the similarity `alike`, from 0 to 1.
fn nearest<'a>(misspelled: &str, known: impl Iterator<Item = &'a str>, min_similarity: f64) -> Option<&'a str> {
    let misspelled = misspelled.to_ascii_lowercase();
    let scored = known.map(|known| (strsim::jaro_winkler(&misspelled, known), known));
    scored
        .filter(|(score, _)| *score >= min_similarity)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, known)| known)
}

/// Lists the linked prefixes for an error text.
fn known() -> String {
    let mut prefixes: Vec<_> = linked().map(|provider| format!("`{}`", provider.prefix)).collect();
    prefixes.sort_unstable();
    prefixes.dedup();
    if prefixes.is_empty() {
        return "none (enable a feature such as `anthropic`, `openai` or `local`)".to_owned();
    }
    prefixes.join(", ")
}

#[cfg(test)]
mod tests {
    use super::{ModelProvider, collision, location_of, missing, similar_prefix, unknown_model};
    use crate::price::{Money, Price, PriceTable};

    #[test]
    fn the_error_for_a_disabled_provider_names_its_feature() {
        for (prefix, feature) in [("openai", "openai"), ("openai-responses", "openai"), ("ollama", "openai")] {
            let name = format!("{prefix}:x");
            let text = missing(&name, prefix);
            let expected = format!("the model `{name}` needs the feature `{feature}` of llm-do; this program has ");
            assert!(text.starts_with(&expected), "{text}");
        }
        let text = missing("lab:x", "lab");
        assert!(text.starts_with("unknown provider `lab` of the model `lab:x`; this program has "), "{text}");
    }

    #[test]
    fn the_error_for_a_misspelled_provider_suggests_its_prefix() {
        for (misspelled, prefix) in [
            ("opnai", "openai"),
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
            assert_eq!(similar_prefix(misspelled), Some(prefix), "{misspelled}");
            let text = missing("x:y", misspelled);
            assert!(text.contains(&format!("; did you mean `{prefix}`?; this program has ")), "{text}");
        }
        for misspelled in ["azure", "bedrock", "google", "together", "x", ""] {
            assert_eq!(similar_prefix(misspelled), None, "{misspelled}");
        }
    }

    #[test]
    fn a_provider_records_the_location_of_its_registration() {
        let here = line!() + 1;
        let provider = ModelProvider::new("lab", |_| unreachable!("the model is not built"));
        assert_eq!(location_of(&provider), format!("{}:{here}", file!()));
    }

    #[test]
    fn a_collision_names_every_location() {
        let text = collision("lab", vec!["b.rs:2".into(), "a.rs:1".into()]);
        let expected = "2 model providers have the prefix `lab`: a.rs:1, b.rs:2; rename or remove one";
        assert_eq!(text.as_deref(), Some(expected));
        assert_eq!(collision("lab", vec!["a.rs:1".into()]), None);
    }

    #[test]
    fn only_an_unlisted_model_of_a_listed_provider_is_unknown() {
        let table = PriceTable::builtin();
        let text = unknown_model("groq:openai/gpt-oss-12b", &table).unwrap();
        assert!(text.starts_with("`groq` has no known model `openai/gpt-oss-12b`, as of 20"), "{text}");
        assert!(text.contains("; did you mean `groq:openai/gpt-oss-"), "{text}");
        let text = unknown_model("gemini:gemini-2.5-prro", &table).unwrap();
        assert!(text.contains("; did you mean `gemini:gemini-2.5-pro`?"), "{text}");
        for known in ["gemini:gemini-2.5-pro", "lab:x", "local:x", "test:x", "gpt-5"] {
            assert_eq!(unknown_model(known, &table), None, "{known}");
        }
        let table = table.with("groq:our-*", Price::per_million(Money::ZERO, Money::ZERO)).unwrap();
        assert_eq!(unknown_model("groq:our-model", &table), None);
    }
}
