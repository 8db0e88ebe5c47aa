//! Memory: the facts that count now, whichever conversation remembers them, and the words of those that an entry recalls.
//!
//! A fact counts while an entry that remembers it is on the path of its conversation or of a fork, without a mark, and no entry
//! like that forgets it. This is decided for each reading and never stored, so that rewind, undo, marks and forks need nothing
//! more. The words come from the entry. Its index has ids only.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use retake_core::{
    ConversationId, Entry, EntryId, FactsChanged, Mark, MemoryFact, MemoryId, MemoryRequest, MemoryScope,
    Part, Path, RECALLED, REMEMBERED, RecalledWords, Time, Visibility, calls_as_run,
};

use super::Store;
use super::facts::unfolded_facts;
use super::family::Family;
use super::load::Loaded;
use crate::error::{Result, StoreError};
use crate::query::words;
use crate::rows::{Key, LogNo, Rows};

/// The argument of the tool's call that has the words.
const WORDS: &str = "text";

impl Store {
    /// The remembered facts that count now.
    pub async fn memory(&self, request: MemoryRequest) -> Result<Vec<MemoryFact>> {
        let reader = match request.unknown_to {
            Some(id) => Some(self.now(id).await?),
            None => None,
        };
        self.read(move |rows| {
            let known = reader.map(|loaded| known_to(rows, &loaded)).transpose()?.unwrap_or_default();
            let mut facts = Memories::new(rows).best(&request)?;
            facts.retain(|fact| !known.contains(&fact.id));
            Ok(facts)
        })
        .await
    }

    /// Whether these entries of a conversation or its forks are all visible somewhere, without a mark.
    pub async fn holds(&self, conversation: ConversationId, entries: Vec<EntryId>) -> Result<bool> {
        self.read(move |rows| {
            let Some(home) = rows.conversation(conversation)? else { return Ok(false) };
            let mut memories = Memories::new(rows);
            for id in entries {
                let Some(key) = rows.entry_by_id(home.root, id)? else { return Ok(false) };
                if memories.home(key)?.is_none() {
                    return Ok(false);
                }
            }
            Ok(true)
        })
        .await
    }

    /// A remembered fact, if it counts now.
    pub async fn memory_fact(&self, id: MemoryId) -> Result<Option<MemoryFact>> {
        self.read(move |rows| Memories::new(rows).counting(&rows.memory(Some(&id))?)).await
    }
}

/// The facts that the path of a conversation holds or has recalled, and no summary covers: its model knows them.
fn known_to(rows: &dyn Rows, loaded: &Loaded) -> Result<HashSet<MemoryId>> {
    let mut known = HashSet::new();
    for prefix in [REMEMBERED, RECALLED] {
        let facts = unfolded_facts(rows, loaded, prefix)?;
        known.extend(facts.iter().filter_map(|fact| MemoryId::in_key(&fact.key, prefix)));
    }
    Ok(known)
}

/// How a step changes which facts count. `states` are those of the conversation before and after it; they are needed only if
/// its logs have facts.
pub(super) fn changed(
    rows: &dyn Rows,
    loaded: &Loaded,
    states: impl FnOnce() -> Result<[Loaded; 2]>,
) -> Result<FactsChanged> {
    let ids = ids_in(rows, loaded.lineage.iter())?;
    if ids.is_empty() {
        return Ok(FactsChanged::default());
    }
    let states = states()?;
    let paths = [states[0].conversation.path(), states[1].conversation.path()];
    let is_plain = |at: usize, key| {
        let (path, loaded): (&Path, &Loaded) = (&paths[at], &states[at]);
        let pos = loaded.pos(key).filter(|pos| path.contains(*pos));
        pos.is_some_and(|pos| loaded.conversation.mark(pos) == Mark::Normal)
    };
    let is_touched = |key| is_plain(0, key) != is_plain(1, key);
    let [then, now] = states.clone().map(|loaded| Memories::with(rows, Family::with(rows, Arc::new(loaded))));
    compared(ids, [then, now], is_touched)
}

/// How an erasure of these entries would change which facts count in a tree of forks.
pub(super) fn erased(rows: &dyn Rows, family: &[Loaded], keys: BTreeSet<Key>) -> Result<FactsChanged> {
    let ids = ids_in(rows, family.iter().map(|member| &member.row.log))?;
    let now = Memories { erased: keys, ..Memories::new(rows) };
    // A fact also goes with the call that has its words, which is another entry.
    compared(ids, [Memories::new(rows), now], |_| true)
}

