//! Turns that go and come back in part, with a rename, and above or below others (spec `rewind.md`, cases 36, 37, 55, 58).

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use proptest::prelude::*;
use retake_core::{Action, Choice, EntryId, Reason};
use retake_engine::{FileOptions, FolderRemark, Note};

use super::restore::FILES;
use super::{Yard, choose};

const LINES: &str =
    "line 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8\nline 9\nline 10\nline 11\nline 12\n";

/// The lines of a test, with these words added after certain lines.
fn lines(words: &[(usize, &str)]) -> String {
    let after =
        |no: usize| words.iter().filter(move |(at, _)| *at == no).map(|(_, word)| format!("{word}\n"));
    (1..=12).map(|no| format!("line {no}\n") + &after(no).collect::<String>()).collect()
}

impl Yard {
    /// A folder with a file of twelve lines.
    async fn of_lines() -> Self {
        Self::with(&[("a", LINES)]).await
    }

    /// Adds a word after each of these lines, as a turn.
    async fn adds(&self, words: &[(usize, &str)]) {
        let script: Vec<String> =
            words.iter().map(|(at, word)| format!("s/^line {at}$/&\\n{word}/")).collect();
        self.run(&format!("sed -i '{}' a", script.join(";"))).await;
    }

    /// A person removes a line.
    fn clears(&self, name: &str, word: &str) {
        let text = self.read(name).expect("it is there");
        assert!(text.contains(&format!("{word}\n")), "{word}: {text}");
        self.write(name, &text.replace(&format!("{word}\n"), ""));
    }

    /// The entries of each turn: its message and its call.
    async fn each_turn(&self) -> Vec<[EntryId; 2]> {
        let deltas = self.engine.kept().deltas(self.id).await.expect("deltas");
        let mut turns = Vec::new();
        for (at, delta) in deltas.iter().enumerate() {
            turns.push([self.engine.entry(self.id, &format!("t{}", at + 1)).await.expect("a turn"), delta.1]);
        }
        turns
    }

    async fn marks(&self, verb: Reason, turns: &[[EntryId; 2]], options: FileOptions) {
        let entries = turns.concat();
        let mark = Action::Mark { verb, entries, range: true, seen: None };
        self.apply(mark, options).await.expect("done");
    }

    async fn leaves_out(&self, turns: &[[EntryId; 2]]) {
        self.marks(Reason::Drop, turns, FileOptions::default()).await;
    }

    async fn shows(&self, turns: &[[EntryId; 2]]) {
        self.marks(Reason::Show, turns, FileOptions::default()).await;
    }

    /// The step that restores the current state.
    async fn restore(&self) -> Action {
        Action::Restore(self.engine.kept().summary(self.id).await.expect("it").head)
    }

    fn mode(&self, name: &str) -> u32 {
        fs::metadata(self.path(name)).expect("there").permissions().mode() & 0o777
    }
}

#[tokio::test]
async fn trial_10_a_turn_whose_file_was_renamed_since_comes_back_as_it_went() {
    let yard = Yard::of_lines().await;
    yard.run("sed -i 's/^line 3$/&\\nONE/;s/^line 9$/&\\nTWO/' a; chmod +x a").await;
    yard.clears("a", "ONE");
    fs::set_permissions(yard.path("a"), Permissions::from_mode(0o644)).expect("set");
    yard.run("mv a b").await;
    let turns = yard.each_turn().await;
    let there = lines(&[(9, "TWO")]);
    assert_eq!(yard.read("b").as_deref(), Some(&*there));
    for _ in 0..2 {
        yard.leaves_out(&turns[..1]).await;
        assert_eq!(yard.read("b").as_deref(), Some(LINES));
        yard.shows(&turns[..1]).await;
        assert_eq!((yard.read("b").as_deref(), yard.mode("b")), (Some(&*there), 0o644));
    }
}

#[tokio::test]
async fn trial_10_file_that_a_person_removed_after_a_rename_stays_away_when_the_turns_return() {
    let yard = Yard::of_lines().await;
    yard.adds(&[(3, "ONE"), (9, "TWO")]).await;
    yard.run("mv a b").await;
    yard.clears("b", "ONE");
    let (restore, there) = (yard.restore().await, yard.read("b"));
    yard.back("t1").await;
    assert_eq!((yard.read("a").as_deref(), yard.read("b")), (Some(LINES), None));
    yard.does(restore).await;
    assert_eq!((yard.read("a"), yard.read("b")), (None, there));
}

