//! The settings file: the engine knows its keys, the full-screen program checks its own table. Must never write a setting that one of them
//! rejects.

use std::error::Error as _;
use std::path::Path;

use retake_engine::settings::{self, SettingsError};
use retake_tui::hint::Audience;
use retake_tui::text::safe;
use retake_tui::ui;

use crate::owner::Setting;

/// The settings of the full-screen program, from the text of the file and the theme files beside it.
pub(crate) fn ui_settings(text: &str, file: &Path) -> Result<ui::Configured, SettingsError> {
    let (themes, wrong) = themes(file);
    let mut configured =
        ui::Configured::new(parse_ui_settings(text).map_err(|error| error.within(file))?, themes, &|key| {
            place(text, file, key)
        });
    configured.wrong.extend(wrong);
    Ok(configured)
}

/// All errors in the text of the file and in the theme files beside it, one sentence each.
pub(crate) fn wrong(text: &str, file: &Path) -> Vec<String> {
    let errors = settings::Settings::check(text);
    if errors.is_empty() {
        return ui_settings(text, file)
            .map_or_else(|error| vec![error.to_string()], |configured| configured.wrong);
    }
    let shown = file.display().to_string();
    let told = errors.into_iter().map(|error| {
        let problem = Audience::Shell.problem(&retake_server::wrong_settings(error));
        format!("{}: {problem}", safe::line(&shown))
    });
    told.chain(themes(file).1).collect()
}

/// What the text of the file allows and a person should know, one sentence each. Of a wrong file, nothing.
pub(crate) fn warnings(text: &str) -> Vec<String> {
    let Ok(settings) = settings::Settings::parse(text) else { return Vec::new() };
    let open = settings.open_chats();
    open.map(|name| format!("everybody may talk with the agent in chats of the account {name} (chat.{name}.policy is \"open\")"))
        .collect()
}

/// Which process reads a setting, and when.
pub(crate) use settings::{ReadBy, read_by};

/// Reads or changes the file.
pub(crate) fn change(file: &Path, what: &Setting) -> Result<String, SettingsError> {
    let text = settings::text(file)?;
    let within = |error: SettingsError| error.within(file);
    match what {
        Setting::List => Ok(format!("{text}{}", settings::documented_defaults())),
        Setting::Get(key) => Ok(settings::get(&text, key).map_err(within)?.unwrap_or_default()),
        Setting::Set(key, value) => {
            let changed = settings::set(&text, key, value).map_err(within)?;
            if let Some(problem) = made_wrong(&text, &changed, file) {
                return Err(SettingsError::Wrong { key: key.clone(), line: None, problem });
            }
            default_stays_right(&text, &changed, key)?;
            settings::save(file, &changed)?;
            Ok(String::new())
        }
        Setting::Unset(key) => {
            let changed = settings::unset(&text, key).map_err(within)?;
            default_stays_right(&text, &changed, key)?;
            settings::save(file, &changed)?;
            Ok(String::new())
        }
    }
}

/// The setting of the default model.
const DEFAULT: &str = "model.default";

/// Rejects a change after which no endpoint has the default model. An earlier error does not prevent changes of other settings.
fn default_stays_right(before: &str, after: &str, changed: &str) -> Result<(), SettingsError> {
    let wrong = |text: &str| {
        settings::Settings::check(text).into_iter().find_map(|error| match error {
            SettingsError::Wrong { key, problem, .. } if key == DEFAULT => Some(problem),
            _ => None,
        })
    };
    match wrong(after) {
        Some(problem) if changed == DEFAULT || wrong(before).is_none() => {
            Err(SettingsError::Wrong { key: DEFAULT.to_owned(), line: None, problem })
        }
        _ => Ok(()),
    }
}

/// An error in the full-screen program's settings that a change has caused.
fn made_wrong(before: &str, after: &str, file: &Path) -> Option<String> {
    let (themes, _) = themes(file);
    let wrong = |text: &str| {
        let settings = parse_ui_settings(text).ok()?;
        Some(ui::Configured::new(settings, themes.clone(), &|_| "is wrong".to_owned()).wrong)
    };
    let known = wrong(before).unwrap_or_default();
    wrong(after)?.into_iter().find(|wrong| !known.contains(wrong))
}

/// The settings of the full-screen program: the engine knows its keys, the program their meaning.
fn parse_ui_settings(text: &str) -> Result<ui::Settings, SettingsError> {
    let given = settings::Settings::client(text)?;
    Ok(serde_json::from_value(given)
        .expect("BUG: the table of settings lets through only what the program accepts"))
}

/// The file, line and key of a setting, for messages.
fn place(text: &str, file: &Path, key: &str) -> String {
    let path: Vec<_> = key.splitn(3, '.').collect();
    let line = settings::Settings::line(text, &path).map(|line| format!("line {line}, ")).unwrap_or_default();
    safe::line(&format!("{}, {line}{key}", file.display())).into_owned()
}

/// The folder of a person's themes, beside the settings file.
const THEMES: &str = "themes";

