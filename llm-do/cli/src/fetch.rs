//! `fetch`: downloads the file of an embedded model before a run needs it.

use std::io::{self, IsTerminal, Write};

use indicatif::{ProgressBar, ProgressStyle};
use llm_do_core::base::printable::printable;
use llm_do_providers::{FetchProgress, LocalModel};
use tokio_util::sync::CancellationToken;

use super::args::FetchOptions;
use super::run::block_on;
use super::{CommandError, print};

/// The template of the progress bar; `wide_bar` fills the remaining width.
const STYLE: &str = "{msg} {wide_bar} {bytes}/{total_bytes} {eta}";

/// Downloads the file of the model, and prints its path.
pub(super) fn fetch(options: &FetchOptions) -> Result<(), CommandError> {
    let model = LocalModel::new(name(&options.model)?).map_err(CommandError::from_error)?;
    let (bar, token) = (Bar::new(), CancellationToken::new());
    let path = block_on(&token, async {
        tokio::select! {
            path = model.fetch(|progress| bar.show(progress)) => path.map_err(CommandError::from_error),
            () = token.cancelled() => {
                let text = "aborted by user; run the same command again to resume the download";
                Err(CommandError::Error(text.to_owned()))
            }
        }
    });
    bar.0.finish_and_clear();
    print(&path??.display().to_string())
}

/// Returns the part of a model's name after `local:`.
fn name(model: &str) -> Result<&str, CommandError> {
    model.strip_prefix("local:").ok_or_else(|| {
        let text = "only embedded models can be downloaded, such as `local:OWNER/REPO/FILE.gguf`";
        CommandError::Usage(format!("`{model}` has no file to download: {text}"))
    })
}

/// Download progress on standard error: a bar on a terminal, and otherwise only status lines.
struct Bar(ProgressBar);

impl Bar {
    fn new() -> Self {
        // Draws nothing unless standard error is a terminal.
        let bar = ProgressBar::new(0);
        Self(match ProgressStyle::with_template(STYLE) {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        })
    }

    fn show(&self, progress: FetchProgress) {
        match progress {
            FetchProgress::Received { file, bytes, total, .. } => {
                self.0.set_length(total);
                self.0.set_message(printable(&file));
                self.0.set_position(bytes);
            }
            status if io::stderr().is_terminal() => self.0.println(printable(&status.to_string())),
            status => drop(writeln!(io::stderr(), "{}", printable(&status.to_string()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CommandError, ProgressStyle, STYLE, name};

    #[test]
    fn the_bar_has_a_style() {
        ProgressStyle::with_template(STYLE).expect("the template is valid");
    }

    #[test]
    fn a_model_without_a_file_is_a_usage_error() {
        assert_eq!(name("local:a/b/c.gguf").expect("the model is embedded"), "a/b/c.gguf");
        let failure = name("openai:gpt-5-mini").expect_err("the model is not embedded");
        assert!(matches!(&failure, CommandError::Usage(text) if text.contains("only embedded models")), "{failure}");
    }
}
