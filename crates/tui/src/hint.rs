//! The names that each client of this program uses for the remedies in a hint. Must never change any other
//! word.

use retake_wire::{
    Choice, Condition, Event, Hint, NumberedEvent, Problem, Remedy, RunEvent, RunNotice, english, shell_word,
};

use crate::render::files::choice_name;

/// The client whose user reads a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// A shell or a script, which has verbs.
    Shell,
    /// The line client, which has commands with a slash.
    Chat,
    /// The full-screen client. It has no command that lists messages: it shows them.
    Screen,
}

/// The key that stops a run, in every client of the terminal.
const STOP: &str = "Ctrl-C";

impl Audience {
    /// The problem with its hint in this client's words.
    pub fn word(self, mut problem: Problem) -> Problem {
        problem.hint = english::hint(&problem).map(|hint| self.words(&hint).into());
        problem
    }

    /// The hint with this client's command names.
    pub fn words(self, hint: &Hint) -> String {
        hint.worded(|remedy| self.command(remedy))
    }

    /// The sentence for a condition, with this client's commands. Not yet safe for a terminal.
    pub fn condition(self, condition: &Condition) -> String {
        english::condition(condition, &|remedy| self.command(remedy))
    }

    /// The error and its remedy in a sentence, with this client's commands. Not yet safe for a terminal.
    pub fn problem(self, problem: &Problem) -> String {
        english::problem_with_hint(problem, &|remedy| self.command(remedy))
    }

    /// The text of a run's notice, with this client's commands. Not yet safe for a terminal.
    pub fn notice(self, notice: &RunNotice, text: &str) -> String {
        english::run_notice_or(notice, text, &|remedy| self.command(remedy))
    }

    /// The event with its hint or notice in this client's words.
    pub fn word_event(self, event: RunEvent) -> RunEvent {
        match event {
            RunEvent::Ended(mut ended) => {
                ended.problem = ended.problem.map(|problem| self.word(problem));
                RunEvent::Ended(ended)
            }
            RunEvent::Notice { notice, text } => {
                RunEvent::Notice { text: self.notice(&notice, &text), notice }
            }
            other => other,
        }
    }

    /// An event for subscribers, with the hints and notices of runs in this client's words.
    pub fn word_told(self, mut told: NumberedEvent) -> NumberedEvent {
        if let Event::Run { said } = told.event {
            told.event = Event::Run { said: self.word_event(said) };
        }
        told
    }

    /// The command for a remedy; a verb if the conversation has no such command.
    fn command(self, remedy: &Remedy) -> String {
        let (verb, slash) = match remedy {
            Remedy::Choose if self == Self::Screen => ("", "/choose"),
            Remedy::Log if self == Self::Screen => ("", "/rewind"),
            Remedy::Choose => ("retake choose ENTRY", "/choose"),
            Remedy::ChooseFiles { choices } if self == Self::Shell => {
                return format!("`--choose PATH={}`", choice_words(choices));
            }
            Remedy::ChooseFiles { .. } => ("", "/rewind"),
            Remedy::Commands => ("retake commands", "/commands"),
            Remedy::Config => ("retake config", "retake config"),
            Remedy::ConfigSet => ("retake config set KEY VALUE", "retake config set KEY VALUE"),
            Remedy::Conversation => ("--conversation", "/list"),
            Remedy::Doctor => ("retake doctor", "retake doctor"),
            Remedy::EndJobs => ("--stop", "/rewind"),
            Remedy::Edit => ("retake edit", "/edit"),
            Remedy::Erase { conversation } => {
                return format!("`retake erase --matching TEXT --conversation {conversation}`");
            }
            Remedy::Mark { verb } => {
                let lead = if self == Self::Shell { "retake " } else { "/" };
                return format!("`{lead}{}`", verb.name());
            }
            Remedy::PutBack { path, kept, mode } => {
                let (path, mode) = (quoted(path), mode.unwrap_or(0o644));
                return match kept {
                    None => format!("`retake files put-back --remove {path}`"),
                    Some(kept) => {
                        format!("`retake files put-back {path} --from {} --mode {mode:o}`", quoted(kept))
                    }
                };
            }
            Remedy::RewindFiles { conversation, turn } => {
                return format!("`retake rewind t{turn} --scope files --conversation {conversation}`");
            }
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
            Remedy::Backup => ("retake backup", "retake backup"),
            Remedy::DataDir => ("--data-dir", "--data-dir"),
            Remedy::DoctorMend => ("retake doctor --mend", "retake doctor --mend"),
            Remedy::KeepFolder => ("--keep-folder", "--keep-folder"),
            Remedy::Hooks => ("retake hooks", "retake hooks"),
            Remedy::McpAllow { server } => return format!("`retake mcp allow {server}`"),
            Remedy::McpList => ("retake mcp list", "retake mcp list"),
            Remedy::McpRemove => ("retake mcp remove", "retake mcp remove"),
            Remedy::RemoveLabel => ("--remove", "--remove"),
            Remedy::Stop => return STOP.to_owned(),
            Remedy::WorkspaceList => ("retake workspace list", "retake workspace list"),
            Remedy::WithoutFiles => ("--scope conversation", "/rewind"),
            Remedy::Unknown => ("retake --help", "/help"),
        };
        let command = if self == Self::Shell { verb } else { slash };
        format!("`{command}`")
    }
}

