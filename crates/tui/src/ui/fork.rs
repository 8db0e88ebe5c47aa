//! The plan of a fork, shown before it is created: how much it begins with, where it ends, what stays. Must never create one that
//! was not shown.

#[cfg(test)]
mod tests;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use retake_wire::reply::{Entries, Entry, Plan};
use retake_wire::request::{self, Fork, Log, Projection};
use retake_wire::{Action, FileOptions, Part, Problem, Reply, Request, Role};

use super::keymap::{Command, Context};
use super::letter_keys::LetterKeys;
use super::msg::{PaneInstruction, Ticket};
use super::pane::{Cx, Pane, PaneContext};
use super::pane_frame::PaneFrame;
use super::plan::{NO_WORDS, worded, wrapped};
use super::scroll::{draw_lines, scrolled};
use super::theme::Paint;
use crate::render::words;
use crate::text::{safe, width};

/// Entries that are read, from the end.
const LOOKED_AT: usize = 200;

/// The plan of a fork.
#[derive(Debug)]
pub(crate) struct ForkPane {
    /// The last entry that it begins with, as named; without one, the last of all.
    entry: Option<String>,
    /// The request on its way.
    asked: Option<(Ticket, ForkRequest)>,
    shown: ForkPlanState,
    /// A request was refused, or an Enter did not count as agreement.
    note: Option<String>,
    letters: LetterKeys,
    scroll: usize,
    height: usize,
}

/// A request of this pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ForkRequest {
    /// The messages.
    Messages,
    /// The plan, for the number of messages.
    Plan,
    /// The new conversation.
    Fork,
}

/// The state of the plan.
#[derive(Debug)]
enum ForkPlanState {
    /// Nothing is known yet.
    Nothing,
    /// It can't be created.
    Wrong(String),
    /// The messages that it begins with.
    Begins(Box<ForkBeginning>),
}

/// The beginning of the new conversation.
#[derive(Debug)]
struct ForkBeginning {
    page: Entries,
    /// The number of messages.
    messages: Option<u64>,
    /// Its end was named: later results of its calls belong to it.
    is_named: bool,
}

impl ForkPane {
    /// A fork with the path up to this entry; without an entry, the whole path.
    pub(crate) fn new(entry: Option<String>) -> Self {
        Self {
            entry,
            asked: None,
            shown: ForkPlanState::Nothing,
            note: None,
            letters: LetterKeys::default(),
            scroll: 0,
            height: 0,
        }
    }

    fn load(&mut self, cx: &mut Cx<'_>) {
        let log = Log {
            conversation: cx.id(),
            at: None,
            branch: self.entry.clone(),
            projection: Projection::Timeline,
            limit: Some(LOOKED_AT),
            before: None,
            after: None,
        };
        self.asked = Some((cx.ask(Request::Log(log)), ForkRequest::Messages));
    }

    /// The number of messages up to the entry, from the plan of a move there.
    fn count(&mut self, page: Entries, cx: &mut Cx<'_>) {
        let loaded = page.entries.len() as u64;
        let messages = match &self.entry {
            _ if !page.earlier => Some(loaded),
            None => cx.conversation.map(|conversation| conversation.counts.messages),
            Some(entry) => {
                let action = Action::Checkout { entry: Some(entry.clone()) };
                let files = FileOptions::default();
                let plan = request::Plan { conversation: cx.id(), action, files, diff: false };
                self.asked = Some((cx.ask(Request::Plan(plan)), ForkRequest::Plan));
                None
            }
        };
        self.shown =
            ForkPlanState::Begins(Box::new(ForkBeginning { page, messages, is_named: self.entry.is_some() }));
    }

    fn counted(&mut self, plan: &Plan, cx: &Cx<'_>) {
        let here = cx.conversation.map_or(0, |conversation| conversation.counts.messages);
        if let ForkPlanState::Begins(begins) = &mut self.shown {
            let there =
                here.saturating_sub(plan.timeline.taken_back.messages) + plan.timeline.brought_back.messages;
            begins.messages = Some(there);
        }
    }

