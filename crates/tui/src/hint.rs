//! What the clients of this program call the things to do that a hint names. Must never change any other word.

use retake_wire::{Hint, Problem, Remedy, RunEvent};

/// Who reads what is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// A shell or a script, which has verbs.
    Shell,
    /// The conversation line by line, which has commands with a slash.
    Chat,
    /// The one that has all of the terminal: of those commands it has no list of messages, but shows them.
    Screen,
}

impl Audience {
    /// The problem with its hint in this client's words.
    pub fn word(self, mut problem: Problem) -> Problem {
        problem.hint = problem.hint.map(|hint| self.words(&hint).into());
        problem
    }

    /// The hint in this client's words.
    pub fn words(self, hint: &Hint) -> String {
        hint.worded(|remedy| self.command(remedy))
    }

    /// The event with its hint in this client's words.
    pub fn word_event(self, event: RunEvent) -> RunEvent {
        match event {
            RunEvent::Ended(mut ended) => {
                ended.problem = ended.problem.map(|problem| self.word(problem));
                RunEvent::Ended(ended)
            }
            other => other,
        }
    }

    /// The command for a thing to do; a verb where the conversation has none.
    fn command(self, remedy: &Remedy) -> String {
        let (verb, slash) = match remedy {
            Remedy::Choose if self == Self::Screen => ("", "/alternatives"),
            Remedy::Log if self == Self::Screen => ("", "/rewind"),
            Remedy::Choose => ("retake choose ENTRY", "/choose"),
            Remedy::ChooseFiles => ("--choose PATH=disk|yours|checkpoint|merge|skip|hunks:N,N", "/rewind"),
            Remedy::Config => ("retake config", "retake config"),
            Remedy::Conversation => ("--conversation", "/list"),
            Remedy::Doctor => ("retake doctor", "retake doctor"),
            Remedy::EndJobs => ("--stop", "/rewind"),
            Remedy::Edit => ("retake edit", "/edit"),
            Remedy::Exclude => ("retake exclude", "/exclude"),
            Remedy::Fold => ("retake fold", "retake fold"),
            Remedy::List => ("retake list", "/list"),
            Remedy::Log => ("retake log", "/log"),
            Remedy::Model => ("--model", "/model"),
            Remedy::Models => ("retake models", "/model"),
            Remedy::Ops => ("retake ops", "/ops"),
            Remedy::Restore { head: None } => ("retake restore", "/restore"),
            Remedy::Restore { head: Some(head) } => {
                let verb = if self == Self::Shell { "retake restore" } else { "/restore" };
                return format!("`{verb} {head}`");
            }
            Remedy::Retry => ("retake retry", "/retry"),
            Remedy::Rewind => ("retake rewind", "/rewind"),
            Remedy::Show => ("retake show", "/show"),
            Remedy::Tree => ("retake tree", "/tree"),
            Remedy::Undo => ("retake undo", "/undo"),
            Remedy::FilesLog => ("retake files log", "retake files log"),
            Remedy::WithoutFiles => ("--scope conversation", "/rewind"),
        };
        let command = if self == Self::Shell { verb } else { slash };
        format!("`{command}`")
    }
}
