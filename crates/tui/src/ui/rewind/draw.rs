//! The look of the picker: the list, and the plan beside or below it. Must never lay out a turn that is not visible.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use retake_wire::reply::Target;

use super::{Focus, Rewind};
use crate::render::words;
use crate::text::{time, width};
use crate::ui::keymap::Command;
use crate::ui::pane::PaneContext;
use crate::ui::plan::{self, ProposalStage, paragraph};
use crate::ui::rows::RowSpans;
use crate::ui::scroll::draw_lines;
use crate::ui::theme::Paint;

/// With at least so many columns, the plan is beside the list.
const WIDE: u16 = 100;

/// With at least so many rows, the plan is below the list.
const TALL: u16 = 8;

impl Rewind {
    pub(super) fn paint(&mut self, frame: &mut Frame<'_>, area: Rect, brush: &PaneContext<'_>) {
        let agrees = matches!(self.stage(), ProposalStage::Agreeing { .. });
        if area.height < 3 || area.width == 0 {
            if let Some(shown) = &mut self.shown {
                shown.proposal.is_seen(!agrees);
            }
            return;
        }
        if agrees && area.height <= TALL {
            // The question gets the whole room.
            let note = self.shown.as_ref().is_some_and(|shown| shown.proposal.note().is_some());
            let foot = Rect { y: area.bottom() - 1, height: 1, ..area };
            let plan = Rect { height: area.height - u16::from(note), ..area };
            self.plan_area = self.plan(frame, plan, brush);
            if note {
                self.edge(frame, foot, brush);
            }
            return;
        }
        let [head, below, foot] = plan::parts(area);
        self.title(frame, head, brush);
        // Nothing is typed into a question.
        let row = u16::from(self.stage() == ProposalStage::Looking);
        if row > 0 {
            self.turns.draw_filter(frame, Rect { height: row, ..below }, brush);
        }
        let body = Rect { y: below.y + row, height: below.height - row, ..below };
        let (list, plan) = self.split(frame, body, brush);
        self.list(frame, list, brush);
        self.plan_area = self.plan(frame, plan, brush);
        self.edge(frame, foot, brush);
    }

    fn title(&self, frame: &mut Frame<'_>, area: Rect, brush: &PaneContext<'_>) {
        let theme = brush.theme;
        let more = if self.load.is_complete() { "" } else { "…" };
        let count = words::count(self.turns.len() as u64, "turn") + more;
        let room = usize::from(area.width).saturating_sub(width::columns(&count) + 1);
        let title = if room < 40 { "Rewind" } else { "Rewind: go back to before a message" };
        let spans = vec![
            Span::styled(width::fit(title, room), theme.style(Paint::Bold)),
            Span::styled(format!(" {count}"), theme.style(Paint::Dim)),
        ];
        frame.render_widget(Line::from(spans), area);
    }

