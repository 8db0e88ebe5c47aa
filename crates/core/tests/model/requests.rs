//! The naive conversations, and the requests for random steps in them.

use retake_core::{
    Action, ChangeOrigin, EntryId, Fact, Flags, Head, Mark, Part, Role, SayRequest, Step, ToolOutcome,
};

use super::naive::{Kind, Talk};
use super::steps::{Do, Pick, Voice};
use crate::kit::{by, new_id};

/// The keys of facts.
pub(super) const FACT_KEYS: [&str; 5] =
    ["cwd", "job/a", "job/b", "memory/00000000000a", "memory/00000000000b"];

/// All conversations of the model, and the number of requests.
pub(super) struct Talks {
    pub(super) all: Vec<Talk>,
    pub(super) requests: u64,
}

impl Talks {
    /// Every request has an id, so that it can be repeated.
    pub(super) fn by(&mut self) -> ChangeOrigin {
        self.requests += 1;
        let request = format!("request-{}", self.requests).parse().expect("a request id");
        ChangeOrigin { request: Some(request), ..by() }
    }

    /// The target entry of a step.
    pub(super) fn pick(&self, at: usize, pick: Pick) -> Option<EntryId> {
        let talk = &self.all[at];
        let (list, number) = match pick {
            Pick::OnPath(number) => (talk.path(), number),
            Pick::Known(number) => ((0..talk.said.len()).collect(), number),
            Pick::Foreign(number) => {
                let others = self.all.iter().flat_map(|talk| &talk.said).map(|said| said.id);
                let foreign: Vec<EntryId> = others.filter(|id| talk.find(*id).is_none()).collect();
                return foreign.get(usize::from(number) % foreign.len().max(1)).copied();
            }
        };
        let index = list.iter().rev().nth(usize::from(number) % list.len().max(1))?;
        Some(talk.said[*index].id)
    }

    /// The action of a step, if there is a target.
    pub(super) fn action(&self, at: usize, step: &Do) -> Option<Action> {
        let talk = &self.all[at];
        let one = |pick: &Pick| self.pick(at, *pick);
        Some(match step {
            Do::Rewind(pick) => Action::Rewind(one(pick)?),
            Do::Retry(pick) => Action::Retry(one(pick)?),
            Do::Edit(pick) => Action::Edit(one(pick)?),
            Do::Undo(count) => Action::Undo(usize::from(*count)),
            Do::Redo(count) => Action::Redo(usize::from(*count)),
            Do::Restore(number) => Action::Restore(talk.heads[usize::from(*number) % talk.heads.len()].0),
            Do::RestoreNever(op, seq) => Action::Restore(Head::new(u64::from(*op), u64::from(*seq))),
            Do::Checkout(None) => Action::Checkout(None),
            Do::Checkout(Some(pick)) => Action::Checkout(Some(one(pick)?)),
            Do::Choose(pick, number) => Action::Choose(one(pick)?, usize::from(*number)),
            Do::Compensate(number) => {
                let moves = talk.done.iter().rev().filter(|done| matches!(done.kind, Kind::Tip { .. }));
                let steps: Vec<Step> = moves.map(|done| done.step).collect();
                Action::Compensate(*steps.get(usize::from(*number) % steps.len().max(1))?)
            }
            Do::CompensateTip => Action::Compensate(Step::Turn(talk.said[talk.now.tip?].pos)),
            Do::Mark(verb, picks, range, seen) => {
                let entries = picks.iter().map(one).collect::<Option<Vec<_>>>()?;
                let seen = Mark::ALL.get(usize::from(*seen)).copied();
                Action::Mark { verb: *verb, entries, range: *range, seen }
            }
            Do::Fold(verb, from, to) => {
                let summary = format!("summary{}", self.requests % 2);
                Action::Fold { verb: *verb, from: one(from)?, to: one(to)?, summary, covers: None }
            }
            Do::Unfold(number) => {
                let folds = &talk.now.folds;
                Action::Unfold(folds.get(usize::from(*number) % folds.len().max(1))?.id)
            }
            Do::Label(pick, name) => {
                let name = name.map(|name| if name == 0 { " ".to_owned() } else { format!("label{name}") });
                Action::Label(pick.as_ref().map(|pick| one(pick).ok_or(())).transpose().ok()?, name)
            }
            _ => return None,
        })
    }

    /// A say with a unique word.
    pub(super) fn saying(&mut self, at: usize, voice: Voice) -> SayRequest {
        let by = self.by();
        let text = Part::text(format!("w{} all", self.requests));
        let flags = |synthetic, observed| Flags { synthetic, observed, ..Flags::default() };
        let (role, flags, parts) = match voice {
            Voice::User => (Role::User, Flags::default(), vec![text]),
            Voice::Assistant => (Role::Assistant, Flags::default(), vec![text]),
            Voice::Synthetic => (Role::User, flags(true, false), vec![text]),
            Voice::Observed => (Role::User, flags(false, true), vec![text]),
            Voice::System => (Role::System, Flags::default(), vec![text]),
            Voice::Call(count) => {
                let call = |number| Part::ToolCall {
                    id: format!("c{}x{number}", self.requests),
                    name: "ls".into(),
                    arguments: "{}".into(),
                };
                let calls = (0..count).map(call);
                (Role::Assistant, Flags::default(), std::iter::once(text).chain(calls).collect())
            }
            Voice::Result(number) => {
                let talk = &self.all[at];
                let calls: Vec<&String> = talk.said.iter().rev().flat_map(|said| &said.calls).collect();
                let call = calls.get(usize::from(number) % calls.len().clamp(1, 3));
                let call = call.map_or_else(|| "nowhere".to_owned(), |call| (*call).clone());
                let result = Part::ToolResult { call, content: "done".into(), outcome: ToolOutcome::Ok };
                (Role::Tool, Flags::default(), vec![text, result])
            }
        };
        let tells = matches!(voice, Voice::Assistant | Voice::Result(_));
        SayRequest {
            flags,
            ..SayRequest::new(
                EntryId::new(new_id()),
                role,
                parts.into_iter().chain(tells.then(|| self.fact())).collect(),
                by,
            )
        }
    }

    /// One of a few facts; sometimes a removal.
    fn fact(&self) -> Part {
        let (key, number) = (FACT_KEYS[self.requests as usize % FACT_KEYS.len()], self.requests);
        let value = if number.is_multiple_of(4) { String::new() } else { format!("fact{number}") };
        Part::Facts(vec![Fact::new(key, "of two the later one counts"), Fact::new(key, value)])
    }
}
