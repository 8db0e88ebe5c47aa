//! A conversation in several folders: a command's changes in all of them are one step, completely or not at all.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use proptest::prelude::*;
use retake_core::{Action, Apply, Choice, Reason, SeenState};
use retake_engine::{EngineError, FileOptions, Note, Restore, Scope};
use retake_worktree::failpoint;

use super::crash::kill_at;
use super::{Yard, engine};

impl Yard {
    /// The same conversation, with these further folders in the settings.
    pub(super) async fn further(self, names: &[&str]) -> Self {
        let folders = names.iter().map(|name| format!("{}\n", self.dir.path().join(name).display()));
        fs::write(self.dir.path().join("roots"), folders.collect::<String>()).expect("written");
        self.restarted().await
    }

    pub(super) fn beside(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.dir.path()).expect("a folder").join(name)
    }

    pub(super) fn read_beside(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.beside(name)).ok()
    }

    /// Everything in the folders, with staging folders.
    fn all_beside(&self) -> String {
        let script = "find work other -printf '%p %y %m\\n' -type f -exec sha256sum {} \\; | sort";
        let found =
            std::process::Command::new("sh").args(["-c", script]).current_dir(self.dir.path()).output();
        String::from_utf8(found.expect("find").stdout).expect("UTF-8")
    }

    async fn refused(&self, turn: &str, options: FileOptions) -> EngineError {
        self.apply(self.rewind(turn).await, options).await.expect_err("refused")
    }
}

/// A folder and another one, with two turns that wrote in both.
pub(super) async fn two_folders() -> Yard {
    let yard = Yard::with(&[("a", "0\n")]).await;
    fs::create_dir(yard.beside("other")).expect("made");
    fs::write(yard.beside("other/b"), "0\n").expect("written");
    let yard = yard.further(&["other"]).await;
    for turn in 1..=2 {
        yard.run(&format!("echo {turn} > a; echo {turn} > ../other/b; echo > ../other/made{turn}")).await;
    }
    yard
}

/// The content of both folders: `a`, `b`, and the number of files created in the other one.
fn both(yard: &Yard) -> (String, String, usize) {
    let made = fs::read_dir(yard.beside("other")).expect("a folder").count() - 1;
    let line = |text: Option<String>| text.unwrap_or_default().trim().to_owned();
    (line(yard.read("a")), line(yard.read_beside("other/b")), made)
}

fn at(turn: usize) -> (String, String, usize) {
    (turn.to_string(), turn.to_string(), turn)
}

#[tokio::test]
async fn a_rewind_takes_all_folders_along() {
    let yard = two_folders().await;
    let other = yard.beside("other");
    let shown = |name: &str, what: &str| format!("{} {what}", other.join(name).display());
    let verdicts = ["a Revert".to_owned(), shown("b", "Revert"), shown("made2", "Delete")];
    assert_eq!(yard.verdicts("t2").await, verdicts);
    yard.back("t2").await;
    assert_eq!((both(&yard), yard.turns().await), (at(1), 1));
    yard.back("t1").await;
    assert_eq!((both(&yard), yard.turns().await), (at(0), 0));
    let yard = yard.restarted().await;
    yard.undo().await;
    assert_eq!((both(&yard), yard.turns().await), (at(1), 1));
    yard.undo().await;
    assert_eq!((both(&yard), yard.turns().await), (at(2), 2));
    yard.redo().await;
    yard.redo().await;
    assert_eq!((both(&yard), yard.turns().await), (at(0), 0));
    assert!(yard.engine.kept().intents().await.expect("intents").is_empty());
    let checked = yard.engine.doctor(retake_core::CheckMode::Look).await.expect("checked");
    assert!(checked.problems.is_empty(), "{:?}", checked.problems);
}

