//! The effect of each verb on the naive model, or the code of its refusal.

use std::rc::Rc;

use retake_core::{
    Action, AnswerPlace, EntryId, Fact, FoldId, Mark, Part, Reason, Role, SayRequest, Step, Totals,
    joined_text, opens_turn,
};

use super::naive::{Done, Folded, Kind, Said, Talk, Undone};

/// The result of a request: without operations or an entry, nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) ops: u64,
    pub(super) entry: Option<EntryId>,
    pub(super) composer: Option<EntryId>,
}

/// A refusal's code; `unknown` if the entry does not belong to the conversation.
pub(super) type Verdict<T> = Result<T, &'static str>;

fn facts_of(part: &Part) -> &[Fact] {
    match part {
        Part::Facts(facts) => facts,
        _ => &[],
    }
}

impl Talk {
    /// Appends an entry.
    pub(super) fn say(&mut self, say: &SayRequest) -> Verdict<Outcome> {
        let again =
            |index: &usize| say.platform_id.is_some() && self.said[*index].platform == say.platform_id;
        if let Some(index) = self.path().into_iter().find(again) {
            return Ok(Outcome { entry: Some(self.said[index].id), ..Outcome::default() });
        }
        if let Some(seen) = say.seen {
            let seen = self.find(seen).ok_or("unknown")?;
            if !self.is_on_path(seen) {
                return Err("not_on_path");
            }
        }
        let late = say.answering.filter(|answering| self.is_late(*answering));
        let parent = match late {
            Some(late) => late.tip.and_then(|pos| self.find_pos(pos)),
            None => self.now.tip,
        };
        let index = self.said.len();
        let flags = retake_core::Flags { detached: late.is_some(), ..say.flags };
        let opens = opens_turn(say.role, flags);
        let turn = match say.answering {
            _ if opens => Some(index),
            Some(answering) => answering.turn.and_then(|pos| self.find_pos(pos)),
            None => parent.and_then(|parent| self.said[parent].turn),
        };
        let call = say.parts.iter().find_map(|part| part.answered_call());
        let before = parent.map_or(Totals::default(), |parent| self.said[parent].totals);
        let calls: Vec<String> =
            say.parts.iter().filter_map(|part| part.call_id().map(str::to_owned)).collect();
        let own = Totals { messages: 1, calls: calls.len() as u64, turns: opens.into() };
        let rewords = self.rewords();
        self.said.push(Said {
            id: say.id,
            pos: self.next_pos(),
            parent,
            role: say.role,
            flags,
            word: joined_text(&say.parts),
            calls,
            answers: call.and_then(|call| self.call_before(parent, call)),
            opens,
            turn,
            totals: before.plus(own),
            platform: say.platform_id.clone(),
            facts: say.parts.iter().flat_map(facts_of).cloned().collect(),
        });
        if late.is_none() {
            if opens && !rewords {
                let kind = Kind::Tip { before: self.now.tip, after: Some(index) };
                self.did("turn", Step::Turn(self.said[index].pos), kind);
            }
            self.now.tip = Some(index);
            self.undone.clear();
        }
        self.revision += 1;
        self.remember();
        Ok(Outcome { entry: Some(say.id), ..Outcome::default() })
    }

    /// Whether the next entry rewords a message: nothing was done or said since the edit.
    fn rewords(&self) -> bool {
        let now = self.head();
        let edited =
            self.done.last().is_some_and(|done| done.name == "edit" && done.step == Step::Op(now.op));
        edited && self.said_at(now.op) == Some(now.seq.0)
    }

    /// The number of entries when an operation was done.
    fn said_at(&self, op: retake_core::OpNo) -> Option<u64> {
        self.heads.iter().find(|(head, _)| head.op == op).map(|(head, _)| head.seq.0)
    }

