//! Golden records of chats, and of who requests something.

use std::fmt::Write as _;
use std::sync::Arc;

use retake_core::{
    ArrivalOutcome, AskedStep, ChatArrival, ChatButton, ChatNotice, ChatNoticeKind, ChatOrigin, ChatPlace,
    ChatQuestion, ChatRole, ChatShare, ConversationId, Deletion, EntryId, Grant, GrantScope, Grants, Head,
    OpNo, Part, Post, PostFailure, PostKind, PostNo, PostStanding, PostState, Principal, Right, SendAttempt,
    Seq, StayCause, Time, TokenUse, Words,
};
use uuid::Uuid;

use super::tool_turns::run;
use super::{covers_all, golden};
use crate::record::{
    PostColumns, decode_origin, decode_outcome, decode_post, decode_role, decode_run, decode_token_use,
    encode_origin, encode_outcome, encode_post, encode_role, encode_run, encode_token_use,
};

variants! { STATES, state_name: PostState {
    PostState::Planned => "planned",
    PostState::Sending => "sending",
    PostState::Lost => "lost",
    PostState::Sent => "sent",
    PostState::Deleting => "deleting",
    PostState::Gone(_) => "gone",
    PostState::Stays(_) => "stays",
    PostState::Failed(_) => "failed",
    PostState::Cancelled => "cancelled",
} }

variants! { DELETIONS, deletion_name: Deletion {
    Deletion::Gone => "gone",
    Deletion::Emptied => "emptied",
    Deletion::Asked => "asked",
} }

variants! { STAYS, stay_name: StayCause {
    StayCause::TooOld => "too_old",
    StayCause::NotPermitted => "not_permitted",
    StayCause::NoWay => "no_way",
    StayCause::HasReplies => "has_replies",
    StayCause::ClosedThread => "closed_thread",
    StayCause::Kept => "kept",
    StayCause::GaveUp => "gave_up",
} }

variants! { FAILURES, failure_name: PostFailure {
    PostFailure::NotPermitted => "not_permitted",
    PostFailure::Refused => "refused",
    PostFailure::GaveUp => "gave_up",
} }

variants! { NOTICES, notice_name: ChatNoticeKind {
    ChatNoticeKind::Rewound => "rewound",
    ChatNoticeKind::Dropped => "dropped",
    ChatNoticeKind::Undone => "undone",
    ChatNoticeKind::Redone => "redone",
    ChatNoticeKind::Retried => "retried",
    ChatNoticeKind::Edited => "edited",
    ChatNoticeKind::TurnsOfOthers => "turns_of_others",
    ChatNoticeKind::StepOfOther => "step_of_other",
    ChatNoticeKind::OwnersOnly => "owners_only",
    ChatNoticeKind::NotOfThisConversation => "not_of_this_conversation",
    ChatNoticeKind::EditOfOlder => "edit_of_older",
    ChatNoticeKind::NeedsReply => "needs_reply",
    ChatNoticeKind::Nothing => "nothing",
    ChatNoticeKind::Problem => "problem",
    ChatNoticeKind::RunFailed => "run_failed",
    ChatNoticeKind::Help => "help",
    ChatNoticeKind::NewConversation => "new_conversation",
    ChatNoticeKind::Stopped => "stopped",
    ChatNoticeKind::Status => "status",
    ChatNoticeKind::PostsThatStay => "posts_that_stay",
    ChatNoticeKind::PartNotSent => "part_not_sent",
    ChatNoticeKind::Missed => "missed",
    ChatNoticeKind::Confirm => "confirm",
    ChatNoticeKind::ConfirmEdit => "confirm_edit",
    ChatNoticeKind::ConfirmRecall => "confirm_recall",
    ChatNoticeKind::SaidAnew => "said_anew",
    ChatNoticeKind::Choose => "choose",
    ChatNoticeKind::Stale => "stale",
    ChatNoticeKind::NotYours => "not_yours",
    ChatNoticeKind::Cancelled => "cancelled",
    ChatNoticeKind::ApprovalNeeded => "approval_needed",
    ChatNoticeKind::Approved => "approved",
    ChatNoticeKind::Denied => "denied",
    ChatNoticeKind::NoAnswer => "no_answer",
    ChatNoticeKind::ApprovalOver => "approval_over",
    ChatNoticeKind::PostedAgain => "posted_again",
    ChatNoticeKind::AnswersWait => "answers_wait",
    ChatNoticeKind::AnswersSent => "answers_sent",
} }

