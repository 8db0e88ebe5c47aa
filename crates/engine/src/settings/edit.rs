//! Reading and changing single settings in the text of a file, and the documented defaults.
//!
//! A change leaves every comment and every other line as it is, and is refused if the file would be wrong after it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use retake_core::{Rule, Ruling};
use retake_tools::destination;
use toml_edit::{Document, DocumentMut, Item, Table, value};

use super::keys::{self, KEYS, ReadBy, Takes, Value};
use super::{Settings, SettingsError, text};

/// A settings file that explains every setting and changes none: all of it is comments.
pub fn documented_defaults() -> String {
    let mut text = String::from("# Settings of retake. A line without the leading # changes a default.\n");
    let mut table = "";
    for key in KEYS {
        let (prefix, name) = key.path.rsplit_once('.').expect("BUG: every setting is in a table");
        if prefix != table {
            table = prefix;
            let shown = match prefix {
                "models.*" => "models.\"provider/model\"".to_owned(),
                other => other.replace('*', "NAME"),
            };
            let _ = write!(text, "\n# [{shown}]\n");
        }
        for line in key.about.lines() {
            let _ = writeln!(text, "## {line}");
        }
        let shown = match &key.default {
            Value::None => String::new(),
            Value::Text(word) => format!(" {}", toml_edit::Value::from(*word)),
            Value::Flag(flag) => format!(" {flag}"),
            Value::Whole(number) => format!(" {number}"),
            Value::Number(number) => format!(" {number}"),
            Value::List(items) => format!(" {}", toml_edit::Array::from_iter(items.iter().copied())),
        };
        let name = name.replace('*', "NAME");
        let _ = writeln!(text, "# {name} ={shown}");
    }
    text
}

