//! One block of Markdown, or several that belong together, as lines. Must never let any of it act on the terminal: decoded
//! entities are made safe, too.

use std::collections::BTreeMap;

use pulldown_cmark::{BrokenLink, CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::blocks;
use super::code::Code;
use super::table::Table;
use super::wrap::{Run, columns, spans_columns};
use crate::text::safe;
use crate::ui::theme::{Colours, LABEL, Paint, Theme};

/// The least columns between code and its language.
const GAP: usize = 4;

/// The most nested blocks with a marker of their own; people never write more, and more would be slow.
const DEEPEST: usize = 32;

/// The text before lines: one for the first line, one for the others.
#[derive(Debug)]
struct Margin {
    first: Vec<Span<'static>>,
    rest: Vec<Span<'static>>,
    begun: bool,
}

/// An open list.
#[derive(Debug)]
struct List {
    number: Option<u64>,
}

/// The state of the writing.
pub(super) struct Writer {
    width: usize,
    theme: Theme,
    lines: Vec<Line<'static>>,
    run: Run,
    styles: Vec<Style>,
    margins: Vec<Margin>,
    /// Number of open blocks below the deepest visible one.
    deeper: usize,
    lists: Vec<List>,
    links: Vec<(String, usize)>,
    code: Option<(String, String)>,
    table: Option<Table>,
    /// A block has ended, and the next one begins after an empty line.
    gap: bool,
}

/// Link addresses by their labels.
pub(super) type Addresses = BTreeMap<String, String>;

/// A block in lines.
#[derive(Debug, Default)]
pub(super) struct BlockLayout {
    pub(super) lines: Vec<Line<'static>>,
    /// The addresses that it defines.
    pub(super) names: Addresses,
    /// Labels in brackets that it does not define itself.
    pub(super) refers: Vec<String>,
}

/// A label in the form for comparison.
fn compared(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// The addresses that a block defines; parses only text that may hold some.
pub(super) fn names(text: &str) -> Addresses {
    if !text.contains("]:") {
        return Addresses::new();
    }
    lay(text, 80, Theme::default(), &Addresses::new()).names
}

/// The lines of a block, with addresses defined in other blocks.
pub(super) fn lay(text: &str, width: usize, theme: Theme, known: &Addresses) -> BlockLayout {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    // White space alone is no line until the line ends.
    let bare = text.trim_end_matches([' ', '\t']);
    let text = if bare.ends_with('\n') { bare } else { text };
    let mut writer = Writer::new(width, theme);
    let safe = safe::block(text);
    let safe = blocks::apart(&safe);
    let mut refers = Vec::new();
    let resolve = |link: BrokenLink<'_>| {
        let label = compared(&link.reference);
        let address = known.get(&label).map(|address| (address.clone().into(), "".into()));
        refers.push(label);
        address
    };
    let parser = Parser::new_with_broken_link_callback(&safe, options, Some(resolve));
    let names = parser.reference_definitions().iter();
    let names = names.map(|(name, it)| (compared(name), it.dest.to_string())).collect();
    for event in parser {
        writer.event(event);
    }
    writer.flush();
    if writer.lines.is_empty() && !text.trim().is_empty() {
        // Addresses for links of other blocks: they are shown only here.
        writer.say(text.trim(), theme.style(Paint::Dim));
        writer.flush();
    }
    BlockLayout { lines: writer.lines, names, refers }
}

impl Writer {
    fn new(width: usize, theme: Theme) -> Self {
        Self {
            width: width.max(1),
            theme,
            lines: Vec::new(),
            run: Run::default(),
            styles: vec![Style::new()],
            margins: Vec::new(),
            deeper: 0,
            lists: Vec::new(),
            links: Vec::new(),
            code: None,
            table: None,
            gap: false,
        }
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some((_, code)) => code.push_str(&text),
                None => self.say(&text, self.style()),
            },
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => self.inline_code(&text),
            Event::Html(text) => self.say(&text, self.theme.style(Paint::Dim)),
            Event::InlineHtml(text) => {
                let line_break = text.starts_with("<br");
                self.say(if line_break { "\n" } else { &text }, self.theme.style(Paint::Dim));
            }
            Event::SoftBreak => self.say(" ", self.style()),
            Event::HardBreak => self.say("\n", self.style()),
            Event::Rule => {
                self.block();
                let rule = "─".repeat(self.room().min(40));
                self.write(vec![Span::styled(rule, self.theme.style(Paint::Dim))]);
                self.gap = true;
            }
            Event::TaskListMarker(done) => self.task(done),
            Event::FootnoteReference(name) => self.say(&format!("[{name}]"), self.style()),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.block(),
            Tag::Heading { .. } => {
                self.block();
                self.push(Paint::Heading);
            }
            Tag::BlockQuote(_) => {
                self.block();
                let bar = Span::styled("▏ ", self.theme.style(Paint::Bar));
                self.margin(vec![bar.clone()], vec![bar]);
                self.push(Paint::Quote);
            }
            Tag::CodeBlock(kind) => {
                self.block();
                let info = match kind {
                    CodeBlockKind::Fenced(info) => info.to_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((info, String::new()));
            }
            Tag::List(number) => {
                self.flush();
                if !self.lists.is_empty() {
                    self.gap = false;
                }
                self.block();
                self.lists.push(List { number });
            }
            Tag::Item => self.item(),
            Tag::Table(alignments) => {
                self.block();
                self.table = Some(Table::new(alignments));
            }
            Tag::Emphasis => self.push(Paint::Italic),
            Tag::Strong => self.push(Paint::Bold),
            Tag::Strikethrough => self.push(Paint::Struck),
            Tag::Link { dest_url, .. } => {
                self.links.push((dest_url.to_string(), self.run.text().len()));
                self.push(Paint::Link);
            }
            Tag::Image { dest_url, .. } => {
                self.say("[image: ", self.theme.style(Paint::Dim));
                self.links.push((dest_url.to_string(), usize::MAX));
                self.push(Paint::Dim);
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.done(),
            TagEnd::Heading(_) => {
                self.done();
                self.styles.pop();
            }
            TagEnd::BlockQuote(_) => {
                self.done();
                self.styles.pop();
                self.margin_ends();
            }
            TagEnd::CodeBlock => self.code_block(),
            TagEnd::List(_) => {
                self.flush();
                self.lists.pop();
                self.gap = self.lists.is_empty();
            }
            TagEnd::Item => {
                self.flush();
                if self.innermost().is_some_and(|margin| !margin.begun) {
                    self.write(Vec::new());
                }
                self.margin_ends();
                self.gap = false;
            }
            TagEnd::TableCell => {
                let run = std::mem::take(&mut self.run);
                if let Some(table) = &mut self.table {
                    table.cell(run);
                }
            }
            TagEnd::TableRow | TagEnd::TableHead => {
                if let Some(table) = &mut self.table {
                    table.row();
                }
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    table.lines(self.room(), self.theme).into_iter().for_each(|line| self.write(line));
                }
                self.gap = true;
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::Link | TagEnd::Image => self.link(),
            _ => {}
        }
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    /// Text from here on has this look, too.
    fn push(&mut self, paint: Paint) {
        let style = self.style().patch(self.theme.style(paint));
        self.styles.push(style);
    }

    fn say(&mut self, text: &str, style: Style) {
        self.run.push(&safe::block(text), style);
    }

    fn inline_code(&mut self, text: &str) {
        let style = self.style().patch(self.theme.style(Paint::Code));
        // Without colours nothing else distinguishes it.
        if self.theme.colours == Colours::None {
            self.say(&format!("`{text}`"), style);
        } else {
            self.say(text, style.remove_modifier(Modifier::ITALIC));
        }
    }

    /// The address after a link, if it differs from the link's text.
    fn link(&mut self) {
        self.styles.pop();
        let Some((address, from)) = self.links.pop() else { return };
        let dim = self.theme.style(Paint::Dim);
        if from == usize::MAX {
            self.say("]", dim);
        } else {
            let said = self.run.text().get(from..).unwrap_or_default();
            if said == address || address == format!("mailto:{said}") || address.starts_with('#') {
                return;
            }
        }
        if !address.is_empty() {
            self.say(&format!(" ({})", safe::line(&address)), dim);
        }
    }

    /// A block begins.
    fn block(&mut self) {
        self.flush();
        if std::mem::take(&mut self.gap) && !self.lines.is_empty() {
            self.empty();
        }
    }

    /// A block has ended.
    fn done(&mut self) {
        self.flush();
        self.gap = true;
    }

    fn item(&mut self) {
        self.flush();
        self.gap = false;
        let depth = self.lists.len();
        let sign = match self.lists.last_mut().and_then(|list| list.number.as_mut()) {
            Some(number) => {
                *number += 1;
                format!("{}. ", *number - 1)
            }
            None if depth % 2 == 1 => "• ".to_owned(),
            None => "◦ ".to_owned(),
        };
        let rest = " ".repeat(columns(&sign));
        let style = self.theme.style(Paint::Dim);
        self.margin(vec![Span::styled(sign, style)], vec![Span::raw(rest)]);
    }

    /// A task's box replaces the marker of its item. Without colours it is the typed one.
    fn task(&mut self, done: bool) {
        let in_colours = self.theme.colours != Colours::None;
        let sign = self.innermost().filter(|margin| !margin.begun).and_then(|it| it.first.first_mut());
        match sign {
            Some(sign) if in_colours && columns(&sign.content) == 2 => {
                sign.content = if done { "☑ " } else { "☐ " }.into();
            }
            _ => self.say(if done { "[x] " } else { "[ ] " }, self.style()),
        }
    }

    /// Text from here on has this margin. It is left out if it would leave no room.
    fn margin(&mut self, first: Vec<Span<'static>>, rest: Vec<Span<'static>>) {
        if self.margins.len() == DEEPEST {
            self.deeper += 1;
            return;
        }
        let taken = self.width - self.room();
        let (first, rest) = if (taken + spans_columns(&first)) * 2 > self.width {
            (Vec::new(), Vec::new())
        } else {
            (first, rest)
        };
        self.margins.push(Margin { first, rest, begun: false });
    }

    /// The margin of the innermost block; `None` if that is too deep to have one.
    fn innermost(&mut self) -> Option<&mut Margin> {
        self.margins.last_mut().filter(|_| self.deeper == 0)
    }

    fn margin_ends(&mut self) {
        match self.deeper.checked_sub(1) {
            Some(deeper) => self.deeper = deeper,
            None => drop(self.margins.pop()),
        }
    }

    /// The columns beside the margin.
    fn room(&self) -> usize {
        let taken: usize = self.margins.iter().map(|margin| spans_columns(&margin.rest)).sum();
        self.width.saturating_sub(taken).max(1)
    }

    /// Writes the current paragraph as lines.
    fn flush(&mut self) {
        let run = std::mem::take(&mut self.run);
        if run.is_empty() || self.table.is_some() {
            return;
        }
        for line in Run::wrap(&run.trimmed(), self.room().min(super::PROSE.into())) {
            self.write(line);
        }
    }

    fn write(&mut self, spans: Vec<Span<'static>>) {
        let mut line = Vec::new();
        for margin in &mut self.margins {
            let first = !std::mem::replace(&mut margin.begun, true);
            line.extend(if first { &margin.first } else { &margin.rest }.iter().cloned());
        }
        line.extend(spans);
        self.lines.push(Line::from(line));
    }

    /// An empty line. It does not use up the marker of the item that begins below it.
    fn empty(&mut self) {
        let margins = self.margins.iter().filter(|margin| margin.begun || margin.first == margin.rest);
        let line: Vec<_> = margins.flat_map(|margin| margin.rest.iter().cloned()).collect();
        self.lines.push(Line::from(line));
    }

    fn code_block(&mut self) {
        let Some((info, text)) = self.code.take() else { return };
        let mut code = Code::whole(&info, &text, self.theme);
        let room = self.room();
        for (at, line) in text.strip_suffix('\n').unwrap_or(&text).split('\n').enumerate() {
            let mut lines = code_lines(&code.line(&safe::block(line)), room, self.theme);
            if at == 0 {
                label(&mut lines, &info, room, self.theme);
            }
            lines.into_iter().for_each(|line| self.write(line));
        }
        self.gap = true;
    }
}

/// The language of code, dimmed, at the right of its first line if there is room.
pub(super) fn label(lines: &mut [Vec<Span<'static>>], info: &str, width: usize, theme: Theme) {
    let language = info.trim().split([' ', ',', '{', '\t']).next().unwrap_or_default();
    let language = safe::line(language);
    let [first] = lines else { return };
    let (taken, wide) = (spans_columns(first), columns(&language));
    if wide > 0 && taken + wide + GAP <= width {
        first.push(Span::raw(" ".repeat(width - taken - wide)));
        first.push(Span::styled(language.into_owned(), theme.style(Paint::Dim).add_modifier(LABEL)));
    }
}

/// A line of code, indented, and broken if it is too long.
pub(super) fn code_lines(run: &Run, width: usize, theme: Theme) -> Vec<Vec<Span<'static>>> {
    let (first, rest) = if width < 8 { ("", "") } else { ("  ", "┊ ") };
    let dim = theme.style(Paint::Dim);
    let lines = run.chop(width - first.len()).into_iter().enumerate();
    lines
        .map(|(number, mut line)| {
            if number == 0 {
                line.insert(0, Span::raw(first));
            } else if !rest.is_empty() {
                line.insert(0, Span::styled(rest, dim.add_modifier(LABEL)));
            }
            line
        })
        .collect()
}
