//! The open tabs, and the shown one. There must always be a tab.

use std::ops::{Deref, DerefMut};

use super::tab::Tab;
use crate::ui::msg::TabId;

/// The open tabs, in the order of the bar.
#[derive(Debug, Default)]
pub(super) struct Tabs {
    all: Vec<Tab>,
    /// The index of the shown one.
    pub(super) current: usize,
    last_id: u64,
    last_pane: u64,
    /// A list of conversations is open and follows changes.
    pub(super) follows_list: bool,
}

impl Tabs {
    /// An id for a new tab.
    pub(super) fn new_id(&mut self) -> TabId {
        self.last_id += 1;
        TabId(self.last_id)
    }

    /// A number for a new pane.
    pub(super) fn new_pane(&mut self) -> u64 {
        self.last_pane += 1;
        self.last_pane
    }

    /// Adds a tab and shows it.
    pub(super) fn push(&mut self, tab: Tab) {
        self.all.push(tab);
        self.current = self.all.len() - 1;
    }

    /// Removes the shown tab. The caller must add another one if none is left.
    pub(super) fn remove_current(&mut self) -> Tab {
        let removed = self.all.remove(self.current);
        self.current = self.current.min(self.all.len().saturating_sub(1));
        removed
    }

    /// The shown tab.
    pub(super) fn shown(&self) -> &Tab {
        &self.all[self.current]
    }

    /// The shown tab.
    pub(super) fn shown_mut(&mut self) -> &mut Tab {
        &mut self.all[self.current]
    }

    /// The index of a tab.
    pub(super) fn place(&self, id: TabId) -> Option<usize> {
        self.all.iter().position(|tab| tab.id == id)
    }

    /// The tab with this id.
    pub(super) fn find(&mut self, id: TabId) -> Option<&mut Tab> {
        self.all.iter_mut().find(|tab| tab.id == id)
    }
}

impl Deref for Tabs {
    type Target = [Tab];

    fn deref(&self) -> &[Tab] {
        &self.all
    }
}

impl DerefMut for Tabs {
    fn deref_mut(&mut self) -> &mut [Tab] {
        &mut self.all
    }
}
