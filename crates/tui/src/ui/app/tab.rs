//! A tab: a conversation, its view, its composer, and the pane in front of it. Must never share a draft with another one.

use ratatui::layout::Rect;
use retake_wire::Part;

use crate::text::safe;

use super::super::composer::Composer;
use super::super::keymap::Command;
use super::super::msg::{TabId, Ticket};
use super::super::pane::Pane;
use super::super::talk::Talk;
use super::super::view::View;
use super::stack::Behind;

/// A draft is kept when nothing was typed for so long.
const REST_MS: i64 = 600;

/// A command that was given, and does something else when its key is pressed once more.
#[derive(Debug, Clone, Copy)]
pub(super) struct Once {
    pub(super) command: Command,
    pub(super) at_ms: i64,
}

/// A step after which an Enter is perhaps still meant for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stepped {
    pub(super) at_ms: i64,
    /// When an Enter was taken for that the last time.
    pub(super) refused_ms: Option<i64>,
}

impl Stepped {
    pub(super) fn at(at_ms: i64) -> Self {
        Self { at_ms, refused_ms: None }
    }
}

/// A tab.
#[derive(Debug)]
pub(super) struct Tab {
    pub(super) id: TabId,
    pub(super) talk: Talk,
    pub(super) view: View,
    pub(super) composer: Composer,
    /// The pane in front.
    pub(super) pane: Option<Box<dyn Pane>>,
    /// Its number.
    pub(super) pane_no: u64,
    /// Panes behind it, the last one next to it.
    pub(super) behind: Vec<Behind>,
    /// Panes that were left for the message that is selected.
    pub(super) left: Vec<Behind>,
    /// The model of the next run.
    pub(super) model: Option<String>,
    /// It was chosen here, or found out what the conversation goes on with.
    pub(super) is_model_settled: bool,
    /// Whether a message is selected.
    pub(super) selecting: bool,
    /// What is typed into the line at the edge, and what for.
    pub(super) line: Option<EdgeLine>,
    /// The next message is said in the place of this one.
    pub(super) rewriting: Option<Rewriting>,
    /// Since when what is asked first is asked; while somebody goes on typing, since the last letter.
    pub(super) asked_ms: Option<i64>,
    /// What a letter answers, if nothing follows it.
    pub(super) answering: Option<Answering>,
    /// Which of the rules on offer would be allowed.
    pub(super) offer: usize,
    /// When words that go on were typed the last time.
    pub(super) wrote_ms: i64,
    /// What was answered here the last time.
    pub(super) answered: Option<String>,
    /// Words were typed while something was asked that others have answered meanwhile: they may be meant for that.
    pub(super) is_late: bool,
    /// What came back into the composer the last time.
    pub(super) returned: Vec<Part>,
    /// A draft moved aside for it.
    pub(super) has_moved_aside: bool,
    /// Words came back, or a plan was done, and no other key was pressed since.
    pub(super) stepped: Option<Stepped>,
    /// What does something when it is pressed once more.
    pub(super) once: Option<Once>,
    /// Its conversation has begun with what was said here, and is not known yet.
    pub(super) begins: bool,
    /// What was sent, until the owner has it: it comes back if it is refused.
    pub(super) sent: Vec<(Ticket, Vec<Part>, Option<Rewriting>)>,
    /// Earlier entries are on their way.
    pub(super) loading: bool,
    /// The stream of events is lost, and being sought again; why it is not found, where somebody says so.
    pub(super) lost: Option<String>,
    /// An entry to show as soon as it is there.
    pub(super) show: Option<String>,
    /// Something was typed since the draft was kept: when.
    pub(super) typed_ms: Option<i64>,
    /// The draft as the owner has it, and the entry that it is to be said in the place of.
    pub(super) kept: Vec<Part>,
    pub(super) kept_edits: Option<String>,
    /// What is aside, as the owner has it.
    pub(super) kept_aside: Vec<Vec<Part>>,
    /// The draft was written in the place of this entry, before the UI was opened.
    pub(super) edits: Option<String>,
    /// Another conversation is being opened: what is typed now is for that one, and this is what stood here before.
    pub(super) opening: Option<Composer>,
    /// The draft of the owner was taken over once.
    pub(super) has_draft: bool,
    /// The owner would not say what it has.
    pub(super) is_draft_refused: bool,
    /// A run ended here while another tab was looked at.
    pub(super) is_unseen: bool,
    /// Where the view or the pane was drawn.
    pub(super) area: Rect,
    /// Where the composer was.
    pub(super) composer_area: Rect,
}

/// A message that the next one takes the place of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rewriting {
    pub(super) entry: String,
    pub(super) head: String,
    /// What is wished for files, as the plan was agreed to.
    pub(super) files: retake_wire::FilesWish,
    /// What sending the words takes back, as that plan said.
    pub(super) takes_back: String,
    /// It was refused, as something has changed since: it is being planned anew.
    pub(super) is_stale: bool,
}

/// A letter that answers what is asked, once it is known that it is no part of words.
#[derive(Clone, Debug)]
pub(super) struct Answering {
    pub(super) answer: Answer,
    pub(super) letter: char,
    /// When it was pressed.
    pub(super) at_ms: i64,
    /// It was on its way when the question came.
    pub(super) is_early: bool,
}

