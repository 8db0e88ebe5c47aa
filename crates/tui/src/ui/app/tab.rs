//! A tab: a conversation, its view, its composer, and its front pane. Must never share a draft with another tab.

use ratatui::layout::Rect;

use crate::text::safe;

use super::super::composer::Composer;
use super::super::msg::TabId;
use super::super::talk::LoadedConversation;
use super::super::view::View;
use super::answers::Answers;
use super::local_draft::{LocalDraft, Stored};
use super::outgoing::Outgoing;
use super::panes::Panes;
use super::presses::KeyPresses;

/// A tab.
#[derive(Debug)]
pub(super) struct Tab {
    pub(super) id: TabId,
    pub(super) talk: LoadedConversation,
    pub(super) view: View,
    pub(super) composer: Composer,
    pub(super) panes: Panes,
    pub(super) model: NextModel,
    /// Whether a message is selected.
    pub(super) selecting: bool,
    /// The input line above the composer, and what it is for.
    pub(super) line: Option<InputLine>,
    pub(super) answers: Answers,
    pub(super) outgoing: Outgoing,
    pub(super) presses: KeyPresses,
    pub(super) loading: Loading,
    pub(super) draft: LocalDraft,
    /// A run ended here while another tab was shown.
    pub(super) is_unseen: bool,
    pub(super) areas: Areas,
}

/// The model of the next run.
#[derive(Debug, Default)]
pub(super) struct NextModel {
    pub(super) name: Option<String>,
    /// It was chosen here, or is the one that the conversation continued with.
    pub(super) is_settled: bool,
}

/// What is being loaded.
#[derive(Debug, Default)]
pub(super) struct Loading {
    /// Earlier entries are on their way.
    pub(super) is_loading: bool,
    /// The stream of events is lost, and the client reconnects; the text says why that fails, if the owner gives a
    /// reason.
    pub(super) lost: Option<String>,
    /// An entry to show once it is loaded.
    pub(super) show: Option<String>,
}

/// The areas of a tab's parts at the last drawing.
#[derive(Debug, Default)]
pub(super) struct Areas {
    /// The view, or the pane in front of it.
    pub(super) main: Rect,
    pub(super) composer: Rect,
}

/// A message that the next one replaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rewriting {
    pub(super) entry: String,
    pub(super) head: String,
    /// The options for files, as agreed to in the plan.
    pub(super) files: retake_wire::FileOptions,
    /// What sending takes back, according to that plan.
    pub(super) takes_back: String,
    /// It was refused as stale: a new plan is on its way.
    pub(super) is_stale: bool,
}

/// An input line above the composer.
#[derive(Clone, Debug)]
pub(super) struct InputLine {
    pub(super) what: InputFor,
    pub(super) text: String,
}

/// The purpose of the input line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum InputFor {
    /// Text to find.
    Find,
    /// The title of the conversation.
    Title,
    /// The label of an entry.
    Label(String),
}

impl Tab {
    pub(super) fn new(id: TabId, model: Option<String>) -> Self {
        Self {
            id,
            talk: LoadedConversation::default(),
            view: View::default(),
            composer: Composer::new(),
            panes: Panes::default(),
            model: NextModel { is_settled: model.is_some(), name: model },
            selecting: false,
            line: None,
            answers: Answers::default(),
            outgoing: Outgoing::default(),
            presses: KeyPresses::default(),
            loading: Loading::default(),
            draft: LocalDraft::default(),
            is_unseen: false,
            areas: Areas::default(),
        }
    }

    /// Whether something is going on that needs a spinner.
    pub(super) fn is_busy(&self) -> bool {
        !self.outgoing.is_empty() || self.loading.lost.is_some()
    }

    /// Starts or ends the selection of messages.
    pub(super) fn select(&mut self, selecting: bool) {
        self.selecting = selecting;
        if !selecting {
            self.panes.left.clear();
            self.view.deselect();
        }
    }

    /// The conversation's id, if it has one.
    pub(super) fn conversation(&self) -> Option<String> {
        self.talk.conversation.as_ref().map(|conversation| conversation.id.clone())
    }

    /// Whether the line about the current run is on the screen: the status bar does not repeat it.
    pub(super) fn shows_run(&self) -> bool {
        self.panes.front.is_none() && self.view.shows_run()
    }

    /// Its name: the title, or its first words.
    pub(super) fn title(&self) -> String {
        let Some(conversation) = &self.talk.conversation else { return "new".to_owned() };
        let title = conversation.title.as_deref().unwrap_or(&conversation.preview);
        // There is little room: a sign in front is visible even if the end of the title is not.
        let fork = if conversation.parent.is_some() { "⑂ " } else { "" };
        if title.is_empty() { "new".to_owned() } else { format!("{fork}{}", safe::line(title)) }
    }

    /// Whether the agent waits for a person: for an approval, for an answer.
    pub(super) fn waits(&self) -> [bool; 2] {
        self.talk.live.as_ref().map_or([false; 2], |live| [!live.asks.is_empty(), !live.questions.is_empty()])
    }

    /// The id of the first open approval request, or of the first question of a tool.
    pub(super) fn front(&self) -> Option<&str> {
        let live = self.talk.live.as_ref()?;
        let asks = live.asks.first().map(|asks| asks.id.as_str());
        asks.or_else(|| live.questions.first().map(|question| question.id.as_str()))
    }

    /// Whether a letter may be an answer: nothing else is being written.
    pub(super) fn is_free_to_answer(&self) -> bool {
        let is_free = self.composer.is_empty() || self.answers.armed.is_some_and(|armed| armed.is_typed);
        is_free && !self.composer.is_popup_open() && self.draft.opening.is_none()
    }

    /// The entry that the text here replaces.
    pub(super) fn edited(&self) -> Option<String> {
        let edits =
            self.outgoing.rewriting.as_ref().map(|rewriting| &rewriting.entry).or(self.draft.edits.as_ref());
        edits.filter(|_| !self.own().is_empty()).cloned()
    }

    /// Input from here on is for a conversation that is being opened.
    pub(super) fn opens(&mut self, prompts: Vec<String>) {
        if self.draft.opening.is_none() {
            let mut composer = Composer::new();
            composer.remember(prompts);
            self.draft.opening = Some(std::mem::replace(&mut self.composer, composer));
        }
    }

    /// The text typed for a conversation that was being opened; the earlier composer is back.
    pub(super) fn opened(&mut self) -> Option<Composer> {
        let before = self.draft.opening.take()?;
        Some(std::mem::replace(&mut self.composer, before))
    }

    /// The composer of the conversation that is shown.
    pub(super) fn own(&self) -> &Composer {
        self.draft.opening.as_ref().unwrap_or(&self.composer)
    }

    /// Whether there is unsent text, here or aside.
    pub(super) fn has_words(&self) -> bool {
        !self.own().is_empty() || !self.own().aside().is_empty()
    }

    /// The draft as the owner is to store it.
    pub(super) fn to_store(&self) -> Stored {
        Stored { parts: self.own().parts(), edits: self.edited(), aside: self.own().aside() }
    }
}
