//! The targets of a rewind, and its scope (spec `rewind.md`, cases 31 to 37, 44).

use retake_core::{Action, Apply, Choice, Reason, SeenState};
use retake_engine::{FileOptions, Scope};

use super::{Yard, a, choose, scope, three};

#[tokio::test]
async fn rewind_case_31_after_one_and_two_compactions() {
    let yard = three().await;
    let id = async |name| yard.engine.entry(yard.id, name).await.expect("an entry");
    for (from, to, text) in [("t1", "t1", "first"), ("t1", "t2", "both")] {
        let (verb, summary) = (Reason::Fold, text.to_owned());
        let (from, to) = (id(from).await, id(to).await);
        yard.does(Action::Fold { verb, from, to, summary, covers: None }).await;
    }
    yard.back("t2").await;
    assert_eq!((a(&yard).as_str(), yard.turns().await), ("1\n", 1));
    yard.undo().await;
    assert_eq!((a(&yard).as_str(), yard.turns().await), ("3\n", 3));
}

#[tokio::test]
async fn rewind_case_33_the_newest_the_oldest_and_a_middle_turn() {
    for (turn, expected, names) in
        [("t3", "2\n", &["a", "made1", "made2"][..]), ("t2", "1\n", &["a", "made1"]), ("t1", "0\n", &["a"])]
    {
        let yard = three().await;
        yard.back(turn).await;
        assert_eq!(
            (a(&yard).as_str(), yard.names()),
            (expected, names.iter().map(ToString::to_string).collect())
        );
    }
}

#[tokio::test]
async fn rewind_case_34_files_alone_twice() {
    let yard = three().await;
    for (turn, expected) in [("t3", "2\n"), ("t2", "1\n")] {
        yard.apply(yard.rewind(turn).await, scope(Scope::Files)).await.expect("done");
        assert_eq!((a(&yard).as_str(), yard.turns().await), (expected, 3));
    }
    yard.undo().await;
    assert_eq!(a(&yard), "2\n");
    yard.undo().await;
    assert_eq!(a(&yard), "3\n");
}

#[tokio::test]
async fn rewind_case_35_conversation_alone_leaves_the_files_for_good() {
    let yard = three().await;
    yard.apply(yard.rewind("t2").await, scope(Scope::Conversation)).await.expect("done");
    assert_eq!((a(&yard).as_str(), yard.turns().await), ("3\n", 1));
    yard.say("go on").await;
    yard.back("t2").await;
    assert_eq!(
        (a(&yard).as_str(), yard.turns().await),
        ("3\n", 1),
        "the files of what was cut are the person's"
    );
    yard.puts_back(&["a"], Some("0.3")).await;
    assert_eq!(a(&yard), "1\n", "a restore of files brings the earlier version back");
}

#[tokio::test]
async fn rewind_case_36_a_middle_turn_is_dropped_with_its_files() {
    let yard = Yard::with(&[("a", "1\n2\n3\n4\n5\n6\n7\n8\n9\n"), ("over", "old\n")]).await;
    yard.run("sed -i s/2/two/ a; echo first > over; echo x > made1").await;
    yard.run("sed -i s/8/eight/ a; echo second > over").await;
    let all = yard.engine.kept().deltas(yard.id).await.expect("deltas");
    let entries = vec![yard.engine.entry(yard.id, "t1").await.expect("a turn"), all[0].1];
    let drop = || Action::Mark { verb: Reason::Drop, entries: entries.clone(), range: true, seen: None };
    let refused = yard.apply(drop(), FileOptions::default()).await.expect_err("a conflict");
    assert_eq!((refused.code, yard.turns().await), ("conflict", 2));
    yard.apply(drop(), choose("over", Choice::Disk)).await.expect("done");
    assert_eq!(yard.read("a").as_deref(), Some("1\n2\n3\n4\n5\n6\n7\neight\n9\n"), "the later turn stays");
    assert_eq!((yard.read("over").as_deref(), yard.read("made1")), (Some("second\n"), None));
    assert_eq!(yard.turns().await, 1);
    // A dropped change does not return when a rewind passes the turn that wrote over it.
    let later = yard.engine.kept().deltas(yard.id).await.expect("deltas")[1].1;
    yard.does(Action::Rewind(later)).await;
    assert_eq!(yard.read("over").as_deref(), Some("old\n"));
    assert_eq!(yard.read("a").as_deref(), Some("1\n2\n3\n4\n5\n6\n7\n8\n9\n"));
}

/// A text of 20 numbered lines, some of them replaced.
fn text(lines: &[(usize, &str)]) -> String {
    let line = |number| match lines.iter().find(|(at, _)| *at == number) {
        Some((_, word)) => format!("{word}\n"),
        None => format!("{number}\n"),
    };
    (1..=20).map(line).collect()
}

