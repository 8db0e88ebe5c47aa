//! The system calls that a command is refused, in addition to what Landlock refuses: sockets, input of terminals, and
//! access to processes of other programs where it sees them. Must refuse a call by every number that it has.

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use super::Net;

/// Rules by the number of their call.
pub(super) type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Input of terminals: what is written so is as if it was typed.
const TERMINAL_INPUT: [u64; 2] = [
    0x5412, // TIOCSTI
    0x541C, // TIOCLINUX
];

/// What is kept in the kernel's keyrings is the person's, and no namespace holds it.
pub(super) const KEYRINGS: [libc::c_long; 3] = [libc::SYS_keyctl, libc::SYS_add_key, libc::SYS_request_key];

/// What processes of this user share by a number or a name that no file has: memory, semaphores and queues of System V, and queues of
/// POSIX. A number need not be asked for before it is used.
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

/// The bits of a socket's type that say of which kind it is.
const KIND: u64 = 0xF;

/// Kinds of sockets that send to any address, though they are one of a pair: datagrams, and all that a kernel may make the same.
const ADDRESSING: [u64; 5] = [
    libc::SOCK_DGRAM as u64,
    libc::SOCK_RAW as u64,
    libc::SOCK_RDM as u64,
    libc::SOCK_DCCP as u64,
    10, // SOCK_PACKET
];

/// Calls about a process that is named by their first argument, and by their second one.
const OF_FIRST: [libc::c_long; 3] =
    [libc::SYS_sched_setscheduler, libc::SYS_sched_setparam, libc::SYS_sched_setattr];
const OF_SECOND: [libc::c_long; 2] = [libc::SYS_setpriority, libc::SYS_ioprio_set];

/// The first argument of these, where they are about all processes of a user.
const OF_USER: [(libc::c_long, u64); 2] = [
    (libc::SYS_setpriority, libc::PRIO_USER as u64),
    (libc::SYS_ioprio_set, 3), // IOPRIO_WHO_USER
];

/// What makes a namespace of users, with all rights in it, or one of mounts, in which nothing is mounted again that comes free.
const NAMESPACES: [libc::c_int; 2] = [libc::CLONE_NEWUSER, libc::CLONE_NEWNS];

/// The setuid and setgid bits of a mode: with them a program runs as its owner, outside of every sandbox.
const SET_ID: [u64; 2] = [libc::S_ISUID as u64, libc::S_ISGID as u64];

/// Calls that set a mode, and which argument that is.
const MODES: [(libc::c_long, u8); 4] =
    [(libc::SYS_fchmod, 1), (libc::SYS_fchmodat, 2), (SYS_FCHMODAT2, 2), (libc::SYS_mknodat, 2)];

/// Older ones, where they are.
#[cfg(target_arch = "x86_64")]
const OLDER_MODES: &[(libc::c_long, u8)] =
    &[(libc::SYS_chmod, 1), (libc::SYS_mknod, 1), (libc::SYS_creat, 1)];
#[cfg(not(target_arch = "x86_64"))]
const OLDER_MODES: &[(libc::c_long, u8)] = &[];

/// Calls that open a file, and which argument its flags are; the mode of a new one is the next.
#[cfg(target_arch = "x86_64")]
const OPENS: &[(libc::c_long, u8)] = &[(libc::SYS_openat, 2), (libc::SYS_open, 1)];
#[cfg(not(target_arch = "x86_64"))]
const OPENS: &[(libc::c_long, u8)] = &[(libc::SYS_openat, 2)];

/// Flags with which a file is made, so that its mode counts.
const MAKING: [libc::c_int; 2] = [libc::O_CREAT, libc::O_TMPFILE & !libc::O_DIRECTORY];

/// It has the same number everywhere.
pub(super) const SYS_FCHMODAT2: libc::c_long = 452;

/// A rule for calls with such an argument.
pub(super) fn rule(at: u8, op: SeccompCmpOp, value: u64) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![SeccompCondition::new(at, SeccompCmpArgLen::Dword, op, value)?])
}

/// A rule for calls with this flag in their first argument.
fn having(flag: libc::c_int) -> Result<SeccompRule, BackendError> {
    let flag = u64::from(flag.cast_unsigned());
    rule(0, SeccompCmpOp::MaskedEq(flag), flag)
}

/// Calls whose flags make such a namespace.
pub(super) fn making_namespaces() -> Result<Vec<SeccompRule>, BackendError> {
    NAMESPACES.map(having).into_iter().collect()
}

/// Rules for what makes a program run as its owner.
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

/// A rule for the limits of other processes: to set them, or also to read them.
fn others_limits(to_set: bool) -> Result<SeccompRule, BackendError> {
    let not = |at, len| SeccompCondition::new(at, len, SeccompCmpOp::Ne, 0);
    let mut conditions = vec![not(0, SeccompCmpArgLen::Dword)?];
    if to_set {
        conditions.push(not(2, SeccompCmpArgLen::Qword)?);
    }
    SeccompRule::new(conditions)
}

/// Pairs of sockets that reach others. One that stays a pair reaches nobody, and starting a program needs one.
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
    // No filter sees what is done by it.
    rules.insert(libc::SYS_io_uring_setup, Vec::new());
    for call in [libc::SYS_unshare, libc::SYS_clone] {
        rules.insert(call, making_namespaces()?);
    }
    rules.insert(libc::SYS_setns, Vec::new());
    // Its own it may set. One that is apart sees its supervisor, but sets no more than on which processor that runs.
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

/// Refuses calls with the answer of a kernel that does not know them, so that programs use older ones. These are all calls by a number
/// of the x32 convention, as some have other numbers there. They are also `clone3` and `openat2`, whose flags and modes no filter sees.
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
