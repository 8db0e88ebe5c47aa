//! Chats as stored: where a message came from, what became of an event, people, and posts.

use std::str::FromStr;

use retake_core::{
    ArrivalOutcome, ChatArrival, ChatNotice, ChatNoticeKind, ChatOrigin, ChatPlace, ChatRole, ChatShare,
    Deletion, OpNo, Post, PostFailure, PostKind, PostNo, PostStanding, PostState, SendAttempt, Seq,
    StayCause, Time,
};
use serde::{Deserialize, Serialize};

use super::question::{self, QuestionRecord};
use super::{Decoded, from_json, to_json};

/// Account, chat, thread.
pub(super) type PlaceRecord = (String, String, Option<String>);

/// The place, the message, the person; and the messages that were joined to it.
#[derive(Serialize, Deserialize)]
pub(super) struct OriginRecord(
    PlaceRecord,
    String,
    String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")] Vec<ShareRecord>,
);

/// A joined message, the length of its text, the number of its files, and whether its text goes on.
type ShareRecord = (String, usize, usize, bool);

/// Where a message came from, the names of its event, further messages with their digests, and its own digest in hexadecimal digits.
pub(super) type ArrivalRecord = (OriginRecord, Vec<String>, Vec<(String, String)>, String);

pub(super) fn place_record(place: &ChatPlace) -> PlaceRecord {
    (place.account.clone(), place.chat.clone(), place.thread.clone())
}

pub(super) fn place((account, chat, thread): PlaceRecord) -> ChatPlace {
    ChatPlace { account, chat, thread }
}

pub(super) fn origin_record(origin: &ChatOrigin) -> OriginRecord {
    let share = |it: &ChatShare| (it.message.clone(), it.text, it.files, it.is_rest);
    let joined = origin.joined.iter().map(share).collect();
    OriginRecord(place_record(&origin.place), origin.message.clone(), origin.person.clone(), joined)
}

pub(super) fn origin(OriginRecord(at, message, person, joined): OriginRecord) -> ChatOrigin {
    let share = |(message, text, files, is_rest)| ChatShare { message, text, files, is_rest };
    ChatOrigin { place: place(at), message, person, joined: joined.into_iter().map(share).collect() }
}

/// Encodes where a message came from.
pub(crate) fn encode_origin(origin: &ChatOrigin) -> String {
    to_json(&origin_record(origin))
}

/// Where a message came from.
pub(crate) fn decode_origin(json: &str) -> Decoded<ChatOrigin> {
    from_json("origin", json).map(origin)
}

/// The record of a message that waits.
pub(super) fn arrival_record(arrival: &ChatArrival) -> ArrivalRecord {
    let digits = |digest: &[u8; 16]| format!("{:032x}", u128::from_be_bytes(*digest));
    let also = arrival.also.iter().map(|(message, content)| (message.clone(), digits(content)));
    (origin_record(&arrival.origin), arrival.keys.clone(), also.collect(), digits(&arrival.content))
}

/// A digest in hexadecimal digits.
pub(super) fn digest(text: &str) -> Decoded<[u8; 16]> {
    match u128::from_str_radix(text, 16) {
        Ok(digest) if text.len() == 32 => Ok(digest.to_be_bytes()),
        _ => Err(format!("“{text}” is not a digest")),
    }
}

/// The message of a record.
pub(super) fn arrival((from, keys, also, content): ArrivalRecord) -> Decoded<ChatArrival> {
    let also = also.into_iter().map(|(message, content)| Ok((message, digest(&content)?)));
    let also = also.collect::<Decoded<Vec<_>>>()?;
    Ok(ChatArrival { origin: origin(from), keys, also, content: digest(&content)? })
}

/// Encodes what became of an event.
pub(crate) fn encode_outcome(outcome: &ArrivalOutcome) -> String {
    match outcome {
        ArrivalOutcome::Said(id) => format!("said {id}"),
        ArrivalOutcome::Observed => "observed".to_owned(),
        ArrivalOutcome::Done => "done".to_owned(),
        ArrivalOutcome::Ignored => "ignored".to_owned(),
    }
}

