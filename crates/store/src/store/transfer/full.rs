//! A full export: all rows of a tree of forks as they were at its beginning.
//!
//! Logs, operations and ended runs only grow, so their ends at the first piece are in the cursor, and every piece stops
//! there. The first piece contains everything that may change: live runs, waiting messages, permissions.

use std::collections::HashMap;

use retake_core::{Effect, Head, OpNo, Post, PostKind, PostNo, RunNo, Seq};

use super::{PIECE_BYTES, STEP};
use crate::error::{Result, StoreError};
use crate::record::{FullLine, encode_full};
use crate::rows::{CallerRow, ConversationRow, LogNo, Rows};
use crate::store::load::load;
use crate::transfer::{FullBeside, FullConversation, FullEffect, FullParent, FullPiece};

/// The progress of an export: rows so far, and the end of each conversation.
#[derive(Debug)]
struct Cursor {
    done: u64,
    ends: Vec<End>,
}

/// The end of a conversation: its head, the last run before which all runs have ended, and its last post.
#[derive(Clone, Copy, Debug)]
struct End {
    head: Head,
    runs: u64,
    posts: u64,
}

impl End {
    fn rows(self) -> u64 {
        self.head.seq.0 + self.head.op.0 + self.runs + self.posts
    }
}

impl Cursor {
    fn text(&self) -> String {
        let ends = self.ends.iter().map(|end| format!("{}:{}:{}", end.head, end.runs, end.posts));
        std::iter::once(self.done.to_string()).chain(ends).collect::<Vec<_>>().join(",")
    }

    fn read(text: &str) -> Option<Self> {
        let mut words = text.split(',');
        let done = words.next()?.parse().ok()?;
        let end = |word: &str| {
            let (rest, posts) = word.rsplit_once(':')?;
            let (head, runs) = rest.split_once(':')?;
            Some(End { head: head.parse().ok()?, runs: runs.parse().ok()?, posts: posts.parse().ok()? })
        };
        let ends = words.map(end).collect::<Option<_>>()?;
        Some(Self { done, ends })
    }

    fn total(&self) -> u64 {
        self.ends.iter().map(|end| end.rows()).sum()
    }
}

/// A piece of the export of the tree of forks of `root`.
pub(crate) fn full_piece(rows: &dyn Rows, root: LogNo, cursor: Option<&str>) -> Result<FullPiece> {
    let tree = rows.tree_of(root)?;
    let mut text = String::new();
    let mut cursor = match cursor {
        Some(cursor) => {
            let read = Cursor::read(cursor).filter(|read| read.ends.len() <= tree.len());
            read.ok_or_else(|| StoreError::BadExport(format!("“{cursor}” is not a cursor of it")))?
        }
        None => Cursor { done: 0, ends: begin(rows, &tree, &mut text)? },
    };
    let mut place = cursor.done;
    for (number, (row, end)) in tree.iter().zip(&cursor.ends).enumerate() {
        let here = end.rows();
        while place < here && text.len() < PIECE_BYTES {
            let taken = rows_from(rows, number, row, *end, place, &mut text)?;
            place += taken;
            cursor.done += taken;
        }
        if place < here {
            break;
        }
        place -= here;
    }
    let (done, total) = (cursor.done, cursor.total());
    Ok(FullPiece { text, cursor: (done < total).then(|| cursor.text()), progress: (done, total) })
}

fn push(text: &mut String, line: &FullLine) {
    text.push_str(&encode_full(line));
    text.push('\n');
}

/// The first line, that of each conversation, and its live data. Returns the end of each conversation.
fn begin(rows: &dyn Rows, tree: &[ConversationRow], text: &mut String) -> Result<Vec<End>> {
    push(text, &FullLine::Begin(tree.len() as u64));
    let numbers: HashMap<LogNo, usize> = tree.iter().enumerate().map(|(no, row)| (row.log, no)).collect();
    for row in tree {
        // An operation that this version cannot read could not be exported completely.
        load(rows, row.clone())?.conversation.writable()?;
        let parent = match (row.parent, &row.caller) {
            (Some(from), _) => FullParent::Fork(numbers[&from.log], from.head, from.tip),
            (None, Some(CallerRow { answer, call })) => {
                FullParent::Caller(numbers[&answer.log], answer.seq, call.clone())
            }
            (None, None) => FullParent::None,
        };
        let line = FullConversation {
            id: row.id,
            parent,
            folder: row.folder.clone(),
            created: row.created,
            request: row.request.clone(),
            changed: row.now.changed,
            head: row.now.head,
            revision: row.now.revision,
            rewinds: row.now.rewinds,
            archived: row.now.archived,
            entries: Vec::new(),
            ops: Vec::new(),
            beside: FullBeside::default(),
        };
        push(text, &FullLine::Conversation(Box::new(line)));
    }
    tree.iter().enumerate().map(|(number, row)| live(rows, number, row, text)).collect()
}

