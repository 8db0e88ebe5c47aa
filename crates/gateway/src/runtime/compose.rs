//! From the content of a post to the parts that are sent, and the marker of each. The parts follow from the content and the platform
//! only, so that a restarted gateway makes the same ones. Must never drop a part of an answer.

use retake_wire::chat::{ButtonLabel, ChatButton, PostContent};

use super::words;
use crate::adapter::{Adapter, Button, Marker, Outgoing, StyledText};
use crate::capabilities::CommandPrefix;
use crate::sentences::{Asked, Sentence};
use crate::text;

/// What stands in a post that would be empty.
const EMPTY: &str = "…";

/// All parts of a message: at least one. A preview shows the first one.
pub(super) fn parts(content: &PostContent, adapter: &dyn Adapter) -> Vec<Outgoing> {
    let capabilities = adapter.capabilities();
    let (styled, buttons) = match content {
        PostContent::Markdown { text, is_interrupted, buttons } => {
            let mut styled = text::parse(text);
            if *is_interrupted {
                let gap = if styled.text.trim().is_empty() { "" } else { "\n\n" };
                styled.text.push_str(&format!("{gap}{}", Sentence::Interrupted.text()));
            }
            (styled, buttons.as_slice())
        }
        PostContent::Preview { text } => {
            (StyledText { text: text.clone(), styles: Vec::new() }, [].as_slice())
        }
        PostContent::Notice { notice, buttons } => {
            let mut text = words::text(notice, capabilities);
            if !capabilities.buttons {
                text.push_str(&numbered(buttons, capabilities.commands));
            }
            (StyledText { text, styles: Vec::new() }, buttons.as_slice())
        }
    };
    let measure = |text: &StyledText| adapter.length(text);
    let mut pieces = text::split(&styled, capabilities.longest, &measure);
    if pieces.is_empty() {
        pieces.push(StyledText { text: EMPTY.to_owned(), styles: Vec::new() });
    }
    let mut parts: Vec<Outgoing> =
        pieces.into_iter().map(|text| Outgoing { text, ..Outgoing::default() }).collect();
    if let Some(last) = parts.last_mut().filter(|_| capabilities.buttons) {
        last.buttons = buttons.iter().map(|row| row.iter().map(button).collect()).collect();
    }
    parts
}

/// A part without styles, for a platform that refuses the formatting. It is made from the source.
pub(super) fn plain(part: &Outgoing, adapter: &dyn Adapter) -> Outgoing {
    let capabilities = adapter.capabilities();
    let text = text::plain(&part.text, text::stay_below(capabilities.longest), capabilities.unit);
    Outgoing { text: StyledText { text, styles: Vec::new() }, ..part.clone() }
}

/// The marker of an attempt: another one for each post, part and wording, and the same when it is repeated.
pub(super) fn marker(post: &str, what: &str, digest: &str) -> Marker {
    let mut hasher = blake3::Hasher::new();
    for piece in [post, what, digest] {
        hasher.update(&piece.len().to_le_bytes());
        hasher.update(piece.as_bytes());
    }
    Marker { key: hasher.finalize().to_hex()[..24].to_owned(), digest: digest.to_owned() }
}

fn button(button: &ChatButton) -> Button {
    Button { label: words::label(&button.label), data: button.data.clone() }
}

/// The turns to choose from and how to answer, for platforms without buttons. The number of a turn is that of the command.
fn numbered(buttons: &[Vec<ChatButton>], prefix: CommandPrefix) -> String {
    let is_turn = |button: &&ChatButton| matches!(button.label, ButtonLabel::Turn { .. });
    let turns = buttons.iter().flatten().filter(is_turn).enumerate();
    let turns: String =
        turns.map(|(at, button)| format!("\n{}. {}", at + 1, words::label(&button.label))).collect();
    let asked = match (turns.is_empty(), buttons.iter().flatten().count()) {
        (false, _) => Asked::Turn,
        (true, 0) => return turns,
        (true, 1) => Asked::OneThing,
        (true, _) => Asked::YesOrNo,
    };
    format!("{turns}\n{}", Sentence::HowToAnswer(asked, prefix).text())
}
