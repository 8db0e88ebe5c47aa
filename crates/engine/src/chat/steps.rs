//! Steps that a chat requests. One that takes back much is asked about first. Must never make a step of which a person was not told what
//! it takes back.

use std::sync::Arc;

use retake_core::{
    Action, Apply, AskedStep, ChangeOrigin, ChatButton, ChatNotice, ChatNoticeKind, ChatQuestion,
    ConversationId, Head, OpNo, Reason, Receipt, SeenState,
};

use super::{ChatMessage, ChatVerb, nothing, notice};
use crate::Engine;
use crate::error::{EngineError, Result};
use crate::files::{FileOptions, PlannedFiles};
use crate::steps::Done;

/// The most names in a question or a refusal.
pub(super) const NAMES_MAX: usize = 8;

/// How often a step is planned, if something comes in between.
const PLANS_MOST: usize = 5;

/// The answer to a request: a notice, and the operation whose posts it counts.
pub(super) type Told = (ChatNotice, Option<OpNo>);

/// What a person has seen of a step before they confirmed it: the head, and the digest of the plan of files.
pub(super) type Seen = (Head, Option<[u8; 16]>);

impl Engine {
    /// Makes a step, or asks whether to. A run at work is stopped first. `may_all`: also what others said and did.
    pub(super) async fn step_in_chat(
        self: &Arc<Self>,
        of: ConversationId,
        message: &ChatMessage,
        (step, may_all): (AskedStep, bool),
        by: ChangeOrigin,
        seen: Option<Seen>,
    ) -> Result<Told> {
        let mut plans = 0;
        loop {
            plans += 1;
            let asked = (step.clone(), may_all);
            match self.step_once(of, message, asked, by.clone(), seen).await {
                // Something came between the look and the step: it is looked at, too.
                Err(error) if error.code == "stale_head" && seen.is_none() && plans < PLANS_MOST => {}
                done => return done,
            }
        }
    }

    /// Makes a step on what it has looked at, or refuses it.
    async fn step_once(
        self: &Arc<Self>,
        of: ConversationId,
        message: &ChatMessage,
        (step, may_all): (AskedStep, bool),
        by: ChangeOrigin,
        seen: Option<Seen>,
    ) -> Result<Told> {
        // Before everything that is decided from it.
        let (now, _) = self.now_at(of).await?;
        // Who asked may have lost a right since the question.
        if !may_all && let Some(refusal) = self.step_of_others(of, message, &step, &by).await? {
            return Ok((refusal, None));
        }
        let action = self.action_in_chat(of, &step).await?;
        let options = FileOptions { stop: true, ..FileOptions::default() };
        let planned = self.plan_both(of, action.clone(), options.clone()).await?;
        let turns = planned.conversation.as_ref().map_or(0, |half| number(half.plan.taken_back.turns));
        // A run at work appends to its turn.
        let on = |head| if self.is_running(of) { SeenState::Since(head) } else { SeenState::Exactly(head) };
        let (seen, files) = match seen {
            Some((head, _)) if !self.is_as_seen(of, head).await? => {
                return Ok((notice(ChatNoticeKind::Stale), None));
            }
            Some((_, files)) => (on(now), files),
            None => match self.question(of, message, (&step, None), &planned).await? {
                Some(question) => return Ok((question, None)),
                None => (on(now), None),
            },
        };
        let author = by.author.clone();
        let done = self.act(of, Apply { action, seen, by }, FileOptions { seen: files, ..options }).await?;
        // Fewer steps than requested may have been there.
        let (receipts, files, refused) = results(done);
        let steps = number(receipts.iter().map(|receipt| receipt.ops.len() as u64).sum());
        let (kind, count) = match &step {
            AskedStep::Rewind(_) => (ChatNoticeKind::Rewound, turns),
            AskedStep::Drop(entries) => (ChatNoticeKind::Dropped, number(entries.len() as u64)),
            AskedStep::Undo(_) => (ChatNoticeKind::Undone, steps),
            AskedStep::Redo(_) => (ChatNoticeKind::Redone, steps),
            AskedStep::Edit { .. } => (ChatNoticeKind::Edited, 1),
        };
        let code = refused.map(|error| error.code.to_owned());
        let made = receipts.iter().flat_map(|receipt| receipt.ops.first()).min().copied();
        let last = receipts.last().filter(|receipt| !receipt.unchanged).map(|receipt| receipt.head);
        let told = ChatNotice { kind, count, files, names: vec![author], code, ..ChatNotice::default() };
        let told = match made.zip(last) {
            Some((first, to)) => self.offers_posts(of, message, told, (first, to)).await?,
            None => told,
        };
        Ok((told, last.map(|head| head.op)))
    }

    /// Asks about a step with this notice, whatever it takes back; or refuses it.
    pub(super) async fn ask_step(
        &self,
        of: ConversationId,
        message: &ChatMessage,
        (step, may_all): (AskedStep, bool),
        kind: ChatNoticeKind,
        by: &ChangeOrigin,
    ) -> Result<ChatNotice> {
        if !may_all && let Some(refusal) = self.step_of_others(of, message, &step, by).await? {
            return Ok(refusal);
        }
        let options = FileOptions { stop: true, ..FileOptions::default() };
        let planned = self.plan_both(of, self.action_in_chat(of, &step).await?, options).await?;
        let question = self.question(of, message, (&step, Some(kind)), &planned).await?;
        Ok(question.unwrap_or_else(|| nothing(ChatVerb::Rewind)))
    }

