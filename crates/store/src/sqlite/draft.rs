//! Rows of drafts: one for each conversation and author; for new conversations, one for each folder and author.

use retake_core::Part;
use rusqlite::params;

use super::cells::{Sql, all, of, run};
use super::rows::SqliteRows;
use crate::error::Result;
use crate::record::{decode_parts, encode_parts};
use crate::rows::{ConversationRow, DraftRows, LogNo};

const OF: Sql = (
    "read drafts",
    "SELECT author, content FROM draft
     WHERE root = (SELECT root FROM conversation WHERE log = ?1) AND log = ?1 ORDER BY author",
);

const IN: Sql =
    ("read the draft of a folder", "SELECT content FROM folder_draft WHERE folder = ? AND author = ?");

const ALL_IN: Sql = (
    "read the drafts of folders",
    "SELECT folder, author, content FROM folder_draft ORDER BY folder, author",
);

/// The statements that read drafts, for the test that none of them scans a table.
#[cfg(test)]
pub(super) const READS: &[Sql] = &[OF, IN];

impl DraftRows for SqliteRows {
    fn set_draft(&mut self, home: &ConversationRow, author: &str, parts: Option<&[Part]>) -> Result<()> {
        let (root, log) = (home.root.0, home.log.0);
        match parts {
            Some(parts) => {
                let sql = ("keep a draft", "REPLACE INTO draft VALUES (?, ?, ?, ?)");
                run(&self.db, sql, params![root, log, author, encode_parts(parts)]).map(drop)
            }
            None => {
                let sql = ("remove a draft", "DELETE FROM draft WHERE root = ? AND log = ? AND author = ?");
                run(&self.db, sql, params![root, log, author]).map(drop)
            }
        }
    }

    fn drafts(&self, log: LogNo) -> Result<Vec<(String, Vec<Part>)>> {
        all(&self.db, OF, [log.0], of("a draft", log), |cells| {
            Ok((cells.next()?, decode_parts(&cells.next::<String>()?)?))
        })
    }

    fn set_draft_in(&mut self, folder: &str, author: &str, parts: Option<&[Part]>) -> Result<()> {
        match parts {
            Some(parts) => {
                let sql = ("keep the draft of a folder", "REPLACE INTO folder_draft VALUES (?, ?, ?)");
                run(&self.db, sql, params![folder, author, encode_parts(parts)]).map(drop)
            }
            None => {
                let sql = (
                    "remove the draft of a folder",
                    "DELETE FROM folder_draft WHERE folder = ? AND author = ?",
                );
                run(&self.db, sql, params![folder, author]).map(drop)
            }
        }
    }

    fn draft_in(&self, folder: &str, author: &str) -> Result<Option<Vec<Part>>> {
        let name = || format!("the draft of the folder {folder:?}");
        let found =
            all(&self.db, IN, [folder, author], name, |cells| decode_parts(&cells.next::<String>()?))?;
        Ok(found.into_iter().next())
    }

    fn drafts_in(&self) -> Result<Vec<(String, String, Vec<Part>)>> {
        let name = || "the draft of a folder".to_owned();
        all(&self.db, ALL_IN, [], name, |cells| {
            Ok((cells.next()?, cells.next()?, decode_parts(&cells.next::<String>()?)?))
        })
    }
}
