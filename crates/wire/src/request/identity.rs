//! Which requests can be sent again if no reply arrived.

use super::Request;

/// The id of a request, and the requests among which it is unique.
#[derive(Debug)]
pub struct Identity<'a> {
    /// The id, if the request has one.
    pub id: &'a mut Option<String>,
    /// The conversation that the request changes, as the request names it. The id is unique there. `None`: the id is unique among
    /// the requests that create a conversation.
    pub conversation: Option<&'a str>,
}

impl<'a> Identity<'a> {
    /// The id of a request that creates a conversation.
    fn creating(id: &'a mut Option<String>) -> Option<Self> {
        Some(Self { id, conversation: None })
    }

    /// The id of a request that changes a conversation.
    fn within(conversation: &'a str, id: &'a mut Option<String>) -> Option<Self> {
        Some(Self { id, conversation: Some(conversation) })
    }
}

impl Request {
    /// The id of the request, with the conversation that it belongs to; `None` if requests of this kind have no id. A test
    /// compares this and `holder` with the API document.
    pub fn identity(&mut self) -> Option<Identity<'_>> {
        match self {
            Self::Create(it) => Identity::creating(&mut it.request_id),
            Self::Fork(it) => Identity::creating(&mut it.request_id),
            Self::ImportStart(it) => Identity::creating(&mut it.request_id),
            Self::Say(it) => Identity::within(&it.conversation, &mut it.request_id),
            Self::Edit(it) => Identity::within(&it.conversation, &mut it.request_id),
            Self::Apply(it) => Identity::within(&it.conversation, &mut it.request_id),
            Self::Remember(it) => Identity::within(&it.conversation, &mut it.request_id),
            Self::EditMemory(it) => Identity::within(&it.conversation, &mut it.request_id),
            Self::Forget(it) => Identity::within(&it.conversation, &mut it.request_id),
            _ => None,
        }
    }

    /// The id of the request; `None` if requests of this kind have no id.
    pub fn request_id(&mut self) -> Option<&mut Option<String>> {
        self.identity().map(|identity| identity.id)
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Request;

    /// An id that is used in one conversation can be used in another one, too.
    #[test]
    fn id_belongs_to_the_conversation_that_the_request_changes() {
        let rows = [
            (json!({ "request": "create" }), None),
            (json!({ "request": "fork", "conversation": "c" }), None),
            (json!({ "request": "import_start" }), None),
            (json!({ "request": "say", "conversation": "c", "role": "user", "parts": [] }), Some("c")),
            (json!({ "request": "edit", "conversation": "c", "entry": "@", "parts": [] }), Some("c")),
            (json!({ "request": "remember", "conversation": "c", "text": "a" }), Some("c")),
            (json!({ "request": "edit_memory", "conversation": "c", "fact": "f", "text": "a" }), Some("c")),
            (json!({ "request": "forget", "conversation": "c", "fact": "f" }), Some("c")),
            (json!({ "request": "apply", "conversation": "c", "action": "undo", "count": 1 }), Some("c")),
        ];
        for (mut fields, conversation) in rows {
            fields["request_id"] = Value::from("once");
            let mut request: Request = serde_json::from_value(fields).expect("a request");
            let identity = request.identity().expect("it has an id");
            assert_eq!((identity.id.as_deref(), identity.conversation), (Some("once"), conversation));
        }
        assert!(Request::Status.identity().is_none());
    }
}
