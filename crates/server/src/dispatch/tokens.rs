//! Tokens: made, listed, revoked. Must never return a secret a second time.

use retake_core::{AccessToken, GrantScope, Grants, Time, TokenUse, is_name};
use retake_wire::{
    Grant, LONGEST_LIFE_S, MOST_GRANTS, NewToken, Problem, ProblemKind, Reply, Token, TokenCreate,
    TokenTarget, Tokens,
};

use crate::InProcess;
use crate::access::{new_secret, right_in, right_out};
use crate::convert::{misused, own_problem, problem};

impl InProcess {
    pub(super) async fn token_create(&self, create: TokenCreate) -> Result<Reply, Problem> {
        let TokenCreate { name, grants, gateway, expires_in_s } = create;
        if !is_name(&name) {
            return Err(misused("token_name", &[("name", name.into())]));
        }
        if let Some(account) = gateway.as_ref().filter(|account| !is_name(account)) {
            return Err(misused("token_name", &[("name", account.as_str().into())]));
        }
        let (least, most) = if gateway.is_some() { (0, 0) } else { (1, MOST_GRANTS) };
        if !(least..=most).contains(&grants.len()) {
            let limits = [("count", grants.len().into()), ("least", least.into()), ("most", most.into())];
            return Err(misused("token_grants", &limits));
        }
        let now = self.engine.now();
        let expires = match expires_in_s {
            None => None,
            Some(seconds @ 1..=LONGEST_LIFE_S) => {
                let life = i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1000);
                Some(Time(now.0.saturating_add(life)))
            }
            Some(other) => {
                let limits = [("count", other.into()), ("least", 1.into()), ("most", LONGEST_LIFE_S.into())];
                return Err(misused("token_life", &limits));
            }
        };
        let mut granted = Vec::new();
        for Grant { right, conversation } in grants {
            let scope = match conversation {
                Some(name) => GrantScope::Conversation(self.conversation(&name).await?),
                None => GrantScope::All,
            };
            granted.push(retake_core::Grant { right: right_in(right), scope });
        }
        let used_for = gateway.map_or(TokenUse::Grants(Grants(granted)), TokenUse::Gateway);
        let token = AccessToken { name, used_for, created: now, expires, revoked: None };
        let (secret, digest) = new_secret();
        match self.engine.add_token(token.clone(), digest).await.map_err(problem)? {
            true => Ok(Reply::NewToken(NewToken { token: told(token, now), secret })),
            false => {
                let fields = [("name", token.name.into())];
                Err(own_problem(ProblemKind::Refused, "token_exists", &fields))
            }
        }
    }

    pub(super) async fn token_list(&self) -> Result<Reply, Problem> {
        let now = self.engine.now();
        let tokens = self.engine.tokens().await.map_err(problem)?;
        Ok(Reply::Tokens(Tokens { tokens: tokens.into_iter().map(|token| told(token, now)).collect() }))
    }

    pub(super) async fn token_revoke(&self, of: TokenTarget) -> Result<Reply, Problem> {
        if !self.engine.revoke_token(of.name.clone()).await.map_err(problem)? {
            return Err(own_problem(ProblemKind::NotFound, "no_token", &[("name", of.name.into())]));
        }
        self.owner_info.revocations.send_replace(());
        self.token_list().await
    }
}

fn told(token: AccessToken, now: Time) -> Token {
    let is_valid = token.is_valid(now);
    let (grants, gateway) = match token.used_for {
        TokenUse::Grants(Grants(grants)) => (grants, None),
        TokenUse::Gateway(account) => (Vec::new(), Some(account)),
    };
    let grant = |grant: retake_core::Grant| Grant {
        right: right_out(grant.right),
        conversation: match grant.scope {
            GrantScope::All => None,
            GrantScope::Conversation(id) => Some(id.to_string()),
        },
    };
    Token {
        name: token.name,
        grants: grants.into_iter().map(grant).collect(),
        gateway,
        created_ms: token.created.0,
        expires_ms: token.expires.map(|time| time.0),
        revoked_ms: token.revoked.map(|time| time.0),
        is_valid,
    }
}
