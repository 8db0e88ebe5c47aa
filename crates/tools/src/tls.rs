//! TLS: rustls with the cryptography of ring. Code that builds an HTTP client must call [`prepare`] first.

use std::sync::Once;

/// Sets the cryptography for all TLS connections of this process, unless it is set already.
pub fn prepare() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
}
