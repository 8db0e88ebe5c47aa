//! Why a command failed: its message and its exit code. Must never print a cause twice. A closed output pipe must not be an
//! error.

use std::io;

use retake_wire::{Hint, Problem, ProblemKind, english};

use crate::term::style::Style;
use crate::term::{safe, width};
use crate::ui::Ui;
use retake_tui::hint::Audience;

/// The exit code of a command that Ctrl-C stopped.
pub(crate) const INTERRUPTED: u8 = 130;

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error to print.
    Problem(Box<Problem>),
    /// The terminal or a pipe failed.
    Io(io::Error),
    /// Everything is printed already; this is the exit code.
    Reported(u8),
}

/// The result of a command.
pub(crate) type Result<T = ()> = std::result::Result<T, Failure>;

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Problem(Box::new(problem))
    }
}

impl From<Box<Problem>> for Failure {
    fn from(problem: Box<Problem>) -> Self {
        Self::Problem(problem)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// An error that the command line itself finds.
pub(crate) fn problem(kind: ProblemKind, code: &str, message: impl Into<String>) -> Problem {
    Problem { code: code.into(), kind, message: message.into(), ..Problem::default() }
}

/// An error that the command line itself finds, with what to do next.
pub(crate) fn hinted(
    kind: ProblemKind,
    code: &str,
    message: impl Into<String>,
    hint: impl Into<Hint>,
) -> Problem {
    Problem { hint: Some(hint.into()), ..problem(kind, code, message) }
}

/// An invalid argument.
pub(crate) fn usage(message: impl Into<String>, hint: impl Into<Hint>) -> Failure {
    hinted(ProblemKind::Usage, "usage", message, hint).into()
}

/// A file or a stream that cannot be read or written.
pub(crate) fn file(message: impl Into<String>, error: &io::Error) -> Failure {
    let (kind, hint) = match error.kind() {
        // Its reader has ended.
        io::ErrorKind::BrokenPipe => return Failure::Io(io::ErrorKind::BrokenPipe.into()),
        io::ErrorKind::IsADirectory => (ProblemKind::Usage, "it is a folder; name a file"),
        io::ErrorKind::NotADirectory => {
            (ProblemKind::Usage, "a part of its path is a file; name a file in a folder")
        }
        io::ErrorKind::NotFound => (ProblemKind::NotFound, "check the name of the file"),
        io::ErrorKind::InvalidData => (ProblemKind::Usage, "it must be UTF-8 text"),
        _ => (ProblemKind::Storage, "check its permissions and the free disk space"),
    };
    Problem { causes: vec![error.to_string()], ..hinted(kind, "file", message, hint) }.into()
}

/// The content of a reply of the expected kind; returns a failure for any other kind.
macro_rules! expect_reply {
    ($reply:expr, $kind:ident) => {
        match $reply {
            retake_wire::Reply::$kind(content) => content,
            other => return Err($crate::error::unexpected(&other)),
        }
    };
}

pub(crate) use expect_reply;

/// The owner sent a reply of another kind.
pub(crate) fn unexpected(reply: &retake_wire::Reply) -> Failure {
    let shape = serde_json::to_value(reply).unwrap_or_default();
    let name = shape["reply"].as_str().unwrap_or("unknown").to_owned();
    let message = format!("the owner of the data sent an unexpected reply: {name}");
    let hint = "this is a bug of retake; please report it";
    hinted(ProblemKind::Internal, "unexpected_reply", message, hint).into()
}

/// A run whose events ended without its result.
pub(crate) fn broken_run() -> Failure {
    let hint = "`retake log` shows what is stored";
    hinted(ProblemKind::Internal, "broken_run", "the run ended without a result", hint).into()
}

/// The error as text: what failed, the causes, what to do next.
pub(crate) fn text(ui: &dyn Ui, problem: &Problem) -> String {
    let mut text = labelled(ui, Style::Error, "error:", &english::problem(problem));
    for cause in &problem.causes {
        text.push_str(&format!("  {}\n", safe::line(cause)));
    }
    if let Some(head) = &problem.head {
        text.push_str(&format!("  the head is now {}\n", safe::line(head)));
    }
    if let Some(hint) = &problem.hint {
        let words = Audience::Shell.words(hint);
        text.push_str(&labelled(ui, Style::Accent, "hint:", &words));
    }
    text
}

/// A label and a text, wrapped if a person reads it.
pub(crate) fn labelled(ui: &dyn Ui, style: Style, label: &str, words: &str) -> String {
    let mut text = format!("{label} {}", safe::block(words));
    if ui.interactive() {
        text = width::wrap(&text, ui.look().columns.max(20)).join("\n");
    }
    let painted = ui.error_palette().paint(style, label).to_string();
    text.replacen(label, &painted, 1) + "\n"
}

impl Failure {
    /// The exit code, as in the manual page.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Problem(problem) => problem.kind.exit_code(),
            Self::Io(error) if error.kind() == io::ErrorKind::BrokenPipe => 0,
            Self::Io(_) => ProblemKind::Storage.exit_code(),
            Self::Reported(code) => *code,
        }
    }

    /// The error to print, if there is one.
    pub(crate) fn to_report(&self) -> Option<Problem> {
        match self {
            Self::Problem(problem) => {
                let mut problem = (**problem).clone();
                // An error of the settings comes without a client that words it.
                problem.hint = problem.hint.map(|hint| Audience::Shell.words(&hint).into());
                Some(problem)
            }
            Self::Io(error) if error.kind() == io::ErrorKind::BrokenPipe => None,
            Self::Io(error) => {
                let message = "cannot read or write the terminal or a pipe";
                let hint = "check the standard input and output of the command";
                let said = hinted(ProblemKind::Storage, "terminal", message, hint);
                Some(Problem { causes: vec![error.to_string()], ..said })
            }
            Self::Reported(_) => None,
        }
    }
}
