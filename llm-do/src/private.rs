//! Not public API. Used by generated code.

pub use inventory;
pub use llm_do_providers::{ServerSideTool, Settings, WebSearch};
pub use schemars;
pub use serde;

pub use crate::context::{CallContext, FromContext, State, StateKey, ToolContext};
pub use crate::definition::{
    Declaration, Function, Location, OutputMode, SettingsValue, ToolDef, ToolsetDef, WorkerDef, assert_turns,
};
pub use crate::tool::{
    Argument, Effect, Failure, FromText, NoSchema, NotResult, ReturnProbe, Returns, Running, SchemaProbe, Tool,
    WorkerOutput, Yields, assert_argument, returned,
};
pub use crate::toolset::{Declares, Here, In, Includes, Nothing, Toolset, assert_unique, concat, count};
