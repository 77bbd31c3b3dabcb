//! Workers in processes of their own.

use std::io::{Error, ErrorKind};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};

/// Worker processes behind a balancer, which the engine knows.
pub(super) struct Workers {
    folder: tempfile::TempDir,
    admin: String,
    /// The address of the balancer.
    public: String,
    processes: Vec<Option<Child>>,
    ports: Vec<u16>,
}

impl Workers {
    pub(super) async fn start(count: usize, admin: &str) -> Self {
        let (mut ports, mut listeners) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            ports.push(listener.local_addr().unwrap().port());
            listeners.push(listener);
        }
        drop(listeners);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let public = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(balance(listener, ports.clone()));
        let (folder, admin) = (tempfile::tempdir().unwrap(), admin.to_owned());
        // A build may replace the program while it is tested.
        std::fs::copy(env!("CARGO_BIN_EXE_restate_worker"), folder.path().join("worker")).unwrap();
        let mut workers = Self { folder, admin, public, processes: ports.iter().map(|_| None).collect(), ports };
        (0..count).for_each(|n| workers.spawn(n));
        workers
    }

    /// Starts a worker that is registered under the address of the balancer.
    pub(super) fn spawn(&mut self, n: usize) {
        let mut command = Command::new(self.folder.path().join("worker"));
        let address = format!("127.0.0.1:{}", self.ports[n]);
        command.arg(self.folder.path()).arg(address).arg(&self.admin).arg(&self.public);
        self.processes[n] = Some(spawn(&mut command));
    }

    /// Returns whether a worker has ended by itself.
    pub(super) fn has_ended(&mut self, n: usize) -> bool {
        self.processes[n].as_mut().is_none_or(|process| process.try_wait().unwrap().is_some())
    }

    pub(super) fn kill(&mut self, n: usize) {
        if let Some(mut process) = self.processes[n].take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }
}

/// Starts a program that was copied. A process that another test has forked may still have the copy open for writing, until it executes
/// its own program.
fn spawn(command: &mut Command) -> Child {
    let busy = |error: &Error| error.kind() == ErrorKind::ExecutableFileBusy;
    for _ in 0..200 {
        match command.spawn() {
            Err(error) if busy(&error) => std::thread::sleep(Duration::from_millis(10)),
            started => return started.unwrap(),
        }
    }
    panic!("the program is busy for two seconds");
}

impl Workers {
    /// Returns the folder of their effects.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        (0..self.processes.len()).for_each(|n| self.kill(n));
    }
}

/// Passes each connection on to the next worker that accepts it.
async fn balance(listener: TcpListener, ports: Vec<u16>) {
    let next = Arc::new(AtomicUsize::new(0));
    loop {
        let Ok((mut from, _)) = listener.accept().await else { continue };
        let (next, ports) = (Arc::clone(&next), ports.clone());
        tokio::spawn(async move {
            for _ in 0..ports.len() {
                let port = ports[next.fetch_add(1, Ordering::Relaxed) % ports.len()];
                if let Ok(mut to) = TcpStream::connect(("127.0.0.1", port)).await {
                    let _ = tokio::io::copy_bidirectional(&mut from, &mut to).await;
                    return;
                }
            }
        });
    }
}
