//! A filter of system calls that no command of a project needs, and that attacks on a kernel or on other processes use.

use std::collections::BTreeMap;

use rustix::process::Pid;
use seccompiler::SeccompCmpOp::{Eq, MaskedEq, Ne};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};

/// Denied calls: debugging of other processes, mounts and namespaces, keys, modules, and interfaces with many past
/// vulnerabilities.
const DENIED: &[libc::c_long] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_adjtimex,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kcmp,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    // `statmount` and `listmount`, which have these numbers on all architectures.
    457,
    458,
    libc::SYS_migrate_pages,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_move_pages,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_uselib,
];

/// Calls that only sockets need; without the network, an inherited socket is useless too.
const SOCKETS: &[libc::c_long] =
    &[libc::SYS_socket, libc::SYS_connect, libc::SYS_bind, libc::SYS_listen, libc::SYS_accept, libc::SYS_accept4];

/// Calls that change the attributes of a file, for commands that may change none. Landlock does not control these.
const ATTRIBUTES: &[libc::c_long] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    // `fchmodat2`, which has this number on all architectures.
    452,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
];

/// Calls that reach other processes of the user or any file, or escape the process group, if there are no namespaces.
const AMONG: &[libc::c_long] = &[
    libc::SYS_inotify_add_watch,
    libc::SYS_inotify_init1,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_msgctl,
    libc::SYS_msgget,
    libc::SYS_msgrcv,
    libc::SYS_msgsnd,
    libc::SYS_semctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_setsid,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_shmget,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_inotify_init,
];

/// Extended attributes, if any file can be named. They are unsupported, as in some file systems: programs that copy
/// files continue without them, but fail if they are denied.
const EXTENDED: &[libc::c_long] = &[
    libc::SYS_fgetxattr,
    libc::SYS_flistxattr,
    libc::SYS_fremovexattr,
    libc::SYS_fsetxattr,
    libc::SYS_getxattr,
    libc::SYS_lgetxattr,
    libc::SYS_listxattr,
    libc::SYS_llistxattr,
    libc::SYS_lremovexattr,
    libc::SYS_lsetxattr,
    libc::SYS_removexattr,
    libc::SYS_setxattr,
];

/// The flags of `clone` that create a namespace, or a child that this process would not wait for.
const CLONE_FLAGS: &[libc::c_int] = &[
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
    libc::CLONE_PARENT,
];

/// The families of `ioctl` that control file systems, each with its calls that only read or copy. Any other call
/// freezes a file system or changes attributes, also of files that are open for reading.
const FILE_SYSTEMS: &[(u8, &[u32])] = &[
    // `FS_IOC_FSGETXATTR`.
    (b'X', &[0x801C_581F]),
    // `FS_IOC_GETFLAGS`, `FS_IOC_FIEMAP`.
    (b'f', &[0x8008_6601, 0xC020_660B]),
    // FAT.
    (b'r', &[]),
    // `FS_IOC_GETVERSION`.
    (b'v', &[0x8008_7601]),
    // `FICLONE`, `FICLONERANGE`, `FIDEDUPERANGE`, `FS_IOC_GETFSLABEL`.
    (0x94, &[0x4004_9409, 0x4020_940D, 0xC018_9436, 0x8100_9431]),
];

/// The first unknown system call number. The numbers of x32, an interface of x86-64, are above it too.
const UNKNOWN: u32 = 463;

/// The placement of a command's processes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Commands {
    /// In separate namespaces.
    Apart,
    /// Among the processes of the user, in this group.
    Among(Pid),
}

/// The permissions of a filter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filter {
    pub(super) has_network: bool,
    pub(super) is_changing: bool,
    pub(super) commands: Commands,
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

impl Filter {
    /// Returns the filter for the kernel; `None` for an unsupported architecture.
    pub(super) fn program(self) -> Option<BpfProgram> {
        let architecture: TargetArch = std::env::consts::ARCH.try_into().ok()?;
        let denied = SeccompAction::Errno(libc::EPERM.unsigned_abs());
        let filter = SeccompFilter::new(self.rules()?, SeccompAction::Allow, denied, architecture).ok()?;
        let rules: BpfProgram = filter.try_into().ok()?;
        Some(self.numbers().into_iter().chain(rules).collect())
    }

    /// Returns the instructions before the rules, which support neither ranges nor other errors. Newer calls are
    /// unknown, as in an older kernel; so is `clone3`, whose flags a filter cannot read, so that libraries fall back to
    /// `clone`.
    fn numbers(self) -> Vec<sock_filter> {
        let extended: &[_] = if matches!(self.commands, Commands::Among(_)) { EXTENDED } else { &[] };
        let unsupported = extended.iter().map(|call| (*call, libc::EOPNOTSUPP));
        // The number of the call: `BPF_LD | BPF_W | BPF_ABS`.
        let load = sock_filter { code: 0x20, jt: 0, jf: 0, k: 0 };
        // `BPF_JMP | BPF_JGE | BPF_K`.
        let unknown = answered(0x35, UNKNOWN, libc::ENOSYS);
        let known = [(libc::SYS_clone3, libc::ENOSYS)].into_iter().chain(unsupported).flat_map(|(call, error)| {
            // `BPF_JMP | BPF_JEQ | BPF_K`.
            answered(0x15, u32::try_from(call).unwrap_or(u32::MAX), error)
        });
        [load].into_iter().chain(unknown).chain(known).collect()
    }

