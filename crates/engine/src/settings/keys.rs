//! The table of settings: name, kind of value, default and explanation of each.
//!
//! Nothing else in the workspace lists them: those of the face are here too, so that one file has one table. What they mean only the
//! face knows.

use super::SettingsError;

/// A setting. In its path `*` stands for a name that the user chooses.
pub(super) struct Key {
    pub(super) path: &'static str,
    pub(super) takes: Takes,
    pub(super) default: Value<&'static str>,
    pub(super) about: &'static str,
    pub(super) read_by: ReadBy,
}

/// Who reads a setting, and when: what a change needs to be in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadBy {
    /// The owner, when it starts: a running one keeps the value that it began with.
    StartingOwner,
    /// The owner, before each decision: a running one uses the new value at once (`agent/standing.rs`).
    RunningOwner,
    /// Each face that starts, and no owner.
    Face,
}

/// What a setting takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Takes {
    Text,
    Flag,
    /// A whole number from, to.
    Whole(u64, u64),
    /// A number that is not negative.
    Number,
    /// An http or https address without credentials.
    Url,
    /// The name of an environment variable.
    Variable,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A list of rules of what may run, without their first word.
    Rules,
    /// A list of folders, absolute.
    Folders,
    /// A list of texts.
    Texts,
    /// A list of files that are guarded.
    Guarded,
}

/// A value, or none.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value<T> {
    None,
    Text(T),
    Flag(bool),
    Whole(u64),
    Number(f64),
    List(Vec<T>),
}

impl Value<String> {
    /// The value in JSON.
    pub(super) fn as_json(&self) -> serde_json::Value {
        match self {
            Self::None => serde_json::Value::Null,
            Self::Text(text) => text.as_str().into(),
            Self::Flag(flag) => (*flag).into(),
            Self::Whole(number) => (*number).into(),
            Self::Number(number) => (*number).into(),
            Self::List(texts) => texts.as_slice().into(),
        }
    }
}

impl Key {
    /// Whether this is the setting at `path`.
    pub(super) fn is(&self, path: &[String]) -> bool {
        self.path.split('.').count() == path.len() && self.begins_with(path)
    }

    /// Whether this setting is in the table at `path`.
    pub(super) fn is_in(&self, path: &[String]) -> bool {
        self.path.split('.').count() > path.len() && self.begins_with(path)
    }

    fn begins_with(&self, path: &[String]) -> bool {
        self.path.split('.').zip(path).all(|(own, given)| own == "*" || own == given)
    }
}

/// The setting at `path`.
pub(super) fn find(path: &[String]) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.is(path))
}

/// That there is no setting at `path`: what is written most like it, and what its table has.
pub(super) fn unknown(path: &[String], line: Option<usize>) -> SettingsError {
    let own: Vec<String> = KEYS.iter().filter(|key| key.is_in(path)).map(|key| written(key, path)).collect();
    if !own.is_empty() {
        return SettingsError::Section { key: path.join("."), settings: own };
    }
    let table = in_table(path);
    let nearest = if table.is_empty() { nearest(path) } else { nearest_in(path, &table) };
    let table = table.into_iter().map(str::to_owned).collect();
    SettingsError::Unknown { key: path.join("."), line, nearest, table }
}

/// A setting in the table at `path`, with `NAME` where the user chooses a name.
fn written(key: &Key, path: &[String]) -> String {
    let names = key.path.split('.').enumerate().map(|(at, own)| match path.get(at) {
        Some(given) => given.as_str(),
        None if own == "*" => "NAME",
        None => own,
    });
    names.collect::<Vec<_>>().join(".")
}

/// What the table has in which `path` would be, in the order of the documented file.
fn in_table(path: &[String]) -> Vec<&'static str> {
    let Some((_, table)) = path.split_last().filter(|(_, table)| !table.is_empty()) else {
        return Vec::new();
    };
    let known = KEYS.iter().filter(|key| key.is_in(table));
    let mut names: Vec<_> = known.filter_map(|key| key.path.split('.').nth(table.len())).collect();
    names.dedup();
    names.retain(|name| *name != "*");
    names
}

/// The name in the same table that is written most alike.
fn nearest_in(path: &[String], table: &[&str]) -> Option<String> {
    let (name, within) = path.split_last()?;
    let best = most_alike(name, table.iter().map(|name| ((*name).to_owned(), *name)))?;
    Some(format!("{}.{best}", within.join(".")))
}

