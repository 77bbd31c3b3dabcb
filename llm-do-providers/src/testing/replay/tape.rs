//! The file of a recording: a line for the model, and one for each request.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::model::{Profile, Request, ToolChoice};
use crate::response::Response;
use crate::server_side::ServerSideTool;

/// What is recorded.
pub(super) struct Tape {
    /// Where more is added, while it is made.
    file: Option<File>,
    /// What is not answered yet.
    left: Vec<Recorded>,
}

#[derive(Serialize, Deserialize)]
struct Recorded {
    request: Value,
    response: Response,
}

/// The first line.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    model: String,
    /// Absent in recordings of before it was asked.
    #[serde(default = "calls_tools")]
    tools: bool,
    native_output: bool,
    native_output_with_tools: bool,
}

fn calls_tools() -> bool {
    Profile::NONE.tools
}

impl Tape {
    pub(super) fn create(path: &Path, model: &str, profile: Profile) -> io::Result<Self> {
        let Profile { tools, native_output, native_output_with_tools, .. } = profile;
        let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
        write(&mut file, &Head { model: model.to_owned(), tools, native_output, native_output_with_tools })?;
        Ok(Self { file: Some(file), left: Vec::new() })
    }

    /// Reads a recording: what it holds, the model's name, and what that could.
    pub(super) fn read(path: &Path) -> io::Result<(Self, String, Profile)> {
        let mut lines = BufReader::new(File::open(path)?).lines();
        let head = lines.next().ok_or(io::ErrorKind::UnexpectedEof)??;
        let Head { model, tools, native_output, native_output_with_tools } = parse(&head, 1)?;
        let profile = Profile { tools, native_output, native_output_with_tools, ..Profile::NONE };
        let recorded = lines.enumerate().map(|(place, line)| parse(&line?, place + 2));
        let left = recorded.collect::<io::Result<_>>()?;
        Ok((Self { file: None, left }, model, profile))
    }

    pub(super) fn record(&mut self, request: Value, response: &Response) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        write(file, &Recorded { request, response: response.clone() })
    }

    /// Takes the answer to a request out; if there is none, the next request that is left.
    pub(super) fn take(&mut self, request: &Value) -> Result<Response, Option<Value>> {
        match self.left.iter().position(|recorded| recorded.request == *request) {
            Some(place) => Ok(self.left.remove(place).response),
            None => Err(self.left.first().map(|recorded| recorded.request.clone())),
        }
    }
}

fn parse<T: for<'de> Deserialize<'de>>(line: &str, number: usize) -> io::Result<T> {
    serde_json::from_str(line).map_err(|error| io::Error::other(format!("line {number} is no record: {error}")))
}

fn write(file: &mut File, record: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(record)?;
    line.push(b'\n');
    file.write_all(&line)
}

/// Returns all that a request says, but for headers.
pub(super) fn written(request: &Request<'_>) -> Value {
    let choice = match request.tool_choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::Required => json!("required"),
        ToolChoice::None => json!("none"),
        ToolChoice::Tool(name) => json!({ "tool": name }),
    };
    let tools = request
        .tools
        .iter()
        .map(|tool| json!({ "name": *tool.name, "description": *tool.description, "parameters": *tool.parameters }));
    json!({
        "instructions": request.instructions,
        "messages": request.messages,
        "tools": tools.collect::<Vec<_>>(),
        "tool_choice": choice,
        "server_side_tools": request.server_side_tools.iter().map(server_side).collect::<Vec<_>>(),
        "output": request.output.map(|output| json!({ "name": *output.name, "schema": *output.schema })),
        "settings": request.settings,
    })
}

fn server_side(tool: &ServerSideTool) -> Value {
    match tool {
        ServerSideTool::WebSearch(search) => json!({
            "name": tool.name(), "max_uses": search.max_uses, "allowed_domains": search.allowed_domains,
            "blocked_domains": search.blocked_domains,
        }),
        _ => json!({ "name": tool.name() }),
    }
}

/// Returns where two values differ first, as a JSON pointer; nothing if they do not.
pub(super) fn difference(left: &Value, right: &Value) -> Option<String> {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            let keys = left.keys().chain(right.keys().filter(|key| !left.contains_key(*key)));
            keys.into_iter().find_map(|key| below(key, left.get(key), right.get(key)))
        }
        (Value::Array(left), Value::Array(right)) => {
            (0..left.len().max(right.len())).find_map(|place| below(&place, left.get(place), right.get(place)))
        }
        (left, right) => (left != right).then(String::new),
    }
}

fn below(key: &impl ToString, left: Option<&Value>, right: Option<&Value>) -> Option<String> {
    let place = match (left, right) {
        (Some(left), Some(right)) => difference(left, right)?,
        _ => String::new(),
    };
    Some(format!("/{}{place}", key.to_string().replace('~', "~0").replace('/', "~1")))
}
