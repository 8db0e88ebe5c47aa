//! Sending a message, and what follows. Must never lose a message that the owner does not have.

use retake_wire::reply::{Plan, Receipt};
use retake_wire::{
    Action, Attached, Ended, FileOptions, Outcome, Part, Problem, ProblemKind, Request, Run, RunEvent,
    RunStart, Steer, english, request,
};

use super::notices::Kind;
use super::tab::Rewriting;
use super::{App, RequestPurpose, Requester};
use crate::hint::Audience;
use crate::render;
use crate::text::style::Style;
use crate::text::styled::text;
use crate::text::{Text, safe};
use crate::ui::keymap::Command;
use crate::ui::msg::{TabId, Ticket};
use crate::ui::plan::PlanPane;
use crate::ui::talk::{Note, Tone, Until};
use crate::ui::words;

/// The name and the arguments of a line that is a command: it begins with a slash or a colon and a letter. Two slashes begin a
/// message.
pub(super) fn is_command(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix(['/', ':'])?;
    if line.contains('\n') || !rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let (name, words) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    // A path is no command.
    (!name.contains('/')).then(|| (name, words.trim()))
}

impl App {
    /// Enter: does a command, or sends a message.
    pub(super) fn send(&mut self) {
        if self.is_meant_for_step() {
            return;
        }
        // A refusal is about an earlier line.
        self.notices.remove(Kind::Refused);
        if self.tab().outgoing.rewriting.is_some() && self.tab().front().is_some() {
            let stop = self.keys.named(Command::Stop);
            return self.refuse(format!("a question is open: answer it first, or {stop} stops the run"));
        }
        if self.tab().outgoing.rewriting.as_ref().is_some_and(|rewriting| rewriting.is_stale) {
            return self.refuse("the plan for this message is being made again: wait a moment");
        }
        let text = self.tab().composer.text();
        let command = self.tab().composer.file_command();
        if command.is_none()
            && (self.typed_command(text.trim())
                || (self.tab().draft.opening.is_none() && self.words_answer()))
        {
            return;
        }
        if self.answers_too_late() {
            return;
        }
        if self.tab().composer.is_empty() {
            if let Some(waits) = self.what_waits() {
                self.hint(waits);
            }
            return;
        }
        if self.tab().draft.opening.is_some() {
            return self.refuse("the conversation is being opened: your text waits here until then");
        }
        if self.is_beginning() {
            return self.refuse("the conversation is being created: your text waits here until then");
        }
        if self.waits_for_context() {
            return;
        }
        // Later keys are not part of this text.
        self.tab_mut().answers.words_end();
        let mut parts = self.tab_mut().composer.take();
        if let Some(Part::Text { text }) = parts.first_mut()
            && text.starts_with("//")
        {
            text.remove(0);
        }
        self.say_parts(parts, command);
    }

    /// Whether an Enter is meant for the step that just returned a message or carried out a plan: it sends nothing, and a notice
    /// says so.
    fn is_meant_for_step(&mut self) -> bool {
        let now_ms = self.now_ms;
        let tab = self.tab_mut();
        let is_meant = tab.presses.is_meant_for_step(now_ms);
        if is_meant && !tab.composer.is_empty() {
            let send = self.keys.named(Command::Send);
            self.hint(format!("{send} again sends it"));
        }
        is_meant
    }

    /// Whether the first message of this tab is on its way: another one would begin its own conversation.
    fn is_beginning(&self) -> bool {
        let tab = self.tab();
        tab.conversation().is_none() && (!tab.outgoing.is_empty() || tab.outgoing.begins)
    }

