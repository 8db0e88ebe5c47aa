//! The system calls that are refused in addition to Landlock: sockets, terminal input, and access to visible processes of other
//! programs. Must refuse a call by each of its numbers.

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use super::Net;

/// Rules by the number of their call.
pub(super) type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Terminal input: it has the same effect as typing.
const TERMINAL_INPUT: [u64; 2] = [
    0x5412, // TIOCSTI
    0x541C, // TIOCLINUX
];

/// The kernel's keyrings belong to the person, and no namespace separates them.
pub(super) const KEYRINGS: [libc::c_long; 3] = [libc::SYS_keyctl, libc::SYS_add_key, libc::SYS_request_key];

/// Objects that processes of this user share by a number or a name without a file: memory, semaphores and queues of System V, and
/// queues of POSIX. A number can be used without asking for it.
pub(super) const SHARED: [libc::c_long; 13] = [
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

/// The bits of a socket's type for its kind.
const KIND: u64 = 0xF;

/// Kinds of sockets that can send to any address even as one of a pair: datagrams, and kinds that a kernel may treat alike.
const ADDRESSING: [u64; 5] = [
    libc::SOCK_DGRAM as u64,
    libc::SOCK_RAW as u64,
    libc::SOCK_RDM as u64,
    libc::SOCK_DCCP as u64,
    10, // SOCK_PACKET
];

/// Calls about a process in their first argument, and in their second one.
const OF_FIRST: [libc::c_long; 3] =
    [libc::SYS_sched_setscheduler, libc::SYS_sched_setparam, libc::SYS_sched_setattr];
const OF_SECOND: [libc::c_long; 2] = [libc::SYS_setpriority, libc::SYS_ioprio_set];

/// The first argument of these for all processes of a user.
const OF_USER: [(libc::c_long, u64); 2] = [
    (libc::SYS_setpriority, libc::PRIO_USER as u64),
    (libc::SYS_ioprio_set, 3), // IOPRIO_WHO_USER
];

/// Flags for a user namespace, with all rights in it, or a mount namespace, in which removed mounts are not restored.
const NAMESPACES: [libc::c_int; 2] = [libc::CLONE_NEWUSER, libc::CLONE_NEWNS];

/// The setuid and setgid bits of a mode: with them a program runs as its owner, outside of every sandbox.
const SET_ID: [u64; 2] = [libc::S_ISUID as u64, libc::S_ISGID as u64];

/// Calls that set a mode, with the argument for it.
const MODES: [(libc::c_long, u8); 4] =
    [(libc::SYS_fchmod, 1), (libc::SYS_fchmodat, 2), (SYS_FCHMODAT2, 2), (libc::SYS_mknodat, 2)];

/// Older ones, if they exist.
#[cfg(target_arch = "x86_64")]
const OLDER_MODES: &[(libc::c_long, u8)] =
    &[(libc::SYS_chmod, 1), (libc::SYS_mknod, 1), (libc::SYS_creat, 1)];
#[cfg(not(target_arch = "x86_64"))]
const OLDER_MODES: &[(libc::c_long, u8)] = &[];

/// Calls that open a file, with the argument for its flags; the mode of a new one is the next.
#[cfg(target_arch = "x86_64")]
const OPENS: &[(libc::c_long, u8)] = &[(libc::SYS_openat, 2), (libc::SYS_open, 1)];
#[cfg(not(target_arch = "x86_64"))]
const OPENS: &[(libc::c_long, u8)] = &[(libc::SYS_openat, 2)];

/// Flags that create a file, so that its mode counts.
const MAKING: [libc::c_int; 2] = [libc::O_CREAT, libc::O_TMPFILE & !libc::O_DIRECTORY];

/// It has the same number on every architecture.
pub(super) const SYS_FCHMODAT2: libc::c_long = 452;

/// A rule for calls with this argument.
pub(super) fn rule(at: u8, op: SeccompCmpOp, value: u64) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![SeccompCondition::new(at, SeccompCmpArgLen::Dword, op, value)?])
}

/// A rule for calls with this flag in their first argument.
fn having(flag: libc::c_int) -> Result<SeccompRule, BackendError> {
    let flag = u64::from(flag.cast_unsigned());
    rule(0, SeccompCmpOp::MaskedEq(flag), flag)
}

/// Calls whose flags create such a namespace.
pub(super) fn making_namespaces() -> Result<Vec<SeccompRule>, BackendError> {
    NAMESPACES.map(having).into_iter().collect()
}

/// Rules against set-uid and set-gid bits.
fn setting_ids() -> Result<Rules, BackendError> {
    let having =
        |at, flag| SeccompCondition::new(at, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(flag), flag);
    let mut rules = Rules::new();
    for (call, at) in MODES.iter().chain(OLDER_MODES) {
        let bits = SET_ID.map(|bit| SeccompRule::new(vec![having(*at, bit)?]));
        rules.insert(*call, bits.into_iter().collect::<Result<_, _>>()?);
    }
    for (call, at) in OPENS {
        for flag in MAKING.map(|flag| u64::from(flag.cast_unsigned())) {
            for bit in SET_ID {
                let rule = SeccompRule::new(vec![having(*at, flag)?, having(at + 1, bit)?])?;
                rules.entry(*call).or_default().push(rule);
            }
        }
    }
    Ok(rules)
}

