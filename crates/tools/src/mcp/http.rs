//! A server at an address. Must never follow a redirect to another origin, which would get its headers.

use std::collections::HashMap;
use std::str::FromStr;

use reqwest::header::{HeaderName, HeaderValue};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

/// The longest event of a stream.
const LONGEST: usize = 16 << 20;

/// The headers to send, or the invalid one.
pub(super) fn headers(pairs: &[(String, String)]) -> Result<HashMap<HeaderName, HeaderValue>, String> {
    let header = |(name, value): &(String, String)| {
        let none = || format!("the header “{}” is not valid", super::text::line(name, 60));
        let mut value = HeaderValue::from_str(value).map_err(|_| none())?;
        value.set_sensitive(true);
        Ok((HeaderName::from_str(name).map_err(|_| none())?, value))
    };
    pairs.iter().map(header).collect()
}

/// The transport for an address. The client is the protocol library's own: it follows no redirect to another
/// origin.
pub(super) fn transport(
    url: &str,
    pairs: &[(String, String)],
) -> Result<StreamableHttpClientTransport<reqwest::Client>, String> {
    let address = reqwest::Url::parse(url).map_err(|error| format!("its address is not valid: {error}"))?;
    if !matches!(address.scheme(), "http" | "https") {
        return Err("its address begins neither with `https://` nor with `http://`".to_owned());
    }
    crate::tls::prepare();
    let config = StreamableHttpClientTransportConfig::with_uri(url)
        .custom_headers(headers(pairs)?)
        .max_sse_event_size(LONGEST)
        .reinit_on_expired_session(true);
    Ok(StreamableHttpClientTransport::from_config(config))
}