    /// The areas of the list and of the plan.
    fn split(&self, frame: &mut Frame<'_>, body: Rect, brush: &PaneContext<'_>) -> (Rect, Rect) {
        let nothing = Rect { width: 0, height: 0, ..body };
        if self.turns.fitting() == 0 {
            return (body, nothing);
        }
        // A heavy line shows, also without colours, that the arrow keys scroll the plan.
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

    fn list(&mut self, frame: &mut Frame<'_>, area: Rect, brush: &PaneContext<'_>) {
        let (empty, paint) = self.nothing(brush);
        let digits = self.turns.items().next().map_or(1, |target| target.turn.to_string().len());
        let now_ms = brush.now_ms;
        self.turns.set_keys(!self.scrolls());
        self.turns.draw_rows(frame, area, brush, (&empty, paint), |target, ink| {
            draw_turn(target, digits, now_ms, ink);
        });
    }

    /// The reason why there are no turns.
    fn nothing(&self, brush: &PaneContext<'_>) -> (String, Paint) {
        if let Some(problem) = self.load.problem() {
            return (problem.to_owned(), Paint::Error);
        }
        if self.load.is_complete() {
            let key = brush.keys.named(Command::Close);
            let text = format!("There is no turn to go back to yet: say something first. {key} goes back.");
            return (text, Paint::Dim);
        }
        ("loading …".to_owned(), Paint::Dim)
    }

    /// Draws the plan; returns the area of its lines.
    fn plan(&mut self, frame: &mut Frame<'_>, area: Rect, brush: &PaneContext<'_>) -> Rect {
        if area.is_empty() {
            return area;
        }
        let Some(target) = self.turns.selected() else { return Rect { height: 0, ..area } };
        match &mut self.shown {
            Some(shown) if shown.proposal.is_first_on_its_way() => {
                // What the list knows is shown at once.
                let takes_back = format!("takes back {}", words::counts(target.takes_back));
                let did = Some(words::did(target.did)).filter(|did| !did.is_empty());
                let did = did.map(|did| (format!("this turn: {did}"), Paint::Plain));
                let waits = (plan::waits(&shown.proposal), Paint::Dim);
                let texts: Vec<_> =
                    [(takes_back, Paint::Plain)].into_iter().chain(did).chain([waits]).collect();
                draw_lines(frame, area, &plan::wrapped(&texts, brush, area.width));
                Rect { height: 0, ..area }
            }
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

    fn edge(&self, frame: &mut Frame<'_>, area: Rect, brush: &PaneContext<'_>) {
        let more: &[_] = match self.focus {
            Focus::List => &[(Command::Other, "to the plan")],
            Focus::Plan => &[(Command::Other, "to the list"), (Command::Up, ""), (Command::Down, "scroll")],
        };
        let proposal = self.shown.as_ref().map(|shown| &shown.proposal);
        plan::edge(frame, area, brush, proposal, self.note.as_deref(), more);
    }
}

/// A turn: its number, its time, its first words and what it did.
fn draw_turn(target: &Target, digits: usize, now_ms: i64, ink: &mut RowSpans<'_>) {
    // Dim text is hard to read on the background of the selected row.
    let quiet = if ink.is_selected() { Paint::Plain } else { Paint::Dim };
    let (when, columns) = match ink.room() {
        ..28 => (String::new(), 0),
        28..68 => (time::short(now_ms, target.time_ms), 5),
        _ => (time::relative(now_ms, target.time_ms), 17),
    };
    ink.field_column(0, digits + 2, quiet);
    ink.column(&when, columns, quiet);
    let badges = badges(target, ink.room());
    ink.field_column(1, ink.room().saturating_sub(wide(&badges)), Paint::Plain);
    for (text, paint) in badges {
        ink.space(2);
        ink.text(&text, paint);
    }
}

/// The columns of the badges.
fn wide(badges: &[(String, Paint)]) -> usize {
    badges.iter().map(|(text, _)| width::columns(text) + 2).sum()
}

/// The badges of a turn: files, commands, and what may stay in any case. In words if there is room beside the message,
/// else a sign and a number; none if even that is too wide.
fn badges(target: &Target, room: usize) -> Vec<(String, Paint)> {
    /// The columns left for the message, beside words and beside signs.
    const MESSAGE: [usize; 2] = [24, 12];
    let did = target.did;
    let all = [
        (did.files, '~', words::count(did.files, "file"), Paint::Accent),
        (did.commands, '$', words::count(did.commands, "command"), Paint::Tool),
        (did.posts, '@', words::count(did.posts, "post"), Paint::Accent),
        (did.outside, '!', words::stays(did.outside), Paint::Warn),
    ];
    let some = all.into_iter().filter(|(amount, ..)| *amount > 0);
    let (long, short): (Vec<_>, Vec<_>) = some
        .map(|(amount, sign, text, paint)| {
            ((text, paint), (format!("{sign}{}", words::number(amount)), paint))
        })
        .unzip();
    let mut both = [long, short].into_iter().zip(MESSAGE);
    both.find(|(badges, message)| room >= wide(badges) + message)
        .map(|(badges, _)| badges)
        .unwrap_or_default()
}
