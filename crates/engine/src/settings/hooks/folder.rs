//! The hooks that a folder brings, from the text of its file, which may be hostile: parsed strictly, and up to the first error.
//! Must never quote a value in an error.

use std::collections::BTreeMap;

use retake_core::shell_word;
use serde::Deserialize as _;
use serde_json::Value;
use toml::de::{DeTable, DeValue};

use super::super::read::{line_of, parsed, taken_out};
use super::{Hook, HookTable, Settings, SettingsError};

/// The file of a folder, relative to it.
pub(crate) const HOOKS_FILE: &str = ".retake/hooks.toml";

/// The most hooks of a folder.
const MOST: usize = 16;

/// The longest name of a hook or a setting.
const LONGEST_NAME: usize = 40;

/// The longest entry: a person must be able to read all of it before an approval.
const LONGEST_ENTRY: usize = 4 << 10;

/// The hooks in the text of a folder's file.
pub(crate) fn folder_hooks(text: &str) -> Result<Vec<HookEntry>, SettingsError> {
    let mut table = parsed(text)?;
    if let Some(error) = misplaced(text, table.get_ref()) {
        return Err(error);
    }
    match Settings::deserialize(toml::de::Deserializer::from(table.clone())) {
        Ok(settings) => {
            Ok(settings.hook.into_iter().map(|(name, table)| HookEntry { name, table }).collect())
        }
        Err(error) => Err(taken_out(text, table.get_mut(), &error)),
    }
}

/// The first thing that does not stand where a hook or one of its settings does. What is nested deeper is not looked at.
fn misplaced(text: &str, table: &DeTable<'_>) -> Option<SettingsError> {
    let wrong = |key: &str, at: usize, problem: String| {
        let line = Some(line_of(text, at));
        Some(SettingsError::Wrong { key: key.to_owned(), line, problem })
    };
    for (key, value) in table {
        let at = key.span().start;
        let DeValue::Table(hooks) = value.get_ref() else {
            return wrong("hook", at, "is the only table of this file: [hook.NAME]".to_owned());
        };
        if key.get_ref() != "hook" {
            return wrong("hook", at, "is the only table of this file: [hook.NAME]".to_owned());
        }
        if hooks.len() > MOST {
            return wrong("hook", at, format!("has {} hooks; a folder has {MOST} at most", hooks.len()));
        }
        for (name, value) in hooks {
            let at = name.span().start;
            if !is_name(name.get_ref()) {
                return wrong(
                    "hook",
                    at,
                    "has a name that is not 1 to 40 letters, digits, - and _".to_owned(),
                );
            }
            let key = format!("hook.{}", name.get_ref());
            let DeValue::Table(settings) = value.get_ref() else {
                return wrong(&key, at, "is a table, not a value".to_owned());
            };
            for (name, value) in settings {
                let at = name.span().start;
                if !is_name(name.get_ref()) {
                    return wrong(&key, at, "has a setting with a name that no setting has".to_owned());
                }
                if matches!(value.get_ref(), DeValue::Table(_)) {
                    return wrong(&format!("{key}.{}", name.get_ref()), at, "takes no table".to_owned());
                }
            }
        }
    }
    None
}

fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(plain)
}

/// A hook of the settings or of a folder, complete or not.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HookEntry {
    pub(crate) name: String,
    table: HookTable,
}

impl HookEntry {
    /// An entry from [`Self::given`]; `None` if this program cannot read it.
    pub(crate) fn read(name: &str, given: Value) -> Option<Self> {
        Some(Self { name: name.to_owned(), table: serde_json::from_value(given).ok()? })
    }

    /// What it sets, without settings that have their default: a later setting changes no entry.
    pub(crate) fn given(&self) -> Value {
        let json = |table: &HookTable| match serde_json::to_value(table) {
            Ok(Value::Object(fields)) => fields.into_iter().collect::<BTreeMap<_, _>>(),
            _ => unreachable!("BUG: a table is an object"),
        };
        let usual = json(&HookTable::default());
        json(&self.table).into_iter().filter(|(name, value)| usual.get(name) != Some(value)).collect()
    }

    /// Why a hook of the settings is not complete: the setting, and the problem.
    pub(crate) fn defect(&self) -> Option<(&'static str, &'static str)> {
        self.table.defect(&self.name)
    }

    /// The same of a hook of a folder.
    pub(crate) fn folder_defect(&self) -> Option<(&'static str, &'static str)> {
        if self.table.folder.is_some() {
            return Some(("folder", "is not for the hook of a folder: it is for that folder"));
        }
        if self.table.secret_file.is_some() {
            return Some(("secret_file", "is not for the hook of a folder: secret_env names a variable"));
        }
        if self.given().to_string().len() > LONGEST_ENTRY {
            return Some(("on", "is of a hook that is too long to be shown in full: it has at most 4 KB"));
        }
        self.defect()
    }

    /// The hook, with this name, for the conversations of this folder.
    pub(crate) fn of_folder(&self, name: String, folder: String) -> Hook {
        Hook { folder: Some(folder), ..self.table.hook(&name) }
    }

