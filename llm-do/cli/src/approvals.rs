//! `approvals --propose`: proposes a policy from recorded decisions of people.

use std::io;
use std::path::{Path, PathBuf};

use llm_do_core::app::proposed_policy::{PolicyProposal, PolicyProposer};
use llm_do_core::base::printable::printable_line;
use llm_do_core::plane::registry::Registry;
use llm_do_core::session::runtime::RuntimeBuilder;
use llm_do_worker_file::did_you_mean;
use serde_json::json;

use super::args::ApprovalsOptions;
use super::out_folder::OutFolder;
use super::project::collect;
use super::recorded::for_each_run;
use super::trust::Trust;
use super::{CommandError, print, print_json};

/// Writes the policy that follows from the decisions, and its evidence; fails if none does.
pub(super) fn propose(
    builder: RuntimeBuilder,
    options: &ApprovalsOptions,
    runs_projects: bool,
) -> Result<(), CommandError> {
    let mut settings = options.items.settings().read(options.items.project.as_deref())?;
    let (mut builder, _) = options.items.add_to(builder, &mut settings, runs_projects, Trust::Show)?;
    let registry = collect(&mut builder)?;
    options.data.iter().try_for_each(|(tool, argument)| check_data(&registry, tool, argument))?;
    let files = ProposalFiles::new(&options.out)?;
    let mut proposer = PolicyProposer::on(registry);
    if options.destructive {
        proposer = proposer.destructive();
    }
    for (tool, argument) in &options.data {
        proposer = proposer.data_argument(tool, argument);
    }
    for_each_run(&options.journal, &options.runs, |run, records| {
        proposer.add(run.id.as_deref(), &records);
        Ok(())
    })?;
    let proposal = proposer.propose();
    if !proposal.is_empty() {
        files.write(&proposal)?;
    }
    if options.json { print_json(&json!(proposal).to_string()) } else { print(&summary(&proposal, &files)) }?;
    if !proposal.is_empty() {
        return Ok(());
    }
    let decisions = proposal.approved + proposal.denied;
    Err(CommandError::Error(format!("no rule follows from {decisions} decisions; nothing is written")))
}

/// Fails if a tool does not have an argument.
fn check_data(registry: &Registry, tool: &str, argument: &str) -> Result<(), CommandError> {
    let unknown = || CommandError::Usage(format!("--data: unknown tool `{tool}`: {}", registry.hint(tool, None)));
    let properties = registry.get(tool).ok_or_else(unknown)?.parameters()["properties"].as_object();
    if properties.is_some_and(|properties| properties.contains_key(argument)) {
        return Ok(());
    }
    let names = properties.into_iter().flatten().map(|(name, _)| name.as_str());
    let hint = did_you_mean(argument, names);
    Err(CommandError::Usage(format!("--data: `{tool}` has no argument `{argument}`{hint}")))
}

/// Describes the rules in few lines.
fn summary(proposal: &PolicyProposal, files: &ProposalFiles) -> String {
    let PolicyProposal { approved, denied, saves, rules, notes, .. } = proposal;
    let mut lines = vec![format!("{approved} approved and {denied} denied calls")];
    for rule in rules {
        let shapes: Vec<_> = rule.shapes.iter().map(|(name, shape)| format!("{name}: {shape}")).collect();
        let shapes = if shapes.is_empty() { "no arguments".to_owned() } else { shapes.join("; ") };
        lines.push(format!("`{}` by `{}`: {shapes} ({} questions)", rule.tool, rule.caller, rule.saves));
    }
    lines.extend(notes.iter().map(|note| format!("no rule: {note}; --data names arguments that only carry data")));
    if !rules.is_empty() {
        lines.push(format!("the policy would have saved {saves} of {approved} questions that were approved"));
        let (policy, evidence) = (files.policy.display(), files.evidence.display());
        lines.push(format!("written to {policy}, with the evidence in {evidence}: read it before you use the policy"));
    }
    let lines: Vec<_> = lines.iter().map(|line| printable_line(line)).collect();
    lines.join("\n")
}

/// The files of a proposal.
struct ProposalFiles {
    policy: PathBuf,
    evidence: PathBuf,
}

impl ProposalFiles {
    /// Fails if one of the files exists: a policy that a person has signed is not replaced.
    fn new(policy: &Path) -> Result<Self, CommandError> {
        let files = Self { policy: policy.to_owned(), evidence: policy.with_extension("evidence.md") };
        let existing =
            [&files.policy, &files.evidence].into_iter().find(|path| path.symlink_metadata().is_ok()).cloned();
        match existing {
            Some(file) => {
                let text = format!("{} exists; give another --out, or remove it", file.display());
                Err(CommandError::Usage(text))
            }
            None => Ok(files),
        }
    }

    fn write(&self, proposal: &PolicyProposal) -> Result<(), CommandError> {
        create(&self.evidence, &proposal.to_string())?;
        create(&self.policy, &format!("{:#}\n", proposal.policy))
    }
}

fn create(path: &Path, text: &str) -> Result<(), CommandError> {
    let created: io::Result<()> = OutFolder::of_file(path).and_then(|(folder, name)| folder.create(name, text));
    created.map_err(|error| CommandError::Error(format!("cannot write {}: {error}", path.display())))
}
