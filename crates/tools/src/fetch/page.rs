//! What kind of content an answer is, and its text. It must never take for text what is none.

use encoding_rs::{Encoding, UTF_8};
use reqwest::{Response, header};

/// HTML is laid out in lines of this width.
const WIDTH: usize = 100;

/// So much is looked at to tell text from anything else.
const LOOKED_AT: usize = 8 << 10;

/// Pages that are nested deeper than that are not laid out.
const DEPTH: usize = 1000;

/// Elements that are empty, or end where the next one of them begins.
const FLAT: [&str; 27] = [
    "area", "base", "body", "br", "col", "dd", "dt", "embed", "head", "hr", "html", "img", "input", "li",
    "link", "meta", "option", "p", "source", "tbody", "td", "th", "thead", "tr", "track", "tfoot", "wbr",
];

/// What kind of content it is.
#[derive(Clone, Debug)]
pub(super) struct Kind {
    /// As the server calls it.
    pub(super) named: String,
    is_html: bool,
    encoding: Option<&'static Encoding>,
}

/// The kind of an answer's content; refused, where it can't be read.
pub(super) fn kind_of(response: &Response) -> Result<Kind, String> {
    let field = |name| response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let coding = field(header::CONTENT_ENCODING);
    if !matches!(coding, "" | "identity") {
        return Err(format!("can't read {}: it comes packed as {coding}, unasked", response.url()));
    }
    kind(field(header::CONTENT_TYPE)).ok_or_else(|| {
        format!("can't read {}: it is {}, not text", response.url(), field(header::CONTENT_TYPE))
    })
}

/// The kind that a content type names; nothing for what is no text.
fn kind(named: &str) -> Option<Kind> {
    let lower = named.to_lowercase();
    let mut fields = lower.split(';').map(str::trim);
    let media = fields.next().unwrap_or_default();
    let label = fields.find_map(|field| field.strip_prefix("charset="));
    let encoding = label.and_then(|label| Encoding::for_label(label.trim_matches('"').as_bytes()));
    let texts = ["json", "xml", "javascript", "yaml", "toml", "sql", "x-sh", "graphql", "x-ndjson", "csv"];
    let is_text = match media.split_once('/') {
        None => media.is_empty(),
        Some(("text", _)) => true,
        Some(("application", name)) => {
            let name = name.rsplit_once('+').map_or(name, |(_, base)| base);
            texts.contains(&name.trim_start_matches("x-")) || texts.contains(&name)
        }
        Some(("image", name)) => name == "svg+xml",
        Some(_) => false,
    };
    let is_html = matches!(media, "text/html" | "application/xhtml+xml");
    let named = if media.is_empty() { "of an unnamed type".to_owned() } else { lower.clone() };
    is_text.then_some(Kind { named, is_html, encoding })
}

impl Kind {
    /// The content as text; refused, where it is none, whatever the server says.
    pub(super) fn text(&self, bytes: &[u8]) -> Result<String, String> {
        let (text, _, _) = self.encoding.unwrap_or(UTF_8).decode(bytes);
        let beginning: Vec<char> = text.chars().take(LOOKED_AT).collect();
        let strange =
            beginning.iter().filter(|char| matches!(**char, '\0' | char::REPLACEMENT_CHARACTER)).count();
        if beginning.contains(&'\0') || strange * 10 > beginning.len() {
            return Err(format!("can't read it: the server calls it {}, but it is not text", self.named));
        }
        let looks_html = || text.trim_start().to_lowercase().starts_with("<!doctype html");
        if self.is_html || (self.named.starts_with("of an") && looks_html()) {
            // What can't be laid out is shown as it is.
            return Ok(plain_of(&text).unwrap_or_else(|| text.into_owned()));
        }
        Ok(text.into_owned())
    }
}

/// The text of a page, with its links below; nothing, where it can't be laid out.
fn plain_of(html: &str) -> Option<String> {
    // The time that it takes grows with the square of the depth.
    if depth(html) > DEPTH {
        return None;
    }
    let layout = html2text::config::plain().link_footnotes(true).no_link_wrapping().allow_width_overflow();
    layout.string_from_read(html.as_bytes(), WIDTH).ok()
}

/// How deeply elements are nested at most, roughly: of those that never hold others of themselves, none counts.
fn depth(html: &str) -> usize {
    let (mut now, mut most) = (0_usize, 0);
    for tag in html.split('<').skip(1) {
        let name =
            |tag: &str| tag.split(|char: char| !char.is_ascii_alphanumeric()).next().map(str::to_lowercase);
        let counts =
            |name: Option<String>| name.is_some_and(|name| !name.is_empty() && !FLAT.contains(&&*name));
        match tag.strip_prefix('/') {
            Some(tag) if counts(name(tag)) => now = now.saturating_sub(1),
            None if counts(name(tag)) => now += 1,
            _ => {}
        }
        most = most.max(now);
    }
    most
}

#[cfg(test)]
mod tests {
    use super::kind;

    #[test]
    fn text_is_told_from_the_rest() {
        let texts = [
            "text/plain",
            "text/HTML; charset=UTF-8",
            "application/json",
            "application/ld+json",
            "image/svg+xml",
            "",
            "application/x-yaml",
            "application/xhtml+xml",
            "application/rss+xml",
        ];
        for named in texts {
            assert!(kind(named).is_some(), "{named}");
        }
        for named in ["image/png", "application/octet-stream", "application/pdf", "video/mp4", "nonsense"] {
            assert!(kind(named).is_none(), "{named}");
        }
    }

    #[test]
    fn html_is_made_plain() {
        let page = b"<!doctype html><title>t</title><script>x()</script><h1>Head</h1><p>A <a href='/b'>link</a>.</p>";
        let text = kind("text/html").unwrap().text(page).unwrap();
        assert_eq!(text, "# Head\n\nA [link][1].\n\n[1]: /b\n");
    }

    #[test]
    fn bytes_are_read_in_their_own_encoding() {
        let kind = kind("text/plain; charset=ISO-8859-1").unwrap();
        assert_eq!(kind.text(b"gr\xfcn").unwrap(), "grün");
        assert!(kind.text(b"a\0b").is_err());
    }

    #[test]
    fn a_page_nested_too_deeply_is_shown_as_it_is() {
        let nested = |depth: usize| format!("{}deep{}", "<div>".repeat(depth), "</div>".repeat(depth));
        let text = |page: &str| kind("text/html").unwrap().text(page.as_bytes()).unwrap();
        assert_eq!(text(&nested(200)), "deep\n");
        assert_eq!(text(&nested(100_000)), nested(100_000));
        assert_eq!(
            text(&"<p>a<br><img src=x>\n".repeat(2000)).matches('a').count(),
            2000,
            "much is not deep"
        );
    }
}
