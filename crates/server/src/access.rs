//! Access: who sends a request, and whether a grant covers it. [`InProcess::authorize`] is the only place that decides. Everything that
//! reaches the engine for a client passes it first: requests, runs, subscriptions, imports and attaching.

use std::sync::Arc;
use std::time::Duration;

use retake_core::{AccessToken, ChangeOrigin, ConversationId, Grants, Principal, RequestId, TokenUse};
use retake_engine::EngineError;
use retake_engine::ids::{Random as _, SystemRandom};
use retake_wire::{Demand, NOT_PERMITTED, Over, Problem, ProblemKind, Right, UNAUTHORIZED};

use crate::InProcess;
use crate::convert::{own_problem, problem};

/// The beginning of every secret of a token, so that programs that look for leaked secrets recognise one.
const MARK: &str = "rtk_";

/// Who sends requests through an [`InProcess`].
#[derive(Clone)]
pub(crate) struct Caller {
    pub(crate) principal: Principal,
    /// The author of its messages; the user's name if there is none.
    name: Option<String>,
    grants: Grants,
    /// For a gateway: its account.
    account: Option<String>,
    /// The digest of its token, while it may be revoked.
    digest: Option<[u8; 32]>,
}

impl Caller {
    /// The user of this machine.
    pub(crate) fn local() -> Self {
        Self { principal: Principal::Local, name: None, grants: Grants::all(), account: None, digest: None }
    }

    fn of_token(token: AccessToken, digest: [u8; 32]) -> Self {
        let (grants, account) = match token.used_for {
            TokenUse::Grants(grants) => (grants, None),
            // A gateway has no grant of its own.
            TokenUse::Gateway(account) => (Grants::default(), Some(account)),
        };
        let principal = Principal::Token(token.name.clone());
        Self { principal, name: Some(token.name), grants, account, digest: Some(digest) }
    }

    /// The conversations in which it may read; `None` if in all.
    pub(crate) fn readable(&self) -> Option<Vec<ConversationId>> {
        self.grants.covered(retake_core::Right::Read)
    }

    /// Whether its messages may attach any file of this machine by a mention.
    pub(crate) fn may_mention_files(&self) -> bool {
        self.grants.allow_everywhere(retake_core::Right::Administer)
    }
}

/// A new secret: 146 random bits.
pub(crate) fn random_text() -> String {
    // Two ids, each the first of its source: only that one is completely random, 73 bits of it. Later ones are counted up from it.
    [(); 2].map(|()| SystemRandom::default().uuid_v7(1).simple().to_string()).concat()
}

/// A new secret of a token, with its digest.
pub(crate) fn new_secret() -> (String, [u8; 32]) {
    let secret = format!("{MARK}{}", random_text());
    let digest = *blake3::hash(secret.as_bytes()).as_bytes();
    (secret, digest)
}

impl InProcess {
    /// The same owner, for requests of another caller.
    pub(crate) fn acting_for(&self, caller: Caller) -> Self {
        Self { caller: Arc::new(caller), ..self.clone() }
    }

    /// Whether the user of this machine sends the requests.
    pub(crate) fn is_local(&self) -> bool {
        self.caller.principal == Principal::Local
    }

    /// The caller with this secret.
    pub(crate) async fn caller_with(&self, secret: &str) -> Result<Caller, Problem> {
        let refused = || own_problem(ProblemKind::Usage, UNAUTHORIZED, &[]);
        if !secret.starts_with(MARK) {
            return Err(refused());
        }
        let digest = *blake3::hash(secret.as_bytes()).as_bytes();
        let token = self.engine.token(digest).await.map_err(problem)?.ok_or_else(refused)?;
        match token.is_valid(self.engine.now()) {
            true => Ok(Caller::of_token(token, digest)),
            false => {
                let what = if token.revoked.is_some() { "revoked" } else { "expired" };
                Err(refused().with("what", what))
            }
        }
    }

    /// The author, the principal and the time of a change that the caller requests now.
    pub(crate) fn origin(&self, request: Option<RequestId>) -> ChangeOrigin {
        let own = self.engine.by(request);
        let author = self.caller.name.clone().unwrap_or(own.author);
        ChangeOrigin { author, principal: self.caller.principal.clone(), ..own }
    }

