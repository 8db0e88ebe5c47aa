//! The inner supervisor: the first process of the namespace of processes of its call, or, without one, the process that adopts
//! all orphans. It starts the command from a thread that is confined permanently, and is not confined itself, so that the
//! command can neither signal nor trace it. It must not end before the last process of the call, unless all of
//! them end with it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::thread::JoinHandle;

use rustix::process::{Pid, Resource, Rlimit, WaitOptions};

use super::mounts::Mounts;
use super::outer::Ended;
use super::{Arguments, GIVEN, refuse, threads};
use crate::input_frames;
use crate::processes::MARK;
use crate::sandbox::drop_capabilities;

/// The most bytes that are forwarded at once.
const PIECE: usize = 64 << 10;

/// Runs the inner supervisor.
pub(super) fn run(arguments: &[OsString]) -> ExitCode {
    match supervise(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => refuse(&why),
    }
}

fn supervise(arguments: &[OsString]) -> Result<(), String> {
    let fail = |error: &dyn std::fmt::Display| error.to_string();
    let (number, rest) = arguments.split_first().ok_or("no arguments")?;
    let mut report = take(number).map_err(|error| fail(&error))?;
    let (plan, command) = Arguments::of(rest)?;
    for group in &plan.join {
        let join = |mut file: File| file.write_all(b"0");
        let joined = File::options().write(true).open(group).and_then(join);
        joined.map_err(|error| format!("{}: {error}", group.display()))?;
    }
    // Files for later writing are opened before they are hidden.
    let note = plan.note.as_ref().map(|note| File::create(note).map_err(|error| fail(&error))).transpose()?;
    let mut mounts = match plan.namespaces {
        true => Mounts::set_up(plan.confined.as_ref())?,
        false => Mounts::default(),
    };
    if !plan.namespaces {
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
            .map_err(|error| fail(&error))?;
    }
    // A session of its own has no terminal.
    rustix::process::setsid().map_err(|error| fail(&error))?;
    let Some((program, words)) = command.split_first() else { return Ok(()) };
    if let Some(bytes) = plan.file_size {
        let most = Rlimit { current: Some(bytes), maximum: Some(bytes) };
        // A smaller existing limit stays.
        let _ = rustix::process::setrlimit(Resource::Fsize, most);
    }
    let mut started = Command::new(program);
    started.args(words).current_dir(&plan.folder).env_clear();
    for (name, value) in std::env::vars_os() {
        if let Some(name) = name.as_bytes().strip_prefix(GIVEN.as_bytes()) {
            started.env(OsStr::from_bytes(name), value);
        }
    }
    started.env(MARK, &plan.call);
    // A command could try to misuse the supervisor's capabilities. One that is not confined has them itself.
    let drops: threads::Drops = match plan.confined {
        Some(_) => drop_capabilities,
        None => || Ok(()),
    };
    let drop_own = || drops().map_err(|error| format!("capabilities: {error}"));
    let passing = plan.cap.map(|cap| pass_on(cap, drops, &mut started)).transpose();
    let passing = passing.map_err(|error| fail(&error))?;
    if plan.input {
        pass_in(drops, &mut started).map_err(|error| fail(&error))?;
    }
    mounts.watch()?;
    mounts.keep().map_err(|error| fail(&error))?;
    let namespaces = plan.namespaces;
    // Without namespaces a command that has begun would go on without its supervisor.
    if !namespaces {
        drop_own()?;
    }
    let first = start(started, plan).map_err(|error| fail(&error))?;
    // In namespaces the command ends with this process.
    if namespaces && !mounts.are_lasting() {
        drop_own()?;
    }
    let_go();
    reap(first, |ended| drop(report.write_all(&ended.to_bytes())), note, passing)
}

/// The descriptor that was passed by its number.
fn take(number: &OsStr) -> std::io::Result<File> {
    let number: i32 = number
        .to_str()
        .and_then(|number| number.parse().ok())
        .filter(|number| *number > 2)
        .ok_or_else(|| std::io::Error::other("no descriptor"))?;
    let file = File::options().write(true).open(format!("/proc/self/fd/{number}"))?;
    // The command must not have it.
    nix::unistd::close(number)?;
    Ok(file)
}

