//! Named files, restored to before a turn, to a head or to a checkpoint, as one step that undo reverts.

use retake_core::{Action, Apply, Choice, Chosen, Mark, Reason, Role, SeenState};
use retake_engine::{AppliedFiles, EngineError, FileOptions, Note, Restore, Result, Scope};

use super::{Yard, a, choose, three};

const LINES: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
pub(super) const FILES: Action = Action::Files(Reason::Files);

impl Yard {
    pub(super) async fn options(&self, paths: &[&str], to: Option<&str>) -> Result<FileOptions> {
        let paths = paths.iter().map(|path| path.as_bytes().to_vec()).collect();
        let paths = self.engine.paths(self.id, paths).await?;
        let to = self.engine.as_of(self.id, to).await?;
        Ok(FileOptions {
            scope: Scope::Files,
            restore: Some(Restore { paths, to }),
            ..FileOptions::default()
        })
    }

    pub(super) async fn puts_back(&self, paths: &[&str], to: Option<&str>) -> AppliedFiles {
        self.apply(FILES, self.options(paths, to).await.expect("it is known")).await.expect("put back")
    }

    async fn refuses(&self, paths: &[&str], to: Option<&str>) -> EngineError {
        let before = self.all();
        let error = match self.options(paths, to).await {
            Ok(options) => self.apply(FILES, options).await.expect_err("refused"),
            Err(error) => error,
        };
        assert_eq!(self.all(), before, "nothing has changed");
        error
    }

    /// The verdict of a restore for each path, and whether it includes changes by others.
    async fn would(&self, paths: &[&str], to: Option<&str>) -> Vec<String> {
        let plan = self.plan(FILES, self.options(paths, to).await.expect("it is known")).await;
        let paths = super::own(plan).paths.into_iter();
        let theirs = |theirs| if theirs { ", theirs" } else { "" };
        paths.map(|path| format!("{} {:?}{}", path.path, path.verdict, theirs(path.theirs))).collect()
    }

    async fn checkpoint(&self, name: &str) {
        self.engine.checkpoint(self.id, name.into()).await.expect("kept");
    }
}

#[tokio::test]
async fn one_file_as_it_was_before_a_turn_and_the_others_stay() {
    let yard = three().await;
    let after = yard.all();
    yard.puts_back(&["a"], Some("t2")).await;
    assert_eq!((a(&yard).as_str(), yard.read("made3").is_some(), yard.turns().await), ("1\n", true, 3));
    yard.undo().await;
    assert_eq!((yard.all(), yard.turns().await), (after, 3));
    yard.redo().await;
    assert_eq!(a(&yard), "1\n");
    let yard = yard.restarted().await;
    yard.undo().await;
    assert_eq!(a(&yard), "3\n");
    yard.puts_back(&["a"], None).await;
    assert_eq!(a(&yard), "2\n", "without a moment it is the last turn's start");
    let head = yard.engine.kept().summary(yard.id).await.expect("it").head;
    yard.back("t1").await;
    yard.puts_back(&["made2", "./made3"], Some(&head.to_string())).await;
    assert_eq!(yard.names(), ["a", "made2", "made3"], "a head brings back what it had");
}

#[tokio::test]
async fn restored_content_stays_when_later_turns_are_rewound_and_goes_with_earlier_ones() {
    for (turn, expected) in [("t4", "1\n"), ("t3", "1\n"), ("t2", "1\n"), ("t1", "0\n")] {
        let yard = three().await;
        yard.puts_back(&["a"], Some("t2")).await;
        yard.run("echo later > b").await;
        yard.back(turn).await;
        assert_eq!((a(&yard).as_str(), yard.read("b")), (expected, None), "{turn}");
        yard.undo().await;
        assert_eq!((a(&yard).as_str(), yard.read("b").as_deref()), ("1\n", Some("later\n")), "{turn}");
        yard.undo().await;
        assert_eq!(a(&yard), "1\n", "the turn goes, and what was put back before it stays");
        yard.undo().await;
        assert_eq!(a(&yard), "3\n");
    }
}

