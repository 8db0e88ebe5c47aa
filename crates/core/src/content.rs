//! The content of an entry: roles, content parts, token usage, and the cleaning of external text.
//!
//! Content is kept verbatim after cleaning, so that a provider gets back what it sent (reasoning with its signature).
//! Must never interpret a text.

use std::borrow::Cow;

use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::memory::Recalled;

/// The role of an entry's author.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, EnumString, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "snake_case")]
pub enum Role {
    /// A person.
    User,
    /// A model.
    Assistant,
    /// The result of a tool.
    Tool,
    /// An instruction that is neither a person's nor a model's.
    System,
}

impl Role {
    /// Every role, in a fixed order.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// The lower-case name used in every format: `user`, `assistant`, `tool`, `system`.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The role with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        name.parse().ok()
    }
}

/// The media type of a file that holds the text of a command, which a person sent as `/name`. The model gets the text; a client that
/// returns the message to its composer leaves it out, because sending the command adds it again.
pub const COMMAND_PROMPT: &str = "text/vnd.retake.command";

/// The location of the bytes of an image or a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// Stored in the entry itself.
    Inline(Vec<u8>),
    /// At an address that the provider or the reader fetches.
    Link(String),
}

/// One piece of an entry's content.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// Plain text or Markdown.
    Text(String),
    /// A picture.
    Image {
        /// MIME type, such as `image/png`.
        media_type: String,
        /// Its bytes or its address.
        source: Source,
    },
    /// A file.
    File {
        /// Path or name as the author gave it.
        name: String,
        /// MIME type, if known.
        media_type: Option<String>,
        /// Its bytes or its address.
        source: Source,
    },
    /// A tool call by a model.
    ToolCall {
        /// The provider's id of the call; its result names it.
        id: String,
        /// The tool's name.
        name: String,
        /// The arguments, JSON text exactly as the model wrote it.
        arguments: String,
    },
    /// The form in which the call before it runs, because the model did not send it quite right. The model never sees this part.
    Repaired {
        /// The tool's name.
        name: String,
        /// The arguments, JSON text.
        arguments: String,
    },
    /// The result of a tool.
    ToolResult {
        /// The id of its call.
        call: String,
        /// The result for the model.
        content: String,
        /// Whether the tool failed.
        outcome: ToolOutcome,
    },
    /// A model's reasoning, with the provider's signature where it gave one.
    Reasoning {
        /// The reasoning, as far as the provider shows it.
        text: String,
        /// Opaque; sent back verbatim to the provider that made it.
        signature: Option<String>,
    },
    /// Facts for later turns; neither people nor the model see them.
    Facts(Vec<Fact>),
    /// Remembered facts that this entry recalls. The log has their ids only.
    Recalled(Vec<Recalled>),
    /// A part that `Erase` has overwritten.
    Erased,
}

/// A fact for later turns: the shell's current folder, the to-do list, or the version of a file that the agent has read.
/// The last fact of a key on the path counts, so a rewind reverts it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fact {
    /// Its key, such as `cwd`, `todo` or `read/src/main.rs`.
    pub key: String,
    /// Its value, in the writer's own form. An empty value removes the fact.
    pub value: String,
}

impl Fact {
    /// A fact.
    pub fn new(key: impl Into<String>, value: impl Into<String>) -> Self {
        Self { key: key.into(), value: value.into() }
    }
}

/// Whether a tool call worked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ToolOutcome {
    /// The tool succeeded.
    Ok,
    /// The tool reported a failure.
    Failed,
}

impl Part {
    /// A text part.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// The text of a text part.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Whether it is the text of a command.
    pub fn is_command_prompt(&self) -> bool {
        matches!(self, Self::File { media_type: Some(media_type), .. } if media_type == COMMAND_PROMPT)
    }

    /// The id of the call, of a tool call.
    pub fn call_id(&self) -> Option<&str> {
        match self {
            Self::ToolCall { id, .. } => Some(id),
            _ => None,
        }
    }

    /// The id of the call that a tool result answers.
    pub fn answered_call(&self) -> Option<&str> {
        match self {
            Self::ToolResult { call, .. } => Some(call),
            _ => None,
        }
    }

