//! Requests about hooks: a person approves the entry that they saw, and no other one.

use std::collections::BTreeMap;

use retake_wire::request::OutboxItems;
use retake_wire::{
    Hook, HookApprove, HookOrigin, HookRevoke, HookState, Hooks, HooksOf, ProblemKind, Request,
};

use super::world::{Desk, get, variant};

/// A file with a hook.
const FILE: &str = "[hook.web]\non = [\"rewound\"]\nurl = \"http://127.0.0.1:9/in\"\n";

/// A folder with this file of hooks.
fn project(desk: &Desk, text: &str) -> String {
    let folder = desk.file("project");
    std::fs::create_dir_all(folder.join(".retake")).expect("made");
    std::fs::write(folder.join(".retake/hooks.toml"), text).expect("written");
    folder.to_str().expect("a name in UTF-8").to_owned()
}

async fn list(desk: &Desk, folder: &str) -> Hooks {
    get!(desk, Hooks, Request::HooksList(HooksOf { folder: folder.into() }))
}

fn approve(folder: &str, name: &str, hook: &Hook) -> Request {
    let entry = hook.entry.clone().expect("a digest");
    Request::HookApprove(HookApprove { folder: folder.into(), name: name.into(), entry })
}

fn revoke(folder: &str) -> Request {
    Request::HookRevoke(HookRevoke { folder: folder.into(), name: "web".into() })
}

/// Every request about hooks and the outbox, with its reply.
pub(super) async fn answered() -> BTreeMap<String, String> {
    let desk = Desk::new().await;
    let folder = project(&desk, FILE);
    let hook = list(&desk, &folder).await.hooks.remove(0);
    let all = || OutboxItems { all: true, ..OutboxItems::default() };
    let requests = [
        Request::HooksList(HooksOf { folder: folder.clone() }),
        approve(&folder, "web", &hook),
        revoke(&folder),
        Request::Outbox,
        Request::OutboxRetry(all()),
        Request::OutboxDrop(all()),
    ];
    let mut answered = BTreeMap::new();
    for request in requests {
        answered.insert(variant(&request), variant(&desk.does(request).await));
    }
    answered
}

#[tokio::test]
async fn hook_of_a_folder_is_approved_as_it_was_seen_and_revoked() {
    let desk = Desk::new().await;
    let folder = project(&desk, FILE);
    let seen = list(&desk, &folder).await.hooks.remove(0);
    assert_eq!((seen.state, seen.origin), (HookState::NeedsApproval, HookOrigin::Folder));
    assert_eq!(
        (&*seen.events, seen.address.as_deref()),
        (&["rewound".to_owned()][..], Some("http://127.0.0.1:9/in"))
    );
    assert_eq!((seen.timeout_s, seen.keep_trying_s, seen.texts), (10, 86_400, false));
    project(&desk, &format!("{FILE}text = true\n"));
    let stale = desk.refused(approve(&folder, "web", &seen)).await;
    assert_eq!(
        (stale.kind, &*stale.code, &stale.fields["what"]),
        (ProblemKind::Refused, "hooks", &"changed".into())
    );
    assert_eq!(stale.message, "the entry of the hook web has changed since you saw it");
    let changed = list(&desk, &folder).await.hooks.remove(0);
    assert!(changed.texts && changed.entry != seen.entry);
    let other = desk.refused(approve(&folder, "other", &changed)).await;
    assert_eq!((other.kind, &other.fields["what"]), (ProblemKind::NotFound, &"missing".into()));
    let set = get!(desk, Hooks, approve(&folder, "web", &changed));
    assert_eq!(set.hooks[0].state, HookState::Set);
    project(&desk, FILE);
    assert_eq!(list(&desk, &folder).await.hooks[0].state, HookState::Changed);
    project(&desk, "");
    assert_eq!(list(&desk, &folder).await.hooks[0].state, HookState::Missing);
    assert_eq!(get!(desk, Hooks, revoke(&folder)), Hooks::default());
    let again = desk.refused(revoke(&folder)).await;
    assert_eq!((again.kind, &again.fields["what"]), (ProblemKind::NotFound, &"not_approved".into()));
    let relative = Request::HooksList(HooksOf { folder: "x".into() });
    assert_eq!(desk.refused(relative).await.kind, ProblemKind::Usage);
}

#[tokio::test]
async fn wrong_file_of_hooks_is_one_problem_with_its_place() {
    let desk = Desk::new().await;
    let rows = [
        ("[hook.a", "syntax", "line 1: this is not valid TOML"),
        ("[hook.a]\nurk = 1", "unknown_key", "line 2: unknown setting hook.a.urk"),
        ("\n[hook.a]\non = [\"x\"]", "wrong_value", "line 3: the setting hook.a.on has a wrong event"),
        ("\u{0}", "syntax", "line 1: "),
        (&"#".repeat(70_000), "unreadable", ": it has more than 64 kB"),
    ];
    for (text, what, message) in rows {
        let folder = project(&desk, text);
        let shown = list(&desk, &folder).await;
        let [problem] = &shown.file_problems[..] else { panic!("one problem: {shown:?}") };
        assert_eq!((&*problem.code, &problem.fields["what"]), ("hooks", &what.into()), "{problem:?}");
        assert!(problem.message.contains(message), "{problem:?}");
        assert!(problem.message.contains("project/.retake/hooks.toml"), "{problem:?}");
    }
    let folder = project(&desk, &format!("{FILE}secret_file = \"/x\"\n"));
    let hook = list(&desk, &folder).await.hooks.remove(0);
    let problem = hook.problem.as_ref().expect("it says why");
    let why = "the setting hook.web.secret_file is not for the hook of a folder: secret_env names a variable";
    assert_eq!((hook.state, problem.message.as_str()), (HookState::Incomplete, why));
    assert_eq!(desk.refused(approve(&folder, "web", &hook)).await.message, why);
}
