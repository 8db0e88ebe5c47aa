//! Lines of a full export for chats: the posts of answers and notices. Must never hold a text, a name or a digest.

use retake_core::{ChatNotice, ChatNoticeKind, Post, PostKind, Seq, Time};
use serde::{Deserialize, Serialize};

use super::FullLine;
use crate::record::Decoded;
use crate::record::chat::{PlaceRecord, decode_state, encode_state, named, place, place_record};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PostLineRecord {
    conversation: usize,
    /// The entry that it shows. Absent for a notice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    /// The kind of a notice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
    place: PlaceRecord,
    part: (u32, u32),
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reply_to: Option<String>,
    /// The state, and its cause.
    state: (String, Option<String>),
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ids: Vec<String>,
    /// When it was sent, until when it could be deleted, and whether there was a way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sent: Option<(i64, Option<i64>, bool)>,
}

pub(super) fn post_record(of: usize, post: &Post) -> PostLineRecord {
    let (seq, notice) = match &post.kind {
        PostKind::Answer(seq) | PostKind::Preview(seq) => (Some(seq.0), None),
        PostKind::Notice(notice) => (None, Some(<&str>::from(notice.kind).to_owned())),
    };
    PostLineRecord {
        conversation: of,
        seq,
        notice,
        place: place_record(&post.place),
        part: post.part,
        reply_to: post.reply_to.clone(),
        state: encode_state(post.state),
        ids: post.ids.clone(),
        sent: post.sent.map(|(at, deadline, deletable)| (at.0, deadline.map(|time| time.0), deletable)),
    }
}

pub(super) fn post(record: PostLineRecord) -> Decoded<FullLine> {
    let kind = match (record.seq, record.notice) {
        (Some(seq), None) => PostKind::Answer(Seq(seq)),
        (None, Some(kind)) => {
            PostKind::Notice(ChatNotice { kind: named::<ChatNoticeKind>(&kind)?, ..ChatNotice::default() })
        }
        _ => return Err("it is neither an answer nor a notice".to_owned()),
    };
    let state = decode_state(&record.state.0, record.state.1.as_deref())?;
    let sent = record.sent.map(|(at, deadline, deletable)| (Time(at), deadline.map(Time), deletable));
    let planned = Post::planned(place(record.place), kind, record.reply_to, Time(0));
    let post = Post { part: record.part, state, ids: record.ids, sent, due: None, since: None, ..planned };
    Ok(FullLine::Post(record.conversation, Box::new(post)))
}
