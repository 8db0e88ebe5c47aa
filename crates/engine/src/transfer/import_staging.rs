//! Imports in progress: decoded lines, in memory only. Nothing of them remains after a crash.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use retake_core::name::title_of_import;
use retake_core::{ConversationId, EntryId, Receipt, RequestId, Time};
use retake_store::{
    ExportHeader, FullConversation, FullImport, FullLine, ImportEntry, decode_export_header, decode_exported,
    decode_full,
};

use super::chat_messages;
use super::import_lines::{Format, format_of, mended};
use crate::error::{EngineError, Kind, Result};

/// Ended imports whose receipts are kept for repeated requests.
const REMEMBERED: usize = 64;

/// The most imports that are open at once; beyond that, the one that has waited longest for lines is dropped. Otherwise the lines
/// of a client that disconnected would stay here for ever.
const OPEN: usize = 64;

/// The beginning of an export's first line.
const HEADER: &str = "{\"format\":";

/// The options at the beginning of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Start {
    pub(super) title: Option<String>,
    pub(super) folder: Option<String>,
    /// The number of lines in its file before its own.
    pub(super) lines_before: u64,
    pub(super) request: Option<RequestId>,
}

/// A complete import.
pub(super) enum StagedImport {
    /// A tree of forks, unchanged.
    Full(FullImport),
    /// A new conversation.
    Conversation(NewConversation),
}

/// A conversation to create.
#[derive(Default)]
pub(super) struct NewConversation {
    pub(super) title: Option<String>,
    pub(super) folder: Option<String>,
    pub(super) created: Option<Time>,
    pub(super) entries: Vec<ImportEntry>,
}

/// The imports of an engine.
#[derive(Default)]
pub(crate) struct StagedImports {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    open: HashMap<ConversationId, Importing>,
    /// Counts the calls that bring lines.
    came: u64,
    ended: Vec<(ConversationId, Receipt)>,
}

struct Importing {
    start: Start,
    /// When lines last arrived for it, as `State::came` counts.
    last: u64,
    /// The number of the next line, from 0.
    next: u64,
    content: Content,
}

/// The lines that were decoded so far.
enum Content {
    Nothing,
    Export(ExportHeader, Vec<ImportEntry>),
    Full(u64, FullImport),
    Messages(Vec<chat_messages::Message>),
    /// The text so far, and the number of its first line, from 1.
    Document(String, u64),
}

impl StagedImports {
    /// Begins an import, or continues one of the same request that has not ended.
    pub(super) fn begin(&self, id: ConversationId, start: Start) -> ConversationId {
        let mut state = self.state();
        let same = state.open.iter().find(|(_, open)| start.request.is_some() && open.start == start);
        if let Some((id, _)) = same {
            return *id;
        }
        state.open(id, start);
        id
    }

    /// Begins an import that no other request can continue.
    pub(super) fn open(&self, id: ConversationId, start: Start) {
        self.state().open(id, start);
    }

    /// Drops an import, if it has not ended.
    pub(super) fn abandon(&self, id: ConversationId) {
        self.state().open.remove(&id);
    }

    /// Adds lines. Lines that came before are skipped; an invalid one ends the import.
    pub(super) fn lines(
        &self,
        id: ConversationId,
        first: u64,
        lines: &[String],
        mut new_id: impl FnMut() -> EntryId,
    ) -> Result<()> {
        let mut state = self.state();
        if state.ended.iter().any(|(ended, _)| *ended == id) {
            return Ok(());
        }
        state.came += 1;
        let last = state.came;
        let import = state.open.get_mut(&id).ok_or_else(|| unknown(id))?;
        import.last = last;
        if first > import.next {
            let message = format!(
                "can't import line {}: line {} has not come yet",
                first.saturating_add(1),
                import.next + 1
            );
            return Err(EngineError::new(Kind::Refused, "lines_missing", message)
                .with("line", first.saturating_add(1))
                .with("missing", import.next + 1));
        }
        let known = usize::try_from(import.next - first).unwrap_or(usize::MAX);
        for line in lines.iter().skip(known) {
            import.next += 1;
            let number = import.start.lines_before.saturating_add(import.next);
            if let Err(why) = import.content.take(line, number, &mut new_id) {
                state.open.remove(&id);
                return Err(bad(&format!("line {number}"), &why).with("line", number));
            }
        }
        Ok(())
    }

    /// Ends an import and removes it here.
    pub(super) fn end(
        &self,
        id: ConversationId,
        new_id: impl FnMut() -> EntryId,
        user: &str,
        now: Time,
    ) -> Result<(Start, StagedImport)> {
        let import = self.state().open.remove(&id).ok_or_else(|| unknown(id))?;
        Ok((import.start, import.content.finish(new_id, user, now)?))
    }

    /// Stores the receipt of an import for repeated requests.
    pub(super) fn remember(&self, id: ConversationId, receipt: &Receipt) {
        let mut state = self.state();
        if state.ended.len() == REMEMBERED {
            state.ended.remove(0);
        }
        state.ended.push((id, receipt.clone()));
    }

