//! Whether a text addresses us by a mention, and the text without it. Must never take an ordinary word for our name where the client
//! says whom it mentions.

use serde_json::Value;

/// Our names in a room.
#[derive(Clone, Debug)]
pub(super) struct Names {
    /// Our id.
    pub(super) id: String,
    /// Our display names: in the room and elsewhere.
    pub(super) shown: Vec<String>,
}

/// A text as it reaches us.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Heard {
    /// Whether it mentions us.
    pub(super) is_mention: bool,
    /// The text without a mention at its beginning.
    pub(super) text: String,
}

impl Names {
    /// Reads a text. `mentions` is `m.mentions` of its content.
    pub(super) fn hear(&self, mentions: &Value, text: &str) -> Heard {
        let is_listed = mentions["user_ids"]
            .as_array()
            .is_some_and(|ids| ids.iter().any(|id| id.as_str() == Some(&self.id)));
        let heard = |text: &str| Heard { is_mention: true, text: text.to_owned() };
        match self.after_name(text) {
            // Clients without `m.mentions` mention by names alone; others list whom they mention [D]. But who types a name and a
            // colon means us, too.
            Some((rest, has_mark)) if is_listed || has_mark || mentions.is_null() => heard(rest),
            _ if is_listed || has_word(text, &self.id) => heard(text),
            _ if mentions.is_null() && self.shown.iter().any(|name| has_word(text, name)) => heard(text),
            _ => Heard { is_mention: false, text: text.to_owned() },
        }
    }

    /// What follows our name at the beginning, and whether a mark that ends an address stands between them.
    fn after_name<'a>(&self, text: &'a str) -> Option<(&'a str, bool)> {
        let text = text.trim_start();
        if let Some(rest) = self.after_link(text) {
            return Some((after_mark(rest).unwrap_or(rest.trim_start()), true));
        }
        let unsigned = text.strip_prefix('@').unwrap_or(text);
        let localpart = self.id.trim_start_matches('@').split(':').next().unwrap_or_default();
        let at_id = after_word(text, &self.id);
        // With a sign, a colon and no space, it is another id.
        let has_sign = unsigned.len() < text.len();
        let is_id =
            |rest: &str| has_sign && rest.strip_prefix(':').is_some_and(|rest| rest.starts_with(is_in_word));
        let at_name =
            || self.shown.iter().filter_map(|name| after_word(unsigned, name)).min_by_key(|rest| rest.len());
        let at_localpart = || text.starts_with('@').then(|| after_word(unsigned, localpart)).flatten();
        let rest = at_id.or_else(|| at_name().or_else(at_localpart).filter(|rest| !is_id(rest)))?;
        let marked = after_mark(rest);
        Some((marked.unwrap_or(rest.trim_start()), marked.is_some() || at_id.is_some()))
    }

    /// What follows a Markdown link to us: some clients leave it in the text \[U\].
    fn after_link<'a>(&self, text: &'a str) -> Option<&'a str> {
        let (_, rest) = text.strip_prefix('[')?.split_once("](https://matrix.to/#/")?;
        let (id, rest) = rest.split_once(')')?;
        let id = id.replace("%40", "@").replace("%3A", ":").replace("%3a", ":");
        (id == self.id).then_some(rest)
    }
}

fn after_mark(rest: &str) -> Option<&str> {
    rest.trim_start().strip_prefix([':', ',']).map(str::trim_start)
}

/// What follows the word, if the text begins with it in any case of letters.
fn after_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (start, rest) = text.split_at_checked(word.len())?;
    let is_whole = !rest.starts_with(is_in_word);
    (!word.is_empty() && is_whole && start.eq_ignore_ascii_case(word)).then_some(rest)
}

fn has_word(text: &str, word: &str) -> bool {
    let begins = |at: &usize| !text[..*at].ends_with(is_in_word);
    let mut places = text.char_indices().map(|(at, _)| at).filter(begins);
    places.any(|at| after_word(&text[at..], word).is_some())
}

fn is_in_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The text without the quotation of the message that it replies to. Only older clients send one \[D\].
pub(super) fn without_fallback(text: &str) -> &str {
    if !["> <@", "> * <@"].iter().any(|start| text.starts_with(start)) {
        return text;
    }
    let mut rest = text;
    while rest.starts_with("> ") {
        rest = rest.split_once('\n').map_or("", |(_, after)| after);
    }
    rest.strip_prefix('\n').unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Names, without_fallback};

    #[test]
    fn mentions_are_heard_and_removed_at_the_beginning() {
        let names = Names { id: "@retake:a.test".into(), shown: vec!["Retake".into(), "Bot".into()] };
        let ours = json!({ "user_ids": ["@retake:a.test"] });
        let others = json!({ "user_ids": ["@anna:a.test"] });
        let cases = [
            (&Value::Null, "Retake: do it", Some("do it")),
            (&Value::Null, "retake, do it", Some("do it")),
            (&Value::Null, "Retaken: do it", None),
            (&Value::Null, "please ask Bot about it", Some("please ask Bot about it")),
            (&Value::Null, "robots", None),
            (&others, "please ask bot about it", None),
            (&others, "Bot do it", None),
            (&others, "Bot: do it", Some("do it")),
            (&others, "well, @retake:a.test, do it", Some("well, @retake:a.test, do it")),
            (&others, "@retake:a.test2 do it", None),
            (&ours, "Retake do it", Some("do it")),
            (&ours, "@Retake do it", Some("do it")),
            (&ours, "@retake:a.test: do it", Some("do it")),
            (&ours, "[@Retake](https://matrix.to/#/%40retake%3Aa.test) do it", Some("do it")),
            (&ours, "do it", Some("do it")),
            (&ours, "Retake", Some("")),
            (&ours, "é", Some("é")),
            (&json!({ "user_ids": 7 }), "do it", None),
            (&json!([]), "Retake", None),
        ];
        for (mentions, text, expected) in cases {
            let heard = names.hear(mentions, text);
            assert_eq!(heard.is_mention, expected.is_some(), "{text}");
            assert_eq!(heard.text, expected.unwrap_or(text), "{text}");
        }
    }

    #[test]
    fn only_the_quotation_of_a_reply_is_removed() {
        for (text, expected) in [
            ("> <@anna:a.test> hello\n> there\n\nyes", "yes"),
            ("> * <@anna:a.test> waves\n\nyes\n> no", "yes\n> no"),
            ("> <@anna:a.test> hello", ""),
            ("> a real quotation\n\nyes", "> a real quotation\n\nyes"),
        ] {
            assert_eq!(without_fallback(text), expected);
        }
    }
}
