//! What the parser passes over: definitions of link addresses. Those that no shown link uses are shown as they were written. Must
//! never show the marks of lists and quotations as text.

use std::collections::HashSet;
use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag};

use super::super::links::address;

/// Where in the source the last block ended, in each open tag. `None` in tags in which no definitions are.
#[derive(Debug)]
pub(super) struct Gaps {
    open: Vec<Option<usize>>,
    /// The definitions of the links that are shown, sorted.
    used: Vec<Range<usize>>,
}

impl Gaps {
    pub(super) fn new(source: &str, options: Options) -> Self {
        let used = if source.contains("]:") { used(source, options) } else { Vec::new() };
        Self { open: vec![Some(0)], used }
    }

    pub(super) fn enter(&mut self, tag: &Tag<'_>, at: usize) {
        let is_container = matches!(tag, Tag::BlockQuote(_) | Tag::List(_) | Tag::Item);
        self.open.push(is_container.then_some(at));
    }

    pub(super) fn leave(&mut self, at: usize) {
        self.open.pop();
        self.pass(at);
    }

    pub(super) fn pass(&mut self, at: usize) {
        if let Some(Some(last)) = self.open.last_mut() {
            *last = at;
        }
    }

    /// The definitions between the last block and this place that nothing shows.
    pub(super) fn unseen(&mut self, source: &str, until: usize) -> Option<String> {
        let last = self.open.last_mut()?.as_mut()?;
        let from = std::mem::replace(last, (*last).max(until));
        let gap = source.get(from..until).filter(|gap| gap.contains("]:"))?;
        let first = from + gap.find('[').filter(|at| gap[..*at].chars().all(is_mark))?;
        let mut rest = String::new();
        let mut at = first;
        let begin = self.used.partition_point(|it| it.end <= first);
        for used in self.used[begin..].iter().take_while(|it| it.start < until) {
            rest.push_str(source.get(at..used.start).unwrap_or_default());
            at = used.end.clamp(at, until);
        }
        rest.push_str(&source[at..until]);
        let lines = rest.lines().map(|line| line.trim_start_matches([' ', '\t', '>']).trim_end());
        let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

/// Whether a character may belong to the marks of lists and quotations.
fn is_mark(c: char) -> bool {
    c.is_ascii_digit() || " \t\n>*+-.)".contains(c)
}

/// The definitions that shown links use.
fn used(source: &str, options: Options) -> Vec<Range<usize>> {
    let mut events = Parser::new_ext(source, options);
    let mut labels = HashSet::new();
    for event in events.by_ref() {
        let Event::Start(
            Tag::Link { link_type, dest_url, id, .. } | Tag::Image { link_type, dest_url, id, .. },
        ) = event
        else {
            continue;
        };
        let by_label = matches!(link_type, LinkType::Reference | LinkType::Collapsed | LinkType::Shortcut);
        if by_label && address(&dest_url).is_some() {
            labels.insert(id.to_string());
        }
    }
    let definitions = events.reference_definitions();
    let mut used: Vec<Range<usize>> =
        labels.iter().filter_map(|label| definitions.get(label)).map(|it| it.span.clone()).collect();
    used.sort_unstable_by_key(|it| it.start);
    used.dedup();
    used
}
