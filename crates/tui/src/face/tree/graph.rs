//! Branches as lanes, newest above: where a branch leaves another one its lane runs into that one's. Pure; must never connect two
//! branches of which it is not known that they are: where that can't be told, the lane just ends.

use retake_wire::reply::{Branch, Line};

/// So many lanes are drawn; what is right of them shares the last one.
const LANES: usize = 24;

/// A row of the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GraphRow {
    /// The lanes, a column each and one between two.
    pub(super) lanes: String,
    /// What it is.
    pub(super) what: What,
}

/// What a row of the graph is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// The leaf of the branch with this number.
    Tip(usize),
    /// Branches part behind this entry.
    Parting(Line),
    /// The beginning of the conversation.
    Beginning,
}

/// What a branch comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parent {
    Beginning,
    Branch(usize),
    /// Several branches may be it.
    Unknown,
}

/// The rows, newest first.
pub(super) fn graph(branches: &[Branch]) -> Vec<GraphRow> {
    let parents: Vec<Parent> = (0..branches.len()).map(|at| parent(branches, at)).collect();
    let mut lanes = Lanes::new(branches);
    let mut rows = Vec::new();
    let mut events = events(branches, &parents).into_iter().peekable();
    while let Some(event) = events.next() {
        match event {
            Event::Tip(at) => {
                let what = What::Tip(at);
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
                rows.push(GraphRow { lanes: drawn, what: What::Parting(from.clone()) });
            }
        }
    }
    rows.push(GraphRow { lanes: lanes.beginning(), what: What::Beginning });
    rows
}

/// Whether it is no leaf of its own but shows where the conversation is.
fn is_place(branch: &Branch) -> bool {
    branch.current && branch.own == 0
}

/// The last entry that it shares with another branch.
fn leaves_behind(branch: &Branch) -> Option<&Line> {
    if is_place(branch) { Some(&branch.last) } else { branch.from.as_ref() }
}

/// The branch that it leaves. The owner tells the entry only; that belongs to the branch whose own stretch it can lie in.
fn parent(branches: &[Branch], at: usize) -> Parent {
    let branch = &branches[at];
    let Some(from) = leaves_behind(branch) else { return Parent::Beginning };
    let others = || {
        let all = branches.iter().enumerate();
        all.filter(|(other, it)| *other != at && !is_place(it) && (*other < at || is_place(branch)))
    };
    if let Some((exact, _)) = others()
        .find(|(_, it)| it.leaf == from.id || it.first.as_ref().is_some_and(|first| first.id == from.id))
    {
        return Parent::Branch(exact);
    }
    let shared = branch.messages - branch.own.min(branch.messages);
    let mut holds = others().filter(|(_, it)| {
        let began_ms = it.first.as_ref().map_or(i64::MAX, |first| first.time_ms);
        (it.messages.saturating_sub(it.own) + 1..=it.messages).contains(&shared)
            && (began_ms..=it.last.time_ms).contains(&from.time_ms)
    });
    match (holds.next(), holds.next()) {
        (Some((one, _)), None) => Parent::Branch(one),
        _ => Parent::Unknown,
    }
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Tip(usize),
    Leaves(usize),
}

/// Newest first; a branch leaves another one below the leaves of both, and below all that leave it.
fn events(branches: &[Branch], parents: &[Parent]) -> Vec<Event> {
    let tip = |at: usize| branches[at].last.time_ms;
    let mut leaves: Vec<i64> = (0..branches.len())
        .map(|at| match (parents[at], leaves_behind(&branches[at])) {
            (Parent::Branch(parent), Some(from)) => from.time_ms.min(tip(at)).min(tip(parent)),
            // What can't be connected ends as soon as it can, so that nothing seems to cross it.
            _ => tip(at),
        })
        .collect();
    // Those that leave a branch are younger than it, and stand behind it.
    for at in (0..branches.len()).rev() {
        if let Parent::Branch(parent) = parents[at] {
            leaves[parent] = leaves[parent].min(leaves[at]);
        }
    }
    let mut events: Vec<(i64, u8, usize, Event)> = Vec::new();
    for at in 0..branches.len() {
        events.push((tip(at), 0, at, Event::Tip(at)));
        if parents[at] != Parent::Beginning {
            events.push((leaves[at], 1, at, Event::Leaves(at)));
        }
    }
    events.sort_by_key(|(time, rank, at, _)| (std::cmp::Reverse(*time), *rank, std::cmp::Reverse(*at)));
    events.into_iter().map(|(.., event)| event).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lane {
    Free,
    /// Kept for the branch that is the conversation now.
    Kept,
    Of(usize),
}

/// Which branch is drawn in which lane.
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

    /// Their lanes run into the parent's; from here on that is the leftmost of them.
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

    /// Lanes that run into the first of them.
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
            // The last lane stands for all that have no room.
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
