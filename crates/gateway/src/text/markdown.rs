//! Parses the Markdown of an answer. HTML, and links that we do not make, are shown as they were written. Must never drop a part of
//! the source.

mod gaps;
mod writer;

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, LinkType, Options, Parser, Tag, TagEnd};

use self::gaps::Gaps;
use self::writer::Writer;
use super::links::address;
use super::table::Table;
use crate::adapter::{Style, StyledText};

/// A rule.
const RULE: &str = "──────────";

/// The longest name of a language.
const LONGEST_LANGUAGE: usize = 40;

/// Parses Markdown. A line break of the source remains a line break.
pub fn parse(markdown: &str) -> StyledText {
    let source = markdown.replace("\r\n", "\n").replace('\r', "\n");
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut reading = Reading::new(&source, Gaps::new(&source, options));
    for (event, range) in Parser::new_ext(&source, options).into_offset_iter() {
        reading.event(event, range);
    }
    reading.gap(source.len());
    reading.writer.finish()
}

/// How a link is shown.
#[derive(Debug)]
enum LinkForm {
    /// As a link to this address.
    Link(String),
    /// As its text, with the address after it: where a link cannot be.
    Spelled(String),
    /// As it was written.
    Literal,
}

#[derive(Debug)]
struct OpenLink {
    form: LinkForm,
    title: String,
    range: Range<usize>,
    /// The end of its last part in the source.
    last: usize,
    /// The length of what was written before it.
    from: usize,
}

struct Reading<'a> {
    source: &'a str,
    writer: Writer,
    gaps: Gaps,
    links: Vec<OpenLink>,
    /// Whether a link is open that is shown as one.
    is_in_link: bool,
    lists: Vec<Option<u64>>,
    code: Option<(String, String)>,
    table: Option<Table>,
}

