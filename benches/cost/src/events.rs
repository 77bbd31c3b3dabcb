//! A minimal hand-written reader of server-sent events, for a known server.

use reqwest::Response;

/// Passes the data of each event to `take`, except for the `[DONE]` marker.
///
/// # Panics
///
/// Panics if the response body cannot be read to its end.
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
