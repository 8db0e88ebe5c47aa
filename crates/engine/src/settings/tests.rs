//! Tests of the settings file: valid content, and the errors for invalid content.

use retake_core::{Mode, Steer, Usage};
use retake_tools::Network;

use super::*;
use crate::model::{Effort, ModelInfo};

fn refused(text: &str) -> String {
    let error = Settings::parse(text).expect_err("refused");
    error.to_string()
}

#[test]
fn the_documented_defaults_change_nothing_and_each_of_them_can_be_uncommented() {
    let text = documented_defaults();
    assert_eq!(Settings::parse(&text).expect("valid"), Settings::default());
    for key in keys::KEYS.iter() {
        let name = key.path.last().expect("a name").replace('*', "NAME");
        assert!(text.contains(&format!("\n# {name} =")), "{name}");
        assert!(key.schema["description"].is_string(), "{name}");
    }
    let lines = text.lines().filter(|line| !line.starts_with("##"));
    let uncommented = lines.filter_map(|line| line.strip_prefix("# ")).filter(|line| !line.ends_with('='));
    let mut uncommented: String = uncommented.skip(1).map(|line| format!("{line}\n")).collect();
    uncommented = uncommented.replace("[endpoint.NAME]", "[endpoint.NAME]\nbase_url = \"http://h/v1\"");
    let mut settings = Settings::parse(&uncommented).unwrap_or_else(|error| panic!("{error}\n{uncommented}"));
    settings.endpoint.remove("NAME").expect("the example");
    settings.models.remove("provider/model").expect("the example");
    settings.formatter.remove("NAME").expect("the example");
    settings.language_server.remove("NAME").expect("the example");
    settings.hook.remove("NAME").expect("the example");
    settings.chat.remove("NAME").expect("the example");
    assert_eq!(settings, Settings::default());
}

/// A running owner reads the permissions and the chats of the file, and nothing else of it (`agent/settings_file.rs`): the schema says just that.
#[test]
fn trial_17_the_schema_marks_the_settings_that_a_running_owner_reads() {
    let usual = Settings::default();
    let mut live = Vec::new();
    for key in keys::KEYS.iter() {
        let path = key.path.join(".").replace('*', "openai");
        assert_eq!(read_by(&path), Some(key.read_by()), "{path}");
        assert_eq!(key.read_by() == ReadBy::Client, path.starts_with("face."), "{path}");
        let others = ["false", "7", "9000", "https://llm.example/v1", "edit", "/home/ada", "OTHER", "said"];
        let others = others.into_iter().chain(key.words());
        let changed = others.filter_map(|other| Settings::parse(&set("", &path, other).ok()?).ok());
        let changed: Vec<_> = changed.filter(|settings| *settings != usual).collect();
        assert!(!changed.is_empty(), "{path}");
        if changed
            .iter()
            .any(|settings| settings.permission() != usual.permission() || settings.chat != usual.chat)
        {
            live.push(path);
        }
    }
    let of_permissions = ["mode", "allow", "ask", "deny"].map(|name| format!("permissions.{name}"));
    let of_chats = ["policy", "list", "edits", "edit_wait_s", "recalls", "previews", "folder"]
        .map(|name| format!("chat.openai.{name}"));
    assert_eq!(live, [of_permissions.as_slice(), of_chats.as_slice()].concat());
    let said = keys::KEYS.iter().filter(|key| key.read_by() == ReadBy::RunningOwner);
    let said = said.map(|key| key.path.join(".").replace('*', "openai"));
    assert_eq!(live, said.collect::<Vec<_>>());
}