#[tokio::test]
async fn change_in_another_folder_alone_is_rewound() {
    let yard = two_folders().await;
    yard.run("echo 3 > ../other/b").await;
    assert_eq!(yard.verdicts("t3").await, [format!("{} Revert", yard.beside("other/b").display())]);
    yard.back("t3").await;
    assert_eq!(both(&yard), at(2));
    // The dropped turn wrote below one that stays, in both folders.
    let first = yard.engine.entry(yard.id, "t2").await.expect("a turn");
    let last = yard.engine.kept().summary(yard.id).await.expect("it").tip.expect("a tip");
    let drop = Action::Mark { verb: Reason::Drop, entries: vec![first, last], range: true, seen: None };
    yard.does(drop).await;
    assert_eq!(both(&yard), at(1));
    yard.undo().await;
    assert_eq!(both(&yard), at(2));
}

#[tokio::test]
async fn a_conflict_in_one_folder_refuses_all() {
    let yard = two_folders().await;
    fs::write(yard.beside("other/b"), "mine\n").expect("written");
    let there = yard.all_beside();
    let refused = yard.refused("t2", FileOptions::default()).await;
    assert_eq!(refused.code, "conflict");
    let name = yard.beside("other/b");
    assert!(refused.message.ends_with(&format!(": {}", name.display())), "{}", refused.message);
    assert_eq!((yard.all_beside(), yard.turns().await), (there, 2));
    let options = FileOptions { elsewhere: [(name, Choice::Disk)].into(), ..FileOptions::default() };
    yard.apply(yard.rewind("t2").await, options).await.expect("chosen");
    assert_eq!(both(&yard), ("1".to_owned(), "mine".to_owned(), 1));
    let lost = [(yard.beside("third/b"), Choice::Disk)].into();
    let refused = yard.refused("t1", FileOptions { elsewhere: lost, ..FileOptions::default() }).await;
    assert_eq!((refused.code, &refused.fields[1]), ("bad_path", &("what", "outside".into())));
}

#[tokio::test]
async fn a_plan_is_of_all_folders() {
    let yard = two_folders().await;
    let plan = yard.plan(yard.rewind("t2").await, FileOptions::default()).await;
    fs::write(yard.beside("other/made2"), "mine\n").expect("written");
    let seen = FileOptions { seen: Some(plan.digest), ..FileOptions::default() };
    assert_eq!(yard.refused("t2", seen).await.code, "stale_plan");
}

/// A failure at the n-th point of an apply, on any thread.
fn failing(at: usize, save: Option<PathBuf>) -> (tokio::runtime::Runtime, Arc<AtomicBool>, Arc<AtomicBool>) {
    let (passed, armed, struck) = (Arc::new(AtomicUsize::new(0)), Arc::default(), Arc::default());
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let (now, hit): (Arc<AtomicBool>, Arc<AtomicBool>) = (Arc::clone(&armed), Arc::clone(&struck));
    builder.enable_all().on_thread_start(move || {
        let (passed, now, hit, save) =
            (Arc::clone(&passed), Arc::clone(&now), Arc::clone(&hit), save.clone());
        // For the lifetime of the thread.
        Box::leak(Box::new(failpoint::watch(move |name| {
            let counts = name.starts_with("apply.") && now.load(Ordering::SeqCst);
            if !counts || passed.fetch_add(1, Ordering::SeqCst) + 1 != at {
                return Ok(());
            }
            hit.store(true, Ordering::SeqCst);
            match &save {
                Some(file) => fs::write(file, "saved\n"),
                None => Err(io::Error::other("it fails")),
            }
        })));
    });
    (builder.build().expect("a runtime"), armed, struck)
}

