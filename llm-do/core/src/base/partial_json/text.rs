//! The characters of a string, with escapes.

/// Where in an escape a string is.
#[derive(Debug, Default)]
pub(super) enum Escape {
    /// In none.
    #[default]
    Plain,
    /// After a backslash, and after the first half of a pair if there was one.
    Begun(Option<u16>),
    /// After `\u` and some digits.
    Unit { high: Option<u16>, unit: u16, digits: u8 },
    /// After the first half of a pair.
    Half(u16),
}

/// What a character gives.
pub(super) enum Escaped {
    Nothing,
    Letter(char),
    /// The end of the string.
    End,
}

impl Escape {
    /// Reads a character; `None` if it is invalid.
    pub(super) fn read(&mut self, letter: char) -> Option<Escaped> {
        match std::mem::take(self) {
            Self::Plain => self.read_plain(letter),
            Self::Begun(high) if letter == 'u' => {
                *self = Self::Unit { high, unit: 0, digits: 0 };
                Some(Escaped::Nothing)
            }
            Self::Begun(None) => escaped(letter).map(Escaped::Letter),
            Self::Half(high) if letter == '\\' => {
                *self = Self::Begun(Some(high));
                Some(Escaped::Nothing)
            }
            Self::Begun(Some(_)) | Self::Half(_) => None,
            Self::Unit { high, unit, digits } => {
                let digit = u16::try_from(letter.to_digit(16)?).ok()?;
                self.read_digit(high, (unit << 4) | digit, digits + 1)
            }
        }
    }

    fn read_plain(&mut self, letter: char) -> Option<Escaped> {
        match letter {
            '"' => Some(Escaped::End),
            '\\' => {
                *self = Self::Begun(None);
                Some(Escaped::Nothing)
            }
            '\0'..='\x1f' => None,
            _ => Some(Escaped::Letter(letter)),
        }
    }

    fn read_digit(&mut self, high: Option<u16>, unit: u16, digits: u8) -> Option<Escaped> {
        if digits < 4 {
            *self = Self::Unit { high, unit, digits };
            return Some(Escaped::Nothing);
        }
        if high.is_none() && (0xD800..0xDC00).contains(&unit) {
            *self = Self::Half(unit);
            return Some(Escaped::Nothing);
        }
        let letter = char::decode_utf16(high.into_iter().chain([unit])).next()?.ok()?;
        Some(Escaped::Letter(letter))
    }
}

/// Returns the character that an escape of one letter stands for.
fn escaped(letter: char) -> Option<char> {
    Some(match letter {
        '"' | '\\' | '/' => letter,
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        _ => return None,
    })
}
