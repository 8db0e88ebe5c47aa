//! The theme of the program, and how long it lasts. Must never keep a theme that was only tried.

use super::App;
use crate::ui::choose::themes;
use crate::ui::msg::{Act, ChoiceDuration};
use crate::ui::theme::{Background, Colours, Theme, Themes};

/// The current theme, and the available themes.
#[derive(Debug)]
pub(super) struct ThemeChoice {
    pub(super) theme: Theme,
    themes: Themes,
    /// The theme to return to while another one is tried.
    before: Option<Theme>,
    /// Whether the terminal has reported its background.
    is_reported: bool,
    /// The last warning that the theme does not fit the terminal.
    warned: Option<String>,
}

impl ThemeChoice {
    pub(super) fn new(theme: Theme) -> Self {
        Self { theme, themes: Themes::default(), before: None, is_reported: false, warned: None }
    }

    fn background(&mut self, background: Background) {
        self.theme.background = background;
        self.is_reported = true;
        if let Some(before) = &mut self.before {
            before.background = background;
        }
    }

    /// Uses a theme. Returns an error if there is none with that name.
    fn choose(&mut self, name: &str, lasts: ChoiceDuration) -> Result<(), String> {
        let chosen = self.themes.choose(name)?;
        let before = self.theme;
        self.theme = Theme { chosen, ..before };
        match lasts {
            ChoiceDuration::Shown => drop(self.before.get_or_insert(before)),
            ChoiceDuration::Kept => self.before = None,
        }
        Ok(())
    }

    /// Why the theme does not fit the background that the terminal reported, once.
    fn misfit(&mut self) -> Option<String> {
        let misfit = self.theme.misfit().filter(|_| self.is_reported)?;
        (self.warned.replace(misfit.clone()).as_ref() != Some(&misfit)).then_some(misfit)
    }

    /// Returns to the theme before the trial.
    fn end_trial(&mut self) {
        if let Some(before) = self.before.take() {
            self.theme = before;
        }
    }
}

impl App {
    /// These themes are available.
    pub(crate) fn offer(&mut self, themes: Themes) {
        self.looks.themes = themes;
    }

    /// The terminal reports its background.
    pub(super) fn background(&mut self, background: Background) {
        self.looks.background(background);
        if let Some(misfit) = self.looks.misfit() {
            self.refuse(misfit);
        }
    }

    /// Offers the themes, or uses the one with this name.
    pub(super) fn choose_theme(&mut self, name: &str) {
        if self.looks.theme.colours == Colours::None {
            return self.refuse("colours are turned off, by NO_COLOR or by face.colours in the settings");
        }
        if !name.is_empty() {
            return self.use_theme(name, ChoiceDuration::Kept);
        }
        let now = self.looks.theme.chosen.map(|paints| paints.name());
        self.open(themes(&self.looks.themes, now));
    }

    /// Uses this theme.
    pub(super) fn use_theme(&mut self, name: &str, lasts: ChoiceDuration) {
        match self.looks.choose(name, lasts) {
            Ok(()) if lasts == ChoiceDuration::Kept => self.requests.acts.push(Act::Keep(name.to_owned())),
            Ok(()) => {}
            Err(why) => self.refuse(why),
        }
    }

    /// The theme was written to the settings, or not.
    pub(super) fn theme_stored(&mut self, name: &str, stored: Result<(), String>) {
        match stored {
            Ok(()) => match self.looks.misfit() {
                None => self.say(format!("the theme is {name}, here and in the settings")),
                Some(misfit) => self.refuse(format!("stored in the settings, but {misfit}")),
            },
            Err(why) => self.refuse(format!("the theme is {name}, but only until you quit: {why}")),
        }
    }

    /// A trial of a theme ends with the list that it was tried in.
    pub(super) fn end_trial(&mut self) {
        if self.tab().panes.front.is_none() {
            self.looks.end_trial();
        }
    }
}
