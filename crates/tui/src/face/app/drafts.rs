//! What is typed and not sent: kept with the owner, by its conversation, or by the folder as long as none has begun. Must never send
//! anything, and must never give up words of which the owner has nothing yet.

use retake_wire::request::{DraftIn, SetDraft, SetDraftIn};
use retake_wire::{Part, Problem, Request};

use super::tab::Tab;
use super::{App, Asked, For};
use crate::face::msg::{Act, TabId, Ticket};
use crate::render::effects;

/// So long one who leaves waits for the owner to take what was typed.
const LEAVING_MS: i64 = 3_000;

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

/// Drafts on their way to the owner: one after the other, so that none overtakes a later one.
#[derive(Debug, Default)]
pub(super) struct Keeping {
    on_its_way: Option<(Ticket, Request)>,
    next: Vec<Request>,
    /// What the owner did not take, the last time it was asked.
    refused: Option<Request>,
}

impl App {
    /// Gives a draft to the owner as soon as it has the one before.
    fn keep(&mut self, draft: Request) {
        if self.keeping.on_its_way.is_none() {
            let ticket = self.ask(Asked::All(For::Kept), draft.clone());
            self.keeping.on_its_way = Some((ticket, draft));
            return;
        }
        self.keeping.next.retain(|next| place(next) != place(&draft));
        self.keeping.next.push(draft);
    }

    /// The owner has a draft, or will not take it.
    pub(super) fn was_kept(&mut self, ticket: Ticket, wrong: Option<Problem>) {
        let Some((_, draft)) = self.keeping.on_its_way.take_if(|(asked, _)| *asked == ticket) else { return };
        let refused = self.keeping.refused.take().filter(|refused| place(refused) != place(&draft));
        self.keeping.refused = refused;
        if let Some(problem) = wrong {
            self.refuse(format!("what you type here is not kept: {}", problem.message));
            self.keeping.refused = Some(draft);
        }
        if !self.keeping.next.is_empty() {
            let next = self.keeping.next.remove(0);
            self.keep(next);
        }
    }

    /// Leaves, once the owner has what stands in the composers; asked again, or after a while, without that.
    pub(super) fn leave(&mut self) {
        if self.leaving_ms.is_some() {
            return self.acts.push(Act::Quit);
        }
        self.leaving_ms = Some(self.now_ms);
        let is_new = |tab: &Tab| tab.conversation().is_none() && !tab.composer.is_empty();
        if !self.unbegun.is_asked && self.tabs.iter().any(is_new) {
            self.wants_unbegun();
        }
        self.say("leaving, as soon as what you typed is kept");
    }

    /// Whether the face is only waiting for what is still to be kept.
    pub(super) fn is_leaving(&self) -> bool {
        self.leaving_ms.is_some()
    }

    /// Goes on with leaving, where that has begun.
    pub(super) fn leaves(&mut self) {
        let Some(since) = self.leaving_ms else { return };
        for at in 0..self.tabs.len() {
            self.keep_draft(at);
        }
        let is_kept = self.keeping.on_its_way.is_none() && self.tabs.iter().all(|tab| self.is_settled(tab));
        if is_kept || self.now_ms - since >= LEAVING_MS {
            self.acts.push(Act::Quit);
        }
    }

    /// Whether it is known where the words of a tab belong, and they were given to be kept there.
    fn is_settled(&self, tab: &Tab) -> bool {
        let has_place = match tab.conversation() {
            Some(_) => tab.has_draft || tab.is_draft_refused,
            None => self.unbegun.kept.is_some() && !tab.begins,
        };
        tab.sent.is_empty() && (has_place || tab.composer.is_empty())
    }

    /// What was typed, and is not known to be kept anywhere, as one leaves.
    pub(crate) fn unkept(&self) -> Vec<String> {
        let waits = self.keeping.on_its_way.iter().map(|(_, draft)| draft);
        let mut unkept: Vec<&[Part]> =
            waits.chain(&self.keeping.next).chain(&self.keeping.refused).map(parts).collect();
        let has_place = |tab: &&Tab| match tab.conversation() {
            Some(_) => tab.has_draft || tab.rewriting.is_some(),
            None => self.unbegun.kept.is_some(),
        };
        let mut homeless: Vec<_> =
            self.tabs.iter().filter(|tab| !has_place(tab)).map(|tab| tab.composer.parts()).collect();
        // Nobody knows whether the owner has them; with what a conversation begins it has them as the folder's.
        let said = self.tabs.iter().filter(|tab| tab.conversation().is_some()).flat_map(|tab| &tab.sent);
        homeless.extend(said.map(|(_, parts, _)| parts.clone()));
        unkept.extend(homeless.iter().map(Vec::as_slice));
        let mut texts: Vec<String> =
            unkept.into_iter().map(effects::text).filter(|text| !text.is_empty()).collect();
        texts.dedup();
        texts
    }

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
            self.keep(Request::SetDraft(SetDraft { conversation, author: String::new(), parts }));
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
        // What was typed while a conversation began stays here until it is known what its own draft is.
        let is_here = |tab: &&Tab| tab.conversation().is_none() || (tab.begins && !tab.has_draft);
        for tab in self.tabs.iter().filter(is_here) {
            parts.extend(tab.sent.iter().flat_map(|(_, parts, _)| parts.clone()));
            parts.extend(tab.composer.parts());
        }
        if parts != *kept {
            self.unbegun.kept = Some(parts.clone());
            let (folder, author) = (self.known.folder.clone(), String::new());
            self.keep(Request::SetDraftIn(SetDraftIn { folder, author, parts }));
        }
    }
}

/// Whose draft it is.
fn place(draft: &Request) -> Option<&str> {
    match draft {
        Request::SetDraft(set) => Some(&set.conversation),
        _ => None,
    }
}

fn parts(draft: &Request) -> &[Part] {
    match draft {
        Request::SetDraft(set) => &set.parts,
        Request::SetDraftIn(set) => &set.parts,
        _ => &[],
    }
}
