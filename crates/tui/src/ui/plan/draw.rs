//! The look of a proposal: its scope, the final question, the plan below. Must never show the final question without what can't
//! be reverted.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use retake_wire::reply::Plan;
use retake_wire::{Action, FileOptions, Scope};

use super::proposal::{Proposal, ProposalOutcome, ProposalStage, Scopes};
use super::view::{PlannedAction, styled};
use crate::render::{effects, files as render_files, plan as render_plan, posts, words};
use crate::text::width;
use crate::ui::keymap::Command;
use crate::ui::pane::PaneContext;
use crate::ui::scroll::draw_lines;
use crate::ui::theme::Paint;

/// With fewer columns or rows, only the essential part of a plan is shown.
const TIGHT: (u16, u16) = (30, 6);

/// The notice if not even that fits.
pub(crate) const TOO_SMALL: &str = "too small to show it: make it larger";

/// How files are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counts {
    /// By their outcome.
    Each,
    /// In total.
    All,
}

/// The first one that fits is used.
const COUNTS: [Counts; 2] = [Counts::Each, Counts::All];

/// Draws it. Returns the area of the plan.
pub(crate) fn proposal(
    frame: &mut Frame<'_>,
    area: Rect,
    brush: &PaneContext<'_>,
    title: &str,
    proposal: &mut Proposal,
) -> Rect {
    let is_tight = area.height < TIGHT.1 || area.width < TIGHT.0;
    let fits = |lines: &Vec<Line<'_>>| lines.len() <= usize::from(area.height);
    let mut top = match proposal.stage() {
        ProposalStage::Looking if is_tight && is_agreed_to_at_once(proposal) => {
            let lines = COUNTS.map(|counts| matters(proposal, false, Some(counts)));
            let lines = lines.iter().map(|texts| wrapped(texts, brush, area.width)).find(fits);
            return all_of_it(frame, area, brush, proposal, lines);
        }
        ProposalStage::Looking => scope(proposal, brush, area.width).into_iter().collect(),
        ProposalStage::Agreeing { stop } => {
            let whole = Some(question(proposal, brush, area.width, title, stop)).filter(fits);
            let Some(whole) = whole else {
                let [each, all] = COUNTS.map(|counts| short_question(proposal, brush, stop, counts));
                let first = (width::truncate(title, area.width.into()).into_owned(), Paint::Bold);
                let lines = [[vec![first], each.clone()].concat(), each, all];
                let lines = lines.iter().map(|texts| wrapped(texts, brush, area.width)).find(fits);
                return all_of_it(frame, area, brush, proposal, lines);
            };
            whole
        }
        ProposalStage::Applying(..) => vec![applying(proposal, brush)],
    };
    proposal.is_seen(true);
    // The plan keeps at least a line if there is room.
    top.truncate(usize::from(area.height));
    draw_lines(frame, area, &top);
    let used = u16::try_from(top.len()).unwrap_or(area.height);
    let below = Rect { y: area.y + used, height: area.height - used, ..area };
    body(frame, below, brush, proposal);
    below
}

/// Whether the next Enter does the plan, and no file is being viewed.
fn is_agreed_to_at_once(proposal: &Proposal) -> bool {
    let conflicts = |plan: &Plan| plan.files.as_ref().map_or(0, |files| files.conflicts);
    let is_read = |plan: &Plan| conflicts(plan) > 0 || proposal.view.path(plan).is_some();
    !proposal.asks_twice() && proposal.plan().is_some_and(|plan| !is_read(plan))
}

/// Draws only these lines; if there is no room for all of them, the notice.
fn all_of_it(
    frame: &mut Frame<'_>,
    area: Rect,
    brush: &PaneContext<'_>,
    proposal: &mut Proposal,
    lines: Option<Vec<Line<'static>>>,
) -> Rect {
    proposal.is_seen(lines.is_some());
    match lines {
        Some(lines) => draw_lines(frame, area, &lines),
        None => paragraph(frame, area, brush, TOO_SMALL, Paint::Warn),
    }
    Rect { y: area.bottom(), height: 0, ..area }
}

/// What must be visible before agreement: what is done, what can't be reverted, what ends first. Without a way to count, as a
/// whole sentence.
fn matters(proposal: &Proposal, stop: bool, counts: Option<Counts>) -> Vec<(String, Paint)> {
    let Some(plan) = proposal.plan() else { return Vec::new() };
    let (action, choices) = (proposal.action(), proposal.choices());
    let told = match counts {
        Some(counts) => counted(action, plan, choices, counts),
        None => summary(action, plan, choices),
    };
    let effects = effects::brief(&plan.outside.effects, effects::Files::of_plan(plan));
    let ends = render_plan::ends(plan, stop).into_iter().map(|line| (line, Paint::Warn));
    let effects = effects.map(|line| (line, Paint::Error));
    let paint = if posts::stays(&plan.outside.posts.all) { Paint::Warn } else { Paint::Plain };
    let posts = posts::brief(&plan.outside.posts, posts::Step::Planned).map(|line| (line, paint));
    [(told, Paint::Plain)].into_iter().chain(effects).chain(posts).chain(ends).collect()
}

/// Texts, each with its paint, as lines.
pub(crate) fn wrapped(
    texts: &[(String, Paint)],
    brush: &PaneContext<'_>,
    columns: u16,
) -> Vec<Line<'static>> {
    let lines = |(text, paint): &(String, Paint)| {
        let style = brush.theme.style(*paint);
        width::wrap(text, columns.into()).into_iter().map(move |line| styled(line, style))
    };
    texts.iter().flat_map(lines).collect()
}

