//! Discord's Markdown, made from a text with styles. A character of the text never acts as markup: it is escaped or stands in code.
//! Must never drop a part of the text.

use std::cmp::Reverse;
use std::ops::Range;

use crate::adapter::{Style, Styled, StyledText};
use crate::failure::{Failure, Refused};

/// The most characters of a post \[D\]. Counted in UTF-16 units, which are never fewer than characters.
pub(super) const LONGEST: usize = 2_000;

/// The most styles around one character. More of them are left out.
const DEEPEST: usize = 8;

/// What breaks a fence within a block of code. Discord has no longer fences.
const BREAK: &str = "`\u{200b}``";

/// The content of a post. Escapes need room: where the styled text is too long, the plain text is taken, and then a block of code,
/// which needs no escapes.
///
/// # Errors
/// The text is too long in all forms.
pub(super) fn content(text: &StyledText) -> Result<String, Failure> {
    // A unit has at most three bytes. So this is too long in each form, and is not worth the work.
    if text.text.trim().len() > LONGEST * 3 {
        return Err(Failure::Refused(Refused::TooLong));
    }
    let forms: [&dyn Fn() -> String; 3] =
        [&|| rendered(&text.text, &text.styles), &|| rendered(&text.text, &[]), &|| {
            format!("```\n{}\n```", unfenced(text.text.trim()))
        }];
    let fits = |form: &String| units(form) <= LONGEST;
    let form = forms.iter().map(|form| form()).find(fits);
    form.ok_or(Failure::Refused(Refused::TooLong))
}

/// The length of the text with its markup and escapes.
pub(super) fn length(text: &StyledText) -> usize {
    units(&rendered(&text.text, &text.styles))
}

fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

fn rendered(text: &str, styles: &[Styled]) -> String {
    let is_whole = |range: &Range<usize>| !range.is_empty() && text.get(range.clone()).is_some();
    let mut styles: Vec<&Styled> = styles.iter().filter(|styled| is_whole(&styled.range)).collect();
    styles.sort_by_key(|styled| (styled.range.start, Reverse(styled.range.end)));
    let mut writer = Writer { text, out: String::new(), is_quoted: false, breaks: false, around: Vec::new() };
    writer.range(0..text.len(), &styles);
    // The platform removes spaces at both ends [U], so they are not part of the digest.
    writer.out.trim().to_owned()
}

fn unfenced(code: &str) -> String {
    code.replace("```", BREAK)
}

struct Writer<'a> {
    text: &'a str,
    out: String,
    /// Whether each line begins as a quotation.
    is_quoted: bool,
    /// Whether the next character begins a new line.
    breaks: bool,
    /// The styles around what is written.
    around: Vec<&'a Style>,
}

impl<'a> Writer<'a> {
    /// Writes a part of the text with the styles that begin in it.
    fn range(&mut self, range: Range<usize>, styles: &[&'a Styled]) {
        let (mut at, mut rest) = (range.start, styles);
        while let Some((styled, others)) = rest.split_first() {
            let (start, end) = (styled.range.start.max(at), styled.range.end.min(range.end));
            if start >= end {
                rest = others;
                continue;
            }
            self.escaped(at..start);
            let (inner, after) = others.split_at(others.partition_point(|other| other.range.start < end));
            if self.around.len() < DEEPEST {
                self.around.push(&styled.style);
                self.styled(&styled.style, start..end, inner);
                self.around.pop();
            } else {
                self.escaped(start..end);
            }
            (at, rest) = (end, after);
        }
        self.escaped(at..range.end);
    }

    fn styled(&mut self, style: &'a Style, range: Range<usize>, inner: &[&'a Styled]) {
        let part = &self.text[range.clone()];
        match style {
            Style::Bold => self.between("**", range, inner),
            Style::Strike => self.between("~~", range, inner),
            // An underscore is a mark only at the edge of a word, an asterisk also within one [U].
            Style::Italic if self.is_word(&range) => self.between("_", range, inner),
            Style::Italic => self.between("*", range, inner),
            Style::Code if !part.trim().is_empty() => self.code(part),
            Style::Block(language) if !part.trim().is_empty() => self.block(part, language.as_deref()),
            Style::Code | Style::Block(_) => self.range(range, &[]),
            Style::Quote => self.quote(range, inner),
            Style::Link(target) => self.link(target, range, inner),
        }
    }

