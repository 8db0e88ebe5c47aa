//! What an erasure would take of files and what it took, in sentences. Must never quote what is erased.

use retake_core::{Action, ConversationId};
use retake_engine::{ErasePlan, ErasedRows, ObjectsErased};
use retake_wire::{Problem, Reply};

use crate::InProcess;
use crate::convert::{self, problem};

/// So many paths are named.
const NAMED: usize = 5;

impl InProcess {
    pub(super) async fn plan_erase(&self, of: ConversationId, action: Action) -> Result<Reply, Problem> {
        let text = text_of(&action);
        let ErasePlan { conversation, rows, objects } =
            self.engine.plan_erase(of, action).await.map_err(problem)?;
        let mut stays = vec!["erased content can't be brought back, by nothing".to_owned()];
        stays.extend(texts(of, &rows));
        if rows.messages.is_empty() && rows.operations == 0 && rows.paths.is_empty() && objects.gone == 0 {
            stays.push(
                match text {
                    Some(_) => {
                        "no message, title, label or version of a file here holds it; words that were not sent yet are searched when it is done"
                    }
                    None => "what is named here is erased already: nothing is left of it",
                }
                .to_owned(),
            );
        }
        stays.extend(would(&rows, &objects));
        stays.extend(self.elsewhere(of, text).await);
        Ok(Reply::Plan(convert::plan(of.to_string(), conversation, stays)))
    }

    /// Which other conversations hold the text, and how to erase it there.
    pub(super) async fn elsewhere(&self, of: ConversationId, text: Option<String>) -> Option<String> {
        let found = match self.engine.elsewhere(of, text?).await {
            Ok(found) => found,
            Err(error) => return Some(format!("other conversations could not be searched: {error}")),
        };
        let all: usize = found.iter().map(|(_, of_tree)| of_tree).sum();
        if all == 0 {
            return None;
        }
        let commands = found.iter().take(NAMED);
        let commands = commands.map(|(id, _)| format!("`retake erase --matching TEXT --conversation {id}`"));
        let more = if found.len() > NAMED { ", …" } else { "" };
        let whose = match all {
            1 => "1 other conversation contains".to_owned(),
            _ => format!("{all} other conversations, forks included, contain"),
        };
        let commands = commands.collect::<Vec<_>>().join(", ");
        Some(format!("{whose} the text, too. Erase it there with the same TEXT: {commands}{more}"))
    }
}

/// The text that is to be erased wherever it is.
pub(super) fn text_of(action: &Action) -> Option<String> {
    match action {
        Action::Erase { matching, .. } => matching.clone().filter(|text| !text.is_empty()),
        _ => None,
    }
}

/// What would become of files.
fn would(rows: &ErasedRows, objects: &ObjectsErased) -> Vec<String> {
    if !rows.names_objects && rows.paths.is_empty() {
        return Vec::new();
    }
    let names: Vec<String> = rows.paths.iter().take(NAMED).map(ToString::to_string).collect();
    let more = if rows.paths.len() > names.len() { ", …" } else { "" };
    let mut said = Vec::new();
    if !names.is_empty() {
        said.push(format!(
            "what is kept of {} goes too, and can't go back any more: {}{more}; what is in the folder now stays as it is",
            count(rows.paths.len() as u64, "path"),
            names.join(", ")
        ));
    }
    if objects.gone > 0 {
        said.push(format!("{} would be erased", count(objects.gone, "version of a file")));
    }
    said.extend(kept(objects));
    said
}

/// How much of the conversation is reached, and of each other one of its tree of forks.
fn texts(of: ConversationId, rows: &ErasedRows) -> Vec<String> {
    let mut said = Vec::new();
    let (own, others): (Vec<_>, Vec<_>) = rows.messages.iter().partition(|(id, _)| *id == of);
    if let [(_, number)] = own[..] {
        said.push(format!("{} would be erased", count(number, "message")));
    }
    let mut more = others.iter().map(|(_, number)| number).sum::<u64>();
    for (id, number) in others.iter().take(NAMED) {
        more -= number;
        said.push(format!(
            "{} would be erased in the conversation {id}, too: a fork and what it was forked from are erased together",
            count(*number, "message")
        ));
    }
    if more > 0 {
        said.push(format!("{} would be erased in further forks", count(more, "message")));
    }
    if rows.operations > 0 {
        said.push(format!(
            "{} with a title, a label or a name would be erased",
            count(rows.operations, "step")
        ));
    }
    said
}

/// What became of files.
pub(super) fn done(objects: &ObjectsErased) -> Vec<String> {
    let mut said = Vec::new();
    if objects.gone > 0 {
        said.push(format!("erased {}", count(objects.gone, "version of a file")));
    }
    said.extend(kept(objects));
    if objects.lost > 0 {
        let lost = count(objects.lost, "version");
        said.push(format!("{lost} beside them had been damaged before, and could not be kept"));
    }
    said
}

fn kept(objects: &ObjectsErased) -> Vec<String> {
    let mut said = Vec::new();
    if objects.shared > 0 {
        let shared = count(objects.shared, "version of a file");
        said.push(format!("kept {shared}: other commands, captures or conversations name the same bytes"));
    }
    if objects.current > 0 {
        let current = count(objects.current, "version of a file");
        said.push(format!("kept {current}: so a file is now; change or remove it there, then erase again"));
    }
    said
}

fn count(number: u64, one: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        _ => {
            let (noun, rest) = one.split_once(' ').unwrap_or((one, ""));
            format!("{number} {noun}s {rest}").trim_end().to_owned()
        }
    }
}
