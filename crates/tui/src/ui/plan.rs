//! The plan of an action that was chosen elsewhere: shown, agreed to, done. Rewind shows the same plan beside its list
//! ([`proposal`] and [`view`] serve both). Must never do anything that was not shown.

mod choices;
mod draw;
mod lay;
mod prompt;
mod proposal;
#[cfg(test)]
mod tests;
mod view;

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use retake_wire::reply::Plan;
use retake_wire::{Action, FileOptions, Problem, Reply, english};

use super::keymap::{Command, Context};
use super::letter_keys::{LetterKeys, LetterMeaning};
use super::msg::{PaneInstruction, Ticket};
use super::pane::{Cx, Pane, PaneContext};
use super::pane_frame::PaneFrame;
use super::theme::Paint;
use crate::render;
use crate::text::{safe, width};

use prompt::{PromptLookup, Seek};

pub(crate) use draw::{paragraph, proposal, waits, wrapped};
use proposal::StateBeforeLetter;
pub(crate) use proposal::{Proposal, ProposalOutcome, ProposalStage, ReplyOutcome, worded};

/// The notice for an Enter after words.
pub(crate) const NO_WORDS: &str = "typed text was ignored: press again to agree to the plan";

/// The notice for a letter that agrees, but was pressed right behind another key.
const TOO_SOON: &str = "too soon after another key: press it again to agree to the plan";

/// The plan of an action.
#[derive(Debug)]
pub(crate) struct PlanPane {
    title: String,
    /// The text of the message that it is about, if known.
    quoted: Option<String>,
    subject: Subject,
    /// The area of the plan at the last drawing.
    body: Rect,
    /// After words, the next Enter agrees to nothing.
    letters: LetterKeys,
    /// The earlier choices, if they were refused as stale.
    refused: Option<FileOptions>,
    /// The state before a letter that may turn out to be the first one of words.
    before: Option<StateBeforeLetter>,
}

/// The subject of the plan.
#[derive(Debug)]
enum Subject {
    /// An action.
    Known(Box<Proposal>),
    /// A retry, of a prompt that is being looked up.
    Sought(Seek),
    /// It was not found.
    Lost(String),
}

impl PlanPane {
    /// Shows the plan of an action; Enter does it.
    pub(crate) fn new(title: &str, action: Action) -> Self {
        Self::of(title, Proposal::new(action, ProposalOutcome::Applied, Context::Confirm))
    }

    /// Shows what an edit of a message would take back; Enter puts its text into the composer.
    pub(crate) fn edit(entry: &str) -> Self {
        let action = Action::Edit { entry: entry.to_owned() };
        Self::of(
            "Edit",
            Proposal::new(action, ProposalOutcome::Rewritten(entry.to_owned()), Context::Confirm),
        )
    }

    /// Shows what a retry would take back; Enter does it. The entry is any entry of the answer, or its prompt.
    pub(crate) fn retry(entry: &str) -> Self {
        Self::with("Retry", Subject::Sought(Seek::new(entry)))
    }

    fn of(title: &str, proposal: Proposal) -> Self {
        Self::with(title, Subject::Known(Box::new(proposal)))
    }

    fn with(title: &str, subject: Subject) -> Self {
        Self {
            title: title.to_owned(),
            quoted: None,
            subject,
            body: Rect::ZERO,
            letters: LetterKeys::default(),
            refused: None,
            before: None,
        }
    }

    /// Shows the current plan: the one that was agreed to, with these choices, was refused as stale.
    pub(crate) fn once_more(mut self, choices: FileOptions) -> Self {
        if let Some(proposal) = self.proposal() {
            proposal.once_more(choices.clone());
        }
        Self { refused: Some(choices), ..self }
    }

    /// Sets the message that it is about.
    pub(crate) fn about(self, words: Option<&str>) -> Self {
        let quoted = words.map(|words| render::words::quote(words.trim(), 200));
        Self { quoted: quoted.filter(|quoted| quoted != "“”"), ..self }
    }

    fn proposal(&mut self) -> Option<&mut Proposal> {
        match &mut self.subject {
            Subject::Known(proposal) => Some(proposal),
            Subject::Sought(_) | Subject::Lost(_) => None,
        }
    }

