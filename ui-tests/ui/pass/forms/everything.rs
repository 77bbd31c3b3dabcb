//! Every form of attribute, parameter and return type, with all lints of clippy and rustc denied.

#![deny(warnings, missing_docs, clippy::pedantic, unreachable_pub)]
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use llm_do::context::FromContext;
use llm_do::{CallContext, CallError, State, ToolContext, entry, tool, toolset, worker};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

type Fallible<T> = Result<T, std::io::Error>;

/// Read a text file.
#[tool(effect = read_only)]
fn read_file(
    /// Path relative to the root.
    path: &Path,
    #[arg(default = 20_000)]
    /// Stop after this many characters.
    max_chars: usize,
) -> std::io::Result<String> {
    Ok(std::fs::read_to_string(path)?.chars().take(max_chars).collect())
}

/// Joins words.
#[tool(name = "join-words", args = JoinWords, effect = idempotent, max_result = 5_000, background, inline, description = "Join some words.")]
#[must_use]
pub fn join(
    words: &[String],
    #[arg(default = ", ", rename = "by", description = "What goes between two words.")] mut separator: String,
    #[arg(default)]
    #[schemars(range(min = 0))]
    limit: i32,
    suffix: &str,
) -> String {
    separator.push_str(suffix);
    words.iter().take(usize::try_from(limit).unwrap_or_default()).cloned().collect::<Vec<_>>().join(&separator)
}

/// Delete a file.
#[tool(effect = destructive)]
async fn delete_file(#[arg(default = "a")] path: PathBuf, force: Option<bool>) -> Fallible<()> {
    let _ = force;
    std::fs::remove_file(path)
}

/// Say what time it is.
#[tool]
fn now() {}

struct Database;
struct Clock;

impl FromContext for Clock {
    fn from_context(_: &CallContext) -> Result<Self, CallError> {
        Ok(Self)
    }
}

/// Count the rows.
#[tool]
async fn count(ctx: &dyn ToolContext, table: String, db: State<Database>, #[ctx] clock: &Clock) -> u32 {
    let (_, _) = (&db, clock);
    ctx.depth() + u32::try_from(table.len()).unwrap_or_default()
}

/// Ask every registered item.
#[tool]
async fn ask(question: String, ctx: &CallContext, #[ctx] _clock: Clock) -> Result<u32, CallError> {
    ctx.call(count { table: question }).await
}

/// A review.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Review {
    /// From 0 to 10.
    pub score: u8,
}

/// Review a file.
#[worker(
    model = "test:any",
    instructions = concat!("Read the file,", " then judge it."),
    toolsets = [read_file, "more"],
    max_turns = 8,
    retries = 1,
)]
pub async fn reviewer(
    /// File to review.
    path: PathBuf,
) -> Review;

/// Translate a text.
#[worker]
async fn translator(input: String) -> Result<String, CallError>;

toolset! {
    /// Files.
    pub filesystem = [read_file, delete_file];

    /// Files and more.
    #[allow(dead_code)]
    pub(crate) everything = [filesystem, self::now, reviewer, translator];

    /// Forms of members.
    pub formed = [
        prefixed("fs_", self::filesystem),
        prefixed("a_", prefixed("b-", filesystem.only([read_file, self::delete_file],)),),
        everything.except([now, filesystem]).only([reviewer, translator]).except([reviewer]),
        prefixed("x_", everything).except([filesystem]).only([now]),
    ];
}

/// Review all files.
///
/// # Errors
///
/// Returns the error of a call.
#[entry(toolsets = [everything, JoinWords])]
pub async fn main_entry(ctx: &CallContext<main_entry>, paths: Vec<PathBuf>) -> Result<Vec<Review>, CallError> {
    let mut reviews = Vec::new();
    for path in paths {
        ctx.call(read_file { path: path.clone(), max_chars: 10 }).await?;
        reviews.push(ctx.call(reviewer { path }).await?);
    }
    ctx.call(now {}).await?;
    ctx.call(now::default()).await?;
    ctx.call(delete_file { force: Some(true), ..Default::default() }).await?;
    ctx.call(JoinWords { words: vec![], separator: ", ".to_owned(), limit: 1, suffix: String::new() }).await?;
    Ok(reviews)
}

/// Declares one tool under several names.
///
/// # Errors
///
/// Returns the error of a call.
#[entry(toolsets = [formed, filesystem, prefixed("again_", read_file)])]
pub async fn formed_entry(ctx: &CallContext<formed_entry>) -> Result<(), CallError> {
    ctx.call(delete_file { ..Default::default() }).await?;
    ctx.call(now {}).await?;
    ctx.call(translator { input: String::new() }).await.map(drop)
}

/// Second.
#[entry(name = "second", description = "Does nothing.")]
fn second_entry() -> Fallible<()> {
    Ok(())
}

fn assert_send<T: Send>(_: T) {}

/// Direct calls are plain Rust.
pub fn direct(ctx: &CallContext<main_entry>) {
    let _ = read_file(Path::new("a"), 3);
    let _ = join(&[], String::new(), 1, "b");
    assert_send(main_entry(ctx, Vec::new()));
    let _ = second_entry();
}

fn main() {}
