//! Texts that are put together at compile time.

/// A text of at most `N` bytes.
#[derive(Clone, Copy)]
pub(super) struct Text<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

impl<const N: usize> Text<N> {
    pub(super) const fn new() -> Self {
        Self { bytes: [0; N], length: 0 }
    }

    /// Adds as much of `text` as there is room for; whoever must not lose any asks [`fits`](Self::fits).
    pub(super) const fn push(&mut self, text: &str) {
        let text = text.as_bytes();
        let mut index = 0;
        while index < text.len() && self.length < N {
            self.bytes[self.length] = text[index];
            self.length += 1;
            index += 1;
        }
    }

    pub(super) const fn fits(&self, text: &str) -> bool {
        text.len() <= N - self.length
    }

    /// Compares without reading the text, which takes the compiler a step for each byte.
    pub(super) const fn is(&self, other: &Self) -> bool {
        self.length == other.length && begin_alike(&self.bytes, &other.bytes, self.length)
    }

    pub(super) const fn as_str(&self) -> &str {
        match std::str::from_utf8(self.bytes.split_at(self.length).0) {
            Ok(text) => text,
            // The end was cut off inside a character.
            Err(error) => match std::str::from_utf8(self.bytes.split_at(error.valid_up_to()).0) {
                Ok(text) => text,
                Err(_) => "",
            },
        }
    }
}

pub(super) const fn same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    left.len() == right.len() && begin_alike(left, right, left.len())
}

/// Returns whether the first `length` bytes are the same.
const fn begin_alike(left: &[u8], right: &[u8], length: usize) -> bool {
    let mut index = 0;
    while index < length {
        if left[index] != right[index] {
            return false;
        }
        index += 1;
    }
    true
}
