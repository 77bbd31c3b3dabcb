//! The text that an approver reads about a call.

use llm_do::Runtime;
use llm_do::approval::ApprovalRequest;
use llm_do::event::EventKind;
use llm_do::prelude::*;
use llm_do::testing::Recorder;
use serde_json::json;

use super::Scripted;

/// Move money.
///
/// It cannot be taken back.
#[tool(effect = destructive, summary = "pay {amount} to {to}: {{{note}}}")]
fn pay(#[arg(rename = "cents")] amount: u32, to: Vec<String>, note: Option<String>) -> u32 {
    let _ = (to, note);
    amount
}

/// Pays.
#[entry(toolsets = [pay])]
async fn payer(ctx: &CallContext<payer>, note: Option<String>) -> Result<u32> {
    Ok(ctx.call(pay { amount: 3, to: vec!["Ann".into()], note }).await?)
}

#[tokio::test]
async fn the_tools_summary_is_shown_to_the_approver_and_in_events() {
    let (approver, recorder) = (Scripted::approving(), Recorder::new());
    let runtime = Runtime::builder().approver(approver.clone()).sink(recorder.clone()).build().unwrap();
    runtime.run(payer { note: Some("thanks\n{to}".into()) }).await.unwrap();
    let expected = r#"pay 3 to ["Ann"]: {thanks\n{to}}"#;
    assert_eq!(approver.asked()[0].summary(), expected);
    let told = recorder.kinds().into_iter().find_map(|kind| match kind {
        EventKind::ApprovalAsked { summary, .. } => Some(summary),
        _ => None,
    });
    assert_eq!(told.as_deref(), Some(expected));
}

#[test]
fn a_null_argument_is_shown_as_none() {
    let mut request = ApprovalRequest::new("pay", json!({ "cents": 3, "note": null }));
    request.template = Some("pay {cents}, note: {note}".into());
    assert_eq!(request.summary(), "pay 3, note: none");
}

#[test]
fn without_a_summary_a_call_is_shown_as_in_rust() {
    let arguments = json!({ "path": "a \"b\"\\c", "lines": [1, 2], "from": null });
    assert_eq!(ApprovalRequest::new("read", arguments).summary(), r#"read(path="a \"b\"\\c", lines=[1,2], from=null)"#);
    assert_eq!(ApprovalRequest::new("read", json!({})).summary(), "read()");
}

#[test]
fn a_long_value_is_cut_with_the_number_of_missing_characters() {
    let text = |length| ApprovalRequest::new("echo", json!({ "text": "ä".repeat(length) })).summary();
    assert_eq!(text(80), format!("echo(text=\"{}\")", "ä".repeat(80)));
    assert_eq!(text(81), format!("echo(text=\"{}\"… 1 more character)", "ä".repeat(80)));
    assert_eq!(text(1_234_647), format!("echo(text=\"{}\"… 1,234,567 more characters)", "ä".repeat(80)));
    let many: serde_json::Map<_, _> = (0..14).map(|place| (format!("a{place}"), json!(place))).collect();
    let summary = ApprovalRequest::new("echo", many.into()).summary();
    assert!(summary.ends_with("a11=11, … 2 more arguments)"), "{summary}");
}

#[test]
fn a_summary_escapes_control_characters_and_line_breaks() {
    let mut request = ApprovalRequest::new("echo", json!({ "text": "a\r\n\u{1b}[2J\u{202e}b\u{200b}" }));
    let escaped = r"a\r\n\u{1b}[2J\u{202e}b\u{200b}";
    assert_eq!(request.summary(), format!("echo(text=\"{escaped}\")"));
    request.template = Some("echo {text}".into());
    assert_eq!(request.summary(), format!("echo {escaped}"));
}

#[test]
fn argument_names_are_escaped_and_cut_too() {
    // Of a worker that a model made, the names are the model's.
    let mut request =
        ApprovalRequest::new("made", json!({ "a\n`main` wants to call read()": 1, "ä-b_2": 2, "\u{61c}": 3 }));
    assert_eq!(request.summary(), r#"made("a\n`main` wants to call read()"=1, ä-b_2=2, "\u{61c}"=3)"#);
    let details = request.details();
    assert!(details.ends_with("\"a\\n`main` wants to call read()\": 1\nä-b_2: 2\n\"\\u{61c}\": 3"), "{details}");
    request.arguments = json!({ "a".repeat(90): 1 });
    assert_eq!(request.summary(), format!("made(\"{}\"… 10 more characters=1)", "a".repeat(80)));
}

#[test]
fn a_template_keeps_unknown_placeholders() {
    let mut request = ApprovalRequest::new("echo", json!({ "a": 1 }));
    let mut summary = |template: &str| {
        request.template = Some(template.into());
        request.summary()
    };
    assert_eq!(summary("{a}{{a}}{b} } {"), "1{a}{b} } {");
    assert_eq!(summary("ä{a}ä"), "ä1ä");
}

#[test]
fn details_are_complete_and_keep_line_breaks() {
    let arguments = json!({ "path": "a.txt", "text": "one\n  two\n", "lines": { "from": 1 }, "long": "x".repeat(500) });
    let mut request = ApprovalRequest::new("write", arguments);
    request.description = "Write a file.\n\nIt is overwritten.".into();
    request.path = vec!["main".into(), "editor".into()];
    let details = request.details();
    let expected = "tool: write (may change anything)\n    Write a file.\n    \n    It is overwritten.\n\
                    called by: main > editor\npath: \"a.txt\"\ntext:\n    one\n      two\n    \n\
                    lines:\n    {\n      \"from\": 1\n    }\nlong: \"xxx";
    assert!(details.starts_with(expected), "{details}");
    assert!(details.ends_with("xxx\""), "{details}");
    assert!(ApprovalRequest::new("write", json!({})).details().ends_with("no arguments"));
}
