//! Which messages are one: albums, forwarded batches, a picture and the text after it, and a text that the client cut. Must never
//! hold a message for more than ten seconds, and never join messages of two people or places, or change the order of a place.

use std::collections::{BTreeMap, HashMap};

use retake_wire::chat::{Addressed, Inbound, InboundMessage, JoinedMessage, Place};

use crate::capabilities::LengthUnit;
use crate::text::length;

/// An album or a forwarded batch is complete after so long without a further item.
const ALBUM_MS: i64 = 1_500;

/// A picture without text waits so long for a text.
const TEXT_MS: i64 = 2_000;

/// The rest of a cut text comes within this time.
const REST_MS: i64 = 1_000;

/// No message waits longer.
const MOST_MS: i64 = 10_000;

/// Clients cut texts at this length, in UTF-16 code units.
const CUT_AT: usize = 4_096;

/// An event that arrived.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Envelope {
    /// Its number, in the order in which the events came.
    pub(super) number: u64,
    pub(super) key: String,
    pub(super) event: Inbound,
}

/// Events that are stored by one request.
pub(super) type Unit = Vec<Envelope>;

/// The messages that wait for more, and what waits for them.
#[derive(Debug, Default)]
pub(super) struct Joiner {
    open: HashMap<(Place, String), Waiting>,
    /// What is complete, by the number of its first event. It waits for open messages of its place that began before it.
    complete: BTreeMap<u64, (Place, Unit)>,
}

#[derive(Debug)]
struct Waiting {
    /// The number of its first event.
    first: u64,
    items: Unit,
    opened_ms: i64,
    due_ms: i64,
}

impl Joiner {
    /// Takes an event. Returns what is complete now, in order. `is_alone`: it is joined with nothing, such as a command.
    pub(super) fn add(&mut self, envelope: Envelope, is_alone: bool, now: i64) -> Vec<Unit> {
        match &envelope.event {
            Inbound::Message(message) if !is_alone => self.join(message.clone(), envelope, now),
            Inbound::Edited(message) => {
                let key = (message.place.clone(), message.person.id.clone());
                self.close(|other, _| *other == key);
                self.completes(vec![envelope]);
            }
            // A command and what is no message wait for nothing.
            Inbound::Message(InboundMessage { place, .. }) => {
                let place = place.clone();
                self.close(|(other, _), _| *other == place);
                self.completes(vec![envelope]);
            }
            other => {
                let (place, from) = (place_of(other), moved_from(other).map(str::to_owned));
                self.close(|(other, _), _| {
                    other.account == place.account
                        && (other.chat == place.chat || Some(&other.chat) == from.as_ref())
                });
                self.completes(vec![envelope]);
            }
        }
        self.ready()
    }

    /// What is complete because of the time. All of it, if somebody set the clock back.
    pub(super) fn due(&mut self, now: i64) -> Vec<Unit> {
        self.close(|_, it| it.due_ms <= now || now < it.opened_ms);
        self.ready()
    }

    /// When something will be complete.
    pub(super) fn next_ms(&self) -> Option<i64> {
        self.open.values().map(|it| it.due_ms).min()
    }

    fn join(&mut self, message: InboundMessage, envelope: Envelope, now: i64) {
        let key = (message.place.clone(), message.person.id.clone());
        let mut waiting = match self.open.remove(&key) {
            Some(open) if belongs(&open.items, &message) => open,
            other => {
                if let Some(other) = other {
                    self.completes(other.items);
                }
                Waiting { first: envelope.number, items: Vec::new(), opened_ms: now, due_ms: now }
            }
        };
        waiting.items.push(envelope);
        match wait_for_more(&waiting.items) {
            Some(wait) => {
                waiting.due_ms = now.saturating_add(wait).min(waiting.opened_ms.saturating_add(MOST_MS));
                self.open.insert(key, waiting);
            }
            None => self.completes(waiting.items),
        }
    }

    fn completes(&mut self, unit: Unit) {
        if let Some(first) = unit.first() {
            self.complete.insert(first.number, (place_of(&first.event), unit));
        }
    }

