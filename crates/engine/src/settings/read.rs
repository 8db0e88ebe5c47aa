//! Parses the text of a settings file to [`Settings`], strictly.
//!
//! A value in the wrong place or of the wrong kind is an error with its line, never ignored and never repaired.

use std::ops::Range;

use serde::Deserialize as _;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Settings, SettingsError, keys};

/// The settings of a text without those that are wrong, and all errors in the order of their lines.
pub(super) fn settings(text: &str) -> Result<(Settings, Vec<SettingsError>), SettingsError> {
    let mut table = parsed(text)?;
    let mut wrong = Vec::new();
    well_placed(text, table.get_mut(), &[], &mut wrong);
    let settings = loop {
        match Settings::deserialize(toml::de::Deserializer::from(table.clone())) {
            Ok(settings) => break settings,
            Err(error) => wrong.push(taken_out(text, table.get_mut(), &error)),
        }
    };
    if wrong.is_empty() {
        wrong.extend(settings.wrong_endpoint(text));
    }
    wrong.sort_by_key(SettingsError::in_line);
    Ok((settings, wrong))
}

pub(super) fn parsed(text: &str) -> Result<Spanned<DeTable<'_>>, SettingsError> {
    DeTable::parse(text).map_err(|error| syntax(text, error.span(), error.message()))
}

/// The error of a text that is not TOML.
pub(super) fn syntax(text: &str, at: Option<Range<usize>>, problem: &str) -> SettingsError {
    let line = at.map_or(1, |at| line_of(text, at.start));
    SettingsError::Syntax { line, problem: problem.to_owned() }
}

/// The line in which a setting or a table stands.
pub(super) fn line(text: &str, path: &[&str]) -> Option<usize> {
    let mut table = parsed(text).ok()?.into_inner();
    let mut line = None;
    for name in path {
        let (key, value) = table.remove_entry(*name)?;
        line = Some(line_of(text, key.span().start));
        table = if let DeValue::Table(inner) = value.into_inner() { inner } else { DeTable::new() };
    }
    line
}

pub(super) fn line_of(text: &str, byte: usize) -> usize {
    1 + text.bytes().take(byte).filter(|byte| *byte == b'\n').count()
}

/// Removes values in the places of tables, and tables in the places of values. Serde would read an array as the fields of a table, and
/// a table as a word.
fn well_placed(text: &str, table: &mut DeTable<'_>, above: &[String], wrong: &mut Vec<SettingsError>) {
    let mut misplaced = Vec::new();
    for (key, value) in table.iter_mut() {
        let name = key.get_ref().to_string();
        let path = [above, std::slice::from_ref(&name)].concat();
        let problem = match (value.get_mut(), keys::find(&path)) {
            (DeValue::Table(_), Some(key)) => key.takes(),
            (DeValue::Table(inner), None) => {
                well_placed(text, inner, &path, wrong);
                continue;
            }
            (_, None) if keys::KEYS.iter().any(|key| key.is_within(&path)) => {
                "is a table, not a value".to_owned()
            }
            _ => continue,
        };
        let line = Some(line_of(text, key.span().start));
        wrong.push(SettingsError::Wrong { key: path.join("."), line, problem });
        misplaced.push(name);
    }
    for name in misplaced {
        table.remove_entry(&*name);
    }
}

/// Removes what an error is about, and says what is wrong with it.
pub(super) fn taken_out(text: &str, table: &mut DeTable<'_>, error: &toml::de::Error) -> SettingsError {
    let at = error.span().map_or(0, |span| span.start);
    let (path, byte, value) =
        take_out(table, at).expect("BUG: an error of a value is at the value or its key");
    let line = Some(line_of(text, byte));
    let wrong = |problem| SettingsError::Wrong { key: path.join("."), line, problem };
    match keys::find(&path) {
        // Our own checks never quote the value, errors of serde do.
        Some(key) if key.words().is_empty() && has_own_check(key.kind(), &value) => {
            wrong(error.message().to_owned())
        }
        Some(key) => wrong(key.takes()),
        None => keys::unknown(&path, line),
    }
}

/// Whether the error of a rejected value is of a check in `values` and says more than [`keys::Key::takes`]: of a text, and of every
/// list. Of a number, `takes` already gives the range.
fn has_own_check(kind: &str, value: &DeValue<'_>) -> bool {
    kind == "array" || kind == "string" && value.is_str()
}

/// Removes the innermost item at a byte of the text: its path, where its key is, and its value.
fn take_out<'a>(table: &mut DeTable<'a>, at: usize) -> Option<(Vec<String>, usize, DeValue<'a>)> {
    for (key, value) in table.iter_mut() {
        if let DeValue::Table(inner) = value.get_mut()
            && let Some((path, byte, value)) = take_out(inner, at)
        {
            return Some(([vec![key.get_ref().to_string()], path].concat(), byte, value));
        }
    }
    let is_there = |span: Range<usize>| span.start == at || span.contains(&at);
    let (key, _) = table.iter().find(|(key, value)| is_there(key.span()) || is_there(value.span()))?;
    let name = key.get_ref().to_string();
    let (key, value) = table.remove_entry(&*name)?;
    Some((vec![name], key.span().start, value.into_inner()))
}
