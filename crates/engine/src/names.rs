//! Converts typed names to ids: conversations by id or prefix; entries by id, prefix, label, `tN` or `@`.
//!
//! `tN` is the message that opened the turn; when a mark is removed, it means everything in the turn with that mark. `@` is the
//! last visible message. A label never looks like one of them, like a head, like the number of an operation, or like the
//! beginning of a message's id. The id of a later message may begin like a label: then the label counts, and the whole id names
//! the message.
//!
//! For an unknown name, the error suggests the nearest known one.

use std::collections::BTreeSet;

use retake_core::{
    Action, ConversationId, EntryId, FoldId, ListRequest, Mark, OpNo, PageRequest, Projection, Reading,
    Reason, Refusal, Remedy,
};
use retake_store::StoreError;

use crate::Engine;
use crate::error::{EngineError, Kind, Result};

/// The shortest prefix of an id that is accepted.
const PREFIX_MIN: usize = 4;

/// The number of digits of an id.
const ID_DIGITS: usize = 32;

/// The last message.
const LAST: &str = "@";

/// How many ids are compared to find the nearest one.
const NEAREST_AMONG: usize = 200;

/// How similar a name must be to be suggested, from 0 to 1.
const NEAR: f64 = 0.7;

/// The hex digits of an id or of its prefix; `None` for any other text.
fn hex(name: &str) -> Option<String> {
    let digits: String = name.chars().filter(|c| *c != '-').map(|c| c.to_ascii_lowercase()).collect();
    let fits = (PREFIX_MIN..=ID_DIGITS).contains(&digits.len());
    (fits && digits.chars().all(|c| c.is_ascii_hexdigit())).then_some(digits)
}

/// The candidate that is most similar to `name`, if it is near enough.
fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a String>) -> Option<&'a String> {
    let scored = candidates.into_iter().map(|candidate| {
        let start: String = candidate.chars().take(name.chars().count().max(PREFIX_MIN)).collect();
        let like = strsim::normalized_damerau_levenshtein(name, candidate);
        (like.max(strsim::normalized_damerau_levenshtein(name, &start)), candidate)
    });
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(like, _)| *like >= NEAR).map(|(_, candidate)| candidate)
}

/// The number of a turn with the name `tN`.
fn turn(name: &str) -> Option<u64> {
    name.strip_prefix('t').and_then(|number| number.parse().ok())
}

/// Whether a name has a reserved form: `t1`, `@`, `#3`, the head `3.12`, `before 4`.
fn is_address(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let behind = |mark: &str| {
        let (start, rest) = name.split_at_checked(mark.len())?;
        start.eq_ignore_ascii_case(mark).then(|| rest.trim_start())
    };
    let is_head = || name.split_once('.').is_some_and(|(op, seq)| is_number(op) && is_number(seq));
    name == LAST
        || turn(name).is_some()
        || ["t", "#", "before "].into_iter().filter_map(behind).any(is_number)
        || is_head()
}

fn unknown(code: &'static str, what: &str, name: &str, near: Option<&String>, list: Remedy) -> EngineError {
    let error = EngineError::new(Kind::NotFound, code, format!("there is no {what} “{name}”"))
        .with("name", name)
        .remedies([list]);
    match near {
        Some(near) => error.with("nearest", near.as_str()),
        None => error,
    }
}

/// The names of the ends of a range, the earlier turn first.
fn ends<'a>(from: &'a str, to: &'a str) -> (&'a str, &'a str) {
    match (turn(from), turn(to)) {
        (Some(first), Some(last)) if first > last => (to, from),
        _ => (from, to),
    }
}

impl Engine {
    /// The subagent that the call with this name started.
    async fn subagent_named(&self, name: &str) -> Result<Option<ConversationId>> {
        let Some((entry, _)) = name.rsplit_once('-') else { return Ok(None) };
        let Some(digits) = hex(entry).filter(|digits| digits.len() == ID_DIGITS) else { return Ok(None) };
        let Some((entry, conversation)) = self.store().home_of(digits).await? else { return Ok(None) };
        for subagent in self.store().subagents_of(conversation, entry).await? {
            if self.store().caller(subagent).await?.is_some_and(|caller| caller.call == name) {
                return Ok(Some(subagent));
            }
        }
        Ok(None)
    }

    /// The conversation with this name. The name of a call names the subagent that it started.
    pub async fn conversation(&self, name: &str) -> Result<ConversationId> {
        if let Some(subagent) = self.subagent_named(name).await? {
            return Ok(subagent);
        }
        let found = match hex(name) {
            Some(digits) => self.store().conversations_like(digits, 2).await?,
            None => Vec::new(),
        };
        match found.as_slice() {
            [one] => Ok(*one),
            [] => {
                let list = ListRequest { limit: NEAREST_AMONG, ..ListRequest::default() };
                let ids: Vec<String> =
                    self.store().list(list).await?.iter().map(|summary| summary.id.to_string()).collect();
                let near = nearest(name, &ids);
                Err(unknown("unknown_conversation", "conversation", name, near, Remedy::List))
            }
            _ => Err(EngineError::new(
                Kind::NotFound,
                "ambiguous_conversation",
                format!("more than one conversation begins with “{name}”"),
            )
            .with("name", name)
            .remedies([Remedy::List])),
        }
    }

