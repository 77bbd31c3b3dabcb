//! The sandbox: `bwrap` where it is installed and works, or else Landlock where the kernel has it. Both hold the same policy.

#[cfg(target_os = "linux")]
mod bwrap;
#[cfg(target_os = "linux")]
mod inherited;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(target_os = "linux")]
mod policy;
#[cfg(target_os = "linux")]
mod syscalls;
#[cfg(target_os = "linux")]
mod system;

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
    pub(super) approved: Approved,
    /// Folders of the project that the command must not change.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "Linux alone has a sandbox"))]
    pub(super) protected: &'a [PathBuf],
}

/// A command that runs.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) child: Child,
    /// The leader of the process group, if it is not the command: a program that only waits.
    pub(super) leader: Option<Child>,
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
    pub(super) fn start(
        &self,
        confinement: Option<&Confinement>,
        prepare: impl Fn(&mut Command),
    ) -> io::Result<Started> {
        match confinement {
            #[cfg(target_os = "linux")]
            Some(confinement) => linux::start(self, confinement, prepare),
            _ => {
                let mut command = self.command(Path::new(&self.words[0]));
                command.args(&self.words[1..]);
                prepare(&mut command);
                Ok(Started { child: command.spawn()?, leader: None })
            }
        }
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.root).env_clear().envs(environment::variables(self.settings, self.root));
        if self.approved == Approved::Reading && self.words[0] == "git" {
            command.envs(super::git::variables(self.root));
        }
        command
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::File;
    use std::io::{self, Seek, Write};
    use std::path::{Path, PathBuf};
    use std::process::Stdio;

    use rustix::fs::{MemfdFlags, memfd_create};
    use rustix::process::Pid;
    use tokio::process::{Child, Command};

    use super::super::environment::{find_program, variables};
    use super::super::rules::Approved;
    use super::super::settings::{Sandbox, Shell};
    use super::policy::Policy;
    use super::syscalls::{Commands, Filter};
    use super::{Confinement, Launch, Started, bwrap, inherited, landlock, syscalls};

    /// A program that waits until its input ends.
    const WAITING: &str = "cat";

    pub(super) fn find(settings: &Shell, root: &Path) -> Option<Confinement> {
        let bwrap =
            || find_program(&settings.bwrap, root).filter(|bwrap| works(bwrap, settings, root)).map(Confinement::Bwrap);
        let landlock =
            || (landlock::works() && find_program(Path::new(WAITING), root).is_some()).then_some(Confinement::Landlock);
        match settings.sandbox {
            Sandbox::Off => None,
            Sandbox::Bwrap => bwrap(),
            Sandbox::Landlock => landlock(),
            Sandbox::Auto | Sandbox::Required => bwrap().or_else(landlock),
        }
    }

    /// Returns whether `bwrap` can set up the sandbox here: a distribution or a container may forbid it.
    fn works(bwrap: &Path, settings: &Shell, root: &Path) -> bool {
        let words = ["true".to_owned()];
        let launch = Launch { settings, root, words: &words, approved: Approved::Reading, protected: &[] };
        let probe = in_bwrap(&launch, bwrap).and_then(|mut command| {
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command.as_std_mut().status()
        });
        probe.is_ok_and(|status| status.success())
    }

    pub(super) fn start(
        launch: &Launch<'_>,
        confinement: &Confinement,
        prepare: impl Fn(&mut Command),
    ) -> io::Result<Started> {
        match confinement {
            Confinement::Bwrap(program) => {
                let mut command = in_bwrap(launch, program)?;
                prepare(&mut command);
                Ok(Started { child: command.spawn()?, leader: None })
            }
            Confinement::Landlock => {
                let mut command = confined(launch, Path::new(&launch.words[0]));
                command.args(&launch.words[1..]);
                prepare(&mut command);
                inherited::limit(&mut command, None)?;
                // No process can leave the group that it is in, so the command cannot make one: it starts in one.
                let leader = waiting(launch)?;
                let group = leader.id().and_then(|id| Pid::from_raw(id.try_into().ok()?));
                let group = group.ok_or_else(|| io::Error::other("the process group ended"))?;
                command.process_group(group.as_raw_nonzero().get());
                Ok(Started { child: landlock::spawn(launch, command, group)?, leader: Some(leader) })
            }
        }
    }

    /// Returns the command in `bwrap`.
    fn in_bwrap(launch: &Launch<'_>, program: &Path) -> io::Result<Command> {
        let policy = Policy::new(launch);
        let mut command = confined(launch, program);
        let filter = inherited::limit(&mut command, Some(filter_file(&policy)?))?;
        let filter = filter.ok_or_else(|| io::Error::other("the filter of system calls is not open"))?;
        command.args(bwrap::arguments(&policy, filter)).args(launch.words);
        Ok(command)
    }

    fn confined(launch: &Launch<'_>, program: &Path) -> Command {
        let mut command = launch.command(program);
        // A configuration that git finds but cannot read fails it.
        let policy = Policy::new(launch);
        let is_hidden = |home: &PathBuf| !policy.can_read(home);
        if std::env::home_dir().as_ref().is_none_or(is_hidden) {
            command.envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null")]);
        }
        command
    }

    /// Starts a program that leads a process group, and ends with its owner.
    fn waiting(launch: &Launch<'_>) -> io::Result<Child> {
        let program = find_program(Path::new(WAITING), launch.root);
        let mut command = Command::new(program.ok_or(io::ErrorKind::NotFound)?);
        command.env_clear().envs(variables(launch.settings, launch.root)).process_group(0).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
    }

    /// Returns an open file with the filter of system calls.
    fn filter_file(policy: &Policy<'_>) -> io::Result<File> {
        let Policy { has_network, is_changing, .. } = *policy;
        let filter = Filter { has_network, is_changing, commands: Commands::Apart }.program();
        let mut file = File::from(memfd_create("system calls", MemfdFlags::CLOEXEC)?);
        file.write_all(&syscalls::bytes(&filter.ok_or(io::ErrorKind::Unsupported)?))?;
        file.rewind()?;
        Ok(file)
    }
}
