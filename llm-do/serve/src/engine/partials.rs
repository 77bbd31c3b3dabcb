//! The result of a run while it is written, for those who watch the run.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;

use llm_do_core::declare::partial::Partial;
use llm_do_core::plane::call_stream::{PieceReader, Pieces};

/// How long those who watch wait at least for the next part.
const PAUSE: Duration = Duration::from_millis(100);

/// What has arrived of a result; `None` before the first part.
pub(crate) type Arrived = Option<Partial<Value>>;

/// Shows the result of a run, for as long as this is polled.
pub(super) async fn show(pieces: Arc<Pieces>, watched: watch::Sender<Arrived>) -> Infallible {
    let mut reader = PieceReader::new(pieces);
    loop {
        watched.send_replace(Some(reader.next().await));
        tokio::time::sleep(PAUSE).await;
    }
}
