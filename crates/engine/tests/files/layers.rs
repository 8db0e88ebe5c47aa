//! Changes by others below a layer are never lost, whatever is dropped and kept above it (spec `rewind.md`, *After*, and cases
//! 36, 54 to 56).

mod given_back;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use retake_core::{Action, Choice, Chosen, Reason, Verdict};
use retake_engine::{FileOptions, Scope};

use super::{Yard, choose, own};

/// 40 numbered lines, some of them replaced.
fn text(words: &[(usize, &str)]) -> String {
    let line = |no| {
        let word = words.iter().find(|(at, _)| *at == no).map(|(_, word)| (*word).to_owned());
        word.unwrap_or_else(|| format!("line {no}"))
    };
    (1..=40).map(|no| line(no) + "\n").collect()
}

/// A choice for every path.
fn all(choice: Choice) -> FileOptions {
    FileOptions { chosen: Chosen { others: Some(choice), ..Chosen::default() }, ..FileOptions::default() }
}

impl Yard {
    async fn with_text(words: &[(usize, &str)]) -> Self {
        Self::with(&[("f", &text(words))]).await
    }

    /// A person replaces lines of `f`.
    fn edits(&self, name: &str, words: &[(&str, &str)]) {
        let mut text = self.read(name).expect("it is there");
        for (old, new) in words {
            assert!(text.contains(&format!("{old}\n")), "{old}");
            text = text.replace(&format!("{old}\n"), &format!("{new}\n"));
        }
        self.write(name, &text);
    }

    /// Drops the turn of the nth call that changed files.
    async fn drops(&self, turn: usize, options: FileOptions) {
        self.apply(self.drop_of(turn).await, options).await.expect("done");
    }

    async fn drop_of(&self, turn: usize) -> Action {
        let call = self.engine.kept().deltas(self.id).await.expect("deltas")[turn - 1].1;
        let entries = vec![self.engine.entry(self.id, &format!("t{turn}")).await.expect("a turn"), call];
        Action::Mark { verb: Reason::Drop, entries, range: true, seen: None }
    }
}

#[tokio::test]
async fn trial_06_a_persons_line_between_two_turns_outlives_a_drop_that_keeps_the_file() {
    for options in [choose("f", Choice::Disk), all(Choice::Checkpoint), all(Choice::Disk)] {
        let yard = Yard::with_text(&[]).await;
        yard.run("sed -i 's/^line 5$/A1/' f").await;
        yard.edits("f", &[("line 30", "PERSON")]);
        yard.run("sed -i 's/^A1$/A2/' f").await;
        yard.drops(1, options.clone()).await;
        assert_eq!(yard.read("f"), Some(text(&[(5, "A2"), (30, "PERSON")])), "{options:?}");
        yard.back("t2").await;
        assert_eq!(yard.read("f"), Some(text(&[(30, "PERSON")])), "{options:?}");
        yard.undo().await;
        yard.undo().await;
        assert_eq!(yard.read("f"), Some(text(&[(5, "A2"), (30, "PERSON")])));
        yard.back("t1").await;
        assert_eq!(yard.read("f"), Some(text(&[(30, "PERSON")])), "undone, both turns go as ever");
    }
}

#[tokio::test]
async fn trial_06_a_turn_that_removed_the_file_gives_back_what_a_person_wrote_below_it() {
    let yard = Yard::with_text(&[]).await;
    yard.run("sed -i 's/^line 5$/A1/' f").await;
    yard.edits("f", &[("A1", "PERSON")]);
    yard.run("rm f").await;
    yard.drops(1, FileOptions::default()).await;
    assert_eq!(yard.read("f"), None);
    yard.back("t2").await;
    assert_eq!(yard.read("f"), Some(text(&[(5, "PERSON")])));
}

#[tokio::test]
async fn trial_06_persons_content_below_a_removal_returns_also_in_a_recreated_file() {
    let yard = Yard::with_text(&[]).await;
    yard.run("sed -i 's/^line 30$/A0/' f").await;
    yard.run("sed -i 's/^line 5$/A1/' f").await;
    yard.edits("f", &[("A1", "PERSON")]);
    yard.run("rm f").await;
    yard.run("echo anew > f").await;
    yard.drops(2, FileOptions::default()).await;
    assert_eq!(yard.read("f").as_deref(), Some("anew\n"));
    yard.back("t3").await;
    assert_eq!(yard.read("f"), Some(text(&[(5, "PERSON"), (30, "A0")])));
    yard.back("t1").await;
    assert_eq!(yard.read("f"), Some(text(&[(5, "PERSON")])), "the first turn is still in it, and goes");
}