/// The facts that entries of these logs remember or forget.
fn ids_in<'l>(rows: &dyn Rows, logs: impl Iterator<Item = &'l LogNo>) -> Result<BTreeSet<MemoryId>> {
    let mut ids = BTreeSet::new();
    for log in logs {
        let mut from = REMEMBERED.to_owned();
        while let Some(key) = rows.fact_key(*log, &from)?.filter(|key| key.starts_with(REMEMBERED)) {
            // No text is between these two.
            from = format!("{key}\0");
            ids.extend(MemoryId::in_key(&key, REMEMBERED));
        }
    }
    Ok(ids)
}

/// Counts the facts that count in one of two states only. Conversations are loaded only for facts with a touched entry.
fn compared(
    ids: BTreeSet<MemoryId>,
    [mut then, mut now]: [Memories<'_>; 2],
    is_touched: impl Fn(Key) -> bool,
) -> Result<FactsChanged> {
    let mut changed = FactsChanged::default();
    for id in ids {
        let same = then.rows.memory(Some(&id))?;
        if !same.iter().any(|(key, ..)| is_touched(*key)) {
            continue;
        }
        match (then.counting(&same)?.is_some(), now.counting(&same)?.is_some()) {
            (true, false) => changed.gone += 1,
            (false, true) => changed.came += 1,
            _ => {}
        }
    }
    Ok(changed)
}

/// Fills in the words of the facts that these entries recall.
pub(super) fn fill<'e>(rows: &dyn Rows, entries: impl IntoIterator<Item = &'e mut Vec<Part>>) -> Result<()> {
    let mut memories = Memories::new(rows);
    for part in entries.into_iter().flatten() {
        let Part::Recalled(facts) = part else { continue };
        for fact in facts {
            fact.words = memories.words(&fact.id)?;
        }
    }
    Ok(())
}

/// Reads facts from one state of the rows.
struct Memories<'a> {
    rows: &'a dyn Rows,
    family: Family<'a>,
    /// The words that were looked up.
    told: HashMap<MemoryId, RecalledWords>,
    /// The folders of conversations.
    folders: HashMap<LogNo, Option<String>>,
    /// Entries that are read as if they were erased.
    erased: BTreeSet<Key>,
}

impl<'a> Memories<'a> {
    fn new(rows: &'a dyn Rows) -> Self {
        Self::with(rows, Family::new(rows))
    }

    fn with(rows: &'a dyn Rows, family: Family<'a>) -> Self {
        Self { rows, family, told: HashMap::new(), folders: HashMap::new(), erased: BTreeSet::new() }
    }

    /// The facts for a request that count now: those with most of its words first, then the newest. A conversation is loaded only
    /// for a fact that may be among them.
    fn best(&mut self, request: &MemoryRequest) -> Result<Vec<MemoryFact>> {
        let wanted = request.words.as_deref().map(|query| words(query).map(|word| word.text).collect());
        let rows = self.rows.memory(None)?;
        let mut found = Vec::new();
        for same in rows.chunk_by(|(_, one, _), (_, other, _)| one == other) {
            if self.counts_in(request, same)?
                && let Some(rank) = self.rank(same, wanted.as_ref())?
            {
                found.push((rank, same));
            }
        }
        found.sort_by_key(|(rank, _)| std::cmp::Reverse(*rank));
        let mut facts = Vec::new();
        for (_, same) in found {
            if facts.len() >= request.limit {
                break;
            }
            facts.extend(self.counting(same)?);
        }
        Ok(facts)
    }

    /// How many of the wanted words a fact has, and when it was remembered. `None`: it has none of them, or cannot be read.
    fn rank(
        &mut self,
        same: &[(Key, String, String)],
        wanted: Option<&HashSet<String>>,
    ) -> Result<Option<(usize, Time)>> {
        let remembers = same.iter().find(|(.., value)| MemoryScope::in_value(value).is_some());
        let Some((key, ..)) = remembers else { return Ok(None) };
        let Some(wanted) = wanted else {
            return Ok(readable(self.rows.meta(*key))?.map(|meta| (0, meta.time)));
        };
        let Some((text, entry)) = self.read(*key)? else { return Ok(None) };
        let own: HashSet<String> = words(&text).map(|word| word.text).collect();
        let count = wanted.intersection(&own).count();
        Ok((count > 0).then_some((count, entry.meta.time)))
    }