#[tokio::test]
async fn others_work_is_merged_or_a_conflict_before_a_turn() {
    let yard = Yard::with(&[("a", LINES), ("b", "one\n")]).await;
    yard.run("sed -i s/2/two/ a; echo two > b").await;
    yard.write("a", &LINES.replace('2', "two").replace('8', "eight"));
    yard.write("b", "mine\n");
    assert_eq!(yard.would(&["a", "b"], None).await, ["a Merge", "b Conflict(Bytes)"]);
    assert_eq!(yard.refuses(&["."], None).await.code, "conflict");
    yard.puts_back(&["a"], None).await;
    assert_eq!(yard.read("a"), Some(LINES.replace('8', "eight")));
    let options = yard.options(&["b"], None).await.expect("known");
    let options = FileOptions { chosen: choose("b", Choice::Checkpoint).chosen, ..options };
    yard.apply(FILES, options).await.expect("chosen");
    assert_eq!(yard.read("b").as_deref(), Some("one\n"));
    yard.undo().await;
    assert_eq!(yard.read("b").as_deref(), Some("mine\n"), "what somebody else wrote comes back");
}

#[tokio::test]
async fn a_checkpoint_is_what_was_there_whoever_wrote_it() {
    let yard =
        Yard::with(&[("d/mine", "1\n"), ("d/gone", "dear\n"), ("d/same", "same\n"), ("a", "0\n")]).await;
    yard.run("echo 1 > a; echo 1 > d/agent").await;
    yard.write("d/mine", "2\n");
    yard.checkpoint("here").await;
    yard.run("echo 2 > a; echo 2 > d/agent; echo 2 > d/made").await;
    yard.write("d/mine", "3\n");
    yard.write("d/new", "new\n");
    std::fs::remove_file(yard.path("d/gone")).expect("removed");
    let after = yard.all();
    let expected =
        ["d/agent Revert", "d/gone Recreate", "d/made Delete", "d/mine Revert, theirs", "d/new Foreign"];
    assert_eq!(yard.would(&["d"], Some("here")).await, expected);
    yard.puts_back(&["d"], Some("here")).await;
    let read = |name| yard.read(name);
    assert_eq!(
        [read("d/mine"), read("d/gone"), read("d/agent")].map(Option::unwrap),
        ["2\n", "dear\n", "1\n"]
    );
    assert_eq!((read("d/made"), read("d/new").as_deref(), a(&yard).as_str()), (None, Some("new\n"), "2\n"));
    yard.undo().await;
    assert_eq!(yard.all(), after, "also what somebody else wrote");
    // Named explicitly: the file itself, or exactly.
    yard.puts_back(&["d/new"], Some("here")).await;
    assert_eq!(yard.read("d/new"), None);
    yard.undo().await;
    let exactly = Chosen { others: Some(Choice::Checkpoint), ..Chosen::default() };
    let options =
        FileOptions { chosen: exactly, ..yard.options(&["."], Some("#2")).await.expect("by number") };
    yard.apply(FILES, options).await.expect("done");
    assert_eq!((yard.read("d/new"), a(&yard).as_str()), (None, "1\n"));
    assert!(yard.would(&["."], Some("here")).await.is_empty());
    yard.undo().await;
    assert_eq!(yard.all(), after);
}

#[tokio::test]
async fn going_back_after_a_checkpoint_was_put_back() {
    for (turn, expected) in [("t3", "1\n"), ("t2", "1\n"), ("t1", "0\n")] {
        let yard = Yard::with(&[("a", "0\n")]).await;
        yard.run("echo 1 > a").await;
        yard.checkpoint("here").await;
        yard.run("echo 2 > a").await;
        yard.run("echo 3 > a").await;
        yard.puts_back(&["a"], Some("here")).await;
        yard.back(turn).await;
        assert_eq!(a(&yard), expected, "{turn}");
        yard.undo().await;
        yard.undo().await;
        assert_eq!(a(&yard), "3\n", "{turn}");
    }
}

