//! Messages of a server, parsed leniently: a violation of the protocol affects only its message, and not the
//! connection.

use rmcp::RoleClient;
use rmcp::model::{ClientRequest, DiscoverResult, InitializeResult, ListToolsResult};
use rmcp::service::RxJsonRpcMessage;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::text;

/// A message of a server.
pub(super) type Message = RxJsonRpcMessage<RoleClient>;

/// The key of a result that is passed on unchanged, since the library would guess its type from its fields.
const AS_IS: &str = "llm-do/result";
/// The version of a server that reports none: the first version.
const FIRST_VERSION: &str = "2024-11-05";
/// The code of an error without a code.
const INTERNAL: i32 = -32603;
/// The code of an unusable answer, which is not in the protocol.
pub(super) const UNUSABLE: i32 = -32_098;

/// The kind of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Asked {
    Discover,
    Initialize,
    List,
    Call,
    /// Notifications, until the connection ends.
    Listen,
    #[default]
    Other,
}

impl Asked {
    pub(super) fn from_request(request: &ClientRequest) -> Self {
        match request {
            ClientRequest::DiscoverRequest(_) => Self::Discover,
            ClientRequest::InitializeRequest(_) => Self::Initialize,
            ClientRequest::ListToolsRequest(_) => Self::List,
            ClientRequest::CallToolRequest(_) => Self::Call,
            ClientRequest::SubscriptionsListenRequest(_) => Self::Listen,
            _ => Self::Other,
        }
    }
}

/// Parses the text of a server: one message, or a list of messages. A line of a log is ignored; an unreadable message
/// becomes an error without an id. `asked` returns the kind of the request with an id.
pub(super) fn read(bytes: &[u8], asked: impl Fn(&Value) -> Asked) -> Vec<Value> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}').trim();
    match serde_json::from_str(text) {
        Ok(Value::Array(messages)) => messages.into_iter().filter_map(|message| repaired(message, &asked)).collect(),
        Ok(message) => repaired(message, &asked).into_iter().collect(),
        Err(error) if text.contains("\"jsonrpc\"") => {
            vec![failed(None, &format!("a message that is not JSON ({error}): {}", text::excerpt(text)))]
        }
        Err(_) => Vec::new(),
    }
}

/// Returns a message in the form of the protocol; `None` if it is not a message.
fn repaired(message: Value, asked: &impl Fn(&Value) -> Asked) -> Option<Value> {
    let Value::Object(mut fields) = message else { return None };
    let id = fields.remove("id").and_then(id);
    if fields.get("method").is_some_and(Value::is_string) {
        return request(id, fields);
    }
    let is_message = fields.contains_key("jsonrpc") || id.is_some();
    match (fields.remove("error"), fields.remove("result")) {
        (Some(Value::Null) | None, Some(result)) => Some(answer(id, result, asked)),
        (Some(Value::Null), None) => Some(failed(id, "the error is null")),
        (Some(error), _) => Some(reply(id, "error", error_data(error))),
        (None, None) if is_message => {
            let found = text::excerpt(&Value::Object(fields).to_string());
            Some(failed(id, &format!("an answer without `result` and `error`: {found}")))
        }
        (None, None) => None,
    }
}

/// Returns an id in the form of the protocol; some servers give numbers a decimal point.
fn id(id: Value) -> Option<Value> {
    match &id {
        Value::String(_) => Some(id),
        Value::Number(number) if number.is_i64() => Some(id),
        Value::Number(number) => {
            let text = number.to_string();
            text.strip_suffix(".0").and_then(|whole| whole.parse::<i64>().ok()).map(Value::from)
        }
        _ => None,
    }
}

/// Returns a request or a notification of a server. An unreadable request is given an unknown name, so that it is
/// refused.
fn request(id: Option<Value>, mut fields: Map<String, Value>) -> Option<Value> {
    fields.insert("jsonrpc".to_owned(), json!("2.0"));
    fields.retain(|key, value| key != "params" || !value.is_null());
    let has_id = id.is_some();
    fields.extend(id.map(|id| ("id".to_owned(), id)));
    let mut message = Value::Object(fields);
    if is_readable(&message) {
        return Some(message);
    }
    let method = text::excerpt(message["method"].as_str().unwrap_or_default());
    message["method"] = format!("unreadable {method}").into();
    message.as_object_mut()?.remove("params");
    (has_id && is_readable(&message)).then_some(message)
}

