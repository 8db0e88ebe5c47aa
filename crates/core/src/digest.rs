//! Digests of requests, calls and texts, which identify repeated ones. Must never compute one: the caller does.

/// A digest of the arguments of a request or a call, or of a text: in the current encoding and in that of earlier versions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest {
    /// In the current encoding, which is stored.
    pub current: [u8; 16],
    /// In the encoding of earlier versions, if they may have stored it.
    pub before: Option<[u8; 16]>,
}

impl Digest {
    /// Whether a stored digest is for the same arguments, whichever version stored it.
    pub fn matches(self, stored: [u8; 16]) -> bool {
        stored == self.current || self.before == Some(stored)
    }
}

impl From<[u8; 16]> for Digest {
    fn from(current: [u8; 16]) -> Self {
        Self { current, before: None }
    }
}

#[cfg(test)]
mod tests {
    use super::Digest;

    #[test]
    fn digest_matches_what_either_version_stored() {
        let digest = Digest { current: [1; 16], before: Some([2; 16]) };
        assert!(digest.matches([1; 16]) && digest.matches([2; 16]) && !digest.matches([3; 16]));
        assert!(!Digest::from([1; 16]).matches([2; 16]));
    }

    #[test]
    fn a_digest_of_today_is_what_is_stored() {
        let digest = Digest::from([7; 16]);
        assert_eq!((digest.current, digest.before), ([7; 16], None));
    }
}
