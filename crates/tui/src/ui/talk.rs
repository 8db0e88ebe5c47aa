//! A conversation as the UI knows it: only what the owner has sent. Must never guess anything else.

use std::collections::{HashMap, HashSet};

use retake_wire::reply::{Changes, Conversation, Entry, Permissions, Words};
use retake_wire::{
    CallNow, Event, NumberedEvent, PendingApproval, Question, RunEvent, RunNotice, RunNow, Snapshot,
};

use crate::hint::Audience;
use crate::render::calls::CallStart;
use crate::render::elsewhere::KnownOperations;
use crate::text::{Text, safe};

/// A conversation.
#[derive(Debug, Default)]
pub(crate) struct LoadedConversation {
    /// Its summary; `None` until it has a message.
    pub(crate) conversation: Option<Conversation>,
    /// The loaded end of the timeline, in path order.
    pub(crate) entries: Vec<Entry>,
    /// Whether there are earlier ones.
    pub(crate) earlier: bool,
    /// The unstored output of the current run.
    pub(crate) live: Option<LiveAnswer>,
    /// Waiting messages.
    pub(crate) waiting: Vec<Words>,
    /// The agent's permissions.
    pub(crate) permissions: Permissions,
    /// Notes that are no part of the conversation, such as the receipt of a rewind: shown after the last entry, until the next
    /// message.
    pub(crate) notes: Vec<Note>,
    /// Incremented whenever anything of it changes.
    pub(crate) version: u64,
    /// Calls that have not started: they wait for approval, or the owner says so.
    pub(crate) unbegun: HashSet<String>,
    /// Calls that had started and have no result, according to the owner.
    pub(crate) cut_off: HashSet<String>,
    /// The operations that the person knows of.
    pub(crate) operations: KnownOperations,
    /// The position of the newest entry ever received, on the path or not.
    pub(crate) newest: Option<(u32, u64)>,
}

/// A line of the UI in a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) text: Text,
    /// How important it is.
    pub(crate) tone: Tone,
    /// When it leaves. A message of this client removes all notes.
    pub(crate) until: Until,
}

/// How long a note stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// Until a new entry arrives.
    Entry,
    /// Until the next step: it is about the move that a message began with.
    Step,
    /// Until the next run: it is a notice of the run.
    Run,
}

/// How important a note is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Information.
    Quiet,
    /// Success.
    Done,
    /// A warning.
    Warning,
    /// An error.
    Wrong,
}

/// What the current run has said, as far as it is not stored yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct LiveAnswer {
    /// The model.
    pub(crate) model: Option<String>,
    /// When its first event arrived, in Unix milliseconds.
    pub(crate) since_ms: i64,
    /// The answer.
    pub(crate) text: String,
    /// The reasoning.
    pub(crate) reasoning: String,
    /// Running calls.
    pub(crate) calls: Vec<LiveCall>,
    /// Calls that wait for approval.
    pub(crate) asks: Vec<PendingApproval>,
    /// When each request arrived, by its id, in Unix milliseconds.
    pub(crate) asked_ms: HashMap<String, i64>,
    /// Questions of tools.
    pub(crate) questions: Vec<Question>,
    /// The last notice that is over when the answer arrives. Others are notes.
    pub(crate) notice: Option<String>,
}

/// A running call.
#[derive(Clone, Debug)]
pub(crate) struct LiveCall {
    /// The call.
    pub(crate) now: CallNow,
    /// When it started, or when its first event arrived, in Unix milliseconds.
    pub(crate) since_ms: i64,
}

/// The most notes that are kept.
const NOTES: usize = 20;

/// The most bytes of a running call's output that are kept.
const PRINTED: usize = 16 * 1024;

/// The effect of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EventEffect {
    /// The state has changed: entries left, arrived or look different.
    pub(crate) changed: bool,
    /// A run has ended: the milliseconds since its first event.
    pub(crate) ended: Option<i64>,
    /// A request for the person has arrived.
    pub(crate) asked: bool,
}

impl LoadedConversation {
    /// Handles an event.
    pub(crate) fn told(&mut self, told: NumberedEvent, now_ms: i64) -> EventEffect {
        self.version += 1;
        // The first event that reports the end counts: the entries of the last answer arrive before its final event.
        let since = self.live.as_ref().map(|live| live.since_ms);
        let mut heard = self.take_in(told, now_ms);
        heard.ended = since.filter(|_| self.live.is_none()).map(|since| (now_ms - since).max(0));
        heard
    }

