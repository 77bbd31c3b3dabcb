//! The declared effects of the included tools are true: a tool that only reads changes nothing, and a second call of one that is
//! idempotent changes nothing more.
//!
//! The state is everything that a tool may reach: the project's folder, what is beside it, and the created workers with their files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use fastrand::Rng;
use llm_do::approval::ApprovalMode;
use llm_do::prelude::*;
use llm_do::testing::ScriptedModel;
use llm_do::toolsets::filesystem::Filesystem;
use llm_do::toolsets::workers;
use llm_do::{Effect, Value, json};
use tempfile::TempDir;

/// How often each tool is called with other arguments.
const ROUNDS: usize = 60;

/// The beginnings of the names of the included tools.
const INCLUDED: [&str; 6] = ["cwd_", "project_", "http_", "shell", "user_input_", "worker_"];

/// A tool, and how arguments for it are generated.
type Tested = (&'static str, fn(&mut Rng) -> Value);

/// The tools that declare an effect of which something can be false.
const TESTED: [Tested; 11] = [
    ("cwd_list_files", list),
    ("cwd_read_file", read),
    ("cwd_search_files", search),
    ("cwd_write_file", write),
    ("project_list_files", list),
    ("project_read_file", read),
    ("project_search_files", search),
    ("project_write_file", write),
    ("worker_create", worker),
    ("worker_list", |_| json!({})),
    ("worker_replace", worker),
];

fn path(random: &mut Rng) -> &'static str {
    const PATHS: [&str; 14] = [
        "a.txt",
        "sub/b.md",
        "sub",
        ".",
        "",
        "new.txt",
        "new/deep/c.txt",
        "../beside/d.txt",
        "/etc/hostname",
        "é.txt",
        ".git/config",
        "empty.txt",
        "link.txt",
        "a.txt/below",
    ];
    PATHS[random.usize(..PATHS.len())]
}

fn text(random: &mut Rng) -> String {
    let words = ["one", "two\n", "\r\n", "é", "", "[", ".*", "(?i)ONE"];
    (0..random.usize(..4)).map(|_| words[random.usize(..words.len())]).collect()
}

fn number(random: &mut Rng) -> u32 {
    random.choice([1, 2, 3, 20, 5_000]).unwrap()
}

fn pattern(random: &mut Rng) -> Option<&'static str> {
    random.choice([None, Some("*.txt"), Some("**/*.md"), Some("[")]).unwrap()
}

fn read(random: &mut Rng) -> Value {
    let (offset, limit, max_chars) = (number(random), number(random), number(random));
    json!({ "path": path(random), "offset": offset, "limit": limit, "max_chars": max_chars, "raw": random.bool() })
}

fn list(random: &mut Rng) -> Value {
    let (offset, limit) = (number(random), number(random));
    let pattern = pattern(random);
    json!({ "path": path(random), "pattern": pattern, "include_ignored": random.bool(), "offset": offset, "limit": limit })
}

fn search(random: &mut Rng) -> Value {
    let (regex, pattern) = (text(random), pattern(random));
    json!({ "regex": regex, "path": path(random), "pattern": pattern, "ignore_case": random.bool(), "context": 1 })
}

fn write(random: &mut Rng) -> Value {
    json!({ "path": path(random), "content": text(random) })
}

fn worker(random: &mut Rng) -> Value {
    let name = random.choice(["helper", "other", "bad name"]).unwrap();
    json!({ "name": name, "instructions": text(random), "description": text(random) })
}

