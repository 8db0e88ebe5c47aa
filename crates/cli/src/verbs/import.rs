//! `retake import`: a conversation from a file. Must never send lines that are not JSON; an error names the line.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use clap::Args;
use retake_engine::mended;
use retake_wire::reply::Receipt;
use retake_wire::request::{ConversationTarget, ImportLines, ImportStart};
use retake_wire::{Reply, Request};
use serde::de::IgnoredAny;

use super::RunVerb;
use crate::args::{IMPORTED_IN_PART, RequestIdArg};
use crate::context::Context;
use crate::error::{Failure, Result, file, unexpected, usage};
use crate::term::progress::Progress;

/// The most lines, and the most bytes, per request.
const LINES: usize = 500;
const BYTES: usize = 1 << 20;

/// Import conversations from exports of retake, or from lists of chat messages
///
/// A list of chat messages is a JSON array, or one message per line: {"role": "user", "content": "hello"}. A file may contain several
/// conversations: exports one after the other, or objects with a list of "messages" each, in an array or one per line. Times, names and
/// usage are kept; inactive messages become hidden. A note at the end of a conversation lists what was not kept of each line. The model
/// does not see this note.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// Title of the new conversation [default: the title in the export]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Keep the folder of the export, even if it is not this one
    #[arg(long)]
    keep_folder: bool,
    #[command(flatten)]
    repeat: RequestIdArg,
    /// The file; `-` reads standard input
    #[arg(value_name = "FILE")]
    input: PathBuf,
}

impl RunVerb for Import {
    const EXAMPLES: &'static [&'static str] = &["retake import talk.jsonl", "retake import - < talk.jsonl"];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        let text = self.read(cx)?;
        // The engine repairs each line the same way: some programs split a surrogate pair.
        let text = mended(&text);
        let found = conversations(&text, &self.input)?;
        for (number, part) in (1..).zip(&found) {
            let receipt = match self.import(cx, number, part).await {
                Ok(receipt) => receipt,
                Err(failure) => return self.stopped(cx, failure, (number, part.before + 1), found.len()),
            };
            let id = format!("{}\n", receipt.conversation);
            cx.acknowledge(&receipt, &id)?;
        }
        Ok(())
    }
}

impl Import {
    /// Reports that a conversation could not be imported, with its line in the file, and what happened to the others.
    fn stopped(
        &self,
        cx: &mut Context<'_>,
        failure: Failure,
        (number, line): (usize, u64),
        all: usize,
    ) -> Result {
        if all == 1 {
            return Err(failure);
        }
        let before = match number - 1 {
            0 => "nothing was imported".to_owned(),
            1 => "the one before it was imported".to_owned(),
            before => format!("the {before} before it were imported"),
        };
        let behind = match all - number {
            _ if number == 1 => "",
            0 => "",
            1 => ", the one after it was not",
            _ => ", those after it were not",
        };
        let name = self.input.display();
        cx.aside(&format!(
            "{name}: conversation {number} of {all}, which begins on line {line}, cannot be imported; {before}{behind}"
        ))?;
        if number == 1 {
            return Err(failure);
        }
        cx.complain(&of_the_rest(failure))?;
        Err(Failure::Reported(IMPORTED_IN_PART))
    }

    /// Imports one conversation; numbers begin at 1.
    async fn import(&self, cx: &mut Context<'_>, number: usize, part: &Part<'_>) -> Result<Receipt> {
        // Each conversation needs its own request id.
        let request_id = self.repeat.request_id.as_ref().map(|id| match number {
            1 => id.clone(),
            _ => format!("{id}-{number}"),
        });
        let Part { before, lines } = part;
        let folder = Some(cx.folder.to_owned()).filter(|_| !self.keep_folder);
        let title = self.title.clone();
        let start = ImportStart { title, folder, lines_before: *before, request_id };
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
        cx.receipt(Request::ImportEnd(ConversationTarget { conversation })).await
    }

    fn read(&self, cx: &mut Context<'_>) -> Result<String> {
        if self.input == Path::new("-") {
            return cx.input();
        }
        let path = cx.absolute(&self.input)?;
        std::fs::read_to_string(&path)
            .map_err(|error| file(format!("cannot read {}", self.input.display()), &error))
    }
}

