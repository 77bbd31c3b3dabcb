//! One tool of a snapshot.

use serde_json::{Map, Value};

use super::{schema, unknown_key};

const KEYS: [&str; 6] = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"];

/// A tool as an MCP server lists it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SnapshotTool {
    /// The name at the server.
    pub name: String,
    /// The name for people.
    pub title: Option<String>,
    /// The description for models.
    pub description: Option<String>,
    /// The JSON schema of the arguments.
    pub input_schema: Value,
    /// The JSON schema of the result, if the server provides one.
    pub output_schema: Option<Value>,
    /// The server's hints about the effect of a call.
    pub annotations: Option<Value>,
}

impl SnapshotTool {
    /// Reads a tool in the form of the protocol; other keys are omitted.
    pub(super) fn listed(place: usize, tool: Value, faults: &mut Vec<String>) -> Option<Self> {
        let tool = match tool {
            Value::Object(mut tool) => {
                tool.retain(|key, value| KEYS.contains(&key.as_str()) && !value.is_null());
                Value::Object(tool)
            }
            other => other,
        };
        Self::read(place, tool, faults)
    }

    /// Reads a tool of a file; returns `None` if it has faults.
    pub(super) fn read(place: usize, tool: Value, faults: &mut Vec<String>) -> Option<Self> {
        let Value::Object(mut tool) = tool else {
            faults.push(format!("`tools/{place}`: expected a tool as an object"));
            return None;
        };
        let name = match tool.remove("name") {
            Some(Value::String(name)) if !name.is_empty() => name,
            _ => {
                faults.push(format!("`tools/{place}`: missing `name`: expected the name of the tool as a string"));
                return None;
            }
        };
        let mut own = Vec::new();
        let read = Self {
            title: text(&mut tool, "title", &mut own),
            description: text(&mut tool, "description", &mut own),
            input_schema: input_schema(&mut tool, &mut own),
            output_schema: tool.remove("outputSchema"),
            annotations: annotations(&mut tool, &mut own),
            name,
        };
        let output = read.output_schema.iter().flat_map(|schema| schema::faults("outputSchema", schema));
        own.extend(output.chain(tool.keys().map(|key| unknown_key(key, &KEYS))));
        let is_valid = own.is_empty();
        faults.extend(own.into_iter().map(|fault| format!("the tool `{}`: {fault}", read.name)));
        is_valid.then_some(read)
    }

    /// Returns the tool as in a file.
    pub(super) fn to_json(&self) -> Value {
        let text = |text: &Option<String>| text.clone().map(Value::String);
        let values = [
            ("name", Some(Value::String(self.name.clone()))),
            ("title", text(&self.title)),
            ("description", text(&self.description)),
            ("inputSchema", Some(self.input_schema.clone())),
            ("outputSchema", self.output_schema.clone()),
            ("annotations", self.annotations.clone()),
        ];
        values.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect::<Map<_, _>>().into()
    }
}

fn text(tool: &mut Map<String, Value>, key: &str, faults: &mut Vec<String>) -> Option<String> {
    let text = tool.remove(key)?;
    if !text.is_string() {
        faults.push(format!("`{key}`: expected a string"));
    }
    text.as_str().map(str::to_owned)
}

fn annotations(tool: &mut Map<String, Value>, faults: &mut Vec<String>) -> Option<Value> {
    let annotations = tool.remove("annotations")?;
    if !annotations.is_object() {
        faults.push("`annotations`: expected an object".to_owned());
    }
    Some(annotations)
}

fn input_schema(tool: &mut Map<String, Value>, faults: &mut Vec<String>) -> Value {
    let Some(schema) = tool.remove("inputSchema") else {
        faults.push("missing `inputSchema`: expected the JSON schema of the arguments".to_owned());
        return Value::Null;
    };
    let found = schema::faults("inputSchema", &schema);
    if found.is_empty() && schema.get("type").and_then(Value::as_str) != Some("object") {
        faults.push("`inputSchema`: expected `\"type\": \"object\"`, since arguments have names".to_owned());
    }
    faults.extend(found);
    schema
}
