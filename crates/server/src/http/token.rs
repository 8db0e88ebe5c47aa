//! The token of those who come over TCP: a file in the data directory that only its owner reads.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use axum::http::{HeaderMap, header};
use retake_engine::ids::{Random as _, SystemRandom};

/// A secret of 148 random bits.
#[derive(Clone)]
pub(super) struct Token(blake3::Hash);

impl Token {
    /// The token of a data directory; made, if there is none.
    pub(super) fn of(data_dir: &Path) -> io::Result<Self> {
        let path = data_dir.join("token");
        let random = SystemRandom::default();
        // Each holds 74 random bits.
        let made = [(); 2].map(|()| random.uuid_v7(0).simple().to_string()).concat();
        match fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(mut file) => {
                file.write_all(format!("{made}\n").as_bytes())?;
                file.sync_all()?;
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        let token = fs::read_to_string(&path)?;
        match token.trim() {
            "" => Err(io::Error::other("the file is empty; remove it, and a new one is made")),
            token => Ok(Self(blake3::hash(token.as_bytes()))),
        }
    }

    /// Whether a request knows it. Takes the same time for any wrong one.
    pub(super) fn is_known_to(&self, headers: &HeaderMap) -> bool {
        let said = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = said.and_then(|said| said.strip_prefix("Bearer "));
        token.is_some_and(|token| blake3::hash(token.trim().as_bytes()) == self.0)
    }
}
