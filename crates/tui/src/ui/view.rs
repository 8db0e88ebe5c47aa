//! The view of a conversation: messages, actions, the current run. It holds the scroll position and the folding, nothing of the
//! conversation itself. Must never lay out more than is near the screen. Must never move text that a person is reading.

mod asked;
mod calls;
mod edge;
mod entry;
mod find;
mod greeting;
mod heights;
mod live;
mod page;
mod place;
mod stage;
mod state;
#[cfg(test)]
mod tests;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::doc::{self, Streaming};
use super::keymap::{Command, Keymap};
use super::pane::PaneContext;
use super::talk::LoadedConversation;
use super::theme::Paint;
pub(crate) use asked::granted_by;
use asked::{Asking, Unfolded};
use find::{Find, Hit};
use heights::{Heights, VisibleLines};
use page::DrawParameters;
use place::{Anchor, ConversationEnd};
use stage::{Cache, Place, ViewContent};
pub(crate) use state::Greeting;
use state::{Folding, LastDrawing, Reveal, Scrolling, TodoList};

/// Earlier entries are requested when only this many are above.
const NEAR_TOP: usize = 20;

/// The view of a conversation.
#[derive(Debug, Default)]
pub(crate) struct View {
    pub(crate) greeting: Greeting,
    /// How an approval request can be answered.
    pub(crate) asking: Asking,
    /// A line is drawn below the view; it has room for the sign that there is more below.
    pub(crate) has_rule: bool,
    scrolling: Scrolling,
    folding: Folding,
    selected: Option<String>,
    find: Option<Find>,
    cache: Cache,
    heights: Heights,
    streaming: Streaming,
    todo: TodoList,
    /// The end of the conversation when it was last visible.
    seen: ConversationEnd,
    drawn: LastDrawing,
}

impl View {
    /// Handles a command of the view; `false` if it is another one.
    pub(crate) fn command(&mut self, command: Command, talk: &LoadedConversation) -> bool {
        let page = isize::try_from(self.drawn.area.height.saturating_sub(2).max(1)).unwrap_or(1);
        match command {
            Command::ScrollUp => self.scrolling.shift -= page,
            Command::ScrollDown => self.scrolling.shift += page,
            Command::ScrollTop => self.scrolling.to(Anchor::Top),
            Command::ScrollEnd => self.to_end(),
            Command::Reasoning => self.folding.reasoning = !self.folding.reasoning,
            Command::Output => self.folding.output = !self.folding.output,
            Command::ShowCall => self.show_call(talk),
            Command::Select => self.select_shown(talk),
            Command::SelectUp => self.step(talk, -1, 1),
            Command::SelectDown => self.step(talk, 1, 1),
            Command::SelectPageUp => self.step(talk, -1, self.drawn.messages()),
            Command::SelectPageDown => self.step(talk, 1, self.drawn.messages()),
            Command::SelectFirst => self.select_from(talk, 0, 1, 0),
            Command::SelectLast => self.select_from(talk, talk.entries.len(), -1, 1),
            Command::SelectLeave => self.deselect(),
            Command::SelectOpen => self.toggle(),
            Command::FindNext => self.next_hit(talk, false),
            Command::FindPrevious => self.next_hit(talk, true),
            Command::FindLeave => self.find = None,
            _ => return false,
        }
        true
    }

    /// Moves by so many lines, at the next drawing.
    pub(crate) fn scroll(&mut self, lines: i32) {
        self.scrolling.shift = self.scrolling.shift.saturating_add(isize::try_from(lines).unwrap_or(0));
    }

    /// A click at a row of the last area: selects a message there, or unfolds it if it was selected already. Returns whether
    /// there is one.
    pub(crate) fn click(&mut self, row: u16) -> bool {
        let Some(clicked) = self.drawn.rows.get(usize::from(row)).cloned().flatten() else { return false };
        if self.selected.as_ref() == Some(&clicked) {
            self.toggle();
        }
        self.selected = Some(clicked);
        true
    }

