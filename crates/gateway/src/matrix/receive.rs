//! Receives events: long polls, gaps that a poll left, and invitations. Must never advance the cursor before everything up to it is
//! durable, and never read a room's history as messages.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::time::Duration;

use reqwest::Method;
use retake_wire::chat::{Audience, Inbound, Place};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::api::{answer, reading};
use super::content;
use super::inbound::{Known, Setting, redacts, replaces};
use super::mention::Names;
use super::room::{Members, Recent};
use super::{Invites, Matrix};
use crate::adapter::Inbox;
use crate::failure::Failure;

/// How long the server may hold a poll, in milliseconds.
const POLL_MS: &str = "30000";

/// How long a poll may take altogether. A first one of a large account takes long.
const POLL_ANSWER: Duration = Duration::from_secs(120);

/// How many events of a room come with a poll.
const POLLED: usize = 50;

/// How many events of a room come at once from its history. A longest one has 65,536 bytes \[D\].
const PAGE: &str = "100";

/// The longest gap that is read, in pages. What is older is not worth an answer any more.
const MOST_PAGES: usize = 20;

/// Invitations that wait at once. More come again at the next start.
const MOST_INVITES: usize = 100;

/// The kinds of events that we read.
const KINDS: [&str; 5] =
    ["m.room.message", "m.room.redaction", "m.room.member", "m.room.encryption", "m.room.tombstone"];

/// Receives until it fails.
pub(super) async fn receive(matrix: &Matrix, cursor: Option<String>, inbox: &dyn Inbox) -> Failure {
    let (invited, invitations) = mpsc::channel(MOST_INVITES);
    let listening = async {
        match Receiver::new(matrix, inbox, invited).await {
            Ok(mut receiver) => receiver.listen(cursor).await,
            Err(failure) => failure,
        }
    };
    tokio::select! {
        failure = listening => failure,
        failure = join(matrix, invitations) => failure,
    }
}

/// Accepts invitations, one after the other and beside the polls: a server that does not answer delays no message.
async fn join(matrix: &Matrix, mut invitations: mpsc::Receiver<String>) -> Failure {
    while let Some(room) = invitations.recv().await {
        while let Err(failure) = matrix.api.change(Method::POST, &["rooms", &room, "join"], &json!({})).await
        {
            let Failure::Wait { wait, .. } = failure else {
                // It may have been taken back, or its server is gone.
                tracing::warn!(reason = %failure, "an invitation could not be accepted");
                break;
            };
            tokio::time::sleep(wait).await;
        }
    }
    std::future::pending().await
}

struct Receiver<'a> {
    matrix: &'a Matrix,
    inbox: &'a dyn Inbox,
    us: String,
    our_name: Option<String>,
    members: HashMap<String, Members>,
    recent: Recent,
    invited: mpsc::Sender<String>,
    /// Invitations that were passed on.
    passed: HashSet<String>,
}

impl<'a> Receiver<'a> {
    async fn new(
        matrix: &'a Matrix,
        inbox: &'a dyn Inbox,
        invited: mpsc::Sender<String>,
    ) -> Result<Self, Failure> {
        let us = matrix.us().await?.to_owned();
        let our_name = matrix.name(&us).await?;
        Ok(Self {
            matrix,
            inbox,
            us,
            our_name,
            members: HashMap::new(),
            recent: Recent::default(),
            invited,
            passed: HashSet::new(),
        })
    }

    async fn listen(&mut self, cursor: Option<String>) -> Failure {
        match self.listen_or_fail(cursor).await {
            Ok(never) => match never {},
            Err(failure) => failure,
        }
    }

