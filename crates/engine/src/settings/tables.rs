//! The tables of the settings file. A setting is one field: its doc comment is the text of `retake config`, its type
//! defines its values, and its default is in the `Default` of its table. Doc comments of settings are for users.

use std::collections::BTreeMap;
use std::path::PathBuf;

use retake_core::{Mode, Steer};
use retake_tools::Network;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::EndpointKind;
use super::chats::ChatTable;
use super::hooks::HookTable;
use super::memory::Memory;
use super::values::{self, Days, EffortWord, Millis, ModeWord, NetworkWord, Seconds, SteerWord, WholeNumber};

/// A week in seconds.
const WEEK_S: u64 = 7 * 24 * 3600;

/// All settings, as in the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Which model, and its instructions.
    pub model: ModelChoice,
    /// How long to wait for a provider.
    pub network: Waits,
    /// How often to call a provider again.
    pub retry: Retries,
    /// Model servers on this computer.
    pub local: Local,
    /// The built-in demo.
    pub demo: DemoModel,
    /// How long earlier versions of files are kept, and how much of them.
    pub files: Files,
    /// What the agent may do in every conversation, unless the conversation has its own permissions.
    pub permissions: Permissions,
    /// How the agent works.
    pub agent: Agent,
    /// MCP servers.
    pub mcp: Mcp,
    /// The process behind all terminals.
    pub owner: Owner,
    /// The full-screen program.
    #[serde(rename = "face")]
    pub client: Client,
    /// Where models are, by a name.
    pub endpoint: BTreeMap<String, EndpointTable>,
    /// Facts about models, by `provider/model`.
    pub models: BTreeMap<String, ModelFacts>,
    /// Programs that format edited files, by a name.
    pub formatter: BTreeMap<String, FormatterTable>,
    /// Language servers that check edited files, by a name.
    pub language_server: BTreeMap<String, LanguageServerTable>,
    /// Addresses and programs that get events, by a name.
    pub hook: BTreeMap<String, HookTable>,
    /// What people of chats may do, by the name of the account.
    pub chat: BTreeMap<String, ChatTable>,
}

/// The table `[model]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ModelChoice {
    /// The model to use: "provider/model", or "demo". Unset: the first provider with a key in the environment, then a
    /// server on this computer, then the built-in demo.
    pub default: Option<String>,
    /// How much a model reasons before it answers: "low", "medium", "high", or "default" (as the model does by itself). A
    /// model that is not known to take an effort is not sent one, and the run says so.
    pub(super) effort: EffortWord,
    /// Instructions above every conversation.
    pub system_prompt: Option<String>,
    /// The model of a provider when only its key is known.
    pub usual: UsualModels,
}

/// The table `[model.usual]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UsualModels {
    /// The model to use when only ANTHROPIC_API_KEY is known.
    pub anthropic: String,
    /// The model to use when only OPENAI_API_KEY is known.
    pub openai: String,
    /// The model to use when only GEMINI_API_KEY is known.
    pub gemini: String,
}

impl Default for UsualModels {
    fn default() -> Self {
        Self {
            anthropic: "claude-sonnet-5".to_owned(),
            openai: "gpt-5.6".to_owned(),
            gemini: "gemini-3.5-flash".to_owned(),
        }
    }
}

/// The table `[network]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Waits {
    /// Seconds to wait for a connection.
    pub connect_timeout_s: Seconds<1, WEEK_S>,
    /// Seconds from the request to the first byte of the answer. A local model may have to be loaded first.
    pub first_byte_timeout_s: Seconds<1, WEEK_S>,
    /// Seconds without any data after which an answer is given up. The whole answer may take longer.
    pub idle_timeout_s: Seconds<1, WEEK_S>,
}

impl Default for Waits {
    fn default() -> Self {
        Self {
            connect_timeout_s: Seconds::new(10),
            first_byte_timeout_s: Seconds::new(300),
            idle_timeout_s: Seconds::new(120),
        }
    }
}

/// The table `[retry]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Retries {
    /// The largest number of calls for one answer, if a failed call can be repeated.
    pub tries: WholeNumber<1, 100>,
    /// The approximate time before the second call. Each further wait is twice as long.
    pub first_wait_ms: Millis<1, 600_000>,
    /// The longest wait between two calls.
    pub longest_wait_s: Seconds<1, WEEK_S>,
    /// The longest wait that a provider may request. If it requests more, the error is shown instead.
    pub longest_retry_after_s: Seconds<0, WEEK_S>,
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            tries: WholeNumber(4),
            first_wait_ms: Millis::new(500),
            longest_wait_s: Seconds::new(30),
            longest_retry_after_s: Seconds::new(60),
        }
    }
}