#[tokio::test]
async fn trial_10_a_rename_that_a_person_wrote_into_comes_back_with_a_restore() {
    let yard = Yard::of_lines().await;
    yard.run("mv a b").await;
    yard.write("b", &lines(&[(5, "PERSON")]));
    let restore = yard.restore().await;
    yard.back("t1").await;
    assert_eq!((yard.read("a"), yard.read("b")), (Some(lines(&[(5, "PERSON")])), None));
    yard.does(restore).await;
    assert_eq!((yard.read("a"), yard.read("b")), (None, Some(lines(&[(5, "PERSON")]))));
}

#[tokio::test]
async fn trial_10_a_hunk_that_a_step_on_files_took_out_stays_away_when_its_turn_comes_back() {
    for is_dropped in [true, false] {
        let yard = Yard::of_lines().await;
        yard.adds(&[(2, "ONE"), (10, "TWO")]).await;
        let turns = yard.each_turn().await;
        let options = yard.options(&["a"], Some("t1")).await.expect("known");
        let options = FileOptions { chosen: choose("a", Choice::Hunks(vec![1])).chosen, ..options };
        yard.apply(FILES, options).await.expect("done");
        let there = lines(&[(10, "TWO")]);
        assert_eq!(yard.read("a").as_deref(), Some(&*there));
        if is_dropped {
            yard.leaves_out(&turns).await;
            yard.shows(&turns).await;
        } else {
            let restore = yard.restore().await;
            yard.back("t1").await;
            assert_eq!(yard.read("a").as_deref(), Some(LINES));
            yard.does(restore).await;
        }
        assert_eq!(yard.read("a").as_deref(), Some(&*there), "dropped: {is_dropped}");
    }
}

#[tokio::test]
async fn trial_10_a_hunk_that_a_drop_took_out_comes_back_when_its_turn_is_shown() {
    let yard = Yard::of_lines().await;
    yard.adds(&[(2, "ONE"), (10, "TWO")]).await;
    let (turns, whole) = (yard.each_turn().await, yard.read("a"));
    yard.marks(Reason::Drop, &turns, choose("a", Choice::Hunks(vec![1]))).await;
    assert_eq!(yard.read("a"), Some(lines(&[(10, "TWO")])));
    yard.shows(&turns).await;
    assert_eq!(yard.read("a"), whole);
}

#[tokio::test]
async fn trial_06_kept_content_does_not_return_with_a_later_turn_that_wrote_beside_it() {
    let yard = Yard::of_lines().await;
    yard.run("sed -i '/^line 10$/d' a").await;
    yard.adds(&[(9, "TWO")]).await;
    let turns = yard.each_turn().await;
    yard.marks(Reason::Drop, &turns[..1], choose("a", Choice::Disk)).await;
    yard.leaves_out(&turns[1..]).await;
    assert_eq!(yard.read("a"), Some(LINES.replace("line 10\n", "")));
}

#[tokio::test]
async fn trial_10_a_turn_that_came_back_alone_still_does_all_it_did_when_an_earlier_one_comes_back() {
    for together in [true, false] {
        let yard = Yard::of_lines().await;
        yard.adds(&[(9, "ONE")]).await;
        yard.run("sed -i '/^ONE$/d;s/^line 3$/&\\nTWO/' a").await;
        let turns = yard.each_turn().await;
        match together {
            true => yard.leaves_out(&turns).await,
            false => {
                yard.leaves_out(&turns[..1]).await;
                yard.leaves_out(&turns[1..]).await;
            }
        }
        assert_eq!(yard.read("a").as_deref(), Some(LINES));
        let there = Some(lines(&[(3, "TWO")]));
        yard.shows(&turns[1..]).await;
        assert_eq!(yard.read("a"), there);
        yard.shows(&turns[..1]).await;
        assert_eq!(yard.read("a"), there, "together: {together}");
        yard.leaves_out(&turns[1..]).await;
        assert_eq!(yard.read("a"), Some(lines(&[(9, "ONE")])), "together: {together}");
    }
}

#[tokio::test]
async fn trial_10_a_turn_comes_back_though_a_person_wrote_into_a_later_one() {
    let yard = Yard::of_lines().await;
    yard.adds(&[(3, "ONE")]).await;
    yard.run("sed -i 's/^line 9$/&\\nTWO a\\nTWO b\\nTWO c/' a").await;
    let turns = yard.each_turn().await;
    yard.clears("a", "TWO b");
    let there = yard.read("a");
    yard.leaves_out(&turns[..1]).await;
    yard.shows(&turns[..1]).await;
    assert_eq!(yard.read("a"), there);
}

