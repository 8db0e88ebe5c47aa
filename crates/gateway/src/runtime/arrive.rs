//! From what arrived to the request that stores it, and what follows from the reply. Must never answer a person whom the owner does
//! not know, except with the code that the owner gave.

use retake_wire::Part;
use retake_wire::chat::{
    Addressed, Arrival, Arrive, Arrived, Audience, ChatCommand, ChatVerb, Inbound, InboundMessage, Place,
};

use super::aside::Aside;
use super::files::{self, Sizes};
use super::join::{Envelope, merged, place_of};
use super::owner::NotDone;
use super::words;
use super::{Context, RuntimeError, guarded};
use crate::capabilities::CommandPrefix;
use crate::commands::{self, Command};

/// What the model reads in place of files that the owner refused.
const NOT_STORED: &str = "[The files of this message could not be stored.]";

/// Stores a unit. When this returns, it is durable, or the owner refused it for good.
///
/// # Errors
/// The gateway must end.
pub(super) async fn store(context: &Context, unit: &[Envelope], is_late: bool) -> Result<(), RuntimeError> {
    let was_known = store_one(context, unit, is_late).await?;
    if was_known && unit.len() > 1 {
        // One of them was stored before. Whether the others were is not certain.
        for envelope in unit {
            store_one(context, std::slice::from_ref(envelope), is_late).await?;
        }
    }
    Ok(())
}

/// Returns whether it had arrived before.
async fn store_one(context: &Context, unit: &[Envelope], is_late: bool) -> Result<bool, RuntimeError> {
    let Some((event, also)) = merged(unit) else { return Ok(false) };
    let command = command_of(context, &event).filter(|_| !is_late);
    if let Inbound::Message(InboundMessage { place, reply_to: Some(_), .. }) = &event
        && command.is_some_and(|it| matches!(it.verb, ChatVerb::Rewind | ChatVerb::Drop))
    {
        // It may name a post that is just being sent.
        context.sends.over(place).await;
    }
    let moderates = match (&event, command) {
        (Inbound::Message(message), Some(command)) => moderates(context, message, command).await,
        // The owner may refuse to take back turns of others, or ask.
        (Inbound::Edited(InboundMessage { place, person, audience: Audience::Shared, .. }), _)
        | (Inbound::Pressed { place, person, .. }, _) => is_moderator(context, place, &person.id).await,
        _ => false,
    };
    let parts = parts_of(context, &event).await;
    let mut arrive = Arrive {
        account: String::new(),
        holder: String::new(),
        transport_key: unit[0].key.clone(),
        event,
        also,
        parts,
        command,
        moderates,
        is_late,
    };
    let mut reply = context.owner.arrive(&arrive).await;
    if let Err(NotDone::Refused(code)) = &reply
        && !arrive.parts.is_empty()
    {
        tracing::warn!(code = code.as_str(), "an event with files was refused");
        arrive.parts = vec![Part::text(NOT_STORED)];
        reply = context.owner.arrive(&arrive).await;
    }
    match reply {
        Ok(arrived) => {
            let was_known = arrived.again;
            react(context, &arrive, arrived);
            Ok(was_known)
        }
        Err(NotDone::Refused(code)) => {
            tracing::error!(code = code.as_str(), "an event was refused and is lost");
            Ok(false)
        }
        Err(NotDone::End(error)) => Err(error),
    }
}

/// The command of a message that addresses us.
pub(super) fn command_of(context: &Context, event: &Inbound) -> Option<ChatCommand> {
    let Inbound::Message(message) = event else { return None };
    let prefix = context.adapter.capabilities().commands;
    let names_us = || {
        // A command with another name is none, says `parse`.
        prefix == CommandPrefix::Slash
            && message.text.split_whitespace().next().is_some_and(|word| word.contains('@'))
    };
    if message.audience == Audience::Shared && message.addressed == Addressed::No && !names_us() {
        return None;
    }
    match commands::parse(event, prefix, &context.us.name)? {
        Command::Run(verb, count) => Some(ChatCommand { verb, count }),
        // The owner knows who may get an answer, and the help says how the command is written.
        Command::Misused(_) => Some(ChatCommand { verb: ChatVerb::Help, count: None }),
    }
}

/// Whether the person moderates the place, where a command may need it.
async fn moderates(context: &Context, message: &InboundMessage, command: ChatCommand) -> bool {
    let may_need = matches!(
        command.verb,
        ChatVerb::Rewind
            | ChatVerb::Undo
            | ChatVerb::Redo
            | ChatVerb::Drop
            | ChatVerb::Retry
            | ChatVerb::Confirm
    );
    if message.audience != Audience::Shared || !may_need {
        return false;
    }
    is_moderator(context, &message.place, &message.person.id).await
}

async fn is_moderator(context: &Context, place: &Place, person: &str) -> bool {
    guarded(context.adapter.moderates(place, person)).await.unwrap_or(false)
}

async fn parts_of(context: &Context, event: &Inbound) -> Vec<Part> {
    let (Inbound::Message(message) | Inbound::Edited(message)) = event else { return Vec::new() };
    let limits = &context.limits;
    let sizes = Sizes { one: limits.file_bytes, together: limits.message_bytes };
    files::parts(&*context.adapter, &message.attached, sizes).await
}

/// What follows from the reply.
fn react(context: &Context, arrive: &Arrive, arrived: Arrived) {
    let event = &arrive.event;
    context.learn(event, &arrive.also, &arrived.outcome);
    if let Inbound::Membership { place, is_member } = event {
        context.aside(Aside::Membership { place: place.clone(), is_member: *is_member });
    }
    match arrived.outcome {
        Arrival::Said { .. } if !arrived.again => context.aside(Aside::Typing(place_of(event))),
        // Sent once, and not recorded. Who did not get it asks again.
        Arrival::Stranger { code: Some(code) } if !arrived.again => {
            let (place, key) = (place_of(event), arrive.transport_key.clone());
            context.aside(Aside::Pairing { place, code, key });
        }
        Arrival::Pressed { notice } => {
            if let Inbound::Pressed { place, person, answer_to, .. } = event {
                context.aside(Aside::Whisper {
                    place: place.clone(),
                    person: person.clone(),
                    text: words::text(&notice, context.adapter.capabilities()),
                    answer_to: answer_to.clone(),
                });
            }
        }
        Arrival::Said { .. }
        | Arrival::Stranger { .. }
        | Arrival::Observed
        | Arrival::Done
        | Arrival::Ignored => {}
    }
}
