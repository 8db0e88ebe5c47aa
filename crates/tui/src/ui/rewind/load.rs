//! Turns in pages: the first at once, then the others in order; and again when the conversation has changed. Must never request
//! two pages at a time.

use retake_wire::reply::{Target, TargetPage};
use retake_wire::request::Targets;
use retake_wire::{Problem, Reply, Request};

use crate::ui::msg::Ticket;
use crate::ui::pane::Cx;
use crate::ui::plan::worded;
use crate::ui::rows::Rows;

/// The first page: more than a screen.
const FIRST: usize = 120;

/// The others.
const PAGE: usize = 1_000;

/// The state of loading.
#[derive(Debug, Default)]
pub(super) struct Load {
    asked: Option<(Ticket, Page)>,
    /// Whether all turns are there.
    is_complete: bool,
    /// The head of the list.
    head: Option<String>,
    /// The conversation has changed since the page on its way was requested.
    is_spoilt: bool,
    problem: Option<String>,
}

/// The purpose of a page.
#[derive(Debug)]
enum Page {
    /// The first one of all.
    First,
    /// Older ones.
    Older,
    /// New ones.
    Newer,
    /// Reload of all: the list stays until the new one is complete.
    All(Vec<Target>),
}

impl Load {
    /// Requests the first page, if there is a conversation.
    pub(super) fn begin(&mut self, cx: &mut Cx<'_>) {
        if cx.conversation.is_none() {
            self.is_complete = true;
        } else {
            self.ask(Page::First, FIRST, None, cx);
        }
    }

    /// Whether this is its reply.
    pub(super) fn is(&self, ticket: Ticket) -> bool {
        self.asked.as_ref().is_some_and(|(asked, _)| *asked == ticket)
    }

    /// Whether all turns are there.
    pub(super) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The reason why they are not.
    pub(super) fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// The conversation has changed: new turns are requested after the page that is on its way.
    pub(super) fn renew(&mut self, cx: &mut Cx<'_>) {
        if self.asked.is_some() || cx.conversation.is_none() {
            self.is_spoilt = true;
        } else {
            self.ask(Page::Newer, FIRST, None, cx);
        }
    }

    /// The conversation has changed; new turns can wait.
    pub(super) fn spoil(&mut self) {
        self.is_spoilt = true;
    }

    fn ask(&mut self, page: Page, limit: usize, before: Option<String>, cx: &mut Cx<'_>) {
        let targets = Targets { conversation: cx.id(), limit: Some(limit), before };
        self.is_spoilt = false;
        self.asked = Some((cx.ask(Request::Targets(targets)), page));
    }

    /// Handles a page, and requests the next one.
    pub(super) fn replied(
        &mut self,
        turns: &mut Rows<Target>,
        reply: Result<Reply, Problem>,
        cx: &mut Cx<'_>,
    ) {
        let Some((_, page)) = self.asked.take() else { return };
        let found = match reply {
            Ok(Reply::Targets(found)) => found,
            Ok(_) => return,
            Err(problem) => {
                self.problem = Some(worded(&problem));
                return;
            }
        };
        self.problem = None;
        let spoilt = self.is_spoilt;
        self.take(turns, page, found, cx);
        if spoilt {
            self.ask(Page::Newer, FIRST, None, cx);
        }
    }

    fn take(&mut self, turns: &mut Rows<Target>, page: Page, found: TargetPage, cx: &mut Cx<'_>) {
        match page {
            Page::First => {
                self.is_complete = found.targets.len() < FIRST;
                turns.set(found.targets);
                self.head = Some(found.head);
                self.older(turns, cx);
            }
            Page::Older => {
                self.is_complete = found.targets.len() < PAGE;
                turns.extend(found.targets);
                self.older(turns, cx);
            }
            Page::Newer => {
                let whole = found.targets.len() < FIRST;
                let same_steps = self.head.as_deref().map(steps) == Some(steps(&found.head));
                self.head = Some(found.head);
                if whole {
                    self.is_complete = true;
                    turns.set(found.targets);
                } else if join(turns, &found.targets) && same_steps {
                    self.older(turns, cx);
                } else {
                    // A step may have changed older turns, too.
                    self.all(found.targets, cx);
                }
            }
            Page::All(mut targets) => {
                let whole = found.targets.len() < PAGE;
                targets.extend(found.targets);
                if whole {
                    self.is_complete = true;
                    turns.set(targets);
                } else {
                    self.all(targets, cx);
                }
            }
        }
    }

    fn older(&mut self, turns: &Rows<Target>, cx: &mut Cx<'_>) {
        if !self.is_complete && !self.is_spoilt {
            let before = turns.items().next_back().map(|target| target.entry.clone());
            self.ask(Page::Older, PAGE, before, cx);
        }
    }

    fn all(&mut self, targets: Vec<Target>, cx: &mut Cx<'_>) {
        if !self.is_spoilt {
            let before = targets.last().map(|target| target.entry.clone());
            self.ask(Page::All(targets), PAGE, before, cx);
        }
    }
}

/// Replaces the newest turns. Returns `false` if old and new turns do not join without a gap: nothing changes then.
pub(super) fn join(turns: &mut Rows<Target>, newest: &[Target]) -> bool {
    let known = |target: &Target| turns.items().position(|known| known.entry == target.entry);
    let Some((fresh, from)) = newest.iter().enumerate().find_map(|(at, target)| Some((at, known(target)?)))
    else {
        return false;
    };
    let common = &newest[fresh..];
    let same = turns.items().skip(from).zip(common).filter(|(one, other)| one.entry == other.entry);
    if same.count() < common.len() {
        return false;
    }
    turns.splice(0..from + common.len(), newest.iter().cloned());
    true
}

/// The number of operations of a head (`OP.SEQ`).
fn steps(head: &str) -> &str {
    head.split_once('.').map_or(head, |(steps, _)| steps)
}
