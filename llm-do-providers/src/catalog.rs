//! From `provider:model` to a model.

use std::sync::Arc;

use crate::error::{ErrorKind, ProviderError};
use crate::model::Model;

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
            let text = format!("no provider for the model `{name}`; this program has {}", known());
            Err(ProviderError::new(prefix, ErrorKind::Configuration, text))
        }
        (Some(_), Some(_)) => {
            let text = format!("two providers with the prefix `{prefix}` are linked; remove one");
            Err(ProviderError::new(prefix, ErrorKind::Configuration, text))
        }
    }
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
