//! Tokens: their grants and their state. Shows a secret only in the reply that made it.

use retake_wire::{Grant, NewToken, Token, Tokens};

use super::id;
use super::table::{Cell, cell, table};
use super::words;
use crate::text::style::Style;
use crate::text::{Look, Text, safe};

/// The secret of a new token, alone in its line.
pub fn new_token(it: &NewToken) -> Text {
    format!("{}\n", safe::line(&it.secret)).into()
}

/// The tokens, a line each.
pub fn tokens(look: &Look, it: &Tokens) -> Text {
    if it.tokens.is_empty() {
        return "there are no tokens\n".into();
    }
    table(look, &it.tokens.iter().map(|token| row(look, token)).collect::<Vec<_>>())
}

fn row(look: &Look, token: &Token) -> Vec<Cell> {
    let (state, style) = match (token.is_valid, token.revoked_ms, token.expires_ms) {
        (true, _, Some(expires)) => (format!("until {}", words::when(look, expires)), Style::Good),
        (true, ..) => ("valid".to_owned(), Style::Good),
        (false, Some(revoked), _) => (format!("revoked {}", words::when(look, revoked)), Style::Dim),
        (false, ..) => ("expired".to_owned(), Style::Dim),
    };
    let grants = match &token.gateway {
        Some(account) => format!("gateway of {}", safe::line(account)),
        None => token.grants.iter().map(grant).collect::<Vec<_>>().join(", "),
    };
    vec![cell(safe::line(&token.name)).style(Style::Bold), cell(grants), cell(state).style(style)]
}

fn grant(grant: &Grant) -> String {
    let right: &str = grant.right.into();
    match &grant.conversation {
        Some(conversation) => format!("{right} in {}", id::short(conversation)),
        None => format!("{right} everywhere"),
    }
}
