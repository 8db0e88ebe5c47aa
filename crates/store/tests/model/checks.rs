//! Compares every reading of a conversation with the naive model. It must never change anything.

use std::collections::BTreeMap;

use retake_core::{
    EntryId, EntryPage, Fact, FoldId, Head, Hit, Include, Mark, MemoryId, OpRange, PageRequest, Path,
    Planned, Projection, PromptPiece, REMEMBERED, Reading, Receipt, Revision, SearchRequest, ShownEntry,
    Sort, Visibility,
};
use retake_store::{Result, Store, StoreError};

use super::naive::{Item, Talk};
use super::prompt_words::words;
use super::requests::FACT_KEYS;
use super::verbs::{Outcome, Verdict};
use crate::kit::word;

const ALL: usize = 1000;

/// The reader's view of an entry.
pub(super) type SeenState = (EntryId, Mark, Option<FoldId>, Option<String>, Option<(usize, usize)>);

/// An earlier state that a client remembers: its revision and its timeline.
pub(super) type Memory = (Revision, Vec<SeenState>);

/// A plan announces what then happens, and both equal the model.
pub(super) fn plan(
    before: &Talk,
    after: &Talk,
    expected: &Verdict<Outcome>,
    planned: &Result<Planned>,
    got: &Result<Receipt>,
    told: &str,
) {
    let (planned, got) = match (planned, got) {
        (Ok(planned), Ok(got)) => (planned, got),
        (Err(planned), Err(got)) => return assert_eq!(word(planned), word(got), "{told}"),
        (planned, got) => panic!("{told}\nplan {planned:?}\ngot {got:?}\nmodel {expected:?}"),
    };
    let (old, new) = (before.timeline(), after.timeline());
    let gone: Vec<usize> = old.iter().copied().filter(|index| !new.contains(index)).collect();
    let came: Vec<usize> = new.iter().copied().filter(|index| !old.contains(index)).collect();
    let plan = &planned.plan;
    assert_eq!(planned.unchanged, got.unchanged, "{told}");
    assert_eq!(indexes(before, &plan.gone), gone, "{told}: gone");
    assert_eq!(indexes(before, &plan.came), came, "{told}: came");
    let totals = (before.totals(&gone), before.totals(&came));
    assert_eq!((plan.taken_back, plan.brought_back), totals, "{told}");
    assert_eq!((got.taken_back, got.brought_back), totals, "{told}");
    let ids = |talk: &Talk| talk.in_force().iter().map(|fold| fold.id).collect::<Vec<_>>();
    let (was, is) = (ids(before), ids(after));
    let lifted: Vec<FoldId> = was.iter().filter(|fold| !is.contains(fold)).copied().collect();
    let in_force: Vec<FoldId> = is.iter().filter(|fold| !was.contains(fold)).copied().collect();
    assert_eq!((&plan.lifted, &plan.in_force, &got.lifted), (&lifted, &in_force, &lifted), "{told}");
    let composer = planned.composer.as_ref().map(|(id, _)| *id);
    assert_eq!(composer, expected.as_ref().ok().and_then(|outcome| outcome.composer), "{told}");
    assert_eq!(composer, got.composer, "{told}");
}

fn indexes(talk: &Talk, path: &Path) -> Vec<usize> {
    path.positions().map(|pos| talk.find_pos(pos).expect("a known entry")).collect()
}

/// The view of the model's reader.
pub(super) fn seen(talk: &Talk) -> Vec<SeenState> {
    let entry = |index: usize| {
        let alternatives = talk.alternatives(index);
        let number = alternatives.iter().position(|other| *other == index);
        let alternative = number.filter(|_| alternatives.len() > 1).map(|at| (at + 1, alternatives.len()));
        let label = talk.now.labels.get(&Some(index)).cloned();
        (talk.said[index].id, talk.mark(index), talk.fold_of(index), label, alternative)
    };
    talk.timeline().into_iter().map(entry).collect()
}

