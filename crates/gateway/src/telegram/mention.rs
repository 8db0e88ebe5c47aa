//! How a message addresses us: by entities of the Bot API, never by a search in the text. Entities are untrusted: one that does not
//! fit the text is as if it were not there.

use retake_wire::chat::Addressed;
use serde_json::Value;

/// Our own account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Us {
    pub(super) id: String,
    /// Without the `@`.
    pub(super) name: String,
}

/// What a text says, and to whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Read {
    /// The text without a mention of us at its beginning, and without our name behind a command there.
    pub(super) text: String,
    pub(super) addressed: Addressed,
}

/// Reads a text with its entities.
pub(super) fn read(text: &str, entities: &Value, us: &Us) -> Read {
    let all = entities.as_array().map(Vec::as_slice).unwrap_or_default();
    let found: Vec<_> = all.iter().filter_map(|entity| Addressing::of(text, entity, us)).collect();
    let spaces = text.len() - text.trim_start().len();
    let Some(first) = found.iter().find(|one| one.range.start == spaces) else {
        let addressed = if found.is_empty() { Addressed::No } else { Addressed::Mention };
        return Read { text: text.to_owned(), addressed };
    };
    if first.is_command {
        let mut rest = text.to_owned();
        rest.replace_range(first.name.clone(), "");
        return Read { text: rest, addressed: Addressed::Command };
    }
    Read { text: text[first.range.end..].trim_start().to_owned(), addressed: Addressed::Mention }
}

/// An entity that addresses us, in bytes of the text.
struct Addressing {
    range: std::ops::Range<usize>,
    /// Our name in it, with its `@`.
    name: std::ops::Range<usize>,
    is_command: bool,
}

impl Addressing {
    fn of(text: &str, entity: &Value, us: &Us) -> Option<Self> {
        let range = bytes(text, entity["offset"].as_u64()?, entity["length"].as_u64()?)?;
        let part = &text[range.clone()];
        let is_us = |name: &str| !us.name.is_empty() && name.eq_ignore_ascii_case(&us.name);
        match entity["type"].as_str()? {
            "mention" if part.strip_prefix('@').is_some_and(is_us) => {
                Some(Self { name: range.clone(), range, is_command: false })
            }
            "text_mention" if super::update::text_of(&entity["user"]["id"])? == us.id => {
                Some(Self { name: range.clone(), range, is_command: false })
            }
            "bot_command" => {
                let (command, name) = part.split_once('@')?;
                let at = range.start + command.len();
                is_us(name).then_some(Self { name: at..range.end, range, is_command: true })
            }
            _ => None,
        }
    }
}

/// The bytes of a range of UTF-16 code units, if it begins and ends between characters.
fn bytes(text: &str, offset: u64, length: u64) -> Option<std::ops::Range<usize>> {
    let start = byte(text, offset)?;
    let end = start + byte(&text[start..], length)?;
    Some(start..end)
}

fn byte(text: &str, units: u64) -> Option<usize> {
    let mut left = usize::try_from(units).ok()?;
    for (at, character) in text.char_indices() {
        if left == 0 {
            return Some(at);
        }
        left = left.checked_sub(character.len_utf16())?;
    }
    (left == 0).then_some(text.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use retake_wire::chat::Addressed;
    use serde_json::{Value, json};

    use super::{Us, read};

    fn us() -> Us {
        Us { id: "7".into(), name: "retake_bot".into() }
    }

    fn entity(name: &str, offset: u64, length: u64) -> Value {
        json!([{"type": name, "offset": offset, "length": length}])
    }

    /// Case 82.
    #[test]
    fn mentions_and_commands_with_our_name_address_us() {
        let rows = [
            ("hello", json!([]), "hello", Addressed::No),
            ("@retake_bot hi", entity("mention", 0, 11), "hi", Addressed::Mention),
            (" @Retake_Bot  hi", entity("mention", 1, 11), "hi", Addressed::Mention),
            ("👩 @retake_bot", entity("mention", 3, 11), "👩 @retake_bot", Addressed::Mention),
            ("@retake_bot hi", json!([]), "@retake_bot hi", Addressed::No),
            ("@another_bot hi", entity("mention", 0, 12), "@another_bot hi", Addressed::No),
            ("/undo@retake_bot 2", entity("bot_command", 0, 16), "/undo 2", Addressed::Command),
            ("/undo@another_bot", entity("bot_command", 0, 17), "/undo@another_bot", Addressed::No),
            ("/undo", entity("bot_command", 0, 5), "/undo", Addressed::No),
            (
                "say /undo@retake_bot",
                entity("bot_command", 4, 16),
                "say /undo@retake_bot",
                Addressed::Mention,
            ),
        ];
        for (text, entities, rest, addressed) in rows {
            let found = read(text, &entities, &us());
            assert_eq!((found.text.as_str(), found.addressed), (rest, addressed), "{text}");
        }
        let named = json!([{"type": "text_mention", "offset": 0, "length": 3, "user": {"id": 7}}]);
        assert_eq!(read("Bot, hi", &named, &us()).text, ", hi");
    }

    proptest! {
        #[test]
        fn odd_entities_never_panic(text in ".{0,12}", offset in 0..20_u64, length in 0..20_u64, kind in 0..3_usize) {
            let name = ["mention", "bot_command", "text_mention"][kind];
            let entities = json!([{"type": name, "offset": offset, "length": length, "user": {"id": 7}}, 3, null]);
            read(&text, &entities, &us());
        }
    }
}
