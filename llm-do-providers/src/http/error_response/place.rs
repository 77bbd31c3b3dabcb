//! Names the part of the request that a refusal is about, in our terms: a tool and its property, a message, a setting.

use std::cell::LazyCell;

use serde_json::Value;

/// The maximum number of steps of a path.
const MOST_STEPS: usize = 32;
/// The names of kinds of content.
const CONTENTS: [(&str, &[&str]); 7] = [
    ("image", &["image", "image_url", "input_image"]),
    ("document", &["document", "file", "input_file", "inline_data", "inlineData"]),
    ("audio", &["input_audio", "audio"]),
    ("thought", &["thinking", "reasoning", "redacted_thinking"]),
    ("tool result", &["tool_result", "function_response", "functionResponse", "function_call_output", "tool_call_id"]),
    ("tool call", &["tool_use", "tool_calls", "function_call", "functionCall"]),
    ("text", &["text", "input_text"]),
];

/// Returns the part of the body `sent` that an error object is about.
pub(super) fn find(error: &Value, sent: &[u8]) -> Option<String> {
    // The request may be long, so it is parsed only if the error has a path.
    let sent = LazyCell::new(|| serde_json::from_slice::<Value>(sent).unwrap_or_default());
    let steps = path(error, || &*sent)?;
    Some(described(&steps, &sent))
}

/// Returns the path to the part that the error is about. OpenAI, Google and `FastAPI` send it in a field; messages of
/// Anthropic and Google may start with it.
fn path<'a>(error: &Value, sent: impl FnOnce() -> &'a Value) -> Option<Vec<String>> {
    let message = error["message"].as_str().unwrap_or_default();
    let param = error["param"].as_str().and_then(steps).map(|mut steps| {
        steps.extend(in_context(message));
        steps
    });
    param.or_else(|| violated(error)).or_else(|| located(&error["detail"])).or_else(|| beginning(message, sent))
}

/// The steps of Google's first violation.
fn violated(error: &Value) -> Option<Vec<String>> {
    let details = error["details"].as_array()?.iter();
    details.filter_map(|detail| detail["fieldViolations"][0]["field"].as_str()).find_map(steps)
}

/// The steps of `FastAPI`'s first location.
fn located(detail: &Value) -> Option<Vec<String>> {
    let location = detail[0]["loc"].as_array()?;
    let words = location.iter().skip_while(|step| *step == "body");
    let path: Vec<_> = words.map(|step| step.as_str().map_or_else(|| step.to_string(), str::to_owned)).collect();
    steps(&path.join("."))
}

/// Returns the path before the first colon of a text, if its first step is a field of the request: proxies write the
/// class of an error there, such as `litellm.BadRequestError`.
fn beginning<'a>(message: &str, sent: impl FnOnce() -> &'a Value) -> Option<Vec<String>> {
    let text = message.trim_start_matches(['*', ' ']);
    let (path, _) = text.split_once(": ")?;
    let path = path.strip_prefix("GenerateContentRequest.").unwrap_or(path);
    let steps = steps(path)?;
    let first = steps[0].as_str();
    let is_well_known = matches!(first, "messages" | "system" | "tools" | "model");
    let is_path =
        is_well_known || (steps.len() > 1 && (matches!(first, "contents" | "input") || is_sent(first, sent())));
    is_path.then_some(steps)
}

/// Returns whether the request has a field of this name, possibly in camel case.
fn is_sent(field: &str, sent: &Value) -> bool {
    sent.get(field).or_else(|| sent.get(camel(field))).is_some()
}

/// Returns the steps within a schema that OpenAI includes in its message: `In context=('properties', 'a')`.
fn in_context(message: &str) -> Vec<String> {
    let Some((_, rest)) = message.split_once("context=(") else { return Vec::new() };
    let inside = rest.split_once(')').map_or("", |(inside, _)| inside);
    let words = inside.split(',').map(|word| word.trim().trim_matches(['\'', '"']).to_owned());
    words.filter(|word| is_step(word)).take(MOST_STEPS).collect()
}

