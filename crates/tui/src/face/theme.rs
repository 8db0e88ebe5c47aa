//! Colours and signs of the face, by what a thing is. Must never be the only thing that tells two things apart: all of it can be read
//! without colour.

use ratatui::style::{Color, Modifier, Style};

use crate::text::style;

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

/// What a piece of text is; the theme decides how that looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Paint {
    /// Ordinary text.
    Plain,
    /// Secondary: times, ids, hints.
    Dim,
    /// Emphasis.
    Bold,
    /// Leaning.
    Italic,
    /// Struck out.
    Struck,
    /// What can be chosen or typed.
    Accent,
    /// A heading.
    Heading,
    /// An address.
    Link,
    /// Code in a line, and blocks of it where nothing is highlighted.
    Code,
    /// A quotation.
    Quote,
    /// It worked.
    Good,
    /// It needs attention.
    Warn,
    /// It failed.
    Error,
    /// A person speaks.
    User,
    /// A model speaks.
    Model,
    /// A tool.
    Tool,
    /// An added line.
    Added,
    /// A removed line.
    Removed,
    /// The selected row.
    Selected,
    /// A letter that fits what is searched.
    Match,
    /// The border of what has the keys.
    Border,
    /// Bars at the edge.
    Bar,
    /// Highlighted code: a keyword.
    Keyword,
    /// Highlighted code: a string.
    Text,
    /// Highlighted code: a number or constant.
    Number,
    /// Highlighted code: a comment.
    Comment,
    /// Highlighted code: the name of a function.
    Function,
    /// Highlighted code: the name of a type.
    Type,
}

/// The look of the face.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Theme {
    /// What the terminal shows.
    pub colours: Colours,
    /// On what.
    pub background: Background,
}

impl Theme {
    /// How this looks.
    #[must_use]
    pub fn style(self, paint: Paint) -> Style {
        let style = Style::new().add_modifier(modifier(paint));
        match self.colours {
            Colours::None => match paint {
                Paint::Selected | Paint::Match => style.add_modifier(Modifier::REVERSED),
                _ => style,
            },
            Colours::Sixteen => sixteen(style, paint),
            Colours::True => match rgb(self.background, paint) {
                Some(colour) if paint == Paint::Selected => style.bg(colour),
                Some(colour) => style.fg(colour),
                None => style,
            },
        }
    }

    /// How what the renderings of replies call so looks here.
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
        })
    }
}

/// What is seen of it without colour.
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

fn sixteen(style: Style, paint: Paint) -> Style {
    let colour = match paint {
        Paint::Accent | Paint::Heading | Paint::Link | Paint::Border | Paint::Type => Color::Cyan,
        Paint::Good | Paint::Added | Paint::Text => Color::Green,
        Paint::Warn | Paint::Code | Paint::Number => Color::Yellow,
        Paint::Error | Paint::Removed => Color::Red,
        Paint::User | Paint::Function => Color::Blue,
        Paint::Model | Paint::Tool | Paint::Keyword => Color::Magenta,
        Paint::Selected | Paint::Match => return style.add_modifier(Modifier::REVERSED),
        _ => return style,
    };
    style.fg(colour)
}

fn rgb(background: Background, paint: Paint) -> Option<Color> {
    let (dark, light) = match paint {
        Paint::Plain | Paint::Bold | Paint::Italic | Paint::Struck => return None,
        Paint::Dim | Paint::Comment | Paint::Bar => (0x008b_949e, 0x0065_6d76),
        Paint::Accent | Paint::Heading | Paint::Link | Paint::Border => (0x0056_d4dd, 0x0008_6f83),
        Paint::Code => (0x00e3_b341, 0x008a_5a00),
        Paint::Quote => (0x00a5_adb8, 0x0057_606a),
        Paint::Good | Paint::Added => (0x0056_d364, 0x0011_6329),
        Paint::Warn => (0x00e3_b341, 0x009a_6700),
        Paint::Error | Paint::Removed => (0x00ff_7b72, 0x00b3_1d28),
        Paint::User => (0x0079_c0ff, 0x0009_50ae),
        Paint::Model => (0x00d2_a8ff, 0x006f_42c1),
        Paint::Tool => (0x00bc_8cff, 0x0082_50df),
        Paint::Selected => (0x0026_3447, 0x00d8_e6f7),
        Paint::Match => (0x00ff_a657, 0x00bc_4c00),
        Paint::Keyword => (0x00ff_7b9c, 0x00a6_1e5b),
        Paint::Text => (0x0096_d0a0, 0x0020_5a38),
        Paint::Number => (0x0079_c0ff, 0x0005_50ae),
        Paint::Function => (0x00d2_a8ff, 0x0066_39ba),
        Paint::Type => (0x0056_d4dd, 0x000f_6b7a),
    };
    Some(Color::from_u32(if background == Background::Dark { dark } else { light }))
}