/// A rule about the limits of other processes: against setting them, or also against reading them.
fn others_limits(to_set: bool) -> Result<SeccompRule, BackendError> {
    let not = |at, len| SeccompCondition::new(at, len, SeccompCmpOp::Ne, 0);
    let mut conditions = vec![not(0, SeccompCmpArgLen::Dword)?];
    if to_set {
        conditions.push(not(2, SeccompCmpArgLen::Qword)?);
    }
    SeccompRule::new(conditions)
}

/// Socket pairs that can reach others. Other pairs, such as stream pairs, reach nobody, and starting a program needs one.
pub(super) fn reaching_pairs() -> Result<Vec<SeccompRule>, BackendError> {
    ADDRESSING.iter().map(|kind| rule(1, SeccompCmpOp::MaskedEq(KIND), *kind)).collect()
}

/// The filter of a command that does more than read. A command in namespaces sees no processes and no sockets of other
/// programs.
pub(super) fn common(net: Net, is_apart: bool) -> Result<BpfProgram, BackendError> {
    let mut rules = setting_ids()?;
    let input = TERMINAL_INPUT.iter().map(|request| rule(1, SeccompCmpOp::Eq, *request));
    rules.insert(libc::SYS_ioctl, input.collect::<Result<_, _>>()?);
    for call in KEYRINGS {
        rules.insert(call, Vec::new());
    }
    if net == Net::Closed || !is_apart {
        let sockets = match net {
            Net::Closed => Vec::new(),
            Net::Open => vec![rule(0, SeccompCmpOp::Eq, libc::AF_UNIX as u64)?],
        };
        rules.insert(libc::SYS_socket, sockets);
        rules.insert(libc::SYS_socketpair, reaching_pairs()?);
    }
    // No filter sees its operations.
    rules.insert(libc::SYS_io_uring_setup, Vec::new());
    for call in [libc::SYS_unshare, libc::SYS_clone] {
        rules.insert(call, making_namespaces()?);
    }
    rules.insert(libc::SYS_setns, Vec::new());
    // A command may set its own limits. In namespaces it sees its supervisor, but may only choose the processor for it.
    for (at, calls) in [(0, &OF_FIRST[..]), (1, &OF_SECOND[..])] {
        for call in calls {
            rules.insert(*call, vec![rule(at, SeccompCmpOp::Ne, 0)?]);
        }
    }
    for (call, user) in OF_USER {
        rules.entry(call).or_default().push(rule(0, SeccompCmpOp::Eq, user)?);
    }
    rules.insert(libc::SYS_prlimit64, vec![others_limits(is_apart)?]);
    if !is_apart {
        rules.extend(SHARED.map(|call| (call, Vec::new())));
        rules.insert(libc::SYS_sched_setaffinity, vec![rule(0, SeccompCmpOp::Ne, 0)?]);
    }
    refusing(rules)
}

/// A filter that refuses these calls.
pub(super) fn refusing(rules: Rules) -> Result<BpfProgram, BackendError> {
    let errno = u32::try_from(libc::EACCES).expect("BUG: error numbers are positive");
    let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(errno), architecture)?;
    let program: BpfProgram = filter.try_into()?;
    Ok(unknown().into_iter().chain(program).collect())
}

/// Refuses calls with the error of a kernel that does not know them, so that programs use older ones. These are all calls of the
/// x32 convention, some of which have other numbers there; also `clone3` and `openat2`, whose flags and modes no filter sees.
fn unknown() -> BpfProgram {
    use seccompiler::sock_filter;
    const FIRST_X32: u32 = 0x4000_0000;
    let code = |code: u32| u16::try_from(code).expect("BUG: codes are small");
    let number = |number: i64| u32::try_from(number).expect("BUG: numbers of calls are positive");
    let refuse = libc::SECCOMP_RET_ERRNO | number(libc::ENOSYS.into());
    let jump = |how: u32, than: u32| sock_filter {
        code: code(libc::BPF_JMP | how | libc::BPF_K),
        jt: 0,
        jf: 1,
        k: than,
    };
    let refused = || sock_filter { code: code(libc::BPF_RET | libc::BPF_K), jt: 0, jf: 0, k: refuse };
    // The number of the call is the first field.
    let mut program =
        vec![sock_filter { code: code(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS), jt: 0, jf: 0, k: 0 }];
    if cfg!(target_arch = "x86_64") {
        program.extend([jump(libc::BPF_JGE, FIRST_X32), refused()]);
    }
    for call in [libc::SYS_clone3, libc::SYS_openat2] {
        program.extend([jump(libc::BPF_JEQ, number(call)), refused()]);
    }
    program
}