    /// The receipt of an import that has ended.
    pub(super) fn ended(&self, id: ConversationId) -> Option<Receipt> {
        self.state().ended.iter().find(|(ended, _)| *ended == id).map(|(_, receipt)| receipt.clone())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn open(&mut self, id: ConversationId, start: Start) {
        self.came += 1;
        if self.open.len() == OPEN
            && let Some(idle) = self.open.iter().min_by_key(|(_, open)| open.last).map(|(id, _)| *id)
        {
            self.open.remove(&idle);
        }
        self.open.insert(id, Importing { start, last: self.came, next: 0, content: Content::Nothing });
    }
}

impl Content {
    /// Adds a line; its number counts from 1.
    fn take(&mut self, line: &str, number: u64, new_id: impl FnMut() -> EntryId) -> Result<(), String> {
        let line = mended(line);
        if let Self::Document(text, _) = self {
            text.push('\n');
            text.push_str(&line);
            return Ok(());
        }
        if line.trim().is_empty() {
            return Ok(());
        }
        match self {
            Self::Nothing => *self = Self::begin(&line, number)?,
            Self::Export(..) if line.starts_with(HEADER) && format_of(&line).is_ok() => {
                return Err("another conversation begins here; this import takes one".into());
            }
            Self::Export(_, entries) => entries.push(decode_exported(&line, new_id)?),
            Self::Full(_, full) => take_full(full, decode_full(&line)?)?,
            Self::Messages(messages) => messages.push(chat_messages::message(&line, number)?),
            Self::Document(..) => {}
        }
        Ok(())
    }

    fn begin(line: &str, number: u64) -> Result<Self, String> {
        Ok(match format_of(line)? {
            Format::Export => Self::Export(decode_export_header(line)?, Vec::new()),
            Format::Full => match decode_full(line)? {
                FullLine::Begin(conversations) => Self::Full(conversations, FullImport::default()),
                _ => return Err("a full export begins with its header".into()),
            },
            Format::Messages => Self::Messages(vec![chat_messages::message(line, number)?]),
            Format::Document => Self::Document(line.to_owned(), number),
        })
    }

    fn finish(self, new_id: impl FnMut() -> EntryId, user: &str, now: Time) -> Result<StagedImport> {
        let short = |found: u64, all: u64, what: &str| {
            at_end(&format!("the export is cut off: it has {found} of {all} {what}"))
        };
        match self {
            Self::Nothing => Err(at_end("there is nothing in it")),
            Self::Export(header, entries) => {
                let found = entries.len() as u64;
                if found != header.entries {
                    return Err(short(found, header.entries, "messages"));
                }
                let ExportHeader { title, folder, created, .. } = header;
                let title = title.as_deref().and_then(title_of_import);
                Ok(StagedImport::Conversation(NewConversation {
                    title,
                    folder,
                    created: Some(created),
                    entries,
                }))
            }
            Self::Full(conversations, full) => {
                let found = full.conversations.len() as u64;
                if found != conversations {
                    return Err(short(found, conversations, "conversations"));
                }
                Ok(StagedImport::Full(full))
            }
            Self::Messages(messages) => Ok(chat_list(
                chat_messages::List { messages, ..chat_messages::List::default() },
                new_id,
                user,
                now,
            )),
            Self::Document(text, line) => {
                let list = chat_messages::document(&text).map_err(|(at, why)| {
                    let Some(at) = at else { return bad("the list", &why).with("what", "list") };
                    let number = line - 1 + at;
                    bad(&format!("line {number}"), &why).with("line", number)
                })?;
                Ok(chat_list(list, new_id, user, now))
            }
        }
    }
}

fn chat_list(
    mut list: chat_messages::List,
    new_id: impl FnMut() -> EntryId,
    user: &str,
    now: Time,
) -> StagedImport {
    list.note_odd_times(now);
    let chat_messages::List { messages, title, created } = list;
    let entries = chat_messages::entries(messages, new_id, user);
    let title = title.as_deref().and_then(title_of_import);
    StagedImport::Conversation(NewConversation { entries, title, created, ..NewConversation::default() })
}

/// Adds a row of a full export to its conversation.
fn take_full(full: &mut FullImport, line: FullLine) -> Result<(), String> {
    match line {
        FullLine::Begin(_) => return Err("a second header".into()),
        FullLine::Entry(number, entry, made_by) => home(full, number)?.entries.push((*entry, made_by)),
        FullLine::Operation(number, op, made_by) => home(full, number)?.ops.push((*op, made_by)),
        FullLine::Effect(number, effect) => home(full, number)?.beside.effects.push(*effect),
        FullLine::Run(number, run) => home(full, number)?.beside.runs.push(*run),
        FullLine::Permission(number, settled) => home(full, number)?.beside.permission = Some(settled),
        FullLine::Post(number, post) => home(full, number)?.beside.posts.push(*post),
        FullLine::Conversation(conversation) => full.conversations.push(*conversation),
    }
    Ok(())
}

fn home(full: &mut FullImport, number: usize) -> Result<&mut FullConversation, String> {
    let conversation = full.conversations.get_mut(number);
    conversation.ok_or_else(|| format!("it belongs to conversation {number}, which has not come"))
}

fn bad(place: &str, why: &str) -> EngineError {
    EngineError::new(Kind::Usage, "bad_import", format!("can't import: {place}: {why}")).with("detail", why)
}

/// An import that is not complete.
fn at_end(why: &str) -> EngineError {
    bad("the end", why).with("what", "end")
}

fn unknown(id: ConversationId) -> EngineError {
    EngineError::new(Kind::NotFound, "unknown_import", format!("there is no import {id} in progress"))
        .with("import", id.to_string())
        .remedies([retake_core::Remedy::List])
}