#[tokio::test]
async fn trial_06_a_persons_mode_and_removal_outlive_a_drop_that_keeps_the_file() {
    let yard = Yard::with_text(&[]).await;
    yard.run("sed -i 's/^line 5$/A1/' f").await;
    fs::set_permissions(yard.path("f"), Permissions::from_mode(0o755)).expect("set");
    yard.run("sed -i 's/^A1$/A2/' f").await;
    yard.drops(1, choose("f", Choice::Disk)).await;
    yard.back("t2").await;
    let mode = fs::metadata(yard.path("f")).expect("it").permissions().mode() & 0o777;
    assert_eq!((yard.read("f"), mode), (Some(text(&[])), 0o755));

    let yard = Yard::with_text(&[]).await;
    yard.run("sed -i 's/^line 5$/A1/' f").await;
    fs::remove_file(yard.path("f")).expect("removed");
    yard.run("echo anew > f").await;
    yard.drops(1, choose("f", Choice::Disk)).await;
    yard.back("t2").await;
    assert_eq!(yard.read("f"), None, "the person had removed it");

    let yard = Yard::with_text(&[]).await;
    yard.run("rm f").await;
    yard.write("f", "the person's\n");
    yard.run("echo more >> f").await;
    yard.drops(1, choose("f", Choice::Disk)).await;
    yard.back("t2").await;
    assert_eq!(yard.read("f").as_deref(), Some("the person's\n"));
}

#[tokio::test]
async fn trial_06_two_drops_keep_two_edits_of_a_person() {
    let yard = Yard::with_text(&[]).await;
    yard.run("sed -i 's/^line 5$/A1/' f").await;
    yard.edits("f", &[("line 20", "FIRST")]);
    yard.run("sed -i 's/^A1$/A2/' f").await;
    yard.edits("f", &[("line 30", "SECOND")]);
    yard.run("sed -i 's/^A2$/A3/' f").await;
    yard.drops(1, choose("f", Choice::Disk)).await;
    yard.drops(2, choose("f", Choice::Disk)).await;
    assert_eq!(yard.read("f"), Some(text(&[(5, "A3"), (20, "FIRST"), (30, "SECOND")])));
    yard.back("t3").await;
    assert_eq!(yard.read("f"), Some(text(&[(20, "FIRST"), (30, "SECOND")])));
}

#[tokio::test]
async fn rewind_case_55_trial_03_a_renamed_file_goes_back_with_the_persons_edit_alone() {
    for person_first in [false, true] {
        let yard = Yard::with(&[("s/x", &text(&[])), ("m/keep", "")]).await;
        yard.run("mv s/x m/x").await;
        if person_first {
            yard.edits("m/x", &[("line 5", "PERSON")]);
        }
        yard.run("echo agent >> m/x").await;
        if !person_first {
            yard.edits("m/x", &[("line 5", "PERSON")]);
        }
        yard.back("t1").await;
        assert_eq!(yard.read("s/x"), Some(text(&[(5, "PERSON")])), "{person_first}");
        assert_eq!(yard.read("m/x"), None);
        yard.undo().await;
        let there = text(&[(5, "PERSON")]) + "agent\n";
        assert_eq!((yard.read("s/x"), yard.read("m/x")), (None, Some(there)));
    }
}

#[tokio::test]
async fn trial_03_a_rename_that_the_persons_edit_does_not_fit_is_a_conflict() {
    let yard = Yard::with(&[("s/x", &text(&[])), ("m/keep", "")]).await;
    yard.run("mv s/x m/x").await;
    yard.run("sed -i 's/^line 5$/agent/' m/x").await;
    yard.edits("m/x", &[("agent", "PERSON")]);
    assert_eq!(yard.verdicts("t1").await, ["m/x Conflict(Bytes)", "s/x Recreate"]);
    // The turn that renamed it goes, the one that wrote into it stays: the right place for that is unknown.
    let yard = Yard::with(&[("s/x", &text(&[])), ("m/keep", "")]).await;
    yard.run("mv s/x m/x").await;
    yard.edits("m/x", &[("line 5", "PERSON")]);
    yard.run("echo agent >> m/x").await;
    let plan = own(yard.plan(yard.drop_of(1).await, FileOptions::default()).await);
    let verdict =
        |name: &str| &plan.paths.iter().find(|path| path.path.to_string() == name).expect("it").verdict;
    assert!(matches!(verdict("m/x"), Verdict::Conflict(_)), "{:?}", verdict("m/x"));
}

