//! A part of an answer, parsed in one pass: its kind and its attributes.

use std::fmt;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::lenient::{Flag, LenientObject, text};

/// A part of an answer.
#[derive(Debug)]
pub(in crate::gemini) struct AnswerPart {
    pub(in crate::gemini) kind: Kind,
    pub(in crate::gemini) thought: bool,
    pub(in crate::gemini) signature: Option<String>,
}

#[derive(Debug)]
pub(in crate::gemini) enum Kind {
    Text(String),
    Call(FunctionCallPart),
    Media(AnswerBlob),
    ServerTool(ServerTool, Value),
    /// A part of an unknown kind; empty if it has no content.
    Unknown(Map<String, Value>),
}

/// A kind of part that holds the request or the result of one of Google's tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gemini) enum ServerTool {
    ExecutableCode,
    CodeExecutionResult,
    ToolCall,
    ToolResponse,
}

impl ServerTool {
    const ALL: [Self; 4] = [Self::ExecutableCode, Self::CodeExecutionResult, Self::ToolCall, Self::ToolResponse];

    /// Returns its name on the wire.
    pub(in crate::gemini) fn name(self) -> &'static str {
        match self {
            Self::ExecutableCode => "executableCode",
            Self::CodeExecutionResult => "codeExecutionResult",
            Self::ToolCall => "toolCall",
            Self::ToolResponse => "toolResponse",
        }
    }

    /// Returns the kind of the request for this result; `None` for a request.
    pub(in crate::gemini) fn answered(self) -> Option<Self> {
        match self {
            Self::CodeExecutionResult => Some(Self::ExecutableCode),
            Self::ToolResponse => Some(Self::ToolCall),
            Self::ExecutableCode | Self::ToolCall => None,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::gemini) struct FunctionCallPart {
    #[serde(default, deserialize_with = "text")]
    pub(in crate::gemini) id: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(in crate::gemini) name: Option<String>,
    pub(in crate::gemini) args: Option<Box<RawValue>>,
    pub(in crate::gemini) partial_args: Option<IgnoredAny>,
    #[serde(default)]
    pub(in crate::gemini) will_continue: Flag,
}

impl FunctionCallPart {
    /// Takes the arguments, which some servers send as a string of JSON.
    pub(in crate::gemini) fn take_arguments(&mut self) -> String {
        let Some(args) = self.args.take().filter(|args| args.get() != "null") else { return "{}".to_owned() };
        let written = serde_json::from_str::<String>(args.get()).ok();
        match written {
            Some(text) if text.trim().is_empty() => "{}".to_owned(),
            Some(text) => text,
            None => args.get().to_owned(),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::gemini) struct AnswerBlob {
    #[serde(default, deserialize_with = "text")]
    pub(in crate::gemini) mime_type: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(in crate::gemini) data: Option<String>,
}

impl<'de> Deserialize<'de> for AnswerPart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnswerPartVisitor)
    }
}

/// The names of the fields of a part.
#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum PartField {
    Text,
    Thought,
    ThoughtSignature,
    FunctionCall,
    InlineData,
    Other(String),
}

struct AnswerPartVisitor;

impl<'de> Visitor<'de> for AnswerPartVisitor {
    type Value = AnswerPart;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a part")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<AnswerPart, A::Error> {
        let (mut text, mut call, mut media) = (None, None, None);
        let (mut thought, mut signature) = (false, None);
        let mut others: Option<Map<String, Value>> = None;
        while let Some(field) = fields.next_key()? {
            match field {
                PartField::Text => text = fields.next_value::<LenientText>()?.0,
                PartField::Thought => thought = fields.next_value::<Flag>()?.0,
                PartField::ThoughtSignature => signature = fields.next_value::<LenientText>()?.0,
                PartField::FunctionCall => call = fields.next_value::<LenientObject<FunctionCallPart>>()?.0,
                PartField::InlineData => media = fields.next_value::<LenientObject<AnswerBlob>>()?.0,
                PartField::Other(name) => _ = others.get_or_insert_default().insert(name, fields.next_value()?),
            }
        }
        let has_own = |others: &Map<String, Value>| ServerTool::ALL.iter().any(|own| others.contains_key(own.name()));
        let kind = match (call, media, text) {
            (Some(call), _, _) => Kind::Call(call),
            (_, Some(media), _) => Kind::Media(media),
            (_, _, Some(text)) if !others.as_ref().is_some_and(has_own) => Kind::Text(text),
            _ => own(others.unwrap_or_default()),
        };
        Ok(AnswerPart { kind, thought, signature })
    }

    fn visit_str<E>(self, text: &str) -> Result<AnswerPart, E> {
        Ok(AnswerPart { kind: Kind::Text(text.to_owned()), thought: false, signature: None })
    }

    fn visit_unit<E>(self) -> Result<AnswerPart, E> {
        Ok(AnswerPart { kind: Kind::Unknown(Map::new()), thought: false, signature: None })
    }
}

/// A string, or a number instead.
#[derive(Deserialize)]
struct LenientText(#[serde(deserialize_with = "text")] Option<String>);

fn own(mut fields: Map<String, Value>) -> Kind {
    let known = ServerTool::ALL.into_iter().find_map(|own| Some((own, fields.shift_remove(own.name())?)));
    match known {
        Some((own, value)) => Kind::ServerTool(own, value),
        None => Kind::Unknown(fields),
    }
}
