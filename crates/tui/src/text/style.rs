//! A few colours, only where they are wanted. A [`Palette`] is chosen once per output stream and passed as a value. Must never
//! emit an escape sequence into a pipe or a file, nor hold global state.

use std::ffi::OsStr;
use std::fmt::{self, Display};
use std::io::IsTerminal;

/// The meaning of a piece of text; the palette decides how it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Secondary: ids, times, hints.
    Dim,
    /// Headings and emphasis.
    Bold,
    /// Something to choose or type: commands, the selected row.
    Accent,
    /// Success.
    Good,
    /// A warning.
    Warn,
    /// An error.
    Error,
    /// A person's message.
    User,
    /// A model's message.
    Model,
    /// A tool's message.
    Tool,
    /// An added line.
    Added,
    /// A removed line.
    Removed,
    /// A search match.
    Match,
}

impl Style {
    /// The parameters of the escape sequence (select graphic rendition).
    const fn code(self) -> &'static str {
        match self {
            Self::Dim => "2",
            Self::Bold => "1",
            Self::Accent | Self::Match => "36",
            Self::Good | Self::Added => "32",
            Self::Warn => "33",
            Self::Error => "1;31",
            Self::User => "1;34",
            Self::Model => "1;35",
            Self::Tool => "35",
            Self::Removed => "31",
        }
    }
}

/// Whether styles are drawn on one output stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Palette {
    drawn: bool,
}

impl Palette {
    /// Draws no styles: text is unchanged.
    pub const PLAIN: Self = Self { drawn: false };

    /// Draws every style. For tests, and if the user asks for colours.
    pub const COLOURED: Self = Self { drawn: true };

    /// The palette of standard output: coloured if it is a terminal, `NO_COLOR` is unset or empty and `TERM` is not `dumb`.
    #[must_use]
    pub fn stdout() -> Self {
        Self::of_environment(std::io::stdout().is_terminal())
    }

    /// The palette of standard error, by the same rule.
    #[must_use]
    pub fn stderr() -> Self {
        Self::of_environment(std::io::stderr().is_terminal())
    }

    fn of_environment(terminal: bool) -> Self {
        let (no_color, term) = (std::env::var_os("NO_COLOR"), std::env::var_os("TERM"));
        Self::decide(terminal, no_color.as_deref(), term.as_deref())
    }

    fn decide(terminal: bool, no_color: Option<&OsStr>, term: Option<&OsStr>) -> Self {
        let refused = no_color.is_some_and(|value| !value.is_empty());
        let dumb = term.is_some_and(|value| value == "dumb");
        Self { drawn: terminal && !refused && !dumb }
    }

    /// Whether styles are drawn.
    #[must_use]
    pub const fn is_coloured(self) -> bool {
        self.drawn
    }

    /// The text in a style, to be written with `{}`. The text must be safe already; a style does not extend past the end of a
    /// line.
    #[must_use]
    pub const fn paint<T: Display>(self, style: Style, text: T) -> Painted<T> {
        Painted { palette: self, style, text }
    }
}

/// A text with its style; see [`Palette::paint`].
#[derive(Debug, Clone, Copy)]
pub struct Painted<T> {
    palette: Palette,
    style: Style,
    text: T,
}

impl<T: Display> Display for Painted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.palette.drawn {
            return self.text.fmt(f);
        }
        write!(f, "\x1b[{}m", self.style.code())?;
        self.text.fmt(f)?;
        f.write_str("\x1b[0m")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_only_on_terminals_that_allow_them() {
        let os = |s: &'static str| Some(OsStr::new(s));
        for (terminal, no_color, term, drawn) in [
            (true, None, os("xterm"), true),
            (true, os(""), None, true),
            (true, os("1"), os("xterm"), false),
            (true, None, os("dumb"), false),
            (false, None, os("xterm"), false),
        ] {
            assert_eq!(
                Palette::decide(terminal, no_color, term).is_coloured(),
                drawn,
                "{terminal} {no_color:?} {term:?}"
            );
        }
    }

    #[test]
    fn a_plain_palette_keeps_text_as_it_is() {
        assert_eq!(Palette::PLAIN.paint(Style::Error, "bad").to_string(), "bad");
        assert_eq!(Palette::COLOURED.paint(Style::Accent, "good").to_string(), "\x1b[36mgood\x1b[0m");
        assert_eq!(format!("{:>4}|", Palette::COLOURED.paint(Style::Dim, "x")), "\x1b[2m   x\x1b[0m|");
    }
}