/// The value of the setting at a dotted path, as the text of a file gives it; else its default; `None` if it has
/// neither.
pub fn get(text: &str, path: &str) -> Result<Option<String>, SettingsError> {
    Settings::parse(text)?;
    let path = split(path)?;
    let key = find(&path)?;
    let document = document(text)?;
    let mut item = Some(document.as_item());
    for name in &path {
        item = item.and_then(|item| item.get(name));
    }
    let own = item.and_then(Item::as_value).map(|value| match value.as_str() {
        Some(text) => text.to_owned(),
        None => value.clone().decorated("", "").to_string(),
    });
    Ok(own.or_else(|| match &key.default {
        Value::None => None,
        Value::Text(text) => Some((*text).to_owned()),
        Value::Flag(flag) => Some(flag.to_string()),
        Value::Whole(number) => Some(number.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::List(items) => Some(toml_edit::Array::from_iter(items.iter().copied()).to_string()),
    }))
}

/// Who reads the setting at a dotted path, and when; `None` if there is no such setting.
pub fn read_by(path: &str) -> Option<ReadBy> {
    Some(find(&split(path).ok()?).ok()?.read_by)
}

/// The text of the file with the setting at a dotted path changed to `to`.
pub fn set(text: &str, path: &str, to: &str) -> Result<String, SettingsError> {
    let path = split(path)?;
    let new = typed(find(&path)?.takes, to, &path)?;
    put(document(text)?, &path, new)
}

/// The text of the file with another value.
fn put(mut document: DocumentMut, path: &[String], new: toml_edit::Value) -> Result<String, SettingsError> {
    // Of a file without settings everything stands behind them; a new one comes below.
    let above = if document.is_empty() {
        document.trailing().as_str().unwrap_or_default().to_owned()
    } else {
        String::new()
    };
    if document.is_empty() {
        document.set_trailing("");
    }
    let (name, tables) = path.split_last().expect("BUG: a known path has names");
    let mut table: &mut dyn toml_edit::TableLike = document.as_table_mut();
    for step in tables {
        let item = table.entry(step).or_insert_with(|| {
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        });
        table = item
            .as_table_like_mut()
            .ok_or_else(|| problem(path, "is inside of something that is no table"))?;
    }
    match table.get_mut(name).and_then(Item::as_value_mut) {
        Some(old) => {
            let decor = old.decor().clone();
            *old = new;
            *old.decor_mut() = decor;
        }
        None => {
            table.insert(name, value(new));
        }
    }
    let apart = match above.trim_end() {
        "" => "",
        _ if above.ends_with("\n\n") => "",
        _ if above.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    let text = format!("{above}{apart}{document}");
    Settings::parse(&text).map_err(SettingsError::unwritten)?;
    Ok(text)
}

/// The text of the file without the setting at a dotted path, so that its default holds again.
pub fn unset(text: &str, path: &str) -> Result<String, SettingsError> {
    let path = split(path)?;
    find(&path)?;
    if let Some(without) = without_line(text, &path) {
        return Ok(without);
    }
    let mut document = document(text)?;
    let (name, tables) = path.split_last().expect("BUG: a known path has names");
    let mut table: Option<&mut dyn toml_edit::TableLike> = Some(document.as_table_mut());
    for step in tables {
        table = table.and_then(|table| table.get_mut(step)).and_then(Item::as_table_like_mut);
    }
    if let Some(table) = table {
        table.remove(name);
    }
    let text = document.to_string();
    Settings::parse(&text)?;
    Ok(text)
}

/// The text of the file without the lines of a setting that has its own: the comments above them stay. Nothing, where it shares them.
fn without_line(text: &str, path: &[String]) -> Option<String> {
    let document = Document::parse(text).ok()?;
    let (name, tables) = path.split_last()?;
    let table = tables.iter().try_fold(document.as_table(), |table, step| table.get(step)?.as_table())?;
    let (key, item) = table.get_key_value(name)?;
    let from = text[..key.span()?.start].rfind('\n').map_or(0, |end| end + 1);
    let to = item.span()?.end;
    let to = text[to..].find('\n').map_or(text.len(), |end| to + end + 1);
    let without = format!("{}{}", &text[..from], &text[to..]);
    let mut left = text.parse::<DocumentMut>().ok()?;
    let of =
        tables.iter().try_fold(left.as_table_mut(), |table, step| table.get_mut(step)?.as_table_mut())?;
    of.remove(name);
    let same = Settings::parse(&without).ok()? == Settings::parse(&left.to_string()).ok()?;
    same.then_some(without)
}

/// The text of the file with a rule more: what somebody said for good.
fn remember(text: &str, rule: &Rule) -> Result<String, SettingsError> {
    with_rules(text, rule.ruling, |rules| {
        let short = rule.short();
        if !rules.iter().any(|known| known.as_str() == Some(&short)) {
            rules.push(short);
        }
    })
}

/// The text of the file without a rule.
fn forget(text: &str, rule: &Rule) -> Result<String, SettingsError> {
    let same = |text: &str| Rule::read(rule.ruling, text).is_ok_and(|known| known == *rule);
    with_rules(text, rule.ruling, |rules| rules.retain(|known| !known.as_str().is_some_and(same)))
}

/// The text of the file with the rules of one kind changed. Those that are there keep their places and comments.
fn with_rules(
    text: &str,
    ruling: Ruling,
    change: impl FnOnce(&mut toml_edit::Array),
) -> Result<String, SettingsError> {
    let path = format!("permissions.{}", ruling.name());
    let names = split(&path)?;
    let document = document(text)?;
    let there =
        document.get("permissions").and_then(|table| table.get(ruling.name())).and_then(Item::as_array);
    let mut rules = there.cloned().unwrap_or_default();
    let before = rules.len();
    change(&mut rules);
    if rules.len() == before {
        return Ok(text.to_owned());
    }
    if rules.is_empty() {
        return unset(text, &path);
    }
    put(document, &names, rules.into())
}

/// Keeps a rule for good, in the settings file, which need not be there.
pub fn add_rule(path: &Path, rule: &Rule) -> Result<(), SettingsError> {
    in_file(path, |text| remember(text, rule))
}

/// Takes a rule out of the settings file.
pub fn remove_rule(path: &Path, rule: &Rule) -> Result<(), SettingsError> {
    in_file(path, |text| forget(text, rule))
}

fn in_file(
    path: &Path,
    change: impl FnOnce(&str) -> Result<String, SettingsError>,
) -> Result<(), SettingsError> {
    let text = text(path)?;
    let changed = change(&text)?;
    if changed == text { Ok(()) } else { save(path, &changed) }
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
    text.parse::<DocumentMut>()
        .map_err(|error| SettingsError::Syntax { line: 1, problem: error.message().to_owned() })
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

fn problem(path: &[String], problem: &str) -> SettingsError {
    SettingsError::Wrong { key: path.join("."), line: None, problem: problem.to_owned() }
}

fn typed(takes: Takes, text: &str, path: &[String]) -> Result<toml_edit::Value, SettingsError> {
    match takes {
        Takes::Flag => text.parse::<bool>().map(Into::into).map_err(|_| problem(path, "takes true or false")),
        Takes::Whole(..) => {
            text.parse::<i64>().map(Into::into).map_err(|_| problem(path, "takes a whole number"))
        }
        Takes::Number => text.parse::<f64>().map(Into::into).map_err(|_| problem(path, "takes a number")),
        Takes::Text | Takes::Url | Takes::Variable | Takes::Word(_) => Ok(text.into()),
        // One of them, or several as they stand in the file.
        Takes::Rules | Takes::Folders | Takes::Texts | Takes::Guarded
            if text.trim_start().starts_with('[') =>
        {
            text.parse().map_err(|_| problem(path, "takes a list of texts in quotes"))
        }
        Takes::Rules | Takes::Folders | Takes::Texts | Takes::Guarded => {
            Ok(toml_edit::Array::from_iter([text]).into())
        }
    }
}
