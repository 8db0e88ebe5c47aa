//! Long output, a screen at a time. Must never start a pager for a pipe or a file, and must never fail because the reader has ended.

use std::ffi::OsString;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::{Child, Command, Stdio};

use super::width::{self, Size};

/// Prints a text, through the pager if standard output is a terminal and the text is longer than its screen. The pager is
/// `$PAGER`, run by the shell; `less` if that is unset; none if it is empty or there is no `less`. A reader that goes away early
/// is a success. The text must be safe already; styles are kept. Meanwhile Ctrl-C is for the pager, so the caller must hold
/// [`super::interrupt::Interrupts`] if the process should survive it.
///
/// # Errors
///
/// If standard output cannot be written, except because its reader has ended.
pub fn page(text: &str) -> io::Result<()> {
    let pager = if io::stdout().is_terminal() && is_longer(text, width::terminal()) {
        start(std::env::var_os("PAGER"))
    } else {
        None
    };
    let written = match pager {
        Some(mut pager) => feed(&mut pager, text),
        None => print(text),
    };
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

fn start(variable: Option<OsString>) -> Option<Child> {
    let mut command = match variable {
        Some(pager) if pager.is_empty() => return None,
        Some(pager) => {
            let mut command = Command::new("sh");
            command.arg("-c").arg(pager);
            command
        }
        None => {
            let mut command = Command::new("less");
            command.arg("-FRX");
            command
        }
    };
    // Without a pager the text is printed directly.
    command.stdin(Stdio::piped()).spawn().ok()
}

fn feed(pager: &mut Child, text: &str) -> io::Result<()> {
    let mut stdin = pager.stdin.take().expect("BUG: the pager is started with a pipe");
    let written = stdin.write_all(text.as_bytes());
    drop(stdin);
    pager.wait()?;
    written
}

/// Whether a text takes more lines than a screen, minus one for the shell's prompt. Styles are measured as if they were visible,
/// so a long line may count as two; never the reverse.
fn is_longer(text: &str, screen: Size) -> bool {
    let rows = |line: &str| width::columns(line).div_ceil(screen.columns).max(1);
    let mut used = 0;
    text.lines().any(|line| {
        used += rows(line);
        used >= screen.rows
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_longer_than_the_screen_is_paged() {
        let screen = Size { columns: 10, rows: 5 };
        for (text, longer) in [
            ("", false),
            ("1\n2\n3\n4\n", false),
            ("1\n2\n3\n4\n5\n", true),
            ("12345678901\n2\n3\n", false),
            ("12345678901\n2\n3\n4\n", true),
            ("\n\n\n\n\n", true),
        ] {
            assert_eq!(is_longer(text, screen), longer, "{text:?}");
        }
    }

    #[test]
    fn an_empty_pager_setting_disables_the_pager() {
        assert!(start(Some(OsString::new())).is_none());
    }

    #[test]
    fn a_pager_that_reads_nothing_causes_at_most_a_broken_pipe() {
        let mut pager = start(Some("exit 0".into())).expect("a shell");
        let text = "line\n".repeat(1_000_000);
        assert_eq!(feed(&mut pager, &text).map_err(|error| error.kind()), Err(ErrorKind::BrokenPipe));
    }
}
