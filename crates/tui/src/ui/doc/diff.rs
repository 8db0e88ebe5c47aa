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

/// The lines of a diff. The name is that of its file, if the diff itself has none: its end tells the language.
pub(crate) fn diff(text: &str, name: Option<&str>, width: u16, theme: Theme) -> Vec<Line<'static>> {
    let text = stripped(text);
    let text = text.trim_end_matches('\n');
    let hunks = text.split('\n').filter_map(Hunk::parse);
    let last = hunks.map(|hunk| (hunk.old + hunk.old_left).max(hunk.new + hunk.new_left)).max();
    let digits = last.filter(|_| width >= NUMBERED).map_or(0, |last| last.to_string().len());
    let mut drawing = Drawing { theme, width: width.into(), digits, hunk: None, painters: None };
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

struct Drawing {
    theme: Theme,
    width: usize,
    /// The columns of a line number.
    digits: usize,
    hunk: Option<Hunk>,
    /// What paints the lines before and after the change; none without a known language.
    painters: Option<[Code; 2]>,
}

impl Drawing {
    /// The language of a file's name, if that tells one. In few colours, those of added and removed lines are needed more.
    fn language(&mut self, name: &str, sample: &str) {
        let end = name.trim_end().rsplit('/').next().and_then(|file| file.rsplit_once('.'));
        let Some((_, end)) = end.filter(|_| self.theme.colours == Colours::True) else { return };
        let painter = || Code::growing(end, sample, self.theme);
        self.painters =
            Some([painter(), painter()]).filter(|all| all.iter().all(|painter| painter.has_colours()));
    }

    fn line(&mut self, line: &str, text: &str, lines: &mut Vec<Line<'static>>) {
        let in_hunk = self.hunk.is_some_and(|hunk| hunk.old_left + hunk.new_left > 0);
        let kind = match line.as_bytes() {
            [b'+', b'+', b'+', b' ', ..] | [b'-', b'-', b'-', b' ', ..] if !in_hunk => {
                if line.starts_with('-') {
                    self.painters = None;
                }
                self.language(&line[4..], text);
                return self.header(line, Paint::Bold, lines);
            }
            [b'+', ..] => Kind::Added,
            [b'-', ..] => Kind::Removed,
            [b'@', b'@', ..] => {
                self.hunk = Hunk::parse(line);
                return self.header(line, Paint::Accent, lines);
            }
            [b' ', ..] => Kind::Same,
            [] if in_hunk => Kind::Same,
            _ => return self.header(line, Paint::Dim, lines),
        };
        let number = self.hunk.as_mut().and_then(|hunk| hunk.next(kind));
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
        match (&mut self.painters, kind) {
            (None, _) => run.push(&code, style),
            (Some([_, new]), Kind::Added) => run.append(&new.line(&code)),
            (Some([old, _]), Kind::Removed) => run.append(&old.line(&code)),
            (Some([old, new]), Kind::Same) => {
                drop(old.line(&code));
                run.append(&new.line(&code));
            }
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
    }
}
