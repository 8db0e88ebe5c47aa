//! Reads and changes single settings in the text of a file, and writes the documented defaults.
//!
//! A change keeps every comment and every other line, and is refused if the file would be wrong after it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use retake_core::{Rule, Ruling};
use retake_tools::destination;
use toml_edit::{Document, DocumentMut, Item, Table, TableLike, TomlError, value};

use super::keys::{self, KEYS, ReadBy};
use super::{Settings, SettingsError, read, text};

/// A settings file that explains every setting and changes none: all of it is comments.
pub fn documented_defaults() -> String {
    let mut text = String::from("# Settings of retake. A line without the leading # changes a default.\n");
    let mut table = String::new();
    for key in KEYS.iter() {
        let (name, above) = key.path.split_last().expect("BUG: every setting is in a table");
        let above = above.join(".").replace("models.*", "models.\"provider/model\"").replace('*', "NAME");
        if above != table {
            let _ = write!(text, "\n# [{above}]\n");
            table = above;
        }
        for line in key.schema["description"].as_str().unwrap_or_default().lines() {
            let _ = writeln!(text, "## {line}");
        }
        let default = key.default().map(|value| format!(" {value}")).unwrap_or_default();
        let _ = writeln!(text, "# {} ={default}", name.replace('*', "NAME"));
    }
    text
}

/// The value of the setting at a dotted path, as the text of a file gives it; else its default; `None` if it has
/// neither.
pub fn get(text: &str, path: &str) -> Result<Option<String>, SettingsError> {
    let path = split(path)?;
    let default = find(&path)?.default();
    let document = document(text)?;
    let own = path.iter().try_fold(document.as_item(), |item, name| item.get(name)).and_then(Item::as_value);
    Ok(own.cloned().or(default).map(|value| match value.as_str() {
        Some(text) => text.to_owned(),
        None => value.decorated("", "").to_string(),
    }))
}

/// Which process reads the setting at a dotted path, and when; `None` if there is no such setting.
pub fn read_by(path: &str) -> Option<ReadBy> {
    Some(find(&split(path).ok()?).ok()?.read_by())
}

/// The text of the file with the setting at a dotted path changed to `to`.
pub fn set(text: &str, path: &str, to: &str) -> Result<String, SettingsError> {
    let path = split(path)?;
    let new = find(&path)?.typed(to).map_err(|problem| wrong(&path, problem))?;
    put(document(text)?, &path, new)
}

/// The text of the file with another value.
fn put(
    mut document: DocumentMut,
    path: &[String],
    mut new: toml_edit::Value,
) -> Result<String, SettingsError> {
    // In a file without settings the whole text counts as trailing; a new setting is added below it.
    let mut above = String::new();
    if document.is_empty() {
        above = document.trailing().as_str().unwrap_or_default().to_owned();
        document.set_trailing("");
    }
    if !above.trim().is_empty() {
        above = format!("{}\n\n", above.trim_end());
    }
    let (name, tables) = path.split_last().expect("BUG: a known path has names");
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for step in tables {
        let mut made = Table::new();
        made.set_implicit(true);
        let item = table.entry(step).or_insert(Item::Table(made));
        table = item.as_table_like_mut().expect("BUG: the document was checked");
    }
    match table.get_mut(name).and_then(Item::as_value_mut) {
        Some(old) => {
            new.decor_mut().clone_from(old.decor());
            *old = new;
        }
        None => drop(table.insert(name, value(new))),
    }
    let text = format!("{above}{document}");
    Settings::parse(&text).map_err(SettingsError::unwritten)?;
    Ok(text)
}

/// The text of the file without the setting at a dotted path, so that its default holds again.
pub fn unset(text: &str, path: &str) -> Result<String, SettingsError> {
    let path = split(path)?;
    find(&path)?;
    // This setting may be the error of the file: only the file without it is checked.
    let mut document = unchecked(text)?;
    let (name, tables) = path.split_last().expect("BUG: a known path has names");
    let start: Option<&mut dyn TableLike> = Some(document.as_table_mut());
    let inner = tables.iter().fold(start, |table, step| table?.get_mut(step)?.as_table_like_mut());
    drop(inner.and_then(|table| table.remove(name)));
    let without = document.to_string();
    let settings = Settings::parse(&without).map_err(|error| {
        let error = error.unwritten();
        Settings::check(text).into_iter().find(|own| own.is_as(&error)).unwrap_or(error)
    })?;
    let lines =
        without_lines(text, &path).filter(|text| Settings::parse(text).is_ok_and(|own| own == settings));
    Ok(lines.unwrap_or(without))
}