#[test]
fn a_whole_file_is_read() {
    let text = r#"
        [model]
        default = "mine/m"
        system_prompt = "Be brief."
        [endpoint.mine]
        base_url = "https://llm.example/v1/"
        kind = "anthropic"
        key_env = "MINE_KEY"
        [endpoint.openai]
        key_file = "~/.openai"
        [local]
        ollama_port = 4
        [models."mine/m"]
        context_tokens = 200000
        input_price = 3
        output_price = 15.5
        [retry]
        tries = 2
        [network]
        idle_timeout_s = 7
    "#;
    let settings = Settings::parse(text).expect("valid");
    assert_eq!(settings.model.default.as_deref(), Some("mine/m"));
    let endpoints = settings.endpoints();
    let mine = &endpoints["mine"];
    assert_eq!((mine.kind, mine.base_url.as_str()), (EndpointKind::Anthropic, "https://llm.example/v1"));
    assert_eq!(mine.key, KeySource::Env("MINE_KEY".into()));
    let openai = &endpoints["openai"];
    assert_eq!(
        (openai.base_url.as_str(), &openai.key),
        ("https://api.openai.com/v1", &KeySource::File("~/.openai".into()))
    );
    assert_eq!(endpoints["ollama"].base_url, "http://127.0.0.1:4");
    let info = settings.model_info("mine/m");
    assert_eq!(
        (info.context_tokens, info.input_price, info.cached_input_price),
        (Some(200_000), Some(3.0), None)
    );
    assert_eq!(settings.model_info("mine/other"), ModelInfo::default());
    assert_eq!((settings.retry.tries, settings.network.idle_timeout_s), (WholeNumber(2), Seconds::new(7)));
}

#[test]
fn an_empty_table_makes_no_endpoint() {
    for text in
        ["[endpoint.mine]", "[endpoint.openai]", "[endpoint.demo]\n[endpoint.\"\"]", "endpoint.mine = {}"]
    {
        let settings = Settings::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(settings.endpoints(), Settings::default().endpoints(), "{text}");
    }
}

#[test]
fn an_unknown_setting_is_named_with_its_line_and_the_nearest() {
    assert_eq!(refused("[retry]\n\ntrise = 3\n"), "unknown setting retry.trise (line 3)");
    assert_eq!(
        refused("[endpoint.x]\nbase_ulr = \"http://h\""),
        "unknown setting endpoint.x.base_ulr (line 2)"
    );
    let value = |text: &str, name: &str| {
        let fields = Settings::parse(text).expect_err("refused").fields();
        fields.into_iter().find(|(it, _)| *it == name).map(|(_, value)| value)
    };
    for (text, section, settings) in [
        ("[model]\nfoo = 1", "model", vec!["default", "effort", "system_prompt", "usual"]),
        (
            "[models.\"a/b\"]\nprice = 1",
            "models.a/b",
            vec![
                "context_tokens",
                "output_tokens",
                "input_price",
                "cached_input_price",
                "output_price",
                "images",
                "effort",
            ],
        ),
    ] {
        let settings: Vec<String> = settings.into_iter().map(str::to_owned).collect();
        assert_eq!(value(text, "section"), Some(section.into()), "{text}");
        assert_eq!(value(text, "settings"), Some(settings.into()), "{text}");
        assert_eq!(value(text, "nearest"), None, "{text}");
    }
    for (text, nearest) in [
        ("[retry]\n\ntrise = 3\n", "retry.tries"),
        ("[endpoint.x]\nbase_ulr = \"http://h\"", "endpoint.x.base_url"),
        ("[model.usual]\nopneai = \"x\"", "model.usual.openai"),
        ("[modle]\ndefault = \"demo\"", "model"),
        ("theme = \"dark\"", "face.theme"),
    ] {
        assert_eq!(value(text, "nearest"), Some(nearest.into()), "{text}");
    }
    assert_eq!(refused("qqq = 1"), "unknown setting qqq (line 1)");
    assert_eq!(Settings::parse("qqq = 1").expect_err("refused").remedies(), [Remedy::Config]);
}

