//! Settings from variables and files, and `config`, which shows them.

mod file;
mod settings;
mod source;
mod types;

use llm_do_core::base::printable::printable;
use llm_do_core::session::runtime::RuntimeBuilder;
use serde_json::{Value, json};

use self::file::{ConfigFile, VARIABLE};
pub(super) use self::settings::Settings;
use self::settings::{SETTINGS, Setting};
pub(super) use self::source::{Set, Source};
pub(super) use self::types::{EndsRun, approval_mode, flow_mode, seconds};
use super::args::{ConfigCommand, ConfigPathOptions, ConfigShowOptions};
use super::output::warn;
use super::trust::Trust;
use super::{CommandError, print, print_json};

/// Shows the settings, or the paths of their files.
pub(super) fn config(
    builder: RuntimeBuilder,
    command: &ConfigCommand,
    runs_projects: bool,
) -> Result<(), CommandError> {
    match command {
        ConfigCommand::Show(options) => show(builder, options, runs_projects),
        ConfigCommand::Path(options) => paths(options),
    }
}

/// Prints each setting with its value and its source.
fn show(builder: RuntimeBuilder, options: &ConfigShowOptions, runs_projects: bool) -> Result<(), CommandError> {
    let items = &options.session.items;
    let mut settings = options.session.settings();
    settings.output = Set::option(options.output, "--output");
    let mut settings = settings.read(items.project.as_deref())?;
    // Nothing runs, since only the settings are needed.
    let _ = items.add_to(builder, &mut settings, runs_projects, Trust::Show)?;
    settings.warn();
    let shown = SETTINGS.map(|setting| ShownSetting::new(setting, &mut settings));
    if options.json {
        return print_json(&format!("{:#}", shown.iter().map(ShownSetting::to_json).collect::<Value>()));
    }
    let texts = shown.each_ref().map(ShownSetting::text);
    let key = SETTINGS.iter().map(|setting| setting.key.len()).max().unwrap_or(0);
    let value = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0);
    for (shown, text) in shown.iter().zip(&texts) {
        print(&format!("{:key$}  {text:value$}  {}", shown.setting.key, printable(&shown.source)))?;
    }
    Ok(())
}

/// A setting for display.
struct ShownSetting {
    setting: Setting,
    value: Value,
    source: String,
}

impl ShownSetting {
    fn new(setting: Setting, settings: &mut Settings) -> Self {
        let (value, source) = (setting.slot)(settings).shown();
        Self { setting, value, source: source.to_string() }
    }

    fn text(&self) -> String {
        match &self.value {
            Value::Null => self.setting.unset.to_owned(),
            Value::String(text) => printable(text),
            value => printable(&value.to_string()),
        }
    }

    fn to_json(&self) -> Value {
        json!({ "setting": self.setting.key, "value": self.value, "source": self.source })
    }
}

/// Prints the configuration files, and whether they exist.
fn paths(options: &ConfigPathOptions) -> Result<(), CommandError> {
    let files = ConfigFile::of_user().into_iter().chain([ConfigFile::of_project(options.project.as_deref())]);
    let files: Vec<_> = files.map(|file| (file.kind(), file.path.display().to_string(), file.path.exists())).collect();
    if options.json {
        let object =
            |(kind, path, exists): (&str, String, bool)| json!({ "file": kind, "path": path, "exists": exists });
        return print_json(&format!("{:#}", files.into_iter().map(object).collect::<Value>()));
    }
    if files.iter().all(|(kind, ..)| *kind != "user") {
        print(&format!("user     none, since `{VARIABLE}` is empty or the home folder is unknown"))?;
    }
    files.iter().try_for_each(|(kind, path, exists)| {
        print(&format!("{kind:7}  {}  {}", if *exists { "exists " } else { "missing" }, printable(path)))
    })
}

impl Settings {
    /// Reports values of the project's file that have no effect.
    pub(super) fn warn(&self) {
        warn(&self.warnings);
    }
}

/// Returns the keys of all settings, each with its variable.
#[cfg(test)]
pub(super) fn setting_names() -> Vec<(&'static str, String)> {
    SETTINGS.iter().map(|setting| (setting.key, setting.variable())).collect()
}