    /// Whether the last entry is all that an edit was for.
    fn is_just_reworded(&self, step: Step, after: Option<usize>) -> bool {
        let Step::Op(no) = step else { return false };
        self.now.tip.is_some_and(|tip| {
            let words = &self.said[tip];
            let first = self.said_at(no).map(|said| retake_core::Pos::new(self.depth, said + 1));
            words.parent == after && Some(words.pos) == first
        })
    }

    /// Whether the prompt of a run has been reverted.
    fn is_late(&self, answering: AnswerPlace) -> bool {
        let gone = |pos: Option<_>| {
            pos.is_some_and(|pos| self.find_pos(pos).is_none_or(|index| !self.is_on_path(index)))
        };
        gone(answering.turn) || gone(answering.tip)
    }

    /// The call of a result: searched back through the turn.
    fn call_before(&self, parent: Option<usize>, call: &str) -> Option<usize> {
        for index in self.path_to(parent).into_iter().rev() {
            if self.said[index].calls.iter().any(|id| id == call) {
                return Some(index);
            }
            if self.said[index].opens {
                break;
            }
        }
        None
    }

    pub(super) fn did(&mut self, name: &'static str, step: Step, kind: Kind) {
        let undone_before = std::mem::take(&mut self.undone);
        self.done.push(Rc::new(Done { name, step, kind, undone_before }));
    }

    /// Applies an action, or returns the refusal; then nothing has changed.
    pub(super) fn act(&mut self, action: &Action) -> Verdict<Outcome> {
        let outcome = match action {
            Action::Rewind(id) => self.back_before(*id, "rewind"),
            Action::Edit(id) => self.back_before(*id, "edit"),
            Action::Retry(id) => self.retry(*id),
            Action::Undo(count) => self.repeat(*count, Self::undo, "nothing_to_undo"),
            Action::Redo(count) => self.repeat(*count, Self::redo, "nothing_to_redo"),
            Action::Restore(head) => {
                let copy = self.heads.iter().find(|(other, _)| other == head);
                let tip = copy.ok_or("unknown_head")?.1.tip;
                Ok(self.move_to(tip.map(|tip| self.end_at(tip)), "restore"))
            }
            Action::Checkout(id) => {
                let tip = id.map(|id| self.find(id).ok_or("unknown")).transpose()?;
                Ok(self.move_to(tip.map(|tip| self.end_at(tip)), "checkout"))
            }
            Action::Choose(id, number) => self.choose(*id, *number),
            Action::Compensate(step) => self.compensate(*step),
            Action::Mark { verb, entries, range, seen } => self.mark_all(*verb, entries, *range, *seen),
            Action::Fold { verb, from, to, summary, .. } => self.fold(*verb, *from, *to, summary),
            Action::Unfold(fold) => self.unfold(*fold),
            Action::Label(entry, name) => self.label(*entry, name.as_deref()),
            Action::Erase { .. } | Action::Files(_) | Action::Half(..) => Err("not in the model"),
        }?;
        self.revision += u64::from(outcome.ops > 0);
        Ok(outcome)
    }

    /// A possible target.
    pub(super) fn aim(&self, id: EntryId) -> Verdict<usize> {
        let index = self.find(id).ok_or("unknown")?;
        match (self.is_on_path(index), self.mark(index).is_visible()) {
            (false, _) => Err("not_on_path"),
            (true, false) => Err("not_visible"),
            (true, true) => Ok(index),
        }
    }

    /// The target entry, on any branch.
    pub(super) fn aim_anywhere(&self, id: EntryId) -> Verdict<usize> {
        let index = self.find(id).ok_or("unknown")?;
        if self.mark(index).is_visible() { Ok(index) } else { Err("not_visible") }
    }

    /// The nearest call at or before an entry, within its turn.
    fn call_at(&self, index: usize) -> Option<usize> {
        let path = self.path_to(Some(index)).into_iter().rev();
        for index in path {
            if !self.said[index].calls.is_empty() {
                return Some(index);
            }
            if self.said[index].opens {
                break;
            }
        }
        None
    }

