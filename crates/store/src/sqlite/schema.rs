//! The schema and its history: every migration step of older formats. A step must never change after its release.
//!
//! Entries are keyed by one number, `log << 32 | seq`. A log's entries are stored together and in order, and a range of them is a
//! range of keys. The full-text index names rows by the same number. A log belongs to one root for ever, so the key names the
//! root too. Every other index begins with it, so that the same schema can be divided by root. The exceptions find a conversation
//! by its id or request alone, and a call by its name.
//!
//! Indexes are partial where they can be: an ordinary message changes only the table, its id, its request and the full text.
//! Positions are `depth << 40 | seq`, relative to the lineage, as in core.

mod access;

use rusqlite::Connection;

use access::{ACCESS, CHAT};

/// The application id of the file: “Rtke”.
pub(super) const APPLICATION: i32 = 0x5274_6b65;

/// The newest format.
pub(super) const VERSION: i64 = STEPS.len() as i64;

/// Migrates a file from one format to the next.
type Step = fn(&Connection) -> rusqlite::Result<()>;

const STEPS: [Step; 20] = [
    |db| db.execute_batch(&format!("{FIRST}{SEARCH}")),
    |db| db.execute_batch(STREAMS),
    |db| db.execute_batch(FILES),
    |db| db.execute_batch(CALLS),
    |db| db.execute_batch(MANIFESTS),
    |db| db.execute_batch(AGENT),
    |db| db.execute_batch(SEVERAL),
    |db| db.execute_batch(DRAFTS),
    |db| db.execute_batch(DID),
    |db| db.execute_batch(ARCHIVED),
    |db| db.execute_batch(FOLDER_DRAFTS),
    // The full-text index is rebuilt, too: see CUT.
    |db| db.execute_batch(KEPT),
    // Symbols are words since this format: only the full-text index is rebuilt.
    |_| Ok(()),
    |db| db.execute_batch(MOVE_LISTS),
    // Answers may have repaired calls since this format, which an older program could not read.
    |_| Ok(()),
    |db| db.execute_batch(OUTBOX),
    // Entries may recall facts since this format, too.
    |db| db.execute_batch(MEMORY),
    |db| db.execute_batch(SUBAGENTS),
    |db| db.execute_batch(ACCESS),
    |db| db.execute_batch(CHAT),
];

/// The format since which text is split into words as in `query::words`. After a migration from an older file the full-text index
/// is rebuilt. Otherwise a search would look for words that were never indexed.
pub(super) const CUT: i64 = 13;

/// Makes every step from format `from`, within the caller's transaction.
pub(super) fn migrate(db: &Connection, from: i64) -> rusqlite::Result<()> {
    between(db, from, VERSION)
}

fn between(db: &Connection, from: i64, to: i64) -> rusqlite::Result<()> {
    for (number, step) in (1..=to).zip(STEPS) {
        if number > from {
            step(db)?;
        }
    }
    db.pragma_update(None, "user_version", to)
}

/// Creates a file of an older format, as its version did.
#[cfg(test)]
pub(super) fn older_format(db: &Connection, format: i64) -> rusqlite::Result<()> {
    db.pragma_update(None, "application_id", APPLICATION)?;
    between(db, 0, format)
}

