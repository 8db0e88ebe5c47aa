//! The programs of the settings that run after an edit: formatters and language servers. One without files or without a command is
//! reported, and never runs.

use retake_tools::{AfterEdit, FileNames, Formatter, LanguageServer, ShellConfig};

use super::{Settings, SettingsError, wrong};

impl Settings {
    /// What happens after an edit.
    pub(crate) fn after_edit(&self, shell: ShellConfig) -> AfterEdit {
        let names =
            |files: &[String]| FileNames::new(files).expect("BUG: the settings have checked each pattern");
        let formatters = self.formatter.iter().filter(|(_, given)| !given.command.is_empty());
        let formatters = formatters.map(|(name, given)| Formatter {
            name: name.clone(),
            files: names(&given.files),
            command: given.command.clone(),
        });
        let servers = self.language_server.iter().filter(|(_, given)| !given.command.is_empty());
        let servers = servers.map(|(name, given)| LanguageServer {
            name: name.clone(),
            files: names(&given.files),
            command: given.command.clone(),
            language: given.language.clone(),
            options: given.options.as_deref().and_then(|options| serde_json::from_str(options).ok()),
            write: given.write.clone(),
        });
        AfterEdit { formatters: formatters.collect(), servers: servers.collect(), shell }
    }

    /// The programs without files or without a command.
    pub(super) fn wrong_programs(&self, text: &str) -> Vec<SettingsError> {
        let formatters = self.formatter.iter().map(|(name, it)| ("formatter", name, &it.files, &it.command));
        let servers =
            self.language_server.iter().map(|(name, it)| ("language_server", name, &it.files, &it.command));
        let missing = formatters.chain(servers).filter_map(|(table, name, files, command)| {
            let field = match (files.is_empty(), command.is_empty()) {
                (false, true) => "command",
                (true, false) => "files",
                _ => return None,
            };
            Some(wrong(text, &[table, name, field], "is missing, so this program never runs"))
        });
        missing.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formatter_needs_files_and_a_command() {
        let text = "[formatter.rust]\nfiles = [\"*.rs\"]\ncommand = [\"rustfmt\", \"--edition\", \"2024\"]\n[formatter.none]\n\
                    [formatter.half]\nfiles = [\"*.go\"]\n[language_server.half]\ncommand = [\"gopls\"]";
        let settings = Settings::parse(text).expect("valid");
        let after = settings.after_edit(ShellConfig::default());
        let formatters: Vec<_> =
            after.formatters.iter().map(|it| (it.name.as_str(), it.command.len())).collect();
        assert_eq!(formatters, [("rust", 3)]);
        let wrong: Vec<String> = Settings::check(text).iter().map(ToString::to_string).collect();
        assert_eq!(
            wrong,
            [
                "the setting formatter.half.command (line 5) is missing, so this program never runs",
                "the setting language_server.half.files (line 7) is missing, so this program never runs",
            ]
        );
    }

    #[test]
    fn wrong_values_of_programs_are_named() {
        let rows = [
            (
                "formatter.a.files = [\"[\"]",
                "files (line 1) has a wrong pattern (number 1): the pattern `[` cannot be read",
            ),
            ("formatter.a.files = [\"../*\"]", "leaves the folder"),
            ("formatter.a.command = \"rustfmt\"", "takes a list of texts in quotes"),
            ("formatter.a.paths = [\"x\"]", "unknown setting formatter.a.paths"),
            ("language_server.a.options = \"{\"", "takes JSON in quotes"),
            ("language_server.a.write = [\"cache\"]", "it does not begin with a slash"),
        ];
        for (text, expected) in rows {
            let wrong: Vec<String> = Settings::check(text).iter().map(ToString::to_string).collect();
            assert!(wrong.len() == 1 && wrong[0].contains(expected), "{text}: {wrong:?}");
        }
    }
}
