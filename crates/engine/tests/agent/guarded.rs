//! Files with secrets: the file tools don't read them without approval, wherever a name leads.

use std::fs;
use std::os::unix::fs::symlink;

use retake_core::{Mode, Rule, Ruling};
use retake_engine::{Decision, PermissionChange};
use serde_json::{Value, json};

use super::{Desk, calls, words};

const KEY: &str = "-----BEGIN KEY----- hunter2";

/// A desk with a key in the home folder, and links to it in the workspace.
async fn desk(mode: Mode) -> Desk {
    let desk = Desk::new(mode).await;
    let ssh = desk.dir.path().join("home/.ssh");
    fs::create_dir_all(&ssh).expect("made");
    fs::write(ssh.join("id"), format!("{KEY}\n")).expect("written");
    symlink(&ssh, desk.path("sshlink")).expect("linked");
    symlink(ssh.join("id"), desk.path("notes.txt")).expect("linked");
    desk
}

/// The result for the model of one call that needs no approval.
async fn told(desk: &Desk, tool: &str, arguments: Value) -> String {
    desk.turn("go", vec![calls(&[(tool, arguments)]), words("done")]).await;
    format!("{:?}", desk.script.asked().messages.last())
}

#[tokio::test]
async fn trial_23_no_tool_reads_a_guarded_file_whatever_leads_to_it() {
    for mode in [Mode::Ask, Mode::AllowAll, Mode::Plan] {
        let desk = desk(mode).await;
        let id = desk.dir.path().join("home/.ssh/id").display().to_string();
        let rows = [
            ("read", json!({"path": "sshlink/id"})),
            ("read", json!({"path": "notes.txt"})),
            ("read", json!({"path": id})),
            ("read", json!({"path": "../home/.ssh/id"})),
            ("grep", json!({"pattern": "hunter", "path": "sshlink"})),
            ("grep", json!({"pattern": "hunter", "path": "notes.txt"})),
            ("list", json!({"path": "sshlink"})),
            ("glob", json!({"pattern": "*", "path": "sshlink"})),
        ];
        for (tool, arguments) in rows {
            let told = told(&desk, tool, arguments.clone()).await;
            assert!(!told.contains("hunter2"), "{mode:?} {tool} {arguments}: {told}");
            assert!(told.contains("holds secrets"), "{mode:?} {tool} {arguments}: {told}");
            assert!(told.contains("permissions.allow"), "what to do is said: {told}");
        }
    }
}

#[tokio::test]
async fn trial_23_a_search_passes_over_guarded_files() {
    for (mode, path) in [(Mode::Ask, "."), (Mode::AllowAll, "..")] {
        let desk = desk(mode).await;
        desk.write("server.pem", "hunter2\n");
        desk.write(".env", "PASSWORD=hunter2\n");
        desk.write("plain", "hunter2 is no secret here\n");
        let told = told(&desk, "grep", json!({"pattern": "hunter2", "path": path, "all": true})).await;
        assert!(told.contains("plain") && told.contains("left out"), "{told}");
        assert!(!told.contains("BEGIN KEY") && !told.contains("server.pem"), "{told}");
        assert_eq!(told.contains("PASSWORD"), mode == Mode::AllowAll, "{told}");
    }
}

#[tokio::test]
async fn trial_23_only_a_rule_that_names_it_lets_a_guarded_file_be_read() {
    let desk = desk(Mode::AllowAll).await;
    let id = desk.dir.path().join("home/.ssh/id");
    let allow = |what: Option<String>| Rule { ruling: Ruling::Allow, tool: "read".into(), what };
    let add = async |rule: Rule| {
        let change = PermissionChange { add: vec![rule], ..PermissionChange::default() };
        desk.engine.set_permission(desk.id, change).await.expect("added");
    };
    add(allow(None)).await;
    assert!(!told(&desk, "read", json!({"path": id})).await.contains("hunter2"));
    add(allow(Some(id.display().to_string()))).await;
    assert!(told(&desk, "read", json!({"path": id})).await.contains("hunter2"));
    let other = desk.dir.path().join("home/.ssh/other");
    fs::write(&other, "hunter2\n").expect("written");
    assert!(!told(&desk, "read", json!({"path": other})).await.contains("hunter2"), "it names one file");
}