    /// The tip after a move to `tip`: never between a call and its result on the path.
    fn back_to(&self, tip: Option<usize>) -> Option<usize> {
        let mut tip = tip;
        while let Some(at) = tip
            && let Some(call) = self.call_at(at)
        {
            let behind = self.path().into_iter().skip_while(|index| *index != at).skip(1);
            if !behind.into_iter().any(|index| self.said[index].answers == Some(call)) {
                break;
            }
            tip = self.said[call].parent;
        }
        tip
    }

    /// The end of a span that ends at an entry: the last result of its call.
    pub(super) fn end_at(&self, entry: usize) -> usize {
        let mut end = entry;
        while let Some(call) = self.call_at(end) {
            let follows = |index: &usize| {
                let is_result = *index != end && self.said[*index].answers == Some(call);
                is_result && self.path_to(Some(*index)).contains(&end)
            };
            let results = (0..self.said.len()).filter(follows);
            match results.max_by_key(|index| (self.is_on_path(*index), *index)) {
                Some(last) => end = last,
                None => break,
            }
        }
        end
    }

    /// The end of a fork at an entry.
    pub(super) fn end_of_fork(&self, id: EntryId) -> Verdict<usize> {
        Ok(self.end_at(self.aim_anywhere(id)?))
    }

    /// The person's text that returns when the tip moves from `before` back to `after`.
    fn composer(&self, before: Option<usize>, after: Option<usize>) -> Option<EntryId> {
        let path = self.path_to(before);
        let keep = match after {
            None => 0,
            Some(after) => path.iter().position(|index| *index == after)? + 1,
        };
        let first = *path.get(keep)?;
        let said = &self.said[first];
        let person = said.role == Role::User && !said.flags.synthetic;
        (person && self.mark(first).is_visible()).then_some(said.id)
    }

    /// One more operation is in the log.
    pub(super) fn recorded(&mut self, composer: Option<EntryId>) -> Outcome {
        self.ops += 1;
        self.remember();
        Outcome { ops: 1, entry: None, composer }
    }

    fn move_to(&mut self, tip: Option<usize>, name: &'static str) -> Outcome {
        let before = self.now.tip;
        if before == tip {
            return Outcome::default();
        }
        let composer = self.composer(before, tip).filter(|_| matches!(name, "rewind" | "edit"));
        self.did(name, Step::Op(self.next_op()), Kind::Tip { before, after: tip });
        self.now.tip = tip;
        self.rewinds += u64::from(name == "rewind");
        self.recorded(composer)
    }

    fn back_before(&mut self, id: EntryId, name: &'static str) -> Verdict<Outcome> {
        let index = self.aim(id)?;
        let parent = self.said[index].parent;
        let before = if self.said[index].opens { parent } else { self.back_to(parent) };
        Ok(self.move_to(before, name))
    }

    fn retry(&mut self, id: EntryId) -> Verdict<Outcome> {
        let mut from = Some(self.aim(id)?);
        loop {
            let path = self.path_to(from);
            let prompt = path.into_iter().rev().find(|index| self.said[*index].role == Role::User);
            let prompt = prompt.ok_or("not_an_answer")?;
            from = self.back_to(Some(prompt));
            if from == Some(prompt) {
                return Ok(self.move_to(from, "retry"));
            }
        }
    }

    fn choose(&mut self, id: EntryId, number: usize) -> Verdict<Outcome> {
        let alternatives = self.alternatives(self.aim(id)?);
        if alternatives.is_empty() {
            return Err("not_an_answer");
        }
        let chosen = number.checked_sub(1).and_then(|at| alternatives.get(at).copied());
        let chosen = chosen.ok_or("no_such_alternative")?;
        if self.is_on_path(chosen) {
            return Ok(Outcome::default());
        }
        Ok(self.move_to(Some(self.latest_leaf(chosen)), "choose"))
    }

    fn repeat(
        &mut self,
        count: usize,
        one: fn(&mut Self) -> Option<Outcome>,
        nothing: &'static str,
    ) -> Verdict<Outcome> {
        let mut whole = one(self).ok_or(nothing)?;
        for _ in 1..count {
            let Some(next) = one(self) else { break };
            whole = Outcome { ops: whole.ops + next.ops, ..next };
        }
        Ok(whole)
    }