#[test]
fn wrong_values_are_named_with_their_line_and_never_quoted() {
    let cases = [
        ("[retry]\ntries = \"x\"", "the setting retry.tries (line 2) takes a whole number from 1 to 100"),
        ("[retry]\ntries = 0", "the setting retry.tries (line 2) takes a whole number from 1 to 100"),
        ("[local]\nfind = 1", "the setting local.find (line 2) takes true or false"),
        ("model = 1", "the setting model (line 1) is a table, not a value"),
        ("demo = [5]", "the setting demo (line 1) is a table, not a value"),
        ("[[retry]]\ntries = 1", "the setting retry (line 1) is a table, not a value"),
        (
            "[models.a]\ninput_price = -1",
            "the setting models.a.input_price (line 2) takes a number that is not negative",
        ),
        ("[endpoint.x]\nkind = \"openai\"", "the setting endpoint.x.base_url (line 1) is missing"),
        ("[endpoint.demo]\nbase_url = \"http://h\"", "the setting endpoint.demo (line 1) needs another name"),
    ];
    for (text, message) in cases {
        assert!(refused(text).starts_with(message), "{}", refused(text));
    }
    let said = refused("[models.a]\ncontext_tokens = 0");
    assert_eq!(said, "the setting models.a.context_tokens (line 2) takes a whole number from 1");
    assert!(refused("[a\nb").starts_with("line 1 is not valid TOML: "), "{}", refused("[a\nb"));
}

#[test]
fn the_largest_whole_number_of_each_setting_can_be_set() {
    for key in keys::KEYS.iter().filter(|key| key.kind() == "integer") {
        let path = key.path.join(".").replace('*', "n");
        let set = |to: &serde_json::Value| set("", &path, &to.to_string());
        for limit in ["minimum", "maximum"] {
            assert!(set(&key.schema[limit]).is_ok(), "{path} = {}", key.schema[limit]);
        }
        let above = key.schema["maximum"].as_u64().expect("a number") + 1;
        assert!(set(&above.into()).is_err(), "{path} = {above}");
    }
}

/// The values of `odd_values_are_refused_…` that a setting of this kind may take. A table takes none of them.
fn may_fit(kind: &str, path: &str) -> &'static [&'static str] {
    match kind {
        "integer" => &["1"],
        "number" => &["1", "1.5"],
        "boolean" => &["true"],
        "array" => &["[\"sesame\"]"],
        "string" if path == "permissions.network" => &["true"],
        "string" => &["\"sesame\""],
        _ => &[],
    }
}

/// Every setting and every table with a value of each kind: an error has its path and its line, and never a value.
#[test]
fn odd_values_are_refused_with_their_line_and_never_quoted() {
    let values = [
        "1",
        "-1",
        "1.5",
        "nan",
        "true",
        "1979-05-27",
        "\"sesame\"",
        "[\"sesame\"]",
        "[1]",
        "{ x = \"sesame\" }",
    ];
    for key in keys::KEYS.iter() {
        for depth in 1..=key.path.len() {
            let path = key.path[..depth].join(".").replace('*', "n");
            let kind = if depth == key.path.len() { key.kind() } else { "table" };
            for value in values {
                let errors = Settings::check(&format!("\n{path} = {value}\n[[odd]]\n"));
                let names_it = |error: &SettingsError| error.to_string().contains(&format!("setting {path}"));
                let is_refused = errors.iter().any(names_it);
                assert!(is_refused || may_fit(kind, &path).contains(&value), "{path} = {value}");
                for error in errors {
                    let said = format!("{error} {error:?} {:?}", error.fields());
                    assert!(
                        error.in_line().is_some() && !said.contains("sesame"),
                        "{path} = {value}: {said}"
                    );
                }
            }
        }
    }
    for text in [
        "[[retry]]\ntries = 1",
        "[retry.tries]\nx = 1",
        "[permissions]\nmode = { ask = {} }",
        "[model.default.x]",
        "[models]\n\"\".x = 1",
        "[face]\nkeys.x.y = 1",
    ] {
        assert!(Settings::check(text).iter().any(|error| error.in_line().is_some()), "{text}");
    }
}

