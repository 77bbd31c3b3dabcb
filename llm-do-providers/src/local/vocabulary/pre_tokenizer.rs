//! Pre-tokenizers: where a text is split before BPE merges.

use tokenizers::normalizers::NFC;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::{NormalizerWrapper, PreTokenizerWrapper, SplitDelimiterBehavior};

/// GPT-2: words with the space before them, numbers, punctuation.
const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

/// Llama 3: groups of at most three digits.
const LLAMA3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// Qwen 2: single digits.
const QWEN2: &str =
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// Mistral's Tekken: words end where a lower-case letter is followed by an upper-case one.
const TEKKEN: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// A pre-tokenizer.
pub(super) struct PreTokenizer {
    names: &'static [&'static str],
    patterns: &'static [&'static str],
    /// Whether texts are normalized to NFC.
    normalizes_nfc: bool,
    /// Whether a word that is a token is encoded as that token, ignoring the merges.
    pub(super) ignores_merges: bool,
}

/// The pre-tokenizers of the supported models, by their names in `tokenizer.ggml.pre`. Names and patterns are those
/// of llama.cpp (<https://github.com/ggml-org/llama.cpp/blob/master/src/llama-vocab.cpp>) and of the models'
/// `tokenizer.json`.
const PRE_TOKENIZERS: [PreTokenizer; 6] = [
    PreTokenizer {
        names: &["gpt-2", "gpt2", "jina-es", "jina-de", "phi-2", "olmo"],
        patterns: &[GPT2],
        normalizes_nfc: false,
        ignores_merges: false,
    },
    PreTokenizer {
        names: &["smollm", "codeshell", "refact", "starcoder", "command-r", "exaone"],
        patterns: &[r"\p{N}", GPT2],
        normalizes_nfc: false,
        ignores_merges: false,
    },
    PreTokenizer {
        names: &["llama3", "llama-v3", "llama-bpe", "falcon3", "pixtral"],
        patterns: &[LLAMA3],
        normalizes_nfc: false,
        ignores_merges: true,
    },
    PreTokenizer { names: &["smaug-bpe"], patterns: &[LLAMA3], normalizes_nfc: false, ignores_merges: false },
    PreTokenizer {
        names: &["qwen2", "deepseek-r1-qwen", "megrez"],
        patterns: &[QWEN2],
        normalizes_nfc: true,
        ignores_merges: false,
    },
    PreTokenizer { names: &["tekken"], patterns: &[TEKKEN], normalizes_nfc: false, ignores_merges: true },
];

/// The pre-tokenizer of older files without a name: GPT-2 with separate punctuation and digits.
const DEFAULT: PreTokenizer = PreTokenizer {
    names: &["default"],
    patterns: &[r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]"],
    normalizes_nfc: false,
    ignores_merges: false,
};

impl PreTokenizer {
    /// Returns the pre-tokenizer `name`, or the text of an error.
    pub(super) fn by_name(name: &str) -> Result<&'static Self, String> {
        if name.is_empty() || DEFAULT.names.contains(&name) {
            return Ok(&DEFAULT);
        }
        PRE_TOKENIZERS.iter().find(|pre_tokenizer| pre_tokenizer.names.contains(&name)).ok_or_else(|| {
            let known: Vec<_> = PRE_TOKENIZERS
                .iter()
                .flat_map(|pre_tokenizer| pre_tokenizer.names)
                .map(|name| format!("`{name}`"))
                .collect();
            format!(
                "unsupported pre-tokenizer `{name}` in the model's file; use a model with one of {}",
                known.join(", ")
            )
        })
    }

    /// Builds the pre-tokenizer, which ends with the mapping to the byte alphabet.
    pub(super) fn build(&self) -> tokenizers::Result<PreTokenizerWrapper> {
        let split = |pattern: &&str| {
            let pattern = SplitPattern::Regex((*pattern).to_owned());
            Split::new(pattern, SplitDelimiterBehavior::Isolated, false).map(PreTokenizerWrapper::from)
        };
        let mut steps = self.patterns.iter().map(split).collect::<tokenizers::Result<Vec<_>>>()?;
        steps.push(ByteLevel::new(false, true, false).into());
        Ok(Sequence::new(steps).into())
    }

    /// Returns the normalizer that runs before.
    pub(super) fn normalizer(&self) -> Option<NormalizerWrapper> {
        self.normalizes_nfc.then(|| NFC.into())
    }
}

#[cfg(test)]
mod tests {
    use tokenizers::{OffsetReferential, OffsetType, PreTokenizedString, PreTokenizer as _};

    use super::PreTokenizer;

    /// Returns the parts of `text`, joined with `|`.
    fn split(name: &str, text: &str) -> String {
        let splitter = PreTokenizer::by_name(name).and_then(|found| found.build().map_err(|error| error.to_string()));
        let mut parts = PreTokenizedString::from(text);
        splitter.expect("the name is known").pre_tokenize(&mut parts).expect("any text can be split");
        let parts = parts.get_splits(OffsetReferential::Original, OffsetType::Byte);
        parts.into_iter().map(|(_, range, _)| &text[range.0..range.1]).collect::<Vec<_>>().join("|")
    }

    /// The parts agree with the tokens of llama.cpp, for vocabularies that merge across all of them.
    #[test]
    fn each_pre_tokenizer_splits_words_and_numbers_its_own_way() {
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
    fn an_unknown_pre_tokenizer_error_lists_the_known_ones() {
        let error = PreTokenizer::by_name("martian").err().expect("the name is unknown");
        assert!(error.contains("`martian`") && error.contains("`qwen2`"), "{error}");
    }
}
