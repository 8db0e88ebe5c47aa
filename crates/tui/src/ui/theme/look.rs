//! The look of one paint, as written in a theme file: `bold #56d4dd on black`. Must never make text invisible on a terminal with
//! fewer colours than intended.

use ratatui::style::{Color, Modifier, Style};

/// The sixteen colours by name, with their usual values.
const SIXTEEN: [(&str, Color, u32); 16] = [
    ("black", Color::Black, 0x0000_0000),
    ("red", Color::Red, 0x00cd_0000),
    ("green", Color::Green, 0x0000_cd00),
    ("yellow", Color::Yellow, 0x00cd_cd00),
    ("blue", Color::Blue, 0x0000_00ee),
    ("magenta", Color::Magenta, 0x00cd_00cd),
    ("cyan", Color::Cyan, 0x0000_cdcd),
    ("white", Color::Gray, 0x00e5_e5e5),
    ("bright-black", Color::DarkGray, 0x007f_7f7f),
    ("bright-red", Color::LightRed, 0x00ff_0000),
    ("bright-green", Color::LightGreen, 0x0000_ff00),
    ("bright-yellow", Color::LightYellow, 0x00ff_ff00),
    ("bright-blue", Color::LightBlue, 0x005c_5cff),
    ("bright-magenta", Color::LightMagenta, 0x00ff_00ff),
    ("bright-cyan", Color::LightCyan, 0x0000_ffff),
    ("bright-white", Color::White, 0x00ff_ffff),
];

const MODIFIERS: [(&str, Modifier); 6] = [
    ("bold", Modifier::BOLD),
    ("dim", Modifier::DIM),
    ("italic", Modifier::ITALIC),
    ("underlined", Modifier::UNDERLINED),
    ("struck", Modifier::CROSSED_OUT),
    ("reversed", Modifier::REVERSED),
];

/// The look of one paint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Look {
    full: Style,
    sixteen: Style,
}

impl Look {
    /// Parses it. The error says what is wrong, and what is allowed.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut full = Style::new();
        let (mut front, mut back) = (None, None);
        let mut words = text.split_whitespace();
        while let Some(word) = words.next() {
            if let Some((_, modifier)) = MODIFIERS.iter().find(|(name, _)| *name == word) {
                full = full.add_modifier(*modifier);
                continue;
            }
            let (place, word) = match word {
                "on" => (&mut back, words.next().ok_or("a colour is missing after “on”")?),
                word => (&mut front, word),
            };
            let found = colour(word)?;
            if place.replace(found).is_some() {
                return Err(format!("“{word}” is a second colour; that of the background stands after “on”"));
            }
        }
        let mut sixteen = full;
        full.fg = front.flatten();
        full.bg = back.flatten();
        sixteen.fg = full.fg.map(nearest);
        match full.bg {
            // The nearest of the sixteen to a shade of the background is the background itself.
            Some(Color::Rgb(..)) => sixteen = sixteen.add_modifier(Modifier::REVERSED),
            named => sixteen.bg = named,
        }
        Ok(Self { full, sixteen })
    }

    /// With all colours.
    pub(super) fn in_full(self) -> Style {
        self.full
    }

    /// With sixteen colours.
    pub(super) fn in_sixteen(self) -> Style {
        self.sixteen
    }
}

/// A colour by name or digits; `default` is none.
fn colour(word: &str) -> Result<Option<Color>, String> {
    if word == "default" {
        return Ok(None);
    }
    if let Some((_, colour, _)) = SIXTEEN.iter().find(|(name, ..)| *name == word) {
        return Ok(Some(*colour));
    }
    let digits = word.strip_prefix('#').filter(|digits| digits.len() == 6);
    match digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()) {
        Some(number) => Ok(Some(Color::from_u32(number))),
        None => Err(format!(
            "“{}” is not a colour: allowed are #rrggbb, default, {}, and before them {}",
            crate::text::safe::line(word),
            "black, red, green, yellow, blue, magenta, cyan, white, each also as bright-red",
            MODIFIERS.map(|(name, _)| name).join(", "),
        )),
    }
}

