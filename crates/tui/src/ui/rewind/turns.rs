//! The turns that a person can rewind to, and which of them fit the filter. There may be thousands: each key costs one pass over those
//! that fitted before it. Must never show untrusted text that was not made safe.

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32String};
use retake_wire::reply::Target;

use crate::text::{safe, width};

/// The turns, newest first.
pub(crate) struct Turns {
    rows: Vec<Row>,
    /// Those that fit: how well, and which. Best first; newest first where nothing is typed.
    fit: Vec<(u32, u32)>,
    /// What is typed.
    words: String,
    pattern: Pattern,
    matcher: Matcher,
    /// The place among those that fit.
    at: usize,
}

/// A turn.
#[derive(Debug)]
struct Row {
    target: Target,
    /// What is searched: its number and its words, safe, on one line.
    text: Utf32String,
    /// So many letters of it are before the words.
    number: u32,
}

/// What is drawn of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown<'a> {
    /// It.
    pub(crate) target: &'a Target,
    /// Its words on one line, safe.
    pub(crate) preview: String,
    /// Which graphemes of the words fit what is typed.
    pub(crate) hits: Vec<u32>,
    /// Whether its number fits what is typed.
    pub(crate) numbered: bool,
    /// Whether it is the marked one.
    pub(crate) marked: bool,
}

impl std::fmt::Debug for Turns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Turns")
            .field("rows", &self.rows.len())
            .field("fit", &self.fit.len())
            .field("words", &self.words)
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}

impl Default for Turns {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            fit: Vec::new(),
            words: String::new(),
            pattern: pattern(""),
            matcher: Matcher::new(Config::DEFAULT),
            at: 0,
        }
    }
}

impl Turns {
    /// Older ones come behind those that are there.
    pub(crate) fn append(&mut self, targets: Vec<Target>) {
        let first = self.rows.len();
        self.rows.extend(targets.into_iter().map(Row::new));
        for at in first..self.rows.len() {
            if let Some(score) = self.pattern.score(self.rows[at].text.slice(..), &mut self.matcher) {
                self.fit.push((score, index(at)));
            }
        }
        self.order();
    }

    /// Newer ones, and those that are there from this entry on. Whether it is there: where not, nothing is done.
    pub(crate) fn renew(&mut self, newer: &[Target]) -> bool {
        let known = |target: &Target| self.rows.iter().position(|row| row.target.entry == target.entry);
        let Some((fresh, from)) =
            newer.iter().enumerate().find_map(|(fresh, target)| Some((fresh, known(target)?)))
        else {
            return false;
        };
        let same = newer[fresh..].iter().zip(&self.rows[from..]).all(|(a, b)| a.entry == b.target.entry);
        if !same || self.rows.len() - from < newer.len() - fresh {
            return false;
        }
        let marked = self.marked_entry();
        let rest = self.rows.split_off(from + newer.len() - fresh);
        self.rows = newer.iter().cloned().map(Row::new).collect();
        self.rows.extend(rest);
        self.filter_all();
        self.mark_entry(marked);
        true
    }