/// What became of an event.
pub(crate) fn decode_outcome(text: &str) -> Decoded<ArrivalOutcome> {
    Ok(match text {
        "observed" => ArrivalOutcome::Observed,
        "done" => ArrivalOutcome::Done,
        "ignored" => ArrivalOutcome::Ignored,
        other => {
            let id = other.strip_prefix("said ").ok_or_else(|| format!("“{other}” is not an outcome"))?;
            ArrivalOutcome::Said(id.parse().map_err(|error: retake_core::BadId| error.to_string())?)
        }
    })
}

/// Encodes a role: `member`, `owner`, or `stranger ASKED [CODE UNTIL]`.
pub(crate) fn encode_role(role: ChatRole) -> String {
    match role {
        ChatRole::Member => "member".to_owned(),
        ChatRole::Owner => "owner".to_owned(),
        ChatRole::Stranger { code: None, asked } => format!("stranger {}", asked.0),
        ChatRole::Stranger { code: Some((code, until)), asked } => {
            format!("stranger {} {} {}", asked.0, String::from_utf8_lossy(&code), until.0)
        }
    }
}

/// The role in this text.
pub(crate) fn decode_role(text: &str) -> Decoded<ChatRole> {
    let bad = || format!("“{text}” is not a role");
    let number = |text: &str| text.parse().map(Time).map_err(|_| bad());
    let words: Vec<&str> = text.split(' ').collect();
    Ok(match words.as_slice() {
        ["member"] => ChatRole::Member,
        ["owner"] => ChatRole::Owner,
        ["stranger", asked] => ChatRole::Stranger { code: None, asked: number(asked)? },
        ["stranger", asked, code, until] => {
            let code = code.as_bytes().try_into().map_err(|_| bad())?;
            ChatRole::Stranger { code: Some((code, number(until)?)), asked: number(asked)? }
        }
        _ => return Err(bad()),
    })
}

