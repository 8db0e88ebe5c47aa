//! Which theme the UI has, and for how long. Must never leave the look of a theme that was only tried.

use super::App;
use crate::ui::choose::themes;
use crate::ui::msg::{Act, Lasts};
use crate::ui::theme::{Background, Colours, Theme, Themes};

impl App {
    /// These themes can be chosen.
    pub(crate) fn offer(&mut self, themes: Themes) {
        self.themes = themes;
    }

    /// The terminal says what its background is.
    pub(super) fn background(&mut self, background: Background) {
        self.theme.background = background;
        if let Some(tried) = &mut self.tried {
            tried.background = background;
        }
    }

    /// Offers the themes, or takes the one that is named.
    pub(super) fn choose_theme(&mut self, name: &str) {
        if self.theme.colours == Colours::None {
            return self
                .refuse("there are no colours here: NO_COLOR, or face.colours in the settings, says so");
        }
        if !name.is_empty() {
            return self.look_like(name, Lasts::Kept);
        }
        let now = self.theme.chosen.map(|paints| paints.name());
        self.open(themes(&self.themes, now));
    }

    /// Looks like this theme.
    pub(super) fn look_like(&mut self, name: &str, lasts: Lasts) {
        let chosen = match self.themes.choose(name) {
            Ok(chosen) => chosen,
            Err(why) => return self.refuse(why),
        };
        let before = self.theme;
        self.theme = Theme { chosen, ..before };
        match lasts {
            Lasts::Shown => drop(self.tried.get_or_insert(before)),
            Lasts::Kept => {
                self.tried = None;
                self.acts.push(Act::Keep(name.to_owned()));
            }
        }
    }

    pub(super) fn kept(&mut self, name: &str, kept: Result<(), String>) {
        match kept {
            Ok(()) => self.say(format!("the theme is {name}, here and in the settings")),
            Err(why) => self.refuse(format!("the theme is {name}, but only until you leave: {why}")),
        }
    }

    /// What was tried is over with the list that it was tried in.
    pub(super) fn no_longer_tried(&mut self) {
        if self.tab().pane.is_none()
            && let Some(before) = self.tried.take()
        {
            self.theme = before;
        }
    }
}
