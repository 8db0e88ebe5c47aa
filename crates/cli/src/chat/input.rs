//! A submitted line: a message or a command. Must never mistake a message that begins with `//` for a
//! command.

/// The kind of a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Input<'a> {
    /// Nothing.
    Empty,
    /// A message.
    Message(&'a str),
    /// A command and the text after it.
    Command {
        /// Without its slash.
        name: &'a str,
        /// The rest, trimmed.
        rest: &'a str,
    },
}

/// Parses a line: `/name rest` is a command, `//…` a message that begins with one slash.
pub(super) fn parse(line: &str) -> Input<'_> {
    let text = line.trim_end();
    if text.trim_start().is_empty() {
        return Input::Empty;
    }
    let Some(after) = text.trim_start().strip_prefix('/') else {
        return Input::Message(text);
    };
    if after.starts_with('/') {
        return Input::Message(after);
    }
    let (name, rest) = after.split_once(char::is_whitespace).unwrap_or((after, ""));
    Input::Command { name, rest: rest.trim() }
}

/// A message as typed: one that begins with a slash gets a second one.
pub(super) fn message(text: &str) -> String {
    let slash = if text.starts_with('/') { "/" } else { "" };
    format!("{slash}{text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_messages() {
        let command = |name, rest| Input::Command { name, rest };
        for (line, expected) in [
            ("", Input::Empty),
            (" \n", Input::Empty),
            ("hello\n  there \n", Input::Message("hello\n  there")),
            ("  indented", Input::Message("  indented")),
            ("/undo", command("undo", "")),
            ("/undo  3 ", command("undo", "3")),
            ("/label t2 the plan", command("label", "t2 the plan")),
            ("//etc/passwd is a file", Input::Message("/etc/passwd is a file")),
            ("/", command("", "")),
        ] {
            assert_eq!(parse(line), expected, "{line:?}");
        }
    }
}
