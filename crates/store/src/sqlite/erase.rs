//! Erasing: the only place that overwrites stored content. The rows stay without their content.
//!
//! It runs in the transaction of the erase operation; `scrub` removes the bytes from the files after the commit.
//! A mark in `meta` records that this is still to be done, so that the next start finishes it after a crash.

use std::path::Path;

use retake_core::{EntryId, OpNo, Part, RequestId};
use rusqlite::{Connection, params};
use uuid::Uuid;

use super::cells::{first, one, run};
use super::{backup, entry, files, operation, schema, search, tool_turns};
use crate::error::{Result, StoreError};
use crate::record::{decode_parts, encode_kept, encode_parts, encode_request, erased_delta};
use crate::rows::{ERASED_OBJECTS, Erasure, Fingerprint, Key, LogNo};

/// Replaces a digest: a real one could confirm a guess of the content.
const NO_FINGERPRINT: Fingerprint = [0; 16];

pub(super) fn erase(db: &Connection, root: LogNo, what: &Erasure) -> Result<()> {
    for key in &what.entries {
        erase_entry(db, *key)?;
        let sql = (
            "erase the digest of a message",
            "UPDATE chat_message SET content = ?4 WHERE root = ?1 AND log = ?2 AND seq = ?3",
        );
        run(db, sql, params![root.0, key.log.0, super::cells::int(key.seq), NO_FINGERPRINT])?;
    }
    for key in &what.names {
        let sql =
            ("erase a name", "UPDATE entry SET author = '', platform_id = NULL, origin = NULL WHERE key = ?");
        run(db, sql, [entry::pack(*key)])?;
    }
    for (log, no) in &what.ops {
        erase_op(db, root, *log, *no)?;
    }
    for (log, no, kept) in &what.kept {
        let sql = (
            "erase an operation's paths",
            "UPDATE operation SET kept = ?4, fingerprint = iif(fingerprint IS NULL, NULL, ?5)
             WHERE root = ?1 AND log = ?2 AND no = ?3",
        );
        let no = super::cells::int(no.0);
        run(db, sql, params![root.0, log.0, no, encode_kept(kept), NO_FINGERPRINT])?;
    }
    for (log, request) in &what.requests {
        erase_request(db, root, *log, request)?;
    }
    for (log, no) in &what.authors {
        let sql = (
            "erase an operation's author",
            "UPDATE operation SET author = '', principal = iif(principal GLOB 'member:*',
               substr(principal, 1, 7 + instr(substr(principal, 8), ':')), principal)
             WHERE root = ? AND log = ? AND no = ?",
        );
        run(db, sql, params![root.0, log.0, super::cells::int(no.0)])?;
    }
    for log in &what.states {
        // A full state can be computed from the operations again.
        let sql = ("erase a state", "DELETE FROM state WHERE root = ? AND log = ?");
        run(db, sql, [root.0, log.0])?;
    }
    let sql = ("note an erasure", "REPLACE INTO meta VALUES ('scrub', 1)");
    run(db, sql, []).map(drop)
}

fn erase_entry(db: &Connection, key: Key) -> Result<()> {
    let sql = ("read an entry", "SELECT content, id FROM entry WHERE key = ?");
    let packed = entry::pack(key);
    let (parts, id) = one(
        db,
        sql,
        [packed],
        || key.name(),
        |cells| {
            let parts = decode_parts(&cells.next::<String>()?)?;
            Ok((parts, EntryId::new(Uuid::from_bytes(cells.next()?))))
        },
    )?;
    if let Some(text) = search::text_of(&parts) {
        search::remove(db, packed, &text)?;
    }
    tool_turns::facts::remove(db, key)?;
    tool_turns::effects::erase(db, key, id)?;
    let sql = (
        "erase an entry",
        "UPDATE entry SET content = ?2, usage = NULL, flags = flags | 16,
         fingerprint = iif(fingerprint IS NULL, NULL, ?3) WHERE key = ?1",
    );
    let nothing = encode_parts(&[Part::Erased]);
    run(db, sql, params![packed, nothing, NO_FINGERPRINT]).map(drop)
}

/// The rows of a request stay, without its id.
fn erase_request(db: &Connection, root: LogNo, log: LogNo, request: &RequestId) -> Result<()> {
    let statements = [
        "UPDATE entry SET request = NULL, fingerprint = NULL WHERE root = ?1 AND key >> 32 = ?2 AND request = ?3",
        "UPDATE operation SET request = NULL, fingerprint = NULL WHERE root = ?1 AND log = ?2 AND request = ?3",
        "UPDATE conversation SET request = NULL, fingerprint = NULL WHERE root = ?1 AND log = ?2 AND request = ?3",
    ];
    for sql in statements {
        run(db, ("erase a request", sql), params![root.0, log.0, encode_request(request)])?;
    }
    Ok(())
}

fn erase_op(db: &Connection, root: LogNo, log: LogNo, no: OpNo) -> Result<()> {
    let place = params![root.0, log.0, super::cells::int(no.0)];
    let sql =
        ("read an operation", "SELECT kind, delta FROM operation WHERE root = ? AND log = ? AND no = ?");
    let name = || operation::name(log, no);
    let delta =
        one(db, sql, place, name, |cells| erased_delta(&cells.next::<String>()?, &cells.next::<String>()?))?;
    let sql = (
        "erase an operation's texts",
        "UPDATE operation SET delta = coalesce(?4, delta), summary = iif(summary IS NULL, NULL, ''),
         fingerprint = iif(fingerprint IS NULL, NULL, ?5) WHERE root = ?1 AND log = ?2 AND no = ?3",
    );
    let (log, no) = (log.0, super::cells::int(no.0));
    let values = params![root.0, log, no, delta, NO_FINGERPRINT];
    run(db, sql, values).map(drop)
}

