//! Undo and redo of steps with files (spec `rewind.md`, cases 38 to 42).

use super::{Yard, a, three};

#[tokio::test]
async fn rewind_case_38_at_once() {
    let yard = three().await;
    let after = yard.all();
    yard.back("t1").await;
    yard.undo().await;
    assert_eq!((yard.all(), yard.turns().await), (after, 3));
}

#[tokio::test]
async fn rewind_case_39_after_new_turns() {
    let yard = three().await;
    yard.back("t2").await;
    yard.run("echo other > b").await;
    yard.run("echo more >> b").await;
    for (turns, b) in [(2, Some("other\n")), (1, None)] {
        yard.undo().await;
        assert_eq!((yard.turns().await, yard.read("b").as_deref(), a(&yard).as_str()), (turns, b, "1\n"));
    }
    yard.undo().await;
    assert_eq!((yard.turns().await, a(&yard).as_str()), (3, "3\n"));
    assert_eq!(yard.names(), ["a", "made1", "made2", "made3"]);
}

#[tokio::test]
async fn rewind_case_40_after_a_restart() {
    let yard = three().await;
    let after = yard.all();
    yard.back("t2").await;
    let yard = yard.restarted().await;
    yard.undo().await;
    assert_eq!((yard.all(), yard.turns().await), (after, 3));
    let yard = yard.restarted().await;
    yard.redo().await;
    assert_eq!((a(&yard).as_str(), yard.turns().await), ("1\n", 1));
}

#[tokio::test]
async fn rewind_case_41_three_levels_back_and_forth() {
    let yard = three().await;
    let mut states = vec![yard.all()];
    for turn in ["t3", "t2", "t1"] {
        yard.back(turn).await;
        states.push(yard.all());
    }
    for _ in 0..2 {
        for state in states.iter().rev().skip(1) {
            yard.undo().await;
            assert_eq!(&yard.all(), state);
        }
        for state in states.iter().skip(1) {
            yard.redo().await;
            assert_eq!(&yard.all(), state);
        }
    }
}

#[tokio::test]
async fn rewind_case_42_a_file_touched_since_merges_or_is_a_conflict() {
    let lines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    let yard = Yard::with(&[("a", lines), ("b", "one\n")]).await;
    yard.run("sed -i s/2/two/ a; echo two > b").await;
    yard.back("t1").await;
    yard.write("a", &lines.replace('8', "eight"));
    yard.undo().await;
    assert_eq!(yard.read("a"), Some(lines.replace('2', "two").replace('8', "eight")));
    yard.redo().await;
    assert_eq!(yard.read("a"), Some(lines.replace('8', "eight")));
    yard.write("b", "mine\n");
    let refused = yard.apply(retake_core::Action::Undo(1), Default::default()).await;
    assert_eq!(refused.expect_err("a conflict").code, "conflict");
    assert_eq!((yard.read("b").as_deref(), yard.turns().await), (Some("mine\n"), 0));
}
