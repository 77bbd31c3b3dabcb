//! The sandbox: `bwrap` where it is installed and works, or else Landlock where the kernel has it.

#[cfg(target_os = "linux")]
mod bwrap;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(target_os = "linux")]
mod syscalls;

use std::io;
use std::path::{Path, PathBuf};

use tokio::process::{Child, Command};

use super::environment;
use super::rules::Approved;
use super::settings::{Sandbox, Shell};

/// What confines a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Confinement {
    /// `bwrap` at this path.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "Linux alone has a sandbox"))]
    Bwrap(PathBuf),
    /// Landlock, and a filter of system calls.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "Linux alone has a sandbox"))]
    Landlock,
}

/// A command that has not started.
#[derive(Debug)]
pub(super) struct Launch<'a> {
    pub(super) settings: &'a Shell,
    pub(super) root: &'a Path,
    pub(super) words: &'a [String],
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "Linux alone has a sandbox"))]
    pub(super) approved: Approved,
}

/// Returns what confines commands here, if the settings want it and something works.
pub(super) fn find(settings: &Shell, root: &Path) -> Option<Confinement> {
    if settings.sandbox == Sandbox::Off || root.parent().is_none() {
        // With `/` as the working directory, nothing would be hidden or protected.
        return None;
    }
    #[cfg(target_os = "linux")]
    return linux::find(settings, root);
    #[cfg(not(target_os = "linux"))]
    None
}

impl Launch<'_> {
    /// Starts the command; `prepare` sets how it is run.
    pub(super) fn start(&self, confinement: Option<&Confinement>, prepare: impl Fn(&mut Command)) -> io::Result<Child> {
        match confinement {
            #[cfg(target_os = "linux")]
            Some(confinement) => linux::start(self, confinement, prepare),
            _ => {
                let mut command = self.command(Path::new(&self.words[0]));
                command.args(&self.words[1..]);
                prepare(&mut command);
                command.spawn()
            }
        }
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.root).env_clear().envs(environment::variables(self.settings, self.root));
        command
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::File;
    use std::io::{self, Seek, Write};
    use std::os::fd::AsRawFd;
    use std::path::{Path, PathBuf};
    use std::process::Stdio;

    use rustix::fs::{MemfdFlags, memfd_create};
    use tokio::process::{Child, Command};

    use super::super::environment::{find_program, variables};
    use super::super::rules::Approved;
    use super::super::settings::Shell;
    use super::{Confinement, Launch, bwrap, landlock, syscalls};

    pub(super) fn find(settings: &Shell, root: &Path) -> Option<Confinement> {
        let bwrap = find_program(&settings.bwrap, root).filter(|bwrap| works(bwrap, settings, root));
        bwrap.map(Confinement::Bwrap).or_else(|| landlock::works().then_some(Confinement::Landlock))
    }

    /// Returns whether `bwrap` can set up the sandbox here: a distribution or a container may forbid it.
    fn works(bwrap: &PathBuf, settings: &Shell, root: &Path) -> bool {
        let Ok(filter) = filter_file() else { return false };
        let arguments = bwrap::arguments(settings, root, Approved::Reading, filter.as_ref().map(AsRawFd::as_raw_fd));
        let mut probe = std::process::Command::new(bwrap);
        probe.args(arguments).arg("true").env_clear().envs(variables(settings, root));
        probe.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        probe.status().is_ok_and(|status| status.success())
    }

    pub(super) fn start(
        launch: &Launch<'_>,
        confinement: &Confinement,
        prepare: impl Fn(&mut Command),
    ) -> io::Result<Child> {
        match confinement {
            Confinement::Bwrap(program) => {
                let filter = filter_file()?;
                let filter_number = filter.as_ref().map(AsRawFd::as_raw_fd);
                let mut command = launch.command(program);
                command.args(bwrap::arguments(launch.settings, launch.root, launch.approved, filter_number));
                command.args(launch.words);
                prepare(&mut command);
                command.spawn()
            }
            Confinement::Landlock => {
                let mut command = launch.command(Path::new(&launch.words[0]));
                command.args(&launch.words[1..]);
                prepare(&mut command);
                landlock::spawn(launch, command)
            }
        }
    }

    /// Returns an open file with the filter of system calls, which `bwrap` inherits; `None` if this machine has none.
    fn filter_file() -> io::Result<Option<File>> {
        let Some(filter) = syscalls::filter(false) else { return Ok(None) };
        // Without `CLOEXEC`. Other programs that start now inherit it too, and find nothing secret in it.
        let mut file = File::from(memfd_create("system calls", MemfdFlags::empty())?);
        file.write_all(&syscalls::bytes(&filter))?;
        file.rewind()?;
        Ok(Some(file))
    }
}

/// Folders that are hidden in the sandbox: files of users, and the sockets of services.
#[cfg(target_os = "linux")]
const HIDDEN: &[&str] = &["/tmp", "/var/tmp", "/run", "/home", "/root"];

/// Returns the folders to hide that exist, without symbolic links, which cannot be mounted over.
#[cfg(target_os = "linux")]
fn hidden() -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let folders = HIDDEN.iter().map(PathBuf::from).chain(home);
    let mut found: Vec<_> = folders.filter_map(|folder| folder.canonicalize().ok()).collect();
    found.retain(|folder| folder.is_dir() && folder.parent().is_some());
    // A folder before the folders in it, or it would hide their mounts; of equal ones, one.
    found.sort();
    found.dedup();
    found
}
