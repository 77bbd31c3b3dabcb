//! Built-in toolsets, each behind the feature of its name.
//!
//! # Workers that models create
//!
//! With [`workers`], a model creates workers with [`worker_create`](fn@worker_create), which needs approval, and
//! calls them with [`worker_call`](fn@worker_call).
//!
//! Such a worker exists as long as the [`Runtime`](crate::Runtime), or longer as a file, with
//! [`worker_store`](crate::runtime::RuntimeBuilder::worker_store). It is not in the registry: only `worker_call` can
//! call it, and `worker_call` can call nothing else. It may call at most what its creator may call, and sees each
//! tool by its registered name. Depth, limits, approvals, events and the journal apply to its calls as to any
//! worker's.
//!
//! An item that may use `worker_call` may call every worker that was created in the session, including one with tools
//! that the item does not have, as with any worker in a toolset. Approval rules apply to each of the worker's calls.
//!
//! ```standalone_crate
//! use llm_do::prelude::*;
//! use llm_do::toolsets::{worker_call, worker_create, workers};
//! use llm_do::approval::ApprovalMode;
//! use llm_do::json;
//!
//! /// Solve a task with the help of other workers.
//! #[worker(toolsets = [workers])]
//! async fn lead(task: String) -> String;
//!
//! /// Creates and calls a worker in code.
//! #[entry(toolsets = [workers])]
//! async fn translate(ctx: &CallContext<translate>, text: String) -> Result<String> {
//!     let made = worker_create {
//!         name: "translator".into(),
//!         instructions: "Translate into French.".into(),
//!         description: "Translates a text.".into(),
//!         model: None,
//!         toolsets: Vec::new(),
//!         output_schema: None,
//!         input_schema: None,
//!     };
//!     ctx.call(made).await?;
//!     let call = worker_call { worker: "translator".into(), input: text.into(), attachments: Vec::new() };
//!     Ok(ctx.call(call).await?.value().to_string())
//! }
//!
//! # #[cfg(feature = "testing")]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<()> {
//! let model = llm_do::testing::TestModel::new().text("Bonjour !");
//! // Creating a worker needs approval.
//! let runtime = Runtime::builder().approval_mode(ApprovalMode::ApproveAll).force_model(model).build()?;
//! assert_eq!(runtime.run(translate { text: "Hello!".into() }).await?, json!("Bonjour !").to_string());
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "testing"))]
//! # fn main() {}
//! ```

#[cfg(feature = "filesystem")]
pub mod filesystem;
#[cfg(feature = "workers")]
mod runtime_worker;

#[cfg(feature = "workers")]
pub use self::runtime_worker::{Input, worker_call, worker_create, workers};