variants! { BUTTONS, button_name: ChatButton {
    ChatButton::Confirm(AskedStep::Rewind(_)) => "rewind",
    ChatButton::Confirm(AskedStep::Drop(_)) => "drop",
    ChatButton::Confirm(AskedStep::Undo(_)) => "undo",
    ChatButton::Confirm(AskedStep::Redo(_)) => "redo",
    ChatButton::Confirm(AskedStep::Edit { .. }) => "edit",
    ChatButton::SayNew(_) => "say_new",
    ChatButton::Cancel => "cancel",
    ChatButton::Turn(_) => "turn",
    ChatButton::Older(_) => "older",
    ChatButton::DropMine(_) => "drop_mine",
    ChatButton::PostAgain { .. } => "post_again",
    ChatButton::SendWaiting => "send_waiting",
    ChatButton::Approve(_) => "approve",
    ChatButton::Deny(_) => "deny",
} }

/// A question with a button of each kind.
fn question(kinds: usize) -> ChatQuestion {
    let entry = EntryId::new(Uuid::from_u128(7));
    let head = Head { op: OpNo(3), seq: Seq(9) };
    let buttons = vec![
        ChatButton::Confirm(AskedStep::Rewind(entry)),
        ChatButton::Confirm(AskedStep::Drop(vec![entry, entry])),
        ChatButton::Confirm(AskedStep::Undo(2)),
        ChatButton::Confirm(AskedStep::Redo(1)),
        ChatButton::Confirm(AskedStep::Edit { entry, message: "$1".into() }),
        ChatButton::SayNew("$1".into()),
        ChatButton::Cancel,
        ChatButton::Turn(entry),
        ChatButton::Older(entry),
        ChatButton::DropMine(vec![entry]),
        ChatButton::PostAgain { first: OpNo(4), to: head },
        ChatButton::SendWaiting,
        ChatButton::Approve("call-1".into()),
        ChatButton::Deny("call-1".into()),
    ];
    assert_eq!(buttons.iter().map(button_name).collect::<Vec<_>>(), BUTTONS, "each kind");
    assert_eq!(buttons.len(), kinds);
    ChatQuestion { person: Some("ann".into()), head, files: Some([9; 16]), round: 2, buttons }
}

variants! { OUTCOMES, outcome_name: ArrivalOutcome {
    ArrivalOutcome::Said(_) => "said",
    ArrivalOutcome::Observed => "observed",
    ArrivalOutcome::Done => "done",
    ArrivalOutcome::Ignored => "ignored",
} }

variants! { ROLES, role_name: ChatRole {
    ChatRole::Stranger { .. } => "stranger",
    ChatRole::Member => "member",
    ChatRole::Owner => "owner",
} }

variants! { RIGHTS, right_name: Right {
    Right::Read => "read",
    Right::Talk => "talk",
    Right::Rewind => "rewind",
    Right::Administer => "administer",
} }

variants! { PRINCIPALS, principal_name: Principal {
    Principal::Local => "local",
    Principal::Token(_) => "token",
    Principal::Member { .. } => "member",
} }

fn place(thread: Option<&str>) -> ChatPlace {
    ChatPlace { account: "chat-1".into(), chat: "-100".into(), thread: thread.map(str::to_owned) }
}

fn origin() -> ChatOrigin {
    ChatOrigin {
        place: place(Some("7")),
        message: "12".into(),
        person: "@ann:example.org".into(),
        joined: Vec::new(),
    }
}

/// That of a message to which another one was joined.
fn joined() -> ChatOrigin {
    let share = |message: &str, is_rest| ChatShare { message: message.into(), text: 5, files: 1, is_rest };
    ChatOrigin { joined: vec![share("12", false), share("13", true)], ..origin() }
}

