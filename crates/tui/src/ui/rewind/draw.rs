//! How the picker looks: the list, and beside or below it the plan. Must never lay out a turn that is not visible.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use retake_wire::reply::Target;
use unicode_segmentation::UnicodeSegmentation;

use super::turns::Shown;
use super::{Drawn, Focus, Rewind};
use crate::render::words;
use crate::text::{time, width};
use crate::ui::keymap::Command;
use crate::ui::pane::Brush;
use crate::ui::plan::{self, Stage, paragraph};
use crate::ui::theme::Paint;

/// From so many columns on the plan is beside the list.
const WIDE: u16 = 100;

/// From so many rows on the plan is below the list.
const TALL: u16 = 8;

impl Rewind {
    pub(super) fn paint(&mut self, frame: &mut Frame<'_>, area: Rect, brush: &Brush<'_>) {
        let agrees = matches!(self.stage(), Stage::Agreeing { .. });
        if area.height < 3 || area.width == 0 {
            if let Some(shown) = &mut self.shown {
                shown.proposal.is_seen(!agrees);
            }
            return;
        }
        if agrees && area.height <= TALL {
            // All the room is the question's.
            let note = self.shown.as_ref().is_some_and(|shown| shown.proposal.note().is_some());
            let foot = Rect { y: area.bottom() - 1, height: 1, ..area };
            let plan = Rect { height: area.height - u16::from(note), ..area };
            self.drawn.list = Rect::ZERO;
            self.drawn.plan = self.plan(frame, plan, brush);
            if note {
                self.edge(frame, foot, brush);
            }
            return;
        }
        let [head, below, foot] = plan::parts(area);
        self.title(frame, head, brush);
        // Nothing is typed into a question.
        let row = u16::from(self.stage() == Stage::Looking);
        if row > 0 {
            self.filter(frame, Rect { height: row, ..below }, brush);
        }
        let body = Rect { y: below.y + row, height: below.height - row, ..below };
        let (list, plan) = self.split(frame, body, brush);
        self.list(frame, list, brush);
        self.drawn.list = list;
        self.drawn.plan = self.plan(frame, plan, brush);
        self.edge(frame, foot, brush);
    }

    fn title(&self, frame: &mut Frame<'_>, area: Rect, brush: &Brush<'_>) {
        let theme = brush.theme;
        let amount = words::number(self.turns.len() as u64);
        let more = if self.load.is_complete() { "" } else { "…" };
        let count = if self.turns.words().trim().is_empty() {
            words::count(self.turns.len() as u64, "turn") + more
        } else {
            format!("{} of {amount}{more}", words::number(self.turns.fitting() as u64))
        };
        let room = usize::from(area.width).saturating_sub(width::columns(&count) + 1);
        let title = if room < 40 { "Rewind" } else { "Rewind: go back to before a message" };
        let spans = vec![
            Span::styled(width::fit(title, room), theme.style(Paint::Bold)),
            Span::styled(format!(" {count}"), theme.style(Paint::Dim)),
        ];
        frame.render_widget(Line::from(spans), area);
    }

    fn filter(&self, frame: &mut Frame<'_>, area: Rect, brush: &Brush<'_>) {
        let theme = brush.theme;
        let mut spans = vec![Span::styled("› ", theme.style(Paint::Accent))];
        if self.turns.words().is_empty() {
            spans.push(Span::styled("type to filter", theme.style(Paint::Dim)));
        } else {
            let room = usize::from(area.width).saturating_sub(4);
            spans.push(Span::styled(width::end(self.turns.words(), room), theme.style(Paint::Plain)));
            spans.push(Span::styled("▏", theme.style(Paint::Accent)));
        }
        frame.render_widget(Line::from(spans), area);
    }

