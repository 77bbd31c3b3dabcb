//! An application that connects to a database before its calls; `tests/programs/connected.rs` checks when it does.

use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use tokio::sync::{mpsc, oneshot};

/// A connection, which a task serves.
struct Database(mpsc::Sender<oneshot::Sender<u32>>);

/// Count the rows.
#[tool(effect = read_only)]
async fn count_rows(database: State<Database>) -> Result<u32> {
    let (sender, receiver) = oneshot::channel();
    database.0.send(sender).await?;
    Ok(receiver.await?)
}

async fn connect(builder: RuntimeBuilder) -> Result<RuntimeBuilder> {
    if std::env::var_os("DATABASE_IS_DOWN").is_some() {
        return Err("the database is down".into());
    }
    let (sender, mut questions) = mpsc::channel::<oneshot::Sender<u32>>(1);
    tokio::spawn(async move {
        while let Some(answer) = questions.recv().await {
            // Ignored: the call that asks may have ended.
            let _ = answer.send(3);
        }
    });
    Ok(builder.state(Database(sender)))
}

fn main() -> ExitCode {
    llm_do::cli::Cli::new().configure_async(connect).main()
}
