//! The token of every request, over the socket and over TCP: a file in the data directory that only its owner can read. The
//! sandbox hides it from commands, so that the user's id alone is not enough (trial 20). Must never be sent to anybody.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::Arc;

use axum::http::{HeaderMap, header};
use rustix::fs::OFlags;

/// Its name in the data directory.
const FILE: &str = "token";

/// A longer file is not ours.
const LONGEST: u64 = 4096;

/// A secret of 146 random bits.
#[derive(Clone)]
pub(super) struct Token {
    hash: blake3::Hash,
    text: Arc<str>,
    path: Arc<Path>,
}

impl Token {
    /// The token of a data directory. It is created if there is none, and replaced if other users could have read it.
    pub(super) fn of(data_dir: &Path) -> io::Result<Self> {
        let path = data_dir.join(FILE);
        let text = match kept(&path) {
            Ok(Some(text)) => text,
            Ok(None) => {
                fs::remove_file(&path)?;
                made(&path)?
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => made(&path)?,
            Err(error) => return Err(io::Error::new(error.kind(), format!("{}: {error}", path.display()))),
        };
        Ok(Self { hash: blake3::hash(text.as_bytes()), text: text.into(), path: path.into() })
    }

    /// Whether this is the token. Takes the same time for any wrong one.
    pub(super) fn is(&self, said: &str) -> bool {
        blake3::hash(said.as_bytes()) == self.hash
    }

    /// Writes the file again if it was deleted: without it no client can connect any more, and nothing could stop the owner.
    pub(super) fn restore(&self) {
        // Anything else in its place belongs to somebody, and stays.
        if let Err(error) = write(&self.path, &self.text)
            && error.kind() != io::ErrorKind::AlreadyExists
        {
            tracing::warn!(cause = error.raw_os_error(), "the file of the token is not restored");
        }
    }
}

/// What a request says to be its token.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    // The name of a scheme is case-insensitive (RFC 9110, 11.1).
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The token of a data directory's owner, for its clients; `None` if it cannot be read: an older owner needs none.
pub fn token_of(data_dir: &Path) -> Option<String> {
    let text = read(&mut open(&data_dir.join(FILE)).ok()?).ok()?;
    Some(text.trim().to_owned()).filter(|token| !token.is_empty())
}

/// Opens the file itself, whatever its kind: never the target of a link, and never waiting for a pipe.
fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

fn read(file: &mut File) -> io::Result<String> {
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text)?;
    Ok(text)
}

/// The existing token; `None` if others may know it.
fn kept(path: &Path) -> io::Result<Option<String>> {
    let mut file = open(path)?;
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::other("this is not a file; remove it, and a token is created"));
    }
    let us = rustix::process::geteuid();
    // Root may work with another user's data, who knows the token anyway.
    let is_ours = us.is_root() || meta.uid() == us.as_raw();
    if meta.mode() & 0o077 != 0 || !is_ours {
        return Ok(None);
    }
    let text = read(&mut file)?;
    match text.trim() {
        "" => Err(io::Error::other("the file is empty; remove it, and a new token is made")),
        token => Ok(Some(token.to_owned())),
    }
}

fn made(path: &Path) -> io::Result<String> {
    let text = crate::access::random_text();
    write(path, &text)?;
    Ok(text)
}

fn write(path: &Path, token: &str) -> io::Result<()> {
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(format!("{token}\n").as_bytes())?;
    file.sync_all()
}
