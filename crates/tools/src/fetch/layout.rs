//! Lays out HTML as plain text in a process of its own: a page's author controls its cost in time and memory, which its size
//! does not show. A page must never block the owner or use its memory.

use std::io::{Read as _, Write as _};
use std::process::{ExitCode, Stdio};

use rustix::process::{Resource, Rlimit};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::Semaphore;

use crate::supervisor::Supervisor;

/// The width of lines.
const WIDTH: usize = 100;

/// A page may use this much memory in bytes,
const MEMORY: u64 = 1 << 30;

/// and this many seconds of a processor.
const SECONDS: u64 = 5;

/// The most bytes of its text that are read.
const LARGEST: u64 = 32 << 20;

/// The most pages that are laid out at a time.
static AT_ONCE: Semaphore = Semaphore::const_new(2);

/// The text of a page, with its links below; `None` if it exceeds the limits.
pub(super) async fn plain_of(html: &str, by: &Supervisor) -> Option<String> {
    let _permit = AT_ONCE.acquire().await.ok()?;
    let mut command = by.layout();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    let mut child = command.spawn().ok()?;
    let (mut input, output) = (child.stdin.take()?, child.stdout.take()?);
    let mut text = String::new();
    let give = async {
        let given = input.write_all(html.as_bytes()).await;
        drop(input);
        given.ok()
    };
    let mut output = output.take(LARGEST + 1);
    let take = async { output.read_to_string(&mut text).await.ok() };
    let (given, taken) = tokio::join!(give, take);
    let is_whole = given.is_some() && taken.is_some() && text.len() as u64 <= LARGEST;
    (is_whole && child.wait().await.ok()?.success()).then_some(text)
}

/// Runs the process that lays one page out: from its standard input to its standard output.
pub(crate) fn run() -> ExitCode {
    let bound =
        |what, most| rustix::process::setrlimit(what, Rlimit { current: Some(most), maximum: Some(most) });
    let is_bound = bound(Resource::As, MEMORY).is_ok()
        && bound(Resource::Cpu, SECONDS).is_ok()
        && bound(Resource::Core, 0).is_ok();
    let laid_out = || {
        let mut html = Vec::new();
        std::io::stdin().read_to_end(&mut html).ok()?;
        let layout =
            html2text::config::plain().link_footnotes(true).no_link_wrapping().allow_width_overflow();
        let text = layout.string_from_read(&html[..], WIDTH).ok()?;
        std::io::stdout().write_all(text.as_bytes()).ok()
    };
    if is_bound && laid_out().is_some() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
