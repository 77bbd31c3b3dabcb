//! Limits the open files that a started program inherits to those that it is given.

use std::fs::{self, File};
use std::io;
use std::os::fd::{OwnedFd, RawFd};
use std::process::Command;

use command_fds::{CommandFdExt, FdMapping};

/// The flag of files that are closed when a program starts, as shown in `/proc`.
const CLOSED: u32 = libc::O_CLOEXEC.unsigned_abs();

/// Passes a file to a command, which finds it under the returned number. Closes files that libraries or the parent
/// program left open, by replacing each with an empty device.
pub fn limit(command: &mut Command, given: Option<File>) -> io::Result<Option<RawFd>> {
    let mut mappings = Vec::new();
    for number in left_open()? {
        mappings.push(FdMapping { parent_fd: File::open("/dev/null")?.into(), child_fd: number });
    }
    let number = mappings.iter().map(|mapping| mapping.child_fd).max().unwrap_or(2) + 1;
    let given = given.map(|file| FdMapping { parent_fd: OwnedFd::from(file), child_fd: number });
    let number = given.is_some().then_some(number);
    mappings.extend(given);
    command.fd_mappings(mappings).map_err(io::Error::other)?;
    Ok(number)
}

/// Returns the numbers of open files that a program would inherit, besides its three streams.
fn left_open() -> io::Result<Vec<RawFd>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc/self/fdinfo")? {
        let name = entry?.file_name();
        let Some(number) = name.to_str().and_then(|name| name.parse::<RawFd>().ok()).filter(|number| *number > 2)
        else {
            continue;
        };
        // It may have been closed in the meantime.
        let Ok(facts) = fs::read_to_string(format!("/proc/self/fdinfo/{number}")) else { continue };
        let flags = facts.lines().find_map(|line| line.strip_prefix("flags:"));
        let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
        if flags.is_none_or(|flags| flags & CLOSED == 0) {
            found.push(number);
        }
    }
    Ok(found)
}