    /// The area of its text: without the signs at the left and the bar at the right.
    pub(crate) fn text_area(area: Rect) -> Rect {
        let left = page::MARGIN.min(area.width);
        Rect { x: area.x + left, width: area.width.saturating_sub(left + 1), ..area }
    }

    /// The text for the line below it: that there is more.
    pub(crate) fn below(&self) -> Option<(&str, Paint)> {
        self.drawn.below.as_ref().map(|(text, paint)| (text.as_str(), *paint))
    }

    /// Whether the screen shows what the current run does.
    pub(crate) fn shows_run(&self) -> bool {
        self.drawn.shows_state && self.scrolling.anchor == Anchor::End
    }

    /// Goes to the end, and stays there.
    #[expect(clippy::wrong_self_convention, reason = "it goes there, and makes nothing of it")]
    pub(crate) fn to_end(&mut self) {
        self.scrolling.to(Anchor::End);
    }

    /// Whether part of the approval request was not shown at the last drawing: then it cannot be approved.
    pub(crate) fn hides_asked(&self) -> bool {
        self.drawn.hidden > 0
    }

    /// What to do first then.
    pub(crate) fn more_lines(&self, keys: &Keymap) -> Option<String> {
        let is_writing = self.asking.is_writing;
        self.hides_asked().then(|| asked::more_lines(keys, self.drawn.hidden, is_writing))
    }

    /// Shows all of the first approval request, from its beginning.
    fn show_call(&mut self, talk: &LoadedConversation) {
        if let Some(asks) = talk.live.as_ref().and_then(|live| live.asks.first()) {
            self.folding.opened.insert(asks.id.clone());
            self.scrolling.reveal = Some(Reveal::Asked);
        }
    }

    /// The selected entry.
    pub(crate) fn selected(&self) -> Option<&str> {
        self.selected.as_deref()
    }

    /// Selects a loaded entry, and scrolls it into view. A result is shown with its call.
    pub(crate) fn show(&mut self, entry: &str, talk: &LoadedConversation) {
        let Some(mut at) = place::index(talk, entry) else { return };
        while at > 0 && entry::is_joined(talk, at) {
            at -= 1;
        }
        self.selected = Some(talk.entries[at].id.clone());
        self.scrolling.reveal = Some(Reveal::Selected);
    }

    /// Ends the selection.
    pub(crate) fn deselect(&mut self) {
        self.selected = None;
    }

    /// The text of an entry for copying, with the results of its calls.
    pub(crate) fn text_of(&self, entry: &str, talk: &LoadedConversation) -> String {
        place::index(talk, entry).map(|at| entry::text_of(talk, at)).unwrap_or_default()
    }

    /// Whether entries before the loaded ones are needed.
    pub(crate) fn needs_earlier(&self) -> bool {
        self.drawn.needs_earlier
    }

    /// Whether its look has changed because a grammar was loaded: then it must be redrawn.
    pub(crate) fn is_stale(&self) -> bool {
        self.drawn.languages != doc::generation()
    }

    /// Searches, and shows the newest hit; an empty text ends the search. It continues with each drawing.
    pub(crate) fn find(&mut self, words: &str, talk: &LoadedConversation) {
        self.find = (!words.is_empty()).then(|| Find::new(words));
        self.seek_on(talk);
    }

    /// The number of the shown hit among all, such as “3 of 17”. `None` without a search.
    pub(crate) fn found(&self) -> Option<String> {
        self.find.as_ref().map(Find::told)
    }

    /// Whether a search continues by itself.
    pub(crate) fn is_finding(&self) -> bool {
        self.find.as_ref().is_some_and(Find::looks)
    }

    fn seek_on(&mut self, talk: &LoadedConversation) {
        if let Some(find) = &mut self.find
            && find.go_on(talk)
        {
            self.scrolling.reveal = find.at.and_then(|at| find.hits.get(at)).cloned().map(Reveal::Hit);
        }
    }

