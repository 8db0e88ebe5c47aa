//! Text that was typed and not sent. The owner stores it by its conversation, or by the folder before one has begun. Must never
//! send anything, and must never drop text that the owner does not have yet.

use retake_wire::reply::Draft;
use retake_wire::request::{ClaimDraftIn, SetDraft, SetDraftIn};
use retake_wire::{Part, Problem, Request, english};

use super::local_draft::Stored;
use super::tab::Tab;
use super::{App, RequestPurpose, Requester};
use crate::render::{self, effects};
use crate::ui::composer::Composer;
use crate::ui::keymap::Command;
use crate::ui::msg::{Act, TabId, Ticket};
use crate::ui::talk::Tone;

/// How long quitting waits for the owner to store the drafts.
const LEAVING_MS: i64 = 3_000;

/// The drafts of all tabs that the owner stores.
#[derive(Debug, Default)]
pub(super) struct Drafts {
    /// Drafts of conversations that have not begun.
    unbegun: FolderDrafts,
    /// Drafts on their way to the owner.
    keeping: DraftQueue,
    /// When the person began to quit.
    leaving_ms: Option<i64>,
}

/// Drafts of conversations that have not begun in the folder.
#[derive(Debug, Default)]
struct FolderDrafts {
    /// The owner was asked for its draft.
    is_asked: bool,
    /// The owner's draft and the drafts aside, once known.
    kept: Option<(Vec<Part>, Vec<Vec<Part>>)>,
    /// Text that no tab shows: the next new tab gets it.
    rest: Vec<Part>,
    rest_aside: Vec<Vec<Part>>,
}

/// Drafts on their way to the owner, one after the other, so that none overtakes a later one.
#[derive(Debug, Default)]
struct DraftQueue {
    on_its_way: Option<(Ticket, Request)>,
    next: Vec<Request>,
    /// The last draft that the owner refused.
    refused: Option<Request>,
}

impl App {
    /// Sends a draft to the owner as soon as it has the one before.
    fn keep(&mut self, draft: Request) {
        if self.drafts.keeping.on_its_way.is_none() {
            let ticket = self.ask(Requester::All(RequestPurpose::Kept), draft.clone());
            self.drafts.keeping.on_its_way = Some((ticket, draft));
            return;
        }
        let mut draft = draft;
        if let Some(at) = self.drafts.keeping.next.iter().position(|next| place(next) == place(&draft)) {
            // The owner never had that draft: this one replaces what it would have replaced.
            let mut never = self.drafts.keeping.next.remove(at);
            std::mem::swap(instead_of(&mut draft), instead_of(&mut never));
        }
        self.drafts.keeping.next.push(draft);
    }

    /// The owner has stored a draft, or refused it.
    pub(super) fn was_kept(&mut self, ticket: Ticket, wrong: Option<Problem>) {
        let Some((_, draft)) = self.drafts.keeping.on_its_way.take_if(|(asked, _)| *asked == ticket) else {
            return;
        };
        let refused = self.drafts.keeping.refused.take().filter(|refused| place(refused) != place(&draft));
        self.drafts.keeping.refused = refused;
        if let Some(problem) = wrong {
            self.refuse(format!("what you type here is not kept: {}", english::problem(&problem)));
            self.drafts.keeping.refused = Some(draft);
        }
        if !self.drafts.keeping.next.is_empty() {
            let next = self.drafts.keeping.next.remove(0);
            self.keep(next);
        }
    }

    /// Quits once the owner has the drafts; on a second request or after a while, without that.
    pub(super) fn leave(&mut self) {
        if self.drafts.leaving_ms.is_some() {
            return self.requests.acts.push(Act::Quit);
        }
        self.drafts.leaving_ms = Some(self.now_ms);
        self.assert_drafts();
        let is_new = |tab: &Tab| tab.conversation().is_none() && tab.has_words();
        if !self.drafts.unbegun.is_asked && self.tabs.iter().any(is_new) {
            self.wants_unbegun();
        }
        self.say("quitting, as soon as your text is saved");
    }

