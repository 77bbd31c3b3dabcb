//! Every form of schema has its type, and every name of a server is a name of Rust.

use std::collections::BTreeMap;

use llm_do::prelude::*;
use llm_do::{Tool, Toolset, Value, json};

toolset! {
    /// The tracker.
    pub tracker = mcp("tracker.mcp.json");

    writing = [tracker::*.except([tracker::list, tracker::str_])];
}

use tracker::{CreateIssueAssignee, CreateIssueKind, CreateIssueLabel, CreateIssueResultState, CreateIssueState};

/// Calls tools of the server.
#[entry(toolsets = [writing, tracker::list])]
async fn start(ctx: &CallContext<start>) -> Result<i64> {
    let issue: tracker::CreateIssueResult = ctx.call(new_issue()).await?;
    let names: Vec<String> = ctx.call(tracker::list {}).await?;
    let moved: Value = ctx.call(tracker::r#move { to: names.concat() }).await?;
    assert!(issue.state == CreateIssueResultState::Open && issue.url.is_none() && moved.is_null());
    Ok(issue.id)
}

/// Declares all tools under other names.
#[tool(toolsets = [prefixed("x_", tracker::*)])]
async fn prefixed_names(ctx: &CallContext<prefixed_names>, state: tracker::CreateIssueState) -> Result<Value> {
    Ok(ctx.call(tracker::str_ { string: None }).await?)
}

fn new_issue() -> tracker::create_issue {
    let label = |name: &str| CreateIssueLabel::new(name.to_owned());
    let parent = Some(Box::new(label("all")));
    let labels = vec![CreateIssueLabel { parent, children: Some(vec![]), ..label("bug") }];
    tracker::create_issue {
        per_page: Some(2),
        weight: Some(0.5),
        draft: Some(true),
        state: Some(CreateIssueState::InProgress),
        assignee: Some(CreateIssueAssignee { login: "ada".into(), team: None }),
        fields: Some(BTreeMap::from([("a".into(), 1)])),
        extra: Some(json!([1])),
        mixed: Some(json!("a")),
        note: Some("n".into()),
        kind: Some(CreateIssueKind::Bug),
        r#type: Some("t".into()),
        self_: Some("s".into()),
        a_b: Some("first".into()),
        a_b_2: Some("second".into()),
        field: Some("dollar".into()),
        field_2nd: Some("digit".into()),
        ..tracker::create_issue::new("Title".into(), labels, json!(null))
    }
}

fn main() {
    assert_eq!(tracker::create_issue::NAME, "mcp__issue-tracker-8b8e4aef__create-issue");
    let shown: Vec<_> = writing::MEMBERS.iter().map(|member| member.shown()).collect();
    assert_eq!(shown, ["mcp__issue-tracker-8b8e4aef__create-issue", "mcp__issue-tracker-8b8e4aef__move"]);
    let written = serde_json(&new_issue());
    assert_eq!(
        written,
        json!({
            "title": "Title",
            "perPage": 2,
            "weight": 0.5,
            "draft": true,
            "state": "in progress",
            "labels": [{ "name": "bug", "parent": { "name": "all" }, "children": [] }],
            "assignee": { "login": "ada", "team": null },
            "fields": { "a": 1 },
            "extra": [1],
            "mixed": "a",
            "note": "n",
            "kind": "bug",
            "type": "t",
            "self": "s",
            "a-b": "first",
            "a_b": "second",
            "$": "dollar",
            "2nd": "digit",
            "undescribed": null,
        })
    );
    let short = tracker::create_issue::new("T".into(), vec![], json!(1));
    assert_eq!(serde_json(&short), json!({ "title": "T", "labels": [], "undescribed": 1 }));
    assert_eq!(serde_json(&tracker::str_::default()), json!({}));
    for (state, text) in
        [(CreateIssueState::Value1, "+1"), (CreateIssueState::Value1_2, "-1"), (CreateIssueState::Value, "")]
    {
        assert_eq!(serde_json(&state), json!(text));
    }
}

fn serde_json(value: &impl serde::Serialize) -> Value {
    json!(value)
}
