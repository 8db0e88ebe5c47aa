//! The log of an owner: a rotating file in the state folder. Must never hold texts, arguments, file contents, variables or keys,
//! and must never delay the program.
//!
//! Only events of this program's own crates are written. Those of other crates may hold bodies and headers, and no filter enables
//! them.

use std::any::Any;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::env;
use std::fmt;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::panic::{self, PanicHookInfo};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Arc, Mutex, PoisonError};

use retake_engine::clock::{Clock as _, SystemClock};
use rustix::fs::OFlags;
use tracing_subscriber::filter::{EnvFilter, filter_fn};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::fmt::{self as layer, MakeWriter};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};

/// The longest file in bytes; then a new one begins.
const LONGEST: u64 = 1 << 20;

/// The number of older files kept: `owner.log.1` is the newest.
const KEPT: u32 = 4;

/// The variable with the filter: `debug`, or `warn,retake_engine=trace`.
const FILTER: &str = "RETAKE_LOG";

/// The default filter.
const USUAL: &str = "info";

/// The variable with the format: `text` or `json`.
const FORM: &str = "RETAKE_LOG_FORMAT";

/// The prefix of this project's crate names.
const OURS: &str = "retake";

/// Starts the log of this process. Returns notices for the person.
pub(crate) fn start(path: &Path) -> Vec<String> {
    let mut notices = Vec::new();
    let given = env::var(FILTER).ok().filter(|text| !text.trim().is_empty());
    let filter = match EnvFilter::try_new(given.as_deref().unwrap_or(USUAL)) {
        Ok(filter) => filter,
        Err(_) => {
            notices.push(format!("{FILTER} is not a filter; the log uses `{USUAL}`"));
            EnvFilter::new(USUAL)
        }
    };
    let json = match env::var(FORM).as_deref() {
        Ok("json") => true,
        Ok("text" | "") | Err(_) => false,
        Ok(_) => {
            notices.push(format!("{FORM} is neither `text` nor `json`; the log uses `text`"));
            false
        }
    };
    let log = Log { path: path.to_owned(), json, state: Mutex::default() };
    if let Err(error) = log.state().open(path) {
        notices.push(format!("the log {} cannot be written: {error}", path.display()));
    }
    let lines =
        layer::layer().with_ansi(false).log_internal_errors(false).with_writer(LogWriter(Arc::new(log)));
    let lines = match json {
        true => lines.json().with_timer(Time).boxed(),
        false => lines.with_timer(TimeAndProcess).boxed(),
    };
    let ours = filter_fn(|meta| meta.target().starts_with(OURS));
    let subscriber = tracing_subscriber::registry().with(filter).with(ours).with(lines);
    // Fails only if this process has a log already.
    drop(tracing::subscriber::set_global_default(subscriber));
    notices
}

/// Redirects standard output and error to the log, for the last output of the runtime. Without a log it is discarded.
pub(crate) fn take_over_output(path: &Path) {
    if let Ok(file) = open(path) {
        let _ = rustix::stdio::dup2_stdout(&file);
        let _ = rustix::stdio::dup2_stderr(&file);
    }
}

/// Logs every panic. In a process without a terminal, nothing else prints it.
pub(crate) fn log_panics(has_terminal: bool) {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        log_panic(panic);
        if has_terminal {
            print(panic);
        }
    }));
}

fn log_panic(panic: &PanicHookInfo<'_>) {
    let at = panic.location().map(ToString::to_string).unwrap_or_default();
    let literal = literal(panic.payload());
    let backtrace = Backtrace::capture();
    match backtrace.status() {
        BacktraceStatus::Captured => tracing::error!(at, literal, %backtrace, "a task has panicked"),
        _ => tracing::error!(at, literal, "a task has panicked"),
    }
}

/// The message of a panic if it is a literal. A formatted one may contain user text.
fn literal(payload: &dyn Any) -> Option<&'static str> {
    payload.downcast_ref::<&'static str>().copied()
}

/// A file with its older ones. Lines of several processes do not mix: each line is one write.
struct Log {
    path: PathBuf,
    json: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    file: Option<File>,
    /// Lines that could not be written since the last successful write.
    lost: u64,
}

impl Log {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a line, or counts it as lost.
    fn append(&self, line: &[u8]) {
        let mut state = self.state();
        let line = match (line, self.json) {
            ([b'{', rest @ ..], true) => {
                let mut line = format!("{{\"process\":{},", process::id()).into_bytes();
                if state.lost > 0 {
                    line.extend_from_slice(format!("\"lost_lines\":{},", state.lost).as_bytes());
                }
                line.extend_from_slice(rest);
                line
            }
            (line, _) if state.lost > 0 => {
                let mut lost = format!("{} lines of the log were lost\n", state.lost).into_bytes();
                lost.extend_from_slice(line);
                lost
            }
            (line, _) => line.to_vec(),
        };
        match state.append(&self.path, &line) {
            Ok(()) => state.lost = 0,
            Err(_) => {
                state.file = None;
                state.lost += 1;
            }
        }
    }
}

impl State {
    fn open(&mut self, path: &Path) -> io::Result<()> {
        self.file = Some(open(path)?);
        Ok(())
    }

