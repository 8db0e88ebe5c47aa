//! Summaries in a long conversation: a rewind across two of them gives the earlier prompts, and undos return the later ones.

use retake_core::{Message, Part};

use super::*;

/// The number of entries.
const ENTRIES: u64 = 10_000;

impl Stage {
    async fn fold(&self, to: u64, summary: &str) {
        let (from, to, summary) = (entry_id(1), entry_id(to), summary.to_owned());
        self.act(Action::Fold { verb: Reason::AutoFold, from, to, summary, covers: None }).await;
    }

    /// The number of messages of the prompt, and the text of the first one.
    async fn prompt(&self) -> (Vec<Message>, String) {
        let prompt = self.store.prompt(conversation(), None).await.expect("a prompt");
        let first = prompt[0].parts.first().and_then(Part::as_text).expect("a text").to_owned();
        (prompt, first)
    }
}

#[tokio::test]
async fn rewind_across_two_summaries_at_10000_entries_gives_the_earlier_prompts_and_undos_return_them() {
    let stage = Stage::with_entries(ENTRIES).await;
    let first = |(prompt, text): &(Vec<Message>, String)| (prompt.len(), text.clone());
    let summary = |text: &str| format!("[Summary of earlier messages]\n{text}");
    let whole = stage.prompt().await;
    assert_eq!(first(&whole), (10_000, "message 1".to_owned()));
    stage.fold(4_000, "one").await;
    let one = stage.prompt().await;
    // The summary is joined with the person's message behind it.
    assert_eq!(first(&one), (6_000, summary("one")));
    stage.fold(8_000, "two").await;
    let two = stage.prompt().await;
    assert_eq!(first(&two), (2_000, summary("two")));
    // To within the second summary, and to within the first one.
    stage.act(Action::Rewind(entry_id(6_001))).await;
    let back = stage.prompt().await;
    assert_eq!(first(&back), (2_000, summary("one")));
    assert_eq!(back.0[..], one.0[..2_000], "the beginning of the prompt with one summary");
    stage.act(Action::Rewind(entry_id(2_001))).await;
    let further = stage.prompt().await;
    assert_eq!(first(&further), (2_000, "message 1".to_owned()));
    assert_eq!(further.0[..], whole.0[..2_000]);
    // And back.
    stage.act(Action::Undo(1)).await;
    assert_eq!(stage.prompt().await, back);
    stage.act(Action::Undo(1)).await;
    assert_eq!(stage.prompt().await, two);
    stage.act(Action::Redo(2)).await;
    assert_eq!(stage.prompt().await, further);
}