    /// Refuses an action that labels a message with a name that already has another meaning.
    pub(crate) async fn can_name(&self, conversation: ConversationId, action: &Action) -> Result<()> {
        let Action::Label(Some(entry), Some(name)) = action else { return Ok(()) };
        let name = retake_core::name::label(name).map_err(StoreError::from)?;
        let name = name.as_str();
        let (mut what, mut why) = ("address", "it has the form of a turn, a checkpoint or a head");
        let mut is_taken = is_address(name);
        if let Some(digits) = hex(name).filter(|_| !is_taken) {
            (what, why) = ("id", "the id of another message begins with it");
            is_taken = self.store().entries_like(conversation, digits, 2).await?.iter().any(|id| id != entry);
        }
        if !is_taken {
            return Ok(());
        }
        let error = EngineError::usage(format!("“{name}” can't be a label: {why}")).with("name", name);
        Err(error.with("what", what))
    }

    /// The entry with this name in the conversation.
    pub async fn entry(&self, conversation: ConversationId, name: &str) -> Result<EntryId> {
        let snapshot = self.store().snapshot(conversation).await?;
        let known = snapshot.conversation();
        // A whole id means that message, even if an earlier version or an import accepted it as a label.
        if let Some(digits) = hex(name).filter(|digits| digits.len() == ID_DIGITS)
            && let Some(entry) = self.store().entries_like(conversation, digits, 1).await?.first()
        {
            return Ok(*entry);
        }
        let pos = match name {
            LAST => known.scheduling().spans().last().map(|span| span.last()).or(known.state.tip),
            _ if turn(name).is_some() => None,
            label => known.state.labelled(label),
        };
        if let Some(pos) = pos {
            return Ok(self.store().entry_id(conversation, pos).await?);
        }
        if let Some(number) = turn(name) {
            if let Some(entry) = self.store().turn(conversation, number).await? {
                return Ok(entry);
            }
            let all = self.store().turn_entries(conversation, number).await?;
            if let Some((_, mark)) = all.first().filter(|(_, mark)| number > 0 && !mark.is_visible()) {
                return Err(StoreError::from(Refusal::NotVisible(*mark)).into());
            }
        }
        let found = match hex(name) {
            Some(digits) => self.store().entries_like(conversation, digits, 2).await?,
            None => Vec::new(),
        };
        match found.as_slice() {
            [one] => Ok(*one),
            [] => Err(self.unknown_entry(conversation, name).await?),
            _ => Err(EngineError::new(
                Kind::NotFound,
                "ambiguous_entry",
                format!("more than one message begins with “{name}”"),
            )
            .with("name", name)
            .remedies([Remedy::Log])),
        }
    }

    /// Builds a mark action from the names of messages. With a range, the two names are its ends, in any order. If the last one
    /// names a turn, the range includes the whole turn. A drop takes whole turns. `seen` is the mark that the author saw.
    pub async fn mark_named(
        &self,
        of: ConversationId,
        verb: Reason,
        names: &[String],
        range: bool,
        seen: Option<Mark>,
    ) -> Result<Action> {
        let removed = verb.removes();
        let mut entries = Vec::new();
        match (names, range) {
            ([], _) => {
                return Err(EngineError::usage("no message is named").with("what", "no_message_named"));
            }
            ([from, to], true) if removed.is_empty() => {
                let (from, to) = self.range_named(of, from, to).await?;
                entries.extend([from, to]);
            }
            ([from, to], true) => {
                let (from, to) = ends(from, to);
                entries.extend(self.marked(of, from, removed).await?.first());
                entries.extend(self.marked(of, to, removed).await?.last());
            }
            (_, true) => {
                let count = names.len();
                let what = format!("a range has two ends, and {count} messages are named");
                return Err(EngineError::usage(what).with("what", "range").with("count", count as u64));
            }
            (_, false) if removed.is_empty() => {
                for name in names {
                    entries.push(self.entry(of, name).await?);
                }
            }
            (_, false) => {
                for name in names {
                    entries.extend(self.marked(of, name, removed).await?);
                }
            }
        }
        if verb == Reason::Drop && !range {
            entries = self.whole_turns(of, entries).await?;
        }
        Ok(Action::Mark { verb, entries, range, seen })
    }

    /// The first and the last entry of a range, whichever end was named first. A turn, `tN`, ends with its last entry that is shown.
    pub async fn range_named(&self, of: ConversationId, from: &str, to: &str) -> Result<(EntryId, EntryId)> {
        let (from, to) = ends(from, to);
        Ok((self.entry(of, from).await?, self.last_entry(of, to).await?))
    }