    /// The refusal of a step that changes what others said or did.
    pub(super) async fn step_of_others(
        &self,
        of: ConversationId,
        message: &ChatMessage,
        step: &AskedStep,
        by: &ChangeOrigin,
    ) -> Result<Option<ChatNotice>> {
        match step {
            AskedStep::Rewind(entry) => {
                let turns = self.turns_since(of, *entry).await?;
                match turns.is_empty() {
                    true => Ok(Some(nothing(ChatVerb::Rewind))),
                    false => self.turns_of_others(of, message, &turns).await,
                }
            }
            AskedStep::Edit { entry, message: edited } => {
                let back = AskedStep::Rewind(*entry);
                match Box::pin(self.step_of_others(of, message, &back, by)).await? {
                    Some(refusal) => self.offers_new(of, message, edited, refusal).await.map(Some),
                    None => Ok(None),
                }
            }
            AskedStep::Drop(entries) => self.turns_of_others(of, message, entries).await,
            AskedStep::Undo(_) | AskedStep::Redo(_) => {
                let member = Some((message.place.account.clone(), message.person.clone()));
                let action = self.action_in_chat(of, step).await?;
                let steps = self.store().authors_of_steps(of, action, by.clone()).await?;
                let other = steps.into_iter().find(|(_, person)| *person != member);
                Ok(other
                    .map(|(name, _)| ChatNotice { names: vec![name], ..notice(ChatNoticeKind::StepOfOther) }))
            }
        }
    }

    async fn action_in_chat(&self, of: ConversationId, step: &AskedStep) -> Result<Action> {
        Ok(match step {
            AskedStep::Rewind(entry) => Action::Rewind(*entry),
            AskedStep::Edit { entry, .. } => Action::Edit(*entry),
            AskedStep::Undo(count) => Action::Undo(*count),
            AskedStep::Redo(count) => Action::Redo(*count),
            AskedStep::Drop(entries) => {
                let names: Vec<String> = entries.iter().map(ToString::to_string).collect();
                self.mark_named(of, Reason::Drop, &names, false, None).await?
            }
        })
    }

    /// The question about a step that takes back more than one turn, files, or turns of other people. With a kind: about any step.
    async fn question(
        &self,
        of: ConversationId,
        message: &ChatMessage,
        (step, kind): (&AskedStep, Option<ChatNoticeKind>),
        planned: &PlannedFiles,
    ) -> Result<Option<ChatNotice>> {
        let Some(half) = &planned.conversation else { return Ok(None) };
        let turns = number(half.plan.taken_back.turns);
        let files: usize = planned.files.iter().map(|folder| folder.plan.changes().count()).sum();
        let mut names = Vec::new();
        if message.is_shared {
            let people = self.store().people_of(of, half.plan.gone.clone()).await?;
            let others = people.into_iter().filter(|(person, _)| person.as_ref() != Some(&message.person));
            names.extend(others.map(|(_, name)| name).take(NAMES_MAX));
        }
        if kind.is_none() && turns <= 1 && files == 0 && names.is_empty() {
            return Ok(None);
        }
        let posts: u32 =
            self.posts_planned(of, &half.plan).await?.iter().map(|place| place.taken_back.sum()).sum();
        let new = match step {
            // To lose more than the answer to the edited message may be too much.
            AskedStep::Edit { message, .. } if turns > 1 => Some(ChatButton::SayNew(message.clone())),
            _ => None,
        };
        let buttons = [ChatButton::Confirm(step.clone())].into_iter().chain(new).chain([ChatButton::Cancel]);
        let asks = ChatQuestion {
            person: Some(message.person.clone()),
            head: half.plan.head,
            files: Some(planned.digest),
            round: 0,
            buttons: buttons.collect(),
        };
        let (kind, files) = (kind.unwrap_or(ChatNoticeKind::Confirm), number(files as u64));
        if kind == ChatNoticeKind::ConfirmRecall {
            // The message is not there any more: the question says whose it was.
            names.insert(0, if message.is_shared { message.name.clone() } else { String::new() });
        }
        Ok(Some(ChatNotice { count: turns, files, names, posts, asks: Some(asks), ..notice(kind) }))
    }

    /// A notice of a step that brought turns back offers to post again what is gone from the place.
    async fn offers_posts(
        &self,
        of: ConversationId,
        message: &ChatMessage,
        told: ChatNotice,
        (first, to): (OpNo, Head),
    ) -> Result<ChatNotice> {
        let places = self.store().posts_changed(of, first, to, self.now()).await?;
        let lost = places.iter().find(|place| place.place == message.place).map_or(0, |place| place.lost);
        if lost == 0 {
            return Ok(told);
        }
        let buttons = vec![ChatButton::PostAgain { first, to }];
        let asks =
            ChatQuestion { person: Some(message.person.clone()), head: to, files: None, round: 0, buttons };
        Ok(ChatNotice { posts: lost, asks: Some(asks), ..told })
    }
}

/// The receipts of what was done, how many files it changed, and why a further step was not made.
fn results(done: Done) -> (Vec<Receipt>, u32, Option<EngineError>) {
    match done {
        Done::Changed(receipt) | Done::Erased(receipt, ..) => (vec![receipt], 0, None),
        Done::Steps { applied, refused } => {
            let folders = applied.iter().flat_map(|applied| &applied.folders);
            let files = folders.map(|folder| folder.plan.changes().count() as u64).sum();
            (applied.into_iter().map(|applied| applied.receipt).collect(), number(files), refused)
        }
        Done::Again { receipts, .. } => (receipts, 0, None),
    }
}

fn number(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
