//! Previews that were lost, refused, or taken back at a bad moment.

use std::time::Duration;

use retake_core::{Deletion, PostFailure, PostResult, PostTask, PostWork};
use retake_engine::ChatVerb;
use retake_testkit::{done, text};

use super::{Chat, GONE, edited, kind, words};

impl Chat {
    /// The next work that is no notice. Notices are sent.
    async fn work_on_answers(&self) -> PostWork {
        loop {
            let work = self.work().await;
            match (kind(&work), work.task) {
                ("notice", PostTask::Send) => self.sends(&work, 1).await,
                ("notice", _) => drop(self.settles(&work, edited(false)).await),
                _ => return work,
            }
        }
    }

    /// All notices are sent, and there is no other work.
    async fn rests(&self) {
        for _ in 0..20 {
            self.is_heard().await;
            for work in self.takes().await {
                assert_eq!(kind(&work), "notice", "{work:?}");
                match work.task {
                    PostTask::Send => self.sends(&work, 1).await,
                    _ => drop(self.settles(&work, edited(false)).await),
                }
            }
        }
    }
}

#[tokio::test]
async fn answer_that_is_taken_back_while_its_lost_preview_is_looked_for_is_never_posted() {
    let chat = Chat::new().await;
    let model = chat.asks().await;
    model.unbounded_send(text("one")).expect("heard");
    let work = chat.shows_after(1500).await;
    assert!(chat.begins(&work, 1).await);
    chat.settles(&work, PostResult::Lost).await;
    model.unbounded_send(done()).expect("heard");
    let again = chat.work().await;
    assert_eq!((again.task, kind(&again)), (PostTask::Resend, "answer"));
    chat.arrives("/rewind 1", Some(ChatVerb::Rewind)).await;
    assert!(!chat.begins(&again, 1).await, "it is not wanted");
    // It was looked for, and is not there.
    chat.settles(&again, PostResult::Deleted(Deletion::Gone)).await;
    chat.rests().await;
    assert_eq!(chat.states().await[0], ("answer", GONE));
}

#[tokio::test]
async fn refusal_of_a_preview_is_not_one_of_its_answer() {
    let chat = Chat::new().await;
    let model = chat.asks().await;
    model.unbounded_send(text("one")).expect("heard");
    let work = chat.shows_after(1500).await;
    assert!(chat.begins(&work, 1).await);
    model.unbounded_send(done()).expect("heard");
    while chat.states().await[0].0 == "preview" {
        tokio::task::yield_now().await;
    }
    chat.settles(&work, PostResult::Failed(PostFailure::Refused)).await;
    let new = chat.work().await;
    assert_eq!((new.task, kind(&new), words(&new)), (PostTask::Send, "answer", "one"));
    chat.sends(&new, 1).await;
    chat.rests().await;
}

#[tokio::test]
async fn lost_previews_do_not_use_up_the_attempts_of_the_answer() {
    let chat = Chat::new().await;
    let model = chat.asks().await;
    model.unbounded_send(text("one")).expect("heard");
    let work = chat.shows_after(1500).await;
    assert!(chat.begins(&work, 1).await);
    // Two gateways are killed.
    assert!(chat.begins(&work, 1).await);
    chat.settles(&work, PostResult::Lost).await;
    model.unbounded_send(done()).expect("heard");
    let again = chat.work().await;
    let lost = again.post.attempt.as_ref().map(|attempt| attempt.lost);
    assert_eq!((again.task, kind(&again), lost), (PostTask::Resend, "answer", Some(1)));
    assert!(chat.begins(&again, 2).await);
    chat.settles(&again, PostResult::Lost).await;
    chat.table.clock.advance(Duration::from_mins(1));
    let again = chat.work().await;
    assert_eq!(again.post.part, (0, 2));
    chat.settles(&again, PostResult::Failed(PostFailure::GaveUp)).await;
    let second = chat.work().await;
    assert_eq!((second.post.part, second.task), ((1, 2), PostTask::Send), "the rest is still sent");
}

#[tokio::test]
async fn undo_of_a_deletion_that_did_nothing_completes_the_answer() {
    let chat = Chat::new().await;
    let model = chat.shown().await;
    chat.arrives("/rewind 1", Some(ChatVerb::Rewind)).await;
    drop(model);
    let delete = chat.work_on_answers().await;
    assert_eq!(delete.task, PostTask::Delete);
    let is_wanted = chat.settles(&delete, PostResult::Deleting { untouched: false }).await;
    assert!(!is_wanted, "it may be deleted");
    chat.arrives("/undo", Some(ChatVerb::Undo)).await;
    chat.settles(&delete, PostResult::Later(chat.engine().now())).await;
    let last = chat.work_on_answers().await;
    assert_eq!((last.task, kind(&last)), (PostTask::Edit, "answer"));
    assert_eq!(last.text, Some(("a".repeat(100), true)), "interrupted, and whole");
}