    /// The hook of the settings.
    pub(crate) fn own(&self) -> Hook {
        self.table.hook(&self.name)
    }

    /// The events that it gets.
    pub(crate) fn events(&self) -> &[String] {
        &self.table.on
    }

    /// Its command, quoted for a shell.
    pub(crate) fn command(&self) -> Option<String> {
        let words: Vec<_> = self.table.command.iter().map(|word| shell_word(word)).collect();
        (!words.is_empty()).then(|| words.join(" "))
    }

    /// The address that it gets events at.
    pub(crate) fn address(&self) -> Option<&str> {
        self.table.url.as_deref()
    }

    /// The variable with the secret that signs requests.
    pub(crate) fn variable(&self) -> Option<&str> {
        self.table.secret_env.as_deref()
    }
}

impl Settings {
    /// All hooks of the settings, complete or not.
    pub(crate) fn hook_entries(&self) -> Vec<HookEntry> {
        let entry =
            |(name, table): (&String, &HookTable)| HookEntry { name: name.clone(), table: table.clone() };
        self.hook.iter().map(entry).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of the hooks, or the error.
    fn read(text: &str) -> Result<Vec<String>, String> {
        let read = folder_hooks(text).map_err(|error| error.to_string())?;
        Ok(read.into_iter().map(|entry| entry.name).collect())
    }

    #[test]
    fn hostile_text_of_a_folder_is_one_error() {
        let web = "on = [\"said\"]\nurl = \"http://h\"\n";
        assert_eq!(read(""), Ok(Vec::new()));
        assert_eq!(read(&format!("[hook.b]\n{web}[hook.a-_9]\n{web}")), Ok(vec!["a-_9".into(), "b".into()]));
        let many: String = (0..17).map(|no| format!("[hook.h{no}]\n{web}")).collect();
        let deep = |path: &str| format!("[{path}{}]\n", ".a".repeat(20_000));
        let keys: String = (0..8_000).map(|no| format!("k{no}=1\n")).collect();
        let rows = [
            ("[model]\ndefault = \"demo\"", "line 1"),
            ("hook = 1", "line 1"),
            ("[hook]\na = 1", "hook.a (line 2) is a table, not a value"),
            ("[hook.a]\n[hook.\"e\u{202e} f\"]", "(line 2) has a name that is not"),
            (&format!("[hook.{}]", "a".repeat(41)), "has a name that is not"),
            ("[hook.a]\nurl.b = 1", "hook.a.url (line 2) takes no table"),
            ("[hook.a]\nurk = 1", "unknown setting hook.a.urk (line 2)"),
            ("[hook.a]\ntext = 1", "hook.a.text (line 2) takes true or false"),
            ("[hook.a]\non = [\"rewind\"]", "it is not one of"),
            ("[hook.a", "line 1 is not valid TOML"),
            (&many, "has 17 hooks; a folder has 16 at most"),
            (&deep("a"), "line 1"),
            (&deep("hook.a"), "line 1"),
            (&format!("[hook.a]\n{}", keys), "unknown setting hook.a.k0"),
            (&format!("[hook.a]\non = {}{}", "[".repeat(20_000), "]".repeat(20_000)), "line 2"),
        ];
        for (text, expected) in rows {
            let start = &text[..text.len().min(60)];
            let error = read(text).expect_err(start);
            assert!(error.contains(expected) && error.len() < 400, "{start}: {error}");
        }
    }

    #[test]
    fn hook_of_a_folder_is_for_that_folder_and_can_be_shown_in_full() {
        let web = "[hook.a]\non = [\"said\"]\nurl = \"http://h\"\n";
        let defect =
            |more: &str| folder_hooks(&format!("{web}{more}")).expect("valid").remove(0).folder_defect();
        let setting = |more: &str| defect(more).map(|(setting, _)| setting);
        assert_eq!(defect(""), None);
        assert_eq!(setting("folder = \"/\""), Some("folder"));
        assert_eq!(setting("secret_file = \"/etc/passwd\""), Some("secret_file"));
        assert_eq!(setting("command = [\"x\"]"), Some("command"));
        assert_eq!(setting(&format!("write = [\"/{}\"]", "x".repeat(5_000))), Some("on"));
        let nothing = folder_hooks("[hook.a]\non = [\"said\"]\n").expect("valid").remove(0);
        assert_eq!(nothing.folder_defect().map(|(setting, _)| setting), Some("url"));
    }

    #[test]
    fn entry_is_what_its_table_sets_and_can_be_read_again() {
        let text = "[hook.a]\non = [\"said\"]\ntimeout_s = 10\nkeep_trying_s = 5\ncommand = [\"a\", \"b c\"]";
        let entry = folder_hooks(text).expect("valid").remove(0);
        let given = serde_json::json!({ "command": ["a", "b c"], "keep_trying_s": 5, "on": ["said"] });
        assert_eq!(entry.given(), given, "the default of timeout_s is left out");
        assert_eq!(HookEntry::read("a", given).as_ref(), Some(&entry));
        assert_eq!(entry.command().as_deref(), Some("a 'b c'"));
    }
}