#[test]
fn a_failure_at_any_point_leaves_all_folders_before_or_after() {
    let (mut before, mut after) = (0, 0);
    for point in 1.. {
        let (runtime, armed, struck) = failing(point, None);
        let over = runtime.block_on(async {
            let yard = two_folders().await;
            let there = yard.all_beside();
            armed.store(true, Ordering::SeqCst);
            let done = yard.apply(yard.rewind("t1").await, FileOptions::default()).await;
            armed.store(false, Ordering::SeqCst);
            let notices = yard.engine.settle_files().await.expect("settled");
            assert_eq!(notices, Vec::<String>::new(), "{point}: {done:?}");
            if yard.turns().await == 2 {
                assert!(done.is_err(), "{point}");
                assert_eq!(yard.all_beside(), there, "{point}: all before, and no litter");
                before += 1;
                yard.back("t1").await;
            } else {
                after += 1;
            }
            assert_eq!((both(&yard), yard.turns().await), (at(0), 0), "{point}: {done:?}");
            yard.undo().await;
            assert_eq!(yard.all_beside(), there, "{point}");
            !struck.load(Ordering::SeqCst)
        });
        if over {
            break;
        }
    }
    assert!(before > 20 && after > 3, "{before} before, {after} after");
}

#[test]
fn a_save_in_one_folder_meanwhile_puts_all_back() {
    let (mut interrupted, mut point) = (0, 0);
    loop {
        point += 1;
        let dir = Arc::new(tempfile::tempdir().expect("a folder"));
        let saved = fs::canonicalize(dir.path()).expect("it").join("b");
        let (runtime, armed, struck) = failing(point, Some(saved.clone()));
        let over = runtime.block_on(async {
            let yard = Yard::with(&[("a", "0\n")]).await;
            fs::write(&saved, "0\n").expect("written");
            fs::write(yard.dir.path().join("roots"), dir.path().to_str().expect("UTF-8")).expect("written");
            let yard = yard.restarted().await;
            yard.run(&format!("echo 1 > a; echo 1 > {}", saved.display())).await;
            armed.store(true, Ordering::SeqCst);
            let done = yard.apply(yard.rewind("t1").await, FileOptions::default()).await;
            armed.store(false, Ordering::SeqCst);
            if !struck.load(Ordering::SeqCst) {
                return true;
            }
            let b = fs::read_to_string(&saved).expect("it is there");
            assert_eq!(b, "saved\n", "{point}: nobody's save is lost, {done:?}");
            if let Err(error) = &done {
                assert_eq!(yard.read("a").as_deref(), Some("1\n"), "{point}: {error}");
                assert_eq!(yard.turns().await, 1, "{point}: {error}");
                interrupted += usize::from(error.code == "interrupted");
            } else {
                assert_eq!((yard.read("a").as_deref(), yard.turns().await), (Some("0\n"), 0), "{point}");
            }
            assert!(yard.engine.kept().intents().await.expect("intents").is_empty(), "{point}");
            assert_eq!(
                (yard.names(), fs::read_dir(dir.path()).expect("it").count()),
                (vec!["a".to_owned()], 1)
            );
            false
        });
        if over {
            break;
        }
    }
    assert!(interrupted > 3, "{interrupted} interrupted, of {point} points");
}

#[tokio::test]
async fn killed_at_any_point_of_a_rewind_of_several_folders_it_is_all_or_nothing() {
    let (mut before, mut after) = (0, 0);
    for point in failpoint::FAILPOINTS.iter().filter(|point| point.starts_with("apply.")) {
        for nth in 1..=6 {
            let yard = two_folders().await;
            let there = yard.all_beside();
            let Yard { engine: old, id, dir } = yard;
            drop(old);
            fs::write(dir.path().join("id"), id.to_string()).expect("written");
            let killed = kill_at(&dir, "a_rewind_to_be_killed", point, nth);
            let yard = Yard { engine: engine(&dir).await, id, dir };
            if !killed {
                break;
            }
            let notices = yard.engine.settle_files().await.expect("settled");
            assert_eq!(notices, Vec::<String>::new(), "{point}:{nth}");
            assert!(yard.engine.kept().intents().await.expect("intents").is_empty(), "{point}:{nth}");
            if yard.turns().await == 2 {
                assert_eq!(yard.all_beside(), there, "{point}:{nth}: all before");
                before += 1;
                yard.back("t1").await;
            } else {
                after += 1;
            }
            assert_eq!((both(&yard), yard.names()), (at(0), vec!["a".to_owned()]), "{point}:{nth}");
            yard.undo().await;
            assert_eq!(yard.all_beside(), there, "{point}:{nth}: and it can be undone");
        }
    }
    assert!(before > 5 && after > 10, "{before} before, {after} after");
}

