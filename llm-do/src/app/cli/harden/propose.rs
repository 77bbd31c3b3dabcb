//! `harden --propose`: has a model write a script, and writes it with its evidence.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::json;

use super::{agreement, cases, configured};
use crate::app::cli::args::HardenOptions;
use crate::app::cli::run::{block_on, print_safely};
use crate::app::cli::{CommandError, print, project};
use crate::app::harden::{Proposal, ProposeError, Proposer};
use crate::session::runtime::RuntimeBuilder;

/// The files of a proposal.
struct Files {
    script: PathBuf,
    markdown: PathBuf,
    json: PathBuf,
    /// The Rust function, if it is to be written.
    rust: Option<PathBuf>,
}

pub(super) fn propose(
    builder: RuntimeBuilder,
    worker: &str,
    options: &HardenOptions,
    runs_projects: bool,
) -> Result<(), CommandError> {
    let (builder, settings) = configured(builder, options, runs_projects)?;
    let builder = settings.add_model(builder);
    let cases = cases(worker, options)?;
    let proposer = proposer(worker, options);
    let files = Files::of(options, proposer.script_name());
    files.check()?;
    let token = builder.cancellation_token();
    let mut builder = proposer.prepared(builder);
    let registry = project::collect(&mut builder)?;
    let proposal = block_on(&token, proposer.propose_on(builder, registry, &cases))?.map_err(failure)?;
    files.write(&proposal)?;
    if options.json {
        print(&json!(proposal.report).to_string())?;
    } else {
        print_safely(proposal.report.to_string().trim_end())?;
    }
    match proposal.script {
        Some(_) => Ok(()),
        None => Err(CommandError::Error(format!("no script for `{worker}` was good enough"))),
    }
}

fn proposer(worker: &str, options: &HardenOptions) -> Proposer {
    let proposer = Proposer::new(worker).attempts(options.propose.attempts.get()).agreement(agreement(options));
    let proposer = match &options.propose.name {
        Some(name) => proposer.name(name),
        None => proposer,
    };
    let proposer = match options.propose.budget {
        Some(budget) => proposer.budget(budget),
        None => proposer,
    };
    match &options.propose.model {
        Some(model) => proposer.model(model),
        None => proposer,
    }
}

fn failure(error: ProposeError) -> CommandError {
    match error {
        ProposeError::UnknownWorker { .. } | ProposeError::NotAWorker { .. } => CommandError::Usage(error.to_string()),
        ProposeError::Cancelled => CommandError::Error("aborted by user".to_owned()),
        other => CommandError::from_error(other),
    }
}

impl Files {
    fn of(options: &HardenOptions, name: &str) -> Self {
        let folder = options.propose.out.as_deref().unwrap_or(Path::new(""));
        let file = |end: &str| folder.join(format!("{name}.{end}"));
        Self {
            script: file("py"),
            markdown: file("propose.md"),
            json: file("propose.json"),
            rust: options.propose.rust.then(|| file("rs")),
        }
    }

    /// Fails before anything is paid for if the files cannot be written.
    fn check(&self) -> Result<(), CommandError> {
        if let Some(file) = [Some(&self.script), self.rust.as_ref()].into_iter().flatten().find(|file| file.exists()) {
            let file = file.display();
            return Err(CommandError::Usage(format!("{file} exists; give another --name or --out, or remove it")));
        }
        match self.script.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            Some(folder) => fs::create_dir_all(folder).map_err(|error| fault(folder, &error)),
            None => Ok(()),
        }
    }

    fn write(&self, proposal: &Proposal) -> Result<(), CommandError> {
        let report = &proposal.report;
        let json = serde_json::to_string_pretty(report).map_err(CommandError::from_error)?;
        write(&self.json, File::create(&self.json), &format!("{json}\n"))?;
        write(&self.markdown, File::create(&self.markdown), &report.to_string())?;
        let files = [(Some(&self.script), &proposal.script), (self.rust.as_ref(), &proposal.rust)];
        for (path, text) in files.into_iter().filter_map(|(path, text)| path.zip(text.as_ref())) {
            write(path, OpenOptions::new().write(true).create_new(true).open(path), text)?;
        }
        Ok(())
    }
}

fn write(path: &Path, file: io::Result<File>, text: &str) -> Result<(), CommandError> {
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| fault(path, &error))
}

fn fault(path: &Path, error: &io::Error) -> CommandError {
    CommandError::Error(format!("cannot write {}: {error}", path.display()))
}
