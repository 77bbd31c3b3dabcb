//! SHA-256 of a model file: as the hub names it, as the user pins it, as it is.

use std::fmt::{self, Write as _};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::super::fault;
use crate::error::ProviderError;

/// What stands between a model's name and the checksum that its file must have.
const MARK: &str = "#sha256=";

/// How much of a file is read at a time, in bytes.
const PIECE: usize = 1 << 20;

/// The SHA-256 of a file, in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Checksum(String);

impl Checksum {
    /// Returns the checksum that `text` is: 64 hexadecimal digits.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let is_one = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_one.then(|| Self(text.to_ascii_lowercase()))
    }

    /// Takes the checksum off the end of a model's name.
    pub(super) fn split(name: &str) -> Result<(&str, Option<Self>), ProviderError> {
        let Some((name, digits)) = name.rsplit_once(MARK) else { return Ok((name, None)) };
        match Self::parse(digits) {
            Some(checksum) => Ok((name, Some(checksum))),
            None => Err(fault::configuration(format!(
                "`{digits}` is no SHA-256, which has 64 hexadecimal digits; write `{name}{MARK}..`, or leave it out"
            ))),
        }
    }

    /// Refuses the file at `path` unless this is its checksum.
    pub(super) fn check(&self, path: &Path) -> Result<(), ProviderError> {
        let actual = Self::of_file(path).map_err(|source| {
            fault::configuration(format!("cannot read `{}`; check its permissions", path.display())).with_source(source)
        })?;
        if actual == *self {
            return Ok(());
        }
        Err(fault::configuration(format!(
            "`{}` is not the file that is meant: its SHA-256 is {actual}, and {self} is pinned; delete it and fetch it \
             anew, or correct what is pinned",
            path.display()
        )))
    }

    fn of_file(path: &Path) -> io::Result<Self> {
        let mut sum = Sum::default();
        sum.add_all(&mut File::open(path)?)?;
        Ok(sum.value())
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

/// A checksum that grows with its file.
#[derive(Clone, Debug, Default)]
pub(super) struct Sum(Sha256);

impl Sum {
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Adds all that `source` has; returns how many bytes that is.
    pub(super) fn add_all(&mut self, source: &mut impl Read) -> io::Result<u64> {
        let mut piece = vec![0; PIECE];
        let mut size = 0;
        loop {
            match source.read(&mut piece) {
                Ok(0) => return Ok(size),
                Ok(length) => {
                    self.add(&piece[..length]);
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
    use super::{Checksum, Sum};

    #[test]
    fn the_sum_is_the_one_of_the_standard() {
        // FIPS 180-2, appendix B.1.
        let mut sum = Sum::default();
        sum.add(b"a");
        sum.add(b"bc");
        let wanted = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sum.value().to_string(), wanted);
    }

    #[test]
    fn digits_in_upper_case_are_the_same() {
        let digits = "AB".repeat(32);
        assert_eq!(Checksum::parse(&digits), Checksum::parse(&digits.to_lowercase()));
    }

    #[test]
    fn what_is_no_checksum_is_refused() {
        for digits in ["", "abc", &"g".repeat(64), &"a".repeat(65)] {
            let error = Checksum::split(&format!("a.gguf#sha256={digits}")).expect_err("it is none");
            assert!(error.to_string().contains("64 hexadecimal digits"), "{error}");
        }
    }
}
