//! How earlier key presses affect the next one. Must never let an Enter that was meant for a step send a message.

use super::notices::SHORT_MS;
use crate::ui::keymap::Command;

/// An Enter this soon after a step returned a message to the composer does not send it: it was meant for the step.
const SETTLE_MS: i64 = 1_500;

/// Further presses of Enter are ignored while each follows the one before this soon: nobody can read in between.
const REPEAT_MS: i64 = 300;

/// Earlier key presses of a tab.
#[derive(Debug, Default)]
pub(super) struct KeyPresses {
    /// A command that differs on its second press, and when it was pressed.
    once: Option<(Command, i64)>,
    /// A step returned a message or carried out a plan, and no other key was pressed since.
    stepped: Option<Stepped>,
}

/// A step that an Enter may still be meant for.
#[derive(Debug, Clone, Copy)]
struct Stepped {
    at_ms: i64,
    /// When an Enter was last ignored for it.
    refused_ms: Option<i64>,
}

impl KeyPresses {
    /// A key with this command was pressed: only the same command is a second press. A key in the composer other than Enter shows
    /// that the person has seen the result of the step.
    pub(super) fn pressed(&mut self, command: Option<Command>, in_composer: bool) {
        self.once.take_if(|(once, _)| Some(*once) != command);
        self.stepped.take_if(|_| in_composer && command != Some(Command::Send));
    }

    /// Whether this is the second press of a command, while the notice about the first one is shown.
    pub(super) fn is_second(&mut self, command: Command, now_ms: i64) -> bool {
        let before = self.once.take();
        let is_second = before.is_some_and(|(once, at_ms)| once == command && now_ms - at_ms <= SHORT_MS);
        if !is_second {
            self.once = Some((command, now_ms));
        }
        is_second
    }

    /// A step returned a message, or a plan was carried out.
    pub(super) fn stepped(&mut self, at_ms: i64) {
        self.stepped = Some(Stepped { at_ms, refused_ms: None });
    }

    /// The next Enter is for the typed text.
    pub(super) fn typed(&mut self) {
        self.stepped = None;
    }

    /// Whether an Enter is meant for the step before: it sends nothing.
    pub(super) fn is_meant_for_step(&mut self, now_ms: i64) -> bool {
        let Some(step) = self.stepped else { return false };
        let is_meant = match step.refused_ms {
            None => now_ms - step.at_ms < SETTLE_MS,
            Some(refused) => now_ms - refused < REPEAT_MS,
        };
        self.stepped = is_meant.then_some(Stepped { refused_ms: Some(now_ms), ..step });
        is_meant
    }
}
