//! What is typed and not sent: kept with the owner, by its conversation, or by the folder as long as none has begun. Must never send
//! anything, and must never give up words of which the owner has nothing yet.

use retake_wire::request::{DraftIn, SetDraft, SetDraftIn};
use retake_wire::{Part, Request};

use super::{App, Asked, For};
use crate::face::msg::TabId;

/// With what conversations are about to begin in the folder.
#[derive(Debug, Default)]
pub(super) struct Unbegun {
    /// The owner was asked for what it has.
    is_asked: bool,
    /// What the owner has, once that is known.
    kept: Option<Vec<Part>>,
    /// What no tab shows: it is given to the next one that is new.
    rest: Vec<Part>,
}

impl App {
    /// Keeps the draft of a tab, where it is another one than the owner has.
    pub(super) fn keep_draft(&mut self, at: usize) {
        let Some(tab) = self.tabs.get_mut(at) else { return };
        tab.typed_ms = None;
        // Words that take the place of a message are not kept: on the next start nobody would know whose place that is.
        let parts = if tab.rewriting.is_some() { Vec::new() } else { tab.composer.parts() };
        if let Some(conversation) = tab.conversation()
            && parts != tab.kept
            && tab.has_draft
        {
            tab.kept.clone_from(&parts);
            let id = tab.id;
            let set = SetDraft { conversation, author: String::new(), parts };
            self.ask(Asked::Tab(id, For::Nothing), Request::SetDraft(set));
        }
        self.keep_unbegun();
    }

    /// Keeps the draft of a tab once nothing was typed for a moment.
    pub(super) fn draft_rests(&mut self, at: usize) {
        if self.tabs.get(at).is_some_and(|tab| tab.rests(self.now_ms)) {
            self.keep_draft(at);
        }
    }

    /// Takes over the draft that the owner has, once, where nothing else is typed.
    pub(super) fn take_draft(&mut self, id: TabId, parts: Vec<Part>) {
        let now_ms = self.now_ms;
        let Some(tab) = self.find_tab(id) else { return };
        if std::mem::replace(&mut tab.has_draft, true) {
            return;
        }
        if tab.composer.is_empty() && tab.rewriting.is_none() {
            tab.composer.set(&parts);
        } else {
            // What was typed before the conversation had begun is its draft now.
            tab.typed_ms = Some(now_ms);
        }
        tab.kept = parts;
    }

    /// A tab is new: what was typed before, and never sent, is given back, as far as no other tab shows it.
    pub(super) fn wants_unbegun(&mut self) {
        if std::mem::replace(&mut self.unbegun.is_asked, true) {
            return self.give_unbegun();
        }
        let (folder, author) = (self.known.folder.clone(), String::new());
        self.ask(Asked::All(For::Unbegun), Request::DraftIn(DraftIn { folder, author }));
    }

    /// The owner says what it has.
    pub(super) fn take_unbegun(&mut self, parts: Vec<Part>) {
        self.unbegun.rest.splice(0..0, parts.clone());
        self.unbegun.kept = Some(parts);
        self.give_unbegun();
        self.keep_unbegun();
    }

    fn give_unbegun(&mut self) {
        let tab = &mut self.tabs[self.current];
        let is_new = tab.conversation().is_none() && tab.sent.is_empty();
        if is_new && tab.composer.is_empty() && !self.unbegun.rest.is_empty() {
            tab.composer.set(&std::mem::take(&mut self.unbegun.rest));
        }
    }

    /// A tab will show something else: with what it was about to begin is for another one.
    pub(super) fn leave_unbegun(&mut self, at: usize) {
        let Some(tab) = self.tabs.get(at).filter(|tab| tab.conversation().is_none()) else { return };
        self.unbegun.rest.extend(tab.composer.parts());
    }

    /// Keeps with what conversations are about to begin, and what was sent for one that is not there yet.
    pub(super) fn keep_unbegun(&mut self) {
        let Some(kept) = &self.unbegun.kept else { return };
        let mut parts = self.unbegun.rest.clone();
        for tab in self.tabs.iter().filter(|tab| tab.conversation().is_none()) {
            parts.extend(tab.sent.iter().flat_map(|(_, parts, _)| parts.clone()));
            parts.extend(tab.composer.parts());
        }
        if parts != *kept {
            self.unbegun.kept = Some(parts.clone());
            let (folder, author) = (self.known.folder.clone(), String::new());
            let set = SetDraftIn { folder, author, parts };
            self.ask(Asked::All(For::Nothing), Request::SetDraftIn(set));
        }
    }
}