const FIRST: &str = "
CREATE TABLE meta (
  name TEXT PRIMARY KEY,
  value ANY NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('epoch', 0);

CREATE TABLE conversation (
  log INTEGER PRIMARY KEY,
  root INTEGER NOT NULL,
  id BLOB NOT NULL UNIQUE,
  parent INTEGER,
  parent_op INTEGER,
  parent_seq INTEGER,
  parent_tip INTEGER,
  folder TEXT,
  created INTEGER NOT NULL,
  request ANY,
  fingerprint BLOB,
  changed INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  head_op INTEGER NOT NULL,
  head_seq INTEGER NOT NULL,
  rewinds INTEGER NOT NULL,
  delta_bytes INTEGER NOT NULL
) STRICT;
CREATE INDEX conversation_root ON conversation (root);
CREATE UNIQUE INDEX conversation_request ON conversation (request) WHERE request IS NOT NULL;

CREATE TABLE entry (
  key INTEGER PRIMARY KEY,
  root INTEGER NOT NULL,
  depth INTEGER NOT NULL,
  id BLOB NOT NULL,
  after INTEGER,
  turn INTEGER,
  role TEXT NOT NULL,
  flags INTEGER NOT NULL,
  time INTEGER NOT NULL,
  messages INTEGER NOT NULL,
  calls_total INTEGER NOT NULL,
  turns_total INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  answers INTEGER,
  author TEXT NOT NULL,
  platform_id TEXT,
  request ANY,
  fingerprint BLOB,
  usage TEXT,
  content TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX entry_id ON entry (root, id);
CREATE UNIQUE INDEX entry_request ON entry (root, key >> 32, request) WHERE request IS NOT NULL;
CREATE INDEX entry_platform ON entry (root, platform_id) WHERE platform_id IS NOT NULL;
CREATE INDEX entry_opener ON entry (root, key) WHERE flags & 32;
CREATE INDEX entry_run ON entry (root, key, after, flags) WHERE flags & 64;
CREATE INDEX entry_result ON entry (root, key, answers) WHERE answers IS NOT NULL;
CREATE INDEX entry_answers ON entry (root, key >> 32, answers) WHERE answers IS NOT NULL;

CREATE TABLE operation (
  root INTEGER NOT NULL,
  log INTEGER NOT NULL,
  no INTEGER NOT NULL,
  kind TEXT NOT NULL,
  reason TEXT NOT NULL,
  delta TEXT NOT NULL,
  at INTEGER NOT NULL,
  tip INTEGER,
  revision INTEGER NOT NULL,
  before TEXT,
  after TEXT,
  author TEXT NOT NULL,
  time INTEGER NOT NULL,
  request ANY,
  fingerprint BLOB,
  summary TEXT,
  PRIMARY KEY (root, log, no)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX operation_request ON operation (root, log, request) WHERE fingerprint IS NOT NULL;

CREATE TABLE state (
  root INTEGER NOT NULL,
  log INTEGER NOT NULL,
  op INTEGER NOT NULL,
  state TEXT NOT NULL,
  PRIMARY KEY (root, log, op)
) STRICT;
";

/// The full-text index, apart from `FIRST` because a damaged one is rebuilt. It stores no text. Its input is folded words with
/// spaces between, so the simplest tokenizer is enough. It stores no lengths, so that hits are ranked by frequency and rarity
/// without reading a row for each: five times faster.
pub(super) const SEARCH: &str = "
CREATE VIRTUAL TABLE search USING fts5 (text, content = '', columnsize = 0, tokenize = 'ascii');
";

/// Streams in progress.
const STREAMS: &str = "
CREATE TABLE stream (
  log INTEGER PRIMARY KEY,
  root INTEGER NOT NULL,
  stream TEXT NOT NULL
) STRICT;
";

/// Files: workspaces and their captures, changes of calls and operations, current layers, and intents. Conversations of many
/// roots share a workspace, so the keys of its rows begin with its own number.
const FILES: &str = "
CREATE TABLE workspace (
  no INTEGER PRIMARY KEY,
  root BLOB NOT NULL,
  device INTEGER NOT NULL,
  inode INTEGER NOT NULL,
  created INTEGER NOT NULL,
  mark BLOB
) STRICT;

CREATE TABLE capture (
  workspace INTEGER NOT NULL,
  no INTEGER NOT NULL,
  time INTEGER NOT NULL,
  name TEXT,
  changes TEXT NOT NULL,
  PRIMARY KEY (workspace, no)
) STRICT;

CREATE TABLE delta (
  root INTEGER NOT NULL,
  log INTEGER NOT NULL,
  no INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  workspace INTEGER NOT NULL,
  paths INTEGER NOT NULL,
  applied INTEGER NOT NULL,
  layers TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX delta_line ON delta (root, log, no, seq, workspace, paths, applied);

CREATE TABLE layer (
  root INTEGER NOT NULL,
  log INTEGER NOT NULL,
  workspace INTEGER NOT NULL,
  path BLOB NOT NULL,
  stack TEXT NOT NULL,
  PRIMARY KEY (root, log, workspace, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE moved (
  root INTEGER NOT NULL,
  log INTEGER NOT NULL,
  op INTEGER NOT NULL,
  workspace INTEGER NOT NULL,
  moves TEXT NOT NULL,
  PRIMARY KEY (root, log, op)
) STRICT;

CREATE TABLE intent (
  workspace INTEGER PRIMARY KEY,
  root INTEGER,
  log INTEGER,
  op INTEGER,
  staging TEXT NOT NULL,
  back INTEGER NOT NULL
) STRICT;
";

/// Calls that may change a workspace, of every conversation: a handful at any time; and the calls' moves in git.
const CALLS: &str = "
CREATE TABLE open_call (
  id TEXT PRIMARY KEY,
  workspace INTEGER NOT NULL,
  conversation BLOB NOT NULL,
  entry BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE git_move (
  root INTEGER NOT NULL,
  log INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  workspace INTEGER NOT NULL,
  moved TEXT NOT NULL,
  PRIMARY KEY (root, log, seq)
) STRICT;
";

/// The manifests of checkpoints.
const MANIFESTS: &str = "ALTER TABLE capture ADD COLUMN manifest BLOB;";

/// Turns with tools. Facts by key. The ledger of effects, whose calls have unique names and are found only by these. Runs, of
/// which at most one runs and one waits. Permissions.
const AGENT: &str = "
CREATE TABLE fact (
  root INTEGER NOT NULL,
  log INTEGER NOT NULL,
  key TEXT NOT NULL,
  seq INTEGER NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (root, log, key, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE effect (
  root INTEGER NOT NULL,
  log INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  no INTEGER NOT NULL,
  call TEXT NOT NULL,
  tool TEXT NOT NULL,
  class TEXT NOT NULL,
  print BLOB NOT NULL,
  began INTEGER NOT NULL,
  state TEXT NOT NULL,
  PRIMARY KEY (root, log, seq, no)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX effect_call ON effect (call);
CREATE INDEX effect_print ON effect (root, print);

CREATE TABLE run (
  root INTEGER NOT NULL,
  log INTEGER NOT NULL,
  no INTEGER NOT NULL,
  state TEXT NOT NULL,
  fence INTEGER NOT NULL,
  run TEXT NOT NULL,
  PRIMARY KEY (root, log, no)
) STRICT;
CREATE UNIQUE INDEX run_running ON run (root, log) WHERE state = 'running';
CREATE UNIQUE INDEX run_queued ON run (root, log) WHERE state = 'queued';
CREATE UNIQUE INDEX run_fence ON run (root, log, fence) WHERE fence > 0;

CREATE TABLE permission (
  root INTEGER NOT NULL,
  log INTEGER NOT NULL,
  permission TEXT NOT NULL,
  PRIMARY KEY (root, log)
) STRICT;
";

/// Several workspaces at once: an operation's moves, an open call, and its moves in git have a row for each.
const SEVERAL: &str = "
ALTER TABLE moved RENAME TO moved_in_one;
CREATE TABLE moved (
  root INTEGER NOT NULL,
  log INTEGER NOT NULL,
  op INTEGER NOT NULL,
  workspace INTEGER NOT NULL,
  moves TEXT NOT NULL,
  PRIMARY KEY (root, log, op, workspace)
) STRICT;
INSERT INTO moved SELECT root, log, op, workspace, moves FROM moved_in_one;
DROP TABLE moved_in_one;

ALTER TABLE open_call RENAME TO open_in_one;
CREATE TABLE open_call (
  id TEXT NOT NULL,
  workspace INTEGER NOT NULL,
  conversation BLOB NOT NULL,
  entry BLOB NOT NULL,
  PRIMARY KEY (id, workspace)
) STRICT, WITHOUT ROWID;
INSERT INTO open_call SELECT id, workspace, conversation, entry FROM open_in_one;
DROP TABLE open_in_one;

ALTER TABLE git_move RENAME TO git_moved_in_one;
CREATE TABLE git_move (
  root INTEGER NOT NULL,
  log INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  workspace INTEGER NOT NULL,
  moved TEXT NOT NULL,
  PRIMARY KEY (root, log, seq, workspace)
) STRICT;
INSERT INTO git_move SELECT root, log, seq, workspace, moved FROM git_moved_in_one;
DROP TABLE git_moved_in_one;
";

/// Drafts: beside the log, and in no projection.
const DRAFTS: &str = "
CREATE TABLE draft (
  root INTEGER NOT NULL,
  log INTEGER NOT NULL,
  author TEXT NOT NULL,
  content TEXT NOT NULL,
  PRIMARY KEY (root, log, author)
) STRICT, WITHOUT ROWID;
";

/// Drafts of new conversations: they belong to a folder, as there is no conversation yet.
const FOLDER_DRAFTS: &str = "
CREATE TABLE folder_draft (
  folder TEXT NOT NULL,
  author TEXT NOT NULL,
  content TEXT NOT NULL,
  PRIMARY KEY (folder, author)
) STRICT, WITHOUT ROWID;
";

/// An index of each turn's file changes by its entries.
const DID: &str = "CREATE INDEX delta_entry ON delta (root, log, seq, paths);";

/// Archived conversations.
const ARCHIVED: &str = "ALTER TABLE conversation ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;";

/// An operation's change of the kept files.
const KEPT: &str = "ALTER TABLE operation ADD COLUMN kept TEXT;";

/// The moves of a large step: a row for each path, written in batches before the operation. An operation's row names the list,
/// and is open until the layers of the list are in `layer`. The number of paths with a delta has a row of its own, so that
/// changing it does not rewrite all of the delta's layers.
const MOVE_LISTS: &str = "
CREATE TABLE moved_path (
  root INTEGER NOT NULL,
  log INTEGER NOT NULL,
  list INTEGER NOT NULL,
  path BLOB NOT NULL,
  moves TEXT NOT NULL,
  PRIMARY KEY (root, log, list, path)
) STRICT, WITHOUT ROWID;
ALTER TABLE moved ADD COLUMN list INTEGER;
ALTER TABLE moved ADD COLUMN open INTEGER NOT NULL DEFAULT 0;
CREATE INDEX moved_open ON moved (root, log, workspace, list) WHERE open = 1;

CREATE TABLE delta_count (
  root INTEGER NOT NULL,
  log INTEGER NOT NULL,
  no INTEGER NOT NULL,
  applied INTEGER NOT NULL,
  PRIMARY KEY (root, log, no)
) STRICT, WITHOUT ROWID;
";

/// The outbox: what each destination knows of each conversation, and when it is due; and deliveries that were passed over. Of a run,
/// the head at its end, if there was a destination for it.
const OUTBOX: &str = "
CREATE TABLE outbox (
  root INTEGER NOT NULL,
  log INTEGER NOT NULL,
  destination TEXT NOT NULL,
  no INTEGER NOT NULL,
  told TEXT NOT NULL,
  claim TEXT,
  due INTEGER,
  attempts INTEGER NOT NULL,
  since INTEGER,
  failure TEXT,
  why TEXT,
  PRIMARY KEY (root, log, destination, no)
) STRICT, WITHOUT ROWID;
CREATE INDEX outbox_due ON outbox (due) WHERE due IS NOT NULL;
ALTER TABLE run ADD COLUMN ended_op INTEGER;
ALTER TABLE run ADD COLUMN ended_seq INTEGER;
";

/// An index of remembered facts over all conversations: their ids are the ends of these keys, and `0` follows `/`.
const MEMORY: &str = "CREATE INDEX fact_memory ON fact (key) WHERE key >= 'memory/' AND key < 'memory0';";

/// The calls that started subagents; and the answers whose calls may have made an ambiguous change.
const SUBAGENTS: &str = "
ALTER TABLE conversation ADD COLUMN caller INTEGER;
ALTER TABLE conversation ADD COLUMN caller_seq INTEGER;
ALTER TABLE conversation ADD COLUMN call TEXT;
CREATE INDEX conversation_caller ON conversation (root, caller, caller_seq) WHERE caller IS NOT NULL;

CREATE TABLE candidate (
  root INTEGER NOT NULL,
  log INTEGER NOT NULL,
  no INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (root, log, no, seq)
) STRICT, WITHOUT ROWID;
";
