//! The lines of a JSON Lines export: a header, then a line for each entry of the export projection. It can be
//! imported again as a new conversation.

use retake_core::{Entry, EntryId, Flags, Mark, Part, Role, Time, Usage};
use serde::{Deserialize, Serialize};

use super::content::{PartRecord, part, part_record};
use super::{Decoded, from_json, to_json};
use crate::transfer::{About, Exported, ImportEntry, ImportMessage};

/// The format name in the first line of an export.
pub const EXPORT_FORMAT: &str = "retake-export";
/// The version that this program writes, and the newest one that it reads. Version 2 added repaired calls.
pub const EXPORT_VERSION: u64 = 2;

/// The information in an export's header for the conversation that an import creates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportHeader {
    /// The number of lines that follow.
    pub entries: u64,
    /// Title, if it has one.
    pub title: Option<String>,
    /// Folder, if it has one.
    pub folder: Option<String>,
    /// When the conversation was created.
    pub created: Time,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HeaderRecord {
    format: String,
    version: u64,
    exported_ms: i64,
    entries: u64,
    conversation: AboutRecord,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AboutRecord {
    id: String,
    title: Option<String>,
    created_ms: i64,
    folder: Option<String>,
    head: String,
    parent: Option<ParentRecord>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ParentRecord {
    conversation: String,
    head: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryRecord {
    id: String,
    seq: u64,
    depth: u32,
    role: String,
    author: String,
    time_ms: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mark: Option<String>,
    /// Covered by a fold in force: a summary replaced it in the prompt.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    folded: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    flags: Vec<FlagName>,
    parts: Vec<PartRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage: Option<TokensRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    platform_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    alternatives: Option<AlternativesRecord>,
}

/// The other answers, in order, and the number of this one among all, from 1.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AlternativesRecord {
    chosen: usize,
    others: Vec<OtherRecord>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OtherRecord {
    id: String,
    author: String,
    time_ms: i64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    flags: Vec<FlagName>,
    parts: Vec<PartRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage: Option<TokensRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    platform_id: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum FlagName {
    Synthetic,
    Observed,
    Interrupted,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TokensRecord {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    input_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cached_input_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output_tokens: Option<u64>,
}

/// An entry that cannot be read: the line names its place and the error.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DamagedRecord {
    damaged: String,
    seq: u64,
    depth: u32,
}

/// The header, without a line break.
pub fn encode_export_header(about: &About, exported: Time, entries: u64) -> String {
    to_json(&HeaderRecord {
        format: EXPORT_FORMAT.into(),
        version: EXPORT_VERSION,
        exported_ms: exported.0,
        entries,
        conversation: AboutRecord {
            id: about.id.to_string(),
            title: about.title.clone(),
            created_ms: about.created.0,
            folder: about.folder.clone(),
            head: about.head.to_string(),
            parent: about.parent.map(|(conversation, head)| ParentRecord {
                conversation: conversation.to_string(),
                head: head.to_string(),
            }),
        },
    })
}

/// The header in this line.
pub fn decode_export_header(line: &str) -> Decoded<ExportHeader> {
    let HeaderRecord { entries, conversation, .. } = from_json("header", line)?;
    let AboutRecord { title, folder, created_ms, .. } = conversation;
    Ok(ExportHeader { entries, title, folder, created: Time(created_ms) })
}

/// An entry's line, without a line break.
pub fn encode_exported(exported: &Exported) -> String {
    let Exported { shown, alternatives } = exported;
    let entry = match &shown.entry {
        Ok(entry) => entry,
        Err(why) => {
            let (seq, depth) = (shown.pos.seq, shown.pos.depth);
            return to_json(&DamagedRecord { damaged: why.clone(), seq, depth });
        }
    };
    to_json(&EntryRecord {
        id: entry.meta.id.to_string(),
        seq: shown.pos.seq,
        depth: shown.pos.depth,
        role: entry.meta.role.name().to_owned(),
        author: entry.author.clone(),
        time_ms: entry.meta.time.0,
        mark: Some(shown.mark).filter(|mark| *mark != Mark::Normal).map(|mark| mark.name().to_owned()),
        folded: shown.fold.is_some(),
        label: shown.label.clone(),
        flags: flag_names(entry.meta.flags),
        parts: entry.parts.iter().map(part_record).collect(),
        usage: entry.usage.map(tokens_record),
        platform_id: entry.platform_id.clone(),
        alternatives: shown
            .alternative
            .map(|(chosen, _)| AlternativesRecord { chosen, others: others(alternatives, entry.meta.id) }),
    })
}

fn others(alternatives: &[Entry], chosen: EntryId) -> Vec<OtherRecord> {
    let others = alternatives.iter().filter(|other| other.meta.id != chosen);
    let record = |other: &Entry| OtherRecord {
        id: other.meta.id.to_string(),
        author: other.author.clone(),
        time_ms: other.meta.time.0,
        flags: flag_names(other.meta.flags),
        parts: other.parts.iter().map(part_record).collect(),
        usage: other.usage.map(tokens_record),
        platform_id: other.platform_id.clone(),
    };
    others.map(record).collect()
}

/// The entry that an import stores for this line. `new_id` creates ids.
pub fn decode_exported(line: &str, mut new_id: impl FnMut() -> EntryId) -> Decoded<ImportEntry> {
    if line.starts_with("{\"damaged\"") {
        let record: DamagedRecord = from_json("line", line)?;
        let text = format!("[This message was damaged before it was exported: {}]", record.damaged);
        let flags = Flags { synthetic: true, ..Flags::default() };
        let said =
            ImportMessage { role: Role::System, flags, ..said(new_id(), vec![Part::Text(text)], None) };
        return Ok(ImportEntry { said: vec![said], chosen: 0, mark: Mark::Excluded, label: None });
    }
    let record: EntryRecord = from_json("line", line)?;
    let role = Role::from_name(&record.role).ok_or_else(|| format!("“{}” is not a role", record.role))?;
    let mark = match record.mark.as_deref() {
        None => Mark::Normal,
        Some(mark) if mark == Mark::Excluded.name() => Mark::Excluded,
        Some(other) => return Err(format!("an entry marked “{other}” is in no export")),
    };
    let mut all = Vec::new();
    let mut chosen = 0;
    if let Some(AlternativesRecord { chosen: number, others }) = record.alternatives {
        if role != Role::Assistant {
            return Err("only an answer has alternatives".into());
        }
        let at = number.checked_sub(1).filter(|at| *at <= others.len());
        chosen = at.ok_or_else(|| format!("{number} is not the number of an alternative"))?;
        for other in others {
            let parts = other.parts.into_iter().map(part).collect::<Decoded<_>>()?;
            all.push(ImportMessage {
                role,
                author: other.author,
                flags: flags(&other.flags),
                usage: other.usage.map(tokens),
                platform_id: other.platform_id,
                ..said(new_id(), parts, Some(Time(other.time_ms)))
            });
        }
    }
    let parts = record.parts.into_iter().map(part).collect::<Decoded<_>>()?;
    let own = ImportMessage {
        role,
        author: record.author,
        flags: flags(&record.flags),
        usage: record.usage.map(tokens),
        platform_id: record.platform_id,
        ..said(new_id(), parts, Some(Time(record.time_ms)))
    };
    all.insert(chosen, own);
    Ok(ImportEntry { said: all, chosen, mark, label: record.label })
}

fn said(id: EntryId, parts: Vec<Part>, time: Option<Time>) -> ImportMessage {
    ImportMessage {
        id,
        role: Role::User,
        author: String::new(),
        parts,
        flags: Flags::default(),
        time,
        usage: None,
        platform_id: None,
    }
}

/// The flags that an author sets. Erased content is visible as such, and no entry on a path is detached.
fn flag_names(flags: Flags) -> Vec<FlagName> {
    let named = [
        (flags.synthetic, FlagName::Synthetic),
        (flags.observed, FlagName::Observed),
        (flags.interrupted, FlagName::Interrupted),
    ];
    named.into_iter().filter(|(set, _)| *set).map(|(_, name)| name).collect()
}

fn flags(names: &[FlagName]) -> Flags {
    let mut flags = Flags::default();
    for name in names {
        match name {
            FlagName::Synthetic => flags.synthetic = true,
            FlagName::Observed => flags.observed = true,
            FlagName::Interrupted => flags.interrupted = true,
        }
    }
    flags
}

fn tokens_record(usage: Usage) -> TokensRecord {
    let Usage { input_tokens, cached_input_tokens, output_tokens } = usage;
    TokensRecord { input_tokens, cached_input_tokens, output_tokens }
}

fn tokens(record: TokensRecord) -> Usage {
    let TokensRecord { input_tokens, cached_input_tokens, output_tokens } = record;
    Usage { input_tokens, cached_input_tokens, output_tokens }
}
