//! Names that people give: labels of messages, titles of conversations. Must never accept a terminal control character or an
//! invisible one: all characters of a name are visible.

use std::borrow::Cow;

use unicode_normalization::{UnicodeNormalization, is_nfkc};

use crate::refusal::Refusal;

/// A title in its stored form: as it was typed, without surrounding blanks.
///
/// # Errors
///
/// It has no visible character, or one that a name must not contain.
pub fn title(typed: &str) -> Result<String, Refusal> {
    let title = typed.trim();
    if let Some(unfit) = title.chars().find(|c| is_unfit(*c)) {
        return Err(Refusal::BadName(unfit));
    }
    if title.chars().all(|c| c.is_whitespace() || joins(c)) {
        return Err(Refusal::EmptyLabel);
    }
    Ok(title.to_owned())
}

/// A label in its stored form: equivalent characters are normalised (NFKC), so that `ｄｒａｆｔ` becomes `draft`.
///
/// # Errors
///
/// Those of a title.
pub fn label(typed: &str) -> Result<String, Refusal> {
    title(typed)?;
    title(&written(typed))
}

/// The common form of labels that look the same.
pub(crate) fn looks(label: &str) -> Cow<'_, str> {
    let label = written(label);
    if !label.contains(joins) { label } else { Cow::Owned(label.replace(joins, "")) }
}

/// A title of an import: forbidden characters become blanks. None if nothing is left.
pub fn title_of_import(found: &str) -> Option<String> {
    let fit: String = found.chars().map(|c| if is_unfit(c) { ' ' } else { c }).collect();
    let words: Vec<&str> = if fit == found { vec![found] } else { fit.split_whitespace().collect() };
    title(&words.join(" ")).ok()
}

/// A label of an import, with the same rules.
pub fn label_of_import(found: &str) -> Option<String> {
    title_of_import(&written(found))
}

fn written(label: &str) -> Cow<'_, str> {
    if is_nfkc(label) { Cow::Borrowed(label) } else { Cow::Owned(label.nfkc().collect()) }
}

/// Whether a character is visible as itself: no control character, no change of direction, no zero width.
pub fn is_seen(c: char) -> bool {
    !is_unfit(c) && !joins(c)
}

/// Whether a character controls a terminal, changes the direction of text, or has zero width without being a joiner of scripts or
/// emoji.
fn is_unfit(c: char) -> bool {
    c.is_control()
        || matches!(c,
            // Marks, embeddings, overrides and isolates of direction.
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            // Breaks of lines and paragraphs.
            | '\u{2028}' | '\u{2029}'
            // Characters of zero width, or empty letters.
            | '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e001f}')
}

/// Whether a character only changes how its neighbours are drawn: scripts and emoji need it, and it is invisible itself.
fn joins(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0020}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_stays_as_it_was_typed() {
        for fit in ["Tea & “cake”", "ｔｅａ，お茶", "❤\u{fe0f} 👩\u{200d}💻", "می\u{200c}خواهم", "½"]
        {
            assert_eq!(title(&format!(" {fit} ")).as_deref(), Ok(fit));
        }
        assert_eq!(title("a\u{1b}[2J"), Err(Refusal::BadName('\u{1b}')));
        assert_eq!(title("a\u{202e}b"), Err(Refusal::BadName('\u{202e}')));
        assert_eq!(title("\u{200d}\u{fe0f} "), Err(Refusal::EmptyLabel));
    }

    #[test]
    fn trial_15_labels_that_mean_the_same_are_written_alike() {
        for (typed, kept) in [("ｔ１", "t1"), ("cafe\u{301}", "café"), ("a\u{a0}b", "a b"), (" ＠", "@")]
        {
            assert_eq!(label(typed).as_deref(), Ok(kept));
        }
        assert_eq!(label("\u{ffa0}"), Err(Refusal::BadName('\u{ffa0}')));
        assert_eq!(looks("me\u{200d}al"), looks("ｍeal"));
        assert_ne!(looks("meal"), looks("Meal"));
    }

    #[test]
    fn a_title_of_an_import_loses_what_can_not_be_in_one() {
        let rows = [
            ("Tea,  and cake", Some("Tea,  and cake")),
            ("Tea\nand\u{1b} cake", Some("Tea and cake")),
            ("\u{202e}\n", None),
            ("", None),
        ];
        for (found, kept) in rows {
            assert_eq!(title_of_import(found).as_deref(), kept);
        }
    }

    #[test]
    fn invisible_characters_are_recognised() {
        for (sign, seen) in [
            ('a', true),
            ('é', true),
            ('👩', true),
            (' ', true),
            ('\u{1b}', false),
            ('\u{202e}', false),
            ('\u{200b}', false),
            ('\u{2028}', false),
            ('\u{200d}', false),
            ('\u{fe0f}', false),
        ] {
            assert_eq!(is_seen(sign), seen, "{sign:?}");
        }
        assert_eq!(label_of_import("ｔ１\n").as_deref(), Some("t1"));
        assert_eq!(label_of_import("\n"), None);
    }
}
