//! People of chats, and posts. Names are untrusted.

use retake_wire::chat::{
    Audience, ChatMember, Deletion, MemberRole, People, Place, PlaceLine, Places, PostLine, PostStatus,
    Posts, StayCause,
};

use super::id::Ids;
use super::table::{Cell, cell, table};
use super::words;
use crate::text::style::Style;
use crate::text::{Look, Text, safe};

/// The people, a line each.
pub fn people(look: &Look, it: &People) -> Text {
    if it.people.is_empty() {
        return "nobody is paired\n".into();
    }
    table(look, &it.people.iter().map(person).collect::<Vec<_>>())
}

fn person(it: &ChatMember) -> Vec<Cell> {
    let (role, style) = match it.role {
        MemberRole::Stranger => ("has asked", Style::Dim),
        MemberRole::Member => ("member", Style::Good),
        MemberRole::Owner => ("owner", Style::Good),
    };
    vec![
        cell(safe::line(&it.account)).style(Style::Dim),
        cell(safe::line(&it.person)),
        cell(safe::line(&it.name)).style(Style::Bold),
        cell(role).style(style),
    ]
}

/// The places, a line each.
pub fn places(look: &Look, it: &Places) -> Text {
    if it.places.is_empty() {
        return "nobody has written in a chat yet\n".into();
    }
    let ids: Ids = it.places.iter().map(|it| it.conversation.as_str()).collect();
    let line = |it: &PlaceLine| {
        let audience = match it.audience {
            Audience::Private => "private",
            Audience::Shared => "shared",
        };
        vec![
            cell(place(&it.place)),
            cell(audience).style(Style::Dim),
            cell(safe::line(ids.short(&it.conversation))).style(Style::Dim),
        ]
    };
    table(look, &it.places.iter().map(line).collect::<Vec<_>>())
}

/// The posts, a line each.
pub fn posts(look: &Look, it: &Posts) -> Text {
    if it.posts.is_empty() {
        return "nothing was posted\n".into();
    }
    let mut text = table(look, &it.posts.iter().map(|post| line(look, post)).collect::<Vec<_>>());
    if it.more {
        text.push("there are older posts\n");
    }
    text
}

fn line(look: &Look, it: &PostLine) -> Vec<Cell> {
    let (state, style) = state(it.state);
    let state = if it.is_imported { format!("imported: {state}") } else { state.to_owned() };
    let kind: &str = it.kind.into();
    vec![
        cell(safe::line(&it.post)).style(Style::Dim),
        cell(it.sent_ms.map(|ms| words::when(look, ms)).unwrap_or_default()),
        cell(kind),
        cell(place(&it.place)),
        cell(state).style(style),
    ]
}

fn state(state: PostStatus) -> (&'static str, Style) {
    match state {
        PostStatus::Planned => ("to be sent", Style::Dim),
        PostStatus::Sending => ("being sent", Style::Dim),
        PostStatus::Unknown => ("may be there: the answer of the platform was lost", Style::Warn),
        PostStatus::Sent => ("in the chat", Style::Good),
        PostStatus::Deleting => ("being deleted", Style::Warn),
        PostStatus::Gone { how: Deletion::Gone } => ("gone", Style::Dim),
        PostStatus::Gone { how: Deletion::Emptied } => ("emptied", Style::Dim),
        PostStatus::Gone { how: Deletion::Asked } => ("the clients were asked to remove it", Style::Dim),
        PostStatus::Stays { why } => (stays(why), Style::Warn),
        PostStatus::Failed { .. } => ("could not be sent", Style::Error),
        PostStatus::Cancelled => ("never sent", Style::Dim),
    }
}

/// The name of a place, safe to show.
pub(crate) fn place(place: &Place) -> String {
    let name = match &place.thread {
        Some(thread) => format!("{} in {}, {}", place.account, place.chat, thread),
        None => format!("{} in {}", place.account, place.chat),
    };
    safe::line(&name).into_owned()
}

fn stays(why: StayCause) -> &'static str {
    match why {
        StayCause::TooOld => "stays: it is too old",
        StayCause::NotPermitted => "stays: no permission to delete it",
        StayCause::NoWay => "stays: the platform has no way to delete it",
        StayCause::HasReplies => "stays: messages of other people depend on it",
        StayCause::ClosedThread => "stays: the thread is closed",
        StayCause::Kept => "stays: it was kept by choice",
        StayCause::GaveUp => "stays: it was tried for too long",
    }
}
