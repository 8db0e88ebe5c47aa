//! What a token is for, as stored: a list of `[right, conversation]`, of `[right]` for all conversations, or `["gateway", account]`.

use retake_core::{Grant, GrantScope, Grants, Right, TokenUse};

use super::{Decoded, from_json, to_json};

/// The word of a gateway's token.
const GATEWAY: &str = "gateway";

/// Encodes what a token is for.
pub(crate) fn encode_token_use(used_for: &TokenUse) -> String {
    let grant = |grant: &Grant| {
        let right = <&str>::from(grant.right).to_owned();
        match grant.scope {
            GrantScope::All => vec![right],
            GrantScope::Conversation(id) => vec![right, id.to_string()],
        }
    };
    let rows = match used_for {
        TokenUse::Grants(grants) => grants.0.iter().map(grant).collect(),
        TokenUse::Gateway(account) => vec![vec![GATEWAY.to_owned(), account.clone()]],
    };
    to_json(&rows)
}

/// What this text says.
pub(crate) fn decode_token_use(json: &str) -> Decoded<TokenUse> {
    let rows: Vec<Vec<String>> = from_json("grants", json)?;
    if let [row] = rows.as_slice()
        && let [word, account] = row.as_slice()
        && word == GATEWAY
    {
        return Ok(TokenUse::Gateway(account.clone()));
    }
    let grant = |row: &Vec<String>| {
        let (right, scope) = match row.as_slice() {
            [right] => (right, GrantScope::All),
            [right, id] => {
                let id = id.parse().map_err(|error: retake_core::BadId| error.to_string())?;
                (right, GrantScope::Conversation(id))
            }
            _ => return Err("one of its grants can't be read".to_owned()),
        };
        let right: Right = right.parse().map_err(|_| format!("“{right}” is not a right"))?;
        Ok(Grant { right, scope })
    };
    Ok(TokenUse::Grants(Grants(rows.iter().map(grant).collect::<Decoded<_>>()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_form_of_grants_does_not_change() {
        let id = "0190b2c4-0000-7000-8000-000000000001";
        let grants = Grants(vec![
            Grant { right: Right::Read, scope: GrantScope::All },
            Grant { right: Right::Rewind, scope: GrantScope::Conversation(id.parse().expect("an id")) },
        ]);
        let rows = [
            (TokenUse::Grants(Grants::default()), "[]".to_owned()),
            (TokenUse::Grants(grants), format!(r#"[["read"],["rewind","{id}"]]"#)),
            (TokenUse::Gateway("chat-1".to_owned()), r#"[["gateway","chat-1"]]"#.to_owned()),
        ];
        for (used_for, stored) in rows {
            assert_eq!(encode_token_use(&used_for), stored);
            assert_eq!(decode_token_use(&stored), Ok(used_for));
        }
        for bad in ["", "[[]]", r#"[["fly"]]"#, r#"[["read","x"]]"#, r#"[["gateway","a"],["read"]]"#] {
            assert!(decode_token_use(bad).is_err(), "{bad}");
        }
    }
}
