//! Not public API. Used by generated code.

pub use inventory;
pub use schemars;
pub use serde;

pub use crate::__key as key;
pub use crate::context::{CallContext, FromContext, State, StateKey, ToolContext};
pub use crate::definition::{Declaration, Function, Location, ToolDef, ToolsetDef, WorkerDef};
pub use crate::tool::{
    Argument, Effect, Failure, FromText, NoSchema, NotResult, ReturnProbe, Returns, Running, SchemaProbe, Tool,
    WorkerOutput, Yields, assert_argument, returned,
};
pub use crate::toolset::{
    Answer, Declares, Except, Includes, Keyed, Member, No, One, Only, Toolset, Yes, Zero, assert_picked,
    assert_prefixed, assert_unique, concat, count, count_picked, picked, prefixed,
};