#[tokio::test]
async fn rewind_case_37_one_file_of_several() {
    let yard = Yard::with(&[("a", "one\n"), ("b", "one\n")]).await;
    yard.run("echo two > a; echo two > b; echo x > made").await;
    yard.apply(yard.rewind("t1").await, choose("b", Choice::Skip)).await.expect("done");
    assert_eq!((yard.read("a").as_deref(), yard.read("b").as_deref()), (Some("one\n"), Some("two\n")));
    assert_eq!((yard.read("made"), yard.turns().await), (None, 0));
    // A skipped file needs a choice again.
    yard.say("go on").await;
    assert_eq!(yard.verdicts("t1").await, ["b Revert"]);
    yard.undo().await;
    yard.undo().await;
    assert_eq!((yard.read("a").as_deref(), yard.turns().await), (Some("two\n"), 1));
}

#[tokio::test]
async fn rewind_case_37_one_hunk_of_several() {
    let yard = Yard::with(&[("a", &text(&[]))]).await;
    yard.run("sed -i 's/^2$/two/; s/^10$/ten/; s/^19$/nineteen/' a").await;
    yard.write("a", &yard.read("a").expect("it").replace("15\n", "mine\n"));
    let now = yard.read("a");
    yard.apply(yard.rewind("t1").await, choose("a", Choice::Hunks(vec![2]))).await.expect("done");
    let left = text(&[(2, "two"), (15, "mine"), (19, "nineteen")]);
    assert_eq!((yard.read("a"), yard.turns().await), (Some(left.clone()), 0));
    yard.undo().await;
    assert_eq!((yard.read("a"), yard.turns().await), (now.clone(), 1), "all of it is back");
    yard.redo().await;
    assert_eq!((yard.read("a"), yard.turns().await), (Some(left.clone()), 0));

    // The rest still belongs to the call: the next rewind reverts it, hunk by hunk or at once, and changes by others
    // stay.
    yard.say("go on").await;
    assert_eq!(yard.verdicts("t1").await, ["a Revert"]);
    let options = FileOptions { scope: Scope::Files, ..choose("a", Choice::Hunks(vec![1])) };
    yard.apply(yard.rewind("t1").await, options).await.expect("done");
    assert_eq!(yard.read("a"), Some(text(&[(15, "mine"), (19, "nineteen")])));
    yard.back("t1").await;
    assert_eq!(yard.read("a"), Some(text(&[(15, "mine")])));
    for expected in [text(&[(15, "mine"), (19, "nineteen")]), left] {
        yard.undo().await;
        assert_eq!(yard.read("a"), Some(expected));
    }
}

#[tokio::test]
async fn rewind_case_37_of_several_calls_each_keeps_what_is_left_of_it() {
    let yard = Yard::with(&[("a", &text(&[]))]).await;
    yard.run("sed -i 's/^2$/two/; s/^10$/ten/' a").await;
    yard.run("sed -i 's/^19$/nineteen/' a").await;
    let options = FileOptions { scope: Scope::Files, ..choose("a", Choice::Hunks(vec![1])) };
    yard.apply(yard.rewind("t1").await, options).await.expect("done");
    assert_eq!(yard.read("a"), Some(text(&[(10, "ten"), (19, "nineteen")])));
    // The rest of both is decided later: the next step with files includes it.
    assert_eq!(yard.verdicts("t2").await, ["a Revert"]);
    yard.back("t2").await;
    assert_eq!((yard.read("a"), yard.turns().await), (Some(text(&[])), 1));
    yard.undo().await;
    assert_eq!(yard.read("a"), Some(text(&[(10, "ten"), (19, "nineteen")])));
}

#[tokio::test]
async fn rewind_case_37_hunks_settle_a_conflict_and_take_nothing_from_others() {
    let yard = Yard::with(&[("a", &text(&[]))]).await;
    yard.run("sed -i 's/^2$/two/; s/^19$/nineteen/' a").await;
    yard.write("a", &yard.read("a").expect("it").replace("two\n", "mine\n").replace("10\n", "mine, too\n"));
    assert_eq!(yard.verdicts("t1").await, ["a Conflict(Bytes)"]);
    // Compared with the content then: the place that both wrote, the other author's, the call's.
    yard.apply(yard.rewind("t1").await, choose("a", Choice::Hunks(vec![3]))).await.expect("done");
    assert_eq!(yard.read("a"), Some(text(&[(2, "mine"), (10, "mine, too")])));
    yard.undo().await;
    yard.apply(yard.rewind("t1").await, choose("a", Choice::Hunks(vec![1]))).await.expect("done");
    assert_eq!(yard.read("a"), Some(text(&[(10, "mine, too"), (19, "nineteen")])));
    yard.say("go on").await;
    yard.back("t1").await;
    assert_eq!(yard.read("a"), Some(text(&[(10, "mine, too")])), "the rest goes without a question");
}