/// Splits a path; `None` if it is not a path.
fn steps(path: &str) -> Option<Vec<String>> {
    let split = path.split(['.', '[', ']', '/', '\'', '"']).filter(|step| !step.is_empty());
    let steps: Vec<_> = split.map(str::to_owned).collect();
    let is_path = (1..=MOST_STEPS).contains(&steps.len()) && steps.iter().all(|step| is_step(step));
    is_path.then_some(steps)
}

fn is_step(step: &str) -> bool {
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-$".contains(&byte);
    (1..=64).contains(&step.len()) && step.bytes().all(is_of_name)
}

fn described(steps: &[String], sent: &Value) -> String {
    let first = steps.first().map_or("", String::as_str);
    let number = steps.get(1).filter(|step| is_number(step));
    match (first, number) {
        ("tools" | "functions", Some(number)) => tool(steps, number, sent),
        ("messages" | "input" | "contents", Some(number)) => {
            let content =
                content(&steps[2..], sent.get(first).and_then(|list| list.get(number.parse::<usize>().ok()?)));
            // The input of the Responses API consists of messages, calls and results.
            let place = match first {
                "input" => format!("item {} of `input`", ordinal(number)),
                _ => format!("message {}", ordinal(number)),
            };
            content.map_or_else(|| place.clone(), |content| format!("{place}, {content}"))
        }
        _ => format!("`{}`", steps.join(".")),
    }
}

/// Returns the tool that a path leads to, and the part of it.
fn tool(steps: &[String], number: &str, sent: &Value) -> String {
    let name = match tool_name(steps, sent) {
        Some(name) => format!("tool `{name}`"),
        None => format!("tool {}", ordinal(number)),
    };
    let named = steps.windows(2).filter(|pair| pair[0] == "properties" && !is_number(&pair[1]));
    let property: Vec<_> = named.map(|pair| pair[1].as_str()).filter(|name| *name != "properties").collect();
    if !property.is_empty() {
        return format!("{name}: property `{}`", property.join("."));
    }
    match steps.last().map(String::as_str) {
        Some("name" | "description") => format!("{name}: its {}", steps[steps.len() - 1]),
        _ if steps.len() > 2 => format!("{name}: its schema"),
        _ => name,
    }
}

/// Returns the name of the last tool on a path.
fn tool_name<'a>(steps: &[String], sent: &'a Value) -> Option<&'a str> {
    let (mut here, mut name) = (sent, None);
    for step in steps {
        let next = match step.parse::<usize>() {
            Ok(number) => here.get(number),
            Err(_) => here.get(step.as_str()).or_else(|| here.get(camel(step))),
        };
        // Anthropic's paths contain the kind of a tool, which is not a field.
        let Some(next) = next else { continue };
        if step == "parameters" || step == "input_schema" || step == "properties" {
            break;
        }
        here = next;
        let found = here["name"].as_str().or_else(|| here["function"]["name"].as_str());
        name = found.filter(|name| is_step(name)).or(name);
    }
    name
}

/// Returns the kind of content that a path in a message leads to.
fn content(steps: &[String], message: Option<&Value>) -> Option<&'static str> {
    let in_path = steps.iter().rev().find_map(|step| kind(step));
    let in_message = || {
        let (list, number) = steps.first().zip(steps.get(1))?;
        kind(message?.get(list.as_str())?.get(number.parse::<usize>().ok()?)?.get("type")?.as_str()?)
    };
    in_path.filter(|kind| *kind != "text").or_else(in_message).or(in_path)
}

fn kind(word: &str) -> Option<&'static str> {
    CONTENTS.iter().find(|(_, words)| words.contains(&word)).map(|(kind, _)| *kind)
}

/// Returns the 1-based number of an index.
fn ordinal(index: &str) -> String {
    index.parse::<usize>().map_or_else(|_| index.to_owned(), |index| index.saturating_add(1).to_string())
}