    /// Quits when nobody can request it again.
    pub(super) fn closed(&mut self) {
        if !self.is_leaving() {
            self.leave();
        }
    }

    /// Whether the UI only waits for drafts to be stored.
    pub(super) fn is_leaving(&self) -> bool {
        self.drafts.leaving_ms.is_some()
    }

    /// Continues quitting, if it has begun.
    pub(super) fn leaves(&mut self) {
        let Some(since) = self.drafts.leaving_ms else { return };
        for at in 0..self.tabs.len() {
            self.keep_draft(at);
        }
        let is_kept =
            self.drafts.keeping.on_its_way.is_none() && self.tabs.iter().all(|tab| self.is_settled(tab));
        if is_kept || self.now_ms - since >= LEAVING_MS {
            self.requests.acts.push(Act::Quit);
        }
    }

    /// Whether the place for a tab's text is known, and the text was sent to the owner.
    fn is_settled(&self, tab: &Tab) -> bool {
        let has_place = match tab.conversation() {
            Some(_) => tab.draft.is_known || tab.draft.is_refused,
            None => self.drafts.unbegun.kept.is_some() && !tab.outgoing.begins,
        };
        let is_open = tab.draft.opening.is_none() || tab.composer.is_empty();
        tab.outgoing.is_empty() && is_open && (has_place || !tab.has_words())
    }

    /// On quitting, the owner stores these drafts even if another terminal has replaced them since.
    fn assert_drafts(&mut self) {
        for at in 0..self.tabs.len() {
            let tab = &self.tabs[at];
            if let (Some(conversation), true, true) =
                (tab.conversation(), tab.draft.is_known, tab.has_words())
            {
                self.set_draft(at, conversation, false);
            }
        }
        let is_new = |tab: &Tab| tab.conversation().is_none() && tab.has_words();
        if self.tabs.iter().any(is_new)
            && let Some((parts, aside)) = self.drafts.unbegun.kept.clone()
        {
            self.set_draft_in(parts, aside);
        }
    }

    /// Text that may not be stored anywhere when the person quits.
    pub(crate) fn unsaved(&self) -> Vec<String> {
        let waits = self.drafts.keeping.on_its_way.iter().map(|(_, draft)| draft);
        let mut unsaved: Vec<&[Part]> = waits
            .chain(&self.drafts.keeping.next)
            .chain(&self.drafts.keeping.refused)
            .flat_map(parts)
            .collect();
        let has_place = |tab: &&Tab| match tab.conversation() {
            Some(_) => tab.draft.is_known,
            None => self.drafts.unbegun.kept.is_some(),
        };
        let words = |composer: &Composer| composer.aside().into_iter().chain([composer.parts()]);
        let mut homeless: Vec<_> =
            self.tabs.iter().filter(|tab| !has_place(tab)).flat_map(|tab| words(tab.own())).collect();
        let opening = self.tabs.iter().filter(|tab| tab.draft.opening.is_some());
        homeless.extend(opening.flat_map(|tab| words(&tab.composer)));
        // It is unknown whether the owner has them. The text that a conversation begins with is stored as the folder's draft.
        let said =
            self.tabs.iter().filter(|tab| tab.conversation().is_some()).flat_map(|tab| tab.outgoing.parts());
        homeless.extend(said.cloned());
        unsaved.extend(homeless.iter().map(Vec::as_slice));
        let mut texts: Vec<String> =
            unsaved.into_iter().map(effects::text).filter(|text| !text.is_empty()).collect();
        texts.dedup();
        texts
    }

    /// Stores the draft of a tab, if it differs from the owner's.
    pub(super) fn keep_draft(&mut self, at: usize) {
        let Some(tab) = self.tabs.get_mut(at) else { return };
        if tab.draft.opening.is_none() {
            tab.draft.typed_ms = None;
        }
        if tab.own().is_empty() {
            tab.draft.edits = None;
        }
        if let Some(conversation) = tab.conversation()
            && tab.draft.is_known
            && tab.to_store() != tab.draft.stored
        {
            self.set_draft(at, conversation, false);
        }
        self.keep_unbegun();
    }

