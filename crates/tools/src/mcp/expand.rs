//! `${VAR}` in a server's entry, and the environment of its process. Must never show a value: each message goes
//! through [`Expanded::hide`].

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;

use super::config::ServerTransport;
use super::failure::{Failure, FailureKind};
use crate::call_environment::CallEnvironment;
use crate::secret::Secrets;

/// Shorter values are no secrets, and would match everywhere.
const SHORTEST_SECRET: usize = 6;

/// Environment variables.
#[derive(Clone, Default)]
pub struct Variables {
    all: Vec<(OsString, OsString)>,
    secrets: Secrets,
}

impl Variables {
    /// Those of this process, and which of them servers do not get.
    pub fn process(secrets: Secrets) -> Self {
        Self { all: std::env::vars_os().collect(), secrets }
    }

    /// The variables of the client, and which of them servers do not get.
    pub fn of(environment: &CallEnvironment, secrets: Secrets) -> Self {
        Self { all: environment.variables().collect(), secrets }
    }

    /// A fixed set.
    pub fn fixed<const N: usize>(variables: [(&str, &str); N]) -> Self {
        let all = variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Self { all, secrets: Secrets::default() }
    }

    fn get(&self, name: &str) -> Option<&str> {
        let found = self.all.iter().find(|(own, _)| own == name)?;
        found.1.to_str()
    }

    /// Whether this one looks like a secret, whether set or not.
    pub(super) fn is_secret(&self, name: &str) -> bool {
        self.secrets.holds(OsStr::new(name), OsStr::new(self.get(name).unwrap_or_default()))
    }

    /// The variables for a server: without secrets, unless its entry names them.
    pub(super) fn for_servers(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        let ours = self.all.iter().filter(|(name, value)| !self.secrets.holds(name, value));
        ours.map(|(name, value)| (&**name, &**value))
    }
}

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Variables")
    }
}

/// A transport with its variables resolved.
pub(super) struct Expanded {
    pub(super) way: ServerTransport,
    /// Resolved values and possible secrets, each with its variable or header.
    put: Vec<(String, String)>,
}

impl Expanded {
    /// Resolves the variables, or returns the one that is not set.
    pub(super) fn of(way: &ServerTransport, variables: &Variables) -> Result<Self, Failure> {
        let mut put = Vec::new();
        let mut text = |text: &String| expand(text, variables, &mut put);
        let way = match way {
            ServerTransport::Command { command, args, env, cwd } => ServerTransport::Command {
                command: text(command)?,
                args: args.iter().map(&mut text).collect::<Result<_, _>>()?,
                env: pairs(env, &mut text)?,
                cwd: cwd.as_ref().map(&mut text).transpose()?,
            },
            ServerTransport::Url { url, headers } => {
                ServerTransport::Url { url: text(url)?, headers: pairs(headers, &mut text)? }
            }
        };
        // A value in the file itself may be a key as well.
        let (ServerTransport::Command { env: named, .. } | ServerTransport::Url { headers: named, .. }) =
            &way;
        put.extend(named.iter().map(|(name, value)| (value.clone(), name.clone())));
        put.retain(|(value, _)| value.len() >= SHORTEST_SECRET);
        // The longest first, so that no part of one stays.
        put.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
        Ok(Self { way, put })
    }

    /// A text without the resolved values.
    pub(super) fn hide(&self, text: &str) -> String {
        let hidden =
            |text: String, (value, name): &(String, String)| text.replace(value, &format!("${{{name}}}"));
        self.put.iter().fold(text.to_owned(), hidden)
    }
}

/// A path with its variables resolved.
pub(super) fn path(text: &str, variables: &Variables) -> Result<PathBuf, Failure> {
    let expanded = expand(text, variables, &mut Vec::new())?;
    match (expanded.strip_prefix("~/"), variables.get("HOME")) {
        (Some(below), Some(home)) => Ok(PathBuf::from(home).join(below)),
        _ => Ok(PathBuf::from(expanded)),
    }
}