    /// Whether the selected message is shown in full.
    pub(crate) fn shows_all(&self) -> bool {
        self.selected.as_ref().is_some_and(|id| self.folding.opened.contains(id))
    }

    /// Whether the model's reasoning is shown.
    pub(crate) fn shows_reasoning(&self) -> bool {
        self.folding.reasoning
    }

    /// Whether the output of tools is shown in full.
    pub(crate) fn shows_output(&self) -> bool {
        self.folding.output
    }

    fn toggle(&mut self) {
        if let Some(id) = &self.selected {
            self.folding.toggle(id);
        }
    }

    /// Selects the last message on the screen.
    fn select_shown(&mut self, talk: &LoadedConversation) {
        match self.drawn.rows.iter().rev().flatten().next().cloned() {
            Some(id) => self.show(&id, talk),
            None => self.select_from(talk, talk.entries.len(), -1, 1),
        }
    }

    fn step(&mut self, talk: &LoadedConversation, direction: isize, steps: usize) {
        let selected = self.selected.as_deref();
        match selected.and_then(|id| talk.entries.iter().rposition(|entry| entry.id == id)) {
            Some(at) => self.select_from(talk, at, direction, steps),
            None => self.select_from(talk, talk.entries.len(), -1, 1),
        }
    }

    /// Selects the message this many steps from an index; the last one if there are fewer.
    fn select_from(&mut self, talk: &LoadedConversation, at: usize, direction: isize, steps: usize) {
        let mut at = at;
        let mut left = steps;
        let mut found = (left == 0 && !talk.entries.is_empty()).then_some(at);
        while left > 0 {
            match at.checked_add_signed(direction).filter(|next| *next < talk.entries.len()) {
                Some(next) => at = next,
                None => break,
            }
            if !entry::is_joined(talk, at) {
                found = Some(at);
                left -= 1;
            }
        }
        if let Some(found) = found.and_then(|at| talk.entries.get(at)) {
            self.show(&found.id, talk);
        }
    }

    fn next_hit(&mut self, talk: &LoadedConversation, newer: bool) {
        self.seek_on(talk);
        if let Some(find) = &mut self.find
            && find.step(newer)
        {
            self.scrolling.reveal = find.at.and_then(|at| find.hits.get(at)).cloned().map(Reveal::Hit);
        }
    }

    /// Draws it.
    pub(crate) fn draw(
        &mut self,
        frame: &mut Frame<'_>,
        area: Rect,
        talk: &LoadedConversation,
        brush: &PaneContext<'_>,
    ) {
        self.drawn.area = area;
        self.drawn.languages = doc::generation();
        self.drawn.rows.clear();
        (self.drawn.needs_earlier, self.drawn.below) = (false, None);
        if area.width < 4 || area.height == 0 {
            return;
        }
        let ink = DrawParameters {
            theme: brush.theme,
            keys: brush.keys,
            width: area.width - 1,
            now_ms: brush.now_ms,
        };
        let silent = talk.live.is_none() && talk.notes.is_empty() && talk.waiting.is_empty();
        if talk.entries.is_empty() && silent {
            self.drawn.needs_earlier = talk.earlier;
            let lines = greeting::greeting(ink, &self.greeting, area.height);
            for (line, row) in lines.iter().zip(area.y + u16::from(area.height > 8)..area.bottom()) {
                frame.buffer_mut().set_line(area.x, row, line, area.width);
            }
            return;
        }
        self.prepare(talk);
        self.heights.of(talk, ink);
        let (top, places, shown) = self.place(talk, ink);
        let lines = self.lines(talk, ink, &places);
        self.drawn.rows =
            places.iter().map(|at| talk.entries.get(at.block).map(|entry| entry.id.clone())).collect();
        let finds = self.find.as_ref().is_some_and(Find::wants_earlier);
        self.drawn.needs_earlier = talk.earlier && (top.block < NEAR_TOP || finds);
        for (line, row) in lines.iter().zip(area.y..) {
            frame.buffer_mut().set_line(area.x, row, line, ink.width);
        }
        if let Some(shown) = shown {
            edge::bar(frame, area, ink, shown);
        }
        let last = lines.get(usize::from(area.height).saturating_sub(1)).map_or(0, Line::width);
        self.corner(frame, ink, talk, &places, last);
    }

