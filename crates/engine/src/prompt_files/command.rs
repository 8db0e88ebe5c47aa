//! Commands: a person sends `/name arguments`, and the model also gets the text of the file with that name. The text is stored with
//! the message, so that a retry and a rewind are exact, whatever the file says later.
//!
//! Must never run anything that a file names, and attach no file that it mentions: a folder's file is untrusted. The model can do
//! both with its tools, as far as permissions allow.

use std::path::Path;

use retake_core::{COMMAND_PROMPT, Fact, Part, Remedy, Source};

use super::{FoundPrompts, PromptFile, PromptKind, PromptOrigin, RefusedFile, find};
use crate::error::{EngineError, Kind, Result};
use crate::places::Places;

/// The longest text of a command with its arguments.
const MOST_TEXT: usize = 256 << 10;

/// The keys of the facts that mark a message as a command until its text is added.
const NAME: &str = "command";
const ARGUMENTS: &str = "command/arguments";

/// The parts of a message that sends a command, before its text is added.
pub fn command_message(name: &str, arguments: &str, attached: Vec<Part>) -> Vec<Part> {
    let line = format!("/{name} {arguments}");
    let mark = Part::Facts(vec![Fact::new(NAME, name), Fact::new(ARGUMENTS, arguments)]);
    [Part::text(line.trim_end())].into_iter().chain(attached).chain([mark]).collect()
}

/// Whether it is the mark of a command.
fn is_mark(part: &Part) -> bool {
    matches!(part, Part::Facts(facts) if facts.first().is_some_and(|fact| fact.key == NAME))
}

/// Removes the mark of a command; returns its name and arguments.
fn unmark(parts: &mut Vec<Part>) -> Option<(String, String)> {
    let at = parts.iter().position(is_mark)?;
    let Part::Facts(facts) = parts.remove(at) else { return None };
    let value = |key| facts.iter().find(|fact| fact.key == key).map(|fact| fact.value.clone());
    Some((value(NAME)?, value(ARGUMENTS).unwrap_or_default()))
}

/// What a person can send as `/name` in a folder.
#[derive(Clone, Debug, Default)]
pub struct CommandFiles {
    /// The commands.
    pub commands: FoundPrompts,
    /// The skills. A command of the same name hides one.
    pub skills: FoundPrompts,
}

impl CommandFiles {
    /// The commands and skills of these places. Blocks while it reads.
    pub(crate) fn find(places: &Places) -> Self {
        Self { commands: find(PromptKind::Command, places), skills: find(PromptKind::Skill, places) }
    }

    /// The file that `/name` means.
    pub fn get(&self, name: &str) -> Option<&PromptFile> {
        self.commands.get(name).or_else(|| self.skills.get(name))
    }
}

/// The text of a command with its arguments: `$ARGUMENTS` is all of them, `$1` to `$9` are single ones, which may be in quotes.
/// `None` if it is too long.
fn expanded(body: &str, arguments: &str) -> Option<String> {
    let words = words(arguments);
    let mut text = String::new();
    let mut rest = body;
    while let Some(at) = rest.find('$') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let digit = rest[1..].chars().next().and_then(|c| c.to_digit(10)).filter(|digit| *digit > 0);
        let goes_on = |at: usize| rest[at..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let (value, used) = match digit {
            Some(digit) if !goes_on(2) => (words.get(digit as usize - 1).map_or("", String::as_str), 2),
            None if rest.starts_with("$ARGUMENTS") && !goes_on("$ARGUMENTS".len()) => {
                (arguments, "$ARGUMENTS".len())
            }
            _ => ("$", 1),
        };
        text.push_str(value);
        rest = &rest[used..];
        if text.len() > MOST_TEXT {
            return None;
        }
    }
    text.push_str(rest);
    (text.len() <= MOST_TEXT).then_some(text)
}

/// The words of a text. Quotes keep blanks together.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut quote, mut is_word) = (String::new(), None, false);
    for c in text.chars() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('"' | '\'', None) if !is_word => (quote, is_word) = (Some(c), true),
            (c, None) if c.is_whitespace() => {
                if std::mem::take(&mut is_word) {
                    words.push(std::mem::take(&mut word));
                }
            }
            (c, _) => {
                is_word = true;
                word.push(c);
            }
        }
    }
    words.extend(is_word.then_some(word));
    words
}

