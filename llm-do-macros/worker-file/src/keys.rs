//! The keys of the front matter.

use std::time::Duration;

use crate::attachments::ATTACHMENTS;
use crate::input_model::{self, InputModel};
use crate::limits::LIMITS;
use crate::mcp_server::read_mcp_items;
use crate::name::{check_model_name, check_worker_name, is_tool, not_a_tool, tool_name};
use crate::settings::SETTINGS;
use crate::table::{self, COUNT_32, Context, Entry, FLAG, KeyDef, Skills, TEXT, TEXTS, Value, checked};
use crate::values::Reader;
use crate::word::{EFFECTS, OutputMode};
use crate::yaml::{Content, Key, Node};
use crate::{Fault, Located, Place, did_you_mean, guarantee, refine, schema, server_side, shadow};

/// The fault of a worker with both `model` and `compatible_models`.
pub const MODEL_CHOICE: &str = "`model` and `compatible_models` cannot be combined: remove one";
/// The fault of a worker that may not make any request.
pub const ZERO_TURNS: &str = "`max_turns` must be at least 1: each turn is one request to the model";
/// The fault of a timeout of 0.
pub const ZERO_TIMEOUT: &str = "`timeout` must be longer than 0: remove the key for no timeout";

/// The lowest `max_result`, in bytes: a shortened result has its beginning, its end and a notice.
pub const MIN_RESULT: u64 = 1_024;

/// The fault of a reason without its effect.
pub const REASON_WITHOUT_EFFECT: &str =
    "`effect_reason` needs `effect`: it states why a call changes less than its tools may";
/// The fault of a blank reason.
pub const BLANK_REASON: &str = "`effect_reason` is blank: state why a call changes less than its tools may";

/// The parameter that models see of an item that they may call in the background.
pub const BACKGROUND_PARAMETER: &str = "background";
/// The fault of such an item with a parameter of its own of that name.
pub const SAME_PARAMETER: &str = "the parameter `background` has the name of the one that models get with `background`; rename it, or remove the key";

