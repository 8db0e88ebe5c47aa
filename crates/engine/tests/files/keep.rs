//! What is stored of files and for how long, what a collection deletes, and what it never deletes
//! without a request.

use std::sync::Arc;
use std::time::Duration;

use retake_core::{Choice, Reason, UncoveredReason, Verdict};
use retake_engine::clock::ManualClock;
use retake_engine::settings::Retention;
use retake_engine::{Engine, Prune};
use tempfile::TempDir;

use super::{Action, FileOptions, Scope, Yard, choose};

/// Bytes of a file that can't be compressed.
fn noise(yard: &Yard, name: &str, seed: u64) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let bytes: Vec<u8> = std::iter::repeat_with(|| rng.u8(..)).take(40_000).collect();
    std::fs::write(yard.dir.path().join(name), bytes).expect("written");
}

/// The same folder with other retention settings, this many days later.
async fn later(yard: Yard, keep: Retention, days: i64) -> Yard {
    let Yard { engine: old, id, dir } = yard;
    drop(old);
    let engine = engine(&dir, keep, days).await;
    Yard { engine, id, dir }
}

async fn engine(dir: &TempDir, keep: Retention, days: i64) -> Arc<Engine> {
    super::engine_kept(dir.path(), 1 << 20, keep, days).await
}

/// A user who writes much between small commands, and a command that writes much.
async fn much() -> Yard {
    let yard = Yard::with(&[("a", "0\n")]).await;
    for seed in 1..=3 {
        noise(&yard, "work/mine", seed);
        yard.run(&format!("echo {seed} > a")).await;
    }
    noise(&yard, "theirs", 9);
    yard.run("cp ../theirs b").await;
    yard.run("rm b; echo last > a").await;
    yard
}

#[tokio::test]
async fn captures_go_by_age_and_what_calls_did_stays() {
    let yard = much().await;
    let fresh = yard.engine.prune(Prune::Look).await.expect("looked");
    assert_eq!((fresh.captures, fresh.objects, fresh.let_go.len()), (0, 0, 0), "{fresh:?}");
    let yard = later(yard, Retention::default(), 31).await;
    let would = yard.engine.prune(Prune::Look).await.expect("looked");
    assert_eq!(would, yard.engine.prune(Prune::Look).await.expect("looked"), "looking changes nothing");
    assert!(would.captures > 0 && would.objects == 2, "two versions of mine: {would:?}");
    assert!(would.freed > 70_000, "{would:?}");
    let done = yard.engine.prune(Prune::Unneeded).await.expect("pruned");
    assert_eq!((done.captures, done.objects), (would.captures, would.objects));
    assert!(done.freed.abs_diff(would.freed) < 5_000, "{done:?} {would:?}");
    let again = yard.engine.prune(Prune::Unneeded).await.expect("pruned");
    assert_eq!((again.captures, again.objects), (0, 0));
    yard.back("t5").await;
    assert_eq!(yard.read("b").map(|_| ()), None, "it is no text");
    assert!(yard.path("b").exists() && yard.read("a").as_deref() == Some("3\n"));
    yard.back("t1").await;
    assert_eq!(yard.read("a").as_deref(), Some("0\n"));
}

#[tokio::test]
async fn a_checkpoint_is_kept_whatever_its_age() {
    let yard = Yard::with(&[("a", "0\n")]).await;
    yard.run("true").await;
    noise(&yard, "work/mine", 1);
    yard.engine.checkpoint(yard.id, "dear".into()).await.expect("kept");
    // Only its manifest names content that existed before and is the same in all remaining captures.
    noise(&yard, "work/mine", 2);
    yard.run("true").await;
    std::fs::remove_file(yard.path("mine")).expect("removed");
    yard.run("true").await;
    yard.run("echo 1 > a").await;
    let keep = Retention { retention: Duration::ZERO, ..Retention::default() };
    let yard = later(yard, keep, 99).await;
    let pruned = yard.engine.prune(Prune::Unneeded).await.expect("pruned");
    assert_eq!((pruned.objects, pruned.damaged), (1, 0), "the second version goes: {pruned:?}");
    let paths = yard.engine.paths(yard.id, vec![b"mine".to_vec()]).await.expect("a path");
    let to = yard.engine.as_of(yard.id, Some("dear")).await.expect("a checkpoint");
    let restore = Some(retake_engine::Restore { paths, to });
    let options = FileOptions { scope: Scope::Files, restore, ..FileOptions::default() };
    yard.apply(Action::Files(Reason::Files), options).await.expect("it is kept whole");
    assert_eq!(std::fs::read(yard.path("mine")).expect("it is back").len(), 40_000);
    let names: Vec<_> = yard.engine.captures(yard.id, None, 99).await.expect("captures");
    assert!(names.iter().any(|row| row.name.as_deref() == Some("dear")));
}