    /// A tab no longer shows its conversation: the next client that opens it gets the draft.
    pub(super) fn release_draft(&mut self, at: usize) {
        self.keep_draft(at);
        let Some(tab) = self.tabs.get(at).filter(|tab| tab.draft.is_known && tab.has_words()) else {
            return;
        };
        if let Some(conversation) = tab.conversation() {
            self.set_draft(at, conversation, true);
        }
    }

    /// Sends the draft of a tab to the owner, to replace the one sent before.
    fn set_draft(&mut self, at: usize, conversation: String, released: bool) {
        let tab = &mut self.tabs[at];
        let stored = tab.to_store();
        let before = std::mem::replace(&mut tab.draft.stored, stored.clone());
        let Stored { parts, edits, aside } = stored;
        let (aside, instead_of) = (Some(aside), Some(before.parts));
        let set = SetDraft { conversation, parts, aside, instead_of, edits, released, ..SetDraft::default() };
        self.keep(Request::SetDraft(set));
    }

    /// Stores the draft of a tab once nothing was typed for a moment.
    pub(super) fn draft_rests(&mut self, at: usize) {
        if self.tabs.get(at).is_some_and(|tab| tab.draft.is_due(self.now_ms)) {
            self.keep_draft(at);
        }
    }

    /// Takes over the owner's draft, once: text typed before it arrived goes after it.
    pub(super) fn take_draft(&mut self, id: TabId, draft: Draft) {
        let Draft { parts, edits, aside, .. } = draft;
        let now_ms = self.now_ms;
        let Some(tab) = self.find_tab(id) else { return };
        if std::mem::replace(&mut tab.draft.is_known, true) {
            return;
        }
        if tab.has_words() {
            tab.draft.typed(now_ms);
        }
        let own = tab.draft.opening.as_mut().unwrap_or(&mut tab.composer);
        own.set_before(&parts);
        own.give_aside(&aside);
        tab.draft.edits.clone_from(&edits);
        tab.draft.stored = Stored { parts, edits: edits.clone(), aside };
        if let Some(entry) = edits {
            self.was_to_edit(id, &entry);
        }
    }

    /// The draft replaces a message: sent without a command, it becomes the last message instead.
    fn was_to_edit(&mut self, id: TabId, entry: &str) {
        let Some(tab) = self.find_tab(id) else { return };
        let turn = tab.talk.entry(entry).map(|loaded| loaded.place.turn);
        let name = turn.map_or_else(|| render::id::short(entry).to_owned(), |turn| format!("t{turn}"));
        let back = self.keys.named(Command::DraftBack);
        let what = format!(
            "this text was written to replace {name}: sent now, it becomes a new message; \
             to replace {name}, use /edit {name}, then {back}"
        );
        self.note_in(id, what, Tone::Quiet);
    }

    /// The conversation to open does not exist: the text typed for it stays here.
    pub(super) fn not_opened(&mut self, id: TabId) {
        let Some(at) = self.tabs.place(id) else { return };
        let typed = self.tabs[at].opened();
        self.type_on(at, typed);
        if self.tabs[at].conversation().is_none() {
            self.wants_unbegun();
        }
    }

    /// Text typed elsewhere goes after the text of a tab.
    pub(super) fn type_on(&mut self, at: usize, typed: Option<Composer>) {
        let Some(typed) = typed.filter(|typed| !typed.is_empty()) else { return };
        let tab = &mut self.tabs[at];
        let before = std::mem::replace(&mut tab.composer, typed);
        tab.composer.set_before(&before.parts());
        tab.composer.give_aside(&before.aside());
        tab.draft.typed(self.now_ms);
    }

