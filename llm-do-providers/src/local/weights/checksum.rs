//! SHA-256 checksums of model files.

use std::fmt::{self, Write as _};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::super::fault;
use crate::error::ProviderError;

/// The separator between a model's name and its pinned checksum.
const SEPARATOR: &str = "#sha256=";

/// The chunk size for reading files, in bytes.
const CHUNK: usize = 1 << 20;

/// The SHA-256 of a file, in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Checksum(String);

impl Checksum {
    /// Parses 64 hexadecimal digits.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let is_valid = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_valid.then(|| Self(text.to_ascii_lowercase()))
    }

    /// Splits a model's name from its pinned checksum.
    pub(super) fn split(name: &str) -> Result<(&str, Option<Self>), ProviderError> {
        let Some((name, digits)) = name.rsplit_once(SEPARATOR) else { return Ok((name, None)) };
        match Self::parse(digits) {
            Some(checksum) => Ok((name, Some(checksum))),
            None => Err(fault::configuration(format!(
                "invalid SHA-256 `{digits}`: expected 64 hexadecimal digits; correct it, or remove `{SEPARATOR}` from the name"
            ))),
        }
    }

    /// Returns an error unless the file at `path` has this checksum.
    pub(super) fn check(&self, path: &Path) -> Result<(), ProviderError> {
        let actual = Self::from_file(path).map_err(|source| {
            fault::configuration(format!("cannot read `{}`; check its permissions", path.display())).with_source(source)
        })?;
        if actual == *self {
            return Ok(());
        }
        Err(fault::configuration(format!(
            "checksum mismatch: `{}` has the SHA-256 {actual}, but {self} is pinned; delete the file and download it \
             again, or correct the pinned checksum",
            path.display()
        )))
    }

    fn from_file(path: &Path) -> io::Result<Self> {
        let mut hasher = Hasher::default();
        hasher.add_all(&mut File::open(path)?)?;
        Ok(hasher.value())
    }

    #[cfg(feature = "local-download")]
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An incremental checksum.
#[derive(Clone, Debug, Default)]
pub(super) struct Hasher(Sha256);

impl Hasher {
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Adds the content of `source`; returns its size in bytes.
    pub(super) fn add_all(&mut self, source: &mut impl Read) -> io::Result<u64> {
        let mut chunk = vec![0; CHUNK];
        let mut size = 0;
        loop {
            match source.read(&mut chunk) {
                Ok(0) => return Ok(size),
                Ok(length) => {
                    self.add(&chunk[..length]);
                    size += length as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) fn value(self) -> Checksum {
        let mut text = String::with_capacity(64);
        for byte in self.0.finalize() {
            // Writing to a `String` cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        Checksum(text)
    }
}

#[cfg(test)]
mod tests {
    use super::{Checksum, Hasher};

    #[test]
    fn the_checksum_matches_the_standard() {
        // FIPS 180-2, appendix B.1.
        let mut hasher = Hasher::default();
        hasher.add(b"a");
        hasher.add(b"bc");
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hasher.value().to_string(), expected);
    }

    #[test]
    fn upper_case_digits_are_equivalent() {
        let digits = "AB".repeat(32);
        assert_eq!(Checksum::parse(&digits), Checksum::parse(&digits.to_lowercase()));
    }

    #[test]
    fn an_invalid_checksum_is_rejected() {
        for digits in ["", "abc", &"g".repeat(64), &"a".repeat(65)] {
            let error = Checksum::split(&format!("a.gguf#sha256={digits}")).expect_err("the checksum is invalid");
            assert!(error.to_string().contains("64 hexadecimal digits"), "{error}");
        }
    }
}