fn as_seen(shown: &[ShownEntry]) -> Vec<SeenState> {
    let entry = |shown: &ShownEntry| {
        let id = shown.entry.as_ref().expect("sound").meta.id;
        (id, shown.mark, shown.fold, shown.label.clone(), shown.alternative)
    };
    shown.iter().map(entry).collect()
}

/// The summary of a conversation.
pub(super) async fn glance(store: &Store, talk: &Talk) {
    let summary = store.summary(talk.id).await.expect("a summary");
    let name = |done: &std::rc::Rc<super::naive::Done>| done.name.to_owned();
    assert_eq!((summary.head, summary.revision.0), (talk.head(), talk.revision));
    assert_eq!(summary.tip, talk.now.tip.map(|tip| talk.said[tip].id));
    assert_eq!(summary.counts, talk.totals(&talk.timeline()));
    assert_eq!(summary.steps.rewinds, talk.rewinds);
    let word = |step: Option<retake_core::StepLine>| step.map(|step| step.name().to_owned());
    assert_eq!(word(summary.steps.undo), talk.done.last().map(name), "undo");
    assert_eq!(word(summary.steps.redo), talk.undone.last().map(|undone| name(&undone.done)), "redo");
    assert_eq!(as_seen(&whole(store, talk, Projection::Timeline, None).await.entries), seen(talk));
}

async fn whole(store: &Store, talk: &Talk, projection: Projection, at: Option<Head>) -> EntryPage {
    let all = PageRequest { limit: ALL, ..PageRequest::default() };
    store.page(talk.id, Reading { at, ..Reading::now(projection) }, all).await.expect("a page")
}

/// Every reading of a conversation in its current state.
pub(super) async fn now(store: &Store, talk: &Talk) {
    glance(store, talk).await;
    projections(store, talk).await;
    pages(store, talk).await;
    turns(store, talk).await;
    super::tree::branches(store, talk).await;
    super::tree::alternatives(store, talk).await;
    for (rewound, hidden) in [(false, false), (true, false), (false, true), (true, true)] {
        search(store, talk, Include { rewound, hidden }, "all").await;
    }
    assert_eq!(store.answering(talk.id).await.expect("answering"), talk.answering());
    facts(store, talk).await;
    let ops = store.ops(talk.id, OpRange { before: None, limit: ALL }).await.expect("operations").ops;
    let numbers: Vec<u64> = ops.iter().rev().map(|line| line.op.no.0).collect();
    assert_eq!(numbers, Vec::from_iter(1..=talk.ops));
}

/// The last value of each key, without removed ones.
fn told(talk: &Talk) -> BTreeMap<String, String> {
    let timeline = talk.timeline();
    let facts = timeline.iter().flat_map(|index| &talk.said[*index].facts);
    let mut last: BTreeMap<_, _> = facts.map(|fact| (fact.key.clone(), fact.value.clone())).collect();
    last.retain(|_, value| !value.is_empty());
    last
}

/// The facts of entries: each key by itself, and by prefix.
async fn facts(store: &Store, talk: &Talk) {
    let told = told(talk);
    for key in FACT_KEYS {
        let fact = store.fact(talk.id, key.to_owned()).await.expect("looked up");
        assert_eq!(fact.as_ref(), told.get(key), "{key}");
    }
    for prefix in ["", "job/", "cwd", "x"] {
        let facts = store.facts(talk.id, prefix.to_owned()).await.expect("looked up");
        let like = told.iter().filter(|(key, _)| key.starts_with(prefix));
        let like: Vec<Fact> = like.map(|(key, value)| Fact::new(key, value)).collect();
        assert_eq!(facts, like, "{prefix}");
    }
}