    fn append(&mut self, path: &Path, line: &[u8]) -> io::Result<()> {
        let is_there = |file: &File| {
            identity(fs::metadata(path)).is_some_and(|it| Some(it) == identity(file.metadata()))
        };
        if !self.file.as_ref().is_some_and(is_there) {
            self.open(path)?;
        }
        if let Some(file) = &self.file
            && file.metadata()?.len() + line.len() as u64 > LONGEST
        {
            rotate(path, file)?;
            self.open(path)?;
        }
        self.file.as_ref().map_or(Ok(()), |mut file| file.write_all(line))
    }
}

/// Renames the file, unless another process has done so.
fn rotate(path: &Path, file: &File) -> io::Result<()> {
    file.lock()?;
    if identity(fs::metadata(path)) != identity(file.metadata()) {
        return Ok(());
    }
    let older = |no: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{no}"));
        PathBuf::from(name)
    };
    for no in (1..KEPT).rev() {
        // There may be fewer.
        drop(fs::rename(older(no), older(no + 1)));
    }
    fs::rename(path, older(1))
}

fn identity(meta: io::Result<fs::Metadata>) -> Option<(u64, u64)> {
    meta.ok().map(|meta| (meta.dev(), meta.ino()))
}

/// Opens the log for appending, for this user only. Never waits: a pipe in its place is an error.
fn open(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
    let file = File::options().append(true).create(true).mode(0o600).custom_flags(flags).open(path)?;
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    if meta.permissions().mode() & 0o077 != 0 {
        file.set_permissions(Permissions::from_mode(0o600))?;
    }
    Ok(file)
}

struct LogWriter(Arc<Log>);

impl<'a> MakeWriter<'a> for LogWriter {
    type Writer = &'a Log;

    fn make_writer(&'a self) -> &'a Log {
        &self.0
    }
}

impl Write for &Log {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.append(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The time of a line, in UTC.
struct Time;

impl FormatTime for Time {
    fn format_time(&self, w: &mut Writer<'_>) -> fmt::Result {
        let time = jiff::Timestamp::from_millisecond(SystemClock.now_ms()).unwrap_or_default();
        write!(w, "{time:.3}")
    }
}

/// The same, with the process id: several owners share the file.
struct TimeAndProcess;

impl FormatTime for TimeAndProcess {
    fn format_time(&self, w: &mut Writer<'_>) -> fmt::Result {
        Time.format_time(w)?;
        write!(w, " {}", process::id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(path: &Path, json: bool) -> Log {
        Log { path: path.to_owned(), json, state: Mutex::default() }
    }

    #[test]
    fn log_rotates_and_keeps_few_private_files() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("state/owner.log");
        let log = log(&path, false);
        let line = vec![b'x'; 300_000];
        for _ in 0..40 {
            log.append(&line);
        }
        let files: Vec<_> =
            fs::read_dir(path.parent().expect("one")).expect("it is there").flatten().collect();
        assert_eq!(files.len(), 1 + KEPT as usize);
        for file in files {
            let meta = file.metadata().expect("it is there");
            assert!(
                meta.len() <= LONGEST && meta.permissions().mode() & 0o777 == 0o600,
                "{file:?}: {meta:?}"
            );
        }
    }

    #[test]
    fn log_of_another_process_that_has_rotated_is_followed() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("owner.log");
        let (one, other) = (log(&path, false), log(&path, false));
        one.append(b"one\n");
        other.append(&vec![b'x'; 1 << 20]);
        one.append(b"two\n");
        assert_eq!(fs::read_to_string(&path).expect("it is there"), "two\n");
    }

    #[test]
    fn panic_whose_message_was_put_together_is_logged_without_it() {
        let text = "secret".to_owned();
        let payload = std::panic::catch_unwind(|| panic!("it failed on {text}")).expect_err("a panic");
        assert_eq!(literal(&*payload), None);
        let payload = std::panic::catch_unwind(|| panic!("it failed")).expect_err("a panic");
        assert_eq!(literal(&*payload), Some("it failed"));
    }

    #[test]
    fn panic_of_a_task_is_logged_with_its_place_and_without_its_text() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("owner.log");
        assert_eq!(start(&path), Vec::<String>::new());
        log_panics(true);
        let text = "secret".to_owned();
        std::thread::spawn(move || panic!("it failed on {text}")).join().expect_err("it panics");
        drop(panic::take_hook());
        let log = fs::read_to_string(&path).expect("a log");
        assert!(log.contains("ERROR") && log.contains("a task has panicked"), "{log}");
        assert!(log.contains("crates/cli/src/log.rs:") && !log.contains("secret"), "{log}");
    }

    #[test]
    fn log_that_cannot_be_written_counts_what_is_lost() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("owner.log");
        for (json, expected) in
            [(false, "2 lines of the log were lost\n{}\n"), (true, "\"lost_lines\":2,}\n")]
        {
            fs::create_dir(&path).expect("made");
            let log = log(&path, json);
            log.append(b"{}\n");
            log.append(b"{}\n");
            fs::remove_dir(&path).expect("removed");
            log.append(b"{}\n");
            let text = fs::read_to_string(&path).expect("it is there");
            assert!(text.ends_with(expected), "{text}");
            fs::remove_file(&path).expect("removed");
        }
    }
}