    /// The letters are words: the effect of those that were keys is reverted.
    fn are_words(&mut self, now_ms: i64) {
        let before = self.before.take();
        if let (Some(before), Some(proposal)) = (before, self.proposal()) {
            proposal.put_back(before, now_ms);
            proposal.say("text cannot be typed here: the plan is as it was before");
        }
    }

    /// The final question.
    fn question(&self) -> String {
        format!("{}?", self.title)
    }

    /// A retry begins with a move to its prompt.
    fn sought(&mut self, found: PromptLookup, cx: &mut Cx<'_>) {
        let Subject::Sought(seek) = &self.subject else { return };
        self.subject = match found {
            PromptLookup::NotYet => return,
            PromptLookup::Nothing => {
                Subject::Lost("there is no message that another answer could be given to".to_owned())
            }
            PromptLookup::Prompt(prompt) => {
                let (action, entry) = (Action::Checkout { entry: Some(prompt) }, seek.entry.clone());
                let mut proposal = Proposal::new(action, ProposalOutcome::Retried(entry), Context::Confirm);
                if let Some(choices) = self.refused.take() {
                    proposal.once_more(choices);
                }
                proposal.ask(cx);
                Subject::Known(Box::new(proposal))
            }
        };
    }
}

/// The number of steps, and the requested number if there are fewer.
fn how_many(plan: &Plan) -> String {
    let done = plan.steps.as_ref().map_or_else(|| english::steps(plan).len(), |steps| steps.done) as u64;
    match plan.steps.as_ref().filter(|steps| steps.done < steps.asked) {
        Some(steps) => format!(
            "only {} of {} steps",
            render::words::number(done),
            render::words::number(steps.asked as u64)
        ),
        None => render::words::count(done, "step"),
    }
}

/// The steps to undo or redo.
fn steps(plan: &Plan) -> Option<String> {
    match english::steps(plan).as_slice() {
        [] => None,
        [one] if render::plan::short_of(plan).is_some() => {
            Some(format!("{}: {}", how_many(plan), safe::line(one)))
        }
        [one] => Some(safe::line(one).into_owned()),
        [first, ..] => Some(format!("{}, the first: {}", how_many(plan), safe::line(first))),
    }
}

impl Pane for PlanPane {
    fn context(&self) -> Context {
        match &self.subject {
            Subject::Known(proposal) if proposal.is_choosing() => Context::Choices,
            _ => Context::Confirm,
        }
    }

    fn opened(&mut self, cx: &mut Cx<'_>) {
        match &mut self.subject {
            Subject::Known(proposal) => proposal.ask(cx),
            Subject::Sought(seek) => seek.begin(cx),
            Subject::Lost(_) => {}
        }
    }

    fn command(&mut self, command: Command, cx: &mut Cx<'_>) {
        self.letters.other();
        // A choice for a file can be changed: only agreement needs care.
        let is_choosing = self.context() == Context::Choices;
        if command == Command::Accept && !is_choosing && self.letters.enter(cx.now_ms) {
            if let Some(proposal) = self.proposal() {
                proposal.say(NO_WORDS);
            }
            return;
        }
        let close = command == Command::Close;
        let done = match self.proposal() {
            Some(proposal) if close => proposal.back(),
            Some(proposal) => proposal.command(command, cx) || scroll(proposal, command),
            None => false,
        };
        if close && !done {
            cx.want(PaneInstruction::Close);
        }
    }

    fn letter(&mut self, letter: char, command: Command, cx: &mut Cx<'_>) {
        let (is_yes, has_words) = (command == Command::ConfirmYes, self.letters.has_words());
        let meaning = match is_yes {
            true => self.letters.yes(letter, cx.now_ms),
            false => self.letters.key(letter, cx.now_ms),
        };
        match meaning {
            LetterMeaning::Key => self.before = self.proposal().map(|proposal| proposal.before()),
            LetterMeaning::Again => {}
            LetterMeaning::Word => {
                if let (true, false, Some(proposal)) = (is_yes, has_words, self.proposal()) {
                    proposal.say(TOO_SOON);
                }
                return;
            }
        }
        if !is_yes {
            self.command(command, cx);
        }
    }