/// The themes, and the errors in the person's theme files. A missing folder is no error.
fn themes(file: &Path) -> (ui::Themes, Vec<String>) {
    let (mut themes, mut wrong) = (ui::Themes::default(), Vec::new());
    let Ok(entries) = std::fs::read_dir(file.with_file_name(THEMES)) else { return (themes, wrong) };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|kind| kind == "toml")).collect();
    files.sort();
    for file in files {
        let why = match settings::text(&file) {
            Ok(text) => {
                wrong.extend(themes.add(&file, &text));
                continue;
            }
            Err(SettingsError::NoText { problem, .. }) => problem,
            Err(error) => error.source().map_or_else(|| error.to_string(), ToString::to_string),
        };
        wrong.push(format!("cannot read the theme {}: {why}", file.display()));
    }
    (themes, wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_that_is_open_to_everybody_is_warned_about() {
        let open = "[chat.a]\npolicy = \"open\"\nlist = [\"*\"]\n";
        let warned = warnings(open);
        assert!(warned.len() == 1 && warned[0].contains("everybody may talk"), "{warned:?}");
        for text in ["", "[chat.a]\nlist = [\"ann\"]\n", "[chat.a]\npolicy = \"open\"\n", "[chat"] {
            assert!(warnings(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn the_settings_pane_and_the_settings_file_have_the_same_settings() {
        let mut text = String::new();
        let defaults = parse_ui_settings(&text).expect("nothing is set");
        assert_eq!(defaults, ui::Settings::default());
        for key in ["theme", "background", "colours", "escape_rewinds", "notify_after_s", "mouse"] {
            let key = format!("face.{key}");
            let usual = settings::get("", &key).expect("known").expect("it has a default");
            text = settings::set(&text, &key, &usual).expect("the default can be set");
        }
        assert_eq!(parse_ui_settings(&text).expect("valid"), ui::Settings::default(), "{text}");
        for (key, words) in [
            ("background", &["auto", "dark", "light"][..]),
            ("colours", &["auto", "none", "16", "truecolor"]),
        ] {
            for word in words {
                let text = settings::set("", &format!("face.{key}"), word).expect("known");
                let settings = parse_ui_settings(&text).expect("valid");
                assert_eq!(settings == ui::Settings::default(), *word == "auto", "{key} {word}");
            }
        }
    }

    #[test]
    fn settings_are_read_changed_and_explained() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("new/config.toml");
        let key = || "model.default".to_owned();
        assert!(change(&file, &Setting::List).expect("a list").contains("[model]"));
        change(&file, &Setting::Set(key(), "demo".to_owned())).expect("set");
        assert_eq!(change(&file, &Setting::Get(key())).expect("a value"), "demo");
        change(&file, &Setting::Unset(key())).expect("unset");
        assert_eq!(change(&file, &Setting::Get(key())).expect("no value"), "");
        let unknown = change(&file, &Setting::Get("nope".to_owned())).expect_err("unknown");
        assert!(matches!(unknown, SettingsError::Unknown { .. }), "{unknown:?}");
    }

    #[test]
    fn every_error_is_reported_with_its_file_and_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("config.toml");
        let said = |text: &str| -> Vec<String> {
            let sentences = wrong(text, &file);
            let shown = file.display().to_string();
            sentences.into_iter().map(|sentence| sentence.replace(&shown, "FILE")).collect()
        };
        assert_eq!(said("[face]\ntheme = \"ember\"\n"), Vec::<String>::new());
        assert_eq!(
            said("[model]\nfoo = 1\n\n[retry]\ntries = 0\n[thmes]\n"),
            [
                "FILE: unknown setting model.foo (line 2); [model] has default, effort, system_prompt, usual",
                "FILE: the setting retry.tries (line 5) takes a whole number from 1 to 100; `retake config` lists every setting",
                "FILE: unknown setting thmes (line 6); did you mean face.theme?",
            ]
        );
        assert_eq!(
            said("[face]\n\ntheme = \"blue\"\n[face.keys]\nrewin = [\"f5\"]\ntree = [\"hyper+x\"]\n"),
            [
                "FILE, line 5, face.keys.rewin: there is no command “rewin”; did you mean rewind?",
                "FILE, line 6, face.keys.tree: “hyper+x” is not a key: keys are written like ctrl+r, alt+enter, shift+tab, f1, pageup, \
                 space or ?",
                "FILE, line 3, face.theme: there is no theme “blue”: there are auto, terminal, dark, light, ember, paper",
            ]
        );
    }

    #[test]
    fn a_setting_that_the_full_screen_program_would_refuse_is_not_stored() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("config.toml");
        std::fs::write(&file, "[face]\ntheme = \"gone\"\n").expect("written");
        let set = |key: &str, value: &str| change(&file, &Setting::Set(key.to_owned(), value.to_owned()));
        for (key, value) in [("face.theme", "blue"), ("face.keys.rewin", "f5"), ("face.keys.tree", "hyper+x")]
        {
            let refused = set(key, value).expect_err(key);
            assert!(refused.to_string().starts_with(&format!("the setting {key} is wrong: ")), "{refused}");
        }
        assert_eq!(std::fs::read_to_string(&file).expect("read"), "[face]\ntheme = \"gone\"\n");
        // Earlier errors do not prevent another change.
        set("face.keys.tree", "f6").expect("set");
        set("face.theme", "paper").expect("set");
        assert_eq!(wrong(&settings::text(&file).expect("read"), &file), Vec::<String>::new());
    }
}
