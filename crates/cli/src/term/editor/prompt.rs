//! The look of the composer: prompt, placeholders, the notice on an empty line, completions. Must never change the buffer.

use std::borrow::Cow;

use reedline::{
    Color, Completer, CompletionResult, Highlighter, Hinter, History, Prompt, PromptEditMode,
    PromptHistorySearch, PromptHistorySearchStatus, Span, StyledText, Suggestion,
};

use retake_tui::text::fold::Piece;

use super::{Shared, lock, safe};

/// The prompt, and the text before further lines.
pub(super) struct EditorPrompt {
    prompt: String,
    further: String,
}

impl EditorPrompt {
    pub(super) fn new(prompt: &str) -> Self {
        let prompt = safe::line(prompt).into_owned();
        let width = crate::term::width::columns(&prompt);
        let further = " ".repeat(width.saturating_sub(2)) + if width < 2 { "" } else { "· " };
        Self { prompt, further }
    }
}

impl Prompt for EditorPrompt {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.prompt)
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.further)
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        let found = match search.status {
            PromptHistorySearchStatus::Passing => "search",
            PromptHistorySearchStatus::Failing => "nothing found",
        };
        Cow::Owned(format!("({found}: {}) ", safe::line(&search.term)))
    }

    fn get_prompt_color(&self) -> Color {
        Color::Cyan
    }

    fn get_prompt_multiline_color(&self) -> Color {
        Color::DarkGray
    }
}

/// Draws placeholders as their labels.
pub(super) struct Labels {
    state: Shared,
}

impl Labels {
    pub(super) fn new(state: Shared) -> Self {
        Self { state }
    }
}

impl Highlighter for Labels {
    fn highlight(&self, line: &str, _cursor: usize) -> StyledText {
        let mut state = lock(&self.state);
        state.prose = !line.is_empty() && !line.starts_with('/');
        let mut styled = StyledText::new();
        for piece in state.folds.pieces(line) {
            styled.push(match piece {
                Piece::Text(text) => (Color::Default.normal(), text.to_owned()),
                Piece::Label(label) => (Color::Cyan.italic(), label.to_owned()),
            });
        }
        styled
    }
}

/// The note after pasted lines.
const SEVERAL: &str = "  (these lines came at once: Enter sends them as one, Ctrl-C clears)";

/// The note after an Enter that nobody could mean for the text in the line.
const RETURNED: &str = "  (Enter again sends this, Ctrl-C clears)";

/// Draws the notice in the place of a hint. There is nothing to accept in it.
pub(super) struct Notice {
    state: Shared,
}

impl Notice {
    pub(super) fn new(state: Shared) -> Self {
        Self { state }
    }
}

impl Hinter for Notice {
    fn handle(&mut self, line: &str, _: usize, _: &dyn History, ansi: bool, _: &str) -> String {
        let state = lock(&self.state);
        let notice = match line.is_empty() {
            true => state.notice,
            false if state.told => SEVERAL,
            false if state.kept => RETURNED,
            false => "",
        };
        match (notice.is_empty(), ansi) {
            (true, _) => String::new(),
            (false, true) => Color::DarkGray.paint(notice).to_string(),
            (false, false) => notice.to_owned(),
        }
    }

    fn complete_hint(&self) -> String {
        String::new()
    }

    fn next_hint_token(&self) -> String {
        String::new()
    }
}

/// Completes a command at the beginning of the line.
pub(super) struct Commands {
    commands: Vec<(String, String)>,
}

impl Commands {
    pub(super) fn new(commands: Vec<(String, String)>) -> Self {
        Self { commands }
    }
}

impl Completer for Commands {
    fn complete(&mut self, line: &str, pos: usize) -> CompletionResult {
        let typed = &line[..pos];
        let found =
            self.commands.iter().filter(|(name, _)| typed.starts_with('/') && name.starts_with(typed));
        let suggestions: Vec<Suggestion> = found
            .map(|(name, help)| Suggestion {
                value: name.clone(),
                description: Some(safe::line(help).into_owned()),
                span: Span::new(0, pos),
                append_whitespace: true,
                ..Suggestion::default()
            })
            .collect();
        CompletionResult::fresh(suggestions)
    }
}
