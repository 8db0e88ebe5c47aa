//! `retake token`: tokens for programs and people that use the API. Must never print a secret again.

use clap::{Args, Subcommand};
use jiff::{Span, Unit};
use retake_wire::{Grant, Reply, Request, Right, TokenCreate, TokenTarget};

use super::RunVerb;
use crate::context::Context;
use crate::error::{Result, usage};

/// Make, list and revoke tokens for programs that use the API
///
/// A token has grants: a right, and where it holds. The rights are read, talk, rewind and administer; each includes those before it.
/// The owner stores only a digest of a token. What its bearer does is recorded with its name.
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Token {
    #[command(subcommand)]
    what: TokenCommand,
}

/// What to do with tokens.
#[derive(Debug, Subcommand)]
enum TokenCommand {
    Create(Create),
    /// List all tokens, also expired and revoked ones
    List,
    Revoke(Named),
}

/// Make a token, and print its secret once
#[derive(Debug, Args)]
struct Create {
    /// Its name: letters, digits, `_` and `-`. Names are not used twice
    #[arg(value_name = "NAME")]
    name: String,
    /// A right (read, talk, rewind or administer), for one conversation with `RIGHT@CONVERSATION`. Can be repeated
    #[arg(long = "grant", value_name = "RIGHT[@CONVERSATION]", required_unless_present = "gateway")]
    grants: Vec<String>,
    /// For the gateway of this account, and nothing else. `retake gateway add` makes such a token by itself
    #[arg(long, value_name = "ACCOUNT", conflicts_with = "grants")]
    gateway: Option<String>,
    /// How long the token is accepted, such as `12h`, `30d` or `1y`. Without it: until it is revoked
    #[arg(long, value_name = "TIME")]
    expires: Option<String>,
}

/// Revoke a token: its bearers are refused from now on
#[derive(Debug, Args)]
struct Named {
    /// The name of the token
    #[arg(value_name = "NAME")]
    name: String,
}

impl RunVerb for Token {
    const EXAMPLES: &'static [&'static str] = &[
        "retake token create phone --grant talk --expires 30d",
        "retake token create reader --grant read@0199a000",
        "retake token list",
        "retake token revoke phone",
    ];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        match self.what {
            TokenCommand::Create(create) => {
                let grants = create.grants.iter().map(|text| grant(text)).collect::<Result<Vec<_>>>()?;
                let expires_in_s = create.expires.as_deref().map(seconds).transpose()?;
                let (name, gateway) = (create.name, create.gateway);
                let request = TokenCreate { name, grants, gateway, expires_in_s };
                let reply = cx.call(Request::TokenCreate(request)).await?;
                if let Reply::NewToken(_) = &reply
                    && !cx.json
                {
                    cx.aside(
                        "Keep this secret: it is not shown again. Send it as `Authorization: Bearer …`.",
                    )?;
                }
                cx.present(&reply)
            }
            TokenCommand::List => cx.show(Request::TokenList).await,
            TokenCommand::Revoke(Named { name }) => {
                let reply = cx.call(Request::TokenRevoke(TokenTarget { name: name.clone() })).await?;
                if !cx.json {
                    cx.aside(&format!("The token {name} is revoked."))?;
                }
                cx.present(&reply)
            }
        }
    }
}

/// The grant in a text: `talk`, or `talk@CONVERSATION`.
fn grant(text: &str) -> Result<Grant> {
    let (right, conversation) = match text.split_once('@') {
        Some((right, conversation)) => (right, Some(conversation.to_owned())),
        None => (text, None),
    };
    let right = match right {
        "read" => Right::Read,
        "talk" => Right::Talk,
        "rewind" => Right::Rewind,
        "administer" => Right::Administer,
        other => {
            return Err(usage(
                format!("{other:?} is not a right"),
                "write read, talk, rewind or administer, for one conversation with @ and its id: read@0199a000",
            ));
        }
    };
    Ok(Grant { right, conversation })
}

/// The number of seconds in a text such as `30d`. A year has 365 days here.
fn seconds(text: &str) -> Result<u64> {
    let wrong = || {
        usage(format!("{text:?} is not a length of time"), "write a number and its unit: 90min, 12h, 30d, 1y")
    };
    let span: Span = text.trim().parse().map_err(|_| wrong())?;
    let days = span.get_years() as f64 * 365.0 + span.get_months() as f64 * 30.0;
    let rest = span.years(0).months(0);
    let rest = rest.total((Unit::Second, jiff::SpanRelativeTo::days_are_24_hours())).map_err(|_| wrong())?;
    let seconds = days * 86_400.0 + rest;
    match seconds {
        seconds if (1.0..=4e9).contains(&seconds) => Ok(seconds as u64),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_as_people_type_them() {
        for (text, wanted) in [
            ("90s", 90),
            ("90min", 5400),
            ("12h", 43_200),
            ("30d", 2_592_000),
            ("1y", 31_536_000),
            ("2w", 1_209_600),
        ] {
            assert_eq!(seconds(text).ok(), Some(wanted), "{text}");
        }
        for bad in ["", "soon", "0s", "-3d", "30"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn grants_as_people_type_them() {
        let read = Grant { right: Right::Read, conversation: None };
        assert_eq!(grant("read").ok(), Some(read));
        let one = Grant { right: Right::Rewind, conversation: Some("0199a000".to_owned()) };
        assert_eq!(grant("rewind@0199a000").ok(), Some(one));
        assert!(grant("fly").is_err() && grant("").is_err());
    }
}
