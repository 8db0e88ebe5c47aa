//! A question answered with yes or no. Must never take anything but a clear yes for a yes.

use std::io::{self, Write};

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::style::{Palette, Style};
use super::{Raw, safe};

/// The answer that Enter gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Default {
    /// Enter is yes.
    Yes,
    /// Enter is no.
    No,
}

/// Asks, and blocks until one key answers: `y` or `n`, Enter for the default; Esc, Ctrl-C and Ctrl-D are no. The answer stays on the
/// screen behind the question. Only for when [`super::interactive`].
///
/// # Errors
///
/// If the terminal can't be read or written.
pub fn confirm(palette: Palette, question: &str, default: Default) -> io::Result<bool> {
    let choices = match default {
        Default::Yes => "[Y/n]",
        Default::No => "[y/N]",
    };
    say(&format!(
        "{} {} ",
        safe::line(question),
        palette.paint(Style::Dim, choices)
    ))?;
    let answer = {
        let _raw = Raw::enable()?;
        wait(default)?
    };
    say(if answer { "yes\n" } else { "no\n" })?;
    Ok(answer)
}

fn say(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

fn wait(default: Default) -> io::Result<bool> {
    loop {
        if let Event::Key(key) = event::read()?
            && key.kind == KeyEventKind::Press
            && let Some(answer) = answer(key, default)
        {
            return Ok(answer);
        }
    }
}

fn answer(key: KeyEvent, default: Default) -> Option<bool> {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('c' | 'd') if control => Some(false),
        KeyCode::Char('y' | 'Y') if !control => Some(true),
        KeyCode::Char('n' | 'N') if !control => Some(false),
        KeyCode::Esc => Some(false),
        KeyCode::Enter => Some(default == Default::Yes),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_is_a_yes() {
        let plain = KeyModifiers::NONE;
        let control = KeyModifiers::CONTROL;
        for (code, modifiers, default, expected) in [
            (KeyCode::Char('y'), plain, Default::No, Some(true)),
            (
                KeyCode::Char('Y'),
                KeyModifiers::SHIFT,
                Default::No,
                Some(true),
            ),
            (KeyCode::Char('n'), plain, Default::Yes, Some(false)),
            (KeyCode::Enter, plain, Default::Yes, Some(true)),
            (KeyCode::Enter, plain, Default::No, Some(false)),
            (KeyCode::Esc, plain, Default::Yes, Some(false)),
            (KeyCode::Char('c'), control, Default::Yes, Some(false)),
            (KeyCode::Char('d'), control, Default::Yes, Some(false)),
            (KeyCode::Char('y'), control, Default::Yes, None),
            (KeyCode::Char('x'), plain, Default::Yes, None),
        ] {
            assert_eq!(
                answer(KeyEvent::new(code, modifiers), default),
                expected,
                "{code:?}"
            );
        }
    }
}
