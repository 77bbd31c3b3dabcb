//! Locating, downloading and checking model files.

mod checksum;
#[cfg(feature = "local-download")]
mod download;
#[cfg(feature = "local-download")]
mod hub;
mod hub_cache;
#[cfg(feature = "local-download")]
mod hub_error;
mod hub_file;
mod hub_options;
#[cfg(feature = "local-download")]
mod partial_file;
mod prepare;
mod progress;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use etcetera::BaseStrategy;
use tokio::sync::Mutex;

use self::checksum::Checksum;
#[cfg(feature = "local-download")]
use self::hub::Hub;
use self::hub_file::HubFile;
pub(super) use self::hub_options::HubOptions;
pub(super) use self::prepare::{fetch, submit};
pub use self::progress::FetchProgress;
use super::fault;
use crate::error::ProviderError;

/// The name of the default model after `local:`.
pub(super) const DEFAULT: &str = "smollm2-135m-instruct";

/// The file name of the default model.
const DEFAULT_FILE: &str = "SmolLM2-135M-Instruct.Q4_1.gguf";

/// The environment variable with another path of the default model's file.
const VARIABLE: &str = "LLM_DO_LOCAL_WEIGHTS";

/// The command that downloads the default model.
const COMMAND: &str = "sh llm-do-providers/fetch-local-model.sh";

/// The file of a model.
#[derive(Debug)]
pub(super) struct Weights {
    source: Source,
    /// The checksum that the file must have.
    pinned: Option<Checksum>,
    /// Held while the file is downloaded or checked, so that concurrent requests do it once.
    preparing: Mutex<()>,
    /// The path of the file once it is present and checked.
    ready: OnceLock<PathBuf>,
}

#[derive(Debug)]
enum Source {
    /// A file on this machine.
    File(PathBuf),
    /// A file to download.
    #[cfg(feature = "local-download")]
    Hub(Box<(Hub, HubFile)>),
}

impl Weights {
    /// Resolves `name`, the part after `local:`, without downloading or checking the file.
    pub(super) fn find(name: &str, options: &HubOptions) -> Result<Self, ProviderError> {
        let (name, pinned) = Checksum::split(name)?;
        let source = match name {
            _ if Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gguf")) => {
                source(name, options)?
            }
            DEFAULT => Source::File(default_path(std::env::var_os(VARIABLE).map(PathBuf::from))?),
            _ => return Err(unknown(name)),
        };
        let ready = OnceLock::new();
        if let (Source::File(path), None) = (&source, &pinned) {
            ready.get_or_init(|| path.clone());
        }
        Ok(Self { source, pinned, preparing: Mutex::default(), ready })
    }

    /// Returns the path of the file if it needs neither a download nor a check.
    fn ready(&self) -> Option<&Path> {
        self.ready.get().map(PathBuf::as_path)
    }
}

/// Resolves `name`: an existing path, or else a file on the hub.
fn source(name: &str, options: &HubOptions) -> Result<Source, ProviderError> {
    if let Some(parts) = parts(name) {
        return Err(fault::configuration(format!(
            "`{name}` is one of {parts} parts of a split model, which is not supported; use a single file, or join the \
             parts with `llama-gguf-split --merge`"
        )));
    }
    if Path::new(name).is_file() {
        return Ok(Source::File(canonical(name.into())));
    }
    if HubFile::looks_like(name) {
        return hub_source(name, options);
    }
    let hint = if name.matches('/').count() == 1 && !name.starts_with(['/', '.', '~']) {
        ", or write `local:OWNER/REPO/FILE.gguf` for a file on the hub"
    } else {
        ""
    };
    Err(missing(Path::new(name), &format!("check the path after `local:`{hint}")))
}

/// Resolves `name` as a file on the hub.
fn hub_source(name: &str, options: &HubOptions) -> Result<Source, ProviderError> {
    let file = HubFile::parse(name).map_err(|fault| {
        let advice = format!("it is not a valid hub file name either: {fault}; check the path after `local:`");
        missing(Path::new(name), &advice)
    })?;
    let cache = options.cache()?;
    if let Some(path) = cache.find(&file) {
        return Ok(Source::File(canonical(path)));
    }
    let missing = format!(
        "`{file}` is neither an existing path nor in the hub's cache at `{}`; run `{}`",
        cache.root().display(),
        file.command()
    );
    if let Some(reason) = options.offline_reason() {
        return Err(fault::configuration(format!("{missing}, or allow downloads: {reason}")));
    }
    #[cfg(feature = "local-download")]
    return Ok(Source::Hub(Box::new((Hub::new(cache, options)?, file))));
    #[cfg(not(feature = "local-download"))]
    Err(fault::configuration(format!("{missing}, or enable the feature `local-download`")))
}