    fn undo(&mut self) -> Option<Outcome> {
        let done = self.done.pop()?;
        let tip = self.now.tip;
        let mut composer = None;
        match &done.kind {
            Kind::Tip { before, .. } => {
                composer = self.composer(tip, *before);
                self.now.tip = *before;
            }
            Kind::Marks(marks) => marks.iter().for_each(|(index, before, _)| self.set_mark(*index, *before)),
            Kind::FoldIn(fold) => self.now.folds.retain(|other| other != fold),
            Kind::FoldOut(fold) => self.now.folds.push(fold.clone()),
        }
        self.undone.push(Undone { done, tip });
        Some(self.recorded(composer))
    }

    fn redo(&mut self) -> Option<Outcome> {
        let Undone { done, tip } = self.undone.pop()?;
        let mut composer = None;
        match &done.kind {
            Kind::Tip { .. } => {
                composer = self.composer(self.now.tip, tip);
                self.now.tip = tip;
            }
            Kind::Marks(marks) => marks.iter().for_each(|(index, _, after)| self.set_mark(*index, *after)),
            Kind::FoldIn(fold) => self.now.folds.push(fold.clone()),
            Kind::FoldOut(fold) => self.now.folds.retain(|other| other != fold),
        }
        self.done.push(done);
        Some(self.recorded(composer))
    }

    /// Reverts a turn or a move as if it had never happened, unless the tip was moved since.
    fn compensate(&mut self, step: Step) -> Verdict<Outcome> {
        let at = self.done.iter().rposition(|done| done.step == step).ok_or("overtaken")?;
        let later = &self.done[at + 1..];
        let moved = later.iter().any(|done| matches!(done.kind, Kind::Tip { .. }));
        let Kind::Tip { before, after } = self.done[at].kind else {
            return Err("overtaken");
        };
        let edit = self.done[at].name == "edit";
        if moved || !(self.now.tip == after || edit && self.is_just_reworded(step, after)) {
            return Err("overtaken");
        }
        let composer = self.composer(self.now.tip, if edit { after } else { before });
        let done = self.done.remove(at);
        if at == self.done.len() {
            self.undone.clone_from(&done.undone_before);
        }
        self.now.tip = before;
        Ok(self.recorded(composer))
    }

    fn mark_all(
        &mut self,
        verb: Reason,
        entries: &[EntryId],
        range: bool,
        seen: Option<Mark>,
    ) -> Verdict<Outcome> {
        let path = self.path();
        let located = entries.iter().map(|id| self.find(*id).ok_or("unknown"));
        let located = located.collect::<Verdict<Vec<usize>>>()?;
        let places =
            located.iter().map(|index| path.iter().position(|other| other == index).ok_or("not_on_path"));
        let places = places.collect::<Verdict<Vec<usize>>>()?;
        let mut targets: Vec<usize> = match (range, places.as_slice()) {
            (true, [a, b]) => path[*a.min(b)..=*a.max(b)].to_vec(),
            _ => located,
        };
        if seen.is_some_and(|seen| targets.iter().any(|index| self.mark(*index) != seen)) {
            return Err("stale_mark");
        }
        self.widen(&mut targets, &path);
        let (to, name) = effect(verb);
        let touches = |mark: Mark| match verb {
            Reason::Hide | Reason::Drop => mark.is_visible(),
            Reason::Show => !mark.is_visible(),
            Reason::Exclude => mark == Mark::Normal,
            _ => mark == Mark::Excluded,
        };
        targets.sort_unstable();
        targets.dedup();
        let changes = targets.into_iter().map(|index| (index, self.mark(index), to));
        let all: Vec<_> = changes.collect();
        let unseen = |(_, before, _): &(usize, Mark, Mark)| !before.is_visible() && *before != to;
        if verb != Reason::Show && !all.is_empty() && all.iter().all(unseen) {
            return Err("not_visible");
        }
        let changes: Vec<_> = all.into_iter().filter(|(_, before, _)| touches(*before)).collect();
        if changes.is_empty() {
            return Ok(Outcome::default());
        }
        for (index, _, after) in &changes {
            self.set_mark(*index, *after);
        }
        self.did(name, Step::Op(self.next_op()), Kind::Marks(changes));
        Ok(self.recorded(None))
    }