/// Whether erased bytes may still be in the files.
pub(super) fn is_pending(db: &Connection) -> Result<bool> {
    let sql = ("look for erasures", "SELECT 1 FROM meta WHERE name = 'scrub'");
    let found = first(db, sql, [], || "the table meta".into(), |_| Ok(()))?;
    Ok(found.is_some())
}

/// Removes erased content from the files: full-text segments, free pages, the write-ahead log, backups. Returns
/// what else had to be removed.
pub(super) fn scrub(db: &Connection, store: &Path) -> Result<Vec<String>> {
    rewrite(db)?;
    let mut notices = Vec::new();
    for copy in backup::list(store.parent().unwrap_or(Path::new(".")))? {
        if forget(store, &copy)? {
            continue;
        }
        backup::remove(&copy)?;
        notices.push(format!(
            "removed the backup {}: it is of an older format and may hold what was erased",
            copy.display()
        ));
    }
    let sql = ("note an erasure's end", "DELETE FROM meta WHERE name = 'scrub'");
    run(db, sql, [])?;
    Ok(notices)
}

/// Rewrites the whole file, so that no page and no log contains content without a row.
fn rewrite(db: &Connection) -> Result<()> {
    let attempt = || StoreError::database("overwrite what was erased");
    db.execute_batch("INSERT INTO search (search) VALUES ('optimize'); VACUUM;").map_err(attempt())?;
    let busy: bool =
        db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).map_err(attempt())?;
    if busy {
        let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
        let why = Some("a reader still needs the old pages".to_owned());
        return Err(attempt()(rusqlite::Error::SqliteFailure(code, why)));
    }
    Ok(())
}

/// Erases in a backup what is erased in the store. Rows only change by erasing, so a difference is an erasure.
/// `false`: the backup is no store of this format.
fn forget(store: &Path, copy: &Path) -> Result<bool> {
    let attempt = || StoreError::database("erase in a backup");
    let db = Connection::open(copy).map_err(attempt())?;
    let format = db.query_row("PRAGMA user_version", [], |row| row.get(0));
    if format != Ok(schema::VERSION) {
        return Ok(false);
    }
    run(&db, ("open the store", "ATTACH ? AS store"), [store.to_string_lossy()])?;
    db.execute_batch(FORGET).map_err(attempt())?;
    files::forget::forget(&db)?;
    db.execute("DELETE FROM meta WHERE name = ?", [ERASED_OBJECTS]).map_err(attempt())?;
    search::rebuild(&db)?;
    db.execute_batch("COMMIT; DETACH store; VACUUM;").map_err(attempt())?;
    Ok(true)
}

const FORGET: &str = "
BEGIN IMMEDIATE;
UPDATE main.entry SET content = now.content, usage = now.usage, flags = now.flags, fingerprint = now.fingerprint,
  author = now.author, platform_id = now.platform_id, origin = now.origin
  FROM store.entry AS now WHERE now.key = entry.key AND now.flags & 16;
UPDATE main.operation SET delta = now.delta, summary = now.summary, fingerprint = now.fingerprint,
  author = now.author, principal = now.principal
  FROM store.operation AS now
  WHERE now.root = operation.root AND now.log = operation.log AND now.no = operation.no
  AND (now.delta, now.summary, now.fingerprint, now.author, now.principal)
  IS NOT (operation.delta, operation.summary, operation.fingerprint, operation.author, operation.principal);
UPDATE main.post SET post = now.post, due = now.due FROM store.post AS now
  WHERE now.root = post.root AND now.log = post.log AND now.no = post.no AND now.post IS NOT post.post;
UPDATE main.chat_message SET content = now.content FROM store.chat_message AS now
  WHERE now.root = chat_message.root AND now.log = chat_message.log AND now.account = chat_message.account
  AND now.chat = chat_message.chat AND now.message = chat_message.message
  AND now.content IS NOT chat_message.content;
DELETE FROM main.fact WHERE NOT EXISTS (SELECT 1 FROM store.fact AS now WHERE now.root = fact.root
  AND now.log = fact.log AND now.key = fact.key AND now.seq = fact.seq);
UPDATE main.effect SET print = now.print, tool = now.tool FROM store.effect AS now
  WHERE now.call = effect.call AND (now.print, now.tool) IS NOT (effect.print, effect.tool);
DELETE FROM main.meta WHERE name GLOB 'restored_from *' AND NOT EXISTS (SELECT 1 FROM store.meta AS now
  WHERE now.name = meta.name);
UPDATE main.meta SET value = now.value FROM store.meta AS now
  WHERE now.name = meta.name AND meta.name GLOB 'unchanged *';
DELETE FROM main.state;
DELETE FROM main.stream;
DELETE FROM main.run;
DELETE FROM main.permission;
INSERT INTO main.permission SELECT now.* FROM store.permission AS now JOIN main.conversation USING (log);
DELETE FROM main.draft;
INSERT INTO main.draft SELECT now.* FROM store.draft AS now JOIN main.conversation USING (log);
DELETE FROM main.folder_draft;
INSERT INTO main.folder_draft SELECT * FROM store.folder_draft;
";
