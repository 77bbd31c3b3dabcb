//! `fetch`: an embedded model's file, before somebody waits for it.

use std::io::{self, IsTerminal, Write};

use indicatif::{ProgressBar, ProgressStyle};
use llm_do_providers::{FetchProgress, LocalModel};
use tokio_util::sync::CancellationToken;

use super::Failure;
use super::args::FetchOptions;
use super::run::{block_on, print_safely};
use crate::base::printable::printable;

/// How the bar looks; `wide_bar` takes the room that the rest leaves.
const STYLE: &str = "{msg} {wide_bar} {bytes}/{total_bytes} {eta}";

/// Fetches the file of the model that the options name, and prints where it is.
pub(super) fn fetch(options: &FetchOptions) -> Result<(), Failure> {
    let model = LocalModel::new(name(&options.model)?).map_err(Failure::error)?;
    let (bar, token) = (Bar::new(), CancellationToken::new());
    let path = block_on(&token, async {
        tokio::select! {
            path = model.fetch(|progress| bar.show(progress)) => path.map_err(Failure::error),
            () = token.cancelled() => Err(Failure::Error("aborted by user; run the same again to go on from here".to_owned())),
        }
    });
    bar.0.finish_and_clear();
    print_safely(&path??.display().to_string())
}

/// Returns what follows `local:` in a model's name.
fn name(model: &str) -> Result<&str, Failure> {
    model.strip_prefix("local:").ok_or_else(|| {
        let text = "only embedded models have a file to fetch: name one, such as `local:OWNER/REPO/FILE.gguf`";
        Failure::Usage(format!("no file for `{model}`; {text}"))
    })
}

/// What standard error shows of a download: a bar on a terminal, and else only what is waited for.
struct Bar(ProgressBar);

impl Bar {
    fn new() -> Self {
        // Nothing is drawn where standard error is no terminal.
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
            told if io::stderr().is_terminal() => self.0.println(printable(&told.to_string())),
            told => drop(writeln!(io::stderr(), "{}", printable(&told.to_string()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Failure, ProgressStyle, STYLE, name};

    #[test]
    fn the_bar_has_a_style() {
        ProgressStyle::with_template(STYLE).expect("the template is sound");
    }

    #[test]
    fn a_model_without_a_file_is_a_wrong_use() {
        assert_eq!(name("local:a/b/c.gguf").expect("it is embedded"), "a/b/c.gguf");
        let failure = name("openai:gpt-5-mini").expect_err("it is elsewhere");
        assert!(matches!(&failure, Failure::Usage(text) if text.contains("only embedded models")), "{failure}");
    }
}