    /// Computes what a drawing needs once.
    fn prepare(&mut self, talk: &LoadedConversation) {
        self.cache.turn();
        self.todo.update(talk);
        self.seek_on(talk);
    }

    /// Calls `with` with everything that can be shown.
    fn staged<T>(
        &mut self,
        talk: &LoadedConversation,
        ink: DrawParameters<'_>,
        with: impl FnOnce(&mut ViewContent<'_>) -> T,
    ) -> T {
        let folding = &self.folding;
        let open = |id: &str| folding.of(id);
        let text = talk.live.as_ref().map_or("", |live| &live.text);
        let comes = self.streaming.update(text, ink.room(), ink.theme);
        let before =
            talk.live.as_ref().map(|live| live::before(live, ink, folding.reasoning)).unwrap_or_default();
        let first = talk.live.as_ref().and_then(|live| live.asks.first());
        let unfolded = match first {
            _ if folding.output => Unfolded::All,
            Some(asks) if folding.opened.contains(&asks.id) => Unfolded::First,
            _ => Unfolded::Fitting,
        };
        let (asking, rows) = (Asking { unfolded, ..self.asking }, usize::from(self.drawn.area.height));
        let rest = live::after(talk, ink, self.todo.found.as_ref(), asking, rows);
        (self.drawn.hidden, self.drawn.shows_state) = (rest.hidden, rest.shows_state);
        let cache = &mut self.cache;
        with(&mut ViewContent { talk, ink, open: &open, cache, live: (before, comes), rest })
    }

    /// The start of the screen, its content, and its part of the whole, if it does not show all.
    fn place(
        &mut self,
        talk: &LoadedConversation,
        ink: DrawParameters<'_>,
    ) -> (Place, Vec<Place>, Option<VisibleLines>) {
        let rows = usize::from(self.drawn.area.height);
        let (anchor, shift) = (self.scrolling.anchor.clone(), std::mem::take(&mut self.scrolling.shift));
        let reveal = self.scrolling.reveal.take();
        if let Some(Reveal::Hit(hit)) = &reveal {
            self.unfold(talk, ink, hit);
        }
        let (selected, needle) = (self.selected.clone(), self.find.as_ref().map(|find| find.needle.clone()));
        let heights = std::mem::take(&mut self.heights);
        let (top, places, shown, anchor) = self.staged(talk, ink, |stage| {
            let mut top = anchor.place(stage, rows);
            top = match shift {
                ..0 => stage.up(top, shift.unsigned_abs()),
                _ => stage.down(top, shift.unsigned_abs()),
            };
            match (&reveal, selected, needle) {
                (Some(Reveal::Asked), ..) => top = stage.asked(),
                (Some(Reveal::Selected), Some(id), _) => top = place::with_entry(stage, top, rows, &id),
                (Some(Reveal::Hit(hit)), _, Some(needle)) => {
                    top = place::with_hit(stage, top, rows, hit, &needle);
                }
                _ => {}
            }
            let mut places = stage.screen(top, rows);
            if places.len() < rows {
                top = stage.last_screen(rows);
                places = stage.screen(top, rows);
            }
            let after = match places.last() {
                Some(last) => stage.down(*last, 1),
                None => stage.end(),
            };
            let stays = anchor == Anchor::Top && top == Place::default();
            let anchor = match after == stage.end() {
                true => Anchor::End,
                false if stays => anchor,
                false => Anchor::at(stage, top),
            };
            let is_all = top == Place::default() && after == stage.end();
            let shown = (!is_all).then(|| heights.shown(stage, top, after));
            (top, places, shown, anchor)
        });
        (self.scrolling.anchor, self.heights) = (anchor, heights);
        (top, places, shown)
    }

    /// Unfolds a folded hit.
    fn unfold(&mut self, talk: &LoadedConversation, ink: DrawParameters<'_>, hit: &Hit) {
        let Some(needle) = self.find.as_ref().map(|find| find.needle.clone()) else { return };
        let seen = self.staged(talk, ink, |stage| {
            let Some(at) = place::index(talk, &hit.entry) else { return true };
            find::places(&stage.entry(at), &needle).len() > hit.number
        });
        if !seen {
            self.folding.opened.insert(hit.entry.clone());
        }
    }

    /// The lines of the screen.
    fn lines(
        &mut self,
        talk: &LoadedConversation,
        ink: DrawParameters<'_>,
        places: &[Place],
    ) -> Vec<Line<'static>> {
        let needle = self.find.as_ref().map(|find| find.needle.clone());
        let selected = self.selected.clone().and_then(|id| {
            let mut shown = places.iter().map(|place| place.block);
            shown.find(|block| talk.entries.get(*block).is_some_and(|entry| entry.id == id))
        });
        self.staged(talk, ink, |stage| {
            let mut hits = (usize::MAX, Vec::new());
            let mut lines = Vec::with_capacity(places.len());
            for place in places {
                let mut line = stage.line(*place);
                if let Some(needle) = needle.as_ref().filter(|_| place.block < talk.entries.len()) {
                    if hits.0 != place.block {
                        hits = (place.block, find::places(&stage.entry(place.block), needle));
                    }
                    let here = hits.1.iter().flatten().filter(|(at, _)| *at == place.line);
                    let here: Vec<_> = here.map(|(_, range)| range.clone()).collect();
                    line = find::marked(line, &here, ink.theme);
                }
                // The empty line above a message is not marked with it.
                let is_gap = place.line == 0 && line.spans.is_empty();
                lines.push(if selected == Some(place.block) && !is_gap {
                    edge::barred(line, ink)
                } else {
                    line
                });
            }
            lines
        })
    }

