//! Earlier prompts, to be sent again. Must never lose the current text when it shows one of them.

use std::collections::HashSet;
use std::sync::Arc;

/// Earlier prompts, newest first, each once.
#[derive(Debug, Default)]
pub(super) struct Prompts {
    list: Vec<Arc<str>>,
    known: HashSet<Arc<str>>,
    /// The shown one.
    at: Option<usize>,
    /// The text before one was shown.
    draft: String,
}

impl Prompts {
    /// All of them.
    pub(super) fn list(&self) -> &[Arc<str>] {
        &self.list
    }

    /// A prompt was sent.
    pub(super) fn said(&mut self, text: &str) {
        self.leave();
        if text.trim().is_empty() {
            return;
        }
        if self.known.contains(text) {
            self.list.retain(|known| **known != *text);
        }
        let text: Arc<str> = text.into();
        self.known.insert(Arc::clone(&text));
        self.list.insert(0, text);
    }

    /// Adds earlier ones, newest first, after those that are known.
    pub(super) fn remember(&mut self, earlier: Vec<String>) {
        for text in earlier {
            let text: Arc<str> = text.into();
            if self.known.insert(Arc::clone(&text)) {
                self.list.push(text);
            }
        }
    }

    /// The prompt before the shown one, and the edited text of the composer that must be kept.
    pub(super) fn older(&mut self, now: &str) -> Option<(Arc<str>, Option<String>)> {
        let next = self.at.map_or(0, |at| at + 1);
        let found = Arc::clone(self.list.get(next)?);
        let aside = self.keep(now);
        self.at = Some(next);
        Some((found, aside))
    }

    /// The prompt after the shown one; after the newest, the text written before.
    pub(super) fn newer(&mut self, now: &str) -> Option<(Arc<str>, Option<String>)> {
        let at = self.at?;
        if at > 0 {
            let aside = self.keep(now);
            self.at = Some(at - 1);
            return Some((Arc::clone(&self.list[at - 1]), aside));
        }
        let aside = self.is_changed(now).then(|| now.to_owned());
        self.at = None;
        Some((std::mem::take(&mut self.draft).into(), aside))
    }

    /// Shows this one.
    pub(super) fn show(&mut self, found: &Arc<str>, now: &str) -> Option<String> {
        let aside = self.keep(now);
        self.at = self.list.iter().position(|text| text == found);
        aside
    }

    /// The composer no longer shows an earlier prompt.
    pub(super) fn leave(&mut self) {
        self.at = None;
        self.draft.clear();
    }

    /// The text written before an earlier prompt was shown.
    pub(super) fn draft(&self) -> &str {
        if self.at.is_some() { &self.draft } else { "" }
    }

    fn is_changed(&self, now: &str) -> bool {
        let shown = self.at.and_then(|at| self.list.get(at));
        !now.is_empty() && shown.is_none_or(|shown| **shown != *now)
    }

    /// Keeps the current text as the draft; returns the draft that it replaces.
    fn keep(&mut self, now: &str) -> Option<String> {
        if !self.is_changed(now) {
            return None;
        }
        let before = std::mem::replace(&mut self.draft, now.to_owned());
        (!before.is_empty()).then_some(before)
    }
}
