//! Texts as Slack delivers them, with its control sequences \[D\], as plain text. Must never act on one: a sequence is text of a person.

use super::Us;

/// What a text says, and whether it mentions us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Read {
    /// The text without a mention of us at its beginning.
    pub(super) text: String,
    pub(super) is_mention: bool,
}

/// Reads a text.
pub(super) fn read(text: &str, us: &Us) -> Read {
    let own = format!("<@{}", us.user);
    let is_own = |part: &str| part.starts_with(&own) && part[own.len()..].starts_with(['>', '|']);
    let begin = text.trim_start();
    let is_first = is_own(begin);
    let rest = if is_first {
        let after = begin.split_once('>').map_or("", |(_, after)| after);
        after.trim_start_matches([':', ',']).trim_start()
    } else {
        text
    };
    let is_mention = is_first || text.match_indices(&own).any(|(at, _)| is_own(&text[at..]));
    Read { text: plain(rest, us), is_mention }
}

fn plain(text: &str, us: &Us) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        out += &unescaped(before);
        let Some((sequence, after)) = after.split_once('>') else {
            // A `<` of a person is escaped, so this text is none of Slack's.
            out.push('<');
            rest = after;
            continue;
        };
        out += &shown(sequence, us);
        rest = after;
    }
    out + &unescaped(rest)
}

fn shown(sequence: &str, us: &Us) -> String {
    let (target, label) = match sequence.split_once('|') {
        Some((target, label)) => (target, unescaped(label)),
        None => (sequence, String::new()),
    };
    let or_label = |sign: &str, id: &str| {
        let name = if label.is_empty() { id } else { &label };
        format!("{sign}{}", name.trim_start_matches(sign))
    };
    if target.strip_prefix('@') == Some(&us.user) {
        return format!("@{}", us.name);
    }
    if let Some(id) = target.strip_prefix('@') {
        return or_label("@", id);
    }
    if let Some(id) = target.strip_prefix('#') {
        return or_label("#", id);
    }
    if let Some(command) = target.strip_prefix('!') {
        let name = command.split('^').next().unwrap_or_default();
        return if name == "date" { label } else { or_label("@", name) };
    }
    let address = unescaped(target);
    let short =
        address.trim_start_matches("mailto:").trim_start_matches("https://").trim_start_matches("http://");
    match label.as_str() {
        "" => address,
        label if label == address || label == short => label.to_owned(),
        label => format!("{label} ({address})"),
    }
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::read;
    use crate::slack::Us;

    fn us() -> Us {
        Us { user: "U1".into(), bot: Some("B1".into()), name: "retake".into() }
    }

    /// Case 82.
    #[test]
    fn sequences_become_plain_text() {
        let rows = [
            ("hello", "hello", false),
            ("<@U1> rewind 2", "rewind 2", true),
            (" <@U1|retake>: rewind", "rewind", true),
            ("hi <@U1>", "hi @retake", true),
            ("<@U12> hi", "@U12 hi", false),
            ("<@U2|ben> in <#C1|general>", "@ben in #general", false),
            ("<!here> <!subteam^S1|@team> <!date^1^x|then>", "@here @team then", false),
            ("<https://a.example/?a=1&amp;b>", "https://a.example/?a=1&b", false),
            ("<http://a.example|a.example> <mailto:a@b.c|a@b.c>", "a.example a@b.c", false),
            ("<https://evil.example|bank.example>", "bank.example (https://evil.example)", false),
            ("1 &lt; 2 &amp;lt; 3 < 4", "1 < 2 &lt; 3 < 4", false),
        ];
        for (text, plain, is_mention) in rows {
            let found = read(text, &us());
            assert_eq!((found.text.as_str(), found.is_mention), (plain, is_mention), "{text}");
        }
    }

    proptest! {
        #[test]
        fn odd_texts_never_panic(text in "[<>@U1|!#&;a\u{e9} ]{0,24}") {
            read(&text, &us());
        }
    }
}
