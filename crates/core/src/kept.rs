//! What is kept in the files against the path: entries whose changes were adopted, and entries whose changes were taken out (spec
//! `rewind.md`, *Adoption*, cases 49 to 53). A component of the state, so that undo, redo, restore and fork return to exactly
//! what was recorded.

use std::collections::BTreeSet;

use strum::IntoStaticStr;

use crate::conversation::{ChangeOrigin, Commit, Conversation, SeenState};
use crate::files::FilePath;
use crate::id::{Head, OpNo, Pos, WorkspaceNo};
use crate::mark::Mark;
use crate::op::{Change, Operation, Reason};
use crate::path::{Path, Span};
use crate::ranges::{RangeChange, Ranges};
use crate::records::Records;

/// What a step affects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Scope {
    /// Messages and files.
    #[default]
    Both,
    /// Files alone; the conversation stays.
    Files,
    /// The conversation alone; files stay.
    Conversation,
}

impl Scope {
    /// Its name, as stored.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Whether the changes of an entry's calls are wanted in the files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeepState {
    /// While the entry is on the path and not dropped.
    #[default]
    ByPath,
    /// Always: they are adopted.
    Adopted,
    /// Never: a step on files alone reverted them.
    TakenOut,
}

/// One path of an entry that a person has kept: no step removes or adds that entry's changes of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeptPath {
    /// The entry with the changes.
    pub entry: Pos,
    /// The folder.
    pub workspace: WorkspaceNo,
    /// The path in it.
    pub path: FilePath,
}

/// The component of the state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// For entries of the own log, on any branch.
    pub entries: Ranges<KeepState>,
    /// Single paths.
    pub paths: BTreeSet<KeptPath>,
    /// The operation that changed this component last: it leads to all that did without reading the others.
    pub last: Option<OpNo>,
}

/// Entries of the own log that earlier steps have left undecided (*skip*, or an unknown author): conversation and files disagree
/// about them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Undecided {
    /// Entries with all their changes in the files.
    pub there: Path,
    /// Entries with none of their changes in the files.
    pub missing: Path,
}

/// An operation's change of it, with the values before and after.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptChange {
    /// For entries, in the order of application.
    pub entries: Vec<RangeChange<KeepState>>,
    /// Single paths that are adopted.
    pub adopted: Vec<KeptPath>,
    /// Single paths that are returned to their entry.
    pub returned: Vec<KeptPath>,
    /// [`Kept::last`] before.
    pub before: Option<OpNo>,
}

impl Undecided {
    /// The entries in the files when the conversation alone goes from wanting `now` to wanting `then`. These are the wanted ones
    /// of now, corrected by undecided entries that it rewinds or brings back.
    fn in_files(&self, now: &Path, then: &Path) -> Path {
        let minus = |one: &Path, other: &Path| one.without(other.spans().iter().copied());
        let both = |one: &Path, other: &Path| minus(one, &minus(one, other));
        let missing = both(&minus(now, then), &self.missing);
        let there = both(&minus(then, now), &self.there);
        let mut spans: Vec<Span> =
            minus(now, &missing).spans().iter().chain(there.spans()).copied().collect();
        spans.sort_unstable();
        Path::from_spans(spans)
    }
}

impl KeptChange {
    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.adopted.is_empty() && self.returned.is_empty()
    }

    /// Whether it belongs to the chain of changes, even if an erasure has left nothing of it.
    pub(crate) fn is_recorded(&self) -> bool {
        !self.is_empty() || self.before.is_some()
    }

    /// The change without the single paths that an erasure removes; `None` if it removes none.
    pub fn without_paths(&self, is_erased: impl Fn(&KeptPath) -> bool) -> Option<Self> {
        let mut rest = self.clone();
        rest.adopted.retain(|path| !is_erased(path));
        rest.returned.retain(|path| !is_erased(path));
        (rest != *self).then_some(rest)
    }

    /// The change that reverts this one.
    pub(crate) fn inverse(&self) -> Self {
        Self {
            entries: self.entries.iter().rev().map(|change| change.inverse()).collect(),
            adopted: self.returned.clone(),
            returned: self.adopted.clone(),
            before: None,
        }
    }

    /// This change, followed by another one.
    fn then(mut self, next: Self) -> Self {
        self.entries.extend(next.entries);
        for path in next.returned {
            match self.adopted.iter().position(|adopted| *adopted == path) {
                Some(at) => drop(self.adopted.remove(at)),
                None => self.returned.push(path),
            }
        }
        for path in next.adopted {
            match self.returned.iter().position(|returned| *returned == path) {
                Some(at) => drop(self.returned.remove(at)),
                None => self.adopted.push(path),
            }
        }
        self
    }
}