/// The words for choices.
fn choice_words(choices: &[Choice]) -> String {
    let all = [Choice::Disk, Choice::Yours, Choice::Checkpoint, Choice::Merge, Choice::Skip];
    let words = all.iter().filter(|it| choices.is_empty() || choices.contains(it)).map(choice_name);
    words.chain(["hunks:N,N".to_owned()]).collect::<Vec<_>>().join("|")
}

/// A path for a shell, in one line: a name may have line ends.
fn quoted(path: &str) -> String {
    if !path.contains(char::is_control) {
        return shell_word(path);
    }
    let escaped = |c: char| match c {
        '\'' | '\\' => format!("\\{c}"),
        c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    };
    format!("$'{}'", path.chars().map(escaped).collect::<String>())
}

#[cfg(test)]
mod tests {
    use retake_wire::{
        Condition, Event, FolderRemark, GitFileChange, GitFileRole, Mark, MarkCount, MarkVerb, NumberedEvent,
        Remedy, RunEvent, RunNotice,
    };

    use super::Audience;

    #[test]
    fn conditions_about_marks_and_files_of_a_parent_name_the_commands_of_the_client() {
        let mark = |mark, messages| MarkCount { mark, messages };
        let marks = vec![mark(Mark::Excluded, 1), mark(Mark::Hidden, 1), mark(Mark::Dropped, 1)];
        let verbs = vec![MarkVerb::Include, MarkVerb::Show];
        let stay = Condition::MarksStay { head: "1.8".to_owned(), marks, verbs };
        let told = |command| {
            format!(
                "marks stay as they are now, not as at 1.8: 1 message excluded, 1 hidden, 1 dropped; take that back with \
                 {command}"
            )
        };
        assert_eq!(Audience::Shell.condition(&stay), told("`retake include`, `retake show`"));
        assert_eq!(Audience::Chat.condition(&stay), told("`/include`, `/show`"));
        let shown = Condition::MarksStay {
            head: "1.8".to_owned(),
            marks: vec![mark(Mark::Normal, 2)],
            verbs: Vec::new(),
        };
        assert!(Audience::Shell.condition(&shown).contains("at 1.8: 2 messages shown; "));
        let of_parent = |files, turn| {
            let named = vec!["a".to_owned()];
            Audience::Shell.condition(&Condition::OfParent { parent: "c1".to_owned(), files, named, turn })
        };
        assert_eq!(
            of_parent(2, Some(3)),
            "2 files stay as turns of the conversation that this one was forked from left them: a …; \
             `retake rewind t3 --scope files --conversation c1` takes them back there"
        );
        assert!(of_parent(1, None).ends_with("forked from left them: a"));
    }

    #[test]
    fn condition_names_the_command_that_puts_a_file_of_git_back() {
        let remark = |remedy| FolderRemark::GitFile {
            path: "h".to_owned(),
            change: GitFileChange::New,
            role: GitFileRole::Hook,
            remedy,
            command: Some("as the owner calls it".to_owned()),
        };
        let told =
            |remedy| Audience::Chat.condition(&Condition::InFolder { folder: None, remark: remark(remedy) });
        let put_back = |path: &str, kept: Option<&str>| Remedy::PutBack {
            path: path.to_owned(),
            kept: kept.map(str::to_owned),
            mode: kept.map(|_| 0o755),
        };
        let ends = |remedy, command: &str| {
            let told = told(remedy);
            assert!(told.ends_with(&format!("; to put it back: {command}")), "{told}");
        };
        ends(Some(put_back("/it's", None)), r"`retake files put-back --remove '/it'\''s'`");
        ends(Some(put_back("/a\n", Some("/k"))), r"`retake files put-back $'/a\u000a' --from /k --mode 755`");
        ends(Some(Remedy::Unknown), "as the owner calls it");
        ends(None, "as the owner calls it");
    }

    #[test]
    fn condition_names_the_command_that_erases_in_another_conversation() {
        let conversations = vec!["c2".to_owned()];
        let condition = Condition::OthersContain { count: 1, conversations, more: false };
        assert_eq!(
            Audience::Shell.condition(&condition),
            "1 other conversation contains the text, too. Erase it there with the same TEXT: \
             `retake erase --matching TEXT --conversation c2`"
        );
    }

    #[test]
    fn notices_of_runs_are_in_the_words_of_the_client_however_they_come() {
        let notice = RunNotice::ServerNeedsApproval { server: "it".to_owned() };
        let event = RunEvent::Notice { notice, text: "in the words of the owner".to_owned() };
        let words = "this folder names an MCP server “it” that may not be started yet: `retake mcp allow it`";
        let text_of = |event| match event {
            RunEvent::Notice { text, .. } => text,
            other => panic!("no notice: {other:?}"),
        };
        assert_eq!(text_of(Audience::Shell.word_event(event.clone())), words);
        let told = NumberedEvent { id: None, event: Event::Run { said: event } };
        match Audience::Shell.word_told(told).event {
            Event::Run { said } => assert_eq!(text_of(said), words),
            other => panic!("no event of a run: {other:?}"),
        }
    }
}