/// Closes the pipes of the command, so that they end with it. Threads that keep it confined may still report to one of them.
pub(super) fn let_go() {
    if let Ok(nothing) = File::options().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdin(&nothing);
        let _ = rustix::stdio::dup2_stdout(&nothing);
        let _ = rustix::stdio::dup2_stderr(&nothing);
    }
}

/// Starts the command from a thread that is confined, where it is to be.
fn start(mut command: Command, plan: Arguments) -> std::io::Result<Pid> {
    let Some(confined) = plan.confined else { return Ok(pid_of(&command.spawn()?)) };
    let within = move || {
        confined.close().map_err(std::io::Error::other)?;
        command.spawn().map(|child| pid_of(&child))
    };
    let thread = std::thread::Builder::new().name("confined".into()).spawn(within)?;
    thread.join().map_err(|_| std::io::Error::other("a thread has failed"))?
}

fn pid_of(child: &std::process::Child) -> Pid {
    let pid = child.id().cast_signed();
    Pid::from_raw(pid).expect("BUG: a process has a number")
}

/// Lets the command print into a pipe, and forwards output up to this limit, even after the other processes are gone.
fn pass_on(cap: u64, drops: threads::Drops, command: &mut Command) -> std::io::Result<JoinHandle<()>> {
    let (mut pipe, writer) = std::io::pipe()?;
    let out = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?;
    command.stdout(Stdio::from(writer.try_clone()?)).stderr(Stdio::from(writer));
    let pass = move || {
        let (mut out, mut left) = (File::from(out), usize::try_from(cap).unwrap_or(usize::MAX));
        let mut piece = vec![0; PIECE];
        while let Ok(read @ 1..) = pipe.read(&mut piece) {
            let passed = read.min(left);
            left -= passed;
            // Output that cannot be stored is lost; the command continues.
            let _ = out.write_all(&piece[..passed]);
        }
    };
    threads::start("output", drops, pass)
}

/// Lets the command read from a pipe, and forwards the frames of the supervisor's standard input to it. Nobody waits for this: it may
/// wait for frames for ever.
fn pass_in(drops: threads::Drops, command: &mut Command) -> std::io::Result<()> {
    let (reader, pipe) = std::io::pipe()?;
    let frames = File::from(rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?);
    command.stdin(Stdio::from(reader));
    threads::start("input", drops, move || input_frames::forward(frames, pipe)).map(drop)
}

/// Waits for every process of the call. If others continue, the end of the command is reported at once; otherwise when nothing
/// is left to do.
fn reap(
    first: Pid,
    tell: impl FnOnce(Ended),
    note: Option<File>,
    passing: Option<JoinHandle<()>>,
) -> Result<(), String> {
    let mut tell = Some(tell);
    let mut ended = None;
    loop {
        // Processes that have already ended come first.
        let next = match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(None) => {
                if let Some(ended) = ended
                    && let Some(tell) = tell.take()
                {
                    tell(ended);
                }
                rustix::process::wait(WaitOptions::empty())
            }
            next => next,
        };
        match next {
            Ok(Some((pid, status))) if pid == first => {
                let code = status.exit_status().map(Ended::Exited);
                ended = code.or(status.terminating_signal().map(Ended::Signalled));
                if let (Some(mut note), Some(ended)) = (note.as_ref(), ended) {
                    let code = match ended {
                        Ended::Exited(code) => code,
                        Ended::Signalled(signal) => 128 + signal,
                    };
                    let _ = writeln!(note, "{code}");
                }
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => break,
        }
    }
    // No process is left that could print.
    if let Some(passing) = passing {
        let _ = passing.join();
    }
    if let (Some(ended), Some(tell)) = (ended, tell) {
        tell(ended);
    }
    Ok(())
}

/// An error text with a path.
pub(super) fn at(path: &std::path::Path) -> impl Fn(rustix::io::Errno) -> String + use<> {
    let path: PathBuf = path.to_owned();
    move |error| format!("{}: {error}", path.display())
}
