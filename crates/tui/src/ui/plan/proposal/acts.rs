//! A person's steps with a proposal: continue, go back, change the scope, choose for a file. Must never apply anything but the
//! shown plan.

use retake_wire::reply::{Composer, Plan};
use retake_wire::request::Apply;
use retake_wire::{Action, Choice, Choose, Condition, FileOptions, PathPlan, Request, Scope, Verdict};

use super::{PLANNING, Proposal, ProposalOutcome, ProposalStage, Scopes, Stopped, takes_files, worded};
use crate::text::safe;
use crate::ui::keymap::{Command, Context};
use crate::ui::msg::PaneInstruction;
use crate::ui::pane::Cx;
use crate::ui::plan::choices::{chosen, holds, is_open, options, ticked};
use crate::ui::plan::draw::TOO_SMALL;
use crate::ui::plan::view::Place;

/// What letters change: the choices, and the position in the plan.
#[derive(Debug)]
pub(crate) struct StateBeforeLetter {
    choices: FileOptions,
    place: Place,
}

/// The notice for an Enter that is too early.
const NEW: &str = "it has just changed: this is the new plan, press again";

/// No person wrote the message.
const NO_EDIT: &str = "only messages of a person can be edited: /retry asks for another answer";

/// The action does not affect files.
const NO_FILE: &str = "no file changes";

/// Whether a condition of a plan says that no file changes, of all files or of the covered ones.
fn says_no_file(condition: &Condition) -> bool {
    matches!(
        condition,
        Condition::NoFileChanges | Condition::NoCoveredFileChanges | Condition::FilesUnchanged
    )
}

impl Proposal {
    /// A command of its keys. Returns whether it was one.
    pub(crate) fn command(&mut self, command: Command, cx: &mut Cx<'_>) -> bool {
        if matches!(self.stage, ProposalStage::Applying(..)) {
            return true;
        }
        self.note = None;
        self.planning.is_eager = false;
        self.stopped = None;
        if self.view.cursor().is_some() && self.chooses(command, cx.now_ms) {
            return true;
        }
        match command {
            Command::Accept => self.accept(cx),
            Command::Scope | Command::ConfirmScope => self.next_scope(cx),
            Command::StopFirst | Command::ConfirmStop => self.stop_first(),
            Command::NextFile | Command::ConfirmNext => self.leaf(true),
            Command::PreviousFile | Command::ConfirmPrevious => self.leaf(false),
            Command::Choose | Command::ConfirmChoose => self.choose(),
            Command::DetailUp => self.view.scroll(-3),
            Command::DetailDown => self.view.scroll(3),
            _ => return false,
        }
        true
    }

    /// The state before a letter acts.
    pub(crate) fn before(&self) -> StateBeforeLetter {
        StateBeforeLetter { choices: self.choices.clone(), place: self.view.place_now() }
    }

    /// Reverts the effect of letters.
    pub(crate) fn put_back(&mut self, before: StateBeforeLetter, now_ms: i64) {
        self.view.back_to(before.place);
        if self.choices != before.choices {
            self.choices = before.choices;
            self.choices_changed(now_ms);
        }
    }

    /// Esc: from the final question back to the plan. Returns whether there was one.
    pub(crate) fn back(&mut self) -> bool {
        if self.view.close_choices() {
            return true;
        }
        match self.stage {
            ProposalStage::Looking => false,
            ProposalStage::Applying(..) => true,
            ProposalStage::Agreeing { .. } => {
                self.stage = ProposalStage::Looking;
                self.note = Some("nothing has changed".to_owned());
                true
            }
        }
    }

