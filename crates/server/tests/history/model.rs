//! The simplest model of a conversation: a list of messages, and two stacks. Must never share code with the system under test.

use std::collections::BTreeMap;

use retake_wire::{MarkVerb, Role};

/// A change by a client.
#[derive(Clone, Debug)]
pub(super) enum Act {
    Say { role: Role, text: String, seen: Option<String> },
    Rewind { entry: String, head: Option<String> },
    Undo { head: Option<String> },
    Redo { head: Option<String> },
    Mark { verb: MarkVerb, entry: String },
    Label { entry: String, name: String },
}

impl Act {
    /// The head that its author saw.
    pub(super) fn head(&self) -> Option<&String> {
        match self {
            Self::Rewind { head, .. } | Self::Undo { head } | Self::Redo { head } => head.as_ref(),
            Self::Say { .. } | Self::Mark { .. } | Self::Label { .. } => None,
        }
    }

    /// The same without a head.
    pub(super) fn blind(&self) -> Self {
        match self.clone() {
            Self::Rewind { entry, .. } => Self::Rewind { entry, head: None },
            Self::Undo { .. } => Self::Undo { head: None },
            Self::Redo { .. } => Self::Redo { head: None },
            act => act,
        }
    }
}

/// The reply.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    Done { head: String, gone: u64, came: u64, composer: Option<String> },
    Unchanged { head: String },
    Refused { code: String, head: Option<String> },
}

/// An entry of the timeline: id, text, mark, label.
pub(super) type Line = (String, String, String, Option<String>);

#[derive(Clone, Debug)]
struct Said {
    id: String,
    before: Option<usize>,
    role: Role,
    text: String,
}

#[derive(Clone, Debug)]
enum Change {
    Move { before: Option<usize>, after: Option<usize> },
    Mark { at: usize, before: &'static str, after: &'static str },
}

#[derive(Clone, Debug)]
enum Step {
    Turn(usize),
    Op(Change),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    said: Vec<Said>,
    tip: Option<usize>,
    marks: BTreeMap<usize, &'static str>,
    labels: BTreeMap<usize, String>,
    ops: usize,
    done: Vec<Step>,
    undone: Vec<(Step, Change)>,
}

