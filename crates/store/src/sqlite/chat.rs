//! Rows of chats.

use retake_core::{
    ArrivalOutcome, ChatAccount, ChatBinding, ChatMessageRow, ChatPerson, ChatPlace, ConversationId, OpNo,
    Post, PostKey, PostNo, Seq, Time,
};
use rusqlite::params;
use uuid::Uuid;

use super::cells::{Cells, Sql, all, at_most, first, int, of, run};
use super::rows::SqliteRows;
use crate::error::Result;
use crate::record::{
    Decoded, PostColumns, decode_outcome, decode_post, decode_role, decode_wordings, encode_outcome,
    encode_post, encode_role, encode_wordings,
};
use crate::rows::{ChatRows, ConversationRow, LogNo};

macro_rules! of_log {
    ($columns:literal, $table:literal, $rest:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM ",
            $table,
            " WHERE root = (SELECT root FROM conversation WHERE log = ?1) AND log = ?1 ",
            $rest
        )
    };
}

const ACCOUNT: Sql =
    ("read an account", "SELECT holder, until, cursor, wrong FROM chat_account WHERE name = ?");
const BINDING: Sql = (
    "read a binding",
    "SELECT account, chat, thread, conversation, shared, person, last FROM chat_binding
     WHERE account = ?1 AND chat = ?2 AND thread = ?3",
);
const BINDINGS: Sql = (
    "read bindings",
    "SELECT account, chat, thread, conversation, shared, person, last FROM chat_binding WHERE account = ?1",
);
const EVENT: Sql = ("look an event up", "SELECT outcome FROM chat_event WHERE account = ?1 AND key = ?2");
const OLD_EVENT: Sql = ("look for old events", "SELECT 1 FROM chat_event WHERE time < ?1 LIMIT 1");
const FORGET_EVENTS: Sql = (
    "remove old events",
    "DELETE FROM chat_event WHERE (account, key) IN
     (SELECT account, key FROM chat_event WHERE time < ?1 ORDER BY time LIMIT ?2)",
);
const HOLDS: Sql = ("read holds", "SELECT bucket, until FROM chat_hold WHERE account = ?1 AND until > ?2");
const PERSON: Sql = (
    "read a person",
    "SELECT account, person, name, role FROM chat_person WHERE account = ?1 AND person = ?2",
);
const MESSAGE: Sql = (
    "look a message up",
    of_log!("seq, earlier, content", "chat_message", "AND account = ?2 AND chat = ?3 AND message = ?4"),
);
const POST: Sql = ("read a post", of_log!("no, seq, op, due, post", "post", "AND no = ?2"));
const POSTS: Sql = ("read posts", of_log!("no, seq, op, due, post", "post", "ORDER BY no"));
const NUMBERED: Sql =
    ("read some posts", of_log!("no, seq, op, due, post", "post", "AND no BETWEEN ?2 AND ?3 ORDER BY no"));
const LAST_POSTS: Sql =
    ("read the newest posts", of_log!("no, seq, op, due, post", "post", "ORDER BY no DESC LIMIT ?2"));
const OF_ENTRIES: Sql = (
    "read the posts of entries",
    of_log!(
        "no, seq, op, due, post",
        "post INDEXED BY post_entry",
        "AND seq BETWEEN ?2 AND ?3 ORDER BY seq, no"
    ),
);
const OF_OP: Sql = (
    "read the posts of an operation",
    of_log!("no, seq, op, due, post", "post INDEXED BY post_op", "AND op = ?2 ORDER BY no"),
);
const LAST: Sql = ("number a post", of_log!("no", "post", "ORDER BY no DESC LIMIT 1"));
const DUE: Sql = (
    "read posts that are due",
    "SELECT log, no FROM post INDEXED BY post_due WHERE account = ?1 AND due <= ?2 AND due IS NOT NULL
     ORDER BY due LIMIT ?3",
);
const NEXT: Sql = (
    "read when a post is due",
    "SELECT due FROM post INDEXED BY post_due WHERE account = ?1 AND due > ?2 AND due IS NOT NULL ORDER BY due LIMIT 1",
);
const BY_ID: Sql =
    ("look a post up", "SELECT log, no FROM post_id WHERE account = ?1 AND chat = ?2 AND id = ?3");

