//! The kind of a response's content, and its text. It must never treat other data as text.

use encoding_rs::{Encoding, UTF_8};
use reqwest::{Response, header};

/// How many bytes are checked to recognise text.
const LOOKED_AT: usize = 8 << 10;

/// The kind of content.
#[derive(Clone, Debug)]
pub(super) struct Kind {
    /// The server's content type.
    pub(super) named: String,
    is_html: bool,
    is_unnamed: bool,
    encoding: Option<&'static Encoding>,
}

/// The kind of a response's content; refused if it cannot be read.
pub(super) fn kind_of(response: &Response) -> Result<Kind, String> {
    let field = |name| response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let coding = field(header::CONTENT_ENCODING);
    if !matches!(coding, "" | "identity") {
        return Err(format!(
            "can't read {}: it is compressed as {coding}, which was not requested",
            response.url()
        ));
    }
    kind(field(header::CONTENT_TYPE)).ok_or_else(|| {
        format!("can't read {}: it is {}, not text", response.url(), field(header::CONTENT_TYPE))
    })
}

/// The kind for a content type; `None` if it is no text.
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
    let is_unnamed = media.is_empty();
    let named = if is_unnamed { "of an unnamed type".to_owned() } else { lower.clone() };
    is_text.then_some(Kind { named, is_html, is_unnamed, encoding })
}

/// The content that was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Page {
    Text(String),
    Html(String),
}

impl Kind {
    /// The content as text; refused if it is none, whatever the server claims.
    pub(super) fn read(&self, bytes: &[u8]) -> Result<Page, String> {
        let (text, _, _) = self.encoding.unwrap_or(UTF_8).decode(bytes);
        let beginning: Vec<char> = text.chars().take(LOOKED_AT).collect();
        let strange =
            beginning.iter().filter(|char| matches!(**char, '\0' | char::REPLACEMENT_CHARACTER)).count();
        if beginning.contains(&'\0') || strange * 10 > beginning.len() {
            return Err(format!("can't read it: the server calls it {}, but it is not text", self.named));
        }
        let looks_html = || text.trim_start().to_lowercase().starts_with("<!doctype html");
        if self.is_html || (self.is_unnamed && looks_html()) {
            return Ok(Page::Html(text.into_owned()));
        }
        Ok(Page::Text(text.into_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Page, kind};

    #[test]
    fn text_is_distinguished_from_binary_content() {
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
    fn bytes_are_read_in_their_own_encoding() {
        let kind = kind("text/plain; charset=ISO-8859-1").unwrap();
        assert_eq!(kind.read(b"gr\xfcn").unwrap(), Page::Text("grün".to_owned()));
        assert!(kind.read(b"a\0b").is_err());
    }

    #[test]
    fn html_is_known_by_its_name_or_its_beginning() {
        let page = b" <!DOCTYPE html><p>a";
        let html = Page::Html(String::from_utf8_lossy(page).into_owned());
        assert_eq!(kind("text/html").unwrap().read(page).unwrap(), html);
        assert_eq!(kind("").unwrap().read(page).unwrap(), html);
        assert!(matches!(kind("text/plain").unwrap().read(page).unwrap(), Page::Text(_)));
    }
}