#[tokio::test]
async fn rewind_case_56_trial_04_empty_and_tiny_files_are_no_rename() {
    for tiny in ["", "{}\n", "package main\n"] {
        let yard = Yard::with(&[("pkg/__init__.py", tiny)]).await;
        yard.run("cp pkg/__init__.py notes.txt; rm pkg/__init__.py").await;
        yard.write("notes.txt", "what a person noted\n");
        assert_eq!(
            yard.verdicts("t1").await,
            ["notes.txt Conflict(Bytes)", "pkg/__init__.py Recreate"],
            "{tiny:?}"
        );
        let refused = yard.apply(yard.rewind("t1").await, FileOptions::default()).await.expect_err("refused");
        assert_eq!((refused.code, yard.read("pkg/__init__.py")), ("conflict", None));
        yard.apply(yard.rewind("t1").await, choose("notes.txt", Choice::Disk)).await.expect("done");
        assert_eq!(yard.read("pkg/__init__.py").as_deref(), Some(tiny));
        assert_eq!(yard.read("notes.txt").as_deref(), Some("what a person noted\n"));
    }
}

#[tokio::test]
async fn trial_03_a_choice_for_the_old_name_of_a_rename_keeps_the_new_one() {
    let yard = Yard::with(&[("x", &text(&[(7, "PERSON")])), ("m/keep", "")]).await;
    yard.run("mv x m/y").await;
    yard.apply(yard.rewind("t1").await, choose("x", Choice::Disk)).await.expect("done");
    assert_eq!((yard.read("x"), yard.read("m/y")), (None, Some(text(&[(7, "PERSON")]))));
}

#[tokio::test]
async fn trial_04_a_dropped_change_leaves_the_name_that_a_later_turn_moved_the_file_to() {
    let yard = Yard::with(&[("f", &text(&[])), ("m/keep", "")]).await;
    yard.run("echo AGENT >> f").await;
    yard.run("mv f m/y").await;
    let with = text(&[]) + "AGENT\n";
    yard.drops(1, FileOptions::default()).await;
    assert_eq!((yard.read("f"), yard.read("m/y")), (None, Some(text(&[]))));
    yard.undo().await;
    assert_eq!((yard.read("f"), yard.read("m/y")), (None, Some(with)));
    yard.drops(1, FileOptions::default()).await;
    yard.back("t2").await;
    assert_eq!((yard.read("f"), yard.read("m/y")), (Some(text(&[])), None));
}

#[tokio::test]
async fn trial_04_a_removal_that_was_adopted_is_a_conflict_as_one_by_hand_is() {
    let yard = Yard::with_text(&[]).await;
    yard.run("echo AGENT >> f").await;
    yard.run("rm f").await;
    let only = FileOptions { scope: Scope::Conversation, ..FileOptions::default() };
    yard.apply(yard.rewind("t2").await, only).await.expect("done");
    assert_eq!(yard.verdicts("t1").await, ["f Conflict(Removed)"]);
}

#[tokio::test]
async fn trial_10_a_rename_of_a_file_that_the_agent_wrote_goes_back_with_the_persons_edit_alone() {
    let yard = Yard::with(&[("f", &text(&[])), ("m/keep", "")]).await;
    yard.run("echo AGENT >> f").await;
    yard.run("mv f m/y").await;
    yard.edits("m/y", &[("line 5", "PERSON")]);
    yard.back("t1").await;
    assert_eq!((yard.read("f"), yard.read("m/y")), (Some(text(&[(5, "PERSON")])), None));
}

