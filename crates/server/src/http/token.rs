//! The token of those who come over TCP: a file in the data directory that only its owner reads.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use axum::http::{HeaderMap, header};
use retake_engine::ids::{Random as _, SystemRandom};

/// A secret of 146 random bits.
#[derive(Clone)]
pub(super) struct Token(blake3::Hash);

impl Token {
    /// The token of a data directory; made, if there is none.
    pub(super) fn of(data_dir: &Path) -> io::Result<Self> {
        let path = data_dir.join("token");
        let made = made();
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
        let token = said.and_then(|said| said.split_once(' '));
        // The name of a scheme has no case (RFC 9110, 11.1).
        let token = token.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        token.is_some_and(|(_, token)| blake3::hash(token.trim().as_bytes()) == self.0)
    }
}

/// Two ids, each the first of its source: only that one is all chance, 73 bits of it. Later ones count on from it.
fn made() -> String {
    [(); 2].map(|()| SystemRandom::default().uuid_v7(1).simple().to_string()).concat()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::made;

    #[test]
    fn all_of_a_token_is_chance_but_what_makes_it_an_id() {
        let tokens = [(); 20].map(|()| made());
        for chance in [13..16, 17..24, 24..32, 45..48, 49..56, 56..64] {
            let seen: HashSet<_> = tokens.iter().map(|token| &token[chance.clone()]).collect();
            assert!(seen.len() > 10, "{chance:?} of {tokens:?}");
        }
    }
}
