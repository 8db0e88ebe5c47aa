//! Checks of a store whose writer was killed: everything acknowledged is there, nothing is there in part, and
//! counters and search agree with a recount of all rows.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::time::Duration;

use retake_core::{
    Change, ConversationId, EntryId, Include, ListRequest, Mark, Meta, OpRange, Operation, PageRequest, Pos,
    Projection, Reading, Reason, SearchRequest, Sort, Summary,
};
use retake_store::{Sqlite, Store};

use crate::kit::NOW;

const ALL: usize = 1_000_000;

/// All rows of a conversation.
struct Rows {
    summary: Summary,
    entries: Vec<(Meta, String)>,
    ops: Vec<Operation>,
}

/// Opens the store and checks all of it. `old` was acknowledged in earlier rounds, `new` in the last one.
pub(super) async fn judge(dir: &Path, old: &[String], new: &[String]) {
    let opened = Sqlite::open(dir, NOW, Duration::ZERO).expect("the store opens");
    assert_eq!(opened.notices, [""; 0]);
    assert_eq!(opened.writer.check().expect("readable").problems, vec![]);
    let store = Store::start(opened.readers, opened.writer).expect("started");
    let list = store.list(ListRequest { limit: ALL, ..ListRequest::default() }).await.expect("a list");
    let mut talks = HashMap::new();
    for summary in list {
        let rows = rows(&store, summary).await;
        recount(&store, &rows).await;
        talks.insert(rows.summary.id, rows);
    }
    for line in old.iter().chain(new) {
        acknowledged(&talks, line);
    }
    for line in new {
        words_are_found(&store, line).await;
    }
}

/// A conversation's own rows, found through the index.
async fn rows(store: &Store, summary: Summary) -> Rows {
    let snapshot = store.snapshot(summary.id).await.expect("a snapshot");
    let depth = snapshot.conversation().tree.depth();
    let mut entries = found(store, summary.id, "all", Include { rewound: true, hidden: true }).await;
    entries.retain(|(meta, _)| meta.pos.depth == depth);
    entries.sort_by_key(|(meta, _)| meta.pos);
    let page = store.ops(summary.id, OpRange { before: None, limit: ALL }).await.expect("operations");
    let ops = page.ops.into_iter().rev().map(|line| line.op).collect();
    Rows { summary, entries, ops }
}

async fn found(store: &Store, talk: ConversationId, query: &str, include: Include) -> Vec<(Meta, String)> {
    let request = SearchRequest {
        query: query.to_owned(),
        conversation: Some(talk),
        sort: Sort::Oldest,
        limit: ALL,
        include,
        ..SearchRequest::default()
    };
    let hits = store.search(request).await.expect("hits").hits;
    hits.into_iter().map(|hit| (hit.line.meta, hit.line.preview)).collect()
}

/// Replays all rows in the order of their revisions.
async fn recount(store: &Store, rows: &Rows) {
    let Rows { summary, entries, ops } = rows;
    let seqs: Vec<u64> = entries.iter().map(|(meta, _)| meta.pos.seq).collect();
    assert_eq!(seqs, Vec::from_iter(1..=summary.head.seq.0), "seq without gaps, all found");
    let numbers: Vec<u64> = ops.iter().map(|op| op.no.0).collect();
    assert_eq!(numbers, Vec::from_iter(1..=summary.head.op.0), "operations without gaps");
    let snapshot = store.snapshot(summary.id).await.expect("a snapshot");
    let conversation = snapshot.conversation();
    let mut after: HashMap<Pos, Option<Pos>> = HashMap::new();
    let mut tip = None;
    for pos in conversation.tree.base().positions() {
        after.insert(pos, tip);
        tip = Some(pos);
    }
    let mut marks: HashMap<Pos, Mark> = HashMap::new();
    let (mut next_entry, mut next_op) = (entries.iter().peekable(), ops.iter().peekable());
    for revision in 2..=summary.revision.0 {
        let mut rows = 0;
        while let Some(op) = next_op.next_if(|op| op.revision.0 == revision) {
            carry_out(op, &mut tip, &mut marks);
            rows += 1;
        }
        while let Some((meta, _)) = next_entry.next_if(|(meta, _)| meta.revision.0 == revision) {
            assert_eq!(meta.after, tip, "an entry follows the tip");
            after.insert(meta.pos, tip);
            tip = Some(meta.pos);
            rows += 1;
        }
        assert!(rows > 0, "revision {revision} of {} has no row", summary.id);
    }
    assert!(next_entry.next().is_none() && next_op.next().is_none(), "rows behind the last revision");
    assert_eq!(conversation.state.tip, tip);
    let mut path: Vec<Pos> = std::iter::successors(tip, |pos| after[pos]).collect();
    path.reverse();
    path.retain(|pos| marks.get(pos).is_none_or(|mark| mark.is_visible()));
    shows(store, summary, &path).await;
    whole(rows);
}

