//! The reader of llm-do's worker files: YAML front matter with the settings of a worker, and its instructions in Markdown;
//! with the feature `mcp`, also the reader of snapshots of MCP servers.
//!
//! The attribute `#[worker(file = "..")]` reads files with it at compile time, `llm-do` at run time, so that both
//! accept the same files and report the same faults. `llm_do::worker` documents the format. This crate has no stable
//! API: depend on `llm-do` instead.
//!
//! [`read`] collects all faults of a file, each with its place:
//!
//! ```
//! let reading = llm_do_worker_file::read("---\nname: editor\ntimeout: soon\nretries: -1\n---\nYou edit texts.\n");
//! let faults: Vec<_> = reading.faults.iter().map(|fault| fault.in_file("editor.worker")).collect();
//! assert_eq!(
//!     faults,
//!     [
//!         "editor.worker:3: `timeout`: invalid duration `soon`: expected numbers with units from hours to nanoseconds, \
//!          such as `90s`, `1h 30m` or `500ms`",
//!         "editor.worker:4: `retries`: expected a whole number from 0 to 4294967295, found -1",
//!     ]
//! );
//! ```

mod amount;
mod attachments;
mod bounds;
mod doc_links;
mod duration;
mod fault;
mod file;
mod front_matter;
mod guarantee;
mod input_model;
mod keys;
mod limits;
#[cfg(feature = "mcp")]
mod mcp_name;
mod mcp_server;
mod name;
mod refine;
mod schema;
mod server_side;
mod settings;
mod shadow;
#[cfg(feature = "mcp")]
mod snapshot;
mod suggestion;
mod table;
mod values;
mod word;
mod yaml;

pub use self::amount::{InvalidAmount, parse_amount};
pub use self::attachments::{ATTACHMENTS, check_media_type};
pub use self::bounds::{MAX_SIZE, too_large};
pub use self::doc_links::without_item_links;
pub use self::duration::{InvalidDuration, parse_duration};
pub use self::fault::{Fault, Located, Place};
pub use self::file::{Reading, WorkerFile, read, read_keys};
pub use self::front_matter::{Parts, split as split_front_matter};
pub use self::input_model::InputModel;
pub use self::keys::{
    BACKGROUND_PARAMETER, BLANK_REASON, KEYS, Keys, MIN_RESULT, MODEL_CHOICE, REASON_WITHOUT_EFFECT, SAME_PARAMETER,
    ZERO_TIMEOUT, ZERO_TURNS, check_max_result,
};
pub use self::limits::LIMITS;
#[cfg(feature = "mcp")]
pub use self::mcp_name::{MCP_SAMPLING, mcp_sampling_name, mcp_tool_name, mcp_toolset_name};
pub use self::mcp_server::{McpOAuth, McpServer, McpServerItem, McpTransport, read_mcp_items, read_mcp_server};
pub use self::name::{RESERVED_NAME, check_model_name, check_worker_name, is_path, not_a_tool, tool_name};
pub use self::refine::{DEFAULT_RESULTS, ZERO_RESULTS, check_accept};
pub use self::schema::NOT_AN_OBJECT;
pub use self::server_side::WEB_SEARCH;
pub use self::settings::SETTINGS;
#[cfg(feature = "mcp")]
pub use self::snapshot::{Snapshot, SnapshotError, SnapshotTool, definition};
pub use self::suggestion::{did_you_mean, nearest};
pub use self::table::{Context, Entry, KeyDef, ServerSideTool, Skills, Value};
pub use self::values::{Reader, unknown_key};
pub use self::word::{OutputMode, SERVER_SIDE_TOOLS, ServerSideKind};
pub use self::yaml::{Content, Key, Node, read as read_yaml};