/// The keys of a worker file.
pub const KEYS: &[KeyDef] = &[
    KeyDef::new(
        "name",
        |node, reader| checked(node, reader, check_worker_name),
        "1 to 64 ASCII letters, digits, `_` or `-`. Required at run time; with an attribute, by default the function's",
    ),
    KeyDef::new(
        "description",
        TEXT,
        "What callers' models read. With an attribute, by default its doc comment; at run time, the instructions",
    ),
    KeyDef::new(
        "model",
        |node, reader| checked(node, reader, check_model_name),
        "`provider:model`; not with `compatible_models`. Default: the run's",
    ),
    KeyDef::new("compatible_models", TEXTS, "A list of globs of the run's models. Default: any"),
    KeyDef::new(
        "tools",
        tools,
        "Names of tools, toolsets and workers, or paths such as `crate::fs::read_file`. The compiler resolves an item that is \
         a Rust path, even of one segment; at run time its last segment is the registered name",
    ),
    KeyDef::new("toolsets", tools, "As `tools`: the two keys have the same meaning"),
    KeyDef::new(
        "code",
        FLAG,
        "`true` or `false`: whether its model calls the tools by code, as `#[worker(code = true)]`; needs the feature `script`",
    ),
    KeyDef::new(
        "server_side_tools",
        |node, reader| server_side::read(node, reader).map(Value::ServerSideTools),
        "A list of `web_search`, `web_fetch`, `code_execution`, `image_generation` and `programmatic_tool_calling`; with \
         settings, `{ tool_type: web_search, max_uses: 3 }`",
    ),
    KeyDef::new(
        "effect",
        effect,
        "`read_only`, `idempotent` or `destructive`: what a call may change. Default: all that its tools may change. An effect that is \
         weaker than that of one of its tools needs `effect_reason`",
    ),
    KeyDef::new("effect_reason", TEXT, "Why a call changes less than its tools may; only with `effect`"),
    KeyDef::new("hints", TEXTS, "A list of what it is good for"),
    KeyDef::new(
        "settings",
        |node, reader| table::read_map(SETTINGS, node, reader).map(Value::Settings),
        "A map with the settings of its requests, each of which overrides that of the runtime",
    ),
    KeyDef::new("output", output, "`auto`, `native`, `tool` or `prompted`. Default: `auto`"),
    KeyDef::new(
        "max_turns",
        |node, reader| max_turns(&node, reader),
        "The maximum number of requests of one call, at least 1. Default: 20",
    ),
    KeyDef::new(
        "retries",
        COUNT_32,
        "How often the same fault may be retried: an invalid output, invalid arguments of one tool, or a failed call with \
         equal arguments; and how often a streamed answer that breaks off may be asked for again. A tool that fails with \
         other arguments uses up nothing. Default: 2",
    ),
    KeyDef::new(
        "limits",
        |node, reader| table::read_map(LIMITS, node, reader).map(Value::Limits),
        "A map with limits for a call and all nested calls together. Default: those of the run",
    ),
    KeyDef::new(
        "max_result",
        |node, reader| max_result(&node, reader),
        "How many bytes of a result of a tool its model gets, at least 1024; it reads the rest in parts. Default: set by the runtime",
    ),
    KeyDef::new(
        "attachments",
        |node, reader| table::read_map(ATTACHMENTS, node, reader).map(Value::Attachments),
        "A map of what the files of a prompt may be. Default: any, of at most 20 MiB each if they are read",
    ),
    KeyDef::new(
        "background",
        FLAG,
        "`true` or `false`: whether the model of a caller may start a call in the background. Default: `false`",
    ),
    KeyDef::new(
        "timeout",
        |node, reader| timeout(&node, reader),
        "How long a call may take. Default: as long as its caller",
    ),
    KeyDef::new(
        "input_schema",
        |node, reader| schema::input(node, reader).map(Value::Json),
        "The JSON schema of the arguments, with `type: object`. With an attribute, its property names and `required` must be \
         those of the parameters; at run time, the worker takes a `Prompt` by default",
    ),
    KeyDef::new(
        "input_model_ref",
        |node, reader| input_model::read(node, reader).map(Value::InputModel),
        "At run time: the name of a tool, worker or entry, linked or added, whose arguments the worker takes; not with \
         `input_schema`. A Python class, such as `schemas.py:Review`, cannot be read: with an `input_schema` it has no effect, \
         so the same file works in the Python llm-do; in a project it is left out with a warning, and the worker takes a \
         prompt; elsewhere it is a fault",
    ),
    KeyDef::new(
        "output_schema",
        |node, reader| schema::output(node, reader).map(Value::Json),
        "The JSON schema of the result. With an attribute, its names, `required` and simple types must match the return type, \
         which is checked when the registry is built; at run time, the result is plain text by default",
    ),
    KeyDef::new(
        "hybrid",
        shadow::item_name,
        "At run time: a tool that answers first, as by `RuntimeBuilder::hybrid`; the worker answers where it abstains or fails",
    ),
    KeyDef::new(
        "guarantee",
        guarantee::read,
        "At run time: `{ disagreement: 0.02, confidence: 0.95 }` has the tool of `hybrid` answer only while comparisons show that it \
         disagrees with the worker in at most this share, as `RuntimeBuilder::guarantee`. Default of `confidence`: 0.95",
    ),
    KeyDef::new(
        "shadow",
        shadow::read,
        "At run time: `{ with: TOOL, every: 10 }` compares the worker with a tool at every tenth call, and reports whether they agree. \
         Of the tool of `hybrid`, the worker checks the answers; any other tool runs beside the worker. Default of `every`: 1",
    ),
    KeyDef::new(
        "refine",
        refine::read,
        "At run time: `{ with: EVALUATOR, at_most: 3, accept: 0.8 }`: a tool, a script or a worker scores each result; below `accept`, its \
         reasons go back to the worker, and the best of `at_most` results stands. Defaults: 3, and 1, the best score",
    ),
    KeyDef::new("skills", skills, "In a project: `all`, or a list of the skills that it may read"),
    KeyDef::new(
        "context",
        |node, reader| context(&node, reader),
        "In a project: `agents_md` adds the text of the nearest `AGENTS.md` to the instructions",
    ),
    KeyDef::new(
        "mcp_servers",
        servers,
        "In a project: a list of the MCP servers whose tools it gets: names of servers in `.mcp.json`, and definitions as \
         there, `{ NAME: { command: .. } }`",
    ),
];

/// Keys of other versions of the format, and what to do instead.
const UNSUPPORTED: [(&str, &str); 2] = [
    ("entry", "the caller chooses which worker to run"),
    ("schema_in_ref", "write the schema of the arguments as `input_schema`"),
];

/// The keys of the front matter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Keys {
    /// Every key that is present, including invalid ones.
    pub given: Vec<Key>,
    /// The valid keys, in the order of [`KEYS`].
    pub entries: Vec<Entry>,
}

