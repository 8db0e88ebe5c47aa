//! A numbered list, from which a person chooses with a number, or with a letter of a question, and Enter. Lines only: no drawing is
//! repeated, so a screen reader and a simple terminal show all of it. Must never pick a disabled row, must never take an empty line as
//! an answer, and must never show a row's text without [`safe`].
//!
//! | line | does |
//! |---|---|
//! | `2` | picks row 2 |
//! | `2?` | shows more of row 2 |
//! | `m` | shows further rows |
//! | other words | list only the rows that contain them, in any case |
//! | nothing, `n`, `q`, Ctrl+C, Ctrl+D | cancels |
//!
//! Rows with keys of their own answer a question: their letters pick them, and nothing filters.

use std::io;

use super::editor::Read;
use super::safe;
use super::style::{Palette, Style};
use super::width;

/// This many rows are listed at once.
const ROWS: usize = 12;

/// The column of titles.
const INDENT: usize = 5;

/// A row to pick.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// Its name.
    pub title: String,
    /// Further information, dimmed: a time, a count.
    pub detail: String,
    /// The reason why it can't be picked, if there is one.
    pub disabled: Option<String>,
    /// The key that picks it. Either all rows have one, or none has.
    pub key: Option<char>,
}

impl Row {
    /// A row that can be picked.
    pub fn new(title: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { title: title.into(), detail: detail.into(), disabled: None, key: None }
    }
}

/// The terminal of a list.
pub trait Lines {
    /// Prints a text.
    ///
    /// # Errors
    ///
    /// If the terminal can't be written.
    fn print(&mut self, text: &str) -> io::Result<()>;

    /// Reads a line after a prompt.
    ///
    /// # Errors
    ///
    /// If the terminal can't be read or written.
    fn read(&mut self, prompt: &str) -> io::Result<Read>;
}

/// Lets a person pick a row, and blocks until then. The rows are listed in their order, so the newest comes first. `preview` returns
/// details of a row. `None` if cancelled.
///
/// # Errors
///
/// If the terminal can't be read or written.
pub fn pick(
    lines: &mut dyn Lines,
    (palette, columns): (Palette, usize),
    question: &str,
    rows: &[Row],
    preview: &mut dyn FnMut(usize) -> String,
) -> io::Result<Option<usize>> {
    let mut list = List { palette, columns, rows, found: (0..rows.len()).collect(), listed: 0 };
    let header = palette.paint(Style::Bold, safe::line(question)).to_string();
    lines.print(&format!("{header}\n{}", list.more()))?;
    loop {
        let Read::Line(line) = lines.read(list.prompt())? else { return Ok(None) };
        match list.answered(&line) {
            Answer::Done(picked) => return Ok(picked),
            Answer::Preview(row) => {
                let text = safe::block(&preview(row)).trim_end().to_owned();
                lines.print(&format!(
                    "{}\n",
                    if text.is_empty() { "there is no more of it" } else { &text }
                ))?;
            }
            Answer::Says(text) => lines.print(&text)?,
        }
    }
}

/// The effect of a line.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    /// A row, or `None` if cancelled.
    Done(Option<usize>),
    /// Shows more of this row.
    Preview(usize),
    /// Prints this, and asks again.
    Says(String),
}

struct List<'a> {
    palette: Palette,
    columns: usize,
    rows: &'a [Row],
    /// The rows that contain the last words, in order.
    found: Vec<usize>,
    /// This many of them are listed.
    listed: usize,
}

