//! A turn that comes back restores what went with it, but not what a person had removed before (spec `rewind.md`, case 58).

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use retake_core::{Action, Choice, Chosen, Reason, Verdict};
use retake_engine::{FileOptions, Scope};

use super::{Yard, choose, own, scope};

const LINES: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

impl Yard {
    /// A turn goes and comes back, in each possible way.
    async fn goes_and_comes(&self, way: Way) {
        match way {
            Way::Drop => {
                let call = self.engine.kept().deltas(self.id).await.expect("deltas")[0].1;
                let turn = self.engine.entry(self.id, "t1").await.expect("a turn");
                let mark = |verb| Action::Mark { verb, entries: vec![turn, call], range: true, seen: None };
                self.does(mark(Reason::Drop)).await;
                self.does(mark(Reason::Show)).await;
            }
            Way::Rewind(scope_of_it) => {
                let head = self.engine.kept().summary(self.id).await.expect("it").head;
                self.apply(self.rewind("t1").await, scope(scope_of_it)).await.expect("done");
                self.does(Action::Restore(head)).await;
            }
            Way::Checkout => {
                let call = self.engine.kept().deltas(self.id).await.expect("deltas").last().expect("one").1;
                self.back("t1").await;
                self.does(Action::Checkout(Some(call))).await;
            }
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Way {
    Drop,
    Rewind(Scope),
    Checkout,
}

const WAYS: [Way; 3] = [Way::Drop, Way::Rewind(Scope::Both), Way::Checkout];

#[tokio::test]
async fn trial_10_a_file_that_a_person_removed_does_not_come_back_with_its_turn() {
    for way in WAYS {
        for by_hand in [true, false] {
            let yard = Yard::with(&[("other", "")]).await;
            yard.run("echo made > f; echo made > g").await;
            match by_hand {
                true => fs::remove_file(yard.path("f")).expect("removed"),
                false => drop(yard.puts_back(&["f"], Some("t1")).await),
            }
            assert_eq!(yard.read("f"), None);
            yard.goes_and_comes(way).await;
            assert_eq!(yard.read("f"), None, "{way:?}, by hand: {by_hand}");
            assert_eq!(yard.read("g").as_deref(), Some("made\n"), "{way:?}: what was not removed is there");
            yard.goes_and_comes(way).await;
            assert_eq!(yard.read("f"), None, "{way:?}, once more");
            yard.undo().await;
            yard.undo().await;
            yard.undo().await;
            yard.undo().await;
            assert_eq!((yard.read("f"), yard.read("g").as_deref()), (None, Some("made\n")), "{way:?}");
        }
    }
}

#[tokio::test]
async fn trial_10_a_line_and_a_bit_that_a_person_took_away_do_not_come_back_with_their_turn() {
    for way in WAYS {
        let yard = Yard::with(&[("f", LINES)]).await;
        yard.run("sed -i '2a ONE\n8a TWO' f; chmod +x f").await;
        assert!(yard.read("f").is_some_and(|text| text.contains("ONE\n") && text.contains("TWO\n")));
        yard.write("f", &yard.read("f").unwrap().replace("ONE\n", "").replace("5\n", "5\nPERSON\n"));
        fs::set_permissions(yard.path("f"), Permissions::from_mode(0o644)).expect("set");
        let there = LINES.replace("5\n", "5\nPERSON\n").replace("8\n", "8\nTWO\n");
        yard.goes_and_comes(way).await;
        assert_eq!(yard.read("f").as_deref(), Some(&*there), "{way:?}");
        let mode = fs::metadata(yard.path("f")).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o644, "{way:?}");
        // What the person removes later is not restored, either.
        yard.write("f", &there.replace("PERSON\n", ""));
        yard.goes_and_comes(way).await;
        assert_eq!(yard.read("f").as_deref(), Some(&*there.replace("PERSON\n", "")), "{way:?}");
    }
}

#[tokio::test]
async fn trial_10_a_hunk_that_was_taken_back_comes_with_the_whole_turn() {
    let yard = Yard::with(&[("f", LINES)]).await;
    yard.run("sed -i '2a ONE\n8a TWO' f").await;
    let whole = yard.read("f");
    let head = yard.engine.kept().summary(yard.id).await.expect("it").head;
    yard.apply(yard.rewind("t1").await, choose("f", Choice::Hunks(vec![1]))).await.expect("done");
    assert_ne!(yard.read("f"), whole);
    yard.does(Action::Restore(head)).await;
    assert_eq!(yard.read("f"), whole);
}

#[tokio::test]
async fn trial_10_a_turn_that_comes_back_goes_below_a_later_one_that_had_taken_it_back() {
    for (first, second, name) in [
        ("rm f", "cp kept f", "f"),
        ("sed -i '2a ONE' kept", "sed -i /ONE/d kept", "kept"),
        ("echo new > made", "rm made", "made"),
    ] {
        for way in WAYS {
            let yard = Yard::with(&[("f", LINES), ("kept", LINES)]).await;
            yard.run(first).await;
            yard.run(second).await;
            let there = yard.read(name);
            yard.goes_and_comes(way).await;
            assert_eq!(yard.read(name), there, "{second} after {first}, {way:?}");
            yard.back("t2").await;
            yard.undo().await;
            assert_eq!(yard.read(name), there, "{second} after {first}, {way:?}, and undone");
        }
    }
}

/// A turn that stays lies above it, and a person wrote over that turn.
#[tokio::test]
async fn trial_06_content_below_a_kept_turn_conflicts_only_with_edits_in_its_own_place() {
    for chosen in [None, Some(Choice::Checkpoint)] {
        for is_shown in [true, false] {
            let yard = Yard::with(&[("f", LINES), ("g", LINES), ("h", LINES)]).await;
            yard.run("sed -i 's/^2$/FIRST/' f g h").await;
            let call = yard.engine.kept().deltas(yard.id).await.expect("deltas")[0].1;
            let turn = yard.engine.entry(yard.id, "t1").await.expect("a turn");
            let mark = |verb| Action::Mark { verb, entries: vec![turn, call], range: true, seen: None };
            let chosen = Chosen { others: chosen.clone(), ..Chosen::default() };
            let options = FileOptions { chosen, ..FileOptions::default() };
            yard.apply(mark(Reason::Drop), options).await.expect("done");
            yard.call("chmod 604 f; sed -i 's/^8$/LATER/' g h", None).await;
            fs::set_permissions(yard.path("f"), Permissions::from_mode(0o640)).expect("set");
            yard.write("g", &yard.read("g").unwrap().replace("LATER", "PERSON"));
            yard.write(
                "h",
                &yard.read("h").unwrap().replace("LATER", "PERSON").replace("\n2\n", "\nPERSON\n"),
            );
            let comes = if is_shown { mark(Reason::Show) } else { Action::Undo(1) };
            let plan = own(yard.plan(comes.clone(), FileOptions::default()).await);
            let conflicts = plan.paths.iter().filter(|path| matches!(path.verdict, Verdict::Conflict(_)));
            let conflicts: Vec<String> = conflicts.map(|path| path.path.to_string()).collect();
            assert_eq!(conflicts, ["h"], "shown: {is_shown}");
            yard.apply(comes, choose("h", Choice::Skip)).await.expect("done");
            let first = LINES.replace("2\n", "FIRST\n");
            assert_eq!(yard.read("f"), Some(first.clone()), "shown: {is_shown}");
            let mode = fs::metadata(yard.path("f")).expect("there").permissions().mode();
            assert_eq!(mode & 0o777, 0o640, "shown: {is_shown}");
            assert_eq!(yard.read("g"), Some(first.replace("8\n", "PERSON\n")), "shown: {is_shown}");
            match is_shown {
                true => yard.undo().await,
                false => yard.redo().await,
            }
            assert_eq!(yard.read("f").as_deref(), Some(LINES), "shown: {is_shown}");
            assert_eq!(yard.read("g"), Some(LINES.replace("8\n", "PERSON\n")), "shown: {is_shown}");
        }
    }
}

#[tokio::test]
async fn trial_06_persons_content_equal_to_an_undo_and_redo_stays_the_persons() {
    let undone = |yard: Yard| async move {
        yard.back("t1").await;
        yard
    };
    let redone = |yard: Yard| async move {
        yard.undo().await;
        yard
    };
    for redo in [false, true] {
        for is_line in [false, true] {
            let yard = Yard::with(&[("f", LINES)]).await;
            yard.run("echo mine > made; echo mine >> f").await;
            let yard = if redo { redone(yard).await } else { undone(yard).await };
            assert_eq!((yard.read("made"), yard.read("f").as_deref()), (None, Some(LINES)));
            // The person does the same.
            match is_line {
                true => yard.write("f", &format!("{LINES}mine\n")),
                false => yard.write("made", "mine\n"),
            }
            let mine = (yard.read("made"), yard.read("f"));
            match redo {
                true => yard.redo().await,
                false => yard.undo().await,
            }
            assert_eq!(yard.read("made").as_deref(), Some("mine\n"));
            yard.back("t1").await;
            assert_eq!((yard.read("made"), yard.read("f")), mine, "redone: {redo}, a line: {is_line}");
        }
    }
}
