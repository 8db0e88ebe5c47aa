//! Unified diffs: line numbers at the left, code in the colours of its language. The sign of a line shows its kind, also without
//! colours. Must never take a changed line for a header.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::code::Code;
use super::plain::stripped;
use super::wrap::Run;
use crate::text::safe;
use crate::ui::theme::{Colours, LABEL, Paint, Theme};

/// With fewer columns there are no line numbers.
const NUMBERED: u16 = 40;

/// A diff with more lines has no colours of its language: it is painted at each drawing.
const MOST_LINES: usize = 200;

/// The lines of a diff. The name is that of its file, if the diff itself has none: its end tells the language.
pub(crate) fn diff(text: &str, name: Option<&str>, width: u16, theme: Theme) -> Vec<Line<'static>> {
    let text = stripped(text);
    let text = text.trim_end_matches('\n');
    let last = text.split('\n').filter_map(Hunk::parse).map(Hunk::last).max();
    let digits = last.filter(|_| width >= NUMBERED).map_or(0, |last| last.to_string().len());
    // In few colours, those of added and removed lines are needed more.
    let highlights = theme.colours == Colours::True && text.split('\n').nth(MOST_LINES).is_none();
    let width = width.into();
    let mut drawing =
        Drawing { theme, width, digits, highlights, place: Place::Headers, first: None, painters: None };
    drawing.language(name.unwrap_or_default(), text);
    let mut lines = Vec::new();
    for line in text.split('\n') {
        drawing.line(line, text, &mut lines);
    }
    lines
}

/// Whether a text is a diff.
pub(crate) fn is_diff(text: &str) -> bool {
    text.lines().take(8).any(|line| line.starts_with("@@ ") || line == "@@")
}

/// The position in a hunk.
#[derive(Clone, Copy, Debug)]
struct Hunk {
    /// The numbers of the next lines, and how many are left.
    old: u64,
    old_left: u64,
    new: u64,
    new_left: u64,
}

impl Hunk {
    /// From its header, such as `@@ -1,3 +1,4 @@`.
    fn parse(line: &str) -> Option<Self> {
        let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
        let (new, _) = rest.split_once(" @@")?;
        let range = |text: &str| {
            let (from, count) = text.split_once(',').unwrap_or((text, "1"));
            Some((u64::from(from.parse::<u32>().ok()?), u64::from(count.parse::<u32>().ok()?)))
        };
        let ((old, old_left), (new, new_left)) = (range(old)?, range(new)?);
        Some(Self { old, old_left, new, new_left })
    }

    /// The highest number of its lines.
    fn last(self) -> u64 {
        (self.old + self.old_left).max(self.new + self.new_left).saturating_sub(1)
    }

    /// The number of the next line of this kind; `None` after its last one.
    fn next(&mut self, kind: Kind) -> Option<u64> {
        let (is_old, is_new) = (kind != Kind::Added, kind != Kind::Removed);
        if (is_old && self.old_left == 0) || (is_new && self.new_left == 0) {
            return None;
        }
        let number = if is_new { self.new } else { self.old };
        (self.old, self.old_left) = (self.old + u64::from(is_old), self.old_left - u64::from(is_old));
        (self.new, self.new_left) = (self.new + u64::from(is_new), self.new_left - u64::from(is_new));
        Some(number)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Added,
    Removed,
    Same,
}

/// The position in a diff.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// Before the first changed line: here `---` and `+++` begin headers.
    Headers,
    /// In a hunk of known length; after its last line there may be headers again.
    Counted(Hunk),
    /// In a hunk of unknown length: each `-` and `+` is the sign of a line.
    Uncounted,
}

/// The painters of a hunk.
struct Painters {
    new: Code,
    /// That of the lines before the change, as long as it differs.
    old: Option<Code>,
}

