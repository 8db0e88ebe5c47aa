//! The host of an address, for rules: `example.org`, `*.example.org`. Accepts only a host on which all URL parsers agree.
//! Must never mistake a part of a path or of a password for a host.

/// The host of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Host {
    /// Lower case, without user, port and final dot.
    name: String,
    /// Whether all URL parsers read the same host.
    pub(super) plain: bool,
}

impl Host {
    /// The host of an address.
    pub(super) fn of(url: &str) -> Self {
        // URL parsers ignore these anywhere, and treat `\` as `/`.
        let cleaned: String = url.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect();
        let cleaned = cleaned.trim().replace('\\', "/");
        let (scheme, rest) = cleaned.split_once("://").unwrap_or(("", ""));
        let authority = rest.trim_start_matches('/').split(['/', '?', '#']).next().unwrap_or_default();
        let after_user = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let (name, port) = if after_user.starts_with('[') {
            after_user.split_once(']').map_or((after_user, ""), |(host, port)| (&host[1..], port))
        } else {
            after_user.split_once(':').unwrap_or((after_user, ""))
        };
        let name = name.trim_end_matches('.').to_lowercase();
        let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':');
        let plain = cleaned == url
            && matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https")
            && !rest.starts_with('/')
            && !name.is_empty()
            && name.chars().all(letters)
            && port.trim_start_matches(':').chars().all(|c| c.is_ascii_digit());
        Self { name, plain }
    }

    /// The name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether it matches the host of a rule. `*.example.org` is every host below `example.org`, not that one.
    pub(super) fn is(&self, rule: &str) -> bool {
        let rule = rule.trim_end_matches('.').to_lowercase();
        match rule.strip_prefix("*.") {
            Some(parent) => {
                self.name.strip_suffix(parent).is_some_and(|below| below.len() > 1 && below.ends_with('.'))
            }
            None => rule == "*" || rule == self.name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_of_an_address_is_read_as_clients_read_it() {
        for (url, name, plain) in [
            ("https://example.org/a?b", "example.org", true),
            ("HTTP://Example.ORG.:8080", "example.org", true),
            ("https://user:example.com@evil.net/", "evil.net", true),
            ("https://evil.net\\@example.org/", "evil.net", false),
            ("https://exa\tmple.org", "example.org", false),
            ("https://ex%61mple.org", "ex%61mple.org", false),
            ("https://ex\u{430}mple.org", "ex\u{430}mple.org", false),
            ("https:///example.org", "example.org", false),
            ("http://[::1]:80/", "::1", true),
            ("file:///etc/passwd", "etc", false),
            ("example.org", "", false),
            ("https://evil.net#@example.org", "evil.net", true),
        ] {
            let host = Host::of(url);
            assert_eq!((host.name(), host.plain), (name, plain), "{url}");
        }
    }

    #[test]
    fn a_star_is_for_what_is_below() {
        let is = |url: &str, rule: &str| Host::of(url).is(rule);
        assert!(
            is("https://docs.example.org", "*.example.org") && is("https://a.b.example.org", "*.example.org")
        );
        assert!(
            !is("https://example.org", "*.example.org") && !is("https://badexample.org", "*.example.org")
        );
        assert!(is("https://example.org", "Example.org.") && is("https://x", "*"));
    }
}
