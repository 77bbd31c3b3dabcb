//! A service for the tests that kill and restart it.
//!
//! `served FOLDER`: serves `runs.db` in the folder, and prints its address. Each effect is a line of the file `effects` in the
//! folder. `LLM_DO_TEST_TOKEN` is the token of its only client. `LLM_DO_TEST_NOW` stops its clock at a time, `LLM_DO_TEST_CODE` selects the code, and
//! `LLM_DO_TEST_ANY_DEATHS` lets any number of processes die in a run. `LLM_DO_TEST_LEASE` sets after how many seconds a silent process
//! loses its runs.

#[path = "served/release.rs"]
mod release;
#[path = "served/work.rs"]
mod work;

use std::io::{self, Write};

use llm_do::event::Timestamp;
use llm_do::prelude::*;
use llm_do::serve::{Client, Role, Service};
use tokio::net::TcpListener;

use self::release::Code;
use self::work::{Effects, model};

#[tokio::main]
async fn main() -> Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("the folder is missing")?);
    let code = Code::deployed();
    let runtime = code.build(Runtime::builder().state(Effects(folder.join("effects"))).force_model(model())).build()?;
    let mut service = code.offer(Service::new(runtime))?;
    if let Ok(now) = std::env::var("LLM_DO_TEST_NOW") {
        service = service.clock(now.parse::<Timestamp>()?);
    }
    if let Ok(token) = std::env::var("LLM_DO_TEST_TOKEN") {
        let client = Client::new("ann", &token)?;
        service = service.client([Role::Start, Role::Watch, Role::Decide].into_iter().fold(client, Client::role));
    }
    if std::env::var_os("LLM_DO_TEST_ANY_DEATHS").is_some() {
        service = service.max_deaths(0);
    }
    let lease = std::env::var("LLM_DO_TEST_LEASE").ok().and_then(|seconds| seconds.parse().ok());
    let lease = lease.map_or(std::time::Duration::from_millis(300), std::time::Duration::from_secs);
    let service = service.park_after(std::time::Duration::from_millis(20));
    let service = service.requests_per_second(100_000).take_over_after(lease);
    let service = service.poll_interval(std::time::Duration::from_millis(20)).open(folder.join("runs.db")).await?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let mut output = io::stdout().lock();
    writeln!(output, "{}", listener.local_addr()?)?;
    output.flush()?;
    drop(output);
    Ok(service.serve(listener, llm_do::context::CancellationToken::new()).await?)
}
