//! Tables of keys: the keys that a map of a worker file may have, each with the reader of its value and its
//! documentation.

use std::time::Duration;

use crate::input_model::InputModel;
use crate::mcp_server::McpServerItem;
use crate::values::{DOCUMENTATION, Reader, unknown_key};
use crate::word::{OutputMode, ServerSideKind};
use crate::yaml::{Content, Key, Node};
use crate::{Fault, Located, Place};

/// A key that a map of a worker file may have.
#[derive(Debug)]
pub struct KeyDef {
    /// The name in files.
    pub name: &'static str,
    /// The documentation of the value.
    pub doc: &'static str,
    read: Read,
}

/// Reads the value of a key; `None` if it has a fault, which is reported.
pub(crate) type Read = fn(Node, &mut Reader<'_>) -> Option<Value>;

pub(crate) const COUNT: Read = |node, reader| reader.count(&node, u64::MAX).map(Value::Count);
pub(crate) const COUNT_32: Read =
    |node, reader| reader.count(&node, u32::MAX).map(|count: u32| Value::Count(count.into()));
pub(crate) const DURATION: Read = |node, reader| reader.duration(&node).map(Value::Duration);
pub(crate) const FLAG: Read = |node, reader| reader.flag(&node).map(Value::Flag);
pub(crate) const NUMBER: Read = |node, reader| reader.number(&node).map(Value::Number);
pub(crate) const TEXT: Read = |node, reader| reader.string(node).map(|text| Value::Text(text.value));
pub(crate) const TEXTS: Read = |node, reader| reader.nonempty_strings(node).map(|texts| Value::Texts(texts.value));

impl KeyDef {
    pub(crate) const fn new(name: &'static str, read: Read, doc: &'static str) -> Self {
        Self { name, doc, read }
    }
}

/// A key of a file, with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The name.
    pub name: &'static str,
    /// The place of the key.
    pub place: Place,
    /// The value.
    pub value: Value,
}

/// The value of a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `true` or `false`.
    Flag(bool),
    /// A whole number.
    Count(u64),
    /// Any number.
    Number(f64),
    /// A text.
    Text(String),
    /// A list of texts.
    Texts(Vec<Located<String>>),
    /// A duration.
    Duration(Duration),
    /// An amount of money, in 10⁻¹² US dollars.
    Amount(u128),
    /// A JSON schema, or fields of a request.
    Json(Node),
    /// The way in which the model returns the output.
    Output(OutputMode),
    /// The possible effect of a call: a word of `llm_do::Effect`.
    Effect(&'static str),
    /// The level of thinking: a word of `llm_do::model::ThinkingLevel`.
    Thinking(&'static str),
    /// The keys of `settings`.
    Settings(Vec<Entry>),
    /// The keys of `limits`.
    Limits(Vec<Entry>),
    /// The keys of `attachments`.
    Attachments(Vec<Entry>),
    /// The tools that the provider runs.
    ServerSideTools(Vec<Located<ServerSideTool>>),
    /// The source of the worker's arguments.
    InputModel(InputModel),
    /// The keys of `guarantee`.
    Guarantee(Vec<Entry>),
    /// The keys of `shadow`.
    Shadow(Vec<Entry>),
    /// The keys of `refine`.
    Refine(Vec<Entry>),
    /// The skills of the project that the worker may read.
    Skills(Skills),
    /// The file of the project that is added to its instructions.
    Context(Context),
    /// The MCP servers whose tools it gets.
    McpServers(Vec<McpServerItem>),
}

/// A server-side tool with its settings.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerSideTool {
    /// The kind of the tool.
    pub kind: ServerSideKind,
    /// Its settings.
    pub settings: Vec<Entry>,
}

/// A value of the key `skills`.
#[derive(Clone, Debug, PartialEq)]
pub enum Skills {
    /// All skills of the project.
    All,
    /// The skills with these names.
    Named(Vec<Located<String>>),
}

/// A value of the key `context`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Context {
    /// The nearest file `AGENTS.md`.
    AgentsMd,
}

impl Value {
    /// Returns the texts, if this is a list of texts.
    #[must_use]
    pub fn texts(&self) -> &[Located<String>] {
        if let Self::Texts(texts) = self { texts } else { &[] }
    }

    /// Returns whether only a project reads the key.
    pub(crate) fn is_of_project(&self) -> bool {
        matches!(self, Self::Skills(_) | Self::Context(_) | Self::McpServers(_))
    }
}

/// Reads keys, and returns them in the order of the table. An unknown key is a fault; `of` describes the map in it.
pub(crate) fn read(
    table: &[KeyDef],
    of: &str,
    keys: impl IntoIterator<Item = (Key, Node)>,
    faults: &mut Vec<Fault>,
) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (key, node) in keys {
        let Some(position) = position(table, &key) else {
            let known: Vec<_> = table.iter().map(|def| def.name).collect();
            faults.push(unknown_key(&key, of, &known, DOCUMENTATION));
            continue;
        };
        let def = &table[position];
        let value = (def.read)(node, &mut Reader { key: def.name, faults });
        entries.extend(value.map(|value| (position, Entry { name: def.name, place: key.place, value })));
    }
    entries.sort_by_key(|(position, _)| *position);
    entries.into_iter().map(|(_, entry)| entry).collect()
}

/// Reads a map, in which a key without a value counts as absent.
pub(crate) fn read_map(table: &[KeyDef], node: Node, reader: &mut Reader<'_>) -> Option<Vec<Entry>> {
    let of = format!(" in `{}`", reader.key);
    let mut keys = reader.map(node)?;
    keys.retain(|(key, node)| node.content != Content::Null || position(table, key).is_none());
    Some(read(table, &of, keys, reader.faults))
}

fn position(table: &[KeyDef], key: &Key) -> Option<usize> {
    table.iter().position(|def| def.name == key.name)
}

/// Reads a text that passes a check.
pub(crate) fn checked(node: Node, reader: &mut Reader<'_>, check: fn(&str) -> Result<(), String>) -> Option<Value> {
    let text = reader.string(node)?;
    match check(&text.value) {
        Ok(()) => Some(Value::Text(text.value)),
        Err(message) => reader.fault(text.place, message),
    }
}
