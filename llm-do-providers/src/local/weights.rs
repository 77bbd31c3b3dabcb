//! Where the model's file is, or where it comes from.

mod checksum;
#[cfg(feature = "local-download")]
mod download;
#[cfg(feature = "local-download")]
mod hub;
mod hub_cache;
mod hub_file;
mod hub_options;
#[cfg(feature = "local-download")]
mod part;
mod progress;
#[cfg(feature = "local-download")]
mod refusal;
mod unready;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use etcetera::BaseStrategy;
use tokio::sync::Mutex;

use self::checksum::Checksum;
#[cfg(feature = "local-download")]
use self::hub::Hub;
use self::hub_file::HubFile;
pub(super) use self::hub_options::HubOptions;
pub use self::progress::FetchProgress;
pub(super) use self::unready::{fetch, submit};
use super::fault;
use crate::error::ProviderError;

/// The model that the fetch script brings, as it is named after `local:`.
pub(super) const DEFAULT: &str = "smollm2-135m-instruct";

/// Its file's name.
const FILE: &str = "SmolLM2-135M-Instruct.Q4_1.gguf";

/// The variable that names another place of the file.
const VARIABLE: &str = "LLM_DO_LOCAL_WEIGHTS";

/// What brings the file.
const COMMAND: &str = "sh llm-do-providers/fetch-local-model.sh";

/// A model's file.
#[derive(Debug)]
pub(super) struct Weights {
    source: Source,
    /// What the file must have.
    pinned: Option<Checksum>,
    /// Held by whoever fetches or checks the file, so that requests that come together do it once.
    turn: Mutex<()>,
    /// Where the file is, once it is there and checked.
    ready: OnceLock<PathBuf>,
}

#[derive(Debug)]
enum Source {
    /// A file of this machine.
    File(PathBuf),
    /// A file that has to be fetched.
    #[cfg(feature = "local-download")]
    Hub(Box<(Hub, HubFile)>),
}

impl Weights {
    /// Returns the file that `name`, which follows `local:`, stands for; nothing is fetched or checked yet.
    pub(super) fn find(name: &str, options: &HubOptions) -> Result<Self, ProviderError> {
        let (place, pinned) = Checksum::split(name)?;
        let source = match place {
            _ if Path::new(place).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gguf")) => {
                source(place, options)?
            }
            DEFAULT => Source::File(default_place(std::env::var_os(VARIABLE).map(PathBuf::from))?),
            _ => return Err(unknown(place)),
        };
        let ready = OnceLock::new();
        if let (Source::File(path), None) = (&source, &pinned) {
            ready.get_or_init(|| path.clone());
        }
        Ok(Self { source, pinned, turn: Mutex::default(), ready })
    }

    /// Returns where the file is, if it needs neither fetching nor checking any more.
    fn ready(&self) -> Option<&Path> {
        self.ready.get().map(PathBuf::as_path)
    }
}

/// Returns the model file of the name `place`: a path if there is one, else a file of the hub.
fn source(place: &str, options: &HubOptions) -> Result<Source, ProviderError> {
    if let Some(parts) = parts(place) {
        return Err(fault::configuration(format!(
            "`{place}` is one of {parts} parts, and a model is read from one file; choose a file that is whole, or join \
             the parts with `llama-gguf-split --merge`"
        )));
    }
    if Path::new(place).is_file() {
        return Ok(Source::File(settled(place.into())));
    }
    if HubFile::has_form(place) {
        return of_hub(place, options);
    }
    let hint = if place.matches('/').count() == 1 && !place.starts_with(['/', '.', '~']) {
        ", or write `local:OWNER/REPO/FILE.gguf` for a file of the hub"
    } else {
        ""
    };
    Err(missing(Path::new(place), &format!("check the path after `local:`{hint}")))
}

