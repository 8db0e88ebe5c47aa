//! People and posts of chats, as a person sees them.

use retake_wire::chat::{
    ChatMember, Deletion, MemberRole, People, Place, PostKind, PostLine, PostStatus, Posts, StayCause,
};
use retake_wire::{Reply, Request};

use super::fixtures::ago;
use super::scripted::Case;

/// The reply to a request about people or posts.
pub(super) fn reply(request: &Request) -> Reply {
    let Request::Posts(of) = request else {
        let member = |person: &str, name: &str, role| ChatMember {
            account: "matrix".to_owned(),
            person: person.to_owned(),
            name: name.to_owned(),
            role,
        };
        let ann = member("@ann:example.org", "Ann", MemberRole::Owner);
        let eve = member("@eve:example.org", "Ann\x1b[2J\u{202e}", MemberRole::Stranger);
        return Reply::People(People { people: vec![ann, eve] });
    };
    let line = |no: u32, state| PostLine {
        post: format!("{no}"),
        kind: PostKind::Answer,
        place: Place {
            account: "matrix".to_owned(),
            chat: "!room\x1b[2J:example.org".to_owned(),
            thread: None,
        },
        entry: None,
        part: 1,
        state,
        sent_ms: (no < 3).then(|| ago(4 - i64::from(no))),
        deadline_ms: None,
    };
    let mut posts = vec![
        line(3, PostStatus::Planned),
        line(2, PostStatus::Gone { how: Deletion::Emptied }),
        line(1, PostStatus::Stays { why: StayCause::TooOld }),
    ];
    posts.retain(|post| !of.stays || matches!(post.state, PostStatus::Stays { .. }));
    Reply::Posts(Posts { posts, more: false })
}

#[test]
fn people_and_posts_are_listed() {
    let seen = [
        Case::script("").see(&["pair", "list"]),
        Case::script("").see(&["pair", "K7Q2MNPX", "--owner"]),
        Case::script("").see(&["pair", "remove", "matrix", "@ann:example.org"]),
        Case::script("").see(&["pair"]),
        Case::script("").see(&["posts"]),
        Case::script("").see(&["posts", "--stays"]),
        Case::script("").see(&["gateway", "list"]),
        Case::script("").see(&["gateway", "run", "matrix"]),
        Case::script("").see(&["gateway", "add", "smoke-signals"]),
    ];
    insta::assert_snapshot!(seen.join("\n"));
}
