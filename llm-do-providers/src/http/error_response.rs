//! Converts a status or an error object to an error that states what to do. It does not quote the server's message.

mod context_full;
mod find;
mod place;
mod redact;
#[cfg(test)]
mod tests;
mod words;

use std::time::Duration;

use serde_json::Value;

pub(super) use self::find::text_of;
pub(crate) use self::find::{answered_error, error_of, flat_error, has_content, names_error};
pub(super) use self::redact::redacted;
use self::words::{Words, has_phrase};
use crate::error::{ErrorKind, ProviderError};
use crate::retry::bounded;

/// Returns the error for the response of status `status` with this body, to the request `sent`; `key` names where the key is
/// set.
pub(crate) fn refused(provider: &str, key: &str, status: u16, body: &[u8], sent: &[u8]) -> ProviderError {
    let body: Value =
        serde_json::from_slice(body).unwrap_or_else(|_| Value::String(String::from_utf8_lossy(body).into_owned()));
    // Google refuses a stream with a list of one error. Mistral and older versions of vLLM put its fields at the top
    // level.
    let body = body.get(0).unwrap_or(&body);
    let error = flat_error(body);
    let error = error.as_ref().unwrap_or(body);
    classify(
        &Refusal { provider, key, error, words: Words::from_error(error), place: place::find(error, sent) },
        status,
    )
}

/// Returns the error for an error object, or a value in its place, in an answer of status 200.
#[must_use]
pub(crate) fn reported(provider: &str, key: &str, error: &Value) -> ProviderError {
    let refusal = Refusal { provider, key, error, words: Words::from_error(error), place: place::find(error, b"") };
    if let Some(status) =
        ["code", "status", "status_code", "http_status_code"].iter().find_map(|key| status(&error[key]))
    {
        return classify(&refusal, status);
    }
    let (kind, text) = by_words(&refusal).unwrap_or_else(|| {
        let kind = refusal.words.kind().or_else(|| words::kind_of_text(error)).unwrap_or(ErrorKind::Unavailable);
        let code = refusal.in_brackets();
        (kind, format!("the provider reported an error in its answer{code}; try again, or look at its logs"))
    });
    refusal.error(kind, text, 200)
}

/// An error object of a server, and what is reported about it.
struct Refusal<'a> {
    provider: &'a str,
    key: &'a str,
    error: &'a Value,
    words: Words,
    /// The part of the request that the error is about.
    place: Option<String>,
}

impl Refusal<'_> {
    /// Returns its code and its place, in brackets.
    fn in_brackets(&self) -> String {
        let parts: Vec<_> = [self.words.shown(), self.place.as_deref()].into_iter().flatten().collect();
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join("; ")) }
    }

    /// Sets whether and when an error may be retried, if its kind does not determine that.
    fn error(&self, kind: ErrorKind, text: String, status: u16) -> ProviderError {
        let mut error = ProviderError::new(self.provider, kind, text).with_status(status);
        let lasts = kind == ErrorKind::NoCredit || self.is_used_up() || is_unread_file(self.error);
        if lasts {
            error = error.with_should_retry(false);
        } else if self.is_unread_call() {
            error = error.with_should_retry(true);
        }
        match delay(self.error) {
            Some(wait) => error.with_retry_after(wait),
            None => error,
        }
    }

    /// Whether a retry cannot succeed, after any delay.
    fn is_used_up(&self) -> bool {
        self.words.has("insufficientquota") || is_of_the_day(self.error)
    }

    /// Whether it is a call that Groq could not parse (<https://console.groq.com/docs/tool-use>): a retry writes a new call.
    fn is_unread_call(&self) -> bool {
        self.words.has("toolusefailed")
    }

    /// Whether the account has no credit, which Anthropic refuses as an invalid request
    /// (<https://github.com/anthropics/claude-code/issues/66314>).
    fn is_without_credit(&self) -> bool {
        self.words.is_of_credit() || has_phrase(self.error, "credit balance is too low")
    }

    /// Whether a filter stopped the request or its answer. Anthropic reports a stopped answer, even within streams, as
    /// an invalid request (<https://github.com/anthropics/claude-code/issues/58367>).
    fn is_filtered(&self) -> bool {
        self.words.is_of_filter() || has_phrase(self.error, "content filtering policy")
    }

    fn is_too_long(&self) -> bool {
        !self.words.is_of_rate() && (self.words.is_of_context() || context_full::is_reported(self.error))
    }
}

