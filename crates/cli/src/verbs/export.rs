//! `retake export`: a conversation as a file. Must never leave a partial file.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use retake_engine::OutputFile;
use retake_wire::reply::{Chunk, Written};
use retake_wire::request::{self, Format};
use retake_wire::{Client, Reply, Request};

use super::RunVerb;
use crate::args::ConversationArg;
use crate::context::Context;
use crate::error::{Result, expect_reply, file, usage};
use crate::term::progress::Progress;
use crate::term::safe;

/// Export a conversation as JSON Lines, Markdown or text, or completely with all its branches
#[derive(Debug, Args)]
pub(crate) struct Export {
    #[command(flatten)]
    place: ConversationArg,
    /// The format [default: the one of the file name, else jsonl]
    #[arg(long, value_enum, conflicts_with = "full")]
    format: Option<FormatArg>,
    /// All branches and operations; `retake import` restores the same conversation
    #[arg(long)]
    full: bool,
    /// The file to write, or a pipe; a file is replaced only after the export is complete [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The formats, as typed.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum FormatArg {
    /// A JSON document per line
    Jsonl,
    /// For people
    Markdown,
    /// For people
    Text,
}

impl RunVerb for Export {
    const EXAMPLES: &'static [&'static str] =
        &["retake export --format markdown", "retake export --full --output talk.jsonl"];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        let conversation = cx.conversation(self.place.conversation).await?;
        let format = match self.format {
            _ if self.full => Format::Full,
            Some(FormatArg::Jsonl) => Format::Jsonl,
            Some(FormatArg::Markdown) => Format::Markdown,
            Some(FormatArg::Text) => Format::Text,
            None => self.output.as_deref().map_or(Format::Jsonl, of_name),
        };
        let export = request::Export { conversation, format, cursor: None };
        match self.output.filter(|output| !is_standard_output(output)) {
            Some(output) => {
                let output = PathBuf::from(cx.absolute(&output)?);
                let written = to_file(cx.client, export, &output).await?;
                cx.present(&Reply::Written(written))
            }
            None => to_output(cx, export).await,
        }
    }
}

/// Whether a path means standard output. Opened again by name, a file behind it would be overwritten from its beginning.
pub(crate) fn is_standard_output(output: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| output == Path::new(name))
}

/// The format for a file name.
pub(crate) fn of_name(output: &Path) -> Format {
    match output.extension().and_then(|extension| extension.to_str()) {
        Some("md" | "markdown") => Format::Markdown,
        Some("txt") => Format::Text,
        _ => Format::Jsonl,
    }
}

async fn chunk(client: &dyn Client, export: &request::Export) -> Result<Chunk> {
    Ok(expect_reply!(client.call(Request::Export(export.clone())).await?, Chunk))
}

async fn to_output(cx: &mut Context<'_>, mut export: request::Export) -> Result {
    loop {
        let chunk = chunk(cx.client, &export).await?;
        if cx.json {
            cx.json(&Reply::Chunk(chunk.clone()))?;
        } else {
            // A file or a program gets the exact text; a terminal must not interpret control sequences in it.
            let text = if cx.ui.output_is_terminal() {
                safe::block(&chunk.text)
            } else {
                chunk.text.as_str().into()
            };
            cx.ui.print(&text)?;
        }
        if chunk.cursor.is_none() {
            return Ok(());
        }
        export.cursor = chunk.cursor;
    }
}

/// Writes an export to a file that appears only when it is complete, or directly to a pipe or a device.
pub(crate) async fn to_file(
    client: &dyn Client,
    mut export: request::Export,
    output: &Path,
) -> Result<Written> {
    let failed = |error: std::io::Error| file(format!("cannot write {}", output.display()), &error);
    // The first piece comes before the file is opened, so that a refused export leaves no trace.
    let mut piece = chunk(client, &export).await?;
    let target = target(client, output).await?;
    let mut to = OutputFile::open(output).map_err(failed)?;
    let progress = Progress::count("exporting", 0);
    let mut bytes = 0;
    loop {
        to.write_all(piece.text.as_bytes()).map_err(failed)?;
        bytes += piece.text.len() as u64;
        progress.total(piece.progress.1);
        progress.set(piece.progress.0);
        if piece.cursor.is_none() {
            break;
        }
        export.cursor = piece.cursor;
        piece = chunk(client, &export).await?;
    }
    to.finish().map_err(failed)?;
    Ok(Written { path: target.display().to_string(), bytes })
}

/// The real file behind the path. Links are followed and reported, since a command of the agent may have created one; they must
/// never lead to Retake's own files.
async fn target(client: &dyn Client, output: &Path) -> Result<PathBuf> {
    if std::fs::metadata(output).is_ok_and(|there| !there.is_file()) {
        return Ok(output.to_owned());
    }
    let Ok(target) = OutputFile::behind_links(output) else { return Ok(output.to_owned()) };
    let folder = target.parent().and_then(|folder| folder.canonicalize().ok());
    let real =
        folder.zip(target.file_name()).map_or_else(|| target.clone(), |(folder, name)| folder.join(name));
    let Reply::Status(status) = client.call(Request::Status).await? else { return Ok(target) };
    let own = [Some(Path::new(&status.data_dir)), status.config_file.as_deref().map(Path::new)];
    let is_own = |own: &Path| real.starts_with(own.canonicalize().unwrap_or_else(|_| own.to_owned()));
    if own.into_iter().flatten().any(is_own) {
        let (output, real) = (output.display(), real.display());
        return Err(usage(
            format!("cannot write {output}: it leads to {real}, in Retake's own folder"),
            "name a file in another folder",
        ));
    }
    Ok(if target == output { target } else { real })
}
