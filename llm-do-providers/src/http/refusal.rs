//! From a status or an error object to an error that says what to do, without the server's prose.

use serde_json::Value;

use crate::error::{ErrorKind, ProviderError};

/// Returns the error for the refusal `status`; `code` is the server's word for it, and `key` says where the key is set.
pub(super) fn refused(provider: &str, key: &str, status: u16, code: Option<&str>) -> ProviderError {
    let code = code.map(|code| format!(" ({code})")).unwrap_or_default();
    let (kind, text) = match status {
        401 => (ErrorKind::Auth, format!("the key was refused{code}; check {key}")),
        403 => (ErrorKind::Auth, format!("the key may not do this{code}; check the permissions of {key}")),
        404 => (ErrorKind::InvalidRequest, format!("not found{code}; check the model's name and the base URL")),
        429 => {
            let text = format!("too many requests{code}; wait, or ask the provider for a higher limit");
            (ErrorKind::RateLimited, text)
        }
        300..=399 => (ErrorKind::InvalidRequest, "the server redirects; set the base URL to where it does".to_owned()),
        408 | 500.. => (ErrorKind::Unavailable, format!("the provider fails or is overloaded{code}; try again later")),
        _ => {
            let text = format!("the request was refused{code}; check what the model and the server support");
            (ErrorKind::InvalidRequest, text)
        }
    };
    ProviderError::new(provider, kind, text).with_status(status)
}

/// Returns the error for an error object, or whatever stands in its place, in an answer of status 200.
pub(crate) fn reported(provider: &str, key: &str, error: &Value) -> ProviderError {
    let code = token(error);
    if let Some(status) = status(&error["code"]) {
        return refused(provider, key, status, code.as_deref());
    }
    let has = |word| code.as_ref().is_some_and(|code| code.contains(word));
    let kind = match () {
        () if has("rate_limit") => ErrorKind::RateLimited,
        () if has("invalid") => ErrorKind::InvalidRequest,
        () => ErrorKind::Unavailable,
    };
    let code = code.map(|code| format!(" ({code})")).unwrap_or_default();
    let text = format!("the provider reported an error in its answer{code}; try again, or look at its logs");
    ProviderError::new(provider, kind, text).with_status(200)
}

/// Returns the server's word for the refusal whose body is `body`.
pub(super) fn code(body: &[u8]) -> Option<String> {
    let body: Value = serde_json::from_slice(body).ok()?;
    token(&body["error"])
}

/// The `code`, or else the `type`, of an error object, if it is a bare word: a sentence might repeat the prompt.
fn token(error: &Value) -> Option<String> {
    let is_word = |text: &&str| {
        (1..=64).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
            && text.bytes().any(|byte| byte.is_ascii_alphabetic())
    };
    ["code", "type"].into_iter().find_map(|key| error[key].as_str().filter(is_word)).map(str::to_owned)
}

/// The HTTP status that some servers put into `code`.
fn status(code: &Value) -> Option<u16> {
    let status = code.as_u64().or_else(|| code.as_str()?.parse().ok())?;
    u16::try_from(status).ok().filter(|status| (400..600).contains(status))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{code, refused, reported};
    use crate::error::ErrorKind;

    #[test]
    fn each_status_has_a_kind() {
        let kinds = [
            (302, ErrorKind::InvalidRequest),
            (400, ErrorKind::InvalidRequest),
            (401, ErrorKind::Auth),
            (403, ErrorKind::Auth),
            (404, ErrorKind::InvalidRequest),
            (408, ErrorKind::Unavailable),
            (429, ErrorKind::RateLimited),
            (500, ErrorKind::Unavailable),
            (529, ErrorKind::Unavailable),
        ];
        for (status, kind) in kinds {
            assert_eq!(refused("p", "`KEY`", status, None).kind(), kind, "{status}");
        }
    }

    #[test]
    fn the_code_is_shown_and_the_message_is_not() {
        let body = json!({"error": {"message": "no model my secret plan", "code": "model_not_found"}}).to_string();
        let error = refused("p", "`KEY`", 404, code(body.as_bytes()).as_deref());
        let text = "p: status 404: not found (model_not_found); check the model's name and the base URL";
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn a_code_that_is_a_sentence_is_not_shown() {
        for body in [
            json!({"error": {"code": "my secret plan", "type": null}}),
            json!({"error": "my secret plan"}),
            json!({"error": {"code": "x".repeat(65)}}),
            json!(["error"]),
        ] {
            assert_eq!(code(body.to_string().as_bytes()), None);
        }
        assert_eq!(code(b"<html>"), None);
    }

    #[test]
    fn an_error_object_is_judged_by_its_code() {
        assert_eq!(reported("p", "", &json!({"code": 502, "type": "upstream"})).status(), Some(502));
        assert_eq!(reported("p", "", &json!({"code": "429"})).kind(), ErrorKind::RateLimited);
        assert_eq!(reported("p", "", &json!({"type": "invalid_request_error"})).kind(), ErrorKind::InvalidRequest);
        assert_eq!(reported("p", "", &json!("overloaded")).kind(), ErrorKind::Unavailable);
        assert_eq!(reported("p", "", &json!({"code": 7})).status(), Some(200));
    }
}
