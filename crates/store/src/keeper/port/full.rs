//! A full export: a tree of forks, every row of it, as it was when the export began.
//!
//! Logs and operations only grow, so the heads that the first piece found are kept in the cursor and every piece
//! ends at them.

use std::collections::HashMap;

use retake_core::{Head, OpNo};

use super::{PIECE_BYTES, STEP};
use crate::error::{Result, StoreError};
use crate::keeper::load::load;
use crate::port::{FullConversation, FullPiece};
use crate::record::{FullLine, encode_full};
use crate::rows::{ConversationRow, LogNo, Rows};

/// How far an export has come: rows done so far, and the head of each conversation.
#[derive(Debug)]
struct Cursor {
    done: u64,
    heads: Vec<Head>,
}

impl Cursor {
    fn text(&self) -> String {
        let heads = self.heads.iter().map(ToString::to_string);
        std::iter::once(self.done.to_string()).chain(heads).collect::<Vec<_>>().join(",")
    }

    fn read(text: &str) -> Option<Self> {
        let mut words = text.split(',');
        let done = words.next()?.parse().ok()?;
        let heads = words.map(|word| word.parse().ok()).collect::<Option<_>>()?;
        Some(Self { done, heads })
    }

    fn total(&self) -> u64 {
        self.heads.iter().map(|head| head.seq.0 + head.op.0).sum()
    }
}

/// A piece of the export of the tree of forks of `root`.
pub(crate) fn full_piece<R: Rows>(rows: &R, root: LogNo, cursor: Option<&str>) -> Result<FullPiece> {
    let tree = rows.tree_of(root)?;
    let mut text = String::new();
    let mut cursor = match cursor {
        Some(cursor) => {
            let read = Cursor::read(cursor).filter(|read| read.heads.len() <= tree.len());
            read.ok_or_else(|| StoreError::BadExport(format!("“{cursor}” is no cursor of it")))?
        }
        None => {
            begin(rows, &tree, &mut text)?;
            Cursor { done: 0, heads: tree.iter().map(|row| row.now.head).collect() }
        }
    };
    let mut place = cursor.done;
    for (number, (row, head)) in tree.iter().zip(&cursor.heads).enumerate() {
        let here = head.seq.0 + head.op.0;
        while place < here && text.len() < PIECE_BYTES {
            let taken = rows_from(rows, number, row, *head, place, &mut text)?;
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

/// The first line, and that of each conversation.
fn begin<R: Rows>(rows: &R, tree: &[ConversationRow], text: &mut String) -> Result<()> {
    push(text, &FullLine::Begin(tree.len() as u64));
    let numbers: HashMap<LogNo, usize> = tree.iter().enumerate().map(|(no, row)| (row.log, no)).collect();
    for row in tree {
        // An operation that this version can't read could not be written down whole.
        load(rows, row.clone())?.conversation.writable()?;
        let parent = row.parent.map(|parent| (numbers[&parent.log], parent.head, parent.tip));
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
            entries: Vec::new(),
            ops: Vec::new(),
        };
        push(text, &FullLine::Conversation(Box::new(line)));
    }
    Ok(())
}

/// The next rows of one conversation, its entries first, then its operations: how many were taken.
fn rows_from<R: Rows>(
    rows: &R,
    number: usize,
    row: &ConversationRow,
    head: Head,
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
        return Ok(to - place);
    }
    let place = place - head.seq.0;
    let (from, to) = (OpNo(place + 1), OpNo(head.op.0.min(place + STEP)));
    for op in rows.ops(row.log, from, to)? {
        let made_by = match &op.request {
            Some(request) => rows.op_by_request(row.log, request)?,
            None => None,
        };
        // A request that made several names the first of them.
        let made_by = made_by.filter(|(no, _)| *no == op.no);
        let made_by = made_by.and_then(|(_, print)| op.request.clone().map(|request| (request, print)));
        push(text, &FullLine::Operation(number, Box::new(op), made_by));
    }
    Ok(to.0 - place)
}
