//! Addresses of this machine and of its private network, which no request may reach. The check runs when a name is
//! resolved for the connection itself. So a name cannot mean one address for the check and another one for the
//! connection.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Finds the addresses of a host, public ones only. Other names are a proxy's, which a person has set.
pub(super) struct Guard {
    host: String,
}

/// A host that may not be reached.
#[derive(Debug, thiserror::Error)]
#[error("{0} is an address of this machine or of a private network, which may not be fetched")]
struct Private(String);

impl Guard {
    /// A guard for the host of an address; refused, where the host is written as a private address.
    pub(super) fn of(url: &Url) -> Result<Self, String> {
        let host = url.host_str().unwrap_or_default().to_owned();
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        match bare.parse() {
            Ok(address) if !is_public(address) => Err(format!("can't fetch {url}: {}", Private(host))),
            _ => Ok(Self { host }),
        }
    }
}

/// Variables that name a proxy.
const PROXIES: [&str; 6] =
    ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];

/// Names of this machine and of private networks end so; so are those of one word.
const PRIVATE_ENDS: [&str; 7] =
    ["localhost", "local", "localdomain", "internal", "lan", "intranet", "home.arpa"];

/// Where a proxy finds the address itself, no guard sees it: the name is looked at first. Refused where it is that of a private address,
/// or could be one to the proxy.
pub(super) async fn look_before_a_proxy(url: &Url) -> Result<(), String> {
    if !PROXIES.iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty())) {
        return Ok(());
    }
    let host = url.host_str().unwrap_or_default();
    // What this machine can't find, the proxy may: that is what it is for.
    let found: Vec<SocketAddr> =
        tokio::net::lookup_host((host, 0)).await.map(Iterator::collect).unwrap_or_default();
    if is_private_name(host) || found.iter().any(|address| !is_public(address.ip())) {
        return Err(format!("can't fetch {url}: {}", Private(host.to_owned())));
    }
    Ok(())
}

fn is_private_name(host: &str) -> bool {
    let name = host.trim_end_matches('.').to_lowercase();
    let is_word = !name.contains(['.', ':']);
    is_word || PRIVATE_ENDS.iter().any(|end| name.strip_suffix(end).is_some_and(|rest| rest.ends_with('.')))
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let is_guarded = name.as_str().trim_end_matches('.') == self.host.trim_end_matches('.');
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let may = |address: &SocketAddr| !is_guarded || is_public(address.ip());
            let addresses: Vec<SocketAddr> = found.filter(may).collect();
            if addresses.is_empty() {
                return Err(Private(name.as_str().to_owned()).into());
            }
            let addresses: Addrs = Box::new(addresses.into_iter());
            Ok(addresses)
        })
    }
}

/// Whether an address is one of the public net.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_4(address),
        IpAddr::V6(address) => is_public_6(address),
    }
}

fn is_public_4(address: Ipv4Addr) -> bool {
    let shut = match address.octets() {
        [0, ..] | [192, 0, 0, _] | [240..=255, ..] => true,
        // Of providers towards their customers, and of measuring.
        [100, second, ..] => second & 0xc0 == 64,
        [198, 18 | 19, ..] => true,
        _ => false,
    };
    let own = address.is_loopback() || address.is_private() || address.is_link_local();
    !(shut || own || address.is_multicast() || address.is_documentation())
}

fn is_public_6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let within = |high: u16, low: u16| {
        let [a, b, c, d] = [high.to_be_bytes(), low.to_be_bytes()].concat().try_into().unwrap_or_default();
        is_public_4(Ipv4Addr::new(a, b, c, d))
    };
    match segments {
        // Ways to write an IPv4 address, and to reach one through a gateway.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => within(high, low),
        [0x2002, high, low, ..] => within(high, low),
        // All that is handed out for the public net begins with 001; of this, tunnels and examples are not it.
        [0x2001, 0 | 0xdb8, ..] => false,
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::{is_private_name, is_public};

    #[test]
    fn names_of_this_machine_and_its_private_network_are_recognised() {
        for name in [
            "localhost",
            "localhost.",
            "LocalHost",
            "a.localhost",
            "router",
            "nas.local",
            "metadata.google.internal",
        ] {
            assert!(is_private_name(name), "{name}");
        }
        for name in ["example.org", "local.example.org", "notlocal.de", "[2606:4700::1111]", "1.1.1.1"] {
            assert!(!is_private_name(name), "{name}");
        }
    }

    #[test]
    fn private_addresses_are_recognised_in_every_notation() {
        let private = [
            "127.0.0.1",
            "127.8.8.8",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "0.0.0.0",
            "100.64.0.1",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "192.0.0.8",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001::1",
            "2001:db8::1",
        ];
        for address in private {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
        for address in
            ["1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
        {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }
}