fn pairs(
    pairs: &[(String, String)],
    mut text: impl FnMut(&String) -> Result<String, Failure>,
) -> Result<Vec<(String, String)>, Failure> {
    pairs.iter().map(|(key, value)| Ok((key.clone(), text(value)?))).collect()
}

/// A part of a text with variables.
enum Piece<'a> {
    /// Unchanged text.
    Plain(&'a str),
    /// `${NAME}` or `${NAME:-otherwise}`.
    Variable { name: &'a str, otherwise: Option<&'a str> },
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let variable = after.split_once('}').and_then(|(inside, behind)| {
            let (name, otherwise) = match inside.split_once(":-") {
                Some((name, otherwise)) => (name, Some(otherwise)),
                None => (inside, None),
            };
            is_variable(name).then_some((Piece::Variable { name, otherwise }, behind))
        });
        pieces.push(Piece::Plain(before));
        let (piece, behind) = variable.unwrap_or((Piece::Plain("${"), after));
        pieces.push(piece);
        rest = behind;
    }
    pieces.push(Piece::Plain(rest));
    pieces
}

/// The variables in a text.
pub(super) fn named(text: &str) -> impl Iterator<Item = &str> {
    pieces(text).into_iter().filter_map(|piece| match piece {
        Piece::Variable { name, .. } => Some(name),
        Piece::Plain(_) => None,
    })
}

/// A text with its variables resolved.
fn expand(text: &str, variables: &Variables, put: &mut Vec<(String, String)>) -> Result<String, Failure> {
    let mut expanded = String::new();
    for piece in pieces(text) {
        let (name, otherwise) = match piece {
            Piece::Plain(plain) => {
                expanded.push_str(plain);
                continue;
            }
            Piece::Variable { name, otherwise } => (name, otherwise),
        };
        match (variables.get(name).filter(|value| !value.is_empty()), otherwise) {
            (Some(value), _) => {
                put.push((value.to_owned(), name.to_owned()));
                expanded.push_str(value);
            }
            (None, Some(otherwise)) => expanded.push_str(otherwise),
            (None, None) => {
                let why = format!("the environment variable {name} is not set");
                return Err(FailureKind::UnsetVariable.with(why));
            }
        }
    }
    Ok(expanded)
}

fn is_variable(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_expanded_and_their_values_hidden_in_messages() {
        let variables = Variables::fixed([("TOKEN", "s3cret"), ("EMPTY", ""), ("X", "yz")]);
        let rows = [
            ("Bearer ${TOKEN}", Ok("Bearer s3cret")),
            ("${X}/${EMPTY:-none}/${NO:-}", Ok("yz/none/")),
            ("$X ${ ${X", Ok("$X ${ ${X")),
            ("${NO}", Err("the environment variable NO is not set")),
        ];
        for (text, expected) in rows {
            let got = expand(text, &variables, &mut Vec::new());
            assert_eq!(got.as_deref().map_err(|failure| &*failure.why), expected, "{text}");
        }
        let way = ServerTransport::Url {
            url: "http://x/${TOKEN}".into(),
            headers: vec![("A".into(), "${X} written".into())],
        };
        let expanded = Expanded::of(&way, &variables).expect("all are set");
        assert_eq!(expanded.hide("no http://x/s3cret of yz, yz written"), "no http://x/${TOKEN} of yz, ${A}");
    }

    #[test]
    fn servers_get_no_api_keys() {
        let all = Variables::fixed([
            ("PATH", "/bin"),
            ("OPENAI_API_KEY", "k"),
            ("gh_token", "t"),
            ("A_SECRET", "s"),
        ]);
        assert_eq!(all.for_servers().collect::<Vec<_>>(), [(OsStr::new("PATH"), OsStr::new("/bin"))]);
    }
}
