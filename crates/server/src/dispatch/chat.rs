//! The requests of gateways: converted for the engine, and back. Must never decide what a person may do.

use std::time::Duration;

use retake_core::{
    ArrivalOutcome, ChatPerson, ChatPlace, ChatRole, ChatShare, EntryId, Post, PostCounts, PostFailure,
    PostKey, PostKind, PostResult, PostState, PostTask, PostWork, Time,
};
use retake_engine::{
    Arrived, ChatEvent, ChatMessage, ChatPress, ChatPreviews, ChatVerb, GatewayEvent, button_data,
};
use retake_wire::chat as wire;
use retake_wire::request::USUAL_PAGE;
use retake_wire::{Problem, ProblemKind, Reply};

use crate::InProcess;
use crate::convert::notices::{buttons, notice_out};
use crate::convert::posts::{place, stay_cause, stay_cause_in};
use crate::convert::{self, misused, own_problem, problem};

/// The most work of one request, usually.
const USUAL_WORK: u32 = 20;

/// The most work of one request.
const MOST_WORK: u32 = 100;

fn no_post() -> Problem {
    own_problem(ProblemKind::NotFound, "no_post", &[])
}

impl InProcess {
    pub(super) async fn gateway_connect(&self, it: wire::GatewayConnect) -> Result<Reply, Problem> {
        let connected =
            self.engine.chat_connect(it.account, it.holder, it.replaces).await.map_err(problem)?;
        let bound = |binding: retake_core::ChatBinding| wire::BoundPlace {
            place: place(binding.place),
            last_message: binding.last,
        };
        let hold = |(bucket, until): (String, Time)| wire::Hold { bucket, until_ms: until.0 };
        Ok(Reply::GatewayConnected(wire::GatewayConnected {
            cursor: connected.account.cursor,
            holds: connected.holds.into_iter().map(hold).collect(),
            places: connected.bindings.into_iter().map(bound).collect(),
        }))
    }

    pub(super) async fn arrive(&self, it: wire::Arrive) -> Result<Reply, Problem> {
        let wire::Arrive { account, holder, transport_key, event, parts, command, moderates, is_late, also } =
            it;
        let further: Vec<String> = also.iter().map(|it| it.transport_key.clone()).collect();
        let parts = convert::parts_in(parts)?;
        let event = GatewayEvent {
            account: account.clone(),
            keys: std::iter::once(transport_key).chain(further).collect(),
            event: event_in(&account, event, parts, also)?,
            command: command.map(|command| (verb_in(command.verb), command.count)),
            moderates,
            is_late,
        };
        let arrived = self.engine.chat_arrive(holder, event).await.map_err(problem)?;
        let (outcome, again) = match arrived {
            Arrived::Known(outcome) => (arrival(outcome), false),
            Arrived::Again(outcome) => (arrival(outcome), true),
            Arrived::Stranger(code) => (wire::Arrival::Stranger { code }, false),
            Arrived::Pressed(notice) => {
                let notice = notice_out(notice, PostCounts::default(), None);
                (wire::Arrival::Pressed { notice }, false)
            }
        };
        Ok(Reply::Arrived(wire::Arrived { outcome, again }))
    }

    pub(super) async fn gateway_cursor(&self, it: wire::GatewayCursor) -> Result<Reply, Problem> {
        self.engine.chat_cursor(it.account, it.holder, it.cursor).await.map_err(problem)?;
        Ok(Reply::Done)
    }

    pub(super) async fn gateway_hold(&self, it: wire::GatewayHold) -> Result<Reply, Problem> {
        let held = self.engine.chat_hold(it.account, it.holder, it.bucket, Time(it.until_ms)).await;
        held.map_err(problem)?;
        Ok(Reply::Done)
    }

    pub(super) async fn gateway_take(&self, it: wire::GatewayTake) -> Result<Reply, Problem> {
        let most = it.most.unwrap_or(USUAL_WORK).clamp(1, MOST_WORK);
        let (wait, most) = (Duration::from_millis(it.wait_ms), usize::try_from(most).unwrap_or(1));
        let previews = it.previews.map(previews_in).unwrap_or_default();
        let work = self.engine.chat_take(it.account, it.holder, (wait, most), previews).await;
        let work = work.map_err(problem)?;
        Ok(Reply::GatewayWork(wire::GatewayWork { work: work.into_iter().map(work_out).collect() }))
    }

