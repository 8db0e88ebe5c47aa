//! Steps on one half are final: what they keep belongs to the person, and what they take out stays out. Undo, redo and restore
//! return exactly to what was recorded (spec `rewind.md`, *Adoption*, cases 49 to 53). The table of `adoption_rows` has the
//! effect of each later step.

use retake_core::{Action, BlockingAuthor, Choice, Chosen, EntryId, Reason, Verdict};
use retake_engine::{FileOptions, Scope};

use super::{Yard, choose, scope};

/// One turn, which creates `p` and changes the second line of `a`.
async fn begun() -> Yard {
    let yard = Yard::with(&[("a", LINES)]).await;
    yard.run("echo hi > p; sed -i s/2/two/ a").await;
    yard
}

const LINES: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

impl Yard {
    async fn one_half(&self, turn: &str, half: Scope) {
        self.apply(self.rewind(turn).await, scope(half)).await.expect("done");
    }

    /// The result of the first call, which is at the end of the first turn.
    async fn first_result(&self) -> EntryId {
        self.engine.kept().deltas(self.id).await.expect("deltas")[0].1
    }

    /// Whether the files of the turn that created `p` are still on the disk.
    fn has_files(&self) -> bool {
        let second = self.read("a").is_some_and(|text| text.contains("two"));
        assert_eq!(self.read("p").is_some(), second, "the files of a turn go together");
        second
    }

    async fn said(&self, action: Action, options: FileOptions) -> String {
        let plan = self.plan(action, options).await;
        plan.notes.iter().map(|note| format!("{note:?}")).collect::<Vec<_>>().join("\n")
    }

    async fn drop_first(&self, verb: Reason) -> Action {
        let turn = self.engine.kept().turn_entries(self.id, 1).await.expect("the turn");
        let (opener, result) = (turn[0].0, self.first_result().await);
        Action::Mark { verb, entries: vec![opener, result], range: true, seen: None }
    }
}

#[tokio::test]
async fn rewind_case_49_trial_02_what_the_conversation_alone_left_is_the_persons_own() {
    let yard = begun().await;
    let said = yard.said(yard.rewind("t1").await, scope(Scope::Conversation)).await;
    assert!(said.contains("Adopted { files: 2 }"), "{said}");
    yard.one_half("t1", Scope::Conversation).await;
    yard.run("echo a > made").await;
    yard.run("echo b >> made").await;
    assert_eq!(yard.verdicts("t2").await, ["made Revert"], "later plans do not mention it");
    yard.back("t2").await;
    assert_eq!((yard.has_files(), yard.read("made").as_deref()), (true, Some("a\n")));
    yard.back("t1").await;
    assert_eq!((yard.has_files(), yard.read("made")), (true, None));
    let status = yard.engine.files_status(yard.id).await.expect("looked at");
    assert_eq!((status.ahead, status.behind), (0, 0), "adopted changes are not ahead");
}

#[tokio::test]
async fn rewind_case_50_other_turns_merge_with_what_was_adopted_and_the_same_line_is_the_persons() {
    let yard = begun().await;
    yard.one_half("t1", Scope::Conversation).await;
    yard.write("p", "hi\nmine\n");
    yard.run("sed -i s/8/eight/ a").await;
    assert_eq!(yard.verdicts("t1").await, ["a Revert"]);
    yard.back("t1").await;
    assert_eq!(yard.read("a"), Some(LINES.replace('2', "two")));
    assert_eq!(yard.read("p").as_deref(), Some("hi\nmine\n"));

    let yard = Yard::with(&[("a", LINES)]).await;
    yard.run("sed -i s/2/two/ a").await;
    yard.run("sed -i s/two/deux/ a").await;
    let deltas = yard.engine.kept().deltas(yard.id).await.expect("deltas");
    let entries = vec![yard.engine.entry(yard.id, "t2").await.expect("a turn"), deltas[1].1];
    let drop = Action::Mark { verb: Reason::Drop, entries, range: true, seen: None };
    yard.apply(drop, scope(Scope::Conversation)).await.expect("done");
    let plan = super::own(yard.plan(yard.rewind("t1").await, FileOptions::default()).await);
    assert!(matches!(plan.paths[0].verdict, Verdict::Conflict(_)), "{plan:?}");
    assert_eq!(plan.paths[0].against, Some(BlockingAuthor::Hand));
}

