//! Branches as lanes, newest above: where a branch leaves another one, its lane joins that lane. Pure. Must never connect two
//! branches unless the reply says so: otherwise the lane just ends.

use std::cmp::Reverse;
use std::collections::HashMap;

use retake_wire::reply::{Branch, Line};

/// The most lanes drawn; those further right share the last one.
const LANES: usize = 24;

/// A row of the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GraphRow {
    /// The lanes, one column each and one between two.
    pub(super) lanes: String,
    /// Its kind.
    pub(super) what: GraphRowKind,
}

/// The kind of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum GraphRowKind {
    /// The leaf of the branch with this number.
    Tip(usize),
    /// Branches part after this entry.
    Parting(Line),
    /// The start of the conversation.
    Beginning,
}

/// The branch that a branch leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parent {
    Beginning,
    Branch(usize),
    /// Not in the reply.
    Unknown,
}

/// The rows, newest first.
pub(super) fn graph(branches: &[Branch]) -> Vec<GraphRow> {
    let leaves = branches.iter().enumerate().filter(|(_, branch)| !is_place(branch));
    let leaves: HashMap<&str, usize> = leaves.map(|(at, branch)| (branch.leaf.as_str(), at)).collect();
    let mut parents: Vec<Parent> = branches.iter().map(|branch| parent(branch, &leaves)).collect();
    let depths = depths(&mut parents);
    let mut lanes = Lanes::new(branches);
    let mut rows = Vec::new();
    let mut events = events(branches, &parents, &depths).into_iter().peekable();
    while let Some(event) = events.next() {
        match event {
            Event::Tip(at) => {
                let what = GraphRowKind::Tip(at);
                rows.push(GraphRow { lanes: lanes.tip(at, branches[at].current), what });
            }
            Event::Leaves(at) => {
                let Some(from) = leaves_behind(&branches[at]) else { continue };
                let mut leaving = vec![at];
                if parents[at] != Parent::Unknown {
                    let same = |event: &Event| match event {
                        Event::Leaves(other) => {
                            parents[*other] == parents[at]
                                && leaves_behind(&branches[*other]).is_some_and(|it| it.id == from.id)
                        }
                        Event::Tip(_) => false,
                    };
                    while let Some(Event::Leaves(other)) = events.next_if(same) {
                        leaving.push(other);
                    }
                }
                let drawn = match parents[at] {
                    Parent::Branch(parent) => lanes.join(&leaving, parent),
                    Parent::Unknown | Parent::Beginning => lanes.end(at),
                };
                rows.push(GraphRow { lanes: drawn, what: GraphRowKind::Parting(from.clone()) });
            }
        }
    }
    rows.push(GraphRow { lanes: lanes.beginning(), what: GraphRowKind::Beginning });
    rows
}

/// Whether it is no leaf but shows where the conversation is.
fn is_place(branch: &Branch) -> bool {
    branch.current && branch.own == 0
}

/// The last entry that it shares with another branch.
fn leaves_behind(branch: &Branch) -> Option<&Line> {
    if is_place(branch) { Some(&branch.last) } else { branch.from.as_ref() }
}

/// The branch that it leaves.
fn parent(branch: &Branch, leaves: &HashMap<&str, usize>) -> Parent {
    if leaves_behind(branch).is_none() {
        return Parent::Beginning;
    }
    let found = branch.onto.as_ref().and_then(|onto| leaves.get(onto.as_str()));
    found.map_or(Parent::Unknown, |other| Parent::Branch(*other))
}

/// How many branches each one leaves, in a chain. A branch in a cycle has no known parent.
fn depths(parents: &mut [Parent]) -> Vec<usize> {
    let mut depths: Vec<Option<usize>> = vec![None; parents.len()];
    let mut visits = vec![usize::MAX; parents.len()];
    for begin in 0..parents.len() {
        let (mut at, mut way) = (Some(begin).filter(|at| depths[*at].is_none()), Vec::new());
        let mut depth = 0;
        while let Some(branch) = at.take() {
            visits[branch] = begin;
            way.push(branch);
            match parents[branch] {
                Parent::Branch(parent) if depths[parent].is_some() => {
                    depth = depths[parent].map_or(0, |depth| depth + 1);
                }
                Parent::Branch(parent) if visits[parent] == begin => parents[branch] = Parent::Unknown,
                Parent::Branch(parent) => at = Some(parent),
                Parent::Beginning | Parent::Unknown => {}
            }
        }
        for (more, branch) in way.into_iter().rev().enumerate() {
            depths[branch] = Some(depth + more);
        }
    }
    depths.into_iter().map(Option::unwrap_or_default).collect()
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Tip(usize),
    Leaves(usize),
}

