//! Recognises environment variables with secrets, by their names and the form of their values, so that commands and MCP servers
//! get only the secrets meant for them (trial 25). Must never show a value.

mod tokens;

use std::collections::BTreeSet;
use std::ffi::OsStr;

use tokens::is_token;

/// A variable with one of these words in its name contains a secret: words are separated by signs, and numbers at their end are
/// ignored.
const WORDS: [&str; 16] = [
    "AUTHORIZATION",
    "BEARER",
    "DSN",
    "JWT",
    "KRB5CCNAME",
    "MNEMONIC",
    "NETRC",
    "NPMRC",
    "OTP",
    "PASSCODE",
    "PASSWRD",
    "PAT",
    "PIN",
    "SAS",
    "TOTP",
    "UNSEAL",
];

/// The same anywhere in the name, ignoring signs: `PGPASSWORD`, `SEED_PHRASE`.
const PARTS: [&str; 14] = [
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "SECRET",
    "APIKEY",
    "ACCESSKEY",
    "ACCOUNTKEY",
    "AUTHKEY",
    "MASTERKEY",
    "PRIVATEKEY",
    "CREDENTIAL",
    "WEBHOOK",
    "SEEDPHRASE",
    "RECOVERYCODE",
];

/// The same at the end of a word: `SSHPASS`, `LDAP_BINDPW`, `SIGNINGKEY`.
const WORD_ENDS: [&str; 10] =
    ["PASS", "PW", "TOKEN", "TOKENS", "KEY", "KEYS", "AUTH", "COOKIE", "COOKIES", "CREDS"];

/// Words among these that name a program for passwords, or something else.
const HARMLESS_WORDS: [&str; 12] = [
    "ASKPASS",
    "BYPASS",
    "COMPASS",
    "DONKEY",
    "ENCOMPASS",
    "HOTKEY",
    "HOTKEYS",
    "MONKEY",
    "SURPASS",
    "TRESPASS",
    "TURKEY",
    "WHISKEY",
];

/// The same at the end of the name: addresses with a password, sockets of a key agent, and names without `_`.
const ENDS: [&str; 6] =
    ["DATABASE_URL", "CONNECTION_STRING", "MONGODB_URI", "REDIS_URL", "GPG_AGENT_INFO", "BW_SESSION"];

/// The same at the beginning of the name: AWS, and sessions of 1Password.
const BEGINS: [&str; 2] = ["AWS_", "OP_SESSION_"];

/// Names among these that contain places or options, and no secret.
const HARMLESS: [&str; 4] = ["AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PAGER", "AWS_DEFAULT_OUTPUT"];

/// The shortest secret in a pair within a value, such as `AccountKey=…`.
const SHORTEST_NAMED: usize = 8;

/// The variables that commands and MCP servers do not get.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Secrets {
    named: BTreeSet<String>,
    let_in: BTreeSet<String>,
}

impl Secrets {
    /// Variables that look like secrets, and the named ones; except those that are let in.
    pub fn new(named: impl IntoIterator<Item = String>, let_in: impl IntoIterator<Item = String>) -> Self {
        Self { named: named.into_iter().collect(), let_in: let_in.into_iter().collect() }
    }

    /// Whether a variable is withheld.
    pub fn holds(&self, name: &OsStr, value: &OsStr) -> bool {
        let name = name.to_string_lossy();
        if self.let_in.contains(&*name) {
            return false;
        }
        let upper = name.to_uppercase();
        let is_harmless = HARMLESS.contains(&&*upper);
        let value = value.to_string_lossy();
        // A folder is no password, and an address for sending must be secret.
        let ends = |end: &str| words(&upper).any(|word| word.ends_with(end));
        let is_folder = value.starts_with('/') || matches!(&*upper, "PWD" | "OLDPWD");
        let is_by_both = ends("PWD") && !is_folder || ends("HOOK") && value.starts_with("https:");
        self.named.contains(&*name)
            || names_secret(&upper)
            || ENDS.iter().any(|end| upper.ends_with(end))
            || !is_harmless && BEGINS.iter().any(|begin| upper.starts_with(begin))
            || is_by_both
            || looks_secret(&value)
    }
}

/// The words of a name, without numbers at their ends.
fn words(name: &str) -> impl Iterator<Item = &str> {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    words.map(|word| word.trim_end_matches(|c: char| c.is_ascii_digit()))
}

/// Whether a name in capitals suggests a secret.
fn names_secret(upper: &str) -> bool {
    let is_secret = |word: &str| {
        WORDS.contains(&word)
            || WORD_ENDS.iter().any(|end| word.ends_with(end)) && !HARMLESS_WORDS.contains(&word)
    };
    has_part(upper) || words(upper).any(is_secret)
}

fn has_part(upper: &str) -> bool {
    let joined: String = upper.chars().filter(char::is_ascii_alphanumeric).collect();
    PARTS.iter().any(|part| joined.contains(part))
}