    /// Others instead of all of them; the marked one stays marked, where it is among them.
    pub(crate) fn replace(&mut self, targets: Vec<Target>) {
        let marked = self.marked_entry();
        self.rows.clear();
        self.rows.extend(targets.into_iter().map(Row::new));
        self.filter_all();
        self.mark_entry(marked);
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// How many fit.
    pub(crate) fn fitting(&self) -> usize {
        self.fit.len()
    }

    /// The newest one.
    pub(crate) fn newest(&self) -> Option<&Target> {
        self.rows.first().map(|row| &row.target)
    }

    /// The oldest one.
    pub(crate) fn oldest(&self) -> Option<&Target> {
        self.rows.last().map(|row| &row.target)
    }

    /// The marked one.
    pub(crate) fn marked(&self) -> Option<&Target> {
        self.fit.get(self.at).map(|(_, row)| &self.rows[*row as usize].target)
    }

    /// The place of the marked one among those that fit.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Marks by a place among those that fit; the nearest one.
    pub(crate) fn mark(&mut self, at: usize) {
        self.at = at.min(self.fit.len().saturating_sub(1));
    }

    /// What is typed.
    pub(crate) fn words(&self) -> &str {
        &self.words
    }

    /// Something more is typed.
    pub(crate) fn typed(&mut self, text: &str) {
        let more = safe::line(text);
        if more.is_empty() {
            return;
        }
        self.words.push_str(&more);
        if self.words.contains('\\') {
            // It makes a letter of the space behind it.
            return self.whole();
        }
        self.pattern = pattern(&self.words);
        // What fits more words fitted fewer.
        let (rows, pattern, matcher) = (&self.rows, &self.pattern, &mut self.matcher);
        self.fit.retain_mut(|(score, row)| {
            let found = pattern.score(rows[*row as usize].text.slice(..), matcher);
            *score = found.unwrap_or_default();
            found.is_some()
        });
        self.order();
        self.at = 0;
    }

    /// The last letter is taken away.
    pub(crate) fn erase(&mut self) {
        if width::pop_letter(&mut self.words) {
            self.whole();
        }
    }

    /// All that is typed is taken away.
    pub(crate) fn erase_all(&mut self) {
        if !self.words.is_empty() {
            self.words.clear();
            self.whole();
        }
    }

    /// Fewer words are typed: the marked one stays marked where nothing is typed any more, else the best one is.
    fn whole(&mut self) {
        let marked = self.marked_entry();
        self.filter_all();
        self.at = 0;
        if self.words.is_empty() {
            self.mark_entry(marked);
        }
    }

    fn filter_all(&mut self) {
        self.pattern = pattern(&self.words);
        self.fit.clear();
        for (at, row) in self.rows.iter().enumerate() {
            if let Some(score) = self.pattern.score(row.text.slice(..), &mut self.matcher) {
                self.fit.push((score, index(at)));
            }
        }
        self.order();
    }

    /// The best first; of those that fit as well, the newest first.
    fn order(&mut self) {
        if !self.words.trim().is_empty() {
            self.fit.sort_unstable_by(|(one, at), (other, beside)| other.cmp(one).then(at.cmp(beside)));
        }
        self.mark(self.at);
    }

    fn marked_entry(&self) -> Option<String> {
        self.marked().map(|target| target.entry.clone())
    }

    fn mark_entry(&mut self, entry: Option<String>) {
        let place =
            |entry| self.fit.iter().position(|(_, row)| self.rows[*row as usize].target.entry == entry);
        let at = entry.and_then(place).unwrap_or(self.at);
        self.mark(at);
    }

    /// What is drawn of those that fit, from a place on.
    pub(crate) fn shown(&mut self, from: usize, rows: usize) -> Vec<Shown<'_>> {
        let to = self.fit.len().min(from.saturating_add(rows));
        let mut all = Vec::with_capacity(to.saturating_sub(from));
        for (at, (_, row)) in self.fit.iter().enumerate().take(to).skip(from) {
            let row = &self.rows[*row as usize];
            let mut hits = Vec::new();
            self.pattern.indices(row.text.slice(..), &mut self.matcher, &mut hits);
            hits.sort_unstable();
            hits.dedup();
            let before = hits.partition_point(|hit| *hit < row.number);
            let hits = hits.split_off(before).into_iter().map(|hit| hit - row.number).collect();
            all.push(Shown {
                target: &row.target,
                preview: safe::line(&row.target.preview).into_owned(),
                hits,
                numbered: before > 0,
                marked: at == self.at,
            });
        }
        all
    }
}

impl Row {
    fn new(target: Target) -> Self {
        let number = format!("t{} ", target.turn);
        let letters = u32::try_from(number.len()).expect("BUG: a number is short");
        let text = Utf32String::from(number + &safe::line(&target.preview));
        Self { target, text, number: letters }
    }
}

/// Letters in any case, in this order, with anything between; each word by itself.
fn pattern(words: &str) -> Pattern {
    Pattern::new(words, CaseMatching::Ignore, Normalization::Smart, AtomKind::Fuzzy)
}

fn index(at: usize) -> u32 {
    u32::try_from(at).expect("BUG: a conversation has fewer turns than that")
}