    pub(super) fn accept(&mut self, cx: &mut Cx<'_>) {
        let stage = self.stage;
        match stage {
            ProposalStage::Agreeing { .. } | ProposalStage::Looking
                if self.is_unseen && (stage != ProposalStage::Looking || !self.asks_twice()) =>
            {
                self.note = Some(TOO_SMALL.to_owned());
            }
            ProposalStage::Agreeing { stop: false } if cx.now_ms < self.planning.new_until_ms => {
                self.note = Some(NEW.to_owned());
            }
            ProposalStage::Agreeing { stop } => self.apply(stop, cx),
            ProposalStage::Looking if !self.can_go_on() => {
                // A plan that was not shown can't be agreed to: without a final question, the person presses again.
                self.planning.is_eager = self.asks_twice();
                self.planning.due_ms = self.planning.due_ms.map(|due| due.min(cx.now_ms));
                self.note = Some(PLANNING.to_owned());
            }
            ProposalStage::Looking => match self.refuses() {
                Some(why) => {
                    self.note = Some(why);
                    self.look_at_conflict();
                }
                None if self.stops() => {
                    self.note = Some("something is running: it must be stopped first".to_owned());
                }
                None if !self.asks_twice() && cx.now_ms < self.planning.new_until_ms => {
                    self.note = Some(NEW.to_owned());
                }
                None if !self.asks_twice() => self.apply(false, cx),
                None => self.stage = ProposalStage::Agreeing { stop: false },
            },
            ProposalStage::Applying(..) => {}
        }
    }

    /// Whether Enter leads to a final question. An action chosen by its name was already chosen deliberately.
    pub(crate) fn asks_twice(&self) -> bool {
        self.context == Context::Rewind
    }

    fn stop_first(&mut self) {
        match self.refuses() {
            Some(why) => self.note = Some(why),
            None if self.stops() => self.stage = ProposalStage::Agreeing { stop: true },
            None => self.note = Some("nothing is running that must be stopped".to_owned()),
        }
    }

    /// Whether something must be stopped first.
    pub(crate) fn stops(&self) -> bool {
        !matches!(self.ends, ProposalOutcome::Rewritten(_))
            && self.plan.as_ref().is_some_and(|plan| plan.at_work || !plan.running.is_empty())
    }

    /// Whether the shown plan can be agreed to. During a run it is renewed all the time; it includes the run's work meanwhile.
    fn can_go_on(&self) -> bool {
        self.is_settled() || (self.planning.is_shown_current && self.stops())
    }

    /// The reason why it can't be agreed to now.
    pub(super) fn refuses(&self) -> Option<String> {
        if let Some(problem) = &self.problem {
            return Some(worded(problem));
        }
        let Some(plan) = self.plan.as_ref().filter(|_| self.can_go_on()) else {
            return Some(PLANNING.to_owned());
        };
        if plan.unchanged && self.choices.choose.is_empty() && self.ends == ProposalOutcome::Applied {
            return Some("nothing would change: it is already in this state".to_owned());
        }
        let conflicts = plan.files.as_ref().map_or(0, |files| files.conflicts);
        if conflicts > 0 {
            return Some(self.choose_first(plan));
        }
        if matches!(self.ends, ProposalOutcome::Rewritten(_)) && plan.composer.is_none() {
            return Some(NO_EDIT.to_owned());
        }
        None
    }

    /// The choices needed first; their files come first.
    fn choose_first(&self, plan: &Plan) -> String {
        let open = self.conflicts(plan);
        let first = open.first().map_or_else(
            || "the files in conflict".to_owned(),
            |path| safe::line(&path.name.path).into_owned(),
        );
        match open.len().saturating_sub(1) {
            0 => format!("choose first: {first} is in conflict"),
            more => format!("choose first: {first} and {more} more are in conflict"),
        }
    }

