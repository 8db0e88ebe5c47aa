//! The system calls that a read-only command is refused in addition to Landlock: sockets except closed pairs, signals, locks,
//! terminals, and changes of modes, owners, times and attributes. Also everything else that could change other processes of the
//! user.

use seccompiler::{BackendError, BpfProgram, SeccompCmpOp};

use super::filter::{Rules, SHARED, SYS_FCHMODAT2, making_namespaces, reaching_pairs, refusing, rule};

/// Devices for reading.
pub(super) const SOURCES: [&str; 4] = ["/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Devices for writing: their input is discarded.
pub(super) const SINKS: [&str; 1] = ["/dev/null"];

/// Refused system calls.
const REFUSED: &[libc::c_long] = &[
    // Access to other programs.
    libc::SYS_socket,
    libc::SYS_io_uring_setup,
    // Changes of files that Landlock does not cover.
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    SYS_FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    SYS_SETXATTRAT,
    SYS_REMOVEXATTRAT,
    SYS_FILE_SETATTR,
    // It would block others.
    libc::SYS_flock,
    // Other processes.
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_send_signal,
    libc::SYS_pidfd_getfd,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    libc::SYS_setpriority,
    libc::SYS_ioprio_set,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
    // Keyrings.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // Namespaces, in which it would have rights.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
];

// Newer calls have the same number on every architecture.
const SYS_SETXATTRAT: libc::c_long = 463;
const SYS_REMOVEXATTRAT: libc::c_long = 466;
const SYS_FILE_SETATTR: libc::c_long = 469;

/// Older equivalents, if they exist.
#[cfg(target_arch = "x86_64")]
const OLDER: &[libc::c_long] = &[
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
];
#[cfg(not(target_arch = "x86_64"))]
const OLDER: &[libc::c_long] = &[];

/// Requests of `ioctl`: attributes of files, which need no write permission, and terminal input.
const REQUESTS: [u64; 11] = [
    0x4008_6602, // FS_IOC_SETFLAGS
    0x4004_6602, // the same with 32 bits
    0x401C_5820, // FS_IOC_FSSETXATTR
    0x4008_7602, // FS_IOC_SETVERSION
    0x4080_6685, // FS_IOC_ENABLE_VERITY
    0x800C_6613, // FS_IOC_SET_ENCRYPTION_POLICY
    0x5412,      // TIOCSTI
    0x541C,      // TIOCLINUX
    0x540E,      // TIOCSCTTY
    0x8901,      // FIOSETOWN
    0x8902,      // SIOCSPGRP
];

/// Commands of `fcntl`: locks and leases, on which others wait, and the receiver of signals.
const FILE_CONTROLS: [libc::c_int; 9] = [
    libc::F_SETLK,
    libc::F_SETLKW,
    libc::F_OFD_SETLK,
    libc::F_OFD_SETLKW,
    libc::F_SETLEASE,
    libc::F_SETOWN,
    F_SETOWN_EX,
    F_SETSIG,
    F_SETDELEG,
];
const F_SETSIG: libc::c_int = 10;
const F_SETOWN_EX: libc::c_int = 15;
const F_SETDELEG: libc::c_int = 1040;

/// The filter of a read-only command.
pub(super) fn filter() -> Result<BpfProgram, BackendError> {
    let mut rules: Rules =
        REFUSED.iter().chain(OLDER).chain(&SHARED).map(|call| (*call, Vec::new())).collect();
    let requests = REQUESTS.map(|request| rule(1, SeccompCmpOp::Eq, request));
    rules.insert(libc::SYS_ioctl, requests.into_iter().collect::<Result<_, _>>()?);
    let controls = FILE_CONTROLS.map(|control| rule(1, SeccompCmpOp::Eq, u64::from(control.cast_unsigned())));
    rules.insert(libc::SYS_fcntl, controls.into_iter().collect::<Result<_, _>>()?);
    rules.insert(libc::SYS_clone, making_namespaces()?);
    rules.insert(libc::SYS_socketpair, reaching_pairs()?);
    // Its own limits are permitted.
    rules.insert(libc::SYS_prlimit64, vec![rule(0, SeccompCmpOp::Ne, 0)?]);
    rules.insert(libc::SYS_sched_setaffinity, vec![rule(0, SeccompCmpOp::Ne, 0)?]);
    refusing(rules)
}