#[tokio::test]
async fn rewind_case_51_undo_returns_to_exactly_what_was_recorded() {
    let yard = begun().await;
    yard.one_half("t1", Scope::Conversation).await;
    yard.undo().await;
    assert_eq!((yard.has_files(), yard.turns().await), (true, 1));
    yard.back("t1").await;
    assert!(!yard.has_files(), "the files belong to their turn again");

    let yard = begun().await;
    yard.one_half("t1", Scope::Files).await;
    yard.one_half("t1", Scope::Conversation).await;
    yard.undo().await;
    assert_eq!((yard.has_files(), yard.turns().await), (false, 1), "as after the first step");
    yard.undo().await;
    assert!(yard.has_files());
}

#[tokio::test]
async fn rewind_case_52_a_checkout_returns_what_was_adopted_to_its_turn() {
    let yard = begun().await;
    let tip = yard.first_result().await;
    yard.one_half("t1", Scope::Conversation).await;
    yard.say("something else").await;
    let checkout = Action::Checkout(Some(tip));
    let said = yard.said(checkout.clone(), FileOptions::default()).await;
    assert!(said.contains("Returned { files: 2 }"), "{said}");
    yard.does(checkout).await;
    assert!(yard.has_files());
    yard.back("t1").await;
    assert!(!yard.has_files());
}

#[tokio::test]
async fn rewind_case_53_what_files_alone_took_out_does_not_return_by_itself() {
    let yard = begun().await;
    yard.one_half("t1", Scope::Files).await;
    yard.run("echo a > made").await;
    yard.run("echo b >> made").await;
    assert_eq!(yard.verdicts("t3").await, ["made Revert"]);
    yard.back("t3").await;
    assert!(!yard.has_files());
    for expected in [false, false, false, true] {
        yard.undo().await;
        assert_eq!(yard.has_files(), expected);
    }
}

#[tokio::test]
async fn trial_02_a_turn_dropped_from_the_conversation_alone_stays_the_persons_when_it_is_shown() {
    let yard = begun().await;
    yard.say("go on").await;
    yard.apply(yard.drop_first(Reason::Drop).await, scope(Scope::Conversation)).await.expect("done");
    assert!(yard.has_files());
    yard.does(yard.drop_first(Reason::Show).await).await;
    yard.back("t1").await;
    assert!(yard.has_files());
}

#[tokio::test]
async fn trial_02_a_path_that_was_kept_is_the_persons_and_one_that_was_skipped_is_asked_about_again() {
    for (choice, asked_again) in [(Choice::Disk, false), (Choice::Skip, true)] {
        let yard = begun().await;
        yard.apply(yard.drop_first(Reason::Drop).await, choose("p", choice.clone())).await.expect("done");
        assert_eq!(yard.read("p").as_deref(), Some("hi\n"));
        let asked = yard.said(yard.drop_first(Reason::Show).await, FileOptions::default()).await;
        assert!(!asked.contains("Adopted"), "{asked}");
        yard.does(yard.drop_first(Reason::Show).await).await;
        yard.back("t1").await;
        assert_eq!(yard.read("p").is_none(), asked_again, "{choice:?}");
        yard.undo().await;
        yard.undo().await;
        yard.undo().await;
        yard.back("t1").await;
        assert_eq!(
            (yard.read("p"), yard.read("a").as_deref()),
            (None, Some(LINES)),
            "undone, it is not kept"
        );
    }
}

#[tokio::test]
async fn trial_02_files_restore_still_changes_what_was_adopted() {
    let yard = begun().await;
    let before = yard.engine.kept().snapshot(yard.id).await.expect("it").conversation().head;
    let first = retake_core::Head { seq: retake_core::Seq(0), ..before };
    yard.one_half("t1", Scope::Conversation).await;
    yard.say("more").await;
    let options = yard.options(&["p"], Some("t1")).await.expect("it is known");
    let refused = yard.apply(super::restore::FILES, options).await.expect_err("so it was before that turn");
    assert_eq!(refused.code, "unchanged");
    yard.puts_back(&["p"], Some(&first.to_string())).await;
    assert_eq!(yard.read("p"), None);
}

