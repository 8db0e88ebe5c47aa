//! The card of an approval request: the call, what is folded of it, and the keys that answer. Must never show a key that is not
//! valid, nor offer a yes while part of the call is folded.

use ratatui::text::Line;
use retake_wire::{PendingApproval, english};

use super::page::{DrawParameters, Page};
use crate::render::agent::{self, RuleExtent};
use crate::render::calls::ran_before;
use crate::render::words;
use crate::text::{safe, time, width};
use crate::ui::doc;
use crate::ui::keymap::{Command, Context, Keymap};
use crate::ui::theme::Paint;

/// Rows for the answers of an approval request, and for what surrounds them.
const AROUND: usize = 10;

/// The fewest rows for the subject of a request, however low the window is.
const LEAST: usize = 4;

/// The effects of a yes and a no.
const ALLOW: &str = "allow it, this once";
const DENY: &str = "refuse it";
/// The same, with room to say what else denies.
const DENY_WIDE: &str = "refuse it; words that you send refuse it, too, and say why";

/// The age of a request is shown from here on.
const LONG_MS: i64 = 10_000;

/// How an approval request can be answered.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asking {
    /// The person is writing: letters answer nothing.
    pub(crate) is_writing: bool,
    /// The answer that Enter gives.
    pub(crate) armed: Option<Command>,
    /// The selected rule of those offered.
    pub(crate) offer: usize,
    /// A short yes and no are shown at the end.
    pub(super) is_small: bool,
    /// Which requests are shown whole, even if the window is too small.
    pub(super) unfolded: Unfolded,
}

impl Asking {
    /// Where the rule holds that Enter grants.
    fn granting(&self) -> Option<RuleExtent> {
        self.armed.and_then(granted_by)
    }

    /// What Enter does, if it grants no rule and so many lines are folded.
    fn effect(&self, hidden: usize) -> Option<&'static str> {
        match self.armed? {
            Command::AllowOnce if hidden == 0 => Some(ALLOW),
            Command::Deny => Some(DENY),
            Command::AllowWider => Some("show another rule"),
            Command::AllowOnce | Command::ShowCall => Some("show all of the call first"),
            _ => None,
        }
    }
}

/// Where the rule holds that this command grants.
pub(crate) fn granted_by(command: Command) -> Option<RuleExtent> {
    match command {
        Command::AllowHere => Some(RuleExtent::Here),
        Command::AllowAlways => Some(RuleExtent::Everywhere),
        _ => None,
    }
}

/// Which requests are shown whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Unfolded {
    /// Those that fit.
    #[default]
    Fitting,
    /// The first one, too.
    First,
    /// All.
    All,
}

/// That lines of a request are folded, and the keys that show them and allow the call then.
pub(super) fn more_lines(keys: &Keymap, hidden: usize, is_writing: bool) -> String {
    let [show, allow] =
        [Command::ShowCall, Command::AllowOnce].map(|command| keys.answer_name(command, is_writing));
    let them = if hidden == 1 { "it" } else { "them" };
    format!("{}: {show} shows {them}, then {allow} allows", words::count(hidden as u64, "more line"))
}

/// As much of the request as fits, with its end, and below it a yes and a no: the last rows of a small view. So many lines of it
/// are folded above; returns the number of lines that are left out.
pub(super) fn in_short(
    page: &mut Page<'_>,
    asks: &PendingApproval,
    asking: Asking,
    rows: usize,
    hidden: usize,
) -> usize {
    let asking = Asking { is_small: false, ..asking };
    let granted = granted(asks, asking);
    let question = granted.clone().unwrap_or_else(|| format!("may it run? {}", safe::line(&asks.call.line)));
    let columns = usize::from(page.ink.room());
    let mut lines = width::wrap(&question, columns);
    let room = |keys: &Page<'_>| rows.saturating_sub(keys.lines.len()).max(1);
    let mut hidden = hidden;
    let mut keys = short_keys(page.ink, asking, rows, hidden);
    let is_cut = lines.len() > room(&keys);
    if is_cut && hidden == 0 && (asking.unfolded == Unfolded::Fitting || granted.is_some()) {
        hidden = lines.len() + 1 - room(&keys);
        keys = short_keys(page.ink, asking, rows, hidden);
    }
    let room = room(&keys);
    if lines.len() > room {
        lines.truncate(room - 1);
        lines.push(width::end(&question, columns.saturating_sub(1)));
    }
    let style = page.ink.theme.style(Paint::Bold);
    let lines = lines.into_iter().map(|line| Line::styled(line, style));
    page.signed(page.ink.span("?", Paint::Accent), lines.collect::<Vec<_>>());
    page.lines.append(&mut keys.lines);
    hidden
}

