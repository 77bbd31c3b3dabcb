//! Which decisions are remembered, and for how long.

use llm_do::approval::{ApprovalInbox, ApprovalScope, DecidedBy, Decision};
use llm_do::event::EventKind;
use llm_do::prelude::*;
use llm_do::testing::Recorder;

use super::{Scripted, decisions};

/// Paint something.
#[tool(effect = destructive)]
fn paint(colour: String, #[arg(default = 1)] layers: u8) -> usize {
    colour.len() * usize::from(layers)
}

/// Paints in these colours.
#[entry(toolsets = [paint])]
async fn painter(ctx: &CallContext<painter>, colours: Vec<String>) -> Result<usize> {
    let mut sum = 0;
    for colour in colours {
        sum += ctx.call(paint { colour, layers: 1 }).await.unwrap_or(100);
    }
    Ok(sum)
}

fn call(colours: &[&str]) -> painter {
    painter { colours: colours.iter().map(ToString::to_string).collect() }
}

#[tokio::test]
async fn a_decision_for_the_session_holds_for_the_same_arguments_only() {
    let (approver, recorder) = (Scripted::new([Decision::approve_for_session()]), Recorder::new());
    let runtime = Runtime::builder().approver(approver.clone()).sink(recorder.clone()).build().unwrap();
    assert_eq!(runtime.run(call(&["red", "red", "blue"])).await.unwrap(), 10);
    assert_eq!(approver.asked().len(), 2);
    let judges: Vec<_> = decisions(&recorder, "paint").into_iter().map(|(_, by, _)| by).collect();
    assert_eq!(judges, [DecidedBy::Approver, DecidedBy::Memory, DecidedBy::Approver]);
}

#[tokio::test]
async fn events_report_the_scope_and_that_memory_decided() {
    let recorder = Recorder::new();
    let approver = Scripted::new([Decision::approve(), Decision::approve_for_session()]);
    let runtime = Runtime::builder().approver(approver).sink(recorder.clone()).build().unwrap();
    runtime.run(call(&["red", "red", "red"])).await.unwrap();
    let mut facts = Vec::new();
    for event in recorder.events().into_iter().filter(|event| &*event.name == "paint") {
        match event.kind {
            EventKind::ApprovalAsked { position, total, .. } => facts.push(format!("{position}/{total}")),
            EventKind::ApprovalDecided { scope, .. } => facts.push(format!("{scope:?}")),
            _ => {}
        }
    }
    assert_eq!(facts, ["1/1", "Call", "1/1", "Session", "0/0", "Call"]);
}

#[tokio::test]
async fn the_memory_lives_as_long_as_the_runtime() {
    let approver = Scripted::new([Decision::approve_for_session()]);
    for runs in [1, 2] {
        let runtime = Runtime::builder().approver(approver.clone()).build().unwrap();
        runtime.run(call(&["red"])).await.unwrap();
        runtime.run(call(&["red"])).await.unwrap();
        assert_eq!(approver.asked().len(), runs);
    }
}

#[tokio::test]
async fn an_approval_for_the_session_holds_in_its_project_only() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let approver = Scripted::new([Decision::approve_for_session()]);
    let runtime = Runtime::builder().approver(approver.clone()).build().unwrap();
    let mut asked = Vec::new();
    for folder in [0, 0, 1, 1, 0] {
        runtime.start(call(&["red"])).project_root(folders[folder].path()).await.unwrap();
        asked.push(approver.asked().len());
    }
    assert_eq!(asked, [1, 1, 2, 2, 2]);
}

#[cfg(unix)]
#[tokio::test]
async fn another_path_to_the_same_project_is_the_same_project() {
    let folder = tempfile::tempdir().unwrap();
    let (real, link) = (folder.path().join("real"), folder.path().join("link"));
    std::fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let approver = Scripted::new([Decision::approve_for_session()]);
    let runtime = Runtime::builder().approver(approver.clone()).build().unwrap();
    for root in [real.clone(), link, real.join("../real")] {
        runtime.start(call(&["red"])).project_root(root).await.unwrap();
    }
    assert_eq!(approver.asked().len(), 1);
}

#[tokio::test]
async fn a_denial_is_never_remembered() {
    let approver = Scripted::new([Decision::deny("no"), Decision::approve()]);
    let runtime = Runtime::builder().approver(approver.clone()).build().unwrap();
    assert_eq!(runtime.run(call(&["red", "red"])).await.unwrap(), 103);
    assert_eq!(approver.asked().len(), 2);
}

#[tokio::test]
async fn an_approval_for_one_call_is_not_remembered() {
    let approver = Scripted::approving();
    let runtime = Runtime::builder().approver(approver.clone()).build().unwrap();
    runtime.run(call(&["red", "red"])).await.unwrap();
    assert_eq!(approver.asked().len(), 2);
}

/// Paints blue and red at the same time, and lists the approvals meanwhile and at the end.
#[entry]
async fn overseer(ctx: &CallContext) -> Result<(Vec<String>, Vec<String>)> {
    let paint = |colour: &str| ctx.call(paint { colour: colour.into(), layers: 1 });
    let watch = async {
        while ctx.approvals().pending.len() < 2 {
            tokio::task::yield_now().await;
        }
        ctx.approvals().pending.iter().map(|asked| asked.arguments["colour"].to_string()).collect::<Vec<_>>()
    };
    let (pending, blue, red) = futures_util::join!(watch, paint("blue"), paint("red"));
    let remembered = ctx.approvals().remembered.into_iter();
    let remembered = remembered.map(|it| format!("{} {} {:?} {:?}", it.tool, it.arguments, it.scope, it.callers));
    let remembered = remembered.collect();
    assert!(ctx.approvals().pending.is_empty());
    blue.and(red)?;
    Ok((pending, remembered))
}

#[tokio::test]
async fn a_call_sees_which_approvals_are_pending_and_which_are_remembered() {
    let (approver, mut waiting) = ApprovalInbox::new();
    let runtime = Runtime::builder().approver(approver).build().unwrap();
    let answering = async {
        let mut asked = vec![waiting.next().await.unwrap(), waiting.next().await.unwrap()];
        asked.sort_by_key(|asked| asked.request().arguments["colour"].to_string());
        for (asked, scope) in asked.into_iter().zip([ApprovalScope::Session, ApprovalScope::Caller]) {
            asked.approve_for(scope);
        }
    };
    let (result, ()) = tokio::join!(runtime.run(overseer {}), answering);
    let (pending, remembered) = result.unwrap();
    assert_eq!(pending, ["\"blue\"", "\"red\""]);
    let blue = r#"paint {"colour":"blue","layers":1} Session []"#;
    let red = r#"paint {"colour":"red","layers":1} Caller ["overseer"]"#;
    assert_eq!(remembered, [blue, red]);
}