/// Returns the answer to a request.
fn answer(id: Option<Value>, result: Value, asked: &impl Fn(&Value) -> Asked) -> Value {
    let Some(id) = id else {
        let found = text::excerpt(&result.to_string());
        return failed(None, &format!("an answer without an id: {found}"));
    };
    let asked = asked(&id);
    let result = match asked {
        // The result may be large, and can be passed on without conversion.
        Asked::Call => return reply(Some(id), "result", as_is(result)),
        // The library would treat a list as an object without fields.
        Asked::Initialize if !result.is_object() => {
            let found = text::excerpt(&result.to_string());
            return failed(Some(id), &format!("unexpected answer to the handshake: {found}"));
        }
        Asked::List => list(result),
        Asked::Initialize => initialized(result),
        Asked::Discover => discovered(result),
        Asked::Listen | Asked::Other => result,
    };
    let answer = reply(Some(id), "result", result);
    if is_readable(&answer) { answer } else { failed(answer.get("id").cloned(), "an unreadable answer") }
}

fn is_readable(message: &Value) -> bool {
    Message::deserialize(message).is_ok()
}

fn as_is(result: Value) -> Value {
    Value::Object(Map::from_iter([(AS_IS.to_owned(), result)]))
}

/// Returns a message with an id and one more field; no value is copied, since results may be large.
fn reply(id: Option<Value>, field: &str, value: Value) -> Value {
    let fields = [("jsonrpc", json!("2.0")), ("id", id.unwrap_or_default()), (field, value)];
    Value::Object(fields.map(|(key, value)| (key.to_owned(), value)).into_iter().collect())
}

/// Returns the result that was passed on unchanged, or the value itself.
pub(super) fn unwrapped(value: Value) -> Value {
    match value {
        Value::Object(mut fields) if fields.len() == 1 && fields.contains_key(AS_IS) => {
            fields.remove(AS_IS).unwrap_or_default()
        }
        value => value,
    }
}

/// Returns a list of tools without its other fields; other values are returned unchanged.
fn list(result: Value) -> Value {
    const KNOWN: [&str; 6] = ["tools", "nextCursor", "ttlMs", "cacheScope", "resultType", "_meta"];
    if ListToolsResult::deserialize(&result).is_err() {
        return as_is(result);
    }
    let Value::Object(mut fields) = result else { return as_is(result) };
    fields.retain(|key, _| KNOWN.contains(&key.as_str()));
    Value::Object(fields)
}

/// Returns the used fields of the result of the handshake.
fn initialized(result: Value) -> Value {
    const KNOWN: [&str; 3] = ["protocolVersion", "capabilities", "serverInfo"];
    let is_one = KNOWN.iter().any(|key| result.get(key).is_some());
    if InitializeResult::deserialize(&result).is_ok() || !is_one {
        return result;
    }
    let version = match &result["protocolVersion"] {
        Value::Null => FIRST_VERSION.to_owned(),
        Value::String(version) => version.clone(),
        other => other.to_string(),
    };
    let server = |key: &str| result["serverInfo"][key].as_str().unwrap_or("unknown");
    let server = json!({ "name": server("name"), "version": server("version") });
    json!({ "protocolVersion": version, "capabilities": capabilities(&result), "serverInfo": server })
}

/// Returns the used fields of the result of a discovery.
fn discovered(result: Value) -> Value {
    let versions = result["supportedVersions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let versions: Vec<_> = versions.iter().filter(|version| version.is_string()).cloned().collect();
    if DiscoverResult::deserialize(&result).is_ok() || versions.is_empty() {
        return result;
    }
    json!({
        "resultType": "complete",
        "supportedVersions": versions,
        "capabilities": capabilities(&result),
        "ttlMs": 0,
        "cacheScope": "private",
    })
}

fn capabilities(result: &Value) -> Value {
    let reports = result["capabilities"]["tools"]["listChanged"] == true;
    json!({ "tools": { "listChanged": reports } })
}

/// Returns an error in the form of the protocol.
fn error_data(error: Value) -> Value {
    let Value::Object(mut fields) = error else {
        let message = error.as_str().map_or_else(|| error.to_string(), str::to_owned);
        return json!({ "code": INTERNAL, "message": message });
    };
    let code = fields.get("code").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
    let message = match fields.remove("message") {
        Some(Value::String(message)) => message,
        Some(Value::Null) | None => Value::Object(fields.clone()).to_string(),
        Some(other) => other.to_string(),
    };
    let mut data = json!({ "code": code.unwrap_or(INTERNAL), "message": message });
    if let Some(given) = fields.remove("data").filter(|data| !data.is_null()) {
        data["data"] = given;
    }
    data
}

/// Returns the error of an answer that cannot be used.
pub(super) fn failed(id: Option<Value>, reason: &str) -> Value {
    reply(id, "error", json!({ "code": UNUSABLE, "message": reason }))
}

/// Returns a message that was read.
pub(super) fn typed(message: &Value) -> Option<Message> {
    Message::deserialize(message).ok()
}
