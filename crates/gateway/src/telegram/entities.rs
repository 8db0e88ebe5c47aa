//! Styles of a text as entities of the Bot API, whose offsets count UTF-16 code units \[D\]. Nothing in a text can fail to parse, because
//! no markup is made. Must never change the text.

use serde_json::{Value, json};

use crate::adapter::{Style, Styled, StyledText};

/// The length of a text as Telegram counts it \[D\].
pub(super) fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

/// The entities of a text, within what Telegram can combine \[D\]:
///
/// - `pre`, `code` and links do not contain each other: blocks come before links, links before code.
/// - `pre` and `code` are no part of bold, italic or struck text, so those are split there.
/// - Quotations do not nest: the outer one stays.
pub(super) fn entities(text: &StyledText) -> Vec<Value> {
    let mut kept: Vec<Styled> = Vec::new();
    for rank in 0..4 {
        let mut of_rank: Vec<&Styled> =
            text.styles.iter().filter(|styled| rank_of(&styled.style) == rank).collect();
        of_rank.sort_by_key(|styled| (styled.range.start, std::cmp::Reverse(styled.range.end)));
        for styled in of_rank {
            let is_apart = kept.iter().all(|other| !excludes(other, styled) || !overlap(other, styled));
            if is_apart {
                kept.push(styled.clone());
            }
        }
    }
    let plain = text.styles.iter().filter(|styled| rank_of(&styled.style) == SPLIT);
    let split: Vec<Styled> = plain.flat_map(|styled| around_code(styled, &kept)).collect();
    kept.extend(split);
    kept.sort_by_key(|styled| (styled.range.start, std::cmp::Reverse(styled.range.end)));
    kept.iter().filter_map(|styled| entity(&text.text, styled)).collect()
}

/// The rank of the styles that are split.
const SPLIT: u8 = 4;

/// Styles of a lower rank come first.
fn rank_of(style: &Style) -> u8 {
    match style {
        Style::Block(_) => 0,
        Style::Link(_) => 1,
        Style::Code => 2,
        Style::Quote => 3,
        Style::Bold | Style::Italic | Style::Strike => SPLIT,
    }
}

fn excludes(other: &Styled, styled: &Styled) -> bool {
    matches!(other.style, Style::Quote) == matches!(styled.style, Style::Quote)
}

fn overlap(one: &Styled, other: &Styled) -> bool {
    one.range.start < other.range.end && other.range.start < one.range.end
}

/// The parts of a style that are not code.
fn around_code(styled: &Styled, kept: &[Styled]) -> Vec<Styled> {
    let is_code = |other: &&Styled| matches!(other.style, Style::Block(_) | Style::Code);
    let mut codes: Vec<_> = kept.iter().filter(is_code).filter(|other| overlap(other, styled)).collect();
    codes.sort_by_key(|code| code.range.start);
    let (mut parts, mut from) = (Vec::new(), styled.range.start);
    for code in codes {
        parts.push(from..code.range.start);
        from = code.range.end;
    }
    parts.push(from..styled.range.end);
    let parts = parts.into_iter().filter(|part| part.start < part.end);
    parts.map(|range| Styled { range, style: styled.style.clone() }).collect()
}

fn entity(text: &str, Styled { range, style }: &Styled) -> Option<Value> {
    let (before, styled) = (text.get(..range.start)?, text.get(range.clone())?);
    if styled.is_empty() {
        return None;
    }
    let name = match style {
        Style::Bold => "bold",
        Style::Italic => "italic",
        Style::Strike => "strikethrough",
        Style::Code => "code",
        Style::Block(_) => "pre",
        Style::Quote => "blockquote",
        Style::Link(_) => "text_link",
    };
    let mut entity = json!({ "type": name, "offset": length(before), "length": length(styled) });
    match style {
        Style::Block(Some(language)) => entity["language"] = language.as_str().into(),
        Style::Link(url) => entity["url"] = url.as_str().into(),
        _ => {}
    }
    Some(entity)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{entities, length};
    use crate::adapter::{Style, Styled, StyledText};

    fn styled(text: &str, styles: &[(&str, Style)]) -> StyledText {
        let styled = |(part, style): &(&str, Style)| {
            let start = text.find(part).unwrap();
            Styled { range: start..start + part.len(), style: style.clone() }
        };
        StyledText { text: text.to_owned(), styles: styles.iter().map(styled).collect() }
    }

    #[test]
    fn offsets_count_utf16_code_units() {
        let text = styled(
            "é👩‍👩‍👧 bold 中 code https",
            &[
                ("bold", Style::Bold),
                ("code", Style::Code),
                ("https", Style::Link("https://a.example/".into())),
            ],
        );
        let expected = [
            json!({"type": "bold", "offset": 10, "length": 4}),
            json!({"type": "code", "offset": 17, "length": 4}),
            json!({"type": "text_link", "offset": 22, "length": 5, "url": "https://a.example/"}),
        ];
        assert_eq!(entities(&text), expected);
        assert_eq!(length(&text.text), 27);
    }

    #[test]
    fn styles_are_split_around_code_and_quotations_do_not_nest() {
        let text = styled(
            "quote inner let x end code in it link",
            &[
                ("quote inner let x", Style::Quote),
                ("inner", Style::Quote),
                ("let x", Style::Block(Some("rust".into()))),
                ("inner let", Style::Bold),
                ("x", Style::Code),
                ("end code in it", Style::Italic),
                ("code", Style::Code),
                ("it link", Style::Link("https://a.example/".into())),
                ("link", Style::Code),
            ],
        );
        let expected = [
            json!({"type": "blockquote", "offset": 0, "length": 17}),
            json!({"type": "bold", "offset": 6, "length": 6}),
            json!({"type": "pre", "offset": 12, "length": 5, "language": "rust"}),
            json!({"type": "italic", "offset": 18, "length": 4}),
            json!({"type": "code", "offset": 22, "length": 4}),
            json!({"type": "italic", "offset": 26, "length": 6}),
            json!({"type": "text_link", "offset": 30, "length": 7, "url": "https://a.example/"}),
        ];
        assert_eq!(entities(&text), expected);
    }

    #[test]
    fn ranges_outside_of_the_text_are_left_out() {
        let style = |range| Styled { range, style: Style::Bold };
        let text = StyledText {
            text: "é".into(),
            styles: vec![style(0..1), style(0..2), style(1..9), style(2..2)],
        };
        assert_eq!(entities(&text), [json!({"type": "bold", "offset": 0, "length": 1})]);
    }
}
