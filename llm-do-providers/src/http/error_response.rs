//! Converts a status or an error object to an error that states what to do, without the server's prose.

use std::time::Duration;

use serde_json::Value;

use crate::error::{ErrorKind, ProviderError};

/// Phrases by which servers report a conversation that exceeds the context; only some have a code for it.
const TOO_LONG: [&str; 7] = [
    "exceed context limit",
    "context length",
    "context size",
    "context window",
    "exceeds the maximum number of tokens",
    "input is too long",
    "prompt is too long",
];

/// Returns the error for the response of status `status` with this body; `key` names where the key is set.
pub(crate) fn refused(provider: &str, key: &str, status: u16, body: &[u8]) -> ProviderError {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    // Google refuses a stream with a list of one error.
    let body = body.get(0).unwrap_or(&body);
    // Mistral and older versions of vLLM put the error's fields at the top.
    classify(provider, key, status, body.get("error").unwrap_or(body))
}

/// Returns the error for an error object, or a value in its place, in an answer of status 200.
#[must_use]
pub(crate) fn reported(provider: &str, key: &str, error: &Value) -> ProviderError {
    if let Some(status) = status(&error["code"]) {
        return classify(provider, key, status, error);
    }
    let word = token(error);
    let has = |part: &str| word.as_ref().is_some_and(|word| word.contains(part));
    let code = in_brackets(word.as_deref());
    let (kind, text) = by_words(error, word.as_deref(), &code).unwrap_or_else(|| {
        let kind = match () {
            () if has("rate_limit") => ErrorKind::RateLimited,
            () if has("overloaded") => ErrorKind::Overloaded,
            () if has("authentication") || has("permission") => ErrorKind::Auth,
            () if has("invalid") => ErrorKind::InvalidRequest,
            () => ErrorKind::Unavailable,
        };
        (kind, format!("the provider reported an error in its answer{code}; try again, or look at its logs"))
    });
    refusal(ProviderError::new(provider, kind, text).with_status(200), error, word.as_deref())
}

fn classify(provider: &str, key: &str, status: u16, error: &Value) -> ProviderError {
    let word = bad_key(error).map(str::to_owned).or_else(|| token(error));
    let word = word.as_deref();
    let code = in_brackets(word);
    let (kind, text) = match status {
        401 => (ErrorKind::Auth, format!("the key was refused{code}; check {key}")),
        402 => without_credit(&code),
        403 if is_flagged(error) => filtered(&code),
        403 => (ErrorKind::Auth, format!("the key lacks a permission{code}; check the permissions of {key}")),
        404 => (ErrorKind::InvalidRequest, format!("not found{code}; check the model's name and the base URL")),
        413 => {
            let text = format!("the request is too large for the server{code}; shorten it, or attach fewer files");
            (ErrorKind::ContextTooLong, text)
        }
        400 if bad_key(error).is_some() => (ErrorKind::Auth, format!("the key was refused{code}; check {key}")),
        429 if is_used_up(error, word) => used_up(&code),
        429 => {
            let text = format!("too many requests{code}; wait, or ask the provider for a higher limit");
            (ErrorKind::RateLimited, text)
        }
        300..=399 => (
            ErrorKind::InvalidRequest,
            "the server redirects; set the base URL to the target of the redirect".to_owned(),
        ),
        500 if is_unread_file(error) => {
            let text = format!("the model does not accept a file of this type{code}; remove it, or use another model");
            (ErrorKind::InvalidRequest, text)
        }
        498 | 503 | 529 => (ErrorKind::Overloaded, format!("the provider is overloaded{code}; try again later")),
        // A conflict with another request is transient.
        408 | 409 | 500.. => (ErrorKind::Unavailable, format!("the provider failed to answer{code}; try again later")),
        _ => by_words(error, word, &code).unwrap_or_else(|| {
            let text = format!("the request was refused{code}; check what the model and the server support");
            (ErrorKind::InvalidRequest, text)
        }),
    };
    refusal(ProviderError::new(provider, kind, text).with_status(status), error, word)
}