/// Returns the path of the default model: the variable's, or the one in the cache directory.
fn default_path(variable: Option<PathBuf>) -> Result<PathBuf, ProviderError> {
    match variable.filter(|path| !path.as_os_str().is_empty()) {
        Some(path) => existing(path, &format!("check the environment variable `{VARIABLE}`")),
        None => existing(cached()?, &format!("run `{COMMAND}` to download it, or set `{VARIABLE}` to its path")),
    }
}

/// Returns the path that the fetch script writes to.
fn cached() -> Result<PathBuf, ProviderError> {
    let folders = etcetera::base_strategy::Xdg::new().map_err(|source| {
        let text =
            format!("cannot find the home directory of this user; set `{VARIABLE}` to the path of the model's file");
        fault::configuration(text).with_source(source)
    })?;
    Ok(folders.cache_dir().join("llm-do").join(DEFAULT_FILE))
}

/// Returns `path` if the file exists.
fn existing(path: PathBuf, advice: &str) -> Result<PathBuf, ProviderError> {
    if path.is_file() { Ok(canonical(path)) } else { Err(missing(&path, advice)) }
}

/// Returns the canonical path: models with the same file share one engine by path.
fn canonical(path: PathBuf) -> PathBuf {
    path.canonicalize().unwrap_or(path)
}

fn missing(path: &Path, advice: &str) -> ProviderError {
    fault::configuration(format!("no model file at `{}`; {advice}", path.display()))
}

/// The error for an unknown model name.
fn unknown(name: &str) -> ProviderError {
    let hint = if name.split('/').count() == 2 && HubFile::parse(&format!("{name}/a")).is_ok() {
        " (a hub repository needs a file name too)"
    } else {
        ""
    };
    fault::configuration(format!(
        "unknown embedded model `{name}`{hint}; write `local:{DEFAULT}`, `local:PATH.gguf`, or \
         `local:OWNER/REPO/FILE.gguf` for a file on the hub"
    ))
}

/// Returns the number of parts of a split model that the file `..-00001-of-00003.gguf` belongs to.
fn parts(name: &str) -> Option<u32> {
    let stem = name.get(..name.len().checked_sub(".gguf".len())?)?;
    let (rest, parts) = stem.rsplit_once("-of-")?;
    let (_, number) = rest.rsplit_once('-')?;
    let is_number = |digits: &str| digits.len() == 5 && digits.bytes().all(|byte| byte.is_ascii_digit());
    parts.parse().ok().filter(|count| *count > 1 && is_number(parts) && is_number(number))
}

#[cfg(test)]
mod tests {
    use super::{COMMAND, default_path, existing, parts};

    #[test]
    fn a_missing_file_names_the_command() {
        let error = existing("/missing/a.gguf".into(), &format!("run `{COMMAND}`")).expect_err("there is no such file");
        assert!(error.to_string().contains("no model file at `/missing/a.gguf`"), "{error}");
        assert!(error.to_string().contains("sh llm-do-providers/fetch-local-model.sh"), "{error}");
    }

    #[test]
    fn a_missing_file_of_the_variable_names_the_variable() {
        let error = default_path(Some("/missing/b.gguf".into())).expect_err("there is no such file");
        assert!(error.to_string().contains("check the environment variable `LLM_DO_LOCAL_WEIGHTS`"), "{error}");
    }

    #[test]
    fn a_part_of_a_split_model_is_recognized() {
        assert_eq!(parts("a/b/c-00001-of-00003.gguf"), Some(3));
        for single in ["c-00001-of-00001.gguf", "c-1-of-3.gguf", "c.gguf", "gguf", "é.gguf", "-of-00003.gguf"] {
            assert_eq!(parts(single), None, "{single}");
        }
    }
}