#[tokio::test]
async fn beyond_the_quota_captures_go_first_and_what_rewinds_need_only_when_asked_for() {
    let yard = much().await;
    let yard = later(yard, Retention { quota: 100_000, ..Retention::default() }, 0).await;
    let would = yard.engine.prune(Prune::Look).await.expect("looked");
    assert!(would.captures > 0 && would.let_go.is_empty(), "the user's versions are enough: {would:?}");
    let yard = later(yard, Retention { quota: 60_000, ..Retention::default() }, 0).await;
    let would = yard.engine.prune(Prune::Look).await.expect("looked");
    let calls: Vec<usize> = would.let_go.iter().map(|going| going.calls.len()).collect();
    assert_eq!(would.let_go[0].conversation, yard.id);
    assert!(calls == [5], "the bytes are in the last two, the older ones go before them: {would:?}");
    let done = yard.engine.prune(Prune::Unneeded).await.expect("pruned");
    assert!(done.size > 60_000 && !done.let_go.is_empty(), "it says so, and takes none: {done:?}");
    assert_eq!(yard.verdicts("t5").await, ["a Revert", "b Recreate"]);
    let done = yard.engine.prune(Prune::ToQuota).await.expect("pruned");
    assert!(done.size <= 60_000, "{done:?}");
    assert!(yard.engine.files_kept_since().await.expect("known").is_some());
}

#[tokio::test]
async fn a_plan_over_what_is_not_kept_any_more_says_so_and_the_rest_goes_back() {
    let yard = much().await;
    let yard = later(yard, Retention { quota: 60_000, ..Retention::default() }, 0).await;
    yard.engine.prune(Prune::ToQuota).await.expect("pruned");
    let plan = yard.plan(yard.rewind("t5").await, FileOptions::default()).await;
    let paths = super::own(plan).paths;
    let gone = paths.iter().find(|path| path.path.to_string() == "b").expect("it is named");
    assert_eq!(gone.verdict, Verdict::NotCovered(UncoveredReason::NotKept), "{gone:?}");
    yard.back("t5").await;
    assert!(!yard.path("b").exists());
    yard.undo().await;
    assert_eq!(yard.turns().await, 5);
    let own = choose("b", Choice::Disk);
    yard.apply(yard.rewind("t5").await, own).await.expect("the disk can be chosen");
}

#[tokio::test]
async fn collection_runs_while_the_engine_is_idle() {
    let yard = much().await;
    let Yard { engine: old, id, dir } = yard;
    drop(old);
    let clock = ManualClock::new(1_700_000_000_000 + 31 * 24 * 3_600_000);
    let engine = super::engine_by(dir.path(), 1 << 20, Retention::default(), &clock).await;
    let yard = Yard { engine, id, dir };
    let captures = async || yard.engine.prune(Prune::Look).await.expect("looked").captures;
    assert!(captures().await > 0);
    yard.engine.collect_in_background();
    let collected = async {
        while captures().await > 0 {
            clock.advance(Duration::from_secs(60));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), collected).await.expect("it is collected");
    yard.back("t1").await;
    assert_eq!(yard.read("a").as_deref(), Some("0\n"));
    let weak = Arc::downgrade(&yard.engine);
    drop(yard);
    let gone = async {
        while weak.upgrade().is_some() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), gone).await.expect("it does not keep the engine alive");
}

#[tokio::test]
async fn a_call_that_is_open_keeps_what_it_has_changed() {
    let yard = Yard::with(&[("a", "0\n")]).await;
    noise(&yard, "first", 1);
    let script = "cp ../first b; touch ../ready; while [ ! -e ../go ]; do sleep 0.02; done; rm b";
    let mut events = yard.started(script, Some("go")).await;
    let ready = async {
        while !yard.dir.path().join("ready").exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), ready).await.expect("it gets ready");
    // A capture in the middle sees the present content; later only the open call knows it.
    yard.engine.checkpoint(yard.id, "middle".into()).await.expect("looked");
    std::fs::remove_file(yard.path("b")).expect("removed");
    yard.engine.checkpoint(yard.id, "end".into()).await.expect("looked");
    let keep = yard.engine.prune(Prune::Unneeded).await.expect("pruned");
    assert_eq!(keep.objects, 0, "{keep:?}");
    std::fs::write(yard.dir.path().join("go"), "").expect("written");
    while futures::StreamExt::next(&mut events).await.is_some() {}
}