/// A fact is remembered while an entry that remembers it is normal somewhere, and none that forgets it is.
pub(super) async fn memory(store: &Store, talks: &[Talk]) {
    let is_normal = |id: EntryId| {
        talks.iter().any(|talk| {
            let index = talk.find(id).filter(|index| talk.timeline().contains(index));
            index.is_some_and(|index| talk.mark(index) == Mark::Normal)
        })
    };
    for key in FACT_KEYS {
        let Some(id) = MemoryId::in_key(key, REMEMBERED) else { continue };
        let (mut remembered, mut forgotten) = (false, false);
        for said in talks.iter().flat_map(|talk| &talk.said) {
            let last = said.facts.iter().rfind(|fact| fact.key == key);
            let Some(fact) = last.filter(|_| is_normal(said.id)) else { continue };
            forgotten |= fact.value.is_empty();
            // The calls of the model have no words to remember.
            remembered |= !fact.value.is_empty() && said.answers.is_none();
        }
        let fact = store.memory_fact(id).await.expect("read");
        assert_eq!(fact.is_some(), remembered && !forgotten, "{key}: {fact:?}");
    }
}

/// A search of all conversations finds an entry once: where it is normal, first in its own conversation.
pub(super) async fn everywhere(store: &Store, talks: &[Talk], talk: &Talk, chance: usize) {
    let Some(said) = talk.said.get(chance % talk.said.len().max(1)) else { return };
    let word = said.word.split(' ').next().expect("a word").to_owned();
    let homes: Vec<(&Talk, usize)> =
        talks.iter().filter_map(|talk| Some((talk, talk.find(said.id)?))).collect();
    let plain = homes.iter().find(|(talk, index)| talk.timeline().contains(index));
    for audit in [false, true] {
        let include = Include { rewound: audit, hidden: audit };
        let request = SearchRequest { query: word.clone(), limit: ALL, include, ..SearchRequest::default() };
        let hits = store.search(request).await.expect("hits").hits;
        let found: Vec<_> = hits.iter().map(|hit| (hit.conversation, hit.line.meta.id)).collect();
        let expected = plain.or(homes.first().filter(|_| audit)).map(|(talk, _)| (talk.id, said.id));
        assert_eq!(found, Vec::from_iter(expected), "{word}, audit: {audit}");
    }
}

/// One of the words, one of the earlier heads, one of the states that a client may remember.
pub(super) async fn one_of_many(store: &Store, talk: &Talk, memory: &[Memory], chance: usize) {
    if !talk.said.is_empty() {
        let said = &talk.said[chance % talk.said.len()];
        let word = said.word.split(' ').next().expect("a word");
        search(store, talk, Include::default(), word).await;
        search(store, talk, Include { rewound: true, hidden: true }, word).await;
    }
    earlier(store, talk, chance).await;
    a_branch(store, talk, chance).await;
    catching_up(store, talk, &memory[chance % memory.len()]).await;
}

/// The timeline in pages, newest first: each entry once, in order.
async fn pages(store: &Store, talk: &Talk) {
    let reading = Reading::now(Projection::Timeline);
    let mut read: Vec<SeenState> = Vec::new();
    loop {
        let before = read.first().map(|seen| seen.0);
        let page = PageRequest { before, after: None, limit: 7 };
        let page = store.page(talk.id, reading, page).await.expect("a page");
        read.splice(0..0, as_seen(&page.entries));
        if !page.earlier {
            break;
        }
    }
    assert_eq!(read, seen(talk), "in pages");
}

async fn projections(store: &Store, talk: &Talk) {
    let snapshot = store.snapshot(talk.id).await.expect("a snapshot");
    let conversation = snapshot.conversation();
    assert_eq!(*conversation.state.labels, talk.labels());
    let timeline = seen(talk);
    for projection in [Projection::Prompt, Projection::Scheduling, Projection::Export] {
        let mut expected = timeline.clone();
        expected.retain(|(_, mark, ..)| projection != Projection::Prompt || *mark == Mark::Normal);
        let page = whole(store, talk, projection, None).await;
        assert_eq!(as_seen(&page.entries), expected, "{projection:?}");
    }
    let export = conversation.export();
    let export: Vec<usize> =
        export.iter().flat_map(|piece| indexes(talk, &Path::from_spans([piece.span]))).collect();
    assert_eq!(export, talk.timeline());
    assert_eq!(indexes(talk, &conversation.scheduling()), talk.timeline());
    let items = conversation.prompt().into_iter().flat_map(|piece| match piece {
        PromptPiece::Summary(fold) => vec![Item::Summary(fold)],
        PromptPiece::Entries(span) => {
            indexes(talk, &Path::from_spans([span])).into_iter().map(Item::Entry).collect()
        }
    });
    assert_eq!(items.collect::<Vec<_>>(), talk.prompt());
    messages(store, talk, None).await;
}

