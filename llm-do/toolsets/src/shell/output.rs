//! The output of a command: its start and its end, with the number of omitted bytes between them.

use std::collections::VecDeque;
use std::sync::Mutex;

use tokio::io::{AsyncRead, AsyncReadExt};

use llm_do_core::base::mutex::IgnorePoison;

/// One stream, as far as it has been read.
#[derive(Debug)]
pub(super) struct Output {
    kept: Mutex<KeptOutput>,
    max: usize,
}

#[derive(Debug, Default)]
struct KeptOutput {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    cut: u64,
}

impl Output {
    pub(super) fn new(max: usize) -> Self {
        Self { kept: Mutex::default(), max }
    }

    /// Reads a stream to its end, or until an error.
    pub(super) async fn read(&self, stream: Option<impl AsyncRead + Unpin>) {
        let Some(mut stream) = stream else { return };
        let mut buffer = vec![0; 8 << 10];
        while let Ok(count @ 1..) = stream.read(&mut buffer).await {
            self.keep(&buffer[..count]);
        }
    }

    fn keep(&self, bytes: &[u8]) {
        let mut kept = self.kept.lock().ignore_poison();
        let room = (self.max - self.max / 2) - kept.head.len();
        let (head, tail) = bytes.split_at(room.min(bytes.len()));
        kept.head.extend(head);
        kept.tail.extend(tail);
        let excess = kept.tail.len().saturating_sub(self.max / 2);
        kept.tail.drain(..excess);
        kept.cut += excess as u64;
    }

    /// Returns the text, with a line in place of the omitted part.
    pub(super) fn text(&self) -> String {
        let mut kept = self.kept.lock().ignore_poison();
        let cut = kept.cut;
        if cut == 0 {
            let KeptOutput { head, tail, .. } = &mut *kept;
            head.extend(tail.drain(..));
            return String::from_utf8_lossy(head).into_owned();
        }
        let tail = String::from_utf8_lossy(kept.tail.make_contiguous()).into_owned();
        format!("{}\n[{cut} bytes left out]\n{tail}", String::from_utf8_lossy(&kept.head))
    }
}
