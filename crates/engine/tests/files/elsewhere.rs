//! A replaced folder, or one with another file system mounted over it: a step is refused as a whole (spec `rewind.md`,
//! *Plan*).

use std::fs;
use std::process::{Command, Stdio};

use retake_core::{Choice, Remedy};
use retake_engine::{FileOptions, Scope};

use super::{Yard, choose, scope};

/// Set for a test run that may mount.
const MAY_MOUNT: &str = "RETAKE_TEST_MAY_MOUNT";

/// Both the plan and the step are refused for this reason, and nothing has changed.
async fn refused(yard: &Yard, code: &str) -> String {
    let before = (yard.turns().await, yard.all());
    let mut said = String::new();
    for scope in [Scope::Both, Scope::Files] {
        let options = FileOptions { scope, ..FileOptions::default() };
        let action = yard.rewind("t1").await;
        let planned =
            yard.engine.plan_both(yard.id, action.clone(), options.clone()).await.expect_err("refused");
        let applied = yard.apply(action, options).await.expect_err("refused");
        assert_eq!((planned.code, applied.code), (code, code), "{planned:?} {applied:?}");
        assert_eq!((yard.turns().await, yard.all()), before, "nothing has changed");
        assert!(applied.remedies.contains(&Remedy::WithoutFiles), "{applied:?}");
        said = applied.message;
    }
    said
}

#[tokio::test]
async fn trial_10_a_folder_that_was_replaced_refuses_the_whole_step() {
    let yard = Yard::with(&[("a", "0\n")]).await;
    yard.run("echo 1 > a; echo 1 > made").await;
    fs::rename(yard.path(""), yard.dir.path().join("away")).expect("moved");
    fs::create_dir(yard.path("")).expect("made");
    yard.write("a", "another\n");
    let said = refused(&yard, "other_folder").await;
    assert!(said.contains("is not the one that the workspace was"), "{said}");
    yard.apply(yard.rewind("t1").await, scope(Scope::Conversation)).await.expect("messages alone go back");
    assert_eq!((yard.turns().await, yard.read("a").as_deref()), (0, Some("another\n")));
    yard.apply(retake_core::Action::Undo(1), scope(Scope::Conversation)).await.expect("back");
    fs::remove_dir_all(yard.path("")).expect("removed");
    fs::rename(yard.dir.path().join("away"), yard.path("")).expect("moved back");
    yard.back("t1").await;
    assert_eq!((yard.read("a").as_deref(), yard.read("made")), (Some("0\n"), None));
}

#[tokio::test]
async fn trial_10_a_file_system_mounted_over_files_refuses_the_whole_step() {
    let name = "files::elsewhere::trial_10_a_file_system_mounted_over_files_refuses_the_whole_step";
    if std::env::var_os(MAY_MOUNT).is_none() {
        // With private mounts that end with the process.
        let myself = std::env::current_exe().expect("it");
        let mut again = Command::new("unshare");
        again.arg(if rustix::process::geteuid().is_root() { "-m" } else { "-rm" }).arg(myself);
        again.args(["--exact", name, "--nocapture", "--test-threads=1"]);
        let status = again.env(MAY_MOUNT, "1").stdin(Stdio::null()).status().expect("done");
        assert!(status.success(), "{status}");
        return;
    }
    let mount = |program: &str, words: &[&str], yard: &Yard| {
        let status = Command::new(program).args(words).arg(yard.path("m")).status().expect("done");
        assert!(status.success(), "{program}");
    };
    let yard = Yard::with(&[("m/a", "0\n"), ("z", "0\n")]).await;
    yard.run("echo 1 > m/a; echo 1 > z").await;
    mount("mount", &["-t", "tmpfs", "tmpfs"], &yard);
    let said = refused(&yard, "other_file_system").await;
    assert!(said.contains("mounted over m/a"), "{said}");
    yard.apply(yard.rewind("t1").await, choose("m/a", Choice::Skip)).await.expect("the rest, as chosen");
    assert_eq!(yard.read("z").as_deref(), Some("0\n"));
    mount("umount", &[], &yard);
    assert_eq!(yard.read("m/a").as_deref(), Some("1\n"));
}
