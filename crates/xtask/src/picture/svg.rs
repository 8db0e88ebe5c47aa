//! Converts a screen with escape sequences to an SVG with text: a dark window, with each run of cells in its own
//! colour. It must never guess: an unknown sequence is an error.

use std::fmt::Write as _;
use std::io::{Error, Result};

/// A cell, in tenths of a pixel across and in pixels down, for a font of 14 pixels.
const CELL_TENTHS: usize = 84;
const LINE: usize = 20;

/// The margin between the window's edge and its text, and the height of the window's bar above the text.
const MARGIN: usize = 16;
const BAR: usize = 36;

/// The numbered colours of a terminal, and the default one.
const COLOURS: [u32; 8] =
    [0x48_4f58, 0xff_7b72, 0x7e_e787, 0xe3_b341, 0x79_c0ff, 0xd2_a8ff, 0x76_e3ea, 0xc9_d1d9];
const PLAIN: u32 = 0xc9_d1d9;
const WINDOW: &str = "#0d1117";
const BUTTON: &str = "#30363d";

/// The look of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Look {
    colour: Option<u32>,
    behind: Option<u32>,
    bold: bool,
    dim: bool,
}

/// Neighbouring cells of one look, without blanks at the ends unless they have a background colour.
#[derive(Debug, PartialEq, Eq)]
struct Run {
    column: usize,
    text: String,
    look: Look,
}

/// The picture of a screen with so many columns.
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
    let colour = look.colour.unwrap_or(PLAIN);
    let bold = if look.bold { " font-weight=\"bold\"" } else { "" };
    let dim = if look.dim { " opacity=\"0.6\"" } else { "" };
    // The length keeps the columns aligned in any font.
    let length = cells(text.chars().count());
    let x = cells(column + 2);
    if let Some(behind) = look.behind {
        let top = y - 14;
        put(
            svg,
            format_args!(
                "<rect x=\"{x}\" y=\"{top}\" width=\"{length}\" height=\"{LINE}\" fill=\"#{behind:06x}\"/>\n"
            ),
        );
    }
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    put(
        svg,
        format_args!(
            "<text x=\"{x}\" y=\"{y}\" textLength=\"{length}\" fill=\"#{colour:06x}\"{bold}{dim} \
             xml:space=\"preserve\">{text}</text>\n"
        ),
    );
}

fn put(svg: &mut String, what: std::fmt::Arguments<'_>) {
    svg.write_fmt(what).expect("BUG: a string takes everything");
}

/// The runs of each line. A look continues after the end of a line.
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
            *look = look.with_all(codes)?;
            text
        };
        let (start, end) = match look.behind {
            Some(_) => (text, text),
            None => (text.trim_start_matches(' '), text.trim()),
        };
        let blank = text.len() - start.len();
        if !end.is_empty() {
            runs.push(Run { column: column + blank, text: end.to_owned(), look: *look });
        }
        column += text.chars().count();
    }
    Ok(runs)
}

impl Look {
    /// The look after a sequence of style codes.
    fn with_all(mut self, codes: &str) -> Result<Self> {
        let mut rest = codes.split(';');
        while let Some(code) = rest.next() {
            match code {
                "38" => self.colour = Some(rgb(&mut rest).ok_or_else(|| unknown(codes))?),
                "48" => self.behind = Some(rgb(&mut rest).ok_or_else(|| unknown(codes))?),
                _ => self = self.with(code)?,
            }
        }
        Ok(self)
    }

    /// The look after a single style code.
    fn with(self, code: &str) -> Result<Self> {
        Ok(match code.parse().map_err(|_| unknown(code))? {
            0 => Self::default(),
            1 => Self { bold: true, ..self },
            2 => Self { dim: true, ..self },
            22 => Self { bold: false, dim: false, ..self },
            number @ (30..=37 | 90..=97) => Self { colour: Some(COLOURS[number % 10]), ..self },
            39 => Self { colour: None, ..self },
            49 => Self { behind: None, ..self },
            _ => return Err(unknown(code)),
        })
    }
}

/// A colour of sixteen million: `2`, red, green and blue.
fn rgb<'a>(parameters: &mut impl Iterator<Item = &'a str>) -> Option<u32> {
    let mut next = || parameters.next()?.parse::<u8>().ok();
    let (kind, red, green, blue) = (next()?, next()?, next()?, next()?);
    (kind == 2).then(|| u32::from_be_bytes([0, red, green, blue]))
}

fn unknown(sequence: &str) -> Error {
    Error::other(format!("the picture cannot show the escape sequence {sequence:?}"))
}

#[cfg(test)]
mod tests {
    use super::{COLOURS, Look, Run, draw, runs};

    fn run(column: usize, text: &str, look: Look) -> Run {
        Run { column, text: text.to_owned(), look }
    }

    #[test]
    fn cells_keep_their_columns_and_looks() {
        let plain = Look::default();
        let (dim, red) = (Look { dim: true, ..plain }, Look { colour: Some(COLOURS[1]), ..plain });
        let bold = Look { bold: true, ..plain };
        let marked = Look { colour: Some(0x01_02ff), behind: Some(0x26_3447), bold: true, ..plain };
        let rows = [
            ("a b ", vec![run(0, "a b", plain)]),
            ("", vec![]),
            ("  \x1b[2mé│ x\x1b[0m \x1b[31my", vec![run(2, "é│ x", dim), run(7, "y", red)]),
            (
                "\x1b[1;91mx\x1b[22;39m y\x1b[49m",
                vec![run(0, "x", Look { colour: Some(COLOURS[1]), ..bold }), run(2, "y", plain)],
            ),
            (
                "a\x1b[1;38;2;1;2;255;48;2;38;52;71m b \x1b[0m c",
                vec![run(0, "a", plain), run(1, " b ", marked), run(5, "c", plain)],
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
        assert_eq!(colours, [Some(COLOURS[6]), Some(COLOURS[6]), None]);
    }

    #[test]
    fn what_it_cannot_show_is_an_error() {
        for screen in ["\x1b[48;5;3mx", "\x1b[38;2;1;2mx", "\x1b[2Jx", "\x1b[7mx"] {
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
