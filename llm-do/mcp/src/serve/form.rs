//! Approvals and questions as forms of the protocol, and the answers of clients.

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema};
use serde_json::{Value, json};

use llm_do_core::base::clip::clip;
use llm_do_core::base::printable::printable;
use llm_do_core::declare::question::Question;
use llm_do_core::plane::approval::{ApprovalRequest, Decision};
use llm_do_core::plane::user_input;

/// The maximum size of the description of a call in a form, in bytes.
const MAX_DETAILS: usize = 64 << 10;
/// The field of a form about an approval.
const DECISION: &str = "decision";
/// The field of a form about an approval with the reason of a denial.
const REASON: &str = "reason";
/// The field of a form about a call that may have had its effect, with its result.
const RESULT: &str = "result";
/// The field of a form about a question without a name.
const ANSWER: &str = "answer";

/// Returns a form with the fields of a JSON schema.
///
/// # Errors
///
/// Returns an error if the schema has a form that the protocol does not allow, such as nested objects.
pub(super) fn form(message: String, schema: &Value) -> Result<ElicitRequestParams, serde_json::Error> {
    let schema = schema.as_object().cloned().unwrap_or_default();
    let requested_schema = ElicitationSchema::from_json_schema(schema)?;
    Ok(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

/// Returns the name of the field with the answer to a question.
fn field_name(question: &Question) -> &str {
    question.name.as_deref().unwrap_or(ANSWER)
}

/// Describes a call that needs approval.
pub(super) fn approval_message(request: &ApprovalRequest) -> String {
    let problem = request.problem.as_ref().map(|problem| format!("{}\n\n", printable(problem))).unwrap_or_default();
    let details = request.details();
    let shown = clip(&details, MAX_DETAILS);
    let more = match details.len() - shown.len() {
        0 => String::new(),
        more => format!("\n\n… {more} more bytes of this call are NOT shown: deny it unless you know them."),
    };
    let question = match request.began {
        Some(_) => "This call began before, and its result is not known. What became of it?",
        None => "Allow this call?",
    };
    let origins = request.origin_line().map(|line| format!("\n\n{line}")).unwrap_or_default();
    format!("{problem}{question}{origins}\n\n{shown}{more}")
}

/// Describes a question.
pub(super) fn question_message(request: &user_input::InputRequest) -> String {
    let problem = request.problem.as_ref().map(|problem| format!("{}\n\n", printable(problem))).unwrap_or_default();
    format!("{problem}{}", printable(&request.question.prompt))
}

/// Returns the schema of the answer about a call.
pub(super) fn decision_schema(request: &ApprovalRequest) -> Value {
    if request.began.is_some() { outcome_schema() } else { approval_schema() }
}

/// Returns the schema of the answer about a call that may have had its effect.
fn outcome_schema() -> Value {
    let choices = json!([
        { "const": "happened", "title": "It has happened" },
        { "const": "run", "title": "It has not: run it" },
        { "const": "stop", "title": "End the run" },
    ]);
    let result =
        json!({ "type": "string", "title": "Its result, if it has happened", "description": "JSON, or a text." });
    let reason = json!({ "type": "string", "title": "Reason of an end", "description": "Models may see it." });
    json!({
        "type": "object",
        "properties": {
            DECISION: { "type": "string", "title": "What became of it", "oneOf": choices }, RESULT: result, REASON: reason,
        },
        "required": [DECISION],
    })
}

/// Returns the schema of the answer about an approval.
fn approval_schema() -> Value {
    let choices = json!([
        { "const": "allow", "title": "Allow once" },
        { "const": "deny", "title": "Deny" },
        { "const": "stop", "title": "Deny and end the run" },
    ]);
    let reason = json!({ "type": "string", "title": "Reason of a denial", "description": "Models may see it." });
    json!({
        "type": "object",
        "properties": { DECISION: { "type": "string", "title": "Decision", "oneOf": choices }, REASON: reason },
        "required": [DECISION],
    })
}

/// Returns the schema of the answer to a question.
pub(super) fn answer_schema(question: &Question) -> Value {
    let mut field = match (question.choices.is_empty() || question.accepts_text, question.several) {
        (true, _) => json!({ "type": "string" }),
        (false, false) => json!({ "type": "string", "enum": question.choices }),
        (false, true) => json!({ "type": "array", "items": { "type": "string", "enum": question.choices } }),
    };
    field["title"] = "Answer".into();
    if question.accepts_text && !question.choices.is_empty() {
        field["description"] = format!("suggestions: {}", question.choices.join(", ")).into();
    }
    if let Some(default) = &question.default {
        field["default"] = if field["type"] == "array" { json!([default]) } else { json!(default) };
    }
    let name = field_name(question);
    json!({ "type": "object", "properties": { name: field }, "required": [name] })
}

/// Parses the client's answer about a call.
pub(super) fn decision(result: &ElicitResult, request: &ApprovalRequest) -> Decision {
    if request.began.is_some() { outcome(result) } else { approval(result) }
}

/// Parses the client's answer about a call that may have had its effect.
fn outcome(result: &ElicitResult) -> Decision {
    let field = |name: &str| result.content.as_ref().and_then(|content| content[name].as_str()).map(str::trim);
    let reason = || field(REASON).filter(|reason| !reason.is_empty()).unwrap_or("the user of the client ended the run");
    let happened = || {
        let text = field(RESULT).unwrap_or_default();
        // A string does not need quotes.
        let written = || serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
        if text.is_empty() { Value::Null } else { written() }
    };
    match (&result.action, field(DECISION)) {
        (ElicitationAction::Accept, Some("happened")) => Decision::happened(happened()),
        (ElicitationAction::Accept, Some("run")) => Decision::approve(),
        (ElicitationAction::Accept, Some("stop")) => Decision::deny_and_stop(reason()),
        _ => Decision::undecided("the user of the client gave no answer about the call"),
    }
}

/// Parses the client's answer about an approval: only an explicit `allow` approves.
fn approval(result: &ElicitResult) -> Decision {
    let field = |name: &str| result.content.as_ref().and_then(|content| content[name].as_str());
    let reason = || match field(REASON).map(str::trim) {
        Some(reason) if !reason.is_empty() => reason,
        _ => "the user of the client denied the call",
    };
    match (&result.action, field(DECISION)) {
        (ElicitationAction::Accept, Some("allow")) => Decision::approve(),
        (ElicitationAction::Accept, Some("deny")) | (ElicitationAction::Decline, _) => Decision::deny(reason()),
        (ElicitationAction::Accept, Some("stop")) => Decision::deny_and_stop(reason()),
        (ElicitationAction::Accept, _) => Decision::undecided("the client's answer contains no decision"),
        _ => Decision::undecided("the user of the client did not decide"),
    }
}

/// Parses the client's answer to a question: its field, or the only field.
pub(super) fn text(result: &ElicitResult, question: &Question) -> Result<String, &'static str> {
    match result.action {
        ElicitationAction::Accept => {}
        ElicitationAction::Decline => return Err("the user of the client declined to answer"),
        _ => return Err("the user of the client did not answer"),
    }
    let name = field_name(question);
    let fields = result.content.as_ref().and_then(Value::as_object);
    let only = || fields.filter(|fields| fields.len() == 1).and_then(|fields| fields.values().next());
    match fields.and_then(|fields| fields.get(name)).or_else(only) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(list @ Value::Array(_)) => Ok(list.to_string()),
        Some(Value::Null) | None => Err("the client's answer is empty"),
        Some(other) => Ok(other.to_string()),
    }
}
