//! The panes of a tab, each in front of the one that opened it: closing one shows the one behind it as it was left. Must never give
//! an answer to another pane than the one that asked.

use super::super::keymap::Context;
use super::super::msg::TabId;
use super::super::pane::Pane;
use super::App;
use super::tab::Tab;

/// A pane behind another one.
#[derive(Debug)]
pub(super) struct Behind {
    no: u64,
    /// Not there only while it does something.
    pane: Option<Box<dyn Pane>>,
}

impl Tab {
    /// Puts a pane in front. One of the same kind that is open already goes, and what it had opened.
    pub(super) fn open(&mut self, no: u64, pane: Box<dyn Pane>) {
        self.left.clear();
        let kind = pane.kind();
        let is_same = |behind: &Behind| behind.pane.as_ref().is_some_and(|pane| pane.kind() == kind);
        if let Some(at) = self.behind.iter().position(is_same) {
            self.behind.truncate(at);
        } else if let Some(front) = self.pane.take().filter(|front| front.kind() != kind) {
            self.behind.push(Behind { no: self.pane_no, pane: Some(front) });
        }
        (self.pane_no, self.pane) = (no, Some(pane));
    }

    /// Closes the pane in front: the one behind it is there again.
    pub(super) fn close(&mut self) {
        self.pane = None;
        if let Some(Behind { no, pane }) = self.behind.pop() {
            (self.pane_no, self.pane) = (no, pane);
        }
    }

    /// Closes all but the one in front.
    pub(super) fn close_behind(&mut self) {
        self.behind.clear();
    }

    /// Leaves all panes for a message that they have led to: the key of the list comes back to them from there.
    pub(super) fn leave_panes(&mut self) -> Vec<Behind> {
        let mut left = std::mem::take(&mut self.behind);
        left.extend(self.pane.take().map(|pane| Behind { no: self.pane_no, pane: Some(pane) }));
        left
    }

    /// Comes back to the panes that were left. Whether there were some.
    pub(super) fn come_back(&mut self) -> bool {
        if self.left.is_empty() {
            return false;
        }
        self.behind = std::mem::take(&mut self.left);
        self.close();
        true
    }

    /// The numbers of all panes that are there.
    pub(super) fn panes(&self) -> Vec<u64> {
        let front = self.pane.is_some().then_some(self.pane_no);
        self.behind.iter().chain(&self.left).map(|behind| behind.no).chain(front).collect()
    }

    /// Whether one of these keys is open.
    pub(super) fn holds(&self, context: Context) -> bool {
        let behind = self.behind.iter().chain(&self.left).filter_map(|behind| behind.pane.as_ref());
        behind.chain(&self.pane).any(|pane| pane.context() == context)
    }

    /// Where the pane with this number is.
    pub(super) fn slot(&mut self, no: u64) -> Option<&mut Option<Box<dyn Pane>>> {
        if self.pane_no == no {
            return Some(&mut self.pane);
        }
        let all = self.behind.iter_mut().chain(&mut self.left);
        all.into_iter().find(|behind| behind.no == no).map(|behind| &mut behind.pane)
    }
}

impl App {
    /// Nobody waits any more for what a pane asked that is gone.
    pub(super) fn forget_closed(&mut self, id: TabId) {
        let open = self.find_tab(id).map(|tab| tab.panes()).unwrap_or_default();
        self.requests.forget_panes(id, &open);
    }
}