/// The text of the prompt in order, and no result without its call directly before it.
async fn messages(store: &Store, talk: &Talk, at: Option<Head>) {
    let prompt = store.prompt(talk.id, at).await.expect("a prompt");
    words(talk, &prompt);
}

async fn turns(store: &Store, talk: &Talk) {
    let timeline = talk.timeline();
    let openers = timeline.iter().enumerate().filter(|(_, index)| talk.said[**index].opens);
    let expected: Vec<_> = openers
        .map(|(at, index)| (talk.said[*index].id, talk.said[*index].number(), talk.totals(&timeline[at..])))
        .rev()
        .collect();
    let targets = |before, limit| async move {
        let targets = store.targets(talk.id, before, limit).await.expect("targets").into_iter();
        let targets = targets.map(|line| (line.target.meta.id, line.target.number, line.target.takes_back));
        targets.collect::<Vec<_>>()
    };
    assert_eq!(targets(None, ALL).await, expected);
    let mut pages = targets(None, 2).await;
    while let Some((last, ..)) = pages.last().copied()
        && pages.len() < expected.len()
    {
        pages.extend(targets(Some(last), 2).await);
    }
    assert_eq!(pages, expected, "in pages");
    if let Some(gone) = (0..talk.said.len()).find(|index| !timeline.contains(index)) {
        let id = talk.said[gone].id;
        let error = store.targets(talk.id, Some(id), 2).await.expect_err("a cursor that nobody sees");
        assert!(matches!(error, StoreError::BadCursor(bad) if bad == id), "{error}");
    }
    let last = talk.said.iter().map(|said| said.number()).max().unwrap_or(0);
    for number in 1..=last + 1 {
        let opener = expected.iter().find(|(_, other, _)| *other == number).map(|(id, ..)| *id);
        assert_eq!(store.turn(talk.id, number).await.expect("a turn"), opener, "turn {number}");
    }
}

async fn search(store: &Store, talk: &Talk, include: Include, query: &str) {
    let request = SearchRequest {
        query: query.to_owned(),
        conversation: Some(talk.id),
        sort: Sort::Oldest,
        limit: ALL,
        include,
        ..SearchRequest::default()
    };
    let hits = store.search(request).await.expect("hits").hits;
    let path = talk.path();
    let mut expected = Vec::new();
    for (index, said) in talk.said.iter().enumerate() {
        let standing = match path.contains(&index) {
            true => Visibility::OnPath(talk.mark(index)),
            false => Visibility::Rewound,
        };
        let found = match standing {
            Visibility::OnPath(mark) => mark.is_visible() || include.hidden,
            Visibility::Rewound => include.rewound,
        };
        if found && said.word.split(' ').any(|word| word == query) {
            let (before, after) = context(talk, index, &path);
            expected.push((said.id, standing, before, after));
        }
    }
    let line = |line: &Option<retake_core::EntryLine>| line.as_ref().map(|line| line.meta.id);
    let hit = |hit: &Hit| (hit.line.meta.id, hit.visibility, line(&hit.before), line(&hit.after));
    let mut found: Vec<_> = hits.iter().map(hit).collect();
    found.sort_unstable_by_key(|hit| hit.0);
    expected.sort_unstable_by_key(|hit| hit.0);
    assert_eq!(found, expected, "{include:?} {query}");
}

/// The neighbours of a hit in the reading that it was found in: the path, or its branch.
fn context(talk: &Talk, index: usize, path: &[usize]) -> (Option<EntryId>, Option<EntryId>) {
    let reading = match path.contains(&index) {
        true => path.to_vec(),
        false => talk.path_to(Some(talk.latest_leaf(index))),
    };
    let at = reading.iter().position(|other| *other == index).expect("it is on its own branch");
    let id = |index: &usize| talk.said[*index].id;
    let (before, after) = (talk.visible_of(&reading[..at]), talk.visible_of(&reading[at + 1..]));
    (before.last().map(id), after.first().map(id))
}

