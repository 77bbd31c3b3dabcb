//! Toolsets that are ready to be declared, each behind a feature of its name.
//!
//! # Workers that models make
//!
//! With [`workers`], a model makes workers by [`worker_create`](fn@worker_create), which needs approval, and calls them by
//! [`worker_call`](fn@worker_call).
//!
//! A worker that a model made lives as long as the [`Runtime`](crate::Runtime), or longer as a file, with
//! [`worker_store`](crate::runtime::RuntimeBuilder::worker_store). It is in no registry: only `worker_call` reaches it, and that
//! reaches nothing else. It may call at most what the worker, tool or entry may that made it, and sees each tool by its
//! registered name. A call of it has depth, limits, approvals, events and the journal as any worker's.
//!
//! Whoever may `worker_call` may call every worker that was made in the session, also one with tools that the caller does not
//! have, as with any worker that a toolset lists. Rules of approval hold each of its calls all the same.
//!
//! ```standalone_crate
//! use llm_do::prelude::*;
//! use llm_do::toolsets::{worker_call, worker_create, workers};
//! use llm_do::approval::ApprovalMode;
//! use llm_do::json;
//!
//! /// Do what needs more than one pair of eyes.
//! #[worker(toolsets = [workers])]
//! async fn lead(task: String) -> String;
//!
//! /// Does by code what a model of `lead` may do.
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
//! // Without this, somebody would be asked whether the worker may be made.
//! let runtime = Runtime::builder().approval_mode(ApprovalMode::ApproveAll).force_model(model).build()?;
//! assert_eq!(runtime.run(translate { text: "Hello!".into() }).await?, json!("Bonjour !").to_string());
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "testing"))]
//! # fn main() {}
//! ```

mod made_worker;

pub use self::made_worker::{Input, worker_call, worker_create, workers};
