//! The conversations that a reading meets: each is loaded once, with the forks of its root.

use std::collections::HashMap;
use std::sync::Arc;

use retake_core::{Conversation, Include, Mark, Path, Pos, Visibility};

use super::load::{Loaded, load};
use crate::error::{Result, StoreError};
use crate::rows::{CallerRow, Key, LogNo, Rows};

/// A conversation, with its path.
pub(super) struct Searched {
    pub(super) loaded: Arc<Loaded>,
    pub(super) path: Path,
    /// Its title, once it was looked up.
    pub(super) title: Option<String>,
    /// For a subagent: the visibility of the answer that started it.
    caller: Option<Visibility>,
}

impl Searched {
    fn new(loaded: Arc<Loaded>) -> Self {
        Self { path: loaded.conversation.path(), loaded, title: None, caller: None }
    }

    /// The visibility of an entry here.
    pub(super) fn visibility(&self, pos: Pos) -> Visibility {
        match (self.caller, self.path.contains(pos)) {
            (Some(Visibility::Rewound), _) | (_, false) => Visibility::Rewound,
            (Some(Visibility::OnPath(mark)), true) if mark != Mark::Normal => Visibility::OnPath(mark),
            (_, true) => Visibility::OnPath(self.loaded.conversation.mark(pos)),
        }
    }
}

/// The conversations of one reading.
pub(super) struct Family<'a> {
    pub(super) rows: &'a dyn Rows,
    met: HashMap<LogNo, Searched>,
    /// Forks of each root that has any.
    forks: HashMap<LogNo, Vec<LogNo>>,
}

impl<'a> Family<'a> {
    pub(super) fn new(rows: &'a dyn Rows) -> Self {
        Self { rows, met: HashMap::new(), forks: HashMap::new() }
    }

    /// The same, with a conversation in another than its current state.
    pub(super) fn with(rows: &'a dyn Rows, loaded: Arc<Loaded>) -> Self {
        let met = HashMap::from([(loaded.row.log, Searched::new(loaded))]);
        Self { met, ..Self::new(rows) }
    }

    /// A conversation in its current state.
    pub(super) fn loaded(&mut self, log: LogNo) -> Result<Arc<Loaded>> {
        Ok(Arc::clone(&self.meet(log)?.loaded))
    }

    pub(super) fn meet(&mut self, log: LogNo) -> Result<&mut Searched> {
        if !self.met.contains_key(&log) {
            let loaded = load(self.rows, self.rows.log(log)?)?;
            self.met.insert(log, Searched::new(Arc::new(loaded)));
        }
        self.judge(log)?;
        self.met.get_mut(&log).ok_or(StoreError::Closed)
    }

    /// Finds out whether the work of a subagent counts.
    fn judge(&mut self, log: LogNo) -> Result<()> {
        let Some(searched) = self.met.get(&log).filter(|searched| searched.caller.is_none()) else {
            return Ok(());
        };
        let Some(CallerRow { answer, .. }) = searched.loaded.row.caller.clone() else { return Ok(()) };
        // It counts where its answer does: in the conversation of the call, or in a fork of it.
        let is_normal = |visibility| visibility == Visibility::OnPath(Mark::Normal);
        let visibility = match self.first(answer, is_normal)? {
            Some((.., visibility)) => visibility,
            None => {
                let calling = self.meet(answer.log)?;
                let pos = calling.loaded.pos(answer);
                pos.map_or(Visibility::Rewound, |pos| calling.visibility(pos))
            }
        };
        if let Some(searched) = self.met.get_mut(&log) {
            searched.caller = Some(visibility);
        }
        Ok(())
    }

    /// The conversation for showing a row: its own, else the first fork with it. A fork with a visible entry is better than the
    /// parent with a rewound one.
    pub(super) fn home(&mut self, key: Key, include: Include) -> Result<Option<(LogNo, Pos, Visibility)>> {
        let shows = |include| move |visibility| Conversation::searchable(visibility, include);
        match self.first(key, shows(Include::default()))? {
            Some(home) => Ok(Some(home)),
            None => self.first(key, shows(include)),
        }
    }

    /// The first conversation with a row whose visibility there fits: its own, else a fork.
    pub(super) fn first(
        &mut self,
        key: Key,
        fits: impl Fn(Visibility) -> bool,
    ) -> Result<Option<(LogNo, Pos, Visibility)>> {
        let own = self.meet(key.log)?;
        let root = own.loaded.row.root;
        let mut logs = vec![key.log];
        if !self.forks.contains_key(&root) {
            // Only a fork knows entries of another log.
            let forks = self.rows.tree_of(root)?.into_iter().filter(|row| row.parent.is_some());
            let tree = forks.map(|row| row.log).collect();
            self.forks.insert(root, tree);
        }
        logs.extend(self.forks[&root].iter().copied().filter(|log| *log > key.log));
        for log in logs {
            let searched = self.meet(log)?;
            let Some(pos) = searched.loaded.pos(key) else {
                continue;
            };
            let visibility = searched.visibility(pos);
            if fits(visibility) {
                return Ok(Some((log, pos, visibility)));
            }
        }
        Ok(None)
    }
}