    /// The files in conflict: those without a choice, or all if each has one.
    fn conflicts<'a>(&self, plan: &'a Plan) -> Vec<&'a PathPlan> {
        let paths = plan.files.iter().flat_map(|files| &files.paths);
        let all: Vec<_> = paths.filter(|path| path.verdict == Verdict::Conflict).collect();
        let open: Vec<_> = all.iter().copied().filter(|path| is_open(path, &self.choices.choose)).collect();
        if open.is_empty() { all } else { open }
    }

    /// Views the file that must be chosen for first, if there is one.
    fn look_at_conflict(&mut self) {
        let first = self.plan.as_ref().and_then(|plan| self.conflicts(plan).first().map(|path| &path.name));
        if let Some(name) = first {
            self.view.turn_to(name);
        }
    }

    pub(super) fn apply(&mut self, stop: bool, cx: &mut Cx<'_>) {
        if !(stop && self.takes_words_back(cx)) {
            self.goes_ahead(stop, cx);
        }
    }

    /// The same, if no messages wait.
    pub(super) fn goes_ahead(&mut self, stop: bool, cx: &mut Cx<'_>) {
        let Some(plan) = &self.plan else { return };
        if stop && self.stopped.is_none() {
            self.stopped = Some(Box::new(Stopped::new(plan.clone())));
        }
        let scope = self.choices.scope;
        // Only what was shown is done.
        let files = match scope {
            Scope::Conversation => FileOptions { scope, stop, ..FileOptions::default() },
            _ => {
                let seen = plan.files.as_ref().map(|files| files.digest.clone());
                FileOptions { seen, stop, ..self.choices.clone() }
            }
        };
        let head = plan.head.clone();
        match &self.ends {
            ProposalOutcome::Applied => {
                let (conversation, action) = (cx.id(), self.action.clone());
                let head = Some(head);
                let apply = Apply { conversation, action, head, since: false, files, request_id: None };
                self.stage = ProposalStage::Applying(cx.ask(Request::Apply(apply)), cx.now_ms);
            }
            ProposalOutcome::Rewritten(entry) => {
                let composer = plan.composer.clone().unwrap_or_default();
                let Composer { entry: named, parts, .. } = composer;
                // Its own id, however it was named.
                let entry = if named.is_empty() { entry.clone() } else { named };
                let takes_back = crate::render::receipt::would_take_back(plan);
                cx.want(PaneInstruction::Rewrite { entry, head, parts, files, takes_back });
                cx.want(PaneInstruction::Close);
            }
            ProposalOutcome::Retried(entry) => {
                let start = retake_wire::RunStart::Retry { entry: entry.clone() };
                let run = retake_wire::Run {
                    conversation: cx.id(),
                    folder: None,
                    start,
                    files,
                    model: None,
                    head: Some(head),
                    permit: retake_wire::Permit::default(),
                    request_id: None,
                };
                cx.want(PaneInstruction::Run(Box::new(run)));
                cx.want(PaneInstruction::Close);
            }
        }
    }

    /// The next scope: conversation and files, then one of them, as far as possible.
    fn next_scope(&mut self, cx: &mut Cx<'_>) {
        let scopes = match self.scopes() {
            Scopes::Several(scopes) => scopes,
            Scopes::One(why) => return self.say(why),
            Scopes::Nothing if self.has_files == Some(false) => return self.say(NO_FILE),
            Scopes::Nothing => return self.say("this step does not change files"),
        };
        let at = scopes.iter().position(|scope| *scope == self.choices.scope).unwrap_or(0);
        self.stage = ProposalStage::Looking;
        self.choices.scope = scopes[(at + 1) % scopes.len()];
        self.choices_changed(cx.now_ms);
    }

    /// The possible scopes.
    pub(crate) fn scopes(&self) -> Scopes {
        if !takes_files(&self.action) {
            return Scopes::Nothing;
        }
        if matches!(self.action, Action::RestoreFiles { .. }) {
            return Scopes::One("this step changes only files");
        }
        match self.has_files {
            // An edit changes the conversation in any scope.
            Some(true) if self.ends != ProposalOutcome::Applied => {
                Scopes::Several(&[Scope::Both, Scope::Conversation])
            }
            Some(true) => Scopes::Several(&[Scope::Both, Scope::Conversation, Scope::Files]),
            // The plan says so itself, and why.
            Some(false)
                if self.plan.as_ref().is_some_and(|plan| plan.conditions.iter().any(says_no_file)) =>
            {
                Scopes::Nothing
            }
            Some(false) => Scopes::One(NO_FILE),
            None => Scopes::Nothing,
        }
    }

    fn leaf(&mut self, forth: bool) {
        if self.view.files() == 0 {
            self.note = Some(NO_FILE.to_owned());
        } else if forth {
            self.view.next();
        } else {
            self.view.previous();
        }
    }

    /// Opens the choices for the viewed file.
    fn choose(&mut self) {
        let Some(plan) = &self.plan else { return };
        if self.view.path(plan).is_none() && plan.files.as_ref().is_some_and(|files| files.conflicts > 0) {
            // They come first.
            self.view.turn(0);
        }
        let Some(path) = self.view.path(plan) else {
            self.note = Some("no file is selected: go to a file first".to_owned());
            return;
        };
        let all = options(path);
        if all.len() < 2 {
            self.note = Some("there is nothing to choose for this file".to_owned());
            return;
        }
        self.stage = ProposalStage::Looking;
        self.view.open_choices(path, &self.choices.choose);
    }

    /// Whether there is no plan yet, and no reason why.
    pub(crate) fn is_first_on_its_way(&self) -> bool {
        self.plan.is_none() && self.problem.is_none() && self.stage == ProposalStage::Looking
    }

    /// Whether the arrows move among the choices for a file.
    pub(crate) fn is_choosing(&self) -> bool {
        self.view.cursor().is_some()
    }

    /// Whether hunks of the viewed file can be ticked.
    pub(crate) fn has_hunks(&self) -> bool {
        let path = self.plan.as_ref().and_then(|plan| self.view.path(plan));
        path.is_some_and(|path| options(path).iter().any(|option| matches!(option, Choice::Hunks(_))))
    }

    /// The command that shows the file before.
    pub(crate) fn previous_file(&self) -> Command {
        if self.context == Context::Rewind { Command::PreviousFile } else { Command::ConfirmPrevious }
    }

    /// The command of the letter that agrees.
    pub(crate) fn yes(&self) -> Command {
        if self.asks_twice() { Command::Yes } else { Command::ConfirmYes }
    }

    /// A key in the list of choices. Returns whether it was one.
    fn chooses(&mut self, command: Command, now_ms: i64) -> bool {
        let path = self.plan.as_ref().and_then(|plan| self.view.path(plan));
        let Some((path, at)) = path.zip(self.view.cursor()) else { return self.view.close_choices() };
        let all = options(path);
        let Some(option) = all.get(at).or(all.last()) else { return self.view.close_choices() };
        match command {
            Command::Accept => {
                // Enter keeps the hunks that are ticked already.
                let is_done = matches!(option, Choice::Hunks(_)) && holds(path, &self.choices.choose, option);
                let was_open = is_open(path, &self.choices.choose);
                if !is_done {
                    let option = option.clone();
                    self.tick_option(&option, now_ms);
                }
                if was_open {
                    self.view.decided();
                }
                self.view.close_choices()
            }
            Command::Tick => {
                let option = option.clone();
                self.tick_option(&option, now_ms);
                true
            }
            _ => self.view.move_choice(command, all.len()),
        }
    }

    /// Chooses an option for the viewed file, or ticks a hunk.
    fn tick_option(&mut self, option: &Choice, now_ms: i64) {
        let Some(path) = self.plan.as_ref().and_then(|plan| self.view.path(plan)) else { return };
        let choice = ticked(chosen(path, &self.choices.choose), option);
        let name = path.name.clone();
        self.stage = ProposalStage::Looking;
        self.choices.choose.retain(|choose| choose.name != name);
        self.choices.choose.extend(choice.map(|choice| Choose { name, choice }));
        self.choices_changed(now_ms);
    }
}
