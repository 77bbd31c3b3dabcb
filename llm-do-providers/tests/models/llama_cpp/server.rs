//! llama.cpp's server, started by the tests.

use std::env;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;

/// The server of these tests. It exits with this process, since its standard input is closed then.
static SERVER: LazyLock<Server> = LazyLock::new(Server::start);

/// The environment created by `install` and the weights downloaded by `fetch-local-model.sh`, in the cache directory.
const PYTHON: &str = "xllamacpp==2026.10.11549/bin/python";
const WEIGHTS: &str = "SmolLM2-135M-Instruct.Q4_1.gguf";

/// Returns the base URL of the server.
pub(crate) fn base_url() -> String {
    format!("{}/v1", SERVER.address)
}

/// A server process.
#[derive(Debug)]
struct Server {
    address: String,
    process: Child,
}

impl Server {
    /// Starts the server and waits until it is ready.
    fn start() -> Self {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../llm-do-providers/tests/models/llama_cpp");
        let process = Command::new(cache().join(PYTHON))
            .args([here.join("serve.py"), cache().join(WEIGHTS), here.join("tools.jinja")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // It logs each request.
            .stderr(Stdio::null())
            .spawn()
            .expect("the server is installed: sh llm-do-providers/tests/models/llama_cpp/install");
        let mut server = Self { address: String::new(), process };
        server.address = server.announced().expect("the server starts; run `serve.py` by hand to see why not");
        server
    }

    /// Returns the address that the server prints when it is ready; `None` if it exits before.
    fn announced(&mut self) -> Option<String> {
        let lines = BufReader::new(self.process.stdout.take()?).lines();
        lines.map_while(Result::ok).find_map(|line| Some(line.strip_prefix("READY ")?.to_owned()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself, and then there is nothing to end.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

fn cache() -> PathBuf {
    let cache = env::var_os("XDG_CACHE_HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let home = || PathBuf::from(env::var_os("HOME").expect("a home folder")).join(".cache");
    cache.unwrap_or_else(home).join("llm-do")
}
