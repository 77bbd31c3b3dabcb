//! `pub name = mcp("file");`: the tools of an MCP server, as listed in its snapshot.

#[cfg(feature = "mcp")]
mod docs;
#[cfg(feature = "mcp")]
mod names;
#[cfg(feature = "mcp")]
mod read;
#[cfg(feature = "mcp")]
mod schema;
#[cfg(feature = "mcp")]
mod types;
#[cfg(not(feature = "mcp"))]
mod without_snapshots;

use syn::{Attribute, Ident, LitStr, Type, Visibility};

#[cfg(feature = "mcp")]
use self::read::tools;
#[cfg(not(feature = "mcp"))]
use self::without_snapshots::tools;
use super::Callable;
use crate::errors::Errors;
use crate::worker_file;

/// The tools of an MCP server.
pub(crate) struct McpToolset {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    /// The name of the module.
    pub(crate) ident: Ident,
    /// The snapshot, as written in the macro.
    pub(crate) file: LitStr,
    /// The absolute path of the snapshot, if it was read.
    pub(crate) path: Option<LitStr>,
    /// The name of the server.
    pub(crate) server: String,
    /// The valid tools.
    pub(crate) tools: Vec<McpTool>,
    /// The types of their arguments and results.
    pub(crate) types: Vec<McpType>,
}

/// A tool of a server.
pub(crate) struct McpTool {
    /// Its name and its arguments.
    pub(crate) callable: Callable,
    /// The type of its result.
    pub(crate) output: Type,
    /// Its arguments, for the constructor.
    pub(crate) fields: Vec<McpField>,
}

/// A generated type of a schema.
pub(crate) struct McpType {
    pub(crate) ident: Ident,
    pub(crate) docs: Vec<Attribute>,
    pub(crate) kind: Kind,
}

/// The form of a generated type.
#[cfg_attr(not(feature = "mcp"), expect(dead_code, reason = "only snapshots have types"))]
pub(crate) enum Kind {
    Struct(Vec<McpField>),
    /// The variants, each with its text.
    Enum(Vec<(Ident, String)>),
}

/// A field of a generated struct.
#[cfg_attr(not(feature = "mcp"), expect(dead_code, reason = "only snapshots have fields"))]
#[derive(Clone)]
pub(crate) struct McpField {
    pub(crate) ident: Ident,
    /// The name in the schema.
    pub(crate) name: String,
    pub(crate) ty: Type,
    /// The description in the schema.
    pub(crate) description: String,
    pub(crate) docs: Vec<Attribute>,
    /// Whether the schema requires it; otherwise the type is an `Option`.
    pub(crate) is_required: bool,
}

impl McpToolset {
    /// Reads the snapshot in the macro; without a valid one, the toolset is empty.
    pub(super) fn read(
        attrs: Vec<Attribute>,
        vis: Visibility,
        ident: Ident,
        file: &LitStr,
        errors: &mut Errors,
    ) -> Self {
        let mut toolset = Self {
            attrs,
            vis,
            ident,
            path: None,
            server: String::new(),
            tools: Vec::new(),
            types: Vec::new(),
            file: file.clone(),
        };
        match worker_file::find(file, "snapshot") {
            Ok(Some(found)) => {
                toolset.path = Some(LitStr::new(&found.path.to_string_lossy(), file.span()));
                tools(&mut toolset, &found.text, errors);
            }
            Ok(None) => {}
            Err(fault) => errors.push(file, fault),
        }
        toolset
    }
}