/// Whether a conversation begins with this line.
fn begins_conversation(line: &str) -> bool {
    is_header(line) || is_document(line)
}

/// Whether this is the header of an export.
fn is_header(line: &str) -> bool {
    has(line, "format")
}

/// Whether this is a document with a list of messages of its own.
fn is_document(line: &str) -> bool {
    has(line, "messages")
}

/// Whether a line is an object with this field.
fn has(line: &str, name: &str) -> bool {
    // Most lines are long and do not have it.
    line.contains(&format!("\"{name}\""))
        && serde_json::from_str(line)
            .is_ok_and(|value: serde_json::Value| value.get(name).is_some_and(|field| !field.is_null()))
}

/// The error for a conversation after others: its hint must not be about the whole file.
fn of_the_rest(failure: Failure) -> Failure {
    match failure {
        Failure::Problem(mut problem) => {
            let mend = match &*problem.code {
                "bad_import" | "bad_export" => "correct that line, and import",
                _ => "when the cause is removed, import",
            };
            problem.hint = Some(format!("{mend} the file from that conversation on").into());
            Failure::Problem(problem)
        }
        other => other,
    }
}

/// A conversation in a file: how many lines of the file stand before it, and the lines to send.
struct Part<'a> {
    before: u64,
    lines: Vec<Cow<'a, str>>,
}

impl<'a> Part<'a> {
    /// Adds a line with the number of file lines before it. Blank lines keep the count if the text before took several lines.
    fn push(&mut self, before: u64, line: Cow<'a, str>) {
        let missing = before.saturating_sub(self.before + self.lines.len() as u64);
        self.lines.extend((0..missing).map(|_| Cow::Borrowed("")));
        self.lines.push(line);
    }
}

/// The conversations of a file.
fn conversations<'a>(text: &'a str, input: &Path) -> Result<Vec<Part<'a>>> {
    let name = input.display();
    let text = text.trim_start_matches('\u{feff}').trim_end();
    if text.is_empty() {
        return Err(usage(format!("{name} is empty"), "use an export of retake, or a list of chat messages"));
    }
    let mut parts: Vec<Part<'a>> = Vec::new();
    for (before, line) in lines(text, input)? {
        match parts.last_mut() {
            None if line.trim().is_empty() => {}
            Some(last) if !begins_conversation(&line) => last.push(before, line),
            _ => parts.push(Part { before, lines: vec![line] }),
        }
    }
    // A single document is sent unchanged, so that errors can name its lines.
    if let [Part { before: 0, lines }] = &mut *parts
        && let [line] = &**lines
        && text.starts_with('{')
        && is_document(line)
        && !is_header(line)
    {
        *lines = text.lines().map(Cow::Borrowed).collect();
    }
    Ok(parts)
}

/// The lines to send, each with the number of file lines before it: those of the text, the elements of a JSON array, or a
/// document as one.
fn lines<'a>(text: &'a str, input: &Path) -> Result<Vec<(u64, Cow<'a, str>)>> {
    let name = input.display();
    if text.trim_start().starts_with('[') {
        // An element may take several lines.
        let list: Vec<serde_json::Value> = serde_json::from_str(text)
            .map_err(|error| wrong(format!("{name} is not a JSON array: {error}")))?;
        if list.is_empty() {
            return Err(wrong(format!("there is nothing to import: the list in {name} is empty")));
        }
        let elements = list.iter().map(|element| Cow::Owned(element.to_string()));
        return Ok(lines_before(text).into_iter().zip(elements).collect());
    }
    if let Ok(document @ serde_json::Value::Object(_)) = serde_json::from_str(text) {
        return Ok(vec![(0, Cow::Owned(document.to_string()))]);
    }
    // Blank lines are skipped anywhere.
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        serde_json::from_str::<IgnoredAny>(line)
            .map_err(|error| wrong(not_json(&error, number + 1, input)))?;
    }
    Ok((0..).zip(text.lines().map(Cow::Borrowed)).collect())
}

