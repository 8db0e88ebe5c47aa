//! The view of an action's plan: first what can't be reverted, then messages, folds, text and files, with the diff of one file at
//! a time. It lays out a plan once; a frame costs only what is visible. Must never leave out a conflict.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use retake_wire::reply::Plan;
use retake_wire::{Action, Choose, FileName, PathPlan};

use super::choices::{self, holds, is_open, options};
use super::lay;
use crate::text::width;
use crate::ui::keymap::Command;
use crate::ui::pane::PaneContext;
use crate::ui::scroll::scrolled;
use crate::ui::theme::{CURSOR, Paint, Theme};

/// Lines below a file's name that stay visible with it: its choices.
const SEEN: usize = 8;

/// The state of the view.
#[derive(Debug, Default)]
pub(crate) struct View {
    /// The file whose diff is shown, by its index in the files to step through.
    file: Option<usize>,
    /// The first visible line.
    scroll: usize,
    /// Number of lines visible at the last drawing.
    height: usize,
    /// The file must be scrolled into view.
    reveal: bool,
    /// It was visible in the last frame, and stays visible even if another plan lists it elsewhere.
    in_sight: bool,
    stays_in_sight: bool,
    /// Its choices are unfolded.
    spread: bool,
    /// The choice at which the arrows are, while they move among the choices.
    cursor: Option<usize>,
    /// That choice must be scrolled into view.
    follows: bool,
    /// A file in conflict was decided: the next plan views the next one that is not.
    advances: bool,
    /// At the last drawing, there were more lines than rows.
    is_long: bool,
    /// The files to step through.
    leaves: Vec<FileName>,
    laid: Option<LaidOutPlan>,
}

/// A position in a plan: the viewed file, and the first visible line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place(Option<usize>, usize);

/// A plan as lines.
#[derive(Debug)]
struct LaidOutPlan {
    /// The width of the layout.
    width: u16,
    theme: Theme,
    minute: i64,
    lines: Vec<Line<'static>>,
    /// The lines of each file: its name, and the last one.
    leaves: Vec<(usize, usize)>,
    /// The details below the viewed file.
    detail: Vec<Line<'static>>,
    detail_of: Option<usize>,
    /// The first line of each choice in the details, and the line after the last one.
    starts: Vec<usize>,
}

/// An action with a plan, and the names of its keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlannedAction<'a> {
    /// The action.
    pub(crate) action: &'a Action,
    /// Its effect in a sentence, if it is not obvious.
    pub(crate) about: Option<&'static str>,
    /// The plan.
    pub(crate) plan: &'a Plan,
    /// The choices for its files.
    pub(crate) choose: &'a [Choose],
    /// The key that chooses, in words.
    pub(crate) key: &'a str,
}

impl View {
    /// Shows another plan; the viewed file stays if it is in the new one.
    pub(crate) fn set(&mut self, old: Option<&Plan>, plan: &Plan, choose: &[Choose]) {
        let shown = old.and_then(|old| self.path(old)).map(|path| path.name.clone());
        let before = self.file;
        self.leaves = lay::leaves(plan, choose);
        self.file = shown.and_then(|name| self.leaves.iter().position(|leaf| *leaf == name));
        self.spread &= self.file.is_some();
        self.cursor = self.cursor.filter(|_| self.file.is_some());
        self.stays_in_sight |= self.in_sight;
        self.laid = None;
        if std::mem::take(&mut self.advances) {
            // The decided one has left its place: the next one is there now.
            let open = |leaf: &FileName| {
                let path = plan.files.iter().flat_map(|files| &files.paths).find(|path| path.name == *leaf);
                path.is_some_and(|path| is_open(path, choose))
            };
            let open: Vec<_> = (0..self.leaves.len()).filter(|at| open(&self.leaves[*at])).collect();
            let next = open.iter().find(|at| Some(**at) >= before).or(open.first());
            next.into_iter().for_each(|at| self.turn(*at));
        }
    }

    /// A file in conflict was decided.
    pub(crate) fn decided(&mut self) {
        self.advances = true;
    }

    /// Views the file with this name.
    pub(crate) fn turn_to(&mut self, name: &FileName) {
        if let Some(at) = self.leaves.iter().position(|leaf| leaf == name) {
            self.turn(at);
        }
    }

    /// Whether a file is viewed.
    pub(crate) fn is_at_file(&self) -> bool {
        self.file.is_some()
    }