/// Classifies an error by its words alone, for any status; returns its kind, and what to do.
fn by_words(error: &Value, word: Option<&str>, code: &str) -> Option<(ErrorKind, String)> {
    Some(match () {
        () if is_without_credit(error) => without_credit(code),
        () if is_used_up(error, word) => used_up(code),
        () if is_unread_call(word) => {
            let text = "the model wrote a tool call that the server could not parse";
            (ErrorKind::Protocol, format!("{text}{code}; try again, or simplify the tools' arguments"))
        }
        () if is_too_long(error) => {
            let text = format!("the conversation is longer than the model's context{code}; shorten or summarise it");
            (ErrorKind::ContextTooLong, text)
        }
        () if is_filtered(error, word) => filtered(code),
        () => return None,
    })
}

/// Adds to an error whether and when it may be retried, where its kind does not determine it.
fn refusal(mut refusal: ProviderError, error: &Value, word: Option<&str>) -> ProviderError {
    let lasts =
        refusal.status() == Some(402) || is_used_up(error, word) || is_without_credit(error) || is_unread_file(error);
    if lasts {
        refusal = refusal.with_should_retry(false);
    } else if is_unread_call(word) {
        refusal = refusal.with_should_retry(true);
    }
    match delay(error) {
        Some(wait) => refusal.with_retry_after(wait),
        None => refusal,
    }
}

fn filtered(code: &str) -> (ErrorKind, String) {
    let text = format!("the provider's content filter refused the request or its answer{code}; rephrase the request");
    (ErrorKind::ContentFilter, text)
}

fn used_up(code: &str) -> (ErrorKind, String) {
    (ErrorKind::RateLimited, format!("the quota is used up{code}; check the plan and the billing"))
}

fn without_credit(code: &str) -> (ErrorKind, String) {
    (ErrorKind::RateLimited, format!("the account has no credit left{code}; check the plan and the billing"))
}

fn in_brackets(code: Option<&str>) -> String {
    code.map(|code| format!(" ({code})")).unwrap_or_default()
}

/// Whether waiting does not help, for any requested delay.
fn is_used_up(error: &Value, word: Option<&str>) -> bool {
    word == Some("insufficient_quota") || is_of_the_day(error)
}

/// Whether it is a call that Groq could not parse (<https://console.groq.com/docs/tool-use>): a retry writes a new call.
fn is_unread_call(word: Option<&str>) -> bool {
    word == Some("tool_use_failed")
}

/// Whether the account has no credit, which Anthropic refuses as an invalid request
/// (<https://github.com/anthropics/claude-code/issues/66314>).
fn is_without_credit(error: &Value) -> bool {
    has_phrase(error, "credit balance is too low")
}

/// Whether a filter stopped the request or its answer; Anthropic reports the latter, even within streams, as an invalid
/// request (<https://github.com/anthropics/claude-code/issues/58367>).
fn is_filtered(error: &Value, word: Option<&str>) -> bool {
    let by_word = word.is_some_and(|word| word.contains("content_filter") || word.contains("content_policy"));
    by_word || has_phrase(error, "content filtering policy")
}

fn is_too_long(error: &Value) -> bool {
    let by_code = token(error).is_some_and(|code| code.contains("context_length") || code.contains("exceed_context"));
    by_code || TOO_LONG.iter().any(|phrase| has_phrase(error, phrase))
}

/// Whether the server's prose has this phrase, in lower case.
fn has_phrase(error: &Value, phrase: &str) -> bool {
    // OpenRouter passes on the message of the model's provider.
    let messages = [&error["message"], &error["metadata"]["raw"]];
    messages.iter().any(|text| text.as_str().is_some_and(|text| text.to_ascii_lowercase().contains(phrase)))
}

/// Whether OpenRouter reports flagged content, with the status that other servers use for a refused key.
fn is_flagged(error: &Value) -> bool {
    error["metadata"].get("flagged_input").is_some()
}

/// Whether it is llama.cpp's refusal of an image or a sound, which it reports as a failure of its own.
fn is_unread_file(error: &Value) -> bool {
    error["message"].as_str().is_some_and(|message| message.contains("input is not supported"))
}

