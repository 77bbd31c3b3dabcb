//! Refusals of all kinds.

use std::time::Duration;

use serde_json::{Value, json};

use super::{refused, reported};
use crate::error::{ErrorKind, ProviderError};

fn refusal(status: u16, error: &Value) -> ProviderError {
    refused("p", "`KEY`", status, json!({ "error": error }).to_string().as_bytes(), b"")
}

#[test]
fn each_status_has_a_kind() {
    let kinds = [
        (302, ErrorKind::InvalidRequest),
        (400, ErrorKind::InvalidRequest),
        (401, ErrorKind::Auth),
        (402, ErrorKind::NoCredit),
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
    assert_eq!(refused("p", "", 500, b"<html>", b"").kind(), ErrorKind::Unavailable);
}

#[test]
fn an_error_object_is_judged_by_its_code() {
    assert_eq!(reported("p", "", &json!({"code": 502, "type": "upstream"})).status(), Some(502));
    assert_eq!(reported("p", "", &json!({"code": "429"})).kind(), ErrorKind::RateLimited);
    assert_eq!(reported("p", "", &json!({"type": "invalid_request_error"})).kind(), ErrorKind::InvalidRequest);
    assert_eq!(reported("p", "", &json!({"type": "overloaded_error"})).kind(), ErrorKind::Overloaded);
    assert_eq!(reported("p", "", &json!("overloaded")).kind(), ErrorKind::Overloaded);
    assert_eq!(reported("p", "", &json!("something broke")).kind(), ErrorKind::Unavailable);
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
    for error in [refusal(429, &quota), reported("p", "", &quota)] {
        assert_eq!((error.kind(), error.should_retry()), (ErrorKind::RateLimited, Some(false)), "{error}");
        assert!(error.to_string().contains("check the plan and the billing"), "{error}");
    }
    let error = refusal(402, &Value::Null);
    assert_eq!((error.kind(), error.should_retry()), (ErrorKind::NoCredit, Some(false)), "{error}");
    assert!(!error.is_rate_limited() && error.to_string().contains("check the plan and the billing"), "{error}");
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
    let passed_on = json!({"code": 400, "message": "Provider returned error", "metadata": {"raw": raw.to_string()}});
    for error in [refusal(400, &raw), reported("p", "", &raw), refusal(400, &passed_on)] {
        assert_eq!((error.kind(), error.should_retry()), (ErrorKind::NoCredit, Some(false)), "{error}");
        assert!(error.to_string().contains("no credit left"), "{error}");
    }
}

#[test]
fn google_sends_the_time_to_wait_in_a_detail() {
    let detail = json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"});
    let error = json!({"code": 429, "status": "RESOURCE_EXHAUSTED", "details": [detail]});
    assert_eq!(refusal(429, &error).retry_after(), Some(Duration::from_millis(34_500)));
    let body = json!([{ "error": error }]).to_string();
    assert!(refused("p", "", 429, body.as_bytes(), b"").to_string().contains("RESOURCE_EXHAUSTED"));
}

#[test]
fn google_refuses_a_key_as_an_argument_and_a_quota_of_the_day_with_a_wait() {
    let error = json!({"code": 400, "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]});
    assert_eq!(refusal(400, &error).to_string(), "p: status 400: the key was refused (API_KEY_INVALID); check `KEY`");
    assert_eq!(refusal(400, &error).kind(), ErrorKind::Auth);
    let quota = |id: &str| json!({"details": [{"violations": [{"quotaId": id}]}, {"retryDelay": "3s"}]});
    assert_eq!(refusal(429, &quota("GenerateRequestsPerDayPerProject")).should_retry(), Some(false));
    assert_eq!(refusal(429, &quota("GenerateRequestsPerMinutePerProject")).should_retry(), None);
}