    /// Whether it can be scrolled.
    pub(crate) fn is_long(&self) -> bool {
        self.is_long
    }

    /// Drops the layout: its content changes although the plan is the same.
    pub(crate) fn forget(&mut self) {
        self.laid = None;
    }

    /// The viewed file.
    pub(crate) fn path<'a>(&self, plan: &'a Plan) -> Option<&'a PathPlan> {
        let leaf = self.leaves.get(self.file?)?;
        plan.files.as_ref()?.paths.iter().find(|path| path.name == *leaf)
    }

    /// Number of files to step through.
    pub(crate) fn files(&self) -> usize {
        self.leaves.len()
    }

    /// Views the next file; after the last one, none.
    pub(crate) fn next(&mut self) {
        self.turn(match self.file {
            None => 0,
            Some(file) => file + 1,
        });
    }

    /// Views the previous file; before the first one, the start of the plan.
    pub(crate) fn previous(&mut self) {
        match self.file {
            None | Some(0) => {
                (self.file, self.cursor) = (None, None);
                self.scroll = 0;
            }
            Some(file) => self.turn(file - 1),
        }
    }

    /// Views a file.
    pub(crate) fn turn(&mut self, file: usize) {
        if file < self.leaves.len() {
            self.spread &= self.file == Some(file);
            (self.file, self.cursor) = (Some(file), None);
            self.reveal = true;
        }
    }

    /// The current position.
    pub(crate) fn place_now(&self) -> Place {
        Place(self.file, self.scroll)
    }

    /// Returns to a position.
    pub(crate) fn back_to(&mut self, place: Place) {
        let Place(file, scroll) = place;
        (self.file, self.scroll, self.reveal) =
            (file.filter(|file| *file < self.leaves.len()), scroll, false);
        self.close_choices();
    }

    /// The arrows move among the choices for the viewed file from here on, from the one in effect.
    pub(crate) fn open_choices(&mut self, path: &PathPlan, choose: &[Choose]) {
        let at = options(path).iter().position(|option| holds(path, choose, option));
        (self.spread, self.cursor, self.follows) = (true, Some(at.unwrap_or(0)), true);
        self.stays_in_sight = true;
        self.forget();
    }

    /// The choice at which the arrows are.
    pub(crate) fn cursor(&self) -> Option<usize> {
        self.cursor
    }

    /// The arrows scroll the plan again. Returns whether they moved among choices.
    pub(crate) fn close_choices(&mut self) -> bool {
        self.forget();
        self.cursor.take().is_some()
    }

    /// Moves among so many choices. Returns whether the command does so.
    pub(crate) fn move_choice(&mut self, command: Command, all: usize) -> bool {
        let to = self.cursor.and_then(|at| choices::moved(command, at, all));
        if to.is_some() {
            (self.cursor, self.follows) = (to, true);
            self.forget();
        }
        to.is_some()
    }

    /// Scrolls by lines.
    pub(crate) fn scroll(&mut self, lines: isize) {
        self.scroll = self.scroll.saturating_add_signed(lines);
    }

    /// Handles a scrolling command. Returns whether it was one.
    pub(crate) fn command(&mut self, command: Command) -> bool {
        let to = scrolled(command, self.scroll, self.height);
        self.scroll = to.unwrap_or(self.scroll);
        to.is_some()
    }

    /// A click on a line: views its file.
    pub(crate) fn click(&mut self, row: usize) {
        let Some(laid) = &self.laid else { return };
        let Some(at) = laid.origin(self.scroll + row) else { return };
        if let Some(file) = laid.leaves.iter().position(|(name, last)| (*name..=*last).contains(&at)) {
            self.file = if self.file == Some(file) { None } else { Some(file) };
            (self.spread, self.cursor) = (false, None);
        }
    }

    /// Draws the visible lines.
    pub(crate) fn draw(
        &mut self,
        frame: &mut Frame<'_>,
        area: Rect,
        brush: &PaneContext<'_>,
        shown: PlannedAction<'_>,
    ) {
        self.height = area.height.into();
        if area.is_empty() {
            return;
        }
        let minute = brush.now_ms / 60_000;
        let stale = self
            .laid
            .as_ref()
            .is_none_or(|laid| (laid.width, laid.theme, laid.minute) != (area.width, brush.theme, minute));
        if stale {
            let (lines, leaves) = lay::plan(shown, area.width, brush);
            let (detail, detail_of, starts) = (Vec::new(), None, Vec::new());
            let (width, theme) = (area.width, brush.theme);
            self.laid = Some(LaidOutPlan { width, theme, minute, lines, leaves, detail, detail_of, starts });
        }
        let path = self.path(shown.plan);
        let Some(laid) = &mut self.laid else { return };
        if laid.detail_of != self.file {
            let detail = |path| lay::detail(shown, path, (self.spread, self.cursor), area.width, brush);
            (laid.detail, laid.starts) = path.map(detail).unwrap_or_default();
            laid.detail_of = self.file;
        }
        let total = laid.lines.len() + laid.detail.len();
        self.is_long = total > usize::from(area.height);
        let line = self.file.and_then(|file| laid.leaves.get(file)).copied();
        let height = usize::from(area.height);
        let lasts = laid.detail.len().min(SEEN);
        let hidden = |(line, last): (usize, usize)| {
            !(self.scroll..self.scroll + height).contains(&line) || last + lasts >= self.scroll + height
        };
        let strays = std::mem::take(&mut self.stays_in_sight) && line.is_some_and(hidden);
        if let (true, Some((line, _))) = (std::mem::take(&mut self.reveal) || strays, line) {
            // The name of its group stays visible.
            self.scroll = line.saturating_sub(1);
        }
        if let (true, Some(lines)) =
            (std::mem::take(&mut self.follows), self.cursor.and_then(|at| laid.choice(at)))
        {
            self.scroll = self.scroll.max(lines.end.saturating_sub(height)).min(lines.start);
        }
        self.scroll = self.scroll.min(total.saturating_sub(height));
        self.in_sight = line.is_some_and(|(line, _)| (self.scroll..self.scroll + height).contains(&line));
        for row in 0..area.height {
            let Some((text, marked)) = laid.line(self.scroll + usize::from(row)) else { break };
            let at = Rect { y: area.y + row, height: 1, ..area };
            frame.render_widget(text, at);
            if marked {
                frame.buffer_mut().set_string(area.x, at.y, CURSOR, brush.theme.style(Paint::Accent));
            }
        }
        more(frame, area, brush.theme, total.saturating_sub(self.scroll + usize::from(area.height)));
    }
}

