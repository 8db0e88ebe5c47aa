//! `retake token`, as a person sees it.

use retake_wire::{Grant, NewToken, Reply, Request, Right, Token, Tokens};

use super::fixtures::ago;
use super::scripted::Case;

fn token(name: &str, grants: &[(Right, Option<&str>)]) -> Token {
    let grant = |(right, conversation): &(Right, Option<&str>)| Grant {
        right: *right,
        conversation: conversation.map(str::to_owned),
    };
    Token {
        name: name.to_owned(),
        grants: grants.iter().map(grant).collect(),
        gateway: None,
        created_ms: ago(9),
        expires_ms: None,
        revoked_ms: None,
        is_valid: true,
    }
}

/// The reply to a request about tokens.
pub(super) fn reply(request: &Request) -> Reply {
    if let Request::TokenCreate(_) = request {
        let secret = "rtk_0123456789abcdef".to_owned();
        return Reply::NewToken(NewToken { token: token("phone", &[(Right::Talk, None)]), secret });
    }
    let one = Some("0199a000-5c1e-7d20-8f3a-2b6c9d0e1f42");
    let old =
        Token { revoked_ms: Some(ago(2)), is_valid: false, ..token("old", &[(Right::Administer, None)]) };
    let late = Token { expires_ms: Some(ago(1)), is_valid: false, ..token("late", &[(Right::Rewind, None)]) };
    let gate = Token { gateway: Some("chat-1".to_owned()), ..token("gate", &[]) };
    let phone = token("phone", &[(Right::Read, None), (Right::Talk, one)]);
    Reply::Tokens(Tokens { tokens: vec![gate, late, old, phone] })
}

#[test]
fn tokens_are_made_listed_and_revoked() {
    let seen = [
        Case::script("").see(&["token", "create", "phone", "--grant", "read", "--grant", "talk@0199a000"]),
        Case::script("").see(&["token", "create", "phone", "--grant", "fly"]),
        Case::script("").see(&["token", "create", "phone", "--grant", "read", "--expires", "soon"]),
        Case::script("").see(&["token", "create", "phone"]),
        Case::script("").see(&["token", "list"]),
        Case::script("").see(&["token", "revoke", "phone"]),
    ];
    insta::assert_snapshot!(seen.join("\n"));
}
