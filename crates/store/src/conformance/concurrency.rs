//! Many writers at once: case 21.

use std::sync::Arc;

use retake_core::{Action, Apply, Include, Part, Reason, Role, SeenState};

use super::stage::{Stage, by, code};
use crate::Store;

/// A hundred concurrent says: seq 1 to 100, no gap, none refused. A concurrent hide succeeds, too.
pub async fn store_case_21_many_writers_and_no_gap(store: Arc<Store>) {
    let stage = Arc::new(Stage::new(store).await);
    let mut writers = Vec::new();
    for writer in 0..8 {
        let stage = Arc::clone(&stage);
        writers.push(tokio::spawn(async move {
            let mut seqs = Vec::new();
            for say in 0..if writer < 4 { 13 } else { 12 } {
                let say = stage.saying(Role::User, vec![Part::text(format!("w{writer}s{say}"))]);
                let receipt = stage.store.say(stage.id, say).await.expect("said");
                seqs.push((receipt.head.seq.0, receipt.entries[0]));
            }
            seqs
        }));
    }
    let mut seqs = Vec::new();
    for writer in writers {
        seqs.extend(writer.await.expect("no panic"));
    }
    seqs.sort_unstable();
    assert_eq!(seqs.iter().map(|(seq, _)| *seq).collect::<Vec<_>>(), (1..=100).collect::<Vec<_>>());
    let hide = Action::Mark { verb: Reason::Hide, entries: vec![seqs[0].1], range: false, seen: None };
    let answer = stage.saying(Role::Assistant, vec![Part::text("streamed")]);
    let (hidden, said) = tokio::join!(stage.act(hide), stage.store.say(stage.id, answer));
    hidden.expect("hidden");
    said.expect("said");
    assert_eq!(stage.read(retake_core::Projection::Timeline).await.split(' ').count(), 100);
    assert_eq!(stage.search("streamed", Include::default()).await, "streamed");
}

/// Of two rewinds from the same head one succeeds, the other is stale, and nothing is lost.
pub async fn store_case_21_of_two_rewinds_one_wins(store: Arc<Store>) {
    let stage = Stage::with_turns(store, &["T1", "T2", "T3"]).await;
    let head = stage.head().await;
    let rewind = |name: &str| {
        let action = Action::Rewind(stage.named(name));
        stage.store.apply(stage.id, Apply { action, seen: SeenState::Exactly(head), by: by() })
    };
    let (one, other) = tokio::join!(rewind("T2"), rewind("T3"));
    let (won, lost) = match (one, other) {
        (Ok(won), Err(lost)) => (won, lost),
        (Err(lost), Ok(won)) => (won, lost),
        both => panic!("exactly one wins: {both:?}"),
    };
    let refused = code(&lost);
    assert!(refused == "stale_head" || refused == "not_on_path", "{refused}");
    assert_eq!(won.ops.len(), 1);
    stage.undo().await;
    assert_eq!(stage.shows().await, "T1 T2 T3");
}
