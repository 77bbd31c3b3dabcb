//! Keys, kept out of every text.

use std::fmt;
use std::sync::Arc;

use crate::error::{ErrorKind, ProviderError};

/// A provider's key.
///
/// It has no `Display`, and `Debug` prints `ApiKey(..)`, so that no log or error shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(Arc<str>);

impl ApiKey {
    /// Returns the key `key`, which must be what an HTTP header can carry: visible ASCII characters, no spaces.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`ErrorKind::Configuration`], which does not show the key, if it is empty or holds
    /// another character, such as the line break that a file often ends with.
    pub fn new(key: &str) -> Result<Self, ProviderError> {
        Self::checked(key).map_err(|fault| ProviderError::new("llm-do", ErrorKind::Configuration, fault))
    }

    /// Returns the key `key`, or what is wrong with it and what to do.
    pub(crate) fn checked(key: &str) -> Result<Self, String> {
        if key.is_empty() {
            return Err("the key is empty; give one, or none at all".to_owned());
        }
        match key.bytes().position(|byte| !byte.is_ascii_graphic()) {
            None => Ok(Self(key.into())),
            Some(place) => Err(format!(
                "the key cannot be sent: byte {} of {} is not a visible ASCII character; remove spaces and line breaks",
                place + 1,
                key.len()
            )),
        }
    }

    /// Shows the key, for a header.
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
    fn a_key_that_no_header_can_carry_is_refused_without_showing_it() {
        for key in ["sk-secret\n", "sk secret", "sk-sécret", "sk-secret\0", ""] {
            let error = ApiKey::new(key).unwrap_err().to_string();
            assert!(error.contains("key"), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