/// Newest first; a branch leaves another one below the leaves of both, and below all branches that leave it.
fn events(branches: &[Branch], parents: &[Parent], depths: &[usize]) -> Vec<Event> {
    let tip = |at: usize| branches[at].last.time_ms;
    let mut leaves: Vec<i64> = (0..branches.len())
        .map(|at| match (parents[at], leaves_behind(&branches[at])) {
            (Parent::Branch(parent), Some(from)) => from.time_ms.min(tip(at)).min(tip(parent)),
            // A lane that can't be connected ends at once, so that nothing seems to cross it.
            _ => tip(at),
        })
        .collect();
    let mut inwards: Vec<usize> = (0..branches.len()).collect();
    inwards.sort_by_key(|at| Reverse(depths[*at]));
    for at in inwards {
        if let Parent::Branch(parent) = parents[at] {
            leaves[parent] = leaves[parent].min(leaves[at]);
        }
    }
    let mut events: Vec<(i64, u8, (usize, usize), Event)> = Vec::new();
    for at in 0..branches.len() {
        let inner = (depths[at], at);
        events.push((tip(at), 0, (0, at), Event::Tip(at)));
        if parents[at] != Parent::Beginning {
            events.push((leaves[at], 1, inner, Event::Leaves(at)));
        }
    }
    events.sort_by_key(|(time, rank, inner, _)| (Reverse(*time), *rank, Reverse(*inner)));
    events.into_iter().map(|(.., event)| event).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lane {
    Free,
    /// Reserved for the current branch.
    Kept,
    Of(usize),
}

/// The branch in each lane.
#[derive(Debug)]
struct Lanes {
    lanes: Vec<Lane>,
}

impl Lanes {
    fn new(branches: &[Branch]) -> Self {
        let current = branches.iter().any(|branch| branch.current);
        Self { lanes: if current { vec![Lane::Kept] } else { Vec::new() } }
    }

    fn of(&self, branch: usize) -> usize {
        self.lanes.iter().position(|lane| *lane == Lane::Of(branch)).unwrap_or(0)
    }

    fn tip(&mut self, branch: usize, current: bool) -> String {
        let wanted = if current { Lane::Kept } else { Lane::Free };
        let at = self.lanes.iter().position(|lane| *lane == wanted).unwrap_or(self.lanes.len());
        if at == self.lanes.len() {
            self.lanes.push(Lane::Free);
        }
        self.lanes[at] = Lane::Of(branch);
        self.drawn(|lane| (lane == at).then_some(if current { '●' } else { '○' }))
    }

    /// Their lanes join the parent's, which becomes the leftmost of them.
    fn join(&mut self, leaving: &[usize], parent: usize) -> String {
        let mut ends: Vec<usize> = leaving.iter().map(|branch| self.of(*branch)).collect();
        ends.push(self.of(parent));
        ends.sort_unstable();
        ends.dedup();
        let drawn = self.joined(&ends, '├');
        for end in &ends {
            self.lanes[*end] = Lane::Free;
        }
        self.lanes[ends[0]] = Lane::Of(parent);
        self.trim();
        drawn
    }

    fn end(&mut self, branch: usize) -> String {
        let at = self.of(branch);
        let drawn = self.drawn(|lane| (lane == at).then_some('╵'));
        self.lanes[at] = Lane::Free;
        self.trim();
        drawn
    }

    fn beginning(&self) -> String {
        let ends: Vec<usize> =
            (0..self.lanes.len()).filter(|at| matches!(self.lanes[*at], Lane::Of(_))).collect();
        if ends.is_empty() { "◆".to_owned() } else { self.joined(&ends, '◆') }
    }

    /// Lanes that join the first of them.
    fn joined(&self, ends: &[usize], sign: char) -> String {
        let (first, last) = (ends[0], ends[ends.len() - 1]);
        let drawn = |lane: usize| match () {
            () if lane == first => Some(sign),
            () if lane == last => Some('╯'),
            () if lane < first || lane > last => None,
            () if ends.contains(&lane) => Some('┴'),
            () if matches!(self.lanes[lane], Lane::Of(_)) => Some('┼'),
            () => Some('─'),
        };
        let line = self.drawn(drawn);
        let between = |(at, c): (usize, char)| {
            if at % 2 == 1 && (2 * first..2 * last.min(LANES - 1)).contains(&at) { '─' } else { c }
        };
        line.chars().enumerate().map(between).collect()
    }

    fn drawn(&self, sign: impl Fn(usize) -> Option<char>) -> String {
        let mut drawn = String::new();
        let shown = self.lanes.len().min(LANES);
        for at in 0..shown {
            if at > 0 {
                drawn.push(' ');
            }
            // The last lane stands for all that do not fit.
            let beyond = if at + 1 == LANES { self.lanes.len() } else { at + 1 };
            let own = (at..beyond).find_map(&sign);
            drawn.push(own.unwrap_or(if matches!(self.lanes[at], Lane::Of(_)) { '│' } else { ' ' }));
        }
        drawn
    }

    fn trim(&mut self) {
        while self.lanes.last() == Some(&Lane::Free) {
            self.lanes.pop();
        }
    }
}
