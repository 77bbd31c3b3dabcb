//! Where the model's file is.

use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;

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

/// Returns the file that `name`, which follows `local:`, stands for.
pub(super) fn find(name: &str) -> Result<PathBuf, ProviderError> {
    let is_path = Path::new(name).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gguf"));
    match name {
        _ if is_path => given(name.into(), "check the path after `local:`"),
        DEFAULT => default_place(std::env::var_os(VARIABLE).map(PathBuf::from)),
        _ => Err(fault::configuration(format!(
            "no embedded model `{name}`; write `local:{DEFAULT}` or `local:PATH.gguf`"
        ))),
    }
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
    if path.is_file() {
        return Ok(path);
    }
    Err(fault::configuration(format!("no model file at `{}`; {advice}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::{COMMAND, default_place, find, given};
    use crate::error::ErrorKind;

    #[test]
    fn an_unknown_name_is_told_the_choices() {
        let error = find("gpt-9").expect_err("there is no such model");
        assert_eq!(error.kind(), ErrorKind::Configuration);
        assert!(error.to_string().contains("`local:smollm2-135m-instruct` or `local:PATH.gguf`"), "{error}");
    }

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
}
