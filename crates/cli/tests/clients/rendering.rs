//! Every rendering, with terminal control characters in its text.

use insta::assert_snapshot;
use retake_wire::chat::{Place, PostCounts, StayCause, StayCount};
use retake_wire::reply::{
    Conversations, EffectLine, EffectState, EffectWords, Effects, Entries, Finding, Models, Outside,
    PlacePosts, Plan, PostChanges, Receipt, Repair, Report, StepPosts, Words,
};
use retake_wire::{
    Condition, EffectClass, Hits, ModelCause, Part, Problem, ProblemKind, Reply, Role, SandboxFact,
};

use super::files::files_plan;
use super::fixtures;
use super::scripted::Case;

fn see(arguments: &[&str]) -> String {
    Case::script("").see(arguments)
}

#[test]
fn the_timeline() {
    assert_snapshot!(see(&["log"]));
}

#[test]
fn the_timeline_in_colours() {
    assert_snapshot!(Case::script("").coloured().see(&["log", "--color", "always"]));
}

#[test]
fn a_call_that_was_not_started_is_marked() {
    let call = |name: &str| Part::ToolCall {
        id: name.to_owned(),
        name: name.to_owned(),
        arguments: r#"{"command":"make","path":"a"}"#.to_owned(),
        sent: None,
    };
    let parts = vec![Part::text("At once."), call("read"), call("shell"), call("shell"), call("shell")];
    let last = fixtures::entry(7, 2, Role::Assistant, parts);
    let unbegun = vec![format!("{}-1", last.id), format!("{}-3", last.id)];
    let cut_off = vec![format!("{}-4", last.id)];
    let page = Reply::Entries(Entries {
        conversation: fixtures::HERE.to_owned(),
        head: "12.7".to_owned(),
        revision: 30,
        entries: vec![last],
        earlier: false,
        later: false,
        unbegun,
        cut_off,
    });
    assert_snapshot!(Case::script("").reply("log", Ok(page)).see(&["log"]));
}

#[test]
fn the_prompt() {
    assert_snapshot!(see(&["log", "--as", "prompt", "--at", "3.2"]));
}

#[test]
fn lists() {
    let arguments: [&[&str]; 12] = [
        &["list", "--all"],
        &["targets"],
        &["choose", "@"],
        &["ops"],
        &["tree"],
        &["models"],
        &["search", "notes", "-"],
        &["files", "log"],
        &["files", "status"],
        &["files", "diff"],
        &["checkpoint", "before"],
        &["workspace", "list"],
    ];
    let all: Vec<String> = arguments
        .iter()
        .map(|arguments| format!("$ retake {}\n{}", arguments.join(" "), see(arguments)))
        .collect();
    assert_snapshot!(all.join("\n"));
}

#[test]
fn hits_in_colours() {
    assert_snapshot!(Case::script("").coloured().see(&["search", "notes"]));
}

#[test]
fn nothing_to_show() {
    let empty = [
        (
            "list",
            Reply::Conversations(Conversations {
                conversations: Vec::new(),
                more: false,
                ..Default::default()
            }),
        ),
        (
            "log",
            Reply::Entries(Entries {
                conversation: fixtures::HERE.to_owned(),
                head: "0.0".to_owned(),
                revision: 1,
                entries: Vec::new(),
                earlier: false,
                later: false,
                unbegun: Vec::new(),
                cut_off: Vec::new(),
            }),
        ),
        ("search", Reply::Hits(Hits { hits: Vec::new(), more: false, understood: None })),
        (
            "models",
            Reply::Models(Models {
                default: "demo/echo".to_owned(),
                cause: ModelCause::Demo,
                ..Models::default()
            }),
        ),
    ];
    let all: Vec<String> = empty
        .into_iter()
        .map(|(verb, reply)| {
            let case = Case::script("").reply(verb, Ok(reply));
            let arguments: &[&str] = match verb {
                "search" => &["search", "nothing"],
                "log" => &["log", "--conversation", "0199a000"],
                verb => &[verb],
            };
            case.see(arguments)
        })
        .collect();
    assert_snapshot!(all.join("\n"));
}

#[test]
fn a_plan() {
    assert_snapshot!(see(&["plan", "rewind", "t1"]));
}

#[test]
fn a_plan_with_files_lists_them_under_their_calls() {
    let plan = || retake_wire::reply::Plan { files: Some(files_plan()), ..fixtures::plan() };
    let case = || Case::script("").reply("plan", Ok(Reply::Plan(plan())));
    assert_snapshot!(case().see(&["plan", "rewind", "t1"]));
    assert_snapshot!(case().coloured().see(&["plan", "rewind", "t1", "--color", "always"]));
}

