//! From `provider:model` to a model.

use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::Arc;

use crate::capability::CapabilityTable;
use crate::error::{ErrorKind, ProviderError};
use crate::model::Model;
use crate::price::PriceTable;

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
/// The same of a model's name: names of one provider's models share most of their letters.
const ALIKE_MODEL: f64 = 0.9;

/// A provider of models, found by the prefix of `prefix:model`; submitted through `inventory`.
#[derive(Clone, Copy, Debug)]
pub struct ModelProvider {
    prefix: &'static str,
    /// Where it is registered.
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
    /// Returns a provider for names that begin with `prefix:`; `build` gets what follows the colon.
    ///
    /// It remembers where it is called, so that an error about two providers of one prefix can name both places.
    #[must_use]
    #[track_caller]
    pub const fn new(prefix: &'static str, build: fn(&str) -> Result<Arc<dyn Model>, ProviderError>) -> Self {
        Self { prefix, location: Location::caller(), build: Build::ByName(build) }
    }

    /// Returns a provider whose models depend on a table of capabilities, such as one that builds an `OpenAiModel` of a server of
    /// its own; `build` gets the table that is [used](model_with).
    #[must_use]
    #[track_caller]
    pub const fn with_capabilities(prefix: &'static str, build: fn(&str, &CapabilityTable) -> BuiltModel) -> Self {
        Self { prefix, location: Location::caller(), build: Build::WithCapabilities(build) }
    }
}

inventory::collect!(ModelProvider);

/// Registers a provider of one's own: what `prefix:MODEL` is made into, from then on wherever a model is named.
///
/// The function gets what follows the colon. It stands at the top of a module, and is there as soon as its crate is linked.
/// Two linked providers of one prefix are an error when a runtime of `llm-do` is built; it names both places.
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
/// // A second parameter is the table of capabilities that is used.
/// model_provider!("lab2", |model, capabilities| {
///     let builder = OpenAiModel::builder(model).base_url("http://lab2.example:8080/v1");
///     Ok(Arc::new(builder.capabilities(capabilities.clone()).build()?))
/// });
///
/// # fn main() -> Result<(), llm_do_providers::ProviderError> {
/// assert_eq!(llm_do_providers::model("lab:qwen3-4b")?.name(), "openai:qwen3-4b");
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

/// Builds the model that `name`, `provider:model`, stands for. Nothing is requested or loaded yet.
///
/// # Errors
///
/// Returns an error of kind [`ErrorKind::Configuration`] as [`check_model_name`] does, and if the provider lacks
/// something, such as a key.
pub fn model(name: &str) -> Result<Arc<dyn Model>, ProviderError> {
    model_with(name, &CapabilityTable::builtin())
}

/// Builds the model that `name` stands for as [`model`] does, with what `capabilities` says that models take.
///
/// # Errors
///
/// The same as of [`model`].
pub fn model_with(name: &str, capabilities: &CapabilityTable) -> Result<Arc<dyn Model>, ProviderError> {
    let (provider, rest) = find(name)?;
    match provider.build {
        Build::ByName(build) => build(rest),
        Build::WithCapabilities(build) => build(rest, capabilities),
    }
}

/// Checks that `name` is `provider:model` and that exactly one provider of that prefix is linked. Builds nothing.
///
/// # Errors
///
/// Returns an error of kind [`ErrorKind::Configuration`] that names what is wrong and what to do: write
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

/// Returns whether a text is of the form `provider:model`, whether or not there is such a provider.
#[must_use]
pub fn is_model_name(name: &str) -> bool {
    split(name).is_some()
}

/// Lists the prefixes that more than one linked provider has, with the place of each provider.
#[must_use]
pub fn provider_collisions() -> Vec<String> {
    let mut places: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for provider in linked() {
        places.entry(provider.prefix).or_default().push(place(provider));
    }
    places.into_iter().filter_map(|(prefix, places)| collision(prefix, places)).collect()
}

/// Returns a warning if the provider's models are known by the built-in price table, and `name` is none of them.
///
/// It is a warning and no error, since providers add models. A model that `prices` lists is known too. Nothing is
/// known of a provider whose base URL the environment sets, since another server answers there.
#[must_use]
pub fn unknown_model(name: &str, prices: &PriceTable) -> Option<String> {
    let (prefix, model) = split(name)?;
    let builtin = PriceTable::builtin();
    let known = builtin.models(prefix);
    if known.is_empty() || prices.find(name).is_some() || builtin.find(name).is_some() || has_own_server(prefix) {
        return None;
    }
    let near = nearest(model, known.iter().copied(), ALIKE_MODEL);
    let near = near.map_or_else(String::new, |near| format!("; did you mean `{prefix}:{near}`?"));
    Some(format!("`{prefix}` has no known model `{model}`, as of {}{near}", builtin.date()))
}