    /// Whether one of the rows of a fact makes it count where the request asks.
    fn counts_in(&mut self, request: &MemoryRequest, same: &[(Key, String, String)]) -> Result<bool> {
        let Some(wanted) = &request.folder else { return Ok(true) };
        for (key, _, value) in same {
            let counts = match MemoryScope::in_value(value) {
                None => false,
                Some(MemoryScope::Everywhere) => true,
                Some(MemoryScope::Folder) => self.folder(key.log)? == *wanted,
            };
            if counts {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn folder(&mut self, log: LogNo) -> Result<Option<String>> {
        if !self.folders.contains_key(&log) {
            self.folders.insert(log, self.rows.log(log)?.folder);
        }
        Ok(self.folders[&log].clone())
    }

    /// The fact with these rows, if it counts now.
    fn counting(&mut self, same: &[(Key, String, String)]) -> Result<Option<MemoryFact>> {
        let mut found = None;
        for (key, name, value) in same {
            if self.erased.contains(key) {
                continue;
            }
            let Some(log) = self.home(*key)? else { continue };
            match (MemoryScope::in_value(value), MemoryId::in_key(name, REMEMBERED)) {
                (None, _) => return Ok(None),
                (Some(scope), Some(id)) if found.is_none() => {
                    let loaded = self.family.loaded(log)?;
                    found = self.read(*key)?.map(|(text, entry)| MemoryFact {
                        id,
                        text,
                        scope,
                        folder: loaded.row.folder.clone(),
                        conversation: loaded.row.id,
                        entry: entry.meta.id,
                        author: entry.author,
                        time: entry.meta.time,
                    });
                }
                _ => {}
            }
        }
        Ok(found)
    }

    /// The words of an entry that remembers, and the entry. Of a tool's result, the words are in the call.
    fn read(&mut self, key: Key) -> Result<Option<(String, Entry)>> {
        let Some(entry) = readable(self.rows.entry(key))? else { return Ok(None) };
        let answered = entry.parts.iter().find_map(Part::answered_call);
        let text = match (answered, entry.meta.answers) {
            (Some(call), Some(at)) => {
                let at = match at.depth == entry.meta.pos.depth {
                    true => Key { log: key.log, seq: at.seq },
                    false => self.family.loaded(key.log)?.key(at)?,
                };
                match self.erased.contains(&at) {
                    true => None,
                    false => readable(self.rows.entry(at))?.and_then(|asked| in_call(&asked.parts, call)),
                }
            }
            _ => entry.parts.iter().rev().find_map(Part::as_text).map(str::to_owned),
        };
        Ok(text.map(|text| (text, entry)))
    }

    /// Whether the words of a fact are still stored.
    fn has_words(&mut self, rows: &[(Key, String, String)]) -> Result<bool> {
        for (key, _, value) in rows {
            if MemoryScope::in_value(value).is_some() && self.read(*key)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The conversation in which an entry counts. One that cannot be read does not stop the reading of another.
    fn home(&mut self, key: Key) -> Result<Option<LogNo>> {
        let is_plain = |visibility| visibility == Visibility::OnPath(Mark::Normal);
        match self.family.first(key, is_plain) {
            Ok(home) => Ok(home.map(|(log, ..)| log)),
            Err(StoreError::Damaged { .. } | StoreError::MissingOperation(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The words of a fact that an entry recalls.
    fn words(&mut self, id: &MemoryId) -> Result<RecalledWords> {
        if let Some(words) = self.told.get(id) {
            return Ok(words.clone());
        }
        let rows = self.rows.memory(Some(id))?;
        let words = match self.counting(&rows)? {
            Some(fact) => RecalledWords::Known(fact.text),
            None if self.has_words(&rows)? => RecalledWords::TakenBack,
            None => RecalledWords::Erased,
        };
        self.told.insert(id.clone(), words.clone());
        Ok(words)
    }
}

/// What can be read. The check of the store reports the rest.
fn readable<T>(read: Result<T>) -> Result<Option<T>> {
    match read {
        Err(StoreError::Damaged { .. }) => Ok(None),
        read => read.map(Some),
    }
}

/// The words in a call.
fn in_call(parts: &[Part], call: &str) -> Option<String> {
    let asked = calls_as_run(parts).find(|form| form.id == call)?;
    let arguments: serde_json::Value = serde_json::from_str(asked.arguments).ok()?;
    Some(arguments.get(WORDS)?.as_str()?.to_owned())
}