impl List<'_> {
    fn answered(&mut self, line: &str) -> Answer {
        let words = line.trim();
        if matches!(&*words.to_lowercase(), "" | "n" | "q") {
            return Answer::Done(None);
        }
        if self.is_question() {
            let is_meant =
                |row: &Row| row.key.is_some_and(|key| words.eq_ignore_ascii_case(&key.to_string()));
            return match self.rows.iter().position(is_meant) {
                Some(row) => self.picked(row),
                None => self.says(Style::Warn, "that is not one of the answers"),
            };
        }
        let (number, asks) = words.strip_suffix('?').map_or((words, false), |number| (number, true));
        match number.parse::<usize>() {
            Ok(number) => match number.checked_sub(1).filter(|row| *row < self.rows.len()) {
                Some(row) if asks => Answer::Preview(row),
                Some(row) => self.picked(row),
                None => self.says(Style::Warn, &format!("there is no row {number}")),
            },
            Err(_) if words.eq_ignore_ascii_case("m") && self.listed < self.found.len() => {
                Answer::Says(self.more())
            }
            Err(_) => self.filtered(words),
        }
    }

    fn is_question(&self) -> bool {
        self.rows.iter().any(|row| row.key.is_some())
    }

    fn prompt(&self) -> &'static str {
        if self.is_question() { "letter: " } else { "number: " }
    }

    fn picked(&self, row: usize) -> Answer {
        match &self.rows[row].disabled {
            Some(why) => self.says(Style::Error, &format!("cannot be picked: {why}")),
            None => Answer::Done(Some(row)),
        }
    }

    fn says(&self, style: Style, text: &str) -> Answer {
        Answer::Says(format!("{}\n", self.palette.paint(style, safe::line(text))))
    }

    /// Lists the rows that contain the words.
    fn filtered(&mut self, words: &str) -> Answer {
        let needle = words.to_lowercase();
        let contains = |row: &Row| format!("{} {}", row.title, row.detail).to_lowercase().contains(&needle);
        let found: Vec<usize> = (0..self.rows.len()).filter(|row| contains(&self.rows[*row])).collect();
        if found.is_empty() {
            return self.says(Style::Warn, &format!("no row contains “{words}”"));
        }
        (self.found, self.listed) = (found, 0);
        Answer::Says(self.more())
    }

    /// The next rows, and how to answer.
    fn more(&mut self) -> String {
        let from = self.listed;
        self.listed = self.found.len().min(from + ROWS);
        let mut text: String =
            self.found[from..self.listed].iter().map(|row| self.row(*row) + "\n").collect();
        let left = self.found.len() - self.listed;
        let more = if left == 0 { String::new() } else { format!("m lists {left} more · ") };
        let help = match self.is_question() {
            true => "a letter and Enter answer · Enter alone cancels".to_owned(),
            false => {
                format!(
                    "a number and Enter pick · 1? shows more of row 1 · {more}words filter · Enter alone cancels"
                )
            }
        };
        for line in width::wrap(&help, self.columns.saturating_sub(2).max(1)) {
            text.push_str(&format!("  {}\n", self.palette.paint(Style::Dim, line)));
        }
        text
    }

    /// A row: its title in one line, and its detail behind it or, if there is no room, in lines below it. No detail is cut, because it
    /// may be what a permission allows.
    fn row(&self, index: usize) -> String {
        let row = &self.rows[index];
        let name = row.key.map_or_else(|| format!("{:>3}", index + 1), |key| format!("  {key}"));
        let title = format!("{name}  {}", safe::line(&row.title));
        let detail = match &row.disabled {
            Some(why) => format!("({})", safe::line(why)),
            None => safe::line(&row.detail).into_owned(),
        };
        let columns = self.columns.saturating_sub(1).max(INDENT + 1);
        let (of_title, of_detail) =
            if row.disabled.is_some() { (Style::Dim, Style::Warn) } else { (Style::Accent, Style::Dim) };
        let shown = self.palette.paint(of_title, width::truncate(&title, columns)).to_string();
        if detail.is_empty() {
            return shown;
        }
        if width::columns(&title) + 2 + width::columns(&detail) <= columns {
            return format!("{shown}  {}", self.palette.paint(of_detail, detail));
        }
        let below = width::wrap(&detail, columns - INDENT);
        let below =
            below.iter().map(|line| format!("\n{:INDENT$}{}", "", self.palette.paint(of_detail, line)));
        shown + &below.collect::<String>()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// A person who types these lines.
    struct Typed(VecDeque<&'static str>, String);

    impl Lines for Typed {
        fn print(&mut self, text: &str) -> io::Result<()> {
            self.1.push_str(text);
            Ok(())
        }

        fn read(&mut self, prompt: &str) -> io::Result<Read> {
            assert!(matches!(prompt, "number: " | "letter: "), "{prompt}");
            Ok(self.0.pop_front().map_or(Read::Interrupted, |line| Read::Line(line.to_owned())))
        }
    }

    /// The picked row, and the output.
    fn typed(rows: &[Row], lines: &[&'static str]) -> (Option<usize>, String) {
        let mut terminal = Typed(lines.iter().copied().collect(), String::new());
        let mut preview = |row: usize| format!("preview of {row}\x1b[2J");
        let picked = pick(&mut terminal, (Palette::PLAIN, 60), "Go back to", rows, &mut preview);
        assert!(terminal.0.is_empty(), "not read: {:?}", terminal.0);
        (picked.expect("a terminal"), terminal.1)
    }

    fn messages(count: usize) -> Vec<Row> {
        let row = |number: usize| Row {
            disabled: (number == 3).then(|| "its files are gone".to_owned()),
            ..Row::new(format!("Message {number}\x1b[2J"), format!("{number} minutes ago"))
        };
        (1..=count).map(row).collect()
    }

    #[test]
    fn only_a_number_of_a_row_picks_it() {
        for (lines, picked) in [
            (&["2"][..], Some(1)),
            (&[" 14 "], Some(13)),
            (&["3", "1"], Some(0)),
            (&["0", "21", "20"], Some(19)),
            (&["message 17", "17"], Some(16)),
            (&["nowhere", "1?", "m", "1"], Some(0)),
            (&[""], None),
            (&["q"], None),
            (&["N"], None),
            (&["3"], None),
            (&[], None),
        ] {
            assert_eq!(typed(&messages(20), lines).0, picked, "{lines:?}");
        }
    }

    #[test]
    fn a_list_is_shown_in_parts_and_names_what_it_can_do() {
        let (_, said) = typed(&messages(14), &["m", "MESSAGE 1", "3", "2?", "nowhere"]);
        insta::assert_snapshot!(said, @r"
        Go back to
          1  Message 1␛[2J  1 minutes ago
          2  Message 2␛[2J  2 minutes ago
          3  Message 3␛[2J  (its files are gone)
          4  Message 4␛[2J  4 minutes ago
          5  Message 5␛[2J  5 minutes ago
          6  Message 6␛[2J  6 minutes ago
          7  Message 7␛[2J  7 minutes ago
          8  Message 8␛[2J  8 minutes ago
          9  Message 9␛[2J  9 minutes ago
         10  Message 10␛[2J  10 minutes ago
         11  Message 11␛[2J  11 minutes ago
         12  Message 12␛[2J  12 minutes ago
          a number and Enter pick · 1? shows more of row 1 · m lists
          2 more · words filter · Enter alone cancels
         13  Message 13␛[2J  13 minutes ago
         14  Message 14␛[2J  14 minutes ago
          a number and Enter pick · 1? shows more of row 1 · words
          filter · Enter alone cancels
          1  Message 1␛[2J  1 minutes ago
         10  Message 10␛[2J  10 minutes ago
         11  Message 11␛[2J  11 minutes ago
         12  Message 12␛[2J  12 minutes ago
         13  Message 13␛[2J  13 minutes ago
         14  Message 14␛[2J  14 minutes ago
          a number and Enter pick · 1? shows more of row 1 · words
          filter · Enter alone cancels
        cannot be picked: its files are gone
        preview of 1␛[2J
        no row contains “nowhere”
        ");
    }

    #[test]
    fn a_question_takes_its_letters_only() {
        let row = |key, title: &str, is_possible: bool| Row {
            title: title.to_owned(),
            disabled: (!is_possible).then(|| "choose first".to_owned()),
            key: Some(key),
            ..Row::default()
        };
        let rows = |both| [row('y', "both", both), row('c', "conversation only", true)];
        for (both, lines, picked) in [
            (true, &["y"][..], Some(0)),
            (true, &["C"], Some(1)),
            (true, &[""], None),
            (true, &["n"], None),
            (true, &["1", "both", "yy", "y?", "c"], Some(1)),
            (false, &["y"], None),
            (false, &["y", "c"], Some(1)),
        ] {
            assert_eq!(typed(&rows(both), lines).0, picked, "{lines:?}");
        }
        insta::assert_snapshot!(typed(&rows(false), &["y", "x"]).1, @r"
        Go back to
          y  both  (choose first)
          c  conversation only
          a letter and Enter answer · Enter alone cancels
        cannot be picked: choose first
        that is not one of the answers
        ");
    }

    #[test]
    fn long_rows_fit_the_width_and_no_rows_are_no_panic() {
        let rows = [Row::new("title ".repeat(20), "detail ".repeat(20))];
        let (_, said) = typed(&rows, &[]);
        assert_eq!(said.matches("detail").count(), 20, "{said}");
        assert!(said.lines().all(|line| width::columns(line) < 60), "{said}");
        assert_eq!(typed(&[], &["1", "words"]).0, None);
    }
}
