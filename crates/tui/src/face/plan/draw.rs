//! How a proposal looks: its scope, the final question, the plan below. Must never show the final question without what can't be taken
//! back.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use retake_wire::reply::Plan;
use retake_wire::{Action, FilesWish, Scope};

use super::proposal::{Ends, Proposal, Scopes, Stage};
use super::view::{Shown, styled};
use crate::face::keymap::Command;
use crate::face::pane::Brush;
use crate::face::theme::Paint;
use crate::render::{effects, plan as render_plan, words};
use crate::text::width;

/// Draws it. The place of the plan in it.
pub(crate) fn proposal(
    frame: &mut Frame<'_>,
    area: Rect,
    brush: &Brush<'_>,
    title: &str,
    proposal: &mut Proposal,
) -> Rect {
    let mut top = match proposal.stage() {
        Stage::Looking => scope(proposal, brush, area.width).into_iter().collect(),
        Stage::Agreeing { stop } => question(proposal, brush, area.width, title, stop),
        Stage::Applying(..) => vec![applying(proposal, brush)],
    };
    // The plan keeps a line at least where there is room for it.
    top.truncate(usize::from(area.height));
    for (row, line) in (area.y..).zip(&top) {
        frame.render_widget(line, Rect { y: row, height: 1, ..area });
    }
    let used = u16::try_from(top.len()).unwrap_or(area.height);
    let below = Rect { y: area.y + used, height: area.height - used, ..area };
    body(frame, below, brush, proposal);
    below
}

fn body(frame: &mut Frame<'_>, area: Rect, brush: &Brush<'_>, proposal: &mut Proposal) {
    if area.is_empty() {
        return;
    }
    let problem = proposal.problem();
    let waits = waits(proposal);
    let key = brush.keys.named(proposal.commands().1);
    let about = proposal.about();
    let (action, plan, view, choose) = proposal.looked_at();
    match (plan, problem) {
        (Some(plan), _) => view.draw(frame, area, brush, Shown { action, about, plan, choose, key: &key }),
        (None, Some(problem)) => paragraph(frame, area, brush, &problem, Paint::Error),
        (None, None) => paragraph(frame, area, brush, &waits, Paint::Dim),
    }
}

/// What one waits for.
fn waits(proposal: &Proposal) -> String {
    proposal.doing().map_or_else(|| "planning …".to_owned(), |doing| format!("{} …", words::doing(doing)))
}

/// Words in lines.
pub(crate) fn paragraph(frame: &mut Frame<'_>, area: Rect, brush: &Brush<'_>, text: &str, paint: Paint) {
    let style = brush.theme.style(paint);
    let lines = width::wrap(text, usize::from(area.width).max(1));
    for (row, line) in (area.y..area.bottom()).zip(lines) {
        frame.render_widget(styled(line, style), Rect { y: row, height: 1, ..area });
    }
}

/// What is taken along, and what the key would take along instead.
fn scope(proposal: &Proposal, brush: &Brush<'_>, columns: u16) -> Option<Line<'static>> {
    let (accent, dim) = (brush.theme.style(Paint::Accent), brush.theme.style(Paint::Dim));
    let key = brush.keys.named(proposal.commands().0);
    let mut spans = Vec::new();
    match proposal.scopes() {
        Scopes::Several(scopes) => {
            for scope in scopes {
                let name = scope_name(*scope, columns < 60);
                let here = proposal.wish().scope == *scope;
                let (text, style) =
                    if here { (format!("[{name}] "), accent) } else { (format!(" {name}  "), dim) };
                spans.push(Span::styled(text, style));
            }
            spans.push(Span::styled(key, dim));
        }
        Scopes::One(why) => spans.push(Span::styled(why, dim)),
        Scopes::Nothing => {}
    }
    if !proposal.is_settled() && proposal.plan().is_some() {
        spans.push(Span::styled(format!("  {}", waits(proposal)), dim));
    }
    (!spans.is_empty()).then(|| Line::from(spans))
}

fn scope_name(scope: Scope, short: bool) -> &'static str {
    match (scope, short) {
        (Scope::Both, false) => "conversation and files",
        (Scope::Both, true) => "both",
        (Scope::Conversation, false) => "conversation only",
        (Scope::Conversation, true) => "conversation",
        (Scope::Files, false) => "files only",
        (Scope::Files, true) => "files",
    }
}

/// The final question: what is done, what can't be taken back, and the keys.
fn question(
    proposal: &Proposal,
    brush: &Brush<'_>,
    columns: u16,
    title: &str,
    stop: bool,
) -> Vec<Line<'static>> {
    let theme = brush.theme;
    let columns = usize::from(columns).max(1);
    let mut lines = Vec::new();
    let mut push = |text: &str, paint: Paint| {
        lines.extend(width::wrap(text, columns).into_iter().map(|line| styled(line, theme.style(paint))));
    };
    push(title, Paint::Bold);
    if let Some(plan) = proposal.plan() {
        push(&summary(proposal.action(), plan, proposal.wish()), Paint::Plain);
        if let Some(line) = effects::brief(&plan.effects, effects::Files::of_plan(plan)) {
            push(&line, Paint::Error);
        }
        if stop {
            for line in stopped(plan) {
                push(&line, Paint::Warn);
            }
        }
    }
    let (enter, esc) = (brush.keys.named(Command::Accept), brush.keys.named(Command::Close));
    let does = match proposal.ends() {
        Ends::Applied if stop => "stops it and applies",
        Ends::Applied => "applies",
        Ends::Rewritten(_) => "takes up the words",
        Ends::Retried(_) if stop => "stops it and asks anew",
        Ends::Retried(_) => "asks for another answer",
    };
    push(&format!("{enter} {does} · {esc} goes back"), Paint::Accent);
    push(&"─".repeat(columns), Paint::Bar);
    lines
}

/// The plan in a sentence.
fn summary(action: &Action, plan: &Plan, wish: &FilesWish) -> String {
    let mut pieces = Vec::new();
    let brief = render_plan::brief(Some(action), plan);
    if !brief.is_empty() {
        pieces.push(brief);
    }
    match wish.scope {
        Scope::Conversation => pieces.push("files stay as they are".to_owned()),
        Scope::Files => pieces.push("the conversation stays as it is".to_owned()),
        Scope::Both => {}
    }
    if plan.composer.is_some() && wish.scope != Scope::Files {
        pieces.push("the words return to the composer".to_owned());
    }
    pieces.join("; ")
}

fn stopped(plan: &Plan) -> Vec<String> {
    let mut all = Vec::new();
    if plan.at_work {
        all.push("! the run at work is stopped first".to_owned());
    }
    let processes: usize = plan.running.iter().map(|running| running.processes).sum();
    match processes {
        0 => {}
        1 => all.push("! a process that still runs is ended first".to_owned()),
        more => all.push(format!("! {more} processes that still run are ended first")),
    }
    all
}

fn applying(proposal: &Proposal, brush: &Brush<'_>) -> Line<'static> {
    let doing = proposal.doing().map(|doing| format!(" {}", words::doing(doing))).unwrap_or_default();
    styled(format!("applying …{doing}"), brush.theme.style(Paint::Accent))
}