/// The keys of a small view.
fn short_keys<'a>(ink: DrawParameters<'a>, asking: Asking, rows: usize, hidden: usize) -> Page<'a> {
    let mut keys = Page::new(ink);
    let named = |command| ink.keys.named_while(command, asking.is_writing);
    let short = if asking.granting().is_some() {
        grant_keys(&mut keys, asking);
        format!("{} grants · {} no", named(Command::Grant), named(Command::Escape))
    } else if let Some(effect) = asking.effect(hidden) {
        armed_keys(&mut keys, asking, effect);
        format!("{}: {effect} · {} no answer", named(Command::Grant), named(Command::Escape))
    } else if hidden > 0 {
        keys.text(&more_lines(ink.keys, hidden, asking.is_writing), Paint::Warn);
        key(&mut keys, asking, Command::Deny, DENY);
        format!("{} all · {} no", named(Command::ShowCall), named(Command::Deny))
    } else {
        key(&mut keys, asking, Command::AllowOnce, ALLOW);
        key(&mut keys, asking, Command::Deny, DENY);
        format!("{} allow · {} no", named(Command::AllowOnce), named(Command::Deny))
    };
    if keys.lines.len() * 2 > rows {
        keys.lines.clear();
        keys.cut(&short, Paint::Accent);
    }
    keys
}

/// A call that waits for approval, in full: nobody can approve what is left out. If the window of so many rows is too small, its
/// middle is folded; returns the number of folded lines.
pub(super) fn card(
    page: &mut Page<'_>,
    asks: &PendingApproval,
    waited_ms: i64,
    rows: usize,
    is_unfolded: bool,
) -> usize {
    let ink = page.ink;
    let mut about = "may it run?".to_owned();
    if waited_ms >= LONG_MS {
        about.push_str(&format!(" · waits for {}", time::lasted(waited_ms)));
    }
    let mut head = doc::Run::of(&safe::line(&asks.call.line), ink.theme.style(Paint::Bold));
    head.push(&format!(" · {about}"), ink.theme.style(Paint::Dim));
    let head: Vec<_> = head.wrap(ink.room().into()).into_iter().map(Line::from).collect();
    // Nothing is removed from the subject of a request: control characters become visible.
    let detail = asks.call.detail.as_deref().map(safe::block).unwrap_or_default();
    let detail = match detail.trim_end() {
        "" => Vec::new(),
        diff if doc::is_diff(diff) => doc::diff(diff, None, ink.room(), ink.theme),
        text => doc::said(text, ink.room(), ink.theme, Paint::Dim),
    };
    let rows = if is_unfolded { usize::MAX } else { rows.saturating_sub(AROUND).max(LEAST) };
    let for_detail = detail.len().min(rows / 2);
    let (head, of_head) = folded(head, rows - for_detail, ink);
    let (detail, of_detail) = folded(detail, rows - head.len().min(rows), ink);
    page.signed(ink.span("?", Paint::Accent), head);
    match ran_before(asks, ink.now_ms) {
        Some(before) => page.text(&before, Paint::Warn),
        None => page.text(&english::ask_cause(&asks.cause), Paint::Dim),
    }
    page.push(detail);
    of_head + of_detail
}

/// The first and the last of these lines if there are too many, with the number of lines between.
fn folded(
    mut lines: Vec<Line<'static>>,
    most: usize,
    ink: DrawParameters<'_>,
) -> (Vec<Line<'static>>, usize) {
    if lines.len() <= most {
        return (lines, 0);
    }
    let shown = most.saturating_sub(1).max(2);
    let (first, last) = (shown.div_ceil(2), shown / 2);
    let between = lines.len().saturating_sub(first + last);
    let more = format!("… {}", words::count(between as u64, "more line"));
    let more = doc::cut(&more, ink.theme.style(Paint::Warn), ink.room().into());
    drop(lines.splice(first..first + between, [Line::from(more)]));
    (lines, between)
}