#[tokio::test]
async fn a_conversation_without_calls_puts_back_and_undoes() {
    let yard = Yard::with(&[("a", "one\n")]).await;
    yard.checkpoint("first").await;
    yard.write("a", "two\n");
    yard.puts_back(&["a"], Some("first")).await;
    assert_eq!(a(&yard), "one\n");
    yard.undo().await;
    assert_eq!(a(&yard), "two\n", "though no call has ever changed a file");
    yard.redo().await;
    assert_eq!(a(&yard), "one\n");
    yard.checkpoint("first").await;
    yard.write("a", "three\n");
    yard.puts_back(&["a"], Some("first")).await;
    assert_eq!(a(&yard), "one\n", "the last one of a name counts");
}

#[tokio::test]
async fn impossible_restore_is_refused_with_its_reason() {
    let yard = Yard::with(&[("a", "one\n"), (".gitignore", "skip/\n"), ("skip/x", "x\n")]).await;
    let none = yard.refuses(&["a"], None).await;
    assert_eq!(none.code, "no_turn");
    yard.checkpoint("here").await;
    yard.run("echo two > a").await;
    let other = Yard::with(&[]).await;
    other.checkpoint("elsewhere").await;
    for (path, to, code) in [
        ("nothing", None, "unknown_path"),
        ("nothing", Some("here"), "unknown_path"),
        ("../a", None, "bad_path"),
        ("/etc/passwd", None, "bad_path"),
        (".git/config", None, "bad_path"),
        ("skip/x", None, "not_covered"),
        ("skip/x", Some("here"), "not_covered"),
        (".gitignore", None, "unchanged"),
        (".gitignore", Some("here"), "unchanged"),
        ("a", Some("nowhere"), "unknown_point"),
        ("a", Some("#99"), "unknown_checkpoint"),
        ("a", Some("t7"), "unknown_point"),
        ("a", Some("9.9"), "unknown_head"),
    ] {
        let refused = yard.refuses(&[path], to).await;
        assert_eq!(refused.code, code, "{path} {to:?}: {refused}");
    }
    for (path, what) in [("../a", "leaves_root"), ("/etc/passwd", "outside"), (".git/config", "git")] {
        let fields = yard.refuses(&[path], None).await.fields;
        assert!(fields.contains(&("what", what.into())), "{path}: {fields:?}");
    }
    yard.checkpoint("t1").await;
    assert_eq!(yard.refuses(&["a"], Some("t1")).await.code, "ambiguous_point");
    // What became covered since is not known to have been absent.
    yard.write(".gitignore", "");
    assert_eq!(yard.would(&["."], Some("here")).await, [".gitignore Revert, theirs", "a Revert"]);
}

#[tokio::test]
async fn a_checkpoint_of_another_folder_is_reported_as_one() {
    let yard = three().await;
    let folder = yard.dir.path().join("other");
    std::fs::create_dir(&folder).expect("made");
    let folder = folder.to_str().expect("UTF-8").to_owned();
    let there =
        yard.engine.create(None, Some(folder), yard.engine.by(None)).await.expect("made").conversation;
    yard.engine.checkpoint(there, "theirs".into()).await.expect("kept");
    let refused = yard.refuses(&["a"], Some("theirs")).await;
    assert_eq!(refused.code, "foreign_checkpoint");
    assert!(refused.message.contains("/other"), "{refused}");
}

#[tokio::test]
async fn restore_of_collected_content_reports_that_it_is_gone() {
    let yard = Yard::with(&[("a", "one\n")]).await;
    yard.checkpoint("here").await;
    yard.write("a", "two\n");
    let Yard { engine: old, id, dir } = yard;
    drop(old);
    let db = rusqlite::Connection::open(dir.path().join("data/retake.db")).expect("a store");
    assert_eq!(db.execute("UPDATE capture SET manifest = zeroblob(32)", []), Ok(1));
    drop(db);
    let yard = Yard { engine: super::engine(&dir).await, id, dir };
    let refused = yard.refuses(&["a"], Some("here")).await;
    assert_eq!(refused.code, "not_kept");
}