/// Whether a value looks like a secret: an address with a password, a key, a token of a well-known service, or a secret's name
/// with its value.
fn looks_secret(value: &str) -> bool {
    let lower = value.to_lowercase();
    let is_word = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    ["password=", "hooks.slack.com/", "://discord.com/api/webhooks", "@tcp(", "@unix("]
        .iter()
        .any(|part| lower.contains(part))
        || ["PRIVATE KEY-----", "PRIVATE KEY BLOCK-----", "LS0tLS1CRUdJTi"]
            .iter()
            .any(|part| value.contains(part))
        || value.match_indices("://").any(|(at, _)| has_password(&value[..at], &value[at + 3..]))
        || value
            .split(|c| !is_word(c))
            .any(|word| is_token(word) || word.split('.').any(is_token) || is_jwt(word))
        || ["bearer ", "authorization:"]
            .iter()
            .filter_map(|begin| lower.split_once(begin))
            .any(|(_, token)| token.len() >= SHORTEST_NAMED)
        || value.split(divides).any(is_named_secret)
        || tells_secret(value)
}

/// Whether it separates the words of a value.
fn divides(c: char) -> bool {
    c.is_whitespace() || ";&?,\"'{}".contains(c)
}

/// Whether a secret follows its name: `password: …`, also quoted, or `--password …`. The word key may also mean one of a map or
/// of the keyboard.
fn tells_secret(value: &str) -> bool {
    let pieces: Vec<&str> = value.split(divides).filter(|piece| !piece.is_empty()).collect();
    pieces.windows(2).enumerate().any(|(at, pair)| {
        let (name, value) = match pair {
            [name, ":"] => (*name, pieces.get(at + 2).copied().unwrap_or_default()),
            [name, value] if name.ends_with(':') => (name.trim_end_matches(':'), *value),
            [name, value] if name.starts_with("--") => (*name, *value),
            _ => return false,
        };
        let upper = name.to_uppercase();
        let is_key = words(&upper).any(|word| word.ends_with("KEY") || word.ends_with("KEYS"));
        let is_value = value.len() >= SHORTEST_NAMED && !value.starts_with(['$', '/', '-']);
        is_value && (has_part(&upper) || names_secret(&upper) && !is_key)
    })
}

/// Whether it is a secret's name with its value: `AccountKey=…`, `sig=…`, `:_authToken=…`.
fn is_named_secret(pair: &str) -> bool {
    let Some((name, value)) = pair.split_once('=') else { return false };
    let name = name.rsplit([':', '/']).next().unwrap_or(name).to_uppercase();
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    let is_value = value.len() >= SHORTEST_NAMED && !value.starts_with(['$', '/']);
    // GNU make's channel to its own processes.
    let is_make = name == "--JOBSERVER-AUTH";
    is_name && is_value && !is_make && (names_secret(&name) || ["SIG", "PWD"].contains(&&*name))
}

/// Whether it is a signed token: three parts, the first two JSON.
fn is_jwt(word: &str) -> bool {
    let parts: Vec<&str> = word.split('.').collect();
    matches!(parts[..], [head, body, _] if head.starts_with("eyJ") && body.starts_with("eyJ"))
}

