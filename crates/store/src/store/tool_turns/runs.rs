//! Runs: each step of core's machine is made inside the transaction that it belongs to, which also stores its messages. The
//! effects of a move or a mark on runs belong to the same transaction, and so does the refusal of a run with an old fence.

use retake_core::{
    ArrivalOutcome, Change, ChangeKind, ChangeOrigin, Commit, ConversationId, Digest, EntryId, Fence, Pos,
    Receipt, Role, Run, RunEffect, RunGround, RunInput, RunRefusal, RunState, SayRequest, Stepped, Tail,
    Time, Words,
};
use uuid::Builder;

use super::RunsStepped;
use crate::error::{Result, StoreError};
use crate::rows::Rows;
use crate::store::Context;
use crate::store::load::Loaded;

impl Context {
    /// Makes steps, all or none.
    pub(super) fn step_runs(&mut self, id: ConversationId, inputs: Vec<RunInput>) -> Result<RunsStepped> {
        let log = self.load(id)?.row.log;
        let mut all = RunsStepped { runs: self.rows.live_runs_of(log)?, ..RunsStepped::default() };
        for input in inputs {
            if let RunInput::Enqueue(new, _) = &input
                && let Some(words) = &new.words
                && self.said_or_waiting(id, &all, words)?
            {
                continue;
            }
            let now = time_of(&input);
            if let RunInput::Enqueue(new, _) = &input
                && let Some(chat) = new.words.as_ref().and_then(|words| words.chat.clone())
            {
                let loaded = self.load(id)?;
                self.note_arrival(&loaded, &chat, (None, ArrivalOutcome::Said(id)), now)?;
            }
            let Stepped { runs, over, effects } = self.step(id, &all, input)?;
            all.runs = runs;
            for effect in &effects {
                if let RunEffect::Say(words) = effect {
                    all.said.push(self.say_words(id, words.clone(), now)?);
                }
            }
            all.over.extend(over);
            all.effects.extend(effects);
        }
        Ok(all)
    }

    /// A step, and the rows that it changes.
    fn step(&mut self, id: ConversationId, before: &RunsStepped, input: RunInput) -> Result<Stepped> {
        let now = time_of(&input);
        let loaded = self.load(id)?;
        loaded.conversation.writable()?;
        let ground = RunGround {
            tail: tail(&*self.rows, &loaded)?,
            owner: self.rows.owner(),
            on_path: &|pos| on_path(&loaded, pos),
            mark: &|pos| loaded.conversation.mark(pos),
        };
        let stepped = before.runs.step(input, &ground)?;
        // Ended runs make room first: the rows contain one of each kind.
        let live =
            [(&before.runs.running, &stepped.runs.running), (&before.runs.queued, &stepped.runs.queued)];
        let changed = live.into_iter().filter(|(before, after)| before != after);
        let changed = changed.filter_map(|(_, after)| after.as_ref());
        for run in stepped.over.iter().chain(changed) {
            self.rows.set_run(&loaded.row, run)?;
        }
        let told = |run: &Option<Run>| run.clone().map(|run| Run { beat: Time(0), ..run });
        let goes_on = told(&before.runs.running) == told(&stepped.runs.running);
        // A renewed claim causes no event.
        if !goes_on || before.runs.queued != stepped.runs.queued || !stepped.over.is_empty() {
            self.touched(id, ChangeKind::Run);
        }
        self.owe_ends(&loaded, &stepped.over, now)?;
        Ok(stepped)
    }

    /// Whether the message of a request is stored already, as an entry or in a waiting run.
    fn said_or_waiting(&mut self, id: ConversationId, all: &RunsStepped, words: &Words) -> Result<bool> {
        let Some(request) = &words.request else { return Ok(false) };
        let loaded = self.load(id)?;
        let said = self.rows.entry_by_request(loaded.row.log, request)?.map(|(_, print)| Some(print.into()));
        let queued = all.runs.queued.iter().flat_map(|run| &run.words);
        let waiting =
            queued.filter(|queued| queued.request.as_ref() == Some(request)).map(|queued| queued.wording);
        match said.into_iter().chain(waiting).next() {
            None => Ok(false),
            Some(recorded) if is_same(words.wording, recorded) => Ok(true),
            Some(_) => Err(StoreError::RequestReused(request.clone())),
        }
    }

    /// Appends messages that have waited. If the request id was used for something else meanwhile, they are appended anyway.
    fn say_words(&mut self, id: ConversationId, words: Words, now: Time) -> Result<Receipt> {
        let loaded = self.load(id)?;
        let Words { parts, author, request, wording, time, chat } = words;
        let say = SayRequest {
            time: Some(time),
            ..SayRequest::new(
                id_at(&loaded, now),
                Role::User,
                parts,
                ChangeOrigin { author, time: now, request, wording, chat, ..ChangeOrigin::default() },
            )
        };
        match self.say(id, say.clone()) {
            Err(StoreError::RequestReused(_)) => {
                let by = ChangeOrigin { request: None, ..say.by.clone() };
                self.say(id, SayRequest { by, ..say })
            }
            said => said,
        }
    }