/// The part with the text of a command.
fn prompt_of(file: &PromptFile, arguments: &str, places: &Places) -> Option<Part> {
    let path = short(&file.path, places);
    let what = match (file.kind, file.origin) {
        (PromptKind::Skill, _) => format!("The skill /{}, whose files are beside {path}:", file.name),
        (_, PromptOrigin::Folder) => format!("The command /{} of the folder:", file.name),
        (_, PromptOrigin::Settings) => format!("The command /{} of the user:", file.name),
    };
    let text = format!("{what}\n\n{}", expanded(&file.body, arguments)?.trim());
    let source = Source::Inline(text.into_bytes());
    Some(Part::File { name: path, media_type: Some(COMMAND_PROMPT.to_owned()), source })
}

/// A path for people and the model: below the folder, or else whole.
fn short(path: &Path, places: &Places) -> String {
    path.strip_prefix(&places.folder).unwrap_or(path).display().to_string()
}

impl RefusedFile {
    /// The problem of the file, for people.
    pub fn error(&self) -> EngineError {
        let what = self.why.name();
        let message = format!("{} cannot be used: {}", self.path.display(), self.why);
        let error = EngineError::new(Kind::Refused, "command_file", message)
            .with("what", what)
            .with("path", &*self.path);
        self.why.fields().into_iter().fold(error, |error, (name, value)| error.with(name, value))
    }
}

impl CommandFiles {
    /// Whether a message sends a command and has no text of it yet.
    pub(crate) fn is_due(parts: &[Part]) -> bool {
        parts.iter().any(is_mark)
    }

    /// Adds the text of a command to the message that sends it. Other messages stay as they are. Blocks while it reads.
    pub(crate) fn added(places: &Places, mut parts: Vec<Part>) -> Result<Vec<Part>> {
        let Some((name, arguments)) = unmark(&mut parts) else { return Ok(parts) };
        let found = Self::find(places);
        let Some(file) = found.get(&name) else { return Err(unknown(&name)) };
        let added = prompt_of(file, &arguments, places).ok_or_else(|| too_long(&name))?;
        // An earlier text of a command that is sent again.
        parts.retain(|part| !part.is_command_prompt());
        parts.insert(1.min(parts.len()), added);
        Ok(parts)
    }
}

fn unknown(name: &str) -> EngineError {
    let message = format!("there is no command or skill {} here", name.escape_debug());
    EngineError::new(Kind::NotFound, "command_file", message)
        .with("what", "unknown")
        .with("name", name)
        .remedies([Remedy::Commands])
}

fn too_long(name: &str) -> EngineError {
    let message = format!("the text of /{name} with its arguments is longer than {} kB", MOST_TEXT >> 10);
    EngineError::new(Kind::Refused, "command_file", message)
        .with("what", "too_long")
        .with("name", name)
        .with("most", MOST_TEXT as u64 >> 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_take_their_places_once() {
        let rows = [
            ("Fix $1 for $2.", "12 ada", "Fix 12 for ada."),
            ("Fix $ARGUMENTS!", "12 ada", "Fix 12 ada!"),
            ("$1|$2|$3", r#""a b" 'c d'"#, "a b|c d|"),
            ("it's $1", "it's", "it's it's"),
            ("$10 and $0 and $x and $", "5", "$10 and $0 and $x and $"),
            ("$ARGUMENTSX $1$2", "$2 $1", "$ARGUMENTSX $2$1"),
            ("$ARGUMENTS", "$ARGUMENTS $1", "$ARGUMENTS $1"),
            ("nothing", "more", "nothing"),
        ];
        for (body, arguments, expected) in rows {
            assert_eq!(expanded(body, arguments).as_deref(), Some(expected), "{body} with {arguments}");
        }
    }

    #[test]
    fn a_text_that_grows_without_end_is_refused() {
        let body = "$ARGUMENTS ".repeat(5_000);
        assert_eq!(expanded(&body, &"x".repeat(100_000)), None);
    }

    #[test]
    fn a_message_carries_its_command_only_until_its_text_is_added() {
        let mut parts = command_message("fix", "12 now", vec![Part::text("attached")]);
        assert_eq!(parts[0], Part::text("/fix 12 now"));
        assert_eq!(unmark(&mut parts), Some(("fix".into(), "12 now".into())));
        assert_eq!(parts, [Part::text("/fix 12 now"), Part::text("attached")]);
        assert_eq!(unmark(&mut parts), None);
    }
}
