//! A program that is killed in the middle of a rewind: after the next start everything is as before, or everything as
//! after, in the conversation and in the files (design, section 4, invariant 7).

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::Command;

use retake_core::ConversationId;
use retake_engine::worktree::failpoint::FAILPOINTS;
use tempfile::TempDir;

use super::{Yard, engine};

/// Tells the child what to work on; without it the child's test is a test of nothing, and says so.
const WHERE: &str = "RETAKE_TEST_CRASH";

/// What is done before: two turns whose deltas are of all kinds.
pub(super) async fn two_turns() -> Yard {
    let yard = Yard::with(&[("a", "one\n"), ("gone", "dear\n"), ("deep/b", "b\n")]).await;
    yard.run("echo two > a; rm gone; mkdir new; echo x > new/x; chmod 600 deep/b").await;
    yard.run("echo three > a; ln -s a link; rm -r deep; echo file > deep").await;
    yard
}

/// The rewind that is killed. Started by the test below, in a process of its own.
#[tokio::test]
async fn a_rewind_to_be_killed() {
    let Some(dir) = std::env::var_os(WHERE).map(PathBuf::from) else {
        // By itself it only shows that the set-up does what the other test needs.
        assert_eq!(two_turns().await.turns().await, 2);
        return;
    };
    let id: ConversationId = fs::read_to_string(dir.join("id")).expect("an id").parse().expect("an id");
    let held = tempfile::Builder::new().tempdir_in(&dir).expect("a folder");
    let engine = super::engine_at(&dir, u64::from(std::process::id()) << 16).await;
    let yard = Yard { engine, id, dir: std::sync::Arc::new(held) };
    yard.back("t1").await;
}

/// Kills the rewind at the `nth` time that it comes to a point; whether it came there.
pub(super) fn kill_at(dir: &TempDir, point: &str, nth: usize) -> bool {
    let program = std::env::current_exe().expect("this program");
    let mut child = Command::new(program);
    child.args(["--exact", "files::crash::a_rewind_to_be_killed", "--nocapture"]);
    child.env(WHERE, dir.path()).env("RETAKE_FAILPOINT", format!("{point}:{nth}"));
    let done = child.output().expect("it starts");
    let killed = done.status.signal() == Some(9);
    assert!(killed || done.status.success(), "{point}:{nth}: {done:?}");
    killed
}

#[tokio::test]
async fn killed_at_any_point_of_a_rewind_it_is_all_or_nothing() {
    let (mut before, mut after, mut points) = (0, 0, 0);
    for point in FAILPOINTS.iter().filter(|point| point.starts_with("apply.")) {
        for nth in [1, 4] {
            let yard = two_turns().await;
            let there = yard.all();
            let Yard { engine: old, id, dir } = yard;
            drop(old);
            fs::write(dir.path().join("id"), id.to_string()).expect("written");
            if !kill_at(&dir, point, nth) {
                break;
            }
            points += 1;
            let yard = Yard { engine: engine(&dir).await, id, dir };
            assert_eq!(
                yard.engine.settle_files().await.expect("settled"),
                Vec::<String>::new(),
                "{point}:{nth}"
            );
            assert!(yard.engine.store().intents().await.expect("intents").is_empty(), "{point}:{nth}");
            match yard.turns().await {
                2 => {
                    assert_eq!(yard.all(), there, "{point}:{nth}: all before");
                    before += 1;
                    yard.back("t1").await;
                }
                turns => {
                    assert_eq!(turns, 0, "{point}:{nth}");
                    after += 1;
                }
            }
            assert_eq!(yard.names(), ["a", "deep", "gone"], "{point}:{nth}: all after, and no litter");
            yard.undo().await;
            assert_eq!(yard.all(), there, "{point}:{nth}: and it can be undone");
        }
    }
    assert!(before > 3 && after > 3 && points > 10, "{before} before, {after} after, of {points}");
}
