//! A question with the answers yes and no. Must never take anything except a clear yes as a yes.

use std::io::{self, Write};

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::style::{Palette, Style};
use super::{Raw, pending_keys, safe};

/// The answer of Enter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnEnter {
    /// Enter is yes.
    Yes,
    /// Enter is no.
    No,
}

/// Asks, and blocks until one key answers: `y` or `n`, Enter for the default; Esc, Ctrl-C and Ctrl-D are no. Keys that arrive in
/// a burst (a paste) are ignored. The answer stays on the screen after the question. Only if [`super::interactive`].
///
/// # Errors
///
/// If the terminal can't be read or written.
pub fn confirm(palette: Palette, question: &str, on_enter: OnEnter) -> io::Result<bool> {
    let choices = match on_enter {
        OnEnter::Yes => "[Y/n]",
        OnEnter::No => "[y/N]",
    };
    let asked = format!("{} {} ", safe::line(question), palette.paint(Style::Dim, choices));
    say(&asked)?;
    let answer = {
        let _raw = Raw::enable()?;
        wait(on_enter, &asked)?
    };
    say(if answer { "yes\n" } else { "no\n" })?;
    Ok(answer)
}

fn say(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

fn wait(on_enter: OnEnter, asked: &str) -> io::Result<bool> {
    loop {
        if let Event::Key(key) = event::read()?
            && key.kind == KeyEventKind::Press
            && let Some(answer) = answer(key, on_enter)
        {
            if !pending_keys::more_follow()? {
                return Ok(answer);
            }
            pending_keys::discard_paste()?;
            say(&format!("\r\nseveral keys at once are not an answer\r\n{asked}"))?;
        }
    }
}

fn answer(key: KeyEvent, on_enter: OnEnter) -> Option<bool> {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('c' | 'd') if control => Some(false),
        KeyCode::Char('y' | 'Y') if !control => Some(true),
        KeyCode::Char('n' | 'N') if !control => Some(false),
        KeyCode::Esc => Some(false),
        KeyCode::Enter => Some(on_enter == OnEnter::Yes),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_explicit_yes_counts() {
        let plain = KeyModifiers::NONE;
        let control = KeyModifiers::CONTROL;
        for (code, modifiers, on_enter, expected) in [
            (KeyCode::Char('y'), plain, OnEnter::No, Some(true)),
            (KeyCode::Char('Y'), KeyModifiers::SHIFT, OnEnter::No, Some(true)),
            (KeyCode::Char('n'), plain, OnEnter::Yes, Some(false)),
            (KeyCode::Enter, plain, OnEnter::Yes, Some(true)),
            (KeyCode::Enter, plain, OnEnter::No, Some(false)),
            (KeyCode::Esc, plain, OnEnter::Yes, Some(false)),
            (KeyCode::Char('c'), control, OnEnter::Yes, Some(false)),
            (KeyCode::Char('d'), control, OnEnter::Yes, Some(false)),
            (KeyCode::Char('y'), control, OnEnter::Yes, None),
            (KeyCode::Char('x'), plain, OnEnter::Yes, None),
        ] {
            assert_eq!(answer(KeyEvent::new(code, modifiers), on_enter), expected, "{code:?}");
        }
    }
}
