//! Compares the readings of a conversation with the naive model. It never changes anything.

use std::collections::BTreeMap;

use retake_core::{
    Commit, Conversation, EntryId, FoldId, Include, Mark, Message, Part, Path, Piece, Pos, PromptPiece,
    Reason, Records, Target, Totals, Visibility, difference, repaired, summary_message,
};

use super::naive::{Item, Talk};
use super::prompt_words::words;
use super::rows::{Rows, Word};
use super::tree;
use super::verbs::Outcome;
use super::world::World;

const ALL: usize = 1000;

/// The reader's view of an entry.
type Shown = (EntryId, Mark, Option<FoldId>);

/// A plan announces the model's result.
pub(super) fn plan(
    world: &World,
    at: usize,
    before: &Talk,
    after: &Talk,
    outcome: &Outcome,
    commit: &Commit,
    told: &str,
) {
    let (now, rows) = (world.now(at), world.rows(at));
    let plan = now.plan(&rows, commit).expect("a plan");
    let (old, new) = (before.timeline(), after.timeline());
    let gone: Vec<usize> = old.iter().copied().filter(|index| !new.contains(index)).collect();
    let came: Vec<usize> = new.iter().copied().filter(|index| !old.contains(index)).collect();
    let ids = |entries: &[usize]| entries.iter().map(|index| before.said[*index].id).collect::<Vec<_>>();
    assert_eq!((plan.head, rows.ids(&plan.gone)), (before.head(), ids(&gone)), "{told}");
    assert_eq!(rows.ids(&plan.came), ids(&came), "{told}");
    let totals = (before.totals(&gone), before.totals(&came));
    assert_eq!((plan.taken_back, plan.brought_back), totals, "{told}");
    assert_eq!((plan.lifted, plan.in_force), folds_between(before, after), "{told}");
    let composer = plan.composer.map(|pos| rows.entry(pos).meta.id);
    assert_eq!(composer, outcome.composer, "{told}");
}

/// The folds that are no longer in force, and those that came into force.
fn folds_between(before: &Talk, after: &Talk) -> (Vec<FoldId>, Vec<FoldId>) {
    let ids = |talk: &Talk| talk.in_force().iter().map(|fold| fold.id).collect::<Vec<_>>();
    let (was, is) = (ids(before), ids(after));
    let lifted = was.iter().filter(|fold| !is.contains(fold)).copied().collect();
    (lifted, is.iter().filter(|fold| !was.contains(fold)).copied().collect())
}

/// The view of the model's reader.
fn shown(talk: &Talk) -> Vec<Shown> {
    let entry = |index: usize| (talk.said[index].id, talk.mark(index), talk.fold_of(index));
    talk.timeline().into_iter().map(entry).collect()
}

/// The reader's view of these pieces.
fn read(rows: Rows<'_>, pieces: &[Piece]) -> Vec<Shown> {
    let piece = |piece: &Piece| {
        let piece = *piece;
        (piece.span.from..=piece.span.to).map(move |seq| {
            let pos = Pos::new(piece.span.depth, seq);
            (rows.entry(pos).meta.id, piece.mark, piece.fold)
        })
    };
    pieces.iter().flat_map(piece).collect()
}

/// Totals up to an entry along its path, whatever the marks.
fn totals_to(talk: &Talk, tip: Option<usize>) -> Totals {
    tip.map_or(Totals::default(), |tip| talk.said[tip].totals)
}

/// The head, the tip, the undo history, the counters and the timeline.
pub(super) fn at_a_glance(world: &World, at: usize) {
    let (talk, now, rows) = (&world.talks.all[at], world.now(at), world.rows(at));
    assert_eq!((now.id, now.head, now.revision.0), (talk.id, talk.head(), talk.revision));
    assert_eq!(rows.rewinds(), talk.rewinds);
    assert_eq!(now.state.tip, talk.now.tip.map(|tip| talk.said[tip].pos));
    assert_eq!(now.counters(&rows), Ok(talk.totals(&talk.timeline())));
    assert_eq!(now.totals, totals_to(talk, talk.now.tip), "totals at the tip");
    assert_eq!(now.next_undo(&rows), Ok(talk.done.last().map(|done| done.step)), "undo");
    let redo = now.history.undone.map(|no| rows.op(no).expect("an operation").reason);
    let expected = talk.undone.last().map(|undone| Reason::Undo(undone.done.step));
    assert_eq!(redo, expected, "redo");
    assert_eq!(*now.state.labels, talk.labels());
    assert_eq!(now.turn_of(&rows, now.state.tip), Ok(talk.answering().turn));
    assert_eq!(read(rows, &now.timeline()), shown(talk));
}

