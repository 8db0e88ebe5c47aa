//! People and posts of chats, as a person sees them.

use retake_wire::chat::{
    Audience, ChatMember, Deletion, MemberRole, People, Place, PlaceLine, Places, PostKind, PostLine,
    PostStatus, Posts, StayCause,
};
use retake_wire::{Reply, Request};

use super::fixtures::ago;
use super::scripted::Case;

/// The reply to a request about people, places or posts.
pub(super) fn reply(request: &Request) -> Reply {
    if matches!(request, Request::Bind(_) | Request::PlaceList) {
        let line = |chat: &str, thread: Option<&str>, audience| PlaceLine {
            place: Place {
                account: "matrix".to_owned(),
                chat: chat.to_owned(),
                thread: thread.map(str::to_owned),
            },
            conversation: "0199a000-0000-7000-8000-000000000000".to_owned(),
            audience,
        };
        let private = line("!ann:example.org", None, Audience::Private);
        let shared = line("!all\x1b[2J:example.org", Some("$7"), Audience::Shared);
        return Reply::Places(Places { places: vec![private, shared] });
    }
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
        is_imported: no == 1,
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
        Case::script("").see(&["place", "list"]),
        Case::script("").see(&["place", "bind", "matrix", "!ann:example.org", "--conversation", "0199a000"]),
        Case::script("").see(&["place", "remove", "matrix", "-100", "--thread", "7"]),
        Case::script("").see(&["place"]),
        Case::script("").see(&["posts"]),
        Case::script("").see(&["posts", "--stays"]),
        Case::script("").see(&["gateway", "list"]),
        Case::script("").see(&["gateway", "run", "matrix"]),
        Case::script("").see(&["gateway", "add", "smoke-signals"]),
    ];
    insta::assert_snapshot!(seen.join("\n"));
}