    async fn listen_or_fail(&mut self, cursor: Option<String>) -> Result<Infallible, Failure> {
        // Invitations that wait come with a first poll only.
        let first = self.poll(None, 1).await?;
        self.pass_invites(&first);
        let mut since = match cursor {
            Some(cursor) => cursor,
            None => {
                let next = next_batch(&first)?;
                self.inbox.advance(&next).await?;
                next
            }
        };
        loop {
            let poll = match self.poll(Some(&since), POLLED).await {
                // Too long to be read: the rest of each room comes page by page.
                Err(Failure::Unreadable) => self.poll(Some(&since), 1).await?,
                other => other?,
            };
            let next = next_batch(&poll)?;
            self.pass_invites(&poll);
            for (room, joined) in poll["rooms"]["join"].as_object().into_iter().flatten() {
                self.joined(room, joined, &since).await?;
            }
            for (room, left) in poll["rooms"]["leave"].as_object().into_iter().flatten() {
                self.left(room, left).await?;
            }
            if next != since {
                self.inbox.advance(&next).await?;
                since = next;
            }
        }
    }

    /// The events since a time, or none at all for a first poll.
    async fn poll(&self, since: Option<&str>, most: usize) -> Result<Value, Failure> {
        let nothing = json!({ "types": [] });
        let kinds = if since.is_some() { &KINDS[..] } else { &[] };
        let timeline = json!({ "types": kinds, "limit": most });
        // A large room has so many members that nobody could read the answer with all of them.
        let state = json!({ "types": kinds, "lazy_load_members": true });
        let filter = json!({
            "presence": nothing,
            "account_data": nothing,
            "room": { "account_data": nothing, "ephemeral": nothing, "state": state, "timeline": timeline },
        });
        let mut query = vec![("filter", filter.to_string()), ("set_presence", "offline".into())];
        query
            .extend(since.iter().flat_map(|since| [("since", (*since).into()), ("timeout", POLL_MS.into())]));
        let request = self.matrix.api.request(Method::GET, &["client", "v3", "sync"]).query(&query);
        reading(answer(request.timeout(POLL_ANSWER)).await)
    }

    fn pass_invites(&mut self, poll: &Value) {
        for (room, invite) in poll["rooms"]["invite"].as_object().into_iter().flatten() {
            let events = invite["invite_state"]["events"].as_array().into_iter().flatten();
            let mut ours = events.filter(|event| is_membership(event, &self.us));
            let inviter = ours.find_map(|event| event["sender"].as_str());
            let is_wanted = match &self.matrix.invites {
                Invites::Join => true,
                Invites::From(people) => inviter.is_some_and(|id| people.iter().any(|person| person == id)),
                Invites::Ignore => false,
            };
            if is_wanted && !self.passed.contains(room) && self.invited.try_send(room.clone()).is_ok() {
                self.passed.insert(room.clone());
            }
        }
    }

    /// What happened in a room.
    async fn joined(&mut self, room: &str, joined: &Value, since: &str) -> Result<(), Failure> {
        let state = joined["state"]["events"].as_array().into_iter().flatten();
        let timeline = joined["timeline"]["events"].as_array().map(Vec::as_slice).unwrap_or_default();
        for event in state {
            self.follow_state(room, event).await;
        }
        // What was written before we came is history.
        let events = match timeline.iter().rposition(|event| self.is_our_coming(event)) {
            Some(at) => {
                for event in &timeline[..at] {
                    self.follow_state(room, event).await;
                }
                self.members.remove(room);
                timeline[at..].to_vec()
            }
            None => {
                let is_limited = joined["timeline"]["limited"] == true;
                let before = joined["timeline"]["prev_batch"].as_str().filter(|_| is_limited);
                let mut events = match before {
                    Some(before) => self.gap(room, before, since).await?,
                    None => Vec::new(),
                };
                events.extend_from_slice(timeline);
                events
            }
        };
        for event in &events {
            self.happened(room, event).await?;
        }
        Ok(())
    }