impl Kept {
    /// Applies the change of an operation.
    pub(crate) fn apply(&mut self, change: &KeptChange, by: OpNo) {
        self.entries.apply(&change.entries);
        for path in &change.returned {
            self.paths.remove(path);
        }
        self.paths.extend(change.adopted.iter().cloned());
        self.last = Some(by);
    }

    /// Reverts the change of an operation.
    fn take_back(&mut self, change: &KeptChange) {
        self.apply(&change.inverse(), OpNo(0));
        self.last = change.before;
    }

    /// The change from this to another one.
    fn difference(&self, other: &Self) -> KeptChange {
        let mut spans: Vec<Span> = Vec::new();
        spans.extend(self.entries.ranges().iter().map(|(span, _)| *span));
        spans.extend(other.entries.ranges().iter().map(|(span, _)| *span));
        let mut now = self.entries.clone();
        let mut entries = Vec::new();
        for (span, value) in spans.into_iter().flat_map(|span| other.entries.pieces(span)) {
            let changes = now.changes(&Path::from_spans([span]), value);
            now.apply(&changes);
            entries.extend(changes);
        }
        KeptChange {
            entries,
            adopted: other.paths.difference(&self.paths).cloned().collect(),
            returned: self.paths.difference(&other.paths).cloned().collect(),
            before: None,
        }
    }

    /// The changes that are needed to want the files of `want`, where those of `now` are wanted.
    fn steer(&self, on_path: &Path, now: &Path, want: &Path) -> Vec<RangeChange<KeepState>> {
        let out = now.without(want.spans().iter().copied());
        let into = want.without(now.spans().iter().copied());
        let mut changes = Vec::new();
        for (entries, is_wanted) in [(out, false), (into, true)] {
            let elsewhere = entries.without(on_path.spans().iter().copied());
            let here = entries.without(elsewhere.spans().iter().copied());
            let (there, off) = match is_wanted {
                true => (KeepState::ByPath, KeepState::Adopted),
                false => (KeepState::TakenOut, KeepState::ByPath),
            };
            changes.extend(self.entries.changes(&here, there));
            changes.extend(self.entries.changes(&elsewhere, off));
        }
        changes
    }
}

impl Operation {
    /// The change that reverts this operation when the tip is `tip`. `None`: it cannot be reverted.
    pub(crate) fn inverse(&self, tip: Option<Pos>) -> Option<(Change, KeptChange)> {
        Some((self.change.inverse(tip)?, self.kept.inverse()))
    }
}

impl Conversation {
    /// Whether the changes of an entry's calls are wanted in the files now, for an entry of the own log.
    pub fn wants_files_of(&self, pos: Pos) -> bool {
        match self.state.kept.entries.get(pos) {
            KeepState::ByPath => self.is_on_path(pos) && self.mark(pos) != Mark::Dropped,
            KeepState::Adopted => true,
            KeepState::TakenOut => false,
        }
    }

    /// The entries of the own log that are on the path and not dropped.
    fn by_path(&self) -> Path {
        let path = self.path();
        let own = path.spans().iter().copied().filter(|span| span.depth == self.tree.depth());
        let pieces = own.flat_map(|span| self.state.marks.pieces(span)).collect::<Vec<_>>();
        Path::from_spans(pieces.into_iter().filter(|(_, mark)| *mark != Mark::Dropped).map(|(span, _)| span))
    }

    /// The entries of the own log whose changes are wanted in the files.
    fn wanted_entries(&self) -> Path {
        let kept = self.state.kept.entries.ranges();
        let by_path = self.by_path().without(kept.iter().map(|(span, _)| *span));
        let adopted = kept.iter().filter(|(_, keep)| *keep == KeepState::Adopted).map(|(span, _)| *span);
        let mut spans: Vec<Span> = by_path.spans().iter().copied().chain(adopted).collect();
        spans.sort_unstable();
        Path::from_spans(spans)
    }

    /// The entries of the own log whose changes a commit adopts: they leave the path and stay in the files.
    pub fn adopted_by<R: Records>(&self, records: &R, commit: &Commit) -> Result<Path, R::Error> {
        let after = self.after(records, commit)?;
        Ok(after.adopted().without(self.adopted().spans().iter().copied()))
    }

    /// The entries whose changes a commit returns to their turn: they were adopted or taken out, and no longer are.
    pub fn returned_by<R: Records>(&self, records: &R, commit: &Commit) -> Result<Path, R::Error> {
        let after = self.after(records, commit)?;
        let kept = |of: &Self| Path::from_spans(of.state.kept.entries.ranges().iter().map(|(span, _)| *span));
        Ok(kept(self).without(kept(&after).spans().iter().copied()))
    }

    fn adopted(&self) -> Path {
        let ranges = self.state.kept.entries.ranges().iter();
        Path::from_spans(ranges.filter(|(_, keep)| *keep == KeepState::Adopted).map(|(span, _)| *span))
    }

