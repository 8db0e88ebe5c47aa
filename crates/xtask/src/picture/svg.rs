//! From a screen with escape sequences to an SVG with text: a dark window, each run of cells in its own colour. It must
//! never guess: a sequence that it does not know is an error.

use std::fmt::Write as _;
use std::io::{Error, Result};

/// A cell, in tenths of a pixel across and in pixels down, for a font of 14 pixels.
const CELL_TENTHS: usize = 84;
const LINE: usize = 20;

/// Between the window's edge and its text, and above the text for the window's bar.
const MARGIN: usize = 16;
const BAR: usize = 36;

/// The colours that a terminal names by number, and what it takes without one.
const COLOURS: [&str; 8] =
    ["#484f58", "#ff7b72", "#7ee787", "#e3b341", "#79c0ff", "#d2a8ff", "#76e3ea", "#c9d1d9"];
const PLAIN: &str = "#c9d1d9";
const WINDOW: &str = "#0d1117";
const BUTTON: &str = "#30363d";

/// How a cell is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Look {
    colour: Option<usize>,
    bold: bool,
    dim: bool,
}

/// Neighbouring cells of one look, none of them blank at the ends.
#[derive(Debug, PartialEq, Eq)]
struct Run {
    column: usize,
    text: String,
    look: Look,
}

/// The picture of a screen that is so many columns wide.
pub(super) fn draw(screen: &str, columns: usize) -> Result<String> {
    let lines = runs(screen.trim_end().trim_start_matches('\n'))?;
    let width = columns * CELL_TENTHS / 10 + 2 * MARGIN;
    let height = BAR + lines.len() * LINE + MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" font-size=\"14\">\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"{WINDOW}\"/>\n"
    );
    for button in 0..3 {
        put(
            &mut svg,
            format_args!("<circle cx=\"{}\" cy=\"18\" r=\"5\" fill=\"{BUTTON}\"/>\n", 20 + 18 * button),
        );
    }
    for (row, line) in lines.iter().enumerate() {
        for run in line {
            text(&mut svg, BAR + row * LINE + 14, run);
        }
    }
    svg.push_str("</svg>\n");
    Ok(svg)
}

fn text(svg: &mut String, y: usize, run: &Run) {
    let Run { column, text, look } = run;
    let cells = |count: usize| format!("{}.{}", count * CELL_TENTHS / 10, count * CELL_TENTHS % 10);
    let colour = look.colour.map_or(PLAIN, |colour| COLOURS[colour]);
    let bold = if look.bold { " font-weight=\"bold\"" } else { "" };
    let dim = if look.dim { " opacity=\"0.6\"" } else { "" };
    // The length holds the columns together in whatever font there is.
    let length = cells(text.chars().count());
    let x = cells(column + 2);
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    put(
        svg,
        format_args!(
            "<text x=\"{x}\" y=\"{y}\" textLength=\"{length}\" fill=\"{colour}\"{bold}{dim} \
             xml:space=\"preserve\">{text}</text>\n"
        ),
    );
}

fn put(svg: &mut String, what: std::fmt::Arguments<'_>) {
    svg.write_fmt(what).expect("BUG: a string takes everything");
}

/// The runs of each line. A look goes on over the end of a line.
fn runs(screen: &str) -> Result<Vec<Vec<Run>>> {
    let mut look = Look::default();
    screen.lines().map(|line| line_runs(line, &mut look)).collect()
}

fn line_runs(line: &str, look: &mut Look) -> Result<Vec<Run>> {
    let mut runs = Vec::new();
    let mut column = 0;
    for (number, piece) in line.split("\x1b[").enumerate() {
        let text = if number == 0 {
            piece
        } else {
            let (codes, text) = piece.split_once('m').ok_or_else(|| unknown(piece))?;
            for code in codes.split(';') {
                *look = look.with(code)?;
            }
            text
        };
        let trimmed = text.trim_start_matches(' ');
        let blank = text.len() - trimmed.len();
        if !trimmed.trim_end().is_empty() {
            runs.push(Run { column: column + blank, text: trimmed.trim_end().to_owned(), look: *look });
        }
        column += text.chars().count();
    }
    Ok(runs)
}

impl Look {
    /// The look after one parameter of a sequence that selects how text is drawn.
    fn with(self, code: &str) -> Result<Self> {
        Ok(match code.parse().map_err(|_| unknown(code))? {
            0 => Self::default(),
            1 => Self { bold: true, ..self },
            2 => Self { dim: true, ..self },
            22 => Self { bold: false, dim: false, ..self },
            number @ (30..=37 | 90..=97) => Self { colour: Some(number % 10), ..self },
            39 => Self { colour: None, ..self },
            49 => self,
            _ => return Err(unknown(code)),
        })
    }
}

fn unknown(sequence: &str) -> Error {
    Error::other(format!("the picture cannot show the escape sequence {sequence:?}"))
}

#[cfg(test)]
mod tests {
    use super::{Look, Run, draw, runs};

    fn run(column: usize, text: &str, look: Look) -> Run {
        Run { column, text: text.to_owned(), look }
    }

    #[test]
    fn cells_keep_their_columns_and_looks() {
        let plain = Look::default();
        let (dim, red) = (Look { dim: true, ..plain }, Look { colour: Some(1), ..plain });
        let bold = Look { bold: true, ..plain };
        let rows = [
            ("a b ", vec![run(0, "a b", plain)]),
            ("", vec![]),
            ("  \x1b[2mé│ x\x1b[0m \x1b[31my", vec![run(2, "é│ x", dim), run(7, "y", red)]),
            (
                "\x1b[1;91mx\x1b[22;39m y\x1b[49m",
                vec![run(0, "x", Look { colour: Some(1), bold: true, dim: false }), run(2, "y", plain)],
            ),
            ("\x1b[1m\x1b[2m\x1b[22m\x1b[1mx", vec![run(0, "x", bold)]),
        ];
        for (screen, expected) in rows {
            assert_eq!(runs(screen).unwrap().pop().unwrap_or_default(), expected, "{screen:?}");
        }
    }

    #[test]
    fn a_look_goes_on_over_the_end_of_a_line() {
        let lines = runs("\x1b[36ma\nb\x1b[39m\nc").unwrap();
        let colours: Vec<_> = lines.iter().map(|line| line[0].look.colour).collect();
        assert_eq!(colours, [Some(6), Some(6), None]);
    }

    #[test]
    fn what_it_cannot_show_is_an_error() {
        for screen in ["\x1b[48;5;3mx", "\x1b[2Jx", "\x1b[7mx"] {
            let error = draw(screen, 80).unwrap_err().to_string();
            assert!(error.contains("cannot show"), "{screen:?}: {error}");
        }
    }

    #[test]
    fn the_picture_has_the_text_and_its_colour() {
        let svg = draw("\n\x1b[32m<a> & b\x1b[0m\n\n", 10).unwrap();
        let text = "<text x=\"16.8\" y=\"50\" textLength=\"58.8\" fill=\"#7ee787\" xml:space=\"preserve\">&lt;a&gt; &amp; b</text>";
        assert!(svg.contains(text), "{svg}");
        assert!(svg.starts_with("<svg ") && svg.contains("width=\"116\" height=\"72\""), "{svg}");
    }
}
