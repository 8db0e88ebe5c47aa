//! Which addresses become links: those of the web and of mail. Must never make a link that a client does something else with, such
//! as `tg://`.

use std::fmt::Write as _;

/// The address as a link, or `None` if it is none that we make. Characters that no address may hold are encoded.
pub(super) fn address(dest: &str) -> Option<String> {
    let (scheme, rest) = dest.trim().split_once(':')?;
    let is_web = ["http", "https"].iter().any(|it| scheme.eq_ignore_ascii_case(it));
    let good = match rest.strip_prefix("//") {
        Some(host) => is_web && host.starts_with(|c: char| c.is_alphanumeric() || c == '['),
        None => scheme.eq_ignore_ascii_case("mailto") && rest.contains('@'),
    };
    good.then(|| format!("{}:{}", scheme.to_ascii_lowercase(), encoded(rest)))
}

/// The characters that end or break an address in some markup, in percent encoding.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || c.is_whitespace() || "\"<>\\^`{|}".contains(c) {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                write!(out, "%{byte:02X}").expect("BUG: a string takes all text");
            }
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn only_addresses_of_the_web_and_of_mail_become_links() {
        let rows = [
            ("https://a.example/b", Some("https://a.example/b")),
            ("HTTP://a.example", Some("http://a.example")),
            ("http://a/b c|d\"<e>", Some("http://a/b%20c%7Cd%22%3Ce%3E")),
            ("https://ü.example/é", Some("https://ü.example/é")),
            ("http://[::1]/", Some("http://[::1]/")),
            ("mailto:a@b.example", Some("mailto:a@b.example")),
            ("mailto:", None),
            ("http:a", None),
            ("http://", None),
            ("http:///a", None),
            ("tg://user?id=1", None),
            ("javascript:alert(1)", None),
            ("file:///etc/passwd", None),
            ("/relative", None),
            ("", None),
        ];
        for (dest, expected) in rows {
            assert_eq!(address(dest).as_deref(), expected, "{dest}");
        }
    }
}