/// Every reading of a conversation in its current state.
pub(super) fn everything(world: &World, at: usize) {
    at_a_glance(world, at);
    let (talk, now, rows) = (&world.talks.all[at], world.now(at), world.rows(at));
    assert_eq!(rows.load(now.head), *now, "read from the rows");
    projections(talk, now, rows);
    turns(talk, now, rows);
    marked(talk, now, rows);
    tree::shape(talk, now);
    for index in 0..talk.said.len() {
        entry(talk, now, rows, index);
        let is_wanted = talk.is_on_path(index) && talk.mark(index) != Mark::Dropped;
        assert_eq!(now.wants_files_of(talk.said[index].pos), is_wanted);
    }
    for chance in 0..talk.said.len().max(talk.heads.len()) {
        one_of_many(world, at, chance);
    }
}

/// One of the earlier heads, one of the branches, one way along a path.
pub(super) fn one_of_many(world: &World, at: usize, chance: usize) {
    let (talk, now, rows) = (&world.talks.all[at], world.now(at), world.rows(at));
    let (head, picture) = &talk.heads[chance % talk.heads.len()];
    let then = talk.at(picture);
    let loaded = rows.load(*head);
    assert_eq!(read(rows, &loaded.timeline()), shown(&then), "at {head}");
    let change = difference(&loaded, now);
    let (old, new) = (then.timeline(), talk.timeline());
    let ids = |some: &[usize], others: &[usize]| {
        let only = some.iter().filter(|index| !others.contains(index));
        only.map(|index| talk.said[*index].id).collect::<Vec<_>>()
    };
    assert_eq!(rows.ids(&change.gone), ids(&old, &new), "gone since {head}");
    assert_eq!(rows.ids(&change.came), ids(&new, &old), "came since {head}");
    assert_eq!((change.lifted, change.in_force), folds_between(&then, talk), "since {head}");
    let mut marks = BTreeMap::new();
    for index in then.path() {
        if then.mark(index) != talk.mark(index) {
            *marks.entry((then.mark(index), talk.mark(index))).or_insert(0) += 1;
        }
    }
    assert_eq!(loaded.other_marks(now), Vec::from_iter(marks), "marks since {head}");
    if !talk.said.is_empty() {
        branch(talk, now, rows, chance % talk.said.len());
        tree::ways(talk, now, chance % talk.said.len(), chance / 7 % talk.said.len());
        entry(talk, now, rows, chance % talk.said.len());
    }
}

/// The branch that leads to an entry is read as if it were checked out.
fn branch(talk: &Talk, now: &Conversation, rows: Rows<'_>, tip: usize) {
    let mut there = talk.clone();
    there.now.tip = Some(there.end_at(tip));
    let branch = now.on_branch(&rows, talk.said[tip].pos).expect("a branch");
    assert_eq!(read(rows, &branch.timeline()), shown(&there), "the branch of {tip}");
    assert_eq!(branch.totals, totals_to(talk, there.now.tip));
    let unknown = Pos::new(talk.depth, now.tree.last() + 1);
    assert_eq!(now.on_branch(&rows, unknown), Err(Word("unknown_entry")));
}

fn projections(talk: &Talk, now: &Conversation, rows: Rows<'_>) {
    assert_eq!(read(rows, &now.export()), shown(talk));
    let visible: Vec<EntryId> = talk.timeline().into_iter().map(|index| talk.said[index].id).collect();
    assert_eq!(rows.ids(&now.scheduling()), visible);
    let in_force: Vec<FoldId> = talk.in_force().iter().map(|fold| fold.id).collect();
    assert_eq!(now.folds_in_force(), in_force);
    let mut items = Vec::new();
    let mut messages = Vec::new();
    for piece in now.prompt() {
        match piece {
            PromptPiece::Summary(fold) => {
                items.push(Item::Summary(fold));
                let summary = rows.summary(fold).expect("an operation").expect("a summary");
                messages.push(summary_message(&summary));
            }
            PromptPiece::Entries(span) => {
                for pos in Path::from_spans([span]).positions() {
                    items.push(Item::Entry(talk.find_pos(pos).expect("a known entry")));
                    let entry = rows.entry(pos);
                    messages.push(Message::new(entry.meta.role, entry.parts.clone()));
                }
            }
        }
    }
    assert_eq!(items, talk.prompt());
    words(talk, &repaired(messages));
}