/// The nearest of the sixteen colours. A colour with a hue keeps it: greys are near to every colour.
fn nearest(colour: Color) -> Color {
    let Color::Rgb(red, green, blue) = colour else { return colour };
    let wanted = [red, green, blue].map(i64::from);
    let is_grey = spread(wanted) < 40;
    let candidates = SIXTEEN.iter().map(|(_, colour, number)| {
        let [_, red, green, blue] = number.to_be_bytes();
        (*colour, [red, green, blue].map(i64::from))
    });
    let alike = candidates.filter(|(_, parts)| (spread(*parts) == 0) == is_grey);
    let nearest = alike.min_by_key(|(_, parts)| {
        if is_grey {
            far(wanted, *parts)
        } else {
            far(lively(wanted), lively(*parts)) + far(wanted, *parts) / 8
        }
    });
    nearest.map_or(colour, |(colour, _)| colour)
}

fn spread(parts: [i64; 3]) -> i64 {
    parts.iter().max().unwrap_or(&0) - parts.iter().min().unwrap_or(&0)
}

/// The same hue at full saturation.
fn lively(parts: [i64; 3]) -> [i64; 3] {
    let least = *parts.iter().min().unwrap_or(&0);
    let wide = spread(parts).max(1);
    parts.map(|part| (part - least) * 255 / wide)
}

fn far(one: [i64; 3], other: [i64; 3]) -> i64 {
    one.iter().zip(other).map(|(one, other)| (one - other) * (one - other)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> String {
        let tell = |style: Style| {
            let colour = |colour: Option<Color>| colour.map_or("-".to_owned(), |colour| colour.to_string());
            format!("{} on {} {:?}", colour(style.fg), colour(style.bg), style.add_modifier)
        };
        match Look::parse(text) {
            Ok(look) => format!("{} | {}", tell(look.full), tell(look.sixteen)),
            Err(wrong) => wrong,
        }
    }

    #[test]
    fn looks_are_read() {
        let allowed = "allowed are #rrggbb, default, black, red, green, yellow, blue, magenta, cyan, white, each also as \
                       bright-red, and before them bold, dim, italic, underlined, struck, reversed";
        for (text, expected) in [
            ("", "- on - NONE | - on - NONE".to_owned()),
            ("default", "- on - NONE | - on - NONE".to_owned()),
            ("bold cyan", "Cyan on - BOLD | Cyan on - BOLD".to_owned()),
            ("white on blue", "Gray on Blue NONE | Gray on Blue NONE".to_owned()),
            ("#ff7b72", "#FF7B72 on - NONE | LightRed on - NONE".to_owned()),
            ("on #263447", "- on #263447 NONE | - on - REVERSED".to_owned()),
            ("pink", format!("“pink” is not a colour: {allowed}")),
            ("#12345", format!("“#12345” is not a colour: {allowed}")),
            ("red blue", "“blue” is a second colour; that of the background stands after “on”".to_owned()),
            ("red on", "a colour is missing after “on”".to_owned()),
        ] {
            assert_eq!(told(text), expected, "{text}");
        }
    }

    #[test]
    fn with_sixteen_colours_the_nearest_one_is_used() {
        for (number, name) in [
            (0x0000_0000, "black"),
            (0x00ff_ffff, "bright-white"),
            (0x008b_949e, "bright-black"),
            (0x0057_606a, "bright-black"),
            (0x0056_d4dd, "cyan"),
            (0x0056_d364, "green"),
            (0x00e3_b341, "yellow"),
            (0x00b3_1d28, "red"),
            (0x0009_50ae, "blue"),
            (0x006f_42c1, "bright-blue"),
        ] {
            let found = nearest(Color::from_u32(number));
            let found = SIXTEEN.iter().find(|(_, colour, _)| *colour == found).map(|(name, ..)| *name);
            assert_eq!(found, Some(name), "{number:06x}");
        }
    }
}