    /// Refuses a run whose fence is no longer valid.
    pub(in crate::store) fn admit(&self, loaded: &Loaded, fence: Option<Fence>) -> Result<()> {
        let Some(fence) = fence else { return Ok(()) };
        let runs = self.rows.live_runs_of(loaded.row.log)?;
        match runs.running {
            Some(run) if run.fence == fence => Ok(()),
            _ => Err(RunRefusal::Fenced.into()),
        }
    }

    /// The effect on runs of a commit that moves the tip or changes marks.
    pub(in crate::store) fn runs_after(&mut self, before: &Loaded, commit: &Commit, now: Time) -> Result<()> {
        let any = |is: fn(&Change) -> bool| commit.ops.iter().any(|op| is(&op.change));
        let moved = any(|change| matches!(change, Change::Move { .. }))
            .then(|| RunInput::Moved(before.conversation.path(), now));
        let marked = any(|change| matches!(change, Change::Mark(_))).then_some(RunInput::Marked(now));
        let inputs: Vec<RunInput> = moved.into_iter().chain(marked).collect();
        if !inputs.is_empty() {
            self.step_runs(before.row.id, inputs)?;
        }
        Ok(())
    }

    /// Overwrites waiting messages that contain a text; returns the number of runs with some. A waiting run without other
    /// messages ends.
    pub(in crate::store) fn erase_words(
        &mut self,
        member: &Loaded,
        holds: impl Fn(&mut Words) -> bool,
        now: Time,
    ) -> Result<usize> {
        let mut found = 0;
        for mut run in self.rows.runs_of(member.row.log, usize::MAX)? {
            let before = run.words.clone();
            run.words.retain_mut(|words| !holds(words));
            if run.words == before {
                continue;
            }
            found += 1;
            let is_kept = |chat| run.words.iter().any(|kept| kept.chat.as_ref() == Some(chat));
            for chat in before.iter().filter_map(|words| words.chat.as_ref()).filter(|chat| !is_kept(*chat)) {
                self.forget_waiting(member, chat)?;
            }
            if run.state == RunState::Queued && run.words.is_empty() {
                let error = Some("erased".to_owned());
                run = Run { state: RunState::Canceled, ended: Some(now), error, ..run };
            }
            self.rows.set_run(&member.row, &run)?;
            self.touched(member.row.id, ChangeKind::Run);
        }
        Ok(found)
    }
}

fn on_path(loaded: &Loaded, pos: Pos) -> bool {
    loaded.conversation.tree.knows(pos) && loaded.conversation.is_on_path(pos)
}

/// The end of the scheduling projection.
fn tail(rows: &dyn Rows, loaded: &Loaded) -> Result<Tail> {
    let conversation = &loaded.conversation;
    let Some(pos) = conversation.scheduling().last() else { return Ok(Tail::default()) };
    let alternatives = conversation.alternatives(&loaded.records(rows), pos)?.len().max(1);
    Ok(Tail {
        entry: Some(pos),
        alternatives: u32::try_from(alternatives).unwrap_or(u32::MAX),
        mark: conversation.mark(pos),
    })
}

/// The id of the next entry, derived from its unique place: there is no randomness in this crate.
fn id_at(loaded: &Loaded, now: Time) -> EntryId {
    let mut place = blake3::Hasher::new();
    place.update(loaded.row.id.uuid().as_bytes());
    place.update(&(loaded.conversation.tree.last() + 1).to_le_bytes());
    let mut rest = [0; 10];
    rest.copy_from_slice(&place.finalize().as_bytes()[..10]);
    let millis = u64::try_from(now.0).unwrap_or(0);
    EntryId::new(Builder::from_unix_timestamp_millis(millis, &rest).into_uuid())
}

/// Whether waiting messages with one request id have the same content. Erased messages have no digest.
fn is_same(words: Option<Digest>, recorded: Option<Digest>) -> bool {
    let erased = Some(Digest::default());
    recorded == erased
        || words.zip(recorded).map_or(words == recorded, |(it, recorded)| it.matches(recorded.current))
}

fn time_of(input: &RunInput) -> Time {
    match input {
        RunInput::Enqueue(_, now)
        | RunInput::Ready(_, _, now)
        | RunInput::Claim(now)
        | RunInput::Join(_, now)
        | RunInput::Beat(_, now)
        | RunInput::Cancel(now)
        | RunInput::Unqueue(now)
        | RunInput::Withdraw(_, now)
        | RunInput::End(_, _, now)
        | RunInput::Lost(now)
        | RunInput::Moved(_, now)
        | RunInput::Marked(now) => *now,
    }
}