    /// The places of the list and of the plan.
    fn split(&self, frame: &mut Frame<'_>, body: Rect, brush: &Brush<'_>) -> (Rect, Rect) {
        let nothing = Rect { width: 0, height: 0, ..body };
        if self.turns.fitting() == 0 {
            return (body, nothing);
        }
        // A heavy rule says without colours, too, that the arrow keys are the plan's.
        let on_plan = self.focus == Focus::Plan;
        let (paint, beside, above) =
            if on_plan { (Paint::Border, "┃", "━") } else { (Paint::Bar, "│", "─") };
        let style = brush.theme.style(paint);
        if body.width >= WIDE {
            let left = (body.width * 45 / 100).min(80);
            for row in body.y..body.bottom() {
                frame.buffer_mut().set_string(body.x + left, row, beside, style);
            }
            let list = Rect { width: left - 1, ..body };
            return (list, Rect { x: body.x + left + 2, width: body.width - left - 2, ..body });
        }
        if self.scrolls() {
            return (nothing, body);
        }
        if body.height < TALL {
            return (body, nothing);
        }
        let fitting = u16::try_from(self.turns.fitting()).unwrap_or(u16::MAX);
        let rows = fitting.clamp(1, (body.height * 2 / 5).max(3));
        let bar = above.repeat(body.width.into());
        frame.buffer_mut().set_string(body.x, body.y + rows, bar, style);
        let plan = Rect { y: body.y + rows + 1, height: body.height - rows - 1, ..body };
        (Rect { height: rows, ..body }, plan)
    }

    fn list(&mut self, frame: &mut Frame<'_>, area: Rect, brush: &Brush<'_>) {
        if area.is_empty() {
            return;
        }
        if self.turns.fitting() == 0 {
            let (text, paint) = self.nothing(brush);
            return paragraph(frame, area, brush, &text, paint);
        }
        let height = usize::from(area.height);
        let at = self.turns.at();
        let top = self.drawn.top.clamp(at.saturating_sub(height - 1), at);
        let top = top.min(self.turns.fitting().saturating_sub(height));
        self.drawn = Drawn { top, ..self.drawn };
        let digits = self.turns.newest().map_or(1, |target| target.turn.to_string().len());
        let scrolls = self.scrolls();
        for (row, shown) in (area.y..).zip(self.turns.shown(top, height)) {
            let at = Rect { y: row, height: 1, ..area };
            row_of(frame, at, brush, &shown, digits, scrolls);
        }
    }

    /// Why the list is empty.
    fn nothing(&self, brush: &Brush<'_>) -> (String, Paint) {
        if let Some(problem) = self.load.problem() {
            return (problem.to_owned(), Paint::Error);
        }
        if !self.turns.words().trim().is_empty() {
            let key = brush.keys.named(Command::EraseAll);
            return (format!("no turn fits “{}”: {key} empties the filter", self.turns.words()), Paint::Dim);
        }
        if self.load.is_complete() {
            let key = brush.keys.named(Command::Close);
            let text = format!("There is no turn to go back to yet: say something first. {key} goes back.");
            return (text, Paint::Dim);
        }
        ("loading …".to_owned(), Paint::Dim)
    }

    /// Draws the plan; where its lines are.
    fn plan(&mut self, frame: &mut Frame<'_>, area: Rect, brush: &Brush<'_>) -> Rect {
        if area.is_empty() {
            return area;
        }
        let Some(target) = self.turns.marked() else { return Rect { height: 0, ..area } };
        match &mut self.shown {
            Some(shown) => {
                let preview = words::quoted(&target.preview, 60);
                let question = format!("Go back to before t{}{preview}?", target.turn);
                plan::proposal(frame, area, brush, &question, &mut shown.proposal)
            }
            None => {
                paragraph(frame, area, brush, "planning …", Paint::Warn);
                Rect { height: 0, ..area }
            }
        }
    }

    fn edge(&self, frame: &mut Frame<'_>, area: Rect, brush: &Brush<'_>) {
        match (&self.shown, &self.note) {
            (Some(shown), note) => {
                let more: &[_] = match self.focus {
                    Focus::List => &[(Command::Other, "to the plan")],
                    Focus::Plan => &[(Command::Other, "to the list"), (Command::Down, "scrolls")],
                };
                plan::edge(frame, area, brush, &shown.proposal, note.as_deref(), more);
            }
            (None, Some(note)) => {
                let note = width::truncate(note, area.width.into()).into_owned();
                frame.render_widget(Line::styled(note, brush.theme.style(Paint::Warn)), area);
            }
            (None, None) => plan::hints(frame, area, brush, &[]),
        }
    }
}