    /// An operation's numbered change of `kept`, with the values that it finds. An undo may find some of them already as it leaves
    /// them, after steps on one half. With other values than these, `kept` of earlier heads could not be read back.
    pub(crate) fn kept_change(&self, change: KeptChange) -> KeptChange {
        let Kept { entries: mut now, paths, last } = (*self.state.kept).clone();
        let mut entries = Vec::new();
        for RangeChange { span, after, .. } in change.entries {
            let made = now.changes(&Path::from_spans([span]), after);
            now.apply(&made);
            entries.extend(made);
        }
        let returned: Vec<_> = change.returned.into_iter().filter(|path| paths.contains(path)).collect();
        let is_new = |path: &KeptPath| !paths.contains(path) || returned.contains(path);
        let adopted = change.adopted.into_iter().filter(is_new).collect();
        let made = KeptChange { entries, adopted, returned, before: last };
        if made.is_empty() { KeptChange::default() } else { made }
    }

    /// The change by a new checkout or choice: the turns that it brings onto the path get their changes back.
    pub(crate) fn returning(&self, tip: Option<Pos>) -> KeptChange {
        let came = self.tree.path(tip).without(self.path().spans().iter().copied());
        let kept = &self.state.kept;
        KeptChange {
            entries: kept.entries.changes(&came, KeepState::ByPath),
            returned: kept.paths.iter().filter(|path| came.contains(path.entry)).cloned().collect(),
            ..KeptChange::default()
        }
    }

    /// The change by a restore: `kept` becomes as it was at an earlier head. Reads the operations that have changed it since.
    pub(crate) fn kept_at<R: Records>(&self, records: &R, head: Head) -> Result<KeptChange, R::Error> {
        let mut then = (*self.state.kept).clone();
        while let Some(no) = then.last.filter(|no| *no > head.op) {
            then.take_back(&records.op(no)?.kept);
        }
        Ok(self.state.kept.difference(&then))
    }

    /// A rewind to an entry, with `kept` as it was before that entry: the files of then.
    pub fn before_entry<R: Records>(&self, records: &R, entry: Pos) -> Result<Commit, R::Error> {
        let commit = self.rewind(records, &ChangeOrigin::default(), SeenState::Anything, entry)?;
        let own = entry.depth == self.tree.depth();
        let last = if own { self.last_op_at(records, entry.seq - 1)? } else { None };
        let head = Head { op: last.map_or(OpNo(0), |op| op.no), ..Head::default() };
        let kept = self.kept_at(records, head)?;
        self.kept_with(records, commit, kept)
    }

    /// The commit when only one half of it is done, with its change of `kept`. The conversation alone adopts the files as they
    /// are. Files alone do not return by themselves.
    pub fn one_half<R: Records>(
        &self,
        records: &R,
        by: &ChangeOrigin,
        (scope, undecided): (Scope, &Undecided),
        commit: Commit,
    ) -> Result<Commit, R::Error> {
        let after = self.after(records, &commit)?;
        let (now, then) = (self.wanted_entries(), after.wanted_entries());
        match scope {
            Scope::Both => Ok(commit),
            Scope::Conversation => {
                let there = undecided.in_files(&now, &then);
                let entries = after.state.kept.steer(&after.by_path(), &then, &there);
                self.kept_with(records, commit, KeptChange { entries, ..KeptChange::default() })
            }
            Scope::Files => {
                let reason = match commit.ops.first().map(|op| op.reason) {
                    Some(Reason::Rewind) => Reason::Rewind,
                    _ => Reason::Files,
                };
                let entries = self.state.kept.steer(&self.by_path(), &now, &then);
                let files = self.files(by, SeenState::Anything, reason)?;
                self.kept_with(records, files, KeptChange { entries, ..KeptChange::default() })
            }
        }
    }

    /// The commit with a further change of `kept`; unchanged without an operation. A path that is kept already stays so, even if
    /// the commit itself returns it.
    pub fn kept_with<R: Records>(
        &self,
        records: &R,
        mut commit: Commit,
        mut change: KeptChange,
    ) -> Result<Commit, R::Error> {
        let Some(mut last) = commit.ops.pop() else { return Ok(commit) };
        let ground = self.after(records, &Commit { entries: Vec::new(), ops: commit.ops.clone() })?;
        let is_kept = |path: &KeptPath| ground.state.kept.paths.contains(path);
        change.adopted.retain(|path| last.kept.returned.contains(path) || !is_kept(path));
        last.kept = ground.kept_change(std::mem::take(&mut last.kept).then(change));
        commit.ops.push(last);
        Ok(commit)
    }
}

#[cfg(test)]
mod tests;
