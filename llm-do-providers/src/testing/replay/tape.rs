//! The file of a recording: a line for the model, and one for each request.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::model::{Profile, Request, ToolChoice};
use crate::response::Response;
use crate::server_side::ServerSideTool;

/// A recording that is made.
pub(super) struct Recording {
    path: PathBuf,
    head: RecordingHeader,
    /// None before the first answer, so that nothing is left of a recording that has none.
    file: Option<File>,
}

/// A recording that is answered from.
pub(super) struct Tape {
    path: PathBuf,
    /// What is not answered yet, by the number of its line.
    left: Vec<(usize, Recorded)>,
    /// How many answers there were at first.
    recorded: usize,
}

#[derive(Serialize, Deserialize)]
struct Recorded {
    request: Value,
    response: Response,
}

/// The first line.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordingHeader {
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

impl Recording {
    /// Returns a recording that begins with the first answer, and notices before that if there is no folder for it.
    pub(super) fn new(path: &Path, model: &str, profile: Profile) -> io::Result<Self> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            return Err(io::Error::other(format!("there is no folder `{}`; make it", folder.display())));
        }
        let Profile { tools, native_output, native_output_with_tools, .. } = profile;
        let head = RecordingHeader { model: model.to_owned(), tools, native_output, native_output_with_tools };
        Ok(Self { path: path.to_owned(), head, file: None })
    }

    pub(super) fn record(&mut self, request: Value, response: &Response) -> io::Result<()> {
        let recorded = line(&Recorded { request, response: response.clone() })?;
        if let Some(file) = &mut self.file {
            return file.write_all(&recorded);
        }
        let lines = [line(&self.head)?, recorded].concat();
        self.file.insert(File::create_new(&self.path)?).write_all(&lines)
    }
}

impl Tape {
    /// Reads a recording: what it holds, the model's name, and what that could.
    ///
    /// It may be asked with any tool that a provider runs: whether that was asked with it then, the requests tell.
    pub(super) fn read(path: &Path) -> io::Result<(Self, String, Profile)> {
        let mut lines = BufReader::new(File::open(path)?).lines();
        let head = lines.next().ok_or(io::ErrorKind::UnexpectedEof)??;
        let RecordingHeader { model, tools, native_output, native_output_with_tools } = parse(&head, 1)?;
        let server_side_tools = ServerSideTool::ALL;
        let profile = Profile { tools, native_output, native_output_with_tools, server_side_tools };
        let recorded = (2..).zip(lines).map(|(number, line)| Ok((number, parse(&line?, number)?)));
        let left = recorded.collect::<io::Result<Vec<_>>>()?;
        Ok((Self { path: path.to_owned(), recorded: left.len(), left }, model, profile))
    }

    /// Takes the answer to a request out; if there is none, the next request that is left.
    pub(super) fn take(&mut self, request: &Value) -> Result<Response, Option<Value>> {
        match self.left.iter().position(|(_, recorded)| recorded.request == *request) {
            Some(place) => Ok(self.left.remove(place).1.response),
            None => Err(self.left.first().map(|(_, recorded)| recorded.request.clone())),
        }
    }

    /// Says how many answers were not asked for, if there are such; of what they say nothing is quoted.
    pub(super) fn left(&self) -> Option<String> {
        let (line, _) = self.left.first()?;
        let (path, left, recorded) = (self.path.display(), self.left.len(), self.recorded);
        Some(format!("answers left of the {recorded} in `{path}`: {left}, the next is in line {line}"))
    }
}

fn parse<T: for<'de> Deserialize<'de>>(line: &str, number: usize) -> io::Result<T> {
    serde_json::from_str(line).map_err(|error| io::Error::other(format!("line {number} is no record: {error}")))
}

fn line(record: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(record)?;
    line.push(b'\n');
    Ok(line)
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
