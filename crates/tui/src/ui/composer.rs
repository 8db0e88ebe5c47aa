//! The composer: the next message of a person, and its attachments. Must never send anything by itself, lose a draft, or put a
//! terminal control character on the screen.

mod buffer;
mod complete;
mod draw;
mod files;
mod keys;
mod layout;
mod list;
mod popup;
mod prompts;

use ratatui::layout::{Position, Rect};
use retake_wire::Part;

use self::buffer::Buffer;
pub(crate) use self::draw::Keys;
use self::files::FileCommands;
pub(crate) use self::keys::EDITING;
use self::layout::Layout;
use self::popup::Popup;
use self::prompts::Prompts;
use super::keymap::Command;
use crate::text::fold::Folds;

/// Bytes kept behind placeholders after sending: known pastes are folded again when they come back.
const KEPT: usize = 32 * 1024 * 1024;

/// The composer.
#[derive(Debug, Default)]
pub(crate) struct Composer {
    buffer: Buffer,
    folds: Folds,
    attached: Vec<Part>,
    /// Drafts that were moved aside, the latest on top.
    aside: Vec<Draft>,
    /// A draft was just moved aside, or found there: the next key removes the notice.
    tells_aside: bool,
    prompts: Prompts,
    popup: Option<Popup>,
    /// The start of the completion that was closed: it stays closed until another one begins.
    dismissed: Option<usize>,
    /// The commands of files.
    commands: FileCommands,
    /// The last query for paths.
    asked: Option<String>,
    layout: Layout,
    /// The text and width of the layout.
    laid_out: Option<(String, u16)>,
    /// The top visible row.
    top: usize,
    /// The area of the text.
    body: Rect,
    /// The column that the cursor aims for when it moves up or down.
    goal: Option<u16>,
}

/// A message that is being written.
#[derive(Clone, Debug, Default, PartialEq)]
struct Draft {
    /// The text, with pastes expanded.
    text: String,
    /// The cursor: the number of bytes before it.
    cursor: usize,
    /// The attachments.
    attached: Vec<Part>,
}

impl Draft {
    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.attached.is_empty()
    }
}

impl Composer {
    /// An empty composer.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// The text, with every paste expanded.
    pub(crate) fn text(&self) -> String {
        self.folds.expand(self.buffer.text())
    }

    /// The message as it would be sent: the text, then the attachments.
    pub(crate) fn parts(&self) -> Vec<Part> {
        let text = self.text();
        let text = (!text.is_empty()).then_some(Part::Text { text });
        text.into_iter().chain(self.attached.iter().cloned()).collect()
    }

    /// Whether there is nothing to send.
    pub(crate) fn is_empty(&self) -> bool {
        self.attached.is_empty() && self.buffer.text().trim().is_empty()
    }

    /// Removes the attachments; a draft with them is moved aside.
    pub(crate) fn detach(&mut self) {
        if !self.attached.is_empty() {
            self.aside.push(self.draft());
            self.tells_aside = true;
            self.attached.clear();
        }
    }

    /// A click on the screen: moves the cursor there.
    pub(crate) fn clicked(&mut self, at: Position) {
        if self.body.contains(at) {
            let row = self.top + usize::from(at.y - self.body.y);
            self.buffer.move_to(self.layout.at(row, at.x - self.body.x));
            self.moved();
        }
    }

    /// Replaces the content, with the cursor at its end. Several texts become paragraphs.
    pub(crate) fn set(&mut self, parts: &[Part]) {
        let mut texts = Vec::new();
        self.attached.clear();
        for part in parts {
            match part {
                Part::Text { text } => texts.push(text.as_str()),
                // Sent as a command, the message gets it again.
                part if part.is_command_prompt() => {}
                other => self.attached.push(other.clone()),
            }
        }
        let text = self.folds.fold_edited(&texts.join("\n\n"));
        self.buffer.begin(text);
        self.prompts.leave();
        self.moved();
    }

    /// Puts earlier text before the text typed meanwhile, as separate paragraphs.
    pub(crate) fn set_before(&mut self, parts: &[Part]) {
        let typed = self.parts();
        if typed != parts {
            self.set(&[parts, &typed].concat());
        }
    }

    /// A text from an editor, as an edit that can be undone; attachments stay.
    pub(crate) fn set_text(&mut self, text: &str) {
        let text = self.folds.fold_edited(&newlines(text));
        self.buffer.replace_all(&text);
        self.edited();
    }