#[tokio::test]
async fn a_forks_plan_mentions_no_files_of_its_parent_that_are_the_persons_own() {
    for (half, in_the_fork) in
        [(None, Some("files: 4, named")), (Some(Scope::Conversation), None), (Some(Scope::Files), None)]
    {
        let yard = Yard::with(&[("a", LINES), ("o", "old\n")]).await;
        yard.run("echo hi > p; sed -i s/2/two/ a; mv o n").await;
        let tip = yard.first_result().await;
        if let Some(half) = half {
            yard.one_half("t1", half).await;
        }
        let fork = yard.engine.fork(yard.id, Some(tip), None, yard.engine.by(None)).await.expect("forked");
        let fork = Yard { id: fork.conversation, engine: yard.engine.clone(), dir: yard.dir.clone() };
        let said = fork.said(fork.rewind("t1").await, FileOptions::default()).await;
        match in_the_fork {
            Some(in_the_fork) => assert!(said.contains(in_the_fork), "{half:?}: {said}"),
            None => assert_eq!(said, "", "{half:?}"),
        }
    }
    // The parent has no command any more that takes these files back, since a person keeps them there.
    let yard = begun().await;
    yard.say("more").await;
    let fork = yard.engine.fork(yard.id, None, None, yard.engine.by(None)).await.expect("forked");
    yard.apply(yard.drop_first(Reason::Drop).await, scope(Scope::Conversation)).await.expect("done");
    let fork = Yard { id: fork.conversation, engine: yard.engine.clone(), dir: yard.dir.clone() };
    let said = fork.said(fork.rewind("t1").await, FileOptions::default()).await;
    assert!(
        said.contains("OfParent") && said.contains("files: 2, named") && said.contains("turn: None"),
        "{said}"
    );
}

#[tokio::test]
async fn a_renamed_file_that_was_kept_stays_with_what_the_person_wrote_into_it() {
    let lines: String = (1..=20).map(|line| format!("line {line}\n")).collect();
    let yard = Yard::with(&[("o", &lines), ("a", "1\n")]).await;
    yard.run("mv o n; echo 2 > a").await;
    let mine = lines.replace("line 5\n", "mine\n");
    yard.write("n", &mine);
    yard.apply(yard.rewind("t1").await, choose("n", Choice::Disk)).await.expect("done");
    assert_eq!((yard.read("n").as_deref(), yard.read("a").as_deref()), (Some(&*mine), Some("1\n")));
    assert_eq!(yard.read("o"), None, "a choice for one name holds for both");
    // Another turn renames it again, and writes into it.
    yard.run("mv n m; sed -i 's/line 19/nineteen/' m").await;
    yard.back("t1").await;
    assert_eq!((yard.read("n").as_deref(), yard.read("m"), yard.read("o")), (Some(&*mine), None, None));
    yard.undo().await;
    assert_eq!((yard.read("n"), yard.read("m")), (None, Some(mine.replace("line 19", "nineteen"))));
    yard.undo().await;
    yard.undo().await;
    assert_eq!((yard.read("n").as_deref(), yard.read("o")), (Some(&*mine), None), "as before the choice");
    yard.back("t1").await;
    assert_eq!((yard.read("n"), yard.read("o").as_deref()), (None, Some(&*mine)), "the person's goes along");
}

#[tokio::test]
async fn trial_07_skipped_content_may_be_in_the_files_when_the_conversation_alone_returns() {
    let skip = |half| FileOptions {
        chosen: Chosen { others: Some(Choice::Skip), ..Chosen::default() },
        ..scope(half)
    };
    // All of the turn is still in the files: it belongs to the turn again.
    let yard = begun().await;
    yard.apply(yard.rewind("t1").await, skip(Scope::Both)).await.expect("done");
    yard.apply(Action::Undo(1), scope(Scope::Conversation)).await.expect("done");
    yard.run("echo a > made").await;
    assert_eq!(yard.verdicts("t2").await, ["made Delete"]);
    yard.back("t2").await;
    assert!(yard.has_files());
    yard.back("t1").await;
    assert!(!yard.has_files());
    // The same for an undo of the turn.
    let yard = begun().await;
    yard.apply(yard.rewind("t1").await, skip(Scope::Both)).await.expect("done");
    yard.apply(Action::Undo(1), scope(Scope::Conversation)).await.expect("done");
    yard.undo().await;
    assert!(!yard.has_files());
    // Nothing of it is in the files: it does not return when only the conversation goes back.
    let yard = begun().await;
    yard.back("t1").await;
    yard.apply(Action::Undo(1), skip(Scope::Both)).await.expect("done");
    yard.one_half("t1", Scope::Conversation).await;
    yard.run("echo a > made").await;
    yard.run("echo b >> made").await;
    yard.back("t2").await;
    yard.back("t1").await;
    assert!(!yard.has_files());
}

#[tokio::test]
async fn trial_07_undo_of_a_turn_takes_back_the_path_of_it_that_was_skipped() {
    let yard = begun().await;
    yard.apply(yard.rewind("t1").await, choose("p", Choice::Skip)).await.expect("done");
    yard.apply(Action::Undo(1), scope(Scope::Conversation)).await.expect("done");
    assert_eq!((yard.read("p").is_some(), yard.read("a").as_deref()), (true, Some(LINES)));
    yard.undo().await;
    assert_eq!((yard.read("p"), yard.read("a").as_deref()), (None, Some(LINES)));
}