/// The table or setting that is meant by a path whose table is not known, names of the user's left as they are.
fn nearest(path: &[String]) -> Option<String> {
    if let [name] = path {
        let tables = KEYS.iter().filter_map(|key| key.path.split('.').next());
        let settings = KEYS.iter().map(|key| key.path).filter(|path| !path.contains('*'));
        let last = |path: &str| path.rsplit('.').next().unwrap_or_default().to_owned();
        return most_alike(name, tables.map(|table| (table.to_owned(), table.to_owned())))
            .or_else(|| most_alike(name, settings.map(|path| (last(path), path.to_owned()))));
    }
    let same_depth = KEYS.iter().filter(|key| key.path.split('.').count() == path.len());
    let candidates = same_depth.map(|key| {
        let own = key.path.split('.').zip(path).map(|(own, given)| if own == "*" { given } else { own });
        own.collect::<Vec<_>>().join(".")
    });
    most_alike(&path.join("."), candidates.map(|candidate| (candidate.clone(), candidate)))
}

/// What stands beside the name that is written most alike.
fn most_alike<T>(written: &str, candidates: impl Iterator<Item = (String, T)>) -> Option<T> {
    let scored = candidates.map(|(name, meant)| (strsim::jaro_winkler(written, &name), meant));
    let best = scored.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    (best.0 > 0.8).then_some(best.1)
}

/// A setting that an owner reads when it starts.
const fn key(path: &'static str, takes: Takes, default: Value<&'static str>, about: &'static str) -> Key {
    Key { path, takes, default, about, read_by: ReadBy::StartingOwner }
}

/// A setting that an owner reads as long as it runs.
const fn live(path: &'static str, takes: Takes, default: Value<&'static str>, about: &'static str) -> Key {
    Key { path, takes, default, about, read_by: ReadBy::RunningOwner }
}

/// A setting of the face.
const fn face(path: &'static str, takes: Takes, default: Value<&'static str>, about: &'static str) -> Key {
    Key { path, takes, default, about, read_by: ReadBy::Face }
}

const WEEK_S: u64 = 7 * 24 * 3600;