type Refusal = (&'static str, bool);

impl Model {
    pub(super) fn head(&self) -> String {
        format!("{}.{}", self.ops, self.said.len())
    }

    fn path(&self) -> Vec<usize> {
        let mut path: Vec<_> = std::iter::successors(self.tip, |at| self.said[*at].before).collect();
        path.reverse();
        path
    }

    fn mark(&self, at: usize) -> &'static str {
        self.marks.get(&at).copied().unwrap_or("normal")
    }

    fn shown(&self) -> Vec<usize> {
        self.path().into_iter().filter(|at| self.is_shown(*at)).collect()
    }

    fn is_shown(&self, at: usize) -> bool {
        matches!(self.mark(at), "normal" | "excluded")
    }

    pub(super) fn timeline(&self) -> Vec<Line> {
        let line = |at: usize| {
            let Said { id, text, .. } = &self.said[at];
            (id.clone(), text.clone(), self.mark(at).to_owned(), self.labels.get(&at).cloned())
        };
        self.shown().into_iter().map(line).collect()
    }

    /// Makes the change; a new message gets this id.
    pub(super) fn does(&mut self, act: &Act, id: &str) -> Answer {
        let before = self.shown();
        let did = match act {
            Act::Say { role, text, seen } => self.say(*role, text, seen.as_deref(), id),
            Act::Rewind { entry, head } => self.rewind(entry, head.as_ref()),
            Act::Undo { head } => self.undo(head.as_ref()),
            Act::Redo { head } => self.redo(head.as_ref()),
            Act::Mark { verb, entry } => self.mark_as(*verb, entry),
            Act::Label { entry, name } => self.label(entry, name),
        };
        let head = self.head();
        match did {
            Err((code, stale)) => Answer::Refused { code: code.to_owned(), head: stale.then_some(head) },
            Ok(None) => Answer::Unchanged { head },
            Ok(Some(composer)) => {
                let after = self.shown();
                let missing =
                    |from: &[usize], of: &[usize]| from.iter().filter(|at| !of.contains(at)).count() as u64;
                let said = matches!(act, Act::Say { .. });
                let came = if said { 0 } else { missing(&after, &before) };
                Answer::Done { head, gone: missing(&before, &after), came, composer }
            }
        }
    }

    fn find(&self, entry: &str) -> Result<usize, Refusal> {
        self.said.iter().position(|said| said.id == entry).ok_or(("unknown_entry", false))
    }

    fn on_path(&self, entry: &str) -> Result<usize, Refusal> {
        let at = self.find(entry)?;
        if self.path().contains(&at) { Ok(at) } else { Err(("not_on_path", false)) }
    }

    fn visible(&self, entry: &str) -> Result<usize, Refusal> {
        let at = self.on_path(entry)?;
        if self.shown().contains(&at) { Ok(at) } else { Err(("not_visible", false)) }
    }

    fn expect(&self, head: Option<&String>) -> Result<(), Refusal> {
        match head {
            Some(head) if *head != self.head() => Err(("stale_head", true)),
            _ => Ok(()),
        }
    }

    fn say(&mut self, role: Role, text: &str, seen: Option<&str>, id: &str) -> TurnActions {
        if let Some(seen) = seen {
            self.on_path(seen)?;
        }
        self.said.push(Said { id: id.to_owned(), before: self.tip, role, text: text.to_owned() });
        self.tip = Some(self.said.len() - 1);
        self.undone.clear();
        if role == Role::User {
            self.done.push(Step::Turn(self.said.len() - 1));
        }
        Ok(Some(None))
    }

    fn rewind(&mut self, entry: &str, head: Option<&String>) -> TurnActions {
        let at = self.visible(entry)?;
        self.expect(head)?;
        let change = Change::Move { before: self.tip, after: self.said[at].before };
        let words = self.words(&change);
        self.change(&change);
        self.did(change);
        Ok(Some(words))
    }

    fn did(&mut self, change: Change) {
        self.done.push(Step::Op(change));
        self.undone.clear();
    }

    fn undo(&mut self, head: Option<&String>) -> TurnActions {
        self.expect(head)?;
        let step = self.done.pop().ok_or(("nothing_to_undo", false))?;
        let change = match &step {
            Step::Turn(at) => Change::Move { before: self.tip, after: self.said[*at].before },
            Step::Op(change) => self.inverse(change),
        };
        let words = self.words(&change);
        self.change(&change);
        self.undone.push((step, change));
        Ok(Some(words))
    }

    fn redo(&mut self, head: Option<&String>) -> TurnActions {
        self.expect(head)?;
        let (step, change) = self.undone.pop().ok_or(("nothing_to_redo", false))?;
        // A repeated step back returns its text again.
        let again = self.inverse(&change);
        let words = self.words(&again);
        self.change(&again);
        self.done.push(step);
        Ok(Some(words))
    }

    fn mark_as(&mut self, verb: MarkVerb, entry: &str) -> TurnActions {
        let at = self.on_path(entry)?;
        let before = self.mark(at);
        let after = match (verb, before) {
            (MarkVerb::Hide, "normal" | "excluded") => "hidden",
            (MarkVerb::Show, "hidden") | (MarkVerb::Include, "excluded") => "normal",
            (MarkVerb::Exclude, "normal") => "excluded",
            (MarkVerb::Exclude | MarkVerb::Include, "hidden") => return Err(("not_visible", false)),
            _ => return Ok(None),
        };
        let change = Change::Mark { at, before, after };
        self.change(&change);
        self.did(change);
        Ok(Some(None))
    }

    /// On any branch.
    fn label(&mut self, entry: &str, name: &str) -> TurnActions {
        let at = self.find(entry)?;
        if !self.is_shown(at) {
            return Err(("not_visible", false));
        }
        match self.labels.iter().find(|(_, label)| *label == name) {
            Some((other, _)) if *other != at => return Err(("label_taken", false)),
            Some(_) => return Ok(None),
            None => {}
        }
        self.labels.insert(at, name.to_owned());
        self.ops += 1;
        Ok(Some(None))
    }

    fn inverse(&self, change: &Change) -> Change {
        match *change {
            Change::Move { before, .. } => Change::Move { before: self.tip, after: before },
            Change::Mark { at, before, after } => Change::Mark { at, before: after, after: before },
        }
    }

    fn change(&mut self, change: &Change) {
        match *change {
            Change::Move { after, .. } => self.tip = after,
            Change::Mark { at, after, .. } => drop(self.marks.insert(at, after)),
        }
        self.ops += 1;
    }

    /// The text that a step back returns to the composer.
    fn words(&self, change: &Change) -> Option<String> {
        let Change::Move { after, .. } = *change else { return None };
        let path = self.path();
        let first = match after {
            None => path.first(),
            Some(after) => path.iter().skip_while(|at| **at != after).nth(1),
        };
        let first = *first?;
        let said = &self.said[first];
        (said.role == Role::User && self.shown().contains(&first)).then(|| said.text.clone())
    }
}

/// The text for the composer after a change; `None` if nothing had to change.
type TurnActions = Result<Option<Option<String>>, Refusal>;
