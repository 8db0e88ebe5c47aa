//! Sends and edits posts. Must never send before the owner knows it, or what is not wanted any more. Must never repeat a request whose
//! answer was lost without the platform's way to recognise it.

use retake_wire::chat::{LostAttempt, PostAction, PostContent, PostFailure, PostOutcome, PostWork};

use super::super::owner::NotDone;
use super::super::{Context, RuntimeError, compose, guarded, millis};
use super::Did;
use crate::adapter::{Found, Marker, Outgoing, Sent};
use crate::capabilities::{DeletionWindow, Resend};
use crate::failure::{Failure, Refused};

/// How long before the end of a time for deletions or repetitions we stop relying on it: clocks differ, and a call takes time.
pub(super) const MARGIN_MS: i64 = 2 * 60_000;

/// The most attempts of a post whose answers were lost, where the platform cannot say whether it is there.
const MOST_UNSEEN: u32 = 2;

/// What became of looking for a lost post.
enum Recovered {
    Did(Did),
    /// It is certainly not there.
    Absent,
    /// It may be there.
    MaySend,
}

/// What became of a request to send.
enum Attempt {
    Did(Did),
    /// The platform refused it. This is not reported yet.
    Refused(PostFailure),
}

/// Makes one attempt to send or edit a post, and reports it.
pub(super) async fn attempt(context: &Context, work: &PostWork, is_plain: bool) -> Result<Did, RuntimeError> {
    match &work.action {
        PostAction::Send { content, part, reply_to, lost } => {
            let is_preview = is_preview(content);
            let sending = Sending { context, work, part: *part, parts: 0, is_preview };
            sending.run(content, reply_to.clone(), lost.as_ref(), is_plain).await
        }
        PostAction::Edit { content, ids } => edit(context, work, content, ids, is_plain).await,
        PostAction::Delete { .. } => Ok(Did::Final),
    }
}

struct Sending<'a> {
    context: &'a Context,
    work: &'a PostWork,
    part: u32,
    parts: u32,
    is_preview: bool,
}

