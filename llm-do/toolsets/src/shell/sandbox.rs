//! The sandbox: `bwrap` if it is installed and works, otherwise Landlock if the kernel supports it. Both apply the same
//! policy.

#[cfg(target_os = "linux")]
mod bwrap;
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
use super::settings::{Sandbox, SandboxKind, Shell};

/// The confinement of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Confinement {
    /// `bwrap` at this path.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "Linux alone has a sandbox"))]
    Bwrap(PathBuf),
    /// Landlock and a filter of system calls; the shell at this path leads the process group.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "Linux alone has a sandbox"))]
    Landlock(PathBuf),
}

impl Confinement {
    /// Returns the kind of the sandbox.
    pub(super) fn kind(&self) -> SandboxKind {
        match self {
            Self::Bwrap(_) => SandboxKind::Bwrap,
            Self::Landlock(_) => SandboxKind::Landlock,
        }
    }
}

/// A command before its start.
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

/// A running command.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) child: Child,
    /// The leader of the process group, if it is not the command: it waits, and kills the group if this process ends.
    pub(super) leader: Option<Child>,
}

/// Returns the confinement of commands, if the settings require one and one works.
pub(super) fn find(settings: &Shell, root: &Path) -> Option<Confinement> {
    if settings.sandbox == Sandbox::Off || root.parent().is_none() {
        // With `/` as the working directory, no file would be hidden or protected.
        return None;
    }
    #[cfg(target_os = "linux")]
    return linux::find(settings, root);
    #[cfg(not(target_os = "linux"))]
    None
}

impl Launch<'_> {
    /// Starts the command; `prepare` configures it.
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

    use llm_do_core::base::inherited_files;
    use rustix::fs::{MemfdFlags, memfd_create};
    use rustix::process::Pid;
    use tokio::process::{Child, Command};

    use super::super::environment::find_program;
    use super::super::rules::Approved;
    use super::super::settings::{Sandbox, Shell};
    use super::policy::Policy;
    use super::syscalls::{Commands, Filter};
    use super::{Confinement, Launch, Started, bwrap, landlock, syscalls};

    /// The shell that leads a process group, independent of `PATH`.
    const SHELL: &str = "/bin/sh";

    /// The script of the leader: it waits until its input ends, also because this process was killed, and kills its
    /// group. The system sends `HUP` to a stopped group without an owner.
    const LEADING: &str = "trap '' HUP INT QUIT TERM; read -r line; kill -KILL 0";

    pub(super) fn find(settings: &Shell, root: &Path) -> Option<Confinement> {
        let bwrap =
            || find_program(&settings.bwrap, root).filter(|bwrap| works(bwrap, settings, root)).map(Confinement::Bwrap);
        let shell = || find_program(Path::new(SHELL), root).filter(|_| landlock::works());
        let landlock = || shell().map(Confinement::Landlock);
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
            Confinement::Landlock(shell) => {
                let mut command = confined(launch, Path::new(&launch.words[0]));
                command.args(&launch.words[1..]);
                prepare(&mut command);
                inherited_files::limit(command.as_std_mut(), None)?;
                // The filter does not let a process leave its group, so the command must start in one.
                let leader = leader(shell)?;
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
        let filter = inherited_files::limit(command.as_std_mut(), Some(filter_file(&policy)?))?;
        let filter = filter.ok_or_else(|| io::Error::other("the filter of system calls is not open"))?;
        command.args(bwrap::arguments(&policy, filter)).args(launch.words);
        Ok(command)
    }

    fn confined(launch: &Launch<'_>, program: &Path) -> Command {
        let mut command = launch.command(program);
        // Git fails on a configuration that it finds but cannot read.
        let policy = Policy::new(launch);
        let is_hidden = |home: &PathBuf| !policy.can_read(home);
        if std::env::home_dir().as_ref().is_none_or(is_hidden) {
            command.envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null")]);
        }
        command
    }

    /// Starts the leader of a process group, which ends with this process, together with its group.
    fn leader(shell: &Path) -> io::Result<Child> {
        let mut command = Command::new(shell);
        // The resolved program may be a multi-call binary, which acts by its name.
        command.arg0("sh").args(["-c", LEADING]).current_dir("/").env_clear().process_group(0).kill_on_drop(true);
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