/// Returns whether the environment sends the requests of a provider to another server than its own.
fn has_own_server(prefix: &str) -> bool {
    let name = if prefix == "openai-responses" { "openai" } else { prefix };
    let variable = format!("{}_BASE_URL", name.to_ascii_uppercase().replace('-', "_"));
    std::env::var_os(variable).is_some_and(|url| !url.is_empty())
}

/// Takes a name apart at its first colon, if both parts are there.
fn split(name: &str) -> Option<(&str, &str)> {
    name.split_once(':').filter(|(prefix, rest)| !prefix.trim().is_empty() && !rest.trim().is_empty())
}

/// Finds the provider of a name, and what follows its prefix.
fn find(name: &str) -> Result<(&'static ModelProvider, &str), ProviderError> {
    let fail = |provider: &str, text| Err(ProviderError::new(provider, ErrorKind::Configuration, text));
    let Some((prefix, rest)) = split(name) else {
        let text = format!("`{name}` is not a model's name; write `provider:model`, with a provider of {}", known());
        return fail("llm-do", text);
    };
    let found: Vec<_> = linked().filter(|provider| provider.prefix == prefix).collect();
    match found[..] {
        [provider] => Ok((provider, rest)),
        [] => fail(prefix, missing(name, prefix)),
        _ => fail(prefix, collision(prefix, found.into_iter().map(place).collect()).unwrap_or_default()),
    }
}

/// The linked providers; their order is unspecified.
fn linked() -> impl Iterator<Item = &'static ModelProvider> {
    inventory::iter::<ModelProvider>.into_iter()
}

/// Returns `file:line` of a provider's registration.
fn place(provider: &ModelProvider) -> String {
    format!("{}:{}", provider.location.file(), provider.location.line())
}

fn collision(prefix: &str, mut places: Vec<String>) -> Option<String> {
    places.sort();
    let (count, places) = (places.len(), places.join(", "));
    (count > 1).then(|| format!("{count} model providers have the prefix `{prefix}`: {places}; rename or remove one"))
}

/// Says that no provider of a prefix is linked, and how to get one: by a feature, or by another spelling.
fn missing(name: &str, prefix: &str) -> String {
    if let Some((_, feature)) = FEATURES.into_iter().find(|(known, _)| *known == prefix) {
        return format!("the model `{name}` needs the feature `{feature}` of llm-do; this program has {}", known());
    }
    let meant = meant(prefix).map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"));
    format!("unknown provider `{prefix}` of the model `{name}`{meant}; this program has {}", known())
}

/// Returns the prefix that is most like a misspelt one, linked or not.
fn meant(prefix: &str) -> Option<&'static str> {
    let known = linked().map(|provider| provider.prefix).chain(FEATURES.into_iter().map(|(known, _)| known));
    nearest(prefix, known, ALIKE)
}

/// Returns the known name that is most like a misspelt one, if one is at least `alike`.
fn nearest<'a>(written: &str, known: impl Iterator<Item = &'a str>, alike: f64) -> Option<&'a str> {
    let written = written.to_ascii_lowercase();
    let scored = known.map(|known| (strsim::jaro_winkler(&written, known), known));
    scored.filter(|(score, _)| *score >= alike).max_by(|left, right| left.0.total_cmp(&right.0)).map(|(_, known)| known)
}

/// The linked prefixes, for an error's text.
fn known() -> String {
    let mut prefixes: Vec<_> = linked().map(|provider| format!("`{}`", provider.prefix)).collect();
    prefixes.sort_unstable();
    prefixes.dedup();
    if prefixes.is_empty() {
        return "none (turn on a feature such as `anthropic`, `openai` or `local`)".to_owned();
    }
    prefixes.join(", ")
}

#[cfg(test)]
mod tests {
    use super::{ModelProvider, collision, meant, missing, place, unknown_model};
    use crate::price::{Money, Price, PriceTable};

    #[test]
    fn a_provider_that_is_left_out_is_told_by_its_feature_and_no_other_is() {
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
    fn a_misspelt_provider_is_told_by_its_prefix() {
        for (written, prefix) in [
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
            assert_eq!(meant(written), Some(prefix), "{written}");
            let text = missing("x:y", written);
            assert!(text.contains(&format!("; did you mean `{prefix}`?; this program has ")), "{text}");
        }
        for written in ["azure", "bedrock", "google", "together", "x", ""] {
            assert_eq!(meant(written), None, "{written}");
        }
    }

    #[test]
    fn a_provider_knows_where_it_is_registered() {
        let here = line!() + 1;
        let provider = ModelProvider::new("lab", |_| unreachable!("it is not asked for"));
        assert_eq!(place(&provider), format!("{}:{here}", file!()));
    }

    #[test]
    fn a_collision_names_every_place() {
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
