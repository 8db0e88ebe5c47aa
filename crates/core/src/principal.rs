//! Who a request comes from, as it is recorded with an operation. Display names are no part of it: they change. Must never hold
//! a secret.

/// The longest name of a token or an account.
const LONGEST: usize = 40;

/// Who a request comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Principal {
    /// The user of this machine, and the owner itself.
    #[default]
    Local,
    /// A token, by its name. No later token gets the name of an earlier one.
    Token(String),
    /// A member of a chat, for whom a gateway acts.
    Member {
        /// The name of the account on the platform.
        account: String,
        /// The platform's id of the person; empty if it was erased.
        person: String,
    },
}

impl Principal {
    /// The stored form of all but the local user.
    pub fn encode(&self) -> Option<String> {
        match self {
            Self::Local => None,
            Self::Token(name) => Some(format!("token:{name}")),
            Self::Member { account, person } => Some(format!("member:{account}:{person}")),
        }
    }

    /// The principal in this form.
    pub fn decode(text: Option<&str>) -> Option<Self> {
        let Some(text) = text else { return Some(Self::Local) };
        match text.split_once(':')? {
            ("token", name) if is_name(name) => Some(Self::Token(name.to_owned())),
            ("member", rest) => {
                let (account, person) = rest.split_once(':')?;
                let member = Self::Member { account: account.to_owned(), person: person.to_owned() };
                is_name(account).then_some(member)
            }
            _ => None,
        }
    }

    /// The same without the person.
    pub fn erased(&self) -> Self {
        match self {
            Self::Member { account, .. } => Self::Member { account: account.clone(), person: String::new() },
            other => other.clone(),
        }
    }
}

/// Whether a text can be the name of a token or an account: 1 to 40 of the characters `A-Z`, `a-z`, `0-9`, `_` and `-`.
pub fn is_name(text: &str) -> bool {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || char == '_' || char == '-';
    (1..=LONGEST).contains(&text.len()) && text.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_form_of_a_principal_does_not_change() {
        let member =
            |person: &str| Principal::Member { account: "chat-1".to_owned(), person: person.to_owned() };
        let rows = [
            (Principal::Local, None),
            (Principal::Token("phone".to_owned()), Some("token:phone")),
            (member("@ann:example.org"), Some("member:chat-1:@ann:example.org")),
            (member(""), Some("member:chat-1:")),
        ];
        for (principal, stored) in rows {
            assert_eq!(principal.encode().as_deref(), stored);
            assert_eq!(Principal::decode(stored), Some(principal));
        }
        for bad in ["", "token:", "token:a b", "member:chat", "member::1", "user:x", "local"] {
            assert_eq!(Principal::decode(Some(bad)), None, "{bad}");
        }
        assert_eq!(member("17").erased(), member(""));
        let token = Principal::Token("phone".to_owned());
        assert_eq!(token.erased(), token);
    }
}
