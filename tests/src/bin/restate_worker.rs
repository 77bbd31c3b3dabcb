//! A worker of Restate for the tests that kill and restart it.
//!
//! `restate_worker FOLDER ADDRESS ADMIN URI`: listens on the address, and registers the URI with the engine. Each effect is a line of the file
//! `effects` in the folder.

#[path = "served/work.rs"]
mod work;

use std::time::Duration;

use llm_do::context::CancellationToken;
use llm_do::prelude::*;
use llm_do::serve::RestateWorker;
use tokio::net::TcpListener;

use self::work::{Effects, model};

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [folder, address, admin, public] = &*arguments else { return Err("usage: FOLDER ADDRESS ADMIN URI".into()) };
    let effects = Effects(PathBuf::from(folder).join("effects"));
    let runtime = Runtime::builder().state(effects).force_model(model()).build()?;
    let worker = RestateWorker::new("killed", runtime)?.park_after(Duration::from_millis(300));
    let worker = worker.register(admin).public_uri(public);
    Ok(worker.serve(TcpListener::bind(address).await?, CancellationToken::new()).await?)
}
