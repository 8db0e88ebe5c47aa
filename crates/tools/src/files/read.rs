//! The tool `read`: a text with line numbers, or a picture, or a document. It records the digest of the whole content. It
//! must never wait for a pipe, or load a large file into memory.

mod window;

use std::io::{BufReader, Read, Seek, SeekFrom};
use std::num::NonZeroUsize;
use std::path::Path;

use async_trait::async_trait;
use retake_core::Intent;
use schemars::JsonSchema;
use serde::Deserialize;

use super::change::seen;
use super::disk::{self, OpenError};
use super::place::{PathBase, Place};
use super::text::{self, LineEnds};
use super::walk::{self, HiddenPaths};
use super::work::{Stop, Stoppable, look};
use crate::call::{Attached, Call, Output};
use crate::own::{OwnTool, read_only_intent};
use window::Window;

/// The most lines that are shown at once.
const MOST_LINES: usize = 2_000;
/// The largest picture or document.
const MOST_ATTACHED: u64 = 5_000_000;
/// How much of a file is checked to recognise text.
const HEAD: usize = 8_000;

/// Reads a file.
pub(super) struct ReadFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The file: an absolute path, or one relative to the conversation's folder.
    path: String,
    /// The number of the first line to show. Lines count from 1, which is the default.
    offset: Option<NonZeroUsize>,
    /// The number of lines to show, at most 2,000, which is the default.
    limit: Option<NonZeroUsize>,
}

#[async_trait]
impl OwnTool for ReadFile {
    type Arguments = Arguments;
    const NAME: &'static str = "read";
    const ABOUT: &'static str = "Reads a file. Text is shown with line numbers (number, tab, line), at most 2,000 lines or 50 kB at once; use \
         `offset` to read on. You see a picture (PNG, JPEG, GIF, WebP) or a PDF of up to 5 MB itself. For a folder, use \
         `list`.";

    fn intent(&self, arguments: Arguments, ground: &PathBase) -> Result<Intent, String> {
        let place = named(&arguments, ground)?;
        Ok(read_only_intent(format!("read {}", ground.line(&place.path)), place.read()))
    }

    async fn call(&self, call: Call, arguments: Arguments) -> Result<Output, String> {
        let read = look(&call, &["read"], move |ground, veil, stop| {
            let place = named(&arguments, ground)?;
            veil.agreed(&place)
                .and_then(|()| read(&arguments, &place, veil, stop))
                .map_err(|why| format!("cannot read `{}`: {why}", text::escaped(&arguments.path)))
        });
        read.await
    }
}

fn named(arguments: &Arguments, ground: &PathBase) -> Result<Place, String> {
    if arguments.path.is_empty() {
        return Err("cannot read: the path is empty".to_owned());
    }
    ground.place(&arguments.path)
}

fn read(arguments: &Arguments, place: &Place, veil: &HiddenPaths, stop: &Stop) -> Result<Output, String> {
    let (mut file, size) = disk::open(&place.path).map_err(|closed| match closed {
        OpenError::Folder => "it is a folder; use `list`".to_owned(),
        closed => closed.why(),
    })?;
    if veil.covers_opened(&file, &place.real()) {
        return Err(walk::ELSEWHERE.to_owned());
    }
    let mut head = Vec::new();
    let broken = |error: std::io::Error| error.to_string();
    file.by_ref().take(HEAD as u64).read_to_end(&mut head).map_err(broken)?;
    file.seek(SeekFrom::Start(0)).map_err(broken)?;
    let mut file = Stoppable { inner: file, stop: stop.clone() };
    if let Some(media_type) = media_type(&head) {
        return attached(file, size, place, media_type);
    }
    if head.contains(&0) {
        return Err(format!(
            "it is not text but {} of binary data; use a command that can read this format",
            text::size(size)
        ));
    }
    if size > disk::MOST_WHOLE {
        let window = window(BufReader::new(file), arguments, LineEnds::Lf)?;
        let remark = format!(
            "[The file is large ({}): it can be read, but not be edited or replaced by tools for files.]",
            text::size(size)
        );
        let shown = Some(text::count(window.shown, "line"));
        return Ok(Output { shown, ..Output::ok(joined(&window.said(None), &[remark])) });
    }
    let mut bytes = Vec::new();
    file.by_ref().take(disk::MOST_WHOLE).read_to_end(&mut bytes).map_err(broken)?;
    let breaks = LineEnds::of(&bytes);
    let window = window(bytes.as_slice(), arguments, breaks)?;
    let mut remarks = Vec::new();
    if breaks == LineEnds::CrLf {
        remarks.push("[The lines end with CRLF; edits keep that.]".to_owned());
    }
    if std::str::from_utf8(&bytes).is_err() {
        remarks.push("[The file is not valid UTF-8: what is not is shown as \u{fffd}.]".to_owned());
    }
    let content = joined(&window.said(Some(total(&bytes))), &remarks);
    let shown = Some(text::count(window.shown, "line"));
    Ok(Output { facts: vec![seen(place, &bytes)], shown, ..Output::ok(content) })
}

fn joined(window: &str, remarks: &[String]) -> String {
    let mut content = window.to_owned();
    for remark in remarks {
        content.push_str(remark);
        content.push('\n');
    }
    content
}

fn window(from: impl std::io::BufRead, arguments: &Arguments, breaks: LineEnds) -> Result<Window, String> {
    let first = arguments.offset.map_or(1, NonZeroUsize::get);
    let most = arguments.limit.map_or(MOST_LINES, NonZeroUsize::get).min(MOST_LINES);
    let window = Window::read(from, first, most, breaks).map_err(|error| error.to_string())?;
    if window.text.contains('\0') {
        return Err("it is not text: there is binary data within these lines".to_owned());
    }
    if window.shown == 0 && first > 1 {
        let lines = text::count(window.passed, "line");
        return Err(format!("it has {lines} only; begin at an earlier one"));
    }
    Ok(window)
}

/// The number of lines.
fn total(bytes: &[u8]) -> usize {
    let unfinished = bytes.last().is_some_and(|last| *last != b'\n');
    memchr::memchr_iter(b'\n', bytes).count() + usize::from(unfinished)
}

/// The media type of a file that is passed to the model, from its first bytes.
fn media_type(head: &[u8]) -> Option<&'static str> {
    match head {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        [b'%', b'P', b'D', b'F', b'-', ..] => Some("application/pdf"),
        _ => None,
    }
}

fn attached(file: impl Read, size: u64, place: &Place, media_type: &str) -> Result<Output, String> {
    let mut bytes = Vec::new();
    file.take(MOST_ATTACHED + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MOST_ATTACHED {
        let (size, most) = (text::size(size), text::size(MOST_ATTACHED));
        return Err(format!(
            "it is {media_type} of {size}, and at most {most} are shown; make it smaller first"
        ));
    }
    let name = place.named.file_name().map(|name| text::path(Path::new(name))).unwrap_or_default();
    let content = format!("{name}: {media_type}, {}", text::size(bytes.len() as u64));
    let facts = vec![seen(place, &bytes)];
    let attached = vec![Attached { name, media_type: media_type.to_owned(), bytes }];
    Ok(Output { attached, facts, ..Output::ok(content) })
}