#[tokio::test]
async fn a_folder_that_is_no_longer_in_the_settings_still_goes_back() {
    let yard = two_folders().await;
    let yard = yard.further(&[]).await;
    yard.run("echo 3 > a; echo theirs > ../other/theirs").await;
    yard.back("t2").await;
    assert_eq!((yard.read("a"), yard.read_beside("other/b")), (Some("1\n".into()), Some("1\n".into())));
    assert_eq!(yard.read_beside("other/theirs").as_deref(), Some("theirs\n"), "it was not seen");
}

#[tokio::test]
async fn a_folder_that_is_gone_is_reported_and_left() {
    let yard = two_folders().await;
    fs::rename(yard.beside("other"), yard.beside("away")).expect("moved");
    let yard = yard.further(&[]).await;
    let plan = yard.plan(yard.rewind("t2").await, FileOptions::default()).await;
    assert_eq!(plan.files.len(), 1);
    let gone = Note::FolderGone { folder: yard.beside("other"), why: None };
    assert_eq!(plan.notes, std::slice::from_ref(&gone));
    let done = yard.apply(yard.rewind("t2").await, FileOptions::default()).await.expect("done");
    assert_eq!(done.notes, [gone]);
    assert_eq!(yard.read("a").as_deref(), Some("1\n"));
    // Once it is there again, the next step completes it.
    fs::rename(yard.beside("away"), yard.beside("other")).expect("moved");
    let status = yard.engine.files_status(yard.id).await.expect("looked at");
    assert_eq!((status.folders.len(), status.ahead), (2, 1));
    yard.back("t1").await;
    assert_eq!(both(&yard), at(0));
}

#[tokio::test]
async fn a_folder_that_cannot_be_opened_is_reported_with_the_cause() {
    let yard = two_folders().await.further(&[]).await;
    fs::rename(yard.beside("other"), yard.beside("away")).expect("moved");
    std::os::unix::fs::symlink("other", yard.beside("other")).expect("a link to itself");
    let notes = yard.plan(yard.rewind("t2").await, FileOptions::default()).await.notes;
    assert!(format!("{notes:?}").contains("why: \"Too many levels"), "{notes:?}");
}

#[tokio::test]
async fn trial_10_a_further_folder_that_was_replaced_refuses_the_whole_step() {
    let yard = two_folders().await;
    fs::rename(yard.beside("other"), yard.beside("away")).expect("moved");
    fs::create_dir(yard.beside("other")).expect("made");
    let (turns, a) = (yard.turns().await, yard.read("a"));
    let refused = yard.apply(yard.rewind("t2").await, FileOptions::default()).await.expect_err("refused");
    assert_eq!((refused.code, yard.turns().await, yard.read("a")), ("other_folder", turns, a));
    fs::remove_dir(yard.beside("other")).expect("removed");
    fs::rename(yard.beside("away"), yard.beside("other")).expect("moved back");
    yard.back("t2").await;
    assert_eq!((yard.read("a"), yard.read_beside("other/b")), (Some("1\n".into()), Some("1\n".into())));
}