    /// Adds the other half of every call or result, if it is in `among`.
    fn widen(&self, targets: &mut Vec<usize>, among: &[usize]) {
        loop {
            let half = among.iter().copied().find(|index| {
                let pair = |other: &usize| {
                    self.said[*index].answers == Some(*other) || self.said[*other].answers == Some(*index)
                };
                !targets.contains(index) && targets.iter().any(pair)
            });
            match half {
                Some(half) => targets.push(half),
                None => return,
            }
        }
    }

    fn fold(&mut self, verb: Reason, from: EntryId, to: EntryId, summary: &str) -> Verdict<Outcome> {
        let path = self.path();
        let ends = [from, to].map(|id| self.find(id).ok_or("unknown"));
        let [from, to] = [ends[0]?, ends[1]?];
        let place = |index| path.iter().position(|other| *other == index).ok_or("not_on_path");
        let (from, to) = (place(from)?, place(to)?);
        let normal = self.normal();
        let mut covers = path[from.min(to)..=from.max(to)].to_vec();
        covers.retain(|index| normal.contains(index));
        self.widen(&mut covers, &normal);
        covers.sort_unstable_by_key(|index| path.iter().position(|other| other == index));
        let covers: Vec<EntryId> = covers.into_iter().map(|index| self.said[index].id).collect();
        self.together(&covers).ok_or("not_foldable")?;
        if self.in_force().into_iter().any(|fold| fold.covers == covers && fold.summary == summary) {
            return Ok(Outcome::default());
        }
        let id = FoldId { depth: self.depth, op: self.next_op() };
        let fold = Folded { id, covers, summary: summary.to_owned() };
        self.now.folds.push(fold.clone());
        if verb == Reason::Fold {
            self.did("fold", Step::Op(self.next_op()), Kind::FoldIn(fold));
        }
        Ok(self.recorded(None))
    }

    fn unfold(&mut self, id: FoldId) -> Verdict<Outcome> {
        let at = self.now.folds.iter().position(|fold| fold.id == id).ok_or("unknown_fold")?;
        let fold = self.now.folds.remove(at);
        self.did("unfold", Step::Op(self.next_op()), Kind::FoldOut(fold));
        Ok(self.recorded(None))
    }

    fn label(&mut self, entry: Option<EntryId>, name: Option<&str>) -> Verdict<Outcome> {
        let name = name.map(str::trim);
        if let Some(id) = entry {
            self.find(id).ok_or("unknown")?;
        }
        if name == Some("") {
            return Err("empty_label");
        }
        let target = entry.map(|id| self.aim_anywhere(id)).transpose()?;
        let taken = |(other, label): (&Option<usize>, &String)| {
            other.is_some() && *other != target && Some(label.as_str()) == name
        };
        if target.is_some() && self.now.labels.iter().any(taken) {
            return Err("label_taken");
        }
        let before = match name {
            Some(name) => self.now.labels.insert(target, name.to_owned()),
            None => self.now.labels.remove(&target),
        };
        if before.as_deref() == name {
            return Ok(Outcome::default());
        }
        Ok(self.recorded(None))
    }
}

/// The mark of a verb, and the verb's name.
fn effect(verb: Reason) -> (Mark, &'static str) {
    match verb {
        Reason::Hide => (Mark::Hidden, "hide"),
        Reason::Drop => (Mark::Dropped, "drop"),
        Reason::Exclude => (Mark::Excluded, "exclude"),
        Reason::Show => (Mark::Normal, "show"),
        _ => (Mark::Normal, "include"),
    }
}