/// The value of each name in a list.
fn each<T: std::str::FromStr>(list: &[&str], name: fn(&T) -> &'static str) -> Vec<T> {
    let parsed = list.iter().map(|text| text.parse().unwrap_or_else(|_| panic!("no stored name: {text}")));
    let values: Vec<T> = parsed.collect();
    covers_all(list, name, &values);
    values
}

fn states() -> Vec<PostState> {
    let mut states = vec![
        PostState::Planned,
        PostState::Sending,
        PostState::Lost,
        PostState::Sent,
        PostState::Deleting,
        PostState::Cancelled,
    ];
    states.extend(each(DELETIONS, deletion_name).into_iter().map(PostState::Gone));
    states.extend(each(STAYS, stay_name).into_iter().map(PostState::Stays));
    states.extend(each(FAILURES, failure_name).into_iter().map(PostState::Failed));
    covers_all(STATES, state_name, &states);
    states
}

/// The columns and the record of a post, which are read as the same post.
fn pin(post: &Post) -> String {
    let (PostColumns { no, entry, op, due }, json) = encode_post(post);
    let columns = PostColumns { no, entry, op, due };
    assert_eq!(decode_post(&columns, &json).as_ref(), Ok(post));
    format!("{no} {entry:?} {op:?} {due:?} {json}")
}

