//! Builds the content of events, and tracks the content that the events of a run already have.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hasher;
use std::io;
use std::sync::{Arc, Mutex};

use llm_do_providers::{Attachment, Message, OutputSchema, ResponsePart, ToolResult, ToolSpec, UserPart};
use serde_json::Value;
use siphasher::sip128::{Hasher128, SipHasher13};

use super::{ByDigest, ContentFile, ContentMessage, ContentResult, RequestContent};
use crate::base::mutex::IgnorePoison;
use crate::observe::event::parts::{EventPart, FileInfo};

/// The maximum size of an image whose bytes an event has.
const MAX_IMAGE: usize = 256 << 10;

/// The maximum number of cached digests of schemas.
const MAX_SCHEMAS: usize = 1024;

/// The content that the events of a run already have.
#[derive(Debug)]
pub(crate) struct ShownContent {
    digests: Mutex<HashMap<u128, Arc<str>>>,
    schemas: Arc<SchemaDigests>,
}

/// The digests of the schemas of a runtime, by their address; without them, each request would serialize all of its
/// tools.
#[derive(Debug, Default)]
pub(crate) struct SchemaDigests(Mutex<HashMap<usize, SchemaDigest>>);

#[derive(Debug)]
struct SchemaDigest {
    /// Keeps the schema alive, so that its address is not reused.
    _schema: Arc<Value>,
    digest: u128,
}

/// A request, with the number of messages that the call's earlier events have.
#[derive(Clone, Copy)]
pub(crate) struct SentRequest<'a> {
    pub(crate) kept: usize,
    pub(crate) messages: &'a [Message],
    pub(crate) instructions: &'a Arc<str>,
    pub(crate) tools: &'a Arc<[ToolSpec]>,
    pub(crate) output: Option<&'a OutputSchema>,
}

impl ShownContent {
    /// Creates the state of a run without events.
    pub(crate) fn new(schemas: &Arc<SchemaDigests>) -> Self {
        Self { digests: Mutex::default(), schemas: Arc::clone(schemas) }
    }

    /// Returns the new content of a request.
    pub(crate) fn request(&self, request: SentRequest<'_>) -> RequestContent {
        let SentRequest { kept, messages, instructions, tools, output } = request;
        let new = messages.get(kept..).unwrap_or_default();
        let digest = text_digest(instructions);
        RequestContent {
            kept,
            messages: new.iter().map(content_message).collect(),
            instructions: (!instructions.is_empty()).then(|| self.once(digest, || Arc::clone(instructions))),
            tools: (!tools.is_empty()).then(|| self.once(self.tools_digest(tools), || Arc::clone(tools))),
            output: output.map(|output| {
                let digest = finish(|hasher| {
                    write_text(hasher, &output.name);
                    hasher.write_u128(self.schemas.of(&output.schema));
                });
                self.once(digest, || output.clone())
            }),
            files: self.new_images(new),
        }
    }

    /// Returns the files of an answer.
    pub(crate) fn answer<'a>(&self, files: impl Iterator<Item = &'a Attachment>) -> Vec<ContentFile> {
        files.map(|file| self.file(file)).collect()
    }

    fn once<T>(&self, digest: u128, value: impl FnOnce() -> T) -> ByDigest<T> {
        let (digest, is_new) = self.show(digest);
        ByDigest { digest, value: is_new.then(value) }
    }

    /// Returns the text of a digest, and whether this is the first event that has it.
    fn show(&self, digest: u128) -> (Arc<str>, bool) {
        match self.digests.lock().ignore_poison().entry(digest) {
            Entry::Occupied(shown) => (Arc::clone(shown.get()), false),
            Entry::Vacant(new) => (Arc::clone(new.insert(text_of(digest))), true),
        }
    }

    fn file(&self, file: &Attachment) -> ContentFile {
        let digest = file_digest(file);
        let is_image = file.media_type().starts_with("image/") && file.data().len() <= MAX_IMAGE;
        let is_new_image = is_image && self.show(digest).1;
        ContentFile { info: with_digest(file, digest), data: is_new_image.then(|| file.data().into()) }
    }

    fn new_images(&self, messages: &[Message]) -> Vec<ContentFile> {
        let files = messages.iter().flat_map(attachments);
        files.map(|file| self.file(file)).filter(|file| file.data.is_some()).collect()
    }

    fn tools_digest(&self, tools: &[ToolSpec]) -> u128 {
        finish(|hasher| {
            for ToolSpec { name, description, parameters } in tools {
                write_text(hasher, name);
                write_text(hasher, description);
                hasher.write_u128(self.schemas.of(parameters));
            }
        })
    }
}

