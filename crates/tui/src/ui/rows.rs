//! A list of rows to pick from, with a filter: typing narrows it and marks the matching letters. The list knows the selection and
//! the visible rows; its owner draws each visible row. There may be thousands of rows. Must never look at all of them to draw. A
//! typed letter costs one pass over the rows that matched before it, and allocates nothing.

mod ink;
#[cfg(test)]
mod tests;

use std::ops::Range;

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32String};
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;
use unicode_segmentation::UnicodeSegmentation;

use super::keymap::Command;
use super::pane::PaneContext;
use super::pane_frame::prompt;
use super::plan::paragraph;
use super::theme::Paint;
use crate::render::words;
use crate::text::{safe, width};

pub(crate) use ink::RowSpans;

/// The least score per letter of the filter. It excludes texts that contain the letters only far apart from each other.
const LEAST_PER_LETTER: u32 = 16;

/// A row that can be picked.
pub(crate) trait Row {
    /// Identifies the row, so that it stays selected when the list changes.
    fn key(&self) -> &str;

    /// The texts that are searched, in the order of the fields that [`RowSpans::field`] draws.
    fn fields(&self) -> Vec<String>;

    /// Why the row can't be picked, if it can't.
    fn why_not(&self) -> Option<&str> {
        None
    }

    /// How the filter treats the row.
    fn filtering(&self) -> Filtering {
        Filtering::Filtered
    }
}

/// How the filter treats a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filtering {
    /// Shown when it matches.
    Filtered,
    /// Always shown, after the rows that match.
    Always,
    /// A heading: always shown, never selected.
    Heading,
    /// Connects rows: shown only while the filter is empty, never selected.
    Between,
}

impl Filtering {
    fn is_selectable(self) -> bool {
        matches!(self, Self::Filtered | Self::Always)
    }
}

/// The order of the rows that match the filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// As they were given.
    Kept,
    /// The best match first.
    Best,
}

/// The effect of a command or a click.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InputEffect {
    /// None: it is not for the list, or there was nothing to do.
    Nothing,
    /// Another row is selected.
    Moved,
    /// The filter changed, and possibly the selection.
    Filtered,
    /// The selected row was clicked: it is picked.
    Taken,
}

/// A list of rows to pick from.
#[derive(Debug)]
pub(crate) struct Rows<T> {
    all: Vec<Kept<T>>,
    order: Order,
    filter: String,
    pattern: Pattern,
    matcher: Matcher,
    /// Rows that contain all letters of the filter: the score, and the index in `all`; in the order of `all`.
    fits: Vec<(u32, u32)>,
    /// Those of them that score high enough, in the order shown.
    shown: Vec<(u32, u32)>,
    /// Number of filtered rows in `all`, and how many of these match.
    counts: (usize, usize),
    /// The selected index in `shown`.
    selected: usize,
    /// The first drawn index in `shown`.
    top: usize,
    /// The area of the rows at the last drawing.
    area: Rect,
    /// Whether the list has the motion keys.
    has_keys: bool,
    /// The matching letters of the row being drawn.
    marks: Vec<u32>,
}

#[derive(Debug)]
struct Kept<T> {
    item: T,
    /// Its lines, as the matcher needs them.
    letters: Utf32String,
}

impl<T: Row> Kept<T> {
    fn new(item: T) -> Self {
        let letters = Utf32String::from(lines(&item));
        Self { item, letters }
    }
}

/// The fields of a row, safe, one per line.
fn lines(item: &impl Row) -> String {
    let fields: Vec<_> = item.fields().iter().map(|field| safe::line(field).into_owned()).collect();
    fields.join("\n")
}

fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl<T: Row> Rows<T> {
    /// An empty list.
    pub(crate) fn new(order: Order) -> Self {
        Self {
            all: Vec::new(),
            order,
            filter: String::new(),
            pattern: Pattern::default(),
            matcher: Matcher::new(Config::DEFAULT),
            fits: Vec::new(),
            shown: Vec::new(),
            counts: (0, 0),
            selected: 0,
            top: 0,
            area: Rect::default(),
            has_keys: true,
            marks: Vec::new(),
        }
    }

    /// Replaces all rows. The selected one stays selected if it is still there.
    pub(crate) fn set(&mut self, items: impl IntoIterator<Item = T>) {
        self.splice(0..self.all.len(), items);
    }

    /// Adds a row before the first for which `before` holds; it replaces the row with its key.
    pub(crate) fn put(&mut self, item: T, before: impl Fn(&T) -> bool) {
        self.change(0, |all| {
            all.retain(|kept| kept.item.key() != item.key());
            let at = all.iter().position(|kept| before(&kept.item)).unwrap_or(all.len());
            all.insert(at, Kept::new(item));
        });
    }

    /// Adds rows before the first for which `before` holds.
    pub(crate) fn insert(&mut self, items: impl IntoIterator<Item = T>, before: impl Fn(&T) -> bool) {
        let at = self.items().position(before).unwrap_or(self.all.len());
        self.splice(at..at, items);
    }

    /// Removes the other rows.
    pub(crate) fn retain(&mut self, stays: impl Fn(&T) -> bool) {
        self.change(0, |all| all.retain(|kept| stays(&kept.item)));
    }

    /// Adds rows at the end.
    pub(crate) fn extend(&mut self, items: impl IntoIterator<Item = T>) {
        let end = self.all.len();
        self.splice(end..end, items);
    }

    /// Replaces these rows with others.
    pub(crate) fn splice(&mut self, places: Range<usize>, items: impl IntoIterator<Item = T>) {
        let items = items.into_iter().map(Kept::new);
        self.change(places.start, |all| drop(all.splice(places, items)));
    }

    /// Changes rows, none of them before `from`.
    fn change(&mut self, from: usize, change: impl FnOnce(&mut Vec<Kept<T>>)) {
        let key = self.selected_key();
        change(&mut self.all);
        self.fit_from(from);
        self.reselect(key.as_deref());
    }

    /// All rows, in the order given.
    pub(crate) fn items(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.all.iter().map(|kept| &kept.item)
    }

    /// Number of filtered rows, matching or not.
    pub(crate) fn len(&self) -> usize {
        self.counts.0
    }

    /// Whether there are no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Number of rows that match the filter.
    pub(crate) fn fitting(&self) -> usize {
        self.counts.1
    }

    /// The filter as typed.
    pub(crate) fn filter(&self) -> &str {
        &self.filter
    }

    /// The selected row.
    pub(crate) fn selected(&self) -> Option<&T> {
        self.at(self.selected).filter(|item| item.filtering().is_selectable())
    }

    fn selected_key(&self) -> Option<String> {
        self.selected().map(|item| item.key().to_owned())
    }

    /// The selected row, or the reason why it can't be picked.
    pub(crate) fn picked(&self) -> Option<Result<&T, &str>> {
        self.selected().map(|item| item.why_not().map_or(Ok(item), Err))
    }

    /// Selects the row with this key, if it is there.
    pub(crate) fn select(&mut self, key: &str) -> bool {
        let at = (0..self.shown.len()).find(|at| self.at(*at).is_some_and(|item| item.key() == key));
        if let Some(at) = at {
            self.selected = at;
        }
        at.is_some()
    }

    /// Whether rows were drawn in an area that is not empty.
    pub(crate) fn is_drawn(&self) -> bool {
        !self.area.is_empty()
    }

    /// Whether the list has the motion keys; without them, the selected row is only bold.
    pub(crate) fn set_keys(&mut self, has_keys: bool) {
        self.has_keys = has_keys;
    }

    /// Whether the last row is visible or nearly so: the next page should be loaded.
    pub(crate) fn at_end(&self) -> bool {
        let seen = self.top.max(self.selected) + 2 * usize::from(self.area.height.max(1));
        seen >= self.shown.len()
    }

    /// Adds typed text to the filter.
    pub(crate) fn typed(&mut self, text: &str) -> InputEffect {
        let before = self.filter.len();
        self.filter.extend(text.chars().filter(|c| !c.is_control()));
        if self.filter.len() == before {
            return InputEffect::Nothing;
        }
        // A row that matches more letters also matches fewer. Except that a backslash turns the space after it into a letter.
        self.refilter(before > 0 && !self.filter.contains('\\'));
        InputEffect::Filtered
    }

    /// A command of lists.
    pub(crate) fn command(&mut self, command: Command) -> InputEffect {
        let page = isize::from(i16::try_from(self.area.height).unwrap_or(i16::MAX)).max(2) - 1;
        match command {
            Command::Up => self.step(-1),
            Command::Down => self.step(1),
            Command::PageUp => self.step(-page),
            Command::PageDown => self.step(page),
            Command::First => self.step(isize::MIN),
            Command::Last => self.step(isize::MAX),
            Command::Erase if width::pop_letter(&mut self.filter) => {
                self.refilter(false);
                InputEffect::Filtered
            }
            Command::EraseAll if !self.filter.is_empty() => {
                self.filter.clear();
                self.refilter(false);
                InputEffect::Filtered
            }
            _ => InputEffect::Nothing,
        }
    }

    /// A click on the screen.
    pub(crate) fn clicked(&mut self, at: Position) -> InputEffect {
        if !self.area.contains(at) {
            return InputEffect::Nothing;
        }
        let at = self.top + usize::from(at.y - self.area.y);
        match self.at(at) {
            Some(item) if !item.filtering().is_selectable() => InputEffect::Nothing,
            None => InputEffect::Nothing,
            Some(_) if at == self.selected => InputEffect::Taken,
            Some(_) => {
                self.selected = at;
                InputEffect::Moved
            }
        }
    }

    fn at(&self, at: usize) -> Option<&T> {
        self.shown.get(at).map(|(_, index)| &self.all[*index as usize].item)
    }

    /// Moves the selection by so many rows, within the list; skips headings.
    fn step(&mut self, by: isize) -> InputEffect {
        let before = self.selected;
        let last = self.shown.len().saturating_sub(1);
        let wanted = before.saturating_add_signed(by).min(last);
        let heading = |at: &usize| self.at(*at).is_none_or(|item| !item.filtering().is_selectable());
        let on = (wanted..=last).find(|at| !heading(at));
        let back = (0..=wanted).rev().find(|at| !heading(at));
        self.selected = if by < 0 { back.or(on) } else { on.or(back) }.unwrap_or(0);
        if self.selected == before { InputEffect::Nothing } else { InputEffect::Moved }
    }

    fn refilter(&mut self, narrows: bool) {
        let key = self.selected_key();
        self.pattern = Pattern::new(&self.filter, CaseMatching::Smart, Normalization::Smart, AtomKind::Fuzzy);
        if narrows {
            self.fit(0);
        } else {
            self.fit_from(0);
        }
        self.top = 0;
        // Without a filter there is no best match: the selection stays.
        let stays = self.order == Order::Kept || self.filter.is_empty();
        self.reselect(key.as_deref().filter(|_| stays));
    }

    /// Matches the rows from an index on; those before it have not changed.
    fn fit_from(&mut self, from: usize) {
        self.counts.0 = self.all.iter().filter(|kept| kept.item.filtering() == Filtering::Filtered).count();
        let from = index(from);
        self.fits.truncate(self.fits.partition_point(|(_, at)| *at < from));
        self.fits.extend((from..index(self.all.len())).map(|at| (0, at)));
        self.fit(from);
    }

    /// Removes from `fits` the rows from an index on that do not match.
    fn fit(&mut self, from: u32) {
        let Self { all, fits, shown, pattern, matcher, filter, .. } = self;
        fits.retain_mut(|(score, at)| {
            if *at < from {
                return true;
            }
            let kept = &all[*at as usize];
            match kept.item.filtering() {
                Filtering::Filtered => {
                    let fits = pattern.score(kept.letters.slice(..), matcher);
                    // 0 is the score of rows that are not filtered.
                    *score = fits.map_or(0, |score| score + 1);
                    fits.is_some()
                }
                Filtering::Always | Filtering::Heading => true,
                Filtering::Between => filter.is_empty(),
            }
        });
        let least = least(filter);
        shown.clear();
        shown.extend(fits.iter().filter(|(score, _)| *score == 0 || *score > least));
        self.counts.1 = shown.iter().filter(|(score, _)| *score > 0).count();
        if self.order == Order::Best && least > 0 {
            shown.sort_unstable_by_key(|(score, at)| (std::cmp::Reverse(*score), *at));
        }
    }

    /// Selects a row by its key. If it is gone: the row at its index, or with a filter the first row.
    fn reselect(&mut self, key: Option<&str>) {
        if key.is_none_or(|key| !self.select(key)) {
            self.selected = if key.is_some() && self.filter.is_empty() { self.selected } else { 0 };
            self.selected = self.selected.min(self.shown.len().saturating_sub(1));
            self.step(0);
        }
    }

    /// Draws the filter and below it the visible rows; `empty` is shown if the list has no rows.
    pub(crate) fn draw(
        &mut self,
        frame: &mut Frame<'_>,
        area: Rect,
        brush: &PaneContext<'_>,
        empty: &str,
        row: impl Fn(&T, &mut RowSpans<'_>),
    ) {
        let head = u16::from(area.height > 2 || !self.filter.is_empty()).min(area.height);
        self.draw_filter(frame, Rect { height: head, ..area }, brush);
        let below = Rect { y: area.y + head, height: area.height - head, ..area };
        self.draw_rows(frame, below, brush, (empty, Paint::Dim), row);
    }

    /// Draws the visible rows; `empty` is shown if the list has no rows.
    pub(crate) fn draw_rows(
        &mut self,
        frame: &mut Frame<'_>,
        area: Rect,
        brush: &PaneContext<'_>,
        empty: (&str, Paint),
        row: impl Fn(&T, &mut RowSpans<'_>),
    ) {
        self.area = area;
        if self.shown.is_empty() {
            return self.draw_empty(frame, brush, empty);
        }
        let visible = usize::from(area.height);
        self.scroll(visible);
        for (at, y) in (self.top..self.shown.len()).zip(area.y..area.bottom()) {
            let drawn = self.drawn(at, brush, &row);
            frame.render_widget(drawn, Rect { y, height: 1, ..area });
        }
    }

    /// Makes the selected row visible, with a row around it if there is room.
    fn scroll(&mut self, visible: usize) {
        let around = usize::from(visible > 4);
        let last = self.shown.len().saturating_sub(visible);
        let least = (self.selected + 1 + around).saturating_sub(visible);
        self.top = self.top.max(least).min(self.selected.saturating_sub(around)).min(last);
    }

    fn drawn<R>(&mut self, at: usize, brush: &PaneContext<'_>, row: &R) -> Line<'static>
    where
        R: Fn(&T, &mut RowSpans<'_>),
    {
        let kept = &self.all[self.shown[at].1 as usize];
        let fields = lines(&kept.item);
        self.marks.clear();
        if !self.filter.is_empty() && kept.item.filtering() == Filtering::Filtered {
            // People read the first field; the others are marked only where it does not match by itself.
            let first = fields.split('\n').next().map_or(0, |first| first.graphemes(true).count());
            let fits = self.pattern.indices(kept.letters.slice(..first), &mut self.matcher, &mut self.marks);
            if fits.is_none_or(|score| score < least(&self.filter)) {
                self.marks.clear();
                self.pattern.indices(kept.letters.slice(..), &mut self.matcher, &mut self.marks);
            }
            self.marks.sort_unstable();
            self.marks.dedup();
        }
        let selected = at == self.selected && kept.item.filtering().is_selectable();
        let paint = if self.has_keys { Paint::Selected } else { Paint::Bold };
        let mut ink =
            RowSpans::new(brush.theme, self.area.width, (&fields, &self.marks), selected.then_some(paint));
        row(&kept.item, &mut ink);
        if let Some(why) = kept.item.why_not() {
            ink.disabled(why);
        }
        ink.done()
    }

    /// Draws the filter and the number of matching rows.
    pub(crate) fn draw_filter(&self, frame: &mut Frame<'_>, area: Rect, brush: &PaneContext<'_>) {
        let (count, placeholder) = match self.filter.is_empty() {
            true => (String::new(), "type to filter"),
            false => {
                let [fitting, all] = [self.fitting(), self.len()].map(|count| words::number(count as u64));
                (format!(" {fitting} of {all}"), "")
            }
        };
        let room = area.width.saturating_sub(u16::try_from(width::columns(&count)).unwrap_or(u16::MAX));
        frame.render_widget(Line::styled(count, brush.theme.style(Paint::Dim)).right_aligned(), area);
        prompt(frame, Rect { width: room, ..area }, brush, "› ", [&self.filter, placeholder]);
    }

    fn draw_empty(&self, frame: &mut Frame<'_>, brush: &PaneContext<'_>, (empty, paint): (&str, Paint)) {
        let inset = 2.min(self.area.width);
        let area = Rect { x: self.area.x + inset, width: self.area.width - inset, ..self.area };
        if self.all.is_empty() {
            return paragraph(frame, area, brush, empty, paint);
        }
        let (filter, key) = (safe::line(&self.filter), brush.keys.named(Command::EraseAll));
        let text = format!("nothing matches “{filter}”: {key} empties the filter");
        paragraph(frame, area, brush, &text, Paint::Dim);
    }
}

/// The least score of a row that matches a filter.
fn least(filter: &str) -> u32 {
    LEAST_PER_LETTER.saturating_mul(index(filter.chars().filter(|c| !c.is_whitespace()).count()))
}