    fn typed(&mut self, text: &str, cx: &mut Cx<'_>) {
        let is_command = text.starts_with('/') || text.starts_with(':');
        let goes_on = self.letters.has_words();
        if self.letters.stray(text, cx.now_ms) {
            return self.are_words(cx.now_ms);
        }
        if let Some(proposal) = self.proposal().filter(|_| is_command || !goes_on) {
            proposal.say(if is_command {
                "commands are typed in the composer: close this view first"
            } else {
                "text cannot be typed here"
            });
        }
    }

    fn replied(&mut self, ticket: Ticket, reply: Result<Reply, Problem>, cx: &mut Cx<'_>) {
        match &mut self.subject {
            Subject::Known(proposal) => {
                proposal.replied(ticket, reply, cx);
            }
            Subject::Sought(seek) if seek.is(ticket) => match reply {
                Ok(reply) => {
                    let found = seek.replied(reply, cx);
                    self.sought(found, cx);
                }
                Err(problem) => self.subject = Subject::Lost(worded(&problem)),
            },
            Subject::Sought(_) | Subject::Lost(_) => {}
        }
    }

    fn changed(&mut self, cx: &mut Cx<'_>) {
        if let Some(proposal) = self.proposal()
            && proposal.changed(cx.now_ms)
        {
            proposal.say("changed elsewhere: this is the new plan");
        }
    }

    fn tick(&mut self, cx: &mut Cx<'_>) {
        if self.letters.agrees(cx.now_ms) {
            self.command(Command::Accept, cx);
        }
        if let Some(proposal) = self.proposal() {
            let may_ask = proposal.on_its_way().is_none();
            proposal.tick(cx, may_ask);
        }
    }

    fn is_lively(&self) -> bool {
        match &self.subject {
            Subject::Known(proposal) => proposal.is_lively() || self.letters.waits(),
            Subject::Sought(_) => true,
            Subject::Lost(_) => false,
        }
    }

    fn clicked(&mut self, at: Position, _cx: &mut Cx<'_>) {
        let body = self.body;
        if body.contains(at)
            && let Some(proposal) = self.proposal()
        {
            proposal.view.click(usize::from(at.y - body.y));
        }
    }

    fn draw(&mut self, frame: &mut Frame<'_>, area: Rect, brush: &PaneContext<'_>) {
        let theme = brush.theme;
        if area.height < 3 {
            if let Some(proposal) = self.proposal() {
                proposal.is_seen(false);
            }
            return;
        }
        let [head, body, foot] = parts(area);
        let title = width::truncate(&self.title, area.width.into()).into_owned();
        let room = usize::from(area.width).saturating_sub(width::columns(&title) + 1);
        let mut title = vec![Span::styled(title, theme.style(Paint::Heading))];
        let steps = self.proposal().and_then(|it| it.plan()).and_then(steps);
        if let Some(quoted) = self.quoted.as_ref().or(steps.as_ref()).filter(|_| room > 8) {
            let quoted = width::truncate(quoted, room);
            title.push(Span::styled(format!(" {quoted}"), theme.style(Paint::Dim)));
        }
        frame.render_widget(Line::from(title), head);
        let question = self.question();
        match &mut self.subject {
            Subject::Known(it) => {
                self.body = proposal(frame, body, brush, &question, it);
                let scroll = [(Command::Up, ""), (Command::Down, "scroll")];
                let more = if it.view.is_long() { &scroll[..] } else { &[] };
                edge(frame, foot, brush, Some(it), None, more);
            }
            Subject::Sought(_) => paragraph(frame, body, brush, "planning …", Paint::Dim),
            Subject::Lost(why) => paragraph(frame, body, brush, why, Paint::Error),
        }
    }
}

/// The title, the body below it, and the line at the edge.
pub(crate) fn parts(area: Rect) -> [Rect; 3] {
    let head = Rect { height: 1, ..area };
    let foot = Rect { y: area.bottom() - 1, height: 1, ..area };
    [head, Rect { y: area.y + 1, height: area.height - 2, ..area }, foot]
}