#[cfg(test)]
mod tests {
    use super::super::samples::target;
    use super::*;

    fn turns(words: &[&str]) -> Turns {
        let all = (1..).zip(words).map(|(turn, words)| target(turn, words));
        let mut all: Vec<_> = all.collect();
        all.reverse();
        of(all)
    }

    fn of(all: Vec<Target>) -> Turns {
        let mut turns = Turns::default();
        turns.append(all);
        turns
    }

    fn seen(turns: &mut Turns) -> Vec<u64> {
        turns.shown(0, 100).iter().map(|shown| shown.target.turn).collect()
    }

    #[test]
    fn the_newest_is_first_and_marked() {
        let mut turns = turns(&["one", "two", "three"]);
        assert_eq!(seen(&mut turns), [3, 2, 1]);
        assert_eq!(turns.marked().map(|it| it.turn), Some(3));
    }

    #[test]
    fn letters_fit_in_their_order_and_are_marked() {
        let mut turns = turns(&["fix the parser", "write docs", "Fix tests of the parser"]);
        turns.typed("fxpar");
        assert_eq!(seen(&mut turns), [1, 3], "the better one first");
        turns.typed("zz");
        assert_eq!(seen(&mut turns), [0; 0]);
        assert_eq!(turns.marked(), None);
        turns.erase();
        turns.erase();
        turns.erase_all();
        assert_eq!(seen(&mut turns), [3, 2, 1]);
        turns.typed("DOC");
        let shown = turns.shown(0, 1);
        assert_eq!((shown[0].preview.as_str(), &shown[0].hits[..]), ("write docs", &[6, 7, 8][..]));
    }

    #[test]
    fn a_turn_is_found_by_its_number() {
        let mut turns = turns(&["one"; 30]);
        turns.typed("t27");
        assert_eq!(seen(&mut turns), [27]);
        assert!(turns.shown(0, 1)[0].numbered);
    }

    #[test]
    fn typing_finds_the_same_as_a_new_search() {
        let words: Vec<String> =
            (0..500).map(|i| format!("turn {i} does {}", ["this", "that", "nothing"][i % 3])).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (mut typed, mut whole) = (turns(&words), turns(&words));
        for letter in "tu 7 this".chars() {
            typed.typed(&letter.to_string());
        }
        whole.words = "tu 7 this".to_owned();
        whole.filter_all();
        assert_eq!(typed.fit, whole.fit);
        assert!(!typed.fit.is_empty());
    }

    #[test]
    fn selection_stays_when_the_list_changes() {
        let mut old = turns(&["one", "two", "three", "four"]);
        old.mark(2);
        let newer = [target(6, "six"), target(5, "five"), target(4, "four")];
        assert!(old.renew(&newer));
        assert_eq!(seen(&mut old), [6, 5, 4, 3, 2, 1]);
        assert_eq!(old.marked().map(|it| it.turn), Some(2));
        assert!(!old.renew(&[target(9, "nine")]), "what does not join is read again");
        assert!(!old.renew(&[target(6, "six"), target(4, "four")]), "one is gone between");
        old.replace(vec![target(2, "two"), target(1, "one")]);
        assert_eq!(old.marked().map(|it| it.turn), Some(2));
        old.replace(Vec::new());
        assert_eq!(old.marked(), None);
    }

    #[test]
    fn older_pages_join_while_something_is_typed() {
        let mut turns = of(vec![target(9, "nine lives"), target(8, "eight")]);
        turns.typed("nine");
        turns.append(vec![target(7, "nine"), target(6, "six")]);
        assert_eq!(seen(&mut turns), [9, 7]);
    }

    #[test]
    fn hostile_and_wide_words_are_safe_and_found() {
        let mut turns = turns(&["\x1b]0;x\x07 漢字 👩‍👩‍👧 héllo\nthere"]);
        turns.typed("字h");
        let shown = turns.shown(0, 1);
        assert_eq!(shown[0].preview, "␛]0;x␇ 漢字 👩‍👩‍👧 héllo⏎there");
        assert_eq!(shown[0].hits, [8, 12]);
    }
}
