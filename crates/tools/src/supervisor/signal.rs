//! Ends this process by a signal, like another process that ended by it. The only place with unsafe
//! code.

use rustix::process::Signal;

/// Ends this process by a signal. Returns only if the signal does not end it.
pub(super) fn end_by(number: i32) {
    // The command has dumped its own memory, if needed; this process has nothing to dump.
    let none = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
    let _ = rustix::process::setrlimit(rustix::process::Resource::Core, none);
    #[expect(
        unsafe_code,
        reason = "no safe function gives a signal its default action; nothing else runs in this process"
    )]
    // SAFETY: the default action is no function that could be called at a wrong moment.
    unsafe {
        libc::signal(number, libc::SIG_DFL);
    }
    if let Some(signal) = Signal::from_named_raw(number) {
        let _ = rustix::process::kill_process(rustix::process::getpid(), signal);
    }
}