    /// The last entry that a name means, where it ends a range: of a turn, `tN`, the last that is shown.
    async fn last_entry(&self, conversation: ConversationId, name: &str) -> Result<EntryId> {
        let entry = self.entry(conversation, name).await?;
        let Some(number) = turn(name) else { return Ok(entry) };
        let all = self.store().turn_entries(conversation, number).await?;
        let shown = all.into_iter().rev().find(|(_, mark)| mark.is_visible());
        Ok(shown.map_or(entry, |(id, _)| id))
    }

    /// The entries from which one of these marks is removed: for a turn, `tN`, those with the mark, even if its opener has none.
    /// If none has it, all are returned, and the action changes nothing.
    pub async fn marked(
        &self,
        conversation: ConversationId,
        name: &str,
        marks: &[Mark],
    ) -> Result<Vec<EntryId>> {
        let snapshot = self.store().snapshot(conversation).await?;
        let known = snapshot.conversation();
        if let Some(tip) = known.state.tip.filter(|tip| name == LAST && marks.contains(&known.mark(*tip))) {
            return Ok(vec![self.store().entry_id(conversation, tip).await?]);
        }
        let all = match turn(name) {
            Some(number) => self.store().turn_entries(conversation, number).await?,
            None => Vec::new(),
        };
        if all.is_empty() {
            return Ok(vec![self.entry(conversation, name).await?]);
        }
        let has = |mark: &Mark| marks.contains(mark);
        let some = all.iter().any(|(_, mark)| has(mark));
        Ok(all.into_iter().filter(|(_, mark)| !some || has(mark)).map(|(id, _)| id).collect())
    }

    /// A fold by its operation (`OP` or `DEPTH:OP`), or by an entry that it covers.
    pub async fn fold(&self, conversation: ConversationId, name: &str) -> Result<FoldId> {
        let snapshot = self.store().snapshot(conversation).await?;
        let own = snapshot.conversation().tree.depth();
        let named = match name.split_once(':') {
            Some((depth, op)) => depth.parse().ok().zip(op.parse().ok()),
            None => name.parse().ok().map(|op| (own, op)),
        };
        if let Some((depth, op)) = named {
            return Ok(FoldId { depth, op: OpNo(op) });
        }
        let entry = self.entry(conversation, name).await?;
        let shown = self.store().shown(conversation, entry).await?;
        Ok(shown.and_then(|shown| shown.fold).ok_or(StoreError::Refused(Refusal::UnknownFold))?)
    }

    /// The visible entries of the turns that these entries are in.
    async fn whole_turns(&self, conversation: ConversationId, entries: Vec<EntryId>) -> Result<Vec<EntryId>> {
        let metas = self.store().metas(conversation, entries.clone()).await?;
        let turns: BTreeSet<u64> = metas.iter().map(|meta| meta.totals.turns).collect();
        let mut found = Vec::new();
        for turn in turns {
            let all = self.store().turn_entries(conversation, turn).await?;
            // A message that was taken back has the number of a turn on the path, and is none of its messages: it is refused.
            let of_number = metas.iter().filter(|meta| meta.totals.turns == turn);
            found.extend(of_number.map(|meta| meta.id).filter(|id| all.iter().all(|(other, _)| other != id)));
            found.extend(all.into_iter().filter(|(_, mark)| mark.is_visible()).map(|(id, _)| id));
        }
        // A turn without visible entries is refused under its given name.
        Ok(if found.is_empty() { entries } else { found })
    }

    async fn unknown_entry(&self, conversation: ConversationId, name: &str) -> Result<EngineError> {
        if let Some(digits) = hex(name)
            && let Some((id, conversation)) = self.store().home_of(digits).await?
        {
            return Ok(StoreError::ForeignEntry { id, conversation }.into());
        }
        let reading = Reading::now(Projection::Timeline);
        let newest = PageRequest { limit: NEAREST_AMONG, ..PageRequest::default() };
        let page = self.store().page(conversation, reading, newest).await?;
        let mut names: Vec<String> = page.entries.iter().filter_map(|shown| shown.label.clone()).collect();
        names.extend(
            page.entries.iter().filter_map(|shown| Some(shown.entry.as_ref().ok()?.meta.id.to_string())),
        );
        Ok(unknown("unknown_entry", "message", name, nearest(name, &names), Remedy::Log))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_prefixes_are_hex() {
        assert_eq!(hex("019A-2f3c").as_deref(), Some("019a2f3c"));
        assert_eq!(hex("019"), None);
        assert_eq!(hex("label"), None);
    }

    #[test]
    fn the_nearest_is_offered_only_when_near() {
        let names = ["draft".to_owned(), "019a2f3c-8d21".to_owned()];
        assert_eq!(nearest("darft", &names), Some(&names[0]));
        assert_eq!(nearest("019a2f3d", &names), Some(&names[1]));
        assert_eq!(nearest("something", &names), None);
    }
}
