//! Colours and signs of the UI, by meaning. Must never be the only difference between two things: everything is readable without
//! colour.

mod known;
mod look;
mod paints;
#[cfg(test)]
mod tests;

use ratatui::style::{Modifier, Style};

use crate::text::style;

pub use known::Themes;
pub use paints::Paints;

/// The sign beside the selected row of every list.
pub(super) const CURSOR: &str = "❯";

/// Marks what is no part of a text, such as line numbers: copying with the mouse leaves it out. It never reaches the terminal.
pub(super) const LABEL: Modifier = Modifier::RAPID_BLINK;

/// How many colours the terminal shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colours {
    /// None: only bold, underlined and reversed.
    None,
    /// The sixteen that the terminal's owner chose.
    #[default]
    Sixteen,
    /// Sixteen million.
    True,
}

/// What the terminal's background is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Background {
    /// Dark.
    #[default]
    Dark,
    /// Light.
    Light,
}

/// A row of the table of paints.
#[derive(Clone, Copy, Debug)]
pub struct PaintRow {
    /// The paint.
    pub paint: Paint,
    /// Its name in theme files.
    pub name: &'static str,
    /// Its meaning.
    pub about: &'static str,
}

macro_rules! paints {
    ($($paint:ident $name:literal $about:literal;)*) => {
        /// The meaning of a piece of text; the theme decides how it looks.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Paint {
            $(#[doc = $about] $paint,)*
        }

        /// All paints, in order.
        pub const PAINTS: &[PaintRow] =
            &[$(PaintRow { paint: Paint::$paint, name: $name, about: $about },)*];
    };
}

paints! {
    Plain "plain" "Ordinary text.";
    Dim "dim" "Secondary: times, ids, hints.";
    Bold "bold" "Emphasis.";
    Italic "italic" "Italic text.";
    Struck "struck" "Struck out.";
    Accent "accent" "What can be chosen or typed.";
    Heading "heading" "A heading.";
    Link "link" "An address.";
    Code "code" "Code in a line, and blocks of it where nothing is highlighted.";
    Quote "quote" "A quotation.";
    Good "good" "It worked.";
    Warn "warn" "It needs attention.";
    Error "error" "It failed.";
    User "user" "A person speaks.";
    Model "model" "A model speaks.";
    Tool "tool" "A tool.";
    Added "added" "An added line.";
    Removed "removed" "A removed line.";
    Selected "selected" "The selected row.";
    Match "match" "A letter that matches the search.";
    Border "border" "The border of the pane that has the focus.";
    Bar "bar" "Bars at the edge.";
    Keyword "keyword" "Highlighted code: a keyword.";
    Text "string" "Highlighted code: a string.";
    Number "number" "Highlighted code: a number or constant.";
    Comment "comment" "Highlighted code: a comment.";
    Function "function" "Highlighted code: the name of a function.";
    Type "type" "Highlighted code: the name of a type.";
}

/// The look of the UI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Theme {
    /// The colours of the terminal.
    pub colours: Colours,
    /// Its background.
    pub background: Background,
    /// The chosen theme; `None` for the one that fits the terminal.
    pub chosen: Option<&'static Paints>,
}

impl Theme {
    /// The default theme for a terminal.
    #[must_use]
    pub const fn usual(colours: Colours, background: Background) -> Self {
        Self { colours, background, chosen: None }
    }

    /// Why the chosen theme is hard to read in this terminal, if so.
    pub(super) fn misfit(self) -> Option<String> {
        let chosen = self.chosen.filter(|_| self.colours == Colours::True)?;
        let needed = chosen.background().filter(|needed| *needed != self.background)?;
        let word = |background| if background == Background::Dark { "dark" } else { "light" };
        Some(format!(
            "the theme {} is for a {} background, and that of this terminal is {}: /theme auto fits",
            crate::text::safe::line(chosen.name()),
            word(needed),
            word(self.background)
        ))
    }

    /// The style of this paint.
    #[must_use]
    pub fn style(self, paint: Paint) -> Style {
        // A coloured paint is not dimmed, too: it would be unreadable.
        let plain = Style::new().add_modifier(modifier(paint));
        let on = |look: Style| {
            let faint = if look.fg.is_some() { Modifier::DIM } else { Modifier::empty() };
            Style { add_modifier: plain.add_modifier.difference(faint), ..plain }.patch(look)
        };
        let usual = || match (self.colours, self.background) {
            (Colours::True, Background::Dark) => known::dark(),
            (Colours::True, Background::Light) => known::light(),
            (Colours::None | Colours::Sixteen, _) => known::terminal(),
        };
        match self.colours {
            Colours::None if matches!(paint, Paint::Selected | Paint::Match) => {
                plain.add_modifier(Modifier::REVERSED)
            }
            Colours::None => plain,
            Colours::Sixteen => on(self.chosen.unwrap_or_else(usual).look(paint).in_sixteen()),
            Colours::True => on(self.chosen.unwrap_or_else(usual).look(paint).in_full()),
        }
    }

    /// The style for a style of the renderings.
    #[must_use]
    pub fn of(self, what: style::Style) -> Style {
        self.style(match what {
            style::Style::Dim => Paint::Dim,
            style::Style::Bold => Paint::Bold,
            style::Style::Accent => Paint::Accent,
            style::Style::Good => Paint::Good,
            style::Style::Warn => Paint::Warn,
            style::Style::Error => Paint::Error,
            style::Style::User => Paint::User,
            style::Style::Model => Paint::Model,
            style::Style::Tool => Paint::Tool,
            style::Style::Added => Paint::Added,
            style::Style::Removed => Paint::Removed,
            style::Style::Match => Paint::Accent,
        })
    }
}

/// Its look without colour.
fn modifier(paint: Paint) -> Modifier {
    match paint {
        Paint::Bold | Paint::Error | Paint::User | Paint::Model | Paint::Selected | Paint::Match => {
            Modifier::BOLD
        }
        Paint::Heading => Modifier::BOLD.union(Modifier::UNDERLINED),
        Paint::Italic | Paint::Quote | Paint::Comment => Modifier::ITALIC,
        Paint::Struck => Modifier::CROSSED_OUT,
        Paint::Link => Modifier::UNDERLINED,
        Paint::Dim => Modifier::DIM,
        _ => Modifier::empty(),
    }
}
