//! Changes of calls, by any means, are reverted byte for byte (spec `rewind.md`, cases 1 to 14).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use futures::StreamExt as _;
use retake_engine::{Outcome, RunEvent};

use super::Yard;

/// Files of all kinds.
async fn yard() -> Yard {
    let yard =
        Yard::with(&[("a", "one\n"), ("deep/er/b", "b\n"), ("run.sh", "#!/bin/sh\necho built > out\n")])
            .await;
    fs::create_dir_all(yard.path("deep/empty")).expect("made");
    fs::write(yard.path("gb"), b"\xc4\xe3\xba\xc3\r\n").expect("written");
    fs::write(yard.path("bin"), (0..=255).cycle().take(5000).collect::<Vec<u8>>()).expect("written");
    fs::write(yard.path("none"), "").expect("written");
    std::os::unix::fs::symlink("a", yard.path("link")).expect("linked");
    std::os::unix::fs::symlink("/nowhere", yard.path("dangling")).expect("linked");
    fs::set_permissions(yard.path("run.sh"), fs::Permissions::from_mode(0o750)).expect("set");
    yard
}

/// A script in a turn of its own; a rewind to before it restores the earlier state, and a redo the later one.
async fn there_and_back(script: &str) {
    let yard = yard().await;
    let before = yard.all();
    yard.run(script).await;
    let after = yard.all();
    assert_ne!(before, after, "{script} does something");
    yard.back("t1").await;
    assert_eq!(yard.all(), before, "{script}");
    yard.undo().await;
    assert_eq!(yard.all(), after, "{script}");
}

#[tokio::test]
async fn rewind_case_01_a_file_edited_twice_in_a_turn_is_reverted_once() {
    let yard = yard().await;
    let before = yard.all();
    yard.call("echo two > a", Some("do it")).await;
    yard.call("echo three >> a", None).await;
    assert_eq!(yard.verdicts("t1").await, ["a Revert"]);
    yard.back("t1").await;
    assert_eq!(yard.all(), before);
}

#[tokio::test]
async fn rewind_case_02_what_was_created_is_deleted() {
    there_and_back("echo new > made; mkdir folder; echo x > folder/x").await;
}

#[tokio::test]
async fn rewind_case_03_what_was_deleted_is_re_created_with_bytes_and_mode() {
    there_and_back("rm -f a bin run.sh").await;
}

#[tokio::test]
async fn rewind_case_04_what_was_renamed_has_its_old_name_back() {
    there_and_back("mv a b; mv deep shallow").await;
}

#[tokio::test]
async fn changes_by_any_program_are_rewound() {
    for script in ["sed -i s/one/two/ a", "sh ./run.sh", "(sh -c 'echo child > a') & wait"] {
        there_and_back(script).await;
    }
}

#[tokio::test]
async fn rewind_case_06_bytes_are_bytes() {
    there_and_back("printf '\\377\\0\\r' > gb; : > bin; echo more > none; printf 'x\\r\\ny' > a").await;
    there_and_back("rm gb bin none").await;
}

#[tokio::test]
async fn rewind_case_07_links_come_back_and_their_targets_stay_untouched() {
    for script in [
        "ln -s a another",
        "ln -sfn bin link; rm dangling",
        "rm link; echo file > link",
        "rm -r deep; ln -s /tmp deep",
        "rm dangling; mkdir dangling; echo x > dangling/x",
    ] {
        there_and_back(script).await;
    }
}

#[tokio::test]
async fn rewind_case_08_a_mode_alone_comes_back() {
    there_and_back("chmod 600 a; chmod +x bin; chmod 700 deep").await;
}

#[tokio::test]
async fn rewind_case_09_a_tree_comes_back_with_its_empty_folders() {
    there_and_back("rm -r deep").await;
    there_and_back("rm -r deep; echo a file now > deep").await;
}

