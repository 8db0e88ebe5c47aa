//! Why a command ends without success, how that is said, and the exit code. Must never say a cause twice, nor fail because the reader
//! of the output has gone.

use std::io;

use retake_wire::{Hint, Problem, ProblemKind};

use crate::term::style::Style;
use crate::term::{safe, width};
use crate::ui::Ui;
use retake_tui::hint::Audience;

/// The exit code of a command that Ctrl-C stopped.
pub(crate) const INTERRUPTED: u8 = 130;

/// Why a command ends without success.
#[derive(Debug)]
pub(crate) enum Failure {
    /// To be said.
    Problem(Box<Problem>),
    /// The terminal or a pipe failed.
    Io(io::Error),
    /// All is said already; the exit code.
    Said(u8),
}

/// What a command gives.
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

/// A problem that a face finds by itself.
pub(crate) fn problem(kind: ProblemKind, code: &str, message: impl Into<String>) -> Problem {
    Problem { code: code.into(), kind, message: message.into(), ..Problem::default() }
}

/// Something in the arguments that makes no sense.
pub(crate) fn usage(message: impl Into<String>, hint: impl Into<Hint>) -> Failure {
    let mut problem = problem(ProblemKind::Usage, "usage", message);
    problem.hint = Some(hint.into());
    problem.into()
}

/// A file or a stream that can't be read or written.
pub(crate) fn file(message: impl Into<String>, error: &io::Error) -> Failure {
    let (kind, hint) = match error.kind() {
        // Its reader has read enough.
        io::ErrorKind::BrokenPipe => return Failure::Io(io::ErrorKind::BrokenPipe.into()),
        io::ErrorKind::IsADirectory => (ProblemKind::Usage, "it is a folder: name a file"),
        io::ErrorKind::NotADirectory => {
            (ProblemKind::Usage, "a part of its path is a file: name a file in a folder")
        }
        io::ErrorKind::NotFound => (ProblemKind::NotFound, "check the name of the file"),
        io::ErrorKind::InvalidData => (ProblemKind::Usage, "it must be UTF-8 text"),
        _ => (ProblemKind::Storage, "check that the file can be read or written and that there is room"),
    };
    let mut problem = problem(kind, "file", message);
    problem.causes.push(error.to_string());
    problem.hint = Some(hint.into());
    problem.into()
}

/// The owner answered something else than what was asked for.
pub(crate) fn unexpected(reply: &retake_wire::Reply) -> Failure {
    let shape = serde_json::to_value(reply).unwrap_or_default();
    let name = shape["reply"].as_str().unwrap_or("unknown").to_owned();
    let mut problem = problem(
        ProblemKind::Internal,
        "unexpected_reply",
        format!("the owner of the data answered with {name}, which does not fit the request"),
    );
    problem.hint = Some("this is a defect of retake: please report it".into());
    problem.into()
}

/// A run went away before it said how it ended.
pub(crate) fn broken_run() -> Failure {
    let mut problem =
        problem(ProblemKind::Internal, "broken_run", "the run went away before it said how it ended");
    problem.hint = Some("`retake log` shows what is kept".into());
    problem.into()
}

/// The problem as people read it: what failed, the causes, what to do next.
pub(crate) fn text(ui: &dyn Ui, problem: &Problem) -> String {
    let mut text = labelled(ui, Style::Error, "error:", &problem.message);
    for cause in &problem.causes {
        text.push_str(&format!("  {}\n", safe::line(cause)));
    }
    if let Some(head) = &problem.head {
        text.push_str(&format!("  the head is {} now\n", safe::line(head)));
    }
    if let Some(hint) = &problem.hint {
        let words = Audience::Shell.words(hint);
        text.push_str(&labelled(ui, Style::Accent, "hint:", &words));
    }
    text
}

/// A label with the words behind it; wrapped where a person reads it, as it is in a log.
pub(crate) fn labelled(ui: &dyn Ui, style: Style, label: &str, words: &str) -> String {
    let mut text = format!("{label} {}", safe::block(words));
    if ui.interactive() {
        text = width::wrap(&text, ui.look().columns.max(20)).join("\n");
    }
    let painted = ui.error_palette().paint(style, label).to_string();
    text.replacen(label, &painted, 1) + "\n"
}

impl Failure {
    /// The exit code, as the manual page says it.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Problem(problem) => problem.kind.exit_code(),
            Self::Io(error) if error.kind() == io::ErrorKind::BrokenPipe => 0,
            Self::Io(_) => ProblemKind::Storage.exit_code(),
            Self::Said(code) => *code,
        }
    }

    /// The problem to say, if there is one.
    pub(crate) fn to_say(&self) -> Option<Problem> {
        match self {
            Self::Problem(problem) => Some((**problem).clone()),
            Self::Io(error) if error.kind() == io::ErrorKind::BrokenPipe => None,
            Self::Io(error) => {
                let mut said = problem(
                    ProblemKind::Storage,
                    "terminal",
                    "the terminal or a pipe can't be read or written",
                );
                said.causes.push(error.to_string());
                said.hint = Some("check where the input and the output go".into());
                Some(said)
            }
            Self::Said(_) => None,
        }
    }
}