    fn take_in(&mut self, told: NumberedEvent, now_ms: i64) -> EventEffect {
        match told.event {
            Event::Snapshot(snapshot) => self.snapshot(*snapshot, now_ms),
            Event::Changed(changed) => {
                self.conversation = Some(changed.conversation);
                self.changes(changed.changes, now_ms);
                EventEffect { changed: true, ..EventEffect::default() }
            }
            Event::Now(now) => {
                self.now(*now, now_ms);
                EventEffect::default()
            }
            Event::Run { said } => self.said(said, now_ms),
            // Drafts belong to the composer, the list to its pane.
            Event::Drafts { .. } | Event::List(_) | Event::Listed(_) => EventEffect::default(),
        }
    }

    fn snapshot(&mut self, snapshot: Snapshot, now_ms: i64) -> EventEffect {
        self.operations.begin(&snapshot.conversation.head);
        self.conversation = Some(snapshot.conversation);
        self.newest = snapshot.entries.iter().map(|entry| entry.place.position()).max().max(self.newest);
        self.entries = snapshot.entries;
        self.earlier = snapshot.earlier;
        self.waiting = snapshot.waiting;
        self.permissions = snapshot.permissions;
        self.unbegun = snapshot.unbegun.into_iter().collect();
        self.cut_off = snapshot.cut_off.into_iter().collect();
        self.running(snapshot.running, now_ms);
        EventEffect { changed: true, ..EventEffect::default() }
    }

    fn changes(&mut self, changes: Changes, now_ms: i64) {
        if !changes.gone.is_empty() {
            let gone: HashSet<_> = changes.gone.iter().collect();
            self.entries.retain(|entry| !gone.contains(&entry.id));
        }
        for new in changes.changed {
            if let Some(entry) = self.entries.iter_mut().find(|entry| entry.id == new.id) {
                *entry = new;
            }
        }
        let newest = changes.came.iter().map(|entry| entry.place.position()).max();
        if newest > self.newest {
            // A new message; entries that a step brings back are not new.
            self.newest = newest;
            self.notes.retain(|note| note.until != Until::Entry);
        }
        self.came(changes.came);
        self.waiting = changes.waiting;
        self.permissions = changes.permissions;
        self.running(changes.running, now_ms);
    }

    /// Adds entries, each at its position on the path.
    fn came(&mut self, came: Vec<Entry>) {
        for entry in came {
            if let Some(old) = self.entries.iter_mut().find(|old| old.id == entry.id) {
                *old = entry;
                continue;
            }
            let place = |entry: &Entry| entry.place.position();
            let at = self.entries.partition_point(|old| place(old) < place(&entry));
            if at == 0 && self.earlier {
                // It belongs to the part that is not loaded.
                continue;
            }
            self.entries.insert(at, entry);
        }
    }

    /// Adds entries before the loaded ones.
    pub(crate) fn loaded(&mut self, mut entries: Vec<Entry>, earlier: bool) {
        self.version += 1;
        entries.append(&mut self.entries);
        self.entries = entries;
        self.earlier = earlier;
    }

    fn running(&mut self, running: bool, now_ms: i64) {
        match (&self.live, running) {
            (None, true) => self.live = Some(LiveAnswer { since_ms: now_ms, ..LiveAnswer::default() }),
            (Some(_), false) => self.live = None,
            _ => {}
        }
    }

    fn now(&mut self, now: RunNow, now_ms: i64) {
        let Some(model) = now.model else {
            self.live = None;
            return;
        };
        let old =
            self.live.take().unwrap_or_else(|| LiveAnswer { since_ms: now_ms, ..LiveAnswer::default() });
        let call = |now: CallNow| {
            let known = old.calls.iter().find(|known| known.now.call.call == now.call.call);
            let since_ms = known.map(|known| known.since_ms).or(now.began_ms).unwrap_or(now_ms);
            LiveCall { now, since_ms }
        };
        let calls: Vec<_> = now.calls.into_iter().map(call).collect();
        let since = |asks: &PendingApproval| old.asked_ms.get(&asks.id).copied().unwrap_or(now_ms);
        let asked_ms = now.asks.iter().map(|asks| (asks.id.clone(), since(asks))).collect();
        for call in &calls {
            self.unbegun.remove(&call.now.call.call);
        }
        self.unbegun.extend(now.asks.iter().map(|asks| asks.call.call.clone()));
        self.live = Some(LiveAnswer {
            model: Some(model),
            since_ms: old.since_ms,
            text: now.text,
            reasoning: now.reasoning,
            calls,
            asked_ms,
            asks: now.asks,
            questions: now.questions,
            notice: None,
        });
    }