/// The result of a step with a choice for only one name of a rename, after the person wrote into the file: its effect, or the
/// refusal. The person's line stays on the disk either way.
async fn decides_one_name(redone: bool, name: &str, choice: Choice) {
    let when = format!("redone: {redone}, {name}: {choice:?}");
    let yard = Yard::with(&[("f", &text(&[])), ("m/keep", "")]).await;
    yard.run("mv f g; echo agent >> g").await;
    yard.back("t1").await;
    let there = if redone { "g" } else { "f" };
    if redone {
        yard.undo().await;
    }
    yard.edits(there, &[("line 5", "PERSON")]);
    let has = || ["f", "g"].map(|name| yard.read(name).is_some_and(|text| text.contains("PERSON")));
    let action = if redone { Action::Redo(1) } else { Action::Undo(1) };
    let before = yard.all();
    match yard.apply(action.clone(), choose(name, choice.clone())).await {
        Err(error) => {
            assert_eq!(error.code, "conflict", "{when}");
            assert_eq!(yard.all(), before, "{when}");
        }
        Ok(_) => {
            assert!(has().contains(&true), "{when}: the person's line is lost");
            let back = if redone { Action::Undo(1) } else { Action::Redo(1) };
            if yard.apply(back, FileOptions::default()).await.is_ok() {
                assert!(has().contains(&true), "{when}: the person's line is lost on the way back");
            }
        }
    }
}

#[tokio::test]
async fn trial_03_a_choice_for_one_name_of_a_rename_loses_no_text_of_a_person_when_a_step_is_undone() {
    for redone in [false, true] {
        for name in ["f", "g"] {
            for choice in [Choice::Skip, Choice::Disk, Choice::Merge, Choice::Yours] {
                decides_one_name(redone, name, choice).await;
            }
        }
    }
}

#[tokio::test]
async fn trial_06_a_rename_is_followed_back_to_a_name_that_a_link_or_a_folder_took() {
    for (script, new) in [("mv f g; ln -s g f", "g"), ("mv f g; mkdir f; mv g f/x", "f/x")] {
        let yard = Yard::with_text(&[]).await;
        yard.run(script).await;
        yard.edits(new, &[("line 5", "PERSON")]);
        let after = yard.all();
        yard.back("t1").await;
        assert_eq!(yard.read("f"), Some(text(&[(5, "PERSON")])), "{script}");
        yard.undo().await;
        assert_eq!(yard.all(), after, "{script}");
    }
}

#[tokio::test]
async fn trial_06_content_blocked_by_a_link_does_not_leave_its_new_name() {
    let yard = Yard::with_text(&[]).await;
    yard.run("mv f g; ln -s g f").await;
    fs::remove_file(yard.path("f")).expect("removed");
    yard.write("f", "the person's\n");
    let verdicts = yard.verdicts("t1").await;
    assert!(verdicts.iter().all(|verdict| verdict.contains("Conflict")), "{verdicts:?}");
}

#[tokio::test]
async fn trial_07_a_line_of_a_dropped_file_does_not_come_back_though_a_person_wrote_into_that_file() {
    let yard = Yard::with(&[]).await;
    yard.run("seq -f 'line %g' 40 > f").await;
    yard.edits("f", &[("line 30", "PERSON"), ("line 20", "HERS")]);
    yard.run("sed -i 's/^line 5$/LATER/; s/^HERS$/LATER/' f").await;
    yard.drops(1, choose("f", Choice::Disk)).await;
    assert_eq!(yard.read("f"), Some(text(&[(5, "LATER"), (20, "LATER"), (30, "PERSON")])));
    yard.back("t2").await;
    let left = text(&[(20, "HERS"), (30, "PERSON")]).replace("line 5\n", "");
    assert_eq!(yard.read("f"), Some(left));
}

#[tokio::test]
async fn trial_07_undo_of_a_turn_follows_a_rename_and_a_removal_that_the_person_kept() {
    let kept = async |script: &str| {
        let yard = Yard::with_text(&[]).await;
        yard.run("sed -i 's/^line 5$/AGENT/' f").await;
        yard.run(script).await;
        yard.apply(Action::Undo(1), FileOptions { scope: Scope::Conversation, ..FileOptions::default() })
            .await
            .expect("done");
        yard
    };
    let yard = kept("mv f g").await;
    yard.undo().await;
    assert_eq!((yard.read("f"), yard.read("g")), (None, Some(text(&[]))));
    let yard = kept("rm f").await;
    let plan = own(yard.plan(Action::Undo(1), FileOptions::default()).await);
    assert!(matches!(plan.paths[0].verdict, Verdict::Conflict(_)), "{plan:?}");
}

