//! The panes of a tab, each in front of the one that opened it: closing one shows the previous one unchanged. Must never give a
//! reply to another pane than the one that requested it.

use super::super::keymap::Context;
use super::super::msg::TabId;
use super::super::pane::Pane;
use super::App;

/// A pane behind another one.
#[derive(Debug)]
pub(super) struct CoveredPane {
    no: u64,
    /// `None` only while it handles something.
    pane: Option<Box<dyn Pane>>,
}

/// The panes of a tab.
#[derive(Debug, Default)]
pub(super) struct Panes {
    /// The front pane.
    pub(super) front: Option<Box<dyn Pane>>,
    /// Its number.
    pub(super) front_no: u64,
    /// Panes behind it; the last one is directly behind.
    behind: Vec<CoveredPane>,
    /// Panes that were left for the selected message.
    pub(super) left: Vec<CoveredPane>,
}

impl Panes {
    /// Puts a pane in front. An open pane of the same kind closes, with the panes that it opened.
    pub(super) fn open(&mut self, no: u64, pane: Box<dyn Pane>) {
        self.left.clear();
        let kind = pane.kind();
        let is_same = |behind: &CoveredPane| behind.pane.as_ref().is_some_and(|pane| pane.kind() == kind);
        if let Some(at) = self.behind.iter().position(is_same) {
            self.behind.truncate(at);
        } else if let Some(front) = self.front.take().filter(|front| front.kind() != kind) {
            self.behind.push(CoveredPane { no: self.front_no, pane: Some(front) });
        }
        (self.front_no, self.front) = (no, Some(pane));
    }

    /// Closes the front pane: the one behind it is shown again.
    pub(super) fn close(&mut self) {
        self.front = None;
        if let Some(CoveredPane { no, pane }) = self.behind.pop() {
            (self.front_no, self.front) = (no, pane);
        }
    }

    /// Closes all except the front one.
    pub(super) fn close_behind(&mut self) {
        self.behind.clear();
    }

    /// Leaves all panes for a message that they led to: the list key returns to them.
    pub(super) fn leave(&mut self) -> Vec<CoveredPane> {
        let mut left = std::mem::take(&mut self.behind);
        left.extend(self.front.take().map(|pane| CoveredPane { no: self.front_no, pane: Some(pane) }));
        left
    }

    /// Returns to the panes that were left. Returns whether there were any.
    pub(super) fn come_back(&mut self) -> bool {
        if self.left.is_empty() {
            return false;
        }
        self.behind = std::mem::take(&mut self.left);
        self.close();
        true
    }

    /// The numbers of all panes.
    pub(super) fn numbers(&self) -> Vec<u64> {
        let front = self.front.is_some().then_some(self.front_no);
        self.behind.iter().chain(&self.left).map(|behind| behind.no).chain(front).collect()
    }

    /// Whether a pane with these keys is open.
    pub(super) fn holds(&self, context: Context) -> bool {
        let behind = self.behind.iter().chain(&self.left).filter_map(|behind| behind.pane.as_ref());
        behind.chain(&self.front).any(|pane| pane.context() == context)
    }

    /// Where the pane with this number is.
    pub(super) fn slot(&mut self, no: u64) -> Option<&mut Option<Box<dyn Pane>>> {
        if self.front_no == no {
            return Some(&mut self.front);
        }
        let all = self.behind.iter_mut().chain(&mut self.left);
        all.into_iter().find(|behind| behind.no == no).map(|behind| &mut behind.pane)
    }
}

impl App {
    /// Replies for closed panes are ignored.
    pub(super) fn forget_closed(&mut self, id: TabId) {
        let open = self.find_tab(id).map(|tab| tab.panes.numbers()).unwrap_or_default();
        self.requests.forget_panes(id, &open);
    }
}