/// The table `[local]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Local {
    /// Whether to look for a model server on this computer.
    pub find: bool,
    /// The time limit of this search.
    pub find_within_ms: Millis<1, 60_000>,
    /// The port of Ollama.
    pub ollama_port: WholeNumber<1, 65_535>,
    /// The port of llama.cpp's server.
    pub llamacpp_port: WholeNumber<1, 65_535>,
    /// The port of LM Studio.
    pub lmstudio_port: WholeNumber<1, 65_535>,
}

impl Default for Local {
    fn default() -> Self {
        Self {
            find: true,
            find_within_ms: Millis::new(300),
            ollama_port: WholeNumber(11_434),
            llamacpp_port: WholeNumber(8_080),
            lmstudio_port: WholeNumber(1_234),
        }
    }
}

/// The table `[demo]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DemoModel {
    /// The time between two words of the built-in demo.
    pub word_delay_ms: Millis<0, 10_000>,
}

impl Default for DemoModel {
    fn default() -> Self {
        Self { word_delay_ms: Millis::new(15) }
    }
}

/// The table `[files]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Files {
    /// Days that your own changes between the agent's commands are kept, for a choice of "yours". Changes by the agent's
    /// commands, checkpoints, and the files as they are now are kept longer.
    pub retention_days: Days<0, 36_500>,
    /// Megabytes that all kept versions of files may take. Beyond them the oldest of your own changes are removed first.
    /// Versions that a rewind may need are removed only by `retake workspace prune`, which lists them and asks.
    pub quota_mb: WholeNumber<1, { 1 << 40 }>,
}

impl Default for Files {
    fn default() -> Self {
        Self { retention_days: Days::new(30), quota_mb: WholeNumber(10_240) }
    }
}

/// The table `[permissions]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Permissions {
    /// What the agent may do without an approval: "ask" (read), "allow-edits" (also write files of the workspace),
    /// "allow-all" (everything that no rule denies), or "plan" (read, and nothing else).
    #[serde(with = "ModeWord")]
    #[schemars(with = "ModeWord", extend("live" = true))]
    pub mode: Mode,
    /// Never needs an approval: `["edit", "write(src/**)", "shell(git push)", "fetch(*.example.org)"]`. Paths are
    /// relative to the folder, or absolute. The answer "always" to an approval request adds to this list.
    #[serde(deserialize_with = "values::rules")]
    #[schemars(extend("live" = true))]
    pub allow: Vec<String>,
    /// Always needs an approval.
    #[serde(deserialize_with = "values::rules")]
    #[schemars(extend("live" = true))]
    pub ask: Vec<String>,
    /// Is always denied, whatever other settings allow.
    #[serde(deserialize_with = "values::rules")]
    #[schemars(extend("live" = true))]
    pub deny: Vec<String>,
    /// Whether commands can write only in the workspace and in temporary folders, where the system can enforce it.
    pub sandbox: bool,
    /// Which commands in the sandbox reach the network: "ask" (a call that requests it, and then counts as external),
    /// "on" (all, and all count as external), or "off" (none). true and false are read as on and off.
    #[serde(serialize_with = "NetworkWord::serialize", deserialize_with = "values::network")]
    #[schemars(with = "NetworkWord")]
    pub network: Network,
    /// Environment variables that commands and MCP servers get although they look like secrets: `["DATABASE_URL"]`.
    /// Withheld by default are: names that contain words such as key, token or password; values that look like a
    /// secret, such as an address with a password; and every key_env.
    #[serde(deserialize_with = "values::texts")]
    pub variables: Vec<String>,
    /// More files that hold secrets: `["~/vault", "/etc/keys", "*.secret", "ask *.conf"]`. The file tools do not read them,
    /// or need an approval ("ask"), unless a rule of permissions.allow names them: `"read(/home/me/vault/a)"`. The
    /// sandbox hides the paths from commands. Where it has namespaces, it also hides files of the workspace with such
    /// names that git does not track. Guarded by default: ~/.ssh, ~/.gnupg, ~/.aws, ~/.kube, ~/.netrc and similar ones,
    /// and key files such as id_rsa and `*.pem`; .env needs an approval. `"!~/.npmrc"` removes one, `"!default"` all of
    /// them.
    #[serde(deserialize_with = "values::guarded")]
    pub secrets: Vec<String>,
    /// Unix sockets, or folders of them, that commands with network and MCP servers may reach:
    /// `["/run/user/1000/keyring/ssh"]`. They reach no others. It needs namespaces, as `retake doctor` shows; without
    /// them no socket is reached.
    #[serde(deserialize_with = "values::folders")]
    pub sockets: Vec<PathBuf>,
    /// Megabytes of memory that the processes of a command may use together, with swap. It needs control groups, as
    /// `retake doctor` shows. 0 means three quarters of this machine's memory.
    pub memory_mb: WholeNumber<0, { 1 << 30 }>,
    /// Seconds that an approval request waits after the last terminal that could answer it has closed or was suspended.
    /// Then the call does not run, and the model gets that as its result.
    pub wait_s: Seconds<0, WEEK_S>,
}