impl Sending<'_> {
    async fn run(
        mut self,
        content: &PostContent,
        reply_to: Option<String>,
        lost: Option<&LostAttempt>,
        is_plain: bool,
    ) -> Result<Did, RuntimeError> {
        let adapter = &*self.context.adapter;
        let parts = compose::parts(content, adapter);
        self.parts = u32::try_from(parts.len()).unwrap_or(u32::MAX);
        let Some(part) = usize::try_from(self.part).ok().and_then(|at| parts.into_iter().nth(at)) else {
            return self.report(failed(PostFailure::Refused), Did::Final).await;
        };
        let formatted = Outgoing { reply_to, ..part };
        let plain = compose::plain(&formatted, adapter);
        // After a refusal of the formatting, the earlier attempt was looked for.
        let lost = lost.filter(|_| !is_plain);
        let mut is_absent = false;
        if let Some(lost) = lost {
            let sent = [&formatted, &plain].into_iter().find(|it| adapter.digest(it) == lost.digest);
            match self.recover(lost, sent.unwrap_or(&formatted)).await? {
                Recovered::Did(did) => return Ok(did),
                Recovered::Absent => is_absent = true,
                Recovered::MaySend => {}
            }
        }
        let post = if is_plain { &plain } else { &formatted };
        let attempt = self.send(post, &self.marker(&adapter.digest(post)), !is_plain).await?;
        let did = match attempt {
            Attempt::Did(did) => did,
            Attempt::Refused(why) => {
                let did = if why == PostFailure::NotPermitted { Did::NotPermitted } else { Did::Final };
                // The lost one may be there.
                let why = if lost.is_some() && !is_absent { PostFailure::GaveUp } else { why };
                return self.report(failed(why), did).await;
            }
        };
        if did == Did::Unwanted && lost.is_some() {
            // The owner waits for the id of the lost post. It is not there, or nobody will ever know.
            let end = match is_absent {
                true => PostOutcome::Deleted { how: retake_wire::chat::Deletion::Gone },
                false => failed(PostFailure::GaveUp),
            };
            return self.report(end, Did::Final).await;
        }
        Ok(did)
    }

    fn marker(&self, digest: &str) -> Marker {
        compose::marker(&self.work.post, &format!("part {}", self.part), digest)
    }

    /// Follows the platform's ways to learn whether an attempt took effect, in their order.
    async fn recover(&self, lost: &LostAttempt, sent: &Outgoing) -> Result<Recovered, RuntimeError> {
        let adapter = &*self.context.adapter;
        let ways = adapter.capabilities().resend;
        let marker = self.marker(&lost.digest);
        for way in ways {
            match way {
                Resend::Again(within) => {
                    // The time runs from the first attempt, and only that of the last one is known.
                    let is_first = lost.times <= 1 || !ways.contains(&Resend::Find);
                    let age = self.context.clock.now_ms().saturating_sub(lost.began_ms);
                    let margin = (millis(*within) / 6).min(MARGIN_MS);
                    if is_first && age < millis(*within) - margin {
                        match self.send(sent, &marker, true).await? {
                            // Whether the first one is there, is found in another way.
                            Attempt::Did(Did::Unwanted) | Attempt::Refused(_) => {}
                            Attempt::Did(did) => return Ok(Recovered::Did(did)),
                        }
                    }
                }
                Resend::Find => {
                    let found = guarded(adapter.find(&self.work.place, &marker, lost.began_ms)).await;
                    match found {
                        Ok(Found::Found(sent)) => {
                            let did = self.report(self.sent(sent), Did::Final).await?;
                            return Ok(Recovered::Did(did));
                        }
                        Ok(Found::Absent) => return Ok(Recovered::Absent),
                        Ok(Found::CannotTell) | Err(Failure::NotFound | Failure::Refused(_)) => {}
                        Err(failure) => return self.not_now(failure).await.map(Recovered::Did),
                    }
                }
                Resend::Send if lost.times < MOST_UNSEEN => return Ok(Recovered::MaySend),
                Resend::Send => {}
            }
        }
        self.report(failed(PostFailure::GaveUp), Did::Final).await.map(Recovered::Did)
    }

    /// Sends a post, if it is still wanted.
    async fn send(
        &self,
        post: &Outgoing,
        marker: &Marker,
        has_format: bool,
    ) -> Result<Attempt, RuntimeError> {
        if let Some(did) = leaves(self.context, self.work, (self.parts, self.is_preview), marker).await? {
            return Ok(Attempt::Did(did));
        }
        // Until the report, the owner does not know what a reply to the post means.
        let _request = self.context.sends.begin(&self.work.place);
        let did = match guarded(self.context.adapter.send(&self.work.place, post, marker)).await {
            Ok(sent) => self.report(self.sent(sent), Did::Final).await,
            Err(Failure::Unknown | Failure::Unreadable) => {
                self.report(PostOutcome::Lost, Did::NotFinal(self.context.clock.now_ms())).await
            }
            Err(Failure::Refused(Refused::BadFormat)) if has_format => Ok(Did::AsPlainText),
            Err(Failure::Refused(Refused::NotPermitted | Refused::ClosedThread)) => {
                return Ok(Attempt::Refused(PostFailure::NotPermitted));
            }
            Err(Failure::NotFound | Failure::Refused(_)) => {
                return Ok(Attempt::Refused(PostFailure::Refused));
            }
            Err(failure) => self.not_now(failure).await,
        };
        did.map(Attempt::Did)
    }

    /// Nothing took effect.
    async fn not_now(&self, failure: Failure) -> Result<Did, RuntimeError> {
        not_now(self.context, self.work, failure).await
    }

    async fn report(&self, outcome: PostOutcome, did: Did) -> Result<Did, RuntimeError> {
        self.context.report(&self.work.post, outcome).await.map(|()| did)
    }

    fn sent(&self, sent: Sent) -> PostOutcome {
        let deletes = self.context.adapter.capabilities().deletes;
        let sent_ms = sent.sent_ms.unwrap_or_else(|| self.context.clock.now_ms());
        let deadline_ms = match deletes {
            DeletionWindow::Hard(window) => Some(sent_ms.saturating_add(millis(window)) - MARGIN_MS),
            _ => None,
        };
        let deletable = deletes != DeletionWindow::Never && !sent.ids.is_empty();
        PostOutcome::Sent { ids: sent.ids, sent_ms, deadline_ms, deletable }
    }
}