    /// Refuses what no grant of the caller covers. A conversation that it may not read does not exist for it.
    pub(crate) async fn authorize(&self, demand: Demand<'_>) -> Result<(), Problem> {
        let (right, grants) = (right_in(demand.need.right), &self.caller.grants);
        if demand.need.over == Over::Account {
            return match demand.named.is_some() && demand.named == self.caller.account.as_deref() {
                true => Ok(()),
                false => Err(not_permitted(demand)),
            };
        }
        if grants.allow_everywhere(right) {
            return Ok(());
        }
        let is_permitted = match (demand.need.over, demand.named) {
            (Over::Named, Some(name)) => {
                let conversation = self.readable_conversation(name).await?;
                grants.allow(right, &self.engine.line_of(conversation).await.map_err(problem)?)
            }
            (Over::Somewhere, _) => grants.covered(right).is_none_or(|covered| !covered.is_empty()),
            (Over::Named | Over::Everything | Over::Account, _) => false,
        };
        match is_permitted {
            true => Ok(()),
            false => Err(not_permitted(demand)),
        }
    }

    /// The conversation with this name. One that the caller may not read does not exist for it, and no other one is suggested.
    pub(crate) async fn readable_conversation(&self, name: &str) -> Result<ConversationId, Problem> {
        let found = self.engine.conversation(name).await;
        let grants = &self.caller.grants;
        if grants.allow_everywhere(retake_core::Right::Read) {
            return found.map_err(problem);
        }
        let unknown = || problem(EngineError::unknown_conversation(name));
        let conversation = found.map_err(|_| unknown())?;
        let line = self.engine.line_of(conversation).await.map_err(problem)?;
        grants.allow(retake_core::Right::Read, &line).then_some(conversation).ok_or_else(unknown)
    }

    /// Waits until the caller's token is not valid any more.
    pub(crate) fn refused(&self) -> impl Future<Output = ()> + Send + use<> {
        let (owner, digest) = (self.clone(), self.caller.digest);
        async move {
            let Some(digest) = digest else { return std::future::pending().await };
            let mut revoked = owner.owner_info.revocations.subscribe();
            loop {
                let now = owner.engine.now();
                let token = owner.engine.token(digest).await.ok().flatten();
                let Some(token) = token.filter(|token| token.is_valid(now)) else { return };
                let left = token.expires.map_or(u64::MAX, |expires| expires.0.abs_diff(now.0));
                tokio::select! {
                    // The owner ends.
                    changed = revoked.changed() => if changed.is_err() { return },
                    () = tokio::time::sleep(Duration::from_millis(left.min(LOOK_MS))) => {}
                }
            }
        }
    }
}

fn not_permitted(demand: Demand<'_>) -> Problem {
    let needed: &str = demand.need.right.into();
    // The right of a gateway is no grant.
    let what = if demand.need.over == Over::Account { "account" } else { "grant" };
    own_problem(ProblemKind::Refused, NOT_PERMITTED, &[("right", needed.into()), ("what", what.into())])
}

/// How often a stream looks whether its token has expired: a sleep for years would not be exact.
const LOOK_MS: u64 = 60_000;

/// A right of the wire as one of core.
pub(crate) fn right_in(right: Right) -> retake_core::Right {
    match right {
        Right::Read => retake_core::Right::Read,
        Right::Talk => retake_core::Right::Talk,
        Right::Rewind => retake_core::Right::Rewind,
        Right::Administer => retake_core::Right::Administer,
    }
}

/// A right of core as one of the wire.
pub(crate) fn right_out(right: retake_core::Right) -> Right {
    match right {
        retake_core::Right::Read => Right::Read,
        retake_core::Right::Talk => Right::Talk,
        retake_core::Right::Rewind => Right::Rewind,
        retake_core::Right::Administer => Right::Administer,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{new_secret, random_text};

    #[test]
    fn secret_is_random_except_for_what_makes_it_an_id() {
        let tokens = [(); 20].map(|()| random_text());
        for chance in [13..16, 17..24, 24..32, 45..48, 49..56, 56..64] {
            let seen: HashSet<_> = tokens.iter().map(|token| &token[chance.clone()]).collect();
            assert!(seen.len() > 10, "{chance:?} of {tokens:?}");
        }
        assert!(new_secret().0.starts_with("rtk_"));
    }
}