/// Google's code for an invalid key, which it refuses as an invalid argument.
fn bad_key(error: &Value) -> Option<&str> {
    let mut reasons = error["details"].as_array()?.iter().filter_map(|detail| detail["reason"].as_str());
    reasons.find(|reason| *reason == "API_KEY_INVALID")
}

/// Whether it is a quota of Google's that lasts for the day.
fn is_of_the_day(error: &Value) -> bool {
    let violations =
        error["details"].as_array().into_iter().flatten().filter_map(|detail| detail["violations"].as_array());
    let mut quotas = violations.flatten().filter_map(|violation| violation["quotaId"].as_str());
    quotas.any(|quota| quota.contains("PerDay"))
}

/// The delay that Google asks for: `retryDelay` of a detail, such as `34s`.
fn delay(error: &Value) -> Option<Duration> {
    let details = error["details"].as_array()?.iter();
    let seconds = details.into_iter().find_map(|detail| detail["retryDelay"].as_str()?.strip_suffix('s')?.parse().ok());
    Duration::try_from_secs_f64(seconds?).ok()
}

/// The `code`, or else the `type` or the `status`, of an error object, if it is a bare word: a sentence might repeat the
/// prompt.
fn token(error: &Value) -> Option<String> {
    let words = ["code", "type", "status"].into_iter().filter_map(|key| error[key].as_str());
    words
        .filter(|text| is_word(text))
        .find(|text| text.bytes().any(|byte| byte.is_ascii_alphabetic()))
        .map(str::to_owned)
}

/// Whether a text is a bare word, not a sentence.
pub(super) fn is_word(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
}