impl SchemaDigests {
    fn of(&self, schema: &Arc<Value>) -> u128 {
        let address = Arc::as_ptr(schema).addr();
        let mut known = self.0.lock().ignore_poison();
        if let Some(known) = known.get(&address) {
            return known.digest;
        }
        if known.len() >= MAX_SCHEMAS {
            // Workers that are created at run time have new schemas.
            known.clear();
        }
        let digest = finish(|hasher| {
            // Writing to a hasher does not fail.
            let _ = serde_json::to_writer(Written(hasher), schema);
        });
        known.insert(address, SchemaDigest { _schema: Arc::clone(schema), digest });
        digest
    }
}

fn content_message(message: &Message) -> ContentMessage {
    match message {
        Message::User { parts } => ContentMessage::User { parts: parts.iter().filter_map(user_part).collect() },
        Message::Assistant { parts } => ContentMessage::Assistant { parts: parts.iter().map(answer_part).collect() },
        Message::Tool { results } => ContentMessage::Tool { results: results.iter().map(content_result).collect() },
        _ => ContentMessage::User { parts: Vec::new() },
    }
}

fn user_part(part: &UserPart) -> Option<EventPart> {
    match part {
        UserPart::Attachment(file) => Some(EventPart::File(info(file))),
        UserPart::Text { text } => Some(EventPart::Whole(ResponsePart::Text { text: text.clone() })),
        _ => None,
    }
}

fn answer_part(part: &ResponsePart) -> EventPart {
    match part {
        ResponsePart::Attachment(file) => EventPart::File(info(file)),
        part => EventPart::Whole(part.clone()),
    }
}

fn content_result(result: &ToolResult) -> ContentResult {
    ContentResult {
        call_id: result.call_id.clone(),
        name: result.name.clone(),
        content: result.content.clone(),
        is_error: result.is_error,
        attachments: result.attachments.iter().map(info).collect(),
    }
}

/// Returns the files of a message.
fn attachments(message: &Message) -> Vec<&Attachment> {
    match message {
        Message::User { parts } => parts
            .iter()
            .filter_map(|part| match part {
                UserPart::Attachment(file) => Some(file),
                _ => None,
            })
            .collect(),
        Message::Assistant { parts } => parts
            .iter()
            .filter_map(|part| match part {
                ResponsePart::Attachment(file) => Some(file),
                _ => None,
            })
            .collect(),
        Message::Tool { results } => results.iter().flat_map(|result| &result.attachments).collect(),
        _ => Vec::new(),
    }
}

/// Returns the facts about a file, with its digest.
fn info(file: &Attachment) -> FileInfo {
    with_digest(file, file_digest(file))
}

fn with_digest(file: &Attachment, digest: u128) -> FileInfo {
    FileInfo { digest: Some(text_of(digest)), ..file.into() }
}

fn file_digest(file: &Attachment) -> u128 {
    finish(|hasher| hasher.write(file.data()))
}

fn text_digest(text: &str) -> u128 {
    finish(|hasher| write_text(hasher, text))
}

fn finish(write: impl FnOnce(&mut SipHasher13)) -> u128 {
    let mut hasher = SipHasher13::new();
    write(&mut hasher);
    hasher.finish128().as_u128()
}

/// Hashes a text with its length, so that different sequences of texts have different hashes.
fn write_text(hasher: &mut SipHasher13, text: &str) {
    hasher.write_u64(text.len() as u64);
    hasher.write(text.as_bytes());
}

fn text_of(digest: u128) -> Arc<str> {
    format!("{digest:032x}").into()
}

/// Hashes all written bytes.
struct Written<'a>(&'a mut SipHasher13);

impl io::Write for Written<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
