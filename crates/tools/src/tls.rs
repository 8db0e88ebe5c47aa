//! How connections are encrypted: rustls with the cryptography of ring. Code that builds an HTTP client calls
//! [`prepare`] first.

use std::sync::Once;

/// Names the cryptography for all TLS connections of this process. What was named before stays.
pub fn prepare() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
}
