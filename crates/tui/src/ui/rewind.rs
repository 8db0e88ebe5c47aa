//! The rewind: turns as targets, newest first, and beside them the plan. An action needs two confirmations of a shown plan; a
//! change by another client cancels them. Must never plan more than the turn on which the selection rests.

mod draw;
mod load;
#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use retake_wire::reply::Target;
use retake_wire::{Action, Problem, Reply};

use super::keymap::{Command, Context};
use super::letter_keys::{LetterKeys, LetterMeaning};
use super::msg::{PaneInstruction, Ticket};
use super::pane::{Cx, Pane, PaneContext};
use super::plan::{self, Proposal, ProposalOutcome, ProposalStage, ReplyOutcome};
use super::rows::{InputEffect, Order, Row, Rows};
use load::Load;

/// The most plans kept beside the shown one, until something changes.
const KEPT: usize = 16;

/// The notice for text where none can be typed.
const NO_TEXT: &str = "text cannot be typed here";

/// The picker.
#[derive(Debug)]
pub(crate) struct Rewind {
    /// The turns, newest first.
    turns: Rows<Target>,
    load: Load,
    /// The plan of the selected turn.
    shown: Option<Planned>,
    /// Plans of previously selected turns, the latest first.
    kept: VecDeque<Planned>,
    focus: Focus,
    note: Option<String>,
    /// Text typed while the final question is shown.
    letters: LetterKeys,
    /// The area of the plan at the last drawing.
    plan_area: Rect,
}

impl Row for Target {
    fn key(&self) -> &str {
        &self.entry
    }

    fn fields(&self) -> Vec<String> {
        vec![format!("t{}", self.turn), self.preview.clone()]
    }
}

/// A turn's plan.
#[derive(Debug)]
struct Planned {
    entry: String,
    proposal: Proposal,
}

/// The part that gets the motion keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Focus {
    List,
    Plan,
}

impl Rewind {
    /// A picker that requests its turns when it is opened.
    pub(crate) fn new() -> Self {
        Self {
            turns: Rows::new(Order::Best),
            load: Load::default(),
            shown: None,
            kept: VecDeque::new(),
            focus: Focus::List,
            note: None,
            letters: LetterKeys::default(),
            plan_area: Rect::ZERO,
        }
    }

    fn stage(&self) -> ProposalStage {
        self.shown.as_ref().map_or(ProposalStage::Looking, |shown| shown.proposal.stage())
    }

    /// Shows the plan of the selected turn; it is requested once the selection rests.
    fn follow(&mut self, cx: &mut Cx<'_>) {
        let entry = self.turns.selected().map(|target| target.entry.clone());
        if self.shown.as_ref().map(|shown| &shown.entry) == entry.as_ref() {
            return;
        }
        if let Some(old) = self.shown.take() {
            self.keep(old, cx);
        }
        let Some(entry) = entry else { return };
        self.shown = Some(match self.kept.iter().position(|kept| kept.entry == entry) {
            Some(at) => {
                let mut kept = self.kept.remove(at).expect("BUG: the place was found");
                kept.proposal.hush();
                kept
            }
            None => {
                let action = Action::Rewind { entry: entry.clone() };
                let mut proposal = Proposal::new(action, ProposalOutcome::Applied, Context::Rewind);
                proposal.rest(cx.now_ms);
                Planned { entry, proposal }
            }
        });
    }

    /// Keeps the plan of a turn that is no longer selected; one that is on its way is given up.
    fn keep(&mut self, old: Planned, cx: &mut Cx<'_>) {
        if let Some(ticket) = old.proposal.on_its_way() {
            cx.cancel(ticket);
        }
        if old.proposal.plan().is_some() && old.proposal.is_settled() {
            self.kept.push_front(old);
            self.kept.truncate(KEPT);
        }
    }

    /// Whether the motion keys move in the plan.
    fn scrolls(&self) -> bool {
        self.focus == Focus::Plan || self.stage() != ProposalStage::Looking || self.is_choosing()
    }

    /// Whether they move among the choices for a file.
    fn is_choosing(&self) -> bool {
        self.shown.as_ref().is_some_and(|shown| shown.proposal.is_choosing())
    }

    fn say(&mut self, text: impl Into<String>) {
        self.note = Some(text.into());
    }

    fn hush(&mut self) {
        self.note = None;
        if let Some(shown) = &mut self.shown {
            shown.proposal.hush();
        }
    }

    /// Esc: from the question to the plan, from a plan that hides the list to the list, then closes.
    fn back(&mut self, cx: &mut Cx<'_>) {
        self.letters = LetterKeys::default();
        if self.shown.as_mut().is_some_and(|shown| shown.proposal.back()) {
            return;
        }
        if self.focus == Focus::Plan && !self.turns.is_drawn() {
            self.focus = Focus::List;
            return;
        }
        if let Some(ticket) = self.shown.as_ref().and_then(|shown| shown.proposal.on_its_way()) {
            cx.cancel(ticket);
        }
        cx.want(PaneInstruction::Close);
    }

    /// Passes a command to the plan of the selected turn, or shows why there is none.
    fn plan_does(&mut self, command: Command, cx: &mut Cx<'_>) {
        if let Some(shown) = &mut self.shown {
            shown.proposal.command(command, cx);
            return;
        }
        let why = match self.turns.selected() {
            Some(_) => "the plan is being made: wait a moment",
            None if self.turns.is_empty() => "there is no turn to go back to",
            None => "no turn matches what is typed",
        };
        self.say(why);
    }
}

