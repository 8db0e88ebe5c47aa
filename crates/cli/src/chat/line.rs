//! A submitted line: a message or a command. Must never take a message for a command that was written as one.

/// What a line is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// Nothing.
    Empty,
    /// A message.
    Say(&'a str),
    /// A command with what follows it.
    Command {
        /// Without its slash.
        name: &'a str,
        /// The rest, trimmed.
        rest: &'a str,
    },
}

/// Reads a line: `/name rest` is a command, `//…` a message that begins with one slash.
pub(super) fn read(line: &str) -> Line<'_> {
    let text = line.trim_end();
    if text.trim_start().is_empty() {
        return Line::Empty;
    }
    let Some(after) = text.trim_start().strip_prefix('/') else {
        return Line::Say(text);
    };
    if after.starts_with('/') {
        return Line::Say(after);
    }
    let (name, rest) = after.split_once(char::is_whitespace).unwrap_or((after, ""));
    Line::Command { name, rest: rest.trim() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_messages() {
        let command = |name, rest| Line::Command { name, rest };
        for (line, read_as) in [
            ("", Line::Empty),
            (" \n", Line::Empty),
            ("hello\n  there \n", Line::Say("hello\n  there")),
            ("  indented", Line::Say("  indented")),
            ("/undo", command("undo", "")),
            ("/undo  3 ", command("undo", "3")),
            ("/label t2 the plan", command("label", "t2 the plan")),
            ("//etc/passwd is a file", Line::Say("/etc/passwd is a file")),
            ("/", command("", "")),
        ] {
            assert_eq!(read(line), read_as, "{line:?}");
        }
    }
}