    /// A new tab gets text that was typed earlier and never sent, if no other tab shows it.
    pub(super) fn wants_unbegun(&mut self) {
        if std::mem::replace(&mut self.drafts.unbegun.is_asked, true) {
            return self.give_unbegun();
        }
        let claim = ClaimDraftIn { folder: self.known.folder.clone(), ..ClaimDraftIn::default() };
        self.ask(Requester::All(RequestPurpose::FolderDraft), Request::ClaimDraftIn(claim));
    }

    /// The owner sends its draft.
    pub(super) fn take_unbegun(&mut self, parts: Vec<Part>, aside: Vec<Vec<Part>>) {
        self.drafts.unbegun.rest.splice(0..0, parts.clone());
        self.drafts.unbegun.rest_aside.splice(0..0, aside.clone());
        self.drafts.unbegun.kept = Some((parts, aside));
        self.give_unbegun();
        self.keep_unbegun();
    }

    fn give_unbegun(&mut self) {
        let tab = self.tabs.shown_mut();
        let is_new = tab.conversation().is_none() && tab.outgoing.is_empty();
        if is_new && tab.composer.is_empty() && !self.drafts.unbegun.rest.is_empty() {
            tab.composer.set(&std::mem::take(&mut self.drafts.unbegun.rest));
        }
        if is_new {
            tab.composer.give_aside(&std::mem::take(&mut self.drafts.unbegun.rest_aside));
        }
    }

    /// A tab will show something else: its unsent first message is for another tab.
    pub(super) fn leave_unbegun(&mut self, at: usize) {
        let Some(tab) = self.tabs.get(at).filter(|tab| tab.conversation().is_none()) else { return };
        self.drafts.unbegun.rest.extend(tab.own().parts());
        self.drafts.unbegun.rest_aside.extend(tab.own().aside());
    }

    /// Stores the first messages of conversations that have not begun, and messages sent for one that does not exist yet.
    pub(super) fn keep_unbegun(&mut self) {
        let Some(kept) = &self.drafts.unbegun.kept else { return };
        let (mut parts, mut aside) =
            (self.drafts.unbegun.rest.clone(), self.drafts.unbegun.rest_aside.clone());
        // Text typed while a conversation began stays here until its own draft is known.
        let is_here =
            |tab: &&Tab| tab.conversation().is_none() || (tab.outgoing.begins && !tab.draft.is_known);
        for tab in self.tabs.iter().filter(is_here) {
            parts.extend(tab.outgoing.parts().flatten().cloned());
            parts.extend(tab.own().parts());
            aside.extend(tab.own().aside());
        }
        if (&parts, &aside) != (&kept.0, &kept.1) {
            self.set_draft_in(parts, aside);
        }
    }

    /// Sends the folder's draft to the owner, to replace the one sent before: a draft of another terminal stays.
    fn set_draft_in(&mut self, parts: Vec<Part>, aside: Vec<Vec<Part>>) {
        let before = self.drafts.unbegun.kept.replace((parts.clone(), aside.clone()));
        let (folder, instead_of) = (self.known.folder.clone(), before.map(|(parts, _)| parts));
        let set = SetDraftIn { folder, parts, aside: Some(aside), instead_of, ..SetDraftIn::default() };
        self.keep(Request::SetDraftIn(set));
    }
}

/// Whose draft it is.
fn place(draft: &Request) -> Option<&str> {
    match draft {
        Request::SetDraft(set) => Some(&set.conversation),
        _ => None,
    }
}

/// The draft that it replaces.
fn instead_of(draft: &mut Request) -> &mut Option<Vec<Part>> {
    match draft {
        Request::SetDraft(set) => &mut set.instead_of,
        Request::SetDraftIn(set) => &mut set.instead_of,
        other => unreachable!("BUG: {other:?} keeps no draft"),
    }
}

/// Its parts, and those that are aside.
fn parts(draft: &Request) -> Vec<&[Part]> {
    let (parts, aside) = match draft {
        Request::SetDraft(set) => (&set.parts, &set.aside),
        Request::SetDraftIn(set) => (&set.parts, &set.aside),
        _ => return Vec::new(),
    };
    aside.iter().flatten().chain([parts]).map(Vec::as_slice).collect()
}