    /// The events that a limited poll left out, in order.
    async fn gap(&mut self, room: &str, before: &str, since: &str) -> Result<Vec<Value>, Failure> {
        let places = self.inbox.places().await;
        let mut known: HashSet<String> =
            places.into_iter().filter(|(place, _)| place.chat == room).filter_map(|(_, last)| last).collect();
        let filter = json!({ "types": KINDS }).to_string();
        let (mut events, mut from) = (Vec::new(), before.to_owned());
        for _ in 0..MOST_PAGES {
            let query = [("dir", "b"), ("from", &from), ("to", since), ("limit", PAGE), ("filter", &filter)];
            let page = match self.matrix.api.get(&["rooms", room, "messages"], &query).await {
                Ok(page) => page,
                // We may not read there any more.
                Err(Failure::Refused(_) | Failure::NotFound) => return Ok(in_order(events)),
                Err(failure) => return Err(failure),
            };
            let chunk = page["chunk"].as_array().map(Vec::as_slice).unwrap_or_default();
            for event in chunk {
                // A server that stops at `since` never sends a known event. Not all do [?]. The last one of a thread says nothing of the
                // others: what came before it there may not be stored.
                if event["event_id"].as_str().is_some_and(|id| known.remove(id)) {
                    match known.is_empty() {
                        true => return Ok(in_order(events)),
                        false => continue,
                    }
                }
                events.push(event.clone());
                if self.is_our_coming(event) {
                    return Ok(in_order(events));
                }
            }
            match page["end"].as_str() {
                Some(end) if end != from => from = end.to_owned(),
                _ => return Ok(in_order(events)),
            }
        }
        tracing::warn!("a gap in a room is longer than what is read");
        self.members.remove(room);
        Ok(in_order(events))
    }

    /// Whether this is our own joining of the room, and no change of our name.
    fn is_our_coming(&self, event: &Value) -> bool {
        let before = &event["unsigned"]["prev_content"]["membership"];
        is_membership(event, &self.us) && event["content"]["membership"] == "join" && *before != "join"
    }

    /// Events of the state that are not in the timeline.
    async fn follow_state(&mut self, room: &str, event: &Value) {
        if event["type"] == "m.room.member"
            && let Some(members) = self.members.get_mut(room)
        {
            members.follow(event);
        }
        if event["type"] == "m.room.encryption" && event["state_key"] == "" {
            self.matrix.say_unreadable(room).await;
        }
    }

    async fn happened(&mut self, room: &str, event: &Value) -> Result<(), Failure> {
        self.follow_state(room, event).await;
        let (Some(id), Some(sender)) = (event["event_id"].as_str(), event["sender"].as_str()) else {
            return Ok(());
        };
        if self.is_our_coming(event) {
            if let Some(from) = self.matrix.predecessor(room).await? {
                let (account, to) = (self.matrix.account.clone(), room.to_owned());
                self.inbox.arrived(&format!("{id}/moved"), Inbound::Migrated { account, from, to }).await?;
            }
            let inbound = self.setting(room, &self.names(room), sender, false).membership(true);
            self.inbox.arrived(id, inbound).await?;
        } else if event["type"] == "m.room.message" && event["state_key"].is_null() {
            self.message(room, event, id).await?;
        } else if event["type"] == "m.room.tombstone" && event["state_key"] == "" {
            self.matrix.follow_tombstone(event).await?;
        } else if event["type"] == "m.room.redaction" && sender != self.us {
            self.fetch_members(room).await?;
            let thread = redacts(event).and_then(|id| self.recent.get(id)?.thread.clone());
            let names = self.names(room);
            if let Some(inbound) = self.setting(room, &names, sender, false).recall(event, thread) {
                self.inbox.arrived(id, inbound).await?;
            }
        }
        Ok(())
    }

    async fn message(&mut self, room: &str, event: &Value, id: &str) -> Result<(), Failure> {
        let Some(known) = Known::of(event) else { return Ok(()) };
        self.recent.add(id, known.clone());
        if known.sender == self.us {
            return Ok(());
        }
        let original = replaces(event);
        let of = match original {
            None => known,
            // Nobody can edit a message of somebody else, or an edit [D].
            Some(original) => match self.known(room, original).await? {
                Some(of) if of.sender == known.sender && !of.is_edit => of,
                _ => return Ok(()),
            },
        };
        let is_reply_to_us = match &of.reply_to {
            Some(reply) => self.known(room, reply).await?.is_some_and(|known| known.sender == self.us),
            None => false,
        };
        self.fetch_members(room).await?;
        let names = self.names(room);
        let setting = self.setting(room, &names, &of.sender, is_reply_to_us);
        if let Some(inbound) = setting.message(event, &of, original) {
            self.inbox.arrived(id, inbound).await?;
        }
        Ok(())
    }

