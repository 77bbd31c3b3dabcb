//! Where a text is split before its bytes are joined into tokens.

use tokenizers::normalizers::NFC;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::{NormalizerWrapper, PreTokenizerWrapper, SplitDelimiterBehavior};

/// GPT-2's: words with the space before them, numbers, signs.
const WORDS: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

/// Llama 3's: at most three digits together.
const THREE_DIGITS: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// Qwen 2's: each digit alone.
const ONE_DIGIT: &str =
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// Mistral's with the vocabulary Tekken: words end where small letters are followed by capitals.
const CASES: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// One way to split.
pub(super) struct Way {
    names: &'static [&'static str],
    patterns: &'static [&'static str],
    /// Whether letters and their accents are joined first.
    joins_accents: bool,
    /// Whether a word that is a token is that token, however its bytes would be joined.
    pub(super) takes_words: bool,
}

/// The ways of the families that run here, by their names in `tokenizer.ggml.pre`. Names and patterns are those of
/// llama.cpp (<https://github.com/ggml-org/llama.cpp/blob/master/src/llama-vocab.cpp>) and of the models' `tokenizer.json`.
const WAYS: [Way; 6] = [
    Way {
        names: &["gpt-2", "gpt2", "jina-es", "jina-de", "phi-2", "olmo"],
        patterns: &[WORDS],
        joins_accents: false,
        takes_words: false,
    },
    Way {
        names: &["smollm", "codeshell", "refact", "starcoder", "command-r", "exaone"],
        patterns: &[r"\p{N}", WORDS],
        joins_accents: false,
        takes_words: false,
    },
    Way {
        names: &["llama3", "llama-v3", "llama-bpe", "falcon3", "pixtral"],
        patterns: &[THREE_DIGITS],
        joins_accents: false,
        takes_words: true,
    },
    Way { names: &["smaug-bpe"], patterns: &[THREE_DIGITS], joins_accents: false, takes_words: false },
    Way {
        names: &["qwen2", "deepseek-r1-qwen", "megrez"],
        patterns: &[ONE_DIGIT],
        joins_accents: true,
        takes_words: false,
    },
    Way { names: &["tekken"], patterns: &[CASES], joins_accents: false, takes_words: true },
];

/// What files say that were made before they said how to split, or say nothing: GPT-2's with signs and digits apart.
const DEFAULT: Way = Way {
    names: &["default"],
    patterns: &[r"[\p{P}\$\+<=>\^~\|]+", WORDS, r"\p{N}+", "[0-9][0-9][0-9]"],
    joins_accents: false,
    takes_words: false,
};

impl Way {
    /// Returns the way called `name`; the error names it.
    pub(super) fn called(name: &str) -> Result<&'static Self, String> {
        if name.is_empty() || DEFAULT.names.contains(&name) {
            return Ok(&DEFAULT);
        }
        WAYS.iter().find(|way| way.names.contains(&name)).ok_or_else(|| {
            let known: Vec<_> = WAYS.iter().flat_map(|way| way.names).map(|name| format!("`{name}`")).collect();
            format!(
                "the model's text is split by `{name}`, which is not known here; take a model that says one of {}",
                known.join(", ")
            )
        })
    }

    /// Returns what splits a text, and makes letters of the bytes of each part.
    pub(super) fn splitter(&self) -> tokenizers::Result<PreTokenizerWrapper> {
        let split = |pattern: &&str| {
            let pattern = SplitPattern::Regex((*pattern).to_owned());
            Split::new(pattern, SplitDelimiterBehavior::Isolated, false).map(PreTokenizerWrapper::from)
        };
        let mut steps = self.patterns.iter().map(split).collect::<tokenizers::Result<Vec<_>>>()?;
        steps.push(ByteLevel::new(false, true, false).into());
        Ok(Sequence::new(steps).into())
    }

    /// Returns what is done to a text before it is split.
    pub(super) fn normalizer(&self) -> Option<NormalizerWrapper> {
        self.joins_accents.then(|| NFC.into())
    }
}

#[cfg(test)]
mod tests {
    use tokenizers::{OffsetReferential, OffsetType, PreTokenizedString, PreTokenizer as _};

    use super::Way;

    /// Returns the parts of `text`, with a bar between them.
    fn split(name: &str, text: &str) -> String {
        let splitter = Way::called(name).and_then(|way| way.splitter().map_err(|error| error.to_string()));
        let mut parts = PreTokenizedString::from(text);
        splitter.expect("the name is known").pre_tokenize(&mut parts).expect("any text can be split");
        let parts = parts.get_splits(OffsetReferential::Original, OffsetType::Byte);
        parts.into_iter().map(|(_, place, _)| &text[place.0..place.1]).collect::<Vec<_>>().join("|")
    }

    /// The parts are those by which llama.cpp's tokens agree with ours, for vocabularies that join across all of them.
    #[test]
    fn each_way_has_its_own_words_and_numbers() {
        let text = "We'Re  aB 12345;;\n\n x/\n";
        let expected = [
            ("gpt-2", "We|'|Re| | aB| 12345|;;|\n\n| x|/|\n"),
            ("smollm", "We|'|Re| | aB| |1|2|3|4|5|;;|\n\n| x|/|\n"),
            ("llama-bpe", "We|'Re| | aB| |123|45|;;\n\n| x|/\n"),
            ("smaug-bpe", "We|'Re| | aB| |123|45|;;\n\n| x|/\n"),
            ("qwen2", "We|'Re| | aB| |1|2|3|4|5|;;\n\n| x|/\n"),
            ("tekken", "We|'Re| | a|B| |1|2|3|4|5|;;\n\n| x|/\n"),
            ("", "We|'|Re| | aB| |123|45|;;|\n\n| x|/|\n"),
        ];
        for (name, parts) in expected {
            assert_eq!(split(name, text), parts, "{name}");
        }
    }

    #[test]
    fn an_unknown_way_is_told_the_known_ones() {
        let error = Way::called("martian").err().expect("nobody knows it");
        assert!(error.contains("`martian`") && error.contains("`qwen2`"), "{error}");
    }
}
