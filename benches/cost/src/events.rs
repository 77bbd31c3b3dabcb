//! Server-sent events, read as somebody does by hand who knows the server.

use reqwest::Response;

/// Hands the data of each event to `take`, but for the mark of the end.
///
/// # Panics
///
/// Panics if the answer breaks off.
pub async fn each(mut answer: Response, mut take: impl FnMut(&[u8])) {
    let mut lines = Vec::new();
    while let Some(more) = answer.chunk().await.expect("a body") {
        lines.extend_from_slice(&more);
        let mut done = 0;
        while let Some(length) = memchr::memchr(b'\n', &lines[done..]) {
            if let Some(data) = lines[done..done + length].strip_prefix(b"data: ")
                && data != b"[DONE]"
            {
                take(data);
            }
            done += length + 1;
        }
        lines.drain(..done);
    }
}