    /// Sends a message, or the command of a file with its arguments.
    fn say_parts(&mut self, parts: Vec<Part>, command: Option<(String, String)>) {
        let tab = self.tab_mut();
        let rewriting = tab.outgoing.rewriting.take();
        tab.draft.edits = None;
        let seen = tab.talk.tip().map(str::to_owned);
        let steer = tab.talk.is_running().then_some(Steer::Usual);
        let start = match (command, &rewriting) {
            (Some((name, arguments)), rewriting) => RunStart::Command {
                name,
                arguments,
                attached: parts.iter().filter(|part| !matches!(part, Part::Text { .. })).cloned().collect(),
                entry: rewriting.as_ref().map(|rewriting| rewriting.entry.clone()),
                seen,
                steer,
            },
            (None, Some(Rewriting { entry, .. })) => {
                RunStart::Edit { entry: entry.clone(), parts: parts.clone(), attached: Attached::Replaced }
            }
            (None, None) => RunStart::Say { parts: parts.clone(), seen, steer, piped: false },
        };
        let run = Run {
            conversation: tab.conversation().unwrap_or_default(),
            folder: Some(self.known.folder.clone()),
            start,
            files: rewriting.as_ref().map(|rewriting| rewriting.files.clone()).unwrap_or_default(),
            model: self.tab().model.name.clone(),
            head: rewriting.as_ref().map(|rewriting| rewriting.head.clone()),
            permit: if self.tab().conversation().is_none() {
                self.beginning.permit.clone()
            } else {
                Default::default()
            },
            request_id: None,
        };
        let ticket = self.run(self.tab().id, run);
        let tab = self.tab_mut();
        tab.talk.notes.clear();
        tab.outgoing.send(ticket, parts, rewriting);
        tab.view.to_end();
        // A sent message is no draft any more.
        let at = self.tabs.current;
        self.keep_draft(at);
    }

    /// Starts a run in a tab's conversation.
    pub(super) fn run(&mut self, id: TabId, run: Run) -> Ticket {
        let what = match &run.start {
            RunStart::Retry { entry } => RequestPurpose::Retry(entry.clone(), run.files.clone()),
            RunStart::Compact { .. } => RequestPurpose::Compact,
            _ => RequestPurpose::Nothing,
        };
        self.requests.run(Requester::Tab(id, what), run)
    }

    /// An event of a run that this client began. Events for all subscribers are handled elsewhere.
    pub(super) fn ran(&mut self, ticket: Ticket, event: RunEvent) {
        self.run_made(ticket, &event);
        let Some(Requester::Tab(id, _)) = self.requests.waits(ticket) else { return };
        let id = *id;
        match event {
            RunEvent::Started { receipt: Some(receipt), .. } | RunEvent::Joined { receipt } => {
                self.is_said(id, ticket);
                self.told_of_step_back(id, &receipt);
                let is_new = self.find_tab(id).is_some_and(|tab| tab.talk.conversation.is_none());
                if is_new {
                    self.begun(id, &receipt.conversation);
                }
            }
            RunEvent::Started { .. } | RunEvent::Queued => self.is_said(id, ticket),
            // The first run of a conversation: its other stream began later.
            RunEvent::Notice { notice, text } if !notice.is_passing() => {
                if let Some(tab) = self.find_tab(id) {
                    tab.talk.noticed(&notice, &text);
                }
            }
            RunEvent::Ended(ended) => match self.requests.answered(ticket) {
                Some(Requester::Tab(_, RequestPurpose::Compact)) => self.compacted(id, &ended),
                Some(Requester::Tab(_, RequestPurpose::Retry(..))) => self.ended(id, ticket, *ended, true),
                _ => self.ended(id, ticket, *ended, false),
            },
            _ => {}
        }
    }

    /// An edit or a retry took something back first: shows what, as for any other operation.
    fn told_of_step_back(&mut self, id: TabId, receipt: &Receipt) {
        let undo = self.keys.named(Command::Undo);
        let look = words::whole(self.now_ms);
        if let Some(text) = render::receipt::went_back(&look, receipt, [&undo, "/undo"]) {
            if let Some(tab) = self.find_tab(id) {
                // The notes of the previous run are over.
                tab.talk.notes.retain(|note| note.until != Until::Step);
            }
            self.note_in(id, text.trim_end(), Tone::Done);
            let note = self.find_tab(id).and_then(|tab| tab.talk.notes.last_mut());
            // The message itself and its answer are still to come.
            note.into_iter().for_each(|note| note.until = Until::Step);
        }
    }

