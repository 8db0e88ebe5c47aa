//! `retake import`: a conversation from a file. Must never send lines that are not JSON, and names the line that is wrong.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use clap::Args;
use retake_wire::request::{ImportLines, ImportStart, Of};
use retake_wire::{Reply, Request};

use crate::args::Repeat;
use crate::context::Context;
use crate::error::{Failure, Result, file, unexpected, usage};
use crate::term::progress::Progress;

/// So many lines, or so many bytes, are sent at once.
const LINES: usize = 500;
const BYTES: usize = 1 << 20;

/// Make a conversation from an export of retake, or from a list of chat messages
///
/// A list of chat messages is a JSON array, or one message per line: {"role": "user", "content": "hello"}.
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
        let lines = lines(&text, &self.input)?;
        let start = ImportStart {
            title: self.title,
            folder: Some(cx.folder.to_owned()),
            request_id: self.repeat.request_id,
        };
        let conversation = cx.receipt(Request::ImportStart(start)).await?.conversation;
        let progress = Progress::count("importing", lines.len() as u64);
        let mut first = 0;
        for batch in batches(&lines) {
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
        let receipt = cx.receipt(Request::ImportEnd(Of { conversation })).await?;
        let id = format!("{}\n", receipt.conversation);
        cx.acknowledge(&receipt, &id)
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

/// The lines to send: those of the text, or the elements of a JSON array.
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
    for (number, line) in text.lines().enumerate() {
        serde_json::from_str::<serde::de::IgnoredAny>(line)
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
    fn batches_keep_every_line() {
        let many = vec![Cow::Borrowed("x"); 2 * LINES + 1];
        let sizes: Vec<usize> = batches(&many).into_iter().map(|batch| batch.len()).collect();
        assert_eq!(sizes, [LINES, LINES, 1]);
        let large = vec![Cow::Owned("x".repeat(BYTES)); 3];
        assert_eq!(batches(&large).len(), 3);
    }
}
