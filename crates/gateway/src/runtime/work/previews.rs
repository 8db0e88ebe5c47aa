//! Previews: what shows an answer while it is written. They are made now or not at all, so that they delay nothing else. Must never make
//! one during a hold.

use retake_wire::chat::{PostOutcome, PostWork};

use super::{Did, Finished, Worker, call_of, send};

/// What cannot be shown now is taken again after this time.
const AGAIN_MS: i64 = 1000;

impl Worker<'_> {
    /// Shows more of an answer; or says when to ask again.
    pub(super) fn preview(&mut self, work: PostWork, now: i64) -> Option<(String, PostOutcome)> {
        let call = call_of(&work);
        if !self.rate.preview(&work.place, call, now) {
            let held = self.held(&work.place.chat, call, now).unwrap_or(now);
            return Some((work.post, PostOutcome::Later { at_ms: held.max(now + AGAIN_MS) }));
        }
        let context = self.context;
        self.running.push(Box::pin(async move {
            // It has no format that could be refused.
            let did = send::attempt(context, &work, true).await?;
            Ok(Finished::Preview { work: Box::new(work), did })
        }));
        None
    }

    pub(super) fn preview_finished(&mut self, work: &PostWork, did: Did, now: i64) {
        let call = call_of(work);
        match did {
            Did::Wait { wait, bucket } => {
                self.rate.hold(&work.place, call, wait, bucket.as_deref(), now);
                let at_ms = self.held(&work.place.chat, call, now).unwrap_or(now);
                self.report(vec![(work.post.clone(), PostOutcome::Later { at_ms })]);
                return;
            }
            Did::NotPermitted => {
                self.refused.insert((work.place.chat.clone(), call), now);
            }
            // The owner did not know of this when it gave the next work. It gives it again.
            Did::NotFinal(_) => self.forget_next_send(&work.post),
            Did::Final | Did::Unwanted | Did::AsPlainText => {}
        }
        self.over(&work.post, !matches!(did, Did::NotFinal(_)));
    }
}