#[tokio::test]
async fn the_same_request_is_done_once_and_a_stale_plan_is_refused() {
    let yard = three().await;
    let options = yard.options(&["a"], Some("t1")).await.expect("known");
    let by = yard.engine.by(Some("r1".parse().expect("an id")));
    let apply = || Apply { action: FILES, seen: SeenState::Anything, by: by.clone() };
    let first = yard.engine.apply_both(yard.id, apply(), options.clone()).await.expect("done");
    yard.write("a", "mine\n");
    let again = yard.engine.apply_both(yard.id, apply(), options.clone()).await.expect("done before");
    assert_eq!((first.receipt, a(&yard).as_str()), (again.receipt, "mine\n"));
    let other = yard.options(&["made1"], Some("t1")).await.expect("known");
    let reused = yard.engine.apply_both(yard.id, apply(), other.clone()).await.expect_err("another request");
    assert_eq!(reused.code, "request_reused");
    let digest = yard.plan(FILES, other.clone()).await.digest;
    yard.write("made1", "mine\n");
    let stale = yard.apply(FILES, FileOptions { seen: Some(digest), ..other }).await.expect_err("stale");
    assert_eq!((stale.code, yard.read("made1").as_deref()), ("stale_plan", Some("mine\n")));
}

impl Yard {
    /// The differences since a point in time, by name.
    async fn differs(&self, paths: &[&str], from: Option<&str>, to: Option<&str>) -> Vec<String> {
        let paths = paths.iter().map(|path| path.as_bytes().to_vec()).collect();
        let paths = self.engine.paths(self.id, paths).await.expect("paths");
        let from = self.engine.as_of(self.id, from).await.expect("a moment");
        let to = match to {
            Some(to) => Some(self.engine.as_of(self.id, Some(to)).await.expect("a moment")),
            None => None,
        };
        let changes = self.engine.differences(self.id, paths, from, to).await.expect("compared");
        let sign = |change: &retake_core::FileChange| match (&change.before, &change.after) {
            (None, _) => '+',
            (_, None) => '-',
            _ => '~',
        };
        let changes = changes.iter().flat_map(|(_, changes)| changes);
        changes.map(|change| format!("{}{}", sign(change), change.path)).collect()
    }
}

#[tokio::test]
async fn differences_since_a_turn_a_head_and_a_checkpoint() {
    let yard = three().await;
    yard.checkpoint("here").await;
    let head = yard.engine.kept().summary(yard.id).await.expect("it").head.to_string();
    assert_eq!(yard.differs(&["."], None, None).await, ["~a", "+made3"], "since the last turn");
    assert_eq!(yard.differs(&["."], Some("t2"), None).await, ["~a", "+made2", "+made3"]);
    assert_eq!(yard.differs(&["."], Some("t2"), Some("t3")).await, ["~a", "+made2"]);
    assert_eq!(yard.differs(&["made2", "made1"], Some("t2"), None).await, ["+made2"]);
    assert!(yard.differs(&["."], Some("here"), None).await.is_empty());
    yard.write("mine/deep/x", "mine\n");
    std::fs::remove_file(yard.path("made1")).expect("removed");
    assert_eq!(yard.differs(&["."], Some("here"), None).await, ["-made1", "+mine/deep/x"]);
    assert_eq!(yard.differs(&["mine"], Some("here"), None).await, ["+mine/deep/x"]);
    yard.back("t2").await;
    assert_eq!(yard.differs(&["."], Some(&head), None).await, ["~a", "-made2", "-made3"]);
    yard.write(".gitignore", "mine/\n");
    let covered = yard.differs(&["."], Some("here"), None).await;
    assert_eq!(covered, ["+.gitignore", "~a", "-made1", "-made2", "-made3"]);
    yard.write(".gitignore", "");
    assert!(yard.differs(&["a"], Some("here"), Some("here")).await.is_empty());
}