/// The statements that look for rows, for the test that none of them scans a table.
#[cfg(test)]
pub(super) const READS: &[Sql] = &[
    ACCOUNT,
    BINDING,
    BINDINGS,
    EVENT,
    OLD_EVENT,
    FORGET_EVENTS,
    HOLDS,
    PERSON,
    MESSAGE,
    POST,
    POSTS,
    LAST_POSTS,
    OF_ENTRIES,
    OF_OP,
    LAST,
    DUE,
    NEXT,
    BY_ID,
];

fn named(name: &'static str) -> impl Fn() -> String {
    move || name.to_owned()
}

fn binding(cells: &mut Cells<'_>) -> Decoded<ChatBinding> {
    let (account, chat, thread): (String, String, String) = (cells.next()?, cells.next()?, cells.next()?);
    Ok(ChatBinding {
        place: ChatPlace { account, chat, thread: Some(thread).filter(|thread| !thread.is_empty()) },
        conversation: ConversationId::new(Uuid::from_bytes(cells.next()?)),
        is_shared: cells.next()?,
        person: cells.next()?,
        last: cells.next()?,
    })
}

fn person(cells: &mut Cells<'_>) -> Decoded<ChatPerson> {
    let (account, person, name) = (cells.next()?, cells.next()?, cells.next()?);
    Ok(ChatPerson { account, person, name, role: decode_role(&cells.next::<String>()?)? })
}

fn post(cells: &mut Cells<'_>) -> Decoded<Post> {
    let count = |value: Option<i64>| value.map(|value| u64::try_from(value).unwrap_or(0));
    let columns = PostColumns {
        no: cells.count()?,
        entry: count(cells.next()?),
        op: count(cells.next()?),
        due: cells.next()?,
    };
    decode_post(&columns, &cells.next::<String>()?)
}

fn key(cells: &mut Cells<'_>) -> Decoded<PostKey> {
    Ok(PostKey { log: LogNo(cells.next()?), no: PostNo(cells.count()?) })
}

fn account(name: String, cells: &mut Cells<'_>) -> Decoded<ChatAccount> {
    let (holder, until): (Option<String>, Option<i64>) = (cells.next()?, cells.next()?);
    let lease = holder.zip(until.map(Time));
    Ok(ChatAccount { name, lease, cursor: cells.next()?, wrong_codes: cells.next()? })
}

fn thread(place: &ChatPlace) -> &str {
    place.thread.as_deref().unwrap_or_default()
}

impl SqliteRows {
    fn write_post(&mut self, home: &ConversationRow, post: &Post) -> Result<()> {
        let (columns, record) = encode_post(post);
        let sql = ("keep a post", "REPLACE INTO post VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
        let (entry, op) = (columns.entry.map(int), columns.op.map(int));
        let values = params![
            home.root.0,
            home.log.0,
            int(columns.no),
            post.place.account,
            entry,
            op,
            columns.due,
            record
        ];
        run(&self.db, sql, values).map(drop)
    }
}

impl ChatRows for SqliteRows {
    fn chat_account(&self, name: &str) -> Result<Option<ChatAccount>> {
        first(&self.db, ACCOUNT, [name], named("an account"), |cells| account(name.to_owned(), cells))
    }

    fn chat_accounts(&self) -> Result<Vec<ChatAccount>> {
        let sql =
            ("list accounts", "SELECT name, holder, until, cursor, wrong FROM chat_account ORDER BY name");
        all(&self.db, sql, [], named("an account"), |cells| {
            let name: String = cells.next()?;
            account(name, cells)
        })
    }

    fn set_chat_account(&mut self, account: &ChatAccount) -> Result<()> {
        let sql = ("keep an account", "REPLACE INTO chat_account VALUES (?, ?, ?, ?, ?)");
        let (holder, until) = account.lease.as_ref().map(|(holder, until)| (holder, until.0)).unzip();
        run(&self.db, sql, params![account.name, holder, until, account.cursor, account.wrong_codes])
            .map(drop)
    }

