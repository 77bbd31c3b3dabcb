//! Not public API. Used by generated code.

pub use std::borrow::Cow;
pub use std::string::String;

pub use inventory;
pub use llm_do_providers::{Money, ServerSideTool, Settings, ThinkingLevel, WebSearch};
pub use schemars;
pub use serde;
pub use serde_json::Value;

pub use crate::app::check::check;
#[cfg(feature = "mcp-snapshots")]
pub use crate::app::snapshot::snapshot_definition;
pub use crate::base::error::{BoxError, ErrorType, Fault};
pub use crate::base::usage::Limits;
pub use crate::declare::argument::{
    Argument, Arguments, Described, FieldProbe, Fields, FromText, NoField, Parameter, TextFields, describe,
    deserialize, parameter, serialize,
};
pub use crate::declare::flow::{Bounded, FieldType, QuarantinedOutput, Reach};
pub use crate::declare::partial::{Partial, PartialFields};
pub use crate::declare::prompt::{AttachmentPolicy, IntoPrompt, Prompt};
pub use crate::declare::tool::{
    CalledDirectly, DirectCall, Effect, ErrorProbe, Failure, FromReturn, NoErrorType, NoSchema, NotResult, OnUnknown,
    ReturnProbe, Returned, ReturnsError, ReturnsNested, ReturnsSource, ReturnsText, ReturnsValue, Running, SchemaProbe,
    TakesHistory, Tool, ToolOutput, ToolReturn, TypedError, WorkerOutput, Yields, assert_fallible,
};
pub use crate::declare::toolset::{
    Alias, Answer, Anything, CallsAt, CallsOf, DeclarationOf, Declares, Depth, EffectProbe, EightWorkers, Except,
    HasEffects, HasTool, Hex0, Hex1, Hex2, Hex3, Hex4, Hex5, Hex6, Hex7, Hex8, Hex9, HexA, HexB, HexC, HexD, HexE,
    HexF, Includes, InstanceOf, Keyed, Listed, Member, NamedInstance, No, NoEffects, NoType, NoValue, NotToolset,
    OfInstance, Only, StrongestEffect, Toolset, Yes, assert_effect, assert_listed, assert_picked, assert_prefixed,
    assert_reads, assert_unique, concat, count, count_picked, picked, prefixed, registered_as_shown,
};
pub use crate::declare::worker_spec::OutputMode;
pub use crate::plane::context::{CallContext, FromContext, State, StateKey, ToolContext};
#[cfg(feature = "mcp-snapshots")]
pub use crate::plane::definition::SnapshotDef;
pub use crate::plane::definition::{
    AttachmentsValue, Awaits, Closing, Computes, Computing, Declaration, DeclaredRule, Function, InjectedFrom,
    Instance, InstructionsText, LimitsValue, Location, OpenByDefault, Opening, Rendering, Renders, Returns,
    SettingsValue, Stateful, ToolDef, ToolsetDef, WorkerDef, assert_max_result, assert_stateful, assert_timeout,
    assert_turns, awaited_instructions, instructions_are_awaited, instructions_parameters, json_value, preview,
    returned_instructions,
};