fn is_number(step: &str) -> bool {
    step.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the JSON name of a field, which Google's paths contain in snake case.
fn camel(step: &str) -> String {
    let mut words = step.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let (head, tail) = word.split_at(word.len().min(1));
        name + &head.to_ascii_uppercase() + tail
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::find;

    fn place(error: &Value, sent: &Value) -> Option<String> {
        find(error, sent.to_string().as_bytes())
    }

    #[test]
    fn a_tool_and_its_property_are_named() {
        let openai =
            json!({"tools": [{"type": "function", "function": {"name": "add"}}, {"function": {"name": "find"}}]});
        let anthropic =
            json!({"tools": [{"name": "add"}, {"name": "find", "input_schema": {"properties": {"z": {}}}}]});
        let gemini = json!({"tools": [{"functionDeclarations": [{"name": "add"}, {"name": "find"}]}]});
        let cases = [
            (json!({"param": "tools[1].function.parameters"}), &openai, "tool `find`: its schema"),
            (
                json!({"param": "tools[1].function.parameters", "message": "Invalid schema: In context=('properties', 'z'), no"}),
                &openai,
                "tool `find`: property `z`",
            ),
            (
                json!({"message": "tools.1.custom.input_schema: JSON schema is invalid"}),
                &anthropic,
                "tool `find`: its schema",
            ),
            (
                json!({"message": "tools.1.custom.input_schema.properties.z.properties.y: no"}),
                &anthropic,
                "tool `find`: property `z.y`",
            ),
            (
                json!({"message": "tools.0.custom.name: String should match pattern"}),
                &anthropic,
                "tool `add`: its name",
            ),
            (
                json!({"message": "* GenerateContentRequest.tools[0].function_declarations[1].parameters.properties[z].type: no"}),
                &gemini,
                "tool `find`: property `z`",
            ),
            (
                json!({"details": [{"fieldViolations": [{"field": "tools[0].function_declarations[1].parameters", "description": "x"}]}]}),
                &gemini,
                "tool `find`: its schema",
            ),
            (json!({"param": "tools[7].function.parameters"}), &openai, "tool 8: its schema"),
            (
                json!({"detail": [{"loc": ["body", "tools", 1, "function", "name"], "msg": "no"}]}),
                &openai,
                "tool `find`: its name",
            ),
        ];
        for (error, sent, expected) in cases {
            assert_eq!(place(&error, sent).as_deref(), Some(expected), "{error}");
        }
    }

    #[test]
    fn a_message_and_a_setting_are_named() {
        let sent = json!({"messages": [{}, {"content": [{"type": "text"}, {"type": "image_url"}]}]});
        let cases = [
            (json!({"message": "messages.5.content.2.image.source.base64: too big"}), "message 6, image"),
            (json!({"message": "messages.5.content.0.tool_use.name: bad"}), "message 6, tool call"),
            (json!({"message": "messages.1: all messages must have content"}), "message 2"),
            (json!({"param": "messages[1].content[1]"}), "message 2, image"),
            (json!({"param": "messages[1].content[1].image_url"}), "message 2, image"),
            (json!({"param": "input[3].arguments"}), "item 4 of `input`"),
            (json!({"param": "temperature"}), "`temperature`"),
            (json!({"param": "response_format.json_schema.schema"}), "`response_format.json_schema.schema`"),
            (json!({"message": "max_tokens: 100000 > 8192", "param": "max_tokens"}), "`max_tokens`"),
        ];
        for (error, expected) in cases {
            assert_eq!(place(&error, &sent).as_deref(), Some(expected), "{error}");
        }
    }

    #[test]
    fn prose_is_not_a_path() {
        for error in [
            json!({"message": "You wrote: my secret plan"}),
            json!({"message": "my secret plan: a. b. c"}),
            json!({"param": "my secret plan"}),
            json!({"param": null, "message": "secret: plan"}),
            json!({"message": "Provider error: 3"}),
            json!({"message": "litellm.BadRequestError: no"}),
            json!({"message": "openai.error.InvalidRequest: no"}),
            json!("messages"),
        ] {
            assert_eq!(place(&error, &Value::Null), None, "{error}");
        }
    }
}
