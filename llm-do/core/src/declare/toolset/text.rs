//! Strings that are built at compile time.

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

const fn hashed(hash: u64, byte: u8) -> u64 {
    (hash ^ byte as u64).wrapping_mul(FNV_PRIME)
}

/// A string of at most `N` bytes.
#[derive(Clone, Copy)]
pub(super) struct Text<const N: usize> {
    bytes: [u8; N],
    length: usize,
    /// The FNV-1a hash of the text. Names are compared pairwise, and comparing hashes takes the compiler one step.
    hash: u64,
}

impl<const N: usize> Text<N> {
    pub(super) const fn new() -> Self {
        Self { bytes: [0; N], length: 0, hash: FNV_OFFSET }
    }

    /// Appends the part of `text` that fits; call [`fits`](Self::fits) first if the full text is required.
    pub(super) const fn push(&mut self, text: &str) {
        let text = text.as_bytes();
        let mut index = 0;
        while index < text.len() && self.length < N {
            self.bytes[self.length] = text[index];
            self.length += 1;
            self.hash = hashed(self.hash, text[index]);
            index += 1;
        }
    }

    pub(super) const fn fits(&self, text: &str) -> bool {
        text.len() <= N - self.length
    }

    /// Compares hashes first, since comparing text takes the compiler a step for each byte.
    pub(super) const fn is(&self, other: &Self) -> bool {
        self.hash == other.hash
            && self.length == other.length
            && have_same_prefix(&self.bytes, &other.bytes, self.length)
    }

    pub(super) const fn as_str(&self) -> &str {
        match std::str::from_utf8(self.bytes.split_at(self.length).0) {
            Ok(text) => text,
            // The text was cut off inside a character.
            Err(error) => match std::str::from_utf8(self.bytes.split_at(error.valid_up_to()).0) {
                Ok(text) => text,
                Err(_) => "",
            },
        }
    }
}

pub(super) const fn same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    left.len() == right.len() && have_same_prefix(left, right, left.len())
}

/// Returns the FNV-1a hash of a text.
pub(super) const fn hash(text: &str) -> u64 {
    let (text, mut hash, mut index) = (text.as_bytes(), FNV_OFFSET, 0);
    while index < text.len() {
        hash = hashed(hash, text[index]);
        index += 1;
    }
    hash
}

/// Returns whether the first `length` bytes are equal.
const fn have_same_prefix(left: &[u8], right: &[u8], length: usize) -> bool {
    let mut index = 0;
    while index < length {
        if left[index] != right[index] {
            return false;
        }
        index += 1;
    }
    true
}