/// The HTTP status that some servers put into `code`.
fn status(code: &Value) -> Option<u16> {
    let status = code.as_u64().or_else(|| code.as_str()?.parse().ok())?;
    u16::try_from(status).ok().filter(|status| (400..600).contains(status))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{Value, json};

    use super::{refused, reported};
    use crate::error::{ErrorKind, ProviderError};

    fn refusal(status: u16, error: &Value) -> ProviderError {
        refused("p", "`KEY`", status, json!({ "error": error }).to_string().as_bytes())
    }

    #[test]
    fn each_status_has_a_kind() {
        let kinds = [
            (302, ErrorKind::InvalidRequest),
            (400, ErrorKind::InvalidRequest),
            (401, ErrorKind::Auth),
            (402, ErrorKind::RateLimited),
            (403, ErrorKind::Auth),
            (404, ErrorKind::InvalidRequest),
            (408, ErrorKind::Unavailable),
            (409, ErrorKind::Unavailable),
            (413, ErrorKind::ContextTooLong),
            (429, ErrorKind::RateLimited),
            (500, ErrorKind::Unavailable),
            (501, ErrorKind::Unavailable),
            (503, ErrorKind::Overloaded),
            (522, ErrorKind::Unavailable),
            (529, ErrorKind::Overloaded),
        ];
        for (status, kind) in kinds {
            assert_eq!(refusal(status, &Value::Null).kind(), kind, "{status}");
        }
    }

    #[test]
    fn the_code_is_shown_and_the_message_is_not() {
        let error = refusal(404, &json!({"message": "no model my secret plan", "code": "model_not_found"}));
        let text = "p: status 404: not found (model_not_found); check the model's name and the base URL";
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn a_code_that_is_a_sentence_is_not_shown() {
        for error in
            [json!({"code": "my secret plan", "type": null}), json!("my secret plan"), json!({"code": "x".repeat(65)})]
        {
            assert_eq!(refusal(404, &error).to_string(), refusal(404, &Value::Null).to_string());
        }
        assert_eq!(refused("p", "", 500, b"<html>").kind(), ErrorKind::Unavailable);
    }

    #[test]
    fn an_error_object_is_judged_by_its_code() {
        assert_eq!(reported("p", "", &json!({"code": 502, "type": "upstream"})).status(), Some(502));
        assert_eq!(reported("p", "", &json!({"code": "429"})).kind(), ErrorKind::RateLimited);
        assert_eq!(reported("p", "", &json!({"type": "invalid_request_error"})).kind(), ErrorKind::InvalidRequest);
        assert_eq!(reported("p", "", &json!({"type": "overloaded_error"})).kind(), ErrorKind::Overloaded);
        assert_eq!(reported("p", "", &json!("overloaded")).kind(), ErrorKind::Unavailable);
        assert_eq!(reported("p", "", &json!({"code": 7})).status(), Some(200));
    }

    #[test]
    fn a_too_long_conversation_is_distinguished_from_other_refusals() {
        let cases = [
            json!({"code": "context_length_exceeded", "message": "This model's maximum context length is 8192 tokens."}),
            json!({"type": "invalid_request_error", "message": "prompt is too long: 210000 tokens > 200000 maximum"}),
            json!({"message": "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000"}),
            json!({"code": 400, "message": "The input token count (9) exceeds the maximum number of tokens allowed (8)."}),
            json!({"code": 400, "type": "exceed_context_size_error", "message": "the request exceeds the available size"}),
        ];
        for error in cases {
            assert_eq!(refusal(400, &error).kind(), ErrorKind::ContextTooLong, "{error}");
        }
    }

    #[test]
    fn a_quota_that_is_used_up_is_not_waited_for() {
        let quota = json!({"type": "insufficient_quota", "code": "insufficient_quota"});
        for error in [refusal(429, &quota), reported("p", "", &quota), refusal(402, &Value::Null)] {
            assert_eq!((error.kind(), error.should_retry()), (ErrorKind::RateLimited, Some(false)), "{error}");
            assert!(error.to_string().contains("check the plan and the billing"), "{error}");
        }
    }

    #[test]
    fn a_file_that_a_local_model_cannot_read_is_not_sent_again() {
        let message = "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj";
        let error = refusal(500, &json!({"code": 500, "message": message, "type": "server_error"}));
        assert_eq!((error.kind(), error.should_retry()), (ErrorKind::InvalidRequest, Some(false)));
        assert_eq!(refusal(500, &json!({"message": "out of memory"})).should_retry(), None);
    }

    #[test]
    fn a_filter_is_named_as_one() {
        assert_eq!(refusal(400, &json!({"code": "content_filter"})).kind(), ErrorKind::ContentFilter);
    }

    #[test]
    fn an_account_without_credit_is_distinguished_from_an_invalid_request() {
        let message = "Your credit balance is too low to access the Anthropic API.";
        let raw = json!({"message": message, "type": "invalid_request_error"});
        let passed_on =
            json!({"code": 400, "message": "Provider returned error", "metadata": {"raw": raw.to_string()}});
        for error in [refusal(400, &raw), reported("p", "", &raw), refusal(400, &passed_on)] {
            assert_eq!((error.kind(), error.should_retry()), (ErrorKind::RateLimited, Some(false)), "{error}");
            assert!(error.to_string().contains("no credit left"), "{error}");
        }
    }

    #[test]
    fn google_sends_the_time_to_wait_in_a_detail() {
        let detail = json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"});
        let error = json!({"code": 429, "status": "RESOURCE_EXHAUSTED", "details": [detail]});
        assert_eq!(refusal(429, &error).retry_after(), Some(Duration::from_millis(34_500)));
        let body = json!([{ "error": error }]).to_string();
        assert!(refused("p", "", 429, body.as_bytes()).to_string().contains("RESOURCE_EXHAUSTED"));
    }

    #[test]
    fn google_refuses_a_key_as_an_argument_and_a_quota_of_the_day_with_a_wait() {
        let error = json!({"code": 400, "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]});
        assert_eq!(
            refusal(400, &error).to_string(),
            "p: status 400: the key was refused (API_KEY_INVALID); check `KEY`"
        );
        assert_eq!(refusal(400, &error).kind(), ErrorKind::Auth);
        let quota = |id: &str| json!({"details": [{"violations": [{"quotaId": id}]}, {"retryDelay": "3s"}]});
        assert_eq!(refusal(429, &quota("GenerateRequestsPerDayPerProject")).should_retry(), Some(false));
        assert_eq!(refusal(429, &quota("GenerateRequestsPerMinutePerProject")).should_retry(), None);
    }
}
