//! The settings of the UI, the table `[face]` of the settings file, and what follows from them and from the terminal. Must never
//! read the environment: variables are parameters.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::keymap::Keymap;
use super::theme::{Background, Colours, Theme, Themes};

/// The settings of the full-screen program. `retake config` describes them and their defaults.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The theme, by its name; `auto` is the one that fits the terminal.
    pub theme: String,
    /// Light or dark.
    pub background: BackgroundChoice,
    /// How many colours.
    pub colours: ColourChoice,
    /// Whether Esc, pressed twice in an empty composer, opens the rewind.
    pub escape_rewinds: bool,
    /// A run that took so many seconds tells when it ends, if the terminal is not looked at.
    pub notify_after_s: u64,
    /// Whether the mouse is used; without it the terminal selects text as ever.
    pub mouse: bool,
    /// Other keys of commands, by their names; no keys switch them off.
    pub keys: BTreeMap<String, Vec<String>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            theme: "auto".to_owned(),
            background: BackgroundChoice::Auto,
            colours: ColourChoice::Auto,
            escape_rewinds: true,
            notify_after_s: 20,
            mouse: true,
            keys: BTreeMap::new(),
        }
    }
}

/// Light or dark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BackgroundChoice {
    /// As the terminal says that its background is.
    #[default]
    Auto,
    /// For a dark background.
    Dark,
    /// For a light background.
    Light,
}

/// How many colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum ColourChoice {
    /// What the terminal says that it shows.
    #[default]
    #[serde(rename = "auto")]
    Auto,
    /// None.
    #[serde(rename = "none")]
    None,
    /// The sixteen that the terminal's owner chose.
    #[serde(rename = "16")]
    Sixteen,
    /// Sixteen million.
    #[serde(rename = "truecolor")]
    True,
}

/// The configuration of the UI.
#[derive(Clone, Debug, Default)]
pub struct Configured {
    /// The settings.
    pub settings: Settings,
    /// The keymap.
    pub keys: Keymap,
    /// The available themes.
    pub themes: Themes,
    /// Errors in the settings, one sentence each.
    pub wrong: Vec<String>,
}

impl Configured {
    /// The configuration from the settings, with these themes. `at` gives the position of a setting, for the sentences about
    /// errors.
    #[must_use]
    pub fn new(settings: Settings, themes: Themes, at: &dyn Fn(&str) -> String) -> Self {
        let mut keys = Keymap::default();
        let mut wrong = keys.configure(&settings.keys, at);
        let chosen = themes.choose(&settings.theme);
        wrong.extend(chosen.err().map(|why| format!("{}: {why}", at("face.theme"))));
        Self { settings, keys, themes, wrong }
    }

    /// The theme from the settings and the environment variables; without colours if `coloured` is false and the settings do not
    /// say otherwise.
    #[must_use]
    pub fn theme(&self, coloured: bool, variable: &dyn Fn(&str) -> Option<String>) -> Theme {
        let colours = match self.settings.colours {
            ColourChoice::Auto if coloured => Colours::of_variables(variable),
            ColourChoice::Auto | ColourChoice::None => Colours::None,
            ColourChoice::Sixteen => Colours::Sixteen,
            ColourChoice::True => Colours::True,
        };
        let background = match self.settings.background {
            BackgroundChoice::Auto => Background::of_variables(variable).unwrap_or_default(),
            BackgroundChoice::Dark => Background::Dark,
            BackgroundChoice::Light => Background::Light,
        };
        // A missing theme is reported with the other errors.
        let chosen = self.themes.choose(&self.settings.theme).unwrap_or_default();
        Theme { colours, background, chosen }
    }
}

impl Settings {
    /// Whether to ask the terminal for its background.
    pub(super) fn is_background_asked(&self, theme: Theme) -> bool {
        self.background == BackgroundChoice::Auto && theme.colours == Colours::True
    }
}

impl Colours {
    /// The colours of a terminal according to its variables: `NO_COLOR` and `TERM=dumb` mean none.
    #[must_use]
    pub fn of_variables(variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let given = |name: &str| variable(name).filter(|value| !value.is_empty());
        let term = given("TERM").unwrap_or_default();
        if given("NO_COLOR").is_some() || term == "dumb" {
            return Self::None;
        }
        let says = given("COLORTERM").unwrap_or_default();
        let has_all = matches!(says.as_str(), "truecolor" | "24bit")
            || term.ends_with("-direct")
            // Windows Terminal and kitty set variables of their own, also where the other one does not arrive.
            || given("WT_SESSION").is_some()
            || term == "xterm-kitty"
            || term == "xterm-ghostty";
        if has_all { Self::True } else { Self::Sixteen }
    }
}

impl Background {
    /// The background from `COLORFGBG`, which some terminals set: the last number is the background colour, one of sixteen.
    #[must_use]
    pub fn of_variables(variable: &dyn Fn(&str) -> Option<String>) -> Option<Self> {
        let both = variable("COLORFGBG")?;
        let behind: u8 = both.rsplit(';').next()?.parse().ok()?;
        match behind {
            7 | 9..=15 => Some(Self::Light),
            0..=6 | 8 => Some(Self::Dark),
            _ => None,
        }
    }