/// Reads the keys; invalid ones are reported and omitted.
pub(crate) fn read(root: Node, faults: &mut Vec<Fault>) -> Keys {
    let keys = match root.content {
        Content::Map(entries) => Keys::read(entries, faults),
        Content::Null | Content::Invalid => Keys::default(),
        other => {
            let message = format!("invalid front matter: expected lines `key: value`, found {}", other.kind());
            faults.push(Fault::new(root.place, message));
            Keys::default()
        }
    };
    keys.check_models(faults);
    keys.check_inputs(faults);
    keys.check_reason(faults);
    keys.check_tools(faults);
    keys
}

impl Keys {
    fn read(entries: Vec<(Key, Node)>, faults: &mut Vec<Fault>) -> Self {
        let given = entries.iter().map(|(key, _)| key.clone()).collect();
        faults.extend(entries.iter().filter_map(|(key, _)| unsupported(key)));
        let supported = entries.into_iter().filter(|(key, _)| unsupported(key).is_none());
        // A value that begins on a line below its key is reported at the key.
        let at_key = supported.map(|(key, node)| {
            let place = key.place;
            (key, Node { place, ..node })
        });
        Self { given, entries: table::read(KEYS, "", at_key, faults) }
    }

    /// Returns the value of a key.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.entries.iter().find(|entry| entry.name == name).map(|entry| &entry.value)
    }

    /// Returns the value of a key that is a JSON schema.
    #[must_use]
    pub fn schema(&self, name: &str) -> Option<&Node> {
        if let Some(Value::Json(schema)) = self.get(name) { Some(schema) } else { None }
    }

    /// Returns the names or paths of the tools and toolsets that it may call.
    pub fn tools(&self) -> impl Iterator<Item = &Located<String>> {
        ["tools", "toolsets"].into_iter().filter_map(move |name| self.get(name)).flat_map(Value::texts)
    }

    /// Returns a fault for each key that has an effect only in files of a project, since other readers would not report
    /// it.
    #[must_use]
    pub fn outside_project(&self) -> Vec<Fault> {
        let of_project = self.entries.iter().filter(|entry| entry.value.is_of_project());
        let fault = |Entry { name, place, .. }: &Entry| {
            Fault::new(*place, format!("`{name}` works only in the files of a project: see `llm_do::project`"))
        };
        let class = self.unread_class().map(|Located { place, value }| Fault::new(place, input_model::unread(value)));
        of_project.map(fault).chain(class).collect()
    }

    /// Returns the Python class that describes the arguments, unless a schema does.
    #[must_use]
    pub fn unread_class(&self) -> Option<Located<&str>> {
        match self.input_model()? {
            Located { place, value: InputModel::Python(class) } => Some(Located { place, value: class }),
            Located { value: InputModel::Item(_), .. } => None,
        }
    }

    /// Returns the source of the worker's arguments, unless it has a schema of them.
    #[must_use]
    pub fn input_model(&self) -> Option<Located<&InputModel>> {
        let place = self.place_of("input_model_ref").filter(|_| self.place_of("input_schema").is_none())?;
        let Some(Value::InputModel(value)) = self.get("input_model_ref") else { return None };
        Some(Located { place, value })
    }

    /// Returns the place of a key, even if its value is invalid.
    #[must_use]
    pub fn place_of(&self, name: &str) -> Option<Place> {
        self.given.iter().find(|key| key.name == name).map(|key| key.place)
    }

    fn check_models(&self, faults: &mut Vec<Fault>) {
        if let (Some(_), Some(place)) = (self.place_of("model"), self.place_of("compatible_models")) {
            faults.push(Fault::new(place, MODEL_CHOICE));
        }
    }

    fn check_reason(&self, faults: &mut Vec<Fault>) {
        if let (Some(place), None) = (self.place_of("effect_reason"), self.place_of("effect")) {
            faults.push(Fault::new(place, REASON_WITHOUT_EFFECT));
        }
    }

    /// Reports two definitions of the arguments; a Python class does not count.
    fn check_inputs(&self, faults: &mut Vec<Fault>) {
        let Some(Value::InputModel(InputModel::Item(_))) = self.get("input_model_ref") else { return };
        if let (Some(place), Some(_)) = (self.place_of("input_model_ref"), self.place_of("input_schema")) {
            faults.push(Fault::new(place, input_model::TWO_INPUTS));
        }
    }

    /// Reports tools with the same registered name, which the model could not distinguish.
    fn check_tools(&self, faults: &mut Vec<Fault>) {
        let mut tools: Vec<_> = self.tools().collect();
        tools.sort_by_key(|tool| tool.place);
        for (index, tool) in tools.iter().enumerate() {
            let name = tool_name(&tool.value);
            if tools[..index].iter().any(|other| tool_name(&other.value) == name) {
                let message = format!("`{name}` is listed twice; list it once in `tools` or `toolsets`");
                faults.push(Fault::new(tool.place, message));
            }
        }
    }
}