#[tokio::test]
async fn trial_23_an_env_file_is_asked_about_and_the_rule_is_offered() {
    let desk = desk(Mode::Ask).await;
    desk.write(".env", "PASSWORD=hunter2\n");
    let read = || calls(&[("read", json!({"path": ".env"}))]);
    desk.script.then(read());
    desk.script.then(words("done"));
    let mut offers = Vec::new();
    let events = desk.say("go").await;
    let (_, told) = desk
        .follow(events, &mut |asks| {
            offers = asks.offers.clone();
            Some(Decision::InConversation(asks.offers[0].clone()))
        })
        .await;
    assert!(told[0].contains("Secrets("), "{told:?}");
    assert_eq!(offers.iter().map(ToString::to_string).collect::<Vec<_>>(), ["allow read(.env)"]);
    assert!(told.iter().any(|line| line.starts_with("→ 1 line")), "{told:?}");
    let (_, told) = desk.turn("go", vec![read(), words("done")]).await;
    assert!(!told[0].starts_with("may it"), "the rule allows it: {told:?}");
}

#[tokio::test]
async fn trial_23_output_of_calls_is_readable_without_approval_in_their_own_conversation_only() {
    let desk = Desk::new(Mode::Ask).await;
    let output = desk.dir.path().join("data/output");
    let [own, other] = [desk.id.to_string(), "01990000-0000-7000-8000-000000000009".to_owned()];
    for of in [&own, &other] {
        fs::create_dir_all(output.join(of)).expect("made");
        fs::write(output.join(of).join("a.log"), "hunter2\n").expect("written");
    }
    // The place of the logs of earlier versions.
    fs::write(output.join("b.log"), "hunter2\n").expect("written");
    for (of, is_own) in
        [(format!("{own}/a.log"), true), (format!("{other}/a.log"), false), ("b.log".to_owned(), false)]
    {
        let path = output.join(&of).display().to_string();
        for (tool, arguments) in
            [("read", json!({"path": path})), ("grep", json!({"pattern": "hunter", "path": path}))]
        {
            desk.script.then(calls(&[(tool, arguments)]));
            desk.script.then(words("done"));
            let events = desk.say("go").await;
            let mut asked = 0;
            desk.follow(events, &mut |_| {
                asked += 1;
                Some(Decision::Deny(None))
            })
            .await;
            let told = format!("{:?}", desk.script.asked().messages.last());
            assert_eq!((asked == 0, told.contains("hunter2")), (is_own, is_own), "{tool} {of}: {told}");
        }
    }
}

#[tokio::test]
async fn trial_23_a_guarded_folder_is_guarded_where_it_leads_when_a_call_is_made() {
    let desk = desk(Mode::AllowAll).await;
    let home = desk.dir.path().join("home");
    fs::rename(home.join(".ssh"), home.join("vault")).expect("renamed");
    symlink("vault", home.join(".ssh")).expect("linked");
    let told = told(&desk, "read", json!({"path": home.join("vault/id").display().to_string()})).await;
    assert!(told.contains("holds secrets") && !told.contains("hunter2"), "{told}");
}

#[tokio::test]
async fn hooks_of_a_folder_are_changed_only_with_an_approval() {
    let write = |path: &str| ("write", json!({"path": path, "content": "[hook.x]\n"}));
    let rows = [
        (Mode::AllowEdits, ".retake/hooks.toml", true),
        (Mode::AllowEdits, "sub/.retake/hooks.toml", true),
        (Mode::AllowEdits, ".retake/other.toml", false),
        (Mode::AllowEdits, "hooks.toml", false),
        (Mode::AllowAll, ".retake/hooks.toml", false),
    ];
    for (mode, path, is_asked) in rows {
        let desk = Desk::new(mode).await;
        desk.script.then(calls(&[write(path)]));
        desk.script.then(words("done"));
        let events = desk.say("go").await;
        let mut offers = Vec::new();
        desk.follow(events, &mut |asks| {
            offers.extend(asks.offers.iter().map(ToString::to_string));
            Some(Decision::Deny(None))
        })
        .await;
        assert_eq!(desk.path(path).exists(), !is_asked, "{mode:?} {path}");
        assert_eq!(offers.concat().contains(&format!("allow write({path})")), is_asked, "{offers:?}");
    }
}