    /// The background from a terminal's answer to the query for it (OSC 11): `ESC ] 11 ; rgb:RRRR/GGGG/BBBB`, ended by a bell or
    /// by `ESC \`. `None` if it is no such answer.
    #[must_use]
    pub fn of_answer(answer: &str) -> Option<Self> {
        let (_, colour) = answer.split_once("]11;")?;
        let (_, colour) = colour.split_once(':')?;
        let mut parts = colour.split('/').map(|part| {
            let digits: String = part.chars().take_while(char::is_ascii_hexdigit).take(4).collect();
            let most = f64::from((1_u32 << (4 * u32::try_from(digits.len()).ok()?)) - 1);
            u16::from_str_radix(&digits, 16).ok().map(|part| f64::from(part) / most)
        });
        let mut next = || parts.next().flatten();
        let (red, green, blue) = (next()?, next()?, next()?);
        // The brightness as people perceive it.
        let bright = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
        Some(if bright > 0.5 { Self::Light } else { Self::Dark })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables<'a>(set: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
        |name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn colours_follow_the_variables_of_the_terminal() {
        for (set, colours) in [
            (&[][..], Colours::Sixteen),
            (&[("TERM", "xterm-256color")], Colours::Sixteen),
            (&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")], Colours::True),
            (&[("COLORTERM", "24bit")], Colours::True),
            (&[("TERM", "xterm-kitty")], Colours::True),
            (&[("TERM", "tmux-direct")], Colours::True),
            (&[("WT_SESSION", "1")], Colours::True),
            (&[("TERM", "dumb"), ("COLORTERM", "truecolor")], Colours::None),
            (&[("NO_COLOR", "1"), ("COLORTERM", "truecolor")], Colours::None),
            (&[("NO_COLOR", "")], Colours::Sixteen),
        ] {
            assert_eq!(Colours::of_variables(&variables(set)), colours, "{set:?}");
        }
    }

    #[test]
    fn light_and_dark() {
        for (value, background) in [
            ("15;0", Some(Background::Dark)),
            ("0;15", Some(Background::Light)),
            ("0;default;15", Some(Background::Light)),
            ("12;8", Some(Background::Dark)),
            ("0;default", None),
            ("", None),
        ] {
            let set = [("COLORFGBG", value)];
            assert_eq!(Background::of_variables(&variables(&set)), background, "{value}");
        }
    }

    #[test]
    fn the_background_is_read_from_the_answer_of_the_terminal() {
        for (answer, background) in [
            ("\x1b]11;rgb:0000/0000/0000\x1b\\", Some(Background::Dark)),
            ("\x1b]11;rgb:ffff/ffff/ffff\x07", Some(Background::Light)),
            ("\x1b]11;rgb:fd/f6/e3\x07", Some(Background::Light)),
            ("\x1b]11;rgba:1e1e/1e1e/2e2e/ffff\x07", Some(Background::Dark)),
            ("\x1b]11;rgb:f/f/f\x07", Some(Background::Light)),
            ("\x1b]11;rgb:ffff/ffff\x07", None),
            ("\x1b]11;rgb:zz/zz/zz\x07", None),
            ("\x1b]10;rgb:ffff/ffff/ffff\x07", None),
            ("", None),
        ] {
            assert_eq!(Background::of_answer(answer), background, "{answer:?}");
        }
    }

    #[test]
    fn settings_come_before_what_the_terminal_says() {
        let says = variables(&[("COLORTERM", "truecolor"), ("COLORFGBG", "0;15")]);
        let theme = |json: &str, coloured| {
            let settings: Settings = serde_json::from_str(json).expect("settings");
            Configured { settings, ..Configured::default() }.theme(coloured, &says)
        };
        assert_eq!(theme("{}", true), Theme::usual(Colours::True, Background::Light));
        assert_eq!(theme("{}", false), Theme::usual(Colours::None, Background::Light));
        assert_eq!(
            theme(r#"{"background": "dark", "colours": "16"}"#, false),
            Theme::usual(Colours::Sixteen, Background::Dark)
        );
        assert_eq!(theme(r#"{"colours": "none"}"#, true), Theme::usual(Colours::None, Background::Light));
        let chosen = theme(r#"{"theme": "ember"}"#, true).chosen.expect("chosen");
        assert_eq!(chosen.name(), "ember");
    }

    #[test]
    fn unknown_theme_is_reported() {
        let settings = Settings { theme: "blue".to_owned(), ..Settings::default() };
        let configured = Configured::new(settings, Themes::default(), &|key| format!("line 3, {key}"));
        assert_eq!(configured.theme(true, &|_| None), Theme::default());
        assert_eq!(
            configured.wrong,
            [
                "line 3, face.theme: there is no theme “blue”: there are auto, terminal, dark, light, ember, paper"
            ]
        );
    }

    #[test]
    fn unknown_setting_is_refused() {
        for json in [r#"{"colour": "16"}"#, r#"{"background": "blue"}"#, r#"{"keys": {"rewind": "f5"}}"#] {
            assert!(serde_json::from_str::<Settings>(json).is_err(), "{json}");
        }
    }
}