fn is_preview(content: &PostContent) -> bool {
    matches!(content, PostContent::Preview { .. })
}

/// Tells the owner that a request leaves. If it must not, says what that means.
async fn leaves(
    context: &Context,
    work: &PostWork,
    (parts, is_preview): (u32, bool),
    marker: &Marker,
) -> Result<Option<Did>, RuntimeError> {
    let sending = PostOutcome::Sending { parts, digest: marker.digest.clone(), is_preview };
    match context.owner.settle(&work.post, sending).await {
        Ok(true) => Ok(None),
        Ok(false) => Ok(Some(Did::Unwanted)),
        Err(NotDone::End(error)) => Err(error),
        Err(NotDone::Refused(code)) => {
            tracing::warn!(code = code.as_str(), "the owner did not let a post be sent");
            Ok(Some(Did::Final))
        }
    }
}

async fn edit(
    context: &Context,
    work: &PostWork,
    content: &PostContent,
    ids: &[String],
    is_plain: bool,
) -> Result<Did, RuntimeError> {
    let adapter = &*context.adapter;
    let capabilities = adapter.capabilities();
    let report = async |outcome, did| context.report(&work.post, outcome).await.map(|()| did);
    let parts = compose::parts(content, adapter);
    let count = u32::try_from(parts.len()).unwrap_or(u32::MAX);
    let part = parts.into_iter().next();
    let (Some(part), Some(id), true) = (part, ids.first(), capabilities.edits) else {
        return report(failed(PostFailure::Refused), Did::Final).await;
    };
    let post = if is_plain { compose::plain(&part, adapter) } else { part };
    // The number of ids tells an edit from an earlier one with the same text.
    let marker = compose::marker(&work.post, &format!("edit {}", ids.len()), &adapter.digest(&post));
    let is_preview = is_preview(content);
    // Of an answer, further parts follow. It may have been taken back since.
    if !matches!(content, PostContent::Notice { .. })
        && let Some(did) = leaves(context, work, (count, is_preview), &marker).await?
    {
        return Ok(did);
    }
    match guarded(adapter.edit(&work.place, id, &post, &marker)).await {
        Ok(mut sent) => {
            sent.ids.retain(|id| capabilities.edits_are_messages && !ids.contains(id));
            report(PostOutcome::Edited { ids: sent.ids, is_preview }, Did::Final).await
        }
        Err(Failure::NotFound) => {
            report(PostOutcome::Deleted { how: retake_wire::chat::Deletion::Gone }, Did::Final).await
        }
        Err(Failure::Refused(Refused::BadFormat)) if !is_plain => Ok(Did::AsPlainText),
        Err(Failure::Refused(Refused::NotPermitted)) => {
            report(failed(PostFailure::NotPermitted), Did::NotPermitted).await
        }
        Err(Failure::Refused(_)) => report(failed(PostFailure::Refused), Did::Final).await,
        // The same edit can be made twice.
        Err(failure) => not_now(context, work, failure).await,
    }
}

async fn not_now(context: &Context, work: &PostWork, failure: Failure) -> Result<Did, RuntimeError> {
    if let Failure::Wait { wait, bucket } = failure {
        return Ok(Did::Wait { wait, bucket });
    }
    let at_ms = context.next_try(work.attempts);
    context.report(&work.post, PostOutcome::Later { at_ms }).await?;
    match failure {
        Failure::BadToken => Err(RuntimeError::BadToken),
        _ => Ok(Did::NotFinal(at_ms)),
    }
}

fn failed(why: PostFailure) -> PostOutcome {
    PostOutcome::Failed { why }
}