    /// The owner has the message.
    fn is_said(&mut self, id: TabId, ticket: Ticket) {
        if let Some(tab) = self.find_tab(id) {
            tab.outgoing.stored(ticket);
            self.keep_unbegun();
        }
    }

    /// A conversation has begun with the message.
    fn begun(&mut self, id: TabId, conversation: &str) {
        self.follow(id, conversation);
        if let Some(tab) = self.find_tab(id) {
            tab.outgoing.begins = true;
        }
        let permit = std::mem::take(&mut self.beginning.permit);
        if let Some(mode) = permit.mode {
            let set = retake_wire::request::SetPermissions {
                conversation: conversation.to_owned(),
                mode: Some(mode),
                ..Default::default()
            };
            self.ask(Requester::Tab(id, RequestPurpose::Nothing), Request::SetPermissions(set));
        }
    }

    fn ended(&mut self, id: TabId, ticket: Ticket, ended: Ended, retries: bool) {
        let undo = self.keys.named(Command::Undo);
        if let Some(problem) = &ended.problem {
            self.complain_in(id, problem);
        }
        let is_back = ended.outcome == Outcome::RolledBack || (retries && ended.outcome == Outcome::Failed);
        if let Some(tab) = self.find_tab(id).filter(|_| is_back) {
            // The messages that it began with were taken back, too.
            tab.talk.notes.retain(|note| note.until != Until::Step);
        }
        let note = match ended.outcome {
            Outcome::Succeeded | Outcome::Joined => None,
            Outcome::Interrupted => {
                Some(format!("interrupted, kept: /retry asks again, {undo} takes it back"))
            }
            Outcome::RolledBack => {
                let composer = ended.receipt.as_ref().and_then(|receipt| receipt.composer.as_ref());
                match composer {
                    Some(composer) => {
                        self.returned(id, &composer.parts);
                        Some("stopped before any answer: your words are back in the composer".to_owned())
                    }
                    None => Some("stopped before any answer: nothing has changed".to_owned()),
                }
            }
            Outcome::Failed if retries => Some("the old answer is still there: /retry asks again".to_owned()),
            Outcome::Failed if self.is_unsaid(id, ticket) => {
                self.unsaid(id, ticket);
                None
            }
            Outcome::Failed => {
                Some(format!("what was said is kept: /retry asks again, {undo} takes it back"))
            }
        };
        if let Some(note) = note {
            self.note_in(id, note, Tone::Quiet);
        }
    }

    fn is_unsaid(&mut self, id: TabId, ticket: Ticket) -> bool {
        self.find_tab(id).is_some_and(|tab| tab.outgoing.is_sending(ticket))
    }

    /// A run was not started: the message comes back.
    pub(super) fn not_run(&mut self, ticket: Ticket, problem: &Problem) {
        if self.requests.changed(ticket) {
            self.look_elsewhere();
        }
        let Some(Requester::Tab(id, what)) = self.requests.answered(ticket) else { return };
        self.unsaid(id, ticket);
        match what {
            RequestPurpose::Retry(entry, files) if problem.kind == ProblemKind::Stale => {
                self.open_pane(id, Box::new(PlanPane::retry(&entry).once_more(files)));
            }
            _ if problem.kind == ProblemKind::Stale && self.plan_again(id) => {}
            _ => self.complain_in(id, problem),
        }
    }

    /// An edit was refused as stale: plans again what it takes back. Returns whether there is an edit.
    fn plan_again(&mut self, id: TabId) -> bool {
        let Some(tab) = self.find_tab(id) else { return false };
        let conversation = tab.conversation().unwrap_or_default();
        let Some(rewriting) = &mut tab.outgoing.rewriting else { return false };
        rewriting.is_stale = true;
        let action = Action::Edit { entry: rewriting.entry.clone() };
        let (entry, files) = (rewriting.entry.clone(), FileOptions { seen: None, ..rewriting.files.clone() });
        let plan = request::Plan { conversation, action, files, diff: false };
        self.ask(Requester::Tab(id, RequestPurpose::Rewritten(entry)), Request::Plan(plan));
        true
    }