#[tokio::test]
async fn trial_06_of_what_a_person_did_alike_beside_something_else_the_same_part_is_the_persons() {
    for redo in [true, false] {
        let yard = Yard::of_lines().await;
        yard.run("sed -i 's/^line 3$/&\\nSAME/;s/^line 9$/&\\nTWO/' a; chmod +x a").await;
        match redo {
            true => yard.undo().await,
            false => drop(yard.back("t1").await),
        }
        // The person writes the same line, another one, and sets the bit.
        yard.write("a", &lines(&[(3, "SAME"), (6, "PERSON")]));
        fs::set_permissions(yard.path("a"), Permissions::from_mode(0o755)).expect("set");
        match redo {
            true => yard.redo().await,
            false => yard.undo().await,
        }
        assert_eq!(yard.read("a"), Some(lines(&[(3, "SAME"), (6, "PERSON"), (9, "TWO")])));
        yard.back("t1").await;
        assert_eq!(yard.read("a"), Some(lines(&[(3, "SAME"), (6, "PERSON")])));
        assert_eq!(yard.mode("a"), 0o755);
    }
}

#[tokio::test]
async fn trial_03_a_file_that_a_person_removed_under_its_new_name_is_not_made_again_under_the_old_one() {
    let yard = Yard::of_lines().await;
    yard.run("mv a b").await;
    fs::remove_file(yard.path("b")).expect("removed");
    assert_eq!(yard.verdicts("t1").await, ["a Conflict(Removed)", "b Unchanged"]);
}

#[tokio::test]
async fn trial_10_a_renamed_file_comes_back_whole_when_its_turns_went_one_by_one() {
    let yard = Yard::of_lines().await;
    yard.adds(&[(1, "ONE")]).await;
    yard.run("mv a b").await;
    let (turns, whole) = (yard.each_turn().await, yard.read("b"));
    yard.leaves_out(&turns[..1]).await;
    assert_eq!((yard.read("a"), yard.read("b").as_deref()), (None, Some(LINES)));
    yard.leaves_out(&turns[1..]).await;
    assert_eq!((yard.read("a").as_deref(), yard.read("b")), (Some(LINES), None));
    yard.shows(&turns).await;
    assert_eq!((yard.read("a"), yard.read("b")), (None, whole));
}

#[tokio::test]
async fn trial_03_a_change_follows_a_file_that_was_renamed_there_and_back() {
    for renames in 2..5 {
        let yard = Yard::of_lines().await;
        yard.adds(&[(3, "ONE")]).await;
        for no in 0..renames {
            yard.run(["mv a b", "mv b a"][no % 2]).await;
        }
        let turns = yard.each_turn().await;
        let name = ["a", "b"][renames % 2];
        for _ in 0..2 {
            yard.leaves_out(&turns[..1]).await;
            assert_eq!(yard.read(name).as_deref(), Some(LINES), "{renames} renames");
            yard.shows(&turns[..1]).await;
            assert_eq!(yard.read(name), Some(lines(&[(3, "ONE")])), "{renames} renames");
        }
    }
}

#[tokio::test]
async fn trial_10_a_turn_that_comes_back_alone_brings_nothing_of_another_one_into_a_renamed_file() {
    for shown in [0, 2] {
        let yard = Yard::of_lines().await;
        yard.adds(&[(3, "ONE")]).await;
        yard.run("mv a b").await;
        yard.run("sed -i 's/^line 9$/&\\nTHREE/' b").await;
        let turns = yard.each_turn().await;
        let entries = [turns[0], turns[2]].concat();
        let mark = Action::Mark { verb: Reason::Drop, entries, range: false, seen: None };
        yard.apply(mark, FileOptions::default()).await.expect("done");
        assert_eq!(yard.read("b").as_deref(), Some(LINES));
        yard.shows(&turns[shown..=shown]).await;
        let there = if shown == 0 { (3, "ONE") } else { (9, "THREE") };
        assert_eq!(yard.read("b"), Some(lines(&[there])));
    }
}

#[tokio::test]
async fn trial_03_a_rename_of_a_file_that_is_not_there_makes_no_second_copy_without_a_word() {
    let yard = Yard::of_lines().await;
    yard.run("mv a b").await;
    yard.run("mv b c").await;
    let turns = yard.each_turn().await;
    yard.write("c", &lines(&[(5, "PERSON")]));
    yard.leaves_out(&turns[1..]).await;
    yard.leaves_out(&turns[..1]).await;
    let there = Some(lines(&[(5, "PERSON")]));
    assert_eq!((yard.read("a"), yard.read("b"), yard.read("c")), (there.clone(), None, None));
    let entries = turns[1].to_vec();
    let mark = Action::Mark { verb: Reason::Show, entries, range: true, seen: None };
    let refused = yard.apply(mark, FileOptions::default()).await.expect_err("refused");
    assert_eq!(refused.code, "conflict");
    yard.shows(&turns[..1]).await;
    assert_eq!((yard.read("a"), yard.read("b"), yard.read("c")), (None, there, None));
}

