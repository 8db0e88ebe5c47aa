//! Migrations for access and chats. A step must never change after its release.

/// Who asked for an operation, and the tokens: their digests, never they themselves. Tokens belong to no root.
pub(super) const ACCESS: &str = "
ALTER TABLE operation ADD COLUMN principal TEXT;

CREATE TABLE token (
  name TEXT PRIMARY KEY,
  digest BLOB NOT NULL UNIQUE,
  grants TEXT NOT NULL,
  created INTEGER NOT NULL,
  expires INTEGER,
  revoked INTEGER
) STRICT, WITHOUT ROWID;
";

/// Chats: where messages came from, and the ledger of posts. What belongs to an account of a platform is global: an event is looked up
/// before its conversation is known.
pub(super) const CHAT: &str = "
ALTER TABLE entry ADD COLUMN origin TEXT;

CREATE TABLE chat_account (
  name TEXT PRIMARY KEY,
  holder TEXT,
  until INTEGER,
  cursor TEXT,
  wrong INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE chat_binding (
  account TEXT NOT NULL,
  chat TEXT NOT NULL,
  thread TEXT NOT NULL,
  conversation BLOB NOT NULL,
  shared INTEGER NOT NULL,
  person TEXT,
  last TEXT,
  PRIMARY KEY (account, chat, thread)
) STRICT, WITHOUT ROWID;

CREATE TABLE chat_event (
  account TEXT NOT NULL,
  key TEXT NOT NULL,
  outcome TEXT NOT NULL,
  time INTEGER NOT NULL,
  PRIMARY KEY (account, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX chat_event_time ON chat_event (time);

CREATE TABLE chat_hold (
  account TEXT NOT NULL,
  bucket TEXT NOT NULL,
  until INTEGER NOT NULL,
  PRIMARY KEY (account, bucket)
) STRICT, WITHOUT ROWID;

CREATE TABLE chat_person (
  account TEXT NOT NULL,
  person TEXT NOT NULL,
  name TEXT NOT NULL,
  role TEXT NOT NULL,
  PRIMARY KEY (account, person)
) STRICT, WITHOUT ROWID;

CREATE TABLE chat_message (
  root INTEGER NOT NULL,
  log INTEGER NOT NULL,
  account TEXT NOT NULL,
  chat TEXT NOT NULL,
  message TEXT NOT NULL,
  seq INTEGER,
  earlier TEXT NOT NULL,
  content BLOB NOT NULL,
  PRIMARY KEY (root, log, account, chat, message)
) STRICT, WITHOUT ROWID;

CREATE TABLE post (
  root INTEGER NOT NULL,
  log INTEGER NOT NULL,
  no INTEGER NOT NULL,
  account TEXT NOT NULL,
  seq INTEGER,
  op INTEGER,
  due INTEGER,
  post TEXT NOT NULL,
  PRIMARY KEY (root, log, no)
) STRICT, WITHOUT ROWID;
CREATE INDEX post_due ON post (account, due) WHERE due IS NOT NULL;
CREATE INDEX post_entry ON post (root, log, seq) WHERE seq IS NOT NULL;
CREATE INDEX post_op ON post (root, log, op) WHERE op IS NOT NULL;

CREATE TABLE post_id (
  account TEXT NOT NULL,
  chat TEXT NOT NULL,
  id TEXT NOT NULL,
  log INTEGER NOT NULL,
  no INTEGER NOT NULL,
  PRIMARY KEY (account, chat, id)
) STRICT, WITHOUT ROWID;
";