#[tokio::test]
async fn named_files_of_another_folder_are_named_from_the_top() {
    let yard = two_folders().await;
    yard.engine.checkpoint(yard.id, "here".into()).await.expect("kept");
    fs::write(yard.beside("other/b"), "mine\n").expect("written");
    yard.write("a", "mine\n");
    let name = |name: &str| yard.beside(name).to_str().expect("UTF-8").as_bytes().to_vec();
    let all = yard.engine.paths(yard.id, Vec::new()).await.expect("folders");
    let here = yard.engine.as_of(yard.id, Some("here")).await.expect("a checkpoint");
    let differ = yard.engine.differences(yard.id, all, here.clone(), None).await.expect("compared");
    let names: Vec<_> = differ
        .iter()
        .flat_map(|(folder, changes)| changes.iter().map(|it| (folder.clone(), it.path.to_string())))
        .collect();
    assert_eq!(names, [(None, "a".to_owned()), (Some(yard.beside("other")), "b".to_owned())]);
    for (to, a, b) in [
        (here, "mine\n", "2\n"),
        (yard.engine.as_of(yard.id, Some("t2")).await.expect("it"), "mine\n", "1\n"),
    ] {
        let paths = yard.engine.paths(yard.id, vec![name("other/b")]).await.expect("a path");
        let options = FileOptions {
            scope: Scope::Files,
            restore: Some(Restore { paths, to }),
            ..FileOptions::default()
        };
        yard.apply(Action::Files(Reason::Files), options).await.expect("put back");
        assert_eq!((yard.read("a").as_deref(), yard.read_beside("other/b").as_deref()), (Some(a), Some(b)));
    }
    let refused = yard.engine.paths(yard.id, vec![name("third/b")]).await.expect_err("refused");
    assert_eq!(refused.code, "bad_path");
}

#[tokio::test]
async fn a_job_that_outlives_its_call_is_known_in_all_folders() {
    let yard = two_folders().await;
    yard.run("(while [ -e a ] && [ ! -e stop ]; do sleep 0.01; done; echo late > ../other/late) > /dev/null 2>&1 &")
        .await;
    let refused = yard.refused("t3", FileOptions::default()).await;
    assert_eq!(refused.code, "still_running");
    yard.write("stop", "");
    while !yard.engine.kept().open_calls().await.expect("calls").is_empty() {
        yard.engine.files_status(yard.id).await.expect("looked at");
        tokio::task::yield_now().await;
    }
    assert!(yard.beside("other/late").exists());
    let late = format!("{} Kept", yard.beside("other/late").display());
    assert!(yard.verdicts("t3").await.contains(&late), "{:?}", yard.verdicts("t3").await);
}

#[tokio::test]
async fn a_folder_in_a_folder_is_captured_once() {
    let yard = Yard::with(&[("in/a", "0\n")]).await;
    let yard = yard.further(&["work/in", "work", ".", "nowhere"]).await;
    yard.run("echo 1 > in/a").await;
    let workspaces = yard.engine.kept().workspaces().await.expect("workspaces");
    assert_eq!(workspaces.len(), 1);
    yard.back("t1").await;
    assert_eq!(yard.read("in/a").as_deref(), Some("0\n"));
}

#[tokio::test]
async fn two_conversations_in_two_folders_do_not_wait_for_each_other_for_ever() {
    let yard = two_folders().await;
    let folder = yard.beside("other").to_str().expect("UTF-8").to_owned();
    let made = yard.engine.create(None, Some(folder), yard.engine.by(None)).await.expect("created");
    // The further folder of one is the other's own.
    fs::write(
        yard.dir.path().join("roots"),
        format!("{}\n{}\n", yard.beside("other").display(), yard.beside("work").display()),
    )
    .expect("written");
    let one = yard.restarted().await;
    let two = Yard { engine: Arc::clone(&one.engine), id: made.conversation, dir: Arc::clone(&one.dir) };
    for round in 0..3 {
        let (mine, theirs) = (format!("echo {round} > a"), format!("echo {round} > ../work/c"));
        let both = async { tokio::join!(one.run(&mine), two.run(&theirs)) };
        tokio::time::timeout(std::time::Duration::from_secs(60), both).await.expect("both end");
    }
    assert_eq!(one.read("c").as_deref(), Some("2\n"));
}