#[test]
fn possible_keys_are_refused_and_never_quoted() {
    let texts = [
        "[endpoint.x]\nbase_url = \"https://me:sk-secret@h/v1\"",
        "[endpoint.x]\nbase_url = \"https://h/v1?key=sk-secret\"",
        "[endpoint.x]\nbase_url = \"http://h\"\nkey_env = \"sk-secret\"",
        "[endpoint.x]\nbase_url = \"http://h\"\nkey = \"sk-secret\"",
        "[endpoint.x]\nkey = sk-secret",
    ];
    for text in texts {
        let error = Settings::parse(text).expect_err("refused");
        assert!(!format!("{error} {error:?} {:?}", error.fields()).contains("secret"), "{error:?}");
    }
}

#[test]
fn permissions_are_read_and_errors_are_reported() {
    let text = "[permissions]\nmode = \"allow-edits\"\nallow = [\"shell( git push )\", \"edit\"]\ndeny = [\"write(/etc/**)\"]\n\
                network = \"off\"\n[agent]\nsteering = \"join\"";
    let settings = Settings::parse(text).expect("valid");
    let rules: Vec<_> = settings.permission().rules.iter().map(ToString::to_string).collect();
    assert_eq!(rules, ["allow shell(git push)", "allow edit", "deny write(/etc/**)"]);
    assert_eq!(settings.permission().mode, Mode::AllowEdits);
    assert!(settings.permissions.sandbox);
    assert_eq!(settings.agent.steering, Steer::Join);
    for (text, message) in [
        ("allow = \"edit\"", "the setting permissions.allow (line 2) takes a list of rules, such as"),
        (
            "deny = [\"edit\", 1]",
            "the setting permissions.deny (line 2) has a rule (number 2) that is not a text in quotes",
        ),
        (
            "ask = [\"rm -rf\"]",
            "the setting permissions.ask (line 2) has a wrong rule (number 1): the name of a tool",
        ),
        ("mode = \"yolo\"", "the setting permissions.mode (line 2) takes one of ask, allow-edits"),
    ] {
        let said = refused(&format!("[permissions]\n{text}"));
        assert!(said.starts_with(message), "{said}");
    }
}

#[test]
fn the_network_needs_an_approval_by_default() {
    for (value, network) in [
        ("", Network::Ask),
        ("network = \"ask\"", Network::Ask),
        ("network = \"on\"", Network::On),
        ("network = true", Network::On),
        ("network = \"off\"", Network::Off),
        ("network = false", Network::Off),
    ] {
        let settings = Settings::parse(&format!("[permissions]\n{value}")).expect("valid");
        assert_eq!(settings.permissions.network, network, "{value}");
    }
    assert!(refused("[permissions]\nnetwork = \"no\"").contains("takes one of ask, on, off"));
    assert!(refused("[permissions]\nmode = true").contains("takes one of ask, allow-edits, allow-all, plan"));
}

#[test]
fn pipes_devices_and_binary_files_are_reported_and_never_block() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| dir.path().join(name);
    rustix::fs::mkfifoat(rustix::fs::CWD, path("pipe"), rustix::fs::Mode::RWXU).expect("a pipe");
    let _socket = std::os::unix::net::UnixListener::bind(path("socket")).expect("a socket");
    std::fs::write(path("bytes"), b"[face]\n\xff").expect("written");
    std::fs::write(path("large"), vec![b'#'; (1 << 20) + 1]).expect("written");
    std::os::unix::fs::symlink(path("pipe"), path("link")).expect("linked");
    let whats = [
        (dir.path().to_owned(), "it is a folder"),
        (path("pipe"), "it is a pipe"),
        (path("link"), "it is a pipe"),
        (path("socket"), "it is a socket"),
        ("/dev/zero".into(), "it is a device"),
        (path("bytes"), "it is not UTF-8 at byte 8"),
        (path("large"), "it has more than 1 MiB"),
    ];
    let rule: retake_core::Rule = "allow shell(ls)".parse().expect("a rule");
    for (path, what) in whats {
        for error in [text(&path).map(drop), Settings::load(&path).map(drop), add_rule(&path, &rule)] {
            let error = error.expect_err(what);
            assert_eq!(error.to_string(), format!("cannot read the settings in {}: {what}", path.display()));
            assert_eq!(error.remedies(), [Remedy::ConfigSet]);
        }
    }
    std::fs::write(path("full"), vec![b'#'; 1 << 20]).expect("written");
    assert_eq!(text(&path("full")).expect("it is not too large").len(), 1 << 20);
    assert_eq!(text(Path::new("/dev/null")).expect("nothing is in it"), "");
}

