//! Deliveries in the form of CloudEvents 1.0 (JSON), the same for addresses and commands.

use jiff::Timestamp;
use retake_core::{Delivery, DeliveryEntry};
use serde_json::{Map, Value, json};

/// A delivery as JSON.
pub fn cloud_event(delivery: &Delivery) -> Vec<u8> {
    let time = Timestamp::from_millisecond(delivery.time.0).unwrap_or_default();
    let event = json!({
        "specversion": "1.0",
        "id": delivery.id,
        "source": format!("retake/conversations/{}", delivery.conversation),
        "type": format!("retake.{}", delivery.event.name()),
        "time": time.to_string(),
        "datacontenttype": "application/json",
        "data": data(delivery),
    });
    event.to_string().into_bytes()
}

/// What happened, with ids and counts. What does not apply is not there.
fn data(delivery: &Delivery) -> Map<String, Value> {
    let entries = |all: &[DeliveryEntry]| all.iter().map(entry).collect::<Vec<_>>();
    let parent = delivery.parent.map(|(conversation, entry)| {
        let id = entry.map(|id| id.to_string());
        json!({ "conversation": conversation.to_string(), "entry": id })
    });
    let (ended, waits) = (delivery.ended.as_ref(), delivery.waits.as_ref());
    let fields = [
        ("conversation", Some(delivery.conversation.to_string().into())),
        ("parent", parent),
        ("folder", delivery.folder.as_deref().map(Value::from)),
        ("reason", delivery.reason.map(|reason| reason.name().into())),
        ("author", Some(delivery.author.as_str()).filter(|author| !author.is_empty()).map(Value::from)),
        ("head", Some(delivery.head.to_string().into())),
        ("gone_count", Some(delivery.gone.len().into())),
        ("came_count", Some(delivery.came.len().into())),
        ("gone", Some(entries(&delivery.gone).into())),
        ("came", Some(entries(&delivery.came).into())),
        ("outcome", ended.map(|(state, _)| state.name().into())),
        ("error", ended.and_then(|(_, error)| error.as_deref()).map(Value::from)),
        ("call", waits.map(|(call, _)| call.as_str().into())),
        ("tool", waits.map(|(_, tool)| tool.as_str().into())),
    ];
    fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

fn entry(DeliveryEntry { id, role, text }: &DeliveryEntry) -> Value {
    let mut entry = json!({ "id": id.to_string(), "role": role.name() });
    if let Some(text) = text {
        entry["text"] = text.as_str().into();
    }
    entry
}