impl Painters {
    /// The next line in colours; `None` if it or a later one has none.
    fn line(&mut self, kind: Kind, code: &str) -> Option<Run> {
        if kind == Kind::Same {
            self.old.take_if(|old| old.is_in_state_of(&self.new));
        } else {
            self.old.get_or_insert_with(|| self.new.clone());
        }
        let old = self.old.as_mut().filter(|_| kind != Kind::Added).map(|old| old.line(code));
        let run = match old {
            Some(old) if kind == Kind::Removed => old,
            _ => self.new.line(code),
        };
        let have_colours = self.new.has_colours() && self.old.as_ref().is_none_or(Code::has_colours);
        have_colours.then_some(run)
    }
}

struct Drawing {
    theme: Theme,
    width: usize,
    /// The columns of a line number.
    digits: usize,
    /// Whether code may have the colours of its language.
    highlights: bool,
    place: Place,
    /// The painter of the first line of each hunk; none without a known language.
    first: Option<Code>,
    painters: Option<Painters>,
}

impl Drawing {
    /// The language of a file's name, if that tells one. In a header, the name may be in quotes, and a time after a tab.
    fn language(&mut self, name: &str, sample: &str) {
        let name = name.split('\t').next().unwrap_or_default().trim().trim_matches('"');
        let end = name.rsplit('/').next().and_then(|file| file.rsplit_once('.'));
        let Some((_, end)) = end.filter(|_| self.highlights) else { return };
        self.first = Some(Code::growing(end, sample, self.theme)).filter(Code::has_colours);
        self.begin_painting();
    }

    fn begin_painting(&mut self) {
        self.painters = self.first.clone().map(|new| Painters { new, old: None });
    }

    fn line(&mut self, line: &str, text: &str, lines: &mut Vec<Line<'static>>) {
        let in_hunk = match self.place {
            Place::Headers => false,
            Place::Counted(hunk) => hunk.old_left + hunk.new_left > 0,
            Place::Uncounted => true,
        };
        let kind = match line.as_bytes() {
            [b'+', b'+', b'+', b' ', ..] | [b'-', b'-', b'-', b' ', ..] if !in_hunk => {
                if line.starts_with('-') {
                    (self.first, self.painters) = (None, None);
                }
                self.language(&line[4..], text);
                return self.header(line, Paint::Bold, lines);
            }
            [b'+', ..] => Kind::Added,
            [b'-', ..] => Kind::Removed,
            [b'@', b'@', ..] => {
                self.place = Hunk::parse(line).map_or(Place::Uncounted, Place::Counted);
                self.begin_painting();
                return self.header(line, Paint::Accent, lines);
            }
            [b' ', ..] => Kind::Same,
            [] if in_hunk => Kind::Same,
            _ => return self.header(line, Paint::Dim, lines),
        };
        if matches!(self.place, Place::Headers) && kind != Kind::Same {
            self.place = Place::Uncounted;
        }
        let number = match &mut self.place {
            Place::Counted(hunk) => hunk.next(kind),
            Place::Headers | Place::Uncounted => None,
        };
        self.changed(kind, line, number, lines);
    }

    fn header(&self, line: &str, paint: Paint, lines: &mut Vec<Line<'static>>) {
        let run = Run::of(line, self.theme.style(paint));
        lines.extend(run.chop(self.width).into_iter().map(Line::from));
    }