    /// The sign at the right of the last row, or below it: the selected message, or that there is more below.
    fn corner(
        &mut self,
        frame: &mut Frame<'_>,
        ink: DrawParameters<'_>,
        talk: &LoadedConversation,
        places: &[Place],
        last: usize,
    ) {
        let news = ConversationEnd::of(talk);
        let is_new = news.is_more_than(&self.seen);
        let at_end = self.scrolling.anchor == Anchor::End;
        if at_end {
            self.seen = news;
        }
        let mut shown = places.iter().filter_map(|place| talk.entries.get(place.block));
        let selected = shown.find(|entry| self.selected.as_ref() == Some(&entry.id));
        let key = ink.keys.named(Command::ScrollEnd);
        // The sign does not cover the message that it describes.
        let beside = usize::from(ink.width).saturating_sub(last + 2);
        let asks =
            talk.live.as_ref().is_some_and(|live| !(live.asks.is_empty() && live.questions.is_empty()));
        let below = match selected {
            _ if asks && !at_end => Some((format!(" ↓ waits for you · {key} "), Paint::Warn)),
            Some(entry) => {
                edge::corner(frame, self.drawn.area, ink, &edge::about(entry, ink, beside), Paint::Dim);
                None
            }
            None if at_end => None,
            None if is_new => Some((format!(" ↓ new · {key} "), Paint::Accent)),
            None => Some((format!(" ↓ {key} "), Paint::Dim)),
        };
        match below {
            // Text being read is not covered.
            Some(below) if self.has_rule => self.drawn.below = Some(below),
            Some((text, paint)) => edge::corner(frame, self.drawn.area, ink, &text, paint),
            None => {}
        }
    }
}