    /// How many bytes of content it has.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Text(text) | Self::Reasoning { text, .. } => text.len(),
            Self::Image { source, .. } | Self::File { source, .. } => match source {
                Source::Inline(bytes) => bytes.len(),
                Source::Link(link) => link.len(),
            },
            Self::ToolCall { arguments, .. } | Self::Repaired { arguments, .. } => arguments.len(),
            Self::ToolResult { content, .. } => content.len(),
            Self::Facts(facts) => facts.iter().map(|fact| fact.key.len() + fact.value.len()).sum(),
            Self::Recalled(facts) => {
                facts.iter().map(|fact| fact.id.as_str().len() + fact.words.shown().len()).sum()
            }
            Self::Erased => 0,
        }
    }

    /// The part with every string cleaned by [`clean`].
    #[must_use]
    pub fn cleaned(self) -> Self {
        let own = |text: String| match clean(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(cleaned) => cleaned,
        };
        match self {
            Self::Text(text) => Self::Text(own(text)),
            Self::ToolCall { id, name, arguments } => {
                Self::ToolCall { id: own(id), name: own(name), arguments: own(arguments) }
            }
            Self::Repaired { name, arguments } => {
                Self::Repaired { name: own(name), arguments: own(arguments) }
            }
            Self::ToolResult { call, content, outcome } => {
                Self::ToolResult { call: own(call), content: own(content), outcome }
            }
            Self::Reasoning { text, signature } => Self::Reasoning { text: own(text), signature },
            Self::File { name, media_type, source } => Self::File { name: own(name), media_type, source },
            Self::Facts(facts) => {
                Self::Facts(facts.into_iter().map(|fact| Fact::new(own(fact.key), own(fact.value))).collect())
            }
            other @ (Self::Image { .. } | Self::Recalled(_) | Self::Erased) => other,
        }
    }
}

/// A tool call in the form in which it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallForm<'a> {
    /// The provider's id of the call.
    pub id: &'a str,
    /// The tool's name.
    pub name: &'a str,
    /// The arguments, JSON text.
    pub arguments: &'a str,
}

/// The tool calls among the parts, each as it was repaired, or else as the model sent it.
pub fn calls_as_run(parts: &[Part]) -> impl Iterator<Item = CallForm<'_>> {
    parts.iter().enumerate().filter_map(|(at, part)| match (part, parts.get(at + 1)) {
        (Part::ToolCall { id, .. }, Some(Part::Repaired { name, arguments }))
        | (Part::ToolCall { id, name, arguments }, _) => Some(CallForm { id, name, arguments }),
        _ => None,
    })
}

/// All text parts, joined by a line break: the text for copying.
pub fn joined_text(parts: &[Part]) -> String {
    let texts: Vec<&str> = parts.iter().filter_map(Part::as_text).collect();
    texts.join("\n")
}

/// Text in its stored form: without NUL. (A Rust string cannot contain a lone surrogate: it is replaced where external
/// text is decoded.) Case: `spec/store.md`, rule *Append*.
pub fn clean(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { Cow::Owned(text.replace('\0', "")) } else { Cow::Borrowed(text) }
}

/// The usage of a model call, as its provider reported it. `None` is unknown, never zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Usage {
    /// Tokens of the prompt, cached ones included.
    pub input_tokens: Option<u64>,
    /// Tokens of the prompt that the provider read from its cache.
    pub cached_input_tokens: Option<u64>,
    /// Tokens of the answer.
    pub output_tokens: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_roles_are_those_that_are_stored() {
        for (role, name) in Role::ALL.iter().copied().zip(["user", "assistant", "tool", "system"]) {
            assert_eq!((role.name(), Role::from_name(name)), (name, Some(role)));
        }
        assert_eq!(Role::from_name("User"), None);
    }

    #[test]
    fn a_repaired_call_runs_in_its_repaired_form() {
        let call = |id: &str| Part::ToolCall { id: id.into(), name: "Bash".into(), arguments: "{}".into() };
        let repaired = Part::Repaired { name: "shell".into(), arguments: "[]".into() };
        let parts = [Part::text("a"), call("1"), repaired.clone(), call("2"), Part::text("b"), repaired];
        let forms: Vec<_> = calls_as_run(&parts).map(|call| (call.id, call.name, call.arguments)).collect();
        assert_eq!(forms, [("1", "shell", "[]"), ("2", "Bash", "{}")]);
    }

    #[test]
    fn stored_text_has_no_nul() {
        for (text, stored) in [("a\0b\0", "ab"), ("plain", "plain"), ("", "")] {
            assert_eq!(clean(text), stored);
            assert_eq!(Part::text(text).cleaned(), Part::text(stored));
        }
        let nul = || "a\0".to_owned();
        let call = Part::ToolCall { id: nul(), name: nul(), arguments: nul() };
        assert_eq!((call.cleaned().call_id(), Part::text("").call_id()), (Some("a"), None));
        let result = Part::ToolResult { call: nul(), content: nul(), outcome: ToolOutcome::Ok };
        assert_eq!((result.cleaned().answered_call(), Part::text("").answered_call()), (Some("a"), None));
        let facts = Part::Facts(vec![Fact::new(nul(), nul())]);
        assert_eq!(facts.cleaned(), Part::Facts(vec![Fact::new("a", "a")]));
        assert_eq!(Part::Erased.cleaned(), Part::Erased);
        assert_eq!(joined_text(&[Part::text("a"), Part::Erased, Part::text("b")]), "a\nb");
    }
}
