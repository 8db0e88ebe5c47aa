//! `retake backup`: a copy of everything. A file appears when the copy is complete; a pipe or a device gets its bytes as they
//! come, and must never be replaced.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use retake_engine::OutputFile;
use retake_wire::reply::Written;
use retake_wire::request;
use retake_wire::{Reply, Request};

use super::RunVerb;
use super::export::is_standard_output;
use crate::context::Context;
use crate::error::{Result, file, unexpected, usage};

/// Copy the whole store to a file, even while it is in use
///
/// Never overwrites an existing file. You can also write to a pipe or a device: `retake backup - | gzip > copy.db.gz`.
#[derive(Debug, Args)]
pub(crate) struct Backup {
    /// The file, a pipe or a device; `-` writes standard output [default: a dated file in the data directory]
    #[arg(value_name = "FILE")]
    to: Option<PathBuf>,
}

impl RunVerb for Backup {
    const EXAMPLES: &'static [&'static str] = &["retake backup copy.db"];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        let Some(to) = self.to else {
            return cx.show(Request::Backup(request::Backup { to: None })).await;
        };
        if is_standard_output(&to) {
            if cx.ui.output_is_terminal() {
                return Err(usage(
                    "a backup is binary data, and standard output is a terminal",
                    "name a file, or use a pipe",
                ));
            }
            let write = |copy: &mut File| {
                let mut out = io::stdout();
                let bytes = io::copy(copy, &mut out)?;
                out.flush().map(|()| bytes)
            };
            let written = passed_on(cx, "standard output", write).await?;
            return cx.aside(&format!("wrote {} bytes to standard output", written.bytes));
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

/// Whether a path is a pipe or a device.
fn takes_bytes(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir())
}

/// Copies the store to a pipe or a device. The owner cannot open this process's pipes, so it first makes a private backup among
/// its own files, which is removed at the end.
async fn passed_on(
    cx: &Context<'_>,
    name: &str,
    write: impl FnOnce(&mut File) -> io::Result<u64>,
) -> Result<Written> {
    let failed = |error: io::Error| file(format!("cannot write {name}"), &error);
    let copy = match cx.call(Request::Backup(request::Backup { to: None })).await? {
        Reply::Written(Written { path, .. }) => PathBuf::from(path),
        other => return Err(unexpected(&other)),
    };
    let passed = File::open(&copy).and_then(|mut copy| write(&mut copy));
    let removed = fs::remove_file(&copy);
    let bytes = passed.map_err(failed)?;
    removed.map_err(|error| file(format!("cannot remove {}", copy.display()), &error))?;
    Ok(Written { path: name.to_owned(), bytes })
}