#[tokio::test]
async fn trial_07_a_turn_goes_from_below_one_whose_line_a_person_wrote_over() {
    let yard = Yard::with_text(&[]).await;
    yard.run("sed -i 's/^line 5$/A1/' f").await;
    yard.run("sed -i 's/^line 20$/A2/' f").await;
    yard.edits("f", &[("A2", "PERSON")]);
    yard.drops(1, FileOptions::default()).await;
    assert_eq!(yard.read("f"), Some(text(&[(20, "PERSON")])));
    assert_eq!(yard.verdicts("t2").await, ["f Conflict(Bytes)"]);
    yard.undo().await;
    assert_eq!(yard.read("f"), Some(text(&[(5, "A1"), (20, "PERSON")])));
}

#[tokio::test]
async fn trial_06_a_name_that_is_asked_for_exactly_gets_nothing_that_a_person_wrote_under_the_new_one() {
    let yard = Yard::with_text(&[]).await;
    yard.run("mv f g").await;
    yard.edits("g", &[("line 5", "PERSON")]);
    let refused = yard.apply(yard.rewind("t1").await, choose("f", Choice::Checkpoint)).await;
    assert_eq!(refused.expect_err("nothing is chosen for the new name").code, "conflict");
    yard.apply(yard.rewind("t1").await, all(Choice::Checkpoint)).await.expect("done");
    assert_eq!((yard.read("f"), yard.read("g")), (Some(text(&[])), None));
}

#[tokio::test]
async fn trial_06_a_change_follows_a_file_that_was_moved_away_though_another_one_was_made_in_its_place() {
    for (script, new) in [("mv f g", Some("g")), ("rm f", None)] {
        let yard = Yard::with_text(&[]).await;
        yard.run("sed -i 's/^line 5$/AGENT/' f").await;
        yard.run(script).await;
        yard.run("echo another > f").await;
        yard.drops(1, FileOptions::default()).await;
        assert_eq!(yard.read("f").as_deref(), Some("another\n"), "{script}");
        assert_eq!(new.map(|new| yard.read(new)), new.map(|_| Some(text(&[]))));
        yard.back("t3").await;
        yard.back("t2").await;
        assert_eq!((yard.read("f"), yard.read("g")), (Some(text(&[])), None), "{script}");
    }
}

#[tokio::test]
async fn trial_06_content_that_a_person_removed_from_a_kept_turn_does_not_return_with_an_earlier_rewind() {
    for chained in [true, false] {
        let yard = Yard::with_text(&[]).await;
        yard.run("sed -i 's/^line 5$/A1/' f").await;
        if !chained {
            yard.edits("f", &[("line 30", "PERSON")]);
        }
        yard.run("sed -i 's/^line 12$/A2/; s/^line 20$/B2/' f").await;
        yard.edits("f", &[("A2", "line 12")]);
        let with = |words: &[(usize, &str)]| {
            let person = if chained { None } else { Some((30, "PERSON")) };
            text(&words.iter().copied().chain(person).collect::<Vec<_>>())
        };
        yard.drops(1, FileOptions::default()).await;
        assert_eq!(yard.read("f"), Some(with(&[(20, "B2")])), "chained: {chained}");
        yard.back("t2").await;
        assert_eq!(yard.read("f"), Some(with(&[])));
        yard.undo().await;
        yard.undo().await;
        assert_eq!(yard.read("f"), Some(with(&[(5, "A1"), (20, "B2")])));
    }
}