/// Returns the file of the hub that `name` is.
fn of_hub(name: &str, options: &HubOptions) -> Result<Source, ProviderError> {
    let file = HubFile::parse(name).map_err(|fault| {
        let advice = format!("and it names no file of the hub, since {fault}; check the path after `local:`");
        missing(Path::new(name), &advice)
    })?;
    let cache = options.cache()?;
    if let Some(path) = cache.find(&file) {
        return Ok(Source::File(settled(path)));
    }
    let nowhere = format!(
        "`{file}` is neither a path here nor in the hub's cache, `{}`, which `{}` would fill",
        cache.root().display(),
        file.command()
    );
    if let Some(ban) = options.ban() {
        return Err(fault::configuration(format!("{nowhere}; {ban}")));
    }
    #[cfg(feature = "local-download")]
    return Ok(Source::Hub(Box::new((Hub::new(cache, options)?, file))));
    #[cfg(not(feature = "local-download"))]
    Err(fault::configuration(format!("{nowhere}; or turn on the feature `local-download`")))
}

/// Returns the default model's file: what the variable says, or the place in the cache folder.
fn default_place(variable: Option<PathBuf>) -> Result<PathBuf, ProviderError> {
    match variable.filter(|path| !path.as_os_str().is_empty()) {
        Some(path) => given(path, &format!("check `{VARIABLE}`")),
        None => given(cached()?, &format!("run `{COMMAND}` to fetch it, or set `{VARIABLE}` to where it is")),
    }
}

/// Returns the place that the fetch script puts the file in.
fn cached() -> Result<PathBuf, ProviderError> {
    let folders = etcetera::base_strategy::Xdg::new().map_err(|source| {
        let text = format!("this user has no home folder; set `{VARIABLE}` to the model's file");
        fault::configuration(text).with_source(source)
    })?;
    Ok(folders.cache_dir().join("llm-do").join(FILE))
}

/// Returns `path` if there is a file.
fn given(path: PathBuf, advice: &str) -> Result<PathBuf, ProviderError> {
    if path.is_file() { Ok(settled(path)) } else { Err(missing(&path, advice)) }
}

/// Returns the one path of a file that may have several: models that share it find each other by that.
fn settled(path: PathBuf) -> PathBuf {
    path.canonicalize().unwrap_or(path)
}

fn missing(path: &Path, advice: &str) -> ProviderError {
    fault::configuration(format!("no model file at `{}`; {advice}", path.display()))
}

/// Says how a model is named.
fn unknown(name: &str) -> ProviderError {
    let hint = if name.split('/').count() == 2 && HubFile::parse(&format!("{name}/a")).is_ok() {
        " (a file of that repository has to be named too)"
    } else {
        ""
    };
    fault::configuration(format!(
        "no embedded model `{name}`{hint}; write `local:{DEFAULT}`, `local:PATH.gguf`, or `local:OWNER/REPO/FILE.gguf` \
         for a file of the hub"
    ))
}

/// Returns how many parts a model has that `place`, `..-00001-of-00003.gguf`, is a part of.
fn parts(place: &str) -> Option<u32> {
    let stem = place.get(..place.len().checked_sub(".gguf".len())?)?;
    let (rest, parts) = stem.rsplit_once("-of-")?;
    let (_, number) = rest.rsplit_once('-')?;
    let is_number = |digits: &str| digits.len() == 5 && digits.bytes().all(|byte| byte.is_ascii_digit());
    parts.parse().ok().filter(|count| *count > 1 && is_number(parts) && is_number(number))
}

#[cfg(test)]
mod tests {
    use super::{COMMAND, default_place, given, parts};

    #[test]
    fn a_missing_file_names_the_command() {
        let error = given("/nowhere/a.gguf".into(), &format!("run `{COMMAND}`")).expect_err("there is no such file");
        assert!(error.to_string().contains("no model file at `/nowhere/a.gguf`"), "{error}");
        assert!(error.to_string().contains("sh llm-do-providers/fetch-local-model.sh"), "{error}");
    }

    #[test]
    fn a_missing_file_of_the_variable_names_the_variable() {
        let error = default_place(Some("/nowhere/b.gguf".into())).expect_err("there is no such file");
        assert!(error.to_string().contains("check `LLM_DO_LOCAL_WEIGHTS`"), "{error}");
    }

    #[test]
    fn a_part_of_a_model_is_told_from_a_whole_one() {
        assert_eq!(parts("a/b/c-00001-of-00003.gguf"), Some(3));
        for whole in ["c-00001-of-00001.gguf", "c-1-of-3.gguf", "c.gguf", "gguf", "é.gguf", "-of-00003.gguf"] {
            assert_eq!(parts(whole), None, "{whole}");
        }
    }
}
