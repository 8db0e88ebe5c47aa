//! What a turn that stays gives back when it is rewound later.

use super::*;

/// Content that a dropped turn removed, at a place where a later turn wrote: the later turn gives
/// it back.
#[tokio::test]
async fn trial_06_content_removed_by_a_dropped_turn_returns_with_the_turn_that_wrote_there() {
    for (removes, writes) in
        [(": > f", "echo new > f"), ("sed -i '/^line 5$/d' f", "sed -i 's/^line 4$/line 4\\nnew/' f")]
    {
        let yard = Yard::with_text(&[]).await;
        yard.run(removes).await;
        yard.run(writes).await;
        let written = yard.read("f");
        yard.drops(1, choose("f", Choice::Checkpoint)).await;
        assert_eq!(yard.read("f"), written, "{removes}: the later turn wrote there");
        yard.back("t2").await;
        assert_eq!(yard.read("f"), Some(text(&[])), "{removes}");
        yard.undo().await;
        yard.undo().await;
        assert_eq!(yard.read("f"), written, "{removes}");
    }
}

/// A file skipped in a redo needs no choice when that is undone.
#[tokio::test]
async fn trial_07_skipped_content_blocks_nothing_when_the_step_is_undone() {
    let yard = Yard::with(&[]).await;
    yard.run("mkdir -p d/e; printf 'one\\ntwo\\nthree\\n' > d/e/x").await;
    yard.back("t1").await;
    yard.undo().await;
    yard.apply(Action::Redo(1), all(Choice::Skip)).await.expect("done");
    yard.edits("d/e/x", &[("one", "PERSON")]);
    yard.undo().await;
    assert_eq!(yard.read("d/e/x").as_deref(), Some("PERSON\ntwo\nthree\n"));
    let back = yard.apply(yard.rewind("t1").await, FileOptions::default()).await;
    assert_eq!(back.expect_err("the person wrote into the turn's file").code, "conflict");
}