#[test]
fn loopback_addresses_are_recognised() {
    for url in ["http://127.0.0.1:1/v1", "http://localhost:1", "http://[::1]:8080/v1"] {
        assert!(is_loopback(url), "{url}");
    }
    for url in ["https://api.openai.com/v1", "http://192.168.0.1", "http://localhost.example"] {
        assert!(!is_loopback(url), "{url}");
    }
}

#[test]
fn further_folders_are_absolute() {
    let roots = |list: &str| {
        Settings::parse(&format!("[agent]\nroots = {list}")).map(|settings| settings.agent.roots)
    };
    assert_eq!(roots("[\"/a\", \"/b c\"]").expect("valid"), [Path::new("/a"), Path::new("/b c")]);
    assert!(Settings::default().agent.roots.is_empty());
    assert!(
        refused("[agent]\nroots = [\"/a\", \"b\"]")
            .starts_with("the setting agent.roots (line 2) has a wrong folder (number 2): ")
    );
    assert!(refused("[agent]\nroots = \"/a\"").contains("takes a list of folders"));
    let text = set("", "agent.roots", "/a").expect("set");
    assert_eq!(roots("[\"/a\"]").expect("valid"), Settings::parse(&text).expect("valid").agent.roots);
}

#[test]
fn client_gets_its_settings_without_defaults() {
    let text = r#"
        [face]
        colours = "16"
        notify_after_s = 0
        [face.keys]
        rewind = ["f5"]
        undo = []
    "#;
    let told = Settings::client(text).expect("valid");
    let keys = serde_json::json!({"rewind": ["f5"], "undo": []});
    assert_eq!(told, serde_json::json!({"colours": "16", "notify_after_s": 0, "keys": keys}));
    assert_eq!(Settings::client("").expect("valid"), serde_json::json!({}));
    for (text, says) in [
        ("[face]\ncolour = \"16\"", "unknown setting face.colour (line 2)"),
        (
            "[face]\ncolours = \"17\"",
            "the setting face.colours (line 2) takes one of auto, none, 16, truecolor",
        ),
        (
            "[face.keys]\nrewind = \"f5\"",
            "the setting face.keys.rewind (line 2) takes a list of texts in quotes, such as [\"f5\"]",
        ),
        ("[model]\nx = 1", "unknown setting model.x (line 2)"),
    ] {
        assert_eq!(Settings::client(text).expect_err("wrong").to_string(), says);
    }
}

#[test]
fn keys_of_the_client_are_set_one_or_several() {
    let one = set("", "face.keys.rewind", "f5").expect("set");
    assert_eq!(get(&one, "face.keys.rewind").expect("known").as_deref(), Some("[\"f5\"]"));
    let two = set(&one, "face.keys.rewind", "[\"f5\", \"ctrl+r\"]").expect("set");
    assert_eq!(Settings::client(&two).expect("valid")["keys"]["rewind"], serde_json::json!(["f5", "ctrl+r"]));
}

