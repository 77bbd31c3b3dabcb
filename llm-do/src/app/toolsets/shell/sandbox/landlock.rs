//! Landlock: the kernel confines a thread and what it starts, without a program that is installed.

use std::fs;
use std::io;
use std::path::PathBuf;

use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, Scope,
    path_beneath_rules,
};
use tokio::process::{Child, Command};

use super::super::rules::Approved;
use super::{Launch, hidden, syscalls};

/// The version with truncation: before it, files could be emptied.
const NEEDED: ABI = ABI::V3;

/// Returns whether the kernel has what is needed, and this architecture a filter of system calls.
pub(super) fn works() -> bool {
    syscalls::filter(true).is_some() && ruleset().is_ok()
}

/// Starts a command on a thread that is confined, which the command inherits.
pub(super) fn spawn(launch: &Launch<'_>, mut command: Command) -> io::Result<Child> {
    let runtime = tokio::runtime::Handle::current();
    let spawned = std::thread::scope(|scope| {
        let confined = scope.spawn(|| {
            let _runtime = runtime.enter();
            confine(launch)?;
            command.spawn()
        });
        confined.join()
    });
    spawned.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn ruleset() -> Result<RulesetCreated, landlock::RulesetError> {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(NEEDED))?
        // Signals to other processes, and abstract sockets, where the kernel has that too.
        .set_compatibility(CompatLevel::BestEffort)
        .scope(Scope::from_all(ABI::V6))?
        .create()
}

/// Confines this thread for the rest of its life.
fn confine(launch: &Launch<'_>) -> io::Result<()> {
    let has_network = launch.settings.has_network && launch.approved == Approved::Changing;
    let read = AccessFs::from_read(NEEDED);
    let root = if launch.approved == Approved::Changing { AccessFs::from_all(NEEDED) } else { read };
    let readable = visible().into_iter().chain(launch.settings.readable_folders());
    let restricted = ruleset().and_then(|rules| {
        rules
            .add_rules(path_beneath_rules(readable, read))?
            .add_rules(path_beneath_rules(["/dev/null"], AccessFs::from_file(NEEDED)))?
            .add_rules(path_beneath_rules([launch.root], root))?
            .restrict_self()
    });
    restricted.map_err(io::Error::other)?;
    let filter = syscalls::filter(!has_network).ok_or_else(|| io::Error::from(io::ErrorKind::Unsupported))?;
    seccompiler::apply_filter(&filter).map_err(io::Error::other)
}

/// Returns the folders that can be read: those of the system.
fn visible() -> Vec<PathBuf> {
    let hidden = hidden();
    let entries = fs::read_dir("/").into_iter().flatten().flatten().map(|entry| entry.path());
    let entries =
        entries.flat_map(|folder| if folder == std::path::Path::new("/var") { children(folder) } else { vec![folder] });
    let is_visible =
        |path: &PathBuf| path.canonicalize().is_ok_and(|path| !hidden.iter().any(|it| path.starts_with(it)));
    entries.filter(is_visible).collect()
}

fn children(folder: PathBuf) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}
