//! `retake backup`: a copy of everything. A file appears when the copy is whole; a pipe or a device takes its bytes as they come, and
//! must never be replaced.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use retake_engine::OutputFile;
use retake_wire::reply::Written;
use retake_wire::request;
use retake_wire::{Reply, Request};

use super::export::is_standard_output;
use crate::context::Context;
use crate::error::{Result, file, unexpected, usage};

/// Copy the whole store into a file, also while it is in use
///
/// A file that is there is never overwritten. A pipe or a device takes the copy as it comes: `retake backup - | gzip > copy.db.gz`.
#[derive(Debug, Args)]
pub(crate) struct Backup {
    /// The file, a pipe or a device; `-` writes standard output [default: a dated file in the data directory]
    #[arg(value_name = "FILE")]
    to: Option<PathBuf>,
}

impl Backup {
    /// Does it.
    pub(crate) async fn run(self, cx: &mut Context<'_>) -> Result {
        let Some(to) = self.to else {
            return cx.show(Request::Backup(request::Backup { to: None })).await;
        };
        if is_standard_output(&to) {
            if cx.ui.output_is_terminal() {
                return Err(usage("a backup is no text for a terminal", "name a file, or pipe it on"));
            }
            let write = |copy: &mut File| {
                let mut out = io::stdout();
                let bytes = io::copy(copy, &mut out)?;
                out.flush().map(|()| bytes)
            };
            let written = passed_on(cx, "standard output", write).await?;
            return cx.aside(&format!("{} bytes are written to standard output", written.bytes));
        }
        let to = cx.absolute(&to)?;
        if !takes_bytes(Path::new(&to)) {
            return cx.show(Request::Backup(request::Backup { to: Some(to) })).await;
        }
        let write = |copy: &mut File| {
            let mut into = OutputFile::open(Path::new(&to))?;
            let bytes = io::copy(copy, &mut into)?;
            into.finish().map(|()| bytes)
        };
        let written = passed_on(cx, &to, write).await?;
        cx.present(&Reply::Written(written))
    }
}

/// Whether what is there takes bytes as they come: no file, no folder.
fn takes_bytes(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir())
}

/// Copies the store to where only bytes can go. The owner, for whom our pipes have other names, makes a backup among its own files first,
/// which nobody else can read, nor any command of the agent; it is gone at the end.
async fn passed_on(
    cx: &Context<'_>,
    name: &str,
    write: impl FnOnce(&mut File) -> io::Result<u64>,
) -> Result<Written> {
    let failed = |error: io::Error| file(format!("{name} can't be written"), &error);
    let copy = match cx.call(Request::Backup(request::Backup { to: None })).await? {
        Reply::Written(Written { path, .. }) => PathBuf::from(path),
        other => return Err(unexpected(&other)),
    };
    let passed = File::open(&copy).and_then(|mut copy| write(&mut copy));
    let removed = fs::remove_file(&copy);
    let bytes = passed.map_err(failed)?;
    removed.map_err(|error| file(format!("{} can't be removed", copy.display()), &error))?;
    Ok(Written { path: name.to_owned(), bytes })
}