/// Whether an address contains a user with a password, or a token in their place: `https://user:password@host`.
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

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::Secrets;

    #[test]
    fn trial_25_variables_that_look_like_secrets_or_are_listed_are_withheld() {
        let secrets = Secrets::new(["CORP_LLM".to_owned()], []);
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
            "SSHPASS",
            "DBPASS",
            "DB_PW",
            "DB_PWD",
            "LDAP_BINDPW",
            "TEAMS_WEBHOOKS",
            "NPMRC",
            "AZURE_STORAGE_SAS",
            "ACCOUNTKEY",
            "AWSCREDENTIALS",
            "SSHPASSPHRASE",
            "KRB5CCNAME",
            "WALLET_MNEMONIC",
            "OPENAI_API_KEY2",
            "GH_TOKEN1",
            "DB_PASS2",
            "SSHPASS2",
            "DBPWD2",
            "SIGNINGKEY",
            "sshKey",
            "SESSIONCOOKIE",
            "BASICAUTH",
            "GITHUB_OAUTH",
            "api.key",
            "SEED_PHRASE",
            "RECOVERY_CODES",
            "VAULT_UNSEAL",
            "PASS_WORD",
        ];
        for name in kept_back {
            assert!(secrets.holds(OsStr::new(name), OsStr::new("x")), "{name}");
        }
    }

    #[test]
    fn trial_25_harmless_and_allowed_variables_are_passed_on() {
        let secrets = Secrets::new(["CORP_LLM".to_owned()], ["NPM_TOKEN".to_owned(), "LOOSE".to_owned()]);
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
    fn trial_25_a_value_that_looks_like_a_secret_is_withheld_under_every_name() {
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
            "Bearer abcdefgh1234",
            "Authorization: bearer abcdefgh1234",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
            "x=eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.",
            "AGE-SECRET-KEY-1QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KH",
            "https://a.blob.core.windows.net/c?sv=2024&sp=r&sig=abcdefgh%2B1234%3D",
            "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=abcdefgh12==",
            "Server=db;User Id=sa;Pwd=hunter2hunter2",
            "https://hooks.slack.com/services/T0/B0/xyz",
            "https://discord.com/api/webhooks/1/xyz",
            "//registry.npmjs.org/:_authToken=abcdefgh1234",
            "https://host/feed?access_token=abcdefgh1234",
            "app:pw@tcp(db:3306)/app",
            "-----BEGIN PGP PRIVATE KEY BLOCK-----",
            "LS0tLS1CRUdJTiBPUEVOU1NI",
            "SG.abcdefgh1234567890.abcdefgh",
            "AKIAIOSFODNN7EXAMPLE",
            "AKIAIOSFODNNQEXAMPLE",
            "hf_AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGh",
            "x ghp_abcdefGHIJKLMNOPqrstuvwxyzABCDEFGHIJ y",
            "123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1",
            "nfp_AbCdEfGhIjKlMnOp",
            "password: hunter22",
            r#"{"password": "hunter22"}"#,
            r#"{"a":1,"access_token":"abcdefgh1234"}"#,
            "Authorization: Basic dXNlcjpwYXNz",
            "psql --password hunter22",
            "--api-key abcdefgh",
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
            "hf_Home_Of_All_Models_There_Are",
            "ASIA PACIFIC REGION OF ALL",
            "press any key: something happens",
            "sort --sort-key created_at --token",
            "pass: all",
            r#"{"key": "a value of a map"}"#,
            "--password-file /run/secrets/password",
            "/usr/bin:/bin",
            "",
        ];
        for value in handed_on {
            assert!(!holds(value), "{value}");
        }
        assert!(!secrets.holds(OsStr::new("LOOSE"), OsStr::new("https://user:pw@host")));
        assert!(secrets.holds(OsStr::new("SLACK_HOOK"), OsStr::new("https://host/a")));
    }

    #[test]
    fn trial_25_usual_variables_are_passed_on() {
        let secrets = Secrets::default();
        for (name, value) in [
            ("PWD", "/home/me"),
            ("OLDPWD", "/home/me"),
            ("PROJECT_PWD", "/home/me"),
            ("INIT_CWD", "/home/me"),
            ("PRE_COMMIT_HOOK", "lint"),
            ("SSH_ASKPASS", "/usr/bin/ksshaskpass"),
            ("GIT_ASKPASS", "/usr/share/askpass.sh"),
            ("COMPASS", "1"),
            ("CACHE_BYPASS", "1"),
            ("MONKEY_PATCH", "1"),
            ("HOTKEY", "x"),
            ("TOGGLE_HOTKEYS", "x"),
            ("OS_NAME", "Turkey"),
            ("SHA256", "x"),
            ("RANDOM_SEED", "4711"),
            ("GIT_AUTHOR_NAME", "Ada"),
            ("LS_COLORS", "rs=0:di=01;34:*.key=00;90:*.pem=00;90:*.tar=01;31"),
            ("GREP_COLORS", "ms=01;31:mc=01;31"),
            ("LESSOPEN", "| /usr/bin/lesspipe %s"),
            ("PS1", "\\u@\\h:\\w\\$ "),
            ("SSH_CONNECTION", "10.0.0.1 5000 10.0.0.2 22"),
            ("TMUX", "/tmp/tmux-1000/default,1234,0"),
            ("DISPLAY", ":0"),
            (
                "DBUS_SESSION_BUS_ADDRESS",
                "unix:path=/run/user/1000/bus,guid=0123456789abcdef0123456789abcdef",
            ),
            ("NODE_OPTIONS", "--max-old-space-size=4096"),
            ("JAVA_TOOL_OPTIONS", "-Dfile.encoding=UTF8 -Xmx4g"),
            ("RUSTFLAGS", "-C target-cpu=native --cfg=tokio_unstable"),
            ("PYTHONHASHSEED", "0"),
            ("GOFLAGS", "-mod=mod"),
            ("MAKEFLAGS", "-j8 --jobserver-auth=fifo:/tmp/GMfifo1"),
            ("KUBECONFIG", "/home/me/.kube/config"),
            ("DOCKER_HOST", "unix:///var/run/docker.sock"),
            ("HTTPS_PROXY", "http://proxy:3128"),
            ("PGHOST", "db"),
            ("PGUSER", "app"),
            ("GITHUB_SHA", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
            ("npm_config_user_agent", "npm/10.2.4 node/v20.11.0 linux x64"),
            ("npm_lifecycle_script", "node ./x.js --sort-key=name"),
            ("IMAGE", "alpine:3.19@sha256:abc"),
            ("FZF_DEFAULT_OPTS", "--height=40% --bind=ctrl-a:select-all"),
            ("BASH_FUNC_which%%", "() { ( alias; eval ${which_declare} ) | /usr/bin/which $@; }"),
            ("WSLENV", "A/p:B/l"),
            ("MANPATH", "/usr/share/man:"),
            ("SKETCH", "sk-learn"),
        ] {
            assert!(!secrets.holds(OsStr::new(name), OsStr::new(value)), "{name}={value}");
        }
    }
}