/// The number of lines before each element of a valid JSON array.
fn lines_before(text: &str) -> Vec<u64> {
    let (mut found, mut line) = (Vec::new(), 0);
    let (mut depth, mut quoted, mut escaped, mut is_next) = (0_usize, false, false, true);
    for byte in text.bytes() {
        if depth == 1 && is_next && !byte.is_ascii_whitespace() {
            is_next = false;
            found.push(line);
        }
        match byte {
            b'\n' => line += 1,
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 1 => is_next = true,
            _ => {}
        }
    }
    found
}

/// The error in a line. The parser counts lines, too, but it saw only this one.
fn not_json(error: &serde_json::Error, number: usize, input: &Path) -> String {
    let said = error.to_string();
    let (what, _) = said.rsplit_once(" at line ").unwrap_or((&said, ""));
    format!("line {number}, column {} of {} is not JSON: {what}", error.column(), input.display())
}

fn wrong(message: String) -> Failure {
    usage(message, "use an export of retake, or chat messages: a JSON array, or one per line")
}

/// Batches of lines, limited in number and size.
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

    fn found(text: &str) -> Vec<Part<'_>> {
        conversations(text, Path::new("x")).expect("sound")
    }

    #[test]
    fn trial_16_blank_lines_stop_no_import() {
        let header = r#"{"format":"retake-export","version":1,"entries":0}"#;
        let text = format!("\n{{\"role\":\"user\"}}\n\n{{\"role\":\"user\"}}\n\n{header}\n");
        let parts = found(&text);
        let of = |part: &Part<'_>| (part.before, part.lines.len());
        assert_eq!(parts.iter().map(of).collect::<Vec<_>>(), [(1, 4), (5, 1)]);
    }

    #[test]
    fn an_array_is_a_line_per_element() {
        let text = "\u{feff}[\n {\"content\": \"a\",\n  \"role\": \"user\"},\n 1\n]\n";
        let parts = found(text);
        assert_eq!((parts.len(), parts[0].before), (1, 1), "it begins on line 2");
        assert_eq!(parts[0].lines, [r#"{"content":"a","role":"user"}"#, "", "1"], "1 stands on line 4");
    }

    #[test]
    fn trial_16_a_file_may_hold_several_conversations() {
        let of = |text: &str| found(text).into_iter().map(|part| part.lines.len()).collect::<Vec<_>>();
        let (header, message) =
            (r#"{"format":"retake-export","version":1}"#, r#"{"role":"user","content":"\"messages\""}"#);
        let document = format!("{{\n\"messages\": [{message},\n{message}]}}");
        let line = document.replace('\n', "");
        assert_eq!(of(&format!("{header}\n{message}\n{message}\n{header}\n{message}\n")), [3, 2]);
        assert_eq!(of(&format!("{message}\n{message}")), [2]);
        assert_eq!(of(&format!("[{message},{message}]")), [2]);
        assert_eq!(of(&format!("[{document},\n{document}]")), [1, 1]);
        assert_eq!(of(&format!("{line}\n{line}\n{line}")), [1, 1, 1]);
        assert_eq!(of(&document), [3], "as it is written");
        assert_eq!(of(&message.replace(",", ",\n")), [1]);
    }

    #[test]
    fn trial_17_each_conversation_knows_the_line_on_which_it_begins() {
        let of = |text: &str| found(text).into_iter().map(|part| part.before).collect::<Vec<_>>();
        let (header, message) =
            (r#"{"format":"retake-export","version":1}"#, r#"{"role":"user","content":"[\"],{"}"#);
        let document = format!("{{\n\"messages\": [{message},\n{message}]}}");
        let line = document.replace('\n', "");
        assert_eq!(of(&format!("{header}\n{message}\n{message}\n{header}\n{message}\n")), [0, 3]);
        assert_eq!(of(&format!("{line}\n{line}\n{line}")), [0, 1, 2]);
        assert_eq!(of(&format!("[{document},\n{document}]")), [0, 3]);
        assert_eq!(of(&format!("\n[\n{document}\n,{document},{line}\n]")), [2, 5, 7]);
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