/// The digest, when it began, how many answers were lost, whether it may show what a preview showed.
#[derive(Serialize, Deserialize)]
struct AttemptRecord(String, i64, u32, #[serde(default)] bool);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PostRecord {
    place: PlaceRecord,
    /// Absent for an answer or a preview, whose entry is a column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    notice: Option<NoticeRecord>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    preview: bool,
    part: (u32, u32),
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reply_to: Option<String>,
    /// The state, and its cause.
    state: (String, Option<String>),
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ids: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    attempt: Option<AttemptRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sent: Option<(i64, Option<i64>, bool)>,
    #[serde(default)]
    attempts: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since: Option<i64>,
    #[serde(default)]
    done: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    erased: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    imported: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NoticeRecord {
    kind: String,
    count: u32,
    files: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    names: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    #[serde(default, skip_serializing_if = "is_zero")]
    posts: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    asks: Option<QuestionRecord>,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// The columns of a post beside its record: entry, operation, when it is due.
pub(crate) struct PostColumns {
    pub(crate) no: u64,
    pub(crate) entry: Option<u64>,
    pub(crate) op: Option<u64>,
    pub(crate) due: Option<i64>,
}

/// Encodes a post.
pub(crate) fn encode_post(post: &Post) -> (PostColumns, String) {
    let (entry, notice) = match &post.kind {
        PostKind::Answer(entry) | PostKind::Preview(entry) => (Some(entry.0), None),
        PostKind::Notice(notice) => (
            None,
            Some(NoticeRecord {
                kind: <&str>::from(notice.kind).to_owned(),
                count: notice.count,
                files: notice.files,
                names: notice.names.clone(),
                code: notice.code.clone(),
                posts: notice.posts,
                asks: notice.asks.as_ref().map(question::encode),
            }),
        ),
    };
    let record = PostRecord {
        place: place_record(&post.place),
        notice,
        preview: matches!(post.kind, PostKind::Preview(_)),
        part: post.part,
        reply_to: post.reply_to.clone(),
        state: encode_state(post.state),
        ids: post.ids.clone(),
        attempt: post.attempt.clone().map(|it| AttemptRecord(it.digest, it.began.0, it.lost, it.is_preview)),
        sent: post.sent.map(|(at, deadline, deletable)| (at.0, deadline.map(|time| time.0), deletable)),
        attempts: post.attempts,
        since: post.since.map(|time| time.0),
        done: post.is_done,
        erased: post.standing == PostStanding::Erased,
        imported: post.is_imported(),
    };
    let (op, due) = (post.op.map(|op| op.0), post.due.map(|time| time.0));
    (PostColumns { no: post.no.0, entry, op, due }, to_json(&record))
}

/// The text of earlier wordings: their entries, newest first.
pub(crate) fn encode_wordings(entries: &[Seq]) -> String {
    to_json(&entries.iter().map(|seq| seq.0).collect::<Vec<_>>())
}

/// The earlier wordings in this text.
pub(crate) fn decode_wordings(json: &str) -> Decoded<Vec<Seq>> {
    Ok(from_json::<Vec<u64>>("wordings", json)?.into_iter().map(Seq).collect())
}

/// The post in these columns.
pub(crate) fn decode_post(columns: &PostColumns, json: &str) -> Decoded<Post> {
    let record: PostRecord = from_json("post", json)?;
    let kind = match (columns.entry, record.notice) {
        (Some(entry), None) if record.preview => PostKind::Preview(Seq(entry)),
        (Some(entry), None) => PostKind::Answer(Seq(entry)),
        (None, Some(notice)) if !record.preview => PostKind::Notice(ChatNotice {
            kind: named::<ChatNoticeKind>(&notice.kind)?,
            count: notice.count,
            files: notice.files,
            names: notice.names,
            code: notice.code,
            posts: notice.posts,
            asks: notice.asks.map(question::decode).transpose()?,
        }),
        _ => return Err("it is neither an answer nor a preview nor a notice".to_owned()),
    };
    Ok(Post {
        no: PostNo(columns.no),
        place: place(record.place),
        kind,
        part: record.part,
        reply_to: record.reply_to,
        state: decode_state(&record.state.0, record.state.1.as_deref())?,
        op: columns.op.map(OpNo),
        ids: record.ids,
        attempt: record.attempt.map(|AttemptRecord(digest, began, lost, is_preview)| SendAttempt {
            digest,
            began: Time(began),
            lost,
            is_preview,
        }),
        sent: record.sent.map(|(at, deadline, deletable)| (Time(at), deadline.map(Time), deletable)),
        attempts: record.attempts,
        due: columns.due.map(Time),
        since: record.since.map(Time),
        is_done: record.done,
        standing: match (record.erased, record.imported) {
            (_, true) => PostStanding::Imported,
            (true, false) => PostStanding::Erased,
            (false, false) => PostStanding::Own,
        },
    })
}

pub(super) fn encode_state(state: PostState) -> (String, Option<String>) {
    let (name, why): (&str, Option<&str>) = match state {
        PostState::Planned => ("planned", None),
        PostState::Sending => ("sending", None),
        PostState::Lost => ("lost", None),
        PostState::Sent => ("sent", None),
        PostState::Deleting => ("deleting", None),
        PostState::Gone(how) => ("gone", Some(how.into())),
        PostState::Stays(why) => ("stays", Some(why.into())),
        PostState::Failed(why) => ("failed", Some(why.into())),
        PostState::Cancelled => ("cancelled", None),
    };
    (name.to_owned(), why.map(str::to_owned))
}

pub(super) fn decode_state(name: &str, why: Option<&str>) -> Decoded<PostState> {
    Ok(match (name, why) {
        ("planned", None) => PostState::Planned,
        ("sending", None) => PostState::Sending,
        ("lost", None) => PostState::Lost,
        ("sent", None) => PostState::Sent,
        ("deleting", None) => PostState::Deleting,
        ("gone", Some(how)) => PostState::Gone(named::<Deletion>(how)?),
        ("stays", Some(why)) => PostState::Stays(named::<StayCause>(why)?),
        ("failed", Some(why)) => PostState::Failed(named::<PostFailure>(why)?),
        ("cancelled", None) => PostState::Cancelled,
        _ => return Err(format!("“{name}” is not a state of a post")),
    })
}

pub(super) fn named<T: FromStr>(name: &str) -> Decoded<T> {
    name.parse().map_err(|_| format!("“{name}” is not known"))
}