/// Turns as targets of a rewind, all at once and in pages; each by its number, and the whole turn.
fn turns(talk: &Talk, now: &Conversation, rows: Rows<'_>) {
    let timeline = talk.timeline();
    let openers: Vec<usize> = (0..timeline.len()).filter(|at| talk.said[timeline[*at]].opens).collect();
    let ends: Vec<usize> = openers.iter().skip(1).copied().chain([timeline.len()]).collect();
    let mut expected = Vec::new();
    for (at, end) in openers.into_iter().zip(ends) {
        let own = &timeline[at..end];
        let (opener, takes_back) = (&talk.said[timeline[at]], talk.totals(&timeline[at..]));
        let own_ids: Vec<EntryId> = own.iter().map(|index| talk.said[*index].id).collect();
        expected.insert(0, (opener.id, opener.number(), takes_back, own_ids, talk.totals(own)));
    }
    let targets = |before, limit| {
        let targets = now.targets(&rows, before, limit).expect("targets").into_iter();
        let target = |target: Target| {
            let own = rows.ids(&target.own);
            (target.meta.id, target.number, target.takes_back, own, target.holds)
        };
        targets.map(target).collect::<Vec<_>>()
    };
    assert_eq!(targets(None, ALL), expected);
    let mut pages = targets(None, 2);
    while let Some((last, ..)) = pages.last()
        && pages.len() < expected.len()
    {
        let before = talk.said[talk.find(*last).expect("a known entry")].pos;
        pages.extend(targets(Some(before), 2));
    }
    assert_eq!(pages, expected, "in pages");
    let last = talk.said.iter().map(|said| said.number()).max().unwrap_or(0);
    for number in 0..=last + 1 {
        let opener = expected.iter().find(|(_, other, ..)| *other == number).map(|(id, ..)| *id);
        let got = now.turn_opener(&rows, number).expect("a turn").map(|pos| rows.entry(pos).meta.id);
        assert_eq!(got, opener, "turn {number}");
        let whole = now.turn_part(&rows, number).expect("a turn");
        let on_path = talk.path().into_iter().map(|index| &talk.said[index]);
        let all: Vec<EntryId> = on_path.filter(|said| said.number() == number).map(|said| said.id).collect();
        assert_eq!(rows.ids(&whole), all, "turn {number}");
    }
}

/// Marked entries, in pieces: neighbours on the path in one turn with one mark.
fn marked(talk: &Talk, now: &Conversation, rows: Rows<'_>) {
    let mut pieces: Vec<(Mark, u64, Vec<usize>)> = Vec::new();
    let mut before = None;
    for index in talk.path() {
        let key = (talk.mark(index), talk.said[index].number());
        match pieces.last_mut() {
            Some((.., entries)) if before == Some(key) && key.0 != Mark::Normal => entries.push(index),
            _ if key.0 != Mark::Normal => pieces.push((key.0, key.1, vec![index])),
            _ => {}
        }
        before = Some(key);
    }
    let piece = |(mark, turn, entries): &(Mark, u64, Vec<usize>)| {
        let ids: Vec<EntryId> = entries.iter().map(|index| talk.said[*index].id).collect();
        (*mark, *turn, ids, talk.totals(entries))
    };
    let expected: Vec<_> = pieces.iter().rev().map(piece).collect();
    let marked = |before, limit| {
        let found = now.marked(&rows, before, limit).expect("what is marked").into_iter();
        found.map(|it| (it.mark, it.turn, rows.ids(&it.part), it.totals)).collect::<Vec<_>>()
    };
    assert_eq!(marked(None, ALL), expected, "what is marked");
    let mut pages = marked(None, 1);
    while let Some((.., ids, _)) = pages.last()
        && pages.len() < expected.len()
    {
        let before = talk.said[talk.find(ids[0]).expect("a known entry")].pos;
        pages.extend(marked(Some(before), 1));
    }
    assert_eq!(pages, expected, "what is marked, in pages");
}

/// The state of an entry, and its alternatives.
fn entry(talk: &Talk, now: &Conversation, rows: Rows<'_>, index: usize) {
    let said = &talk.said[index];
    let is_on_path = talk.is_on_path(index);
    let standing = if is_on_path { Visibility::OnPath(talk.mark(index)) } else { Visibility::Rewound };
    assert_eq!(now.visibility(said.pos), standing);
    let facts = rows.entry(said.pos).parts.iter().filter_map(|part| match part {
        Part::Facts(facts) => Some(facts),
        _ => None,
    });
    assert!(facts.flatten().eq(&said.facts));
    for (rewound, hidden) in [(false, false), (true, false), (false, true), (true, true)] {
        let is_found = if is_on_path { talk.mark(index).is_visible() || hidden } else { rewound };
        assert_eq!(Conversation::searchable(standing, Include { rewound, hidden }), is_found);
    }
    let aim = talk.aim(said.id);
    let pos = |index: usize| talk.said[index].pos;
    let others = aim.map(|index| talk.alternatives(index).into_iter().map(pos).collect::<Vec<_>>());
    assert_eq!(now.alternatives(&rows, said.pos).map_err(|Word(code)| code), others);
    let named = aim.map(|index| {
        let has_others =
            |index: &usize| talk.mark(*index).is_visible() && talk.alternatives(*index).len() > 1;
        let turn = talk.path().into_iter().filter(|other| talk.said[*other].number() == said.number());
        let first = turn.into_iter().find(has_others);
        pos(Some(index).filter(has_others).or(first).unwrap_or(index))
    });
    assert_eq!(now.answer_named(&rows, said.pos).map_err(|Word(code)| code), named);
}