    pub(super) async fn gateway_settle(&self, it: wire::GatewaySettle) -> Result<Reply, Problem> {
        let key = it.post.parse().map_err(|_| no_post())?;
        let settled = self.engine.chat_settle(it.account, it.holder, key, result_in(it.result)).await;
        Ok(Reply::GatewaySettled(wire::GatewaySettled { is_wanted: settled.map_err(problem)? }))
    }

    pub(super) async fn pair(&self, it: wire::Pair) -> Result<Reply, Problem> {
        let role = if it.as_owner { ChatRole::Owner } else { ChatRole::Member };
        self.engine.pair(&it.code, role).await.map_err(problem)?;
        self.people_list().await
    }

    pub(super) async fn unpair(&self, it: wire::Unpair) -> Result<Reply, Problem> {
        if !self.engine.unpair(it.account, it.person.clone()).await.map_err(problem)? {
            return Err(own_problem(ProblemKind::NotFound, "no_person", &[("name", it.person.into())]));
        }
        self.people_list().await
    }

    pub(super) async fn people_list(&self) -> Result<Reply, Problem> {
        let people = self.engine.chat_people().await.map_err(problem)?;
        let member = |person: ChatPerson| wire::ChatMember {
            account: person.account,
            person: person.person,
            name: person.name,
            role: match person.role {
                ChatRole::Stranger { .. } => wire::MemberRole::Stranger,
                ChatRole::Member => wire::MemberRole::Member,
                ChatRole::Owner => wire::MemberRole::Owner,
            },
        };
        Ok(Reply::People(wire::People { people: people.into_iter().map(member).collect() }))
    }

    pub(super) async fn bind(&self, it: wire::Bind) -> Result<Reply, Problem> {
        let conversation = match &it.conversation {
            Some(name) => Some(self.conversation(name).await?),
            None => None,
        };
        let place = ChatPlace { account: it.place.account, chat: it.place.chat, thread: it.place.thread };
        if !self.engine.chat_bind(place, conversation).await.map_err(problem)? {
            return Err(own_problem(ProblemKind::NotFound, "no_chat_place", &[]));
        }
        self.place_list().await
    }

    pub(super) async fn place_list(&self) -> Result<Reply, Problem> {
        let bound = self.engine.chat_places().await.map_err(problem)?;
        let line = |binding: retake_core::ChatBinding| wire::PlaceLine {
            place: place(binding.place),
            conversation: binding.conversation.to_string(),
            audience: if binding.is_shared { wire::Audience::Shared } else { wire::Audience::Private },
        };
        Ok(Reply::Places(wire::Places { places: bound.into_iter().map(line).collect() }))
    }

    pub(super) async fn posts(&self, it: wire::PostsOf) -> Result<Reply, Problem> {
        let of = self.conversation(&it.conversation).await?;
        let limit = super::limit(it.limit, USUAL_PAGE)?;
        let posts = self.engine.chat_posts(of).await.map_err(problem)?;
        let shown =
            posts.into_iter().filter(|(_, post, _)| !it.stays || matches!(post.state, PostState::Stays(_)));
        let mut shown: Vec<_> = shown.map(|(key, post, entry)| post_line(key, post, entry)).collect();
        if let Some(before) = &it.before {
            let at = shown.iter().position(|line| line.post == *before);
            let at = at.ok_or_else(no_post)?;
            shown.drain(..=at);
        }
        let (posts, more) = super::page(shown.into_iter(), limit);
        Ok(Reply::Posts(wire::Posts { posts, more }))
    }
}

fn post_line(key: PostKey, post: Post, entry: Option<EntryId>) -> wire::PostLine {
    use wire::PostStatus as S;
    let how = |how| match how {
        retake_core::Deletion::Gone => wire::Deletion::Gone,
        retake_core::Deletion::Emptied => wire::Deletion::Emptied,
        retake_core::Deletion::Asked => wire::Deletion::Asked,
    };
    let failure = |why| match why {
        PostFailure::NotPermitted => wire::PostFailure::NotPermitted,
        PostFailure::Refused => wire::PostFailure::Refused,
        PostFailure::GaveUp => wire::PostFailure::GaveUp,
    };
    let is_tried = post.may_be_gone() && post.due.is_some();
    wire::PostLine {
        is_imported: post.is_imported(),
        post: key.to_string(),
        kind: match post.kind {
            PostKind::Answer(_) => wire::PostKind::Answer,
            PostKind::Preview(_) => wire::PostKind::Preview,
            PostKind::Notice(_) => wire::PostKind::Notice,
        },
        place: place(post.place),
        entry: entry.map(|entry| entry.to_string()),
        part: post.part.0 + 1,
        state: match post.state {
            PostState::Planned => S::Planned,
            PostState::Sending => S::Sending,
            PostState::Lost if is_tried => S::Deleting,
            PostState::Lost => S::Unknown,
            PostState::Sent => S::Sent,
            PostState::Deleting => S::Deleting,
            PostState::Gone(deletion) => S::Gone { how: how(deletion) },
            PostState::Stays(why) => S::Stays { why: stay_cause(why) },
            PostState::Failed(why) => S::Failed { why: failure(why) },
            PostState::Cancelled => S::Cancelled,
        },
        sent_ms: post.sent.map(|(sent, ..)| sent.0),
        deadline_ms: post.sent.and_then(|(_, deadline, _)| deadline).map(|time| time.0),
    }
}

