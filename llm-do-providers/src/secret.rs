//! API keys that are never shown.

use std::fmt;
use std::sync::Arc;

use crate::error::{ErrorKind, ProviderError};

/// An API key of a provider.
///
/// It has no `Display`, and `Debug` prints `ApiKey(..)`, so that no log or error shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(Arc<str>);

impl ApiKey {
    /// Creates a key. It must be a valid HTTP header value: visible ASCII characters without spaces.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`ErrorKind::Configuration`], which does not show the key, if the key is empty or
    /// contains
    /// another character, such as the line break at the end of a file.
    pub fn new(key: &str) -> Result<Self, ProviderError> {
        Self::checked(key).map_err(|fault| ProviderError::new("llm-do", ErrorKind::Configuration, fault))
    }

    /// Creates a key; the error states what is wrong and what to do.
    pub(crate) fn checked(key: &str) -> Result<Self, String> {
        if key.is_empty() {
            return Err("the key is empty; set a key, or remove the setting".to_owned());
        }
        match key.bytes().position(|byte| !byte.is_ascii_graphic()) {
            None => Ok(Self(key.into())),
            Some(index) => Err(format!(
                "the key is not a valid HTTP header value: byte {} of {} is not a visible ASCII character; remove spaces and \
                 line breaks",
                index + 1,
                key.len()
            )),
        }
    }

    /// Returns the key, for a header.
    #[cfg(feature = "http")]
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::ApiKey;

    #[test]
    fn a_key_is_not_shown_by_debug() {
        let key = ApiKey::new("sk-very-secret").unwrap();
        assert_eq!(format!("{key:?}"), "ApiKey(..)");
    }

    #[test]
    fn an_invalid_key_is_rejected_without_showing_it() {
        for key in ["sk-secret\n", "sk secret", "sk-sécret", "sk-secret\0", ""] {
            let error = ApiKey::new(key).unwrap_err().to_string();
            assert!(error.contains("key"), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