impl LaidOutPlan {
    /// The lines of the viewed file.
    fn looked_at(&self) -> Option<(usize, usize)> {
        self.detail_of.and_then(|file| self.leaves.get(file)).copied()
    }

    /// The lines of a choice for the viewed file.
    fn choice(&self, at: usize) -> Option<std::ops::Range<usize>> {
        let (_, last) = self.looked_at()?;
        let [from, to] = [at, at + 1].map(|at| self.starts.get(at).map(|line| last + 1 + line));
        Some(from?..to?)
    }

    /// A line, and whether it names the viewed file.
    fn line(&self, at: usize) -> Option<(&Line<'static>, bool)> {
        let Some((name, last)) = self.looked_at() else { return Some((self.lines.get(at)?, false)) };
        match at {
            _ if at <= last => Some((self.lines.get(at)?, at == name)),
            _ if at - last <= self.detail.len() => Some((self.detail.get(at - last - 1)?, false)),
            _ => Some((self.lines.get(at - self.detail.len())?, false)),
        }
    }

    /// The line of the plan at a position; `None` if it is one of a diff.
    fn origin(&self, at: usize) -> Option<usize> {
        match self.looked_at() {
            Some((_, last)) if at > last => at.checked_sub(self.detail.len()).filter(|line| *line > last),
            _ => Some(at),
        }
    }
}

/// Number of lines below the visible ones.
fn more(frame: &mut Frame<'_>, area: Rect, theme: Theme, lines: usize) {
    if lines == 0 {
        return;
    }
    let text = format!(" ↓{lines}");
    let columns = u16::try_from(width::columns(&text)).unwrap_or(u16::MAX);
    if columns < area.width {
        let at = Rect { x: area.right() - columns, y: area.bottom() - 1, width: columns, height: 1 };
        frame.render_widget(Line::styled(text, theme.style(Paint::Dim)), at);
    }
}

/// A line in one style.
pub(crate) fn styled(text: String, style: Style) -> Line<'static> {
    Line::from(Span::styled(text, style))
}