/// What a letter answers.
#[derive(Clone, Debug)]
pub(super) enum Answer {
    /// A question for leave.
    Leave(Command),
    /// A question of a tool, with this choice.
    Choice(String),
}

/// A line that is asked for at the edge.
#[derive(Clone, Debug)]
pub(super) struct EdgeLine {
    pub(super) what: LineFor,
    pub(super) text: String,
}

/// What a line is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LineFor {
    /// Words to be found.
    Find,
    /// The title of the conversation.
    Title,
    /// The label of an entry.
    Label(String),
    /// Why a call may not run.
    Deny,
}

impl Tab {
    pub(super) fn new(id: TabId, model: Option<String>) -> Self {
        Self {
            id,
            talk: Talk::default(),
            view: View::default(),
            composer: Composer::new(),
            pane: None,
            pane_no: 0,
            behind: Vec::new(),
            left: Vec::new(),
            is_model_settled: model.is_some(),
            model,
            selecting: false,
            line: None,
            rewriting: None,
            asked_ms: None,
            answering: None,
            offer: 0,
            wrote_ms: 0,
            answered: None,
            is_late: false,
            returned: Vec::new(),
            has_moved_aside: false,
            stepped: None,
            once: None,
            begins: false,
            sent: Vec::new(),
            loading: false,
            lost: None,
            show: None,
            typed_ms: None,
            kept: Vec::new(),
            kept_edits: None,
            kept_aside: Vec::new(),
            edits: None,
            opening: None,
            has_draft: false,
            is_draft_refused: false,
            is_unseen: false,
            area: Rect::default(),
            composer_area: Rect::default(),
        }
    }

    /// Whether something is on its way that is worth a spinner.
    pub(super) fn is_busy(&self) -> bool {
        !self.sent.is_empty() || self.lost.is_some()
    }

    /// Selects messages, or stops that.
    pub(super) fn select(&mut self, selecting: bool) {
        self.selecting = selecting;
        if !selecting {
            self.left.clear();
            self.view.deselect();
        }
    }

    /// The conversation's id, where there is one.
    pub(super) fn conversation(&self) -> Option<String> {
        self.talk.conversation.as_ref().map(|conversation| conversation.id.clone())
    }

    /// What it is called: its title, or its first words.
    pub(super) fn title(&self) -> String {
        let Some(conversation) = &self.talk.conversation else { return "new".to_owned() };
        let title = conversation.title.as_deref().unwrap_or(&conversation.preview);
        // There is little room: a sign in front is seen where the end of a title is not.
        let fork = if conversation.parent.is_some() { "⑂ " } else { "" };
        if title.is_empty() { "new".to_owned() } else { format!("{fork}{}", safe::line(title)) }
    }

    /// Once somebody has answered, nobody is asked why not any more.
    pub(super) fn forget_settled(&mut self) {
        let asked = self.talk.live.as_ref().is_some_and(|live| !live.asks.is_empty());
        if !asked && self.line.as_ref().is_some_and(|line| line.what == LineFor::Deny) {
            self.line = None;
        }
    }

    /// Whether a person is waited for: for leave, for an answer.
    pub(super) fn waits(&self) -> [bool; 2] {
        self.talk.live.as_ref().map_or([false; 2], |live| [!live.asks.is_empty(), !live.questions.is_empty()])
    }

    /// What is asked first, for leave or by a tool.
    pub(super) fn front(&self) -> Option<&str> {
        let live = self.talk.live.as_ref()?;
        let asks = live.asks.first().map(|asks| asks.id.as_str());
        asks.or_else(|| live.questions.first().map(|question| question.id.as_str()))
    }

    /// Whether a letter may be an answer: nothing is being written.
    pub(super) fn is_free_to_answer(&self) -> bool {
        self.composer.is_empty() && !self.composer.is_popup_open() && self.opening.is_none()
    }

    /// The entry that what stands here is to be said in the place of.
    pub(super) fn edited(&self) -> Option<String> {
        let edits = self.rewriting.as_ref().map(|rewriting| &rewriting.entry).or(self.edits.as_ref());
        edits.filter(|_| !self.own().is_empty()).cloned()
    }

    /// What is typed from here on is for a conversation that is being opened.
    pub(super) fn opens(&mut self, prompts: Vec<String>) {
        if self.opening.is_none() {
            let mut composer = Composer::new();
            composer.remember(prompts);
            self.opening = Some(std::mem::replace(&mut self.composer, composer));
        }
    }

    /// What was typed for a conversation that was being opened; what stood here before is back.
    pub(super) fn opened(&mut self) -> Option<Composer> {
        let before = self.opening.take()?;
        Some(std::mem::replace(&mut self.composer, before))
    }

    /// What stands here for what is shown.
    pub(super) fn own(&self) -> &Composer {
        self.opening.as_ref().unwrap_or(&self.composer)
    }

    /// Whether words stand here, or are aside, that were not sent.
    pub(super) fn has_words(&self) -> bool {
        !self.own().is_empty() || !self.own().aside().is_empty()
    }

    /// Whether a draft is to be kept now.
    pub(super) fn rests(&self, now_ms: i64) -> bool {
        self.typed_ms.is_some_and(|typed| now_ms - typed >= REST_MS)
    }
}