/// Scrolls a plan with the keys of a list. Returns whether it was one.
pub(crate) fn scroll(proposal: &mut Proposal, command: Command) -> bool {
    match command {
        _ if proposal.view.command(command) => {}
        Command::Other => proposal.say("only the plan is shown here"),
        Command::Erase | Command::EraseAll => proposal.say("text cannot be typed here"),
        _ => return false,
    }
    true
}

/// With less room after the notice, no keys are named.
const KEYS: u16 = 16;

/// The line at the edge: a note of the pane or of the plan, and the keys that are valid now.
pub(crate) fn edge(
    frame: &mut Frame<'_>,
    area: Rect,
    brush: &PaneContext<'_>,
    proposal: Option<&Proposal>,
    note: Option<&str>,
    more: &[(Command, &str)],
) {
    let theme = brush.theme;
    let mut area = area;
    if let Some(note) = note.or(proposal.and_then(Proposal::note)) {
        let note = width::truncate(note, area.width.into()).into_owned();
        let taken = u16::try_from(width::columns(&note) + 3).unwrap_or(u16::MAX);
        frame.render_widget(Line::styled(note, theme.style(Paint::Warn)), area);
        area.x = area.x.saturating_add(taken.min(area.width));
        area.width = area.width.saturating_sub(taken);
    }
    let Some(proposal) = proposal else { return hints(frame, area, brush, &[]) };
    if proposal.is_choosing() {
        let keys = [(Command::Accept, "chooses"), (Command::Tick, "ticks a hunk")];
        let keys =
            [&keys[..=usize::from(proposal.has_hunks())], &[(Command::Up, ""), (Command::Down, "move")]];
        let keys = keys.concat();
        return hints(frame, area, brush, &keys);
    }
    let has_key = proposal.note().is_none() || proposal.stops();
    if proposal.stage() != ProposalStage::Looking || area.width < KEYS || !has_key {
        // The question names its keys itself.
        return;
    }
    let conflicts =
        proposal.plan().and_then(|plan| plan.files.as_ref()).is_some_and(|files| files.conflicts > 0);
    let applies = format!("or {} applies", brush.keys.named(Command::Accept));
    let has_yes = !brush.keys.keys(proposal.yes()).is_empty();
    let first = match proposal.ends() {
        _ if conflicts => (proposal.commands().0, "leaves files as they are"),
        ProposalOutcome::Rewritten(_) => (Command::Accept, "edits its words"),
        _ if proposal.stops() => (proposal.commands().2, "stops what runs first"),
        ProposalOutcome::Retried(_) => (Command::Accept, "asks again"),
        ProposalOutcome::Applied if proposal.asks_twice() => (Command::Accept, "go on"),
        ProposalOutcome::Applied if has_yes => (proposal.yes(), &*applies),
        ProposalOutcome::Applied => (Command::Accept, "applies"),
    };
    // Without a plan, nothing can be agreed to.
    let has_plan = proposal.plan().is_some() || proposal.asks_twice();
    let is_open = has_plan && proposal.problem().is_none() && !proposal.is_unseen();
    let mut keys = if is_open { vec![first] } else { Vec::new() };
    if proposal.plan().is_some_and(|plan| plan.files.is_some()) {
        let choose = proposal.commands().1;
        let next = match (proposal.view.files(), proposal.view.is_at_file()) {
            (1, false) => (proposal.next_file(), "shows the diff"),
            (1, true) => (proposal.previous_file(), "hides the diff"),
            _ => (proposal.next_file(), "next file"),
        };
        // Nothing continues before the choices are made: their key is the last one to be left out.
        let (at, of_files) = if conflicts {
            (0, [(choose, "chooses for the file"), next])
        } else {
            (keys.len(), [next, (choose, "choose for it")])
        };
        keys.splice(at..at, of_files);
    }
    keys.extend_from_slice(more);
    hints(frame, area, brush, &keys);
}

/// Keys and their effects, as many as fit, always with the way back.
fn hints(frame: &mut Frame<'_>, area: Rect, brush: &PaneContext<'_>, keys: &[(Command, &str)]) {
    let line = PaneFrame { title: "", about: "", keys }.keys_in(brush, area.width.into(), "back");
    frame.render_widget(line, area);
}
