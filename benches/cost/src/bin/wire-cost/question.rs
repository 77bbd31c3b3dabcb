//! The request, the same on every wire: instructions, nine messages and three tools.

use std::sync::Arc;

use llm_do::model::{Message, ResponsePart, ToolSpec};
use serde_json::{Value, json};

/// The instructions.
pub(crate) const INSTRUCTIONS: &str = "Answer the questions of a gardener in one paragraph, without lists.";
/// Maximum number of answer tokens, which one of the wires requires.
pub(crate) const MAX_TOKENS: u32 = 8192;
/// The name of the model.
pub(crate) const MODEL: &str = "bench-0";

const QUESTION: &str = "The leaves of my tomato plants curl inwards since the last week of June, mostly in the afternoon, \
     and the lower ones have turned yellow along their veins; what is it, and what may I do without poison?";
const ANSWER: &str = "Leaves that curl inwards on hot afternoons and open again at night save water, which is \
     normal; yellow between green veins on the lowest leaves most often means that the plant lacks magnesium, which is \
     treated with a spoon of Epsom salt in a can of water, once a week, on the ground and not on the leaves.";

/// Returns the messages; `true` marks those of the user.
pub(crate) fn conversation() -> impl Iterator<Item = (bool, &'static str)> {
    (0..9).map(|index| if index % 2 == 0 { (true, QUESTION) } else { (false, ANSWER) })
}

/// Returns the tools: names, descriptions and schemas.
pub(crate) fn tools() -> Vec<(String, &'static str, Value)> {
    let schema = json!({
        "type": "object",
        "properties": {
            "plant": { "description": "Its botanical name.", "type": "string" },
            "days": { "description": "How many days back.", "type": "integer", "minimum": 1, "maximum": 90 },
            "bed": { "description": "Where it stands.", "type": "string", "enum": ["glass", "open", "pot"] }
        },
        "required": ["plant", "days", "bed"],
        "additionalProperties": false
    });
    let names = ["weather", "watering", "soil"].into_iter();
    names.map(|name| (format!("look_up_{name}"), "Look up what was measured.", schema.clone())).collect()
}

/// Returns the messages as types of llm-do.
pub(crate) fn messages() -> Vec<Message> {
    let message = |(is_user, text): (bool, &str)| {
        if is_user {
            Message::user(text)
        } else {
            Message::Assistant { parts: vec![ResponsePart::Text { text: text.to_owned() }] }
        }
    };
    conversation().map(message).collect()
}

/// Returns the tools as types of llm-do.
pub(crate) fn specs() -> Vec<ToolSpec> {
    let spec = |(name, description, parameters): (String, &str, Value)| ToolSpec {
        name: name.into(),
        description: description.into(),
        parameters: Arc::new(parameters),
    };
    tools().into_iter().map(spec).collect()
}