#[tokio::test]
async fn rewind_case_37_unknown_hunks_are_refused_and_nothing_changes() {
    let yard = Yard::with(&[("a", &text(&[])), ("bytes", "\0one"), ("gone", "x\n")]).await;
    yard.run("sed -i 's/^2$/two/; s/^19$/nineteen/' a; printf '\\0two' > bytes; rm gone; echo x > made")
        .await;
    let before = yard.all();
    for (path, why) in [
        ("a", "it has 2 hunks"),
        ("bytes", "it is not text, or it is too large, so it has no hunks"),
        ("gone", "it comes back as a whole"),
        ("made", "it goes as a whole"),
        ("other", "nothing would be done to it"),
    ] {
        let options = choose(path, Choice::Hunks(vec![9]));
        let refused = yard.apply(yard.rewind("t1").await, options).await.expect_err("there is no ninth hunk");
        assert_eq!(refused.to_string(), format!("can't choose hunks of {path}: {why}"));
        assert_eq!((refused.code, yard.turns().await, yard.all()), ("no_such_hunks", 1, before.clone()));
    }
    // Also if no call has changed anything.
    let yard = Yard::with(&[("a", "one\n")]).await;
    yard.say("hello").await;
    let refused = yard.apply(yard.rewind("t1").await, choose("a", Choice::Hunks(vec![1]))).await;
    assert_eq!((refused.expect_err("nothing").code, yard.turns().await), ("no_such_hunks", 1));
}

#[tokio::test]
async fn rewind_case_44_the_same_request_is_done_once() {
    let yard = three().await;
    let action = yard.rewind("t2").await;
    let by = yard.engine.by(Some("r1".parse().expect("an id")));
    let apply = || Apply { action: action.clone(), seen: SeenState::Anything, by: by.clone() };
    let mut receipts = Vec::new();
    for _ in 0..2 {
        let done = yard.engine.apply_both(yard.id, apply(), FileOptions::default()).await.expect("done");
        receipts.push(done.receipt);
    }
    assert_eq!((receipts[0].clone(), a(&yard).as_str()), (receipts[1].clone(), "1\n"));
    assert!(receipts[0].composer.is_some(), "the words return to who asked");
}

#[tokio::test]
async fn dropped_turn_is_shown_again_with_its_files() {
    let yard = three().await;
    let after = yard.all();
    let deltas = yard.engine.kept().deltas(yard.id).await.expect("deltas");
    let entries = vec![yard.engine.entry(yard.id, "t3").await.expect("a turn"), deltas[2].1];
    let mark = |verb| Action::Mark { verb, entries: entries.clone(), range: true, seen: None };
    yard.does(mark(Reason::Drop)).await;
    assert_eq!((a(&yard).as_str(), yard.turns().await), ("2\n", 2));
    let dropped = yard.all();
    yard.does(mark(Reason::Show)).await;
    assert_eq!((yard.all(), yard.turns().await), (after.clone(), 3));
    yard.undo().await;
    assert_eq!((yard.all(), yard.turns().await), (dropped.clone(), 2), "both go again");
    yard.write("a", "mine\n");
    let refused = yard.apply(mark(Reason::Show), FileOptions::default()).await.expect_err("a conflict");
    assert_eq!((refused.code, yard.turns().await), ("conflict", 2));
    yard.apply(mark(Reason::Show), scope(Scope::Conversation)).await.expect("messages alone");
    assert_eq!((a(&yard).as_str(), yard.turns().await), ("mine\n", 3));
}

#[tokio::test]
async fn hidden_message_is_shown_without_a_capture() {
    let yard = three().await;
    let turn = vec![yard.engine.entry(yard.id, "t1").await.expect("a turn")];
    let mark = |verb| Action::Mark { verb, entries: turn.clone(), range: false, seen: None };
    yard.apply(yard.rewind("t3").await, scope(Scope::Conversation)).await.expect("files are a turn ahead");
    let ahead = yard.all();
    // Hiding never involves files.
    let hide = Apply { action: mark(Reason::Hide), seen: SeenState::Anything, by: yard.engine.by(None) };
    yard.engine.apply(yard.id, hide).await.expect("hidden");
    let (there, away) = (yard.dir.path().join("work"), yard.dir.path().join("away"));
    std::fs::rename(&there, &away).expect("moved");
    yard.does(mark(Reason::Show)).await;
    std::fs::rename(&away, &there).expect("moved back");
    assert_eq!((yard.all(), yard.turns().await), (ahead, 2));
}

#[tokio::test]
async fn rewind_case_57_a_link_that_is_made_and_written_in_one_call_goes_back_under_both_names() {
    let yard = Yard::with(&[("d/x", "old\n"), ("e/z", "other\n")]).await;
    // From the second call on the folder is watched.
    yard.run("echo one > e/z").await;
    let then = yard.all();
    yard.run("ln d/x e/y; echo edit >> e/y").await;
    assert_eq!(yard.verdicts("t2").await, ["d/x Revert", "e/y Delete"]);
    yard.back("t2").await;
    assert_eq!(yard.all(), then);
}
