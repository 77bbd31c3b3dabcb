//! Tools, LLM workers and entries from annotated Rust functions, on one tool plane.
//!
//! A **tool** is a function with a JSON schema ([`tool`]), a **worker** is a tool that a language model implements
//! ([`worker`]), an **entry** is a root call ([`entry`]). Every call, from code or from a model, is found by name,
//! checked, counted in depth, approved, metered and reported in one place; one [`CallContext`] flows down the whole
//! call tree. So a worker can be hardened into code, or code softened into a worker, and no caller changes.
//!
//! ```
//! use llm_do::prelude::*;
//!
//! /// Count the words of a text.
//! #[tool(effect = read_only)]
//! fn count_words(text: &str) -> usize {
//!     text.split_whitespace().count()
//! }
//!
//! /// Counts the words of several texts.
//! #[entry(toolsets = [count_words])]
//! async fn count_all(ctx: &CallContext<count_all>, texts: Vec<String>) -> Result<usize> {
//!     let mut sum = 0;
//!     for text in texts {
//!         sum += ctx.call(count_words { text }).await?;
//!     }
//!     Ok(sum)
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<()> {
//! let runtime = Runtime::builder().build()?;
//! let sum = runtime.run(count_all { texts: vec!["one two".into(), "three".into()] }).await?;
//! assert_eq!(sum, 3);
//! # Ok(())
//! # }
//! ```
//!
//! An application usually has `fn main() -> ExitCode { llm_do::cli::main() }` instead, which runs whatever is linked in
//! (feature `cli`).
//!
//! # Features
//!
//! All are off by default, and none takes anything away.
//!
//! | feature | adds |
//! |---|---|
//! | `cli` | [`cli`]: the command line |
//! | `openai` | models `openai:..`: OpenAI, and every server that speaks its chat protocol |
//! | `local` | models `local:..`: a small one inside the process |
//! | `testing` | [`testing`]: models and a recorder for tests |
//! | `chrono04`, `jiff02`, `url2`, `uuid1` | arguments and results of the types of that crate and major version; its own feature `serde` is needed too |

extern crate self as llm_do;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
mod approval;
mod argument;
mod check;
#[cfg(feature = "cli")]
pub mod cli;
mod context;
mod declared;
mod definition;
mod dispatch;
mod error;
mod event;
mod instance;
mod model_choice;
pub mod prelude;
mod prompt;
mod registry;
mod runtime;
mod schema;
#[cfg(feature = "testing")]
pub mod testing;
mod tool;
mod toolset;
mod usage;
mod worker;

pub use self::approval::{ApprovalMode, ApprovalRequest, Approver, Decision};
pub use self::context::{CallContext, FromContext, State, ToolContext};
pub use self::definition::OutputMode;
pub use self::error::{BoxError, CallError, Result, chain};
pub use self::event::{
    Caller, Delta, Event, EventKind, EventSink, JsonLines, Judge, Kind, Outcome, Terminal, Verbosity,
};
pub use self::prompt::Prompt;
pub use self::registry::{Registered, Registry, RegistryError};
pub use self::runtime::{BuildError, Runtime, RuntimeBuilder};
pub use self::tool::{Effect, FromReturn, Tool, ToolOutput, ToolReturn};
pub use self::toolset::{Anything, Declares, Includes, Member, Toolset};
pub use self::usage::RunUsage;
/// Makes traits of async functions fit for `dyn`: for implementations of [`Model`], [`Approver`] and [`ToolContext`].
#[doc(no_inline)]
pub use async_trait::async_trait;
/// # Examples
///
/// ```
/// use llm_do::prelude::*;
///
/// /// A place on a map.
/// #[data]
/// struct Place {
///     /// Its name.
///     name: String,
///     #[serde(default)]
///     height: Option<i32>,
/// }
///
/// /// Find a place.
/// #[tool(effect = read_only)]
/// fn find(name: String) -> Place {
///     Place { name, height: None }
/// }
/// ```
pub use llm_do_macros::data;
/// # Examples
///
/// ```
/// use llm_do::prelude::*;
///
/// /// Add two numbers.
/// #[tool(effect = read_only, inline)]
/// fn add(left: i64, right: i64) -> i64 {
///     left + right
/// }
///
/// /// Adds one.
/// #[entry(toolsets = [add])]
/// async fn increment(ctx: &CallContext<increment>, number: i64) -> Result<i64> {
///     Ok(ctx.call(add { left: number, right: 1 }).await?)
/// }
/// ```
///
/// What is not declared cannot be called:
///
/// ```compile_fail
/// # use llm_do::prelude::*;
/// # /// Add two numbers.
/// # #[tool]
/// # fn add(left: i64, right: i64) -> i64 { left + right }
/// # /// Delete everything.
/// # #[tool]
/// # fn delete() {}
/// #[entry(toolsets = [add])]
/// async fn increment(ctx: &CallContext<increment>) -> Result<()> {
///     Ok(ctx.call(delete {}).await?)
/// }
/// ```
pub use llm_do_macros::entry;
/// # Examples
///
/// ```
/// use llm_do::prelude::*;
///
/// /// Read a UTF-8 text file of the project.
/// #[tool(effect = read_only)]
/// fn read_file(
///     /// Path relative to the project root.
///     path: PathBuf,
///     /// Stop after this many characters.
///     #[arg(default = 20_000)]
///     max_chars: usize,
/// ) -> std::io::Result<String> {
///     Ok(std::fs::read_to_string(path)?.chars().take(max_chars).collect())
/// }
///
/// // Still a function,
/// assert!(read_file("nowhere".into(), 10).is_err());
/// // and a struct of its arguments.
/// let call = read_file { path: "notes.txt".into(), max_chars: 10 };
/// assert_eq!(call.max_chars, 10);
/// ```
///
/// A tool has one schema, so it cannot be generic:
///
/// ```compile_fail
/// # use llm_do::prelude::*;
/// /// Keep a value.
/// #[tool]
/// fn keep<T>(value: T) -> T {
///     value
/// }
/// ```
pub use llm_do_macros::tool;
/// # Examples
///
/// ```
/// use llm_do::prelude::*;
///
/// /// Look.
/// #[tool(effect = read_only)]
/// fn look() -> u32 {
///     7
/// }
///
/// /// Listen.
/// #[tool(effect = read_only)]
/// fn listen() -> u32 {
///     8
/// }
///
/// toolset! {
///     /// What only perceives.
///     senses = [look, listen];
/// }
///
/// /// Uses all senses.
/// #[entry(toolsets = [senses])]
/// async fn perceive(ctx: &CallContext<perceive>) -> Result<u32> {
///     Ok(ctx.call(look {}).await? + ctx.call(listen {}).await?)
/// }
/// ```
///
/// Forms change what a member stands for, and by which names it is called:
///
/// ```
/// use llm_do::prelude::*;
///
/// /// Read a note.
/// #[tool(effect = read_only)]
/// fn read(title: String) -> String {
///     format!("all about {title}")
/// }
///
/// /// Delete a note.
/// #[tool(effect = destructive)]
/// fn delete(title: String) {}
///
/// toolset! {
///     /// The user's notes.
///     notes = [read, delete];
///
///     /// What changes nothing.
///     safe = [notes.except([delete])];
/// }
///
/// /// Calls by the name that a model would see, and by type.
/// #[entry(toolsets = [prefixed("notes_", safe)])]
/// async fn look_up(ctx: &CallContext<look_up>, title: String) -> Result<bool> {
///     let by_name = ctx.call_tool("notes_read", llm_do::json!({ "title": title.clone() })).await?;
///     Ok(ctx.call(read { title }).await? == by_name)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// let runtime = Runtime::builder().build()?;
/// assert!(runtime.run(look_up { title: "bees".into() }).await?);
/// # Ok(())
/// # }
/// ```
///
/// What a form leaves out is not declared:
///
/// ```compile_fail
/// # use llm_do::prelude::*;
/// # /// Read a note.
/// # #[tool]
/// # fn read(title: String) {}
/// # /// Delete a note.
/// # #[tool]
/// # fn delete(title: String) {}
/// # toolset! { notes = [read, delete]; }
/// #[entry(toolsets = [notes.except([delete])])]
/// async fn clean_up(ctx: &CallContext<clean_up>) -> Result<()> {
///     Ok(ctx.call(delete { title: "bees".into() }).await?)
/// }
/// ```
pub use llm_do_macros::toolset;
/// # Examples
///
/// ```
/// use llm_do::prelude::*;
///
/// /// What a reviewer found.
/// #[data]
/// struct Review {
///     score: u8,
///     findings: Vec<String>,
/// }
///
/// /// Review a text for mistakes.
/// #[worker(instructions = "You are a careful editor.")]
/// async fn review(text: String) -> Review;
///
/// # #[cfg(feature = "testing")]
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// let runtime = Runtime::builder().force_model(llm_do::testing::TestModel::new()).build()?;
/// let review = runtime.run(review { text: "Helo.".into() }).await?;
/// println!("{}: {:?}", review.score, review.findings);
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "testing"))]
/// # fn main() {}
/// ```
pub use llm_do_macros::worker;
#[cfg(feature = "local")]
pub use llm_do_providers::LocalModel;
#[cfg(feature = "openai")]
pub use llm_do_providers::{ApiKey, OpenAiBuilder, OpenAiModel};
pub use llm_do_providers::{
    Attachment, ErrorKind, FinishReason, Message, Model, OutputSchema, Profile, ProviderError, Request, Response,
    ResponsePart, ResponseStream, ServerSideTool, Settings, StreamEvent, ToolCall, ToolChoice, ToolResult, ToolSpec,
    Usage, UserPart, WebSearch, replay,
};
pub use serde_json::{Value, json};
pub use tokio_util::sync::CancellationToken;