/// Creates a worker, then calls a tool that may concern it; returns the workers after each call.
#[entry(toolsets = [workers])]
async fn call_beside_a_worker(
    ctx: &CallContext<call_beside_a_worker>,
    tool: String,
    arguments: Value,
) -> Result<Value> {
    let helper = json!({ "name": "helper", "instructions": "Help.", "description": "Helps." });
    ctx.call_tool("worker_create", helper).await?;
    let folder = ctx.project_root().join("..");
    let mut states = vec![json!([ctx.call_tool("worker_list", json!({})).await?, files(&folder)])];
    for _ in 0..2 {
        // An error may change nothing either.
        drop(ctx.call_tool(&tool, arguments.clone()).await);
        states.push(json!([ctx.call_tool("worker_list", json!({})).await?, files(&folder)]));
    }
    Ok(json!(states))
}

/// A project, and a folder beside it.
fn folders() -> TempDir {
    let outer = tempfile::tempdir().unwrap();
    let put = |path: &str, content: &str| {
        let path = outer.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    };
    put("project/a.txt", "one\ntwo\n");
    put("project/sub/b.md", "one\r\n");
    put("project/empty.txt", "");
    put("project/.gitignore", "empty.txt\n");
    put("project/.git/config", "[core]\n");
    put("beside/d.txt", "one\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink("a.txt", outer.path().join("project/link.txt")).unwrap();
    outer
}

/// Returns all files and folders in a folder, each with its kind, its permissions and its content.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let (mut files, mut folders) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let kind = path.symlink_metadata().unwrap();
            let content = if kind.is_dir() { String::new() } else { fs::read_to_string(&path).unwrap() };
            files.insert(
                path.display().to_string(),
                format!("{:?} {:?} {content}", kind.file_type(), kind.permissions()),
            );
            if kind.is_dir() {
                folders.push(path);
            }
        }
    }
    files
}

fn runtime(outer: &Path) -> Runtime {
    let builder = Runtime::builder().project_root(outer.join("project")).working_folder(outer.join("project"));
    let builder =
        builder.state(Filesystem::new()).force_model(ScriptedModel::new()).worker_store(outer.join("project/made"));
    builder.approval_mode(ApprovalMode::ApproveAll).build().unwrap()
}

/// Calls a tool twice; returns the state before the first call, and after each.
async fn states(tool: &str, arguments: &Value) -> Value {
    let outer = folders();
    if tool.starts_with("worker_") {
        let call = call_beside_a_worker { tool: tool.to_owned(), arguments: arguments.clone() };
        return runtime(outer.path()).run(call).await.unwrap();
    }
    // Both file toolsets have the same root.
    let runtime = runtime(outer.path());
    let mut states = vec![json!(files(outer.path()))];
    for _ in 0..2 {
        drop(runtime.run_named(tool, arguments.clone()).await);
        states.push(json!(files(outer.path())));
    }
    json!(states)
}

#[test]
fn every_included_tool_whose_effect_can_be_false_is_tested() {
    let runtime = runtime(folders().path());
    let included = |name: &str| INCLUDED.iter().any(|start| name.starts_with(start));
    let tools = runtime.registry().iter().filter(|tool| included(tool.name()));
    let declared = tools.filter(|tool| matches!(tool.effect(), Effect::ReadOnly | Effect::Idempotent));
    let declared: BTreeSet<_> = declared.map(|tool| tool.name().to_owned()).collect();
    assert_eq!(declared, BTreeSet::from(TESTED.map(|(tool, _)| tool.to_owned())));
}

#[tokio::test]
async fn a_tool_that_only_reads_changes_nothing_and_a_second_call_of_an_idempotent_one_changes_nothing_more() {
    let mut random = Rng::with_seed(0x0046);
    for (tool, arguments) in TESTED {
        let effect = runtime(folders().path()).registry().get(tool).unwrap().effect();
        let mut changes = 0;
        for _ in 0..ROUNDS {
            let arguments = arguments(&mut random);
            let states = states(tool, &arguments).await;
            assert_eq!(states[1], states[2], "{tool} {arguments}, called twice");
            changes += usize::from(states[0] != states[1]);
        }
        assert_eq!(changes > 0, effect == Effect::Idempotent, "{tool}: {changes} of {ROUNDS} calls changed something");
    }
}