/// A dropped turn returns below the changes that stayed and those that a person made before. What the person changed since is lost
/// if the turn returns exactly.
#[tokio::test]
async fn trial_06_a_persons_line_outlives_a_dropped_turn_that_is_shown_exactly() {
    for (gone, come, exactly) in [
        (FileOptions::default(), all(Choice::Checkpoint), true),
        (all(Choice::Checkpoint), all(Choice::Checkpoint), true),
        (all(Choice::Checkpoint), FileOptions::default(), false),
    ] {
        let yard = Yard::with_text(&[]).await;
        yard.run("sed -i 's/^line 5$/A1/' f").await;
        yard.edits("f", &[("line 30", "PERSON")]);
        yard.run("sed -i 's/^line 12$/A2/' f").await;
        let goes = yard.drop_of(1).await;
        let Action::Mark { entries, .. } = &goes else { panic!("no mark: {goes:?}") };
        let comes = Action::Mark { verb: Reason::Show, entries: entries.clone(), range: true, seen: None };
        yard.apply(goes, gone.clone()).await.expect("done");
        assert_eq!(yard.read("f"), Some(text(&[(12, "A2"), (30, "PERSON")])), "{gone:?}");
        yard.edits("f", &[("line 20", "SINCE")]);
        yard.apply(comes, come.clone()).await.expect("done");
        let with = |words: &[(usize, &str)]| {
            let since = if exactly { None } else { Some((20, "SINCE")) };
            Some(text(&words.iter().copied().chain(since).chain([(30, "PERSON")]).collect::<Vec<_>>()))
        };
        let whole = with(&[(5, "A1"), (12, "A2")]);
        assert_eq!(yard.read("f"), whole, "{gone:?} {come:?}");
        yard.back("t2").await;
        assert_eq!(yard.read("f"), with(&[(5, "A1")]), "{come:?}");
        yard.back("t1").await;
        assert_eq!(yard.read("f"), with(&[]), "{come:?}");
        yard.undo().await;
        yard.undo().await;
        assert_eq!(yard.read("f"), whole, "{come:?}");
        yard.undo().await;
        assert_eq!(yard.read("f"), Some(text(&[(12, "A2"), (20, "SINCE"), (30, "PERSON")])), "{come:?}");
    }
}

/// The other author's last version is then on the disk, and stays theirs; a turn that stays and wrote there is a conflict later.
#[tokio::test]
async fn trial_06_a_persons_line_outlives_a_choice_of_their_version() {
    for (later, line) in [("sed -i 's/^line 12$/A2/' f", 12), ("sed -i 's/^A1$/A2/' f", 5)] {
        let yard = Yard::with_text(&[]).await;
        yard.run("sed -i 's/^line 5$/A1/' f").await;
        yard.edits("f", &[("line 30", "PERSON")]);
        yard.run(later).await;
        let before = yard.read("f");
        yard.drops(1, choose("f", Choice::Yours)).await;
        let theirs = Some(text(&[(5, "A1"), (30, "PERSON")]));
        assert_eq!(yard.read("f"), theirs, "{later}");
        let back = yard.apply(yard.rewind("t2").await, FileOptions::default()).await;
        match line {
            5 => assert_eq!(back.expect_err("it is in the same place").code, "conflict"),
            _ => drop(back.expect("done")),
        }
        assert_eq!(yard.read("f"), theirs, "{later}");
        if line != 5 {
            yard.undo().await;
        }
        yard.undo().await;
        assert_eq!(yard.read("f"), before, "{later}");
        // For the last turn, their version is the one below it.
        yard.apply(yard.rewind("t2").await, choose("f", Choice::Yours)).await.expect("done");
        assert_eq!(yard.read("f"), theirs, "{later}");
        yard.back("t1").await;
        assert_eq!(yard.read("f"), Some(text(&[(30, "PERSON")])), "{later}");
    }
}

#[tokio::test]
async fn rewind_case_36_a_dropped_file_does_not_come_back_with_a_later_removal() {
    let yard = Yard::with(&[]).await;
    yard.run("seq -f 'line %g' 40 > f").await;
    yard.edits("f", &[("line 30", "PERSON")]);
    yard.run("sed -i 's/^line 5$/LATER/' f").await;
    yard.run("rm f").await;
    yard.drops(1, FileOptions::default()).await;
    assert_eq!(yard.read("f"), None);
    yard.back("t3").await;
    assert_eq!(yard.read("f").as_deref(), Some("LATER\nPERSON\n"));
    yard.undo().await;
    assert_eq!(yard.read("f"), None);
    yard.undo().await;
    yard.back("t3").await;
    let whole = text(&[(5, "LATER"), (30, "PERSON")]);
    assert_eq!(yard.read("f"), Some(whole));
}