#[tokio::test]
async fn erased_content_is_erased_in_all_folders() {
    let yard = Yard::with(&[("a", "0\n")]).await;
    fs::create_dir(yard.beside("other")).expect("made");
    let yard = yard.further(&["other"]).await;
    yard.run("echo hunter2 > a; echo hunter2 too > ../other/b").await;
    yard.run("echo 2 > a; echo 2 > ../other/b").await;
    let text = Some("hunter2".to_owned());
    let action = Action::Erase { entries: Vec::new(), matching: text, objects: Vec::new() };
    let plan = yard.engine.plan_erase(yard.id, action.clone()).await.expect("planned");
    assert_eq!((plan.rows.paths.len(), plan.objects.gone), (2, 3), "both files, and what was before");
    let apply = Apply { action, seen: SeenState::Anything, by: yard.engine.by(None) };
    let (_, erased, _) = yard.engine.erase(yard.id, apply).await.expect("erased");
    assert_eq!((erased.gone, erased.shared, erased.current), (3, 0, 1));
    assert!(yard.engine.kept().claims().await.expect("claims").is_empty());
    let checked = yard.engine.doctor(retake_core::CheckMode::Look).await.expect("checked");
    assert!(checked.problems.is_empty(), "{:?}", checked.problems);
}

/// A step of a conversation without other authors.
#[derive(Clone, Debug)]
enum Step {
    /// A turn that writes these numbers into these files, in either folder.
    Turn(Vec<(u8, u8)>),
    /// A rewind to before one of the existing turns.
    Rewind(prop::sample::Index),
    Undo,
    Redo,
    /// A restart of the program.
    Restart,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let write = prop::collection::vec((0..4_u8, 0..3_u8), 1..4);
    let step = prop_oneof![
        4 => write.prop_map(Step::Turn),
        2 => any::<prop::sample::Index>().prop_map(Step::Rewind),
        2 => Just(Step::Undo),
        2 => Just(Step::Redo),
        1 => Just(Step::Restart),
    ];
    prop::collection::vec(step, 1..8)
}

/// Does the steps; at every tip both folders equal their earlier state at that tip.
async fn run(steps: Vec<Step>) {
    let yard = Yard::with(&[("f0", "0\n"), ("f1", "0\n")]).await;
    fs::create_dir(yard.beside("other")).expect("made");
    let mut yard = yard.further(&["other"]).await;
    let mut known = HashMap::new();
    let mut told = Vec::new();
    for step in steps {
        told.push(step.clone());
        match step {
            Step::Turn(writes) => {
                let file =
                    |file: &u8| if *file < 2 { format!("f{file}") } else { format!("../other/f{file}") };
                let line = |(at, number): &(u8, u8)| match number {
                    0 => format!("rm -f {}", file(at)),
                    number => format!("echo {number} > {}", file(at)),
                };
                yard.run(&writes.iter().map(line).collect::<Vec<_>>().join("; ")).await;
            }
            Step::Rewind(at) => {
                let turns = yard.turns().await;
                if turns > 0 {
                    yard.back(&format!("t{}", at.index(turns as usize) + 1)).await;
                }
            }
            // There may be nothing to undo.
            Step::Undo => drop(yard.apply(Action::Undo(1), FileOptions::default()).await),
            Step::Redo => drop(yard.apply(Action::Redo(1), FileOptions::default()).await),
            Step::Restart => yard = yard.restarted().await,
        }
        let tip = yard.engine.kept().summary(yard.id).await.expect("it").tip;
        let there = yard.all_beside();
        let then = known.entry(tip).or_insert_with(|| there.clone());
        assert_eq!(*then, there, "{told:?}");
        assert!(yard.engine.kept().intents().await.expect("intents").is_empty(), "{told:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        // Programs are started and databases opened.
        cases: ProptestConfig::default().cases / 10,
        ..ProptestConfig::default()
    })]

    #[test]
    fn at_each_tip_all_folders_are_what_they_were_there(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(run(steps));
    }
}
