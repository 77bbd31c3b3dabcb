//! Digests of the files of a project. An agreement of the user covers files with these digests.

use std::collections::BTreeMap;
use std::io::{self, Read};

use serde::{Deserialize, Serialize};
use sha2::Digest as _;
use sha2::Sha256;

/// The digests of files, by the path from the project's root.
#[doc(hidden)]
pub type Digests = BTreeMap<String, Digest>;

/// The SHA-256 of a file, in hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
#[doc(hidden)]
pub struct Digest(String);

impl Digest {
    #[must_use]
    pub fn new(bytes: &[u8]) -> Self {
        Self::hexadecimal(&Sha256::digest(bytes))
    }

    /// Returns the first digits.
    pub(super) fn beginning(&self, digits: usize) -> &str {
        &self.0[..digits]
    }

    pub(super) fn of_reader(mut reader: impl Read) -> io::Result<Self> {
        let (mut hash, mut buffer) = (Sha256::new(), vec![0; 64 << 10]);
        loop {
            match reader.read(&mut buffer)? {
                0 => return Ok(Self::hexadecimal(&hash.finalize())),
                count => hash.update(&buffer[..count]),
            }
        }
    }

    fn hexadecimal(bytes: &[u8]) -> Self {
        use std::fmt::Write;
        Self(bytes.iter().fold(String::new(), |mut text, byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        }))
    }
}