/// The permissions, and the runs from the first live one on. Returns the end of the conversation.
fn live(rows: &dyn Rows, number: usize, row: &ConversationRow, text: &mut String) -> Result<End> {
    if let Some(settled) = rows.permission(row.log)? {
        push(text, &FullLine::Permission(number, settled));
    }
    let runs = rows.live_runs_of(row.log)?;
    let first = runs.running.iter().chain(&runs.queued).map(|run| run.no).min();
    if let Some(first) = first {
        for run in rows.runs_in(row.log, first, runs.last)? {
            push(text, &FullLine::Run(number, Box::new(run)));
        }
    }
    let posts = rows.last_posts(row.log, 1)?.first().map_or(0, |post| post.no.0);
    Ok(End { head: row.now.head, runs: first.map_or(runs.last.0, |first| first.0 - 1), posts })
}

/// The next rows of one conversation: its entries with their ledger rows, then its operations, its runs and its posts. Returns the
/// number of rows.
fn rows_from(
    rows: &dyn Rows,
    number: usize,
    row: &ConversationRow,
    End { head, runs, posts }: End,
    place: u64,
    text: &mut String,
) -> Result<u64> {
    if place < head.seq.0 {
        let (from, to) = (place + 1, head.seq.0.min(place + STEP));
        let requests = rows.requests_in(row.log, from, to)?;
        let mut requests: HashMap<_, _> =
            requests.into_iter().map(|(seq, request, print)| (seq, (request, print))).collect();
        for entry in rows.entries(row.log, from, to)? {
            let entry = entry?;
            let made_by = requests.remove(&entry.meta.pos.seq);
            push(text, &FullLine::Entry(number, Box::new(entry), made_by));
        }
        for (seq, effect) in rows.ledger(row.log, from, to)? {
            push(text, &FullLine::Effect(number, Box::new(line_of(seq, effect))));
        }
        return Ok(to - place);
    }
    let place = place - head.seq.0;
    if place >= head.op.0 {
        let place = place - head.op.0;
        if place >= runs {
            return posts_from(rows, number, (row, head.seq), (place - runs, posts), text);
        }
        let to = runs.min(place + STEP);
        for run in rows.runs_in(row.log, RunNo(place + 1), RunNo(to))? {
            push(text, &FullLine::Run(number, Box::new(run)));
        }
        return Ok(to - place);
    }
    let (from, to) = (OpNo(place + 1), OpNo(head.op.0.min(place + STEP)));
    for op in rows.ops(row.log, from, to)? {
        let made_by = match &op.request {
            Some(request) => rows.op_by_request(row.log, request)?,
            None => None,
        };
        // A request that created several rows names the first one.
        let made_by = made_by.filter(|(no, _)| *no == op.no);
        let made_by = made_by.and_then(|(_, print)| op.request.clone().map(|request| (request, print)));
        push(text, &FullLine::Operation(number, Box::new(op), made_by));
    }
    Ok(to.0 - place)
}

/// The next posts: after this one, up to the last.
fn posts_from(
    rows: &dyn Rows,
    number: usize,
    (row, last_entry): (&ConversationRow, Seq),
    (place, last): (u64, u64),
    text: &mut String,
) -> Result<u64> {
    let to = last.min(place + STEP);
    let posts = rows.posts_numbered(row.log, PostNo(place + 1), PostNo(to))?;
    // An answer that is being written is no entry yet, or none of this export.
    let is_exported = |post: &Post| match post.kind {
        PostKind::Answer(entry) => entry <= last_entry,
        PostKind::Preview(_) => false,
        PostKind::Notice(_) => true,
    };
    for post in posts.into_iter().filter(is_exported) {
        push(text, &FullLine::Post(number, Box::new(post)));
    }
    Ok(to - place)
}

fn line_of(seq: u64, effect: Effect) -> FullEffect {
    let Effect { call, tool, class, print, began, state, .. } = effect;
    FullEffect { seq, call, tool, class, print, began, state }
}