impl Default for Permissions {
    fn default() -> Self {
        Self {
            mode: Mode::Ask,
            allow: Vec::new(),
            ask: Vec::new(),
            deny: Vec::new(),
            sandbox: true,
            network: Network::Ask,
            variables: Vec::new(),
            secrets: Vec::new(),
            sockets: Vec::new(),
            memory_mb: WholeNumber(0),
            wait_s: Seconds::new(600),
        }
    }
}

/// The table `[agent]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Agent {
    /// What happens to messages that you send while the model works. The words are "queue" (they wait until it is
    /// done), "join" (it reads them before its next step), and "interrupt" (they stop it).
    #[serde(with = "SteerWord")]
    #[schemars(with = "SteerWord")]
    pub steering: Steer,
    /// Further folders that the agent may work in: `["/home/me/notes"]`. A rewind includes them.
    #[serde(deserialize_with = "values::folders")]
    pub roots: Vec<PathBuf>,
    /// At which percentage of the model's context earlier messages are summarised. 0: never.
    pub compact_at: WholeNumber<0, 95>,
    /// How many subagents of one run may work at the same time. Further ones wait. 0: there are none.
    pub subagents: WholeNumber<0, 32>,
    /// What is remembered for later conversations.
    pub memory: Memory,
}

impl Default for Agent {
    fn default() -> Self {
        Self {
            steering: Steer::default(),
            roots: Vec::new(),
            compact_at: WholeNumber(80),
            subagents: WholeNumber(4),
            memory: Memory::default(),
        }
    }
}

/// The table `[mcp]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Mcp {
    /// Seconds that a turn waits for MCP servers that are starting. A slower one keeps starting, and a later turn has its
    /// tools.
    pub wait_s: Seconds<0, 600>,
}

impl Default for Mcp {
    fn default() -> Self {
        Self { wait_s: Seconds::new(10) }
    }
}

/// The table `[owner]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Owner {
    /// Seconds that the process behind all terminals stays when nothing needs it: no terminal, command, run, background
    /// job or delivery to a hook. With 0 it does not wait. `retake serve` stays until it is stopped.
    pub idle_s: Seconds<0, WEEK_S>,
}

impl Default for Owner {
    fn default() -> Self {
        Self { idle_s: Seconds::new(60) }
    }
}

/// The table `[face]`: what the full-screen program reads. Only that program knows what the values mean.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Client {
    /// The theme: "auto" (one that fits the terminal), "terminal" (its own sixteen colours), "dark", "light", "ember",
    /// "paper", or NAME for a file themes/NAME.toml beside this one: docs/themes.md. /theme shows and keeps one.
    theme: String,
    /// The background that colours are chosen for: "auto" (as the terminal reports it), "dark" or "light".
    background: Background,
    /// How many colours: "auto" (as many as the terminal shows), "none", "16" (the terminal's own) or "truecolor".
    colours: Colours,
    /// Whether Esc, pressed twice in an empty composer, opens the rewind.
    escape_rewinds: bool,
    /// A run that took at least this many seconds sends a notification at its end, if the terminal is not in focus.
    notify_after_s: Seconds<0, WEEK_S>,
    /// Whether the mouse scrolls and clicks. Without it, the terminal selects text as usual.
    mouse: bool,
    /// Other keys of commands, by their names.
    keys: BTreeMap<String, Keys>,
}