    /// A message comes back: a draft in the composer is moved aside.
    pub(crate) fn returned(&mut self, parts: &[Part]) {
        let draft = self.draft();
        if self.parts() != parts && !draft.is_empty() {
            self.aside.push(draft);
        }
        self.tells_aside = true;
        self.set(parts);
        self.forget_same();
    }

    /// A returned message leaves again: the draft that was moved aside for it is back.
    pub(crate) fn left(&mut self) {
        self.clear();
        self.draft_back();
    }

    /// Forgets the draft aside that equals these parts.
    pub(crate) fn forget_aside(&mut self, parts: &[Part]) {
        let kept = self.aside().iter().map(|aside| aside != parts).collect::<Vec<_>>();
        let mut kept = kept.into_iter();
        self.aside.retain(|_| kept.next().unwrap_or(true));
    }

    /// A draft stays aside only while it differs from the composer's content.
    fn forget_same(&mut self) {
        let now = self.draft();
        self.aside.retain(|draft| (&draft.text, &draft.attached) != (&now.text, &now.attached));
    }

    /// Drafts that are aside, the next one to come back last; and the draft behind an earlier prompt that is shown.
    pub(crate) fn aside(&self) -> Vec<Vec<Part>> {
        let parts = |draft: &Draft| {
            let text = (!draft.text.is_empty()).then(|| Part::Text { text: draft.text.clone() });
            text.into_iter().chain(draft.attached.iter().cloned()).collect()
        };
        let waits = Some(self.prompts.draft()).filter(|text| !text.is_empty());
        let waits = waits.map(|text| vec![Part::Text { text: text.to_owned() }]);
        self.aside.iter().map(parts).chain(waits).collect()
    }

    /// Adds drafts that were moved aside earlier, behind those that are aside.
    pub(crate) fn give_aside(&mut self, aside: &[Vec<Part>]) {
        let mut earlier = Composer::new();
        for parts in aside {
            earlier.returned(parts);
        }
        earlier.set_aside();
        self.aside.splice(0..0, earlier.aside);
        self.tells_aside = true;
        self.forget_same();
    }

    /// Discards the draft that would come back next: its text stays as an earlier prompt while the UI is open.
    fn drop_draft(&mut self) -> bool {
        let Some(draft) = self.aside.pop() else { return false };
        self.prompts.said(&draft.text);
        true
    }

    /// A key was pressed: the person has seen that a draft is aside.
    pub(crate) fn key_was_pressed(&mut self) {
        self.tells_aside = false;
    }

    /// Moves the content aside and empties the composer.
    pub(crate) fn set_aside(&mut self) {
        self.returned(&[]);
    }

    /// Empties the composer; keeps nothing.
    pub(crate) fn clear(&mut self) {
        self.set(&[]);
    }

    /// Takes the message to send, and remembers it as a prompt.
    pub(crate) fn take(&mut self) -> Vec<Part> {
        let parts = self.parts();
        let text = self.text();
        self.forget_same();
        self.clear();
        self.prompts.said(&text);
        if self.folds.bytes() > KEPT {
            self.folds = Folds::default();
            self.buffer = Buffer::default();
        }
        parts
    }

    /// The line is neither done nor sent: it becomes an earlier prompt, so that Up brings it back. Attachments stay.
    pub(crate) fn refused(&mut self) {
        let (text, attached) = (self.text(), std::mem::take(&mut self.attached));
        self.clear();
        self.attached = attached;
        self.prompts.said(&text);
    }

    /// The current content, to return to later.
    fn draft(&self) -> Draft {
        let (before, _) = self.buffer.text().split_at(self.buffer.cursor());
        Draft { text: self.text(), cursor: self.folds.expand(before).len(), attached: self.attached.clone() }
    }

    fn begin(&mut self, draft: Draft) {
        let text = self.folds.fold_edited(&draft.text);
        let before = self.folds.fold_edited(draft.text.get(..draft.cursor).unwrap_or(&draft.text));
        let cursor = if text.starts_with(&before) { before.len() } else { text.len() };
        self.buffer.begin(text);
        self.buffer.move_to(cursor);
        self.attached = draft.attached;
        self.prompts.leave();
        self.moved();
    }

    /// Brings back the draft that was moved aside last. The current content goes to the other end, so that repeating this shows
    /// all of them.
    fn draft_back(&mut self) -> bool {
        let Some(draft) = self.aside.pop() else { return false };
        let now = self.draft();
        if !now.is_empty() {
            self.aside.insert(0, now);
        }
        self.tells_aside = true;
        self.begin(draft);
        self.forget_same();
        true
    }