#[test]
fn posts() {
    let planned = Post {
        no: PostNo(1),
        ..Post::planned(place(None), PostKind::Answer(Seq(9)), None, Time(1_795_300_000_000))
    };
    let full = Post {
        no: PostNo(2),
        place: place(Some("7")),
        part: (1, 3),
        reply_to: Some("12".into()),
        state: PostState::Deleting,
        op: Some(OpNo(8)),
        ids: vec!["13".into(), "14".into()],
        attempt: Some(SendAttempt {
            digest: "00ff".into(),
            began: Time(1_795_300_000_001),
            lost: 2,
            is_preview: false,
        }),
        sent: Some((Time(1_795_300_000_002), Some(Time(1_795_300_000_003)), true)),
        attempts: 2,
        due: None,
        since: None,
        is_done: true,
        ..planned.clone()
    };
    let endless = Post { sent: Some((Time(5), None, false)), ..planned.clone() };
    let erased = Post { standing: PostStanding::Erased, ..planned.clone() };
    let imported = full.clone().imported();
    let attempt = full.attempt.clone().map(|it| SendAttempt { is_preview: true, ..it });
    let preview = Post { kind: PostKind::Preview(Seq(9)), attempt, ..full.clone() };
    let mut lines =
        vec![pin(&planned), pin(&full), pin(&endless), pin(&erased), pin(&imported), pin(&preview)];
    lines.extend(states().into_iter().map(|state| pin(&Post { state, ..planned.clone() })));
    let told = ChatNotice {
        count: 2,
        files: 3,
        names: vec!["Anna".into()],
        code: Some("busy".into()),
        ..ChatNotice::default()
    };
    for kind in each(NOTICES, notice_name) {
        let bare = ChatNotice { kind, ..ChatNotice::default() };
        lines.push(pin(&Post { kind: PostKind::Notice(bare), ..planned.clone() }));
    }
    lines.push(pin(&Post { kind: PostKind::Notice(told), ..planned.clone() }));
    let asks = question(BUTTONS.len());
    let told = ChatNotice { posts: 4, asks: Some(asks), ..ChatNotice::default() };
    lines.push(pin(&Post { kind: PostKind::Notice(told), ..planned.clone() }));
    golden("posts", &lines.join("\n"));
    let (columns, json) = encode_post(&planned);
    let of_notice = PostColumns { entry: None, no: 1, op: None, due: None };
    assert!(decode_post(&of_notice, &json).is_err(), "neither an answer nor a notice");
    let bad = [
        json.replace("planned", "posted"),
        json.replace(r#"["planned",null]"#, r#"["planned","too_old"]"#),
        json.replace(r#"["planned",null]"#, r#"["stays",null]"#),
        json.replace(r#"["planned",null]"#, r#"["stays","shy"]"#),
        json.replace(r#""part":[0,0]"#, r#""part":[0]"#),
        json.replace('{', r#"{"more":1,"#),
    ];
    for json in bad {
        assert!(decode_post(&columns, &json).is_err(), "{json}");
    }
}

#[test]
fn chats() {
    let mut text = String::new();
    let id = ConversationId::new(Uuid::from_u128(1));
    let outcomes =
        [ArrivalOutcome::Said(id), ArrivalOutcome::Observed, ArrivalOutcome::Done, ArrivalOutcome::Ignored];
    covers_all(OUTCOMES, outcome_name, &outcomes);
    for outcome in outcomes {
        let stored = encode_outcome(&outcome);
        assert_eq!(decode_outcome(&stored), Ok(outcome));
        writeln!(text, "{stored}").unwrap();
    }
    let roles = [
        ChatRole::Member,
        ChatRole::Owner,
        ChatRole::Stranger { code: None, asked: Time(5) },
        ChatRole::Stranger { code: Some((*b"ABCDEFGH", Time(9))), asked: Time(5) },
    ];
    covers_all(ROLES, role_name, &roles);
    for role in roles {
        let stored = encode_role(role);
        assert_eq!(decode_role(&stored), Ok(role));
        writeln!(text, "{stored}").unwrap();
    }
    for origin in [origin(), ChatOrigin { place: place(None), ..origin() }, joined()] {
        let stored = encode_origin(&origin);
        assert_eq!(decode_origin(&stored), Ok(origin));
        writeln!(text, "{stored}").unwrap();
    }
    golden("chats", &text);
    let bad = ["", "said", "said x", "Done"];
    assert!(bad.iter().all(|text| decode_outcome(text).is_err()));
    let bad = ["", "guest", "stranger", "stranger x", "stranger 5 ABC 9", "stranger 5 ABCDEFGH", "member 5"];
    assert!(bad.iter().all(|text| decode_role(text).is_err()));
    let bad = ["", "[]", r#"[["a","b"],"12","ann"]"#, r#"[["a","b",null],"12"]"#];
    assert!(bad.iter().all(|text| decode_origin(text).is_err()));
}

#[test]
fn waiting_messages_of_chats() {
    let arrival = ChatArrival {
        origin: joined(),
        keys: vec!["u1".into(), "u2".into()],
        also: vec![("13".into(), [0xcd; 16])],
        content: [0xab; 16],
    };
    let words = Words {
        parts: vec![Part::text("go on")],
        author: "mia".into(),
        request: None,
        wording: None,
        time: Time(4),
        chat: Some(Arc::new(arrival)),
    };
    let run = retake_core::Run { words: vec![words], ..run() };
    let json = encode_run(&run);
    let read = |json: &str| decode_run(run.no, run.state.name(), run.fence, json);
    assert_eq!(read(&json).as_ref(), Ok(&run));
    golden("waiting_chats", &json);
    for digest in ["ab", "x", "+1"] {
        assert!(read(&json.replace(&"ab".repeat(16), digest)).is_err(), "{digest}");
    }
}

#[test]
fn principals_and_tokens() {
    let mut text = String::new();
    let member = |person: &str| Principal::Member { account: "chat-1".into(), person: person.into() };
    let principals =
        [Principal::Local, Principal::Token("phone".into()), member("@ann:example.org"), member("")];
    covers_all(PRINCIPALS, principal_name, &principals);
    for principal in principals {
        let stored = principal.encode();
        assert_eq!(Principal::decode(stored.as_deref()), Some(principal));
        writeln!(text, "{stored:?}").unwrap();
    }
    let id = ConversationId::new(Uuid::from_u128(1));
    let scopes = [GrantScope::All, GrantScope::Conversation(id)];
    let rights =
        each(RIGHTS, right_name).into_iter().flat_map(|right| scopes.map(|scope| Grant { right, scope }));
    let uses = [
        TokenUse::Grants(Grants::default()),
        TokenUse::Grants(Grants(rights.collect())),
        TokenUse::Gateway("chat-1".into()),
    ];
    for used_for in uses {
        let stored = encode_token_use(&used_for);
        assert_eq!(decode_token_use(&stored), Ok(used_for));
        writeln!(text, "{stored}").unwrap();
    }
    golden("principals", &text);
}