fn previews_in(previews: wire::Previews) -> ChatPreviews {
    let has = |audience| previews.audiences.contains(&audience);
    ChatPreviews {
        private: has(wire::Audience::Private),
        shared: has(wire::Audience::Shared),
        begin_empty: previews.begin_empty,
    }
}

/// The place of an event. A gateway speaks for its account only.
fn place_in(account: &str, place: wire::Place) -> Result<ChatPlace, Problem> {
    match place.account == account {
        true => Ok(ChatPlace { account: place.account, chat: place.chat, thread: place.thread }),
        false => Err(misused("other_account", &[("name", place.account.into())])),
    }
}

fn event_in(
    account: &str,
    event: wire::Inbound,
    parts: Vec<retake_core::Part>,
    also: Vec<wire::JoinedMessage>,
) -> Result<ChatEvent, Problem> {
    Ok(match event {
        wire::Inbound::Message(message) => ChatEvent::Message(message_in(account, message, parts, also)?),
        wire::Inbound::Edited(message) => ChatEvent::Edited(message_in(account, message, parts, Vec::new())?),
        wire::Inbound::Recalled { place, message, by } => {
            ChatEvent::Recalled { place: place_in(account, place)?, message, by: by.map(|by| by.id) }
        }
        wire::Inbound::Migrated { from, to, .. } => ChatEvent::Migrated { from, to },
        wire::Inbound::Pressed { place, post, person, button, .. } => ChatEvent::Pressed(ChatPress {
            place: place_in(account, place)?,
            post,
            person: person.id,
            name: person.name,
            button,
        }),
        wire::Inbound::Membership { .. } => ChatEvent::Other,
    })
}

fn message_in(
    account: &str,
    message: wire::InboundMessage,
    files: Vec<retake_core::Part>,
    also: Vec<wire::JoinedMessage>,
) -> Result<ChatMessage, Problem> {
    let joined = shares(&message, files.len(), also);
    let is_shared = message.audience == wire::Audience::Shared;
    let text = (!message.text.trim().is_empty()).then(|| retake_core::Part::text(message.text));
    Ok(ChatMessage {
        place: place_in(account, message.place)?,
        is_shared,
        message: message.message,
        person: message.person.id,
        name: message.person.name,
        is_bot: message.person.is_bot,
        sent: Time(message.sent_ms),
        parts: text.into_iter().chain(files).collect(),
        is_addressed: !is_shared || message.addressed != wire::Addressed::No,
        reply_to: message.reply_to,
        joined,
    })
}

/// The share of each message in a joined one. The first one has what the others do not have.
fn shares(first: &wire::InboundMessage, files: usize, also: Vec<wire::JoinedMessage>) -> Vec<ChatShare> {
    if also.is_empty() {
        return Vec::new();
    }
    let size = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let further = also.into_iter().map(|it| ChatShare {
        message: it.message,
        text: size(it.text_bytes),
        files: size(it.files),
        is_rest: it.is_rest,
    });
    let further: Vec<ChatShare> = further.collect();
    let (mut text, mut files) = (first.text.len(), files);
    for share in further.iter().rev() {
        text = text.saturating_sub(share.text);
        files = files.saturating_sub(share.files);
        // The line break before it, unless nothing is before it.
        if share.text > 0 && !share.is_rest {
            text = text.saturating_sub(1);
        }
    }
    let first = ChatShare { message: first.message.clone(), text, files, is_rest: false };
    [first].into_iter().chain(further).collect()
}