impl Default for Client {
    fn default() -> Self {
        Self {
            theme: "auto".to_owned(),
            background: Background::Auto,
            colours: Colours::Auto,
            escape_rewinds: true,
            notify_after_s: Seconds::new(20),
            mouse: true,
            keys: BTreeMap::new(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Background {
    Auto,
    Dark,
    Light,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Colours {
    Auto,
    None,
    #[serde(rename = "16")]
    Sixteen,
    Truecolor,
}

/// Other keys of a command, by its name. The help (`/help`) lists the names: `rewind = ["f5", "ctrl+r"]`. An empty
/// list, `[]`, removes the keys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
struct Keys(#[serde(deserialize_with = "values::texts")] Vec<String>);

/// A table `[endpoint.NAME]`: what it does not set, it has from the built-in endpoint of that name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EndpointTable {
    /// The address, such as `https://llm.example/v1`. Its models are called `NAME/model`.
    /// The names anthropic, openai, gemini, ollama, llamacpp and lmstudio change the built-in ones.
    #[serde(deserialize_with = "values::url")]
    pub(super) base_url: Option<String>,
    /// The format it speaks: openai (chat completions), openai-responses, anthropic, gemini or ollama. At OpenAI's own address, a
    /// model that calls tools only in openai-responses gets that format if none is set.
    #[schemars(with = "EndpointKind", extend("default" = "openai"))]
    pub(super) kind: Option<EndpointKind>,
    /// The environment variable with the key, if it needs one.
    #[serde(deserialize_with = "values::variable")]
    pub(super) key_env: Option<String>,
    /// Or the file with the key, alone on one line, readable by you only (chmod 600).
    pub(super) key_file: Option<PathBuf>,
}

/// A table `[formatter.NAME]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FormatterTable {
    /// The files that it formats after the agent has edited them: `["*.rs"]`. A pattern is about the end of the path.
    #[serde(deserialize_with = "values::file_names")]
    pub(super) files: Vec<String>,
    /// The program and its arguments: `["rustfmt", "--edition", "2024"]`. The paths of the files follow. It changes the
    /// files in place, runs in the sandbox, and may take 10 seconds.
    #[serde(deserialize_with = "values::texts")]
    pub(super) command: Vec<String>,
}

/// A table `[language_server.NAME]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LanguageServerTable {
    /// The files that it checks after the agent has edited them: `["*.rs"]`. A pattern is about the end of the path.
    #[serde(deserialize_with = "values::file_names")]
    pub(super) files: Vec<String>,
    /// The program and its arguments: `["pyright-langserver", "--stdio"]`. It starts at the first edit of such a file, runs
    /// in the sandbox, reads the workspace, and has no network. An edit waits 3 seconds for it at most.
    #[serde(deserialize_with = "values::texts")]
    pub(super) command: Vec<String>,
    /// What the protocol calls the language of the files, such as "rust". Unset: by the end of each name.
    pub(super) language: Option<String>,
    /// The server's own options at its start, as JSON: `'{"checkOnSave": false}'`.
    #[serde(deserialize_with = "values::json")]
    pub(super) options: Option<String>,
    /// Folders that it may write beside temporary ones, such as its cache: `["/home/me/.cache/go-build"]`.
    #[serde(deserialize_with = "values::folders")]
    pub(super) write: Vec<PathBuf>,
}

/// A table `[models."provider/model"]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ModelFacts {
    /// The size of the model's context. The table is named `[models."provider/model"]`. What is unset in it is as built in for
    /// well-known models, and unknown for others: `retake models` shows it.
    pub(super) context_tokens: Option<WholeNumber<1, { i64::MAX.unsigned_abs() }>>,
    /// The most tokens of an answer. Only Anthropic's format needs it.
    pub(super) output_tokens: Option<WholeNumber<1, { u32::MAX as u64 }>>,
    /// US dollars for a million tokens of the prompt.
    #[serde(deserialize_with = "values::price")]
    pub(super) input_price: Option<f64>,
    /// US dollars for a million tokens of the prompt that the provider reads from its cache.
    #[serde(deserialize_with = "values::price")]
    pub(super) cached_input_price: Option<f64>,
    /// US dollars for a million tokens of the answer.
    #[serde(deserialize_with = "values::price")]
    pub(super) output_price: Option<f64>,
    /// Whether the model takes pictures. To one that does not, a text is sent in the place of each.
    pub(super) images: Option<bool>,
    /// Its effort, instead of model.effort. It is sent whatever is known of the model; "default" sends none.
    #[schemars(with = "EffortWord")]
    pub(super) effort: Option<EffortWord>,
}
