//! `retake import`: a conversation from a file. Must never send lines that are not JSON, and names the line that is wrong.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use clap::Args;
use retake_wire::reply::Receipt;
use retake_wire::request::{ImportLines, ImportStart, Of};
use retake_wire::{Reply, Request};
use serde::de::IgnoredAny;

use crate::args::Repeat;
use crate::context::Context;
use crate::error::{Failure, Result, file, unexpected, usage};
use crate::term::progress::Progress;

/// So many lines, or so many bytes, are sent at once.
const LINES: usize = 500;
const BYTES: usize = 1 << 20;

/// Make conversations from exports of retake, or from lists of chat messages
///
/// A list of chat messages is a JSON array, or one message per line: {"role": "user", "content": "hello"}. A file may hold several
/// conversations: exports one behind the other, or objects with a list of "messages" each, in an array or on a line each. Times,
/// names and usage are kept, inactive messages are hidden; a note at the end of a conversation, which the model does not see, says
/// of each line what was not kept.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// Title of the new conversation [default: that of the export]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    #[command(flatten)]
    repeat: Repeat,
    /// The file; `-` reads standard input
    #[arg(value_name = "FILE")]
    input: PathBuf,
}

impl Import {
    /// Does it.
    pub(crate) async fn run(self, cx: &mut Context<'_>) -> Result {
        let text = self.read(cx)?;
        let found = conversations(&text, &self.input)?;
        let several = found.len() > 1;
        for (number, lines) in (1..).zip(&found) {
            let made = self.import(cx, number, lines).await;
            if several && made.is_err() {
                let name = self.input.display();
                let before = number - 1;
                cx.aside(&format!(
                    "{name}: conversation {number} can't be imported; the {before} before it are"
                ))?;
            }
            let receipt = made?;
            let id = format!("{}\n", receipt.conversation);
            cx.acknowledge(&receipt, &id)?;
        }
        Ok(())
    }

    /// Imports one conversation, whose number is from 1.
    async fn import(&self, cx: &mut Context<'_>, number: usize, lines: &[Cow<'_, str>]) -> Result<Receipt> {
        // Each is a request of its own.
        let request_id = self.repeat.request_id.as_ref().map(|id| match number {
            1 => id.clone(),
            _ => format!("{id}-{number}"),
        });
        let start = ImportStart { title: self.title.clone(), folder: Some(cx.folder.to_owned()), request_id };
        let conversation = cx.receipt(Request::ImportStart(start)).await?.conversation;
        let progress = Progress::count("importing", lines.len() as u64);
        let mut first = 0;
        for batch in batches(lines) {
            progress.set(first);
            let sent = ImportLines {
                conversation: conversation.clone(),
                first,
                lines: batch.iter().map(ToString::to_string).collect(),
            };
            first += batch.len() as u64;
            match cx.call(Request::ImportLines(sent)).await? {
                Reply::Done => {}
                other => return Err(unexpected(&other)),
            }
        }
        drop(progress);
        cx.receipt(Request::ImportEnd(Of { conversation })).await
    }

    fn read(&self, cx: &mut Context<'_>) -> Result<String> {
        if self.input == Path::new("-") {
            return cx.input();
        }
        let path = cx.absolute(&self.input)?;
        std::fs::read_to_string(&path)
            .map_err(|error| file(format!("{} can't be read", self.input.display()), &error))
    }
}

/// Whether a conversation begins with this line: the header of an export, or a document with a list of its own.
fn begins_conversation(line: &str) -> bool {
    const BEGINS: [&str; 2] = ["format", "messages"];
    // Most lines are long and neither.
    BEGINS.iter().any(|name| line.contains(&format!("\"{name}\"")))
        && serde_json::from_str(line).is_ok_and(|value: serde_json::Value| {
            BEGINS.iter().any(|name| value.get(name).is_some_and(|field| !field.is_null()))
        })
}

/// The lines to send, those of each conversation for themselves.
fn conversations<'a>(text: &'a str, input: &Path) -> Result<Vec<Vec<Cow<'a, str>>>> {
    let mut conversations: Vec<Vec<Cow<'a, str>>> = Vec::new();
    for line in lines(text, input)? {
        match conversations.last_mut() {
            Some(last) if !begins_conversation(&line) => last.push(line),
            _ => conversations.push(vec![line]),
        }
    }
    Ok(conversations)
}

