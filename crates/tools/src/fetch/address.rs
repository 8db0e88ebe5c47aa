//! Blocks addresses of this machine and of its private network. The check runs when a name is resolved for the connection itself.
//! So a name cannot mean one address for the check and another one for the connection.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Resolves a host to public addresses only. Other names belong to a proxy that a person has set.
pub(super) struct Guard {
    host: String,
}

/// A host that must not be reached.
#[derive(Debug, thiserror::Error)]
#[error("{0} is an address of this machine or of a private network, which may not be fetched")]
struct Private(String);

impl Guard {
    /// A guard for the host of an address; refused if the host is a private address.
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

/// Suffixes of names of this machine and of private networks; names of one word are private, too.
const PRIVATE_ENDS: [&str; 7] =
    ["localhost", "local", "localdomain", "internal", "lan", "intranet", "home.arpa"];

/// Checks a name before a proxy resolves it, because no guard sees that. Refused if it resolves to a private address, or may do
/// so for the proxy.
pub(super) async fn look_before_a_proxy(url: &Url) -> Result<(), String> {
    if !PROXIES.iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty())) {
        return Ok(());
    }
    let host = url.host_str().unwrap_or_default();
    // A name that only the proxy can resolve is accepted: that is its purpose.
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

/// Whether an address is public.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_4(address),
        IpAddr::V6(address) => is_public_6(address),
    }
}

fn is_public_4(address: Ipv4Addr) -> bool {
    let shut = match address.octets() {
        [0, ..] | [192, 0, 0, _] | [240..=255, ..] => true,
        // Carrier-grade NAT, and benchmarking.
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
        // Forms of an IPv4 address, and gateways to one.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => within(high, low),
        [0x2002, high, low, ..] => within(high, low),
        // Public addresses begin with 001; except tunnels and documentation.
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
