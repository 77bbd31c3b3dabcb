//! A filter of system calls, for what no command of a project needs and attacks on a kernel use.

use std::collections::BTreeMap;

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};

/// What fails: debugging of other processes, mounts and namespaces, keys, modules, and interfaces with many past faults.
const DENIED: &[libc::c_long] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pivot_root,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
];

/// Returns the filter, which with `no_sockets` denies sockets of every kind too; `None` if this architecture has none.
pub(super) fn filter(no_sockets: bool) -> Option<BpfProgram> {
    let architecture: TargetArch = std::env::consts::ARCH.try_into().ok()?;
    let sockets = no_sockets.then_some(libc::SYS_socket);
    let rules: BTreeMap<i64, _> = DENIED.iter().copied().chain(sockets).map(|call| (call, Vec::new())).collect();
    let denied = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, denied, architecture).ok()?.try_into().ok()
}

/// Returns a filter as the kernel reads it.
pub(super) fn bytes(filter: &BpfProgram) -> Vec<u8> {
    let instruction = |it: &seccompiler::sock_filter| {
        let [code, k] = [it.code.to_ne_bytes().to_vec(), it.k.to_ne_bytes().to_vec()];
        [code, vec![it.jt, it.jf], k].concat()
    };
    filter.iter().flat_map(instruction).collect()
}
