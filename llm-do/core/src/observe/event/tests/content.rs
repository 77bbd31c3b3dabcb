//! The content of requests and answers.

use llm_do_providers::{OutputSchema, ToolSpec};
use proptest::prelude::*;

use super::{maybe, name, part, text, usage, value};
use crate::observe::event::{
    ByDigest, ContentFile, ContentMessage, ContentResult, EventKind, EventPart, FileInfo, RequestContent,
};

pub(super) fn model_request() -> BoxedStrategy<EventKind> {
    let content = prop::option::of(request_content().prop_map(Box::new));
    (name(), any::<u32>(), any::<usize>(), prop::collection::vec(name(), 0..3), content)
        .prop_map(|(model, turn, messages, tools, content)| EventKind::ModelRequest {
            model,
            turn,
            messages,
            tools,
            content,
        })
        .boxed()
}

pub(super) fn model_response() -> BoxedStrategy<EventKind> {
    let parts = prop::collection::vec(part(), 0..4);
    (text(), parts, usage(), prop::collection::vec(content_file(), 0..2), any::<bool>())
        .prop_map(|(model, parts, usage, files, replayed)| EventKind::ModelResponse {
            model,
            parts,
            usage,
            files,
            replayed,
        })
        .boxed()
}

fn file_info() -> impl Strategy<Value = FileInfo> {
    (maybe(), text(), any::<u64>(), prop::option::of(name())).prop_map(|(name, media_type, bytes, digest)| FileInfo {
        name,
        media_type,
        bytes,
        digest,
    })
}

fn content_file() -> impl Strategy<Value = ContentFile> {
    let data = prop::option::of(prop::collection::vec(any::<u8>(), 0..9).prop_map(Into::into));
    (file_info(), data).prop_map(|(info, data)| ContentFile { info, data })
}

fn by_digest<T: Clone + std::fmt::Debug>(
    value: impl Strategy<Value = T>,
) -> impl Strategy<Value = Option<ByDigest<T>>> {
    let value = (name(), prop::option::of(value)).prop_map(|(digest, value)| ByDigest { digest, value });
    prop::option::of(value)
}

fn content_message() -> impl Strategy<Value = ContentMessage> {
    let content_part = prop_oneof![part(), file_info().prop_map(EventPart::File)];
    let parts = prop::collection::vec(content_part, 0..3).boxed();
    let result = (text(), text(), text(), any::<bool>(), prop::collection::vec(file_info(), 0..2)).prop_map(
        |(call_id, name, content, is_error, attachments)| ContentResult {
            call_id,
            name,
            content,
            is_error,
            attachments,
        },
    );
    prop_oneof![
        parts.clone().prop_map(|parts| ContentMessage::User { parts }),
        parts.prop_map(|parts| ContentMessage::Assistant { parts }),
        prop::collection::vec(result, 0..3).prop_map(|results| ContentMessage::Tool { results }),
    ]
}

fn request_content() -> impl Strategy<Value = RequestContent> {
    let tool = (name(), name(), value()).prop_map(|(name, description, parameters)| ToolSpec {
        name,
        description,
        parameters: parameters.into(),
    });
    let tools = prop::collection::vec(tool, 0..2).prop_map(Into::into);
    let output = (name(), value()).prop_map(|(name, schema)| OutputSchema { name, schema: schema.into() });
    (
        any::<usize>(),
        prop::collection::vec(content_message(), 0..3),
        by_digest(name()),
        by_digest(tools),
        by_digest(output),
        prop::collection::vec(content_file(), 0..2),
    )
        .prop_map(|(kept, messages, instructions, tools, output, files)| RequestContent {
            kept,
            messages,
            instructions,
            tools,
            output,
            files,
        })
}