fn classify(refusal: &Refusal<'_>, status: u16) -> ProviderError {
    let (code, key) = (refusal.in_brackets(), refusal.key);
    let (kind, text) = match status {
        401 => refused_key(&code, key),
        402 => without_credit(&code),
        403 if is_flagged(refusal.error) => filtered(&code),
        403 => (ErrorKind::Auth, format!("the key lacks a permission{code}; check the permissions of {key}")),
        404 => (ErrorKind::InvalidRequest, format!("not found{code}; check the model's name and the base URL")),
        413 if refusal.words.is_of_rate() => {
            let text = format!(
                "the request has more tokens than the rate limit allows in one request{code}; shorten it, or ask the provider for \
                 a higher limit"
            );
            (ErrorKind::ContextTooLong, text)
        }
        413 => {
            let text = format!("the request is too large for the server{code}; shorten it, or attach fewer files");
            (ErrorKind::ContextTooLong, text)
        }
        400 if bad_key(refusal.error) => refused_key(&code, key),
        429 if refusal.is_used_up() => used_up(&code),
        429 if refusal.words.is_of_credit() => without_credit(&code),
        429 => too_many(&code),
        300..=399 => (
            ErrorKind::InvalidRequest,
            "the server redirects; set the base URL to the target of the redirect".to_owned(),
        ),
        500 if is_unread_file(refusal.error) => {
            let text = format!("the model does not accept a file of this type{code}; remove it, or use another model");
            (ErrorKind::InvalidRequest, text)
        }
        // Some servers report a fault of the request as their own failure.
        500 if refusal.is_too_long() => too_long(&code),
        498 | 503 | 529 => overloaded(&code),
        // A conflict with another request is transient.
        408 | 409 | 500.. => (ErrorKind::Unavailable, format!("the provider failed to answer{code}; try again later")),
        _ => by_words(refusal).or_else(|| by_code(refusal)).unwrap_or_else(|| {
            let text = format!("the request was refused{code}; check what the model and the server support");
            (ErrorKind::InvalidRequest, text)
        }),
    };
    refusal.error(kind, text, status)
}

/// Classifies an error of any status by its words; returns its kind, and what to do.
fn by_words(refusal: &Refusal<'_>) -> Option<(ErrorKind, String)> {
    let code = refusal.in_brackets();
    Some(match () {
        () if refusal.is_without_credit() => without_credit(&code),
        () if refusal.is_used_up() => used_up(&code),
        () if refusal.is_unread_call() => {
            let text = "the model wrote a tool call that the server could not parse";
            (ErrorKind::Protocol, format!("{text}{code}; try again, or simplify the tools' arguments"))
        }
        () if refusal.is_filtered() => filtered(&code),
        () if refusal.is_too_long() => too_long(&code),
        () => return None,
    })
}

/// Classifies a refusal by its code, which is more exact than its status: proxies replace the status by 400.
fn by_code(refusal: &Refusal<'_>) -> Option<(ErrorKind, String)> {
    let (code, key) = (refusal.in_brackets(), refusal.key);
    Some(match refusal.words.kind()? {
        ErrorKind::RateLimited => too_many(&code),
        ErrorKind::Overloaded => overloaded(&code),
        ErrorKind::Auth => refused_key(&code, key),
        _ => return None,
    })
}

fn too_many(code: &str) -> (ErrorKind, String) {
    (ErrorKind::RateLimited, format!("too many requests{code}; wait, or ask the provider for a higher limit"))
}

fn overloaded(code: &str) -> (ErrorKind, String) {
    (ErrorKind::Overloaded, format!("the provider is overloaded{code}; try again later"))
}

fn refused_key(code: &str, key: &str) -> (ErrorKind, String) {
    (ErrorKind::Auth, format!("the key was refused{code}; check {key}"))
}

fn too_long(code: &str) -> (ErrorKind, String) {
    let text = format!("the conversation is longer than the model's context{code}; shorten or summarise it");
    (ErrorKind::ContextTooLong, text)
}

fn filtered(code: &str) -> (ErrorKind, String) {
    let text = format!("the provider's content filter refused the request or its answer{code}; rephrase the request");
    (ErrorKind::ContentFilter, text)
}

fn used_up(code: &str) -> (ErrorKind, String) {
    (ErrorKind::RateLimited, format!("the quota is used up{code}; check the plan and the billing"))
}

fn without_credit(code: &str) -> (ErrorKind, String) {
    (ErrorKind::NoCredit, format!("the account has no credit left{code}; check the plan and the billing"))
}

/// Whether OpenRouter reports flagged content; other servers use this status for a rejected key.
fn is_flagged(error: &Value) -> bool {
    error["metadata"].get("flagged_input").is_some()
}

/// Whether llama.cpp refuses an image or audio, which it reports as its own failure.
fn is_unread_file(error: &Value) -> bool {
    error["message"].as_str().is_some_and(|message| message.contains("input is not supported"))
}

/// Whether Google refuses an invalid key, which it reports as an invalid argument.
fn bad_key(error: &Value) -> bool {
    error["details"].as_array().is_some_and(|details| details.iter().any(|detail| detail["reason"] == words::BAD_KEY))
}

/// Whether a daily quota of Google is exhausted.
fn is_of_the_day(error: &Value) -> bool {
    let violations =
        error["details"].as_array().into_iter().flatten().filter_map(|detail| detail["violations"].as_array());
    let mut quotas = violations.flatten().filter_map(|violation| violation["quotaId"].as_str());
    quotas.any(|quota| quota.contains("PerDay"))
}

/// Returns the delay that Google requests: `retryDelay` of a detail, such as `34s`.
fn delay(error: &Value) -> Option<Duration> {
    let details = error["details"].as_array()?.iter();
    let seconds = details.into_iter().find_map(|detail| detail["retryDelay"].as_str()?.strip_suffix('s')?.parse().ok());
    bounded(seconds?)
}

/// Whether a text is a single word, not a sentence.
pub(super) fn is_word(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
}

/// Returns the HTTP status that some servers put into `code`.
fn status(code: &Value) -> Option<u16> {
    let status = code.as_u64().or_else(|| code.as_str()?.parse().ok())?;
    u16::try_from(status).ok().filter(|status| (400..600).contains(status))
}