    fn changed(&mut self, kind: Kind, line: &str, number: Option<u64>, lines: &mut Vec<Line<'static>>) {
        let paint = match kind {
            Kind::Added => Paint::Added,
            Kind::Removed => Paint::Removed,
            Kind::Same => Paint::Dim,
        };
        let style = self.theme.style(paint);
        let (sign, code) = line.split_at_checked(1).unwrap_or((line, ""));
        let code = safe::block(code);
        let mut run = Run::of(sign, style);
        if let Some(painted) = self.painters.as_mut().and_then(|painters| painters.line(kind, &code)) {
            run.append(&painted);
        } else {
            self.painters = None;
            run.push(&code, style);
        }
        let gutter = if self.digits > 0 { self.digits + 1 } else { 0 };
        let mut number = number;
        for mut spans in run.chop(self.width.saturating_sub(gutter)) {
            if gutter > 0 {
                let number = number.take().map(|number| number.to_string()).unwrap_or_default();
                let label: Style = self.theme.style(if kind == Kind::Same { Paint::Dim } else { paint });
                spans.insert(
                    0,
                    Span::styled(
                        format!("{number:>gutter$} ", gutter = gutter - 1),
                        label.add_modifier(LABEL),
                    ),
                );
            }
            lines.push(Line::from(spans));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::theme::Background;

    const THEME: Theme = Theme::usual(Colours::True, Background::Dark);

    fn shown(text: &str, width: u16) -> String {
        diff(text, None, width, THEME).iter().map(|line| format!("{line}\n")).collect()
    }

    const CHANGE: &str = "--- a/x.rs\n+++ b/x.rs\n@@ -9,4 +9,5 @@ fn f()\n same\n--- gone\n+++ one\n+let x = \"a\";\n same\n end\n@@ -98 +99 @@\n-old\n+new\n";

    #[test]
    fn changed_lines_have_their_numbers() {
        insta::assert_snapshot!(shown(CHANGE, 40), @r#"
        --- a/x.rs
        +++ b/x.rs
        @@ -9,4 +9,5 @@ fn f()
         9  same
        10 --- gone
        10 +++ one
        11 +let x = "a";
        12  same
        13  end
        @@ -98 +99 @@
        98 -old
        99 +new
        "#);
        assert!(shown(CHANGE, 39).contains("\n-old\n+new\n"), "a narrow view has none");
        assert_eq!(shown("@@\n-a\n+b\n", 60), "@@\n-a\n+b\n", "unknown numbers are not shown");
        let long = format!("@@ -1 +1 @@\n-a\n+{}\n", "x".repeat(60));
        assert!(shown(&long, 40).contains(&format!("\n1 +{}\n  {}\n", "x".repeat(37), "x".repeat(23))));
    }

    #[test]
    fn code_of_a_diff_has_the_colours_of_its_language() {
        super::super::warm("rs");
        let style_of = |theme: Theme, name: Option<&str>, text: &str, word: &str| {
            let lines = diff(text, name, 60, theme);
            let spans: Vec<_> = lines.iter().flat_map(|line| line.spans.clone()).collect();
            spans.iter().find(|span| span.content.contains(word)).map(|span| span.style)
        };
        assert_eq!(style_of(THEME, None, CHANGE, "\"a\""), Some(THEME.style(Paint::Text)));
        assert_eq!(style_of(THEME, None, CHANGE, "+"), Some(THEME.style(Paint::Bold)), "a header");
        let edit = "@@ -1 +1 @@\n-let a = 1;\n+let b = \"b\";";
        assert_eq!(style_of(THEME, Some("src/x.rs"), edit, "\"b\""), Some(THEME.style(Paint::Text)));
        assert_eq!(style_of(THEME, None, edit, "let b"), Some(THEME.style(Paint::Added)));
        let few = Theme::usual(Colours::Sixteen, Background::Dark);
        assert_eq!(style_of(few, Some("src/x.rs"), edit, "let b"), Some(few.style(Paint::Added)));
        for name in ["b/x.rs\t2026-01-02 03:04:05.6", "\"b/\\303\\244.rs\"", "\"b/x.rs\"\t2026.01.02"] {
            let named = format!("--- a/x\n+++ {name}\n{edit}");
            assert_eq!(style_of(THEME, None, &named, "\"b\""), Some(THEME.style(Paint::Text)), "{name}");
        }
    }

    #[test]
    fn long_diff_has_no_colours_of_its_language() {
        super::super::warm("rs");
        let is_highlighted = |lines: usize| {
            let text = format!("@@ -0,0 +1,{0} @@{1}", lines - 1, "\n+let x = 1;".repeat(lines - 1));
            let drawn = diff(&text, Some("x.rs"), 60, THEME);
            assert_eq!(drawn.len(), lines);
            drawn[1].spans.iter().any(|span| span.style == THEME.style(Paint::Keyword))
        };
        assert!(is_highlighted(MOST_LINES));
        assert!(!is_highlighted(MOST_LINES + 1));
    }

    #[test]
    fn changed_lines_that_look_like_headers_are_none() {
        let kinds = |text: &str| -> String {
            let lines = diff(text, None, 30, THEME);
            let kind = |style: Style| match style {
                _ if style == THEME.style(Paint::Added) => '+',
                _ if style == THEME.style(Paint::Removed) => '-',
                _ if style == THEME.style(Paint::Bold) => 'h',
                _ => ' ',
            };
            lines.iter().map(|line| kind(line.spans[0].style)).collect()
        };
        for (text, expected) in [
            ("--- a/x\n+++ b/x\n@@\n--- foo\n+++ foo\n same\n--- bar", "hh -+ -"),
            ("--- a/x\n+++ b/x\n-old\n--- foo\n+++ foo", "hh--+"),
            ("@@ -1 +1 @@\n--- foo\n+++ foo\n--- a/y\n+++ b/y\n@@\n--- foo", " -+hh -"),
        ] {
            assert_eq!(kinds(text), expected, "{text}");
        }
    }

    /// For each line of a diff, the style of its code.
    fn styles(text: &str) -> Vec<Style> {
        super::super::warm("rs");
        let lines = diff(text, Some("x.rs"), 30, THEME);
        lines.iter().map(|line| line.spans.get(1).unwrap_or(&line.spans[0]).style).collect()
    }

    #[test]
    fn colours_of_a_hunk_begin_anew() {
        let text = "@@ -1 +1 @@\n-/* a\n+/* b\n@@ -50,3 +50,3 @@\n let\n-let\n+let\n let";
        let keyword = THEME.style(Paint::Keyword);
        assert_eq!(styles(text)[4..], [keyword; 4]);
        // Each side has its own state, until both are in the same one.
        let text = "@@ -1,4 +1,4 @@\n-/* a\n+let\n let\n-*/\n+let\n let";
        let comment = THEME.style(Paint::Comment);
        assert_eq!(styles(text)[1..], [comment, keyword, keyword, comment, keyword, keyword]);
    }

    #[test]
    fn lines_after_a_too_long_one_have_the_colours_of_their_kinds() {
        let [added, removed] = [Paint::Added, Paint::Removed].map(|paint| THEME.style(paint));
        for sign in ['-', '+'] {
            let text = format!("@@\n-let\n{sign}{}\n-let\n+let\n@@\n+let", "x".repeat(2_000));
            let lines = diff(&text, Some("x.rs"), 3_000, THEME);
            let of = |at: usize| lines[at].spans.iter().map(|span| span.style).collect::<Vec<_>>();
            assert_eq!(of(1).last(), Some(&THEME.style(Paint::Keyword)));
            assert_eq!(
                [of(2), of(3), of(4)],
                [vec![if sign == '-' { removed } else { added }], vec![removed], vec![added]]
            );
            assert_eq!(of(6).last(), Some(&THEME.style(Paint::Keyword)), "the next hunk has them again");
        }
    }

    #[test]
    fn gutter_is_as_wide_as_the_highest_number() {
        assert_eq!(shown("@@ -8,2 +8,2 @@\n a\n-b\n+c", 40), "@@ -8,2 +8,2 @@\n8  a\n9 -b\n9 +c\n");
        assert_eq!(shown("@@ -0,0 +1,9 @@\n+a", 40), "@@ -0,0 +1,9 @@\n1 +a\n");
        assert_eq!(shown("@@ -9,2 +9,2 @@\n a", 40), "@@ -9,2 +9,2 @@\n 9  a\n");
    }
}
