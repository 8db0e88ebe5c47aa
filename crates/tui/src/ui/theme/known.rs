//! The available themes: built-in ones, and the person's own. Must never let an own theme replace one that others are based on.

use std::path::Path;
use std::sync::LazyLock;

use super::Paints;

/// The built-in themes, in the order of the list.
const BUILT_IN: [(&str, &str); 5] = [
    ("terminal", include_str!("terminal.toml")),
    ("dark", include_str!("dark.toml")),
    ("light", include_str!("light.toml")),
    ("ember", include_str!("ember.toml")),
    ("paper", include_str!("paper.toml")),
];

/// The name for the theme that fits the terminal.
const AUTO: &str = "auto";

static READ: LazyLock<Vec<Paints>> = LazyLock::new(|| {
    let mut wrong = Vec::new();
    let read =
        BUILT_IN.iter().filter_map(|(name, text)| Paints::read(name, name, text, &mut wrong)).collect();
    assert!(wrong.is_empty(), "BUG: {wrong:?}");
    read
});

pub(super) fn terminal() -> &'static Paints {
    &READ[0]
}

pub(super) fn dark() -> &'static Paints {
    &READ[1]
}

pub(super) fn light() -> &'static Paints {
    &READ[2]
}

pub(super) fn built_in(name: &str) -> Option<&'static Paints> {
    READ.iter().find(|paints| paints.name() == name)
}

pub(super) fn names() -> String {
    BUILT_IN.map(|(name, _)| name).join(", ")
}

/// The available themes.
#[derive(Clone, Debug)]
pub struct Themes(Vec<&'static Paints>);

impl Default for Themes {
    fn default() -> Self {
        Self(READ.iter().collect())
    }
}

impl Themes {
    /// Adds a theme from a file, which gives it its name. Errors are returned as sentences. The theme stays until the process
    /// ends.
    pub fn add(&mut self, file: &Path, text: &str) -> Vec<String> {
        let shown = file.display().to_string();
        let shown = crate::text::safe::line(&shown);
        let name = file.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        if name == AUTO || built_in(name).is_some() {
            return vec![format!("{shown}: {name} is a theme of retake; give the file another name")];
        }
        let mut wrong = Vec::new();
        if let Some(paints) = Paints::read(name, &shown, text, &mut wrong) {
            self.0.push(Box::leak(Box::new(paints)));
        }
        wrong
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &'static Paints> + '_ {
        self.0.iter().copied()
    }

    /// The theme with this name; `None` if the terminal decides.
    ///
    /// # Errors
    ///
    /// A sentence, if no theme has that name.
    pub fn choose(&self, name: &str) -> Result<Option<&'static Paints>, String> {
        if name == AUTO {
            return Ok(None);
        }
        self.iter().find(|paints| paints.name() == name).map(Some).ok_or_else(|| {
            let names: Vec<_> = self.iter().map(Paints::name).collect();
            format!(
                "there is no theme “{}”: there are {AUTO}, {}",
                crate::text::safe::line(name),
                names.join(", ")
            )
        })
    }
}
