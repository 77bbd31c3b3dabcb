//! A server that a file names.

use std::fmt;
use std::path::PathBuf;

/// A server, as a file describes it: variables are not replaced yet.
#[derive(Clone, Debug)]
pub(crate) struct ServerFile {
    pub(in crate::app::project) name: String,
    /// The file and line.
    pub(super) place: String,
    /// The folder of the project.
    #[cfg_attr(not(feature = "mcp"), expect(dead_code, reason = "no server is started"))]
    pub(super) root: PathBuf,
    pub(super) transport: Transport,
    /// For each call, in milliseconds.
    #[cfg_attr(not(feature = "mcp"), expect(dead_code, reason = "no server is started"))]
    pub(super) timeout: Option<u64>,
}

#[derive(Clone, Debug)]
pub(super) enum Transport {
    Command {
        program: String,
        arguments: Vec<String>,
        variables: Vec<(String, String)>,
    },
    Http {
        url: String,
        headers: Vec<(String, String)>,
    },
    /// The server is left out.
    Unsupported,
}

impl ServerFile {
    /// Returns the name of the toolset of its tools.
    pub(in crate::app::project) fn toolset(&self) -> String {
        #[cfg(feature = "mcp")]
        return llm_do_worker_file::mcp_toolset_name(&self.name);
        #[cfg(not(feature = "mcp"))]
        format!("mcp__{}", self.name)
    }

    /// Returns whether it can be started.
    pub(in crate::app::project) fn is_usable(&self) -> bool {
        cfg!(feature = "mcp") && !matches!(self.transport, Transport::Unsupported)
    }

    /// Returns the file and line.
    #[cfg(not(feature = "mcp"))]
    pub(in crate::app::project) fn place(&self) -> &str {
        &self.place
    }

    /// Returns what starting it does, with variables as in the file.
    pub(crate) fn start(&self) -> String {
        let set = |pairs: &[(String, String)], separator: &str| {
            pairs.iter().map(|(name, value)| format!("{name}{separator}{value}")).collect::<Vec<_>>()
        };
        match &self.transport {
            Transport::Command { program, arguments, variables } => {
                let words = set(variables, "=").into_iter().chain([program.clone()]).chain(arguments.iter().cloned());
                let words: Vec<_> = words.map(|word| quoted(&word)).collect();
                format!("`{}` runs the program: {}", self.name, words.join(" "))
            }
            Transport::Http { url, headers } if headers.is_empty() => format!("`{}` connects to {url}", self.name),
            Transport::Http { url, headers } => {
                format!("`{}` connects to {url} with the headers: {}", self.name, set(headers, ": ").join(", "))
            }
            Transport::Unsupported => format!("`{}` is not supported", self.name),
        }
    }
}

impl fmt::Display for ServerFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.start())
    }
}

/// Returns a word with quotes, unless it is plain.
fn quoted(word: &str) -> String {
    let is_plain = |char: char| char.is_alphanumeric() || "-_./:=@%+,${}".contains(char);
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { format!("{word:?}") }
}
