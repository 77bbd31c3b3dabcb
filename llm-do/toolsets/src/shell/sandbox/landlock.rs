//! Landlock: the kernel confines a thread and its child processes, without an installed program.

use std::io;

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr,
    Scope, path_beneath_rules,
};
use rustix::process::Pid;
use rustix::thread::{CapabilitySet, CapabilitySets, remove_capability_from_bounding_set, set_capabilities};
use tokio::process::{Child, Command};

use super::policy::Policy;
use super::syscalls::{Commands, Filter};
use super::{Launch, system};

/// The version that controls truncation; before it, files could be emptied.
const NEEDED: ABI = ABI::V3;

/// Returns whether the kernel supports the needed version, and this architecture a filter of system calls.
pub(super) fn works() -> bool {
    Filter { has_network: false, is_changing: false, commands: Commands::Among(Pid::INIT) }.program().is_some()
        && ruleset().is_ok()
}

/// Starts a command on a confined thread, whose confinement it inherits; it stays in the process group `group`.
pub(super) fn spawn(launch: &Launch<'_>, mut command: Command, group: Pid) -> io::Result<Child> {
    let policy = Policy::new(launch);
    let runtime = tokio::runtime::Handle::current();
    let spawned = std::thread::scope(|scope| {
        let confined = scope.spawn(|| {
            let _runtime = runtime.enter();
            confine(&policy, group)?;
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
        // Device controls, signals to other processes, and abstract sockets, if the kernel supports them.
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::IoctlDev)?
        .scope(Scope::from_all(ABI::V6))?
        .create()
}

/// Confines this thread permanently.
fn confine(policy: &Policy<'_>, group: Pid) -> io::Result<()> {
    let read = AccessFs::from_read(NEEDED);
    let readable = policy.readable.iter().map(|place| place.source.as_path());
    let facts = system::DEVICES.iter().chain(system::FACTS);
    let restricted = ruleset().and_then(|rules| {
        rules
            .add_rules(path_beneath_rules(readable, read))?
            .add_rules(path_beneath_rules(facts, read))?
            .add_rules(path_beneath_rules(["/dev/null"], AccessFs::from_file(NEEDED)))?
            .add_rules(path_beneath_rules([policy.root], if policy.is_changing { changes() } else { read }))?
            .restrict_self()
    });
    restricted.map_err(io::Error::other)?;
    drop_capabilities()?;
    let commands = Commands::Among(group);
    let filter = Filter { has_network: policy.has_network, is_changing: policy.is_changing, commands };
    let program = filter.program().ok_or_else(|| io::Error::from(io::ErrorKind::Unsupported))?;
    seccompiler::apply_filter(&program).map_err(io::Error::other)
}

/// Drops the capabilities of this thread, such as those of root. A program cannot gain them: Landlock needs `no_new_privs`.
fn drop_capabilities() -> io::Result<()> {
    for capability in CapabilitySet::all().iter() {
        // Fails without the capability to do so, and for capabilities that the kernel does not have.
        let _ = remove_capability_from_bounding_set(capability);
    }
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    Ok(())
}

/// The rights of a command in a project that it may change: all except creating devices, which root can, and sockets.
fn changes() -> BitFlags<AccessFs> {
    AccessFs::from_all(NEEDED) & !(AccessFs::MakeBlock | AccessFs::MakeChar | AccessFs::MakeSock)
}