    fn chat_binding(&self, place: &ChatPlace) -> Result<Option<ChatBinding>> {
        let values = params![place.account, place.chat, thread(place)];
        first(&self.db, BINDING, values, named("a binding"), binding)
    }

    fn set_chat_binding(&mut self, binding: &ChatBinding) -> Result<()> {
        let sql = ("keep a binding", "REPLACE INTO chat_binding VALUES (?, ?, ?, ?, ?, ?, ?)");
        let place = &binding.place;
        let id = binding.conversation.uuid().into_bytes();
        let ChatBinding { is_shared, person, last, .. } = binding;
        let values = params![place.account, place.chat, thread(place), id, is_shared, person, last];
        run(&self.db, sql, values).map(drop)
    }

    fn remove_chat_binding(&mut self, place: &ChatPlace) -> Result<bool> {
        let sql =
            ("remove a binding", "DELETE FROM chat_binding WHERE account = ? AND chat = ? AND thread = ?");
        Ok(run(&self.db, sql, params![place.account, place.chat, thread(place)])? > 0)
    }

    fn chat_bindings(&self, account: &str) -> Result<Vec<ChatBinding>> {
        all(&self.db, BINDINGS, [account], named("a binding"), binding)
    }

    fn all_chat_bindings(&self) -> Result<Vec<ChatBinding>> {
        let sql = (
            "list bindings",
            "SELECT account, chat, thread, conversation, shared, person, last FROM chat_binding
             ORDER BY account, chat, thread",
        );
        all(&self.db, sql, [], named("a binding"), binding)
    }

    fn chat_event(&self, account: &str, key: &str) -> Result<Option<ArrivalOutcome>> {
        first(&self.db, EVENT, [account, key], named("an event"), |cells| {
            decode_outcome(&cells.next::<String>()?)
        })
    }

    fn insert_chat_event(
        &mut self,
        account: &str,
        key: &str,
        outcome: &ArrivalOutcome,
        now: Time,
    ) -> Result<()> {
        let sql = ("record an event", "INSERT INTO chat_event VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING");
        run(&self.db, sql, params![account, key, encode_outcome(outcome), now.0]).map(drop)
    }

    fn has_chat_events(&self, before: Time) -> Result<bool> {
        Ok(first(&self.db, OLD_EVENT, [before.0], named("an event"), |_| Ok(()))?.is_some())
    }

    fn forget_chat_events(&mut self, before: Time, limit: usize) -> Result<()> {
        run(&self.db, FORGET_EVENTS, params![before.0, at_most(limit)]).map(drop)
    }

    fn chat_holds(&self, account: &str, now: Time) -> Result<Vec<(String, Time)>> {
        all(&self.db, HOLDS, params![account, now.0], named("a hold"), |cells| {
            Ok((cells.next()?, Time(cells.next()?)))
        })
    }

    fn set_chat_hold(&mut self, account: &str, bucket: &str, until: Time) -> Result<()> {
        let sql = ("keep a hold", "REPLACE INTO chat_hold VALUES (?, ?, ?)");
        run(&self.db, sql, params![account, bucket, until.0]).map(drop)
    }

    fn chat_person(&self, account: &str, of: &str) -> Result<Option<ChatPerson>> {
        first(&self.db, PERSON, [account, of], named("a person"), person)
    }

    fn set_chat_person(&mut self, person: &ChatPerson) -> Result<()> {
        let sql = ("keep a person", "REPLACE INTO chat_person VALUES (?, ?, ?, ?)");
        let values = params![person.account, person.person, person.name, encode_role(person.role)];
        run(&self.db, sql, values).map(drop)
    }

    fn chat_people(&self, account: Option<&str>) -> Result<Vec<ChatPerson>> {
        let sql = (
            "list people",
            "SELECT account, person, name, role FROM chat_person WHERE ?1 IS NULL OR account = ?1
             ORDER BY account, person",
        );
        all(&self.db, sql, [account], named("a person"), person)
    }