#[tokio::test]
async fn rewind_case_10_what_is_gits_is_byte_for_byte_the_same() {
    let yard = yard().await;
    let git = "git -c user.name=a -c user.email=a@b";
    let set_up = format!(
        "{git} init -q . && {git} add a && {git} commit -qm one && {git} init -q nested && \
         echo n > nested/n && cd nested && {git} add n && {git} commit -qm n && cd .. && \
         echo stashed > a && {git} stash -q && printf '#!/bin/sh\\n' > .git/hooks/post-checkout"
    );
    let done = std::process::Command::new("sh").args(["-c", &set_up]).current_dir(yard.path("")).output();
    assert!(done.as_ref().is_ok_and(|done| done.status.success()), "{done:?}");
    let (before, files) = (gits(&yard), yard.all());
    yard.run("echo two > a; echo two > nested/n; rm -r deep").await;
    for _ in 0..3 {
        yard.back("t1").await;
        assert_eq!(yard.all(), files);
        yard.undo().await;
    }
    yard.back("t1").await;
    assert_eq!(gits(&yard), before);
}

/// Every byte in git's folder.
fn gits(yard: &Yard) -> String {
    let script = "find . -path '*/.git/*' -type f -exec sha256sum {} + | sort";
    let found = std::process::Command::new("sh").args(["-c", script]).current_dir(yard.path("")).output();
    String::from_utf8(found.expect("find").stdout).expect("UTF-8")
}

#[tokio::test]
async fn rewind_case_12_what_is_ignored_is_left_alone_but_small_files_are_dear() {
    let yard =
        Yard::with(&[(".gitignore", "target/\n.env\n"), (".env", "KEY=1\n"), ("target/x", "old")]).await;
    yard.run("rm .env; echo new > target/x; echo y > target/y").await;
    assert_eq!(yard.verdicts("t1").await, [".env Recreate"]);
    yard.back("t1").await;
    assert_eq!(
        (yard.read(".env").as_deref(), yard.read("target/y").as_deref()),
        (Some("KEY=1\n"), Some("y\n"))
    );
    yard.run("echo two > a").await;
    yard.write(".gitignore", ".env\n");
    yard.back("t1").await;
    assert_eq!(yard.read("target/y").as_deref(), Some("y\n"), "nothing of the user's is deleted");
}

#[tokio::test]
async fn rewind_case_13_a_turn_that_was_stopped_is_a_target_like_any_other() {
    let yard = yard().await;
    let before = yard.all();
    let mut events = yard.started("echo half > a; echo started; sleep 100", Some("do it")).await;
    while !matches!(events.next().await.expect("it prints"), RunEvent::Text(_)) {}
    assert!(yard.engine.cancel(yard.id));
    loop {
        if let RunEvent::Ended(ended) = events.next().await.expect("an end") {
            assert_eq!(ended.outcome, Outcome::Interrupted);
            break;
        }
    }
    assert_eq!(yard.verdicts("t1").await, ["a Revert"]);
    yard.back("t1").await;
    assert_eq!(yard.all(), before);
}

#[tokio::test]
async fn a_command_that_removes_its_own_folder_is_reported_and_its_words_are_kept() {
    let yard = yard().await;
    let mut events = yard.started("echo bye; rm -rf ../work", Some("do it")).await;
    let ended = loop {
        if let RunEvent::Ended(ended) = events.next().await.expect("an end") {
            break ended;
        }
    };
    assert_eq!(ended.error.expect("it is told").code, "no_workspace");
    let messages = yard.engine.kept().prompt(yard.id, None).await.expect("a prompt");
    let last = format!("{:?}", messages.last().expect("a result").parts);
    assert!(last.contains("bye") && last.contains("can't be seen"), "{last}");
    fs::create_dir(yard.path("")).expect("another folder");
    yard.call("echo new > a", Some("go on")).await;
    yard.back("t2").await;
    assert_eq!(yard.read("a"), None, "another folder is another workspace, with its own calls");
}