    /// What is known of a message, by asking for it where necessary.
    async fn known(&mut self, room: &str, id: &str) -> Result<Option<Known>, Failure> {
        if let Some(known) = self.recent.get(id) {
            return Ok(Some(known.clone()));
        }
        let known = match self.matrix.event(room, id).await {
            Ok(event) => Known::of(&event),
            Err(Failure::Refused(_) | Failure::NotFound) => None,
            Err(failure) => return Err(failure),
        };
        if let Some(known) = &known {
            self.recent.add(id, known.clone());
        }
        Ok(known)
    }

    async fn fetch_members(&mut self, room: &str) -> Result<(), Failure> {
        if !self.members.contains_key(room) {
            let members = match self.matrix.api.get(&["rooms", room, "joined_members"], &[]).await {
                Ok(answer) => Members::joined(&answer),
                // We are not in the room any more, or it has more members than can be read.
                Err(Failure::Refused(_) | Failure::NotFound | Failure::Unreadable) => return Ok(()),
                Err(failure) => return Err(failure),
            };
            self.members.insert(room.to_owned(), members);
        }
        Ok(())
    }

    fn names(&self, room: &str) -> Names {
        let here = self.members.get(room).and_then(|members| members.name(&self.us));
        let shown = here.map(str::to_owned).into_iter().chain(self.our_name.clone()).collect();
        Names { id: self.us.clone(), shown }
    }

    fn setting<'b>(
        &'b self,
        room: &'b str,
        names: &'b Names,
        author: &str,
        is_reply_to_us: bool,
    ) -> Setting<'b> {
        let members = self.members.get(room);
        Setting {
            account: &self.matrix.account,
            room,
            audience: members.map_or(Audience::Shared, |members| members.audience(&self.us)),
            names,
            author: members.and_then(|members| members.name(author)),
            is_reply_to_us,
        }
    }

    /// A room that we left, or that we were removed from.
    async fn left(&mut self, room: &str, left: &Value) -> Result<(), Failure> {
        self.members.remove(room);
        self.passed.remove(room);
        let parts = [&left["timeline"]["events"], &left["state"]["events"]];
        let mut events = parts.into_iter().filter_map(Value::as_array).flatten();
        let ours =
            events.rfind(|event| is_membership(event, &self.us) && event["content"]["membership"] != "join");
        if let Some(id) = ours.and_then(|event| event["event_id"].as_str()) {
            let place = Place { account: self.matrix.account.clone(), chat: room.to_owned(), thread: None };
            self.inbox.arrived(id, Inbound::Membership { place, is_member: false }).await?;
        }
        Ok(())
    }
}

impl Matrix {
    /// Says in an encrypted room that we cannot read it, once. A failure is not worth more than a line in the log.
    async fn say_unreadable(&self, room: &str) {
        let Some(sentence) = &self.unreadable else { return };
        // The same number each time: the server knows it again.
        let number = format!("unreadable{}", &blake3::hash(room.as_bytes()).to_hex()[..16]);
        if let Err(failure) = self.put(room, "m.room.message", &number, &content::notice(sentence)).await {
            tracing::warn!(reason = %failure, "an encrypted room could not be told that we cannot read it");
        }
    }
}

fn is_membership(event: &Value, us: &str) -> bool {
    event["type"] == "m.room.member" && event["state_key"].as_str() == Some(us)
}

fn in_order(mut events: Vec<Value>) -> Vec<Value> {
    events.reverse();
    events
}

fn next_batch(poll: &Value) -> Result<String, Failure> {
    poll["next_batch"].as_str().map(str::to_owned).ok_or(Failure::Unreadable)
}