    fn make(&mut self, cx: &mut Cx<'_>) {
        if self.letters.enter(cx.now_ms) {
            self.note = Some(NO_WORDS.to_owned());
            return;
        }
        match (&self.shown, &self.asked) {
            (_, Some((_, ForkRequest::Fork))) => {}
            (ForkPlanState::Wrong(_), _) => self.note = Some("there is nothing to create".to_owned()),
            (ForkPlanState::Begins(begins), None) => {
                // By its own id: messages that arrive meanwhile were not shown.
                let last = begins.page.entries.last().map(|entry| entry.id.clone());
                let entry = self.entry.clone().or(last);
                let fork = Fork { conversation: cx.id(), entry, title: None, request_id: None };
                self.asked = Some((cx.ask(Request::Fork(fork)), ForkRequest::Fork));
            }
            _ => self.note = Some("the plan is still loading: press again".to_owned()),
        }
    }

    fn made(conversation: String, begins: Option<&ForkBeginning>, cx: &mut Cx<'_>) {
        let unanswered = begins.and_then(|begins| unanswered(&begins.page));
        cx.want(PaneInstruction::Say(match unanswered {
            None => "a new conversation begins with what was said up to there; the old one stays".to_owned(),
            Some(turn) => {
                format!("it ends with your message t{turn}, unanswered: /retry asks for an answer")
            }
        }));
        cx.want(PaneInstruction::ShowBeside { conversation, entry: None });
    }
}

/// The turn of a final message that nobody has answered there.
fn unanswered(page: &Entries) -> Option<u64> {
    page.entries.last().filter(|last| last.place.opens_turn).map(|last| last.place.turn)
}

/// The number of calls without a result there: of the last answer, and after it.
fn unfinished(entries: &[Entry]) -> usize {
    let from = entries.iter().rposition(|entry| entry.place.opens_turn).unwrap_or(0);
    let parts = || entries[from..].iter().flat_map(|entry| &entry.parts);
    let calls = parts().filter(|part| matches!(part, Part::ToolCall { .. })).count();
    let results = parts().filter(|part| matches!(part, Part::ToolResult { .. })).count();
    calls.saturating_sub(results)
}