/// The final question if there is no room for it and the plan below.
fn short_question(
    proposal: &Proposal,
    brush: &PaneContext<'_>,
    stop: bool,
    counts: Counts,
) -> Vec<(String, Paint)> {
    let [enter, esc] = [Command::Accept, Command::Close].map(|command| brush.keys.named(command));
    let keys = (format!("{enter} applies · {esc} back"), Paint::Accent);
    [matters(proposal, stop, Some(counts)), vec![keys]].concat()
}

/// How many messages and files come and go.
fn counted(action: &Action, plan: &Plan, choices: &FileOptions, how: Counts) -> String {
    let mut pieces = render_plan::pieces(Some(action), plan, words::turns);
    match (&plan.files, choices.scope) {
        (_, Scope::Conversation) => pieces.push("files stay".to_owned()),
        (Some(files), _) if how == Counts::Each => pieces.push(render_files::brief(files)),
        (Some(files), _) => pieces.push(words::count(render_files::changed(files.counts), "file")),
        (None, _) => {}
    }
    if pieces.is_empty() { "no message is added or removed".to_owned() } else { pieces.join("; ") }
}

fn body(frame: &mut Frame<'_>, area: Rect, brush: &PaneContext<'_>, proposal: &mut Proposal) {
    if area.is_empty() {
        return;
    }
    let problem = proposal.problem();
    let waits = waits(proposal);
    let key = brush.keys.named(proposal.commands().1);
    let about = proposal.about();
    let (action, plan, view, choose) = proposal.looked_at();
    match (plan, problem) {
        (Some(plan), _) => {
            view.draw(frame, area, brush, PlannedAction { action, about, plan, choose, key: &key });
        }
        (None, Some(problem)) => paragraph(frame, area, brush, &problem, Paint::Error),
        (None, None) => paragraph(frame, area, brush, &waits, Paint::Dim),
    }
}

/// What the pane waits for.
pub(crate) fn waits(proposal: &Proposal) -> String {
    proposal.doing().map_or_else(|| "planning …".to_owned(), |doing| format!("{} …", words::doing(doing)))
}

/// Text as lines.
pub(crate) fn paragraph(
    frame: &mut Frame<'_>,
    area: Rect,
    brush: &PaneContext<'_>,
    text: &str,
    paint: Paint,
) {
    draw_lines(frame, area, &wrapped(&[(text.to_owned(), paint)], brush, area.width));
}

/// The scope, and what the key would include instead.
fn scope(proposal: &Proposal, brush: &PaneContext<'_>, columns: u16) -> Option<Line<'static>> {
    let (accent, dim) = (brush.theme.style(Paint::Accent), brush.theme.style(Paint::Dim));
    let key = brush.keys.named(proposal.commands().0);
    let mut spans = Vec::new();
    match proposal.scopes() {
        Scopes::Several(scopes) => {
            for scope in scopes {
                let name = scope_name(*scope, columns < 60);
                let here = proposal.choices().scope == *scope;
                let (text, style) =
                    if here { (format!("[{name}] "), accent) } else { (format!(" {name}  "), dim) };
                spans.push(Span::styled(text, style));
            }
            let used: usize = spans.iter().map(Span::width).sum();
            let does = format!("{key} goes through them");
            let fits = used + width::columns(&does) <= usize::from(columns);
            spans.push(Span::styled(if fits { does } else { key }, dim));
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

/// The final question: what is done, what can't be reverted, and the keys.
fn question(
    proposal: &Proposal,
    brush: &PaneContext<'_>,
    columns: u16,
    title: &str,
    stop: bool,
) -> Vec<Line<'static>> {
    let [enter, yes, esc] =
        [Command::Accept, proposal.yes(), Command::Close].map(|key| brush.keys.named(key));
    let does = match proposal.ends() {
        ProposalOutcome::Applied if stop => "stops it and applies",
        ProposalOutcome::Applied => "applies",
        ProposalOutcome::Rewritten(_) => "edits the text",
        ProposalOutcome::Retried(_) if stop => "stops it and asks again",
        ProposalOutcome::Retried(_) => "asks for another answer",
    };
    let yes = if brush.keys.keys(proposal.yes()).is_empty() { String::new() } else { format!("{yes} or ") };
    let keys = (format!("{yes}{enter} {does} · {esc} goes back"), Paint::Accent);
    let rule = ("─".repeat(columns.into()), Paint::Bar);
    let title = (title.to_owned(), Paint::Bold);
    let all = [vec![title], matters(proposal, stop, None), vec![keys, rule]].concat();
    wrapped(&all, brush, columns)
}

/// The plan in a sentence.
fn summary(action: &Action, plan: &Plan, choices: &FileOptions) -> String {
    let brief = Some(render_plan::brief(Some(action), plan)).filter(|brief| !brief.is_empty());
    let mut pieces: Vec<_> = brief.into_iter().collect();
    match choices.scope {
        Scope::Conversation => pieces.push("files stay as they are".to_owned()),
        Scope::Files => pieces.push("the conversation stays as it is".to_owned()),
        Scope::Both => {}
    }
    if plan.composer.is_some() && choices.scope != Scope::Files {
        pieces.push("the words return to the composer".to_owned());
    }
    pieces.join("; ")
}

fn applying(proposal: &Proposal, brush: &PaneContext<'_>) -> Line<'static> {
    let doing = proposal.doing().map(|doing| format!(" {}", words::doing(doing))).unwrap_or_default();
    styled(format!("applying …{doing}"), brush.theme.style(Paint::Accent))
}