    fn said(&mut self, said: RunEvent, now_ms: i64) -> EventEffect {
        let mut heard = EventEffect::default();
        let live = self.live.get_or_insert_with(|| LiveAnswer { since_ms: now_ms, ..LiveAnswer::default() });
        match said {
            RunEvent::Started { model, .. } => {
                live.model = Some(model);
                self.notes.retain(|note| note.until != Until::Run);
            }
            RunEvent::Text { text } => live.text.push_str(&text),
            RunEvent::Reasoning { text } => live.reasoning.push_str(&text),
            RunEvent::Notice { notice, text } if notice.is_passing() => {
                live.notice = Some(Audience::Screen.notice(&notice, &text));
            }
            RunEvent::Notice { notice, text } => self.noticed(&notice, &text),
            RunEvent::Answered { .. } => {
                live.text.clear();
                live.reasoning.clear();
                live.notice = None;
            }
            RunEvent::Asks(asks) => {
                live.asked_ms.insert(asks.id.clone(), now_ms);
                self.unbegun.insert(asks.call.call.clone());
                live.asks.push(*asks);
                heard.asked = true;
            }
            RunEvent::Question(question) => {
                live.questions.push(question);
                heard.asked = true;
            }
            RunEvent::Settled { id } => {
                live.asks.retain(|asks| asks.id != id);
                live.asked_ms.remove(&id);
                live.questions.retain(|question| question.id != id);
            }
            RunEvent::Calling(call) => {
                self.unbegun.remove(&call.call);
                let now = CallNow { call, printed: String::new(), began_ms: None };
                live.calls.push(LiveCall { now, since_ms: now_ms });
            }
            RunEvent::Printed { call, text } => {
                if let Some(running) = live.calls.iter_mut().find(|running| running.now.call.call == call) {
                    running.now.printed.push_str(&text);
                    keep_end(&mut running.now.printed);
                }
            }
            RunEvent::Called(ended) => {
                live.calls.retain(|running| running.now.call.call != ended.call);
            }
            RunEvent::Ended(_) => self.live = None,
            RunEvent::Queued | RunEvent::Joined { .. } => {}
        }
        heard
    }

    /// A notice of a run that stays after it. It may arrive twice: by the run's own stream, and by that for all subscribers.
    pub(crate) fn noticed(&mut self, notice: &RunNotice, text: &str) {
        let text = Text::from(safe::line(&Audience::Screen.notice(notice, text)).into_owned());
        if !self.notes.iter().any(|note| note.text == text) {
            self.note(Note { text, tone: Tone::Warning, until: Until::Run });
        }
    }

    /// Adds a note.
    pub(crate) fn note(&mut self, note: Note) {
        self.version += 1;
        self.notes.push(note);
        let more = self.notes.len().saturating_sub(NOTES);
        self.notes.drain(..more);
    }

    /// Whether a call without a result had started.
    pub(crate) fn begun(&self, call: &str) -> CallStart {
        match () {
            () if self.unbegun.contains(call) => CallStart::No,
            () if self.cut_off.contains(call) => CallStart::Yes,
            () => CallStart::Perhaps,
        }
    }

    /// Whether a run is at work.
    pub(crate) fn is_running(&self) -> bool {
        self.live.is_some()
    }

    /// A loaded entry.
    pub(crate) fn entry(&self, id: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.id == id)
    }

    /// The last loaded answer whose usage is known.
    pub(crate) fn last_answer(&self) -> Option<&Entry> {
        self.entries.iter().rev().find(|entry| entry.usage.is_some())
    }

    /// The last entry of the timeline.
    pub(crate) fn tip(&self) -> Option<&str> {
        self.conversation.as_ref().and_then(|conversation| conversation.tip.as_deref())
    }
}

impl LiveAnswer {
    /// How long a call has waited for approval.
    pub(crate) fn waited_ms(&self, asks: &str, now_ms: i64) -> i64 {
        self.asked_ms.get(asks).map_or(0, |since| (now_ms - since).max(0))
    }
}

/// Keeps the end of the output.
fn keep_end(printed: &mut String) {
    if printed.len() > 2 * PRINTED {
        let cut = printed.len() - PRINTED;
        let cut = (cut..printed.len()).find(|at| printed.is_char_boundary(*at)).unwrap_or(printed.len());
        printed.drain(..cut);
    }
}