fn verb_in(verb: wire::ChatVerb) -> ChatVerb {
    match verb {
        wire::ChatVerb::Rewind => ChatVerb::Rewind,
        wire::ChatVerb::Undo => ChatVerb::Undo,
        wire::ChatVerb::Redo => ChatVerb::Redo,
        wire::ChatVerb::Retry => ChatVerb::Retry,
        wire::ChatVerb::Drop => ChatVerb::Drop,
        wire::ChatVerb::Stop => ChatVerb::Stop,
        wire::ChatVerb::New => ChatVerb::New,
        wire::ChatVerb::Help => ChatVerb::Help,
        wire::ChatVerb::Status => ChatVerb::Status,
        wire::ChatVerb::Posts => ChatVerb::Posts,
        wire::ChatVerb::Confirm => ChatVerb::Confirm,
        wire::ChatVerb::Cancel => ChatVerb::Cancel,
    }
}

fn arrival(outcome: ArrivalOutcome) -> wire::Arrival {
    match outcome {
        ArrivalOutcome::Said(id) => wire::Arrival::Said { conversation: id.to_string() },
        ArrivalOutcome::Observed => wire::Arrival::Observed,
        ArrivalOutcome::Done => wire::Arrival::Done,
        ArrivalOutcome::Ignored => wire::Arrival::Ignored,
    }
}

fn work_out(work: PostWork) -> wire::PostWork {
    let PostWork { key, task, post, text, counts, labels, .. } = work;
    let kind = match post.kind {
        PostKind::Answer(_) => wire::PostKind::Answer,
        PostKind::Preview(_) => wire::PostKind::Preview,
        PostKind::Notice(_) => wire::PostKind::Notice,
    };
    let content = match (post.kind, text) {
        (PostKind::Notice(notice), text) => {
            let buttons = notice.asks.as_ref().map(|asks| buttons(key, asks, labels)).unwrap_or_default();
            let text = text.map(|(text, _)| text);
            wire::PostContent::Notice { notice: notice_out(notice, counts, text), buttons }
        }
        (PostKind::Preview(_), text) => {
            wire::PostContent::Preview { text: text.map(|(text, _)| text).unwrap_or_default() }
        }
        (PostKind::Answer(_), text) => {
            let (text, is_interrupted) = text.unwrap_or_default();
            let button =
                wire::ChatButton { label: wire::ButtonLabel::TakeBack, data: button_data(key, 0, 0) };
            wire::PostContent::Markdown { text, is_interrupted, buttons: vec![vec![button]] }
        }
    };
    let action = match task {
        PostTask::Send | PostTask::Resend => wire::PostAction::Send {
            content,
            part: post.part.0,
            reply_to: post.reply_to,
            lost: post.attempt.filter(|_| task == PostTask::Resend).map(|attempt| wire::LostAttempt {
                began_ms: attempt.began.0,
                digest: attempt.digest,
                times: attempt.lost + u32::from(post.state == PostState::Sending),
            }),
        },
        PostTask::Edit => wire::PostAction::Edit { content, ids: post.ids },
        PostTask::Delete => {
            let (sent, deadline) = post.sent.map_or((Time(0), None), |(sent, deadline, _)| (sent, deadline));
            let deadline_ms = deadline.map(|time| time.0);
            wire::PostAction::Delete { ids: post.ids, sent_ms: sent.0, deadline_ms }
        }
    };
    wire::PostWork { post: key.to_string(), kind, place: place(post.place), action, attempts: post.attempts }
}

fn result_in(outcome: wire::PostOutcome) -> PostResult {
    match outcome {
        wire::PostOutcome::Sending { parts, digest, is_preview } => {
            PostResult::Sending { parts, digest, is_preview }
        }
        wire::PostOutcome::Sent { ids, sent_ms, deadline_ms, deletable } => {
            PostResult::Sent { ids, at: Time(sent_ms), deadline: deadline_ms.map(Time), deletable }
        }
        wire::PostOutcome::Lost => PostResult::Lost,
        wire::PostOutcome::Later { at_ms } => PostResult::Later(Time(at_ms)),
        wire::PostOutcome::Failed { why } => PostResult::Failed(match why {
            wire::PostFailure::NotPermitted => PostFailure::NotPermitted,
            wire::PostFailure::Refused => PostFailure::Refused,
            wire::PostFailure::GaveUp => PostFailure::GaveUp,
        }),
        wire::PostOutcome::Edited { ids, is_preview } => PostResult::Edited { ids, is_preview },
        wire::PostOutcome::Deleting { untouched } => PostResult::Deleting { untouched },
        wire::PostOutcome::Deleted { how } => PostResult::Deleted(match how {
            wire::Deletion::Gone => retake_core::Deletion::Gone,
            wire::Deletion::Emptied => retake_core::Deletion::Emptied,
            wire::Deletion::Asked => retake_core::Deletion::Asked,
        }),
        wire::PostOutcome::Stays { why } => PostResult::Stays(stay_cause_in(why)),
    }
}
