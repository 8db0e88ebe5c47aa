//! Tokens, and who asked for an operation.

use std::sync::Arc;

use retake_core::{
    AccessToken, Action, Apply, ChangeOrigin, Grant, GrantScope, Grants, OpRange, Principal, Right,
    SeenState, Time, TokenUse,
};

use super::stage::{Stage, by};
use crate::Store;

fn token(name: &str, expires: Option<i64>) -> AccessToken {
    let grants = Grants(vec![Grant { right: Right::Talk, scope: GrantScope::All }]);
    AccessToken {
        name: name.to_owned(),
        used_for: TokenUse::Grants(grants),
        created: Time(1),
        expires: expires.map(Time),
        revoked: None,
    }
}

/// A token is found by its digest only, its name is used once, and a revoked one stays listed.
pub async fn token_is_found_by_its_digest_until_it_is_revoked(store: Arc<Store>) {
    let (phone, bot) = (token("phone", None), token("bot", Some(10)));
    let gateway = AccessToken { used_for: TokenUse::Gateway("chat-1".to_owned()), ..token("gate", None) };
    assert!(store.add_token(phone.clone(), [1; 32]).await.expect("stored"));
    assert!(store.add_token(bot.clone(), [2; 32]).await.expect("stored"));
    assert!(store.add_token(gateway.clone(), [3; 32]).await.expect("stored"));
    assert!(!store.add_token(token("phone", None), [4; 32]).await.expect("refused"), "its name is used");
    assert_eq!(store.token([1; 32]).await.expect("read"), Some(phone.clone()));
    assert_eq!(store.token([4; 32]).await.expect("read"), None);
    assert!(!store.revoke_token("bot".to_owned(), Time(10)).await.expect("done"), "it had expired");
    assert!(store.revoke_token("phone".to_owned(), Time(5)).await.expect("done"));
    assert!(!store.revoke_token("phone".to_owned(), Time(6)).await.expect("done"), "a second time");
    assert!(!store.revoke_token("other".to_owned(), Time(6)).await.expect("done"));
    let phone = AccessToken { revoked: Some(Time(5)), ..phone };
    let bot = AccessToken { revoked: Some(Time(10)), ..bot };
    assert_eq!(store.token([1; 32]).await.expect("read"), Some(phone.clone()));
    assert_eq!(store.tokens().await.expect("read"), [bot, gateway, phone.clone()]);
    assert!(
        !store.add_token(token("phone", None), [5; 32]).await.expect("refused"),
        "revoked names stay used"
    );
}

/// An operation records who asked for it. An erasure of the person's id takes the person, and leaves the account.
pub async fn operation_records_its_principal(store: Arc<Store>) {
    let stage = Stage::with_turns(store, &["one", "two", "three"]).await;
    let member = Principal::Member { account: "chat-1".to_owned(), person: "hunter2".to_owned() };
    let token = Principal::Token("phone".to_owned());
    for principal in [token.clone(), member.clone(), Principal::Local] {
        let by = ChangeOrigin { principal, ..by() };
        let undo = Apply { action: Action::Undo(1), seen: SeenState::Anything, by };
        stage.store.apply(stage.id, undo).await.expect("undone");
    }
    let principals = async || {
        let ops = stage.store.ops(stage.id, OpRange { before: None, limit: 9 }).await.expect("read");
        ops.ops.into_iter().map(|line| line.op.principal).collect::<Vec<_>>()
    };
    assert_eq!(principals().await, [Principal::Local, member.clone(), token.clone()]);
    let erase = Action::Erase { entries: Vec::new(), matching: Some("hunter2".into()), objects: Vec::new() };
    stage
        .store
        .apply(stage.id, Apply { action: erase, seen: SeenState::Anything, by: by() })
        .await
        .expect("erased");
    assert_eq!(principals().await[1..], [Principal::Local, member.erased(), token]);
}