    /// What sending takes back now. Conflicts are shown before it is sent.
    pub(super) fn planned_again(&mut self, id: TabId, entry: &str, plan: &Plan) {
        let Some(tab) = self.find_tab(id) else { return };
        let Some(rewriting) = tab.outgoing.rewriting.as_mut().filter(|rewriting| rewriting.entry == entry)
        else {
            return;
        };
        rewriting.is_stale = false;
        let files = plan.files.as_ref();
        if files.is_some_and(|files| files.conflicts > 0) {
            let pane = PlanPane::edit(entry).once_more(rewriting.files.clone());
            return self.open_pane(id, Box::new(pane));
        }
        rewriting.head.clone_from(&plan.head);
        rewriting.files.seen = files.map(|files| files.digest.clone());
        rewriting.takes_back = render::receipt::would_take_back(plan);
        let takes_back = rewriting.takes_back.clone();
        let enter = self.keys.named(Command::Send);
        let note = format!(
            "something has changed, and nothing was sent: {enter} sends now and takes back {takes_back}"
        );
        self.note_in(id, note, Tone::Quiet);
    }

    fn unsaid(&mut self, id: TabId, ticket: Ticket) {
        let Some(tab) = self.find_tab(id) else { return };
        let Some(parts) = tab.outgoing.refused(ticket) else { return };
        self.returned(id, &parts);
    }

    /// A message comes back into the composer of a tab; a draft in it is moved aside.
    pub(super) fn returned(&mut self, id: TabId, parts: &[Part]) {
        let now_ms = self.now_ms;
        if let Some(tab) = self.find_tab(id) {
            tab.outgoing.return_to(&mut tab.composer, parts);
            tab.draft.typed(now_ms);
            tab.presses.stepped(now_ms);
        }
    }

    /// Shows an error in the conversation's tab.
    pub(super) fn complain_in(&mut self, id: TabId, problem: &Problem) {
        let problem = Audience::Screen.word(problem.clone());
        let mut text = Text::styled(Style::Error, safe::line(&english::problem(&problem)));
        for cause in &problem.causes {
            text.push(text!["\n  ", (Style::Dim, safe::line(cause))]);
        }
        if let Some(hint) = &problem.hint {
            let hint = Audience::Screen.words(hint);
            text.push(text!["\n", (Style::Dim, safe::line(&hint))]);
        }
        self.note_in(id, text, Tone::Wrong);
    }

    /// Shows a line after the conversation.
    pub(super) fn note_in(&mut self, id: TabId, text: impl Into<Text>, tone: Tone) {
        if let Some(tab) = self.find_tab(id) {
            tab.talk.note(Note { text: text.into(), tone, until: Until::Entry });
        }
    }

    /// An external editor returned a text.
    pub(super) fn edited(&mut self, text: Result<String, String>) {
        match text {
            Ok(text) => {
                let text = self.without_nul(&text).into_owned();
                self.tab_mut().composer.set_text(text.trim_end_matches('\n'));
                self.typed();
            }
            Err(why) => self.refuse(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_command;

    #[test]
    fn commands_and_messages_are_distinguished() {
        for (line, command) in [
            ("/rewind", Some(("rewind", ""))),
            (":rollback t3", Some(("rollback", "t3"))),
            ("/label  t3  my name ", Some(("label", "t3  my name"))),
            ("//rewind", None),
            ("/usr/bin/env is a path", None),
            ("/", None),
            (":)", None),
            ("rewind", None),
            ("/find a\nb", None),
        ] {
            assert_eq!(is_command(line), command, "{line}");
        }
    }
}