    /// Pasted text: one edit, with its newlines; triggers no key.
    pub(crate) fn paste(&mut self, text: &str) {
        if let Some(Popup::Search { query, .. }) = &mut self.popup {
            query.push_str(text.lines().next().unwrap_or_default());
            return self.search();
        }
        let text = self.folds.fold(&newlines(text));
        let at = self.buffer.cursor();
        self.buffer.replace(at..at, &text);
        self.edited();
    }

    /// Quotes a text after the content, as one edit; the cursor goes after it.
    pub(crate) fn quote(&mut self, words: &str) {
        let quoted: Vec<String> = newlines(words)
            .lines()
            .map(|line| if line.is_empty() { ">".to_owned() } else { format!("> {line}") })
            .collect();
        let at = self.buffer.text().trim_end().len();
        let (end, before) = (self.buffer.text().len(), if at == 0 { "" } else { "\n\n" });
        let quoted = self.folds.fold(&quoted.join("\n"));
        self.buffer.replace(at..end, &format!("{before}{quoted}\n\n"));
        self.edited();
    }

    /// Adds earlier prompts, newest first, after those that are known.
    pub(crate) fn remember(&mut self, prompts: Vec<String>) {
        self.prompts.remember(prompts);
        if matches!(self.popup, Some(Popup::Search { .. })) {
            self.search();
        }
    }

    /// A command of its keys. Returns whether it did something.
    pub(crate) fn command(&mut self, command: Command) -> bool {
        match command {
            Command::Send => return self.goes_on(),
            Command::NewLine => self.type_in("\n"),
            Command::HistoryUp => self.up(),
            Command::HistoryDown => self.down(),
            Command::HistorySearch => self.open_search(),
            Command::TypingUndo if self.buffer.undo() => self.edited(),
            Command::TypingRedo if self.buffer.redo() => self.edited(),
            Command::DraftBack => return self.draft_back(),
            Command::DraftDrop => return self.drop_draft(),
            Command::Complete => return self.complete(),
            Command::Detach if !self.attached.is_empty() => self.detach(),
            _ => return false,
        }
        true
    }

    /// A backslash before Enter is a newline, also for terminals that have no other key for it.
    fn goes_on(&mut self) -> bool {
        let cursor = self.buffer.cursor();
        let goes_on = self.buffer.text()[..cursor].ends_with('\\');
        if goes_on {
            self.buffer.replace(cursor - 1..cursor, "\n");
            self.edited();
        }
        goes_on
    }

    fn type_in(&mut self, text: &str) {
        let text = self.folds.fold(text);
        self.buffer.insert(&text);
        self.edited();
    }

    /// The line above, or the prompt before.
    fn up(&mut self) {
        if self.step_rows(-1) {
            return;
        }
        let text = self.text();
        if let Some((found, aside)) = self.prompts.older(&text) {
            self.show_prompt(&found, aside);
        }
    }

    /// The line below, or the prompt after.
    fn down(&mut self) {
        if self.step_rows(1) {
            return;
        }
        let text = self.text();
        if let Some((found, aside)) = self.prompts.newer(&text) {
            self.show_prompt(&found, aside);
        }
    }

    fn show_prompt(&mut self, text: &str, aside: Option<String>) {
        if let Some(text) = aside {
            self.aside.push(Draft { cursor: text.len(), text, attached: Vec::new() });
            self.tells_aside = true;
        }
        let text = self.folds.fold_edited(text);
        self.buffer.replace_all(&text);
        self.moved();
        // An earlier prompt is complete.
        self.dismissed = Some(0);
        self.popup = None;
    }

    /// Moves up or down by visible rows. Returns whether there was a row.
    fn step_rows(&mut self, rows: isize) -> bool {
        self.lay_out(None);
        let (row, column) = self.layout.find(self.buffer.cursor());
        let Some(next) = row.checked_add_signed(rows).filter(|next| *next < self.layout.rows().len()) else {
            return false;
        };
        let goal = *self.goal.get_or_insert(column);
        self.buffer.move_to(self.layout.at(next, goal));
        self.refresh();
        true
    }

    /// The text has changed.
    fn edited(&mut self) {
        self.moved();
    }

    /// The cursor has moved.
    fn moved(&mut self) {
        self.goal = None;
        self.refresh();
    }
}

/// A terminal sends the newlines of a paste as carriage returns.
fn newlines(pasted: &str) -> String {
    pasted.replace("\r\n", "\n").replace('\r', "\n")
}

#[cfg(test)]
mod tests;