fn unsupported(key: &Key) -> Option<Fault> {
    let (name, instead) = UNSUPPORTED.into_iter().find(|(name, _)| *name == key.name)?;
    Some(Fault::new(key.place, format!("unsupported key `{name}`: {instead}")))
}

/// Reads a list of names and paths; no value is an empty list.
fn tools(node: Node, reader: &mut Reader<'_>) -> Option<Value> {
    if node.content == Content::Null {
        return Some(Value::Texts(Vec::new()));
    }
    let mut tools = reader.strings(node)?.value;
    tools.retain(|tool| is_tool(&tool.value) || reader.fault::<()>(tool.place, not_a_tool(&tool.value)).is_some());
    Some(Value::Texts(tools))
}

fn max_turns(node: &Node, reader: &mut Reader<'_>) -> Option<Value> {
    let turns: u32 = reader.count(node, u32::MAX)?;
    if turns == 0 { reader.fault(node.place, ZERO_TURNS) } else { Some(Value::Count(turns.into())) }
}

/// Checks how many bytes of a result a model gets.
///
/// # Errors
///
/// Returns the fault if they are too few.
pub fn check_max_result(bytes: u64) -> Result<(), String> {
    if bytes >= MIN_RESULT {
        return Ok(());
    }
    Err(format!("`max_result` is {bytes}, but a shortened result needs at least {MIN_RESULT} bytes"))
}

fn max_result(node: &Node, reader: &mut Reader<'_>) -> Option<Value> {
    let bytes = reader.count(node, u64::MAX)?;
    match check_max_result(bytes) {
        Ok(()) => Some(Value::Count(bytes)),
        Err(fault) => reader.fault(node.place, fault),
    }
}

fn timeout(node: &Node, reader: &mut Reader<'_>) -> Option<Value> {
    match reader.duration(node)? {
        Duration::ZERO => reader.fault(node.place, ZERO_TIMEOUT),
        timeout => Some(Value::Duration(timeout)),
    }
}

fn effect(node: Node, reader: &mut Reader<'_>) -> Option<Value> {
    let word = reader.string(node)?;
    EFFECTS.into_iter().find(|effect| *effect == word.value).map(Value::Effect).or_else(|| {
        let hint = did_you_mean(&word.value, EFFECTS);
        let expected = "expected `read_only`, `idempotent` or `destructive`";
        reader.fault(word.place, format!("unknown effect `{}`{hint}\n{expected}", word.value))
    })
}

fn output(node: Node, reader: &mut Reader<'_>) -> Option<Value> {
    let word = reader.string(node)?;
    match OutputMode::named(&word.value) {
        Ok(mode) => Some(Value::Output(mode)),
        Err(message) => reader.fault(word.place, message),
    }
}

fn skills(node: Node, reader: &mut Reader<'_>) -> Option<Value> {
    match &node.content {
        Content::String(word) if word == "all" => Some(Value::Skills(Skills::All)),
        Content::String(word) => {
            reader.invalid(node.place, format!("expected `all` or a list of names, found `{word}`"))
        }
        _ => reader.nonempty_strings(node).map(|names| Value::Skills(Skills::Named(names.value))),
    }
}

fn context(node: &Node, reader: &mut Reader<'_>) -> Option<Value> {
    match &node.content {
        Content::String(word) if word == "agents_md" => Some(Value::Context(Context::AgentsMd)),
        Content::String(word) => reader.invalid(node.place, format!("expected `agents_md`, found `{word}`")),
        _ => reader.wrong("`agents_md`", node),
    }
}

/// Reads servers; keys that other programs ignore are faults here.
fn servers(node: Node, reader: &mut Reader<'_>) -> Option<Value> {
    let mut notes = Vec::new();
    let servers = read_mcp_items(reader, node, &mut notes);
    reader.faults.append(&mut notes);
    servers.map(|servers| Value::McpServers(servers.value))
}
