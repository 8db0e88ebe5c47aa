//! Which variables of the environment hold secrets, by their names, so that no command and no MCP server gets what was not meant
//! for it (trial 25). Must never look at a value.

use std::collections::BTreeSet;
use std::ffi::OsStr;

/// A variable with one of these among the words of its name holds a secret: words are what `_` divides.
const WORDS: [&str; 18] = [
    "APIKEY",
    "APITOKEN",
    "AUTH",
    "AUTHORIZATION",
    "CREDENTIAL",
    "CREDENTIALS",
    "CREDS",
    "DSN",
    "KEY",
    "KEYS",
    "PASS",
    "PASSPHRASE",
    "PAT",
    "PIN",
    "SECRET",
    "SECRETS",
    "TOKEN",
    "TOKENS",
];

/// So does one whose name has one of these anywhere: `PGPASSWORD`.
const PARTS: [&str; 3] = ["PASSWORD", "PASSWD", "SECRET"];

/// And one whose name ends so: addresses with a password in them, and ways to an agent that holds keys.
const ENDS: [&str; 6] =
    ["_PWD", "DATABASE_URL", "CONNECTION_STRING", "MONGODB_URI", "REDIS_URL", "GPG_AGENT_INFO"];

/// Which variables commands and MCP servers do not get.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Secrets {
    named: BTreeSet<String>,
    let_in: BTreeSet<String>,
}

impl Secrets {
    /// Those whose names look like secrets, and the named ones; but none of those that are let in.
    pub fn new(named: impl IntoIterator<Item = String>, let_in: impl IntoIterator<Item = String>) -> Self {
        Self { named: named.into_iter().collect(), let_in: let_in.into_iter().collect() }
    }

    /// Whether a variable of that name is kept back.
    pub fn holds(&self, name: &OsStr) -> bool {
        let name = name.to_string_lossy();
        if self.let_in.contains(&*name) {
            return false;
        }
        let upper = name.to_uppercase();
        self.named.contains(&*name)
            || upper.split('_').any(|word| WORDS.contains(&word))
            || PARTS.iter().any(|part| upper.contains(part))
            || ENDS.iter().any(|end| upper.ends_with(end))
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::Secrets;

    #[test]
    fn trial_25_what_looks_like_a_secret_or_is_named_is_kept_back() {
        let secrets = Secrets::new(["CORP_LLM".to_owned()], ["NPM_TOKEN".to_owned(), "LOOSE".to_owned()]);
        let kept_back = [
            "OPENAI_API_KEY",
            "gh_token",
            "GITHUB_PAT",
            "PGPASSWORD",
            "MYSQL_PWD",
            "STRIPE_SECRET_KEY",
            "CLIENTSECRET",
            "AWS_ACCESS_KEY_ID",
            "AWS_SESSION_TOKEN",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "SSH_AUTH_SOCK",
            "SENTRY_DSN",
            "TEST_DATABASE_URL",
            "VAULT_ADDR_TOKEN",
            "CORP_LLM",
        ];
        for name in kept_back {
            assert!(secrets.holds(OsStr::new(name)), "{name}");
        }
        let handed_on = [
            "PATH",
            "HOME",
            "PWD",
            "OLDPWD",
            "LANG",
            "VIRTUAL_ENV",
            "CARGO_HOME",
            "TOKENIZERS_PARALLELISM",
            "KEYBOARD_LAYOUT",
            "PATTERN",
            "NPM_TOKEN",
            "LOOSE",
            "CORP_LLM_URL",
        ];
        for name in handed_on {
            assert!(!secrets.holds(OsStr::new(name)), "{name}");
        }
    }
}