    fn chat_message(
        &self,
        log: LogNo,
        account: &str,
        chat: &str,
        message: &str,
    ) -> Result<Option<ChatMessageRow>> {
        first(&self.db, MESSAGE, params![log.0, account, chat, message], of("a message", log), |cells| {
            let seq: Option<i64> = cells.next()?;
            let entry = seq.map(|seq| Seq(u64::try_from(seq).unwrap_or(0)));
            let earlier: String = cells.next()?;
            let earlier = decode_wordings(&earlier)?;
            Ok(ChatMessageRow { entry, earlier, content: cells.next()? })
        })
    }

    fn set_chat_message(
        &mut self,
        home: &ConversationRow,
        account: &str,
        (chat, message): (&str, &str),
        row: ChatMessageRow,
    ) -> Result<()> {
        let sql = ("keep a message of a chat", "REPLACE INTO chat_message VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
        let entry = row.entry.map(|seq| int(seq.0));
        let earlier = encode_wordings(&row.earlier);
        let values = params![home.root.0, home.log.0, account, chat, message, entry, earlier, row.content];
        run(&self.db, sql, values).map(drop)
    }

    fn insert_post(&mut self, home: &ConversationRow, post: Post) -> Result<PostNo> {
        let last = first(&self.db, LAST, [home.log.0], of("posts", home.log), |cells| cells.count())?;
        let no = PostNo(last.unwrap_or(0) + 1);
        self.write_post(home, &Post { no, ..post })?;
        Ok(no)
    }

    fn set_post(&mut self, home: &ConversationRow, post: &Post) -> Result<()> {
        self.write_post(home, post)
    }

    fn post(&self, key: PostKey) -> Result<Option<Post>> {
        first(&self.db, POST, [key.log.0, int(key.no.0)], of("a post", key.log), post)
    }

    fn posts(&self, log: LogNo) -> Result<Vec<Post>> {
        all(&self.db, POSTS, [log.0], of("posts", log), post)
    }

    fn posts_numbered(&self, log: LogNo, first: PostNo, last: PostNo) -> Result<Vec<Post>> {
        all(&self.db, NUMBERED, [log.0, int(first.0), int(last.0)], of("posts", log), post)
    }

    fn last_posts(&self, log: LogNo, limit: usize) -> Result<Vec<Post>> {
        all(&self.db, LAST_POSTS, params![log.0, at_most(limit)], of("posts", log), post)
    }

    fn posts_of_entries(&self, log: LogNo, first: Seq, last: Seq) -> Result<Vec<Post>> {
        all(&self.db, OF_ENTRIES, [log.0, int(first.0), int(last.0)], of("posts", log), post)
    }

    fn posts_of_op(&self, log: LogNo, op: OpNo) -> Result<Vec<Post>> {
        all(&self.db, OF_OP, [log.0, int(op.0)], of("posts", log), post)
    }

    fn posts_due(&self, account: &str, now: Time, limit: usize) -> Result<Vec<PostKey>> {
        all(&self.db, DUE, params![account, now.0, at_most(limit)], named("posts"), key)
    }

    fn posts_next(&self, account: &str, after: Time) -> Result<Option<Time>> {
        first(&self.db, NEXT, params![account, after.0], named("posts"), |cells| Ok(Time(cells.next()?)))
    }

    fn post_by_id(&self, account: &str, chat: &str, id: &str) -> Result<Option<PostKey>> {
        first(&self.db, BY_ID, [account, chat, id], named("a post"), key)
    }

    fn set_post_id(&mut self, account: &str, chat: &str, id: &str, key: PostKey) -> Result<()> {
        let sql = ("record the id of a post", "REPLACE INTO post_id VALUES (?, ?, ?, ?, ?)");
        run(&self.db, sql, params![account, chat, id, key.log.0, int(key.no.0)]).map(drop)
    }

    fn has_posts(&self, log: LogNo) -> Result<bool> {
        Ok(first(&self.db, LAST, [log.0], of("posts", log), |cells| cells.count())?.is_some())
    }
}