/// A message in a few words.
fn named(entry: &Entry) -> String {
    let text: Vec<&str> = entry
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Text { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let text = text.join(" ");
    let quoted = if text.trim().is_empty() { String::new() } else { words::quote(text.trim(), 60) };
    let speaker = match entry.role {
        Role::User => "you",
        Role::Assistant => "the answer",
        _ => "the result of a tool",
    };
    match (entry.place.turn, entry.place.opens_turn) {
        (0, _) => format!("{speaker} {quoted}"),
        (turn, true) => format!("t{turn} {quoted}"),
        (turn, false) => format!("{speaker} of t{turn} {quoted}"),
    }
    .trim_end()
    .to_owned()
}

impl ForkBeginning {
    /// The plan in sentences: what it begins with, what is open at its end, what stays.
    fn sentences(&self) -> Vec<(String, Paint)> {
        let mut all = Vec::new();
        let amount = match (self.messages, self.page.entries.len()) {
            (Some(0), _) | (None, 0) => "no message".to_owned(),
            (Some(messages), _) => words::count(messages, "message"),
            (None, _) => "the messages".to_owned(),
        };
        let up_to = self
            .page
            .entries
            .last()
            .map(|last| format!(" up to {}", safe::line(&named(last))))
            .unwrap_or_default();
        all.push((format!("A new conversation begins with {amount}{up_to}."), Paint::Bold));
        if let Some(turn) = unanswered(&self.page) {
            let ends =
                format!("It ends with your message t{turn}, unanswered: /retry asks for an answer there.");
            all.push((ends, Paint::Warn));
        }
        match unfinished(&self.page.entries) {
            0 => {}
            _ if self.is_named => {
                let results = "Results of the calls at its end are copied too, if there are any.";
                all.push((results.to_owned(), Paint::Warn));
            }
            1 => all.push(("It ends with a call that has no result there.".to_owned(), Paint::Warn)),
            more => {
                all.push((format!("It ends with {more} calls that have no results there."), Paint::Warn));
            }
        }
        all.push(("This one stays as it is.".to_owned(), Paint::Plain));
        let files = "Files stay as they are: both conversations work in the same folder.";
        all.push((files.to_owned(), Paint::Plain));
        all
    }

    fn lines(&self, columns: u16, brush: &PaneContext<'_>) -> Vec<Line<'static>> {
        let mut lines = wrapped(&self.sentences(), brush, columns);
        let turns: Vec<_> = self.page.entries.iter().filter(|entry| entry.place.opens_turn).collect();
        if turns.is_empty() {
            return lines;
        }
        lines.push(Line::default());
        lines.push(Line::styled("turns that are copied, the last one first", brush.theme.style(Paint::Dim)));
        for turn in turns.into_iter().rev() {
            let text = format!("  {}", named(turn));
            lines.push(Line::raw(width::truncate(&safe::line(&text), columns.into()).into_owned()));
        }
        if self.page.earlier {
            lines.push(Line::styled("  … and what was said before", brush.theme.style(Paint::Dim)));
        }
        lines
    }
}

impl Pane for ForkPane {
    fn context(&self) -> Context {
        Context::Pane
    }

    fn opened(&mut self, cx: &mut Cx<'_>) {
        self.load(cx);
    }

    fn command(&mut self, command: Command, cx: &mut Cx<'_>) {
        self.note = None;
        match command {
            // A fork that is being created is shown once it is there.
            Command::Close if matches!(self.asked, Some((_, ForkRequest::Fork))) => {}
            Command::Close => cx.want(PaneInstruction::Close),
            Command::Accept => self.make(cx),
            _ => match scrolled(command, self.scroll, self.height) {
                Some(scroll) => self.scroll = scroll,
                None => self.note = Some("only the plan is shown here".to_owned()),
            },
        }
    }

    fn typed(&mut self, text: &str, cx: &mut Cx<'_>) {
        self.letters.stray(text, cx.now_ms);
        self.note = Some("text cannot be typed here".to_owned());
    }

    fn replied(&mut self, ticket: Ticket, reply: Result<Reply, Problem>, cx: &mut Cx<'_>) {
        let Some((_, asks)) = self.asked.take_if(|(asked, _)| *asked == ticket) else { return };
        match (asks, reply) {
            (ForkRequest::Messages, Ok(Reply::Entries(page))) => self.count(page, cx),
            (ForkRequest::Messages, Err(problem)) => self.shown = ForkPlanState::Wrong(worded(&problem)),
            (ForkRequest::Plan, Ok(Reply::Plan(plan))) => self.counted(&plan, cx),
            (ForkRequest::Fork, Ok(Reply::Receipt(receipt))) => {
                let begins = match &self.shown {
                    ForkPlanState::Begins(begins) => Some(&**begins),
                    _ => None,
                };
                Self::made(receipt.conversation, begins, cx);
            }
            (ForkRequest::Fork, Err(problem)) => self.note = Some(worded(&problem)),
            // Only the number is missing.
            _ => {}
        }
    }

    fn changed(&mut self, cx: &mut Cx<'_>) {
        if !matches!(self.asked, Some((_, ForkRequest::Fork))) {
            self.load(cx);
        }
    }

    fn draw(&mut self, frame: &mut Frame<'_>, area: Rect, brush: &PaneContext<'_>) {
        let keys = [
            (Command::Accept, "makes it"),
            (Command::Up, ""),
            (Command::Down, "scroll"),
            (Command::PageDown, "a page down"),
        ];
        let can_be_made = matches!(self.shown, ForkPlanState::Begins(_));
        let keys = if can_be_made { &keys[..] } else { &keys[1..] };
        let note = self.note.clone().unwrap_or_default();
        let body = PaneFrame { title: "Fork", about: &note, keys }.draw(frame, area, brush);
        let lines = match &self.shown {
            ForkPlanState::Nothing => wrapped(&[("planning …".to_owned(), Paint::Dim)], brush, body.width),
            ForkPlanState::Wrong(why) => wrapped(&[(why.clone(), Paint::Error)], brush, body.width),
            ForkPlanState::Begins(begins) => begins.lines(body.width, brush),
        };
        self.height = body.height.into();
        self.scroll = self.scroll.min(lines.len().saturating_sub(self.height));
        draw_lines(frame, body, &lines[self.scroll..]);
    }
}