    /// Completes the open messages that are meant.
    fn close(&mut self, is_meant: impl Fn(&(Place, String), &Waiting) -> bool) {
        let meant: Vec<Waiting> =
            self.open.extract_if(|key, it| is_meant(key, it)).map(|(_, waiting)| waiting).collect();
        meant.into_iter().for_each(|waiting| self.completes(waiting.items));
    }

    /// Takes out what is complete and has nothing open before it, in order.
    fn ready(&mut self) -> Vec<Unit> {
        let open = &self.open;
        let is_ready = |number: &u64, place: &Place| {
            open.iter().all(|((other, _), it)| other != place || it.first > *number)
        };
        self.complete
            .extract_if(.., |number, (place, _)| is_ready(number, place))
            .map(|(_, (_, unit))| unit)
            .collect()
    }
}

/// The chat that another one continues.
fn moved_from(event: &Inbound) -> Option<&str> {
    match event {
        Inbound::Migrated { from, .. } => Some(from),
        _ => None,
    }
}

/// The place of an event.
pub(super) fn place_of(event: &Inbound) -> Place {
    match event {
        Inbound::Message(message) | Inbound::Edited(message) => message.place.clone(),
        Inbound::Recalled { place, .. }
        | Inbound::Pressed { place, .. }
        | Inbound::Membership { place, .. } => place.clone(),
        Inbound::Migrated { account, to, .. } => {
            Place { account: account.clone(), chat: to.clone(), thread: None }
        }
    }
}

/// One message of all items, and the others' names.
pub(super) fn merged(unit: &[Envelope]) -> Option<(Inbound, Vec<JoinedMessage>)> {
    let (first, rest) = unit.split_first()?;
    let Inbound::Message(mut whole) = first.event.clone() else {
        return Some((first.event.clone(), Vec::new()));
    };
    let mut also = Vec::new();
    let mut was_cut = is_cut(&whole);
    for envelope in rest {
        let Inbound::Message(next) = &envelope.event else { continue };
        if !was_cut && !whole.text.is_empty() && !next.text.is_empty() {
            whole.text.push('\n');
        }
        let (is_rest, text_bytes) = (was_cut, u32::try_from(next.text.len()).unwrap_or(u32::MAX));
        was_cut = is_cut(next);
        whole.text.push_str(&next.text);
        whole.attached.extend(next.attached.iter().cloned());
        whole.reply_to = whole.reply_to.take().or_else(|| next.reply_to.clone());
        if whole.addressed == Addressed::No {
            whole.addressed = next.addressed;
        }
        also.push(JoinedMessage {
            transport_key: envelope.key.clone(),
            message: next.message.clone(),
            text_bytes,
            files: u32::try_from(next.attached.len()).unwrap_or(u32::MAX),
            is_rest,
        });
    }
    Some((Inbound::Message(whole), also))
}

fn messages(items: &[Envelope]) -> impl Iterator<Item = &InboundMessage> {
    items.iter().filter_map(|it| match &it.event {
        Inbound::Message(message) => Some(message),
        _ => None,
    })
}

fn belongs(items: &[Envelope], next: &InboundMessage) -> bool {
    let Some(last) = messages(items).last() else { return false };
    let is_same_album = next.album.is_some() && next.album == last.album;
    let is_batch = next.is_forward && last.is_forward;
    let waits_for_text = messages(items).all(is_mute) && !next.is_forward && next.album.is_none();
    let is_rest = is_cut(last) && !next.is_forward && next.attached.is_empty();
    is_same_album || is_batch || waits_for_text || is_rest
}

/// How long to wait for a further item. `None`: it is complete.
fn wait_for_more(items: &[Envelope]) -> Option<i64> {
    let last = messages(items).last()?;
    let is_mute = messages(items).all(is_mute);
    match last {
        _ if is_mute => Some(TEXT_MS),
        it if it.album.is_some() || it.is_forward => Some(ALBUM_MS),
        it if is_cut(it) => Some(REST_MS),
        _ => None,
    }
}

/// Files without a text, of which a person may still say something.
fn is_mute(message: &InboundMessage) -> bool {
    message.text.trim().is_empty()
        && !message.is_forward
        && message.attached.iter().any(|file| !file.is_voice)
}

fn is_cut(message: &InboundMessage) -> bool {
    message.attached.is_empty() && !message.is_forward && length(&message.text, LengthUnit::Utf16) >= CUT_AT
}
