//! The status bar. Must never show a key that does nothing in this place.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use retake_wire::english;

use super::App;
use super::runs::is_command;
use super::tab::InputFor;
use crate::render::agent;
use crate::text::{safe, time, width};
use crate::ui::keymap::{Command, Context};
use crate::ui::theme::Paint;

/// The frames of the spinner.
const SPINNER: [&str; 8] = ["⠋", "⠙", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇"];

/// How long each frame stays, in milliseconds.
pub(crate) const SPIN_MS: i64 = 120;

impl App {
    /// The next model, and why.
    pub(super) fn model_words(&self) -> String {
        match (&self.tab().model.name, &self.models) {
            (Some(model), _) => safe::line(model).into_owned(),
            (None, Some(models)) => {
                let cause = english::model_cause(&models.cause);
                format!("{}: {}", safe::line(&models.default), safe::line(&cause))
            }
            (None, None) => String::new(),
        }
    }

    /// The folder of a conversation that begins now, and its permission mode, if known.
    pub(super) fn place_words(&self) -> String {
        let folder = safe::line(&self.known.folder).into_owned();
        match self.begins_with() {
            // What it means for a workspace is not true in a folder that can be none.
            Some(mode) if self.beginning.never_captured.is_some() => {
                format!("in {folder} · mode {}", mode.name())
            }
            Some(mode) => format!("in {folder} · mode {}: {}", mode.name(), agent::mode(mode)),
            None => format!("in {folder}"),
        }
    }

    /// The permission mode that a conversation begins with, if known.
    pub(super) fn begins_with(&self) -> Option<retake_wire::Mode> {
        self.beginning.permit.mode.or(self.beginning.usual_mode)
    }

    fn model_name(&self) -> String {
        let usual = self.models.as_ref().map(|models| &models.default);
        let live = self.tab().talk.live.as_ref().and_then(|live| live.model.as_ref());
        let model = live.or(self.tab().model.name.as_ref()).or(usual);
        model.map(|model| safe::line(model).into_owned()).unwrap_or_default()
    }

    /// The rows of the status bar: more than one if a notice does not fit in one.
    pub(super) fn status_rows(&self, all: Rect) -> u16 {
        /// The most rows it takes; also at most a third of the window.
        const MOST: u16 = 3;
        let said = self.notices.shown().map(|(text, _)| width::wrap(&text, all.width.max(1).into()).len());
        let rows = said.map_or(1, |lines| u16::try_from(lines).unwrap_or(MOST));
        if all.height > 3 { rows.clamp(1, MOST.min(all.height / 3).max(1)) } else { 0 }
    }

    pub(super) fn draw_status(&self, frame: &mut Frame<'_>, area: Rect, context: Context, is_low: bool) {
        if area.height == 0 {
            return;
        }
        let columns = usize::from(area.width);
        let notice = self.notices.shown();
        if let Some((text, paint)) = notice.as_ref().filter(|_| area.height > 1) {
            return paragraph(frame, area, self.looks.theme.style(*paint), text);
        }
        let is_told = is_low && self.tab().outgoing.rewriting.is_some() && notice.is_none();
        let keys = if is_told { String::new() } else { self.key_words(context, columns) };
        let beside = |keys: &str| columns.saturating_sub(width::columns(keys) + 1);
        // A one-time notice comes before keys that are always valid.
        let is_wide = notice.as_ref().is_some_and(|(text, _)| width::columns(text) > beside(&keys));
        let keys = if is_wide { String::new() } else { keys };
        let room = beside(&keys);
        let left = match &notice {
            Some((text, paint)) => Span::styled(width::fit(text, room), self.looks.theme.style(*paint)),
            None => Span::styled(
                width::fit(&self.state_words(is_low, columns), room),
                self.looks.theme.style(Paint::Bar),
            ),
        };
        let spans = vec![left, Span::raw(" "), Span::styled(keys, self.looks.theme.style(Paint::Dim))];
        frame.render_widget(Paragraph::new(Line::from(spans)), area);
    }

    /// The state, most important first.
    fn state_words(&self, is_low: bool, columns: usize) -> String {
        let tab = self.tab();
        let mut pieces = Vec::new();
        // If there is no line above the composer for it.
        pieces.extend(super::draw::editing(tab, &self.keys, columns).filter(|_| is_low));
        let turn = usize::try_from(self.now_ms / SPIN_MS).unwrap_or(0) % SPINNER.len();
        if let Some(why) = &tab.loading.lost {
            let why =
                if why.is_empty() { "the owner is gone, connecting again".into() } else { safe::line(why) };
            pieces.push(format!("{} {why}", SPINNER[turn]));
        } else if let Some(live) = tab.talk.live.as_ref().filter(|_| !tab.shows_run()) {
            let stop = self.keys.named(Command::Stop);
            let lasted = time::lasted((self.now_ms - live.since_ms).max(0));
            let doing = if tab.waits() == [false, false] { "" } else { "waits for you · " };
            pieces.push(format!("{} {doing}{lasted} · {stop} stops", SPINNER[turn]));
        } else if !tab.outgoing.is_empty() {
            pieces.push(format!("{} sending", SPINNER[turn]));
        }
        let model = self.model_name();
        if !model.is_empty() {
            pieces.push(model);
        }
        let mode = if tab.conversation().is_some() {
            Some(tab.talk.permissions.mode)
        } else {
            self.beginning.permit.mode
        };
        if let Some(mode) = mode {
            pieces.push(mode.name().to_owned());
        }
        pieces.extend(self.window_words());
        if let Some(conversation) = &tab.talk.conversation {
            if let Some(cause) = &conversation.access.read_only_cause {
                pieces.insert(0, format!("read-only: {}", safe::line(&english::read_only_cause(cause))));
            }
            if self.tabs.len() == 1 {
                pieces.push(safe::line(&tab.title()).into_owned());
            }
        }
        pieces.join(" · ")
    }

    /// How much of the model's context is used, if that is known.
    fn window_words(&self) -> Option<String> {
        self.context_used().map(|share| format!("{share} % of the context"))
    }

    /// The most useful keys here.
    fn useful_keys(&self, context: Context) -> &'static [(Command, &'static str)] {
        match context {
            Context::Select => &[
                (Command::SelectRewind, "rewind"),
                (Command::SelectEdit, "edit"),
                (Command::SelectRetry, "retry"),
                (Command::SelectHide, "hide"),
                (Command::SelectCopy, "copy"),
                (Command::Help, "more"),
            ],
            Context::Grant => match self.tab().answers.armed.map(|armed| armed.command) {
                Some(Command::AllowOnce) => &[(Command::Grant, "allows it"), (Command::Escape, "no answer")],
                Some(Command::Deny) => &[(Command::Grant, "refuses it"), (Command::Escape, "no answer")],
                Some(Command::ShowCall) => &[(Command::Grant, "shows all"), (Command::Escape, "no answer")],
                Some(Command::AllowWider) => {
                    &[(Command::Grant, "another rule"), (Command::Escape, "no answer")]
                }
                _ => &[(Command::Grant, "grants it"), (Command::Escape, "grants nothing")],
            },
            Context::Asked if is_command(self.tab().composer.text().trim()).is_some() => {
                &[(Command::Send, "runs the command")]
            }
            // The text in the composer would be the answer.
            Context::Asked if self.tab().view.hides_asked() && !self.tab().is_free_to_answer() => &[
                (Command::ShowCall, "shows all"),
                (Command::Deny, "refuses"),
                (Command::Send, "refuses with this"),
            ],
            Context::Asked if self.tab().view.hides_asked() => {
                &[(Command::ShowCall, "shows all"), (Command::Deny, "no")]
            }
            Context::Asked if !self.tab().is_free_to_answer() => &[
                (Command::AllowOnce, "allows"),
                (Command::Deny, "refuses"),
                (Command::Send, "refuses with this"),
            ],
            Context::Asked if self.rule().is_none() => &[(Command::AllowOnce, "once"), (Command::Deny, "no")],
            Context::Asked => &[
                // If there is not room for all, each yes is paired with a no.
                (Command::AllowOnce, "once"),
                (Command::Deny, "no"),
                (Command::AllowHere, "this conversation"),
                (Command::AllowAlways, "always"),
            ],
            Context::Find if self.tab().line.as_ref().is_some_and(|line| line.what != InputFor::Find) => {
                &[(Command::FindNext, "goes on"), (Command::FindLeave, "cancels")]
            }
            Context::Find => &[
                (Command::FindNext, "older"),
                (Command::FindPrevious, "newer"),
                (Command::FindLeave, "close"),
            ],
            Context::Talk if self.tab().waits()[1] && self.tab().view.hides_asked() => {
                &[(Command::ScrollUp, "the question"), (Command::Help, "help")]
            }
            Context::Talk => &[
                (Command::Rewind, "rewind"),
                (Command::Undo, "undo"),
                (Command::List, "conversations"),
                (Command::Help, "help"),
            ],
            // A pane names its own keys.
            _ => &[(Command::Help, "keys")],
        }
    }

    /// The most useful keys here, as many as fit.
    fn key_words(&self, context: Context, columns: usize) -> String {
        let notice = self.notices.shown();
        let most = match &notice {
            // The notice is read first.
            Some((text, _)) => (columns / 3).min(columns.saturating_sub(width::columns(text) + 2)),
            None => columns * 3 / 5,
        };
        let most = match context {
            Context::Asked if notice.is_none() && !self.tab().is_free_to_answer() => columns * 5 / 6,
            _ => most,
        };
        let mut words = String::new();
        for (command, what) in self.useful_keys(context) {
            let name = match context {
                Context::Asked if !self.tab().is_free_to_answer() => {
                    self.keys.beside_words(*command).map(|key| key.to_string())
                }
                _ => Some(self.keys.named(*command)),
            };
            let Some(name) = name else { continue };
            let piece = format!("{name} {what}");
            let gap = if words.is_empty() { 0 } else { 3 };
            if width::columns(&words) + gap + width::columns(&piece) > most {
                continue;
            }
            if gap > 0 {
                words.push_str(" · ");
            }
            words.push_str(&piece);
        }
        words
    }
}

/// Text in rows; what does not fit is cut.
fn paragraph(frame: &mut Frame<'_>, area: Rect, style: Style, text: &str) {
    let lines = width::wrap(text, area.width.into());
    let more = lines.len() > area.height.into();
    for (y, line) in (area.y..area.bottom()).zip(lines) {
        let line = if more && y + 1 == area.bottom() {
            width::fit(&format!("{line}…"), area.width.into())
        } else {
            line
        };
        frame.render_widget(Line::styled(line, style), Rect { y, height: 1, ..area });
    }
}
