//! Calls without a result: their process was killed, or they still run. Must never read more than the ends of a few turns.

use std::collections::HashSet;

use retake_core::{Part, Path, Pos, Role, Unanswered, calls_as_run};

use super::load::Loaded;
use crate::error::{Result, StoreError};
use crate::rows::Rows;

/// How many of the newest turns are checked: only the last answer of a turn can have calls without results.
const TURNS: usize = 20;

/// The most entries after that answer: results of its other calls, and messages.
const BEHIND: usize = 16;

/// Those at the ends of a path's turns, of the newest turn first.
pub(super) fn along(rows: &dyn Rows, loaded: &Loaded, path: &Path) -> Result<Vec<Unanswered>> {
    let mut found = Vec::new();
    let mut end = path.last();
    for turn in 0..TURNS {
        let Some(last) = end else { break };
        found.extend(
            at_end(rows, loaded, path, last)?
                .into_iter()
                .map(|call| Unanswered { newest: turn == 0, ..call }),
        );
        end = opener(rows, loaded, &path.up_to(Some(last)))?.and_then(|opener| path.before(opener));
    }
    Ok(found)
}

/// The last entry of a path that opens a turn.
fn opener(rows: &dyn Rows, loaded: &Loaded, path: &Path) -> Result<Option<Pos>> {
    for span in path.spans().iter().rev() {
        let log = loaded.key(span.last())?.log;
        if let Some(seq) = rows.last_opener(log, span.from, span.to)? {
            return Ok(Some(Pos::new(span.depth, seq)));
        }
    }
    Ok(None)
}

/// Those of the last answer up to an entry.
fn at_end(rows: &dyn Rows, loaded: &Loaded, path: &Path, last: Pos) -> Result<Vec<Unanswered>> {
    let mut answered: HashSet<String> = HashSet::new();
    let mut at = Some(last);
    for _ in 0..BEHIND {
        let Some(pos) = at else { break };
        let entry = match rows.entry(loaded.key(pos)?) {
            Ok(entry) => entry,
            Err(StoreError::Damaged { .. }) => break,
            Err(error) => return Err(error),
        };
        if entry.meta.role == Role::Assistant {
            let id = entry.meta.id;
            let open = (1..).zip(calls_as_run(&entry.parts)).filter(|(_, call)| !answered.contains(call.id));
            let open = open.map(|(number, call)| {
                // The name of a call in the ledger.
                let state = rows.effect_began(&format!("{id}-{number}"))?.map(|(_, state)| state);
                let (tool, arguments) = (call.name.to_owned(), call.arguments.to_owned());
                Ok(Unanswered { entry: id, tool, arguments, state, newest: false })
            });
            return open.collect();
        }
        answered.extend(entry.parts.into_iter().filter_map(|part| match part {
            Part::ToolResult { call, .. } => Some(call),
            _ => None,
        }));
        if entry.meta.role == Role::User && !entry.meta.flags.synthetic {
            break;
        }
        at = path.before(pos);
    }
    Ok(Vec::new())
}
