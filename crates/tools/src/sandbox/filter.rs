//! The system calls that a command is refused, beside what Landlock refuses: sockets, input of terminals, and what it could do to
//! processes of others where it sees them. Must refuse a call by every number that it has.

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
const OF_FIRST: [libc::c_long; 5] = [
    libc::SYS_prlimit64,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
];
const OF_SECOND: [libc::c_long; 2] = [libc::SYS_setpriority, libc::SYS_ioprio_set];

/// A rule for calls with such an argument.
pub(super) fn rule(at: u8, op: SeccompCmpOp, value: u64) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![SeccompCondition::new(at, SeccompCmpArgLen::Dword, op, value)?])
}

/// Pairs of sockets that reach others. One that stays a pair reaches nobody, and starting a program needs one.
pub(super) fn reaching_pairs() -> Result<Vec<SeccompRule>, BackendError> {
    ADDRESSING.iter().map(|kind| rule(1, SeccompCmpOp::MaskedEq(KIND), *kind)).collect()
}

/// The filter of a command that does more than read. One that is apart sees no processes and no sockets of others.
pub(super) fn common(net: Net, is_apart: bool) -> Result<BpfProgram, BackendError> {
    let mut rules = Rules::new();
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
        // It could make sockets, too.
        rules.insert(libc::SYS_io_uring_setup, Vec::new());
    }
    if !is_apart {
        rules.extend(SHARED.map(|call| (call, Vec::new())));
        // Its own it may set.
        for (at, calls) in [(0, &OF_FIRST[..]), (1, &OF_SECOND[..])] {
            for call in calls {
                rules.insert(*call, vec![rule(at, SeccompCmpOp::Ne, 0)?]);
            }
        }
    }
    refusing(rules)
}

/// A filter that refuses these calls.
pub(super) fn refusing(rules: Rules) -> Result<BpfProgram, BackendError> {
    let errno = u32::try_from(libc::EACCES).expect("BUG: error numbers are positive");
    let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(errno), architecture)?;
    let program: BpfProgram = filter.try_into()?;
    Ok(one_numbering().into_iter().chain(program).collect())
}

/// Refuses every call by a number of the x32 convention, as kernels without it do: some calls have other numbers there.
#[cfg(target_arch = "x86_64")]
fn one_numbering() -> BpfProgram {
    use seccompiler::sock_filter;
    const FIRST_X32: u32 = 0x4000_0000;
    let code = |code: u32| u16::try_from(code).expect("BUG: codes are small");
    let refuse =
        libc::SECCOMP_RET_ERRNO | u32::try_from(libc::ENOSYS).expect("BUG: error numbers are positive");
    vec![
        // The number of the call is the first field.
        sock_filter { code: code(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS), jt: 0, jf: 0, k: 0 },
        sock_filter { code: code(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K), jt: 0, jf: 1, k: FIRST_X32 },
        sock_filter { code: code(libc::BPF_RET | libc::BPF_K), jt: 0, jf: 0, k: refuse },
    ]
}

#[cfg(not(target_arch = "x86_64"))]
fn one_numbering() -> BpfProgram {
    BpfProgram::new()
}