/// The possible answers, and what they allow, with so many folded lines.
pub(super) fn answers(page: &mut Page<'_>, asks: &PendingApproval, asking: Asking, hidden: usize) {
    if let Some(granted) = granted(asks, asking) {
        if !asking.is_small {
            page.text(&granted, Paint::Warn);
            grant_keys(page, asking);
        }
        return;
    }
    if let Some(effect) = asking.effect(hidden) {
        if !asking.is_small {
            armed_keys(page, asking, effect);
        }
        return;
    }
    match hidden {
        0 => {
            if !asking.is_small {
                key(page, asking, Command::AllowOnce, ALLOW);
            }
            rules(page, asks, asking);
        }
        _ if asking.is_small => {}
        hidden => page.text(&more_lines(page.ink.keys, hidden, asking.is_writing), Paint::Warn),
    }
    if !asking.is_small {
        let is_wide = usize::from(page.ink.room()) > doc::columns(DENY_WIDE) + 4;
        key(page, asking, Command::Deny, if is_wide { DENY_WIDE } else { DENY });
    }
    if asking.is_writing {
        let send = page.ink.keys.named(Command::Send);
        page.text(
            &format!("while you write, letters do not answer; {send} refuses with your text"),
            Paint::Dim,
        );
    }
}

/// The rules that can be granted.
fn rules(page: &mut Page<'_>, asks: &PendingApproval, asking: Asking) {
    if let Some(rule) = agent::chosen(&asks.offers, asking.offer) {
        key(page, asking, Command::AllowHere, &format!("allow {}", agent::allows(rule, RuleExtent::Here)));
        key(page, asking, Command::AllowAlways, &format!("allow {}", agent::the_same(rule)));
    }
    if let Some(next) = agent::wider(&asks.offers, asking.offer) {
        let how = match (next, agent::chosen(&asks.offers, next)) {
            (_, None) => "narrower again: this call alone".to_owned(),
            (0, Some(rule)) => format!("narrower again: {}", agent::what(rule, RuleExtent::Here)),
            (_, Some(rule)) => format!("wider: {}", agent::what(rule, RuleExtent::Here)),
        };
        key(page, asking, Command::AllowWider, &how);
    }
}

/// The rule that waits for the key that grants it, in words.
fn granted(asks: &PendingApproval, asking: Asking) -> Option<String> {
    let rule = agent::chosen(&asks.offers, asking.offer)?;
    Some(format!("grant this rule? It allows {}", agent::allows(rule, asking.granting()?)))
}

/// The keys that grant it, and that do not.
fn grant_keys(page: &mut Page<'_>, asking: Asking) {
    let place = match asking.granting() {
        Some(RuleExtent::Everywhere) => "grant it, in the settings; /permissions takes it back",
        _ => "grant it",
    };
    key(page, asking, Command::Grant, place);
    key(page, asking, Command::Escape, "grant nothing, as any other key");
}

/// The keys that give the armed answer, and that do not.
fn armed_keys(page: &mut Page<'_>, asking: Asking, effect: &str) {
    key(page, asking, Command::Grant, effect);
    key(page, asking, Command::Escape, "give no answer yet, as any other key");
}

/// A valid key and its effect.
fn key(page: &mut Page<'_>, asking: Asking, command: Command, help: &str) {
    let ink = page.ink;
    let is_answer = command.row().context == Context::Asked;
    let (name, wide) = match (asking.is_writing && is_answer, ink.keys.beside_words(command)) {
        (true, None) => return,
        (true, Some(_)) => (ink.keys.answer_name(command, true), 12),
        (false, _) if is_answer => (ink.keys.answer_name(command, false), 8),
        (false, _) => (ink.keys.named(command), 6),
    };
    let beside = wide.max(doc::columns(&name)) + 1;
    let help = doc::Run::of(help, ink.theme.style(Paint::Plain));
    let room = usize::from(ink.room()).saturating_sub(beside).max(1);
    let mut name = Some(name);
    page.push(help.wrap(room).into_iter().map(|spans| {
        let name = ink.span(format!("{:<beside$}", name.take().unwrap_or_default()), Paint::Accent);
        Line::from_iter(std::iter::once(name).chain(spans))
    }));
}
