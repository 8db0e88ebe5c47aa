//! The colours of one theme, and its TOML file: the name of a [`Paint`] and its look in each line. Must never ignore anything in
//! such a file silently.

use std::collections::BTreeMap;

use toml::Spanned;

use super::look::Look;
use super::{Background, PAINTS, Paint, known};
use crate::text::safe;

/// The one key of a theme file that is not a paint.
const BASE: &str = "base";

/// The colours of one theme.
#[derive(Debug)]
pub struct Paints {
    name: String,
    about: String,
    looks: Vec<Look>,
}

impl PartialEq for Paints {
    /// Themes are read once: two references are the same theme or not.
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Paints {}

impl Paints {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its description: the first line of its file, if that is a comment.
    #[must_use]
    pub fn about(&self) -> &str {
        &self.about
    }

    /// The background that most of its colours need. `None` if the colours are the terminal's own.
    pub(crate) fn background(&self) -> Option<Background> {
        let (mut bright, mut all) = (0, 0);
        for look in &self.looks {
            if let Some(ratatui::style::Color::Rgb(red, green, blue)) = look.in_full().fg {
                all += 1;
                bright += u32::from((u32::from(red) * 2 + u32::from(green) * 5 + u32::from(blue)) / 8 >= 128);
            }
        }
        (all > 0).then(|| if bright * 2 > all { Background::Dark } else { Background::Light })
    }

    pub(super) fn look(&self, paint: Paint) -> Look {
        self.looks[paint as usize]
    }

    /// Reads a theme file. Errors are returned as sentences with the file and the line; the paints concerned look as in the base.
    pub(super) fn read(name: &str, file: &str, text: &str, wrong: &mut Vec<String>) -> Option<Self> {
        let line = |at: usize| text[..at.min(text.len())].matches('\n').count() + 1;
        let given: BTreeMap<String, Spanned<toml::Value>> = match toml::from_str(text) {
            Ok(given) => given,
            Err(error) => {
                let at = error.span().map_or(1, |span| line(span.start));
                wrong.push(format!("{file}, line {at}: {}", safe::line(error.message())));
                return None;
            }
        };
        let mut paints = Self { name: name.to_owned(), about: about(text), looks: Vec::new() };
        let base =
            given.get(BASE).map(|it| (line(it.span().start), it.get_ref().as_str().unwrap_or_default()));
        paints.looks = match base.map(|(at, base)| (at, base, known::built_in(base))) {
            Some((_, _, Some(base))) => base.looks.clone(),
            Some((at, base, None)) => {
                let base = safe::line(base);
                wrong.push(format!(
                    "{file}, line {at}: “{base}” can't be a base: allowed are {}",
                    known::names()
                ));
                known::terminal().looks.clone()
            }
            // A paint without a look looks like plain text.
            None => vec![Look::default(); PAINTS.len()],
        };
        for (key, value) in given.iter().filter(|(key, _)| *key != BASE) {
            let found = PAINTS.iter().find(|it| it.name == key).ok_or_else(|| no_paint(key));
            let look = found.and_then(|it| match value.get_ref().as_str() {
                Some(text) => {
                    Look::parse(text).map(|look| (it.paint, look)).map_err(|why| format!("{key}: {why}"))
                }
                None => Err(format!("{key}: a look is a text in quotes, such as \"bold #56d4dd\"")),
            });
            match look {
                Ok((paint, look)) => paints.looks[paint as usize] = look,
                Err(why) => wrong.push(format!("{file}, line {}: {why}", line(value.span().start))),
            }
        }
        Some(paints)
    }
}

fn about(text: &str) -> String {
    let first = text.lines().next().and_then(|line| line.strip_prefix('#'));
    safe::line(first.unwrap_or_default().trim()).into_owned()
}

fn no_paint(key: &str) -> String {
    let names: Vec<_> = PAINTS.iter().map(|it| it.name).collect();
    format!("nothing is called “{}”: allowed are {BASE}, {}", safe::line(key), names.join(", "))
}