#[tokio::test]
async fn the_status_lists_authors_of_changes_and_abandoned_work() {
    let yard =
        Yard::with(&[("a", "one\n"), ("b", "one\n"), (".gitignore", "skip/\n"), ("skip/x", "x")]).await;
    yard.run("echo two > a; echo two > b; echo new > made").await;
    yard.run("echo three > a").await;
    yard.write("b", "mine\n");
    yard.write("theirs", "theirs\n");
    let status = yard.engine.files_status(yard.id).await.expect("looked at");
    let folder = &status.folders[0];
    let calls: Vec<_> =
        folder.calls.iter().map(|it| (it.change.path.to_string(), it.calls.len(), it.touched)).collect();
    let expected = [("a", 2, false), ("b", 1, true), ("made", 1, false)];
    assert_eq!(calls, expected.map(|(path, calls, touched)| (path.to_owned(), calls, touched)));
    let others: Vec<_> = folder.others.iter().map(|change| change.path.to_string()).collect();
    assert_eq!(others, ["theirs"]);
    assert_eq!(folder.uncovered.iter().map(|it| it.path.to_string()).collect::<Vec<_>>(), ["skip"]);
    assert_eq!((status.ahead, status.behind), (0, 0));
    assert!(status.running.is_empty(), "{:?}", status.running);
    yard.apply(yard.rewind("t2").await, super::scope(Scope::Conversation)).await.expect("back");
    let status = yard.engine.files_status(yard.id).await.expect("looked at");
    assert_eq!((status.ahead, status.behind), (0, 0), "what was kept is the person's");
    yard.undo().await;
    yard.puts_back(&["a"], Some("t1")).await;
    let status = yard.engine.files_status(yard.id).await.expect("looked at");
    assert!(status.folders[0].calls.iter().all(|it| it.change.path.as_bytes() != b"a"), "it is as it was");
    yard.run("(while [ -e a ] && [ ! -e stop ]; do sleep 0.01; done) > /dev/null 2>&1 &").await;
    let running = yard.engine.files_status(yard.id).await.expect("looked at").running;
    assert!(running.len() == 1 && running[0].what.contains("sleep"), "{running:?}");
    yard.write("stop", "");
}

#[tokio::test]
async fn a_restore_says_which_marks_differ_and_stay_and_how_they_are_taken_back() {
    let yard = Yard::with(&[("a", "0\n")]).await;
    let mut said = Vec::new();
    for text in ["one", "two", "three"] {
        said.push(yard.said_by(Role::User, text).await);
    }
    let head = || async { yard.engine.kept().summary(yard.id).await.expect("it").head };
    let mark = |verb, at: &[usize]| {
        let entries = at.iter().map(|at| said[*at]).collect();
        yard.does(Action::Mark { verb, entries, range: false, seen: None })
    };
    // Plan and receipt are the same; a step in between makes the restore a step.
    let yard = &yard;
    let told = |to| async move {
        let last = yard.said_by(Role::User, "last").await;
        let notes = yard.plan(Action::Restore(to), FileOptions::default()).await.notes;
        let done = yard.apply(Action::Restore(to), FileOptions::default()).await.expect("restored");
        assert_eq!(done.notes, notes, "{last}");
        notes
    };
    let first = head().await;
    assert_eq!(told(first).await, [], "no mark differs");
    mark(Reason::Hide, &[0]).await;
    mark(Reason::Drop, &[1]).await;
    mark(Reason::Exclude, &[2]).await;
    let marked = head().await;
    let expected = Note::MarksStay {
        head: first,
        marks: vec![(Mark::Excluded, 1), (Mark::Hidden, 1), (Mark::Dropped, 1)],
        back: vec![Reason::Include, Reason::Show],
    };
    assert_eq!(told(first).await, [expected]);
    mark(Reason::Show, &[0, 1]).await;
    let expected = Note::MarksStay {
        head: marked,
        marks: vec![(Mark::Normal, 2)],
        back: vec![Reason::Hide, Reason::Drop],
    };
    assert_eq!(told(marked).await, [expected]);
}