/// Every setting, in the order of the documented file.
pub(super) static KEYS: &[Key] = &[
    key(
        "model.default",
        Takes::Text,
        Value::None,
        "The model to use: \"provider/model\", or \"demo\". Unset: the first of a key in the environment,\na server on this computer, and the built-in demo.",
    ),
    key("model.system_prompt", Takes::Text, Value::None, "Instructions above every conversation."),
    key(
        "model.usual.anthropic",
        Takes::Text,
        Value::Text("claude-sonnet-5"),
        "The model to use when nothing but ANTHROPIC_API_KEY is known.",
    ),
    key(
        "model.usual.openai",
        Takes::Text,
        Value::Text("gpt-5.6"),
        "The model to use when nothing but OPENAI_API_KEY is known.",
    ),
    key(
        "model.usual.gemini",
        Takes::Text,
        Value::Text("gemini-3.5-flash"),
        "The model to use when nothing but GEMINI_API_KEY is known.",
    ),
    key(
        "network.connect_timeout_s",
        Takes::Whole(1, WEEK_S),
        Value::Whole(10),
        "Seconds to wait for a connection.",
    ),
    key(
        "network.first_byte_timeout_s",
        Takes::Whole(1, WEEK_S),
        Value::Whole(300),
        "Seconds from the request to the first byte of the answer. A local model may have to be loaded first.",
    ),
    key(
        "network.idle_timeout_s",
        Takes::Whole(1, WEEK_S),
        Value::Whole(120),
        "Seconds without a byte after which an answer counts as dead. A slow one may take as long as it likes.",
    ),
    key(
        "retry.tries",
        Takes::Whole(1, 100),
        Value::Whole(4),
        "How often to ask altogether, when asking again may help.",
    ),
    key(
        "retry.first_wait_ms",
        Takes::Whole(1, 600_000),
        Value::Whole(500),
        "About the first wait; each next is twice as long.",
    ),
    key(
        "retry.longest_wait_s",
        Takes::Whole(1, WEEK_S),
        Value::Whole(30),
        "The longest wait between two tries.",
    ),
    key(
        "retry.longest_retry_after_s",
        Takes::Whole(0, WEEK_S),
        Value::Whole(60),
        "The longest wait that a provider may ask for. If it asks for more, the error is shown instead.",
    ),
    key("local.find", Takes::Flag, Value::Flag(true), "Whether to look for a model server on this computer."),
    key("local.find_within_ms", Takes::Whole(1, 60_000), Value::Whole(300), "How long looking may take."),
    key("local.ollama_port", Takes::Whole(1, 65_535), Value::Whole(11_434), "Where Ollama listens."),
    key(
        "local.llamacpp_port",
        Takes::Whole(1, 65_535),
        Value::Whole(8_080),
        "Where llama.cpp's server listens.",
    ),
    key("local.lmstudio_port", Takes::Whole(1, 65_535), Value::Whole(1_234), "Where LM Studio listens."),
    key(
        "demo.word_delay_ms",
        Takes::Whole(0, 10_000),
        Value::Whole(15),
        "The time between two words of the built-in demo.",
    ),
    key(
        "files.retention_days",
        Takes::Whole(0, 36_500),
        Value::Whole(30),
        "Days that what you changed yourself between the agent's commands is kept, for a choice of \"yours\". What the agent's\ncommands changed, checkpoints, and files as they are now are kept longer.",
    ),
    key(
        "files.quota_mb",
        Takes::Whole(1, 1 << 40),
        Value::Whole(10_240),
        "Megabytes that all kept versions of files may take. Beyond them the oldest of your own changes go first. What going\nback may need goes only by `retake workspace prune`, which says what that is and asks.",
    ),
    live(
        "permissions.mode",
        Takes::Word(&["ask", "allow-edits", "allow-all", "plan"]),
        Value::Text("ask"),
        "What the agent may do unasked: \"ask\" (read), \"allow-edits\" (also write files of the workspace), \"allow-all\" (what no\nrule denies), or \"plan\" (read, and nothing else).",
    ),
    live(
        "permissions.allow",
        Takes::Rules,
        Value::List(Vec::new()),
        "What is never asked about: [\"edit\", \"write(src/**)\", \"shell(git push)\", \"fetch(*.example.org)\"]. Paths are relative to the\nfolder, or absolute. An answer \"always\" to a question adds to this list.",
    ),
    live("permissions.ask", Takes::Rules, Value::List(Vec::new()), "What is always asked about."),
    live(
        "permissions.deny",
        Takes::Rules,
        Value::List(Vec::new()),
        "What is never done, whatever else is said.",
    ),
    key(
        "permissions.sandbox",
        Takes::Flag,
        Value::Flag(true),
        "Whether commands can write only in the workspace and in temporary folders, where the system can hold them to that.",
    ),
    key(
        "permissions.network",
        Takes::Word(&["ask", "on", "off"]),
        Value::Text("ask"),
        "Which commands in the sandbox reach the network: \"ask\" (those whose call asks for it, which then counts as reaching\noutside), \"on\" (all, which then all count so), or \"off\" (none). true and false are read as on and off.",
    ),
    key(
        "permissions.variables",
        Takes::Texts,
        Value::List(Vec::new()),
        "Environment variables that commands and MCP servers get although they seem to hold secrets: [\"DATABASE_URL\"]. Else those\nwhose names speak of keys, tokens, passwords and the like are kept back, those whose values look like them (an address with a\npassword), and every key_env.",
    ),
    key(
        "permissions.secrets",
        Takes::Guarded,
        Value::List(Vec::new()),
        "Further files that hold secrets: [\"~/vault\", \"/etc/keys\", \"*.secret\", \"ask *.conf\"]. The file tools do not read them, or ask\n(\"ask\"), unless a rule of permissions.allow names them: \"read(/home/me/vault/a)\". The sandbox hides the paths from commands,\nand, where it has namespaces, files of the workspace with such names that git does not track. Guarded by default: ~/.ssh, ~/.gnupg,\n~/.aws, ~/.kube, ~/.netrc and the like, key files such as id_rsa and *.pem; .env is asked about. \"!~/.npmrc\" takes one out,\n\"!default\" all of them.",
    ),
    key(
        "permissions.sockets",
        Takes::Folders,
        Value::List(Vec::new()),
        "Unix sockets that commands with network and MCP servers may reach, or folders of them: [\"/run/user/1000/keyring/ssh\"]. All\nothers are out of their reach. It needs namespaces, as `retake doctor` says; without them none is reached.",
    ),
    key(
        "permissions.memory_mb",
        Takes::Whole(0, 1 << 30),
        Value::Whole(0),
        "Megabytes of memory that the processes of a command may use together, swap included, where the system has control groups for\nthat, as `retake doctor` says. 0 is three quarters of this machine's memory.",
    ),
    key(
        "permissions.wait_s",
        Takes::Whole(0, WEEK_S),
        Value::Whole(600),
        "Seconds that an approval request waits after the last terminal in which it could be answered has left, or was suspended.\nThen the call does not run, and the model is told so.",
    ),
    key(
        "agent.steering",
        Takes::Word(&["queue", "join", "interrupt"]),
        Value::Text("queue"),
        "What becomes of words that you say while the model works: \"queue\" (they wait until it is done), \"join\" (it reads them\nbefore its next step), or \"interrupt\" (they stop it).",
    ),
    key(
        "agent.roots",
        Takes::Folders,
        Value::List(Vec::new()),
        "Folders that the agent may work in besides the conversation's own: [\"/home/me/notes\"]. They go back with it.",
    ),
    key(
        "mcp.wait_s",
        Takes::Whole(0, 600),
        Value::Whole(10),
        "Seconds that a turn waits for MCP servers that are starting. One that takes longer goes on, and a later turn has its\ntools.",
    ),
    key(
        "owner.idle_s",
        Takes::Whole(0, WEEK_S),
        Value::Whole(60),
        "Seconds that the process behind all terminals stays with nothing to do: without terminals and commands, runs and\nbackground jobs. With 0 it ends with the last of them. `retake serve` stays until it is told to stop.",
    ),
    face(
        "face.theme",
        Takes::Text,
        Value::Text("auto"),
        "The theme: \"auto\" (the one that fits the terminal), \"terminal\" (its own sixteen colours), \"dark\", \"light\", \"ember\",\n\"paper\", or NAME for a file themes/NAME.toml beside this one: docs/themes.md. /theme shows and keeps one.",
    ),
    face(
        "face.background",
        Takes::Word(&["auto", "dark", "light"]),
        Value::Text("auto"),
        "The background that colours are chosen for: \"auto\" (what the terminal says that it has), \"dark\" or \"light\".",
    ),
    face(
        "face.colours",
        Takes::Word(&["auto", "none", "16", "truecolor"]),
        Value::Text("auto"),
        "How many colours: \"auto\" (what the terminal shows), \"none\", \"16\" (the terminal's own) or \"truecolor\".",
    ),
    face(
        "face.escape_rewinds",
        Takes::Flag,
        Value::Flag(true),
        "Whether Esc, pressed twice in an empty composer, opens the rewind.",
    ),
    face(
        "face.notify_after_s",
        Takes::Whole(0, WEEK_S),
        Value::Whole(20),
        "A run that took so many seconds tells when it ends, if you look elsewhere.",
    ),
    face(
        "face.mouse",
        Takes::Flag,
        Value::Flag(true),
        "Whether the mouse scrolls and clicks. Without it the terminal selects text as ever.",
    ),
    face(
        "face.keys.*",
        Takes::Texts,
        Value::None,
        "Other keys of a command, by its name: the help (`/help`) shows the names of what you filter: rewind = [\"f5\", \"ctrl+r\"]. No keys, [], switch them off.",
    ),
    key(
        "endpoint.*.base_url",
        Takes::Url,
        Value::None,
        "The address, such as \"https://llm.example/v1\". Its models are called \"NAME/model\".\nThe names anthropic, openai, gemini, ollama, llamacpp and lmstudio change the built-in ones.",
    ),
    key(
        "endpoint.*.kind",
        Takes::Word(&["openai", "anthropic", "gemini", "ollama"]),
        Value::Text("openai"),
        "The format it speaks: openai, anthropic, gemini or ollama.",
    ),
    key(
        "endpoint.*.key_env",
        Takes::Variable,
        Value::None,
        "The environment variable with the key, if it needs one.",
    ),
    key(
        "endpoint.*.key_file",
        Takes::Text,
        Value::None,
        "Or the file with the key, alone on one line, readable by you only (chmod 600).",
    ),
    key(
        "models.*.context_tokens",
        Takes::Whole(1, u64::MAX),
        Value::None,
        "The size of the model's context. Unset: unknown. The table is named [models.\"provider/model\"].",
    ),
    key("models.*.input_price", Takes::Number, Value::None, "US dollars for a million tokens of the prompt."),
    key(
        "models.*.cached_input_price",
        Takes::Number,
        Value::None,
        "US dollars for a million tokens of the prompt that the provider reads from its cache.",
    ),
    key(
        "models.*.output_price",
        Takes::Number,
        Value::None,
        "US dollars for a million tokens of the answer.",
    ),
];