#[test]
fn the_facts_of_the_settings_stand_above_those_that_are_built_in() {
    let text = "[models.\"openai/gpt-4.1-2025-04-14\"]\ninput_price = 1\nimages = false\n\
                [models.\"openai/new\"]\ncontext_tokens = 7\n[models.\"openai/gpt-4o\"]\n";
    let settings = Settings::parse(text).expect("valid");
    let known = settings.model_info("openai/gpt-4.1");
    let both = settings.model_info("openai/gpt-4.1-2025-04-14");
    assert_eq!(known.context_tokens, Some(1_047_576));
    // The price of cached tokens was for another price.
    let expected =
        ModelInfo { input_price: Some(1.0), cached_input_price: None, images: Some(false), ..known };
    assert_eq!(both, expected);
    assert_eq!(
        settings.model_info("openai/new"),
        ModelInfo { context_tokens: Some(7), ..ModelInfo::default() }
    );
    for (name, from) in [
        ("openai/gpt-4.1-2025-04-14", Some(FactsFrom::Both)),
        ("openai/gpt-4.1", Some(FactsFrom::BuiltIn)),
        ("openai/gpt-4o", Some(FactsFrom::BuiltIn)),
        ("openai/new", Some(FactsFrom::Settings)),
        ("openai/unheard", None),
        ("demo", None),
    ] {
        assert_eq!(settings.facts_from(name), from, "{name}");
    }
    let usage = Usage { input_tokens: Some(1_000_000), cached_input_tokens: None, output_tokens: Some(0) };
    assert_eq!(settings.cost("openai/gpt-4.1", &usage), Some(2.0), "by default");
    assert_eq!(settings.cost("openai/gpt-4.1-2025-04-14", &usage), Some(1.0));
}

#[test]
fn the_effort_of_a_model_stands_above_that_for_all_and_says_that_it_takes_one() {
    let text = "[model]\neffort = \"high\"\n[models.\"mine/m\"]\neffort = \"low\"\n\
                [models.\"openai/o3\"]\neffort = \"default\"\n[models.\"mine/n\"]\nimages = true\n";
    let settings = Settings::parse(text).expect("valid");
    for (name, asked, sent) in [
        ("mine/m", Some(Effort::Low), Some(Effort::Low)),
        ("mine/n", Some(Effort::High), None),
        ("mine/other", Some(Effort::High), None),
        ("openai/o3", None, None),
        ("openai/o4-mini", Some(Effort::High), Some(Effort::High)),
        ("openai/gpt-4.1", Some(Effort::High), None),
    ] {
        let info = settings.model_info(name);
        assert_eq!((info.effort, info.sent_effort()), (asked, sent), "{name}");
    }
    assert_eq!(Settings::default().model_info("openai/o3").effort, None);
    assert_eq!(
        refused("[model]\neffort = \"huge\""),
        "the setting model.effort (line 2) takes one of default, low, medium, high"
    );
}

#[test]
fn the_demo_and_models_of_this_computer_cost_nothing() {
    let settings = Settings::default();
    for (name, free) in [
        ("demo", true),
        ("demo:slow", true),
        ("ollama/qwen3", true),
        ("openai/gpt-5", false),
        ("demonstration/x", false),
        ("", false),
    ] {
        assert_eq!(settings.cost(name, &Usage::default()), free.then_some(0.0), "{name}");
    }
    let text = "[models.\"ollama/qwen3\"]\ninput_price = 3\noutput_price = 15\n";
    let settings = Settings::parse(text).expect("valid");
    let usage = Usage { input_tokens: Some(1_000_000), cached_input_tokens: None, output_tokens: Some(0) };
    assert_eq!(settings.cost("ollama/qwen3", &usage), Some(3.0), "a price that is set counts");
}

#[test]
fn trial_25_keys_of_endpoints_are_kept_back_unless_they_are_let_in() {
    let endpoint = "[endpoint.x]\nbase_url = \"http://h\"\nkey_env = \"CORP_LLM\"\n";
    let holds = |text: &str, name: &str| {
        Settings::parse(text).expect("valid").secrets().holds(name.as_ref(), "x".as_ref())
    };
    assert!(holds(endpoint, "CORP_LLM") && holds("", "OPENAI_API_KEY") && holds("", "PGPASSWORD"));
    assert!(!holds("", "CORP_LLM") && !holds("", "PATH"));
    let let_in = format!("{endpoint}[permissions]\nvariables = [\"CORP_LLM\", \"PGPASSWORD\"]\n");
    assert!(!holds(&let_in, "CORP_LLM") && !holds(&let_in, "PGPASSWORD") && holds(&let_in, "GITHUB_PAT"));
}