/// The text of the file without the lines of a setting, so that the comments above them stay.
fn without_lines(text: &str, path: &[String]) -> Option<String> {
    let document = Document::parse(text).ok()?;
    let (name, tables) = path.split_last()?;
    let table = tables.iter().try_fold(document.as_table(), |table, step| table.get(step)?.as_table())?;
    let (key, item) = table.get_key_value(name)?;
    let from = text[..key.span()?.start].rfind('\n').map_or(0, |end| end + 1);
    let to = item.span()?.end;
    let to = text[to..].find('\n').map_or(text.len(), |end| to + end + 1);
    Some(format!("{}{}", &text[..from], &text[to..]))
}

/// Stores a rule in the settings file, which need not exist.
pub fn add_rule(path: &Path, rule: &Rule) -> Result<(), SettingsError> {
    let short = rule.short();
    with_rules(path, rule.ruling, |rules| {
        if !rules.iter().any(|known| known.as_str() == Some(&short)) {
            rules.push(short);
        }
    })
}

/// Removes a rule from the settings file.
pub fn remove_rule(path: &Path, rule: &Rule) -> Result<(), SettingsError> {
    let same = |text: &str| Rule::read(rule.ruling, text).is_ok_and(|known| known == *rule);
    with_rules(path, rule.ruling, |rules| rules.retain(|known| !known.as_str().is_some_and(same)))
}

/// Changes the rules of one kind in a file. Rules that stay keep their places and comments.
fn with_rules(
    path: &Path,
    ruling: Ruling,
    change: impl FnOnce(&mut toml_edit::Array),
) -> Result<(), SettingsError> {
    let names = ["permissions", ruling.name()];
    let text = text(path)?;
    let document = document(&text)?;
    let known =
        names.iter().try_fold(document.as_item(), |item, name| item.get(name)).and_then(Item::as_array);
    let mut rules = known.cloned().unwrap_or_default();
    let before = rules.len();
    change(&mut rules);
    if rules.len() == before {
        return Ok(());
    }
    let changed = if rules.is_empty() {
        unset(&text, &names.join("."))
    } else {
        put(document, &names.map(str::to_owned), rules.into())
    };
    save(path, &changed?)
}

/// Writes the text of a file as a whole or not at all.
pub fn save(path: &Path, text: &str) -> Result<(), SettingsError> {
    let write = || {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        destination::write(path, text.as_bytes(), destination::SHARED)
    };
    write().map_err(|source| SettingsError::Unwritable { path: path.to_owned(), source })
}

fn document(text: &str) -> Result<DocumentMut, SettingsError> {
    Settings::parse(text)?;
    unchecked(text)
}

fn unchecked(text: &str) -> Result<DocumentMut, SettingsError> {
    text.parse().map_err(|error: TomlError| read::syntax(text, error.span(), error.message()))
}

fn find(path: &[String]) -> Result<&'static keys::Key, SettingsError> {
    keys::find(path).ok_or_else(|| keys::unknown(path, None))
}

/// The names of a dotted path. The name of a model may hold dots and slashes and needs no quotes here.
fn split(path: &str) -> Result<Vec<String>, SettingsError> {
    if let Some((model, field)) = path.strip_prefix("models.").and_then(|rest| rest.rsplit_once('.')) {
        return Ok(vec!["models".into(), model.trim_matches('"').into(), field.into()]);
    }
    let names = toml_edit::Key::parse(path);
    let names = names.map_err(|_| keys::unknown(&[path.to_owned()], None))?;
    Ok(names.iter().map(|name| name.get().to_owned()).collect())
}

fn wrong(path: &[String], problem: String) -> SettingsError {
    SettingsError::Wrong { key: path.join("."), line: None, problem }
}

#[cfg(test)]
mod tests;
