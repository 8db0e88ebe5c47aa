//! The steps themselves: both halves, one half, conflicts, stale plans.

use retake_core::{Action, Choice, Reason, Verdict};
use retake_engine::{EngineError, FileOptions, Scope};

use super::{Yard, choose, scope};

#[tokio::test]
async fn a_rewind_takes_files_along_and_undo_brings_both_back() {
    let yard = Yard::with(&[("a", "one\n"), ("gone", "dear\n"), ("old", "same\n")]).await;
    yard.run("echo two > a; echo new > made; rm gone; mv old new; mkdir -p deep/er").await;
    yard.run("echo three > a").await;
    let after = ["a", "deep", "made", "new"];
    assert_eq!(yard.names(), after);
    let plan = yard.plan(yard.rewind("t1").await, FileOptions::default()).await;
    let paths = super::own(plan).paths.into_iter();
    let shown: Vec<_> = paths.map(|path| (path.path.to_string(), path.verdict)).collect();
    let expected = [
        ("a", Verdict::Revert),
        ("deep", Verdict::Delete),
        ("deep/er", Verdict::Delete),
        ("gone", Verdict::Recreate),
        ("made", Verdict::Delete),
        ("new", Verdict::Delete),
        ("old", Verdict::Recreate),
    ];
    assert_eq!(shown, expected.map(|(path, verdict)| (path.to_owned(), verdict)));
    assert_eq!(
        (yard.names(), yard.turns().await),
        (after.map(str::to_owned).to_vec(), 2),
        "a plan changes nothing"
    );
    yard.back("t1").await;
    assert_eq!((yard.names(), yard.turns().await), (["a", "gone", "old"].map(str::to_owned).to_vec(), 0));
    assert_eq!((yard.read("a"), yard.read("gone")), (Some("one\n".into()), Some("dear\n".into())));
    yard.does(Action::Undo(1)).await;
    assert_eq!((yard.names(), yard.turns().await), (after.map(str::to_owned).to_vec(), 2));
    assert_eq!(yard.read("a").as_deref(), Some("three\n"));
    yard.does(Action::Redo(1)).await;
    assert_eq!(yard.read("a").as_deref(), Some("one\n"));
    yard.does(Action::Undo(1)).await;
    // And turn by turn, like an editor.
    yard.does(Action::Undo(1)).await;
    assert_eq!((yard.read("a").as_deref(), yard.turns().await), (Some("two\n"), 1));
    yard.does(Action::Undo(1)).await;
    assert_eq!((yard.read("a").as_deref(), yard.turns().await), (Some("one\n"), 0));
    yard.does(Action::Redo(2)).await;
}

#[tokio::test]
async fn changes_by_others_stay() {
    let lines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    let yard = Yard::with(&[("both", lines), ("mine", "mine\n")]).await;
    yard.run("sed -i s/2/two/ both").await;
    yard.write("mine", "mine, changed\n");
    yard.write("both", &yard.read("both").expect("it").replace('8', "eight"));
    let plan = super::own(yard.plan(yard.rewind("t1").await, FileOptions::default()).await);
    assert_eq!(plan.paths.len(), 1, "{plan:?}");
    assert_eq!(plan.paths[0].verdict, Verdict::Merge);
    yard.back("t1").await;
    assert_eq!(yard.read("both"), Some(lines.replace('8', "eight")));
    assert_eq!(yard.read("mine").as_deref(), Some("mine, changed\n"));
    yard.does(Action::Undo(1)).await;
    assert_eq!(yard.read("both"), Some(lines.replace('8', "eight").replace('2', "two")));
}

#[tokio::test]
async fn rewind_case_17_the_same_line_is_a_conflict_and_nothing_changes() {
    for (choice, expected) in [
        (None, None),
        (Some(Choice::Checkpoint), Some("one\n")),
        (Some(Choice::Disk), Some("mine\n")),
        (Some(Choice::Yours), Some("mine\n")),
        (Some(Choice::Skip), Some("mine\n")),
    ] {
        let yard = Yard::with(&[("a", "one\n"), ("b", "one\n")]).await;
        yard.run("echo two > a; echo two > b").await;
        yard.write("a", "mine\n");
        let options = choice.map_or_else(FileOptions::default, |choice| choose("a", choice));
        let done = yard.apply(yard.rewind("t1").await, options).await;
        match expected {
            None => {
                assert_eq!(done.expect_err("refused").code, "conflict");
                assert_eq!((yard.read("b").as_deref(), yard.turns().await), (Some("two\n"), 1));
            }
            Some(text) => {
                done.expect("done");
                assert_eq!(
                    (yard.read("a").as_deref(), yard.read("b").as_deref()),
                    (Some(text), Some("one\n"))
                );
                assert_eq!(yard.turns().await, 0);
                yard.does(Action::Undo(1)).await;
                assert_eq!(yard.read("b").as_deref(), Some("two\n"));
            }
        }
    }
}

#[tokio::test]
async fn one_half_alone_and_the_other_later() {
    let yard = Yard::with(&[("a", "one\n")]).await;
    yard.run("echo two > a").await;
    yard.say("and now").await;
    yard.apply(yard.rewind("t1").await, scope(Scope::Files)).await.expect("done");
    assert_eq!((yard.read("a").as_deref(), yard.turns().await), (Some("one\n"), 2));
    yard.does(Action::Undo(1)).await;
    assert_eq!(yard.read("a").as_deref(), Some("two\n"));
    yard.apply(yard.rewind("t1").await, scope(Scope::Conversation)).await.expect("done");
    assert_eq!((yard.read("a").as_deref(), yard.turns().await), (Some("two\n"), 0));
    yard.say("something else").await;
    yard.back("t1").await;
    assert_eq!(yard.read("a").as_deref(), Some("two\n"), "what was kept is the person's");
    let nothing = yard.apply(Action::Files(Reason::Files), scope(Scope::Files)).await;
    assert_eq!(nothing.expect_err("so already").code, "unchanged");
}

#[tokio::test]
async fn a_plan_that_is_not_the_one_that_was_seen_is_refused() {
    let yard = Yard::with(&[("a", "one\n")]).await;
    yard.run("echo two > a").await;
    let seen = yard.plan(yard.rewind("t1").await, FileOptions::default()).await.digest;
    yard.write("a", "two\nmore\n");
    let options = FileOptions { seen: Some(seen), ..FileOptions::default() };
    let refused: EngineError = yard.apply(yard.rewind("t1").await, options).await.expect_err("stale");
    assert_eq!((refused.code, yard.read("a").as_deref()), ("stale_plan", Some("two\nmore\n")));
}