/// The lines to send: those of the text, the elements of a JSON array, or a document as one.
fn lines<'a>(text: &'a str, input: &Path) -> Result<Vec<Cow<'a, str>>> {
    let name = input.display();
    let text = text.trim_start_matches('\u{feff}').trim_end();
    if text.is_empty() {
        return Err(usage(
            format!("{name} is empty"),
            "give an export of retake, or a list of chat messages",
        ));
    }
    if text.trim_start().starts_with('[') {
        // An element may be written over several lines.
        let list: Vec<serde_json::Value> = serde_json::from_str(text)
            .map_err(|error| wrong(format!("{name} is not a JSON array: {error}")))?;
        return Ok(list.iter().map(|element| Cow::Owned(element.to_string())).collect());
    }
    if let Ok(document @ serde_json::Value::Object(_)) = serde_json::from_str(text) {
        return Ok(vec![Cow::Owned(document.to_string())]);
    }
    for (number, line) in text.lines().enumerate() {
        serde_json::from_str::<IgnoredAny>(line)
            .map_err(|error| wrong(not_json(&error, number + 1, input)))?;
    }
    Ok(text.lines().map(Cow::Borrowed).collect())
}

/// What is wrong with a line. The parser counts lines too, but only ever saw this one.
fn not_json(error: &serde_json::Error, number: usize, input: &Path) -> String {
    let said = error.to_string();
    let (what, _) = said.rsplit_once(" at line ").unwrap_or((&said, ""));
    format!("line {number}, column {} of {} is not JSON: {what}", error.column(), input.display())
}

fn wrong(message: String) -> Failure {
    usage(message, "an import is an export of retake, or chat messages: a JSON array, or one per line")
}

/// Batches of lines that are neither too many nor too large.
fn batches<'b, 'a>(lines: &'b [Cow<'a, str>]) -> Vec<&'b [Cow<'a, str>]> {
    let mut batches = Vec::new();
    let mut from = 0;
    let mut bytes = 0;
    for (at, line) in lines.iter().enumerate() {
        if at > from && (at - from == LINES || bytes + line.len() > BYTES) {
            batches.push(&lines[from..at]);
            (from, bytes) = (at, 0);
        }
        bytes += line.len();
    }
    batches.push(&lines[from..]);
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_is_a_line_per_element() {
        let text = "\u{feff}[\n {\"content\": \"a\",\n  \"role\": \"user\"},\n 1\n]\n";
        let sent = lines(text, Path::new("x")).expect("an array");
        assert_eq!(sent, [r#"{"content":"a","role":"user"}"#, "1"]);
    }

    #[test]
    fn trial_16_a_file_may_hold_several_conversations() {
        let of = |text: &str| {
            let found = conversations(text, Path::new("x")).expect("sound");
            found.into_iter().map(|lines| lines.len()).collect::<Vec<_>>()
        };
        let (header, message) =
            (r#"{"format":"retake-export","version":1}"#, r#"{"role":"user","content":"\"messages\""}"#);
        let document = format!("{{\n\"messages\": [{message},\n{message}]}}");
        let line = document.replace('\n', "");
        assert_eq!(of(&format!("{header}\n{message}\n{message}\n{header}\n{message}\n")), [3, 2]);
        assert_eq!(of(&format!("{message}\n{message}")), [2]);
        assert_eq!(of(&format!("[{message},{message}]")), [2]);
        assert_eq!(of(&format!("[{document},\n{document}]")), [1, 1]);
        assert_eq!(of(&format!("{line}\n{line}\n{line}")), [1, 1, 1]);
        assert_eq!(of(&document), [1]);
    }

    #[test]
    fn batches_keep_every_line() {
        let many = vec![Cow::Borrowed("x"); 2 * LINES + 1];
        let sizes: Vec<usize> = batches(&many).into_iter().map(|batch| batch.len()).collect();
        assert_eq!(sizes, [LINES, LINES, 1]);
        let large = vec![Cow::Owned("x".repeat(BYTES)); 3];
        assert_eq!(batches(&large).len(), 3);
    }
}
