//! A part of a text, with a hint for the next part.

use std::fmt::Write;

use super::answer::FetchedResponse;
use super::fault::Fault;

/// The range of characters to return.
#[derive(Clone, Copy, Debug)]
pub(super) struct CharRange {
    /// 1-based.
    pub(super) offset: u32,
    pub(super) max_chars: u32,
}

/// Describes a response without text.
pub(super) fn head(answer: &FetchedResponse) -> String {
    let kind = if answer.media_type.is_empty() { "unknown" } else { &answer.media_type };
    format!("status: {}\nurl: {}\ntype: {kind}", answer.status, answer.url)
}

/// Returns a part of the text of a response, after its status.
pub(super) fn page(
    answer: &FetchedResponse,
    text: &str,
    CharRange { offset, max_chars }: CharRange,
) -> Result<String, Fault> {
    let text = text.trim_end();
    let total = text.chars().count();
    let (first, limit) = (offset as usize, max_chars as usize);
    if first > total.max(1) {
        return Err(Fault::Offset { offset: first, total });
    }
    let last = (first - 1 + limit).min(total);
    let part: String = text.chars().skip(first - 1).take(limit).collect();
    let mut page = head(answer);
    if first > 1 || last < total {
        _ = write!(page, "\ncharacters: {first} to {last} of {total}");
    }
    if last < total {
        _ = write!(page, "; to continue, call again with offset {}", last + 1);
    }
    if answer.is_cut {
        _ = write!(page, "\ncut: only the first {} bytes of the answer were read", answer.body.len());
    }
    page.push_str("\n\n");
    page.push_str(&part);
    Ok(page)
}