/// A turn on one row.
fn row_of(
    frame: &mut Frame<'_>,
    area: Rect,
    brush: &Brush<'_>,
    shown: &Shown<'_>,
    digits: usize,
    scrolls: bool,
) {
    let theme = brush.theme;
    let columns = usize::from(area.width);
    let target = shown.target;
    let base = match shown.marked {
        true if !scrolls => theme.style(Paint::Selected),
        true => theme.style(Paint::Bold),
        false => theme.style(Paint::Plain),
    };
    let (dim, hit) =
        (base.patch(quiet(theme.style(Paint::Dim), shown.marked)), base.patch(theme.style(Paint::Match)));
    let number = format!("t{}", target.turn);
    let mut spans = vec![
        Span::styled(if shown.marked { "▸ " } else { "  " }, base),
        Span::styled(
            format!("{number:<width$} ", width = digits + 1),
            if shown.numbered { hit } else { dim },
        ),
    ];
    let mut used = 2 + digits + 2;
    let (when, room) = match columns {
        ..30 => (String::new(), 0),
        30..70 => (time::short(brush.now_ms, target.time_ms), 5),
        _ => (time::relative(brush.now_ms, target.time_ms), 17),
    };
    spans.push(Span::styled(width::fit(&when, room), dim));
    used += room;
    let badges = badges(target, columns.saturating_sub(used));
    let taken: usize = badges.iter().map(|(text, _)| width::columns(text) + 2).sum();
    spans.extend(preview(shown, columns.saturating_sub(used + taken), base, hit));
    for (text, paint) in badges {
        spans.push(Span::styled("  ", base));
        spans.push(Span::styled(text, base.patch(theme.style(paint))));
    }
    frame.render_widget(Line::from(spans), area);
}

/// Secondary text stays readable on the marked row.
fn quiet(style: Style, marked: bool) -> Style {
    if marked { Style::new() } else { style }
}

/// The words of a turn in exactly so many columns, with the letters that fit what is typed.
fn preview(shown: &Shown<'_>, room: usize, base: Style, hit: Style) -> Vec<Span<'static>> {
    let text = width::fit(&shown.preview, room);
    if shown.hits.is_empty() {
        return vec![Span::styled(text, base)];
    }
    let mut spans: Vec<Span<'static>> = Vec::new();
    let mut run = String::new();
    let mut was_hit = false;
    let mut hits = shown.hits.iter().copied().peekable();
    for (at, grapheme) in (0_u32..).zip(text.graphemes(true)) {
        let is_hit = hits.next_if_eq(&at).is_some() && grapheme != "…";
        if is_hit != was_hit && !run.is_empty() {
            spans.push(Span::styled(std::mem::take(&mut run), if was_hit { hit } else { base }));
        }
        was_hit = is_hit;
        run.push_str(grapheme);
    }
    spans.push(Span::styled(run, if was_hit { hit } else { base }));
    spans
}

/// What a turn did: files, commands, and what may stay whatever one does. In words where there is room for them beside the
/// message, else a sign and how many; none where even that leaves no room.
fn badges(target: &Target, room: usize) -> Vec<(String, Paint)> {
    /// So many columns are the message's, beside words and beside signs.
    const MESSAGE: [usize; 2] = [24, 16];
    let did = target.did;
    let all = [
        (did.files, '~', words::count(did.files, "file"), Paint::Accent),
        (did.commands, '$', words::count(did.commands, "command"), Paint::Tool),
        (did.outside, '!', words::stays(did.outside), Paint::Warn),
    ];
    let some = all.into_iter().filter(|(amount, ..)| *amount > 0);
    let (long, short): (Vec<_>, Vec<_>) = some
        .map(|(amount, sign, text, paint)| {
            ((text, paint), (format!("{sign}{}", words::number(amount)), paint))
        })
        .unzip();
    let fits = |badges: &[(String, Paint)], message: usize| {
        let taken: usize = badges.iter().map(|(text, _)| width::columns(text) + 2).sum();
        room >= taken + message
    };
    let mut both = [long, short].into_iter().zip(MESSAGE);
    both.find(|(badges, message)| fits(badges, *message)).map(|(badges, _)| badges).unwrap_or_default()
}
