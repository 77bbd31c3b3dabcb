//! The file format of recordings: one line for the model, and one per request.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::model::{ContextWindow, Profile, Request, ToolChoice};
use crate::response::Response;
use crate::server_side::ServerSideTool;

/// A recording in progress.
pub(super) struct Recording {
    path: PathBuf,
    header: Header,
    /// `None` before the first answer, so that an empty recording leaves no file.
    file: Option<File>,
}

/// A recording that is replayed.
pub(super) struct ReplayedRecording {
    path: PathBuf,
    /// The unused records with their line numbers.
    unused: Vec<(usize, Recorded)>,
    /// The number of recorded answers.
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
#[expect(clippy::struct_excessive_bools, reason = "each is a feature of the model")]
struct Header {
    model: String,
    /// Absent in older recordings.
    #[serde(default = "supports_tools")]
    tools: bool,
    native_output: bool,
    native_output_with_tools: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    mend_arguments: bool,
    /// What the runtime shortens depends on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    window: Option<ContextWindow>,
}

fn supports_tools() -> bool {
    Profile::BASIC.tools
}

impl Recording {
    /// Prepares a recording; the file is created with the first answer. Fails if the directory does not exist.
    pub(super) fn new(path: &Path, model: &str, profile: Profile) -> io::Result<Self> {
        let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
        if let Some(directory) = directory.filter(|directory| !directory.is_dir()) {
            return Err(io::Error::other(format!("the directory `{}` does not exist; create it", directory.display())));
        }
        let Profile { tools, native_output, native_output_with_tools, mend_arguments, window, .. } = profile;
        let model = model.to_owned();
        let header = Header { model, tools, native_output, native_output_with_tools, mend_arguments, window };
        Ok(Self { path: path.to_owned(), header, file: None })
    }

    pub(super) fn record(&mut self, request: Value, response: &Response) -> io::Result<()> {
        let recorded = line(&Recorded { request, response: response.clone() })?;
        if let Some(file) = &mut self.file {
            return file.write_all(&recorded);
        }
        let lines = [line(&self.header)?, recorded].concat();
        self.file.insert(File::create_new(&self.path)?).write_all(&lines)
    }
}

impl ReplayedRecording {
    /// Reads a recording; returns it with the name and the features of the model.
    ///
    /// All server-side tools are allowed, since each request has to equal a recorded one anyway.
    pub(super) fn read(path: &Path) -> io::Result<(Self, String, Profile)> {
        let mut lines = BufReader::new(File::open(path)?).lines();
        let header = lines.next().ok_or(io::ErrorKind::UnexpectedEof)??;
        let Header { model, tools, native_output, native_output_with_tools, mend_arguments, window } =
            parse(&header, 1)?;
        let server_side_tools = ServerSideTool::ALL;
        // Recordings from before have no deferred tools, so later ones have none either.
        let tool_search = false;
        let profile = Profile {
            tools,
            native_output,
            native_output_with_tools,
            server_side_tools,
            tool_search,
            mend_arguments,
            window,
        };
        let recorded = (2..).zip(lines).map(|(number, line)| Ok((number, parse(&line?, number)?)));
        let unused = recorded.collect::<io::Result<Vec<_>>>()?;
        Ok((Self { path: path.to_owned(), recorded: unused.len(), unused }, model, profile))
    }

    /// Removes and returns the answer to a request, or else describes how the next unused request differs.
    pub(super) fn take(&mut self, request: &Value) -> Result<Response, String> {
        match self.unused.iter().position(|(_, recorded)| recorded.request == *request) {
            Some(index) => Ok(self.unused.remove(index).1.response),
            None => Err(self.mismatch(request)),
        }
    }

    fn mismatch(&self, request: &Value) -> String {
        let path = self.path.display();
        let Some((line, next)) = self.unused.first() else {
            return format!(
                "all {} answers in `{path}` have been used; delete the file to record again",
                self.recorded
            );
        };
        let Difference { pointer, recorded, requested } = difference(&next.request, request).unwrap_or_default();
        format!(
            "it differs from the next recorded request, in `{path}`, line {line}, at `{pointer}`: recorded {recorded}, \
             requested {requested}; delete the file to record again"
        )
    }

    /// Describes the unused answers, if there are any, without quoting them.
    pub(super) fn describe_unused(&self) -> Option<String> {
        let (line, _) = self.unused.first()?;
        let (path, left, recorded) = (self.path.display(), self.unused.len(), self.recorded);
        Some(format!("{left} of {recorded} in `{path}`, the next one in line {line}"))
    }
}

fn parse<T: for<'de> Deserialize<'de>>(line: &str, number: usize) -> io::Result<T> {
    serde_json::from_str(line).map_err(|error| io::Error::other(format!("invalid record in line {number}: {error}")))
}

fn line(record: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(record)?;
    line.push(b'\n');
    Ok(line)
}

/// Returns a request as JSON, without headers.
pub(super) fn request_json(request: &Request<'_>) -> Value {
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

/// The first difference of two values.
#[derive(Default)]
struct Difference {
    /// A JSON pointer.
    pointer: String,
    /// The value there, or the part of a long one that differs.
    recorded: String,
    requested: String,
}

/// Returns the first difference of two values, if they differ.
fn difference(recorded: &Value, requested: &Value) -> Option<Difference> {
    match (recorded, requested) {
        (Value::Object(old), Value::Object(new)) => {
            let keys = old.keys().chain(new.keys().filter(|key| !old.contains_key(*key)));
            keys.into_iter().find_map(|key| difference_at(key, old.get(key), new.get(key)))
        }
        (Value::Array(old), Value::Array(new)) => {
            (0..old.len().max(new.len())).find_map(|index| difference_at(&index, old.get(index), new.get(index)))
        }
        (old, new) => (old != new).then(|| excerpts(Some(old), Some(new))),
    }
}

fn difference_at(key: &impl ToString, recorded: Option<&Value>, requested: Option<&Value>) -> Option<Difference> {
    let difference = match (recorded, requested) {
        (Some(recorded), Some(requested)) => difference(recorded, requested)?,
        _ => excerpts(recorded, requested),
    };
    let key = key.to_string().replace('~', "~0").replace('/', "~1");
    Some(Difference { pointer: format!("/{key}{}", difference.pointer), ..difference })
}

/// The maximum length of a quoted value, in characters.
const MAX_EXCERPT: usize = 200;
/// How many equal characters are quoted before the first different one.
const MAX_BEFORE: usize = 40;

/// Returns both values as JSON, from shortly before the first different character.
fn excerpts(recorded: Option<&Value>, requested: Option<&Value>) -> Difference {
    let text = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), Value::to_string);
    let (recorded, requested) = (text(recorded), text(requested));
    let equal = recorded.chars().zip(requested.chars()).take_while(|(old, new)| old == new).count();
    let start = equal.saturating_sub(MAX_BEFORE);
    Difference { pointer: String::new(), recorded: excerpt(&recorded, start), requested: excerpt(&requested, start) }
}

fn excerpt(text: &str, start: usize) -> String {
    let before = if start > 0 { "…" } else { "" };
    let mut rest = text.chars().skip(start);
    let excerpt: String = rest.by_ref().take(MAX_EXCERPT).collect();
    let after = if rest.next().is_some() { "…" } else { "" };
    format!("`{before}{excerpt}{after}`")
}
