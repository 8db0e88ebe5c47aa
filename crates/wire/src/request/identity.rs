//! Which requests can be sent again if no reply arrived.

use super::Request;

impl Request {
    /// The id of the request; `None` if requests of this kind have no id. A test compares this and `holder` with the API
    /// document.
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

    /// The holder of the draft; `None` if the request neither stores nor claims a draft.
    pub fn holder(&mut self) -> Option<&mut Option<String>> {
        match self {
            Self::SetDraft(it) => Some(&mut it.holder),
            Self::SetDraftIn(it) => Some(&mut it.holder),
            Self::ClaimDraft(it) => Some(&mut it.holder),
            Self::ClaimDraftIn(it) => Some(&mut it.holder),
            _ => None,
        }
    }

    /// Whether the request may be sent again if it is not known whether it was carried out. Such a request is carried out only
    /// once, or changes nothing that counts.
    pub fn is_repeatable(&self) -> bool {
        let mut it = self.clone();
        it.request_id().is_some_and(|id| id.is_some())
            || it.holder().is_some_and(|holder| holder.is_some())
            || self.only_reads()
    }

    /// Whether the request changes nothing. A server may drop such a request when the client no longer waits.
    pub fn only_reads(&self) -> bool {
        self.endpoint().reads
    }
}