/// Two irreversible calls, and some more; and posts in a chat, one of which stays.
fn outside() -> Outside {
    let call = |line: &str, state, minutes| EffectLine {
        line: line.to_owned(),
        words: EffectWords::Shown,
        tool: "shell".to_owned(),
        class: EffectClass::External,
        began_ms: fixtures::ago(minutes),
        state,
    };
    let push = call("$ git push \x1b[2J", EffectState::Done, 1);
    let mail = call("mcp__mail__send {\"to\":\"ann\"}", EffectState::Begun, 3);
    let stays = vec![StayCount { why: StayCause::TooOld, count: 1 }];
    let taken_back = PostCounts { trying: 4, stays, ..PostCounts::default() };
    let all = PostChanges { taken_back, ..PostChanges::default() };
    let place = Place { account: "work".to_owned(), chat: "!r\x1b[2J".to_owned(), thread: None };
    let places = vec![PlacePosts { place, changes: all.clone() }];
    let posts = StepPosts { all, place_count: 3, places };
    Outside { effects: Effects { count: 6, calls: vec![push, mail] }, posts }
}

#[test]
fn irreversible_effects_are_reported_before_and_after() {
    let plan = Plan { outside: outside(), at_work: true, waiting: 2, ..fixtures::plan() };
    let seen = Case::script("").reply("plan", Ok(Reply::Plan(plan))).see(&["plan", "rewind", "t1"]);
    let stays = "! can't be taken back: 6 calls\n  `$ git push ␛[2J` (1 minute ago)\n  \
                 `mcp__mail__send {\"to\":\"ann\"}` (3 minutes ago; begun, how it ended is not\n    \
                 known)\n    … and 4 more\n";
    assert!(seen.contains(stays), "{seen}");
    let posts = "! posts in work in !r␛[2J: 4 to be deleted, 1 stays: too old\n    … and 2 more\n";
    assert!(seen.contains(posts), "{seen}");
    let stops = "! the agent is at work here: it has to be stopped first; 2 messages that wait\n  \
                 would come back to you\n";
    assert!(seen.contains(stops), "{seen}");
    let part = retake_wire::Part::Text { text: "and then".to_owned() };
    let waited = vec![Words { parts: vec![part], author: String::new(), time_ms: 0 }];
    let done = Receipt { outside: outside(), waited, ..fixtures::receipt() };
    let case = Case::script("").reply("apply", Ok(Reply::Receipt(done)));
    let seen = case.see(&["rewind", "t1"]);
    assert!(seen.contains("! posts in work in !r␛[2J: 4 being deleted, 1 stays: too old\n"), "{seen}");
    assert!(seen.contains(stays) && seen.contains("waiting messages return to you: “and then”\n"), "{seen}");
}

#[test]
fn a_plan_and_its_receipt_count_remembered_facts() {
    let conditions = vec![Condition::NoFileChanges, Condition::MemoryChanges { gone: 2, came: 1 }];
    let plan = Plan { conditions: conditions.clone(), ..fixtures::plan() };
    let plan = Case::script("").reply("plan", Ok(Reply::Plan(plan))).see(&["plan", "rewind", "t1"]);
    let done = Receipt { conditions, ..fixtures::receipt() };
    let done = Case::script("").reply("apply", Ok(Reply::Receipt(done))).see(&["rewind", "t1"]);
    assert_snapshot!(plan + &done);
}

#[test]
fn a_plan_that_changes_nothing() {
    let plan = retake_wire::reply::Plan { unchanged: true, ..fixtures::plan() };
    let case = Case::script("").reply("plan", Ok(Reply::Plan(plan)));
    assert_snapshot!(case.see(&["plan", "hide", "@"]));
}

#[test]
fn a_damaged_store_is_reported() {
    let report = Report {
        conversations: 1,
        entries: 1,
        findings: vec![Finding::Unreadable {
            conversation: None,
            detail: "entry 7 can't be read: \x1b[2J".to_owned(),
        }],
        repairs: vec![Repair::Indexes],
        details: vec!["Tree 7 page 26 cell 0".to_owned()],
        confinement: vec![SandboxFact::Confined { seccomp: false, namespaces: false }],
        ..Report::default()
    };
    let case = Case::script("").reply("doctor", Ok(Reply::Report(report)));
    assert_snapshot!(case.see(&["doctor"]));
}

#[test]
fn a_problem_with_everything() {
    let problem = Problem {
        code: "disk_full".into(),
        kind: ProblemKind::Storage,
        message: "can't store the message in \x1b[2J/data".to_owned(),
        hint: Some("make room, then say it again".into()),
        causes: vec!["no space left".to_owned(), "on the device".to_owned()],
        ..Problem::default()
    };
    let case = Case::script("").reply("say", Err(problem));
    assert_snapshot!(case.see(&["say", "hello"]));
}