#[tokio::test]
async fn trial_03_a_rename_that_comes_again_takes_along_what_a_person_wrote_meanwhile() {
    for is_dropped in [true, false] {
        let yard = Yard::of_lines().await;
        yard.run("mv a b").await;
        let turns = yard.each_turn().await;
        match is_dropped {
            true => yard.leaves_out(&turns).await,
            false => drop(yard.back("t1").await),
        }
        yard.write("a", &lines(&[(5, "PERSON")]));
        let there = Some(lines(&[(5, "PERSON")]));
        match is_dropped {
            true => yard.shows(&turns).await,
            false => yard.undo().await,
        }
        assert_eq!((yard.read("a"), yard.read("b")), (None, there.clone()), "dropped: {is_dropped}");
        yard.back("t1").await;
        assert_eq!((yard.read("a"), yard.read("b")), (there.clone(), None), "dropped: {is_dropped}");
        yard.undo().await;
        assert_eq!((yard.read("a"), yard.read("b")), (None, there), "dropped: {is_dropped}");
    }
}

/// What a turn does to an existing file, or to its name.
fn script(kind: usize, line: usize, turn: usize) -> String {
    let name = "n=a; [ -e b ] && n=b;";
    match kind {
        0 | 1 => format!("{name} sed -i 's/^line {line}$/&\\nword {turn}/' $n"),
        2 => format!("{name} sed -i '/^line {line}$/d' $n"),
        3 => format!("{name} sed -i 's/^line {line}$/other {turn}/' $n"),
        4 => format!("{name} sed -i '/^word {}$/d' $n", line % 4),
        5 => format!("{name} sed -i 's/^word {}$/changed {turn}/' $n", line % 4),
        6 => "if [ -e a ]; then mv a b; else mv b a; fi".to_owned(),
        7 => format!("{name} chmod +x $n"),
        _ => format!("echo made {turn} > c"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn trial_10_all_turns_together_leave_the_same_in_any_order_of_rewinds(
        turns in prop::collection::vec((0..9usize, 1..13usize), 2..5),
        steps in prop::collection::vec((0..4usize, any::<bool>()), 1..8),
    ) {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        runtime.block_on(async {
            let yard = Yard::of_lines().await;
            for (no, (kind, line)) in turns.iter().enumerate() {
                yard.run(&format!("{}; echo {no} > own{no}", script(*kind, *line, no))).await;
            }
            let texts = || ["a", "b", "c"].map(|name| yard.read(name));
            let (all, there) = (yard.each_turn().await, (texts(), yard.all()));
            let mut out = vec![false; all.len()];
            let change = async |turns: &[usize], verb: Reason| {
                let entries = turns.iter().flat_map(|turn| all[*turn]).collect();
                let range = turns.len() == 1;
                let mark = Action::Mark { verb, entries, range, seen: None };
                yard.apply(mark, FileOptions::default()).await.is_ok()
            };
            for (turn, drops) in steps {
                let turn = turn % all.len();
                let verb = if drops { Reason::Drop } else { Reason::Show };
                if out[turn] != drops && change(&[turn], verb).await {
                    out[turn] = drops;
                }
            }
            let rest: Vec<usize> = (0..all.len()).filter(|turn| out[*turn]).collect();
            if !rest.is_empty() {
                assert!(change(&rest, Reason::Show).await, "they come back together");
            }
            assert_eq!((texts(), yard.all()), there);
        });
    }
}

#[tokio::test]
async fn trial_07_lines_that_stay_in_a_file_made_of_a_removed_one_are_named_in_plan_and_receipt() {
    let edited = "sed '/^line 9$/d' a > b; rm a";
    for (calls, named) in [
        (&[edited][..], true),
        (&["rm a; seq 900 950 > b"], false),
        // Only the present content of the file counts.
        (&[edited, "sed -i '/FIRST TURN/d' b"], false),
        // A rename is followed, and nothing stays.
        (&["mv a b"], false),
    ] {
        let yard = Yard::of_lines().await;
        yard.adds(&[(3, "A LINE OF THE FIRST TURN")]).await;
        for call in calls {
            yard.run(call).await;
        }
        let turns = yard.each_turn().await;
        let entries = turns[0].to_vec();
        let mark = Action::Mark { verb: Reason::Drop, entries, range: false, seen: None };
        let remark = FolderRemark::LinesStay { path: "b".to_owned(), from: "a".to_owned() };
        let stays = Note::InFolder { folder: None, remark };
        let says = |notes: &[Note]| notes.contains(&stays);
        assert_eq!(says(&yard.plan(mark.clone(), FileOptions::default()).await.notes), named, "{calls:?}");
        let done = yard.apply(mark, FileOptions::default()).await.expect("done");
        assert_eq!(says(&done.notes), named, "{calls:?}");
        let holds = yard.read("b").is_some_and(|text| text.contains("FIRST TURN"));
        assert_eq!(holds, named, "{calls:?}");
    }
}