/// The state at an earlier head can be read as it was.
async fn earlier(store: &Store, talk: &Talk, chance: usize) {
    let (head, picture) = &talk.heads[chance % talk.heads.len()];
    let then = talk.at(picture);
    let expected = then.timeline().into_iter().map(|index| {
        let label = then.now.labels.get(&Some(index)).cloned();
        (then.said[index].id, then.mark(index), then.fold_of(index), label)
    });
    let page = whole(store, talk, Projection::Timeline, Some(*head)).await;
    let shown = as_seen(&page.entries).into_iter().map(|(id, mark, fold, label, _)| (id, mark, fold, label));
    assert_eq!(shown.collect::<Vec<_>>(), expected.collect::<Vec<_>>(), "at {head}");
    messages(store, &then, Some(*head)).await;
}

/// The branch to any entry is read as if it were checked out, in pages, and nothing changes.
async fn a_branch(store: &Store, talk: &Talk, chance: usize) {
    let Some(tip) = (!talk.said.is_empty()).then(|| chance % talk.said.len()) else { return };
    let mut there = talk.clone();
    there.now.tip = Some(there.end_at(tip));
    let branch = Some(talk.said[tip].id);
    let reading = Reading { branch, ..Reading::now(Projection::Timeline) };
    let mut read: Vec<SeenState> = Vec::new();
    loop {
        let before = read.first().map(|seen| seen.0);
        let page = PageRequest { before, after: None, limit: 3 };
        let page = store.page(talk.id, reading, page).await.expect("a page");
        read.splice(0..0, as_seen(&page.entries));
        if !page.earlier {
            break;
        }
    }
    assert_eq!(read, seen(&there), "the branch of {tip}");
    let (head, picture) = &talk.heads[chance / 7 % talk.heads.len()];
    let all = PageRequest { limit: ALL, ..PageRequest::default() };
    let page = store.page(talk.id, Reading { at: Some(*head), ..reading }, all).await;
    let pos = talk.said[tip].pos;
    if pos.depth == talk.depth && pos.seq > head.seq.0 {
        assert_eq!(word(&page.expect_err("not said yet")), "unknown_entry");
    } else {
        let mut then = talk.at(picture);
        // Later entries are no results yet.
        then.said.truncate(talk.base + usize::try_from(head.seq.0).expect("a count"));
        then.now.tip = Some(then.end_at(tip));
        let marks = |seen: Vec<SeenState>| seen.into_iter().map(|(id, mark, fold, ..)| (id, mark, fold));
        let (got, expected) = (as_seen(&page.expect("a page").entries), seen(&then));
        assert!(marks(got).eq(marks(expected)), "the branch of {tip} at {head}");
    }
}

/// A client that was away catches up, and never gets entries that were added and taken back meanwhile.
async fn catching_up(store: &Store, talk: &Talk, (revision, then): &Memory) {
    let changes = store.changes(talk.id, *revision).await.expect("changes");
    let now = seen(talk);
    assert_eq!((changes.head, changes.revision.0), (talk.head(), talk.revision));
    let mut caught_up = then.clone();
    for gone in &changes.gone {
        let at = caught_up.iter().position(|seen| seen.0 == *gone);
        caught_up.remove(at.expect("nothing goes that was not seen"));
    }
    let (came, changed) = (as_seen(&changes.came), as_seen(&changes.changed));
    for entry in &came {
        assert!(caught_up.iter().all(|seen| seen.0 != entry.0), "nothing comes that was there");
        caught_up.push(entry.clone());
    }
    for entry in changed {
        let at = caught_up.iter().position(|seen| seen.0 == entry.0);
        caught_up[at.expect("nothing changes that is not there")] = entry;
    }
    caught_up.sort_by_key(|seen| talk.find(seen.0).map(|index| talk.said[index].pos));
    assert_eq!(caught_up, now, "since {revision:?}");
}