fn carry_out(op: &Operation, tip: &mut Option<Pos>, marks: &mut HashMap<Pos, Mark>) {
    match &op.change {
        Change::Move { before, after } => {
            assert_eq!(before, tip, "operation {}", op.no);
            *tip = *after;
        }
        Change::Mark(changes) => {
            for change in changes {
                for seq in change.span.from..=change.span.to {
                    let pos = Pos::new(change.span.depth, seq);
                    let before = marks.insert(pos, change.after).unwrap_or_default();
                    assert_eq!(before, change.before, "operation {}", op.no);
                }
            }
        }
        _ => {}
    }
    assert_eq!(op.tip, *tip, "operation {}", op.no);
}

/// The timeline, the counters and a plain search equal the recount.
async fn shows(store: &Store, summary: &Summary, path: &[Pos]) {
    let reading = Reading::now(Projection::Timeline);
    let all = PageRequest { limit: ALL, ..PageRequest::default() };
    let page = store.page(summary.id, reading, all).await.expect("a page");
    assert_eq!(page.entries.iter().map(|shown| shown.pos).collect::<Vec<_>>(), path);
    let metas = page.entries.iter().map(|shown| &shown.entry.as_ref().expect("sound").meta);
    let turns = metas.clone().filter(|meta| meta.opens_turn()).count() as u64;
    assert_eq!((summary.counts.messages, summary.counts.turns), (path.len() as u64, turns));
    let hits = found(store, summary.id, "all", Include::default()).await;
    let hits: BTreeSet<EntryId> = hits.iter().map(|(meta, _)| meta.id).collect();
    assert_eq!(hits, metas.map(|meta| meta.id).collect());
}

/// A request is there completely.
fn whole(rows: &Rows) {
    let mut batches: BTreeMap<&str, u32> = BTreeMap::new();
    for (_, text) in &rows.entries {
        if let Some((_, batch)) = text.split_once("all batch ") {
            *batches.entry(batch).or_default() += 1;
        }
    }
    assert!(batches.values().all(|count| *count == 3), "{batches:?}");
    let edits = rows.ops.iter().filter(|op| op.reason == Reason::Edit);
    let edits: Vec<u64> = edits.map(|op| op.revision.0 + 1).collect();
    let edited = rows.entries.iter().filter(|(_, text)| text.ends_with("all edited"));
    assert_eq!(edits, edited.map(|(meta, _)| meta.revision.0).collect::<Vec<_>>());
}

/// The content of a line is there, unchanged.
fn acknowledged(talks: &HashMap<ConversationId, Rows>, line: &str) {
    let words: Vec<&str> = line.split(' ').collect();
    let talk = |id: &str| {
        let id: ConversationId = id.parse().expect("an id");
        talks.get(&id).unwrap_or_else(|| panic!("{line}: the conversation is not there"))
    };
    match words.as_slice() {
        ["say", id, head, revision, said] => {
            let rows = talk(id);
            let said: Vec<&str> = said.split(',').collect();
            for (back, said) in said.iter().rev().enumerate() {
                let (id, word) = said.split_once('=').expect("an entry and its word");
                let (meta, text) =
                    rows.entries.iter().find(|(meta, _)| meta.id.to_string() == id).expect(line);
                let seq = head.split_once('.').expect("a head").1.parse::<u64>().expect("a number");
                assert_eq!(meta.pos.seq, seq - back as u64, "{line}");
                assert_eq!(
                    meta.revision.0,
                    revision.parse::<u64>().expect("a number") - back as u64,
                    "{line}"
                );
                assert_eq!(text.split(' ').next(), Some(word), "{line}");
            }
        }
        ["op", id, head, revision, verb, numbers] => {
            let numbers = numbers.split(',').filter(|number| !number.is_empty());
            for number in numbers {
                let number: usize = number.parse().expect("a number");
                let op = talk(id).ops.get(number - 1).expect(line);
                let (made, at) = (op.revision.0.to_string(), op.at.0.to_string());
                assert_eq!((op.reason.name(), made.as_str()), (*verb, *revision), "{line}");
                assert_eq!(head.split_once('.').map(|(_, seq)| seq), Some(at.as_str()), "{line}");
            }
        }
        ["fork", child, parent] => {
            let from = talk(child).summary.parent.map(|(id, _)| id.to_string());
            assert_eq!(from.as_deref(), Some(*parent), "{line}");
        }
        ["ready" | "done"] => {}
        _ => panic!("{line}"),
    }
}

/// The full-text index has every word of a line.
async fn words_are_found(store: &Store, line: &str) {
    let words: Vec<&str> = line.split(' ').collect();
    let ["say", talk, _, _, said] = words.as_slice() else { return };
    for said in said.split(',') {
        let (id, word) = said.split_once('=').expect("an entry and its word");
        let include = Include { rewound: true, hidden: true };
        let hits = found(store, talk.parse().expect("an id"), word, include).await;
        let ids: Vec<String> = hits.iter().map(|(meta, _)| meta.id.to_string()).collect();
        assert_eq!(ids, [id], "{line}");
    }
}