    /// Marks a part. Spaces at its ends stay outside, because marks count only next to a word.
    fn between(&mut self, mark: &str, range: Range<usize>, inner: &[&'a Styled]) {
        let part = &self.text[range.clone()];
        let is_block = |styled: &&Styled| matches!(styled.style, Style::Block(_) | Style::Quote);
        let is_repeated = self.around.iter().filter(|style| Some(*style) == self.around.last()).count() > 1;
        if part.trim().is_empty() || is_repeated || inner.iter().any(is_block) {
            return self.range(range, inner);
        }
        let start = range.start + (part.len() - part.trim_start().len());
        let end = start + part.trim().len();
        self.escaped(range.start..start);
        self.raw(mark);
        self.range(start..end, inner);
        self.raw(mark);
        self.escaped(end..range.end);
    }

    /// Whether no letter touches the part.
    fn is_word(&self, range: &Range<usize>) -> bool {
        let is_letter = |character: char| character.is_alphanumeric() || character == '_';
        !self.text[..range.start].ends_with(is_letter) && !self.text[range.end..].starts_with(is_letter)
    }

    fn code(&mut self, part: &str) {
        let longest = part.split(|character| character != '`').map(str::len).max().unwrap_or(0);
        let mark = "`".repeat(longest + 1);
        let space = if part.starts_with('`') || part.ends_with('`') { " " } else { "" };
        self.raw(&format!("{mark}{space}{part}{space}{mark}"));
    }

    fn block(&mut self, part: &str, language: Option<&str>) {
        let is_plain = |character: char| character.is_ascii_alphanumeric() || "_+-.#".contains(character);
        let language = language.filter(|language| language.chars().all(is_plain)).unwrap_or_default();
        self.begin_line();
        let code = unfenced(part.strip_suffix('\n').unwrap_or(part));
        self.raw(&format!("```{language}\n{code}\n```"));
        self.breaks = true;
    }

    fn quote(&mut self, range: Range<usize>, inner: &[&'a Styled]) {
        self.begin_line();
        let before = std::mem::replace(&mut self.is_quoted, true);
        self.range(range, inner);
        self.is_quoted = before;
        self.breaks = true;
    }

    /// A link with a label. Clients do not show one whose label looks like an address \[U\], and no other schemes [?].
    fn link(&mut self, target: &str, range: Range<usize>, inner: &[&'a Styled]) {
        let label = &self.text[range.clone()];
        let is_web = target.starts_with("https://") || target.starts_with("http://");
        let is_repeated = self.around.iter().filter(|style| matches!(style, Style::Link(_))).count() > 1;
        if is_web && !is_repeated && !label.trim().is_empty() && !label.contains("://") {
            self.raw("[");
            self.range(range, inner);
            let address = address(target);
            return self.raw(&format!("]({address})"));
        }
        let is_shown = label == target || Some(label) == target.strip_prefix("mailto:");
        self.range(range, inner);
        if !is_shown && !is_repeated {
            let shown = if is_web { format!(" (<{}>)", address(target)) } else { format!(" (`{target}`)") };
            self.raw(&shown.replace('\n', " "));
        }
    }

    fn begin_line(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.breaks = true;
        }
    }

    /// Writes text so that nothing in it is markup. Addresses are written as they are: a client takes them whole \[U\], and a
    /// backslash would become a part of them.
    fn escaped(&mut self, range: Range<usize>) {
        let (text, mut at) = (self.text, range.start);
        let line = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let mut begins = text[line..at].bytes().all(|before| before == b' ');
        while let Some(character) = text[at..range.end].chars().next() {
            let rest = &text[at..range.end];
            if rest.starts_with("https://") || rest.starts_with("http://") {
                let end = rest.find(|end: char| end.is_whitespace() || "<>|`".contains(end));
                let end = end.unwrap_or(rest.len());
                self.raw(&rest[..end]);
                (at, begins) = (at + end, false);
                continue;
            }
            if "\\*_~`|[]<".contains(character) || begins && ">#-+".contains(character) {
                self.raw("\\");
            }
            self.raw(character.encode_utf8(&mut [0; 4]));
            at += character.len_utf8();
            begins = character == '\n' || begins && character == ' ';
        }
    }

    /// Writes markup, with the beginnings of quoted lines.
    fn raw(&mut self, markup: &str) {
        for character in markup.chars() {
            if std::mem::take(&mut self.breaks) && character != '\n' {
                self.out.push('\n');
            }
            if self.is_quoted && (self.out.is_empty() || self.out.ends_with('\n')) {
                self.out.push_str("> ");
            }
            self.out.push(character);
        }
    }
}

/// The address of a link: what would end it is encoded.
fn address(target: &str) -> String {
    let mut out = String::new();
    for character in target.chars() {
        if character.is_whitespace() || character.is_control() || "<>()[]\\\"`|*".contains(character) {
            let mut bytes = [0; 4];
            let bytes = character.encode_utf8(&mut bytes).bytes();
            out.extend(bytes.map(|byte| format!("%{byte:02X}")));
        } else {
            out.push(character);
        }
    }
    out
}

#[cfg(test)]
mod tests;
