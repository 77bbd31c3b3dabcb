//! The words of an error object: its code, type and status, which determine its kind.

use serde_json::Value;

use super::is_word;
use crate::error::ErrorKind;

/// Google's reason for an invalid key.
pub(super) const BAD_KEY: &str = "API_KEY_INVALID";

/// Parts of codes and types, in lower case without `_`, `-` and `.`: servers write one word in each of these ways.
const CONTEXT: [&str; 8] = [
    "contextlength",
    "contextwindow",
    "exceedcontext",
    "inputtoolong",
    "maxprompttokens",
    "prompttoolong",
    "requesttoolarge",
    "tokenslimitreached",
];
/// Codes for a string, a list or a number in the request that is too long, not for the whole request.
const OF_A_FIELD: [&str; 4] = ["stringabovemax", "arrayabovemax", "integerabovemax", "abovemaxlength"];
const CREDIT: [&str; 5] =
    ["billing", "insufficientbalance", "insufficientcredit", "insufficientfunds", "paymentrequired"];
const FILTER: [&str; 5] =
    ["contentfilter", "contentpolicy", "datainspectionfailed", "responsibleai", "moderationblocked"];
const RATE: [&str; 4] = ["ratelimit", "resourceexhausted", "throttl", "toomanyrequests"];
const KINDS: [(ErrorKind, &[&str]); 5] = [
    (ErrorKind::RateLimited, &RATE),
    (
        ErrorKind::Overloaded,
        &["overloaded", "capacity", "insufficientsystemresource", "serviceunavailable", "unavailable"],
    ),
    (
        ErrorKind::Auth,
        &[
            "accessdenied",
            "authentication",
            "forbidden",
            "invalidapikey",
            "permission",
            "unauthenticated",
            "unauthorized",
        ],
    ),
    (ErrorKind::Unavailable, &["apierror", "deadline", "internal", "servererror", "timeout"]),
    (ErrorKind::InvalidRequest, &["badrequest", "invalid", "notfound", "unprocessable", "unsupported", "validation"]),
];
/// Phrases in messages, for errors without such a code or type.
const SENTENCES: [(ErrorKind, &[&str]); 3] = [
    (ErrorKind::RateLimited, &["rate limit", "ratelimit", "too many requests", "throttl", "rate exceeded"]),
    (
        ErrorKind::Overloaded,
        &["overloaded", "over capacity", "at capacity", "server is busy", "temporarily unavailable"],
    ),
    (ErrorKind::Auth, &["api key", "apikey", "unauthorized", "authentication", "permission denied"]),
];

/// The words of one error object.
#[derive(Debug)]
pub(super) struct Words {
    shown: Option<String>,
    /// All words, in lower case without `_`, `-` and `.`, separated by spaces.
    all: String,
}

impl Words {
    pub(super) fn from_error(error: &Value) -> Self {
        let raw = passed_on(error);
        let of = |error: &Value| ["code", "type", "status", "__type"].map(|key| error[key].as_str().map(str::to_owned));
        let inner = raw.as_ref().map(|raw| of(raw.get("error").unwrap_or(raw))).into_iter().flatten();
        let reasons = error["details"].as_array().into_iter().flatten();
        let reasons = reasons.filter_map(|detail| detail["reason"].as_str().map(str::to_owned));
        let words = of(error).into_iter().chain(inner).flatten().chain(reasons).filter(|word| is_word(word));
        let all = words.flat_map(|word| [" ".to_owned(), squeezed(&word)]).collect();
        Self { shown: shown(error), all }
    }

    /// Returns the word to show: the `code`, or else the `type` or the `status`, if it is a single word. A sentence
    /// might repeat the prompt.
    pub(super) fn shown(&self) -> Option<&str> {
        self.shown.as_deref()
    }

    /// Whether one of the words contains `part`.
    pub(super) fn has(&self, part: &str) -> bool {
        self.all.contains(part)
    }

    fn has_any(&self, parts: &[&str]) -> bool {
        parts.iter().any(|part| self.has(part))
    }

    pub(super) fn is_of_context(&self) -> bool {
        self.has_any(&CONTEXT) && !self.has_any(&OF_A_FIELD)
    }

    pub(super) fn is_of_credit(&self) -> bool {
        self.has_any(&CREDIT)
    }

    pub(super) fn is_of_filter(&self) -> bool {
        self.has_any(&FILTER)
    }

    pub(super) fn is_of_rate(&self) -> bool {
        self.has_any(&RATE)
    }

    /// Returns the kind that the words indicate, if any.
    pub(super) fn kind(&self) -> Option<ErrorKind> {
        KINDS.iter().find(|(_, parts)| self.has_any(parts)).map(|(kind, _)| *kind)
    }
}

/// Returns the kind that the server's message indicates, if any.
pub(super) fn kind_of_text(error: &Value) -> Option<ErrorKind> {
    let texts = messages(error);
    let names = |phrases: &[&str]| phrases.iter().any(|phrase| texts.iter().any(|text| text.contains(phrase)));
    SENTENCES.iter().find(|(_, phrases)| names(phrases)).map(|(kind, _)| *kind)
}

/// Whether the server's message contains this phrase, in lower case.
pub(super) fn has_phrase(error: &Value, phrase: &str) -> bool {
    messages(error).iter().any(|text| text.contains(phrase))
}

/// Returns the server's message in lower case, with that of the server behind OpenRouter.
pub(super) fn messages(error: &Value) -> Vec<String> {
    let passed_on = passed_on(error);
    let places = |error: &Value| {
        let places = [error, &error["message"], &error["detail"], &error["error"], &error["innererror"]["message"]];
        places.map(|place| place.as_str().map(str::to_ascii_lowercase))
    };
    let inner = passed_on.iter().flat_map(|raw| [raw, &raw["error"]]).flat_map(places);
    let raw = error["metadata"]["raw"].as_str().filter(|_| passed_on.is_none()).map(str::to_ascii_lowercase);
    let texts = places(error).into_iter().chain(inner).chain([raw]).flatten();
    // An HTML page of a proxy contains nothing about the request.
    texts.filter(|text| !is_page(text)).collect()
}

/// Whether a text is an HTML page; Qwen's messages start with a number in angle brackets.
fn is_page(text: &str) -> bool {
    let tag = text.trim_start().strip_prefix('<');
    tag.is_some_and(|tag| tag.starts_with(|letter: char| letter.is_ascii_alphabetic() || matches!(letter, '!' | '?')))
}

/// Returns the error of the server behind OpenRouter.
fn passed_on(error: &Value) -> Option<Value> {
    serde_json::from_str(error["metadata"]["raw"].as_str()?).ok()
}

fn shown(error: &Value) -> Option<String> {
    let has_letter = |text: &&str| text.bytes().any(|byte| byte.is_ascii_alphabetic());
    let reasons = error["details"].as_array().into_iter().flatten().filter_map(|detail| detail["reason"].as_str());
    let words = ["code", "type", "status"].into_iter().filter_map(|key| error[key].as_str());
    let mut words = reasons.filter(|reason| *reason == BAD_KEY).chain(words).filter(|text| is_word(text));
    words.find(has_letter).map(str::to_owned)
}

fn squeezed(word: &str) -> String {
    word.chars().filter(|letter| !matches!(letter, '_' | '-' | '.')).map(|letter| letter.to_ascii_lowercase()).collect()
}
