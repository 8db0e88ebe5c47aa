//! Which variables of the environment hold secrets, by their names and by what their values look like, so that no command and no MCP
//! server gets what was not meant for it (trial 25). Must never show a value.

use std::collections::BTreeSet;
use std::ffi::OsStr;

/// A variable with one of these among the words of its name holds a secret: words are what `_` divides.
const WORDS: [&str; 22] = [
    "APIKEY",
    "APITOKEN",
    "AUTH",
    "AUTHORIZATION",
    "COOKIE",
    "COOKIES",
    "CREDENTIAL",
    "CREDENTIALS",
    "CREDS",
    "DSN",
    "JWT",
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
    "WEBHOOK",
];

/// So does one whose name has one of these anywhere: `PGPASSWORD`.
const PARTS: [&str; 5] = ["PASSWORD", "PASSWD", "SECRET", "APIKEY", "PRIVATEKEY"];

/// And one whose name ends so: addresses with a password in them, ways to an agent that holds keys, and names without `_`.
const ENDS: [&str; 9] = [
    "_PWD",
    "DATABASE_URL",
    "CONNECTION_STRING",
    "MONGODB_URI",
    "REDIS_URL",
    "GPG_AGENT_INFO",
    "TOKEN",
    "BW_SESSION",
    "ACCESSKEY",
];

/// And one whose name begins so: what AWS keeps there, sessions of 1Password.
const BEGINS: [&str; 2] = ["AWS_", "OP_SESSION_"];

/// Of these, some say where and how, and no secret.
const HARMLESS: [&str; 4] = ["AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PAGER", "AWS_DEFAULT_OUTPUT"];

/// Tokens of well-known services begin so.
const TOKENS: [&str; 13] = [
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "sk-ant-",
    "sk-proj-",
    "sk_live_",
    "rk_live_",
    "hf_",
];

/// A token has at least so many letters behind its beginning.
const SHORTEST_TOKEN: usize = 16;

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

    /// Whether a variable is kept back.
    pub fn holds(&self, name: &OsStr, value: &OsStr) -> bool {
        let name = name.to_string_lossy();
        if self.let_in.contains(&*name) {
            return false;
        }
        let upper = name.to_uppercase();
        let is_harmless = HARMLESS.contains(&&*upper);
        self.named.contains(&*name)
            || upper.split('_').any(|word| WORDS.contains(&word))
            || PARTS.iter().any(|part| upper.contains(part))
            || ENDS.iter().any(|end| upper.ends_with(end))
            || !is_harmless && BEGINS.iter().any(|begin| upper.starts_with(begin))
            || looks_secret(&value.to_string_lossy())
    }
}

/// Whether a value is a secret by its looks: an address with a password, a key, a token of a well-known service.
fn looks_secret(value: &str) -> bool {
    let lower = value.to_lowercase();
    lower.contains("password=")
        || value.contains("PRIVATE KEY-----")
        || value.match_indices("://").any(|(at, _)| has_password(&value[..at], &value[at + 3..]))
        || value.split(|c: char| !c.is_ascii_alphanumeric() && !"-_".contains(c)).any(is_token)
}

/// Whether an address names a user with a password, or a token in their place: `https://user:password@host`.
fn has_password(before: &str, behind: &str) -> bool {
    let authority =
        behind.split(|c: char| c.is_whitespace() || "/?#,\"'".contains(c)).next().unwrap_or_default();
    let Some((user, _)) = authority.rsplit_once('@') else { return false };
    let is_web = ["http", "https"].iter().any(|scheme| before.to_lowercase().ends_with(scheme));
    match user.split_once(':') {
        Some((_, password)) => !password.is_empty(),
        None => is_web && !user.is_empty(),
    }
}

fn is_token(word: &str) -> bool {
    let is_random = |rest: &str| rest.len() >= SHORTEST_TOKEN && rest.contains(|c: char| c.is_ascii_digit());
    TOKENS.iter().filter_map(|begin| word.strip_prefix(begin)).any(is_random)
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
            "AWS_PROFILE",
            "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
            "AZURE_STORAGE_CONNECTION_STRING",
            "NPM_CONFIG__AUTH",
            "githubToken",
            "MYAPIKEY",
            "SLACK_WEBHOOK_URL",
            "OP_SESSION_my",
            "BW_SESSION",
            "DOCKER_AUTH_CONFIG",
            "HF_TOKEN",
            "CI_JOB_JWT",
        ];
        for name in kept_back {
            assert!(secrets.holds(OsStr::new(name), OsStr::new("x")), "{name}");
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
            "AWS_REGION",
            "AWS_DEFAULT_REGION",
            "XDG_SESSION_ID",
            "DBUS_SESSION_BUS_ADDRESS",
            "GOPRIVATE",
        ];
        for name in handed_on {
            assert!(!secrets.holds(OsStr::new(name), OsStr::new("x")), "{name}");
        }
    }

    #[test]
    fn trial_25_a_value_that_looks_like_a_secret_is_kept_back_whatever_its_name_is() {
        let secrets = Secrets::new([], ["LOOSE".to_owned()]);
        let holds = |value: &str| secrets.holds(OsStr::new("PLAIN"), OsStr::new(value));
        let kept_back = [
            "https://user:pw@host/path",
            "postgres://app:pw@db:5432/app?ssl=1",
            "redis://:pw@cache",
            "https://ghtoken@github.com/a/b",
            "http://proxy http://user:pw@proxy:3128",
            "git+https://user:pw@host",
            "host=db password=hunter2",
            "jdbc:mysql://db/app?user=a&Password=b",
            "-----BEGIN OPENSSH PRIVATE KEY-----\nabc",
            "ghp_0123456789abcdefghij",
            "token=sk-ant-api00-0123456789abcdef",
        ];
        for value in kept_back {
            assert!(holds(value), "{value}");
        }
        let handed_on = [
            "https://host/path",
            "https://host/a@b",
            "https://host?to=a@b",
            "ssh://git@host/path",
            "git@host:path",
            "http://host:8080",
            "unix:path=/run/user/0/bus",
            "user@host",
            "npm_config",
            "hf_home_of_all_models",
            "/usr/bin:/bin",
            "",
        ];
        for value in handed_on {
            assert!(!holds(value), "{value}");
        }
        assert!(!secrets.holds(OsStr::new("LOOSE"), OsStr::new("https://user:pw@host")));
    }
}