impl Pane for Rewind {
    fn context(&self) -> Context {
        match self.stage() {
            _ if self.is_choosing() => Context::Choices,
            ProposalStage::Agreeing { .. } => Context::Agree,
            _ => Context::Rewind,
        }
    }

    fn opened(&mut self, cx: &mut Cx<'_>) {
        self.load.begin(cx);
        self.follow(cx);
    }

    fn command(&mut self, command: Command, cx: &mut Cx<'_>) {
        if matches!(self.stage(), ProposalStage::Applying(..)) {
            return;
        }
        self.hush();
        self.letters.other();
        if command == Command::Accept && self.letters.enter(cx.now_ms) {
            return self.say(plan::NO_WORDS);
        }
        match command {
            _ if command != Command::Close && self.is_choosing() => {
                if let Some(shown) = &mut self.shown
                    && !shown.proposal.command(command, cx)
                {
                    plan::scroll(&mut shown.proposal, command);
                }
            }
            Command::Close => self.back(cx),
            Command::Up
            | Command::Down
            | Command::PageUp
            | Command::PageDown
            | Command::First
            | Command::Last => match &mut self.shown {
                Some(shown)
                    if self.focus == Focus::Plan || shown.proposal.stage() != ProposalStage::Looking =>
                {
                    plan::scroll(&mut shown.proposal, command);
                }
                _ => {
                    self.turns.command(command);
                }
            },
            Command::Other => {
                self.focus = if self.focus == Focus::List { Focus::Plan } else { Focus::List };
            }
            Command::Erase | Command::EraseAll => {
                if self.stage() == ProposalStage::Looking {
                    self.turns.command(command);
                }
            }
            _ => self.plan_does(command, cx),
        }
        self.follow(cx);
    }

    fn letter(&mut self, letter: char, command: Command, cx: &mut Cx<'_>) {
        if command != Command::Yes {
            return self.command(command, cx);
        }
        if self.letters.yes(letter, cx.now_ms) == LetterMeaning::Word {
            self.say(NO_TEXT);
        }
    }

    fn typed(&mut self, text: &str, cx: &mut Cx<'_>) {
        if self.is_choosing() {
            self.say(NO_TEXT);
        } else if self.stage() == ProposalStage::Looking {
            self.hush();
            self.focus = Focus::List;
            self.turns.typed(text);
            self.follow(cx);
        } else if matches!(self.stage(), ProposalStage::Agreeing { .. }) {
            self.letters.stray(text, cx.now_ms);
            self.say(NO_TEXT);
        }
    }

    fn replied(&mut self, ticket: Ticket, reply: Result<Reply, Problem>, cx: &mut Cx<'_>) {
        if self.load.is(ticket) {
            self.load.replied(&mut self.turns, reply, cx);
            // An empty list shows the error itself.
            if !self.turns.is_empty() {
                self.note = self.load.problem().map(str::to_owned).or(self.note.take());
            }
            self.follow(cx);
            return;
        }
        let Some(shown) = &mut self.shown else { return };
        let came = shown.proposal.replied(ticket, reply, cx);
        if came == ReplyOutcome::Stale {
            shown.proposal.hush();
            self.say("changed meanwhile: nothing was done, the list was refreshed");
        }
        if matches!(came, ReplyOutcome::Stale | ReplyOutcome::Stopped) {
            self.kept.clear();
            self.load.renew(cx);
        }
    }

    fn changed(&mut self, cx: &mut Cx<'_>) {
        if matches!(self.stage(), ProposalStage::Applying(..)) {
            // This is probably the step itself; if it is refused, the list is loaded again.
            return self.load.spoil();
        }
        self.kept.clear();
        // A plan that is only viewed is renewed without a notice. Events of the person's own run are not changes by others.
        if self.shown.as_mut().is_some_and(|shown| shown.proposal.changed(cx.now_ms)) {
            self.say("changed elsewhere: list refreshed");
        }
        self.load.renew(cx);
    }

    fn tick(&mut self, cx: &mut Cx<'_>) {
        if self.letters.agrees(cx.now_ms) {
            self.command(Command::Accept, cx);
        }
        if let Some(shown) = &mut self.shown {
            let may_ask = shown.proposal.on_its_way().is_none();
            shown.proposal.tick(cx, may_ask);
        }
    }

    fn is_lively(&self) -> bool {
        self.letters.waits() || self.shown.as_ref().is_some_and(|shown| shown.proposal.is_lively())
    }

    fn clicked(&mut self, at: Position, cx: &mut Cx<'_>) {
        if self.stage() == ProposalStage::Looking && self.turns.clicked(at) != InputEffect::Nothing {
            self.focus = Focus::List;
            self.follow(cx);
        } else if self.plan_area.contains(at)
            && let Some(shown) = &mut self.shown
        {
            shown.proposal.view.click(usize::from(at.y - self.plan_area.y));
        }
    }

    fn draw(&mut self, frame: &mut Frame<'_>, area: Rect, brush: &PaneContext<'_>) {
        self.paint(frame, area, brush);
    }
}
