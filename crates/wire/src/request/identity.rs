//! Which requests can be sent again after no reply arrived.

use super::Request;

impl Request {
    /// The id of the request, of one that can have one. A test compares this with the API document, and `holder` too.
    pub fn request_id(&mut self) -> Option<&mut Option<String>> {
        match self {
            Self::Create(it) => Some(&mut it.request_id),
            Self::Fork(it) => Some(&mut it.request_id),
            Self::Say(it) => Some(&mut it.request_id),
            Self::Edit(it) => Some(&mut it.request_id),
            Self::Apply(it) => Some(&mut it.request_id),
            Self::ImportStart(it) => Some(&mut it.request_id),
            _ => None,
        }
    }

    /// The holder of the draft, of a request that reads or stores one.
    pub fn holder(&mut self) -> Option<&mut Option<String>> {
        match self {
            Self::SetDraft(it) => Some(&mut it.holder),
            Self::SetDraftIn(it) => Some(&mut it.holder),
            Self::ClaimDraft(it) => Some(&mut it.holder),
            Self::ClaimDraftIn(it) => Some(&mut it.holder),
            _ => None,
        }
    }

    /// Whether it may be sent again where nobody knows if it was done: it is done once, or changes nothing that counts.
    pub fn is_repeatable(&self) -> bool {
        let mut it = self.clone();
        it.request_id().is_some_and(|id| id.is_some())
            || it.holder().is_some_and(|holder| holder.is_some())
            || self.only_reads()
    }

    /// Whether it changes nothing: a server may drop it when the client no longer waits.
    pub fn only_reads(&self) -> bool {
        self.endpoint().reads
    }
}