impl<'a> Reading<'a> {
    fn new(source: &'a str, gaps: Gaps) -> Self {
        Self {
            source,
            writer: Writer::default(),
            gaps,
            links: Vec::new(),
            is_in_link: false,
            lists: Vec::new(),
            code: None,
            table: None,
        }
    }

    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => {
                self.gap(range.start);
                self.gaps.enter(&tag, range.start);
                self.start(tag, range);
            }
            Event::End(tag) => {
                self.gap(range.end);
                self.gaps.leave(range.end);
                self.end(tag, &range);
                self.ended(range.end);
            }
            leaf => {
                self.gap(range.start);
                self.leaf(leaf);
                self.gaps.pass(range.end);
                self.ended(range.end);
            }
        }
    }

    /// Shows what the parser passed over before this place: definitions of link addresses.
    fn gap(&mut self, until: usize) {
        let Some(definitions) = self.gaps.unseen(self.source, until) else { return };
        self.writer.block(2);
        self.writer.lines(&definitions);
        self.writer.block(2);
    }

    /// A part of a link ended.
    fn ended(&mut self, at: usize) {
        if let Some(link) = self.links.last_mut() {
            link.last = link.last.max(at);
        }
    }

    fn leaf(&mut self, event: Event<'_>) {
        match event {
            Event::Text(text) | Event::InlineMath(text) | Event::DisplayMath(text) => match &mut self.code {
                Some((_, code)) => code.push_str(&text),
                None => self.say(&text),
            },
            Event::Code(text) => {
                self.open(Style::Code);
                self.say(&text);
                self.close();
            }
            Event::Html(text) => self.writer.lines(&text),
            Event::InlineHtml(text) | Event::FootnoteReference(text) => self.say(&text),
            Event::SoftBreak | Event::HardBreak => self.say("\n"),
            Event::Rule => {
                self.writer.block(2);
                self.writer.say(RULE);
                self.writer.block(2);
            }
            Event::TaskListMarker(_) | Event::Start(_) | Event::End(_) => {}
        }
    }

    fn say(&mut self, text: &str) {
        match &mut self.table {
            Some(table) => table.say(text),
            None => self.writer.say(text),
        }
    }

    fn said(&self) -> usize {
        self.table.as_ref().map_or(self.writer.len(), Table::said)
    }

    fn open(&mut self, style: Style) {
        if self.table.is_none() {
            self.writer.open(style);
        }
    }

    fn close(&mut self) {
        if self.table.is_none() {
            self.writer.close();
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: Range<usize>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.writer.block(1),
            Tag::Heading { .. } => {
                self.writer.block(2);
                self.writer.open(Style::Bold);
            }
            Tag::BlockQuote(_) => self.writer.quote(),
            Tag::CodeBlock(kind) => {
                let info = match kind {
                    CodeBlockKind::Fenced(info) => info.to_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((info, String::new()));
            }
            Tag::List(number) => {
                self.writer.block(if self.lists.is_empty() { 2 } else { 1 });
                self.lists.push(number);
            }
            Tag::Item => self.item(),
            Tag::Table(_) => self.table = Some(Table::default()),
            Tag::TableCell => {
                if let Some(table) = &mut self.table {
                    table.cell(range.end);
                }
            }
            Tag::Emphasis => self.open(Style::Italic),
            Tag::Strong => self.open(Style::Bold),
            Tag::Strikethrough => self.open(Style::Strike),
            Tag::Link { link_type, dest_url, title, .. } => {
                self.link(link_type, &dest_url, title.to_string(), range, false);
            }
            Tag::Image { link_type, dest_url, title, .. } => {
                self.link(link_type, &dest_url, title.to_string(), range, true);
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd, range: &Range<usize>) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.writer.block(2),
            TagEnd::Heading(_) => {
                self.writer.close();
                self.writer.block(2);
            }
            TagEnd::BlockQuote(_) => self.writer.quote_ends(),
            TagEnd::CodeBlock => {
                if let Some((info, code)) = self.code.take() {
                    self.code_block(&info, &code);
                }
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.writer.block(if self.lists.is_empty() { 2 } else { 1 });
            }
            TagEnd::Item => self.writer.item_ends(),
            TagEnd::TableHead | TagEnd::TableRow => {
                let source = self.source;
                if let Some(table) = &mut self.table {
                    // The parser drops cells beyond those of the head.
                    table.end_row(|from| source.get(from..range.end).unwrap_or_default());
                }
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    self.writer.block_of_code(None, &table.drawn());
                }
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => self.close(),
            TagEnd::Link | TagEnd::Image => self.link_ends(),
            _ => {}
        }
    }

    fn item(&mut self) {
        let bullet = match self.lists.last_mut() {
            Some(Some(number)) => {
                let bullet = format!("{number}. ");
                *number = number.saturating_add(1);
                bullet
            }
            _ => "• ".to_owned(),
        };
        self.writer.item(&bullet);
    }

    fn code_block(&mut self, info: &str, code: &str) {
        let info = info.trim();
        let is_name = |c: char| c.is_alphanumeric() || "_+#.-".contains(c);
        let language = info.split(|c: char| !is_name(c)).next().unwrap_or_default();
        let is_language = !language.is_empty() && language.len() <= LONGEST_LANGUAGE;
        if !is_language || language != info || code.trim().is_empty() {
            self.writer.block(1);
            self.writer.lines(info);
            self.writer.block(1);
        }
        self.writer.block_of_code(is_language.then(|| language.to_owned()), code);
    }

    fn link(&mut self, kind: LinkType, dest: &str, title: String, range: Range<usize>, is_image: bool) {
        let dest = if kind == LinkType::Email { format!("mailto:{dest}") } else { dest.to_owned() };
        let form = match address(&dest) {
            Some(address) if self.is_in_link || self.table.is_some() => LinkForm::Spelled(address),
            Some(address) => LinkForm::Link(address),
            None => LinkForm::Literal,
        };
        let head = match kind {
            LinkType::Autolink | LinkType::Email => "<",
            _ if is_image => "![",
            _ => "[",
        };
        match &form {
            LinkForm::Link(address) => {
                self.is_in_link = true;
                self.writer.open(Style::Link(address.clone()));
            }
            LinkForm::Spelled(_) => {}
            LinkForm::Literal => self.say(head),
        }
        let (last, from) = (range.start + head.len(), self.said());
        self.links.push(OpenLink { form, title, range, last, from });
    }

    fn link_ends(&mut self) {
        let Some(link) = self.links.pop() else { return };
        let label = match &self.table {
            Some(table) => table.since(link.from),
            None => self.writer.since(link.from),
        };
        let is_empty = label.trim().is_empty();
        match link.form {
            LinkForm::Link(address) => {
                if is_empty {
                    self.say(&address);
                }
                self.is_in_link = false;
                self.writer.close();
            }
            LinkForm::Spelled(address) if is_empty => self.say(&address),
            LinkForm::Spelled(address) if label.trim() == address => {}
            LinkForm::Spelled(address) => self.say(&format!(" ({address})")),
            LinkForm::Literal => {
                let tail = self.source.get(link.last..link.range.end).unwrap_or_default();
                return self.say(tail);
            }
        }
        if !link.title.trim().is_empty() {
            self.say(&format!(" ({})", link.title.trim()));
        }
    }
}