    fn rules(self) -> Option<Rules> {
        let none: &[libc::c_long] = &[];
        let sockets = if self.has_network { none } else { SOCKETS };
        let attributes = if self.is_changing { none } else { ATTRIBUTES };
        let among = if matches!(self.commands, Commands::Among(_)) { AMONG } else { none };
        let denied = [DENIED, sockets, attributes, among].concat();
        let mut rules: Rules = denied.into_iter().map(|call| (call, Vec::new())).collect();
        rules.insert(
            libc::SYS_clone,
            CLONE_FLAGS.iter().map(|flag| has(0, flag.unsigned_abs())).collect::<Option<_>>()?,
        );
        rules.insert(libc::SYS_ioctl, controls()?);
        // A pair of datagram sockets could send to any path; bit 2 marks datagram and raw sockets.
        let unix = libc::AF_UNIX.unsigned_abs();
        rules.insert(libc::SYS_socketpair, vec![rule(&[(0, Ne, unix)])?, has(1, 2)?]);
        if self.has_network {
            rules.insert(libc::SYS_socket, internet()?);
        }
        if let Commands::Among(group) = self.commands {
            rules.extend(other_processes(group)?);
        }
        Some(rules)
    }
}

/// Returns the instructions that fail a call with an error if a comparison of its number holds.
fn answered(comparison: u16, number: u32, error: libc::c_int) -> [sock_filter; 2] {
    let error = u32::from(SeccompAction::Errno(error.unsigned_abs()));
    // The jump leads to the next instruction, `BPF_RET | BPF_K`, or behind it.
    [sock_filter { code: comparison, jt: 0, jf: 1, k: number }, sock_filter { code: 0x06, jt: 0, jf: 0, k: error }]
}

/// Returns the rules that deny input to terminals, and controls of file systems.
fn controls() -> Option<Vec<SeccompRule>> {
    let file_systems = FILE_SYSTEMS.iter().map(|(family, harmless)| {
        let mut conditions = vec![(1, MaskedEq(0xff00), u32::from(*family) << 8)];
        conditions.extend(harmless.iter().map(|control| (1, Ne, *control)));
        rule(&conditions)
    });
    [is(1, TIOCSTI), is(1, TIOCLINUX)].into_iter().chain(file_systems).collect()
}

/// Returns the rules that deny all sockets but those of the internet.
fn internet() -> Option<Vec<SeccompRule>> {
    let [v4, v6] = [libc::AF_INET, libc::AF_INET6].map(libc::c_int::unsigned_abs);
    let raw = libc::SOCK_RAW.unsigned_abs();
    Some(vec![rule(&[(0, Ne, v4), (0, Ne, v6)])?, rule(&[(1, MaskedEq(0xf), raw)])?])
}

/// Returns the rules that deny to leave the process group, and to change the limits and priorities of other processes.
fn other_processes(group: Pid) -> Option<Rules> {
    let group = group.as_raw_nonzero().get().unsigned_abs();
    let others = |argument| rule(&[(argument, Ne, 0)]);
    Some(BTreeMap::from([
        (libc::SYS_ioprio_set, vec![others(1)?, is(0, IOPRIO_WHO_USER)?]),
        (libc::SYS_prlimit64, vec![others(0)?]),
        (libc::SYS_sched_setaffinity, vec![others(0)?]),
        (libc::SYS_sched_setattr, vec![others(0)?]),
        (libc::SYS_sched_setparam, vec![others(0)?]),
        (libc::SYS_sched_setscheduler, vec![others(0)?]),
        (libc::SYS_setpgid, vec![rule(&[(1, Ne, group)])?]),
        (libc::SYS_setpriority, vec![others(1)?, is(0, libc::PRIO_USER)?]),
    ]))
}

/// Puts input into a terminal: see `ioctl_tty(2)`.
const TIOCSTI: u32 = 0x5412;
/// Pastes into a console.
const TIOCLINUX: u32 = 0x541C;
/// All processes of a user: see `ioprio_set(2)`.
const IOPRIO_WHO_USER: u32 = 3;

/// Denies a call whose argument has all these bits.
fn has(argument: u8, bits: u32) -> Option<SeccompRule> {
    rule(&[(argument, MaskedEq(bits.into()), bits)])
}

/// Denies a call whose argument has this value.
fn is(argument: u8, value: u32) -> Option<SeccompRule> {
    rule(&[(argument, Eq, value)])
}

/// Denies a call for which all conditions hold: of the lower 32 bits of an argument.
fn rule(conditions: &[(u8, SeccompCmpOp, u32)]) -> Option<SeccompRule> {
    let conditions = conditions.iter().map(|(argument, operator, value)| {
        SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, operator.clone(), (*value).into()).ok()
    });
    SeccompRule::new(conditions.collect::<Option<_>>()?).ok()
}

/// Returns a filter as the kernel reads it.
pub(super) fn bytes(filter: &BpfProgram) -> Vec<u8> {
    let instruction = |it: &sock_filter| {
        let [code, k] = [it.code.to_ne_bytes().to_vec(), it.k.to_ne_bytes().to_vec()];
        [code, vec![it.jt, it.jf], k].concat()
    };
    filter.iter().flat_map(instruction).collect()
}
